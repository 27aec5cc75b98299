package model

import (
	"cmp"
	"slices"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model/store"
)

// builder makes a Tree from the decoded structures and from what is known of
// the streams. One pass over the structures; contents of arrays are not read
// but for the first and last offset of each.
type builder struct {
	s     *Snapshot
	t     *Tree
	in    decoder.Input
	files *fileTable
	names map[string]uint32

	// of the operator at hand
	op     int32
	states []stateTmp
	byKey  map[stateKey]int
	cells  []cellTmp
	total  Sizes
	serial int32 // of the cell at hand, for slotCell

	subSizes  []Sizes // of every subtask of every operator so far
	ofSubtask Sizes
	subtaskNo int32
}

type stateKey struct {
	kind  Kind
	name  string
	whole bool
}

type stateTmp struct {
	stateKey
	dist    Distribution
	flags   flag
	sizes   Sizes
	entries int64
	cells   uint32
}

type cellTmp struct {
	state   int
	sub     int32
	sizes   Sizes
	entries int64
}

func (s *Snapshot) buildTree() *Tree {
	b := &builder{s: s, t: &Tree{}, in: decoder.Paged(s.Meta.In, 64<<10), files: newFileTable(), names: map[string]uint32{}, byKey: map[stateKey]int{}}
	t, ops := b.t, s.Meta.Operators
	b.room()
	b.add(nodeTmp{class: ClassCheckpoint, op: -1, sub: -1, index: -1})
	for i := range ops {
		f := flag(0)
		if ops[i].SubtaskCount < 0 || allFinished(&ops[i]) {
			f = flagFinished
		}
		b.add(nodeTmp{class: ClassOperator, name: ops[i].Name, op: int32(i), sub: -1, index: -1, flags: f})
	}
	for i, m := range s.Meta.Masters {
		size := Sizes{Inline: m.Payload.Len(), Bookkeeping: m.Span.Len - m.Payload.Len()}
		b.add(nodeTmp{class: ClassMaster, kind: KindMaster, name: m.Name, op: int32(i), sub: -1, index: -1, sizes: size, entries: 1})
		t.byKind[KindMaster].Inline += size.Inline
	}
	t.first[Root], t.count[Root] = 1, uint32(len(ops)+len(s.Meta.Masters))
	t.detail = map[int32]*OperatorDetail{}
	for i := range ops {
		b.operator(i)
		t.sizes[Root] = addSizes(t.sizes[Root], Sizes{Inline: b.total.Inline, Bookkeeping: b.total.Bookkeeping})
	}
	b.subtasks()
	b.totalFiles()
	t.entries[Root] = Unknown
	return t
}

// room makes room for the nodes whose number is known, so that the arrays of a
// large checkpoint are not copied while they grow. States and cells come on top.
func (b *builder) room() {
	n := 1 + len(b.s.Meta.Operators) + len(b.s.Meta.Masters)
	subtasks := 0
	for i := range b.s.Meta.Operators {
		subtasks += len(b.s.Meta.Operators[i].Subtasks)
	}
	n += subtasks
	t := b.t
	t.class, t.kind, t.flags, t.dist = make([]Class, 0, n), make([]Kind, 0, n), make([]flag, 0, n), make([]Distribution, 0, n)
	t.parent, t.first, t.count, t.name = make([]Node, 0, n), make([]Node, 0, n), make([]uint32, 0, n), make([]uint32, 0, n)
	t.op, t.sub, t.index = make([]int32, 0, n), make([]int32, 0, n), make([]int32, 0, n)
	t.sizes, t.entries = make([]Sizes, 0, n), make([]int64, 0, n)
	b.subSizes = make([]Sizes, 0, subtasks)
}

// detail is the entry of an operator in Tree.detail, made where it has none.
func (b *builder) detail(op int32) *OperatorDetail {
	d := b.t.detail[op]
	if d == nil {
		d = &OperatorDetail{}
		b.t.detail[op] = d
	}
	return d
}

func allFinished(o *metadata.Operator) bool {
	for i := range o.Subtasks {
		if !o.Subtasks[i].Finished {
			return false
		}
	}
	return len(o.Subtasks) > 0
}

type nodeTmp struct {
	class          Class
	kind           Kind
	flags          flag
	dist           Distribution
	parent         Node
	name           string
	op, sub, index int32
	sizes          Sizes
	entries        int64
}

