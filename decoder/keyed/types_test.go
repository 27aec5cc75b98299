package keyed

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// typesOf gives the types of all states of a real stream.
func typesOf(r real, s *Stream) []Types {
	var out []Types
	for id := range s.Header.States {
		out = append(out, s.Header.Types(id, s.Layout, r.snap.Operators[r.use.Operator].MaxParallelism))
	}
	return out
}

// decodedShare counts entries by the kinds of key, namespace and value.
type decodedShare struct{ decoded, all int }

// TestDecodeEntries decodes every entry of real streams: keys come apart, and lie
// in the key group that their hash tells, where it does.
func TestDecodeEntries(t *testing.T) {
	count := map[string]*decodedShare{}
	hashed, unhashed := map[string]int{}, map[string]int{}
	add := func(what string, v serde.Value) {
		if count[what] == nil {
			count[what] = &decodedShare{}
		}
		count[what].all++
		if v.Decoded() {
			count[what].decoded++
		}
	}
	ambiguous := 0
	eachGroups(t, nil, func(r real, s *Stream) {
		types := typesOf(r, s)
		maxParallelism := r.snap.Operators[r.use.Operator].MaxParallelism
		for i := range s.Offsets {
			_, err := s.Walk(i, math.MaxInt32, func(e Entry) error {
				ty := &types[e.State]
				what := fmt.Sprintf("%s: %s: %x", r, s.Header.States[e.State].Name, e.Key)
				p := ty.Split(e)
				f := ty.Decode(e, serde.DefaultLimits)
				keyType := ty.Key
				if ty.Queue && ty.Stored != nil && len(ty.Stored.Nested) == 2 {
					keyType = ty.Stored.Nested[0]
				}
				kind := "unknown"
				if keyType != nil {
					kind = keyType.Kind.String()
				}
				add("key "+kind, f.Key)
				if f.MapKey.Form != serde.Missing {
					add("map key "+ty.UserKey.Kind.String(), f.MapKey)
				}
				switch {
				case ty.Queue:
					add("timer", f.Value)
				case ty.Stored != nil:
					add("value "+ty.Stored.Kind.String(), f.Value)
				}
				if ty.ambiguous && !ty.Queue {
					ambiguous++
				}
				if p.Why != "" {
					if f.Key.Decoded() {
						t.Errorf("%s: %s, but decoded", what, p.Why)
					}
					return nil
				}
				if hash, ok := serde.JavaHash(keyType, p.Key); !ok {
					unhashed[kind]++
				} else if g := serde.KeyGroup(hash, maxParallelism); g != e.Group {
					t.Errorf("%s: its key %v lies in group %d, the hash says %d", what, f.Key, e.Group, g)
				} else {
					hashed[kind]++
				}
				return nil
			})
			if err != nil && !errors.Is(err, serde.ErrOpaque) {
				t.Errorf("%s: %v", r, err)
			}
		}
	})
	var labels []string
	for l := range count {
		labels = append(labels, l)
	}
	sort.Strings(labels)
	for _, l := range labels {
		t.Logf("%-32s %6d of %6d decoded", l, count[l].decoded, count[l].all)
	}
	t.Log("key groups by hash:", hashed, "not known:", unhashed, "ambiguous:", ambiguous)
	if hashed["Long"] < 5000 || hashed["String"] < 500 || ambiguous == 0 {
		t.Error("fewer than there were")
	}
}

// entryFacts prints an entry as the programs did that wrote facts.txt.
func entryFacts(m *serde.StateMeta, f Fields) []string {
	key := "key=" + realfiles.Fact(f.Key) + " "
	if m.Kind == serde.PriorityQueue {
		kind := strings.SplitN(strings.TrimPrefix(m.Name, "_timer_state/"), "_", 2)[0]
		return []string{kind + " " + key + "at=" + realfiles.Fact(f.Value)}
	}
	key += m.Name
	if f.Namespace.Form != serde.Missing {
		key += "@" + realfiles.Fact(f.Namespace)
	}
	if f.MapKey.Form != serde.Missing {
		return []string{key + "[" + realfiles.Fact(f.MapKey) + "]=" + realfiles.KeyedFact(m.Name, f.Value)}
	}
	if f.Value.Form != serde.Pairs {
		return []string{key + "=" + realfiles.KeyedFact(m.Name, f.Value)}
	}
	var out []string
	for i := 0; i < len(f.Value.Items); i += 2 {
		out = append(out, key+"["+realfiles.Fact(f.Value.Items[i])+"]="+realfiles.KeyedFact(m.Name, f.Value.Items[i+1]))
	}
	return out
}

