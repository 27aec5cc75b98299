package keyed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// all tells whether every state of s is in out as e leaves it.
func all(t testing.TB, what string, s, out *Stream, e Edit) bool {
	t.Helper()
	c, err := Compare(s, out, e)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	same := true
	for _, r := range c {
		same = same && r.Same
	}
	return same
}

// TestDropEntries takes every third entry out of each state of each real
// stream; what is left is equal and in order.
func TestDropEntries(t *testing.T) {
	seed := maphash.MakeSeed()
	third := func(e Entry) bool {
		return maphash.Bytes(seed, append(bytes.Clone(e.Key), e.Value...))%3 == 0
	}
	gone, states, unsure := map[Layout]int{}, map[Layout]int{}, 0
	eachGroups(t, []string{"lab"}, func(r real, s *Stream) {
		for id, m := range s.Header.States {
			what := r.String() + " " + m.Name
			e := Edit{Entries: map[string]Chooser{m.Name: func(_ int64, e Entry) Choice { return Choice{Goes: third(e)} }}}
			var b bytes.Buffer
			res, err := s.Rewrite(&b, e)
			if errors.Is(err, serde.ErrOpaque) {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			in := decoder.Bytes{Data: b.Bytes(), Label: "rewritten"}
			h := &metadata.KeyGroupsHandle{Start: s.Start, Number: int32(len(s.Offsets)), Offsets: res.Offsets}
			out, err := Open(in, in, metadata.TypeSavepoint, h, nil)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			out.Layout, out.MaxParallelism = s.Layout, s.MaxParallelism
			c, err := Compare(s, out, e)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for i := range c {
				if !c[i].Same {
					t.Errorf("%s: %s differs", what, s.Header.States[i].Name)
				}
			}
			if c[id].Gone != res.Removed[id].Entries {
				t.Errorf("%s: %d gone, %d removed", what, c[id].Gone, res.Removed[id].Entries)
			}
			if want := contents(t, s); want != nil {
				kept := map[string][]string{}
				for i := range s.Offsets {
					s.Walk(i, maxEntry, func(x Entry) error {
						k := fmt.Sprint(i, " ", s.Header.States[x.State].Name)
						if x.State != id || !third(x) {
							kept[k] = append(kept[k], want[k][0])
						}
						want[k] = want[k][1:]
						return nil
					})
				}
				// Without some entries there may be more than one way to read a heap group
				// with values of no known end.
				if got := contents(t, out); got != nil {
					same(t, what, got, kept, "\x00none")
				} else {
					unsure++
				}
			}
			gone[s.Layout] += int(c[id].Gone)
			states[s.Layout]++
		}
	})
	t.Log(gone, "entries of", states, "states;", unsure, "not read again")
	if gone[Heap] < 1000 || gone[Canonical] < 1000 || unsure > states[Heap]/10 {
		t.Error("fewer entries than there were")
	}
}

// TestCompareSees flips bytes of rewritten streams: a state differs.
func TestCompareSees(t *testing.T) {
	flips := 0
	small(t, func(r real, s *Stream, b []byte) {
		if len(s.Header.States) < 2 {
			return
		}
		for _, e := range []Edit{{}, {Drop: []string{s.Header.States[0].Name}}, {Cut: []string{s.Header.States[1].Name}},
			{Entries: map[string]Chooser{s.Header.States[0].Name: func(_ int64, e Entry) Choice { return Choice{Goes: e.Key[len(e.Key)-1]&1 == 0} }}}} {
			var buf bytes.Buffer
			res, err := s.Rewrite(&buf, e)
			if errors.Is(err, serde.ErrOpaque) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			data := buf.Bytes()
			in := decoder.Bytes{Data: data, Label: "rewritten"}
			h := &metadata.KeyGroupsHandle{Start: s.Start, Number: int32(len(s.Offsets)), Offsets: res.Offsets}
			out, err := Open(in, in, metadata.TypeSavepoint, h, nil)
			if err != nil {
				t.Fatal(err)
			}
			out.Layout, out.MaxParallelism = s.Layout, s.MaxParallelism
			if !all(t, r.String(), s, out, e) {
				t.Errorf("%s: %v differs", r, e)
			}
			for at := out.Header.End; at < int64(len(data)); at += 1 + int64(len(data))/150 {
				flips++
				data[at] ^= 1
				if all(t, r.String(), s, out, e) {
					t.Errorf("%s: %v: byte %d was not seen", r, e, at)
				}
				data[at] ^= 1
			}
		}
	})
	if flips < 500 {
		t.Errorf("only %d bytes", flips)
	}
}

// TestCompareBeyondOpaque: blocks behind a value that cannot be walked are
// compared as they are.
func TestCompareBeyondOpaque(t *testing.T) {
	known, opaque := &serde.Snapshot{Kind: serde.Int}, &serde.Snapshot{Kind: serde.Unknown}
	s := heapStream(known, opaque, known)
	for i, e := range []Edit{{Cut: []string{"a"}}, {}, {Entries: map[string]Chooser{"a": func(int64, Entry) Choice { return Choice{Goes: true} }}}} {
		var b bytes.Buffer
		o := newOutput(&b, 0)
		o.Write(make([]byte, 4))
		p := s.plan(e)
		offsets, err := s.rewriteHeap(o, p, make([]StateSize, 3))
		if err != nil {
			t.Fatal(err)
		}
		o.w.Flush()
		out := *s
		data := b.Bytes()
		out.In, out.Offsets, out.sorted = decoder.Bytes{Data: data, Label: "out"}, offsets, offsets
		if !all(t, "", s, &out, e) {
			t.Errorf("%d: differs", i)
		}
		for at := 4; at < len(data); at++ {
			data[at] ^= 4
			if all(t, "", s, &out, e) {
				t.Errorf("%d: byte %d was not seen", i, at)
			}
			data[at] ^= 4
		}
		if n := binary.BigEndian.Uint32(data[10:]); i != 1 && n != 0 {
			t.Errorf("%d: %d entries", i, n)
		}
	}
}
