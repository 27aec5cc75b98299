package ui

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chkscope/decoder"
	"chkscope/model"
	"chkscope/model/finding"
	"chkscope/model/store"

	tea "charm.land/bubbletea/v2"
)

// candidatesMsg is what a directory holds: one checkpoint, which is then opened,
// or several to choose from.
type candidatesMsg struct {
	job  *job
	uri  string
	list []model.Candidate
	err  error
}

// start looks what uri is: a checkpoint is opened, a parent directory is listed.
func (a *App) start(uri string) tea.Cmd {
	j, ctx := a.begin("looking at "+shownURI(uri), "")
	st := a.cfg.Store
	return func() tea.Msg {
		m := candidatesMsg{job: j, uri: uri}
		info, err := st.Stat(ctx, uri)
		if err != nil || !info.Dir {
			m.err = err
			return m
		}
		if _, err := st.Stat(ctx, store.Join(uri, model.MetadataName)); err == nil {
			return m
		}
		m.list, m.err = model.Candidates(ctx, st, uri)
		return m
	}
}

func (a *App) candidates(m candidatesMsg) tea.Cmd {
	a.end(m.job)
	if m.err == nil && len(m.list) > 1 {
		return a.push(newChoose(m.uri, m.list))
	}
	// What cannot be listed gets its sentence from opening.
	return a.open(m.uri)
}

// open decodes `_metadata` and finds what can be found in it alone.
func (a *App) open(uri string) tea.Cmd {
	j, ctx := a.begin("opening "+shownURI(uri), "")
	j.lasting = true // the file is read again and again
	cfg := a.cfg
	return func() tea.Msg {
		m := openedMsg{job: j, uri: uri}
		st := watchStore{cfg.Store, j}
		var t *model.Tree
		m.snap, t, m.err = model.Open(ctx, st, uri, cfg.Options)
		if m.snap == nil {
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
	if m.snap == nil {
		err := m.err
		if errors.Is(err, context.Canceled) {
			err = fmt.Errorf("opening %s was cancelled", m.uri)
		}
		if a.top() != nil { // the list to choose from is still there
			a.fail("%s", reason(err))
			return nil
		}
		a.openErr, a.leaving = err, true
		return nil
	}
	for a.top() != nil {
		a.pop()
	}
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
	return tea.Batch(cmd, a.findSlowly())
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
