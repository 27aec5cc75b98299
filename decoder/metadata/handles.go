package metadata

import (
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"chkscope/decoder"
)

// streamPointer reads a stream handle: nil for type 0.
func (r *reader) streamPointer() *StreamHandle {
	var h StreamHandle
	if r.stream(&h); h.Type == TypeNull || !r.charge(int64(unsafe.Sizeof(h))) {
		return nil
	}
	return &h
}

// presentStream reads a stream handle that may not be of type 0.
func (r *reader) presentStream(h *StreamHandle) {
	at := r.Off()
	r.stream(h)
	if r.ok() && h.Type == TypeNull {
		r.FailAt(at, "a stream handle", "handle type 0 (none)", nil)
	}
}

// stream reads any stream handle into h.
func (r *reader) stream(h *StreamHandle) {
	at := r.Off()
	h.Type = r.U8("stream handle type")
	switch h.Type {
	case TypeNull, TypeEmptySegment:
	case TypeByteStream:
		h.Name = r.utf("handle name")
		h.Size = r.length("data length")
		h.Data = Blob{Span: r.Skip(h.Size, "data")}
		r.inline += h.Data.Span.Len
	case TypeFile:
		h.Size = r.fileSize()
		h.Name = r.path("path")
	case TypeRelativeFile:
		h.Name = r.path("relative path")
		h.Size = r.fileSize()
	case TypeSegment:
		r.segment(h)
	case TypeKeyGroups:
		r.nestedKeyGroups(h)
	default:
		r.FailAt(at, "stream handle type 0, 1, 2, 3, 6, 15 or 16", strconv.Itoa(int(h.Type)), nil)
	}
}

func (r *reader) fileSize() int64 {
	at := r.Off()
	n := r.I64("file size")
	if r.ok() && n < -1 {
		r.FailAt(at, "file size of -1 (unknown) or more", strconv.FormatInt(n, 10), nil)
	}
	return n
}

func (r *reader) segment(h *StreamHandle) {
	var s Segment
	s.Start = r.I64("segment start")
	h.Size = r.I64("segment size")
	at := r.Off()
	s.Scope = r.I32("scope")
	if r.ok() && (s.Scope < 0 || s.Scope > 1) {
		r.FailAt(at, "scope 0 or 1", strconv.Itoa(int(s.Scope)), nil)
	}
	h.Name = r.path("physical file path")
	s.LogicalID = r.utf("logical file id")
	if r.keep && r.charge(int64(unsafe.Sizeof(s))) {
		h.Seg = &s
	}
}

func (r *reader) nestedKeyGroups(h *StreamHandle) {
	if !r.nest() {
		return
	}
	var g KeyGroupsHandle
	r.keyGroups(&g)
	r.nesting--
	if r.keep && r.charge(int64(unsafe.Sizeof(g))) {
		h.Keyed = &g
	}
}

// keyGroups reads range, offsets and stream of types 3, 7 and 12.
func (r *reader) keyGroups(g *KeyGroupsHandle) {
	g.Start, g.Number = r.keyRange()
	g.Offsets = r.array(int(g.Number), "key group offsets")
	r.presentStream(&g.Stream)
}

// keyRange reads a key-group range: the first group and how many.
func (r *reader) keyRange() (start, number int32) {
	at := r.Off()
	start = r.I32("first key group")
	number = r.I32("number of key groups")
	if r.ok() && (number < 0 || number > 0 && (start < 0 || start > math.MaxInt32-number)) {
		r.FailAt(at, "a key-group range", fmt.Sprintf("%d groups from %d", number, start), nil)
	}
	return start, number
}

