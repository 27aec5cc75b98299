package connector

import (
	"encoding/binary"
	"errors"
	"fmt"

	"chkscope/decoder"
)

// maxCount bounds lists inside one element beside what its bytes allow.
const maxCount = 1 << 24

// errLayout says that bytes do not have the layout that was tried.
var errLayout = errors.New("the bytes do not have this layout")

// reader reads one element; the first failure sticks.
type reader struct {
	buf   []byte
	off   int
	err   error
	names *names // may be nil
}

// names are strings that were read before: there are few of them, many times.
type names struct{ have map[string]string }

const maxNames = 10_000

// of gives b as a string.
func (n *names) of(b []byte) string {
	if n == nil {
		return string(b)
	}
	if s, ok := n.have[string(b)]; ok {
		return s
	}
	if n.have == nil || len(n.have) == maxNames {
		n.have = map[string]string{}
	}
	s := string(b)
	n.have[s] = s
	return s
}

func (r *reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.buf)-r.off {
		r.err = fmt.Errorf("%w: %d bytes wanted at offset %d, %d are left", errLayout, n, r.off, len(r.buf)-r.off)
		return nil
	}
	r.off += n
	return r.buf[r.off-n : r.off]
}

func (r *reader) left() int { return len(r.buf) - r.off }

func (r *reader) u8() byte {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *reader) bool() bool {
	b := r.u8()
	if b > 1 && r.err == nil {
		r.err = fmt.Errorf("%w: a boolean of %d at offset %d", errLayout, b, r.off-1)
	}
	return b == 1
}

func (r *reader) i16() int16 {
	if p := r.take(2); p != nil {
		return int16(binary.BigEndian.Uint16(p))
	}
	return 0
}

func (r *reader) i32() int32 {
	if p := r.take(4); p != nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

// i32le is a little-endian number.
func (r *reader) i32le() int32 {
	if p := r.take(4); p != nil {
		return int32(binary.LittleEndian.Uint32(p))
	}
	return 0
}

func (r *reader) i64() int64 {
	if p := r.take(8); p != nil {
		return int64(binary.BigEndian.Uint64(p))
	}
	return 0
}

func (r *reader) utf() string {
	if p := r.take(2); p != nil {
		return decoder.Text(string(r.take(int(binary.BigEndian.Uint16(p)))))
	}
	return ""
}

// count reads an i32 number of things of at least each bytes.
func (r *reader) count(each int) int {
	n := int(r.i32())
	if r.err == nil && (n < 0 || n > maxCount || each > 0 && n > r.left()/each) {
		r.err = fmt.Errorf("%w: a count of %d at offset %d, %d bytes are left", errLayout, n, r.off-4, r.left())
	}
	if r.err != nil {
		return 0
	}
	return n
}

// versioned reads i32 version, i32 length and gives the bytes.
func (r *reader) versioned() (version int32, data []byte) {
	version = r.i32()
	return version, r.take(r.count(1))
}

// done fails where bytes are left.
func (r *reader) done() error {
	if r.err == nil && r.left() > 0 {
		return fmt.Errorf("%w: %d bytes are left at offset %d", errLayout, r.left(), r.off)
	}
	return r.err
}

// varint is Kryo's: 7 bits a byte, low first, at most 5 bytes.
func (r *reader) varint() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := r.u8()
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	if r.err == nil {
		r.err = fmt.Errorf("%w: a number of more than 5 bytes at offset %d", errLayout, r.off)
	}
	return 0
}

func zigzag(v uint32) int32 { return int32(v>>1) ^ -int32(v&1) }

// kryoString reads a Kryo string that is not null.
func (r *reader) kryoString() string {
	if r.err != nil || r.left() == 0 {
		r.take(1)
		return ""
	}
	if r.buf[r.off]&0x80 == 0 {
		return r.kryoASCII()
	}
	b := r.u8()
	n := int(b & 0x3f)
	for shift, more := 6, b&0x40 != 0; more && shift < 32; shift += 7 {
		b = r.u8()
		n |= int(b&0x7f) << shift
		more = b&0x80 != 0
	}
	if n == 0 && r.err == nil {
		r.err = fmt.Errorf("%w: a null string at offset %d", errLayout, r.off)
	}
	start := r.off
	for range n - 1 {
		switch b := r.u8(); {
		case b>>5 == 6:
			r.take(1)
		case b>>4 == 14:
			r.take(2)
		}
		if r.err != nil {
			return ""
		}
	}
	return decoder.Text(string(r.buf[start:r.off]))
}

// kryoASCII: the last byte has bit 7 set.
func (r *reader) kryoASCII() string {
	for i := r.off; i < len(r.buf); i++ {
		if r.buf[i]&0x80 != 0 {
			var room [64]byte
			s := append(room[:0], r.buf[r.off:i+1]...)
			s[len(s)-1] &= 0x7f
			r.off = i + 1
			return r.names.of(s)
		}
	}
	r.take(r.left() + 1)
	return ""
}
