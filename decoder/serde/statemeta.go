package serde

import (
	"fmt"
	"strconv"

	"chkscope/decoder"
)

// StateKind is StateMetaInfoSnapshot.BackendStateType.
type StateKind int32

const (
	KeyValue      StateKind = 0
	Operator      StateKind = 1 // list state, split or union
	Broadcast     StateKind = 2
	PriorityQueue StateKind = 3 // timers
	KeyValueV2    StateKind = 4 // 2.x
)

func (k StateKind) String() string {
	names := [...]string{"KEY_VALUE", "OPERATOR", "BROADCAST", "PRIORITY_QUEUE", "KEY_VALUE_V2"}
	if k < 0 || int(k) >= len(names) {
		return strconv.Itoa(int(k))
	}
	return names[k]
}

// Keys of options and serializers of a state record.
const (
	DistributionMode    = "OPERATOR_STATE_DISTRIBUTION_MODE"
	KeyedStateType      = "KEYED_STATE_TYPE"
	KeySerializer       = "KEY_SERIALIZER"
	NamespaceSerializer = "NAMESPACE_SERIALIZER"
	ValueSerializer     = "VALUE_SERIALIZER"
	UserKeySerializer   = "USER_KEY_SERIALIZER"
)

// StateMeta is one state record (StateMetaInfoSnapshot).
type StateMeta struct {
	Span decoder.Span
	// Name is kept as in the stream (modified UTF-8).
	Name string
	Kind StateKind
	// Mode is the distribution mode of an operator or broadcast state
	// (SPLIT_DISTRIBUTE, UNION, BROADCAST), else "".
	Mode string
	// Type is the KEYED_STATE_TYPE of a keyed state (VALUE, LIST, MAP, …), else "".
	Type string
	// Serializers by key, in the order of the stream.
	Serializers []KeyedSerializer
	// Opaque is set where a serializer is opaque.
	Opaque bool
}

// KeyedSerializer is a serializer of a state record.
type KeyedSerializer struct {
	Key  string
	Type *Snapshot
}

// Serializer is the serializer stored under key, or nil.
func (m *StateMeta) Serializer(key string) *Snapshot {
	for _, s := range m.Serializers {
		if s.Key == key {
			return s.Type
		}
	}
	return nil
}

// MetaLayout is how the records of a list are laid out.
type MetaLayout struct {
	Version int32 // meta version
	Keyed   bool  // records of a keyed backend, which differ below 5
}

// modes and keyedTypes are numbers of the layouts before 5.
var (
	modes      = []string{"SPLIT_DISTRIBUTE", "UNION", "BROADCAST"}
	keyedTypes = []string{"UNKNOWN", "VALUE", "LIST", "REDUCING", "FOLDING", "AGGREGATING", "MAP"}
)

// StateMetas reads n records.
//
// A serializer of unknown class, or one that is damaged, has no length in layout
// 6 and later. Its end is then the beginning of what can be recognised behind it:
// the next serializer of the record, the next record or, of the last one,
// what lastEnd gives: the end of the list, at or behind from, or -1 where it
// cannot be told (nil: never). Names are those that records are expected to
// have: they decide where the beginning of a record is ambiguous.
func (r *Reader) StateMetas(n int, l MetaLayout, names []string, lastEnd func(from int64) int64) []StateMeta {
	var out []StateMeta
	if !r.ok() {
		return nil
	}
	if n < 0 || n > r.Left()/6 {
		r.fail(r.off, fmt.Sprintf("number of states up to %d", r.Left()/6), strconv.Itoa(n), nil)
		return nil
	}
	for i := 0; i < n && r.ok(); i++ {
		r.enter("state", i)
		end := func(from int) int {
			if i < n-1 {
				next, _ := r.findRecord(from, names)
				return next
			}
			if lastEnd == nil {
				return -1
			}
			return int(lastEnd(r.base+int64(from)) - r.base)
		}
		at := r.off
		m := StateMeta{}
		r.stateMeta(&m, l, end)
		m.Span = r.span(at, r.off)
		for _, s := range m.Serializers {
			m.Opaque = m.Opaque || s.Type == nil || s.Type.Opaque
		}
		out = append(out, m)
		r.leave()
	}
	return out
}