// operatorHandle reads an operator-state handle; what could be read of a
// damaged one is given too. Type 0 is accepted in V1 only and gives nil.
func (r *reader) operatorHandle(what string, n int) *OperatorHandle {
	r.Enter(what, n)
	defer r.Leave()
	at := r.Off()
	t := r.U8("operator state handle type")
	if !r.ok() || t == TypeNull && r.version == 1 {
		return nil
	}
	if t != TypePartitionable && t != TypeFileMergingOperator {
		r.FailAt(at, "operator state handle type 4 or 17", strconv.Itoa(int(t)), nil)
	}
	if !r.charge(int64(unsafe.Sizeof(OperatorHandle{}))) {
		return nil
	}
	h := &OperatorHandle{Type: t}
	r.operatorStates(h)
	if t == TypeFileMergingOperator {
		h.TaskOwnedDir = r.path("task-owned directory")
		h.SharedDir = r.path("shared directory")
		h.EmptyByte = r.U8("empty mark")
	}
	from := r.Off()
	r.presentStream(&h.Delegate)
	if d := h.Delegate.Type; r.ok() && t == TypeFileMergingOperator && d != TypeSegment && d != TypeEmptySegment {
		r.FailAt(from, "stream handle type 15 or 16", strconv.Itoa(int(d)), nil)
	}
	if !r.ok() {
		h.Delegate = StreamHandle{}
	}
	h.Span = r.since(at)
	return h
}

func (r *reader) operatorStates(h *OperatorHandle) {
	n := r.Count("state count", 7)
	h.States = newList[OperatorState](r, n, 7, int64(unsafe.Sizeof(OperatorState{})))
	for i := 0; i < n && r.ok(); i++ {
		r.Enter("state", i)
		if s := r.operatorState(); r.ok() {
			h.States = append(h.States, s)
		}
		r.Leave()
	}
}

func (r *reader) operatorState() (s OperatorState) {
	start := r.Off()
	s.Name = r.utf("state name")
	at := r.Off()
	s.Mode = r.U8("distribution mode")
	if r.ok() && s.Mode > ModeBroadcast {
		r.FailAt(at, "distribution mode 0, 1 or 2", strconv.Itoa(int(s.Mode)), nil)
	}
	s.Offsets = r.array(r.Count("offset count", 8), "offsets")
	s.Span = r.since(start)
	return s
}

// keyedPointer reads a keyed handle: nil for type 0, and where it is damaged.
func (r *reader) keyedPointer(what string) *KeyedHandle {
	r.Enter(what, -1)
	defer r.Leave()
	var k KeyedHandle
	if r.keyed(&k); k.Type == TypeNull || !r.charge(int64(unsafe.Sizeof(k))) {
		return nil
	}
	return &k
}

// keyed reads any keyed handle into k.
func (r *reader) keyed(k *KeyedHandle) {
	at, inline := r.Off(), r.inline
	k.Type = r.U8("keyed state handle type")
	switch k.Type {
	case TypeNull:
	case TypeKeyGroups, TypeSavepoint, TypeKeyGroups2:
		if k.Groups = newBody[KeyGroupsHandle](r); k.Groups != nil {
			r.keyGroups(k.Groups)
			k.Start, k.Number = k.Groups.Start, k.Groups.Number
		}
		if k.Type == TypeKeyGroups2 {
			k.HandleID = r.utf("state handle id")
		}
	case TypeIncremental1, TypeIncremental:
		r.incremental(k)
	case TypeChangelog1, TypeChangelog:
		r.changelog(k)
	case TypeChangelogInline:
		r.changelogInline(k)
	case TypeChangelogFiles1, TypeChangelogFiles:
		r.changelogFiles(k)
	default:
		r.FailAt(at, "keyed state handle type 0, 3, 5 or 7 to 14", strconv.Itoa(int(k.Type)), nil)
	}
	k.Span, k.InlineBytes = r.since(at), r.inline-inline
}

// newBody makes the body of a keyed handle; nil after a failure.
func newBody[T any](r *reader) *T {
	var v T
	if !r.charge(int64(unsafe.Sizeof(v))) {
		return nil
	}
	return &v
}

func (r *reader) incremental(k *KeyedHandle) {
	h := newBody[IncrementalHandle](r)
	if h == nil {
		return
	}
	k.Incr = h
	h.CheckpointID = r.I64("checkpoint id")
	h.BackendID = r.utf("backend id")
	k.Start, k.Number = r.keyRange()
	if k.Type == TypeIncremental {
		h.CheckpointedSize = r.I64("checkpointed size")
	}
	r.Enter("meta", -1)
	r.stream(&h.Meta)
	r.Leave()
	h.Shared = r.fileMap("shared")
	h.Private = r.fileMap("private")
	if k.Type == TypeIncremental {
		k.HandleID = r.utf("state handle id")
	}
}