func (b *builder) add(n nodeTmp) Node {
	t := b.t
	id, ok := b.names[n.name]
	if !ok {
		id = uint32(len(t.names))
		b.names[n.name] = id
		t.names = append(t.names, n.name)
	}
	if len(t.class) == 0 {
		n.parent = None
	}
	if n.class != ClassState && n.class != ClassCell {
		n.dist = DistNone
	}
	t.class = append(t.class, n.class)
	t.kind = append(t.kind, n.kind)
	t.flags = append(t.flags, n.flags)
	t.dist = append(t.dist, n.dist)
	t.parent = append(t.parent, n.parent)
	t.first = append(t.first, 0)
	t.count = append(t.count, 0)
	t.name = append(t.name, id)
	t.op = append(t.op, n.op)
	t.sub = append(t.sub, n.sub)
	t.index = append(t.index, n.index)
	t.sizes = append(t.sizes, n.sizes)
	t.entries = append(t.entries, n.entries)
	return Node(len(t.class) - 1)
}

// operator walks one operator record and appends its states and cells.
func (b *builder) operator(i int) {
	o := &b.s.Meta.Operators[i]
	b.op, b.states, b.cells, b.total = int32(i), b.states[:0], b.cells[:0], Sizes{}
	clear(b.byKey)
	if o.Coordinator != nil {
		b.coordinator(o.Coordinator)
	}
	for k := range o.Subtasks {
		b.ofSubtask, b.subtaskNo = Sizes{}, b.subtaskNo+1
		before := b.total.Inline
		if st := o.Subtasks[k].State; st != nil {
			b.subtask(int32(k), st)
		}
		b.ofSubtask.Inline = b.total.Inline - before
		b.ofSubtask.Bookkeeping = o.Subtasks[k].Span.Len - b.ofSubtask.Inline
		b.subSizes = append(b.subSizes, b.ofSubtask)
	}
	b.total.Bookkeeping = o.Span.Len - b.total.Inline
	b.flush(o)
}

func (b *builder) coordinator(h *metadata.StreamHandle) {
	st := b.state(stateKey{kind: KindCoordinator}, DistNone, 0)
	size := Sizes{Inline: h.InlineBytes(), Bookkeeping: 1 + 2 + int64(len(h.Name)) + 4}
	b.states[st].sizes, b.states[st].entries = size, 1
	b.total.Inline += size.Inline
	b.t.byKind[KindCoordinator].Inline += size.Inline
}

func (b *builder) state(k stateKey, d Distribution, f flag) int {
	if i, ok := b.byKey[k]; ok {
		return i
	}
	b.byKey[k] = len(b.states)
	if k.whole {
		f |= flagWhole
	}
	b.states = append(b.states, stateTmp{stateKey: k, dist: d, flags: f})
	return len(b.states) - 1
}

// cell adds a cell; what it holds counts in its state as well, files apart
// (they are counted by the caller, each once).
func (b *builder) cell(state int, sub int32, size Sizes, entries int64) {
	b.cells = append(b.cells, cellTmp{state, sub, size, entries})
	st := &b.states[state]
	st.cells++
	st.entries = plus(st.entries, entries)
	st.sizes.Bookkeeping = plus(st.sizes.Bookkeeping, size.Bookkeeping)
	st.sizes.Inline = plus(st.sizes.Inline, size.Inline)
}

// plus adds where both are known.
func plus(a, b int64) int64 {
	if a == Unknown || b == Unknown {
		return Unknown
	}
	return a + b
}

func addSizes(a, b Sizes) Sizes {
	return Sizes{plus(a.Inline, b.Inline), plus(a.Bookkeeping, b.Bookkeeping), plus(a.Exclusive, b.Exclusive),
		plus(a.Shared, b.Shared), plus(a.Files, b.Files), a.UnknownFiles + b.UnknownFiles}
}

func (b *builder) subtask(k int32, st *metadata.SubtaskState) {
	for i := range st.Legacy {
		b.stream(&st.Legacy[i], KindRawOperator, roleOwn, slotRawOp)
	}
	if st.Chain != nil {
		for _, h := range st.Chain.Managed {
			if h != nil {
				b.operatorHandle(k, h, KindOperator, slotOpState)
			}
		}
		for _, h := range st.Chain.Raw {
			if h != nil {
				b.operatorHandle(k, h, KindRawOperator, slotRawOp)
			}
		}
	}
	if st.ManagedOperator != nil {
		b.operatorHandle(k, st.ManagedOperator, KindOperator, slotOpState)
	}
	if st.RawOperator != nil {
		b.operatorHandle(k, st.RawOperator, KindRawOperator, slotRawOp)
	}
	if st.ManagedKeyed != nil {
		b.keyedHandle(k, st.ManagedKeyed, KindKeyed, slotKeyed)
	}
	if st.RawKeyed != nil {
		b.keyedHandle(k, st.RawKeyed, KindRawKeyed, slotRawKeyed)
	}
	b.channels(k, "input", &st.Input, slotInput)
	b.channels(k, "output", &st.Output, slotOutput)
}

