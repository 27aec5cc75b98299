package metadata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"chkscope/decoder"
)

// encodeWindow is how many bytes are gathered at most before they are written.
const encodeWindow = 256 << 10

// Encode writes c in the version that it was decoded from, and gives the number
// of bytes written. Everything is written from the fields, except what the
// fields only point to in c.In: offset arrays, inline data, lists that are
// decoded on demand, properties and trailing bytes. A checkpoint that was not
// changed gives the bytes it was decoded from.
//
// A checkpoint made from fields alone needs no In. A damaged one is refused, and
// one that is a CompletedCheckpoint object.
func Encode(w io.Writer, c *Checkpoint) (int64, error) {
	if c.Object {
		return 0, errors.New("a CompletedCheckpoint object is not written as _metadata")
	}
	if c.Damage != nil {
		return 0, fmt.Errorf("an incomplete checkpoint cannot be written: %w", c.Damage)
	}
	in := c.In
	if in == nil { // made from fields alone
		in = decoder.Bytes{Label: "no file"}
	}
	window := min(max(in.Size(), 512), encodeWindow)
	e := &encoder{w: w, in: in, layout: c.layout(), buf: make([]byte, 0, window)}
	e.checkpoint(c)
	e.flush()
	return e.written, e.err
}

// EncodedSize is the number of bytes that Encode would write.
func EncodedSize(c *Checkpoint) (int64, error) {
	e := sizer(c.layout())
	e.checkpoint(c)
	return e.n, e.err
}

// EncodedOperatorSize is the number of bytes that Encode would write for the
// record of the operator at position op; as decoded, its Span.Len.
func (c *Checkpoint) EncodedOperatorSize(op int) (int64, error) {
	e := sizer(c.layout())
	e.operator(&c.Operators[op])
	return e.n, e.err
}

// encoder writes structures; with w nil it only counts (n) and reads nothing.
type encoder struct {
	w   io.Writer
	in  decoder.Input
	buf []byte
	n   int64 // encoded so far
	// written is what w has taken.
	written int64
	err     error
	layout
}

func sizer(l layout) *encoder { return &encoder{layout: l} }

func (e *encoder) fail(format string, a ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, a...)
	}
}

// room gives the next n bytes of the buffer to fill, nil where only counted.
func (e *encoder) room(n int) []byte {
	e.n += int64(n)
	if e.w == nil {
		return nil
	}
	if len(e.buf)+n > cap(e.buf) {
		e.flush()
	}
	at := len(e.buf)
	e.buf = e.buf[:at+n]
	return e.buf[at:]
}

func (e *encoder) flush() {
	if e.w != nil && e.err == nil && len(e.buf) > 0 {
		n, err := e.w.Write(e.buf)
		e.written += int64(n)
		e.err = err
	}
	e.buf = e.buf[:0]
}

func (e *encoder) u8(v byte) {
	if p := e.room(1); p != nil {
		p[0] = v
	}
}

func (e *encoder) i32(v int32) {
	if p := e.room(4); p != nil {
		binary.BigEndian.PutUint32(p, uint32(v))
	}
}

func (e *encoder) i64(v int64) {
	if p := e.room(8); p != nil {
		binary.BigEndian.PutUint64(p, uint64(v))
	}
}

// count writes the length of a list.
func (e *encoder) count(n int64, what string) {
	if n > math.MaxInt32 {
		e.fail("%d %s: at most %d can be written", n, what, math.MaxInt32)
	}
	e.i32(int32(n))
}

func (e *encoder) utf(s, what string) {
	if len(s) > math.MaxUint16 {
		e.fail("%s of %d bytes: at most %d can be written", what, len(s), math.MaxUint16)
		return
	}
	if p := e.room(2); p != nil {
		binary.BigEndian.PutUint16(p, uint16(len(s)))
	}
	for e.w != nil && len(s) > 0 {
		s = s[copy(e.part(len(s)), s):]
	}
	e.n += int64(len(s)) // where only counted
}

// part gives room for the next bytes of at most n, at least one.
func (e *encoder) part(n int) []byte {
	if len(e.buf) == cap(e.buf) {
		e.flush()
	}
	return e.room(min(n, cap(e.buf)-len(e.buf)))
}

// span copies bytes of the input.
func (e *encoder) span(s decoder.Span) {
	if e.w == nil {
		e.n += s.Len
		return
	}
	for off := s.Off; off < s.End() && e.err == nil; {
		p := e.part(int(min(s.End()-off, encodeWindow)))
		if err := readFull(e.in, p, off); err != nil {
			e.err = err
		}
		off += int64(len(p))
	}
}

