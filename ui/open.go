package ui

import (
	"context"
	"errors"
	"time"

	"chkscope/decoder"
	"chkscope/model"
	"chkscope/model/failover"
	"chkscope/model/finding"

	tea "charm.land/bubbletea/v2"
)

// open decodes `_metadata` and finds what can be found in it alone. A parent
// directory with several checkpoints, and what points to checkpoints, gives a list
// to choose from.
func (a *App) open(uri string) tea.Cmd { return a.openAs(uri, nil) }

// openAs opens what pointer led to.
func (a *App) openAs(uri string, pointer *failover.Pointer) tea.Cmd {
	j, ctx := a.begin("opening "+shownURI(uri), "")
	j.lasting = true // the file is read again and again
	cfg := a.cfg
	cfg.Options.Choose = true
	cfg.Options.Looked = func(done, all int) {
		j.turn("looking below "+shownURI(uri), "directories")
		j.progress(int64(done), int64(all))
	}
	return func() tea.Msg {
		m := openedMsg{job: j, uri: uri, pointer: pointer}
		st := watchStore{cfg.Store, j}
		var t *model.Tree
		m.snap, t, m.err = model.Open(ctx, st, uri, cfg.Options)
		if m.snap == nil {
			var several *model.Several
			if !errors.As(m.err, &several) && ctx.Err() == nil {
				if l, err := failover.Find(ctx, cfg.Store, uri); err == nil && len(pointedRows(l)) > 0 {
					m.pointed = l
				}
			}
			return m
		}
		m.snap.Store = cfg.Store
		m.findings = finding.Quick(m.snap, t)
		m.names = newNames(m.snap, t)
		return m
	}
}

func (a *App) opened(m openedMsg) tea.Cmd {
	a.end(m.job)
	if m.job.cancelled {
		if m.snap != nil {
			m.snap.Close()
		}
		return a.notOpened(m.uri)
	}
	if m.snap == nil {
		var several *model.Several
		if errors.As(m.err, &several) {
			return a.push(newChoose(several.URI, several.List))
		}
		if m.pointed != nil {
			return a.offerPointed(m.uri, m.pointed)
		}
		if a.top() != nil { // the list to choose from is still there
			a.fail("%s", reason(m.err))
			return nil
		}
		a.openErr, a.leaving = m.err, true
		return nil
	}
	for a.top() != nil {
		a.pop()
	}
	a.pointer = m.pointer
	cmd := a.show(m.snap, m.names, m.findings)
	for _, uid := range m.snap.UnmatchedUIDs() {
		a.say("--uid %s: no operator has it", uid)
	}
	if m.snap.Chosen != "" {
		a.say("%s", m.snap.Chosen)
	}
	if d := m.snap.Damage(); d != nil {
		a.fail("damaged, shown up to there, cannot be pruned: %s", reason(d))
	} else if m.err != nil {
		a.fail("%s", reason(m.err))
	}
	return tea.Batch(cmd, a.readHeaders(), a.loadMarks())
}

// notOpened asks what now, after Esc, where nothing else is on the screen.
func (a *App) notOpened(uri string) tea.Cmd {
	if a.snap != nil || a.top() != nil || len(a.jobs) > 0 {
		return nil
	}
	q := newAsk("Opening "+shownURI(uri)+" was cancelled.",
		option{"enter", "open it again", func(a *App) tea.Cmd { return a.open(uri) }},
		option{"q", "quit", func(a *App) tea.Cmd { a.leaving = true; return nil }},
	)
	q.firm = true
	return a.push(q)
}

// headersMsg brings the tree with the names that stand only in stream headers.
type headersMsg struct {
	job   *job
	names *names
	err   error
}

func (a *App) readHeaders() tea.Cmd {
	j, ctx := a.begin("reading stream headers", "streams")
	j.finds = true
	s, shown := a.snap, a.names.tree
	return func() tea.Msg {
		t, err := s.ReadHeaders(ctx, func(done, all int) { j.progress(int64(done), int64(all)) })
		if t == shown { // nothing new
			t = nil
		}
		return headersMsg{j, namesOf(s, t), err}
	}
}