// use is what a stream handle adds: inline bytes, or bytes of a file, counted
// for the cell, and for state and operator where they did not have that file.
type use struct {
	inline, exclusive, shared int64
	files, unknown            int64
}

func (u use) sizes() Sizes {
	return Sizes{Inline: u.inline, Exclusive: u.exclusive, Shared: u.shared, Files: u.files, UnknownFiles: u.unknown}
}

// stream counts one handle for the operator, its kind and the checkpoint, and
// gives what is new for the cell at hand and for the state of the slot.
func (b *builder) stream(h *metadata.StreamHandle, k Kind, r role, slot int) (cell, state use) {
	switch h.Type {
	case metadata.TypeNull, metadata.TypeEmptySegment:
		return
	case metadata.TypeByteStream:
		cell.inline = h.InlineBytes()
		b.total.Inline += cell.inline
		b.t.byKind[k].Inline += cell.inline
		return cell, use{}
	case metadata.TypeKeyGroups:
		return b.stream(&h.Keyed.Stream, k, r, slot)
	}
	l := b.s.locate(h, r)
	canonical := store.Canonical(l.URI)
	u := fileUse(l)
	id, _ := b.files.id(canonical, l.Off, !l.Segment, l.Len)
	phys := id
	if l.Segment {
		phys, _ = b.files.id(canonical, 0, true, 0)
	}
	if b.files.first(slotCell, id, b.serial) {
		cell = u
	}
	cell.files = one(b.files.first(slotCell, phys, b.serial) || phys == id && cell.bytes())
	if b.files.first(slot, id, b.op) {
		state = u
	}
	state.files = one(phys == id && state.bytes() || phys != id && b.files.first(slot, phys, b.op))
	b.forSubtask(id, phys, u)
	b.forOperator(id, phys, u)
	b.forKind(id, k, u)
	return cell, state
}

func (u use) bytes() bool { return u.exclusive > 0 || u.shared > 0 || u.unknown > 0 || u.files > 0 }

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// fileUse is the bytes of one file or segment; files is 1 as a mark that it
// was seen (a file may have 0 bytes).
func fileUse(l Location) use {
	u := use{files: 1}
	switch {
	case l.Len < 0:
		u.unknown = 1
	case l.Shared:
		u.shared = l.Len
	default:
		u.exclusive = l.Len
	}
	return u
}

func (b *builder) forSubtask(id, phys int32, u use) {
	if b.files.first(slotSubtask, id, b.subtaskNo) {
		b.ofSubtask.Exclusive += u.exclusive
		b.ofSubtask.Shared += u.shared
		b.ofSubtask.UnknownFiles += u.unknown
		b.ofSubtask.Files += one(phys == id)
	}
	if phys != id && b.files.first(slotSubtask, phys, b.subtaskNo) {
		b.ofSubtask.Files++
	}
}

func (b *builder) forOperator(id, phys int32, u use) {
	if b.files.first(slotOperator, id, b.op) {
		b.total.Exclusive += u.exclusive
		b.total.Shared += u.shared
		b.total.UnknownFiles += u.unknown
		if phys == id {
			b.total.Files++
		}
	}
	if phys != id && b.files.first(slotOperator, phys, b.op) {
		b.total.Files++
	}
	switch first := b.files.firstOp[phys]; {
	case first == -1:
		b.files.firstOp[phys] = b.op
	case first != b.op:
		b.alsoIn(int(first), int(b.op))
		b.alsoIn(int(b.op), int(first))
	}
}

func (b *builder) alsoIn(op, other int) {
	d := b.detail(int32(op))
	if i, found := slices.BinarySearch(d.AlsoIn, other); !found {
		d.AlsoIn = slices.Insert(d.AlsoIn, i, other)
	}
}

func (b *builder) forKind(id int32, k Kind, u use) {
	if b.files.kinds[id]&(1<<k) != 0 {
		return
	}
	root := &b.t.sizes[Root]
	if b.files.kinds[id] == 0 {
		root.Exclusive += u.exclusive
		root.Shared += u.shared
		root.UnknownFiles += u.unknown
	}
	b.files.kinds[id] |= 1 << k
	b.t.byKind[k].Exclusive += u.exclusive
	b.t.byKind[k].Shared += u.shared
}

// totalFiles counts the physical files of the checkpoint.
func (b *builder) totalFiles() {
	for _, op := range b.files.firstOp {
		if op >= 0 {
			b.t.sizes[Root].Files++
		}
	}
}