// blob writes the bytes of b, the length before them not included.
func (e *encoder) blob(b Blob) {
	if b.New == nil {
		e.span(b.Span)
		return
	}
	if e.w == nil {
		e.n += int64(len(b.New))
		return
	}
	for rest := b.New; len(rest) > 0; {
		rest = rest[copy(e.part(len(rest)), rest):]
	}
}

// offsets writes the elements, the count before them not included.
func (e *encoder) offsets(o Offsets) {
	if o.edit == nil {
		e.span(o.Span)
		return
	}
	if e.w == nil {
		e.n += 8 * o.Len()
		return
	}
	err := o.Each(e.in, func(_, v int64) error {
		e.i64(v)
		return e.err
	})
	if err != nil && e.err == nil {
		e.err = err
	}
}

func (e *encoder) checkpoint(c *Checkpoint) {
	e.i32(Magic)
	e.i32(c.Version)
	e.i64(c.ID)
	if c.Version > 1 {
		e.count(int64(len(c.Masters)), "master states")
		for i := range c.Masters {
			e.master(&c.Masters[i])
		}
	}
	e.count(int64(len(c.Operators)), "operators")
	for i := range c.Operators {
		e.operator(&c.Operators[i])
	}
	if c.Version >= 4 {
		e.span(c.Properties)
	} else {
		e.span(c.Trailing)
	}
}

func (e *encoder) master(m *Master) {
	e.i32(masterMagic)
	e.count(4+2+int64(len(m.Name))+4+m.Payload.Len(), "bytes of a master state")
	e.i32(m.Version)
	e.utf(m.Name, "hook name")
	e.i32(int32(m.Payload.Len()))
	e.blob(m.Payload)
}

func (e *encoder) operator(op *Operator) {
	if e.version >= 5 {
		e.utf(op.Name, "operator name")
		e.utf(op.UID, "operator uid")
	}
	copy(e.room(len(op.ID)), op.ID[:])
	e.i32(op.Parallelism)
	e.i32(op.MaxParallelism)
	if e.version <= 2 {
		e.i32(op.ChainLength)
	} else {
		e.streamPointer(op.Coordinator)
	}
	if op.SubtaskCount < 0 {
		if len(op.Subtasks) > 0 {
			e.fail("operator %s: fully finished, yet it has %d subtask entries", op.ID, len(op.Subtasks))
		}
		e.i32(op.SubtaskCount)
		return
	}
	e.count(int64(len(op.Subtasks)), "subtasks")
	for i := range op.Subtasks {
		e.subtask(&op.Subtasks[i])
	}
}

func (e *encoder) subtask(s *Subtask) {
	if s.Finished {
		e.i32(^s.Index)
		return
	}
	e.i32(s.Index)
	st := s.State
	if st == nil {
		e.fail("subtask %d has no state record and is not finished", s.Index)
		return
	}
	if e.version <= 2 {
		e.i64(st.Duration)
		e.streams(st.Legacy)
	}
	if e.version == 1 {
		e.chain(st.Chain)
	} else {
		e.presence(st.ManagedOperator, st.ManagedOperatorPresence)
		e.presence(st.RawOperator, st.RawOperatorPresence)
	}
	e.keyedPointer(st.ManagedKeyed)
	e.keyedPointer(st.RawKeyed)
	if e.version >= 3 {
		e.channels(&st.Input)
		e.channels(&st.Output)
	}
}

func (e *encoder) streams(list []StreamHandle) {
	e.count(int64(len(list)), "handles")
	for i := range list {
		e.stream(&list[i])
	}
}

func (e *encoder) chain(c *Chain) {
	if c == nil {
		c = &Chain{}
	}
	for _, part := range [][]*OperatorHandle{c.Managed, c.Raw} {
		e.count(int64(len(part)), "handles")
		for _, h := range part {
			if h == nil {
				e.u8(TypeNull)
				continue
			}
			e.operatorHandle(h)
		}
	}
}

// presence writes the presence int, raw where the handle is as decoded, and the
// handle.
func (e *encoder) presence(h *OperatorHandle, raw int32) {
	if h == nil {
		e.i32(0)
		return
	}
	if raw == 0 {
		raw = 1
	}
	e.i32(raw)
	e.operatorHandle(h)
}
