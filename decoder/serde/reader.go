package serde

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"

	"chkscope/decoder"
)

const (
	// maxDepth bounds how deep snapshots may nest.
	maxDepth = 100
	// maxNodes bounds the snapshots of one Reader and its parts together.
	maxNodes = 1 << 18
)

// Reader reads snapshots and state records out of a buffer that holds a stretch
// of a stream. The first failure sticks: later reads give zeros and Err keeps
// the first error.
type Reader struct {
	// Partial says that more follows the buffer: nothing is looked for behind a
	// serializer that cannot be read, and Short tells when to come again with more.
	Partial bool

	file string
	buf  []byte
	base int64 // offset of buf[0] in the stream
	off  int
	end  int
	err  *decoder.Error
	// unknown is set beside err where the failure is a class whose payload has
	// no known layout; it is that node.
	unknown *Snapshot
	// empty holds classes without a known layout that are taken to have no
	// payload (see StateMetas).
	empty map[string]bool
	path  []string
	depth int
	nodes *int
	find  *finder
}

// NewReader reads buf, which begins at offset base of the stream called file.
func NewReader(file string, buf []byte, base int64) *Reader {
	return &Reader{file: file, buf: buf, base: base, end: len(buf), nodes: new(int), find: &finder{}}
}

// Off is the offset in the stream of the next byte.
func (r *Reader) Off() int64 { return r.base + int64(r.off) }

// Left is how many bytes are left.
func (r *Reader) Left() int { return r.end - r.off }

// Err is the first failure, or nil.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// Short says whether a longer buffer may help.
func (r *Reader) Short() bool { return r.Partial && r.err != nil }

func (r *Reader) ok() bool { return r.err == nil }

// enter names the structure that is read from here on; leave ends it.
func (r *Reader) enter(what string, n int) {
	if n >= 0 {
		what += " " + strconv.Itoa(n)
	}
	r.path = append(r.path, what)
}

func (r *Reader) leave() {
	if r.err == nil {
		r.path = r.path[:len(r.path)-1]
	}
}

func (r *Reader) fail(at int, expected, found string, cause error) {
	if r.err != nil {
		return
	}
	path := ""
	for i, p := range r.path {
		if i > 0 {
			path += " / "
		}
		path += p
	}
	r.err = &decoder.Error{File: r.file, Offset: r.base + int64(at), Path: path, Expected: expected, Found: found, Err: cause}
}

// take gives the next n bytes, which alias the buffer.
func (r *Reader) take(n int, what string) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > r.end-r.off {
		r.fail(r.off, fmt.Sprintf("%s (%d bytes)", what, n), fmt.Sprintf("end after %d bytes", r.end-r.off), io.ErrUnexpectedEOF)
		return nil
	}
	p := r.buf[r.off : r.off+n]
	r.off += n
	return p
}

// U8 reads one byte.
func (r *Reader) U8(what string) byte {
	if p := r.take(1, what); p != nil {
		return p[0]
	}
	return 0
}

// Bool reads one byte that is 0 or 1.
func (r *Reader) Bool(what string) bool {
	at := r.off
	b := r.U8(what)
	if b > 1 {
		r.fail(at, what+" 0 or 1", strconv.Itoa(int(b)), nil)
	}
	return b == 1
}

// U16 reads two bytes.
func (r *Reader) U16(what string) int {
	if p := r.take(2, what); p != nil {
		return int(binary.BigEndian.Uint16(p))
	}
	return 0
}

// I32 reads four bytes.
func (r *Reader) I32(what string) int32 {
	if p := r.take(4, what); p != nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

// Count reads an i32 number of records of at least each bytes and refuses one
// that is negative or cannot fit.
func (r *Reader) Count(what string, each int) int {
	at := r.off
	n := r.I32(what)
	if r.err == nil && (n < 0 || int(n) > r.Left()/each) {
		var cause error
		if n > 0 {
			cause = io.ErrUnexpectedEOF
		}
		r.fail(at, fmt.Sprintf("%s between 0 and %d", what, r.Left()/each), strconv.Itoa(int(n)), cause)
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

// UTF reads a writeUTF string, kept as it is (modified UTF-8).
func (r *Reader) UTF(what string) string {
	return string(r.take(r.U16(what+" length"), what))
}

// expect reads an i32 that has only one value.
func (r *Reader) expect(want int32, what string) {
	at := r.off
	if v := r.I32(what); r.err == nil && v != want {
		r.fail(at, fmt.Sprintf("%s %#x", what, uint32(want)), fmt.Sprintf("%#x", uint32(v)), nil)
	}
}

// part is a Reader for the n bytes that follow, with a failure of its own, so
// that damage in it does not stop r, which steps over them.
func (r *Reader) part(n int, what string) *Reader {
	at := r.off
	if r.take(n, what); r.err != nil {
		return nil
	}
	return r.section(at, at+n)
}

// section is a Reader for buf[from:to] of the same buffer.
func (r *Reader) section(from, to int) *Reader {
	p := *r
	p.off, p.end, p.err, p.unknown = from, to, nil, nil
	p.path = append([]string(nil), r.path...)
	return &p
}

func (r *Reader) span(from, to int) decoder.Span {
	return decoder.Span{Off: r.base + int64(from), Len: int64(to - from)}
}

// FailAt records damage at an offset of the stream, unless an earlier failure
// is recorded already.
func (r *Reader) FailAt(off int64, expected, found string, cause error) {
	r.fail(int(off-r.base), expected, found, cause)
}
