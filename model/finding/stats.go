package finding

import "slices"

func median(v []int64) int64 {
	slices.Sort(v)
	return v[(len(v)-1)/2]
}

func sortedMaxima(m map[int32]bool) []int64 {
	var out []int64
	for v := range m {
		out = append(out, int64(v))
	}
	slices.Sort(out)
	return out
}
