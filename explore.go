package main

import (
	"context"
	"path/filepath"

	"chkscope/model"
	"chkscope/model/store"
	"chkscope/ui"
)

// interactive: is there a terminal that can show the explorer?
func (p *program) interactive() bool {
	return p.inTerm && p.outTerm && !p.flags.json && p.getenv("TERM") != "dumb"
}

// explorer is the explorer's configuration, as the flags say.
func (p *program) explorer(st model.WriteStore, uri string) (ui.Config, error) {
	opt, err := p.flags.options()
	if err != nil {
		return ui.Config{}, err
	}
	p.toExplorer = make(chan string, notices)
	return ui.Config{
		Store: st, URI: uri, Options: opt,
		Color: p.flags.color, ASCII: p.flags.ascii, ReadOnly: p.flags.readOnly, Getenv: p.getenv, Log: p.note,
		Notices: p.toExplorer, Traffic: p.traffic,
	}, nil
}

// traffic tells what was asked of stores.
func (p *program) traffic() (requests, read, written int64) {
	t := p.meter.Totals()
	return t.Requests, t.Read, t.Written
}

// explore opens the explorer on what arg names.
func (p *program) explore(ctx context.Context, arg string) error {
	uri, err := store.FromArgument(arg)
	if err != nil {
		return usageError("%q: %v", arg, err)
	}
	st, err := p.store()
	if err != nil {
		return err
	}
	cfg, err := p.explorer(st, uri)
	if err != nil {
		return err
	}
	if st.Far(uri) {
		cfg.Options.ReadAtMost = farRead
	}
	return p.runExplorer(ctx, cfg)
}

// farRead is how much of one union list the explorer reads of a far store by
// itself; the report reads all of it.
const farRead = 32 << 20

// runExplorer gives the context's error where a signal ended it.
func (p *program) runExplorer(ctx context.Context, cfg ui.Config) error {
	p.quiet = true
	err := ui.Run(ctx, cfg)
	p.quiet = false
	if err != nil {
		return err
	}
	return ctx.Err()
}

// exploreDemo opens the explorer on the demo. Its marks are not kept, and a copy
// goes to the working directory: the demo itself is in memory only.
func (p *program) exploreDemo(ctx context.Context, st *demoStore) error {
	cfg, err := p.explorer(st, demoDir)
	if err != nil {
		return err
	}
	cfg.StateDir = "-"
	if dir, err := filepath.Abs(store.Base(demoDir) + "-pruned"); err == nil {
		cfg.Destination = store.FileURI(dir)
	}
	return p.runExplorer(ctx, cfg)
}
