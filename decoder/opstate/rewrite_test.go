package opstate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder"
	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/metadata"
)

// contents are the elements of each state, as they are.
func contents(t testing.TB, s *Stream) map[string][]string {
	out := map[string][]string{}
	for i, st := range s.States {
		out[st.Name] = []string{}
		err := s.Elements(i, 0, math.MaxInt64, math.MaxInt64, func(e Element) error {
			out[st.Name] = append(out[st.Name], string(e.Data))
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", s.In.Name(), err)
		}
	}
	return out
}

// rewrite rewrites s and opens the result.
func rewrite(t testing.TB, s *Stream, e Edit) (*Stream, *Rewritten, []byte) {
	var b bytes.Buffer
	r, err := s.Rewrite(&b, e)
	if err != nil {
		t.Fatalf("%s: %v", s.In.Name(), err)
	}
	if r.Size != int64(b.Len()) {
		t.Fatalf("%s: %d bytes written, %d said", s.In.Name(), b.Len(), r.Size)
	}
	n, err := Open(decoder.Bytes{Data: b.Bytes(), Label: "rewritten " + s.In.Name()}, s.Meta, r.States)
	if err != nil {
		t.Fatal(err)
	}
	return n, r, b.Bytes()
}

func sameExcept(t testing.TB, what string, got, want map[string][]string, dropped string) {
	for name, elems := range want {
		if name == dropped {
			if _, ok := got[name]; ok {
				t.Errorf("%s: %q is still there", what, name)
			}
			continue
		}
		g, ok := got[name]
		if !ok || len(g) != len(elems) {
			t.Errorf("%s: %q has %d elements, not %d", what, name, len(g), len(elems))
			continue
		}
		for i := range elems {
			if g[i] != elems[i] {
				t.Errorf("%s: %q element %d differs", what, name, i)
				break
			}
		}
	}
}

// TestDropEveryState drops each state of each real stream, one at a time.
func TestDropEveryState(t *testing.T) {
	drops, broken := 0, 0
	seen := map[string]bool{}
	eachStream(t, nil, func(snap *realfiles.Snapshot, in decoder.Input, states []metadata.OperatorState) {
		buf := all(t, in)
		if seen[string(buf)] {
			return // the same stream is named by several snapshots
		}
		seen[string(buf)] = true
		s, err := Open(in, snap.In, states)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := s.Broken(); err != nil {
			t.Fatal(err)
		} else if b {
			broken++ // which is rewritten whole, split by the serializers
		}
		want := contents(t, s)
		same, _, b := rewrite(t, s, Edit{})
		sameExcept(t, snap.Name, contents(t, same), want, "\x00none")
		if !s.Header.Compressed && !bytes.Equal(b, buf) {
			t.Errorf("%s: %s rewritten without an edit is not the same", snap.Name, in.Name())
		}
		for _, m := range s.Header.States {
			drops++
			n, r, _ := rewrite(t, s, Edit{Drop: []string{m.Name}})
			if n.Header.State(m.Name) != nil || r.Records != len(s.Header.States)-1 || len(n.Header.States) != r.Records {
				t.Errorf("%s: record of %q is still there", snap.Name, m.Name)
			}
			if n.Header.Compressed || n.Header.Version != s.Header.Version {
				t.Errorf("%s: header %+v", snap.Name, n.Header)
			}
			sameExcept(t, snap.Name+" without "+m.Name, contents(t, n), want, m.Name)
			if limit, _ := limitOf(t, snap, n.In, r.States); n.Header.End != limit {
				t.Errorf("%s: header ends at %d, not %d", snap.Name, n.Header.End, limit)
			}
		}
	})
	t.Logf("%d streams, %d states dropped, %d streams broken", len(seen), drops, broken)
	if drops < 750 || broken == 0 {
		t.Errorf("only %d states dropped, %d streams broken", drops, broken)
	}
}

// TestDropElements takes elements out and checks that the others stay.
func TestDropElements(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	edits := 0
	eachStream(t, []string{"lab", "incident/union-2.2"}, func(snap *realfiles.Snapshot, in decoder.Input, states []metadata.OperatorState) {
		s, err := Open(in, snap.In, states)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := s.Broken(); b {
			return
		}
		want := contents(t, s)
		for _, st := range states {
			if st.Mode == metadata.ModeBroadcast || st.Offsets.Len() < 2 {
				continue
			}
			n := st.Offsets.Len()
			first := rnd.Int63n(n)
			gone := []metadata.Range{{First: first, Last: min(n-1, first+rnd.Int63n(3))}, {First: n - 1, Last: n + 5}}
			var left []string
			for i, e := range want[st.Name] {
				if int64(i) < gone[0].First || int64(i) > gone[0].Last && int64(i) != n-1 {
					left = append(left, e)
				}
			}
			edits++
			r, _, _ := rewrite(t, s, Edit{Elements: map[string][]metadata.Range{st.Name: gone}})
			after := map[string][]string{}
			for k, v := range want {
				after[k] = v
			}
			after[st.Name] = left
			sameExcept(t, snap.Name, contents(t, r), after, "\x00none")
		}
	})
	if edits < 50 {
		t.Errorf("only %d edits", edits)
	}
}

// TestBroken splits the lists of a stream that Flink cannot restore and writes
// them as it can.
func TestBroken(t *testing.T) {
	facts, err := os.ReadFile(filepath.Join(corpus.Dir(t), "lab/1.18-heap-snappy-broken/facts-intended.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lists := 0
	eachUse(t, []string{"lab/1.18-heap-snappy-broken"}, func(snap *realfiles.Snapshot, u metadata.StreamUse, in decoder.Input) {
		s, err := Open(in, snap.In, u.OperatorHandle.States)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := s.Broken(); err != nil || !b {
			return
		}
		n, _, _ := rewrite(t, s, Edit{})
		if b, err := n.Broken(); err != nil || b {
			t.Errorf("rewritten: broken %v, %v", b, err)
		}
		for name, elements := range contents(t, n) {
			lists++
			if name == "pending-orders" {
				if want := strings.Count(string(facts), fmt.Sprintf("list buffering#%d pending-orders=", u.Subtask)); len(elements) != want {
					t.Errorf("%d orders, not %d", len(elements), want)
				}
				continue
			}
			for _, e := range elements {
				// Tuple2 of a short string and a long
				k := int(e[0])
				v := fmt.Sprintf("%s=(%s,%d)\n", name, e[1:k], binary.BigEndian.Uint64([]byte(e[k:])))
				if want := fmt.Sprintf("list buffering#%d ", u.Subtask) + v; name == "buffered-elements" && !bytes.Contains(facts, []byte(want)) {
					t.Errorf("%q is not in the facts", want)
				}
				if want := "union buffering " + v; name == "union-offsets" && !bytes.Contains(facts, []byte(want)) {
					t.Errorf("%q is not in the facts", want)
				}
			}
		}
	})
	if lists != 6 {
		t.Errorf("%d lists", lists)
	}
}

// TestDropMapEntries takes every third entry out of each broadcast state of each
// real stream: the others are there, in their order, and so is every other state.
func TestDropMapEntries(t *testing.T) {
	maps, gone := 0, 0
	eachStream(t, []string{"lab", "flink-savepoints"}, func(snap *realfiles.Snapshot, in decoder.Input, states []metadata.OperatorState) {
		s, err := Open(in, snap.In, states)
		if err != nil {
			return
		}
		for i, st := range s.States {
			if st.Mode != metadata.ModeBroadcast {
				continue
			}
			var all, want []string
			var drop []metadata.Range
			opaque := false
			if _, err := s.Entries(i, 0, math.MaxInt64, func(e Entry) error {
				opaque = opaque || e.Err != nil
				text := fmt.Sprintf("%x = %x", e.Key, e.Value)
				if all = append(all, text); e.Index%3 == 1 {
					drop = append(drop, metadata.Range{First: e.Index, Last: e.Index})
				} else {
					want = append(want, text)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			e := Edit{Entries: map[string][]metadata.Range{st.Name: append(drop, metadata.Range{First: 1 << 40, Last: 1 << 41})}}
			if opaque {
				if _, err := s.Rewrite(&bytes.Buffer{}, e); err == nil {
					t.Errorf("%s: %s: no error", in.Name(), st.Name)
				}
				continue
			}
			out, _, _ := rewrite(t, s, e)
			k := 0
			for out.States[k].Name != st.Name {
				k++
			}
			var got []string
			n, err := out.Entries(k, 0, math.MaxInt64, func(e Entry) error {
				got = append(got, fmt.Sprintf("%x = %x", e.Key, e.Value))
				return nil
			})
			if err != nil || n != int64(len(want)) || strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: %s: %d entries %v, not %v (%v)", in.Name(), st.Name, n, got, want, err)
			}
			before, after := contents(t, s), contents(t, out)
			delete(before, st.Name)
			sameExcept(t, in.Name(), after, before, "")
			maps++
			gone += len(all) - len(want)
		}
	})
	if maps < 20 || gone < 50 {
		t.Errorf("%d maps, %d entries", maps, gone)
	}
}
