package ui

import (
	"fmt"
	"slices"

	"chkscope/model"
	"chkscope/model/finding"

	tea "charm.land/bubbletea/v2"
)

// The keys of the tree. Those that move work in what scrolls too.

func (a *App) lineUp() tea.Cmd   { return a.moveBy(-1) }
func (a *App) lineDown() tea.Cmd { return a.moveBy(1) }
func (a *App) pageUp() tea.Cmd   { return a.moveBy(-a.page()) }
func (a *App) pageDown() tea.Cmd { return a.moveBy(a.page()) }
func (a *App) halfUp() tea.Cmd   { return a.moveBy(-max(1, a.page()/2)) }
func (a *App) halfDown() tea.Cmd { return a.moveBy(max(1, a.page()/2)) }
func (a *App) first() tea.Cmd    { return a.moveBy(-1 << 60) }
func (a *App) last() tea.Cmd     { return a.moveBy(1 << 60) }

func (a *App) page() int64 {
	if o := a.top(); o != nil {
		return int64(max(1, a.textHeight()-1))
	}
	return int64(max(1, a.tree.height-1))
}

func (a *App) moveBy(n int64) tea.Cmd {
	if o := a.top(); o != nil {
		o.move(a, int(max(-1<<30, min(n, 1<<30))))
		return nil
	}
	a.tree.move(n)
	return nil
}

func (a *App) openRow() tea.Cmd {
	r := a.tree.here()
	if !a.tree.canOpen(r) {
		if r.elem < 0 && r.node != model.None && a.names.entryKind(r.node) == keyedEntries && a.names.tree.Entries(r.node) < 0 {
			a.say("its entries are not counted yet: c counts them, then they can be opened")
		}
		return nil
	}
	if a.tree.isOpen(r) {
		a.tree.move(1)
		return nil
	}
	return a.tree.setOpen(true)
}

func (a *App) closeRow() tea.Cmd {
	r := a.tree.here()
	if r.node == model.None {
		return nil
	}
	if a.tree.canOpen(r) && a.tree.isOpen(r) {
		return a.tree.setOpen(false)
	}
	parent := a.names.tree.Parent(r.node, a.tree.shown.turn)
	if r.elem >= 0 {
		parent = r.node
	}
	if i := a.tree.list.find(row{parent, -1}); parent != model.None && i >= 0 {
		a.tree.jump(i)
	}
	return nil
}

func (a *App) toggleRow() tea.Cmd {
	r := a.tree.here()
	if !a.tree.canOpen(r) {
		return nil
	}
	return a.tree.setOpen(!a.tree.isOpen(r))
}

func (a *App) zoomIn() tea.Cmd {
	r := a.tree.here()
	if r.node == model.None || !a.names.tree.HasChildren(r.node, a.tree.shown.turn) {
		if a.tree.canOpen(r) {
			a.say("only entries below this row; → opens them, : goes to one")
			return nil
		}
		a.say("nothing below this row to zoom into")
		return nil
	}
	a.tree.zoom = a.tree.translate(r).node
	return a.tree.rebuild()
}

func (a *App) zoomOut() tea.Cmd {
	if a.tree.zoom == model.Root {
		return nil
	}
	from := a.tree.zoom
	a.tree.zoom = a.tree.names.tree.Parent(from, a.tree.turn)
	if a.tree.zoom == model.None {
		a.tree.zoom = model.Root
	}
	a.tree.want = &row{from, -1}
	return a.tree.rebuild()
}

func (a *App) nextLens() tea.Cmd {
	a.tree.lens = (a.tree.lens + 1) % 3
	return a.tree.rebuild()
}

// turned is the last turn of the tree: the row that was left, and the one that
// was gone to, which may only be what holds it. Turning back from there goes to
// the first again.
type turned struct {
	names    *names
	from, to row
}

func (a *App) turnTree() tea.Cmd {
	here, was := a.tree.translate(a.tree.here()), a.tree.shown.turn
	if b := a.turned; b.names == a.tree.names {
		if back, _ := a.tree.nearest(b.to); back == here {
			here = b.from
		}
	}
	from := here
	a.tree.turn = 1 - a.tree.turn
	t := a.tree.names.tree
	if t.Parent(a.tree.zoom, a.tree.turn) == model.None {
		a.tree.zoom = model.Root
	}
	// A row that the other turn has not: stay with its operator.
	for here.node != model.None && here.node != model.Root && t.Parent(here.node, a.tree.turn) == model.None {
		here = row{t.Parent(here.node, was), -1}
	}
	a.tree.want = &here
	a.turned = turned{a.tree.names, from, here}
	return a.tree.rebuild()
}

func (a *App) togglePercent() tea.Cmd {
	a.tree.ofTotal = !a.tree.ofTotal
	return nil
}

func (a *App) sortBy(o order) tea.Cmd {
	if a.tree.order == o {
		a.tree.reverse = !a.tree.reverse
	} else {
		a.tree.order, a.tree.reverse = o, false
	}
	return a.tree.rebuild()
}

// findingHere is the finding that the keys mean: in the list the one under the
// cursor; in the tree the one that f went to if it is on this row, else the
// row's worst.
func (a *App) findingHere() *finding.Finding {
	if l, ok := a.top().(*findingList); ok {
		return l.here(a)
	}
	r := a.tree.here()
	if r.node == model.None || r.elem >= 0 {
		return nil
	}
	if f := a.wholeHere(); f != nil {
		return f
	}
	if i := a.found.at; i >= 0 && a.found.nodes[i] == r.node {
		return &a.found.list[i]
	}
	if i, ok := a.found.own[r.node]; ok {
		return &a.found.list[i]
	}
	return nil
}

