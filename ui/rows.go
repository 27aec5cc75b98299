package ui

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"chkscope/model"
)

// order is what the children of a node are sorted by.
type order uint8

const (
	bySize order = iota
	byName
	byCount
)

func (o order) String() string { return [...]string{"size", "name", "count"}[o] }

// spec is all that decides which rows there are and in which order. It is a
// value: a build works on a copy while the keys go on changing the original.
type spec struct {
	names   *names
	turn    model.Turn
	lens    model.Lens
	order   order
	reverse bool
	zoom    model.Node // its children are the outermost rows
	open    bitset     // nodes (and cells) that are open
	filter  string
	shut    bitset // nodes that were closed by hand while the filter was on
}

// copy is for a build beside the keys.
func (s spec) copy() spec {
	s.open, s.shut = s.open.clone(), s.shut.clone()
	return s
}

func (s *spec) weight(n model.Node) int64 {
	w, _ := s.names.tree.Sizes(n).Weight(s.lens)
	return w
}

// row is one row: a node, or list element elem of the cell node (elem -1: the
// node itself).
type row struct {
	node model.Node
	elem int64
}

// block is the elements of an open cell. They are counted, not listed.
type block struct {
	at     int   // index of the cell in list.nodes
	before int64 // elements of the blocks before
	n      int64
}

// list is the rows that can be scrolled to: nodes in order, with blocks of
// elements below open cells.
type list struct {
	nodes  []model.Node
	blocks []block
	// With a filter: the nodes that match it and those that are shown, which is
	// them and the way to them.
	match, show bitset
	matches     int
}

// total is the number of rows.
func (l *list) total() int64 {
	n := int64(len(l.nodes))
	if k := len(l.blocks); k > 0 {
		n += l.blocks[k-1].before + l.blocks[k-1].n
	}
	return n
}

// row gives the i-th row.
func (l *list) row(i int64) row {
	k := sort.Search(len(l.blocks), func(k int) bool {
		b := l.blocks[k]
		return int64(b.at)+1+b.before > i
	})
	if k == 0 {
		return row{l.nodes[i], -1}
	}
	b := l.blocks[k-1]
	if j := i - (int64(b.at) + 1 + b.before); j < b.n {
		return row{l.nodes[b.at], j}
	}
	return row{l.nodes[i-b.before-b.n], -1}
}

// blockAt is the block of the i-th row, which is an element.
func (l *list) blockAt(i int64) block {
	k := sort.Search(len(l.blocks), func(k int) bool { return int64(l.blocks[k].at)+1+l.blocks[k].before > i })
	return l.blocks[k-1]
}

// number is the row number of the k-th node.
func (l *list) number(k int) int64 {
	i := sort.Search(len(l.blocks), func(i int) bool { return l.blocks[i].at >= k })
	n := int64(k)
	if i > 0 {
		n += l.blocks[i-1].before + l.blocks[i-1].n
	}
	return n
}

// find gives the row number of r, or -1.
func (l *list) find(r row) int64 {
	k := slices.Index(l.nodes, r.node)
	if k < 0 {
		return -1
	}
	if r.elem < 0 {
		return l.number(k)
	}
	for _, b := range l.blocks {
		if b.at == k && r.elem < b.n {
			return l.number(k) + 1 + r.elem
		}
	}
	return -1
}

// setBlocks numbers blocks anew after some came or went.
func (l *list) setBlocks(blocks []block) {
	before := int64(0)
	for i := range blocks {
		blocks[i].before = before
		before += blocks[i].n
	}
	l.blocks = blocks
}

// insert puts the rows below the k-th node, which is being opened: those of
// below, or the elements of a cell.
func (l *list) insert(k int, below *list, elements int64) {
	l.nodes = slices.Insert(l.nodes, k+1, below.nodes...)
	i := sort.Search(len(l.blocks), func(i int) bool { return l.blocks[i].at > k })
	for j := i; j < len(l.blocks); j++ {
		l.blocks[j].at += len(below.nodes)
	}
	var fresh []block
	if elements > 0 {
		fresh = append(fresh, block{at: k, n: elements})
	}
	for _, b := range below.blocks {
		fresh = append(fresh, block{at: b.at + k + 1, n: b.n})
	}
	l.setBlocks(slices.Insert(l.blocks, i, fresh...))
}

