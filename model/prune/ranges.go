package prune

import (
	"slices"
	"sort"

	"chkscope/decoder/metadata"
)

// withIndex adds an index that is larger than all before it.
func withIndex(list []metadata.Range, i int64) []metadata.Range {
	if n := len(list); n > 0 && list[n-1].Last+1 == i {
		list[n-1].Last++
		return list
	}
	return append(list, metadata.Range{First: i, Last: i})
}

// normal sorts ranges and joins those that overlap.
func normal(list []metadata.Range) []metadata.Range {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b metadata.Range) int {
		return int(min(max(a.First-b.First, -1), 1))
	})
	var out []metadata.Range
	for _, r := range list {
		if n := len(out); n > 0 && r.First <= out[n-1].Last {
			out[n-1].Last = max(out[n-1].Last, r.Last)
			continue
		}
		out = append(out, r)
	}
	return out
}

// within tells whether ranges, as normal gives them, hold an index.
func within(list []metadata.Range, i int64) bool {
	k := sort.Search(len(list), func(k int) bool { return list[k].Last >= i })
	return k < len(list) && list[k].First <= i
}

// count is how many indices there are in ranges that do not overlap.
func count(list []metadata.Range) int64 {
	n := int64(0)
	for _, r := range list {
		n += r.Last - r.First + 1
	}
	return n
}

// keptRanges are the elements of n that are not in gone, ascending.
func keptRanges(gone []metadata.Range, n int64) []metadata.Range {
	var kept []metadata.Range
	at := int64(0)
	for _, g := range normal(gone) {
		if g.First > at {
			kept = append(kept, metadata.Range{First: at, Last: min(g.First, n) - 1})
		}
		at = max(at, g.Last+1)
	}
	if at < n {
		kept = append(kept, metadata.Range{First: at, Last: n - 1})
	}
	return kept
}