// fileMap steps over the files of an incremental handle.
func (r *reader) fileMap(what string) (m FileMap) {
	r.Enter(what, -1)
	defer r.Leave()
	defer r.stepOver()()
	n := r.Count("file count", 3)
	start, inline := r.Off(), r.inline
	for i := 0; i < n && r.ok(); i++ {
		r.Enter("file", i)
		var s NamedStream
		r.namedStream(&s)
		r.Leave()
	}
	return FileMap{Span: r.since(start), Count: n, InlineBytes: r.inline - inline}
}

// namedStream reads one file. Flink since 1.18, which is before V5, refuses one
// without a handle.
func (r *reader) namedStream(s *NamedStream) {
	s.Key = r.utf("local path")
	if r.version >= 5 {
		r.presentStream(&s.Stream)
	} else {
		r.stream(&s.Stream)
	}
}

// stepOver turns keep off and gives what restores it.
func (r *reader) stepOver() func() {
	before := r.keep
	r.keep = false
	return func() { r.keep = before }
}

func (r *reader) changelog(k *KeyedHandle) {
	r.metChangelog = true
	h := newBody[ChangelogHandle](r)
	if h == nil || !r.nest() {
		return
	}
	k.Changelog = h
	k.Start, k.Number = r.keyRange()
	if !r.legacy114 {
		h.CheckpointedSize = r.I64("checkpointed size")
	}
	h.Materialized = r.keyedList("materialized", false)
	h.NonMaterialized = r.keyedList("non-materialized", true)
	r.nesting--
	if r.legacy114 {
		return
	}
	h.MaterializationID = r.I64("materialization id")
	if k.Type == TypeChangelog {
		h.CheckpointID = r.I64("checkpoint id")
	}
	k.HandleID = r.utf("state handle id")
}

// keyedList reads the parts of a changelog handle; increments must be changelog
// parts themselves.
func (r *reader) keyedList(what string, increments bool) []KeyedHandle {
	r.Enter(what, -1)
	defer r.Leave()
	n := r.Count("handle count", 1)
	list := newList[KeyedHandle](r, n, 1, int64(unsafe.Sizeof(KeyedHandle{})))
	for i := 0; i < n && r.ok(); i++ {
		r.Enter("element", i)
		at := r.Off()
		var k KeyedHandle
		r.keyed(&k)
		if t := k.Type; r.ok() && increments && t != TypeChangelogInline && t != TypeChangelogFiles1 && t != TypeChangelogFiles {
			r.FailAt(at, "keyed state handle type 9, 10 or 13", strconv.Itoa(int(t)), nil)
		}
		if r.ok() {
			list = append(list, k)
		}
		r.Leave()
	}
	return list
}

func (r *reader) changelogInline(k *KeyedHandle) {
	r.metChangelog = true
	h := newBody[ChangelogInline](r)
	if h == nil {
		return
	}
	k.Inline = h
	k.Start, k.Number = r.keyRange()
	h.From = r.I64("from")
	h.To = r.I64("to")
	n := r.Count("change count", 8)
	start := r.Off()
	for i := 0; i < n && r.ok(); i++ {
		r.Enter("change", i)
		r.change()
		r.Leave()
	}
	h.Changes = Changes{Span: r.since(start), Count: n}
	if !r.legacy114 {
		k.HandleID = r.utf("state handle id")
	}
}

func (r *reader) change() (keyGroup int32, data decoder.Span) {
	keyGroup = r.I32("key group")
	return keyGroup, r.Skip(r.length("change length"), "change")
}

func (r *reader) changelogFiles(k *KeyedHandle) {
	r.metChangelog = true
	h := newBody[ChangelogFiles](r)
	if h == nil {
		return
	}
	k.Files = h
	k.Start, k.Number = r.keyRange()
	n := r.Count("increment count", 9)
	h.Increments = newList[Increment](r, n, 9, int64(unsafe.Sizeof(Increment{})))
	for i := 0; i < n && r.ok(); i++ {
		r.Enter("increment", i)
		inc := Increment{Offset: r.I64("offset")}
		if r.stream(&inc.Stream); r.ok() {
			h.Increments = append(h.Increments, inc)
		}
		r.Leave()
	}
	h.Size = r.I64("state size")
	if r.legacy114 {
		return
	}
	h.CheckpointedSize = r.I64("checkpointed size")
	k.HandleID = r.utf("state handle id")
	if k.Type == TypeChangelogFiles {
		h.StorageID = r.utf("storage id")
	}
}
