package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"chkscope/model"
	"chkscope/model/prune"
	"chkscope/model/store"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// writing is a copy that is being written.
type writing struct {
	job      *job
	progress *atomic.Pointer[prune.Progress]
	phase    string
	since    time.Time // of the phase
	to       string
	quit     bool // leave when it has ended
}

func (w *writing) cancel() { w.job.cancel() }

// confirmWord is what has to be typed before anything is written.
const confirmWord = "write"

// swallow is how long after the dialog appeared keys are taken for typed ahead.
const swallow = 300 * time.Millisecond

// writeDialog names what will be written and asks for the destination and the
// word.
type writeDialog struct {
	page
	plan   *prune.Plan
	fields [2]textinput.Model // destination, word
	focus  int
	shown  time.Time
	err    error
}

const (
	fieldDestination = iota
	fieldWord
)

// askWrite makes the plan if need be and opens the dialog.
func (a *App) askWrite() tea.Cmd {
	if a.marks.set.Len() == 0 {
		a.say("nothing is marked: space marks a row, x the remedy of a finding; chkscope copy makes a copy without removing anything")
		return nil
	}
	if a.writer.job != nil {
		return nil
	}
	if a.plan.plan != nil {
		return a.openWriteDialog()
	}
	b := &busy{text: "Planning the copy"}
	return tea.Batch(a.push(b), a.buildPlan(func(a *App) tea.Cmd {
		a.drop(b)
		if b.left {
			return nil
		}
		if a.plan.plan == nil {
			if _, ok := a.top().(*planPage); ok {
				return nil
			}
			return a.push(&planPage{})
		}
		return a.openWriteDialog()
	}))
}

func (a *App) openWriteDialog() tea.Cmd {
	d := &writeDialog{plan: a.plan.plan, focus: fieldWord, shown: a.now()}
	for i := range d.fields {
		d.fields[i] = newField()
	}
	d.fields[fieldDestination].SetValue(a.plan.destination)
	d.fields[fieldWord].Focus()
	return a.push(d)
}

func (*writeDialog) at() place  { return inWrite }
func (*writeDialog) band() bool { return true }

// sentence names what, how much, where, which kind of copy and which claim mode.
func (d *writeDialog) sentence(a *App) string {
	p := d.plan
	entries, things := int64(0), len(p.Removed)
	for _, r := range p.Removed {
		if r.Entries != nil {
			entries += *r.Entries
		}
	}
	what := plural(int64(things), "state")
	if things == 1 {
		what = a.nameOf(p.Removed[0].Selector)
	}
	s := fmt.Sprintf("Write a %s copy of %s without %s (%s, %s of _metadata", p.Copy, clean(store.Base(a.snap.Dir)), clean(what),
		plural(entries, "entry"), model.FormatSize(p.MetadataBytes.Before-p.MetadataBytes.After))
	return s + fmt.Sprintf(") to %s? Restore it with %s.", clean(d.fields[fieldDestination].Value()), p.ClaimMode)
}

func (d *writeDialog) view(a *App, w, h int) ([]string, *tea.Cursor) {
	p := d.plan
	lines := []string{a.rule("write a pruned copy", "", w), ""}
	add := func(sign, s string) {
		for i, l := range wrap(s, w-4) {
			if i > 0 {
				sign = ""
			}
			lines = append(lines, " "+padRight(sign, 2)+l)
		}
	}
	add("", d.sentence(a))
	add("", filesText(p.Files)+".")
	for _, s := range p.Losses {
		add("!", clean(s))
	}
	for _, s := range append(a.plan.sourceWarnings(), p.Warnings...) {
		add("!", clean(s))
	}
	if d.err != nil {
		lines = append(lines, a.refusalLines(d.err, w)...)
	}
	// What does not fit is in the plan; the fields always are on the screen.
	if room := h - 7; len(lines) > room {
		lines = append(lines[:max(0, room-1)], "  "+a.theme.more+" (Esc, then Tab: the whole plan)")
	}
	lines = append(lines, "")
	labels := [2]string{" to:   ", " word: "}
	var cursor *tea.Cursor
	for i := range d.fields {
		field := draw(&d.fields[i], w-len(labels[i])-1)
		if i == d.focus {
			cursor = tea.NewCursor(len(labels[i])+cursorIn(&d.fields[i]), len(lines))
		}
		lines = append(lines, labels[i]+field)
	}
	hint := " Type the word write, then Enter. Esc cancels."
	if d.fields[fieldWord].Value() == confirmWord {
		hint = " Enter writes. Esc cancels."
	}
	return append(lines, "", hint, a.rule("", "", w)), cursor
}

func (d *writeDialog) paste(a *App, m tea.PasteMsg) {
	if a.now().Sub(d.shown) >= swallow {
		d.edit(m)
	}
}

