package keyed

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// real is a stream of managed keyed state of the corpus.
type real struct {
	snap *realfiles.Snapshot
	use  metadata.StreamUse
	in   decoder.Input
}

func (r real) String() string { return r.snap.Name + ": " + r.use.String() }

// eachStream calls f for every key-group stream and every meta stream.
func eachStream(t testing.TB, folders []string, f func(r real)) {
	realfiles.Each(t, folders, func(s *realfiles.Snapshot) {
		err := s.EachStream(func(u metadata.StreamUse) error {
			if u.Place != metadata.ManagedKeyed || u.Part != metadata.Delegate && u.Part != metadata.Meta {
				return nil
			}
			if in := s.Stream(t, u.Stream); in != nil {
				f(real{s, u, in})
			} else {
				t.Errorf("%s: %s: %s is missing", s.Name, u, u.Stream.Name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// eachGroups is eachStream for key-group streams, opened.
func eachGroups(t testing.TB, folders []string, f func(r real, s *Stream)) {
	eachStream(t, folders, func(r real) {
		if r.use.Part != metadata.Delegate {
			return
		}
		s, err := Open(r.in, r.snap.In, r.use.Keyed.Type, r.use.Keyed.Groups, nil)
		if err != nil {
			t.Errorf("%s: %v", r, err)
			return
		}
		s.MaxParallelism = r.snap.Operators[r.use.Operator].MaxParallelism
		f(r, s)
	})
}

// custom is the class of a test of Flink that the corpus has and nobody knows.
const custom = "TypeSerializerSnapshotMigrationITCase$TestSerializer"

// TestHeadersOfFlink reads every header, exactly up to its known end, and finds
// the same records without reading a serializer.
func TestHeadersOfFlink(t *testing.T) {
	versions, layouts, opaque, blind := map[int32]int{}, map[string]int{}, 0, 0
	eachStream(t, nil, func(r real) {
		limit, h := r.in.Size(), (*Header)(nil)
		if r.use.Part == metadata.Meta {
			var err error
			if h, err = ParseHeader(r.in, limit, nil); err != nil {
				t.Errorf("%s: %v", r, err)
				return
			}
			layouts["meta"]++
		} else {
			s, err := Open(r.in, r.snap.In, r.use.Keyed.Type, r.use.Keyed.Groups, nil)
			if err != nil {
				t.Errorf("%s: %v", r, err)
				return
			}
			if len(s.sorted) > 0 {
				limit = s.sorted[0]
			}
			h = s.Header
			layouts[fmt.Sprintf("%v of type %d, compressed %v", s.Layout, r.use.Keyed.Type, h.Compressed)]++
		}
		versions[h.Version]++
		if h.End != limit {
			t.Errorf("%s: header ends at %d, not %d", r, h.End, limit)
		}
		for _, m := range append(h.States, serde.StateMeta{Name: "key", Opaque: h.Key.Opaque, Serializers: []serde.KeyedSerializer{{Type: h.Key}}}) {
			if m.Opaque {
				opaque++
				if !strings.Contains(fmt.Sprint(realfiles.Notation(m.Serializers[0].Type), realfiles.Notation(m.Serializers[len(m.Serializers)-1].Type)), custom) {
					t.Errorf("%s: %s is opaque: %+v", r, m.Name, m)
				}
			}
		}
		if h.Version == 6 {
			blind++
			findRecords(t, r.String(), r.in, h)
		}
	})
	t.Log(versions, layouts, opaque, "opaque,", blind, "found again")
	if versions[3] < 6 || versions[4] < 50 || versions[5] < 40 || versions[6] < 1200 || layouts["meta"] < 250 ||
		layouts["heap of type 12, compressed true"] == 0 || layouts["canonical of type 7, compressed true"] == 0 {
		t.Error("fewer streams than there were")
	}
}

func findRecords(t *testing.T, what string, in decoder.Input, h *Header) {
	header, err := decoder.ReadSpan(in, decoder.Span{Len: h.End}, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	r := serde.NewReader(what, header, 0)
	from := int64(0)
	for _, m := range h.States {
		rec, ok := r.FindRecord(from, nil)
		if !ok || rec.Off != m.Span.Off || rec.Kind != m.Kind {
			t.Errorf("%s: record of %q at %d found at %+v", what, m.Name, m.Span.Off, rec)
		}
		from = m.Span.End()
	}
	if rec, ok := r.FindRecord(from, nil); ok {
		t.Errorf("%s: a record more at %+v", what, rec)
	}
}

func TestTypesOfLab(t *testing.T) {
	got := map[string]map[string]bool{} // snapshot to lines
	folders := map[string]string{}
	eachStream(t, []string{"lab"}, func(r real) {
		limit := r.in.Size()
		h, err := ParseHeader(r.in, limit, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got[r.snap.Name] == nil {
			got[r.snap.Name] = map[string]bool{}
			folders[r.snap.Name] = r.snap.Folder
		}
		for _, m := range h.States {
			kind := m.Type
			if m.Kind == serde.PriorityQueue {
				kind = "PRIORITY_QUEUE"
			}
			got[r.snap.Name][fmt.Sprintf("%s %s key %s namespace %s value %s", m.Name, kind, realfiles.Notation(h.Key),
				realfiles.Notation(m.Serializer(serde.NamespaceSerializer)), realfiles.Notation(m.Serializer(serde.ValueSerializer)))] = true
		}
	})
	realfiles.CompareAbout(t, "keyed state", folders, got, 800)
}

// TestCanonicalGroups walks every group exactly to its end.
func TestCanonicalGroups(t *testing.T) {
	streams, groups, entries := 0, 0, int64(0)
	eachGroups(t, nil, func(r real, s *Stream) {
		if s.Layout != Canonical {
			return
		}
		streams++
		sizes := make([]StateSize, len(s.Header.States))
		bytes := int64(0)
		for i := range s.Offsets {
			n := int64(0)
			end, err := s.Walk(i, math.MaxInt32, func(e Entry) error {
				n++
				bytes += 8 + e.KeyLen + e.ValueLen
				if group := int32(e.Key[0]); len(s.Offsets) <= 128 && r.snap.Operators[r.use.Operator].MaxParallelism <= 128 && group != s.Start+int32(i) {
					t.Errorf("%s: key of group %d in group %d", r, group, s.Start+int32(i))
				}
				if int64(len(e.Key)) != e.KeyLen || int64(len(e.Value)) != e.ValueLen {
					t.Errorf("%s: entry %+v", r, e)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s: %v", r, err)
				return
			}
			if s.Offsets[i] > 0 {
				groups++
				entries += n
				if want := s.Extent(i).End(); end != want {
					t.Errorf("%s: group %d ends at %d, not %d", r, i, end, want)
				}
			}
			if sizes, err = s.Sizes(i, sizes); err != nil {
				t.Errorf("%s: %v", r, err)
			}
		}
		for _, z := range sizes {
			bytes -= z.Bytes
			entries -= z.Entries
		}
		if entries != 0 || bytes > 0 || bytes < -2*int64(groups*len(sizes)) {
			t.Errorf("%s: sizes differ from entries: %d, %d", r, entries, bytes)
		}
		entries = 0
	})
	t.Log(streams, "streams,", groups, "groups")
	if streams < 450 || groups < 700 {
		t.Errorf("only %d streams, %d groups", streams, groups)
	}
}

// TestFactsOfLab compares the entries of each state with what Flink read: a
// fact for each key, user key or timer. In heap layout an entry has all user
// keys.
func TestFactsOfLab(t *testing.T) {
	entries := map[string]map[string]int64{} // facts.txt to "uid state" to entries
	opaque, heap := map[string]bool{}, map[string]bool{}
	eachGroups(t, []string{"lab"}, func(r real, s *Stream) {
		about, err := os.ReadFile(filepath.Join(r.snap.Folder, "about.txt"))
		if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(filepath.Dir(r.snap.Name), "lab/"+filepath.Base(r.snap.Folder)+"/")
		if r.use.Place != metadata.ManagedKeyed || r.use.Changelog != nil || !bytes.Contains(about, []byte("\nsnapshot: "+path+"\n")) {
			return
		}
		uid := ""
		for _, name := range []string{"enrich", "named"} {
			if metadata.OperatorIDOf(name) == r.snap.Operators[r.use.Operator].ID {
				uid = name
			}
		}
		if uid == "" {
			return
		}
		facts := filepath.Join(r.snap.Folder, "facts.txt")
		if entries[facts] == nil {
			entries[facts] = map[string]int64{}
		}
		var sizes []StateSize
		for i := range s.Offsets {
			if sizes, err = s.Sizes(i, sizes); errors.Is(err, serde.ErrOpaque) {
				opaque[facts+uid] = true
			} else if err != nil {
				t.Fatal(err)
			}
		}
		heap[facts] = s.Layout == Heap
		for id, m := range s.Header.States {
			entries[facts][uid+" "+m.Name] += sizes[id].Entries
		}
	})
	compared := map[bool]int{}
	for file, states := range entries {
		facts, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for state, n := range states {
			uid, name, _ := strings.Cut(state, " ")
			if opaque[file+uid] || !bytes.Contains(facts, []byte("\nkeyed "+uid+" ")) {
				continue
			}
			line := `(?m)^keyed ` + uid + ` (key=\S+) ` + name + `(\[.*\]|@\S*)?=(.*)$`
			if timers, ok := strings.CutPrefix(name, "_timer_state/"); ok {
				kind, _, _ := strings.Cut(timers, "_")
				line = `(?m)^timer ` + uid + ` ` + kind + `( )(.*)()$`
			}
			want := map[string]bool{}
			for _, m := range regexp.MustCompile(line).FindAllSubmatch(facts, -1) {
				if userKey := len(m[2]) > 0 && m[2][0] == '['; userKey && heap[file] {
					m[2] = nil
				} else if string(m[3]) == "null" && !userKey {
					continue
				}
				want[string(m[1])+string(m[2])] = true
			}
			compared[heap[file]]++
			if n != int64(len(want)) {
				t.Errorf("%s: %s has %d entries, not %d", file, state, n, len(want))
			}
		}
	}
	t.Log(compared)
	if compared[false] < 150 || compared[true] < 100 {
		t.Errorf("only %v states of %d snapshots compared", compared, len(entries))
	}
}
