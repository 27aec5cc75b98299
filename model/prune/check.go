package prune

import (
	"errors"
	"fmt"

	"chkscope/decoder"
	"chkscope/decoder/serde"
	"chkscope/model"
)

// CheckMark tells at once, without reading files, whether a target can be
// marked; where not, why is the sentence to show. What passes may still be
// refused by Build, for what only a stream, another mark or a flag tells.
func CheckMark(s *model.Snapshot, g model.Target) (why string, ok bool) {
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
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
		return refusal.Reasons[0].Sentence, false
	}
	if err != nil {
		return err.Error(), false
	}
	w := &work{snap: s, removal: r}
	var bad refusals
	w.tieParts(&bad, &Plan{})
	w.checkNamedMark(&bad, g)
	if err := w.checkElements(&bad); err != nil {
		return err.Error(), false
	}
	if len(bad.list) > 0 {
		return bad.list[0].Sentence, false
	}
	return "", true
}

// checkNamedMark refuses one of several named keyed states, and single entries,
// where the handles, or the headers of their streams as far as they were read,
// tell that it cannot be cut out.
func (w *work) checkNamedMark(bad *refusals, g model.Target) {
	for k, subs := range w.removal.picked {
		for sub := range subs {
			if rule, why := keyedNameRefusal(w.removal.src.Operators[k.op].Subtasks[sub].State.ManagedKeyed); why != "" {
				bad.add(rule, g.Selector(), decoder.Text(k.name)+": single entries "+why, "")
			}
		}
	}
	for k, subs := range w.removal.named {
		if len(w.snap.KeyedNames(k.op, model.KindKeyed)) < 2 {
			continue // the whole handle goes
		}
		for sub := range subs {
			rule, why := keyedNameRefusal(w.removal.src.Operators[k.op].Subtasks[sub].State.ManagedKeyed)
			if why != "" {
				why = "a named state " + why
			}
			if why == "" && w.snap.KeyedLayout(k.op, model.KindKeyed) == model.LayoutHeap && !w.snap.KeyedCompressed(k.op) {
				if bad := serde.Unreadable(w.snap.KeySerializer(k.op)); bad != "" {
					rule, why = "heap-name", "a heap snapshot records no lengths, and nothing tells the end of its keys ("+bad+"); drop the operator's keyed state as a whole"
				}
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
