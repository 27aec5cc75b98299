package opstate

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// eachStream calls f for every operator state stream of the corpus.
func eachStream(t testing.TB, folders []string, f func(s *realfiles.Snapshot, in decoder.Input, states []metadata.OperatorState)) {
	eachUse(t, folders, func(s *realfiles.Snapshot, u metadata.StreamUse, in decoder.Input) {
		f(s, in, u.OperatorHandle.States)
	})
}

func eachUse(t testing.TB, folders []string, f func(s *realfiles.Snapshot, u metadata.StreamUse, in decoder.Input)) {
	realfiles.Each(t, folders, func(s *realfiles.Snapshot) {
		err := s.EachStream(func(u metadata.StreamUse) error {
			if u.Place != metadata.ManagedOperator {
				return nil
			}
			if in := s.Stream(t, u.Stream); in != nil {
				f(s, u, in)
			} else if u.Stream.Type != metadata.TypeEmptySegment {
				t.Errorf("%s: %s: %s is missing", s.Name, u, u.Stream.Name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func all(t testing.TB, in decoder.Input) []byte {
	buf, err := decoder.ReadSpan(in, decoder.Span{Len: in.Size()}, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	return buf
}

func limitOf(t testing.TB, s *realfiles.Snapshot, in decoder.Input, states []metadata.OperatorState) (int64, []string) {
	limit, names := int64(math.MaxInt64), []string(nil)
	for _, st := range states {
		names = append(names, st.Name)
		if st.Offsets.Len() > 0 {
			first, err := st.Offsets.First(s.In)
			if err != nil {
				t.Fatal(err)
			}
			limit = min(limit, first)
		}
	}
	return min(limit, in.Size()), names
}

// TestHeadersOfFlink reads every header, exactly up to its known end, and finds
// the same records without reading a serializer.
func TestHeadersOfFlink(t *testing.T) {
	versions, compressed, blind := map[int32]int{}, 0, 0
	eachStream(t, nil, func(s *realfiles.Snapshot, in decoder.Input, states []metadata.OperatorState) {
		limit, names := limitOf(t, s, in, states)
		h, err := ParseHeader(in, limit, names)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			return
		}
		versions[h.Version]++
		if h.Compressed {
			compressed++
			limit -= 10
		}
		if h.End != limit {
			t.Errorf("%s: header of %s ends at %d, not %d", s.Name, in.Name(), h.End, limit)
		}
		for _, m := range h.States {
			if m.Opaque {
				t.Errorf("%s: %s is opaque", s.Name, m.Name)
			}
		}
		for _, n := range names {
			if h.State(n) == nil {
				t.Errorf("%s: %s: no record of %q", s.Name, in.Name(), n)
			}
		}
		if h.Version >= 5 {
			blind++
			findRecords(t, s.Name, all(t, in)[:h.End], h, names)
		}
	})
	t.Log(versions, compressed, "compressed,", blind, "found again")
	if versions[2] < 40 || versions[4] < 40 || versions[5] < 700 || versions[6] < 800 || compressed < 20 {
		t.Error("fewer streams than there were")
	}
}

func findRecords(t *testing.T, what string, header []byte, h *Header, names []string) {
	r := serde.NewReader(what, header, 0)
	from := int64(0)
	for _, m := range h.States {
		rec, ok := r.FindRecord(from, names)
		if !ok || rec.Off != m.Span.Off || rec.Kind != m.Kind {
			t.Errorf("%s: record of %q at %d found at %+v", what, m.Name, m.Span.Off, rec)
		}
		from = m.Span.End()
	}
	if rec, ok := r.FindRecord(from, names); ok {
		t.Errorf("%s: a record more at %+v", what, rec)
	}
}

// TestTypesOfLab compares kinds and types with what about.txt says.
func TestTypesOfLab(t *testing.T) {
	got := map[string]map[string]bool{} // snapshot to lines
	folders := map[string]string{}
	eachStream(t, []string{"lab"}, func(s *realfiles.Snapshot, in decoder.Input, states []metadata.OperatorState) {
		limit, names := limitOf(t, s, in, states)
		h, err := ParseHeader(in, limit, names)
		if err != nil {
			t.Fatal(err)
		}
		if got[s.Name] == nil {
			got[s.Name] = map[string]bool{}
			folders[s.Name] = s.Folder
		}
		for _, m := range h.States {
			v := fmt.Sprint(h.Version)
			if h.Compressed {
				v += ", compressed"
			}
			got[s.Name][fmt.Sprintf("%s %s %s (stream version %s)", m.Name, m.Mode, realfiles.Notation(m.Serializer(serde.ValueSerializer)), v)] = true
		}
	})
	realfiles.CompareAbout(t, "operator state", folders, got, 300)
}

// TestFactsOfIncident compares elements and bytes of each state in each subtask
// with what Flink's own classes counted.
func TestFactsOfIncident(t *testing.T) {
	facts := map[string][]byte{}
	compared := 0
	eachUse(t, []string{"incident"}, func(snap *realfiles.Snapshot, u metadata.StreamUse, in decoder.Input) {
		file := filepath.Join(snap.Folder, "facts.txt")
		if facts[file] == nil {
			b, err := os.ReadFile(file)
			if err != nil {
				return // high availability: no facts of streams
			}
			facts[file] = b
		}
		section := facts[file]
		op := []byte("\noperator " + snap.Operators[u.Operator].ID.String())
		if i := bytes.Index(section, op); i >= 0 {
			section = section[i+1:]
			if i := bytes.Index(section, []byte("\noperator ")); i >= 0 {
				section = section[:i]
			}
		} else {
			return // another checkpoint of the same folder
		}
		s, err := Open(in, snap.In, u.OperatorHandle.States)
		if err != nil {
			t.Fatal(err)
		}
		for i, st := range s.States {
			n, err := s.Bytes(i)
			if err != nil {
				t.Fatal(err)
			}
			m := s.Header.State(st.Name)
			want := fmt.Sprintf("    state %d %s %s elements=%d bytes=%d", u.Subtask, st.Name, m.Mode, st.Offsets.Len(), n)
			if !bytes.Contains(section, []byte(want+"\n")) {
				t.Errorf("%s: %s is not in the facts", snap.Name, want)
			}
			class := m.Serializer(serde.ValueSerializer).Class
			if want := fmt.Sprintf("    header %s mode=%s snapshot=%s\n", st.Name, m.Mode, class); !bytes.Contains(section, []byte(want)) {
				t.Errorf("%s: %s is not in the facts", snap.Name, want)
			}
			compared++
		}
	})
	if compared < 200 {
		t.Errorf("only %d states compared", compared)
	}
}

// TestUnknownSerializer makes the class of each snapshot in turn one that is not
// known: all records keep their places.
func TestUnknownSerializer(t *testing.T) {
	seen, edits := map[string]bool{}, 0
	eachStream(t, []string{"lab", "incident"}, func(s *realfiles.Snapshot, in decoder.Input, states []metadata.OperatorState) {
		limit, names := limitOf(t, s, in, states)
		h, err := ParseHeader(in, limit, names)
		if err != nil {
			t.Fatal(err)
		}
		header := all(t, in)[:limit]
		if h.Version < 5 || seen[string(header)] {
			return
		}
		seen[string(header)] = true
		for i, m := range h.States {
			for _, k := range m.Serializers {
				edits++
				b := bytes.Clone(header)
				b[k.Type.Span.Off+6] ^= 1 // first letter of the class
				got, err := ParseHeader(decoder.Bytes{Data: b, Label: in.Name()}, limit, names)
				if err != nil {
					t.Errorf("%s: %s: %v", s.Name, m.Name, err)
					continue
				}
				if got.End != h.End || len(got.States) != len(h.States) {
					t.Errorf("%s: %s: %d records up to %d", s.Name, m.Name, len(got.States), got.End)
				}
				for j := range got.States {
					if got.States[j].Name != h.States[j].Name || got.States[j].Span != h.States[j].Span || got.States[j].Opaque && i != j {
						t.Errorf("%s: unknown serializer of %s: %s at %v, %v", s.Name, m.Name, got.States[j].Name, got.States[j].Span, h.States[j].Span)
					}
				}
			}
		}
	})
	if edits < 50 {
		t.Errorf("only %d edits", edits)
	}
}

func TestTruncatedHeader(t *testing.T) {
	done := map[int32]bool{}
	eachStream(t, nil, func(s *realfiles.Snapshot, in decoder.Input, states []metadata.OperatorState) {
		limit, names := limitOf(t, s, in, states)
		h, err := ParseHeader(in, limit, names)
		if err != nil || done[h.Version] || h.End > 1500 {
			return
		}
		done[h.Version] = true
		b := all(t, in)
		for cut := int64(0); cut < h.End; cut++ {
			if _, err := ParseHeader(decoder.Bytes{Data: b[:cut], Label: "cut"}, cut, names); err == nil {
				t.Errorf("version %d: cut to %d of %d bytes: no error", h.Version, cut, h.End)
			}
		}
	})
	if len(done) < 4 {
		t.Errorf("versions %v", done)
	}
}
