package model

import (
	"bytes"
	"fmt"
	"slices"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// treeIndex finds nodes by identity.
type treeIndex struct {
	ops    []int32 // indexes in Checkpoint.Operators, by operator id
	states map[nodeKey]Node
}

type nodeKey struct {
	op    int32
	kind  Kind
	whole bool
	name  uint32
}

func (t *Tree) lookup(ops []metadata.Operator) *treeIndex {
	t.indexOnce.Do(func() {
		x := &treeIndex{make([]int32, len(ops)), map[nodeKey]Node{}}
		for i := range ops {
			x.ops[i] = int32(i)
		}
		slices.SortFunc(x.ops, func(a, b int32) int { return bytes.Compare(ops[a].ID[:], ops[b].ID[:]) })
		for n := range Node(t.Len()) {
			if t.class[n] == ClassState {
				x.states[nodeKey{t.op[n], t.kind[n], t.Whole(n), t.name[n]}] = n
			}
		}
		t.nameIDs = make(map[string]uint32, len(t.names))
		for i, n := range t.names {
			t.nameIDs[n] = uint32(i)
		}
		t.lookupTable = x
	})
	return t.lookupTable
}

// Find gives the node of a target (the cell or state where it names entries),
// or None.
func (s *Snapshot) Find(t *Tree, g Target) Node {
	x := t.lookup(s.Meta.Operators)
	switch g.Class {
	case ClassCheckpoint:
		return Root
	case ClassMaster:
		for i, m := range s.Meta.Masters {
			if m.Name == g.Name {
				return t.first[Root] + Node(len(s.Meta.Operators)+i)
			}
		}
		return None
	}
	at, ok := slices.BinarySearchFunc(x.ops, g.Op, func(op int32, id metadata.OperatorID) int {
		return bytes.Compare(s.Meta.Operators[op].ID[:], id[:])
	})
	if !ok {
		return None
	}
	op := x.ops[at]
	switch g.Class {
	case ClassOperator:
		return t.OperatorNode(int(op))
	case ClassSubtask:
		return t.bySubtask(t.firstSub[op], t.countSub[op], g.Subtask)
	}
	name := uint32(0)
	if !g.Whole {
		if name, ok = t.nameIDs[g.Name]; !ok {
			return None
		}
	} else {
		name = t.nameIDs[""]
	}
	st, ok := x.states[nodeKey{op, g.Kind, g.Whole, name}]
	if !ok {
		return None
	}
	if g.Class == ClassState {
		return st
	}
	return t.bySubtask(t.first[st], t.count[st], g.Subtask)
}

// bySubtask finds a subtask's node in a run. Files list subtasks in ascending
// order; one that does not is searched through.
func (t *Tree) bySubtask(first Node, count uint32, subtask int32) Node {
	lo, hi := first, first+Node(count)
	for lo < hi {
		mid := lo + (hi-lo)/2
		if t.index[mid] < subtask {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < first+Node(count) && t.index[lo] == subtask {
		return lo
	}
	for n := first; n < first+Node(count); n++ {
		if t.index[n] == subtask {
			return n
		}
	}
	return None
}

// ParseTarget reads a selector without wildcards, as Target.Selector prints it.
func ParseTarget(selector string) (Target, error) {
	q, err := parseSelector(selector)
	if err != nil {
		return Target{}, &BadSelector{selector, err.Error()}
	}
	bad := func(why string) (Target, error) { return Target{}, &BadSelector{selector, why} }
	text, literal := q.name.literal()
	g := Target{Name: decoder.ModifiedUTF8(text), Subtask: -1, Entries: q.entries}
	if q.master {
		g.Class, g.Kind = ClassMaster, KindMaster
		return g, nil
	}
	if g.Op, err = metadata.ParseOperatorID(q.opText); err != nil {
		return bad("it must begin with the 32 hex digits of an operator")
	}
	if q.hasSub && !q.allSubs {
		if q.subFirst != q.subLast || q.subFirst > 1<<30 {
			return bad("it must name one subtask")
		}
		g.Subtask = int32(q.subFirst)
	}
	switch {
	case !q.hasKind:
		g.Class, g.Name = ClassOperator, ""
	case len(q.kinds) > 1 && q.name.any && g.Subtask >= 0:
		g.Class, g.Name = ClassSubtask, ""
	case len(q.kinds) != 1:
		return bad("it must name one kind of state")
	default:
		g.Class, g.Kind = ClassState, q.kinds[0]
		if g.Subtask >= 0 {
			g.Class = ClassCell
		}
		if g.Whole = q.name.any && g.Kind != KindCoordinator; g.Whole {
			g.Name = ""
		} else if !literal && g.Kind != KindCoordinator {
			return bad("it must not have wildcards")
		}
	}
	return g, nil
}

// String is for messages about a range of entries.
func (r EntryRange) String() string {
	switch {
	case r == AllEntries:
		return "all"
	case r == Duplicates:
		return "duplicates"
	case r.First == r.Last:
		return fmt.Sprint(r.First)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}
