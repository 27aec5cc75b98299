package keyed

import "chkscope/decoder/serde"

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
