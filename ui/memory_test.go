package ui

import (
	"runtime"
	"testing"

	"chkscope/decoder/metadata"
)

// TestMemoryOfManyOperators opens a checkpoint of operators without state, which
// has more rows for its length than any other: what the explorer holds is bounded
// by the file's length and a constant.
func TestMemoryOfManyOperators(t *testing.T) {
	c := &metadata.Checkpoint{Version: 3, ID: 7}
	for i := range 50_000 {
		c.Operators = append(c.Operators, metadata.Operator{ID: metadata.OperatorID{byte(i), byte(i >> 8), byte(i >> 16)}, Parallelism: 1, MaxParallelism: 128})
	}
	st := synthetic(t, c)
	size := int64(len(st.files[syntheticDir+"/_metadata"]))
	c = nil
	before := heapInUse()
	x := newTester(t, st, syntheticDir, 80, 24)
	x.press("s n / a b enter esc t t ! esc")
	x.mustShow("50,000 operators")
	used := heapInUse() - before
	if bound := size + 14<<20; used > bound {
		t.Errorf("%d bytes in memory for a file of %d, want at most %d", used, size, bound)
	}
	t.Logf("%d bytes in memory for a file of %d", used, size)
	runtime.KeepAlive(x)
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
