package serde

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"chkscope/decoder"
)

// Compatibility is what Flink makes of an old snapshot and a new serializer
// (TypeSerializerSchemaCompatibility), from the best to the worst.
type Compatibility int

const (
	CompatibleAsIs Compatibility = iota
	CompatibleReconfigured
	CompatibleAfterMigration
	// Undecided: the snapshot class's own code decides, which is not known.
	Undecided
	Incompatible
)

func (c Compatibility) String() string {
	return [...]string{"compatible as is", "compatible with a reconfigured serializer", "compatible after migration",
		"not known: its own code decides", "incompatible"}[c]
}

// Change is a difference between two types.
type Change struct {
	Path   string // fields and roles, "" at the top
	Text   string
	Result Compatibility
	// Rule is the class of Flink whose rule gives the result.
	Rule string
}

// Comparison is what Flink makes of a type that was restored as another.
type Comparison struct {
	Result  Compatibility
	Changes []Change // none where nothing differs
}

// maxChanges bounds the changes of a Comparison.
const maxChanges = 1000

// Compare says what Flink makes of a snapshot old when a job has the serializer
// that the snapshot next tells: the rules of resolveSchemaCompatibility of each
// snapshot class in Flink 1.20 and 2.1. Where older releases decide otherwise the
// text of a change says so.
func Compare(old, next *Snapshot) Comparison {
	c := comparer{}
	r := c.compare("", old, next, 0)
	return Comparison{r, c.changes}
}

type comparer struct {
	changes []Change
}

// is notes a change and gives its result.
func (c *comparer) is(r Compatibility, path, rule, format string, args ...any) Compatibility {
	if len(c.changes) < maxChanges {
		c.changes = append(c.changes, Change{path, fmt.Sprintf(format, args...), r, rule})
	}
	return r
}

func (c *comparer) compare(path string, old, next *Snapshot, depth int) Compatibility {
	switch {
	case old == nil || next == nil:
		if old == next {
			return Undecided
		}
		return c.is(Undecided, path, "", "one of the two has no serializer snapshot")
	case depth > maxDepth:
		return c.is(Undecided, path, "", "more than %d levels", maxDepth)
	case old.Opaque || next.Opaque || old.Kind == Unknown || next.Kind == Unknown:
		return c.unknown(path, old, next)
	case old.Kind != next.Kind || next.family() == "" && serializerName(old) != serializerName(next):
		return c.otherKind(path, old, next)
	}
	switch next.Kind {
	case Pojo:
		return c.pojo(path, old, next, depth)
	case Kryo:
		return c.kryo(path, old, next)
	case Enum:
		return c.enum(path, old, next)
	case Avro:
		return c.avro(path, old, next)
	case RowData:
		return c.rowData(path, old, next, depth)
	case TTLAware:
		return c.ttlAware(path, old, next, depth)
	case UserValue:
		return c.sameType(path, "GenericTypeSerializerSnapshot", old, next)
	case BinaryRowData, DecimalData, TimestampData, ArrayData, MapData:
		return c.parameters(path, old, next)
	case SortedMap:
		return c.nested(path, "SortedMapSerializerSnapshot", old, next, depth)
	}
	if len(old.Nested)+len(next.Nested) == 0 && next.Kind != Tuple && next.Kind != Row {
		return CompatibleAsIs // SimpleTypeSerializerSnapshot: the same serializer class
	}
	return c.composite(path, old, next, depth)
}

// unknown compares what has no known layout: the same class and the same bytes
// mostly are compatible, but its code decides.
func (c *comparer) unknown(path string, old, next *Snapshot) Compatibility {
	if serializerName(old) != serializerName(next) {
		return c.is(Undecided, path, next.Class, "%s was %s; the code of %s decides", serializerName(next), serializerName(old), ShortClass(next.Class))
	}
	return c.is(Undecided, path, next.Class, "the code of %s decides", ShortClass(next.Class))
}

// family is "" where the kind alone does not say that two serializers are of one
// class.
func (t *Snapshot) family() string {
	switch t.Kind {
	case Tuple, Pojo, Row, Kryo, Enum, Avro, RowData, List, Map, Either, Option, Try, Timer, TTL, Nullable:
		return t.Kind.String()
	}
	return ""
}