var update = flag.Bool("update", false, "renew what the README says of the facts")

// TestFactsOfKeyedState compares every entry of heap and canonical streams with
// what Flink itself read, and counts what is not read.
func TestFactsOfKeyedState(t *testing.T) {
	equal, opaque, behind, elsewhere := 0, 0, 0, 0
	realfiles.Each(t, []string{"lab"}, func(s *realfiles.Snapshot) {
		want, readable := keyedFacts(t, s)
		if want == nil {
			return
		}
		if !readable {
			for fact, n := range want {
				if !isNull(fact) {
					elsewhere += n
				}
			}
			return
		}
		blocked, streams := false, 0
		err := s.EachStream(func(u metadata.StreamUse) error {
			if u.Place != metadata.ManagedKeyed || u.Part != metadata.Delegate {
				return nil
			}
			r := real{s, u, s.Stream(t, u.Stream)}
			st, err := Open(r.in, s.In, u.Keyed.Type, u.Keyed.Groups, nil)
			if err != nil {
				t.Fatal(err)
			}
			streams++
			st.MaxParallelism = s.Operators[u.Operator].MaxParallelism
			types := typesOf(r, st)
			for i := range st.Offsets {
				_, err := st.Walk(i, math.MaxInt32, func(e Entry) error {
					m := &st.Header.States[e.State]
					f := types[e.State].Decode(e, serde.DefaultLimits)
					if !f.Key.Decoded() || !f.Value.Decoded() {
						opaque++
						want["opaque "+m.Name]++
						return nil
					}
					for _, fact := range entryFacts(m, f) {
						if want[fact]--; want[fact] < 0 {
							t.Errorf("%s: %s: not in the facts", s.Name, fact)
						}
						equal++
					}
					return nil
				})
				blocked = blocked || err != nil
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if streams == 0 {
			return
		}
		for fact, n := range want {
			state := stateOfFact(fact)
			switch {
			case n <= 0 || strings.HasPrefix(fact, "opaque ") || isNull(fact):
			case want["opaque "+state] > 0:
			case blocked:
				behind += n
			default:
				t.Errorf("%s: %s: not decoded", s.Name, fact)
			}
		}
	})
	realfiles.InReadme(t, "facts-keyed", fmt.Sprintf("- of %d values and timers of keyed state in heap and canonical snapshots %d; %d are fields that Kryo wrote, %d stand behind these "+
		"where they cannot be told apart. %d more are in RocksDB files and changelogs, which are not read entry by entry\n", equal+opaque+behind, equal, opaque, behind, elsewhere), *update)
}

// isNull: facts tell of states without a value too.
func isNull(fact string) bool {
	return strings.HasSuffix(fact, "=null") && !strings.Contains(fact, "[")
}

func stateOfFact(fact string) string {
	_, rest, _ := strings.Cut(fact, " ")
	return rest[:max(strings.IndexAny(rest+"=", "=[@"), 0)]
}

// keyedFacts are the facts about keyed state of a snapshot, counted; nil where it
// has none. It is readable where it is in heap or canonical streams alone.
func keyedFacts(t *testing.T, s *realfiles.Snapshot) (out map[string]int, readable bool) {
	file := realfiles.FactsFile(s)
	if file == "" {
		return nil, false
	}
	readable = !strings.Contains(s.Name, "changelog") && (!strings.Contains(s.Name, "rocks") || strings.Contains(s.Name, "canonical") || strings.Contains(s.Name, "full"))
	if file == "facts-intended.txt" {
		file = "facts-repaired.txt" // keyed state of that snapshot itself
	}
	text, err := os.ReadFile(filepath.Join(s.Folder, file))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\nkeyed ") {
		return nil, false
	}
	out = map[string]int{}
	for _, line := range strings.Split(string(text), "\n") {
		switch f := strings.SplitN(line, " ", 3); f[0] {
		case "keyed", "timer":
			out[f[2]]++
		}
	}
	return out, readable
}
