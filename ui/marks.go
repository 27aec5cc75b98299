package ui

import (
	"fmt"
	"slices"
	"strings"

	"chkscope/model"
	"chkscope/model/prune"

	tea "charm.land/bubbletea/v2"
)

// marking is the marks and how they lie over the tree.
type marking struct {
	set  model.Marks
	view *model.MarkView
	tree *model.Tree // that view lies over
	gen  uint64
	// written are the marks that were in the last copy: quitting need not ask.
	written map[model.Target]bool
}

func newMarking() *marking { return &marking{view: &model.MarkView{}} }

// marksViewMsg is a view that was made beside the keys.
type marksViewMsg struct {
	gen  uint64
	view *model.MarkView
	tree *model.Tree
}

// look lays the marks over the tree anew: at once where that is quick.
func (m *marking) look(n *names) tea.Cmd {
	m.gen++
	if n.tree.Len() <= 5*syncRows {
		m.view, m.tree = m.set.View(n.snap, n.tree), n.tree
		return nil
	}
	gen := m.gen
	set := model.Marks{}
	set.Add(m.set.Targets()...)
	return func() tea.Msg { return marksViewMsg{gen, set.View(n.snap, n.tree), n.tree} }
}

func (m *marking) taken(msg marksViewMsg) {
	if msg.gen == m.gen {
		m.view, m.tree = msg.view, msg.tree
	}
}

// of is how a row is marked; nothing until the view of its tree is made.
func (m *marking) of(n *names, r row) model.MarkState {
	switch {
	case m.tree != n.tree:
		return model.MarkNone
	case r.elem >= 0:
		return m.view.OfEntry(r.node, r.elem)
	}
	return m.view.Of(r.node)
}

// unwritten tells whether there are marks that no copy was made with.
func (m *marking) unwritten() bool {
	for _, g := range m.set.Targets() {
		if !m.written[g] {
			return true
		}
	}
	return false
}

func (m *marking) rememberWritten() {
	m.written = map[model.Target]bool{}
	for _, g := range m.set.Targets() {
		m.written[g] = true
	}
}

// marksChanged follows every change of marks.
func (a *App) marksChanged() tea.Cmd {
	a.plan.forget()
	return tea.Batch(a.marks.look(a.names), a.saveSoon())
}

// toggleMark marks the row under the cursor, or the range.
func (a *App) toggleMark() tea.Cmd {
	if a.tree.anchor >= 0 {
		return a.markRange()
	}
	r := a.tree.here()
	if r.node == model.None {
		return nil
	}
	remove, add, why := a.change(r)
	if why != "" {
		a.say("%s", why)
		return nil
	}
	a.marks.set.Change(remove, add)
	a.tree.move(1)
	return a.marksChanged()
}

// change tells what the mark key does to a row: which marks go and come, or why
// neither.
func (a *App) change(r row) (remove, add []model.Target, why string) {
	g := a.names.target(r)
	if a.marks.set.Has(g) {
		return []model.Target{g}, nil, ""
	}
	switch st := a.marks.of(a.names, r); {
	case st == model.MarkCovered:
		return nil, nil, fmt.Sprintf("covered: %s is marked already", a.coveredBy(r))
	case r.elem >= 0 && st == model.MarkMarked:
		// Inside a marked range: what is left of it stays marked.
		for _, h := range a.marks.set.Targets() {
			if h.Entries.First < 0 || !h.Covers(g) {
				continue
			}
			remove = append(remove, h)
			if left := h; left.Entries.First < r.elem {
				left.Entries.Last = r.elem - 1
				add = append(add, left)
			}
			if right := h; right.Entries.Last > r.elem {
				right.Entries.First = r.elem + 1
				add = append(add, right)
			}
		}
		return remove, add, ""
	}
	if why, ok := prune.CheckMark(a.snap, g); !ok {
		return nil, nil, why
	}
	return nil, []model.Target{g}, ""
}

// coveredBy names the marked thing that a row goes with.
func (a *App) coveredBy(r row) string {
	if r.elem >= 0 && a.marks.set.Has(a.names.target(row{r.node, -1})) {
		return a.names.full(r.node)
	}
	g := a.names.target(r)
	for _, h := range a.marks.set.Targets() {
		if h != g && h.Covers(g) {
			if n := a.snap.Find(a.names.tree, h); n != model.None {
				return a.names.full(n)
			}
		}
	}
	return "what holds it"
}

func (a *App) startRange() tea.Cmd {
	if a.tree.list.total() == 0 {
		return nil
	}
	a.tree.anchor = a.tree.cursor
	a.say("range: move, then space marks it; Esc ends it")
	return nil
}

// markRange marks the rows from the anchor to the cursor, or unmarks them where
// all are marked. Elements of one cell become one target.
func (a *App) markRange() tea.Cmd {
	from, to := min(a.tree.anchor, a.tree.cursor), max(a.tree.anchor, a.tree.cursor)
	a.tree.anchor = -1
	targets, left := a.rangeTargets(from, to)
	return a.markAll(targets, left)
}

