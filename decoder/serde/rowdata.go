package serde

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// Values of SQL jobs are binary rows, arrays and maps: i32 length and that many
// bytes, little-endian inside (BinaryRowData, BinaryArrayData, BinaryMapData).
//
//	row    u8 row kind, null bits (bit 8 + i of field i, the lowest bit of a byte
//	       first), up to a multiple of 8 bytes; 8 bytes a field; variable part
//	array  i32 n, null bits (bit i) in i32; n elements of 1, 2, 4 or 8 bytes, up
//	       to a multiple of 8 bytes; variable part
//	map    i32 length of the keys, array of keys, array of values
//
// Strings, bytes and what has parts: where the top bit of the last of the 8
// bytes is set, at most 7 bytes in place and the length in its low bits; else
// offset << 32 | length. Timestamps of a precision above 3: offset of the
// milliseconds << 32 | nanoseconds. Decimals of a precision above 18: offset <<
// 32 | length of the unscaled number, big-endian. Others stand in place.

// binaryData is a binary row, array or map: the bytes that offsets count in.
type binaryData struct {
	d *values
	p []byte
}

// prepareRows gives the codec of a RowData, ArrayData or MapData its types.
func (c *codec) prepareRows() {
	switch c.kind {
	case RowData:
		c.sql = columnType(c.t, nil)
		if c.sql == nil {
			c.kind, c.why = Unknown, "the type of a column is not known"
			return
		}
		c.shape = &Shape{Type: "RowData", Positional: true, Names: c.sql.Names}
	case ArrayData:
		if len(c.t.Logical) > 0 && c.t.Logical[0] != nil {
			c.sql = &LogicalType{Root: "ARRAY", Kids: c.t.Logical[:1]}
		}
	case MapData:
		if len(c.t.Logical) > 1 && c.t.Logical[0] != nil && c.t.Logical[1] != nil {
			c.sql = &LogicalType{Root: "MAP", Kids: c.t.Logical[:2]}
		}
	}
}

// sqlValue reads a binary row, array or map with its length.
func (d *values) sqlValue(c *codec) Value {
	n := d.count("length of binary data", 1)
	p := d.take(n, "binary data")
	switch {
	case !d.ok():
		return Value{}
	case c.kind == BinaryRowData:
		return d.opaque(p, "the types of its columns are not in the serializer snapshot")
	case c.sql == nil:
		return d.opaque(p, "the type of its elements is not known")
	}
	b := binaryData{d, p}
	if c.kind == RowData {
		return b.row(c.sql, c.shape, 0)
	}
	return b.value(c.sql, 0)
}

// bad is a part that does not fit its bytes.
func (b binaryData) bad(why string) Value { return b.d.opaque(b.p, why) }

// value is all of b as a value of type t that has parts.
func (b binaryData) value(t *LogicalType, depth int) Value {
	if b.d.left.Values--; depth > maxValueDepth || b.d.left.Values < 0 {
		return b.bad("deep inside a large row")
	}
	switch t.Root {
	case "ROW", "STRUCTURED_TYPE":
		return b.row(t, &Shape{Type: t.Root, Names: t.Names}, depth)
	case "ARRAY":
		return b.array(t.Kids[0], depth)
	case "MAP":
		return b.pairs(t.Kids[0], t.Kids[1], depth)
	case "MULTISET":
		return b.pairs(t.Kids[0], &LogicalType{Root: "INTEGER"}, depth)
	}
	return b.bad("no known layout of " + t.Root)
}

func (b binaryData) row(t *LogicalType, shape *Shape, depth int) Value {
	head := (len(t.Kids) + 63 + 8) / 64 * 8
	if len(b.p) < head+8*len(t.Kids) {
		return b.bad(fmt.Sprintf("%d bytes for a row of %d columns", len(b.p), len(t.Kids)))
	}
	v := Value{Form: Fields, Shape: shape.withKind(b.p[0]), Items: make([]Value, len(t.Kids))}
	for i, k := range t.Kids {
		if bit := i + 8; b.p[bit/8]&(1<<(bit%8)) != 0 {
			b.d.left.Values--
			v.Items[i] = nullValue
			continue
		}
		at := head + 8*i
		v.Items[i] = b.field(k, b.p[at:at+8], depth+1)
	}
	return v
}

