package ha

import (
	"fmt"
	"slices"
	"strconv"

	"chkscope/decoder/javaobj"
	"chkscope/decoder/metadata"
)

// stream reads a stream handle; null is type 0.
func (r *reader) stream(p javaobj.Placed, h *metadata.StreamHandle) {
	n := p.Node
	switch {
	case !r.ok() || n.IsNull():
	case n.Is(flinkRuntime + "state.memory.ByteStreamStateHandle"):
		h.Type, h.Name = metadata.TypeByteStream, r.text(n, "handleName")
		r.blob(r.array(n, "data", "[B"), &h.Data)
		h.Size = h.Data.Len()
		if !h.Data.Repeated {
			r.inline += h.Size
		}
	case n.Is(flinkRuntime + "state.filesystem.RelativeFileStateHandle"):
		h.Type, h.Name, h.Size = metadata.TypeRelativeFile, r.text(n, "relativePath"), r.long(n, "stateSize")
	case n.Is(flinkRuntime + "state.filesystem.FileStateHandle"):
		h.Type, h.Name, h.Size = metadata.TypeFile, r.pathText(n, "filePath"), r.long(n, "stateSize")
	case n.Is(flinkRuntime + "state.filemerging.EmptySegmentFileStateHandle"):
		h.Type = metadata.TypeEmptySegment
	case n.Is(flinkRuntime+"state.filemerging.SegmentFileStateHandle") || n.Is(flinkRuntime+"checkpoint.filemerging.SegmentFileStateHandle"):
		h.Type, h.Name, h.Size = metadata.TypeSegment, r.pathText(n, "filePath"), r.long(n, "stateSize")
		h.Seg = &metadata.Segment{Start: r.long(n, "startPos"), Scope: r.enum(n, "scope", "EXCLUSIVE", "SHARED"), LogicalID: r.stringID(n, "logicalFileId")}
	case n.Is(flinkRuntime + "state.KeyGroupsStateHandle"):
		h.Type, h.Keyed = metadata.TypeKeyGroups, new(metadata.KeyGroupsHandle)
		r.keyGroups(n, h.Keyed)
	default:
		r.fail(n, "a stream handle that is known", describe(n))
	}
}

// blob gives the bytes of an array, Repeated where it was given before.
func (r *reader) blob(array javaobj.Node, b *metadata.Blob) {
	b.Span = array.Body()
	inside := b.Span.Off >= r.bounds.Off && b.Span.End() <= r.bounds.End()
	b.Repeated = r.seen[array] || !inside
	r.seen[array] = true
}

// enum gives which of the constants a field is.
func (r *reader) enum(n javaobj.Node, field string, constants ...string) int32 {
	name, _ := n.Field(field).Text()
	for i, c := range constants {
		if n.Field(field).Kind() == javaobj.Enum && name == c {
			return int32(i)
		}
	}
	if name == "" {
		name = describe(n.Field(field))
	}
	r.fail(n.Field(field), fmt.Sprintf("one of %v as %s", constants, field), name)
	return 0
}

// keyRange reads a KeyGroupRange.
func (r *reader) keyRange(n javaobj.Node) (start, number int32) {
	if !r.is(n, "state.KeyGroupRange") {
		return 0, 0
	}
	first, last := r.long(n, "startKeyGroup"), r.long(n, "endKeyGroup")
	if r.ok() && (first < 0 || last < first-1 || last >= 1<<15) {
		r.fail(n, "a range of key groups", fmt.Sprintf("%d to %d", first, last))
		return 0, 0
	}
	return int32(first), int32(last - first + 1)
}

func (r *reader) keyGroups(n javaobj.Node, g *metadata.KeyGroupsHandle) {
	if !r.nest(n) {
		return
	}
	o := n.Field("groupRangeOffsets")
	if r.is(o, "state.KeyGroupRangeOffsets") {
		g.Start, g.Number = r.keyRange(o.Field("keyGroupRange"))
		offsets := r.array(o, "offsets", "[J")
		g.Offsets.Span = offsets.Body()
		if r.ok() && offsets.Len() != int(g.Number) {
			r.fail(offsets, fmt.Sprintf("%d offsets", g.Number), strconv.Itoa(offsets.Len()))
		}
	}
	r.stream(n.Place("stateHandle"), &g.Stream)
	r.nesting--
}

// nest enters one more level of handles inside handles.
func (r *reader) nest(n javaobj.Node) bool {
	if r.nesting++; r.nesting > maxNesting {
		r.fail(n, fmt.Sprintf("at most %d handles inside each other", maxNesting), "more")
	}
	return r.ok()
}