// remove takes the rows below the k-th node away, which is being closed; end is
// the first node that stays.
func (l *list) remove(k, end int) {
	l.nodes = slices.Delete(l.nodes, k+1, end)
	blocks := l.blocks[:0]
	for _, b := range l.blocks {
		if b.at >= end {
			b.at -= end - k - 1
		} else if b.at >= k {
			continue
		}
		blocks = append(blocks, b)
	}
	l.setBlocks(blocks)
}

// builder makes the rows of a spec.
type builder struct {
	*spec
	out    *list
	stop   func() bool // asked now and then; true ends the build
	budget int         // nodes that may be looked at; 0: all
	done   int
	kids   []model.Node // scratch, used as a stack
}

// build makes all rows. It gives nil where it was stopped or the budget was
// used up.
func (b *builder) build() *list {
	if b.filter != "" && !b.findMatches() {
		return nil
	}
	if !b.walk(b.zoom, b.matched(b.zoom)) {
		return nil
	}
	b.out.setBlocks(b.out.blocks)
	return b.out
}

// below makes the rows below n alone, for a row that is being opened; nil where
// there are more than budget.
func (s *spec) below(l *list, n model.Node, budget int) *list {
	b := &builder{spec: s, out: &list{match: l.match, show: l.show}, stop: never, budget: budget}
	inMatch := false
	for p := n; p != model.None && !inMatch; p = s.names.tree.Parent(p, s.turn) {
		inMatch = b.matched(p)
	}
	if !b.walk(n, inMatch) {
		return nil
	}
	b.out.setBlocks(b.out.blocks)
	return b.out
}

// spent counts n more nodes and tells whether the build has to end.
func (b *builder) spent(n int) bool {
	before := b.done
	b.done += n
	if b.budget > 0 && b.done > b.budget {
		return true
	}
	return before>>12 != b.done>>12 && b.stop()
}

func (b *builder) matched(n model.Node) bool { return b.out.match.has(n) }

// walk appends the rows below n. Trees are four deep at most.
func (b *builder) walk(n model.Node, inMatch bool) bool {
	from := len(b.kids)
	b.kids = b.names.tree.Children(b.kids, n, b.turn)
	kids := b.kids[from:]
	if b.spent(len(kids)) {
		return false
	}
	if b.filter != "" && !(inMatch && b.open.has(n) || n == b.zoom && inMatch) {
		kids = slices.DeleteFunc(kids, func(c model.Node) bool { return !b.out.show.has(c) })
	}
	b.sort(kids)
	for _, c := range kids {
		b.out.nodes = append(b.out.nodes, c)
		if !b.isOpen(b.out, c) {
			continue
		}
		if k := b.names.elements(c); k > 0 {
			b.out.blocks = append(b.out.blocks, block{at: len(b.out.nodes) - 1, n: k})
		} else if b.names.tree.HasChildren(c, b.turn) && !b.walk(c, inMatch || b.matched(c)) {
			return false
		}
	}
	b.kids = b.kids[:from]
	return true
}

// isOpen tells whether the rows below n are shown. While a filter is on, the
// way to a match is open of itself.
func (s *spec) isOpen(l *list, n model.Node) bool {
	if s.filter == "" {
		return s.open.has(n)
	}
	if s.shut.has(n) {
		return false
	}
	if s.open.has(n) {
		return true
	}
	return l.show.has(n) && s.leadsToMatch(l, n)
}

func (s *spec) leadsToMatch(l *list, n model.Node) bool {
	for _, c := range s.names.tree.Children(nil, n, s.turn) {
		if l.show.has(c) {
			return true
		}
	}
	return false
}

// sort orders the children of one node; equal ones stay in file order.
func (b *builder) sort(kids []model.Node) {
	t := b.names.tree
	switch b.order {
	case byName:
		b.sortByName(kids)
	case bySize:
		b.sortByKey(kids, b.weight)
	case byCount:
		b.sortByKey(kids, t.Entries)
	}
}

