package metadata

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"unsafe"

	"chkscope/decoder"
)

// masterMagic is c9 6b 16 96.
const masterMagic int32 = 0xc96b1696 - 1<<32

// Decode reads a `_metadata` file of version 1 to 6.
//
// On damage the error is a *decoder.Error and the Checkpoint, where it is not
// nil, holds what was read before it, with Damage set: complete operators and
// as much of the damaged one as could be read. The Checkpoint is nil where
// nothing can be shown: no magic, or a version that is not decoded (the error
// wraps decoder.ErrVersion).
//
// Opening takes time and memory by the number of structures: offset arrays,
// inline data, the files of incremental handles, changes and channels are
// stepped over.
func Decode(in decoder.Input) (*Checkpoint, error) {
	version, err := readVersion(in)
	if err != nil {
		return nil, err
	}
	c, r := decodeAs(in, layout{version: version})
	if version == 3 && (c.Damage != nil || c.Trailing.Len > 0) {
		if v := decodeVariant(in, r); v != nil {
			c = v
		}
	}
	if c.Damage != nil {
		return c, c.Damage
	}
	return c, nil
}

// firstBytes is what every _metadata begins with, for errors.
const firstBytes = "magic 49 60 67 2d of Flink's _metadata"

// readVersion reads magic and version.
func readVersion(in decoder.Input) (int32, error) {
	r := newReader(in, 0, in.Size(), layout{})
	r.Enter("header", -1)
	if in.Size() == 0 {
		r.FailAt(0, firstBytes, "an empty file: take an older checkpoint", nil)
	}
	magic := r.I32(firstBytes)
	if r.ok() && magic != Magic {
		r.FailAt(0, firstBytes, hex4(magic)+": this is no checkpoint's _metadata", nil)
	}
	version := r.I32("format version")
	if r.ok() && (version < 1 || version > 6) {
		r.FailAt(4, "format version 1 to 6", strconv.Itoa(int(version))+" (of a newer Flink, or damaged)", decoder.ErrVersion)
	}
	if !r.ok() {
		return 0, r.Err()
	}
	return version, nil
}

// hex4 prints four bytes.
func hex4(v int32) string { return fmt.Sprintf("% x", binary.BigEndian.AppendUint32(nil, uint32(v))) }

// decodeVariant tries the layouts that share version 3 with the standard one,
// for structures that the first attempt met. Only a reading that consumes the
// file exactly is believed.
func decodeVariant(in decoder.Input, first *reader) *Checkpoint {
	var tries []layout
	if first.metChangelog {
		tries = append(tries, layout{version: 3, legacy114: true})
	}
	if first.metChannels {
		tries = append(tries, layout{version: 3, legacy111: true})
	}
	for _, l := range tries {
		if c, _ := decodeAs(in, l); c.Damage == nil && c.Trailing.Len == 0 {
			return c
		}
	}
	return nil
}

func decodeAs(in decoder.Input, l layout) (*Checkpoint, *reader) {
	r := newReader(in, 0, in.Size(), l)
	c := &Checkpoint{In: in, Version: l.version, Legacy114: l.legacy114, Legacy111: l.legacy111}
	r.Skip(8, "magic and version")
	n := r.header(c)
	r.operators(c, n)
	if r.ok() {
		r.rest(c)
	}
	c.Damage = r.Err()
	return c, r
}

// header reads everything up to the operator count, which it gives.
func (r *reader) header(c *Checkpoint) int {
	r.Enter("header", -1)
	at := r.Off()
	c.ID = r.I64("checkpoint id")
	if r.ok() && c.ID < 0 {
		r.FailAt(at, "checkpoint id of 0 or more", strconv.FormatInt(c.ID, 10), nil)
	}
	if r.version > 1 {
		n := r.Count("master state count", 18)
		c.Masters = newList[Master](r, n, 18, int64(unsafe.Sizeof(Master{})))
		for i := 0; i < n && r.ok(); i++ {
			r.Enter("master state", i)
			if m := r.master(); r.ok() {
				c.Masters = append(c.Masters, m)
			}
			r.Leave()
		}
	}
	n := r.openCount("operator count", r.minOperator())
	r.Leave()
	c.Header = r.since(0)
	return n
}

