package ui

import (
	"fmt"
	"slices"
	"strings"

	"chkscope/model"
	"chkscope/model/finding"
	"chkscope/model/prune"

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

func (a *App) turnTree() tea.Cmd {
	here, was := a.tree.translate(a.tree.here()), a.tree.shown.turn
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

// checkMark tells why something cannot be marked.
func checkMark(s *model.Snapshot, g model.Target) (why string, ok bool) {
	if g.Entries.First >= 0 && g.Kind != model.KindOperator && g.Kind != model.KindRawOperator {
		return "entries of keyed state are here to be looked at; the state can be marked", false
	}
	return prune.CheckMark(s, g)
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
	if why, ok := checkMark(a.snap, g); !ok {
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
			if why, ok := checkMark(s, g); ok {
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
		if why, ok := checkMark(a.snap, g); !ok {
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