// sortByName sorts by what the rows say, subtasks by their index.
func (b *builder) sortByName(kids []model.Node) {
	t := b.names.tree
	type named struct {
		label string
		n     model.Node
	}
	ks := make([]named, len(kids))
	for i, n := range kids {
		ks[i].n = n
		if c := t.Class(n); c != model.ClassSubtask && (c != model.ClassCell || b.turn == model.TurnSubtask) {
			ks[i].label = b.names.label(n, b.turn)
		}
	}
	slices.SortStableFunc(ks, func(x, y named) int {
		return cmp.Or(cmp.Compare(t.Subtask(x.n), t.Subtask(y.n)), strings.Compare(x.label, y.label))
	})
	if b.reverse {
		slices.Reverse(ks)
	}
	for i := range ks {
		kids[i] = ks[i].n
	}
}

// sortByKey sorts from the largest down, or up where reversed; what is not
// known goes last.
func (b *builder) sortByKey(kids []model.Node, key func(model.Node) int64) {
	type keyed struct {
		key int64
		n   model.Node
	}
	ks := make([]keyed, len(kids))
	sorted := true
	for i, n := range kids {
		k := key(n)
		if b.reverse && k >= 0 {
			k = -k
		} else if k < 0 {
			k = -1 << 62
		}
		ks[i] = keyed{k, n}
		sorted = sorted && (i == 0 || ks[i-1].key >= k)
	}
	if sorted {
		return
	}
	slices.SortFunc(ks, func(x, y keyed) int {
		if c := cmp.Compare(y.key, x.key); c != 0 {
			return c
		}
		return cmp.Compare(x.n, y.n)
	})
	for i := range ks {
		kids[i] = ks[i].n
	}
}

// findMatches fills match and show over the whole tree, whatever is open.
func (b *builder) findMatches() bool {
	t := b.names.tree
	b.out.match, b.out.show = newBitset(t.Len()), newBitset(t.Len())
	m := newMatcher(b.filter, b.names)
	ok := true
	var visit func(n model.Node, depth int) bool
	visit = func(n model.Node, depth int) bool {
		if b.spent(1) {
			ok = false
			return false
		}
		found := n != b.zoom && m.match(n, b.turn)
		if found {
			b.out.match.set(n)
			b.out.matches++
		}
		if depth < 8 && t.HasChildren(n, b.turn) {
			from := len(b.kids)
			b.kids = t.Children(b.kids, n, b.turn)
			to := len(b.kids)
			for i := from; i < to && ok; i++ {
				if visit(b.kids[i], depth+1) {
					found = true
				}
			}
			b.kids = b.kids[:from]
		}
		if found {
			b.out.show.set(n)
		}
		return found
	}
	visit(b.zoom, 0)
	return ok
}

// matcher tells which nodes a filter means: every word of it must be in what
// the row says, upper and lower case alike.
type matcher struct {
	words []string
	names *names
	seen  map[matchKey]bool
}

// matchKey is what the text of a row depends on: many rows say the same.
type matchKey struct {
	class   model.Class
	kind    model.Kind
	dist    model.Distribution
	whole   bool
	name    string
	subtask int
}

func newMatcher(filter string, names *names) *matcher {
	return &matcher{strings.Fields(strings.ToLower(filter)), names, map[matchKey]bool{}}
}

func (m *matcher) match(n model.Node, turn model.Turn) bool {
	t := m.names.tree
	k := matchKey{class: t.Class(n), subtask: -1}
	switch {
	case k.class == model.ClassOperator:
		return m.text(m.names.operatorText(n))
	case k.class == model.ClassSubtask, k.class == model.ClassCell && turn == model.TurnState:
		k.class, k.subtask = model.ClassSubtask, t.Subtask(n)
	default:
		k.kind, k.dist, k.whole, k.name = t.Kind(n), t.Dist(n), t.Whole(n), t.Name(n)
	}
	hit, known := m.seen[k]
	if !known {
		label := m.names.label(n, turn)
		if k.subtask < 0 {
			label += " " + k.kind.String() + " " + k.dist.String()
		}
		hit = m.text(label)
		m.seen[k] = hit
	}
	return hit
}

func (m *matcher) text(s string) bool {
	s = strings.ToLower(s)
	for _, w := range m.words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}
