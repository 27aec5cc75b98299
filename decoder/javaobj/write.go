package javaobj

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"chkscope/decoder"
)

// WriteTo writes the stream as it was read; the bytes are the same.
func (s *Stream) WriteTo(w io.Writer) (int64, error) {
	return s.Edit().WriteTo(w)
}

// WriteTo writes the stream with the edits, handles assigned anew.
func (e *Edit) WriteTo(w io.Writer) (int64, error) {
	if e.s.Damage != nil {
		return 0, fmt.Errorf("a damaged object stream is not written: %w", e.s.Damage)
	}
	return e.write(w, e.s.top)
}

// WriteNode writes a stream of its own that holds n and nothing else.
func (s *Stream) WriteNode(w io.Writer, n Node) (int64, error) {
	if n.s != s {
		return 0, errors.New("the object is of another stream")
	}
	return s.Edit().write(w, []uint32{n.id})
}

func (e *Edit) write(w io.Writer, top []uint32) (int64, error) {
	out := &writer{
		w:      bufio.NewWriterSize(w, 64<<10),
		e:      e,
		handle: make([]uint32, len(e.s.nodes)+len(e.fresh)),
	}
	out.u32(streamMagic)
	for _, id := range top {
		out.content(id)
		out.aborted = false
	}
	if out.err == nil {
		out.err = out.w.Flush()
	}
	return out.n, out.err
}

// Size is the number of bytes that WriteTo would write.
func (e *Edit) Size() (int64, error) {
	return e.WriteTo(io.Discard)
}

type writer struct {
	w       *bufio.Writer
	e       *Edit
	n       int64
	handle  []uint32 // by node: its number from 1 on, counted over all resets
	next    uint32   // handles given
	forgot  uint32   // of them, before the last reset
	depth   int
	aborted bool
	err     error
}

func (w *writer) ok() bool { return w.err == nil && !w.aborted }

func (w *writer) u8(v byte) {
	if w.err == nil {
		w.err = w.w.WriteByte(v)
		w.n++
	}
}

func (w *writer) u16(v uint16) { w.u8(byte(v >> 8)); w.u8(byte(v)) }
func (w *writer) u32(v uint32) { w.u16(uint16(v >> 16)); w.u16(uint16(v)) }
func (w *writer) u64(v uint64) { w.u32(uint32(v >> 32)); w.u32(uint32(v)) }

func (w *writer) raw(s string) {
	if w.err == nil {
		var n int
		n, w.err = w.w.WriteString(s)
		w.n += int64(n)
	}
}

func (w *writer) utf(s string) {
	w.u16(uint16(len(s)))
	w.raw(s)
}

func (w *writer) assign(id uint32) {
	w.next++
	w.handle[id] = w.next
}

func (w *writer) content(id uint32) {
	if w.err == nil && w.depth >= maxDepth {
		w.err = errors.New("the edited objects are nested too deeply")
	}
	if !w.ok() {
		return
	}
	if by, ok := w.e.alias[id]; ok {
		id = by
	}
	if h := w.handle[id]; h > w.forgot {
		w.u8(tcReference)
		w.u32(baseHandle + h - w.forgot - 1)
		return
	}
	w.depth++
	w.full(id, w.e.node(id))
	w.depth--
}

func (w *writer) full(id uint32, n *node) {
	switch n.kind {
	case Null:
		w.u8(tcNull)
	case Object:
		w.u8(tcObject)
		w.class(n)
		w.assign(id)
		w.object(id, n)
	case String:
		w.assign(id)
		w.bytes(id, n, tcString, tcLongString, 8, 0xffff)
	case Block:
		w.bytes(id, n, tcBlockData, tcBlockDataLong, 4, 0xff)
	case Array:
		w.u8(tcArray)
		w.class(n)
		w.assign(id)
		w.array(id, n)
	case Enum:
		w.u8(tcEnum)
		w.class(n)
		w.assign(id)
		w.all(w.e.kidsOf(id))
	case ClassObject:
		w.u8(tcClass)
		w.class(n)
		w.assign(id)
	case Descriptor:
		w.descriptor(id, w.e.class(n.class))
	case Reset:
		w.u8(tcReset)
		w.forgot = w.next
	case Exception:
		w.u8(tcException)
		w.forgot = w.next
		w.all(w.e.kidsOf(id))
		w.forgot = w.next
		w.aborted = true
	}
}

