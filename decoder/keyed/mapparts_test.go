package keyed

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// numbered gives the entries of state id with their numbers, of a heap MAP the
// entries of each map. whole is false where nothing tells the end of a value
// before them.
func numbered(t *testing.T, s *Stream, id int, keep func(n int64, part int) bool) (out []string, whole bool) {
	t.Helper()
	whole = true
	types := s.Header.Types(id, s.Layout, 128)
	n := int64(-1)
	for i := range s.Offsets {
		_, err := s.Walk(i, maxEntry, func(e Entry) error {
			if e.State != id {
				return nil
			}
			n++
			head, part := fmt.Sprintf("%d %x %x", e.Group, e.Namespace, e.Key), -1
			if types.MapParts(e.Value, func(p MapPart) error {
				if part++; keep(n, part) {
					out = append(out, fmt.Sprintf("%s %x %x %v", head, p.Key, p.Value, p.Null))
				}
				return nil
			}) == nil {
				return nil
			}
			if keep(n, 0) {
				out = append(out, fmt.Sprintf("%s %x", head, e.Value))
			}
			return nil
		})
		if errors.Is(err, serde.ErrOpaque) {
			whole = false
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return out, whole
}

// reopened is a rewritten stream.
func reopened(t *testing.T, s *Stream, b []byte, res *Rewritten) *Stream {
	t.Helper()
	in := decoder.Bytes{Data: b, Label: "rewritten"}
	out, err := Open(in, in, metadata.TypeSavepoint, &metadata.KeyGroupsHandle{Start: s.Start, Number: int32(len(s.Offsets)), Offsets: res.Offsets}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out.Layout = s.Layout
	return out
}

// TestDropByNumber takes entries out of the real streams by their numbers, of the
// maps of heap streams single entries: what is left is what was there, and the
// comparison counts what is gone.
func TestDropByNumber(t *testing.T) {
	parts, entries := 0, 0
	eachGroups(t, []string{"lab"}, func(r real, s *Stream) {
		for id, m := range s.Header.States {
			types := s.Header.Types(id, s.Layout, 128)
			goes := func(n int64, part int) bool { return n%5 == 1 || (n+int64(part))%3 == 0 }
			e := Edit{Entries: map[string]Chooser{m.Name: func(n int64, x Entry) Choice {
				var left [][]byte
				all := int64(0)
				if types.MapParts(x.Value, func(p MapPart) error {
					if all++; !goes(n, int(all-1)) {
						left = append(left, p.Raw)
					}
					return nil
				}) != nil || all == 0 {
					return Choice{Goes: goes(n, 0)}
				}
				c := Choice{Goes: len(left) == 0, Parts: all - int64(len(left))}
				if c.Parts > 0 {
					c.Value = JoinMap(left)
				}
				return c
			}}}
			var b bytes.Buffer
			res, err := s.Rewrite(&b, e)
			if errors.Is(err, serde.ErrOpaque) {
				continue
			} else if err != nil {
				t.Fatalf("%s %s: %v", r, m.Name, err)
			}
			out := reopened(t, s, b.Bytes(), res)
			all, _ := numbered(t, s, id, func(int64, int) bool { return true })
			want, _ := numbered(t, s, id, func(n int64, part int) bool { return !goes(n, part) })
			got, whole := numbered(t, out, id, func(int64, int) bool { return true })
			if whole && !slices.Equal(got, want) {
				t.Errorf("%s %s: left are\n%q, not\n%q", r, m.Name, got, want)
			}
			c, err := Compare(s, out, e)
			if err != nil {
				t.Fatal(err)
			}
			for i := range c {
				if !c[i].Same {
					t.Errorf("%s: %s differs", r, s.Header.States[i].Name)
				}
			}
			if gone := int64(len(all) - len(want)); c[id].Gone != gone || res.Removed[id].Entries != gone {
				t.Errorf("%s %s: %d and %d counted, %d are gone", r, m.Name, c[id].Gone, res.Removed[id].Entries, gone)
			}
			entries += len(all) - len(want)
			if s.Layout == Heap && types.Map {
				parts += len(all) - len(want)
			}
		}
	})
	t.Log(entries, "entries,", parts, "of heap maps")
	if entries < 1000 || parts < 100 {
		t.Error("fewer than there were")
	}
}

// TestMapPartsDamaged: what is no map is refused, and nothing is read behind its
// end.
func TestMapPartsDamaged(t *testing.T) {
	types := Types{Layout: Heap, Map: true, UserKey: &serde.Snapshot{Kind: serde.Int}, Value: &serde.Snapshot{Kind: serde.Byte}}
	whole := []byte{0, 0, 0, 2, 0, 0, 0, 7, 0, 5, 0, 0, 0, 8, 1}
	for i := range whole {
		if err := types.MapParts(whole[:i], func(MapPart) error { return nil }); err == nil {
			t.Errorf("cut at %d: no error", i)
		}
	}
	for _, b := range [][]byte{append(bytes.Clone(whole), 0), {0, 0, 0, 1, 0, 0, 0, 7, 2, 5}, {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 1}} {
		if err := types.MapParts(b, func(MapPart) error { return nil }); err == nil {
			t.Errorf("%x: no error", b)
		}
	}
	var raw [][]byte
	if err := types.MapParts(whole, func(p MapPart) error { raw = append(raw, p.Raw); return nil }); err != nil || !bytes.Equal(JoinMap(raw), whole) {
		t.Errorf("%x, %v", JoinMap(raw), err)
	}
}