func (r *reader) operatorHandle(n javaobj.Node, h *metadata.OperatorHandle) {
	h.Type = metadata.TypePartitionable
	if !r.is(n, "state.OperatorStreamStateHandle") {
		return
	}
	r.entries(n.Field("stateNameToPartitionOffsets"), "operator state", func(k, v javaobj.Placed) {
		r.enter("state", len(h.States))
		st := metadata.OperatorState{Span: pairSpan(k, v)}
		name, ok := k.Node.Text()
		if !ok {
			r.fail(k.Node, "the name of a state", describe(k.Node))
		}
		st.Name = name
		if r.is(v.Node, "state.OperatorStateHandle$StateMetaInfo") {
			st.Mode = byte(r.enum(v.Node, "distributionMode", "SPLIT_DISTRIBUTE", "UNION", "BROADCAST"))
			st.Offsets.Span = r.array(v.Node, "offsets", "[J").Body()
		}
		if r.ok() {
			h.States = append(h.States, st)
		}
		r.leave()
	})
	if n.Is(flinkRuntime + "state.filemerging.FileMergingOperatorStreamStateHandle") {
		h.Type = metadata.TypeFileMergingOperator
		h.TaskOwnedDir = r.pathText(n.Field("taskOwnedDirHandle"), "directory")
		h.SharedDir = r.pathText(n.Field("sharedDirHandle"), "directory")
		if n.Is(flinkRuntime + "state.filemerging.EmptyFileMergingOperatorStreamStateHandle") {
			h.EmptyByte = 1
		}
	}
	r.enter("delegate", -1)
	p := n.Place("delegateStateHandle")
	if r.stream(p, &h.Delegate); r.ok() && h.Delegate.Type == metadata.TypeNull {
		r.fail(n, "a delegate stream handle", "null")
	}
	r.leave()
}

// keyed reads any keyed handle.
func (r *reader) keyed(p javaobj.Placed, k *metadata.KeyedHandle) {
	n := p.Node
	k.Span = p.Span
	if !r.ok() || n.IsNull() || !r.nest(n) {
		return
	}
	inline := r.inline
	switch {
	case n.Is(flinkRuntime + "state.KeyGroupsStateHandle"):
		r.keyGroupsHandle(n, k)
	case n.Is(flinkRuntime + "state.IncrementalRemoteKeyedStateHandle"):
		r.incremental(n, k)
	case n.Is(flinkRuntime + "state.changelog.ChangelogStateBackendHandle$ChangelogStateBackendHandleImpl"):
		r.changelog(n, k)
	case n.Is(flinkRuntime + "state.changelog.ChangelogStateHandleStreamImpl"):
		r.changelogFiles(n, k)
	case n.Is(flinkRuntime + "state.changelog.inmemory.InMemoryChangelogStateHandle"):
		r.changelogInline(n, k)
	default:
		r.fail(n, "a keyed state handle that is known", describe(n))
	}
	k.InlineBytes = r.inline - inline
	r.nesting--
}

func (r *reader) keyGroupsHandle(n javaobj.Node, k *metadata.KeyedHandle) {
	k.Groups = new(metadata.KeyGroupsHandle)
	r.keyGroups(n, k.Groups)
	k.Start, k.Number = k.Groups.Start, k.Groups.Number
	k.HandleID = r.stringID(n, "stateHandleId")
	switch {
	case n.Is(flinkRuntime + "state.KeyGroupsSavepointStateHandle"):
		k.Type, k.HandleID = metadata.TypeSavepoint, "" // not written for it
	case n.Has("stateHandleId"):
		k.Type = metadata.TypeKeyGroups2
	default:
		k.Type = metadata.TypeKeyGroups
	}
}

func (r *reader) incremental(n javaobj.Node, k *metadata.KeyedHandle) {
	h := new(metadata.IncrementalHandle)
	k.Incr, k.Type = h, metadata.TypeIncremental1
	h.CheckpointID = r.long(n, "checkpointId")
	hi, lo, ok := n.Field("backendIdentifier").UUID()
	if !ok {
		r.fail(n, "a java.util.UUID as backendIdentifier", describe(n.Field("backendIdentifier")))
	}
	h.BackendID = fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&0xffffffffffff)
	k.Start, k.Number = r.keyRange(n.Field("keyGroupRange"))
	if n.Has("stateHandleId") {
		k.Type, k.HandleID = metadata.TypeIncremental, r.stringID(n, "stateHandleId")
		h.CheckpointedSize = r.long(n, "persistedSizeOfThisCheckpoint")
	}
	r.enter("meta", -1)
	r.stream(n.Place("metaStateHandle"), &h.Meta)
	r.leave()
	h.Private = r.fileMap(n.Place("privateState"), "private file")
	h.Shared = r.fileMap(n.Place("sharedState"), "shared file")
}

