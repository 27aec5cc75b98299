package prune_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"chkscope/decoder/keyed"
	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/prune"
)

// TestEveryRemoval applies each kind of removal to each operator of real
// snapshots. What is refused must be refused for a known reason.
func TestEveryRemoval(t *testing.T) {
	done, refused := map[string]int{}, map[string]int{}
	someSnapshots(t, func(name string, s *model.Snapshot, tree *model.Tree) {
		for kind, targets := range removalsOf(s) {
			for _, g := range targets {
				req := prune.Request{Targets: []model.Target{g}, Copy: prune.CopyReference, AcceptLoss: true, ChangelogOff: true}
				res, err := drop(t, s, tree, req)
				var refusal *prune.Refusal
				if errors.As(err, &refusal) {
					refused[kind+": "+refusal.Reasons[0].Rule]++
					if !expectedRefusal(s, g, refusal.Reasons[0].Rule) {
						t.Errorf("%s %s: %v", name, g.Selector(), err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s %s: %v", name, g.Selector(), err)
					continue
				}
				done[kind]++
				if res.Proof.Equal+res.Proof.Removed != res.Proof.Checked || res.Proof.Removed == 0 && kind != "elements" && kind != "duplicates" {
					t.Errorf("%s %s: proof %+v", name, g.Selector(), res.Proof)
				}
				if n := plannedEntries(res.Plan); g.Entries != model.AllEntries && res.Proof.EntriesRemoved != n {
					t.Errorf("%s %s: the proof found %d entries gone, %d were planned", name, g.Selector(), res.Proof.EntriesRemoved, n)
				}
			}
		}
	})
	t.Logf("done %v\nrefused %v", done, refused)
}

// plannedEntries is how many entries go, with those that go along.
func plannedEntries(p *prune.Plan) (n int64) {
	for _, r := range p.Removed {
		if r.Entries != nil {
			n += *r.Entries
		}
	}
	return n
}

func expectedRefusal(s *model.Snapshot, g model.Target, rule string) bool {
	switch rule {
	case "finished":
		return g.Class == model.ClassOperator
	case "broadcast-in-part":
		return g.Class == model.ClassSubtask || g.Class == model.ClassCell
	case "duplicates-of-split":
		return g.Entries == model.Duplicates
	case "broadcast-entries":
		return g.Entries != model.AllEntries
	case "broken-compression":
		return g.Entries != model.AllEntries && strings.Contains(s.URI, "snappy-broken")
	}
	return false
}

// removalsOf gives removals of each kind that a snapshot has.
func removalsOf(s *model.Snapshot) map[string][]model.Target {
	out := map[string][]model.Target{}
	for i := range s.Meta.Masters {
		out["master"] = append(out["master"], model.Target{Class: model.ClassMaster, Kind: model.KindMaster, Name: s.Meta.Masters[i].Name, Subtask: -1, Entries: model.AllEntries})
	}
	for i := range s.Meta.Operators {
		op := &s.Meta.Operators[i]
		add := func(kind string, g model.Target) { g.Op = op.ID; out[kind] = append(out[kind], g) }
		if len(op.Subtasks) > 0 {
			add("operator", model.OperatorTarget(op.ID))
		}
		if op.Coordinator != nil {
			add("coordinator", model.StateTarget(op.ID, model.KindCoordinator, ""))
		}
		seen := map[string]bool{}
		for k := range op.Subtasks {
			st := op.Subtasks[k].State
			if st == nil {
				continue
			}
			once := func(kind string, g model.Target) {
				if !seen[kind] {
					seen[kind] = true
					add(kind, g)
				}
			}
			if st.ManagedOperator != nil || st.ManagedKeyed != nil {
				once("subtask", model.Target{Class: model.ClassSubtask, Subtask: op.Subtasks[k].Index, Entries: model.AllEntries})
			}
			if st.ManagedKeyed != nil {
				once("keyed", model.Target{Class: model.ClassState, Kind: model.KindKeyed, Whole: true, Subtask: -1, Entries: model.AllEntries})
			}
			if st.RawKeyed != nil {
				once("raw-keyed", model.Target{Class: model.ClassState, Kind: model.KindRawKeyed, Whole: true, Subtask: -1, Entries: model.AllEntries})
			}
			if st.RawOperator != nil {
				once("raw-operator", model.StateTarget(op.ID, model.KindRawOperator, st.RawOperator.States[0].Name))
			}
			if st.Input.Len()+st.Output.Len() > 0 && len(out["in-flight"]) == 0 {
				once("in-flight", model.Target{Class: model.ClassState, Kind: model.KindInFlight, Name: "input", Subtask: -1, Entries: model.AllEntries})
			}
			if st.ManagedOperator != nil {
				for _, e := range st.ManagedOperator.States {
					if e.Offsets.Len() == 0 {
						continue
					}
					g := model.StateTarget(op.ID, model.KindOperator, e.Name)
					g.Entries = model.Duplicates
					once("duplicates"+e.Name, g)
					g.Class, g.Subtask, g.Entries = model.ClassCell, op.Subtasks[k].Index, model.EntryRange{First: 0, Last: 0}
					once("elements"+e.Name, g)
					g.Entries = model.AllEntries
					once("cell"+e.Name, g)
				}
			}
		}
	}
	return byKind(out)
}

func byKind(in map[string][]model.Target) map[string][]model.Target {
	out := map[string][]model.Target{}
	for k, v := range in {
		for _, kind := range []string{"duplicates", "elements", "cell"} {
			if strings.HasPrefix(k, kind) {
				k = kind
			}
		}
		out[k] = append(out[k], v...)
	}
	return out
}

// TestDuplicatesOfTheIncident: 12 different entries are left of every
// generation of the incident, and the last of each stays.
func TestDuplicatesOfTheIncident(t *testing.T) {
	found := 0
	for _, path := range realFiles(t) {
		if !strings.Contains(path, "consumer-to-source-1.15-p4/gen-") && !strings.Contains(path, "testdata/incident/gen-") {
			continue
		}
		s, tree := open(t, path)
		for _, g := range operatorStates(s) {
			if g.Name != "topic-partition-offset-states" {
				continue
			}
			found++
			g.Entries = model.Duplicates
			_, err := dropAnd(t, s, tree, prune.Request{Targets: []model.Target{g}, Copy: prune.CopyReference}, func(p *prune.Plan, c *metadata.Checkpoint) {
				left, most := int64(0), int64(0)
				for i := range c.Operators {
					for _, sub := range c.Operators[i].Subtasks {
						if sub.State.ManagedOperator == nil {
							continue
						}
						for _, st := range sub.State.ManagedOperator.States {
							if c.Operators[i].ID == g.Op && st.Name == g.Name {
								left += st.Offsets.Len()
								most = max(most, st.Offsets.Len())
							}
						}
					}
				}
				if left != 12 {
					t.Errorf("%s: %d entries are left, want 12", path, left)
				}
				if *p.Removed[0].Entries+left != tree.Entries(s.Find(tree, g)) {
					t.Errorf("%s: %d entries removed, %d left, %d before", path, *p.Removed[0].Entries, left, tree.Entries(s.Find(tree, g)))
				}
			})
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d generations of the incident", found)
	}
}

// TestTies: what DESIGN.md says about removals that belong together, on real
// snapshots.
func TestTies(t *testing.T) {
	coordinator := func(op *metadata.Operator) []model.Target {
		return []model.Target{model.StateTarget(op.ID, model.KindCoordinator, "")}
	}
	reader := func(op *metadata.Operator) []model.Target {
		return []model.Target{model.StateTarget(op.ID, model.KindOperator, "SourceReaderState")}
	}
	sources := 0
	someSnapshots(t, func(name string, s *model.Snapshot, tree *model.Tree) {
		for i := range s.Meta.Operators {
			op := &s.Meta.Operators[i]
			if op.Coordinator == nil || splits(op) == 0 {
				continue
			}
			sources++
			for _, c := range []struct {
				what    string
				targets []model.Target
				accept  bool
				rule    string
			}{
				{"coordinator alone", coordinator(op), false, "coordinator-alone"},
				{"coordinator alone, accepted", coordinator(op), true, ""},
				{"readers alone", reader(op), false, "reader-alone"},
				{"readers alone, accepted", reader(op), true, ""},
				{"both", append(coordinator(op), reader(op)...), false, ""},
			} {
				p, err := prune.Build(context.Background(), s, tree, prune.Request{Targets: c.targets, Copy: prune.CopyFull, AcceptLoss: c.accept})
				checkRule(t, name+" "+c.what, err, c.rule)
				if err == nil && c.accept && len(p.Losses) == 0 {
					t.Errorf("%s %s: no loss is told", name, c.what)
				}
			}
		}
	})
	if sources == 0 {
		t.Error("no source with reader and coordinator state was found")
	}
	t.Logf("%d sources", sources)
}

func splits(op *metadata.Operator) (n int64) {
	for _, sub := range op.Subtasks {
		if sub.State == nil || sub.State.ManagedOperator == nil {
			continue
		}
		for _, st := range sub.State.ManagedOperator.States {
			if st.Name == "SourceReaderState" {
				n += st.Offsets.Len()
			}
		}
	}
	return n
}

func checkRule(t *testing.T, name string, err error, rule string) {
	t.Helper()
	var refusal *prune.Refusal
	switch {
	case rule == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case rule != "" && !errors.As(err, &refusal):
		t.Errorf("%s: %v, want a refusal by %s", name, err, rule)
	case rule != "" && refusal.Reasons[0].Rule != rule:
		t.Errorf("%s: refused by %s, want %s", name, refusal.Reasons[0].Rule, rule)
	}
}

// TestDropEveryKeyedName drops each named keyed state of real snapshots:
// canonical and heap streams are rewritten, unless values of a heap stream have no
// known ends; RocksDB is refused, but for a state that is the only one.
func TestDropEveryKeyedName(t *testing.T) {
	done, refused := 0, map[string]int{}
	someSnapshots(t, func(name string, s *model.Snapshot, tree *model.Tree) {
		for i := range s.Meta.Operators {
			for _, state := range keyedNames(t, s, i) {
				g := model.StateTarget(s.Meta.Operators[i].ID, model.KindKeyed, state)
				res, err := drop(t, s, tree, prune.Request{Targets: []model.Target{g}, Copy: prune.CopyReference, ChangelogOff: true})
				var refusal *prune.Refusal
				if errors.As(err, &refusal) {
					refused[refusal.Reasons[0].Rule]++
					continue
				}
				if err != nil {
					t.Errorf("%s %s: %v", name, g.Selector(), err)
					continue
				}
				done++
				if res.Proof.Removed == 0 || res.Proof.Equal+res.Proof.Removed != res.Proof.Checked {
					t.Errorf("%s %s: proof %+v", name, g.Selector(), res.Proof)
				}
				if n := plannedEntries(res.Plan); g.Entries != model.AllEntries && res.Proof.EntriesRemoved != n {
					t.Errorf("%s %s: the proof found %d entries gone, %d were planned", name, g.Selector(), res.Proof.EntriesRemoved, n)
				}
			}
		}
	})
	t.Logf("done %d, refused %v", done, refused)
	if done == 0 && len(refused) > 0 {
		t.Error("no named keyed state could be dropped")
	}
}

// keyedNames are the names in the headers of an operator's keyed streams.
func keyedNames(t *testing.T, s *model.Snapshot, op int) []string {
	seen := map[string]bool{}
	err := s.Meta.EachOperatorStream(op, func(u metadata.StreamUse) error {
		if u.Place != metadata.ManagedKeyed || u.Part != metadata.Delegate && u.Part != metadata.Meta {
			return nil
		}
		in, c, err := s.OpenStream(context.Background(), u.Stream)
		if err != nil {
			return err
		}
		defer c.Close()
		limit := in.Size()
		if u.Keyed.Groups != nil {
			u.Keyed.Groups.Offsets.Each(s.Meta.In, func(_, off int64) error {
				if off > 0 {
					limit = min(limit, off)
				}
				return nil
			})
		}
		h, err := keyed.ParseHeader(in, limit, nil)
		if err != nil {
			return err
		}
		for i := range h.States {
			seen[h.States[i].Name] = true
		}
		return nil
	})
	if err != nil {
		t.Errorf("%s: %v", s.URI, err)
	}
	return slices.Sorted(maps.Keys(seen))
}

// TestCheckMark: what is refused when it is marked is what Build refuses for the
// same reason, given headers were read.
func TestCheckMark(t *testing.T) {
	ok, refused := 0, 0
	someSnapshots(t, func(name string, s *model.Snapshot, _ *model.Tree) {
		tree, err := s.ReadHeaders(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		targets := operatorStates(s)
		for _, list := range removalsOf(s) {
			targets = append(targets, list...)
		}
		for n := range model.Node(tree.Len()) {
			if k := tree.Kind(n); k == model.KindKeyed || k == model.KindRawKeyed {
				targets = append(targets, tree.Target(n, s.Meta.Operators))
			}
		}
		for _, g := range targets {
			why, can := prune.CheckMark(s, g)
			_, err := prune.Build(context.Background(), s, tree, prune.Request{Targets: []model.Target{g}, Copy: prune.CopyReference, AcceptLoss: true, ChangelogOff: true})
			var refusal *prune.Refusal
			// Whether other operators of a vertex are finished too, and whether the values
			// of a heap stream have known ends, is seen only later.
			late := errors.As(err, &refusal) && (refusal.Reasons[0].Rule == "finished" || refusal.Reasons[0].Rule == "heap-name")
			if can != (err == nil || late) {
				t.Errorf("%s %s: CheckMark %v %q, Build %v", name, g.Selector(), can, why, err)
			}
			if errors.As(err, &refusal) && refusal.Reasons[0].Rule == "unknown" {
				t.Errorf("%s: the tree has %s, and Build does not know it", name, g.Selector())
			}
			if can {
				ok++
			} else {
				refused++
			}
		}
	})
	t.Logf("%d can be marked, %d are refused", ok, refused)
}
