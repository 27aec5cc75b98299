package keyed

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/metadata"
)

// logs gives for each changelog handle of a snapshot its changes.
func logs(t testing.TB, s *realfiles.Snapshot, f func(op metadata.OperatorID, l *ChangeLog, total int64)) {
	for _, op := range s.Operators {
		for _, sub := range op.Subtasks {
			if sub.State == nil || sub.State.ManagedKeyed == nil || sub.State.ManagedKeyed.Changelog == nil {
				continue
			}
			l, total := &ChangeLog{}, int64(0)
			for _, h := range sub.State.ManagedKeyed.Changelog.NonMaterialized {
				switch {
				case h.Inline != nil:
					if err := l.Inline(s.In, h.Inline.Changes); err != nil {
						t.Errorf("%s: %v", s.Name, err)
					}
					total += h.Inline.Changes.Bytes()
				case h.Files != nil:
					for _, inc := range h.Files.Increments {
						in := s.Stream(t, &inc.Stream)
						if in == nil {
							t.Errorf("%s: %s is missing", s.Name, inc.Stream.Name)
							continue
						}
						if err := l.Increment(in, inc.Offset); err != nil {
							t.Errorf("%s: %s at %d: %v", s.Name, inc.Stream.Name, inc.Offset, err)
						}
					}
				}
			}
			f(op.ID, l, total)
		}
	}
}

// TestChangesOfFlink reads all changes of the corpus: every change belongs to a
// state that about.txt knows.
func TestChangesOfFlink(t *testing.T) {
	handles, changes, inline := 0, int64(0), 0
	realfiles.Each(t, nil, func(s *realfiles.Snapshot) {
		about, _ := os.ReadFile(filepath.Join(s.Folder, "about.txt"))
		logs(t, s, func(_ metadata.OperatorID, l *ChangeLog, total int64) {
			handles++
			bytes := int64(0)
			for _, st := range l.States {
				changes += st.Changes
				bytes += st.Bytes
				if st.Meta.Name == "" || st.Meta.Opaque {
					t.Errorf("%s: %+v", s.Name, st)
				}
				if len(about) > 0 && !strings.Contains(string(about), "keyed state "+st.Meta.Name+" ") {
					t.Errorf("%s: state %q", s.Name, st.Meta.Name)
				}
			}
			if total > 0 {
				inline++
				if bytes != total {
					t.Errorf("%s: %d bytes of changes, not %d", s.Name, bytes, total)
				}
			}
		})
	})
	t.Log(handles, "handles,", inline, "with changes in memory,", changes, "changes")
	if handles < 20 || changes < 1000 {
		t.Error("fewer changes than there were")
	}
}

// TestChangesInMemory writes real changes as `_metadata` holds them.
func TestChangesInMemory(t *testing.T) {
	tried := false
	realfiles.Each(t, []string{"lab/1.20-changelog-heap"}, func(s *realfiles.Snapshot) {
		s.EachStream(func(u metadata.StreamUse) error {
			if u.Part != metadata.LogStream || tried {
				return nil
			}
			in, want := s.Stream(t, u.Stream), &ChangeLog{}
			if err := want.Increment(in, 0); err != nil || len(want.States) == 0 {
				return nil
			}
			tried = true
			b, _ := decoder.ReadSpan(in, decoder.Span{Len: in.Size()}, 1<<30)
			u32 := func(at int) int { return int(binary.BigEndian.Uint32(b[at:])) }
			var inline []byte
			count, at := 0, 5
			for range u32(1) {
				changes, group := u32(at), b[at+4:at+8]
				at += 8
				for range changes {
					n := 4 + u32(at)
					inline = append(append(inline, group...), b[at:at+n]...)
					at, count = at+n, count+1
				}
			}
			got := &ChangeLog{}
			if err := got.Inline(decoder.Bytes{Data: inline, Label: "meta"}, metadata.Changes{Span: decoder.Span{Len: int64(len(inline))}, Count: count}); err != nil {
				t.Fatal(err)
			}
			for i, w := range want.States {
				if g := got.States[i]; g.ID != w.ID || g.Meta.Name != w.Meta.Name || g.Changes != w.Changes || g.Bytes != w.Bytes {
					t.Errorf("%+v, not %+v", g, w)
				}
			}
			return nil
		})
	})
	if !tried {
		t.Error("no changelog file")
	}
}

func FuzzChanges(f *testing.F) {
	n := 0
	realfiles.Each(f, []string{"lab/1.20-changelog-heap"}, func(s *realfiles.Snapshot) {
		s.EachStream(func(u metadata.StreamUse) error {
			if in := s.Stream(f, u.Stream); u.Part == metadata.LogStream && in != nil && n < 4 {
				n++
				b, _ := decoder.ReadSpan(in, decoder.Span{Len: min(in.Size(), 8000)}, 1<<20)
				f.Add(b, int64(0))
			}
			return nil
		})
	})
	f.Fuzz(func(t *testing.T, b []byte, offset int64) {
		l := ChangeLog{}
		l.Increment(decoder.Bytes{Data: b, Label: "fuzz"}, offset)
		sum := int64(0)
		for _, s := range l.States {
			sum += s.Bytes
		}
		if sum > int64(len(b)) && b[0] == 0 {
			t.Errorf("%d bytes of changes in %d", sum, len(b))
		}
	})
}