// sqlWidths are those of elements of arrays; what is not here takes 8 bytes.
var sqlWidths = map[string]int{"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INTEGER": 4, "FLOAT": 4, "DATE": 4,
	"TIME_WITHOUT_TIME_ZONE": 4, "INTERVAL_YEAR_MONTH": 4}

// elements gives the elements of an array, -1 where they do not fit.
func (b binaryData) elements(t *LogicalType) (n, head, width int) {
	if width = sqlWidths[t.Root]; width == 0 {
		width = 8
	}
	if len(b.p) < 4 {
		return -1, 0, 0
	}
	n = int(int32(binary.LittleEndian.Uint32(b.p)))
	head = 4 + (n+31)/32*4
	if n < 0 || head > len(b.p) || n > (len(b.p)-head)/width {
		return -1, 0, 0
	}
	return n, head, width
}

func (b binaryData) element(t *LogicalType, i, head, width, depth int) Value {
	if b.p[4+i/8]&(1<<(i%8)) != 0 {
		b.d.left.Values--
		return nullValue
	}
	at := head + width*i
	return b.field(t, b.p[at:at+width], depth+1)
}

func (b binaryData) array(t *LogicalType, depth int) Value {
	n, head, width := b.elements(t)
	if n < 0 {
		return b.bad("an array that does not fit its bytes")
	}
	v := Value{Form: Sequence, N: int64(n)}
	for i := 0; i < n && b.d.left.Values > 0; i++ {
		v.Items = append(v.Items, b.element(t, i, head, width, depth))
	}
	v.Cut = len(v.Items) < n
	return v
}

func (b binaryData) pairs(key, value *LogicalType, depth int) Value {
	if len(b.p) < 4 {
		return b.bad("a map of less than 4 bytes")
	}
	size := int(int32(binary.LittleEndian.Uint32(b.p)))
	if size < 0 || size > len(b.p)-4 {
		return b.bad("a map whose keys do not fit its bytes")
	}
	keys, entries := binaryData{b.d, b.p[4 : 4+size]}, binaryData{b.d, b.p[4+size:]}
	n, head, width := keys.elements(key)
	m, valueHead, valueWidth := entries.elements(value)
	if n < 0 || n != m {
		return b.bad(fmt.Sprintf("a map of %d keys and %d values", n, m))
	}
	v := Value{Form: Pairs, N: int64(n)}
	for i := 0; i < n && b.d.left.Values > 0; i++ {
		v.Items = append(v.Items, keys.element(key, i, head, width, depth), entries.element(value, i, valueHead, valueWidth, depth))
	}
	v.Cut = len(v.Items) < 2*n
	return v
}

// field reads the fixed part f of a field or element, of 1, 2, 4 or 8 bytes.
func (b binaryData) field(t *LogicalType, f []byte, depth int) Value {
	b.d.left.Values--
	var n int64 // sign-extended
	for i := len(f) - 1; i >= 0; i-- {
		n = n<<8 | int64(f[i])
	}
	switch t.Root {
	case "NULL":
		return nullValue
	case "BOOLEAN":
		return boolValue(f[0] != 0)
	case "TINYINT":
		return integer(int64(int8(n)))
	case "SMALLINT":
		return integer(int64(int16(n)))
	case "INTEGER", "INTERVAL_YEAR_MONTH":
		return integer(int64(int32(n)))
	case "BIGINT", "INTERVAL_DAY_TIME":
		return integer(n)
	case "FLOAT":
		return Value{Form: Real32, N: n & math.MaxUint32}
	case "DOUBLE":
		return Value{Form: Real64, N: n}
	case "DATE":
		return dateValue(int64(int32(n)))
	case "TIME_WITHOUT_TIME_ZONE":
		ms := int64(int32(n))
		return clockValue(floorDiv(ms, 1000), (ms-floorDiv(ms, 1000)*1000)*1e6)
	case "TIMESTAMP_WITHOUT_TIME_ZONE", "TIMESTAMP_WITH_LOCAL_TIME_ZONE":
		return b.timestamp(t, n)
	case "DECIMAL":
		return b.decimal(t, n)
	}
	p, ok := b.variable(f, n)
	if !ok {
		return b.d.opaque(f, "bytes outside of the row")
	}
	switch t.Root {
	case "CHAR", "VARCHAR":
		return (&textReader{b.d}).read(p)
	case "BINARY", "VARBINARY":
		return b.d.bytes(p)
	case "RAW":
		if t.Raw == nil {
			return b.d.opaque(p, "a RAW value of its own serializer")
		}
		return b.d.inside(p, codecOf(t.Raw))
	}
	return binaryData{b.d, p}.value(t, depth)
}

