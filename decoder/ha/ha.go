// Package ha reads and edits what Flink keeps for high availability: the
// completedCheckpoint objects in the storage directory, and the pointers to them
// in ZooKeeper and Kubernetes.
//
// On failover Flink restores from the object alone and never reads `_metadata`;
// on a restore from a path it is the other way round.
//
// # Format
//
// <high-availability.storageDir>/<cluster-id>/completedCheckpoint<12 hex digits>
// is one Java object stream (decoder/javaobj) with one CompletedCheckpoint, the
// whole checkpoint in object form. Bytes behind it are ignored. Class names below
// are in org.apache.flink.runtime; fields of one class, with what differs by
// version:
//
//	checkpoint.CompletedCheckpoint  checkpointID, timestamp, completionTimestamp
//	    (1.13: duration), externalPointer, job, masterHookStates, metadataHandle,
//	    operatorStates: Map of OperatorID, props, restoredProps (1.16+),
//	    storageLocation
//	checkpoint.OperatorState  maxParallelism, parallelism, coordinatorState,
//	    operatorID, operatorSubtaskStates: Map of Integer; operatorName and
//	    operatorUid from 2.0. FullyFinishedOperatorState is one below it
//	checkpoint.OperatorSubtaskState  stateSize, checkpointedSize (1.15+), and a
//	    StateObjectCollection each: managedOperatorState, rawOperatorState,
//	    managedKeyedState, rawKeyedState, inputChannelState,
//	    resultSubpartitionState, upstreamOutputBufferState (2.3+, empty in a
//	    checkpoint). FinishedOperatorSubtaskState is one below it
//	state.OperatorStreamStateHandle  stateNameToPartitionOffsets: Map of
//	    StateMetaInfo (distributionMode, offsets long[]), delegateStateHandle;
//	    FileMergingOperatorStreamStateHandle adds two DirectoryStreamStateHandle
//	state.KeyGroupsStateHandle  groupRangeOffsets, stateHandle, stateHandleId
//	    (1.15+); KeyGroupsSavepointStateHandle is one below it
//	state.IncrementalRemoteKeyedStateHandle  backendIdentifier, checkpointId,
//	    keyGroupRange, metaStateHandle, sharedState and privateState: a Map up to
//	    1.15, a List of HandleAndLocalPath from 1.16 on;
//	    persistedSizeOfThisCheckpoint and stateHandleId (1.15+)
//	state.changelog.ChangelogStateBackendHandle$ChangelogStateBackendHandleImpl
//	    materialized, nonMaterialized: List; materializationID,
//	    persistedSizeOfThisCheckpoint, stateHandleID (1.15+), checkpointId (1.16+)
//	state.changelog.ChangelogStateHandleStreamImpl  handlesAndOffsets: List of
//	    Tuple2, size; incrementalSize and stateHandleID (1.15+),
//	    storageIdentifier (1.16+)
//	state.changelog.inmemory.InMemoryChangelogStateHandle  changes: List of
//	    StateChange, from, to, stateHandleID (1.15+)
//	state.AbstractChannelStateHandle  subtaskIndex, info, offsets: List of Long,
//	    size, delegate; AbstractMergedChannelStateHandle (2.1+) subtaskIndex,
//	    size, serializedChannelOffsets byte[], delegate
//	state.memory.ByteStreamStateHandle  handleName, data byte[]
//	state.filesystem.FileStateHandle  stateSize, filePath: core.fs.Path of one
//	    java.net.URI; RelativeFileStateHandle below it adds relativePath
//	state.filemerging.SegmentFileStateHandle (1.19: checkpoint.filemerging)
//	    startPos, stateSize, scope, filePath, logicalFileId (1.20+);
//	    EmptySegmentFileStateHandle is one below it
//
// An object may be shared: the same handle, string or byte array stands once and
// is referred to from elsewhere.
//
// Decode gives the structures of package metadata, as the same Flink would write
// them to `_metadata`, so that everything above reads both alike. Encode applies
// edits of those structures to the object graph and writes it; what was not
// edited stays as it was.
package ha

import (
	"errors"
	"io"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
	"chkscope/decoder/metadata"
)

// Checkpoint is a decoded completedCheckpoint object.
type Checkpoint struct {
	// Meta is the checkpoint as in `_metadata`. Its Header span goes up to the
	// first operator, Properties is what follows the last one.
	Meta *metadata.Checkpoint
	// JobID is the 16 bytes in the order in which Flink prints them.
	JobID [16]byte
	// Timestamp is when the checkpoint was triggered, CompletionTimestamp when it
	// was complete; milliseconds since 1970.
	Timestamp, CompletionTimestamp int64
	// ExternalPointer is the checkpoint's directory as Flink sees it, "" for none.
	ExternalPointer string
	// MetadataHandle is where the `_metadata` of the checkpoint is.
	MetadataHandle metadata.StreamHandle
	// Properties tells how the checkpoint was asked for; Restored that of the
	// checkpoint which the job was restored from, where the object has it.
	Properties, Restored metadata.Properties

	stream *javaobj.Stream
	root   javaobj.Node
}