// fileMap reads sharedState or privateState: a Map of StateHandleID to handle up
// to 1.15, then a List of HandleAndLocalPath.
func (r *reader) fileMap(p javaobj.Placed, what string) metadata.FileMap {
	m := metadata.FileMap{Span: p.Span, New: []metadata.NamedStream{}}
	inline := r.inline
	if _, isMap := p.Node.Entries(); isMap {
		r.entries(p.Node, what, func(k, v javaobj.Placed) {
			r.enter(what, len(m.New))
			s := metadata.NamedStream{Key: r.text(k.Node, "keyString")}
			r.stream(v, &s.Stream)
			m.New = append(m.New, s)
			r.leave()
		})
	} else {
		r.elements(p.Node, what, func(_ int, e javaobj.Placed) {
			if r.is(e.Node, "state.IncrementalKeyedStateHandle$HandleAndLocalPath") {
				s := metadata.NamedStream{Key: r.text(e.Node, "localPath")}
				r.stream(e.Node.Place("handle"), &s.Stream)
				m.New = append(m.New, s)
			}
		})
	}
	m.New = slices.Clone(m.New) // there may be many: no room to grow
	m.Count, m.InlineBytes = len(m.New), r.inline-inline
	return m
}

func (r *reader) changelog(n javaobj.Node, k *metadata.KeyedHandle) {
	h := new(metadata.ChangelogHandle)
	k.Changelog, k.Type = h, metadata.TypeChangelog1
	k.Start, k.Number = r.keyRange(n.Field("keyGroupRange"))
	h.Materialized = r.keyedList(n.Field("materialized"), "materialized")
	h.NonMaterialized = r.keyedList(n.Field("nonMaterialized"), "non-materialized")
	if !n.Has("stateHandleID") {
		r.legacy114 = true
		return
	}
	k.HandleID = r.stringID(n, "stateHandleID")
	h.CheckpointedSize = r.long(n, "persistedSizeOfThisCheckpoint")
	h.MaterializationID = r.long(n, "materializationID")
	if n.Has("checkpointId") {
		k.Type, h.CheckpointID = metadata.TypeChangelog, r.long(n, "checkpointId")
	}
}

func (r *reader) keyedList(n javaobj.Node, what string) (list []metadata.KeyedHandle) {
	r.elements(n, what, func(_ int, p javaobj.Placed) {
		var k metadata.KeyedHandle
		r.keyed(p, &k)
		list = append(list, k)
	})
	return list
}

func (r *reader) changelogFiles(n javaobj.Node, k *metadata.KeyedHandle) {
	h := new(metadata.ChangelogFiles)
	k.Files, k.Type = h, metadata.TypeChangelogFiles1
	k.Start, k.Number = r.keyRange(n.Field("keyGroupRange"))
	h.Size = r.long(n, "size")
	r.elements(n.Field("handlesAndOffsets"), "increment", func(_ int, p javaobj.Placed) {
		offset, ok := p.Node.Field("f1").Number()
		if !ok {
			r.fail(p.Node, "a Tuple2 of a stream handle and its offset", describe(p.Node))
		}
		inc := metadata.Increment{Offset: offset}
		r.stream(p.Node.Place("f0"), &inc.Stream)
		h.Increments = append(h.Increments, inc)
	})
	if !n.Has("stateHandleID") {
		r.legacy114 = true
		return
	}
	k.HandleID, h.CheckpointedSize = r.stringID(n, "stateHandleID"), r.long(n, "incrementalSize")
	if n.Has("storageIdentifier") {
		k.Type, h.StorageID = metadata.TypeChangelogFiles, r.text(n, "storageIdentifier")
	}
}

func (r *reader) changelogInline(n javaobj.Node, k *metadata.KeyedHandle) {
	h := new(metadata.ChangelogInline)
	k.Inline, k.Type = h, metadata.TypeChangelogInline
	k.Start, k.Number = r.keyRange(n.Field("keyGroupRange"))
	h.From, h.To = r.long(n.Field("from"), "number"), r.long(n.Field("to"), "number")
	place := n.Place("changes")
	h.Changes = metadata.Changes{Span: place.Span, New: []metadata.Change{}}
	r.elements(place.Node, "change", func(_ int, p javaobj.Placed) {
		if r.is(p.Node, "state.changelog.StateChange") {
			h.Changes.New = append(h.Changes.New, metadata.Change{KeyGroup: r.int(p.Node, "keyGroup"), Data: r.array(p.Node, "change", "[B").Body()})
		}
	})
	h.Changes.Count = len(h.Changes.New)
	if n.Has("stateHandleID") {
		k.HandleID = r.stringID(n, "stateHandleID")
	} else {
		r.legacy114 = true
	}
}
