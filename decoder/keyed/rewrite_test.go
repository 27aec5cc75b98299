package keyed

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// contents are the entries of each group and state, as they are, in order; nil
// where nothing tells the end of one.
func contents(t testing.TB, s *Stream) map[string][]string {
	out := map[string][]string{}
	for i := range s.Offsets {
		_, err := s.Walk(i, math.MaxInt32, func(e Entry) error {
			k := fmt.Sprint(i, " ", s.Header.States[e.State].Name)
			out[k] = append(out[k], string(e.Namespace)+"\x00"+string(e.Key)+"\x00"+string(e.Value))
			return nil
		})
		if errors.Is(err, serde.ErrOpaque) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// rewrite rewrites s and opens the result.
func rewrite(t testing.TB, s *Stream, kind byte, e Edit) (*Stream, *Rewritten, []byte) {
	var b bytes.Buffer
	r, err := s.Rewrite(&b, e)
	if err != nil {
		t.Fatal(err)
	}
	if r.Size != int64(b.Len()) {
		t.Fatalf("%d bytes written, %d said", b.Len(), r.Size)
	}
	in := decoder.Bytes{Data: b.Bytes(), Label: "rewritten " + s.In.Name()}
	h := &metadata.KeyGroupsHandle{Start: s.Start, Number: int32(len(s.Offsets)), Offsets: r.Offsets}
	n, err := Open(in, in, kind, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	n.MaxParallelism = s.MaxParallelism
	if n.Layout != s.Layout || n.Header.Compressed || n.Header.Version != s.Header.Version || r.Records != len(n.Header.States) {
		t.Fatalf("%s, %+v", n.Layout, n.Header)
	}
	if len(n.sorted) > 0 && n.Header.End != n.sorted[0] || len(n.sorted) == 0 && n.Header.End != in.Size() {
		t.Fatalf("header ends at %d: %v", n.Header.End, n.sorted)
	}
	return n, r, b.Bytes()
}

func same(t testing.TB, what string, got, want map[string][]string, gone string) {
	for k, entries := range want {
		if len(k) > len(gone) && k[len(k)-len(gone)-1:] == " "+gone {
			if len(got[k]) > 0 {
				t.Errorf("%s: %s still has %d entries", what, k, len(got[k]))
			}
			continue
		}
		if len(got[k]) != len(entries) {
			t.Errorf("%s: %s has %d entries, not %d", what, k, len(got[k]), len(entries))
			continue
		}
		for i := range entries {
			if got[k][i] != entries[i] {
				t.Errorf("%s: %s entry %d differs", what, k, i)
			}
		}
	}
	if len(got) > len(want) {
		t.Errorf("%s: %d groups and states, not %d", what, len(got), len(want))
	}
}

// TestDropEveryState drops each state of each real stream, one at a time, in
// both forms.
func TestDropEveryState(t *testing.T) {
	drops, opaque := map[Layout]int{}, 0
	eachGroups(t, nil, func(r real, s *Stream) {
		want := contents(t, s)
		if want == nil {
			if opaque++; s.Layout == Canonical {
				t.Errorf("%s: not walked", r)
			}
			return
		}
		again, _, b := rewrite(t, s, r.use.Keyed.Type, Edit{})
		same(t, r.String(), contents(t, again), want, "\x00none")
		if old, err := decoder.ReadSpan(s.In, decoder.Span{Len: s.In.Size()}, math.MaxInt64); err != nil || !s.Header.Compressed && !bytes.Equal(b, old) {
			t.Errorf("%s: rewritten without an edit is not the same", r)
		}
		for id, m := range s.Header.States {
			drops[s.Layout]++
			what := r.String() + " without " + m.Name
			n, res, _ := rewrite(t, s, r.use.Keyed.Type, Edit{Drop: []string{m.Name}})
			if n.Header.State(m.Name) >= 0 || res.Records != len(s.Header.States)-1 {
				t.Errorf("%s: record is still there", what)
			}
			same(t, what, contents(t, n), want, m.Name)
			n, res, _ = rewrite(t, s, r.use.Keyed.Type, Edit{Cut: []string{m.Name}})
			if n.Header.State(m.Name) != id || res.Records != len(s.Header.States) {
				t.Errorf("%s: record is gone", what)
			}
			same(t, what, contents(t, n), want, m.Name)
			entries := int64(0)
			for i := range s.Offsets {
				entries += int64(len(want[fmt.Sprint(i, " ", m.Name)]))
			}
			if res.Removed[id].Entries != entries {
				t.Errorf("%s: %d entries removed, not %d", what, res.Removed[id].Entries, entries)
			}
		}
	})
	t.Log(drops, opaque, "streams not walked")
	if drops[Canonical] < 800 || drops[Heap] < 1000 {
		t.Error("fewer states than there were")
	}
}
