package ui

import (
	"fmt"
	"strings"

	"chkscope/model"
	"chkscope/model/store"

	tea "charm.land/bubbletea/v2"
)

// Below this nothing useful can be drawn: the screen says so and waits.
const (
	minWidth  = 40
	minHeight = 8
)

// sideWidth is from how many columns on the details stand at the right.
const sideWidth = 120

// maxBelow is the most lines that the details below the tree have.
const maxBelow = 6

// layout is where things stand. It depends on the screen's size, and on the
// number of rows where they are fewer than fit: the details use what is left.
type layout struct {
	header  int // lines
	tree    int // columns of the tree
	side    int // columns of the details at the right, 0: none
	below   int // lines of the details below, 0: none
	rows    int
	statusY int
}

func (a *App) plot() layout {
	l := layout{header: 2, tree: a.w}
	if a.h < 12 {
		l.header = 1
	}
	switch {
	case a.w >= sideWidth:
		l.side = max(40, min(a.w/3, 80))
		l.tree = a.w - l.side - 1
	case a.h >= 16:
		l.below = max(2, min((a.h-15)/3, maxBelow))
	}
	l.rows = a.h - l.header - 3 // lens, status, footer
	if l.below > 0 {
		l.rows -= l.below + 1
		if a.snap != nil && !a.tree.building {
			spare := max(0, min(int64(l.rows)-a.tree.list.total(), int64(maxBelow-l.below)))
			l.below += int(spare)
			l.rows -= int(spare)
		}
	}
	l.statusY = a.h - 2
	return l
}

// layout follows a change of the screen's size or of what is on it.
func (a *App) layout() {
	a.tree.height = max(1, a.plot().rows)
	a.tree.scroll()
}

// textHeight is the number of lines that an overlay has.
func (a *App) textHeight() int { return max(1, a.h-3) }

