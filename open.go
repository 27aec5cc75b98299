package main

import (
	"context"
	"errors"
	"fmt"

	"chkscope/decoder"
	"chkscope/model"
	"chkscope/model/failover"
	"chkscope/model/store"
	"chkscope/storage"
)

// snapshot is an opened checkpoint with its tree. damage is set where decoding
// stopped early: the tree then ends there.
type snapshot struct {
	*model.Snapshot
	tree   *model.Tree
	damage *decoder.Error
	// pointer is set where it was found by what points to it.
	pointer *failover.Pointer
}

// store gives the storage that the flags describe.
func (p *program) store() (*storage.Router, error) {
	maps, err := p.flags.mappings()
	if err != nil {
		return nil, err
	}
	opt := storage.Options{Maps: maps, ReadOnly: p.flags.readOnly, S3: p.flags.s3}
	opt.S3.Notify = p.storeNote
	opt.Meter = &p.meter
	if p.log != nil {
		p.meter.Log = p.log.request
	}
	return storage.New(opt), nil
}

// open opens the checkpoint that arg names and reads the headers of its state
// streams. Damage is not an error here: the partial snapshot carries it.
func (p *program) open(ctx context.Context, arg string) (*snapshot, error) {
	st, err := p.store()
	if err != nil {
		return nil, err
	}
	return p.openArgument(ctx, st, arg)
}

// openArgument opens what a person typed; "-" is a ConfigMap, or a node as a
// client prints it, on stdin.
func (p *program) openArgument(ctx context.Context, st model.Store, arg string) (*snapshot, error) {
	if arg == stdinArgument {
		l, err := failover.ReadText("stdin", p.in)
		if err != nil {
			return nil, err
		}
		return p.openPointed(ctx, st, l, "stdin")
	}
	uri, err := store.FromArgument(arg)
	if err != nil {
		return nil, usageError("%q: %v", arg, err)
	}
	s, err := p.openIn(ctx, st, uri)
	if s != nil || ctx.Err() != nil {
		return s, err
	}
	// Perhaps it is what points to checkpoints.
	if l, e := failover.Find(ctx, st, uri); e == nil {
		return p.openPointed(ctx, st, l, uri)
	}
	return nil, err
}

func (p *program) openIn(ctx context.Context, st model.Store, uri string) (*snapshot, error) {
	opt, err := p.flags.options()
	if err != nil {
		return nil, err
	}
	bar := p.progress("looking below "+model.Clean(store.Redact(uri)), "directories")
	opt.Looked = func(done, all int) { bar.at(int64(done), int64(all)) }
	snap, _, err := model.Open(ctx, st, uri, opt)
	bar.end()
	var damage *decoder.Error
	if err != nil && (snap == nil || !errors.As(err, &damage)) {
		return nil, err
	}
	if snap.Chosen != "" {
		p.say("%s", snap.Chosen)
	}
	for _, uid := range snap.UnmatchedUIDs() {
		p.say("no operator has the uid %q", uid)
	}
	tree, err := p.readHeaders(ctx, snap)
	if err != nil {
		snap.Close()
		return nil, err
	}
	return &snapshot{Snapshot: snap, tree: tree, damage: damage}, nil
}

// readHeaders learns the names that stand only in the headers of state streams.
func (p *program) readHeaders(ctx context.Context, snap *model.Snapshot) (*model.Tree, error) {
	bar := p.progress("reading stream headers", "streams")
	defer bar.end()
	tree, err := snap.ReadHeaders(ctx, func(done, all int) { bar.at(int64(done), int64(all)) })
	if err != nil {
		return nil, err
	}
	// Of a damaged checkpoint the damage is what has to be told, in one sentence.
	if n, why := snap.Unread(); n > 0 && snap.Damage() == nil {
		p.say("%s could not be read, so names that stand only there are not shown; the first: %v", model.FormatPlural(int64(n), "stream header"), why)
	}
	return tree, nil
}

// count counts the keyed states below nodes (--count): entries and bytes by
// name. What has no lengths to count by is said, and stays unknown.
func (p *program) count(ctx context.Context, s *snapshot, nodes []model.Node) error {
	bar := p.progress("counting", "B")
	defer bar.end()
	if unread := s.UnreadKeyed(s.tree, nodes); unread > 0 {
		p.say("%s", model.UnreadKeyedText(unread))
	}
	for _, g := range s.targets(nodes) { // nodes of one tree are not those of the next
		n := s.Find(s.tree, g)
		if n == model.None {
			continue
		}
		tree, err := s.Count(ctx, s.tree, n, bar.at)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if tree != nil {
			s.tree = tree
		}
		if err != nil {
			p.say("not everything could be counted: %v", err)
		}
	}
	return nil
}

// undecodable is the damage of a file of which nothing could be decoded, or nil
// for any other error.
func undecodable(err error) *jsonDamage {
	var damage *decoder.Error
	if !errors.As(err, &damage) {
		return nil
	}
	return damageOf(damage)
}

// notOpened ends a command whose checkpoint could not be opened. Where the file
// is there but nothing of it could be decoded, --json still gives a document,
// empty but for the damage: that of empty.
func (p *program) notOpened(err error, empty func(*jsonDamage) any) error {
	if d := undecodable(err); d != nil && p.flags.json {
		if err := p.writeJSON(empty(d)); err != nil {
			return err
		}
	}
	return err
}

// end closes the snapshot and gives the error of its damage, which sets the
// exit code after the partial document was printed.
func (s *snapshot) end() error {
	s.Close()
	if s.damage == nil {
		return nil
	}
	return failed(fmt.Errorf("damaged: %w; what is shown was read before it", s.damage))
}