func (r *Reader) stateMeta(m *StateMeta, l MetaLayout, end func(int) int) {
	switch {
	case l.Version >= 5 && l.Version <= 8:
		r.currentMeta(m, l, end)
	case l.Keyed && l.Version >= 1:
		r.legacyKeyedMeta(m, l)
	case !l.Keyed && l.Version >= 1:
		r.legacyOperatorMeta(m, l)
	default:
		r.fail(r.off, "state record version 1 to 8", strconv.Itoa(int(l.Version)), decoder.ErrVersion)
	}
}

// currentMeta reads layouts 5 to 8.
func (r *Reader) currentMeta(m *StateMeta, l MetaLayout, end func(int) int) {
	m.Name = r.UTF("state name")
	at := r.off
	m.Kind = StateKind(r.I32("state type"))
	if r.ok() && (m.Kind < 0 || m.Kind > KeyValueV2) {
		r.fail(at, "state type 0 to 4", strconv.Itoa(int(m.Kind)), nil)
	}
	for i := r.Count("option count", 4); i > 0 && r.ok(); i-- {
		switch key, value := r.UTF("option"), r.UTF("option value"); key {
		case DistributionMode:
			m.Mode = value
		case KeyedStateType:
			m.Type = value
		}
	}
	n := r.Count("serializer count", 2)
	if l.Version == 5 {
		for i := 0; i < n && r.ok(); i++ {
			m.Serializers = append(m.Serializers, KeyedSerializer{Key: r.UTF("serializer key")})
		}
		r.slots(m)
		return
	}
	for i := 0; i < n && r.ok(); i++ {
		key := r.UTF("serializer key")
		r.enter(key, -1)
		t := r.resync(func(from int) int {
			if i < n-1 {
				return r.nextSerializer(from)
			}
			if l.Version == 8 {
				return -1
			}
			return end(from)
		})
		m.Serializers = append(m.Serializers, KeyedSerializer{key, t})
		r.leave()
	}
	if l.Version == 8 {
		for i := r.Count("extra count", 6); i > 0 && r.ok(); i-- {
			r.UTF("extra key")
			r.take(r.Count("extra length", 1), "extra")
		}
	}
}

// slots reads a resilient list into the serializers, whose keys are known.
func (r *Reader) slots(m *StateMeta) {
	at := r.off
	types := r.Resilient()
	if r.ok() && len(types) != len(m.Serializers) {
		r.fail(at, fmt.Sprintf("%d serializers", len(m.Serializers)), strconv.Itoa(len(types)), nil)
	}
	for i := range m.Serializers {
		if i < len(types) {
			m.Serializers[i].Type = types[i]
		}
	}
}

func keys(k ...string) []KeyedSerializer {
	out := make([]KeyedSerializer, len(k))
	for i := range k {
		out[i].Key = k[i]
	}
	return out
}

func (r *Reader) legacyOperatorMeta(m *StateMeta, l MetaLayout) {
	m.Name = r.UTF("state name")
	at := r.off
	mode := r.U8("distribution mode")
	if r.ok() && int(mode) >= len(modes) {
		r.fail(at, "distribution mode 0 to 2", strconv.Itoa(int(mode)), nil)
		return
	}
	m.Kind, m.Mode = Operator, modes[mode]
	m.Serializers = keys(ValueSerializer)
	if l.Version == 1 {
		m.Serializers[0].Type = r.JavaSerializer()
		return
	}
	// Layouts 2 and 3 do not name the kind: two serializers make a broadcast state.
	if p := r.section(r.off, r.end); p.I32("") == 2 {
		m.Kind, m.Serializers = Broadcast, keys(KeySerializer, ValueSerializer)
	}
	r.slots(m)
}

func (r *Reader) legacyKeyedMeta(m *StateMeta, l MetaLayout) {
	at := r.off
	t := r.I32("state descriptor type")
	if r.ok() && (t < 0 || int(t) >= len(keyedTypes)) {
		r.fail(at, "state descriptor type 0 to 6", strconv.Itoa(int(t)), nil)
		return
	}
	m.Kind, m.Type = KeyValue, keyedTypes[t]
	m.Name = r.UTF("state name")
	m.Serializers = keys(NamespaceSerializer, ValueSerializer)
	if l.Version <= 2 {
		m.Serializers[0].Type = r.SerBytes()
		m.Serializers[1].Type = r.SerBytes()
		return
	}
	r.slots(m)
}
