package keyed

import (
	"strconv"

	"chkscope/decoder"
	"chkscope/decoder/serde"
)

// Composite keys of canonical streams and RocksDB (CompositeKeySerializationUtils):
//
//	key group   1 byte, with a maxParallelism above 128 2 bytes
//	key
//	its length  only where ambiguous: little-endian, as many bytes as it has, at
//	            least one
//	namespace
//	its length  only where ambiguous
//	user key    of a MAP, up to the end
//
// Ambiguous: the serializers of key and namespace both report that lengths
// differ (serde.ReportedLength below 0).
//
// Values there: of a LIST the elements joined by ','; of a MAP one entry, a bool
// that is 1 for null and the value (behind a null what the serializer writes for
// it, to be ignored); else one value. In heap layout a LIST is i32 n and the
// elements, a MAP is i32 n x (user key, bool null, [value]).

// Types are the types of the entries of a state.
type Types struct {
	Layout Layout
	// Queue: entries are timers or other elements without a value. Map, List: of
	// KEYED_STATE_TYPE MAP or LIST.
	Queue, Map, List bool
	Key, Namespace   *serde.Snapshot
	// Stored is the value serializer of the state. UserKey is that of a MAP; Value
	// that of one value: of a LIST's element, of a MAP's value. Nil where Stored
	// does not tell.
	Stored, UserKey, Value *serde.Snapshot

	prefix    int
	ambiguous bool
	unsure    bool // whether it is ambiguous
}

// Types gives the types of state id. maxParallelism is that of the operator.
func (h *Header) Types(id int, l Layout, maxParallelism int32) Types {
	m := &h.States[id]
	t := Types{Layout: l, Key: h.Key, Namespace: m.Serializer(serde.NamespaceSerializer), Stored: m.Serializer(serde.ValueSerializer), prefix: 1}
	if maxParallelism > 128 {
		t.prefix = 2
	}
	t.Value = t.Stored
	switch {
	case m.Kind == serde.PriorityQueue:
		t.Queue = true
		t.Namespace = nil
	case m.Type == "LIST":
		t.List, t.Value = true, part(t.Stored, serde.List, 1, 0)
	case m.Type == "MAP":
		t.Map, t.UserKey, t.Value = true, part(t.Stored, serde.Map, 2, 0), part(t.Stored, serde.Map, 2, 1)
		if k := m.Serializer(serde.UserKeySerializer); k != nil {
			t.UserKey, t.Value = k, t.Stored
		}
	}
	key, namespace := serde.ReportedLength(t.Key), serde.ReportedLength(t.Namespace)
	t.ambiguous = key == -1 && namespace == -1
	t.unsure = (key == serde.LengthUnknown && namespace < 0 || namespace == serde.LengthUnknown && key < 0) && !t.Queue
	return t
}

// part is a nested type of a list or map serializer, or nil.
func part(t *serde.Snapshot, kind serde.Kind, n, i int) *serde.Snapshot {
	if t == nil || t.Kind != kind && !(kind == serde.Map && t.Kind == serde.SortedMap) || len(t.Nested) != n {
		return nil
	}
	return t.Nested[i]
}

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
}

// Parts are the bytes of an entry's key: Key is what its serializer wrote.
// Where they could not be told apart only Key is set, and Why.
type Parts struct {
	Key, Namespace, MapKey []byte
	Why                    string
}

// Split takes the key of an entry of this type apart. In heap layout, where
// parts stand alone, there is nothing to do; an element of a queue is split too.
func (t *Types) Split(e Entry) Parts {
	if t.Queue {
		return t.splitTimer(e)
	}
	if t.Layout == Heap {
		return Parts{Key: e.Key, Namespace: e.Namespace}
	}
	if len(e.Key) < t.prefix {
		return Parts{Key: e.Key, Why: "shorter than the key group"}
	}
	b := e.Key[t.prefix:]
	p, ok := t.split(b, t.ambiguous)
	if !ok && t.unsure {
		p, ok = t.split(b, !t.ambiguous)
	}
	if !ok {
		return Parts{Key: b, Why: orElse(p.Why, "key and namespace cannot be told apart")}
	}
	return p
}

