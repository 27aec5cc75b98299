package model

// Node is an index in a Tree. Root is the checkpoint itself.
type Node uint32

const (
	// Root is the checkpoint.
	Root Node = 0
	// None is no node.
	None Node = ^Node(0)
)

// Class is what a node is.
type Class uint8

const (
	ClassCheckpoint Class = iota
	ClassOperator
	// ClassState is a named state of an operator over all its subtasks. Coordinator
	// state, in-flight data of one direction and raw state are states too.
	ClassState
	// ClassCell is one state in one subtask: a leaf of both turns of the tree.
	ClassCell
	// ClassSubtask is all of an operator in one subtask; only in TurnSubtask.
	ClassSubtask
	// ClassMaster is the state of one master hook, a child of the checkpoint.
	ClassMaster
)

// Kind is the KIND part of a selector.
type Kind uint8

const (
	KindNone     Kind = iota // checkpoint, operators, subtasks
	KindOperator             // managed operator state
	KindKeyed
	KindRawOperator
	KindRawKeyed
	KindCoordinator
	KindInFlight
	KindMaster
	kindCount
)

var kindNames = [kindCount]string{"", "operator", "keyed", "raw-operator", "raw-keyed", "coordinator", "in-flight", "master"}

// String is the word that selectors and JSON use.
func (k Kind) String() string { return kindNames[k] }

// Kinds lists the kinds in the order in which reports print them.
func Kinds() []Kind {
	return []Kind{KindOperator, KindKeyed, KindRawOperator, KindRawKeyed, KindCoordinator, KindInFlight, KindMaster}
}

// Distribution is how an operator state is handed out at a restore.
type Distribution int8

const (
	DistNone      Distribution = iota - 1 // keyed, coordinator, in-flight, ...
	DistSplit                             // SPLIT_DISTRIBUTE
	DistUnion                             // UNION
	DistBroadcast                         // BROADCAST
)

// String is the lower-case word of the row ("split"), "" for DistNone.
func (d Distribution) String() string {
	switch d {
	case DistSplit:
		return "split"
	case DistUnion:
		return "union"
	case DistBroadcast:
		return "broadcast"
	}
	return ""
}

// Unknown stands for a size or count that nobody knows yet (null in JSON).
const Unknown int64 = -1

// Sizes are the bytes of a node, never mixed (DESIGN.md, section 3). Each field
// may be Unknown. What counts where is in CLI.md, "What counts where".
type Sizes struct {
	Inline      int64 // state bytes inside `_metadata`
	Bookkeeping int64 // other bytes of `_metadata`
	Exclusive   int64 // bytes of files that this checkpoint alone uses
	Shared      int64 // bytes of files that others may use too
	Files       int64 // different physical files
	// UnknownFiles counts files named without a length: Exclusive and Shared are
	// then lower bounds.
	UnknownFiles int64
}

// Lens is what a person looks through: size, percent, bar and sort follow it.
type Lens uint8

const (
	LensMetadata Lens = iota // inline + bookkeeping
	LensState                // inline + exclusive + shared
	LensFiles                // number of files
)

// String is the word of --lens and of the header.
func (l Lens) String() string { return [...]string{"metadata", "state", "files"}[l] }

// Weight is the size of s under a lens: bytes, or a number of files. It is
// Unknown where every part of it is; lower tells that parts of it are not
// known, so that it is a lower bound.
func (s Sizes) Weight(l Lens) (n int64, lower bool) {
	var parts []int64
	switch l {
	case LensMetadata:
		parts = []int64{s.Inline, s.Bookkeeping}
	case LensState:
		parts = []int64{s.Inline, s.Exclusive, s.Shared}
		lower = s.UnknownFiles > 0
	case LensFiles:
		return s.Files, false
	}
	known := false
	for _, p := range parts {
		if p == Unknown {
			lower = true
			continue
		}
		known = true
		n += p
	}
	if !known {
		return Unknown, false
	}
	return n, lower
}

// Turn is how the tree is turned: the leaves (cells) are the same.
type Turn uint8

const (
	TurnState   Turn = iota // operator -> state -> subtask
	TurnSubtask             // operator -> subtask -> state
)
