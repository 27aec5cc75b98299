package main

import (
	"context"

	"chkscope/model/prune"
	"chkscope/model/store"
	"chkscope/storage"
)

// replaceWord is what a person types where an object is to be replaced.
const replaceWord = "replace"

// pruneAndReplace writes the copy and puts its object in the place of the old one.
// Where the copy is there already only the latter is left to do.
func (p *program) pruneAndReplace(ctx context.Context, st *storage.Router, plan *prune.Plan, yes bool) error {
	if plan.Object == nil {
		return usageError("--replace-ha: there is no object to be replaced; give it as URI, or with --ha OBJECT")
	}
	if err := st.CanReplace(plan.Object.Source); err != nil {
		return usageError("--replace-ha: %v", err)
	}
	doc, err := plan.Finished(ctx, st)
	if err != nil {
		return err
	}
	if doc != nil {
		p.say("%s is there already and was proved; only the object is left to be replaced", plan.Destination)
	}
	if err := p.confirm(ctx, st, plan, replaceWord, yes); err != nil {
		return err
	}
	if doc == nil {
		result, err := p.apply(ctx, st, plan)
		if err != nil {
			return err
		}
		doc = plan.Document(result)
	}
	if _, err := prune.ReplaceObject(ctx, plan, st); err != nil {
		return err
	}
	doc.Object, doc.Next = plan.Object, plan.NextSteps()
	return p.writeResult(ctx, st, doc)
}

// sayReplaced tells of an object that was replaced before, where no plan can be
// made of it any more.
func (p *program) sayReplaced(ctx context.Context, s *snapshot, f pruneFlags) {
	object := s.URI
	if s.HA == nil {
		uri, err := store.FromArgument(f.object)
		if err != nil {
			return
		}
		object = uri
	}
	kept, err := prune.KeptBeside(ctx, s.Store, object)
	if err != nil || len(kept) == 0 {
		return
	}
	p.say("%s was replaced by chkscope before; the old object is kept as %s. Where this command did it, it is done: chkscope verify %s", object, kept[len(kept)-1], object)
}
