package model

import (
	"slices"

	"chkscope/decoder/metadata"
)

// flush appends the states and cells of the operator at hand to the tree: its
// states as one run, then the cells of each state as one run.
func (b *builder) flush(o *metadata.Operator) {
	t := b.t
	opNode := t.OperatorNode(int(b.op))
	t.sizes[opNode], t.entries[opNode] = b.total, Unknown
	headerOnly := b.s.headerOnly(int(b.op), func(name string) bool {
		_, ok := b.byKey[stateKey{kind: KindOperator, name: name}]
		return ok
	})
	if len(headerOnly) > 0 {
		b.detail(b.op).HeaderOnly = headerOnly
	}
	order := make([]int, len(b.states))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return int(b.states[x].kind) - int(b.states[y].kind) })
	nodes := make([]Node, len(b.states))
	for _, i := range order {
		st := &b.states[i]
		nodes[i] = b.add(nodeTmp{class: ClassState, kind: st.kind, flags: st.flags, dist: st.dist, parent: opNode,
			name: st.name, op: b.op, sub: -1, index: -1, sizes: st.sizes, entries: st.entries})
		t.count[nodes[i]] = st.cells
	}
	t.count[opNode] = uint32(len(order))
	if len(order) > 0 {
		t.first[opNode] = nodes[order[0]]
	}
	next := Node(t.Len())
	for _, i := range order {
		t.first[nodes[i]] = next
		next += Node(b.states[i].cells)
	}
	slices.SortStableFunc(b.cells, func(x, y cellTmp) int { return int(nodes[x.state]) - int(nodes[y.state]) })
	for _, c := range b.cells {
		st := &b.states[c.state]
		b.add(nodeTmp{class: ClassCell, kind: st.kind, flags: st.flags, dist: st.dist, parent: nodes[c.state], name: st.name,
			op: b.op, sub: c.sub, index: o.Subtasks[c.sub].Index, sizes: c.sizes, entries: c.entries})
	}
}

// subtasks appends the ClassSubtask nodes of all operators and the index of
// their cells.
func (b *builder) subtasks() {
	t, ops := b.t, b.s.Meta.Operators
	t.subBase = Node(t.Len())
	t.firstSub, t.countSub = make([]Node, len(ops)), make([]uint32, len(ops))
	i := 0
	for op := range ops {
		t.firstSub[op], t.countSub[op] = Node(t.Len()), uint32(len(ops[op].Subtasks))
		for k := range ops[op].Subtasks {
			st := &ops[op].Subtasks[k]
			f := flag(0)
			if st.Finished {
				f = flagFinished
			}
			b.add(nodeTmp{class: ClassSubtask, flags: f, parent: t.OperatorNode(op), op: int32(op), sub: int32(k), index: st.Index,
				sizes: b.subSizes[i], entries: Unknown})
			i++
		}
	}
	t.cellFrom = make([]uint32, i+1)
	at := func(n Node) Node { return t.firstSub[t.op[n]] + Node(t.sub[n]) - t.subBase }
	for n := range t.subBase {
		if t.class[n] == ClassCell {
			t.cellFrom[at(n)+1]++
		}
	}
	for k := range i {
		t.cellFrom[k+1] += t.cellFrom[k]
	}
	t.cellOf = make([]Node, t.cellFrom[i])
	fill := slices.Clone(t.cellFrom)
	for n := range t.subBase {
		if t.class[n] == ClassCell {
			t.cellOf[fill[at(n)]] = n
			fill[at(n)]++
		}
	}
}
