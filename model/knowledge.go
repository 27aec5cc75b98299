package model

import (
	"sync"

	"chkscope/decoder/keyed"
	"chkscope/decoder/serde"
)

// KeyedName is a named keyed state as a stream header tells it.
type KeyedName struct {
	Name string // modified UTF-8
	// Type is KEYED_STATE_TYPE ("VALUE", "MAP", ...) or "PRIORITY_QUEUE".
	Type string
	// Meta is its record in the header; nil for the services of raw timers.
	Meta *serde.StateMeta
}

// Counted is what counting found of one named state in one subtask.
type Counted struct{ Entries, Bytes int64 }

// knowledge is what was learnt from streams after opening.
type knowledge struct {
	mu      sync.RWMutex
	names   map[opKind][]KeyedName
	layouts map[opKind]KeyedLayout
	keys    map[opKind]keySerializer
	counted map[opSub]bool // subtasks whose keyed streams are counted
	counts  map[cellName]Counted
	partial map[opSub]bool // some of their states could not be counted
	index   map[opSub]keyedIndex
	// whole holds the operators and kinds whose names are all counted in all subtasks.
	whole map[opKind]bool

	headersRead bool
	records     map[int32]map[string]StateRecord // operator states by operator and name
	compressed  map[opSub]bool
	mapEntries  map[opName]int64 // of broadcast states
	unread      []UnreadHeader
}

func (k *knowledge) makeMaps() {
	if k.names == nil {
		k.names, k.layouts = map[opKind][]KeyedName{}, map[opKind]KeyedLayout{}
		k.keys = map[opKind]keySerializer{}
		k.counts, k.counted = map[cellName]Counted{}, map[opSub]bool{}
		k.records, k.compressed = map[int32]map[string]StateRecord{}, map[opSub]bool{}
		k.partial, k.index = map[opSub]bool{}, map[opSub]keyedIndex{}
		k.mapEntries = map[opName]int64{}
	}
}

// keyedIndex is where the entries of a stream are, from counting it.
type keyedIndex struct {
	*keyed.Index
	header *keyed.Header
}

// keySerializer is the serializer of an operator's keys, and whether its streams
// are compressed.
type keySerializer struct {
	t          *serde.Snapshot
	compressed bool
}

type opSub struct{ op, sub int32 }

type opName struct {
	op   int32
	name string
}

type opKind struct {
	op   int32
	kind Kind
}

type cellName struct {
	op, sub int32
	kind    Kind
	name    string
}

func (s *Snapshot) keyedNames(op int, k Kind) []KeyedName {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	return s.known.names[opKind{int32(op), k}]
}

func (s *Snapshot) counted(op, sub int32, k Kind, name string) (Counted, bool) {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	c, ok := s.known.counts[cellName{op, sub, k, name}]
	return c, ok
}

func (s *Snapshot) allCounted(op int, k Kind) bool {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	return s.known.whole[opKind{int32(op), k}]
}

// KeySerializer is the serializer of the keys of an operator, after ReadHeaders,
// or nil.
func (s *Snapshot) KeySerializer(op int) *serde.Snapshot {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	return s.known.keys[opKind{int32(op), KindKeyed}].t
}

// KeyedCompressed reports whether the keyed streams of an operator were written
// with snapshot compression, as far as headers were read.
func (s *Snapshot) KeyedCompressed(op int) bool {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	return s.known.keys[opKind{int32(op), KindKeyed}].compressed
}
