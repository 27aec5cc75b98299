package model

import "chkscope/decoder/metadata"

// Target is the stable identity of something that can be selected, marked and
// removed: a selector without wildcards. It is comparable.
type Target struct {
	Class   Class // ClassCheckpoint only as the zero value
	Op      metadata.OperatorID
	Kind    Kind
	Name    string // modified UTF-8; with ClassState and ClassCell
	Whole   bool   // all names of the kind (selector OP/keyed)
	Subtask int32  // index from 0, -1: all
	// Entries of one cell's list, AllEntries for the whole. With ClassState it may
	// be Duplicates.
	Entries EntryRange
}

// EntryRange is entries First to Last of a list, both included.
type EntryRange struct{ First, Last int64 }

var (
	// AllEntries is the whole list (or state), not entry by entry.
	AllEntries = EntryRange{-1, -1}
	// Duplicates is all but the last of byte-equal elements of a union state.
	Duplicates = EntryRange{-2, -2}
)
