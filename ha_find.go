package main

import (
	"context"
	"slices"

	"chkscope/model"
	"chkscope/model/failover"
	"chkscope/model/prune"
	"chkscope/model/store"
)

// stdinArgument names stdin in the place of a URI.
const stdinArgument = "-"

// openPointed opens the newest checkpoint that is pointed to, as a parent
// directory gives its newest one.
func (p *program) openPointed(ctx context.Context, st model.Store, l *failover.Listing, where string) (*snapshot, error) {
	list := l.Checkpoints()
	if len(list) == 0 {
		if len(l.Objects) == 1 {
			return p.openIn(ctx, st, l.Objects[0].URI)
		}
		return nil, usageError("%s: nothing there points to a checkpoint that can be read, and it holds %d objects; type chkscope ha %s and give one of them", where, len(l.Objects), where)
	}
	jobs := map[string]bool{}
	for _, e := range list {
		jobs[e.JobID()] = true
	}
	if len(jobs) > 1 {
		return nil, usageError("%s holds the checkpoints of %d jobs; type chkscope ha %s and give one of them", where, len(jobs), where)
	}
	e := list[0]
	uri := l.Found(e)
	if len(list) == 1 {
		p.say("%s points to a checkpoint; opened it, %s", where, uri)
	} else {
		p.say("%s points to %d checkpoints; opened the newest, %s", where, len(list), uri)
	}
	s, err := p.openIn(ctx, st, uri)
	if s != nil {
		s.pointer = &e.Pointer
	}
	return s, err
}

// findObject sets the object and its pointer in the request: those that --ha
// names, or the pointer by which the object was found.
func (p *program) findObject(ctx context.Context, s *snapshot, arg string, req *prune.Request) error {
	if arg == "" {
		req.Pointer = s.pointer
		return nil
	}
	l, err := p.haListing(ctx, s.Store, arg)
	if err != nil {
		return err
	}
	list := l.Checkpoints()
	i := slices.IndexFunc(list, func(e failover.Entry) bool {
		if s.HA != nil {
			return store.Base(e.Target) == store.Base(s.URI)
		}
		return e.Checkpoint == s.Meta.ID
	})
	if i >= 0 {
		req.Object, req.Pointer = l.Found(list[i]), &list[i].Pointer
		return nil
	}
	if len(l.Entries) == 0 && len(l.Objects) == 1 {
		req.Object = l.Objects[0].URI
		return nil
	}
	return usageError("--ha %s: nothing there points to checkpoint %d, %s", arg, s.Meta.ID, s.URI)
}

// reportOrList is chkscope with a URI alone and without a terminal: the report of
// a checkpoint, or the list of those that high availability points to.
func (p *program) reportOrList(ctx context.Context, arg string, fail failOn) error {
	if arg == stdinArgument {
		return p.ha(ctx, arg)
	}
	uri, err := store.FromArgument(arg)
	if err != nil {
		return usageError("%q: %v", arg, err)
	}
	st, err := p.store()
	if err != nil {
		return err
	}
	s, err := p.openIn(ctx, st, uri)
	if s != nil {
		return p.report(ctx, s, fail)
	}
	if l, e := failover.Find(ctx, st, uri); e == nil {
		return p.listHA(ctx, st, l)
	}
	return p.notOpened(err, func(d *jsonDamage) any { return emptyReport(arg, d) })
}
