// Package metatest makes `_metadata` files for tests and benchmarks: small ones
// that hold every structure of a version, and large ones of the shape of the
// founding incident.
package metatest

import (
	"encoding/binary"
	"fmt"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// All gives a checkpoint of the version (2 to 6) that holds each handle type,
// older and newer ones too, and the oddities that have to survive a copy.
func All(version int32) *metadata.Checkpoint {
	c := &metadata.Checkpoint{Version: version, ID: 7}
	blob := metadata.Blob{New: []byte("state")}
	c.Masters = []metadata.Master{{Version: 3, Name: "hook", Payload: blob}, {Version: -1, Name: ""}}
	c.In, c.Properties = tail(version)
	states := operator(version, "states")
	states.Subtasks = []metadata.Subtask{
		{Index: 0, State: &metadata.SubtaskState{
			Duration:                -1,
			ManagedOperator:         operatorHandle(metadata.StreamHandle{Type: metadata.TypeFile, Size: -1, Name: "s3://bucket/a b/\xc3\xbc"}),
			ManagedOperatorPresence: 1,
			RawOperator:             operatorHandle(inline("raw")), RawOperatorPresence: 5,
			ManagedKeyed: groups(metadata.TypeSavepoint, ""),
			RawKeyed:     groups(metadata.TypeKeyGroups, ""),
		}},
		{Index: 3, State: &metadata.SubtaskState{
			ManagedOperator:         merging(),
			ManagedOperatorPresence: 1,
			ManagedKeyed:            groups(metadata.TypeKeyGroups2, "handle-1"),
		}},
	}
	incr := operator(version, "incremental")
	incr.Subtasks = []metadata.Subtask{
		{Index: 0, State: &metadata.SubtaskState{ManagedKeyed: incremental(metadata.TypeIncremental1)}},
		{Index: 1, State: &metadata.SubtaskState{ManagedKeyed: incremental(metadata.TypeIncremental)}},
		{Index: 2, State: &metadata.SubtaskState{ManagedKeyed: changelog(metadata.TypeChangelog1, metadata.TypeChangelogFiles1)}},
		{Index: 3, State: &metadata.SubtaskState{ManagedKeyed: changelog(metadata.TypeChangelog, metadata.TypeChangelogFiles)}},
	}
	c.Operators = []metadata.Operator{states, incr}
	if version >= 3 {
		modern(c)
	}
	return c
}

// modern adds what came with V3: coordinators, channels, finished marks.
func modern(c *metadata.Checkpoint) {
	coordinator := inline("coordinator")
	c.Operators[0].Coordinator = &coordinator
	in := []metadata.ChannelHandle{channel(metadata.ChannelInput, 0), channel(metadata.ChannelInput, 1)}
	out := []metadata.ChannelHandle{channel(metadata.ChannelOutput, 2)}
	if c.Version >= 6 {
		in = append(in, merged(metadata.ChannelMergedInput))
		out = append(out, merged(metadata.ChannelMergedOutput))
	}
	flight := operator(c.Version, "")
	flight.Subtasks = []metadata.Subtask{
		{Index: 1, Finished: true},
		{Index: 2, State: &metadata.SubtaskState{
			Input:  metadata.Channels{New: in},
			Output: metadata.Channels{New: out, Output: true},
		}},
	}
	finished := operator(c.Version, "finished")
	finished.SubtaskCount = -1
	c.Operators = append(c.Operators, flight, finished)
}

// tail gives an input with the changes of the inline changelog first, then the
// properties or, before V4, nothing.
func tail(version int32) (in decoder.Input, properties decoder.Span) {
	data := changes()
	n := int64(len(data))
	if version >= 4 {
		data = append(data, 0xac, 0xed, 0, 5, 0x70)
		properties = decoder.Span{Off: n, Len: 5}
	}
	return decoder.Bytes{Data: data, Label: "metatest"}, properties
}

// changes is a data change of key group 4 and a metadata change, as in type 9.
func changes() []byte {
	var b []byte
	for _, c := range []struct {
		group int32
		data  string
	}{{4, "put"}, {-1, "meta"}} {
		b = binary.BigEndian.AppendUint32(b, uint32(c.group))
		b = binary.BigEndian.AppendUint32(b, uint32(len(c.data)))
		b = append(b, c.data...)
	}
	return b
}

func operator(version int32, name string) metadata.Operator {
	op := metadata.Operator{ID: metadata.OperatorIDOf(name), Parallelism: 4, MaxParallelism: 128}
	if version == 2 {
		op.ChainLength = 1
	}
	if version >= 5 && name != "" {
		op.Name, op.UID = "Name of "+name, name
	}
	return op
}

func inline(data string) metadata.StreamHandle {
	return metadata.StreamHandle{Type: metadata.TypeByteStream, Name: "5f9a-" + data, Size: int64(len(data)), Data: metadata.Blob{New: []byte(data)}}
}

func relative(name string) metadata.StreamHandle {
	return metadata.StreamHandle{Type: metadata.TypeRelativeFile, Name: name, Size: 1234}
}

func segment() metadata.StreamHandle {
	return metadata.StreamHandle{Type: metadata.TypeSegment, Name: "file:/chk/taskowned/x", Size: 50,
		Seg: &metadata.Segment{Start: 100, Scope: 1, LogicalID: "c0ffee"}}
}

func operatorHandle(delegate metadata.StreamHandle) *metadata.OperatorHandle {
	return &metadata.OperatorHandle{Type: metadata.TypePartitionable, Delegate: delegate, States: []metadata.OperatorState{
		{Name: "split", Mode: metadata.ModeSplit, Offsets: metadata.NewOffsets([]int64{10, 20, 30})},
		{Name: "union", Mode: metadata.ModeUnion, Offsets: metadata.NewOffsets([]int64{40})},
		{Name: "_default_", Mode: metadata.ModeBroadcast, Offsets: metadata.NewOffsets(nil)},
		{Name: "\xc0\x80\xed\xa0\xbd\xed\xb8\x80"},
	}}
}

func merging() *metadata.OperatorHandle {
	h := operatorHandle(segment())
	h.Type, h.TaskOwnedDir, h.SharedDir, h.EmptyByte = metadata.TypeFileMergingOperator, "file:/chk/taskowned", "file:/chk/shared", 2
	return h
}

func groups(t byte, id string) *metadata.KeyedHandle {
	g := metadata.KeyGroupsHandle{Start: 32, Number: 2, Offsets: metadata.NewOffsets([]int64{-1, 77}), Stream: relative("groups")}
	return &metadata.KeyedHandle{Type: t, Start: g.Start, Number: g.Number, HandleID: id, Groups: &g}
}

func incremental(t byte) *metadata.KeyedHandle {
	nested := metadata.StreamHandle{Type: metadata.TypeKeyGroups, Keyed: groups(metadata.TypeKeyGroups, "").Groups}
	k := &metadata.KeyedHandle{Type: t, Start: 0, Number: 128, Incr: &metadata.IncrementalHandle{
		CheckpointID: 7, BackendID: "9ad8b0d1-8d1f-4a5e-9d61-000000000001", Meta: inline("meta"),
		Shared:  metadata.FileMap{New: []metadata.NamedStream{{Key: "000001.sst", Stream: segment()}, {Key: "000002.sst", Stream: nested}}},
		Private: metadata.FileMap{New: []metadata.NamedStream{{Key: "CURRENT", Stream: inline("MANIFEST-4")}, {Key: "MANIFEST-4", Stream: relative("m")}}},
	}}
	if t == metadata.TypeIncremental {
		k.Incr.CheckpointedSize, k.HandleID = 99, "handle-2"
	}
	return k
}

// changelog holds materialized handles and one increment of each kind; its
// inline changes are those at the start of the input.
func changelog(t, files byte) *metadata.KeyedHandle {
	log := metadata.KeyedHandle{Type: metadata.TypeChangelogInline, Number: 128, HandleID: "log-1", Inline: &metadata.ChangelogInline{
		From: 1, To: 3, Changes: metadata.Changes{Span: decoder.Span{Len: int64(len(changes()))}, Count: 2}}}
	inFiles := metadata.KeyedHandle{Type: files, Number: 128, HandleID: "log-2", Files: &metadata.ChangelogFiles{
		Increments: []metadata.Increment{{Offset: 8, Stream: relative("dstl")}, {Offset: 0}}, Size: 500, CheckpointedSize: 400}}
	k := &metadata.KeyedHandle{Type: t, Number: 128, HandleID: "handle-3", Changelog: &metadata.ChangelogHandle{
		CheckpointedSize: 17, MaterializationID: 5,
		Materialized:    []metadata.KeyedHandle{*incremental(metadata.TypeIncremental), {Type: metadata.TypeNull}},
		NonMaterialized: []metadata.KeyedHandle{log, inFiles},
	}}
	if files == metadata.TypeChangelogFiles {
		k.Changelog.NonMaterialized[1].Files.StorageID = "filesystem"
	}
	if t == metadata.TypeChangelog {
		k.Changelog.CheckpointID = 6
	}
	return k
}

func channel(kind byte, b int32) metadata.ChannelHandle {
	return metadata.ChannelHandle{Kind: kind, Subtask: 2, A: 0, B: b, Offsets: metadata.NewOffsets([]int64{4, 40}), Size: 80, Delegate: relative("channels")}
}

func merged(kind byte) metadata.ChannelHandle {
	var p []byte
	p = binary.BigEndian.AppendUint32(p, 2)
	for b := range 2 {
		p = binary.BigEndian.AppendUint32(p, 0)
		p = binary.BigEndian.AppendUint32(p, uint32(b))
		p = binary.BigEndian.AppendUint64(p, 80)
		p = binary.BigEndian.AppendUint32(p, 1)
		p = binary.BigEndian.AppendUint64(p, uint64(4+b))
	}
	return metadata.ChannelHandle{Kind: kind, Subtask: 2, Size: 160, Delegate: relative("merged"), Packed: metadata.Blob{New: p}}
}

// positions is an endless array of ascending offsets: element i is 1000 + 40*i.
type positions struct{ n int64 }

func (p positions) Size() int64  { return 8 * p.n }
func (p positions) Name() string { return "positions" }

func (p positions) ReadAt(b []byte, off int64) (int, error) {
	for i := 0; i < len(b); {
		at := off + int64(i)
		var e [8]byte
		binary.BigEndian.PutUint64(e[:], uint64(1000+40*(at/8)))
		i += copy(b[i:], e[at%8:])
	}
	return len(b), nil
}

// Incident gives a checkpoint (V4) of the shape of the founding incident: two
// former Kafka consumers, now sources, each with 8 subtasks whose forgotten union
// list was multiplied by each restore, until there were elements in all. Encode
// writes about 8 bytes an element: 20,971,520 elements make 168 MB.
func Incident(elements int64) *metadata.Checkpoint {
	const sources, subtasks = 2, 8
	each := elements / (sources * subtasks)
	c := &metadata.Checkpoint{In: withProperties{positions{each}}, Version: 4, ID: 4711,
		Properties: decoder.Span{Off: 8 * each, Len: 5}}
	for s := range sources {
		coordinator := inline(strings.Repeat("c", 400))
		op := metadata.Operator{ID: metadata.OperatorIDOf(fmt.Sprintf("kafka-source-%d", s)), Parallelism: subtasks, MaxParallelism: 128, SubtaskCount: subtasks, Coordinator: &coordinator}
		for i := range int32(subtasks) {
			op.Subtasks = append(op.Subtasks, source(i, each))
		}
		c.Operators = append(c.Operators, op)
	}
	window := metadata.Operator{ID: metadata.OperatorIDOf("window"), Parallelism: subtasks, MaxParallelism: 128, SubtaskCount: subtasks}
	for i := range int32(subtasks) {
		window.Subtasks = append(window.Subtasks, metadata.Subtask{Index: i, State: &metadata.SubtaskState{ManagedKeyed: incremental(metadata.TypeIncremental)}})
	}
	c.Operators = append(c.Operators, window)
	return c
}

// WideIncident is Incident at a higher parallelism: the elements of each source in
// more and shorter arrays.
func WideIncident(elements int64, subtasks int32) *metadata.Checkpoint {
	c := Incident(elements * 8 / int64(subtasks))
	for i := range c.Operators {
		o := &c.Operators[i]
		o.Parallelism, o.SubtaskCount = subtasks, subtasks
		for n := int32(len(o.Subtasks)); n < subtasks; n++ {
			s := o.Subtasks[n%8]
			s.Index = n
			o.Subtasks = append(o.Subtasks, s)
		}
	}
	return c
}

func source(i int32, elements int64) metadata.Subtask {
	return metadata.Subtask{Index: i, State: &metadata.SubtaskState{ManagedOperatorPresence: 1, ManagedOperator: &metadata.OperatorHandle{
		Type: metadata.TypePartitionable,
		States: []metadata.OperatorState{
			{Name: "topic-partition-offset-states", Mode: metadata.ModeUnion, Offsets: metadata.Offsets{Span: decoder.Span{Len: 8 * elements}}},
			{Name: "SourceReaderState", Offsets: metadata.NewOffsets([]int64{1000 + 40*elements})},
		},
		Delegate: metadata.StreamHandle{Type: metadata.TypeRelativeFile, Name: fmt.Sprintf("6b0bb8b4-0000-4000-8000-%012d", i), Size: 1040 + 40*elements},
	}}}
}

// withProperties is positions with a null properties object behind them.
type withProperties struct{ positions }

func (w withProperties) Size() int64 { return w.positions.Size() + 5 }

func (w withProperties) ReadAt(b []byte, off int64) (int, error) {
	if off >= w.positions.Size() {
		return decoder.Bytes{Data: []byte{0xac, 0xed, 0, 5, 0x70}}.ReadAt(b, off-w.positions.Size())
	}
	return w.positions.ReadAt(b, off)
}
