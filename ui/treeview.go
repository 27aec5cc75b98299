package ui

import (
	"sync/atomic"

	"chkscope/model"

	tea "charm.land/bubbletea/v2"
)

// syncRows is how many rows a build may touch while the keys wait: a few
// milliseconds. Above it the build runs beside the keys.
const syncRows = 20000

// treeView is the rows, the cursor in them and what is shown of them.
type treeView struct {
	spec
	list    *list
	cursor  int64
	top     int64 // first row on the screen
	height  int   // rows on the screen
	anchor  int64 // where a range began, -1: none
	ofTotal bool  // percent of the total

	toMatch  bool // after the next build the cursor goes to a match
	want     *row // where the cursor shall be after the next build
	gen      uint64
	building bool
	cancel   *atomic.Bool
	largest  map[model.Node]int64 // weight of the largest child, by parent
}

// builtMsg is the end of a build beside the keys; list is nil where it was
// stopped.
type builtMsg struct {
	gen  uint64
	list *list
}

func newTreeView(n *names) treeView {
	return treeView{
		spec:   spec{names: n, open: newBitset(n.tree.Len()), shut: newBitset(n.tree.Len())},
		list:   &list{},
		anchor: -1,
		height: 1,
	}
}

// here is the row under the cursor; node None where there is no row.
func (v *treeView) here() row {
	if v.cursor < 0 || v.cursor >= v.list.total() {
		return row{model.None, -1}
	}
	return v.list.row(v.cursor)
}

// rebuild makes the rows anew after the spec changed: at once where that is
// quick, else by a command.
func (v *treeView) rebuild() tea.Cmd {
	v.gen++
	clear(v.largest)
	v.anchor = -1
	if v.building {
		v.cancel.Store(true) // builtMsg starts the next one
		return nil
	}
	b := &builder{spec: &v.spec, out: &list{}, budget: syncRows, stop: never}
	if l := b.build(); l != nil {
		v.adopt(l)
		return nil
	}
	return v.start()
}

func never() bool { return false }

func (v *treeView) start() tea.Cmd {
	v.building, v.cancel = true, new(atomic.Bool)
	s, gen, stop := v.spec.copy(), v.gen, v.cancel.Load
	return func() tea.Msg {
		b := &builder{spec: &s, out: &list{}, stop: stop}
		return builtMsg{gen, b.build()}
	}
}

// built takes in the rows of a build, or begins another where the spec changed
// meanwhile.
func (v *treeView) built(m builtMsg) tea.Cmd {
	v.building = false
	if m.gen != v.gen || m.list == nil {
		return v.start()
	}
	v.adopt(m.list)
	return nil
}

// adopt shows new rows with the cursor on the same thing as before, or on what
// holds it.
func (v *treeView) adopt(l *list) {
	keep, offset := v.here(), v.cursor-v.top
	if v.want != nil {
		keep = *v.want
		v.want = nil
	}
	v.list = l
	at := int64(-1)
	for n := keep; n.node != model.None; n = (row{v.names.tree.Parent(n.node, v.turn), -1}) {
		if at = l.find(n); at >= 0 || n.node == v.zoom {
			break
		}
	}
	v.cursor = max(0, min(at, l.total()-1))
	v.top = v.cursor - offset
	v.scroll()
	if v.toMatch {
		v.toMatch = false
		v.firstMatch()
	}
}

// firstMatch goes to the first row from the cursor on that the filter matches.
func (v *treeView) firstMatch() {
	if v.list.matches == 0 || v.list.match.has(v.here().node) {
		return
	}
	for k, n := range v.list.nodes {
		if v.list.match.has(n) {
			v.jump(v.list.number(k))
			return
		}
	}
}

// scroll keeps the cursor on the screen and the screen full.
func (v *treeView) scroll() {
	v.cursor = max(0, min(v.cursor, v.list.total()-1))
	h := int64(max(1, v.height))
	v.top = min(max(v.top, v.cursor-h+1), v.cursor)
	v.top = max(0, min(v.top, v.list.total()-h))
}

func (v *treeView) move(by int64) {
	v.cursor += by
	v.scroll()
}