// wholeHere is the finding about the whole checkpoint that f went to, while the
// cursor has not moved since. The list of findings tells its own.
func (a *App) wholeHere() *finding.Finding {
	if slices.ContainsFunc(a.over, func(o overlay) bool { _, ok := o.(*findingList); return ok }) {
		return nil
	}
	if i := a.found.at; i >= 0 && a.found.nodes[i] == model.Root && a.found.on == a.tree.here() {
		return &a.found.list[i]
	}
	return nil
}

func (a *App) nextFinding() tea.Cmd { return a.stepFinding(1) }
func (a *App) prevFinding() tea.Cmd { return a.stepFinding(-1) }

func (a *App) stepFinding(by int) tea.Cmd {
	f := &a.found
	if len(f.list) == 0 {
		a.say("no findings%s", a.findingsPending())
		return nil
	}
	at := f.at
	if at < 0 && by < 0 {
		at = 0
	}
	for range f.list {
		at = (at + by + len(f.list)) % len(f.list)
		if f.nodes[at] != model.None {
			return a.toFinding(at)
		}
	}
	a.say("no finding has a row in the tree; ! lists them")
	return nil
}

// toFinding puts the cursor on the row that a finding is about.
func (a *App) toFinding(i int) tea.Cmd {
	f := &a.found
	f.at = i
	if f.nodes[i] == model.None {
		a.say("%s has no row in the tree", f.list[i].Rule)
		return nil
	}
	a.say("finding %d of %d: %s", i+1, len(f.list), f.list[i].Rule)
	if f.nodes[i] == model.Root {
		f.on = a.tree.here() // no row to go to: told where the cursor is, until it moves
		return a.wantDetails()
	}
	return a.tree.reveal(row{f.nodes[i], -1})
}

func (a *App) findingsPending() string {
	for _, j := range a.jobs {
		if j.finds {
			return " so far"
		}
	}
	return ""
}

func (a *App) nextMatch() tea.Cmd { return a.stepMatch(1) }
func (a *App) prevMatch() tea.Cmd { return a.stepMatch(-1) }

// stepMatch goes to the next row that the filter matches, round the end.
func (a *App) stepMatch(by int64) tea.Cmd {
	l := a.tree.list
	if a.tree.filter == "" {
		a.say("no filter; / sets one")
		return nil
	}
	if l.matches == 0 {
		a.say("nothing matches %q", a.tree.filter)
		return nil
	}
	n := len(l.nodes)
	k := a.tree.position(a.tree.cursor)
	for range n {
		k = (k + int(by) + n) % n
		if l.match.has(l.nodes[k]) {
			a.tree.jump(l.number(k))
			return nil
		}
	}
	return nil
}

// subject is the row that a key is about: that of the details or of the finding
// that are looked at, else the one under the cursor.
func (a *App) subject() row {
	switch o := a.top().(type) {
	case *detailPage:
		return o.row
	case *findingList:
		if o.here(a) != nil {
			if n := a.found.nodes[o.cursor]; n != model.None && n != model.Root {
				return row{n, -1}
			}
		}
	}
	return a.tree.here()
}

func (a *App) copySelector() tea.Cmd {
	r := a.subject()
	if r.node == model.None {
		return nil
	}
	return a.toClipboard(a.names.target(r).Selector())
}

func (a *App) copyPath() tea.Cmd {
	r := a.subject()
	if r.node == model.None {
		return nil
	}
	return a.toClipboard(a.pathOrID(r))
}

func (a *App) toClipboard(s string) tea.Cmd {
	a.say("copied: %s", s)
	return tea.SetClipboard(s)
}

func (a *App) redraw() tea.Cmd  { return func() tea.Msg { return tea.ClearScreen() } }
func (a *App) suspend() tea.Cmd { return tea.Suspend }

// escape leaves the innermost thing, never the program.
func (a *App) escape() tea.Cmd {
	if o := a.top(); o != nil {
		if !o.leave(a) {
			return nil
		}
		a.drop(o)
		a.layout()
		return nil
	}
	switch {
	case a.cancelJob(false):
	case a.tree.anchor >= 0:
		a.tree.anchor = -1
	case a.tree.names != nil && a.tree.filter != "":
		a.tree.filter = ""
		clear(a.tree.shut)
		return a.tree.rebuild()
	case a.tree.names != nil && a.tree.zoom != model.Root:
		return a.zoomOut()
	case a.notes.current != nil:
		a.notes.current = nil
	default:
		a.cancelJob(true)
	}
	return nil
}

// quit leaves, and asks only where marks would be left unwritten.
func (a *App) quit() tea.Cmd {
	if a.snap == nil || !a.marks.unwritten() {
		a.leaving = true
		return nil
	}
	return a.push(newAsk(
		fmt.Sprintf("Quit? %s marked and not written. The marks are saved and offered the next time.", plural(int64(a.marks.set.Len()), "row")),
		option{"q", "quit", func(a *App) tea.Cmd { a.leaving = true; return nil }},
		option{"esc", "stay", nil},
	))
}

// interrupt is ctrl+c, wherever the keys go: it cancels a write, else it quits.
func (a *App) interrupt() tea.Cmd {
	if a.writer.job != nil {
		a.writer.cancel()
		return nil
	}
	if _, asking := a.top().(*ask); asking {
		a.leaving = true
		return nil
	}
	return a.quit()
}
