package prune

import (
	"fmt"
	"testing"

	"chkscope/decoder/metadata"
)

func TestRanges(t *testing.T) {
	list := normal([]metadata.Range{{First: 7, Last: 9}, {First: 0, Last: 1}, {First: 8, Last: 12}, {First: 1, Last: 1}, {First: 20, Last: 20}})
	if got := fmt.Sprint(list, count(list), keptRanges(list, 15)); got != "[{0 1} {7 12} {20 20}] 9 [{2 6} {13 14}]" {
		t.Error(got)
	}
	for i := range int64(25) {
		if want := i <= 1 || 7 <= i && i <= 12 || i == 20; within(list, i) != want {
			t.Errorf("%d: %v", i, !want)
		}
	}
	var built []metadata.Range
	for _, i := range []int64{0, 1, 3, 4, 5, 9} {
		built = withIndex(built, i)
	}
	if got := fmt.Sprint(built); got != "[{0 1} {3 5} {9 9}]" {
		t.Error(got)
	}
}
