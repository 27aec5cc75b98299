package ui

import (
	"context"
	"slices"
	"strconv"
	"time"

	"chkscope/model"
	"chkscope/model/failover"
	"chkscope/model/store"

	tea "charm.land/bubbletea/v2"
)

// pointedRow is a checkpoint that high availability points to, or an object that
// nothing points to.
type pointedRow struct {
	where    string            // the entry, or the object
	pointer  *failover.Pointer // nil: nothing points to it
	uri      string            // where the object is looked for
	id       int64             // model.Unknown: not told
	modified time.Time
	size     int64
	state    string // in one word or two; "" while it is looked at
	cause    string // why it is not as it should be
}

// choosePointed is the list of checkpoints that high availability points to.
type choosePointed struct {
	page
	uri    string
	rows   []pointedRow
	cursor int
	// looking is the job that looks at the targets; it need not be waited for.
	looking *job
}

// pointedRows lists entries, the newest first, then objects without one. What is
// marked for deletion and what belongs to a replacement is not offered.
func pointedRows(l *failover.Listing) (rows []pointedRow) {
	for _, e := range slices.Backward(l.Entries) {
		if e.JobGraph || e.Marked {
			continue
		}
		r := pointedRow{where: e.Where, pointer: &e.Pointer, uri: l.Found(e), id: e.Checkpoint, size: e.Bytes}
		if e.Err != nil {
			r.state, r.cause = "cannot be read", e.Err.Error()
		}
		rows = append(rows, r)
	}
	for _, o := range l.Objects {
		if !o.Pointed && !o.Kept {
			rows = append(rows, pointedRow{where: o.URI, uri: o.URI, id: model.Unknown, size: o.Bytes})
		}
	}
	return rows
}

// pointedMsg brings what looking at the targets showed.
type pointedMsg struct {
	job  *job
	list *choosePointed
	rows []pointedRow
	err  error
}

// offerPointed shows the list and looks at what is pointed to.
func (a *App) offerPointed(uri string, l *failover.Listing) tea.Cmd {
	c := &choosePointed{uri: uri, rows: pointedRows(l)}
	j, ctx := a.begin("looking at what is pointed to", "")
	c.looking = j
	st, opt, rows := a.cfg.Store, a.cfg.Options, slices.Clone(c.rows)
	return tea.Batch(a.push(c), func() tea.Msg {
		m := pointedMsg{job: j, list: c, rows: rows}
		var problems []failover.Problem
		if problems, m.err = l.Check(ctx, st, opt); m.err == nil {
			for i := range rows {
				rows[i].look(ctx, st, problems)
			}
		}
		return m
	})
}

// look asks for the file of a row and tells what is wrong with it.
func (r *pointedRow) look(ctx context.Context, st model.Store, problems []failover.Problem) {
	if info, err := st.Stat(ctx, r.uri); err == nil {
		r.modified, r.size = info.Modified, info.Size
	}
	if r.state != "" { // the pointer itself cannot be read
		return
	}
	r.state, r.cause = failover.State(problems, r.where)
	if r.pointer == nil && r.cause == "" {
		r.state, r.cause = "not pointed to", "Nothing that was found points to this object."
	}
}

func (a *App) pointedChecked(m pointedMsg) tea.Cmd {
	a.end(m.job)
	if m.err != nil {
		if !m.job.cancelled {
			a.fail("looking at what is pointed to: %s", reason(m.err))
		}
		return nil
	}
	m.list.rows = m.rows
	return nil
}

func (*choosePointed) at() place { return inChoose }

func (c *choosePointed) move(_ *App, by int) { c.cursor = max(0, min(c.cursor+by, len(c.rows)-1)) }

// leave: there is nothing behind the list.
func (c *choosePointed) leave(a *App) bool {
	if !a.cancelJob(false) {
		a.say("q quits")
	}
	return false
}

func (c *choosePointed) view(a *App, w, h int) ([]string, *tea.Cursor) {
	lines := []string{a.rule("which checkpoint does Flink recover from?", shownURI(c.uri), w)}
	b := &textBuilder{a: a, w: w}
	if cause := c.rows[c.cursor].cause; cause != "" {
		b.text("!", cause)
	}
	below := min(len(b.lines), max(1, h/3))
	rows := max(1, h-3-below)
	c.top = max(min(c.top, c.cursor), c.cursor-rows+1)
	c.top = max(0, min(c.top, len(c.rows)-rows))
	lines = append(lines, pointedLine(w, "  "+padLeft("number", 8), "time", padLeft("bytes", 10), "_metadata", "points to", a.theme.more))
	for i := c.top; i < min(c.top+rows, len(c.rows)); i++ {
		lines = append(lines, c.line(a, i, w))
	}
	lines = append(lines, a.rule("", "", w))
	return append(lines, b.lines[:below]...), nil
}

// pointedLine puts a line together; the time goes where the screen is narrow.
func pointedLine(w int, number, at, size, state, name, more string) string {
	line := number + "  "
	if w >= 72 {
		line += padRight(at, 16) + "  "
	}
	line += size + "  " + padRight(cut(state, 14, more), 14) + "  "
	return line + cutLeft(name, w-width(line), more)
}

func (c *choosePointed) line(a *App, i, w int) string {
	r := &c.rows[i]
	sign, number, at, state := " ", "?", "", r.state
	if r.id != model.Unknown {
		number = strconv.FormatInt(r.id, 10)
	}
	if !r.modified.IsZero() {
		at = when(r.modified)
	}
	if state == "" {
		state = a.theme.more
	}
	number = padLeft(number, 8)
	if i == c.cursor {
		sign, number = ">", a.theme.cursor.Render(number)
	}
	return pointedLine(w, sign+" "+number, at, padLeft(model.FormatSize(r.size), 10), state, clean(store.Base(r.uri)), a.theme.more)
}

// open opens the object under the cursor; a plan then knows its pointer.
func (c *choosePointed) open(a *App) tea.Cmd {
	if j := a.running(); j == c.looking {
		a.cancelJob(false)
	} else if j != nil {
		return nil
	}
	r := &c.rows[c.cursor]
	return a.openAs(r.uri, r.pointer)
}
