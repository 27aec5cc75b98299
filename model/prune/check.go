package prune

import (
	"fmt"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
)

// CheckMark tells at once, without reading files, whether a target can be
// marked; where not, why is the sentence to show. What passes may still be
// refused by Build, for what only a stream, another mark or a flag tells.
func CheckMark(s *model.Snapshot, t *model.Tree, g model.Target) (why string, ok bool) {
	if d := s.Damage(); d != nil {
		return "the checkpoint is damaged; a damaged one is not pruned", false
	}
	if s.Meta.Version < 2 {
		return fmt.Sprintf("metadata version %d is read only", s.Meta.Version), false
	}
	if g.Class == model.ClassCheckpoint {
		return "that is the whole checkpoint", false
	}
	r, err := compile(s.Meta, []model.Target{g})
	if err != nil {
		return "there is nothing of this name to remove", false
	}
	w := &work{snap: s, tree: t, removal: r}
	var bad refusals
	w.tieParts(&bad, &Plan{})
	w.checkNamedMark(&bad, g)
	if err := w.checkElements(); err != nil {
		return sentenceOf(err), false
	}
	if err := bad.err(); err != nil {
		return sentenceOf(err), false
	}
	return "", true
}

func sentenceOf(err error) string {
	if r, ok := err.(*Refusal); ok {
		return r.Reasons[0].Sentence
	}
	return err.Error()
}

// checkNamedMark refuses one of several named keyed states where handles or
// what the tree knows of their streams tell that it cannot be cut out.
func (w *work) checkNamedMark(bad *refusals, g model.Target) {
	for k, subs := range w.removal.named {
		others := w.otherKeyedNames(k)
		if others == 0 {
			continue // the whole handle goes
		}
		for sub := range subs {
			h := w.removal.src.Operators[k.op].Subtasks[sub].State.ManagedKeyed
			rule, why := keyedNameRefusal(h)
			if why == "" && w.heapLike(h) {
				rule, why = "heap-name", heapNameSentence
			}
			if why != "" {
				bad.add(rule, g.Selector(), decoder.Text(k.name)+": "+why, "")
			}
		}
		if g.Subtask >= 0 && len(subs) < len(w.removal.keyedSubs(k.op)) {
			bad.add("keyed-in-part", g.Selector(), "a named keyed state goes in all subtasks or in none", "")
		}
	}
}

// otherKeyedNames is how many other named keyed states the tree knows of the
// operator.
func (w *work) otherKeyedNames(k namedKey) int {
	n := 0
	for _, c := range w.tree.Children(nil, w.tree.OperatorNode(k.op), model.TurnState) {
		if w.tree.Kind(c) == model.KindKeyed && !w.tree.Whole(c) && w.tree.Name(c) != k.name {
			n++
		}
	}
	return n
}

// heapLike tells whether a handle of type 3 or 12 has no offset that is zero:
// heap streams have none, canonical ones seldom do without. Where it is wrong
// nothing is lost: Build looks into the stream.
func (w *work) heapLike(h *metadata.KeyedHandle) bool {
	if h.Groups == nil || h.Type == metadata.TypeSavepoint || h.Groups.Offsets.Len() < 2 {
		return false
	}
	zero := false
	err := h.Groups.Offsets.Each(w.snap.Meta.In, func(_, off int64) error {
		zero = zero || off == 0
		return nil
	})
	return err == nil && !zero
}