func (r *reader) master() (m Master) {
	start := r.Off()
	if v := r.I32("magic c9 6b 16 96"); r.ok() && v != masterMagic {
		r.FailAt(start, "magic c9 6b 16 96", hex4(v), nil)
	}
	at := r.Off()
	n := r.length("length")
	end := r.Off() + n
	if r.ok() && n == 0 {
		r.FailAt(at, "length above 0", "0", nil)
	}
	m.Version = r.I32("hook version")
	m.Name = r.utf("hook name")
	at = r.Off()
	m.Payload = Blob{Span: r.Skip(r.length("payload length"), "payload")}
	if r.ok() && r.Off() != end {
		r.FailAt(at, fmt.Sprintf("a payload that ends at offset %d", end), fmt.Sprintf("end at %d", r.Off()), nil)
	}
	m.Span = r.since(start)
	return m
}

// since is the span from off to here, or to the damage.
func (r *reader) since(off int64) decoder.Span {
	end := r.Off()
	if e := r.Err(); e != nil {
		end = max(min(end, e.Offset), off)
	}
	return decoder.Span{Off: off, Len: end - off}
}

// minOperator is the length of the smallest operator record.
func (r *reader) minOperator() int64 {
	switch {
	case r.version <= 2:
		return 32
	case r.version <= 4:
		return 29
	}
	return 33
}

func (r *reader) operators(c *Checkpoint, n int) {
	c.Operators = newList[Operator](r, n, r.minOperator(), int64(unsafe.Sizeof(Operator{})))
	for i := 0; i < n && r.ok(); i++ {
		r.Enter("operator", i)
		c.Operators = append(c.Operators, Operator{})
		if !r.operator(&c.Operators[i]) {
			c.Operators = c.Operators[:i]
		}
		r.Leave()
	}
}

// operator reads one record; false where not even its head could be read.
func (r *reader) operator(op *Operator) bool {
	start, inline := r.Off(), r.inline
	if r.version >= 5 {
		op.Name = r.utf("operator name")
		op.UID = r.utf("operator uid")
	}
	copy(op.ID[:], r.Bytes(len(op.ID), "operator id"))
	at := r.Off()
	op.Parallelism = r.I32("parallelism")
	op.MaxParallelism = r.I32("max parallelism")
	if r.ok() && (op.Parallelism < 0 || op.Parallelism > op.MaxParallelism) {
		r.FailAt(at, "parallelism between 0 and the max parallelism", fmt.Sprintf("%d of %d", op.Parallelism, op.MaxParallelism), nil)
	}
	if !r.ok() {
		return false
	}
	if r.version <= 2 {
		op.ChainLength = r.I32("chain length")
	} else {
		op.Coordinator = r.coordinator()
	}
	r.subtasks(op)
	op.Span, op.InlineBytes = r.since(start), r.inline-inline
	return true
}

func (r *reader) coordinator() *StreamHandle {
	r.Enter("coordinator state", -1)
	defer r.Leave()
	at := r.Off()
	h := r.streamPointer()
	if r.ok() && h != nil && h.Type != TypeByteStream {
		r.FailAt(at, "handle type 0 or 1", strconv.Itoa(int(h.Type)), nil)
	}
	if !r.ok() {
		return nil
	}
	return h
}

func (r *reader) subtasks(op *Operator) {
	at := r.Off()
	op.SubtaskCount = r.I32("subtask count")
	if !r.ok() {
		op.SubtaskCount = 0
		return
	}
	if op.SubtaskCount < 0 {
		if op.Coordinator != nil {
			r.FailAt(at, "no coordinator state where the operator is fully finished", "one", nil)
		}
		return
	}
	least := int64(4) // a finished mark
	if r.version <= 2 {
		least = 26
	}
	n := int(op.SubtaskCount)
	if n > absurd && int64(n) > r.Left()/least {
		r.FailAt(at, fmt.Sprintf("subtask count of at most %d", r.Left()/least), strconv.Itoa(n), nil)
		return
	}
	op.Subtasks = newList[Subtask](r, n, least, int64(unsafe.Sizeof(Subtask{})))
	for i := 0; i < n && r.ok(); i++ {
		op.Subtasks = append(op.Subtasks, Subtask{})
		if !r.subtask(op, i, &op.Subtasks[i]) {
			op.Subtasks = op.Subtasks[:i]
		}
	}
}

