package finding

import (
	"fmt"
	"hash/maphash"
	"math"

	"chkscope/model"
)

const (
	unionBytes   = 1 << 20
	unionEntries = 10000
	// maxDistinct bounds the memory of counting different elements; beyond it
	// their number is a lower bound and the finding only likely.
	maxDistinct = 1 << 20
	// elementCut is how much of an element is compared; a longer one is hashed in
	// its first bytes and its length.
	elementCut = 64 << 10
)

var unionMultiplied = Rule{
	ID:         idUnion,
	Severities: "info, warn, critical",
	When: "of a UNION state: two or more subtasks hold the byte-equal multiset of two or more different elements, or elements repeat at least parallelism times. " +
		"Info below 1 MiB and 10,000 entries; critical where the next restore goes over the frame size. Likely, from equal counts, where the streams cannot be read",
	Why:        "every restore multiplies it by the parallelism: the 168 MB _metadata of a job moved from FlinkKafkaConsumer to KafkaSource",
	Thresholds: []Threshold{{"bytes", unionBytes, "bytes in _metadata and streams"}, {"entries", unionEntries, "entries"}},
	Evidence: []Key{{"entries", "elements in all subtasks"}, {"distinct", "different elements; null where the streams cannot be read, or only the first elements were"}, {"copies", "entries to distinct; null likewise"},
		{"parallelism", ""}, {"next", "entries after one and after two more restores"}, {"bytes", "of it now, in _metadata and streams; null where not known"}},
	reads: true,
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for op := range r.s.Meta.Operators {
			for _, n := range r.states(op, model.KindOperator) {
				if r.t.Dist(n) != model.DistUnion || r.s.Meta.Operators[op].Parallelism < 2 || r.t.Entries(n) < 2 {
					continue
				}
				f, fires, err := r.union(op, n)
				if err != nil {
					return out, err
				}
				if fires {
					out = append(out, f)
				}
			}
		}
		return out, nil
	},
}

// listStats is what the elements of a union state over all subtasks are.
type listStats struct {
	entries  int64
	distinct int64
	first    int64 // how many were read: all, or the first of each subtask (Options.ReadAtMost)
	read     bool  // the streams were read; else from counts alone
	bounded  bool  // distinct is a lower bound
	equal    bool  // two or more subtasks hold the same multiset of two or more different elements
}

func (r *run) union(op int, n model.Node) (Finding, bool, error) {
	st, err := r.listStats(n)
	if err != nil {
		return Finding{}, false, err
	}
	p := int64(r.s.Meta.Operators[op].Parallelism)
	repeated := st.read && st.first > r.holders(n) && st.first/max(st.distinct, 1) >= p
	if !st.equal && !repeated {
		return Finding{}, false, nil
	}
	return r.unionFinding(op, n, st, p), true, nil
}

func (r *run) unionFinding(op int, n model.Node, st listStats, p int64) Finding {
	z := r.t.Sizes(n)
	bytes, bytesKnown := z.Bookkeeping, false
	if w, lower := z.Weight(model.LensState); w != model.Unknown && !lower {
		bytes, bytesKnown = bytes+w, true
	}
	next := []int64{times(st.entries, p), times(times(st.entries, p), p)}
	e := Evidence{{"entries", st.entries}, {"distinct", nil}, {"copies", nil}, {"parallelism", p}, {"next", next}, {"bytes", nil}}
	certainty, cause := Likely, fmt.Sprintf("Several subtasks hold %s each of %s", model.FormatCount(st.entries/max(r.holders(n), 1)), name(r, n))
	if st.read && st.first < st.entries {
		cause = fmt.Sprintf("The first %s of %s entries of %s that were read hold %s different ones, about %s times each", model.FormatCount(st.first), model.FormatCount(st.entries),
			name(r, n), model.FormatCount(st.distinct), model.FormatCount(st.first/max(st.distinct, 1)))
	} else if st.read {
		copies := st.entries / max(st.distinct, 1)
		e[1].Value, e[2].Value = st.distinct, copies
		certainty = Proved
		if st.bounded {
			certainty = Likely
		}
		cause = fmt.Sprintf("%s holds %s different entries, about %s times each", name(r, n), model.FormatCount(st.distinct), model.FormatCount(copies))
		if st.distinct*copies == st.entries {
			cause = fmt.Sprintf("%s holds %s different entries, %s times each", name(r, n), model.FormatCount(st.distinct), model.FormatCount(copies))
		}
	}
	if bytesKnown {
		e[5].Value = bytes
	}
	message := baseMessage + r.restoreSizes()[op].restore
	cause += fmt.Sprintf("; a restore makes it x%d. It sends %s to each of %s; the limit is %s.",
		p, model.FormatSize(message), model.FormatPlural(p, "task"), model.FormatSize(r.s.Options.FrameSize))
	sev := Warn
	switch {
	case message > r.s.Options.FrameSize:
		sev = Critical
	case bytes < unionBytes && st.entries < unionEntries:
		sev = Info
	}
	g := r.target(n)
	f := Finding{Severity: sev, Certainty: certainty, Target: g, Evidence: e, Cause: cause}
	if r.isLegacy(op, n) {
		f.Remedy = []string{g.Selector()}
		f.Action = "Remove the state: nothing reads it any more."
	} else {
		g.Entries = model.Duplicates
		f.Remedy = []string{g.Selector()}
		f.Action = "Remove the duplicates (the last of equal entries stays), and let the job register the state or drop it for good."
	}
	return f
}

