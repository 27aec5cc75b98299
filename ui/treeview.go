package ui

import (
	"sync/atomic"

	"chkscope/model"

	tea "charm.land/bubbletea/v2"
)

// syncRows is how many rows a build may touch while the keys wait: a few
// milliseconds. Above it the build runs beside the keys.
const syncRows = 20000

// treeView is the rows, the cursor in them and what is shown of them. The
// embedded spec is what is wanted; shown is the one that list was made of, which
// lags behind while a build runs. Drawing, and what a key means for the row under
// the cursor, goes by shown.
type treeView struct {
	spec
	shown   spec
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
	s := spec{names: n, open: newBitset(n.tree.Len()), shut: newBitset(n.tree.Len())}
	return treeView{spec: s, shown: s, list: &list{}, anchor: -1, height: 1}
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
	v.anchor = -1
	if v.building {
		v.cancel.Store(true) // builtMsg starts the next one
		return nil
	}
	if v.filter == "" || v.names.tree.Len() <= syncRows { // a filter looks at every node
		b := &builder{spec: &v.spec, out: &list{}, budget: syncRows, stop: never}
		if l := b.build(); l != nil {
			v.adopt(l)
			return nil
		}
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
	keep, offset, sent := v.translate(v.here()), v.cursor-v.top, v.want != nil
	if sent {
		keep = *v.want
		v.want = nil
	}
	v.list, v.shown = l, v.spec
	clear(v.largest)
	at := int64(-1)
	for n := keep; n.node != model.None; n = (row{v.names.tree.Parent(n.node, v.turn), -1}) {
		if at = l.find(n); at >= 0 || n.node == v.zoom {
			break
		}
	}
	at = max(0, min(at, l.total()-1))
	if sent {
		v.jump(at)
	} else {
		v.cursor, v.top = at, at-offset
		v.scroll()
	}
	if v.toMatch {
		v.toMatch = false
		v.firstMatch()
	}
}

// nearest is the row r, or the innermost that holds it and is shown, and its
// number; -1 where there is none.
func (v *treeView) nearest(r row) (row, int64) {
	for ; r.node != model.None; r = (row{v.names.tree.Parent(r.node, v.turn), -1}) {
		if at := v.list.find(r); at >= 0 {
			return r, at
		}
		if r.node == v.zoom {
			break
		}
	}
	return r, -1
}

// translate gives a row of the tree that is shown in the tree that is wanted, or
// what holds it there.
func (v *treeView) translate(r row) row {
	for from := v.shown.names; from != v.names && r.node != model.None; {
		if n := v.names.same(from, r.node); n != model.None {
			return row{n, r.elem}
		}
		r = row{from.tree.Parent(r.node, v.shown.turn), -1}
	}
	return r
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
	for ; n != v.shown.zoom && n != model.None; n = v.shown.names.tree.Parent(n, v.shown.turn) {
		d++
	}
	return d
}

// canOpen tells whether there is something below a row.
func (v *treeView) canOpen(r row) bool {
	s := &v.shown
	return r.node != model.None && r.elem < 0 && (s.names.tree.HasChildren(r.node, s.turn) || s.names.elements(r.node) > 0)
}

// isOpen tells whether a row is open.
func (v *treeView) isOpen(r row) bool { return r.elem < 0 && v.shown.isOpen(v.list, r.node) }

// setOpen opens or closes the row under the cursor in place: only the rows that
// come or go are touched.
func (v *treeView) setOpen(open bool) tea.Cmd {
	r := v.here()
	if v.isOpen(r) == open {
		return nil
	}
	n := v.translate(r).node
	if n == model.None {
		return nil
	}
	v.shut.clear(n)
	if open {
		v.open.set(n)
	} else {
		v.open.clear(n)
		if v.filter != "" {
			v.shut.set(n)
		}
	}
	v.anchor = -1
	if v.building {
		return v.rebuild()
	}
	k := v.position(v.cursor)
	if !open {
		v.list.remove(k, k+1+v.countBelow(k))
		v.scroll()
		return nil
	}
	below := v.below(v.list, n, syncRows)
	if below == nil {
		return v.rebuild()
	}
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
	t, d, n := v.shown.names.tree, v.depth(v.list.nodes[k]), 0
	for _, c := range v.list.nodes[k+1:] {
		if t.Class(c) == model.ClassOperator || v.depth(c) <= d {
			break
		}
		n++
	}
	return n
}

// largestChild is the weight that fills the bars of a node's children.
func (v *treeView) largestChild(parent model.Node) int64 {
	if w, ok := v.largest[parent]; ok {
		return w
	}
	w := int64(0)
	for _, c := range v.shown.names.tree.Children(nil, parent, v.shown.turn) {
		w = max(w, v.shown.weight(c))
	}
	if v.largest == nil || len(v.largest) > 4096 {
		v.largest = map[model.Node]int64{}
	}
	v.largest[parent] = w
	return w
}

// reveal opens the way to a row and puts the cursor there, leaving a zoom, a
// filter or a turn in which it has no row.
func (v *treeView) reveal(r row) tea.Cmd {
	if r = v.translate(r); r.node == model.None {
		return nil
	}
	t, dirty := v.names.tree, v.building
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
	if v.filter != "" && (dirty || !v.list.show.has(r.node)) {
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
	if !dirty {
		if i := v.list.find(r); i >= 0 {
			v.jump(i)
			return nil
		}
	}
	v.want = &r
	return v.rebuild()
}

// retree takes in a tree that knows more than the one before: what was open is
// found again by its target.
func (v *treeView) retree(n *names) tea.Cmd {
	old, fresh := v.spec, newTreeView(n)
	carry := func(from, to bitset) {
		for node := range from.all() {
			if m := n.same(old.names, node); m != model.None {
				to.set(m)
			}
		}
	}
	carry(old.open, fresh.open)
	carry(old.shut, fresh.shut)
	v.names, v.open, v.shut = n, fresh.open, fresh.shut
	if v.zoom = n.same(old.names, old.zoom); v.zoom == model.None {
		v.zoom = model.Root
	}
	if v.want != nil {
		v.want.node = n.same(old.names, v.want.node)
	}
	return v.rebuild()
}
