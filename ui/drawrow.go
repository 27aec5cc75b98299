package ui

import (
	"fmt"
	"strings"

	"chkscope/model"

	"github.com/charmbracelet/x/ansi"
)

// columns is what a row has room for. They drop by priority as the width
// shrinks; the name goes last.
type columns struct {
	size, percent bool
	bar           int // cells inside its ends, 0: none
	info          bool
	wide          bool
}

func columnsFor(w int) columns {
	c := columns{size: true, percent: w >= 52, info: w >= 46, wide: w >= 110}
	switch {
	case w >= 110:
		c.bar = 16
	case w >= 72:
		c.bar = 7
	}
	return c
}

// rowLines draws the rows on the screen.
func (a *App) rowLines(l layout) []string {
	out := make([]string, 0, l.rows)
	if a.snap == nil {
		out = append(out, a.loading()...)
	} else {
		w := l.tree
		if l.side > 0 {
			w-- // a gap before the details
		}
		c := columnsFor(w)
		total := a.tree.list.total()
		for i := a.tree.top; i < min(a.tree.top+int64(l.rows), total); i++ {
			out = append(out, a.rowLine(i, w, c))
		}
		if total == 0 {
			out = append(out, a.nothing(w)...)
		}
	}
	for len(out) < l.rows {
		out = append(out, "")
	}
	return out[:l.rows]
}

func (a *App) loading() []string {
	j := a.running()
	if j == nil {
		return []string{"", " Nothing is open. q quits."}
	}
	return []string{"", " " + cut(j.describe(a.now(), a.theme.sep), a.w-2, a.theme.more), "", " Esc cancels, q quits."}
}

func (a *App) nothing(w int) []string {
	if a.tree.filter != "" {
		return append([]string{""}, wrap(fmt.Sprintf(" Nothing matches %q. Esc takes the filter away.", clean(a.tree.filter)), w)...)
	}
	return append([]string{""}, wrap(" No operator has state in this checkpoint.", w)...)
}

// rowText is what a row says.
type rowText struct {
	weight int64
	lower  bool
	parent model.Node // whose largest child fills the bar; None: no bar
	whole  int64      // that the percent is of
	mark   model.MarkState
	depth  int
	fold   string
	name   string
	count  string // of entries, or the operator's id
	word   string
	flag   string
	// element: of a list, not a node; index is its number in it.
	element bool
	index   string
}

func (a *App) rowText(r row) rowText {
	if r.elem >= 0 {
		return a.elementText(r)
	}
	v, t := &a.tree, a.names.tree
	x := rowText{parent: t.Parent(r.node, v.shown.turn), mark: a.marks.of(a.names, r), depth: v.depth(r.node), name: a.names.label(r.node, v.shown.turn)}
	x.weight, x.lower = t.Sizes(r.node).Weight(v.shown.lens)
	if x.lower && x.weight == 0 {
		x.weight = model.Unknown // nothing of it is known
	}
	whole := x.parent
	if v.ofTotal {
		whole = model.Root
	}
	x.whole = v.shown.weight(whole)
	x.fold = a.theme.leaf
	if v.canOpen(r) {
		x.fold = a.theme.closed
		if v.isOpen(r) {
			x.fold = a.theme.opened
		}
	}
	if s, ok := a.found.worst[r.node]; ok {
		x.flag = s.Flag()
	}
	x.count, x.word = a.infoText(r.node)
	return x
}

// infoText is what helps to decide: id and parallelism of an operator, entries
// and type of a state.
func (a *App) infoText(n model.Node) (count, word string) {
	t := a.names.tree
	switch t.Class(n) {
	case model.ClassOperator:
		op := &a.snap.Meta.Operators[t.Operator(n)]
		if a.names.operator(n).named {
			count = op.ID.String()[:8]
		}
		word = fmt.Sprintf("x%d", op.Parallelism)
		if t.Finished(n) {
			word += " fin"
		}
	case model.ClassSubtask:
		if t.Finished(n) {
			word = "finished"
		}
	default:
		word = a.names.word(n)
		if e := t.Entries(n); e >= 0 {
			count = short(e)
		}
	}
	return count, word
}

func (a *App) elementText(r row) rowText {
	v := &a.tree
	x := rowText{element: true, weight: model.Unknown, parent: model.None, whole: v.shown.weight(r.node), depth: v.depth(r.node), mark: a.marks.of(a.names, r)}
	x.index = padLeft(model.FormatCount(r.elem), len(model.FormatCount(a.names.elements(r.node)-1)))
	if v.shown.lens == model.LensMetadata && a.names.entryKind(r.node) == listEntries {
		x.weight = 8 // its offset
	}
	e, err, ok := a.pages.get(a.names.tree, r.node, r.elem)
	switch {
	case err != nil:
		x.name = "cannot be read"
	case !ok:
		x.name = a.theme.more
	default:
		if v.shown.lens == model.LensState {
			x.weight = e.len
		} else if e.len >= 0 {
			x.count = short(e.len) + " B"
		}
		x.name = e.line()
	}
	return x
}

