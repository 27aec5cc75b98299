package keyed

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/serde"
)

func cloned(e Entry) Entry {
	e.Key, e.Value, e.Namespace = bytes.Clone(e.Key), bytes.Clone(e.Value), bytes.Clone(e.Namespace)
	return e
}

func sameEntry(a, b Entry) bool {
	return a.Group == b.Group && a.State == b.State && bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value) && bytes.Equal(a.Namespace, b.Namespace)
}

// TestPages reads pages of every state of real streams: they are what a walk
// gives.
func TestPages(t *testing.T) {
	pages, partial, entries := 0, 0, 0
	eachGroups(t, []string{"lab"}, func(r real, s *Stream) {
		x, err := s.index(nil, nil, 100)
		if err != nil && !errors.Is(err, serde.ErrOpaque) {
			t.Fatalf("%s: %v", r, err)
		}
		want := make([][]Entry, len(s.Header.States))
		for i := range s.Offsets {
			s.Walk(i, math.MaxInt32, func(e Entry) error {
				want[e.State] = append(want[e.State], cloned(e))
				return nil
			})
		}
		sizes, err := []StateSize(nil), error(nil)
		for i := 0; i < s.Groups() && err == nil; i++ {
			sizes, err = s.Sizes(i, sizes)
		}
		for id := range want {
			st, n := &x.States[id], int64(len(want[id]))
			what := r.String() + " " + s.Header.States[id].Name
			if st.Partial {
				partial++
			} else if st.Entries != n || err == nil && sizes[id] != st.StateSize {
				t.Errorf("%s: %d entries, not %d; %+v, not %+v", what, st.Entries, n, st.StateSize, sizes[id])
				continue
			}
			sum := GroupSize{}
			for _, g := range st.Groups {
				sum.Entries += g.Entries
				sum.Bytes += g.Bytes
			}
			if sum.Entries != st.Entries || s.Layout == Canonical && sum.Bytes != st.Bytes {
				t.Errorf("%s: groups have %+v of %+v", what, sum, st.StateSize)
			}
			for from := int64(0); from < st.Entries+2; from += 1 + n/7 {
				for _, k := range []int64{1, 3, n} {
					pages++
					at := from
					err := s.Page(x, id, from, k, math.MaxInt32, func(i int64, e Entry) error {
						if i != at || !sameEntry(e, want[id][i]) {
							t.Errorf("%s: entry %d: %d %v, not %v", what, at, i, e, want[id][at])
						}
						at++
						return nil
					})
					if want := min(from+k, st.Entries); err != nil || at != max(want, from) {
						t.Errorf("%s: page of %d from %d ends at %d, not %d: %v", what, k, from, at, want, err)
					}
				}
			}
			entries += int(st.Entries)
		}
	})
	t.Log(pages, "pages of", entries, "entries,", partial, "states in part")
	if entries < 16000 {
		t.Error("fewer than there were")
	}
}

// TestLargestKeys counts what stands together under one key.
func TestLargestKeys(t *testing.T) {
	found := 0
	eachGroups(t, []string{"lab"}, func(r real, s *Stream) {
		id := s.Header.State("per-product")
		if id < 0 || s.Layout == Heap {
			return
		}
		var types []Types
		for i := range s.Header.States {
			types = append(types, s.Header.Types(i, s.Layout, 16))
		}
		x, err := s.Index(types, nil)
		if err != nil {
			t.Fatal(err)
		}
		list := x.States[id].Largest
		for i, k := range list {
			if k.Entries < 2 || i > 0 && list[i-1].Bytes < k.Bytes {
				t.Errorf("%s: %+v", r, list)
			}
		}
		found += len(list)
	})
	if found < 50 {
		t.Errorf("only %d keys", found)
	}
}

// TestHugeIndex indexes 5 GB in one group and reads a page from its end, with
// little memory.
func TestHugeIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("5 GB are read")
	}
	var before, after runtime.MemStats
	s := hugeOf(5<<30, 8<<10)
	runtime.ReadMemStats(&before)
	x, err := s.Index(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := x.States[0].Entries
	reads := &counted{Input: s.In}
	s.In = reads
	got := 0
	if err := s.Page(x, 0, n-5, 10, 100, func(int64, Entry) error { got++; return nil }); err != nil || got != 5 {
		t.Errorf("%d entries, %v", got, err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 || reads.n > 4<<20 {
		t.Errorf("%d bytes were allocated, %d read for the last page", took, reads.n)
	}
}

// BenchmarkIndex counts entries of 60 bytes and notes where they are.
func BenchmarkIndex(b *testing.B) {
	s := huge(1 << 30)
	b.SetBytes(s.In.Size())
	for b.Loop() {
		if x, err := s.Index(nil, nil); err != nil || x.States[0].Entries < 1e7 {
			b.Fatal(x, err)
		}
	}
}

// counted counts the bytes that are read.
type counted struct {
	decoder.Input
	n int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Input.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}
