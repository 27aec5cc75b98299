package metadata

func (e *encoder) streamPointer(h *StreamHandle) {
	if h == nil {
		e.u8(TypeNull)
		return
	}
	e.stream(h)
}

func (e *encoder) stream(h *StreamHandle) {
	e.u8(h.Type)
	switch h.Type {
	case TypeNull, TypeEmptySegment:
	case TypeByteStream:
		e.utf(h.Name, "handle name")
		e.count(h.Data.Len(), "bytes of inline data")
		e.blob(h.Data)
	case TypeFile:
		e.i64(h.Size)
		e.utf(h.Name, "path")
	case TypeRelativeFile:
		e.utf(h.Name, "relative path")
		e.i64(h.Size)
	case TypeSegment:
		if h.Seg == nil {
			e.fail("segment of %q without its place", h.Name)
			return
		}
		e.i64(h.Seg.Start)
		e.i64(h.Size)
		e.i32(h.Seg.Scope)
		e.utf(h.Name, "physical file path")
		e.utf(h.Seg.LogicalID, "logical file id")
	case TypeKeyGroups:
		e.keyGroups(h.Keyed)
	default:
		e.fail("stream handle of type %d cannot be written", h.Type)
	}
}

func (e *encoder) keyGroups(g *KeyGroupsHandle) {
	if g == nil {
		e.fail("key-group handle without a body")
		return
	}
	if g.Offsets.Len() != int64(g.Number) {
		e.fail("key-group handle of %d groups with %d offsets", g.Number, g.Offsets.Len())
	}
	e.i32(g.Start)
	e.i32(g.Number)
	e.offsets(g.Offsets)
	e.stream(&g.Stream)
}

func (e *encoder) operatorHandle(h *OperatorHandle) {
	e.u8(h.Type)
	e.count(int64(len(h.States)), "operator states")
	for i := range h.States {
		e.operatorState(&h.States[i])
	}
	switch h.Type {
	case TypePartitionable:
	case TypeFileMergingOperator:
		e.utf(h.TaskOwnedDir, "task-owned directory")
		e.utf(h.SharedDir, "shared directory")
		e.u8(h.EmptyByte)
	default:
		e.fail("operator state handle of type %d cannot be written", h.Type)
	}
	e.stream(&h.Delegate)
}

func (e *encoder) operatorState(s *OperatorState) {
	e.utf(s.Name, "state name")
	e.u8(s.Mode)
	e.count(s.Offsets.Len(), "offsets")
	e.offsets(s.Offsets)
}

func (e *encoder) keyedPointer(k *KeyedHandle) {
	if k == nil {
		e.u8(TypeNull)
		return
	}
	e.keyed(k)
}

func (e *encoder) keyed(k *KeyedHandle) {
	e.u8(k.Type)
	switch {
	case k.Type == TypeNull:
	case k.Groups != nil && (k.Type == TypeKeyGroups || k.Type == TypeSavepoint || k.Type == TypeKeyGroups2):
		e.keyGroups(k.Groups)
		if k.Type == TypeKeyGroups2 {
			e.utf(k.HandleID, "state handle id")
		}
	case k.Incr != nil && (k.Type == TypeIncremental1 || k.Type == TypeIncremental):
		e.incremental(k)
	case k.Changelog != nil && (k.Type == TypeChangelog1 || k.Type == TypeChangelog):
		e.changelog(k)
	case k.Inline != nil && k.Type == TypeChangelogInline:
		e.changelogInline(k)
	case k.Files != nil && (k.Type == TypeChangelogFiles1 || k.Type == TypeChangelogFiles):
		e.changelogFiles(k)
	default:
		e.fail("keyed state handle of type %d cannot be written: no such type, or not with its body", k.Type)
	}
}

func (e *encoder) keyRange(k *KeyedHandle) {
	e.i32(k.Start)
	e.i32(k.Number)
}

func (e *encoder) incremental(k *KeyedHandle) {
	h := k.Incr
	e.i64(h.CheckpointID)
	e.utf(h.BackendID, "backend id")
	e.keyRange(k)
	if k.Type == TypeIncremental {
		e.i64(h.CheckpointedSize)
	}
	e.stream(&h.Meta)
	e.fileMap(&h.Shared)
	e.fileMap(&h.Private)
	if k.Type == TypeIncremental {
		e.utf(k.HandleID, "state handle id")
	}
}