// jump puts the cursor on a row and, where that scrolls, the row in the middle
// of the screen.
func (v *treeView) jump(i int64) {
	v.cursor = i
	if i < v.top || i >= v.top+int64(v.height) {
		v.top = i - int64(v.height)/2
	}
	v.scroll()
}

// depth is how far a node's row is indented.
func (v *treeView) depth(n model.Node) int {
	d := -1
	for ; n != v.zoom && n != model.None; n = v.names.tree.Parent(n, v.turn) {
		d++
	}
	return d
}

// canOpen tells whether there is something below a row.
func (v *treeView) canOpen(r row) bool {
	return r.node != model.None && r.elem < 0 && (v.names.tree.HasChildren(r.node, v.turn) || v.names.elements(r.node) > 0)
}

// setOpen opens or closes the row under the cursor in place: only the rows that
// come or go are touched.
func (v *treeView) setOpen(open bool) tea.Cmd {
	n := v.here().node
	if v.isOpen(v.list, n) == open {
		return nil
	}
	if open {
		v.open.set(n)
		v.shut.clear(n)
	} else {
		v.open.clear(n)
		v.shut.set(n)
	}
	if v.filter == "" {
		v.shut.clear(n)
	}
	v.anchor = -1
	k := v.position(v.cursor)
	if v.building {
		return v.rebuild()
	}
	if !open {
		v.gen++
		v.list.remove(k, k+1+v.countBelow(k))
		v.scroll()
		return nil
	}
	below := v.below(v.list, n, syncRows)
	if below == nil {
		return v.rebuild()
	}
	v.gen++
	v.list.insert(k, below, v.names.elements(n))
	v.scroll()
	return nil
}

// position is the index in list.nodes of the i-th row, of an element that of its
// cell.
func (v *treeView) position(i int64) int {
	at := i
	for _, b := range v.list.blocks {
		cell := int64(b.at) + b.before
		if cell >= i {
			break
		}
		if i <= cell+b.n {
			return b.at
		}
		at = i - b.before - b.n
	}
	return int(at)
}

// countBelow is the number of nodes that stand below the k-th one.
func (v *treeView) countBelow(k int) int {
	t, d, n := v.names.tree, v.depth(v.list.nodes[k]), 0
	for _, c := range v.list.nodes[k+1:] {
		// Rows of a class that is not deeper end the run without a walk up.
		if t.Class(c) == model.ClassOperator || v.depth(c) <= d {
			break
		}
		n++
	}
	return n
}

// largestChild is the weight that fills the bar of n's siblings.
func (v *treeView) largestChild(parent model.Node) int64 {
	if w, ok := v.largest[parent]; ok {
		return w
	}
	w := int64(0)
	for _, c := range v.names.tree.Children(nil, parent, v.turn) {
		w = max(w, v.weight(c))
	}
	if v.largest == nil || len(v.largest) > 4096 {
		v.largest = map[model.Node]int64{}
	}
	v.largest[parent] = w
	return w
}

// reveal opens the way to a node and puts the cursor there, leaving a zoom, a
// filter or a turn in which it has no row.
func (v *treeView) reveal(r row) tea.Cmd {
	t, dirty := v.names.tree, false
	if r.node != model.Root && t.Parent(r.node, v.turn) == model.None {
		v.turn, v.zoom, dirty = 1-v.turn, model.Root, true
	}
	inZoom := false
	for p := t.Parent(r.node, v.turn); p != model.None; p = t.Parent(p, v.turn) {
		inZoom = inZoom || p == v.zoom
	}
	if !inZoom {
		v.zoom, dirty = model.Root, true
	}
	if v.filter != "" && !v.list.show.has(r.node) {
		v.filter, dirty = "", true
	}
	for p := t.Parent(r.node, v.turn); p != model.None && p != v.zoom; p = t.Parent(p, v.turn) {
		v.open.set(p)
		v.shut.clear(p)
	}
	if r.elem >= 0 {
		v.open.set(r.node)
		v.shut.clear(r.node)
	}
	if i := v.list.find(r); i >= 0 && !dirty && !v.building {
		v.jump(i)
		return nil
	}
	v.want = &r
	return v.rebuild()
}
