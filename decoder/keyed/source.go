package keyed

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"chkscope/decoder"
	"chkscope/decoder/snappyframe"
)

// sourceLen is how many bytes a source holds.
const sourceLen = 256 << 10

// source reads a stretch of a stream forward, decompressed where it is framed.
// The first failure sticks.
type source struct {
	in    decoder.Input
	path  string
	plain bool
	off   int64               // plain: of the byte behind the buffer
	end   int64               // plain: of the stretch
	frame *snappyframe.Reader // else
	buf   []byte
	r, w  int
	pos   int64 // bytes that were given
	tee   io.Writer
	ended bool // nothing behind the buffer
	err   error
}

func newSource(in decoder.Input, s decoder.Span, framed bool, path string) *source {
	c := &source{}
	c.reset(in, s, framed, path)
	return c
}

// reset begins another stretch with the same buffers.
func (c *source) reset(in decoder.Input, s decoder.Span, framed bool, path string) {
	c.in, c.path, c.plain, c.off, c.end = in, path, !framed, s.Off, s.End()
	c.r, c.w, c.pos, c.tee, c.ended, c.err = 0, 0, 0, nil, false, nil
	if !framed {
		return
	}
	if c.frame == nil {
		c.frame = snappyframe.NewReader(in, s.Off, s.End())
	} else {
		c.frame.Reset(s.Off, s.End())
	}
}

// at is the offset for errors: of the next byte, or of the next chunk.
func (c *source) at() int64 {
	if c.plain {
		return c.off - int64(c.w-c.r)
	}
	return c.frame.Off()
}

func (c *source) fail(expected, found string, cause error) {
	if c.err == nil {
		c.err = damage(c.in, c.at(), c.path, expected, found, cause)
	}
}

// need makes n bytes stand in the buffer.
func (c *source) need(n int, what string) bool {
	for c.err == nil && c.w-c.r < n {
		if c.ended {
			c.fail(fmt.Sprintf("%s (%d bytes)", what, n), fmt.Sprintf("end after %d bytes", c.w-c.r), io.ErrUnexpectedEOF)
			break
		}
		c.fill(n)
	}
	return c.err == nil
}

// fill gets more bytes, where possible up to n; ended is set where there are
// none.
func (c *source) fill(n int) {
	if c.r > 0 {
		c.w = copy(c.buf, c.buf[c.r:c.w])
		c.r = 0
	}
	if c.w == len(c.buf) {
		// Grown step by step: a length may be a lie.
		size := int64(max(min(n, 2*len(c.buf)), sourceLen))
		if c.plain {
			size = min(size, int64(c.w)+c.end-c.off)
		}
		c.buf = append(make([]byte, 0, size), c.buf[:c.w]...)[:size]
	}
	k, err := c.read(c.buf[c.w:])
	c.w += k
	if err == io.EOF {
		c.ended = true
	} else if err != nil && c.err == nil {
		c.err = err
	}
}

// read gets more bytes from the stream.
func (c *source) read(p []byte) (int, error) {
	if !c.plain {
		return c.frame.Read(p)
	}
	p = p[:min(int64(len(p)), c.end-c.off)]
	if len(p) == 0 {
		return 0, io.EOF
	}
	n, err := c.in.ReadAt(p, c.off)
	c.off += int64(n)
	if n == 0 {
		return 0, damage(c.in, c.off, c.path, "more bytes", fmt.Sprint(err), err)
	}
	return n, nil
}

// take gives n bytes, valid until the next call.
func (c *source) take(n int, what string) []byte {
	if !c.need(n, what) {
		return nil
	}
	p := c.buf[c.r : c.r+n]
	c.r += n
	c.pos += int64(n)
	c.write(p)
	return p
}

func (c *source) write(p []byte) {
	if c.tee != nil && c.err == nil {
		if _, err := c.tee.Write(p); err != nil {
			c.err = err
		}
	}
}

// skip steps over n bytes.
func (c *source) skip(n int64, what string) {
	for n > 0 && c.err == nil {
		if c.r == c.w && c.plain && c.tee == nil {
			if n > c.end-c.off {
				c.fail(fmt.Sprintf("%s (%d bytes)", what, n), fmt.Sprintf("end after %d bytes", c.end-c.off), io.ErrUnexpectedEOF)
				return
			}
			c.off += n
			c.pos += n
			return
		}
		if c.r == c.w && !c.need(1, what) {
			return
		}
		k := int(min(n, int64(c.w-c.r)))
		c.take(k, what)
		n -= int64(k)
	}
}

func (c *source) u16(what string) int {
	if p := c.take(2, what); p != nil {
		return int(binary.BigEndian.Uint16(p))
	}
	return 0
}

func (c *source) i32(what string) int32 {
	if p := c.take(4, what); p != nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

// length reads an i32 length of at least least bytes that fits into the stretch.
func (c *source) length(what string, least int32) int64 {
	n := c.i32(what)
	left := int64(math.MaxInt32)
	if c.plain {
		left = c.end - c.off + int64(c.w-c.r)
	}
	if c.err == nil && (n < least || int64(n) > left) {
		c.fail(fmt.Sprintf("%s between %d and %d", what, least, left), fmt.Sprint(n), nil)
	}
	if c.err != nil {
		return 0
	}
	return int64(n)
}
