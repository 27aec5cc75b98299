package metadata

import "chkscope/decoder"

// Range is elements First to Last, both included, counted from 0.
type Range struct{ First, Last int64 }

// Offsets is an array of i64 stream positions. It is a span of the file until
// an edit selects or moves some of it; contents are read by the page (Read).
type Offsets struct {
	Span decoder.Span // 8 bytes an element, the count before it not included
	edit *offsetsEdit // nil: the span as it is
}

// FileMap is the `shared` or `private` files of an incremental handle, in file
// order: Each decodes them again from the file.
type FileMap struct {
	Span        decoder.Span // the entries, the count before them not included
	Count       int
	InlineBytes int64         // data bytes of type 1 handles in Span
	New         []NamedStream // replaces span and count after an edit, where not nil
}

// NamedStream is a file of an incremental handle under its local name.
type NamedStream struct {
	Key    string // e.g. 000012.sst, MANIFEST-000004
	Stream StreamHandle
}

// Changes is the changes of a ChangelogInline.
type Changes struct {
	Span  decoder.Span // the changes, the count before them not included
	Count int
	New   []Change // where not nil the changes, which the span has in another form
}

// Change is a change of a key group, or of the metadata (key group -1).
type Change struct {
	KeyGroup int32
	Data     decoder.Span
}

// Channels is the channel handles of one subtask and direction (in-flight data).
type Channels struct {
	Span        decoder.Span // the handles, the count before them not included
	Count       int
	InlineBytes int64 // data bytes of type 1 handles in Span
	Output      bool  // the list of result subpartitions, not that of input channels
	// New replaces span and count after an edit where not nil.
	New []ChannelHandle
}

// Channel kinds of V6 and later; below V6 the kind is not written and is
// ChannelInput or ChannelOutput by the list the handle stands in.
const (
	ChannelInput        = 1
	ChannelOutput       = 2
	ChannelMergedInput  = 3
	ChannelMergedOutput = 4
)

// ChannelHandle is in-flight data: of one channel (kinds 1, 2), or of many
// (kinds 3, 4) that stand packed in Packed.
type ChannelHandle struct {
	Kind     byte
	Subtask  int32 // that wrote it; absent in the layout of Flink 1.11
	A, B     int32 // gate and channel, or result partition and subpartition (kinds 1, 2)
	Offsets  Offsets
	Size     int64
	Delegate StreamHandle
	Packed   Blob // kinds 3, 4
}