// subtask reads entry i of an operator; false where not even its index could be
// read.
func (r *reader) subtask(op *Operator, i int, s *Subtask) bool {
	start, inline := r.Off(), r.inline
	r.Enter("subtask entry", i)
	stored := r.I32("subtask index")
	if s.Index = stored; stored < 0 && r.version > 2 {
		s.Index, s.Finished = ^stored, true
	}
	if r.ok() && (s.Index < 0 || s.Index >= op.Parallelism) {
		r.FailAt(start, fmt.Sprintf("subtask index below the parallelism, %d", op.Parallelism), strconv.Itoa(int(s.Index)), nil)
	}
	if !r.ok() {
		return false
	}
	r.Leave()
	if !s.Finished {
		r.Enter("subtask", int(s.Index))
		if s.State = new(SubtaskState); r.charge(int64(unsafe.Sizeof(SubtaskState{}))) {
			r.subtaskState(s.State)
		}
		r.Leave()
	}
	s.Span, s.InlineBytes = r.since(start), r.inline-inline
	return true
}

func (r *reader) subtaskState(s *SubtaskState) {
	if r.version <= 2 {
		s.Duration = r.I64("duration")
		s.Legacy = r.legacyState()
	}
	if r.version == 1 {
		s.Chain = r.chain()
	} else {
		s.ManagedOperatorPresence = r.I32("managed operator state presence")
		if s.ManagedOperatorPresence != 0 && r.ok() {
			s.ManagedOperator = r.operatorHandle("managed operator state", -1)
		}
		s.RawOperatorPresence = r.I32("raw operator state presence")
		if s.RawOperatorPresence != 0 && r.ok() {
			s.RawOperator = r.operatorHandle("raw operator state", -1)
		}
	}
	s.ManagedKeyed = r.keyedPointer("managed keyed state")
	s.RawKeyed = r.keyedPointer("raw keyed state")
	if r.version >= 3 {
		s.Input = r.channels("input channel state", false)
		s.Output = r.channels("result subpartition state", true)
	}
}

// legacyState reads the state of Flink 1.1's Checkpointed interface.
func (r *reader) legacyState() []StreamHandle {
	r.Enter("legacy state", -1)
	defer r.Leave()
	n := r.Count("handle count", 1)
	list := newList[StreamHandle](r, n, 1, int64(unsafe.Sizeof(StreamHandle{})))
	for i := 0; i < n && r.ok(); i++ {
		r.Enter("element", i)
		var h StreamHandle
		if r.stream(&h); r.ok() {
			list = append(list, h)
		}
		r.Leave()
	}
	return list
}

// chain reads the operator state of a V1 subtask.
func (r *reader) chain() *Chain {
	if !r.charge(int64(unsafe.Sizeof(Chain{}))) {
		return nil
	}
	part := func(what string) []*OperatorHandle {
		n := r.Count(what+" count", 1)
		list := newList[*OperatorHandle](r, n, 1, 8)
		for i := 0; i < n && r.ok(); i++ {
			list = append(list, r.operatorHandle(what, i))
		}
		return list
	}
	return &Chain{Managed: part("managed operator state"), Raw: part("raw operator state")}
}

// rest takes what follows the operators: nothing, bytes that Flink ignores, or
// from V4 on the properties, whose Java object stream is not decoded here.
func (r *reader) rest(c *Checkpoint) {
	if r.version < 4 {
		c.Trailing = r.Skip(r.Left(), "trailing bytes")
		return
	}
	r.Enter("properties", -1)
	at := r.Off()
	if magic := r.I32("Java object stream ac ed 00 05"); r.ok() && uint32(magic) != 0xaced0005 {
		r.FailAt(at, "Java object stream ac ed 00 05", hex4(magic), nil)
	}
	if r.ok() && r.Left() == 0 {
		r.FailAt(r.Off(), "an object", "end of file", io.ErrUnexpectedEOF)
	}
	r.Skip(r.Left(), "properties")
	c.Properties = r.since(at)
	r.Leave()
}

// Unread is what decoding did not get to because of Damage; empty otherwise.
func (c *Checkpoint) Unread() decoder.Span {
	if c.Damage == nil {
		return decoder.Span{Off: c.In.Size()}
	}
	end := c.Header.End()
	if n := len(c.Operators); n > 0 {
		end = c.Operators[n-1].Span.End()
	}
	end = max(end, c.Properties.End())
	return decoder.Span{Off: end, Len: c.In.Size() - end}
}