func orElse(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// split takes b apart, with lengths behind the parts where ambiguous. Only the
// key of a MAP has bytes behind the namespace.
func (t *Types) split(b []byte, ambiguous bool) (Parts, bool) {
	var p Parts
	n, err := serde.Skip(t.Key, b)
	if err != nil {
		// A namespace of a fixed width at the end tells where the key ends.
		w := serde.Width(t.Namespace)
		if ambiguous || t.Map || w < 0 || w > len(b) {
			return Parts{Why: err.Error()}, false
		}
		return Parts{Key: b[:len(b)-w], Namespace: b[len(b)-w:]}, true
	}
	p.Key = b[:n]
	b, ok := behindLength(b[n:], n, ambiguous)
	if !ok {
		return Parts{}, false
	}
	if n, err = serde.Skip(t.Namespace, b); err != nil {
		if t.Map || ambiguous {
			return Parts{Why: err.Error()}, false
		}
		n = len(b)
	}
	p.Namespace = b[:n]
	if b, ok = behindLength(b[n:], n, ambiguous); !ok || len(b) > 0 && !t.Map {
		return Parts{}, false
	}
	p.MapKey = b
	return p, true
}

// behindLength steps over the length n where there is one.
func behindLength(b []byte, n int, there bool) ([]byte, bool) {
	for v := n; there; {
		if len(b) == 0 || b[0] != byte(v) {
			return nil, false
		}
		b = b[1:]
		if v >>= 8; v == 0 {
			break
		}
	}
	return b, true
}

// splitTimer takes an element of a queue apart: the time, key, namespace.
func (t *Types) splitTimer(e Entry) Parts {
	b := e.Key
	if t.Layout == Canonical {
		if len(b) < t.prefix {
			return Parts{Key: b, Why: "shorter than the key group"}
		}
		b = b[t.prefix:]
	}
	if t.Stored == nil || t.Stored.Kind != serde.Timer || len(t.Stored.Nested) != 2 || len(b) < 8 {
		return Parts{Key: b, Why: "not a timer"}
	}
	n, err := serde.Skip(t.Stored.Nested[0], b[8:])
	if err != nil {
		if n = len(b) - 8 - serde.Width(t.Stored.Nested[1]); serde.Width(t.Stored.Nested[1]) < 0 || n < 0 {
			return Parts{Key: b[8:], Why: err.Error()}
		}
	}
	return Parts{Key: b[8 : 8+n], Namespace: b[8+n:]}
}

// Decode decodes an entry within limits for each of its parts. An entry that was
// cut is Opaque from there on.
func (t *Types) Decode(e Entry, l serde.Limits) Fields {
	var f Fields
	if t.Queue {
		t.decodeQueue(e, l, &f)
		return f
	}
	p := t.Split(e)
	f.Key = whole(t.Key, p.Key, l)
	if p.Why != "" {
		f.Key = opaque(p.Key, p.Why, l)
	} else if t.Namespace != nil && t.Namespace.Kind != serde.VoidByte {
		f.Namespace = whole(t.Namespace, p.Namespace, l)
	}
	if t.Map && t.Layout == Canonical && p.Why == "" {
		f.MapKey = whole(t.UserKey, p.MapKey, l)
	}
	t.decodeValue(e, l, &f)
	return f
}

func (t *Types) decodeValue(e Entry, l serde.Limits, f *Fields) {
	b := e.Value
	switch {
	case int64(len(b)) < e.ValueLen:
		f.Value = opaque(b, "a value of "+strconv.FormatInt(e.ValueLen, 10)+" bytes is too long to be decoded", l)
		f.Value.N, f.Value.Cut = e.ValueLen, true
		return
	case t.Layout == Heap:
		f.Value = whole(t.Stored, b, l)
	case t.List:
		f.Value = t.joined(b, l)
	case t.Map && len(b) > 0 && b[0] == 1:
		f.Value = serde.Value{Form: serde.Null}
	case t.Map && len(b) > 0 && b[0] == 0:
		f.Value = whole(t.Value, b[1:], l)
	case t.Map:
		f.Value = opaque(b, "a map entry without its null flag", l)
	default:
		f.Value = whole(t.Stored, b, l)
	}
	f.unwrap()
}

// unwrap takes TTL wrappers off the value, its elements or entries.
func (f *Fields) unwrap() {
	off := func(v *serde.Value) {
		if v.Form == serde.TTLValue {
			f.LastAccess, f.TTL = v.N, true
			*v = v.Items[0]
		}
	}
	off(&f.Value)
	if f.Value.Form == serde.Sequence || f.Value.Form == serde.Pairs {
		for i := range f.Value.Items {
			off(&f.Value.Items[i])
		}
	}
}

// joined reads the elements of a list, which have a ',' between them.
func (t *Types) joined(b []byte, l serde.Limits) serde.Value {
	v := serde.Value{Form: serde.Sequence}
	for rest := b; ; v.N++ {
		var n int
		var err error
		if v.Cut = v.Cut || len(v.Items) >= l.Values; v.Cut {
			n, err = serde.Skip(t.Value, rest)
		} else {
			var e serde.Value
			e, n, err = serde.DecodeWithin(t.Value, rest, l)
			v.Items = append(v.Items, e)
		}
		if err != nil && v.N == 0 {
			// The only element may be one whose end is that of the value.
			return serde.Value{Form: serde.Sequence, N: 1, Items: []serde.Value{whole(t.Value, b, l)}}
		}
		if err != nil {
			return opaque(b, err.Error(), l)
		}
		if rest = rest[n:]; len(rest) == 0 {
			v.N++
			return v
		}
		if rest[0] != ',' {
			return opaque(b, "no ',' behind element "+strconv.FormatInt(v.N, 10), l)
		}
		rest = rest[1:]
	}
}

func (t *Types) decodeQueue(e Entry, l serde.Limits, f *Fields) {
	b := e.Key
	if t.Layout == Canonical {
		b = b[min(t.prefix, len(b)):]
	}
	if int64(len(e.Key)) < e.KeyLen {
		f.Value = opaque(b, "too long to be decoded", l)
		return
	}
	v := whole(t.Stored, b, l)
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
func whole(t *serde.Snapshot, b []byte, l serde.Limits) serde.Value {
	v, left, err := serde.DecodeAll(t, b, l)
	switch {
	case err != nil && v.Form == serde.Missing:
		return opaque(b, err.Error(), l)
	case left > 0:
		return opaque(b, strconv.Itoa(left)+" bytes are left behind the value", l)
	}
	return v
}

func opaque(b []byte, why string, l serde.Limits) serde.Value {
	n := min(len(b), max(l.Bytes, 0))
	return serde.Value{Form: serde.Opaque, Text: string(b[:n]), N: int64(len(b)), Cut: n < len(b), Why: decoder.Text(why)}
}
