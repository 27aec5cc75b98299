package serde

import (
	"fmt"
	"io"
	"strconv"

	"chkscope/decoder"
)

// maxValueDepth bounds values that hold one another beyond their types: Java
// objects, Kryo and recursive Avro schemas.
const maxValueDepth = 100

func (d *values) ok() bool { return d.err == nil }

// fail records damage at an offset of the buffer.
func (d *values) fail(at int, expected, found string, cause error) {
	if d.err == nil {
		d.err = &decoder.Error{File: "value", Offset: int64(at), Expected: expected, Found: found, Err: cause}
	}
}

// at puts the name of the part in which a failure happened before its path.
func (d *values) at(part string) {
	if d.err.Path != "" {
		part += " / " + d.err.Path
	}
	if len(d.err.Path) < 1000 {
		d.err.Path = part
	}
}

// take gives the next n bytes, nil after a failure.
func (d *values) take(n int, what string) []byte {
	if d.err != nil {
		return nil
	}
	if n < 0 || n > d.end-d.off {
		d.fail(d.off, fmt.Sprintf("%s (%d bytes)", what, n), fmt.Sprintf("end after %d bytes", d.end-d.off), io.ErrUnexpectedEOF)
		return nil
	}
	p := d.buf[d.off : d.off+n]
	d.off += n
	return p
}

func (d *values) u8(what string) byte {
	if p := d.take(1, what); p != nil {
		return p[0]
	}
	return 0
}

func (d *values) bool(what string) bool {
	b := d.u8(what)
	if b > 1 {
		d.fail(d.off-1, what+" 0 or 1", strconv.Itoa(int(b)), nil)
	}
	return b == 1
}

// big is an n-byte big-endian number, sign-extended.
func (d *values) big(n int, what string) int64 {
	p := d.take(n, what)
	if p == nil {
		return 0
	}
	v := int64(int8(p[0]))
	for _, b := range p[1:] {
		v = v<<8 | int64(b)
	}
	return v
}

func (d *values) i32(what string) int32 { return int32(d.big(4, what)) }
func (d *values) i64(what string) int64 { return d.big(8, what) }

// count reads an i32 number of parts that take at least each bytes.
func (d *values) count(what string, each int) int {
	at := d.off
	n := int(d.i32(what))
	if !d.ok() {
		return 0
	}
	if room := d.end - d.off; n < 0 || each > 0 && n > room/each {
		d.fail(at, fmt.Sprintf("%s between 0 and %d", what, room/max(each, 1)), strconv.Itoa(n), nil)
		return 0
	}
	return n
}

// varint is an unsigned number, 7 bits a byte, the lowest first.
func (d *values) varint(what string) uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := d.u8(what)
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	d.fail(d.off, what+" of at most 10 bytes", "more", nil)
	return 0
}

// rest is all bytes up to the end as an Opaque value.
func (d *values) rest(why string) Value {
	return d.opaque(d.buf[min(d.off, d.end):d.end], why)
}

// opaque is bytes that are not decoded.
func (d *values) opaque(p []byte, why string) Value {
	v := d.bytes(p)
	v.Form, v.Why = Opaque, why
	return v
}

// bytes is a byte array.
func (d *values) bytes(p []byte) Value {
	d.left.Values--
	n := min(len(p), max(d.left.Bytes, 0))
	d.left.Bytes -= n
	return Value{Form: Binary, N: int64(len(p)), Text: d.string(p[:n]), Cut: n < len(p)}
}

// noLayout is a value whose bytes have no known layout. Its end is known only
// where it ends the whole.
func (d *values) noLayout(why string) Value {
	if !d.ok() {
		return Value{}
	}
	at := d.off
	v := d.rest(why)
	if d.whole {
		d.off = d.end
	} else {
		d.fail(at, "a value with a known layout", why, ErrOpaque)
	}
	return v
}

