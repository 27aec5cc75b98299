package decoder

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
)

// cursorWindow is how many bytes a Cursor reads at once at most, firstWindow
// what it reads after stepping over something: reading on doubles it, so that
// a field between two long arrays costs a page.
const (
	cursorWindow = 32 << 10
	firstWindow  = 4 << 10
)

// Cursor reads an Input forward, big-endian, with a window of its own, so that
// what is stepped over is never read. The first failure sticks: later reads
// give zeros and Err keeps the first error, so that a structure is read without
// a check behind every field. Callers check Err before they loop on a count or
// keep what they read.
type Cursor struct {
	in   Input
	off  int64 // of the next byte
	end  int64
	buf  []byte
	base int64 // offset of buf[0]
	path []step
	err  *Error
}

type step struct {
	what string
	n    int // -1: no number
}

// NewCursor reads in from off up to end (in.Size() for the whole).
func NewCursor(in Input, off, end int64) *Cursor {
	if end > in.Size() {
		end = in.Size()
	}
	c := &Cursor{in: in, off: off, end: end, base: off}
	if b, ok := in.(Bytes); ok && off >= 0 && end > 0 { // all of it is the window: nothing to copy
		c.base, c.buf = 0, b.Data[:end:end]
	}
	return c
}

// Off is the offset of the next byte.
func (c *Cursor) Off() int64 { return c.off }

// Left is how many bytes are left before the end.
func (c *Cursor) Left() int64 { return c.end - c.off }

// Err is the first failure, or nil.
func (c *Cursor) Err() *Error { return c.err }

// Enter names the structure that is read from here on; n < 0 has no number.
// The matching Leave ends it.
func (c *Cursor) Enter(what string, n int) { c.path = append(c.path, step{what, n}) }

// Leave ends the structure that the last Enter began. After a failure the path
// stays as it was there.
func (c *Cursor) Leave() {
	if c.err == nil {
		c.path = c.path[:len(c.path)-1]
	}
}

// maxPath is how many steps of a path are printed, of a longer one the first
// and the last.
const maxPath = 40

// Path is the path of structures around the next byte, as in Error.Path.
func (c *Cursor) Path() string {
	var b []byte
	for i, s := range c.path {
		if left := len(c.path) - i; i >= maxPath/2 && left > maxPath/2 {
			if i == maxPath/2 {
				b = append(b, " / ..."...)
			}
			continue
		}
		if i > 0 {
			b = append(b, " / "...)
		}
		b = append(b, s.what...)
		if s.n >= 0 {
			b = append(b, ' ')
			b = strconv.AppendInt(b, int64(s.n), 10)
		}
	}
	return string(b)
}

// FailAt records damage at off, unless an earlier failure is recorded already.
func (c *Cursor) FailAt(off int64, expected, found string, cause error) {
	if c.err == nil {
		c.err = &Error{File: c.in.Name(), Offset: off, Path: c.Path(), Expected: expected, Found: found, Err: cause}
	}
}

// Peek gives the next byte without stepping over it; 0 after a failure.
func (c *Cursor) Peek(what string) byte {
	b := c.U8(what)
	if c.err == nil {
		c.off--
	}
	return b
}

// take gives the next n bytes (n at most cursorWindow), valid until the next
// call, or nil after a failure.
func (c *Cursor) take(n int, what string) []byte {
	if c.err != nil {
		return nil
	}
	if int64(n) > c.Left() {
		c.FailAt(c.off, fmt.Sprintf("%s (%d bytes)", what, n), fmt.Sprintf("end after %d bytes", c.Left()), io.ErrUnexpectedEOF)
		return nil
	}
	if c.off < c.base || c.off+int64(n) > c.base+int64(len(c.buf)) {
		if !c.fill(n, what) {
			return nil
		}
		if n > len(c.buf) {
			c.FailAt(c.off, what, "short read", io.ErrUnexpectedEOF)
			return nil
		}
	}
	i := int(c.off - c.base)
	c.off += int64(n)
	return c.buf[i : i+n]
}