func (e *encoder) fileMap(m *FileMap) {
	e.count(int64(m.Len()), "files")
	if m.New == nil {
		e.span(m.Span)
		return
	}
	for i := range m.New {
		e.utf(m.New[i].Key, "local path")
		e.stream(&m.New[i].Stream)
	}
}

func (e *encoder) changelog(k *KeyedHandle) {
	h := k.Changelog
	e.keyRange(k)
	if !e.legacy114 {
		e.i64(h.CheckpointedSize)
	}
	for _, list := range [][]KeyedHandle{h.Materialized, h.NonMaterialized} {
		e.count(int64(len(list)), "handles")
		for i := range list {
			e.keyed(&list[i])
		}
	}
	if e.legacy114 {
		return
	}
	e.i64(h.MaterializationID)
	if k.Type == TypeChangelog {
		e.i64(h.CheckpointID)
	}
	e.utf(k.HandleID, "state handle id")
}

func (e *encoder) changelogInline(k *KeyedHandle) {
	e.keyRange(k)
	e.i64(k.Inline.From)
	e.i64(k.Inline.To)
	e.count(int64(k.Inline.Changes.Count), "changes")
	if k.Inline.Changes.New == nil {
		e.span(k.Inline.Changes.Span)
	}
	for _, c := range k.Inline.Changes.New {
		e.i32(c.KeyGroup)
		e.count(c.Data.Len, "bytes of a change")
		e.span(c.Data)
	}
	if !e.legacy114 {
		e.utf(k.HandleID, "state handle id")
	}
}

func (e *encoder) changelogFiles(k *KeyedHandle) {
	h := k.Files
	e.keyRange(k)
	e.count(int64(len(h.Increments)), "increments")
	for i := range h.Increments {
		e.i64(h.Increments[i].Offset)
		e.stream(&h.Increments[i].Stream)
	}
	e.i64(h.Size)
	if e.legacy114 {
		return
	}
	e.i64(h.CheckpointedSize)
	e.utf(k.HandleID, "state handle id")
	if k.Type == TypeChangelogFiles {
		e.utf(h.StorageID, "storage id")
	}
}

func (e *encoder) channels(ch *Channels) {
	e.count(int64(ch.Len()), "channel handles")
	if ch.New == nil {
		e.span(ch.Span)
		return
	}
	for i := range ch.New {
		e.channel(&ch.New[i], ch.Output)
	}
}

func (e *encoder) channel(h *ChannelHandle, output bool) {
	plain, merged := byte(ChannelInput), byte(ChannelMergedInput)
	if output {
		plain, merged = ChannelOutput, ChannelMergedOutput
	}
	if h.Kind != plain && (h.Kind != merged || e.version < 6) {
		e.fail("channel handle of kind %d cannot stand in this list of version %d", h.Kind, e.version)
	}
	if e.version >= 6 {
		e.u8(h.Kind)
	}
	if !e.legacy111 {
		e.i32(h.Subtask)
	}
	if h.Kind == merged {
		e.i64(h.Size)
		e.stream(&h.Delegate)
		e.count(h.Packed.Len(), "bytes of packed channels")
		e.blob(h.Packed)
		return
	}
	e.i32(h.A)
	e.i32(h.B)
	e.count(h.Offsets.Len(), "offsets")
	e.offsets(h.Offsets)
	e.i64(h.Size)
	e.stream(&h.Delegate)
}

// EncodedSize is how many bytes the handle takes in `_metadata`.
func (h *StreamHandle) EncodedSize() int64 {
	e := sizer(layout{})
	e.streamPointer(h)
	return e.n
}

// InlineBytes is how many bytes of state the handle holds itself (type 1);
// bytes that count for an earlier handle are not counted again.
func (h *StreamHandle) InlineBytes() int64 {
	switch {
	case h == nil:
		return 0
	case h.Type == TypeByteStream && h.Data.Repeated:
		return 0
	case h.Type == TypeByteStream:
		return h.Data.Len()
	case h.Type == TypeKeyGroups && h.Keyed != nil:
		return h.Keyed.Stream.InlineBytes()
	}
	return 0
}
