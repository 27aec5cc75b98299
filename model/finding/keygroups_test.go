package finding

import (
	"testing"

	"chkscope/decoder/keyed"
	"chkscope/model"
)

func TestHeaviest(t *testing.T) {
	for _, c := range []struct {
		mib   []int64
		heavy int32 // -1: none
	}{
		{nil, -1},
		{[]int64{100}, -1},
		{[]int64{1, 1, 1, 20}, 3},
		{[]int64{1, 1, 1, 16}, -1},    // not 16 MiB more
		{[]int64{4, 4, 39, 4, 4}, -1}, // not 10 times
		{[]int64{4, 4, 40, 4, 4}, 2},
		{[]int64{50, 50, 50, 50}, -1},
	} {
		var groups []model.KeyGroupSize
		for i, n := range c.mib {
			groups = append(groups, model.KeyGroupSize{GroupSize: keyed.GroupSize{Group: int32(i), Bytes: n << 20}})
		}
		heavy, _, ok := heaviest(groups)
		if ok != (c.heavy >= 0) || ok && heavy.Group != c.heavy {
			t.Errorf("%v: group %d, %v", c.mib, heavy.Group, ok)
		}
	}
}
