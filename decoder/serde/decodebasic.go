package serde

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"chkscope/decoder"
)

// basic reads values of one piece; false for other kinds.
func (d *values) basic(c *codec) (Value, bool) {
	switch c.kind {
	case Boolean:
		return boolValue(d.bool("boolean")), true
	case Byte:
		return integer(d.big(1, "byte")), true
	case Short:
		return integer(d.big(2, "short")), true
	case Int:
		return integer(d.big(4, "int")), true
	case CountWindow:
		return integer(d.big(8, "long")), true
	case SortedLong:
		return integer(d.big(8, "long") ^ math.MinInt64), true
	case Float:
		return Value{Form: Real32, N: int64(uint32(d.big(4, "float")))}, true
	case Double:
		return Value{Form: Real64, N: d.big(8, "double")}, true
	case Char:
		return textValue(string(appendUTF16(nil, []uint16{uint16(d.big(2, "char"))}))), true
	case StringValue:
		return d.flinkString(false), true
	case StringData:
		return d.utf8String("string", d.count("string length", 1)), true
	case BigInt:
		v, _ := d.bigInteger()
		return v, true
	case BigDec:
		return d.bigDecimal(), true
	case VoidByte:
		d.u8("void")
		return nullValue, true
	case NullValue:
		return nullValue, true
	case UUID:
		return d.uuid(), true
	}
	return d.moment(c)
}

var nullValue = Value{Form: Null}

func integer(n int64) Value { return Value{Form: Integer, N: n} }

func boolValue(b bool) Value {
	if b {
		return Value{Form: Bool, N: 1}
	}
	return Value{Form: Bool}
}

func textValue(s string) Value { return Value{Form: Text, Text: s, N: int64(len(s))} }

// moment reads dates, times and windows; false for other kinds.
func (d *values) moment(c *codec) (Value, bool) {
	switch c.kind {
	case Date, SQLDate, SQLTime:
		ms := d.i64("milliseconds")
		if ms == math.MinInt64 {
			return nullValue, true
		}
		return millisMoment(ms), true
	case SQLTimestamp:
		ms, nanos := d.i64("milliseconds"), d.i32("nanoseconds")
		if ms == math.MinInt64 {
			return nullValue, true
		}
		return nanoMoment(ms, floorDiv(ms, 1000), int64(nanos)), true
	case Instant:
		s, nanos := d.i64("seconds"), d.i32("nanoseconds")
		if nanos == math.MinInt32 {
			return nullValue, true
		}
		return nanoMoment(s*1000+int64(nanos)/1e6, s, int64(nanos)), true
	case LocalDate:
		return d.localDate(), true
	case LocalTime:
		return d.localTime(), true
	case LocalDateTime:
		date, clock := d.localDate(), d.localTime()
		if date.Form == Null || clock.Form == Null {
			return nullValue, true
		}
		return Value{Form: Moment, Text: date.Text + "T" + clock.Text}, true
	case TimeWindow:
		start, end := d.i64("window start"), d.i64("window end")
		return Value{Form: Fields, Shape: windowShape, Items: append(d.room(2), Value{Form: Millis, N: start}, Value{Form: Millis, N: end})}, true
	}
	return Value{}, false
}

var windowShape = &Shape{Type: "TimeWindow", Names: []string{"start", "end"}}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// millisMoment is milliseconds since 1970, in UTC.
func millisMoment(ms int64) Value {
	s := floorDiv(ms, 1000)
	return nanoMoment(ms, s, (ms-s*1000)*1e6)
}

// nanoMoment is seconds since 1970 and nanoseconds, in UTC.
func nanoMoment(ms, s, nanos int64) Value {
	return Value{Form: Moment, N: ms, Text: isoTime(s, nanos) + "Z"}
}

// isoTime writes seconds since 1970 with the fraction as long as needed: none,
// 3, 6 or 9 digits.
func isoTime(s, nanos int64) string {
	const years = 1e9 * 31556952 // what time.Time counts well
	if s > years || s < -years {
		return strconv.FormatInt(s, 10) + "s"
	}
	t := time.Unix(s, 0).UTC()
	return t.Format("2006-01-02T15:04:05") + fraction(nanos)
}

func fraction(nanos int64) string {
	switch {
	case nanos == 0:
		return ""
	case nanos%1e6 == 0:
		return fmt.Sprintf(".%03d", nanos/1e6)
	case nanos%1e3 == 0:
		return fmt.Sprintf(".%06d", nanos/1e3)
	}
	return fmt.Sprintf(".%09d", nanos)
}