// View draws the screen. Only the rows on it are looked at.
func (a *App) View() tea.View {
	lines, cursor := a.screen()
	if a.cfg.ASCII {
		for i := range lines {
			lines[i] = onlyASCII(lines[i])
		}
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	v.Cursor = cursor
	return v
}

// screen is what is to be seen: exactly h lines of at most w cells.
func (a *App) screen() ([]string, *tea.Cursor) {
	if a.w == 0 || a.h == 0 {
		return nil, nil
	}
	if a.w < minWidth || a.h < minHeight {
		return a.tooSmall(), nil
	}
	if o := a.top(); o != nil && !o.band() {
		return a.overlayScreen(o)
	}
	lines, cursor := a.treeScreen()
	if o := a.top(); o != nil {
		cursor = a.laySheet(lines, o)
		lines[a.h-1] = a.footer(o.at(), a.w)
	}
	return lines, cursor
}

func (a *App) tooSmall() []string {
	lines := make([]string, a.h)
	for i, l := range wrap(fmt.Sprintf("chkscope needs %dx%d, this is %dx%d", minWidth, minHeight, a.w, a.h), a.w) {
		if i < len(lines) {
			lines[i] = l
		}
	}
	return lines
}

// overlayScreen is a page over everything but the first and the last lines.
func (a *App) overlayScreen(o overlay) ([]string, *tea.Cursor) {
	h := a.textHeight()
	body, cursor := o.view(a, a.w, h)
	lines := []string{a.headerLine()}
	for i := range h {
		if i < len(body) {
			lines = append(lines, cutStyled(body[i], a.w))
		} else {
			lines = append(lines, "")
		}
	}
	if cursor != nil {
		cursor.Y++
	}
	return append(lines, a.statusLine(a.w), a.footer(o.at(), a.w)), cursor
}

// laySheet puts a dialog into the middle of the tree's rows.
func (a *App) laySheet(lines []string, o overlay) *tea.Cursor {
	room := a.h - 2 - 1
	body, cursor := o.view(a, a.w, room)
	body = body[:min(len(body), room)]
	y := 1 + (room-len(body))/2
	for i := range body {
		lines[y+i] = cutStyled(body[i], a.w)
	}
	if cursor != nil {
		cursor.Y += y
	}
	return cursor
}

func (a *App) treeScreen() ([]string, *tea.Cursor) {
	l := a.plot()
	lines := make([]string, 0, a.h)
	lines = append(lines, a.headerLine())
	if l.header > 1 {
		lines = append(lines, a.totalsLine())
	}
	lines = append(lines, a.lensLine())
	lines = append(lines, a.body(l)...)
	if l.below > 0 {
		lines = append(lines, strings.Repeat(a.theme.line, a.w))
		text := a.briefly(a.w, l.below)
		for i := range l.below {
			if i < len(text) {
				lines = append(lines, text[i])
			} else {
				lines = append(lines, "")
			}
		}
	}
	lines = append(lines, a.statusLine(a.w), a.footer(inTree, a.w))
	if a.prompt != nil && !a.prompt.single && a.top() == nil {
		return lines, tea.NewCursor(width(a.prompt.label)+cursorIn(&a.prompt.field), l.statusY)
	}
	return lines, nil
}

// body is the rows, with the details beside them where there is room.
func (a *App) body(l layout) []string {
	rows := a.rowLines(l)
	if l.side == 0 {
		return rows
	}
	side := a.sidePane(l.side-1, l.rows)
	for i := range rows {
		text := ""
		if i < len(side) {
			text = side[i]
		}
		rows[i] = padStyled(rows[i], l.tree) + a.theme.split + " " + text
	}
	return rows
}

func (a *App) headerLine() string {
	const name = "chkscope"
	where, facts := shownURI(a.cfg.URI), []string(nil)
	if a.snap != nil {
		where, facts = shownURI(a.snap.Dir), a.facts()
	}
	right := strings.Join(facts, " "+a.theme.sep+" ")
	for len(facts) > 1 && a.w-len(name)-4-width(right) < min(width(where), 24) {
		facts = facts[:len(facts)-1]
		right = strings.Join(facts, " "+a.theme.sep+" ")
	}
	where = cutLeft(where, a.w-len(name)-4-width(right), a.theme.more)
	gap := a.w - len(name) - 2 - width(where) - width(right)
	return a.theme.title.Render(name) + "  " + where + spaces(gap) + right
}

// facts are what the header says about the snapshot, those that go last first.
func (a *App) facts() []string {
	m := a.snap.Meta
	var out []string
	if a.snap.Damage() != nil {
		out = append(out, "INCOMPLETE")
	}
	if a.cfg.ReadOnly {
		out = append(out, "read-only")
	}
	form := fmt.Sprintf("v%d", m.Version)
	if m.Object {
		form = "object"
	}
	return append(out, form, fmt.Sprintf("checkpoint %d", m.ID), plural(int64(len(m.Operators)), "operator"))
}

// shownURI is a URI as people type it: a path where it is one.
func shownURI(uri string) string {
	if path, ok := store.LocalPath(uri); ok {
		uri = path
	}
	return clean(store.Redact(uri))
}

// objectName is what was opened: `_metadata`, or the object of high availability.
func (a *App) objectName() string {
	if a.snap.HA != nil {
		return "completedCheckpoint"
	}
	return model.MetadataName
}

func (a *App) totalsLine() string {
	if a.snap == nil {
		return ""
	}
	t := a.names.tree
	left := a.objectName() + " " + model.FormatSize(a.snap.Meta.In.Size())
	used := width(left)
	if f := a.found.metadataFlag(); f != "" {
		left += " " + a.theme.flag(f)
		used += 1 + width(f)
	}
	right := a.markedText()
	state, lower := t.Sizes(model.Root).Weight(model.LensState)
	flying := t.KindSizes(model.KindInFlight)
	flight, part := flying.Weight(model.LensState)
	for _, s := range []string{"  state " + a.bound(lower) + model.FormatSize(state), "  in-flight " + a.bound(part) + model.FormatSize(flight)} {
		if used+width(s)+2+width(right) <= a.w {
			left += s
			used += width(s)
		}
	}
	if right == "" {
		return left
	}
	return left + spaces(a.w-used-width(right)) + a.theme.marked.Render(right)
}

func (a *App) markedText() string {
	v := a.marks.view
	if v.Count+v.Lost == 0 {
		return ""
	}
	n := v.State
	if a.tree.lens == model.LensMetadata {
		n = v.Metadata
	}
	return fmt.Sprintf("marked %s %s %s%s", model.FormatCount(int64(v.Count)), a.theme.sep, a.bound(v.Lower && a.tree.lens != model.LensMetadata), model.FormatSize(n))
}

// bound is the sign of a lower bound.
func (a *App) bound(lower bool) string {
	if lower {
		return a.theme.lower
	}
	return ""
}

func (a *App) lensLine() string {
	if a.snap == nil {
		return a.rule("", "", a.w)
	}
	v := &a.tree
	parts := []string{"lens: " + v.lens.String()}
	if v.turn == model.TurnSubtask {
		parts = append(parts, "by subtask")
	}
	if v.order != bySize || v.reverse {
		o := "by " + v.order.String()
		if v.reverse {
			o += ", reversed"
		}
		parts = append(parts, o)
	}
	if v.ofTotal {
		parts = append(parts, "% of total")
	}
	if v.zoom != model.Root {
		parts = append(parts, "zoom: "+v.names.full(v.zoom))
	}
	right := ""
	switch {
	case v.building:
		right = "at work" + a.theme.more
	case v.filter != "":
		right = fmt.Sprintf("filter %q: %s", v.filter, matchesText(v.list.matches))
	}
	return a.rule(strings.Join(parts, " "+a.theme.sep+" "), right, a.w)
}

func matchesText(n int) string {
	if n == 1 {
		return "1 match"
	}
	return model.FormatCount(int64(n)) + " matches"
}

// statusLine says, from the most to the least urgent: what is being typed, what
// was said, what runs, what was found; and at the right the row's number.
func (a *App) statusLine(w int) string {
	right := ""
	if a.snap != nil && a.top() == nil && a.tree.list.total() > 0 {
		right = fmt.Sprintf("row %s/%s", model.FormatCount(a.tree.cursor+1), model.FormatCount(a.tree.list.total()))
	}
	room := w - width(right) - 1
	if p := a.prompt; p != nil && a.top() == nil {
		if p.single {
			return padRight(cut(p.label, room, a.theme.more), room+1) + right
		}
		return p.label + draw(&p.field, w-width(p.label))
	}
	text := a.statusText()
	sign := ""
	if n := a.notes.current; n != nil && n.level == levelError {
		old := age(a.now().Sub(n.at))
		if old != "" {
			old = " (" + old + ")"
		}
		text = cut(text, room-2-width(old), a.theme.more) + old
		sign = a.theme.critical.Render("!") + " "
		room -= 2
	}
	return sign + padRight(cut(text, room, a.theme.more), room) + " " + right
}

func (a *App) statusText() string {
	n, doing := a.notes.current, a.doing()
	if n != nil && n.passing && doing != "" {
		return n.said() + " " + a.theme.sep + " " + doing
	}
	if n != nil {
		return n.said()
	}
	if doing != "" {
		return doing
	}
	if s := a.found.summary(); s != "" && a.snap != nil {
		return s + a.findingsPending() + ": f goes to the next, ! lists them"
	}
	return ""
}

// doing tells of the work that runs. What is quick is not worth a word.
func (a *App) doing() string {
	j := a.running()
	if j == nil || j.keep || a.snap != nil && a.now().Sub(j.started) < 2*tickEvery {
		return ""
	}
	return j.describe(a.now(), a.theme.sep)
}

func (t *theme) flag(f string) string {
	switch f {
	case "!!":
		return t.critical.Render(f)
	case "!":
		return t.warn.Render(f)
	case "i":
		return t.info.Render(f)
	}
	return f
}
