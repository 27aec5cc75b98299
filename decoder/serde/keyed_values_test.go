package serde_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/keyed"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// eachKeyed calls f for every key-group stream of the folders.
func eachKeyed(t *testing.T, folders []string, f func(s *realfiles.Snapshot, st *keyed.Stream)) {
	t.Helper()
	realfiles.Each(t, folders, func(s *realfiles.Snapshot) {
		err := s.EachStream(func(u metadata.StreamUse) error {
			if u.Place != metadata.ManagedKeyed || u.Part != metadata.Delegate {
				return nil
			}
			in := s.Stream(t, u.Stream)
			if in == nil {
				return nil
			}
			st, err := keyed.Open(in, s.In, u.Keyed.Type, u.Keyed.Groups, nil)
			if err != nil {
				t.Errorf("%s: %v", s.Name, err)
				return nil
			}
			st.MaxParallelism = s.Operators[u.Operator].MaxParallelism
			f(s, st)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// share counts how many values of a serializer are decoded.
type share struct{ decoded, all int }

type shares map[string]*share

// of decodes all of b as a value of type typ and counts it.
func (c shares) of(t *testing.T, what string, typ *serde.Snapshot, b []byte) (serde.Value, int) {
	t.Helper()
	v, left, err := serde.DecodeAll(typ, b, serde.DefaultLimits)
	label := "none"
	if typ != nil {
		if label = typ.Kind.String(); serde.Unreadable(typ) != "" {
			label = "serializers of jobs"
		}
	}
	if c[label] == nil {
		c[label] = &share{}
	}
	c[label].all++
	if err != nil && !errors.Is(err, serde.ErrOpaque) {
		t.Errorf("%s: %v in %x", what, err, b[:min(len(b), 200)])
	} else if v.Decoded() {
		c[label].decoded++
		n := len(b) - left
		if _, m, err := serde.Decode(typ, b); m != n || err != nil {
			t.Errorf("%s: %d bytes, not %d, %v", what, m, n, err)
		}
		if m, err := serde.Skip(typ, b); m != n || err != nil {
			t.Errorf("%s: skipped %d bytes, not %d, %v", what, m, n, err)
		}
	}
	return v, left
}

// table is the part of the README about them.
func (c shares) table() string {
	var b strings.Builder
	b.WriteString("| serializer of the value | values | decoded |\n|---|---:|---:|\n")
	for _, l := range slices.SortedFunc(maps.Keys(c), func(x, y string) int {
		return cmp.Or(cmp.Compare(c[y].all, c[x].all), cmp.Compare(x, y))
	}) {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", l, c[l].all, c[l].percent())
	}
	all := c.total()
	fmt.Fprintf(&b, "| all | %d | %s |\n", all.all, all.percent())
	return b.String()
}

func (s *share) percent() string {
	switch s.decoded {
	case s.all:
		return "all"
	case 0:
		return "none"
	}
	return fmt.Sprintf("%.1f %%", math.Floor(1000*float64(s.decoded)/float64(s.all))/10)
}

// canonicalValue decodes a value of canonical layout: elements of a list are
// joined by a comma, map values stand behind a null flag.
func (c shares) canonicalValue(t *testing.T, what string, m *serde.StateMeta, b []byte) {
	typ := m.Serializer(serde.ValueSerializer)
	switch {
	case m.Kind == serde.PriorityQueue || m.Kind == serde.KeyValue && len(b) == 0:
		return
	case m.Type == "MAP" && typ != nil && typ.Kind == serde.Map:
		if b[0] == 0 {
			if _, left := c.of(t, what, typ.Nested[1], b[1:]); left != 0 {
				t.Errorf("%s: %d bytes left", what, left)
			}
		}
	case m.Type == "LIST" && typ != nil && typ.Kind == serde.List:
		for len(b) > 0 {
			_, left := c.of(t, what, typ.Nested[0], b)
			if b = b[len(b)-left:]; left > 0 {
				if b[0] != ',' {
					t.Errorf("%s: %x behind an element", what, b)
					return
				}
				b = b[1:]
			}
		}
	default:
		if _, left := c.of(t, what, typ, b); left != 0 {
			t.Errorf("%s: %d bytes left", what, left)
		}
	}
}

// TestShareDecoded decodes every value of operator state and of heap and
// canonical keyed state in the real snapshots. It counts by serializer, as the
// README tells; damage there is none.
func TestShareDecoded(t *testing.T) {
	count := shares{}
	realfiles.Each(t, nil, func(s *realfiles.Snapshot) {
		if strings.Contains(s.Name, "gen-9") {
			return // 1.5 million times the same
		}
		eachElement(t, s, func(what string, typ *serde.Snapshot, b []byte) { count.of(t, what, typ, b) })
	})
	operator := *count.total()
	eachKeyed(t, nil, func(s *realfiles.Snapshot, st *keyed.Stream) {
		for i := range st.Groups() {
			_, err := st.Walk(i, math.MaxInt32, func(e keyed.Entry) error {
				m := &st.Header.States[e.State]
				what := s.Name + ": " + m.Name
				if st.Layout == keyed.Canonical {
					count.canonicalValue(t, what, m, e.Value)
				} else if m.Kind != serde.PriorityQueue {
					count.of(t, what, m.Serializer(serde.ValueSerializer), e.Value)
				}
				return nil
			})
			if err != nil && !errors.Is(err, serde.ErrOpaque) {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	})
	realfiles.InReadme(t, "decoded", count.table(), *update)
	all := count.total()
	t.Logf("operator state %d of %d, keyed state %d of %d", operator.decoded, operator.all, all.decoded-operator.decoded, all.all-operator.all)
	if all.decoded < 50000 {
		t.Error("fewer than there were")
	}
}

func (c shares) total() *share {
	var s share
	for _, v := range c {
		s.decoded += v.decoded
		s.all += v.all
	}
	return &s
}
