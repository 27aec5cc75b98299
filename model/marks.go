package model

import (
	"slices"
	"sort"
)

// Marks is the set of marked targets with undo and redo. Marks below a marked
// parent stay, so that taking the parent's mark away brings them back.
type Marks struct {
	set        map[Target]uint64 // value: when it was marked, for the order
	clock      uint64
	done, gone []change
}

type change struct{ added, removed []Target }

// Has reports whether exactly this target is marked.
func (m *Marks) Has(g Target) bool { _, ok := m.set[g]; return ok }

// Len is the number of marked targets.
func (m *Marks) Len() int { return len(m.set) }

// Toggle marks or unmarks a target.
func (m *Marks) Toggle(g Target) {
	if m.Has(g) {
		m.Remove(g)
	} else {
		m.Add(g)
	}
}

// Add marks several targets as one step of undo; those marked already count not.
func (m *Marks) Add(targets ...Target) { m.Change(nil, targets) }

// Remove unmarks several targets as one step of undo.
func (m *Marks) Remove(targets ...Target) { m.Change(targets, nil) }

// Change unmarks some targets and marks others as one step of undo.
func (m *Marks) Change(remove, add []Target) {
	var c change
	for _, g := range remove {
		if m.Has(g) {
			delete(m.set, g)
			c.removed = append(c.removed, g)
		}
	}
	for _, g := range add {
		if !m.Has(g) {
			m.put(g)
			c.added = append(c.added, g)
		}
	}
	m.note(c)
}

func (m *Marks) put(g Target) {
	if m.set == nil {
		m.set = map[Target]uint64{}
	}
	m.clock++
	m.set[g] = m.clock
}

func (m *Marks) note(c change) {
	if len(c.added)+len(c.removed) > 0 {
		m.done, m.gone = append(m.done, c), nil
	}
}

// Undo takes the last change back; false where there is none.
func (m *Marks) Undo() bool {
	if len(m.done) == 0 {
		return false
	}
	c := m.done[len(m.done)-1]
	m.done, m.gone = m.done[:len(m.done)-1], append(m.gone, c)
	m.apply(c.removed, c.added)
	return true
}

// Redo makes the last change that was undone again; false where there is none.
func (m *Marks) Redo() bool {
	if len(m.gone) == 0 {
		return false
	}
	c := m.gone[len(m.gone)-1]
	m.gone, m.done = m.gone[:len(m.gone)-1], append(m.done, c)
	m.apply(c.added, c.removed)
	return true
}

func (m *Marks) apply(add, remove []Target) {
	for _, g := range remove {
		delete(m.set, g)
	}
	for _, g := range add {
		m.put(g)
	}
}

// Targets are the marked targets in the order in which they were marked.
func (m *Marks) Targets() []Target {
	out := make([]Target, 0, len(m.set))
	for g := range m.set {
		out = append(out, g)
	}
	sort.Slice(out, func(i, j int) bool { return m.set[out[i]] < m.set[out[j]] })
	return out
}

// MarkState is how a row is marked.
type MarkState uint8

const (
	MarkNone    MarkState = iota
	MarkMarked            // ✗
	MarkCovered           // · a parent is marked
	MarkPartial           // ~ some of what is below is
)

// MarkView is the marks laid over a tree: made anew after each change.
type MarkView struct {
	// Metadata and State are the bytes that go: of `_metadata`, and of state.
	// They are lower bounds where Lower is set.
	Metadata, State int64
	Lower           bool
	Count           int // marked targets that are in the tree
	Lost            int // marked targets that are not

	state   []MarkState
	entries map[Node][]EntryRange
}

// View computes the state of every row; one pass over the nodes.
func (m *Marks) View(s *Snapshot, t *Tree) *MarkView {
	v := &MarkView{state: make([]MarkState, t.Len()), entries: map[Node][]EntryRange{}}
	for g := range m.set {
		n := s.Find(t, g)
		if n == None {
			v.Lost++
			continue
		}
		v.Count++
		if g.Entries != AllEntries {
			v.entries[n] = append(v.entries[n], g.Entries)
			continue
		}
		v.state[n] = MarkMarked
	}
	v.cover(t)
	for n := range v.entries {
		if v.state[n] == MarkNone {
			v.state[n] = MarkPartial
		}
	}
	v.partial(t)
	v.sum(t)
	return v
}