// rangeTargets are the rows from one to another. What lies below a row of the
// range goes with it.
func (a *App) rangeTargets(from, to int64) (targets []model.Target, skipped int) {
	t, turn, taken := a.names.tree, a.tree.shown.turn, map[model.Node]bool{}
	for i := from; i <= to; i++ {
		r := a.tree.list.row(i)
		if taken[r.node] && r.elem >= 0 || taken[t.Parent(r.node, turn)] {
			taken[r.node] = true
			continue
		}
		g := a.names.target(r)
		if r.elem >= 0 {
			g.Entries.Last = min(a.tree.list.blockAt(i).n-1, r.elem+to-i)
			i += g.Entries.Last - r.elem
		} else {
			taken[r.node] = true
		}
		if a.marks.of(a.names, r) == model.MarkCovered && !a.marks.set.Has(g) {
			skipped++
			continue
		}
		targets = append(targets, g)
	}
	return targets, skipped
}

// checkedMsg is targets of which is known whether they can be marked.
type checkedMsg struct {
	targets []model.Target
	skipped int
	why     string // why one of them cannot
}

// checkNow is how many targets are looked at while the keys wait.
const checkNow = 256

// markAll marks targets as one step, or unmarks them where all are marked.
func (a *App) markAll(targets []model.Target, skipped int) tea.Cmd {
	all := !slices.ContainsFunc(targets, func(g model.Target) bool { return !a.marks.set.Has(g) })
	if all && len(targets) > 0 {
		a.marks.set.Remove(targets...)
		a.say("%s unmarked", plural(int64(len(targets)), "row"))
		return a.marksChanged()
	}
	s := a.snap
	check := func() tea.Msg {
		m := checkedMsg{skipped: skipped}
		for _, g := range targets {
			if why, ok := prune.CheckMark(s, g); ok {
				m.targets = append(m.targets, g)
			} else {
				m.why = why
				m.skipped++
			}
		}
		return m
	}
	if len(targets) > checkNow {
		return check
	}
	return a.checked(check().(checkedMsg))
}

func (a *App) checked(m checkedMsg) tea.Cmd {
	a.marks.set.Add(m.targets...)
	said := plural(int64(len(m.targets)), "row") + " marked"
	if m.skipped > 0 {
		said += fmt.Sprintf(", %d not", m.skipped)
	}
	if m.why != "" {
		said += ": " + m.why
	}
	a.say("%s", said)
	return a.marksChanged()
}

// markMatches marks what the filter matches.
func (a *App) markMatches() tea.Cmd {
	if a.tree.filter == "" || a.tree.list.match == nil {
		a.say("without a filter * marks nothing; / filters")
		return nil
	}
	if a.tree.building {
		a.say("the filter is still at work")
		return nil
	}
	var targets []model.Target
	for n := range a.tree.list.match.all() {
		targets = append(targets, a.names.target(row{n, -1}))
	}
	// A match below another one goes with it.
	targets = slices.DeleteFunc(targets, func(g model.Target) bool { return a.matchAbove(g) })
	return a.markAll(targets, 0)
}

func (a *App) matchAbove(g model.Target) bool {
	n := a.snap.Find(a.names.tree, g)
	turn := a.tree.shown.turn
	for p := a.names.tree.Parent(n, turn); p != model.None; p = a.names.tree.Parent(p, turn) {
		if a.tree.list.match.has(p) {
			return true
		}
	}
	return false
}

// markRemedy marks what cures the finding under the cursor, or the worst one of
// the row.
func (a *App) markRemedy() tea.Cmd {
	f := a.findingHere()
	switch {
	case f == nil:
		a.say("no finding is about this row; f goes to the next one")
		return nil
	case len(f.Remedy) == 0:
		a.say("%s has no remedy that can be marked: %s", f.Rule, f.Action)
		return nil
	}
	var targets []model.Target
	for _, sel := range f.Remedy {
		g, err := a.snap.Select(a.names.tree, sel)
		if err != nil {
			a.fail("remedy of %s: %v", f.Rule, err)
			return nil
		}
		targets = append(targets, g...)
	}
	for _, g := range targets {
		if why, ok := prune.CheckMark(a.snap, g); !ok {
			a.say("%s", why)
			return nil
		}
	}
	named := make([]string, len(f.Remedy))
	for i, sel := range f.Remedy {
		named[i] = a.nameOf(sel)
	}
	if !slices.ContainsFunc(targets, func(g model.Target) bool { return !a.marks.set.Has(g) }) {
		a.say("marked already: %s", strings.Join(named, "; "))
		return nil
	}
	a.marks.set.Add(targets...)
	a.say("marked the remedy of %s: %s", f.Rule, strings.Join(named, "; "))
	return a.marksChanged()
}

func (a *App) undo() tea.Cmd { return a.step(a.marks.set.Undo, "nothing to undo") }
func (a *App) redo() tea.Cmd { return a.step(a.marks.set.Redo, "nothing to redo") }

func (a *App) step(do func() bool, none string) tea.Cmd {
	if !do() {
		a.say("%s", none)
		return nil
	}
	cmd := a.marksChanged()
	if p, ok := a.top().(*planPage); ok {
		return tea.Batch(cmd, p.build(a))
	}
	return cmd
}
