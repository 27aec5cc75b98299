package ui

import (
	"fmt"

	"chkscope/decoder"
	"chkscope/model"
)

// names says what rows are called. It belongs to one tree and does not change,
// so that builds beside the keys may read it. What an operator is called is made
// where it is asked for: a million names would take more memory than the tree.
type names struct {
	snap *model.Snapshot
	tree *model.Tree
}

type operatorName struct {
	label string // what the row says, clean
	named bool   // label is a name, not the id
}

func newNames(s *model.Snapshot, t *model.Tree) *names { return &names{snap: s, tree: t} }

// operator is what the operator of a node is called.
func (s *names) operator(n model.Node) operatorName {
	op := s.tree.Operator(n)
	if name, origin := s.snap.OperatorName(op); name != "" && origin != model.NameNone {
		return operatorName{clean(name), true}
	}
	return operatorName{s.snap.Meta.Operators[op].ID.String(), false}
}

// namesOf is newNames where there is a tree. It is called beside the keys, and
// has the tree's index made there too.
func namesOf(s *model.Snapshot, t *model.Tree) *names {
	if t == nil {
		return nil
	}
	s.Find(t, model.Target{Class: model.ClassOperator})
	return newNames(s, t)
}

// label is the name of a row. In TurnSubtask a cell stands below its subtask and
// is called as its state.
func (s *names) label(n model.Node, turn model.Turn) string {
	t := s.tree
	switch t.Class(n) {
	case model.ClassCheckpoint:
		return "checkpoint"
	case model.ClassOperator:
		return s.operator(n).label
	case model.ClassMaster:
		return "master hook " + text(t.Name(n))
	case model.ClassSubtask:
		return subtaskLabel(t.Subtask(n))
	case model.ClassCell:
		if turn == model.TurnState {
			return subtaskLabel(t.Subtask(n))
		}
	}
	return s.stateLabel(n)
}

func subtaskLabel(i int) string { return fmt.Sprintf("subtask %d", i) }

// stateLabel names the state of a ClassState or ClassCell.
func (s *names) stateLabel(n model.Node) string {
	t := s.tree
	switch kind := t.Kind(n); {
	case kind == model.KindCoordinator:
		return "coordinator state"
	case kind == model.KindInFlight:
		return "in-flight " + text(t.Name(n))
	case t.Whole(n) && kind == model.KindKeyed:
		return "keyed state"
	case t.Whole(n) && kind == model.KindRawKeyed:
		return "raw keyed state"
	case t.Name(n) == "":
		return `""`
	}
	return text(t.Name(n))
}

// word is what the last column says of a state: how it is handed out, or its kind.
func (s *names) word(n model.Node) string {
	t := s.tree
	switch t.Class(n) {
	case model.ClassState, model.ClassCell:
		if d := t.Dist(n); d != model.DistNone {
			if t.Kind(n) == model.KindRawOperator {
				return "raw " + d.String()
			}
			return d.String()
		}
		if t.Kind(n) == model.KindCoordinator {
			return "coord"
		}
		return t.Kind(n).String()
	}
	return ""
}

// full is a name that stands alone in a sentence: operator and state and subtask.
func (s *names) full(n model.Node) string {
	t := s.tree
	switch t.Class(n) {
	case model.ClassCheckpoint:
		return "the checkpoint"
	case model.ClassOperator, model.ClassMaster:
		return s.label(n, model.TurnState)
	case model.ClassSubtask:
		return s.operator(n).label + " / " + subtaskLabel(t.Subtask(n))
	}
	out := s.operator(n).label + " / " + s.stateLabel(n)
	if t.Class(n) == model.ClassCell {
		out += " / " + subtaskLabel(t.Subtask(n))
	}
	return out
}

// operatorText is what a filter looks at in an operator's row.
func (s *names) operatorText(n model.Node) string {
	op := &s.snap.Meta.Operators[s.tree.Operator(n)]
	text := op.ID.String()
	if o := s.operator(n); o.named {
		text = o.label + " " + text
	}
	if op.UID != "" {
		text += " " + clean(decoder.Text(op.UID))
	}
	return text
}

// target is the identity of a row.
func (s *names) target(r row) model.Target {
	g := s.tree.Target(r.node, s.snap.Meta.Operators)
	if r.elem >= 0 {
		g.Entries = model.EntryRange{First: r.elem, Last: r.elem}
	}
	return g
}

// same finds a node of another tree of the same snapshot in this one, or None.
func (s *names) same(other *names, n model.Node) model.Node {
	if other == s || n == model.None || n == model.Root {
		return n
	}
	return s.snap.Find(s.tree, other.tree.Target(n, s.snap.Meta.Operators))
}

// text is a name as it stands in the file (modified UTF-8), for the screen.
func text(modified string) string { return clean(decoder.Text(modified)) }