const (
	flinkRuntime = "org.apache.flink.runtime."

	classCheckpoint = flinkRuntime + "checkpoint.CompletedCheckpoint"
	classPointer    = flinkRuntime + "state.RetrievableStreamStateHandle"
	classMarked     = "org.apache.flink.kubernetes.highavailability.KubernetesStateHandleStore$StateHandleWithDeleteMarker"
)

// ErrNotObject is wrapped by the error of Decode where the stream holds
// something else, and nothing can be shown.
var ErrNotObject = errors.New("not a CompletedCheckpoint")

// IsObjectStream tells whether in begins like a Java object stream, and so may be
// a completedCheckpoint object or a pointer.
func IsObjectStream(in decoder.Input) bool {
	var head [4]byte
	n, err := in.ReadAt(head[:], 0)
	return n == len(head) && (err == nil || err == io.EOF) && head == [4]byte{0xac, 0xed, 0, 5}
}

// Decode reads a completedCheckpoint object.
//
// On damage the error is a *decoder.Error, and the Checkpoint, where it is not
// nil, holds what was read before it, with Meta.Damage set. It is nil where the
// input is no object stream or holds another object (the error wraps
// ErrNotObject then).
func Decode(in decoder.Input) (*Checkpoint, error) {
	s, err := javaobj.Read(in, decoder.Span{Len: in.Size()}, 1)
	root := s.Root()
	if !root.Is(classCheckpoint) {
		if err == nil {
			err = &decoder.Error{File: in.Name(), Offset: root.Span().Off, Expected: "a " + classCheckpoint, Found: describe(root), Err: ErrNotObject}
		}
		return nil, err
	}
	c := &Checkpoint{stream: s, root: root}
	r := newReader(s)
	c.read(r)
	c.Meta.Damage = r.err
	if s.Damage != nil {
		c.Meta.Damage = s.Damage
	} else if root.Cut() {
		c.Meta.Damage = aborted(s)
	}
	if c.Meta.Damage != nil {
		c.Meta.Trailing.Len = 0 // what was not read is no trailing bytes
		return c, c.Meta.Damage
	}
	return c, nil
}

// aborted is the damage of an object that Java could not write to its end.
func aborted(s *javaobj.Stream) *decoder.Error {
	for n := range s.Nodes() {
		if n.Kind() == javaobj.Exception {
			return &decoder.Error{File: s.In.Name(), Offset: n.Span().Off, Expected: "the rest of the object", Found: "a " + describe(n.Thrown()) + " that ended it"}
		}
	}
	return nil
}

// describe names a node in an error.
func describe(n javaobj.Node) string {
	switch n.Kind() {
	case javaobj.Object, javaobj.Enum, javaobj.Array:
		return n.Class().Name
	}
	return n.Kind().String()
}

// read fills c from the root object.
func (c *Checkpoint) read(r *reader) {
	n := c.root
	m := &metadata.Checkpoint{In: c.stream.In, Object: true, Version: 3}
	c.Meta = m
	m.ID = r.long(n, "checkpointID")
	c.Timestamp = r.long(n, "timestamp")
	if n.Has("completionTimestamp") {
		c.CompletionTimestamp = r.long(n, "completionTimestamp")
	} else if d := r.long(n, "duration"); d >= 0 {
		c.CompletionTimestamp = c.Timestamp + d
	}
	if job := n.Field("job"); job.Kind() == javaobj.Object {
		c.JobID = r.abstractID(job)
	}
	c.ExternalPointer, _ = n.Field("externalPointer").Text()
	m.Masters = r.masters(n.Field("masterHookStates"))
	m.Version = c.version()
	r.enter("metadata handle", -1)
	r.stream(n.Place("metadataHandle"), &c.MetadataHandle)
	r.leave()
	r.operators(n, m)
	c.spans()
	c.Properties = r.properties(n, "props")
	if n.Has("restoredProps") {
		c.Restored = r.properties(n, "restoredProps")
	}
}

// version is that of the `_metadata` which the Flink that wrote the object
// writes, as far as its classes tell: 2.1 and later look like 2.0 (5) where
// there is no in-flight data.
func (c *Checkpoint) version() int32 {
	switch {
	case c.stream.Class(flinkRuntime+"state.AbstractMergedChannelStateHandle") != nil || c.has("checkpoint.OperatorSubtaskState", "upstreamOutputBufferState"):
		return 6
	case c.has("checkpoint.OperatorState", "operatorUid"):
		return 5
	case c.root.Has("restoredProps"):
		return 4
	}
	return 3
}

func (c *Checkpoint) has(class, field string) bool {
	cl := c.stream.Class(flinkRuntime + class)
	if cl == nil {
		return false
	}
	for _, f := range cl.Fields {
		if f.Name == field {
			return true
		}
	}
	return false
}

// spans gives every byte of the stream outside the operators a place.
func (c *Checkpoint) spans() {
	m := c.Meta
	end := c.stream.Span.End()
	first, last := end, end
	if n := len(m.Operators); n > 0 {
		first, last = m.Operators[0].Span.Off, m.Operators[n-1].Span.End()
	}
	m.Header = decoder.Span{Len: first}
	m.Properties = decoder.Span{Off: last, Len: end - last}
	m.Trailing = decoder.Span{Off: end, Len: m.In.Size() - end}
}