// key gives text to the field that has the focus. What was typed before the
// dialog appeared is swallowed.
func (d *writeDialog) key(a *App, k tea.KeyPressMsg) (tea.Cmd, bool) {
	if a.now().Sub(d.shown) < swallow {
		return nil, true
	}
	if k.Text == "" && findBinding(inWrite, k.String(), a.cfg.ReadOnly) != nil {
		return nil, false
	}
	d.edit(k)
	return nil, true
}

func (d *writeDialog) edit(m tea.Msg) {
	d.fields[d.focus], _ = d.fields[d.focus].Update(m)
	d.err = nil
}

func (a *App) otherField() tea.Cmd {
	if d, ok := a.top().(*writeDialog); ok {
		d.fields[d.focus].Blur()
		d.focus = 1 - d.focus
		d.fields[d.focus].Focus()
	}
	return nil
}

// confirmWrite does nothing until the word is there. Another destination makes
// the plan anew first.
func (a *App) confirmWrite() tea.Cmd {
	d, ok := a.top().(*writeDialog)
	if !ok || d.fields[fieldWord].Value() != confirmWord {
		return nil
	}
	to := strings.TrimSpace(d.fields[fieldDestination].Value())
	if to == "" {
		d.err = errors.New("a destination is needed")
		return nil
	}
	if to == a.plan.destination && a.plan.plan == d.plan {
		a.drop(d)
		return a.write(d.plan)
	}
	a.plan.destination = to
	b := &busy{text: "Planning the copy"}
	return tea.Batch(a.push(b), a.buildPlan(func(a *App) tea.Cmd {
		a.drop(b)
		if b.left {
			return nil
		}
		if a.plan.plan == nil { // the dialog stays, with the reason
			d.err = a.plan.err
			a.plan.forget()
			return nil
		}
		a.drop(d)
		return a.write(a.plan.plan)
	}))
}

// writtenMsg is the end of a write.
type writtenMsg struct {
	job    *job
	result *prune.Result
	err    error
}

// write carries the plan out.
func (a *App) write(p *prune.Plan) tea.Cmd {
	j, ctx := a.begin("writing", "")
	j.keep = true
	ws := a.cfg.Store
	a.writer = writing{job: j, progress: &atomic.Pointer[prune.Progress]{}, to: p.Destination, since: a.now()}
	now := a.writer.progress
	a.push(&progressPage{})
	a.done.Add(1)
	return func() tea.Msg {
		defer a.done.Done()
		r, err := prune.Apply(ctx, p, ws, func(g prune.Progress) { now.Store(&g) })
		return writtenMsg{j, r, err}
	}
}

func (a *App) written(m writtenMsg) tea.Cmd {
	quit, to := a.writer.quit, a.writer.to
	a.end(m.job)
	a.writer = writing{}
	for _, o := range a.over {
		if p, ok := o.(*progressPage); ok {
			a.drop(p)
			break
		}
	}
	switch {
	case errors.Is(m.err, context.Canceled):
		a.fail("the write was cancelled; Flink finds no checkpoint at %s. w again goes on where it stopped", shownURI(to))
	case m.err != nil:
		a.fail("the write failed: %s", reason(m.err))
		a.push(&failurePage{err: m.err})
	default:
		a.marks.rememberWritten()
		a.plan.forget()
		a.plan.destination = "" // it is taken now
		a.say("written and proved: %s", shownURI(m.result.Plan.Destination))
		a.push(&resultPage{result: m.result})
	}
	if quit {
		a.leaving = true
	}
	return nil
}

// progressPage shows how far a write is.
type progressPage struct{ page }

func (*progressPage) at() place  { return inProgress }
func (*progressPage) band() bool { return true }

func (*progressPage) leave(a *App) bool {
	a.say("ctrl+c cancels the write")
	return false
}

var phaseWords = map[string]string{"files": "state files", "_metadata": "_metadata", "proof": "reading the copy back and comparing it"}

func (p *progressPage) view(a *App, w, h int) ([]string, *tea.Cursor) {
	wr := &a.writer
	g := prune.Progress{}
	if wr.progress != nil {
		if n := wr.progress.Load(); n != nil {
			g = *n
		}
	}
	if g.Phase != wr.phase {
		wr.phase, wr.since = g.Phase, a.now()
	}
	j := &job{what: phaseWords[g.Phase], started: wr.since}
	j.progress(g.BytesDone, g.BytesAll)
	barW := w - 2 - 9
	full := 0
	if g.BytesAll > 0 {
		full = int(float64(min(g.BytesDone, g.BytesAll)) / float64(g.BytesAll) * float64(barW))
	}
	bar := a.theme.barLeft + a.theme.bar.Render(strings.Repeat(a.theme.barFull, full)) + spaces(barW-full) + a.theme.barRight
	files := ""
	if g.FilesAll > 0 {
		files = fmt.Sprintf("%s of %s", model.FormatCount(int64(g.FilesDone)), plural(int64(g.FilesAll), "file"))
	}
	return []string{
		a.rule("writing", "", w), "",
		" to " + cutLeft(shownURI(wr.to), w-5, a.theme.more), "",
		" " + bar + padLeft(percent(g.BytesDone, max(g.BytesAll, g.BytesDone)), 7),
		" " + cut(j.describe(a.now(), a.theme.sep), w-2, a.theme.more),
		" " + files, "",
		a.rule("", "", w),
	}, nil
}

