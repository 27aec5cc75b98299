package serde

import (
	"errors"
	"math"

	"chkscope/decoder"
)

// Form is what a Value is.
type Form uint8

// Forms. Behind each what the fields of a Value hold.
const (
	Missing   Form = iota // nothing; the zero Value
	Null                  //
	Bool                  // N: 0 or 1
	Integer               // N
	Real32                // N: bits of the float
	Real64                // N: bits of the double
	Number                // Text: decimal digits of a BigInteger, BigDecimal or SQL decimal
	Text                  // Text; N: length in bytes of the whole text
	Binary                // Text: bytes; N: length of the whole
	Moment                // Text: ISO 8601; N: milliseconds since 1970 where it has them
	Millis                // N: milliseconds since 1970: of timers, windows, TTL
	EnumName              // Text: constant; N: index or id in the bytes
	Sequence              // Items; N: number of elements of the whole
	Pairs                 // Items: key, value, key, value …; N: number of entries of the whole
	Fields                // Items, in the order of Shape.Names
	TTLValue              // Items[0]: value; N: last access, milliseconds since 1970
	TimerMark             // Items: key, namespace; N: time in milliseconds
	Opaque                // Text: bytes that were not decoded; N: their length; Why
)

// Value is one decoded value: a tree. Strings are Go strings in the form of
// decoder.Text: UTF-8, a surrogate without its partner keeps its three bytes.
type Value struct {
	Form Form
	// Cut is set where Text or Items do not hold all of it; N has the full length.
	Cut   bool
	N     int64
	Text  string
	Items []Value
	Shape *Shape
	// Why tells why the bytes of an Opaque value were not decoded.
	Why string
}

// Shape is what records of a type have in common.
type Shape struct {
	// Type is the class of the record where it is known: a POJO's, a tuple's.
	Type string
	// Subclass: Type is not the class that the serializer was made for.
	Subclass bool
	// Kind is the RowKind of a row, "" for +I or where it has none.
	Kind  string
	Names []string
	// Positional: the names are made here (f0, f1, …), the snapshot has none.
	Positional bool
}

// ErrOpaque is wrapped by errors about a value whose bytes have no known
// layout, so that its end is not known.
var ErrOpaque = errors.New("no known layout")

// Field is the named part of a record, entry of a map with text keys or, with
// "value", the value inside a TTL value; it is Missing where there is none.
func (v Value) Field(name string) Value {
	switch v.Form {
	case Fields:
		for i, n := range v.Shape.Names {
			if n == name && i < len(v.Items) {
				return v.Items[i]
			}
		}
	case Pairs:
		for i := 0; i+1 < len(v.Items); i += 2 {
			if v.Items[i].Form == Text && v.Items[i].Text == name {
				return v.Items[i+1]
			}
		}
	case TTLValue:
		if name == "value" {
			return v.Items[0]
		}
		return v.Items[0].Field(name)
	}
	return Value{}
}

// Decoded reports whether v holds no Opaque part.
func (v Value) Decoded() bool {
	if v.Form == Opaque {
		return false
	}
	for i := range v.Items {
		if !v.Items[i].Decoded() {
			return false
		}
	}
	return true
}

// Any gives v for expressions: nil, bool, int64, float64, string, []byte, []any,
// map[string]any. A TTL value is the value in it, an Opaque one is nil.
func (v Value) Any() any {
	switch v.Form {
	case Bool:
		return v.N != 0
	case Integer, Millis:
		return v.N
	case Real32, Real64:
		return v.Real()
	case Number, Text, Moment, EnumName:
		return v.Text
	case Binary:
		return []byte(v.Text)
	case Sequence:
		out := make([]any, len(v.Items))
		for i, e := range v.Items {
			out[i] = e.Any()
		}
		return out
	case Pairs:
		out := make(map[string]any, len(v.Items)/2)
		for i := 0; i+1 < len(v.Items); i += 2 {
			out[v.Items[i].String()] = v.Items[i+1].Any()
		}
		return out
	case Fields:
		out := make(map[string]any, len(v.Items))
		for i, e := range v.Items {
			out[v.Shape.Names[i]] = e.Any()
		}
		return out
	case TTLValue:
		return v.Items[0].Any()
	case TimerMark:
		return map[string]any{"time": v.N, "key": v.Items[0].Any(), "namespace": v.Items[1].Any()}
	}
	return nil
}

// Real is the number of a Real32 or Real64.
func (v Value) Real() float64 {
	if v.Form == Real32 {
		return float64(math.Float32frombits(uint32(v.N)))
	}
	return math.Float64frombits(uint64(v.N))
}

// Limits bound what a decoded value may hold. Beyond them it is Cut; the bytes
// are still walked to their end.
type Limits struct {
	Values int // parts in all
	Bytes  int // of strings, byte arrays and undecoded bytes, in all
}

// DefaultLimits are those of Decode.
var DefaultLimits = Limits{Values: 10_000, Bytes: 64 << 10}

// Decode reads the value of type t at the start of buf, which may go on behind
// it, and gives how many bytes it takes. An error is a *decoder.Error whose
// offset is in buf; it wraps ErrOpaque where the type tells no end. The Value is
// then what was read before, with the rest of buf as an Opaque part.
func Decode(t *Snapshot, buf []byte) (Value, int, error) {
	return DecodeWithin(t, buf, DefaultLimits)
}

// DecodeWithin is Decode with limits.
func DecodeWithin(t *Snapshot, buf []byte, l Limits) (Value, int, error) {
	d := values{buf: buf, end: len(buf), left: l}
	v := d.value(codecOf(t))
	if d.err != nil {
		return v, d.off, d.err
	}
	return v, d.off, nil
}

// DecodeAll reads buf as one value of type t that fills it. What is left behind
// the value (dead bytes of an edited list) is no error: its length is given.
// Where a part has no known layout but what follows it has a fixed width, the
// bytes of that part are told apart by the end.
func DecodeAll(t *Snapshot, buf []byte, l Limits) (v Value, left int, err error) {
	d := values{buf: buf, end: len(buf), left: l, whole: true}
	v = d.value(codecOf(t))
	if d.err != nil {
		return v, 0, d.err
	}
	return v, len(buf) - d.off, nil
}

// values reads values out of a buffer. The first failure sticks.
type values struct {
	buf  []byte
	off  int
	end  int // of the value at most
	left Limits
	// whole: the value that is read ends at end, if nothing follows in its parents.
	whole bool
	depth int
	err   *decoder.Error
	arena *arena // nil: the heap
}
