package keyed

import (
	"errors"
	"fmt"
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

// eachRaw calls f for every raw keyed stream of the corpus.
func eachRaw(t testing.TB, folders []string, f func(r real)) {
	realfiles.Each(t, folders, func(s *realfiles.Snapshot) {
		err := s.EachStream(func(u metadata.StreamUse) error {
			if u.Place == metadata.RawKeyed {
				if in := s.Stream(t, u.Stream); in != nil {
					f(real{s, u, in})
				} else {
					t.Errorf("%s: %s is missing", s.Name, u)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestTimersOfFlink reads every raw keyed stream, each group to its end.
func TestTimersOfFlink(t *testing.T) {
	versions, other := map[int32]int{}, 0
	eachRaw(t, nil, func(r real) {
		groups, err := RawTimers(r.in, r.snap.In, r.use.Keyed.Groups)
		if errors.Is(err, ErrNotTimers) {
			other++
			return
		}
		if err != nil {
			t.Errorf("%s: %v", r, err)
		}
		s := Stream{In: r.in, Start: r.use.Keyed.Start}
		if err := s.readOffsets(r.snap.In, r.use.Keyed.Groups, true); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			versions[g.Version]++
			if !g.Complete {
				t.Errorf("%s: group %d: %+v", r, g.Group, g)
			}
			c := newSource(r.in, s.extent(s.Offsets[g.Group-s.Start]), false, "")
			if readTimers(c, nil); c.at() != c.end {
				t.Errorf("%s: group %d ends at %d, not %d", r, g.Group, c.at(), c.end)
			}
		}
	})
	t.Log(versions, other, "other")
	if versions[0] < 50 || versions[1] < 50 || versions[2] < 30 {
		t.Error("fewer groups than there were")
	}
}

// TestTimersOfLab compares services and numbers of timers with what Flink read.
func TestTimersOfLab(t *testing.T) {
	timers := map[string]map[string]int64{}
	eachRaw(t, []string{"lab"}, func(r real) {
		about, _ := os.ReadFile(filepath.Join(r.snap.Folder, "about.txt"))
		path := strings.TrimPrefix(filepath.Dir(r.snap.Name), "lab/"+filepath.Base(r.snap.Folder)+"/")
		if !strings.Contains(string(about), "\nsnapshot: "+path+"\n") || r.snap.Operators[r.use.Operator].ID != metadata.OperatorIDOf("enrich") {
			return
		}
		groups, err := RawTimers(r.in, r.snap.In, r.use.Keyed.Groups)
		if err != nil {
			t.Fatal(err)
		}
		if timers[r.snap.Folder] == nil {
			timers[r.snap.Folder] = map[string]int64{}
		}
		for _, g := range groups {
			for _, s := range g.Services {
				if s.Name != "user-timers" || s.Key.Kind != serde.Long || s.Namespace.Kind != serde.VoidByte {
					t.Errorf("%s: %+v", r, s)
				}
				timers[r.snap.Folder]["event"] += s.Event
				timers[r.snap.Folder]["processing"] += s.Processing
			}
		}
	})
	for folder, kinds := range timers {
		facts, err := os.ReadFile(filepath.Join(folder, "facts.txt"))
		if err != nil {
			t.Fatal(err)
		}
		for kind, n := range kinds {
			if want := len(regexp.MustCompile(`(?m)^timer enrich `+kind+` `).FindAll(facts, -1)); int64(want) != n || n == 0 {
				t.Errorf("%s: %d %s timers, not %d", folder, n, kind, want)
			}
		}
	}
	if len(timers) < 2 {
		t.Errorf("%d snapshots", len(timers))
	}
}

func TestOtherRawState(t *testing.T) {
	for _, b := range [][]byte{{}, {0, 0, 0}, []byte("some text of a custom operator"), {0, 0, 0, 1, 0, 1, 'x', 0xac, 0xed}, {0xff, 0xff, 0xff, 0xff}} {
		in := decoder.Bytes{Data: b, Label: "raw"}
		h := &metadata.KeyGroupsHandle{Start: 3, Number: 1, Offsets: metadata.NewOffsets([]int64{0})}
		if g, err := RawTimers(in, in, h); !errors.Is(err, ErrNotTimers) {
			t.Errorf("% x: %+v, %v", b, g, err)
		}
	}
	in := decoder.Bytes{Data: []byte{0xf1, 0xcd, 0x85, 0x9f, 0, 0, 0, 3}, Label: "raw"}
	h := &metadata.KeyGroupsHandle{Number: 2, Offsets: metadata.NewOffsets([]int64{-1, 0})}
	if _, err := RawTimers(in, in, h); !errors.Is(err, decoder.ErrVersion) {
		t.Error(err)
	}
}

func FuzzTimers(f *testing.F) {
	seen := map[int32]int{}
	eachRaw(f, nil, func(r real) {
		s := Stream{In: r.in}
		if s.readOffsets(r.snap.In, r.use.Keyed.Groups, true) != nil {
			return
		}
		for _, off := range s.Offsets {
			if off < 0 {
				continue
			}
			c := newSource(r.in, s.extent(off), false, "")
			g, err := readTimers(c, nil)
			if err != nil {
				continue
			}
			if seen[g.Version]++; seen[g.Version] < 4 {
				b, _ := decoder.ReadSpan(r.in, s.extent(off), 1<<20)
				f.Add(b)
			}
		}
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		in := decoder.Bytes{Data: b, Label: "fuzz"}
		g, err := readTimers(newSource(in, decoder.Span{Len: in.Size()}, false, "key group 0"), nil)
		if err == nil && !g.Complete && len(g.Services) == 0 {
			t.Error(fmt.Sprint("nothing read and no error: ", g))
		}
	})
}
