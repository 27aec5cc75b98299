package model

import (
	"context"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// Options are what a user says about a snapshot.
type Options struct {
	// FrameSize is the RPC frame size that restores are measured against, in bytes.
	FrameSize int64
	// SourceURI is how Flink sees the directory of the source; "" where that is
	// how it was opened here.
	SourceURI string
	// UIDs are candidates for operator uids (--uid, --uids).
	UIDs []string
	// OperatorNames by operator id, from a job graph (--job-graph).
	OperatorNames map[metadata.OperatorID]string
}

// DefaultFrameSize is akka.framesize and pekko.framesize where nobody sets it.
const DefaultFrameSize = 10485760

// Snapshot is an opened checkpoint or savepoint.
type Snapshot struct {
	// URI of `_metadata` itself and Dir, the directory it is in: relative handles
	// are found there.
	URI, Dir string
	// Chosen tells why this one was opened where a parent directory was given:
	// one sentence, else "".
	Chosen  string
	Options Options
	Store   Store
	Meta    *metadata.Checkpoint

	object  Object
	headers map[streamKey]streamHeader // by ReadHeaders
}

// OperatorDetail is what is known of an operator beside its sizes.
type OperatorDetail struct {
	// StreamHeader is the bytes of operator-state streams that belong to no
	// element: headers and dead bytes; Unknown where extents are not known.
	StreamHeader int64
	// HeaderOnly lists names that stand in stream headers but not in the offsets
	// map, sorted.
	HeaderOnly []string
	// ChangelogBytes is the in-memory changelog inside the bookkeeping.
	ChangelogBytes int64
	// KeyedHandles counts managed keyed handles by type byte.
	KeyedHandles map[byte]int
	// AlsoIn names other operators (by index) that name files of this one.
	AlsoIn []int
}

// NameOrigin tells how an operator's name is known, in order of trust.
type NameOrigin uint8

const (
	NameNone     NameOrigin = iota
	NameGuess               // from state names: "looks like a Kafka source"
	NameAuto                // a well-known automatic id
	NameJobGraph            // --job-graph
	NameUID                 // a uid that the user gave, whose hash is the id
	NameStored              // V5 and later
)

// Open opens uri: the directory of a checkpoint, its `_metadata`, or a parent
// directory, whose newest complete checkpoint is then opened. Damage gives the
// partial snapshot and a *decoder.Error.
func Open(ctx context.Context, store Store, uri string, opt Options) (*Snapshot, *Tree, error) {
	panic("not yet")
}

// Close gives the file back.
func (s *Snapshot) Close() error { return s.object.Close() }

// Damage is where decoding stopped early, or nil.
func (s *Snapshot) Damage() *decoder.Error { return s.Meta.Damage }

// ReadHeaders reads the headers of state streams (bounded ranges of the files)
// and gives the tree with the names that stand only there: named keyed states,
// header-only names. A stream that cannot be read is no error: its names stay
// unknown (see Notices). progress may be nil; it is told streams done and all.
func (s *Snapshot) ReadHeaders(ctx context.Context, progress func(done, all int)) (*Tree, error) {
	panic("not yet")
}

// Count counts what is not counted yet below n (entries and sizes of keyed
// states of canonical streams) and gives a new tree. progress is told bytes
// done and all.
func (s *Snapshot) Count(ctx context.Context, t *Tree, n Node, progress func(done, all int64)) (*Tree, error) {
	panic("not yet")
}

// Element is one entry of a list state.
type Element struct {
	Index int64
	Off   int64 // in its stream
	Len   int64 // to the next larger offset or the end; Unknown in some compressed streams
	Head  []byte
	// Compressed is true where Head is still a compressed frame.
	Compressed bool
}

// Elements gives up to n list elements of a cell from the from-th on, with the
// first bytes of each (at most head). It reads their ranges only.
func (s *Snapshot) Elements(ctx context.Context, t *Tree, cell Node, from int64, n, head int) ([]Element, error) {
	panic("not yet")
}

// Detail is one line of what is known about a node: a label and its text.
type Detail struct{ Label, Text string }

// Details tells everything known about a node, most useful first, without I/O:
// ids, sizes by kind, files and paths (at most some, then how many more),
// handle types. Text is not cleaned.
func (s *Snapshot) Details(t *Tree, n Node) []Detail {
	panic("not yet")
}

// OperatorName is what to call an operator and how that is known; "" and
// NameNone where nothing better than the id is.
func (s *Snapshot) OperatorName(op int) (string, NameOrigin) {
	panic("not yet")
}

// Select parses a selector and gives the targets it matches, in file order. A
// selector that matches nothing is a *NoMatch with the nearest candidates; an
// ambiguous one, or bad syntax, is a *BadSelector.
func (s *Snapshot) Select(t *Tree, selector string) ([]Target, error) {
	panic("not yet")
}

// Selector prints a target as CLI.md says: 32 hex digits first, escaped.
func (g Target) Selector() string { panic("not yet") }

// Find gives the node of a target (the cell where it names entries), or None.
func (s *Snapshot) Find(t *Tree, g Target) Node { panic("not yet") }

// NoMatch is a selector that matches nothing.
type NoMatch struct {
	Selector string
	Nearest  []string // selectors of candidates, nearest first
}

// BadSelector is a selector that cannot be read or is ambiguous.
type BadSelector struct{ Selector, Why string }

// Marks is the set of marked targets with undo and redo.
type Marks struct{}

// MarkState is how a row is marked.
type MarkState uint8

const (
	MarkNone    MarkState = iota
	MarkMarked            // ✗
	MarkCovered           // · a parent is marked
	MarkPartial           // ~ some of what is below is
)

// Toggle marks or unmarks a target; Add marks several as one step of undo.
func (m *Marks) Toggle(g Target)    { panic("not yet") }
func (m *Marks) Add(g ...Target)    { panic("not yet") }
func (m *Marks) Remove(g ...Target) { panic("not yet") }

// Undo and Redo go one step back and forth; false at the end.
func (m *Marks) Undo() bool { panic("not yet") }
func (m *Marks) Redo() bool { panic("not yet") }

// Targets are the marked targets in the order in which they were marked.
func (m *Marks) Targets() []Target { panic("not yet") }

// MarkView is the marks laid over a tree: rebuilt after each change.
type MarkView struct {
	// Metadata and State are the bytes that go: of `_metadata`, and of state
	// (lower bounds where Lower is set).
	Metadata, State int64
	Lower           bool
	Count           int
}

// View computes the state of every row; one pass over the nodes.
func (m *Marks) View(s *Snapshot, t *Tree) *MarkView { panic("not yet") }

// Of is the state of a node in a turn.
func (v *MarkView) Of(n Node, turn Turn) MarkState { panic("not yet") }

// OfEntry is the state of list element i of a cell.
func (v *MarkView) OfEntry(cell Node, i int64) MarkState { panic("not yet") }

// Error texts.
func (e *NoMatch) Error() string     { panic("not yet") }
func (e *BadSelector) Error() string { panic("not yet") }

type streamKey struct{ op, sub int32 }

type streamHeader struct{}
