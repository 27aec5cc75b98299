package model

import (
	"strconv"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// Target is the stable identity of something that can be selected, marked and
// removed: a selector without wildcards. It is comparable.
type Target struct {
	Class   Class // ClassCheckpoint only as the zero value
	Op      metadata.OperatorID
	Kind    Kind
	Name    string // modified UTF-8; with ClassState, ClassCell and ClassMaster
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

// OperatorTarget is a whole operator.
func OperatorTarget(id metadata.OperatorID) Target {
	return Target{Class: ClassOperator, Op: id, Subtask: -1, Entries: AllEntries}
}

// StateTarget is a named state over all subtasks.
func StateTarget(id metadata.OperatorID, k Kind, name string) Target {
	return Target{Class: ClassState, Op: id, Kind: k, Name: name, Subtask: -1, Entries: AllEntries}
}

// Selector prints a target as CLI.md says: 32 hex digits first, each part
// escaped. The checkpoint itself is "".
func (g Target) Selector() string {
	switch g.Class {
	case ClassCheckpoint:
		return ""
	case ClassMaster:
		return "master/" + escapePart(decoder.Text(g.Name))
	case ClassOperator:
		return g.Op.String()
	case ClassSubtask:
		return g.Op.String() + "/*/*/" + strconv.Itoa(int(g.Subtask))
	}
	parts := []string{g.Op.String(), g.Kind.String()}
	if g.Kind == KindCoordinator {
		return strings.Join(parts, "/")
	}
	name := escapePart(decoder.Text(g.Name))
	if g.Whole {
		name = "*"
	}
	if !g.Whole || g.Subtask >= 0 {
		parts = append(parts, name)
	}
	if g.Subtask >= 0 || g.Entries != AllEntries {
		sub := "*"
		if g.Subtask >= 0 {
			sub = strconv.Itoa(int(g.Subtask))
		}
		parts = append(parts, sub)
	}
	switch {
	case g.Entries == Duplicates:
		parts = append(parts, "duplicates")
	case g.Entries == AllEntries:
	case g.Entries.First == g.Entries.Last:
		parts = append(parts, strconv.FormatInt(g.Entries.First, 10))
	default:
		parts = append(parts, strconv.FormatInt(g.Entries.First, 10)+"-"+strconv.FormatInt(g.Entries.Last, 10))
	}
	return strings.Join(parts, "/")
}

// escapePart escapes what is special in a selector, space, control and
// non-ASCII bytes as %XX.
func escapePart(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c <= ' ' || c >= 0x7f || strings.IndexByte("%/*?", c) >= 0:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Covers reports whether g takes all of what h is: the same, or a parent. A
// whole kind covers the names of it; a duplicates target covers nothing but itself.
func (g Target) Covers(h Target) bool {
	if g == h {
		return true
	}
	if g.Op != h.Op || h.Class == ClassCheckpoint || h.Class == ClassMaster {
		return false
	}
	switch g.Class {
	case ClassOperator:
		return h.Class != ClassOperator
	case ClassSubtask:
		return h.Class == ClassCell && h.Subtask == g.Subtask
	case ClassState, ClassCell:
		if h.Class != ClassState && h.Class != ClassCell || g.Kind != h.Kind || !g.Whole && (g.Name != h.Name || h.Whole) {
			return false
		}
		if g.Subtask >= 0 && g.Subtask != h.Subtask {
			return false
		}
		return g.Entries == AllEntries || h.Entries.First >= 0 && g.Entries.First >= 0 &&
			g.Entries.First <= h.Entries.First && h.Entries.Last <= g.Entries.Last
	}
	return false
}
