package metadata

import "chkscope/decoder"

// Magic is the first four bytes of every `_metadata` file.
const Magic = 0x4960672d

// Checkpoint is a decoded `_metadata` file. Arrays of offsets, inline data and
// the file lists of incremental handles stay in the file (spans) until
// something asks for them; In is where they are read from.
type Checkpoint struct {
	In      decoder.Input
	Version int32
	ID      int64
	Masters []Master
	// Operators in file order, which is arbitrary.
	Operators []Operator
	// Properties is the Java object stream at the end of V4 and later; empty before.
	Properties decoder.Span
	// Trailing is what follows the last structure of V2 and V3. Flink ignores it.
	Trailing decoder.Span
	// Header is magic, version, id, master states and the operator count.
	Header decoder.Span
	// Legacy114 is set where the changelog handles have the layout of Flink 1.14,
	// Legacy111 where channel handles have that of 1.11 (no subtask index).
	Legacy114, Legacy111 bool
	// Object is set for a CompletedCheckpoint object (decoder/ha) instead of a
	// `_metadata` file: Version is that of the `_metadata` which the same Flink
	// writes, spans lie in a Java object stream, Properties is what follows the
	// operators, and Encode does not write it.
	Object bool
	// Damage is set where decoding stopped early: what is here was read before it.
	Damage *decoder.Error
}

// OperatorID is the 16 bytes in file order; String prints them as Flink does.
type OperatorID [16]byte

// Master is the state of one master (trigger/restore) hook.
type Master struct {
	Span    decoder.Span // the whole record, magic included
	Version int32
	Name    string // modified UTF-8, as in the file
	Payload Blob
}

// Operator is the record of one operator.
type Operator struct {
	Span           decoder.Span
	InlineBytes    int64  // data bytes of type 1 handles in Span, as decoded
	Name, UID      string // V5 and later; "" where absent. Modified UTF-8
	ID             OperatorID
	Parallelism    int32
	MaxParallelism int32
	ChainLength    int32         // V1 and V2 only, raw
	Coordinator    *StreamHandle // nil: type 0, or V2
	// SubtaskCount is the raw count: below 0 the operator is fully finished and
	// has no entries.
	SubtaskCount int32
	Subtasks     []Subtask
}

// Subtask is one entry of an operator: a finished mark or a state record.
type Subtask struct {
	Span        decoder.Span
	InlineBytes int64 // data bytes of type 1 handles in Span, as decoded
	Index       int32 // from 0, also where finished
	Finished    bool
	State       *SubtaskState // nil where finished
}

// SubtaskState is what one subtask wrote.
type SubtaskState struct {
	Duration int64          // V1 and V2, raw
	Legacy   []StreamHandle // V1, and V2 of Flink 1.3 with state older than 1.2 (type 0 elements kept)
	// ManagedOperator and RawOperator: nil where the presence int is 0.
	// The raw presence int is kept, as any non-zero value reads as present.
	ManagedOperator, RawOperator                 *OperatorHandle
	ManagedOperatorPresence, RawOperatorPresence int32
	ManagedKeyed, RawKeyed                       *KeyedHandle // nil: type byte 0
	Input, Output                                Channels
	Chain                                        *Chain // V1 only
}

// Chain is the operator state of a V1 subtask, whose record is that of a whole
// job vertex: one handle a chain position, nil where it has none.
type Chain struct {
	Managed, Raw []*OperatorHandle
}

// Blob is data inside `_metadata`: a span of the file, or, after an edit, New.
type Blob struct {
	Span decoder.Span
	New  []byte // replaces the span where not nil
	// Repeated is set in a CompletedCheckpoint object where the bytes stand in it
	// once for several handles and count for an earlier one.
	Repeated bool
}

// Len is the number of bytes.
func (b Blob) Len() int64 {
	if b.New != nil {
		return int64(len(b.New))
	}
	return b.Span.Len
}