// cover hands marks down: parents have smaller ids than their children, and
// subtasks come last.
func (v *MarkView) cover(t *Tree) {
	for n := Node(1); n < t.subBase; n++ {
		if v.state[n] == MarkMarked {
			continue
		}
		p := t.parent[n]
		if v.state[p] == MarkMarked || v.state[p] == MarkCovered {
			v.state[n] = MarkCovered
		} else if t.class[n] == ClassState && (t.kind[n] == KindKeyed || t.kind[n] == KindRawKeyed) {
			if w := t.wholeOf(n); w != None && v.state[w] == MarkMarked {
				v.state[n] = MarkCovered
			}
		}
	}
	for n := t.subBase; n < Node(t.Len()); n++ {
		if p := v.state[t.parent[n]]; v.state[n] != MarkMarked && (p == MarkMarked || p == MarkCovered) {
			v.state[n] = MarkCovered
		}
		if v.state[n] == MarkMarked {
			for _, c := range t.Children(nil, n, TurnSubtask) {
				if v.state[c] == MarkNone {
					v.state[c] = MarkCovered
				}
			}
		}
	}
}

// partial hands up that something below is marked.
func (v *MarkView) partial(t *Tree) {
	up := func(n Node) {
		if v.state[n] == MarkNone {
			v.state[n] = MarkPartial
		}
	}
	for n := t.subBase - 1; n > 0; n-- {
		if v.state[n] == MarkNone {
			continue
		}
		up(t.parent[n])
		if t.class[n] == ClassCell {
			up(t.firstSub[t.op[n]] + Node(t.sub[n]))
		}
	}
	for n := t.subBase; n < Node(t.Len()); n++ {
		if v.state[n] == MarkMarked || v.state[n] == MarkPartial {
			up(t.parent[n])
		}
	}
	if v.state[Root] == MarkNone && slices.ContainsFunc(v.state[1:], func(s MarkState) bool { return s != MarkNone }) {
		v.state[Root] = MarkPartial
	}
}

// sum adds up the topmost marked nodes.
func (v *MarkView) sum(t *Tree) {
	add := func(z Sizes) {
		for _, part := range []int64{z.Inline, z.Bookkeeping} {
			v.Metadata += max(part, 0)
		}
		for _, part := range []int64{z.Inline, z.Exclusive, z.Shared} {
			v.State += max(part, 0)
			v.Lower = v.Lower || part == Unknown
		}
		v.Lower = v.Lower || z.UnknownFiles > 0
	}
	for n := Node(1); n < Node(t.Len()); n++ {
		if v.state[n] != MarkMarked || t.class[n] == ClassCell && v.state[t.firstSub[t.op[n]]+Node(t.sub[n])] == MarkMarked {
			continue
		}
		if p := t.parent[n]; v.state[p] != MarkMarked && v.state[p] != MarkCovered {
			add(t.sizes[n])
		}
	}
	for n, list := range v.entries {
		if v.state[n] == MarkMarked || v.state[n] == MarkCovered {
			continue
		}
		v.Lower = true
		if t.kind[n] != KindOperator && t.kind[n] != KindRawOperator || t.dist[n] == DistBroadcast {
			continue // no offset stands for an entry
		}
		for _, r := range list {
			if r.First >= 0 {
				v.Metadata += 8 * (r.Last - r.First + 1)
			}
		}
	}
}

// Of is the state of a node.
func (v *MarkView) Of(n Node) MarkState { return v.state[n] }

// OfEntry is the state of list element i of a cell.
func (v *MarkView) OfEntry(cell Node, i int64) MarkState {
	if st := v.state[cell]; st == MarkMarked || st == MarkCovered {
		return MarkCovered
	}
	for _, r := range v.entries[cell] {
		if r.First >= 0 && r.First <= i && i <= r.Last {
			return MarkMarked
		}
	}
	return MarkNone
}

// HasDuplicates reports whether the duplicates of a state are marked.
func (v *MarkView) HasDuplicates(n Node) bool { return slices.Contains(v.entries[n], Duplicates) }