// serializerName is the serializer of a type, or its snapshot where that is all
// that is known. Snapshot classes of old releases count as those of today.
func serializerName(t *Snapshot) string {
	name := strings.ReplaceAll(orElse(t.SerializerClass, t.Class), "$", ".")
	return decoder.Text(strings.Replace(name, "ConfigSnapshot", "Snapshot", 1))
}

func (c *comparer) otherKind(path string, old, next *Snapshot) Compatibility {
	rule := "TypeSerializerSnapshot"
	switch {
	case len(next.Nested) == 0 && len(old.Nested) == 0:
		rule = "SimpleTypeSerializerSnapshot"
	case len(next.Nested) > 0 && len(old.Nested) > 0:
		rule = "CompositeTypeSerializerSnapshot"
	}
	return c.is(Incompatible, path, rule, "%s was %s", typeText(next), typeText(old))
}

func join(path, part string) string {
	if path == "" {
		return part
	}
	return path + "." + part
}

// each compares nested types one by one and gives the worst result.
func (c *comparer) each(path string, old, next *Snapshot, depth int) Compatibility {
	worst := CompatibleAsIs
	for i := range next.Nested {
		worst = max(worst, c.compare(join(path, role(next, i)), old.Nested[i], next.Nested[i], depth+1))
	}
	return worst
}

func (c *comparer) nested(path, rule string, old, next *Snapshot, depth int) Compatibility {
	if len(old.Nested) != len(next.Nested) {
		return c.is(Incompatible, path, rule, "%d parts, not %d", len(next.Nested), len(old.Nested))
	}
	return c.each(path, old, next, depth)
}

// composite is CompositeTypeSerializerSnapshot: the number of parts, the outer
// schema, the parts.
func (c *comparer) composite(path string, old, next *Snapshot, depth int) Compatibility {
	const rule = "CompositeTypeSerializerSnapshot"
	if len(old.Nested) != len(next.Nested) {
		return c.is(Incompatible, path, rule, "%d parts, not %d", len(next.Nested), len(old.Nested))
	}
	outer := c.outer(path, old, next)
	return max(outer, c.each(path, old, next, depth))
}

// outer is resolveOuterSchemaCompatibility of the composites that have one.
func (c *comparer) outer(path string, old, next *Snapshot) Compatibility {
	rule := ShortClass(next.Class)
	switch {
	case next.Kind == Nullable && old.Size != next.Size:
		return c.is(Incompatible, path, rule, "null takes %d bytes, not %d", next.Size, old.Size)
	case (next.Kind == Row || next.Kind == TwoPhase || next.Kind == List || next.Kind == NFAState) && old.Flag != next.Flag:
		what := map[Kind]string{Row: "row kind", TwoPhase: "missing pending transactions", List: "null elements", NFAState: "the previous timestamp"}[next.Kind]
		return c.is(CompatibleAfterMigration, path, rule, "%s stored: %v, was %v", what, next.Flag, old.Flag)
	case next.Kind == Tuple && old.Type != next.Type && isJavaTuple(next):
		return c.is(Incompatible, path, rule, "class %s was %s (Flink 1.19 and later do not compare the classes of Java tuples)", decoder.Text(next.Type), decoder.Text(old.Type))
	case (next.Kind == Tuple || next.Kind == GenericArray) && old.Type != next.Type:
		return c.is(Incompatible, path, rule, "class %s was %s", decoder.Text(next.Type), decoder.Text(old.Type))
	case next.Kind == Traversable && old.Type != next.Type:
		return c.is(Incompatible, path, rule, "the code that builds the collection is another")
	}
	return CompatibleAsIs
}

func isJavaTuple(t *Snapshot) bool {
	return strings.HasPrefix(t.Type, "org.apache.flink.api.java.tuple.")
}

func (c *comparer) sameType(path, rule string, old, next *Snapshot) Compatibility {
	if old.Type != next.Type {
		return c.is(Incompatible, path, rule, "class %s was %s", decoder.Text(next.Type), decoder.Text(old.Type))
	}
	return CompatibleAsIs
}