// Stream handle type bytes.
const (
	TypeNull         = 0
	TypeByteStream   = 1
	TypeFile         = 2
	TypeKeyGroups    = 3 // as a stream handle: nested
	TypeRelativeFile = 6
	TypeSegment      = 15
	TypeEmptySegment = 16
)

// Operator-state and keyed handle type bytes.
const (
	TypePartitionable       = 4
	TypeFileMergingOperator = 17

	TypeIncremental1    = 5
	TypeSavepoint       = 7 // canonical key groups
	TypeChangelog1      = 8
	TypeChangelogInline = 9
	TypeChangelogFiles1 = 10
	TypeIncremental     = 11
	TypeKeyGroups2      = 12
	TypeChangelogFiles  = 13
	TypeChangelog       = 14
)

// StreamHandle names or holds one stream of bytes.
type StreamHandle struct {
	Type byte
	// Name is the path (types 2, 6, 15) or the handle's name (type 1, not a file).
	Name string
	// Size in bytes: of the file (-1 not recorded), the segment, or the inline data.
	Size  int64
	Data  Blob             // type 1
	Seg   *Segment         // type 15
	Keyed *KeyGroupsHandle // type 3
}

// Segment is what a handle of type 15 has beyond path and size.
type Segment struct {
	Start     int64
	Scope     int32 // 0 EXCLUSIVE, 1 SHARED
	LogicalID string
}

// OperatorHandle is type 4 or 17: named operator states in one stream.
type OperatorHandle struct {
	Span     decoder.Span // from the type byte on
	Type     byte
	States   []OperatorState
	Delegate StreamHandle
	// Type 17 only:
	TaskOwnedDir, SharedDir string
	EmptyByte               byte // raw bool
}

// Distribution modes of operator state.
const (
	ModeSplit     = 0 // SPLIT_DISTRIBUTE
	ModeUnion     = 1
	ModeBroadcast = 2
)

// OperatorState is one name of an OperatorHandle.
type OperatorState struct {
	Span    decoder.Span // name, mode, count and offsets: the bookkeeping of this state here
	Name    string       // modified UTF-8
	Mode    byte
	Offsets Offsets
}

// KeyedHandle is one of the keyed handles; exactly one pointer is set (none for type 0).
type KeyedHandle struct {
	Span        decoder.Span // from the type byte on
	InlineBytes int64        // data bytes of type 1 handles in Span, as decoded
	Type        byte         // 0 only in ChangelogHandle.Materialized
	Start       int32        // first key group
	Number      int32        // of key groups
	HandleID    string
	Groups      *KeyGroupsHandle   // 3, 7, 12
	Incr        *IncrementalHandle // 5, 11
	Changelog   *ChangelogHandle   // 8, 14
	Inline      *ChangelogInline   // 9
	Files       *ChangelogFiles    // 10, 13
}

// KeyGroupsHandle is the body of types 3, 7 and 12. Start and Number repeat the
// range of the KeyedHandle (they stand alone where type 3 is a stream handle).
type KeyGroupsHandle struct {
	Start, Number int32
	Offsets       Offsets // one a key group
	Stream        StreamHandle
}

// IncrementalHandle is the body of types 5 and 11.
type IncrementalHandle struct {
	CheckpointID     int64
	BackendID        string
	CheckpointedSize int64 // type 11
	Meta             StreamHandle
	Shared, Private  FileMap
}

// ChangelogHandle is the body of types 8 and 14.
type ChangelogHandle struct {
	CheckpointedSize  int64 // absent in the layout of 1.14
	Materialized      []KeyedHandle
	NonMaterialized   []KeyedHandle
	MaterializationID int64
	CheckpointID      int64 // type 14
}

// ChangelogInline is the body of type 9: changes kept in `_metadata`.
type ChangelogInline struct {
	From, To int64
	Changes  Changes
}

// ChangelogFiles is the body of types 10 and 13.
type ChangelogFiles struct {
	Increments             []Increment
	Size, CheckpointedSize int64
	StorageID              string // type 13
}

// Increment is a stream and the offset at which its changes begin.
type Increment struct {
	Offset int64
	Stream StreamHandle
}