// fill reads the window from off on, at least need bytes.
func (c *Cursor) fill(need int, what string) bool {
	size := int64(firstWindow)
	if c.off <= c.base+int64(len(c.buf)) {
		size = min(max(2*int64(len(c.buf)), firstWindow), cursorWindow)
	}
	size = min(max(size, int64(need)), c.end-c.off)
	if int64(cap(c.buf)) < size {
		c.buf = make([]byte, size)
	}
	c.buf = c.buf[:size]
	n, err := c.in.ReadAt(c.buf, c.off)
	c.base, c.buf = c.off, c.buf[:n]
	if n < int(size) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		c.FailAt(c.off+int64(n), what, err.Error(), err)
		return false
	}
	return true
}

// U8 reads one byte.
func (c *Cursor) U8(what string) byte {
	if p := c.take(1, what); p != nil {
		return p[0]
	}
	return 0
}

// U16 reads two bytes.
func (c *Cursor) U16(what string) uint16 {
	if p := c.take(2, what); p != nil {
		return binary.BigEndian.Uint16(p)
	}
	return 0
}

// I32 reads four bytes.
func (c *Cursor) I32(what string) int32 {
	if p := c.take(4, what); p != nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

// I64 reads eight bytes.
func (c *Cursor) I64(what string) int64 {
	if p := c.take(8, what); p != nil {
		return int64(binary.BigEndian.Uint64(p))
	}
	return 0
}

// Count reads an i32 number of records of at least each bytes and refuses one
// that is negative or cannot fit into what is left.
func (c *Cursor) Count(what string, each int64) int {
	at := c.off
	n := c.I32(what)
	if c.err == nil && (n < 0 || each > 0 && int64(n) > c.Left()/each) {
		c.FailAt(at, fmt.Sprintf("%s between 0 and %d", what, max(c.Left(), 0)/max(each, 1)), strconv.Itoa(int(n)), nil)
	}
	if c.err != nil {
		return 0
	}
	return int(n)
}

// UTF reads a Java writeUTF string: u16 length and that many bytes, kept as
// they are (modified UTF-8, see Text). What DataInput.readUTF refuses is damage.
func (c *Cursor) UTF(what string) string { return string(c.UTFBytes(what)) }

// UTFBytes is UTF without a copy: the bytes are valid until the next call.
func (c *Cursor) UTFBytes(what string) []byte {
	n := int(c.U16(what))
	at := c.off
	b := c.Bytes(n, what)
	if i := malformedUTF(b); i >= 0 {
		c.FailAt(at+int64(i), what+" in modified UTF-8", fmt.Sprintf("byte 0x%02x", b[i]), nil)
		return nil
	}
	return b
}

// Bytes reads n bytes that are valid until the next call and not to be written
// to. It is for fields of a
// bounded length (n up to 65535); larger ones are stepped over with Skip.
func (c *Cursor) Bytes(n int, what string) []byte {
	if n <= cursorWindow {
		return c.take(n, what)
	}
	if int64(n) > c.Left() {
		c.FailAt(c.off, fmt.Sprintf("%s (%d bytes)", what, n), fmt.Sprintf("end after %d bytes", c.Left()), io.ErrUnexpectedEOF)
		return nil
	}
	first := append([]byte(nil), c.take(cursorWindow, what)...)
	return append(first, c.Bytes(n-cursorWindow, what)...)
}

// Skip steps over n bytes without reading them and gives their span.
func (c *Cursor) Skip(n int64, what string) Span {
	if c.err != nil {
		return Span{Off: c.off}
	}
	if n < 0 || n > c.Left() {
		c.FailAt(c.off, fmt.Sprintf("%s (%d bytes)", what, n), fmt.Sprintf("end after %d bytes", c.Left()), io.ErrUnexpectedEOF)
		return Span{Off: c.off}
	}
	s := Span{c.off, n}
	c.off += n
	return s
}