func (a *App) headersRead(m headersMsg) tea.Cmd {
	a.end(m.job)
	var cmd tea.Cmd
	if m.names != nil {
		cmd = a.tree.retree(m.names)
	}
	if m.err != nil && !errors.Is(m.err, context.Canceled) {
		a.fail("stream headers: %s", reason(m.err))
	}
	a.tellRefused()
	return tea.Batch(cmd, a.findSlowly())
}

// tellRefused tells of streams that may not be read. Files that are missing and
// streams that are damaged have findings.
func (a *App) tellRefused() {
	n, why := int64(0), error(nil)
	for _, u := range a.snap.UnreadHeaders() {
		var damage *decoder.Error
		if errors.Is(u.Err, model.ErrNotExist) || errors.As(u.Err, &damage) && !errors.Is(u.Err, model.ErrCannotAsk) {
			continue
		}
		if n++; why == nil {
			why = u.Err
		}
	}
	if n > 0 {
		a.say("%s could not be read, names that stand only there are not shown: %v", plural(n, "stream header"), why)
	}
}

// findingsMsg brings what was found by reading streams and asking the store.
type findingsMsg struct {
	job  *job
	list []finding.Finding
	err  error
}

func (a *App) findSlowly() tea.Cmd {
	j, ctx := a.begin("looking for anomalies in streams and files", "files")
	j.finds = true
	s, t := a.snap, a.tree.names.tree
	return func() tea.Msg {
		list, err := finding.Run(ctx, s, t, j.progress)
		return findingsMsg{j, list, err}
	}
}

func (a *App) findingsMade(m findingsMsg) tea.Cmd {
	a.end(m.job)
	if errors.Is(m.err, context.Canceled) {
		a.say("findings: cancelled; those from _metadata alone are shown")
		return nil
	}
	if m.err != nil {
		a.fail("findings: %s", reason(m.err))
	}
	if m.list != nil {
		a.found.set(a.names, m.list)
	}
	return a.settle()
}

// countedMsg is the end of `c`.
type countedMsg struct {
	job   *job
	names *names
	about model.Target
	what  string
	err   error
}

// count counts below the row under the cursor.
func (a *App) count() tea.Cmd {
	r := a.tree.here()
	if r.node == model.None {
		return nil
	}
	what, about := a.names.full(r.node), a.names.target(row{r.node, -1})
	j, ctx := a.begin("counting "+what, "")
	s, t := a.snap, a.names.tree
	return func() tea.Msg {
		fresh, err := s.Count(ctx, t, r.node, j.progress)
		return countedMsg{j, namesOf(s, fresh), about, what, err}
	}
}

func (a *App) counted(m countedMsg) tea.Cmd {
	a.end(m.job)
	var cmd tea.Cmd
	if m.names != nil {
		cmd = a.tree.retree(m.names)
	}
	switch {
	case errors.Is(m.err, context.Canceled):
		a.say("counting %s: cancelled", m.what)
	case m.err != nil:
		a.fail("counting %s: %s", m.what, reason(m.err))
	case a.snap.Find(m.names.tree, m.about) == model.None:
		a.say("counted %s: it is shown name by name now", m.what)
	default:
		if n := m.names.tree.Entries(a.snap.Find(m.names.tree, m.about)); n >= 0 {
			a.say("counted %s: %s", m.what, plural(n, "entry"))
		} else if n := a.snap.Find(m.names.tree, m.about); !a.snap.ReadsKeyed(m.names.tree, n) {
			a.say("entries in RocksDB's files or a changelog cannot be counted")
		} else {
			a.say("nothing more can be counted below %s", m.what)
		}
	}
	return cmd
}

// watchStore tells a job how much of the file that is being opened was read.
type watchStore struct {
	model.Store
	job *job
}

func (w watchStore) Open(ctx context.Context, uri string) (model.Object, error) {
	o, err := w.Store.Open(ctx, uri)
	if err != nil {
		return nil, err
	}
	w.job.turn(w.job.what, "")
	w.job.all.Store(o.Size())
	return watched{o, w.job}, nil
}

type watched struct {
	model.Object
	job *job
}

func (w watched) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.Object.ReadAt(p, off)
	w.job.done.Add(int64(n))
	return n, err
}

var _ decoder.Input = watched{}

// when prints a time as people on call write it.
func when(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