// operatorHandle adds the names of a managed or raw operator-state handle. The
// bytes of a state are the sum of its elements' extents in the stream.
func (b *builder) operatorHandle(k int32, h *metadata.OperatorHandle, kind Kind, slot int) {
	b.serial++
	length := streamLen(&h.Delegate)
	whole, _ := b.stream(&h.Delegate, kind, roleOwn, slot)
	ext := extents(b.in, h.States, length)
	rest := length
	for i := range h.States {
		st := &h.States[i]
		size := Sizes{Bookkeeping: st.Span.Len}
		place(&size, &h.Delegate, whole, ext[i])
		n := st.Offsets.Len()
		if n > 0 && whole.inline == 0 && h.Delegate.Type != metadata.TypeEmptySegment && h.Delegate.Type != metadata.TypeByteStream {
			size.Files = 1
		}
		si := b.state(stateKey{kind: kind, name: st.Name}, Distribution(st.Mode), 0)
		b.cell(si, k, size, n)
		sum := &b.states[si].sizes
		sum.Exclusive, sum.Shared = plus(sum.Exclusive, size.Exclusive), plus(sum.Shared, size.Shared)
		sum.Files += size.Files
		rest = minus(rest, ext[i])
	}
	if kind == KindOperator {
		d := b.detail(b.op)
		d.StreamHeader = plus(d.StreamHeader, rest)
	}
}

func minus(a, b int64) int64 {
	if a == Unknown || b == Unknown {
		return Unknown
	}
	return a - b
}

func streamLen(h *metadata.StreamHandle) int64 {
	switch h.Type {
	case metadata.TypeEmptySegment, metadata.TypeNull:
		return 0
	case metadata.TypeByteStream:
		return h.Data.Len()
	}
	return h.Size
}

// place puts the extent of a state where the bytes of its stream are.
func place(size *Sizes, h *metadata.StreamHandle, whole use, extent int64) {
	switch {
	case h.Type == metadata.TypeByteStream:
		size.Inline = extent
	case whole.shared > 0:
		size.Shared = extent
	default:
		size.Exclusive = extent
	}
}

// extents gives the bytes of each state of a handle: from each of its offsets
// to the next larger one of the handle or the end of the stream. Only the first
// and last offset of each state are read, which is enough where the states do
// not interleave; else, or where the sums cannot be right, Unknown.
func extents(in decoder.Input, states []metadata.OperatorState, length int64) []int64 {
	out := make([]int64, len(states))
	type run struct {
		state       int
		first, last int64
	}
	var runs []run
	bad := length < 0
	for i := range states {
		n := states[i].Offsets.Len()
		if n == 0 {
			continue
		}
		first, err1 := states[i].Offsets.First(in)
		last, err2 := states[i].Offsets.Last(in)
		// A list whose elements all begin at one place is the broken compressed form.
		if err1 != nil || err2 != nil || first < 0 || last < first || length >= 0 && last > length || n > 1 && first == last {
			bad = true
		}
		runs = append(runs, run{i, first, last})
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.first, b.first) })
	for i, r := range runs {
		next := length
		if i+1 < len(runs) {
			next = runs[i+1].first
			bad = bad || r.last >= next
		}
		out[r.state] = next - r.first
	}
	if bad {
		for _, r := range runs {
			out[r.state] = Unknown
		}
	}
	return out
}

// channels adds in-flight data of one direction.
func (b *builder) channels(k int32, name string, ch *metadata.Channels, slot int) {
	n := ch.Len()
	if n == 0 {
		return
	}
	b.serial++
	var size, sum Sizes
	size.Bookkeeping = ch.Span.Len + 4
	entries := int64(0)
	// Errors cannot be new here: the handles were read once when decoding.
	_ = ch.Each(b.s.Meta, func(_ int, h *metadata.ChannelHandle) error {
		cell, state := b.stream(&h.Delegate, KindInFlight, roleOwn, slot)
		size.Bookkeeping -= cell.inline
		size.Inline += cell.inline
		size.Files += cell.files
		sum.Files += state.files
		if cell.inline == 0 && h.Delegate.Type != metadata.TypeByteStream {
			if b.s.locate(&h.Delegate, roleOwn).Shared {
				size.Shared += h.Size
			} else {
				size.Exclusive += h.Size
			}
		}
		entries += b.channelCount(h)
		return nil
	})
	si := b.state(stateKey{kind: KindInFlight, name: name}, DistNone, 0)
	b.cell(si, k, size, entries)
	st := &b.states[si].sizes
	st.Exclusive += size.Exclusive
	st.Shared += size.Shared
	st.Files += sum.Files
}

// channelCount is the number of channels that a handle holds.
func (b *builder) channelCount(h *metadata.ChannelHandle) (n int64) {
	if h.Kind != metadata.ChannelMergedInput && h.Kind != metadata.ChannelMergedOutput {
		return 1
	}
	// What cannot be unpacked was reported as damage when decoding, or counts not.
	_ = h.EachPacked(b.s.Meta.In, func(_, _ int32, _ int64, _ metadata.Offsets) error {
		n++
		return nil
	})
	return n
}
