package serde_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/metadata"
	"chkscope/decoder/opstate"
	"chkscope/decoder/serde"
)

// stateValue is one list element or broadcast entry of a real snapshot.
type stateValue struct {
	kind, state string // list, union or broadcast
	subtask     int
	key, value  serde.Value
	typ         *serde.Snapshot
	err         error
}

// eachElement gives the bytes of every value of operator state: elements of
// lists, keys and values of broadcast entries.
func eachElement(t *testing.T, s *realfiles.Snapshot, f func(what string, typ *serde.Snapshot, b []byte)) {
	t.Helper()
	eachStream(t, s, func(u metadata.StreamUse, st *opstate.Stream, i int, m *serde.StateMeta) error {
		return st.Elements(i, 0, math.MaxInt64, 64<<20, func(e opstate.Element) error {
			what, value := s.Name+": "+m.Name, m.Serializer(serde.ValueSerializer)
			if m.Kind != serde.Broadcast {
				f(what, value, e.Data)
				return nil
			}
			for b := e.Data[4:]; len(b) > 0; {
				for _, typ := range []*serde.Snapshot{m.Serializer(serde.KeySerializer), value} {
					n, err := serde.Skip(typ, b)
					if err != nil {
						return err
					}
					f(what, typ, b[:n])
					b = b[n:]
				}
			}
			return nil
		})
	})
}