// textReader reads UTF-8 that stands elsewhere.
type textReader struct{ d *values }

func (t *textReader) read(p []byte) Value {
	d := values{buf: p, end: len(p), left: t.d.left}
	v := d.utf8String("string", len(p))
	t.d.left = d.left
	return v
}

// variable gives the bytes that a fixed part of 8 bytes names.
func (b binaryData) variable(f []byte, n int64) ([]byte, bool) {
	if last := f[len(f)-1]; last&0x80 != 0 {
		size := int(last & 0x7f)
		return f[:min(size, 7)], size <= 7
	}
	off, size := int(n>>32), int(n&math.MaxUint32)
	if off > len(b.p) || size > len(b.p)-off {
		return nil, false
	}
	return b.p[off : off+size], true
}

func (b binaryData) timestamp(t *LogicalType, n int64) Value {
	ms, nanos := n, int64(0)
	if t.Precision > 3 {
		off := int(uint64(n) >> 32)
		nanos = n & math.MaxUint32
		if off > len(b.p)-8 || nanos >= 1e6 {
			return b.d.opaque(binary.LittleEndian.AppendUint64(nil, uint64(n)), "a timestamp outside of the row")
		}
		ms = int64(binary.LittleEndian.Uint64(b.p[off:]))
	}
	return sqlTimestamp(ms, nanos, t.Root == "TIMESTAMP_WITH_LOCAL_TIME_ZONE")
}

// sqlTimestamp is milliseconds and the nanoseconds in the last of them; in UTC
// where the type has a time zone.
func sqlTimestamp(ms, nanos int64, zone bool) Value {
	s := floorDiv(ms, 1000)
	v := nanoMoment(ms, s, (ms-s*1000)*1e6+nanos)
	if !zone {
		v.Text = v.Text[:len(v.Text)-1]
	}
	return v
}

func (b binaryData) decimal(t *LogicalType, n int64) Value {
	if t.Precision <= 18 {
		return decimalValue(n, t.Scale)
	}
	off, size := int(uint64(n)>>32), int(n&math.MaxUint32)
	if off > len(b.p) || size > len(b.p)-off || size > 16 {
		return b.d.opaque(binary.LittleEndian.AppendUint64(nil, uint64(n)), "a decimal outside of the row")
	}
	return numberValue(twosComplement(b.p[off:off+size]), t.Scale)
}

func decimalValue(unscaled int64, scale int) Value {
	return numberValue(twosComplement(binary.BigEndian.AppendUint64(nil, uint64(unscaled))), scale)
}

// sqlScalar reads a value of DecimalData or TimestampData that stands alone.
func (d *values) sqlScalar(c *codec) Value {
	switch {
	case c.kind == TimestampData:
		ms, nanos := d.i64("milliseconds"), int64(0)
		if c.size > 3 {
			nanos = int64(d.i32("nanoseconds of the millisecond"))
		}
		if !d.ok() {
			return Value{}
		}
		return sqlTimestamp(ms, nanos, false)
	case c.size <= 18:
		if n := d.i64("unscaled decimal"); d.ok() {
			return decimalValue(n, int(c.t.Scale))
		}
		return Value{}
	}
	p := d.take(d.count("length of an unscaled decimal", 1), "unscaled decimal")
	if !d.ok() {
		return Value{}
	}
	if len(p) > 16 {
		return d.opaque(p, "a decimal of "+strconv.Itoa(len(p))+" bytes")
	}
	return numberValue(twosComplement(p), int(c.t.Scale))
}