// pojo is PojoSerializerSnapshot.
func (c *comparer) pojo(path string, old, next *Snapshot, depth int) Compatibility {
	const rule = "PojoSerializerSnapshot"
	if r := c.sameType(path, rule, old, next); r != CompatibleAsIs {
		return r
	}
	if old.Pojo == nil || next.Pojo == nil {
		return c.is(Undecided, path, rule, "the fields are not in one of the snapshots")
	}
	was := map[string]*Snapshot{}
	for _, f := range old.Pojo.Fields {
		was[f.Name] = f.Type
	}
	worst := CompatibleAsIs
	for _, f := range next.Pojo.Fields {
		name := decoder.Text(f.Name)
		t, ok := was[f.Name]
		delete(was, f.Name)
		if !ok {
			worst = max(worst, c.is(CompatibleAfterMigration, join(path, name), rule, "new field: %s", typeTextOf(f.Type)))
			continue
		}
		worst = max(worst, c.compare(join(path, name), t, f.Type, depth+1))
	}
	for _, f := range old.Pojo.Fields {
		if t, ok := was[f.Name]; ok {
			worst = max(worst, c.is(CompatibleAfterMigration, join(path, decoder.Text(f.Name)), rule, "field removed: %s", typeTextOf(t)))
		}
	}
	return max(worst, c.subclasses(path, old.Pojo, next.Pojo, depth))
}

func typeTextOf(t *Snapshot) string {
	if t == nil {
		return "unknown"
	}
	return typeText(t)
}

func (c *comparer) subclasses(path string, old, next *PojoType, depth int) Compatibility {
	const rule = "PojoSerializerSnapshot"
	worst := CompatibleAsIs
	names := func(list []Subclass) []string {
		var out []string
		for _, s := range list {
			out = append(out, s.Class)
		}
		return out
	}
	was, is := names(old.Registered), names(next.Registered)
	for i, s := range old.Registered {
		if k := slices.Index(is, s.Class); k >= 0 {
			worst = max(worst, c.compare(join(path, "subclass "+decoder.Text(s.Class)), old.Registered[i].Type, next.Registered[k].Type, depth+1))
		}
	}
	if len(was) > len(is) || !slices.Equal(was, is[:len(was)]) {
		worst = max(worst, c.is(CompatibleReconfigured, path, rule, "registered subclasses %s, were %s", classList(is), classList(was)))
	} else if len(is) > len(was) {
		c.is(CompatibleAsIs, path, rule, "more registered subclasses: %s", classList(is[len(was):]))
	}
	if len(old.NonRegistered) > 0 {
		worst = max(worst, c.is(CompatibleReconfigured, path, rule, "subclasses that were not registered: %s", classList(names(old.NonRegistered))))
	}
	return worst
}

func classList(classes []string) string {
	if len(classes) == 0 {
		return "none"
	}
	out := make([]string, len(classes))
	for i, s := range classes {
		out[i] = ShortClass(s)
	}
	return strings.Join(out, ", ")
}

// kryo is KryoSerializerSnapshot: the old registrations must be the beginning of
// the new ones, else the serializer is reconfigured.
func (c *comparer) kryo(path string, old, next *Snapshot) Compatibility {
	const rule = "KryoSerializerSnapshot"
	if r := c.sameType(path, rule, old, next); r != CompatibleAsIs {
		return r
	}
	if old.KryoType == nil || next.KryoType == nil {
		return c.is(Undecided, path, rule, "the registrations are not in one of the snapshots")
	}
	worst := CompatibleAsIs
	if old.KryoType.kryo5() != next.KryoType.kryo5() {
		worst = c.is(Undecided, path, "", "Flink 1.x writes Kryo 2, Flink 2.x Kryo 5: other bytes under the same snapshot")
	}
	for _, l := range []struct {
		what    string
		old, is []KryoRegistration
	}{
		{"registrations", old.KryoType.Registrations, next.KryoType.Registrations},
		{"default serializers", old.KryoType.Defaults, next.KryoType.Defaults},
		{"default serializer classes", old.KryoType.DefaultClasses, next.KryoType.DefaultClasses},
	} {
		was, is := registered(l.old), registered(l.is)
		switch {
		case len(was) > len(is) || !slices.Equal(was, is[:len(was)]):
			worst = max(worst, c.is(CompatibleReconfigured, path, rule, "Kryo %s: %s, were %s", l.what, classList(is), classList(was)))
		case len(is) > len(was):
			c.is(CompatibleAsIs, path, rule, "more Kryo %s: %s", l.what, classList(is[len(was):]))
		}
	}
	return worst
}

