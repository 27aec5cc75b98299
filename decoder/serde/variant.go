package serde

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Variant is a value that carries its types (BinaryVariant, as in Parquet and
// Spark). Numbers are little-endian.
//
//	metadata  u8 version 1 in the low four bits, size of numbers - 1 in the high
//	          two; number of names, as many ends of them and a 0 before, names
//	value     u8: low two bits what it is, six bits more
//	          0 one value of type more: see variantSizes; long ones have u32 length
//	          1 a string of length more
//	          2 object: more is 0, large, size of ids - 1 (2 bits), size of offsets
//	            - 1 (2 bits); u8 or large u32 n, n ids of names, n + 1 offsets, values
//	          3 array: 0, 0, 0, large, size of offsets - 1 (2 bits); n, n + 1
//	            offsets, values
//
// Offsets count from the first value; the last one is the end.

// variant is the bytes of a Variant.
type variant struct {
	d        *values
	value    []byte
	metadata []byte
}

// variantValue reads i32 length of the value, i32 length of the metadata, both.
func (d *values) variantValue() Value {
	n, m := d.count("value length", 1), d.count("metadata length", 1)
	at := d.off
	v := variant{d, d.take(n, "value"), d.take(m, "metadata")}
	if !d.ok() {
		return Value{}
	}
	left := d.left
	out, why := v.read(0, 0)
	if why != "" {
		d.left = left
		return d.opaque(d.buf[at:d.off], "a damaged Variant: "+why)
	}
	return out
}

// number is an unsigned number of n bytes of b.
func (v variant) number(b []byte, at, n int) (int, bool) {
	if at < 0 || at > len(b)-n {
		return 0, false
	}
	u := uint64(0)
	for i := n - 1; i >= 0; i-- {
		u = u<<8 | uint64(b[at+i])
	}
	return int(u), u <= math.MaxInt32
}

// signed is a number of n bytes, at most 8, at a place that is there.
func (v variant) signed(at, n int) int64 {
	s := int64(int8(v.value[at+n-1]))
	for i := n - 2; i >= 0; i-- {
		s = s<<8 | int64(v.value[at+i])
	}
	return s
}

// variantSizes are the bytes of single values behind the first byte, by type; of
// long ones that of their length.
var variantSizes = [...]int{0, 0, 0, 1, 2, 4, 8, 8, 5, 9, 17, 4, 8, 8, 4, 4, 4}

// read reads the value at a place; why tells what is wrong.
func (v variant) read(at, depth int) (out Value, why string) {
	if at >= len(v.value) {
		return out, "a value outside of it"
	}
	if depth > maxValueDepth {
		return out, fmt.Sprintf("more than %d values in one another", maxValueDepth)
	}
	v.d.left.Values--
	more := int(v.value[at] >> 2)
	switch at++; v.value[at-1] & 3 {
	case 1:
		return v.text(at, more)
	case 2:
		return v.object(at, more, depth)
	case 3:
		return v.array(at, more, depth)
	}
	if more >= len(variantSizes) {
		return out, fmt.Sprintf("a value of type %d", more)
	}
	if variantSizes[more] > len(v.value)-at {
		return out, "a value outside of it"
	}
	return v.single(at, more)
}

func (v variant) single(at, kind int) (Value, string) {
	n := variantSizes[kind]
	switch kind {
	case 0:
		return nullValue, ""
	case 1, 2:
		return boolValue(kind == 1), ""
	case 3, 4, 5, 6:
		return integer(v.signed(at, n)), ""
	case 7:
		return Value{Form: Real64, N: v.signed(at, n)}, ""
	case 8, 9, 10:
		digits := slices.Clone(v.value[at+1 : at+n])
		slices.Reverse(digits)
		return numberValue(twosComplement(digits), int(v.value[at])), ""
	case 11:
		day, _, _ := strings.Cut(isoTime(v.signed(at, n)*86400, 0), "T")
		return Value{Form: Moment, Text: day}, ""
	case 12, 13:
		us := v.signed(at, n)
		return sqlTimestamp(floorDiv(us, 1000), (us-floorDiv(us, 1000)*1000)*1000, kind == 12), ""
	case 14:
		return Value{Form: Real32, N: v.signed(at, n) & math.MaxUint32}, ""
	}
	size, ok := v.number(v.value, at, n)
	switch {
	case !ok || size > len(v.value)-at-n:
		return Value{}, "a value outside of it"
	case kind == 15:
		return v.d.bytes(v.value[at+n : at+n+size]), ""
	}
	return v.text(at+n, size)
}

func (v variant) text(at, n int) (Value, string) {
	if n > len(v.value)-at {
		return Value{}, "a string outside of it"
	}
	t := textReader{v.d}
	return t.read(v.value[at : at+n]), ""
}

// parts reads the number of parts, of 1 or 4 bytes, and gives where what follows
// begins.
func (v variant) parts(at int, large bool, each int) (n, next int, ok bool) {
	size := 1
	if large {
		size = 4
	}
	n, ok = v.number(v.value, at, size)
	return n, at + size, ok && n <= (len(v.value)-at)/each
}

func (v variant) object(at, more, depth int) (Value, string) {
	ids, offsets := more>>2&3+1, more&3+1
	n, at, ok := v.parts(at, more&0x10 != 0, ids+offsets)
	if !ok {
		return Value{}, "more fields than there can be"
	}
	out := Value{Form: Fields, Shape: &Shape{Type: "Variant"}}
	for i := range n {
		id, ok := v.number(v.value, at+i*ids, ids)
		name, named := v.name(id)
		if !ok || !named {
			return out, "a field without a name"
		}
		e, why := v.part(at+n*ids, i, n, offsets, depth)
		if why != "" {
			return out, why
		}
		out.Items, out.Shape.Names = append(out.Items, e), append(out.Shape.Names, name)
	}
	return out, ""
}

func (v variant) array(at, more, depth int) (Value, string) {
	offsets := more&3 + 1
	n, at, ok := v.parts(at, more&4 != 0, offsets)
	if !ok {
		return Value{}, "more elements than there can be"
	}
	out := Value{Form: Sequence, N: int64(n)}
	for i := range n {
		if out.Cut = v.d.left.Values <= 0; out.Cut {
			return out, ""
		}
		e, why := v.part(at, i, n, offsets, depth)
		if why != "" {
			return out, why
		}
		out.Items = append(out.Items, e)
	}
	return out, ""
}

// part reads part i of n by the offsets at a place.
func (v variant) part(at, i, n, size, depth int) (Value, string) {
	off, ok := v.number(v.value, at+i*size, size)
	if !ok || v.d.left.Values < -maxVariantParts {
		return Value{}, "more parts than there can be"
	}
	return v.read(at+(n+1)*size+off, depth+1)
}

// maxVariantParts bounds the parts that are read beyond the limits: objects may
// name one part many times.
const maxVariantParts = 100_000

// name is a name of the metadata.
func (v variant) name(id int) (string, bool) {
	if len(v.metadata) == 0 || v.metadata[0]&15 != 1 {
		return "", false
	}
	size := int(v.metadata[0]>>6) + 1
	n, ok := v.number(v.metadata, 1, size)
	if !ok || id >= n || n > len(v.metadata)/size {
		return "", false
	}
	from, ok1 := v.number(v.metadata, 1+(id+1)*size, size)
	to, ok2 := v.number(v.metadata, 1+(id+2)*size, size)
	names := v.metadata[min(1+(n+2)*size, len(v.metadata)):]
	if !ok1 || !ok2 || from > to || to > len(names) {
		return "", false
	}
	t := textReader{&values{left: Limits{Bytes: math.MaxInt32}}}
	return t.read(names[from:to]).Text, true
}