func (d *values) localDate() Value {
	year, month, day := d.i32("year"), d.big(1, "month"), d.big(1, "day")
	if year == math.MinInt32 {
		return nullValue
	}
	return Value{Form: Moment, Text: fmt.Sprintf("%04d-%02d-%02d", year, month, day)}
}

func (d *values) localTime() Value {
	h, m, s, nanos := d.big(1, "hour"), d.big(1, "minute"), d.big(1, "second"), d.i32("nanosecond")
	if h == math.MinInt8 {
		return nullValue
	}
	return Value{Form: Moment, Text: fmt.Sprintf("%02d:%02d:%02d", h, m, s) + fraction(int64(nanos))}
}

func (d *values) uuid() Value {
	return uuidValue(uint64(d.i64("UUID")), uint64(d.i64("UUID")))
}

func uuidValue(hi, lo uint64) Value {
	return textValue(fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&0xffffffffffff))
}

// flinkString reads a string of StringValue.writeString (nullable: length + 1,
// 0 for null) or of StringValue.write (the length itself): a varint, then one
// for each UTF-16 unit.
func (d *values) flinkString(nullable bool) Value {
	at := d.off
	n := int(min(d.varint("string length"), math.MaxInt32))
	if nullable {
		if n == 0 {
			return nullValue
		}
		n--
	}
	if d.ok() && n > d.end-d.off {
		d.fail(at, fmt.Sprintf("string length up to %d", d.end-d.off), strconv.Itoa(n), nil)
	}
	if !d.ok() {
		return Value{}
	}
	if isASCII(d.buf[d.off : d.off+n]) {
		return d.text(d.take(n, "string"))
	}
	units := make([]uint16, 0, min(n, max(d.left.Bytes, 0)))
	var high uint16 // a surrogate that waits for its other half
	size := int64(0)
	for i := 0; i < n && d.ok(); i++ {
		u := uint16(d.varint("character"))
		if len(units) < cap(units) {
			units = append(units, u)
		}
		size += unitSize(&high, u)
	}
	v := d.text(appendUTF16(make([]byte, 0, len(units)), units))
	v.Cut, v.N = v.Cut || len(units) < n, size
	return v
}

// unitSize is how many bytes of UTF-8 a UTF-16 unit adds; high is the unit
// before it where that is a high surrogate.
func unitSize(high *uint16, u uint16) int64 {
	before := *high
	*high = 0
	switch {
	case u < 0x80:
		return 1
	case u < 0x800:
		return 2
	case u >= 0xdc00 && u < 0xe000 && before != 0:
		return 1 // three and one make the four of a pair
	case u >= 0xd800 && u < 0xdc00:
		*high = u
	}
	return 3
}

// appendUTF16 appends UTF-16 units as UTF-8, a surrogate without its partner in
// three bytes.
func appendUTF16(b []byte, units []uint16) []byte {
	for i := 0; i < len(units); i++ {
		u := units[i]
		if u >= 0xd800 && u < 0xdc00 && i+1 < len(units) && units[i+1] >= 0xdc00 && units[i+1] < 0xe000 {
			b = utf8.AppendRune(b, utf16.DecodeRune(rune(u), rune(units[i+1])))
			i++
		} else if utf16.IsSurrogate(rune(u)) {
			b = append(b, 0xE0|byte(u>>12), 0x80|byte(u>>6&0x3F), 0x80|byte(u&0x3F))
		} else {
			b = utf8.AppendRune(b, rune(u))
		}
	}
	return b
}