// times multiplies and stays at the largest number instead of running over.
func times(a, b int64) int64 {
	if b != 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

func (r *run) holders(n model.Node) (held int64) {
	for _, c := range r.t.Children(nil, n, model.TurnState) {
		held += count(r.t.Entries(c) > 0)
	}
	return held
}

func (r *run) isLegacy(op int, n model.Node) bool {
	for _, d := range deadAfterMigration {
		if d.name == r.t.Name(n) && r.successor(op, d) != "" {
			return true
		}
	}
	return false
}

// multiset is a set of elements with their counts, folded into sums of hashes
// that do not depend on the order.
type multiset struct {
	n, sum, mixed uint64
	several       bool // at least two different elements
	first         uint64
}

func (m *multiset) add(h uint64) {
	if m.n == 0 {
		m.first = h
	}
	m.several = m.several || h != m.first
	m.n++
	m.sum += h
	m.mixed += h * (h>>32 | 1)
}

// part is how much of a list is read: 1, or less where that is too much. A
// restore gives each subtask the same list, so the same first elements too.
func (r *run) part(n model.Node) float64 {
	bytes := r.t.Sizes(n).Bookkeeping
	if w, _ := r.t.Sizes(n).Weight(model.LensState); w != model.Unknown {
		bytes += w
	}
	if most := r.s.Options.ReadAtMost; most > 0 && bytes > most {
		return float64(most) / float64(bytes)
	}
	return 1
}

// leastRead is how many elements of a subtask are read at least.
const leastRead = 100

// listStats reads all elements of a union state once, or the first of each
// subtask. A stream that cannot be read leaves only the counts.
func (r *run) listStats(n model.Node) (listStats, error) {
	st := listStats{entries: r.t.Entries(n), read: true}
	part := r.part(n)
	seed, seen := maphash.MakeSeed(), map[uint64]struct{}{}
	sets := map[multiset]int{}
	for _, c := range r.t.Children(nil, n, model.TurnState) {
		if r.t.Entries(c) == 0 {
			continue
		}
		var m multiset
		most := max(int64(float64(r.t.Entries(c))*part), leastRead)
		err := r.s.FirstElements(r.ctx, r.t, c, most, elementCut, func(e model.ElementData) error {
			h := maphash.Bytes(seed, e.Data)
			if int64(len(e.Data)) < e.Len {
				h ^= uint64(e.Len) * 0x9E3779B97F4A7C15
			}
			m.add(h)
			st.first++
			if _, ok := seen[h]; !ok {
				if len(seen) == maxDistinct {
					st.bounded = true
					return nil
				}
				seen[h] = struct{}{}
			}
			return r.ctx.Err()
		})
		if r.ctx.Err() != nil {
			return st, r.ctx.Err()
		}
		if err != nil {
			return r.countsOnly(n), nil
		}
		if m.several {
			sets[m]++
			st.equal = st.equal || sets[m] > 1
		}
	}
	st.distinct = int64(len(seen))
	return st, nil
}

// countsOnly: where the bytes cannot be read, equal counts of at least two
// elements in all subtasks are a likely sign.
func (r *run) countsOnly(n model.Node) listStats {
	st := listStats{entries: r.t.Entries(n)}
	counts := map[int64]int64{}
	for _, c := range r.t.Children(nil, n, model.TurnState) {
		if e := r.t.Entries(c); e > 0 {
			counts[e]++
		}
	}
	for e, times := range counts {
		st.equal = e >= 2 && len(counts) == 1 && times >= 2
	}
	return st
}