// busy is shown while something short is waited for; it swallows keys, so that
// none of them reaches what comes next.
type busy struct {
	page
	text string
	left bool // by Esc: what was waited for is not wanted any more
}

func (*busy) at() place  { return inProgress }
func (*busy) band() bool { return true }

func (b *busy) key(a *App, k tea.KeyPressMsg) (tea.Cmd, bool) { return nil, k.String() != "esc" }

func (b *busy) leave(a *App) bool {
	b.left = true
	if a.plan.job != nil {
		a.plan.job.cancel()
	}
	return true
}

func (b *busy) view(a *App, w, h int) ([]string, *tea.Cursor) {
	return []string{a.rule("", "", w), "", " " + b.text + a.theme.more + " Esc cancels.", "", a.rule("", "", w)}, nil
}

// resultPage shows a written copy: proof and what to do next.
type resultPage struct {
	page
	result *prune.Result
	print  bool
}

func (*resultPage) at() place { return inResult }

func (r *resultPage) view(a *App, w, h int) ([]string, *tea.Cursor) {
	b := &textBuilder{a: a, w: w}
	for _, part := range resultText(r.result) {
		if part.heading != "" {
			b.heading(part.heading)
		}
		for _, s := range part.sentences {
			b.text(part.sign, s)
		}
	}
	right := ""
	if r.print {
		right = "is printed at the end"
	}
	return r.scrolled(a, "written and proved", right, b.lines, w, h), nil
}

// textPart is sentences under a heading, each after a sign.
type textPart struct {
	heading, sign string
	sentences     []string
}

// resultText is the result in words: on the screen, and printed afterwards.
func resultText(r *prune.Result) []textPart {
	d := r.Plan.Document(r)
	count := func(n int) string { return model.FormatCount(int64(n)) }
	entries := ""
	if n := r.Proof.EntriesRemoved; n > 0 {
		entries = " but for " + plural(n, "entry") + " removed"
	}
	what := []string{
		fmt.Sprintf("The %s copy is at %s", d.Copy, shownURI(d.Destination)),
		fmt.Sprintf("_metadata %s before, %s now; %s", model.FormatSize(d.MetadataBytes.Before), model.FormatSize(d.MetadataBytes.After), filesText(d.Files)),
		fmt.Sprintf("Proof: read back and compared, named states times subtasks: %s looked at, %s equal%s, %s gone as they should; %s unchecked",
			count(r.Proof.Checked), count(r.Proof.Equal), entries, count(r.Proof.Removed), plural(int64(r.Proof.Unchecked), "file")),
	}
	if r.ReportFile != "" {
		what = append(what, "Report: "+shownURI(r.ReportFile))
	}
	parts := []textPart{{"", "", what}}
	if len(d.Warnings) > 0 {
		parts = append(parts, textPart{"Warnings", "!", d.Warnings})
	}
	return append(parts, textPart{"What to do next", "-", d.Next})
}

// printLater has the steps printed when the screen is gone, or not.
func (a *App) printLater() tea.Cmd {
	r, ok := a.top().(*resultPage)
	if !ok {
		return nil
	}
	r.print = !r.print
	a.printout = nil
	if r.print {
		for _, part := range resultText(r.result) {
			if part.heading != "" {
				a.printout = append(a.printout, "", part.heading+":")
			}
			for _, s := range part.sentences {
				if part.sign != "" {
					s = part.sign + " " + s
				}
				a.printout = append(a.printout, clean(s))
			}
		}
		a.say("these steps are printed when chkscope has quit")
	}
	return nil
}

// failurePage says at length why a write failed.
type failurePage struct {
	page
	err error
}

func (*failurePage) at() place { return inLog }

func (f *failurePage) view(a *App, w, h int) ([]string, *tea.Cursor) {
	lines := a.refusalLines(f.err, w)
	b := &textBuilder{a: a, w: w, lines: lines}
	b.lines = append(b.lines, "")
	b.text("", "The source is as it was.")
	var refusal *prune.Refusal
	if !errors.As(f.err, &refusal) {
		b.text("", "Flink finds no checkpoint at the destination. w with the same destination goes on where it stopped.")
	}
	return f.scrolled(a, "the write failed", "", b.lines, w, h), nil
}
