package model

import (
	"slices"

	"chkscope/decoder/serde"
)

// SerializerChange is a serializer of a named state in two snapshots, and what
// Flink makes of it where the state of the first is restored with the serializer
// of the second.
type SerializerChange struct {
	Key string // KEY_SERIALIZER, VALUE_SERIALIZER, …
	serde.Comparison
	// Effect is what the state backend does, as a sentence.
	Effect string
}

// Against compares the serializers of named state n with those of the same state,
// by operator id and name, in another snapshot. It is false where the other has no
// such state, as far as both had their headers read.
func (s *Snapshot) Against(t *Tree, n Node, other *Snapshot) ([]SerializerChange, bool) {
	op := int(t.op[n])
	otherOp := -1
	for i := range other.Meta.Operators {
		if other.Meta.Operators[i].ID == s.Meta.Operators[op].ID {
			otherOp = i
		}
	}
	was := s.serializers(op, t.kind[n], t.Name(n))
	if otherOp < 0 || was == nil {
		return nil, false
	}
	is := other.serializers(otherOp, t.kind[n], t.Name(n))
	if is == nil {
		return nil, false
	}
	out := []SerializerChange{}
	for _, w := range was {
		for _, i := range is {
			if i.Key == w.Key {
				c := serde.Compare(w.Type, i.Type)
				out = append(out, SerializerChange{w.Key, c, effect(t.kind[n], w.Key, w.Type, c)})
			}
		}
	}
	return out, true
}

// Serializers are those of a named state, as stream headers have them; for keyed
// state with that of the operator's keys. Nil where they are not known.
func (s *Snapshot) Serializers(t *Tree, n Node) []serde.KeyedSerializer {
	return s.serializers(int(t.op[n]), t.kind[n], t.Name(n))
}

func (s *Snapshot) serializers(op int, k Kind, name string) []serde.KeyedSerializer {
	if k == KindOperator {
		r, ok := s.Record(op, name)
		if !ok {
			return nil
		}
		return ranked(r.Serializers)
	}
	for _, n := range s.keyedNames(op, k) {
		if n.Name != name || n.Meta == nil {
			continue
		}
		out := []serde.KeyedSerializer{}
		s.known.mu.RLock()
		defer s.known.mu.RUnlock()
		if key := s.known.keys[opKind{int32(op), k}].t; key != nil && n.Meta.Kind != serde.PriorityQueue {
			out = append(out, serde.KeyedSerializer{Key: serde.KeySerializer, Type: key})
		}
		return ranked(append(out, n.Meta.Serializers...))
	}
	return nil
}

// ranks is the order of serializers for people; streams have that of a hash map.
var ranks = map[string]int{serde.KeySerializer: 0, serde.NamespaceSerializer: 1, serde.UserKeySerializer: 2, serde.ValueSerializer: 3}

func ranked(list []serde.KeyedSerializer) []serde.KeyedSerializer {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b serde.KeyedSerializer) int { return ranks[a.Key] - ranks[b.Key] })
	return out
}

// effect is what backends do with a serializer (StateMigrationException and
// migrations in DefaultOperatorStateBackend, HeapKeyedStateBackend,
// RocksDBKeyedStateBackend and the restore operations of both).
func effect(k Kind, key string, was *serde.Snapshot, c serde.Comparison) string {
	const refused = "Flink refuses the restore (StateMigrationException)"
	fixed := k == KindKeyed && (key == serde.KeySerializer || key == serde.NamespaceSerializer)
	switch c.Result {
	case serde.Incompatible:
		return refused
	case serde.Undecided:
		return "not known"
	case serde.CompatibleAsIs:
		return "nothing to do"
	case serde.CompatibleReconfigured:
		return "Flink takes the old order of registrations or constants over"
	}
	switch {
	case fixed:
		return refused + ": serializers of keys and namespaces cannot be migrated"
	case k == KindOperator:
		return "Flink reads with the old serializer and writes with the new one"
	case was.Kind == serde.Map && keyMigrates(c):
		return "the heap backend migrates; RocksDB refuses the restore: keys of a map cannot be migrated"
	}
	return "Flink migrates: the heap backend when it is read, RocksDB all entries when the state is registered"
}

// keyMigrates says whether the keys of a map need a migration.
func keyMigrates(c serde.Comparison) bool {
	for _, x := range c.Changes {
		if x.Result == serde.CompatibleAfterMigration && (x.Path == "key" || len(x.Path) > 4 && x.Path[:4] == "key.") {
			return true
		}
	}
	return false
}
