// Package ui is the explorer: it draws the model on a terminal and turns keys
// into calls on it. It is the only package that imports Bubble Tea.
//
//   - App (app.go) is the one tea.Model; everything below it is a plain struct.
//     Nothing in Update or View touches a file or a store: what takes time is a
//     command (open.go, plan.go, write.go, session.go) whose end is a message.
//   - The rows are a flat list of node ids (rows.go), made by a build that runs
//     beside the keys where it takes long; elements of lists are counted, not
//     listed. treeview.go is the cursor in them, draw.go and drawrow.go what is
//     seen: only the rows on the screen are looked at.
//   - Keys are one table (keys.go): the footer, the help, the README's table and
//     read-only mode are made from it. actions.go and marks.go are what they do.
//   - What lies over the tree is an overlay (overlay.go): help.go, lists.go,
//     details.go, plan.go, write.go.
package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"chkscope/model"

	tea "charm.land/bubbletea/v2"
)

// Config is what the command line decided.
type Config struct {
	Store   model.WriteStore
	URI     string // of a checkpoint, its `_metadata`, or a parent directory
	Options model.Options

	Color    string // auto, always or never
	ASCII    bool   // also where the locale is not UTF-8
	ReadOnly bool   // no key can write; saved marks excepted
	// StateDir is where marks are saved; "" is the user's state directory, "-" is
	// nowhere.
	StateDir string
	// Destination is what the write dialog is prefilled with; "" is the source's
	// name with "-pruned", beside it.
	Destination string

	In  io.Reader // nil: the terminal
	Out io.Writer // nil: standard output
	// Log is told every notice and error (--log); nil is not told.
	Log func(text string)
	// Notices are sentences of the storage for the status line, such as that a
	// request is tried again; they are not told to Log. nil has none.
	Notices <-chan string
	// Traffic is what was asked of the store so far: requests, and bytes read and
	// written; no requests are not worth a word. It must not wait for anything; nil
	// where nobody counts.
	Traffic func() (requests, read, written int64)
	// Getenv is os.Getenv where nil.
	Getenv func(string) string
}

// hangupMsg tells that the terminal or the process has to go: SIGHUP, SIGTERM.
type hangupMsg struct{}

// writeEnds is how long a cancelled write may take to end.
const writeEnds = 10 * time.Second

// Run shows the explorer until a person quits, or until ctx ends (a signal):
// then a write is ended cleanly and the marks are saved. The error is why
// nothing could be opened.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Getenv == nil {
		cfg.Getenv = osEnv
	}
	cfg.ASCII = cfg.ASCII || needsASCII(cfg.Getenv)
	switch cfg.StateDir {
	case "":
		cfg.StateDir = stateDir(cfg.Getenv)
	case "-":
		cfg.StateDir = ""
	}
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	a := newApp(work, cfg)
	options := []tea.ProgramOption{
		tea.WithFPS(30),
		tea.WithColorProfile(colorProfile(cfg.Color, cfg.Getenv)),
		tea.WithoutSignalHandler(),
	}
	if cfg.In != nil {
		options = append(options, tea.WithInput(cfg.In))
	}
	if cfg.Out != nil {
		options = append(options, tea.WithOutput(cfg.Out))
	}
	p := tea.NewProgram(a, options...)
	gone := context.AfterFunc(ctx, func() { p.Send(hangupMsg{}) })
	defer gone()
	_, err := p.Run()
	stop()
	return a.finish(err)
}

// hangup ends a write and leaves.
func (a *App) hangup() tea.Cmd {
	if a.writer.job == nil {
		a.leaving = true
		return nil
	}
	a.writer.quit = true
	a.writer.cancel()
	return nil
}

// finish is what is left to do when the screen is gone: wait for a write that
// was cancelled, save the marks, print what was asked for.
func (a *App) finish(err error) error {
	ended := make(chan struct{})
	go func() { a.done.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(writeEnds):
	}
	if a.session.dirty {
		err = errors.Join(err, a.saver()())
	}
	a.plan.close()
	if a.snap != nil {
		a.snap.Close()
	}
	out := a.cfg.Out
	if out == nil {
		out = stdout
	}
	for _, s := range a.printout {
		if _, e := fmt.Fprintln(out, s); e != nil {
			break
		}
	}
	return errors.Join(a.openErr, err)
}