func isASCII(p []byte) bool {
	for _, c := range p {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// text is a string, cut where the limits say at the end of a character.
func (d *values) text(p []byte) Value {
	v := d.bytes(p)
	v.Form = Text
	if v.Cut {
		n := len(v.Text)
		for n > 0 && n < len(p) && p[n]&0xC0 == 0x80 {
			n--
		}
		v.Text = v.Text[:n]
	}
	return v
}

// utf8String reads n bytes of UTF-8; bytes that are none appear as \xNN.
func (d *values) utf8String(what string, n int) Value {
	p := d.take(n, what)
	if p == nil || utf8.Valid(p) {
		return d.text(p)
	}
	room := max(d.left.Bytes, 0)
	var b []byte
	i := 0
	for i < len(p) && len(b) < room {
		r, k := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && k == 1 {
			b = fmt.Appendf(b, `\x%02x`, p[i])
		} else {
			b = append(b, p[i:i+k]...)
		}
		i += k
	}
	v := d.text(b)
	if i < len(p) {
		v.Cut, v.N = true, int64(len(p))
	}
	return v
}

// utf reads a writeUTF string.
func (d *values) utf(what string) Value {
	p := d.take(int(uint16(d.big(2, what+" length"))), what)
	return d.text([]byte(decoder.Text(string(p))))
}

// maxDigitBytes is how long a BigInteger may be to be printed as a number.
const maxDigitBytes = 4096

// bigInteger reads a nullable BigInteger: i32 0 null, 1 zero, 2 one, 3 ten,
// else 4 + the length of the two's complement that follows (BigIntSerializer).
func (d *values) bigInteger() (Value, *big.Int) {
	at := d.off
	n := int(d.i32("BigInteger length"))
	switch {
	case !d.ok() || n == 0:
		return nullValue, nil
	case n < 4 && n > 0:
		v := big.NewInt([]int64{0, 0, 1, 10}[n])
		return numberValue(v, 0), v
	case n <= 4:
		d.fail(at, "BigInteger length 0 or more", strconv.Itoa(n), nil)
		return Value{}, nil
	}
	p := d.take(n-4, "BigInteger")
	if len(p) > maxDigitBytes {
		return d.opaque(p, "a number of more than "+strconv.Itoa(maxDigitBytes)+" bytes"), nil
	}
	v := twosComplement(p)
	return numberValue(v, 0), v
}

// bigDecimal reads a BigInteger and, unless it is null, an i32 scale
// (BigDecSerializer).
func (d *values) bigDecimal() Value {
	v, unscaled := d.bigInteger()
	if !d.ok() || v.Form == Null {
		return v
	}
	scale := d.i32("scale")
	if unscaled == nil {
		return v
	}
	return numberValue(unscaled, int(scale))
}

func twosComplement(p []byte) *big.Int {
	v := new(big.Int).SetBytes(p)
	if len(p) > 0 && p[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(p))))
	}
	return v
}

// numberValue is unscaled * 10^-scale with all its digits, in plain form up to a
// scale of 1000, else with an exponent.
func numberValue(unscaled *big.Int, scale int) Value {
	digits := new(big.Int).Abs(unscaled).String()
	sign := ""
	if unscaled.Sign() < 0 {
		sign = "-"
	}
	switch {
	case scale == 0:
	case scale > 0 && scale <= 1000:
		for len(digits) <= scale {
			digits = "0" + digits
		}
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	default:
		digits += "E" + strconv.Itoa(-scale)
	}
	return Value{Form: Number, Text: sign + digits}
}

// elementWidths are those of primitive arrays.
var elementWidths = map[Kind]int{BooleanArray: 1, CharArray: 2, DoubleArray: 8, FloatArray: 4, IntArray: 4, LongArray: 8, ShortArray: 2}

var arrayElements = map[Kind]*codec{BooleanArray: {kind: Boolean}, CharArray: {kind: Char}, DoubleArray: {kind: Double},
	FloatArray: {kind: Float}, IntArray: {kind: Int}, LongArray: {kind: Long}, ShortArray: {kind: Short}, StringArray: {kind: String}}

// array reads arrays of primitive values and strings: i32 n and the elements;
// false for other kinds.
func (d *values) array(k Kind) (Value, bool) {
	switch k {
	case ByteArray, Bitmap:
		return d.bytes(d.take(d.count("byte array length", 1), "byte array")), true
	case StringArray:
		return d.items(d.count("array length", 1), func(int) Value { return d.step(stringCodec) }), true
	case DeweyNumber:
		n := d.count("number of digits", 4)
		return d.items(n, func(int) Value { return d.value(arrayElements[IntArray]) }), true
	}
	w, ok := elementWidths[k]
	if !ok {
		return Value{}, false
	}
	n := d.count("array length", w)
	end := d.off + n*w
	elem := arrayElements[k]
	v := Value{Form: Sequence, N: int64(n)}
	for i := 0; i < n && d.ok() && d.left.Values > 0; i++ {
		v.Items = append(v.Items, d.value(elem))
	}
	if v.Cut = len(v.Items) < n; d.ok() {
		d.off = end
	}
	return v, true
}

var stringCodec = &codec{kind: String, width: -1}