func (w *writer) all(kids []uint32) {
	for _, k := range kids {
		if w.err != nil || w.aborted {
			return
		}
		if k == endMark {
			w.u8(tcEndBlockData)
		} else {
			w.content(k)
		}
	}
}

func (w *writer) class(n *node) {
	if n.class == 0 {
		w.u8(tcNull)
		return
	}
	w.content(w.e.class(n.class).node)
}

func (w *writer) object(id uint32, n *node) {
	kids, prims := w.e.kidsOf(id), w.e.primsOf(id)
	for pt := range parts(w.e.class(n.class), kids, nil) {
		if !w.ok() {
			return
		}
		if pt.class.hasFields() {
			w.raw(prims[pt.prims : pt.prims+pt.class.prims])
		}
		end := pt.end
		if pt.class.custom() && end < len(kids) {
			end++ // the end mark
		}
		w.all(kids[min(pt.objects, len(kids)):min(end, len(kids))])
	}
}

// bytes writes a string or block: in its short form, or long where it is too
// long for that or was written so.
func (w *writer) bytes(id uint32, n *node, short, long byte, longLen int, limit int64) {
	c := w.e.contentOf(id)
	switch {
	case c.Len <= limit && n.flags&flagLong == 0 && longLen == 8:
		w.u8(short)
		w.u16(uint16(c.Len))
	case c.Len <= limit && n.flags&flagLong == 0:
		w.u8(short)
		w.u8(byte(c.Len))
	case longLen == 8:
		w.u8(long)
		w.u64(uint64(c.Len))
	default:
		w.u8(long)
		w.u32(uint32(c.Len))
	}
	w.copy(c)
}

func (w *writer) array(id uint32, n *node) {
	if size := w.e.class(n.class).elemSize(); size > 0 {
		c := w.e.contentOf(id)
		w.u32(uint32(c.Len / int64(size)))
		w.copy(c)
		return
	}
	kids := w.e.kidsOf(id)
	if n.flags&flagCut != 0 {
		w.u32(uint32(w.e.s.cut[id])) // as announced
	} else {
		w.u32(uint32(len(kids)))
	}
	w.all(kids)
}

// copy writes the bytes of a string, block or array.
func (w *writer) copy(c Content) {
	if w.err != nil {
		return
	}
	cw := &countWriter{w: w.w}
	w.err = c.Write(cw)
	w.n += cw.n
	if w.err == nil && cw.n != c.Len {
		w.err = fmt.Errorf("%d bytes to write were announced, %d came", c.Len, cw.n)
	}
}

type countWriter struct {
	w io.Writer
	n int64
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func (w *writer) descriptor(id uint32, c *Class) {
	if c.Proxy {
		w.u8(tcProxyClassDesc)
		w.assign(id)
		w.u32(uint32(len(c.Interfaces)))
		for _, name := range c.Interfaces {
			w.utf(name)
		}
		w.all(w.e.kidsOf(id))
		return
	}
	w.u8(tcClassDesc)
	w.utf(c.Name)
	w.u64(uint64(c.UID))
	w.assign(id)
	w.u8(c.Flags)
	w.u16(uint16(len(c.Fields)))
	kids := w.e.kidsOf(id)
	for _, f := range c.Fields {
		w.u8(f.Type)
		w.utf(f.Name)
		if primSize(f.Type) == 0 && len(kids) > 0 {
			w.all(kids[:1])
			kids = kids[1:]
		}
		if !w.ok() {
			return
		}
	}
	w.all(kids)
}

// Content is the new bytes of an array, a string or a block.
type Content struct {
	Len   int64
	Write func(io.Writer) error
}

// BytesContent is a Content in memory.
func BytesContent(p []byte) Content {
	return Content{int64(len(p)), func(w io.Writer) error {
		_, err := w.Write(p)
		return err
	}}
}

// SpanContent is a Content that is copied from a span of in.
func SpanContent(in decoder.Input, s decoder.Span) Content {
	return Content{s.Len, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(in, s.Off, s.Len))
		return err
	}}
}

func textContent(s string) Content {
	return Content{int64(len(s)), func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}}
}