func registered(list []KryoRegistration) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.Name)
	}
	return out
}

// enum is EnumSerializerSnapshot and ScalaEnumSerializerSnapshot.
func (c *comparer) enum(path string, old, next *Snapshot) Compatibility {
	rule := "EnumSerializerSnapshot"
	if next.EnumType != nil && next.EnumType.IDs != nil {
		rule = "ScalaEnumSerializerSnapshot"
	}
	if r := c.sameType(path, rule, old, next); r != CompatibleAsIs {
		return r
	}
	if old.EnumType == nil || next.EnumType == nil {
		return c.is(Undecided, path, rule, "the constants are not in one of the snapshots")
	}
	was, is := old.EnumType.Constants, next.EnumType.Constants
	for _, name := range was {
		if !slices.Contains(is, name) {
			return c.is(Incompatible, path, rule, "constant %s is gone", decoder.Text(name))
		}
	}
	switch {
	case next.EnumType.IDs != nil:
		for i, id := range old.EnumType.IDs {
			if k := slices.Index(next.EnumType.IDs, id); k < 0 || is[k] != was[i] {
				return c.is(Incompatible, path, rule, "id %d was %s", id, decoder.Text(was[i]))
			}
		}
	case !slices.Equal(was, is):
		return c.is(CompatibleReconfigured, path, rule, "constants %s, were %s", decoder.Text(strings.Join(is, ", ")), decoder.Text(strings.Join(was, ", ")))
	}
	return CompatibleAsIs
}

// rowData is RowDataSerializerSnapshot: the logical types must be equal.
func (c *comparer) rowData(path string, old, next *Snapshot, depth int) Compatibility {
	const rule = "RowDataSerializerSnapshot"
	worst := CompatibleAsIs
	if len(old.Logical) != len(next.Logical) || len(old.Nested) != len(next.Nested) {
		return c.is(Incompatible, path, rule, "%d columns, not %d", len(next.Nested), len(old.Nested))
	}
	for i, t := range next.Logical {
		if was := old.Logical[i]; t.String() != was.String() {
			worst = c.is(Incompatible, join(path, "f"+strconv.Itoa(i)), rule, "%s was %s", t, was)
		}
	}
	return max(worst, c.each(path, old, next, depth))
}

// ttlAware is TtlAwareSerializerSnapshot (2.x): TTL may be switched on and off.
func (c *comparer) ttlAware(path string, old, next *Snapshot, depth int) Compatibility {
	if len(old.Nested) != 1 || len(next.Nested) != 1 {
		return c.is(Undecided, path, "TtlAwareSerializerSnapshot", "parts are missing")
	}
	was, is := old.Nested[0], next.Nested[0]
	if old.Flag == next.Flag {
		return c.compare(path, was, is, depth+1)
	}
	value := func(t *Snapshot) *Snapshot {
		if t.Kind == TTL && len(t.Nested) == 2 {
			return t.Nested[1]
		}
		return t
	}
	r := c.is(CompatibleAfterMigration, path, "TtlAwareSerializerSnapshot", "TTL %v, was %v", next.Flag, old.Flag)
	return max(r, c.compare(path, value(was), value(is), depth+1))
}

// parameters compares SQL types of parameters: any difference is incompatible.
func (c *comparer) parameters(path string, old, next *Snapshot) Compatibility {
	if was, is := typeText(old), typeText(next); was != is || old.Size != next.Size || old.Scale != next.Scale {
		return c.is(Incompatible, path, ShortClass(next.Class), "%s was %s", is, was)
	}
	return CompatibleAsIs
}
