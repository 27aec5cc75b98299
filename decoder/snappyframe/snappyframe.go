// Package snappyframe reads the snappy framing format, in which Flink writes
// streams with snapshot compression (SnappyStreamCompressionDecorator):
//
//	identifier  FF 06 00 00 "sNaPpY"
//	chunk       u8 type, u24 length (little-endian, checksum included),
//	            u32 masked CRC-32C of the decoded bytes (little-endian), data
//
// Type 00 is a snappy block, 01 raw bytes, both up to 64 KiB decoded; FE and 80
// to FD are stepped over, the others are damage. An identifier may stand
// between any two chunks: operator state has one at the beginning and chunks
// at each recorded offset, or one for each state.
package snappyframe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/snappy"

	"chkscope/decoder"
)

// Identifier begins a framed stream.
const Identifier = "\xff\x06\x00\x00sNaPpY"

const (
	maxDecoded = 64 << 10
	// window is how much is read at once; the longest chunk fits.
	window = 256 << 10
)

// Reader decodes the chunks of a stretch of an Input. Identifiers are dropped.
type Reader struct {
	in   decoder.Input
	off  int64 // of the next chunk
	end  int64
	buf  []byte
	base int64 // offset of buf[0]
	out  []byte
	rest []byte // decoded, not yet given by Read
	one  bool   // ends before the second identifier
	seen bool   // the first identifier was
}

// NewReader reads from off up to end, both where a chunk begins.
func NewReader(in decoder.Input, off, end int64) *Reader {
	return &Reader{in: in, off: off, end: min(end, in.Size()), base: off}
}

// Reset goes on at off up to end, with the same buffers.
func (r *Reader) Reset(off, end int64) {
	r.off, r.end, r.rest, r.one, r.seen = off, min(end, r.in.Size()), nil, false, false
}

// ResetOne is Reset for one framed stream, which ends before the next identifier
// or at end. Off then tells where the next one begins.
func (r *Reader) ResetOne(off, end int64) {
	r.Reset(off, end)
	r.one = true
}

// Off is where the next chunk begins.
func (r *Reader) Off() int64 { return r.off }

func (r *Reader) damage(at int64, expected, found string, err error) error {
	return &decoder.Error{File: r.in.Name(), Offset: at, Path: "snappy frame", Expected: expected, Found: found, Err: err}
}

// bytes gives n bytes from offset at on.
func (r *Reader) bytes(at int64, n int) ([]byte, error) {
	if int64(n) > r.end-at {
		return nil, r.damage(at, fmt.Sprintf("%d bytes", n), fmt.Sprintf("end after %d", r.end-at), io.ErrUnexpectedEOF)
	}
	if at < r.base || at+int64(n) > r.base+int64(len(r.buf)) {
		size := int(min(int64(window), r.end-at))
		if cap(r.buf) < size {
			r.buf = make([]byte, size)
		}
		r.buf, r.base = r.buf[:size], at
		if k, err := r.in.ReadAt(r.buf, at); k < size {
			r.buf = r.buf[:k]
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, r.damage(at+int64(k), "more bytes", err.Error(), err)
		}
	}
	i := int(at - r.base)
	return r.buf[i : i+n], nil
}

// Next gives the decoded bytes of the next chunk, valid until the next call,
// and io.EOF at the end.
func (r *Reader) Next() ([]byte, error) {
	for {
		at := r.off
		if at >= r.end {
			return nil, io.EOF
		}
		h, err := r.bytes(at, 4)
		if err != nil {
			return nil, err
		}
		kind, n := h[0], int(h[1])|int(h[2])<<8|int(h[3])<<16
		switch {
		case kind == 0xff && r.one && r.seen:
			return nil, io.EOF
		case kind == 0xff:
			id, err := r.bytes(at, min(4+n, len(Identifier)))
			if err != nil {
				return nil, err
			}
			if string(id) != Identifier || n != len(Identifier)-4 {
				return nil, r.damage(at, "identifier sNaPpY", fmt.Sprintf("% x", id), nil)
			}
			r.off, r.seen = at+int64(4+n), true
		case kind >= 0x80:
			if int64(4+n) > r.end-at {
				return nil, r.damage(at, fmt.Sprintf("%d bytes", 4+n), fmt.Sprintf("end after %d", r.end-at), io.ErrUnexpectedEOF)
			}
			r.off = at + int64(4+n)
		case kind > 1 || n < 4 || n > 4+snappy.MaxEncodedLen(maxDecoded):
			return nil, r.damage(at, "a chunk", fmt.Sprintf("type %#x, length %d", kind, n), nil)
		default:
			body, err := r.bytes(at, 4+n)
			if err != nil {
				return nil, err
			}
			p, err := r.decode(at, kind, body[4:])
			if err != nil {
				return nil, err
			}
			r.off = at + int64(4+n)
			return p, nil
		}
	}
}

func (r *Reader) decode(at int64, kind byte, body []byte) ([]byte, error) {
	sum, data := binary.LittleEndian.Uint32(body), body[4:]
	if kind == 1 {
		if len(data) > maxDecoded {
			return nil, r.damage(at, "a chunk of at most 64 KiB", fmt.Sprint(len(data)), nil)
		}
	} else {
		n, err := snappy.DecodedLen(data)
		if err != nil || n > maxDecoded {
			return nil, r.damage(at, "a snappy block of at most 64 KiB", fmt.Sprint(n), err)
		}
		if r.out == nil {
			r.out = make([]byte, maxDecoded)
		}
		if data, err = snappy.Decode(r.out, data); err != nil {
			return nil, r.damage(at, "a snappy block", err.Error(), err)
		}
	}
	if got := Checksum(data); got != sum {
		return nil, r.damage(at, fmt.Sprintf("checksum %08x", sum), fmt.Sprintf("%08x", got), nil)
	}
	return data, nil
}

// Read is an io.Reader over the decoded bytes.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		chunk, err := r.Next()
		if err != nil {
			return 0, err
		}
		r.rest = chunk
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the masked CRC-32C of the framing format.
func Checksum(p []byte) uint32 {
	c := crc32.Checksum(p, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}
