package prune_test

import (
	"os"
	"path/filepath"
	"testing"

	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/prune"
)

// TestOneStreamUnderSeveralHandles: Flink's redistribution hands one stream to
// several subtasks with different offsets. It is rewritten once.
func TestOneStreamUnderSeveralHandles(t *testing.T) {
	src, _ := open(t, fixture(t, "incident/gen-3-files"))
	m := newMade(t)
	if err := os.CopyFS(m.dir, os.DirFS(filepath.Dir(fixture(t, "incident/gen-3-files")))); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(m.dir, "_metadata"))
	m.meta = *src.Meta
	var id metadata.OperatorID
	for i := range m.meta.Operators {
		op := &m.meta.Operators[i]
		first := op.Subtasks[0].State.ManagedOperator
		if first == nil || len(first.States) < 2 {
			continue
		}
		id = op.ID
		// Subtask 1 gets the second half of subtask 0's lists.
		half := metadata.OperatorHandle{Type: first.Type, Delegate: first.Delegate}
		for k := range first.States {
			st := first.States[k]
			n := st.Offsets.Len()
			first.States[k].Offsets = st.Offsets.Without([]metadata.Range{{First: (n + 1) / 2, Last: n}})
			st.Offsets = st.Offsets.Without([]metadata.Range{{First: 0, Last: (n+1)/2 - 1}})
			half.States = append(half.States, st)
		}
		op.Subtasks[1].State.ManagedOperator = &half
		break
	}
	m.meta.In = src.Meta.In
	s, tree := m.open(t, model.Options{})
	for _, copy := range []prune.CopyKind{prune.CopyReference, prune.CopyFull} {
		for _, name := range []string{"topic-partition-offset-states", "SourceReaderState"} {
			g := model.StateTarget(id, model.KindOperator, name)
			res, err := dropAnd(t, s, tree, prune.Request{Targets: []model.Target{g}, Copy: copy, AcceptLoss: true}, func(p *prune.Plan, c *metadata.Checkpoint) {
				for i := range c.Operators {
					if a, b := c.Operators[i].Subtasks[0].State.ManagedOperator, c.Operators[i].Subtasks[1].State.ManagedOperator; c.Operators[i].ID == id && a.Delegate.Name != b.Delegate.Name {
						t.Errorf("the handles name %s and %s", a.Delegate.Name, b.Delegate.Name)
					}
				}
			})
			if err != nil {
				t.Errorf("%s %s: %v", copy, name, err)
				continue
			}
			if res.Plan.Files.Rewritten != 3 || res.Proof.Equal+res.Proof.Removed != res.Proof.Checked {
				t.Errorf("%s %s: %d files rewritten, proof %+v", copy, name, res.Plan.Files.Rewritten, res.Proof)
			}
		}
	}
}
