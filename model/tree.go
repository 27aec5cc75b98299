package model

import (
	"sync"

	"chkscope/decoder/metadata"
)

// Tree is the flat node table of a snapshot: a struct of arrays, ids are
// uint32. It does not change once it is built; what is learnt later (names from
// stream headers, counts) makes a new Tree, in which the same thing has the
// same Target but perhaps another Node. What is open, marked or filtered lives
// outside, keyed by Node.
//
// The children of a node are a run of ids in TurnState. In TurnSubtask the
// children of a ClassSubtask are its cells, from an index.
type Tree struct {
	class   []Class
	kind    []Kind
	flags   []flag
	dist    []Distribution
	parent  []Node
	first   []Node   // first child by state
	count   []uint32 // number of children by state
	name    []uint32 // in names
	op      []int32  // index in Checkpoint.Operators; -1 above operators; of a master: its index in Masters
	sub     []int32  // position in Operator.Subtasks of cells and subtasks; -1 elsewhere
	index   []int32  // the subtask's index as Flink counts, of cells and subtasks; -1 elsewhere
	sizes   []Sizes
	entries []int64

	names []string // modified UTF-8, as in the file

	firstSub []Node   // of an operator (by op index): first ClassSubtask node
	countSub []uint32 //
	cellOf   []Node   // cells by subtask node: cellOf[cellFrom[i]:cellFrom[i+1]], i counted from the first ClassSubtask node
	cellFrom []uint32
	subBase  Node // id of the first ClassSubtask node

	detail map[int32]*OperatorDetail // by op index; most operators of a large checkpoint have nothing to say here
	byKind [kindCount]Sizes

	indexOnce   sync.Once
	lookupTable *treeIndex
	nameIDs     map[string]uint32
}

type flag uint8

const (
	// flagWhole: a keyed or raw state whose handles hold all names together.
	flagWhole flag = 1 << iota
	// flagHeaderName: the name comes from a stream header, not from `_metadata`.
	flagHeaderName
	flagFinished
)

// Len is the number of nodes.
func (t *Tree) Len() int { return len(t.class) }

// Class, Kind and Dist tell what a node is.
func (t *Tree) Class(n Node) Class       { return t.class[n] }
func (t *Tree) Kind(n Node) Kind         { return t.kind[n] }
func (t *Tree) Dist(n Node) Distribution { return t.dist[n] }

// Name is the name that the job gave, as it stands in the file (modified UTF-8,
// not cleaned): of an operator its name in V5 and later, of a state or a cell
// the state's name.
func (t *Tree) Name(n Node) string { return t.names[t.name[n]] }

// Whole is true for the row that stands for all keyed (or raw) state of an
// operator together, because no size is known for each name in it.
func (t *Tree) Whole(n Node) bool { return t.flags[n]&flagWhole != 0 }

// Finished is true for an operator or subtask that is finished.
func (t *Tree) Finished(n Node) bool { return t.flags[n]&flagFinished != 0 }

// Operator is the index in Checkpoint.Operators, or -1.
func (t *Tree) Operator(n Node) int {
	if t.class[n] == ClassMaster {
		return -1
	}
	return int(t.op[n])
}

// Master is the index in Checkpoint.Masters of a ClassMaster.
func (t *Tree) Master(n Node) int { return int(t.op[n]) }

// SubtaskAt is the position in Operator.Subtasks of a cell or subtask, or -1.
func (t *Tree) SubtaskAt(n Node) int { return int(t.sub[n]) }

// Subtask is the index of a cell's or subtask's subtask as Flink counts, or -1.
func (t *Tree) Subtask(n Node) int { return int(t.index[n]) }

// OperatorNode is the node of the operator with index op in Checkpoint.Operators.
func (t *Tree) OperatorNode(op int) Node { return t.first[Root] + Node(op) }

// Detail is what is known of an operator beside its sizes.
func (t *Tree) Detail(op int) OperatorDetail {
	if d := t.detail[int32(op)]; d != nil {
		return *d
	}
	return OperatorDetail{}
}

// wholeOf gives the row that stands for all names of n's kind and operator.
func (t *Tree) wholeOf(n Node) Node {
	op := t.parent[n]
	for c := t.first[op]; c < t.first[op]+Node(t.count[op]); c++ {
		if t.kind[c] == t.kind[n] && t.Whole(c) {
			return c
		}
	}
	return None
}

// Sizes of a node. A file that several children name counts once here.
func (t *Tree) Sizes(n Node) Sizes { return t.sizes[n] }

// Entries is the number of entries below a node (CLI.md), or Unknown.
func (t *Tree) Entries(n Node) int64 { return t.entries[n] }

// KindSizes is the sum over the checkpoint of one kind; Bookkeeping and Files
// are not kept.
func (t *Tree) KindSizes(k Kind) Sizes { return t.byKind[k] }

// Parent of a node in a turn; None for Root and for a node that the turn has not.
func (t *Tree) Parent(n Node, turn Turn) Node {
	if turn == TurnSubtask && t.class[n] == ClassCell {
		return t.firstSub[t.op[n]] + Node(t.sub[n])
	}
	if turn == TurnSubtask && t.class[n] == ClassState && t.count[n] > 0 || turn == TurnState && t.class[n] == ClassSubtask {
		return None
	}
	return t.parent[n]
}

// Children appends the children of a node to dst. In TurnSubtask an operator's
// children are its subtasks and then the states that have none (coordinator).
func (t *Tree) Children(dst []Node, n Node, turn Turn) []Node {
	if turn == TurnState || t.class[n] == ClassCheckpoint {
		for c := t.first[n]; c < t.first[n]+Node(t.count[n]); c++ {
			dst = append(dst, c)
		}
		return dst
	}
	switch t.class[n] {
	case ClassOperator:
		op := t.op[n]
		for c := t.firstSub[op]; c < t.firstSub[op]+Node(t.countSub[op]); c++ {
			dst = append(dst, c)
		}
		for c := t.first[n]; c < t.first[n]+Node(t.count[n]); c++ {
			if t.count[c] == 0 {
				dst = append(dst, c)
			}
		}
	case ClassSubtask:
		i := n - t.subBase
		dst = append(dst, t.cellOf[t.cellFrom[i]:t.cellFrom[i+1]]...)
	}
	return dst
}

// HasChildren is cheaper than Children.
func (t *Tree) HasChildren(n Node, turn Turn) bool {
	switch {
	case turn == TurnState || t.class[n] == ClassCheckpoint:
		return t.count[n] > 0
	case t.class[n] == ClassOperator:
		return t.count[n] > 0 || t.countSub[t.op[n]] > 0
	case t.class[n] == ClassSubtask:
		i := n - t.subBase
		return t.cellFrom[i] < t.cellFrom[i+1]
	}
	return false
}

// Target is the stable identity of a node.
func (t *Tree) Target(n Node, ops []metadata.Operator) Target {
	g := Target{Class: t.class[n], Kind: t.kind[n], Subtask: t.index[n], Entries: AllEntries}
	switch g.Class {
	case ClassCheckpoint:
		return g
	case ClassMaster:
		g.Name = t.Name(n)
		return g
	}
	g.Op = ops[t.op[n]].ID
	if g.Class == ClassState || g.Class == ClassCell {
		g.Name, g.Whole = t.Name(n), t.Whole(n)
	}
	return g
}
