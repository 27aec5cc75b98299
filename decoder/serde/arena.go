package serde

import "unsafe"

// Decoder decodes many values one after the other in the same memory: each is
// valid until the next call. It is not safe for concurrent use.
type Decoder struct {
	Limits Limits
	arena  arena
	d      values
}

// Decode is DecodeWithin.
func (x *Decoder) Decode(t *Snapshot, buf []byte) (Value, int, error) {
	v := x.read(t, buf, false)
	if x.d.err != nil {
		return v, x.d.off, x.d.err
	}
	return v, x.d.off, nil
}

// DecodeAll is the function DecodeAll.
func (x *Decoder) DecodeAll(t *Snapshot, buf []byte) (Value, int, error) {
	v := x.read(t, buf, true)
	if x.d.err != nil {
		return v, 0, x.d.err
	}
	return v, len(buf) - x.d.off, nil
}

func (x *Decoder) read(t *Snapshot, buf []byte, whole bool) Value {
	x.arena.values, x.arena.text = x.arena.values[:0], x.arena.text[:0]
	x.d = values{buf: buf, end: len(buf), left: x.Limits, whole: whole, arena: &x.arena}
	return x.d.value(codecOf(t))
}

// arena is memory for the values of one call.
type arena struct {
	values []Value
	text   []byte
}

// chunk is how many values or bytes an arena takes at once; what needs more than
// an eighth of it is taken from the heap.
const chunk = 1 << 12

// room is room for n values.
func (d *values) room(n int) []Value {
	a := d.arena
	if n = min(n, 64); a == nil {
		return make([]Value, 0, n)
	}
	at := len(a.values)
	if cap(a.values)-at < n {
		a.values, at = make([]Value, 0, chunk/8), 0 // values in the old one stay as they are
	}
	a.values = a.values[:at+n]
	return a.values[at : at : at+n]
}

// string is p as a string.
func (d *values) string(p []byte) string {
	a := d.arena
	if a == nil || len(p) > chunk/8 || len(p) == 0 {
		return string(p)
	}
	if cap(a.text)-len(a.text) < len(p) {
		a.text = make([]byte, 0, chunk)
	}
	at := len(a.text)
	a.text = append(a.text, p...)
	return unsafe.String(&a.text[at], len(p))
}
