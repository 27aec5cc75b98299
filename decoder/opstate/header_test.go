package opstate

import (
	"math"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/metadata"
)

// eachStream calls f for every operator state stream of the corpus.
func eachStream(t testing.TB, folders []string, f func(s *realfiles.Snapshot, in decoder.Input, states []metadata.OperatorState)) {
	realfiles.Each(t, folders, func(s *realfiles.Snapshot) {
		err := s.EachStream(func(u metadata.StreamUse) error {
			if u.Place != metadata.ManagedOperator {
				return nil
			}
			in := s.Stream(t, u.Stream)
			if in == nil {
				if u.Stream.Type != metadata.TypeEmptySegment {
					t.Errorf("%s: %s: %s is missing", s.Name, u, u.Stream.Name)
				}
				return nil
			}
			f(s, in, u.OperatorHandle.States)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
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

func TestHeadersOfFlink(t *testing.T) {
	versions := map[int32]int{}
	compressed, opaque := 0, 0
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
				opaque++
				t.Logf("%s: %s opaque", s.Name, m.Name)
			}
		}
		for _, n := range names {
			if h.State(n) == nil {
				t.Errorf("%s: %s: no record of %q", s.Name, in.Name(), n)
			}
		}
	})
	t.Log(versions, compressed, opaque)
}