// rowLine draws row i in w cells.
func (a *App) rowLine(i int64, w int, c columns) string {
	th, v := &a.theme, &a.tree
	x := a.rowText(v.list.row(i))
	var b strings.Builder
	used := 0
	put := func(s string) { b.WriteString(s); used += width(s) }

	put(a.rowSign(i))
	put(padLeft(a.sizeText(x), 10))
	if c.percent {
		put(" " + padLeft(percent(x.weight, x.whole), 6))
	}
	if c.bar > 0 && x.element { // its number stands where others have a bar
		put(" " + padLeft(x.index, c.bar+2))
	} else if c.bar > 0 {
		b.WriteString(" " + a.bar(x, c.bar))
		used += c.bar + 3
	}
	put(" ")
	b.WriteString(th.markSign(x.mark))
	used++
	put(" ")
	if x.element {
		b.WriteString(a.elementName(i, &x, c, w-used))
	} else {
		b.WriteString(a.nodeName(i, &x, c, w-used))
	}
	return b.String()
}

// nodeName is the part of a node's row from its name on, in room cells.
func (a *App) nodeName(i int64, x *rowText, c columns, room int) string {
	th := &a.theme
	fold := spaces(2*x.depth) + x.fold + " "
	room -= width(fold) + 3 // flags
	info := a.fitInfo(x, c, room)
	name := cut(x.name, room-width(info), th.more)
	gap := spaces(room - width(name) - width(info))
	return fold + a.underCursor(i, name) + gap + info + " " + spaces(2-width(x.flag)) + th.flag(x.flag)
}

// elementName is the part of an element's row from its value on. It has the room
// of everything that an element has not.
func (a *App) elementName(i int64, x *rowText, c columns, room int) string {
	head, tail := spaces(2*x.depth), ""
	if c.bar == 0 {
		head += x.index + " "
	}
	if c.info && x.count != "" {
		tail = "  " + padLeft(x.count, 8)
	}
	room -= width(head) + width(tail)
	name := cut(x.name, room, a.theme.more)
	return head + a.underCursor(i, name) + spaces(room-width(name)) + tail
}

// underCursor marks the name of the row under the cursor.
func (a *App) underCursor(i int64, name string) string {
	if i == a.tree.cursor && a.top() == nil {
		return a.theme.cursor.Render(name)
	}
	return name
}

// rowSign is the first cell of a row: the cursor, or a range.
func (a *App) rowSign(i int64) string {
	v := &a.tree
	switch {
	case i == v.cursor:
		return ">"
	case v.anchor >= 0 && i >= min(v.anchor, v.cursor) && i <= max(v.anchor, v.cursor):
		return "|"
	}
	return " "
}

func (a *App) sizeText(x rowText) string {
	switch {
	case x.weight < 0:
		return "?"
	case a.tree.shown.lens == model.LensFiles:
		return model.FormatCount(x.weight)
	}
	return a.bound(x.lower) + model.FormatSize(x.weight)
}

// fitInfo lays out count and word in columns of their own and gives up the word,
// then the count, where the name needs the room.
func (a *App) fitInfo(x *rowText, c columns, room int) string {
	if !c.info || x.count == "" && x.word == "" {
		return ""
	}
	name := width(x.name)
	full := "  " + padLeft(x.count, 8) + " " + padRight(x.word, 6)
	tight := "  " + x.count
	if x.word != "" {
		tight += " " + x.word
	}
	for _, s := range []string{full, tight, "  " + x.count} {
		if name+width(s) <= room {
			return s
		}
	}
	return ""
}

// bar draws a weight against the largest among its siblings.
func (a *App) bar(x rowText, w int) string {
	th := &a.theme
	if x.parent == model.None {
		return spaces(w + 2)
	}
	largest := a.tree.largestChild(x.parent)
	if x.weight < 0 || largest <= 0 {
		return th.barLeft + spaces(w) + th.barRight
	}
	eighths := int(float64(x.weight) / float64(largest) * float64(w) * 8)
	full := eighths / 8
	s := strings.Repeat(th.barFull, full)
	if len(th.barParts) > 0 && full < w {
		s += th.barParts[eighths%8]
	} else if len(th.barParts) == 0 && full < w && eighths%8 >= 4 {
		s += th.barFull
	}
	return th.barLeft + th.bar.Render(s) + spaces(w-width(s)) + th.barRight
}

func (t *theme) markSign(m model.MarkState) string {
	switch m {
	case model.MarkMarked:
		return t.marked.Render(t.mark)
	case model.MarkCovered:
		return t.partial.Render(t.cover)
	case model.MarkPartial:
		return t.partial.Render(t.part)
	}
	return " "
}

// padStyled fills a line that has escape sequences up to w cells.
func padStyled(s string, w int) string {
	if n := w - ansi.StringWidthWc(s); n > 0 {
		return s + spaces(n)
	}
	return s
}
