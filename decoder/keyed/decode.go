package keyed

import (
	"strconv"

	"chkscope/decoder"
	"chkscope/decoder/serde"
)

// Fields is a decoded entry. What is not there is Missing; what could not be
// decoded is serde.Opaque, with the reason.
type Fields struct {
	Key       serde.Value
	Namespace serde.Value // Missing for VoidNamespace
	MapKey    serde.Value // canonical MAP only
	// Value is without its TTL wrapper; of a queue the time (serde.Millis). In heap
	// layout that of a MAP is the whole map.
	Value serde.Value
	// LastAccess is the time in the TTL wrapper, milliseconds since 1970, of a list
	// or heap map that of the entry read last; TTL tells whether there is one.
	LastAccess int64
	TTL        bool
	// Accesses are the times of the elements of a list or the entries of a heap map.
	Accesses []int64
}

// Decode decodes an entry within limits for each of its parts. An entry that was
// cut is Opaque from there on.
func (t *Types) Decode(e Entry, l serde.Limits) Fields { return t.decode(e, &reader{limits: l}) }

// Decoder decodes the entries of a stream one after the other in the same
// memory: what Decode gives is valid until the next call.
type Decoder struct {
	types []Types
	r     reader
}

// NewDecoder gives a decoder for states of these types, by id.
func NewDecoder(types []Types, l serde.Limits) *Decoder {
	d := &Decoder{types: types, r: reader{limits: l, reuse: true}}
	for i := range d.r.parts {
		d.r.parts[i].Limits = l
	}
	return d
}

// Decode is Types.Decode.
func (d *Decoder) Decode(e Entry) Fields { return d.types[e.State].decode(e, &d.r) }

// reader reads values, into memory of their own or into that of the last entry.
type reader struct {
	limits serde.Limits
	reuse  bool
	parts  [4]serde.Decoder // key, namespace, map key, value
}

const (
	keyPart = iota
	namespacePart
	mapKeyPart
	valuePart
)

func (t *Types) decode(e Entry, l *reader) Fields {
	var f Fields
	if t.Queue {
		t.decodeQueue(e, l, &f)
		return f
	}
	p := t.Split(e)
	f.Key = l.whole(keyPart, t.Key, p.Key)
	if p.Why != "" {
		f.Key = opaque(p.Key, p.Why, l.limits)
	} else if t.Namespace != nil && t.Namespace.Kind != serde.VoidByte {
		f.Namespace = l.whole(namespacePart, t.Namespace, p.Namespace)
	}
	if t.Map && t.Layout == Canonical && p.Why == "" {
		f.MapKey = l.whole(mapKeyPart, t.UserKey, p.MapKey)
	}
	t.decodeValue(e, l, &f)
	return f
}

func (t *Types) decodeValue(e Entry, l *reader, f *Fields) {
	b := e.Value
	switch {
	case int64(len(b)) < e.ValueLen:
		f.Value = opaque(b, "a value of "+strconv.FormatInt(e.ValueLen, 10)+" bytes is too long to be decoded", l.limits)
		f.Value.N, f.Value.Cut = e.ValueLen, true
		return
	case t.Layout == Heap:
		f.Value = l.whole(valuePart, t.Stored, b)
	case t.List:
		f.Value = t.joined(b, l)
	case t.Map && len(b) > 0 && b[0] == 1:
		f.Value = serde.Value{Form: serde.Null}
	case t.Map && len(b) > 0 && b[0] == 0:
		f.Value = l.whole(valuePart, t.Value, b[1:])
	case t.Map:
		f.Value = opaque(b, "a map entry without its null flag", l.limits)
	default:
		f.Value = l.whole(valuePart, t.Stored, b)
	}
	f.unwrap()
}

// unwrap takes TTL wrappers off the value, its elements or entries.
func (f *Fields) unwrap() {
	off := func(v *serde.Value) bool {
		if v.Form != serde.TTLValue {
			return false
		}
		f.LastAccess, f.TTL = v.N, true
		*v = v.Items[0]
		return true
	}
	off(&f.Value)
	if f.Value.Form != serde.Sequence && f.Value.Form != serde.Pairs {
		return
	}
	for i := range f.Value.Items {
		if off(&f.Value.Items[i]) {
			f.Accesses = append(f.Accesses, f.LastAccess)
		}
	}
}

// joined reads the elements of a list, which have a ',' between them.
func (t *Types) joined(b []byte, l *reader) serde.Value {
	v := serde.Value{Form: serde.Sequence}
	for rest := b; ; v.N++ {
		var n int
		var err error
		if v.Cut = v.Cut || len(v.Items) >= l.limits.Values; v.Cut {
			n, err = serde.Skip(t.Value, rest)
		} else {
			var e serde.Value
			e, n, err = serde.DecodeWithin(t.Value, rest, l.limits)
			v.Items = append(v.Items, e)
		}
		if err != nil && v.N == 0 {
			// The only element may be one whose end is that of the value.
			return serde.Value{Form: serde.Sequence, N: 1, Items: []serde.Value{l.whole(valuePart, t.Value, b)}}
		}
		if err != nil {
			return opaque(b, err.Error(), l.limits)
		}
		if rest = rest[n:]; len(rest) == 0 {
			v.N++
			return v
		}
		if rest[0] != ',' {
			return opaque(b, "no ',' behind element "+strconv.FormatInt(v.N, 10), l.limits)
		}
		rest = rest[1:]
	}
}

func (t *Types) decodeQueue(e Entry, l *reader, f *Fields) {
	b := e.Key
	if t.Layout == Canonical {
		b = b[min(t.prefix, len(b)):]
	}
	if int64(len(e.Key)) < e.KeyLen {
		f.Value = opaque(b, "too long to be decoded", l.limits)
		return
	}
	v := l.whole(valuePart, t.Stored, b)
	if v.Form != serde.TimerMark || len(v.Items) != 2 {
		f.Value = v
		return
	}
	f.Key, f.Value = v.Items[0], serde.Value{Form: serde.Millis, N: v.N}
	if t.Stored.Nested[1] == nil || t.Stored.Nested[1].Kind != serde.VoidByte {
		f.Namespace = v.Items[1]
	}
}

// whole decodes b as one value that fills it.
func (l *reader) whole(part int, t *serde.Snapshot, b []byte) serde.Value {
	var v serde.Value
	var left int
	var err error
	if l.reuse {
		v, left, err = l.parts[part].DecodeAll(t, b)
	} else {
		v, left, err = serde.DecodeAll(t, b, l.limits)
	}
	switch {
	case err != nil && v.Form == serde.Missing:
		return opaque(b, err.Error(), l.limits)
	case left > 0:
		return opaque(b, strconv.Itoa(left)+" bytes are left behind the value", l.limits)
	}
	return v
}

func opaque(b []byte, why string, l serde.Limits) serde.Value {
	n := min(len(b), max(l.Bytes, 0))
	return serde.Value{Form: serde.Opaque, Text: string(b[:n]), N: int64(len(b)), Cut: n < len(b), Why: decoder.Text(why)}
}