// eachStream calls f for every operator state of a snapshot.
func eachStream(t *testing.T, s *realfiles.Snapshot, f func(metadata.StreamUse, *opstate.Stream, int, *serde.StateMeta) error) {
	t.Helper()
	err := s.EachStream(func(u metadata.StreamUse) error {
		if u.Place != metadata.ManagedOperator {
			return nil
		}
		in := s.Stream(t, u.Stream)
		if in == nil {
			return nil
		}
		st, err := opstate.Open(in, s.In, u.OperatorHandle.States)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			return nil
		}
		for i, os := range st.States {
			if err := f(u, st, i, st.Header.State(os.Name)); err != nil {
				t.Errorf("%s: %s: %v", s.Name, os.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// eachValue decodes every operator state of a snapshot.
func eachValue(t *testing.T, s *realfiles.Snapshot, f func(operator string, v stateValue)) {
	t.Helper()
	eachStream(t, s, func(u metadata.StreamUse, st *opstate.Stream, i int, m *serde.StateMeta) error {
		id := s.Operators[u.Operator].ID.String()
		kind := map[string]string{"UNION": "union", "BROADCAST": "broadcast", "SPLIT_DISTRIBUTE": "list"}[m.Mode]
		return st.Elements(i, 0, math.MaxInt64, 64<<20, func(e opstate.Element) error {
			v := stateValue{kind: kind, state: m.Name, subtask: int(u.Subtask), typ: m.Serializer(serde.ValueSerializer)}
			if m.Kind != serde.Broadcast {
				v.value, _, v.err = serde.DecodeAll(v.typ, e.Data, serde.DefaultLimits)
				f(id, v)
				return nil
			}
			for b := e.Data[4:]; len(b) > 0; {
				for j, typ := range []*serde.Snapshot{m.Serializer(serde.KeySerializer), v.typ} {
					x, n, err := serde.Decode(typ, b)
					if err != nil {
						return err
					}
					if v.value = x; j == 0 {
						v.key = x
					}
					b = b[n:]
				}
				f(id, v)
			}
			return nil
		})
	})
}

// counts compares two multisets and gives how many are in both.
func counts(t *testing.T, what string, want, got map[string]int) int {
	t.Helper()
	same, told := 0, 0
	for k := range got {
		if _, ok := want[k]; !ok {
			want[k] += 0
		}
	}
	for k, n := range want {
		same += min(n, got[k])
		if n != got[k] {
			if told++; told <= 5 {
				t.Errorf("%s: %q: %d of %d", what, k, got[k], n)
			}
		}
	}
	return same
}

// TestFactsOfLab compares list, union and broadcast values with what Flink
// itself read from the same snapshots.
func TestFactsOfLab(t *testing.T) {
	total := 0
	realfiles.Each(t, []string{"lab"}, func(s *realfiles.Snapshot) {
		file := realfiles.FactsFile(s)
		if file == "" {
			return // one of a chain without facts of its own
		}
		text, err := os.ReadFile(filepath.Join(s.Folder, file))
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string]int{}, map[string]int{}
		for _, line := range strings.Split(string(text), "\n") {
			kind, rest, _ := strings.Cut(line, " ")
			uid, fact, _ := strings.Cut(rest, " ")
			switch {
			case strings.Contains(fact, " count="):
			case kind == "list" || kind == "union":
				want[kind+" "+fact]++
			case kind == "broadcast":
				_, subtask, _ := strings.Cut(uid, "#")
				want[kind+" "+subtask+" "+fact]++
			}
		}
		if strings.Contains(s.Name, "multi-chk") {
			for k := range want { // there each of the two subtasks wrote the whole union list
				if strings.HasPrefix(k, "union") {
					want[k] /= 2
				}
			}
		}
		eachValue(t, s, func(operator string, v stateValue) {
			if v.state == "SourceReaderState" {
				return
			}
			fact := fmt.Sprintf("%s %s=%s", v.kind, v.state, realfiles.Fact(v.value))
			if v.kind == "broadcast" {
				fact = fmt.Sprintf("%s %d %s[%s]=%s", v.kind, v.subtask, v.state, realfiles.Fact(v.key), realfiles.Fact(v.value))
			}
			got[fact]++
		})
		total += counts(t, s.Name, want, got)
	})
	realfiles.InReadme(t, "facts-operator", fmt.Sprintf("- of %d elements of lists and broadcast maps all\n", total), *update)
}

// TestFactsOfIncident does the same for the incident's snapshots, of states
// whose elements are not byte arrays of connectors.
func TestFactsOfIncident(t *testing.T) {
	got := map[string]map[string]int{} // of all snapshots in a folder
	arrays := map[string]bool{}
	cache := map[string]string{}
	realfiles.Each(t, []string{"incident"}, func(s *realfiles.Snapshot) {
		folder := s.Folder
		for !exists(filepath.Join(folder, "facts.txt")) {
			folder = filepath.Dir(folder)
		}
		if got[folder] == nil {
			got[folder] = map[string]int{}
		}
		eachValue(t, s, func(operator string, v stateValue) {
			if v.value.Form == serde.Binary {
				arrays[folder+operator+" "+v.state] = true
				return
			}
			raw := string(v.value.AppendJSON(nil))
			if cache[raw] == "" {
				cache[raw] = sortedIDs(strings.ReplaceAll(realfiles.Fact(v.value), ", ", ","))
			}
			got[folder][operator+" "+v.state+" "+cache[raw]]++
		})
	})
	total, listed := 0, regexp.MustCompile(`^    (\d+) x (.*)$`)
	for folder, got := range got {
		text, err := os.ReadFile(filepath.Join(folder, "facts.txt"))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{}
		operator, state := "", ""
		for _, l := range strings.Split(string(text), "\n") {
			f := strings.Fields(l)
			switch m := listed.FindStringSubmatch(l); {
			case strings.HasPrefix(l, "operator "):
				operator = f[1]
			case strings.HasPrefix(l, "  total "):
				state = f[1]
			case m != nil && !arrays[folder+operator+" "+state]:
				n, _ := strconv.Atoi(m[1])
				want[operator+" "+state+" "+sortedIDs(strings.ReplaceAll(m[2], ", ", ","))] += n
			case strings.HasPrefix(l, "    ... "): // not all are listed
				for k := range got {
					if strings.HasPrefix(k, operator+" "+state+" ") && want[k] == 0 {
						delete(got, k)
					}
				}
			}
		}
		total += counts(t, folder, want, got)
	}
	realfiles.InReadme(t, "facts-incident", fmt.Sprintf("- of %d elements of the incident's lists all\n", total), *update)
}

// sortedIDs sorts the ids of a transaction context, which are a set.
func sortedIDs(s string) string {
	head, ids, ok := strings.Cut(s, "transactionalIds=[")
	if !ok {
		return s
	}
	list := strings.Split(strings.TrimSuffix(ids, "]}}"), ",")
	sort.Strings(list)
	return head + strings.Join(list, ",")
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}