// value reads one value of a type.
func (d *values) value(c *codec) Value {
	if !d.ok() {
		return Value{}
	}
	d.left.Values--
	start := d.off
	v := d.valueOf(c)
	if !d.ok() && v.Form == Missing {
		// Damage: what was not read is given as it is.
		d.off = start
		v = d.rest(d.err.Expected + " expected, found " + d.err.Found)
	}
	return v
}

func (d *values) valueOf(c *codec) Value {
	switch c.kind {
	case Long: // so frequent that it does not go through the others
		return d.checked(integer(d.big(8, "long")))
	case String:
		return d.checked(d.flinkString(true))
	case Unknown:
		return d.noLayout(c.why)
	case List:
		return d.list(c)
	case Set, GenericArray, Traversable:
		return d.flaggedList(c)
	case Map, SortedMap, NullAwareMap:
		return d.pairs(c)
	case Either, Union, Try:
		return d.choice(c)
	case Option, Nullable:
		return d.optional(c)
	case Tuple:
		return Value{Form: Fields, Shape: c.shape, Items: d.fields(c.kids, c.tail, c.shape.Names)}
	case Row:
		return d.row(c)
	case Pojo:
		return d.pojo(c)
	case TTL:
		return d.ttl(c)
	case Timer:
		return d.timer(c)
	case Enum:
		return d.checked(d.enum(c))
	case JavaObject:
		return d.java()
	case Kryo:
		return d.kryo(c.kryo)
	case Avro:
		return d.avro(c.avro)
	case RowData, BinaryRowData, ArrayData, MapData:
		return d.sqlValue(c)
	case DecimalData, TimestampData:
		return d.sqlScalar(c)
	case StreamElement:
		return d.streamElement(c)
	case TwoPhase:
		return d.twoPhase(c)
	}
	if v, ok := d.basic(c); ok {
		return d.checked(v)
	}
	if v, ok := d.array(c.kind); ok {
		return d.checked(v)
	}
	return d.other(c)
}

// checked gives v, or nothing after a failure in reading it.
func (d *values) checked(v Value) Value {
	if !d.ok() {
		return Value{}
	}
	return v
}

// fields reads parts that stand one behind the other. Where one fails, those
// before it and what there is of it are given.
func (d *values) fields(kids []*codec, tail []int, names []string) []Value {
	out := d.room(len(kids))
	end, whole := d.end, d.whole
	for i, k := range kids {
		d.bound(end, whole, tail[i])
		out = append(out, d.value(k))
		if !d.ok() {
			d.at(names[i])
			break
		}
	}
	d.end, d.whole = end, whole
	return out
}

// bound sets the end of a part behind which tail bytes follow up to end; -1
// where that is not known.
func (d *values) bound(end int, whole bool, tail int) {
	if d.whole = whole && tail >= 0; d.whole {
		d.end = max(end-tail, min(d.off, end))
	} else {
		d.end = end
	}
}

// items reads n elements with element. When the limits are reached the others are
// stepped over.
func (d *values) items(n int, element func(i int) Value) Value {
	v := Value{Form: Sequence, N: int64(n)}
	for i := 0; i < n && d.ok(); i++ {
		if d.left.Values <= 0 {
			v.Cut = true
		}
		e := element(i)
		if !d.ok() {
			d.at("element " + strconv.Itoa(i))
		}
		if !v.Cut {
			v.Items = append(v.Items, e)
		}
	}
	return v
}

// alike is n elements without bytes, of which the first is given.
func (d *values) alike(n int, first func() Value) Value {
	v := Value{Form: Sequence, N: int64(n)}
	if n > 0 {
		v.Items, v.Cut = []Value{first()}, n > 1
	}
	return v
}

// step reads a value of type k, or steps over it when the limits are reached.
func (d *values) step(k *codec) Value {
	if d.left.Values > 0 || !d.ok() {
		return d.value(k)
	}
	if n := k.skip(d.buf[:d.end], d.off); n >= 0 {
		d.off = n
		return Value{}
	}
	return d.value(k) // which tells what is wrong
}
