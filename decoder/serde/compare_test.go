package serde_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder/serde"
)

// TestDescribe prints the type tree of every built-in serializer.
func TestDescribe(t *testing.T) {
	dirs, _ := filepath.Glob(filepath.Join(corpus.Dir(t), "serializer-snapshots/*-1.14"))
	var got strings.Builder
	for _, dir := range dirs {
		b, err := os.ReadFile(filepath.Join(dir, "serializer-snapshot"))
		if err != nil {
			t.Fatal(err)
		}
		s := serde.NewReader(dir, b, 0).Proxy()
		for _, l := range serde.Describe(s) {
			fmt.Fprintf(&got, "%s%s\n", strings.Repeat("  ", l.Depth), l)
		}
		if c := serde.Compare(s, serde.NewReader(dir, b, 0).Proxy()); c.Result != serde.CompatibleAsIs && c.Changes[0].Text == "" {
			t.Errorf("%s against itself: %+v", filepath.Base(dir), c)
		}
	}
	for _, s := range []*enc{avroSnap(avroSchema), rowType()} {
		for _, l := range serde.Describe(read(s)) {
			fmt.Fprintf(&got, "%s%s\n", strings.Repeat("  ", l.Depth), l)
		}
	}
	golden(t, "testdata/describe.golden", got.String())
}

func TestDescribeLong(t *testing.T) {
	s := &serde.Snapshot{Kind: serde.Tuple}
	for range 6000 {
		s.Nested = append(s.Nested, &serde.Snapshot{Kind: serde.Long})
	}
	if lines := serde.Describe(s); len(lines) != 5001 || !strings.Contains(lines[5000].Type, "more than 5000") {
		t.Errorf("%d lines, %s", len(lines), lines[len(lines)-1])
	}
}

func TestCompare(t *testing.T) {
	field := func(name string, s *enc) *enc { return w().utf(name).raw(0).sub(frame(s)) }
	pojo := func(class string, registered, others []string, fields ...*enc) *enc {
		names := make([]string, len(fields))
		s := snap(javaRT+"PojoSerializerSnapshot", 2).utf(class).sub(optional(names...).sub(fields...))
		for _, list := range [][]string{registered, others} {
			s.sub(optional(list...))
			for _, c := range list {
				s.sub(field(c, longSnap()))
			}
		}
		return s
	}
	a, b := field("a", longSnap()), field("b", stringSnap())
	enum := func(constants ...string) *enc {
		return snap(base+"EnumSerializer$EnumSerializerSnapshot", 3).utf("E").i32(len(constants)).utf(constants...)
	}
	kryo := func(class string, registered ...string) *enc {
		s := snap(javaRT+"kryo.KryoSerializerSnapshot", 2).utf(class).sub(optional(registered...))
		for _, r := range registered {
			s.utf(r).raw(0).sub(frame(w().utf(r).i32(0)))
		}
		return s.sub(optional(), optional())
	}
	list := func(s *enc) *enc { return composite(base+"ListSerializerSnapshot", 1, w(), s) }
	tuple := func(class string, kids ...*enc) *enc {
		return composite(javaRT+"TupleSerializerSnapshot", 1, w().utf(class), kids...)
	}
	row := func(kind byte) *enc {
		return composite(javaRT+"RowSerializer$RowSerializerSnapshot", 4, w().raw(kind), longSnap())
	}
	avro := func(fields string) *enc { return avroSnap(`{"type":"record","name":"R","fields":[` + fields + `]}`) }
	id := `{"name":"id","type":"int"}`
	ttl := func(on byte) *enc {
		s := longSnap()
		if on == 1 {
			s = composite("org.apache.flink.runtime.state.ttl.TtlStateFactory$TtlSerializerSnapshot", 1, w(), longSnap(), longSnap())
		}
		return snap("org.apache.flink.runtime.state.ttl.TtlAwareSerializerSnapshot", 1).raw(on).sub(s)
	}
	tree := `{"name":"left","type":["null","R"]},{"name":"right","type":["null","R"]}`
	for _, c := range []struct {
		name     string
		old, new *enc
		want     serde.Compatibility
		text     string // of the change that decides
	}{
		{"the same", list(longSnap()), list(longSnap()), serde.CompatibleAsIs, ""},
		{"another simple type", list(longSnap()), list(intSnap()), serde.Incompatible, "element: Integer was Long (SimpleTypeSerializerSnapshot)"},
		{"simple for composite", longSnap(), list(longSnap()), serde.Incompatible, ": List was Long (TypeSerializerSnapshot)"},
		{"a value class for a primitive", longSnap(), snap(base+"LongValueSerializer$LongValueSerializerSnapshot", 3), serde.Incompatible, ": Long was Long"},
		{"number of fields", tuple("T", longSnap()), tuple("T", longSnap(), longSnap()), serde.Incompatible, ": 2 parts, not 1 (CompositeTypeSerializerSnapshot)"},
		{"tuple class", tuple("org.apache.flink.api.java.tuple.Tuple1", longSnap()), tuple("org.apache.flink.api.java.tuple.Tuple2", longSnap()), serde.Incompatible, "1.19 and later"},
		{"field added and removed", pojo("P", nil, nil, a), pojo("P", nil, nil, b), serde.CompatibleAfterMigration, "b: new field: String (PojoSerializerSnapshot)"},
		{"order of fields", pojo("P", nil, nil, a, b), pojo("P", nil, nil, b, a), serde.CompatibleAsIs, ""},
		{"type of a field", pojo("P", nil, nil, a), pojo("P", nil, nil, field("a", intSnap())), serde.Incompatible, "a: Integer was Long"},
		{"POJO class", pojo("P", nil, nil, a), pojo("Q", nil, nil, a), serde.Incompatible, ": class Q was P"},
		{"subclass registered", pojo("P", []string{"A"}, nil, a), pojo("P", []string{"A", "B"}, nil, a), serde.CompatibleAsIs, ": more registered subclasses: B"},
		{"order of subclasses", pojo("P", []string{"A", "B"}, nil, a), pojo("P", []string{"B", "A"}, nil, a), serde.CompatibleReconfigured, ": registered subclasses B, A, were A, B"},
		{"subclass that was not registered", pojo("P", nil, []string{"A"}, a), pojo("P", nil, nil, a), serde.CompatibleReconfigured, "not registered: A"},
		{"constant added", enum("A", "B"), enum("A", "B", "C"), serde.CompatibleReconfigured, ": constants A, B, C, were A, B (EnumSerializerSnapshot)"},
		{"constant removed", enum("A", "B"), enum("A"), serde.Incompatible, ": constant B is gone"},
		{"Kryo registration added", kryo("T", "T"), kryo("T", "T", "U"), serde.CompatibleAsIs, ": more Kryo registrations: U (KryoSerializerSnapshot)"},
		{"Kryo registrations in another order", kryo("T", "T", "U", "V"), kryo("T", "T", "V", "U"), serde.CompatibleReconfigured, "T, V, U, were T, U, V"},
		{"Kryo type", kryo("T", "T"), kryo("U", "U"), serde.Incompatible, ": class U was T"},
		{"row kind", row(0), row(1), serde.CompatibleAfterMigration, ": row kind stored: true, was false (RowSerializer$RowSerializerSnapshot)"},
		{"Avro documentation", avro(id), avro(`{"name":"id","doc":"x","type":"int"}`), serde.CompatibleAsIs, ""},
		{"Avro field with default", avro(id), avro(id + `,{"name":"n","type":["null","long"],"default":null}`), serde.CompatibleAfterMigration, "can read the old one's values (AvroSerializerSnapshot)"},
		{"Avro field without default", avro(id), avro(id + `,{"name":"n","type":"long"}`), serde.Incompatible, "n: new field without a default value"},
		{"Avro promotion", avro(id), avro(`{"name":"id","type":"double"}`), serde.CompatibleAfterMigration, ""},
		{"Avro narrowing", avro(`{"name":"id","type":"double"}`), avro(id), serde.Incompatible, "id: int was double"},
		{"Avro alias", avro(id), avro(`{"name":"number","aliases":["id"],"type":"int"}`), serde.CompatibleAfterMigration, ""},
		{"recursive Avro", avro(id + "," + tree), avro(`{"name":"id","type":"long"},` + tree), serde.CompatibleAfterMigration, ""},
		{"TTL switched on", ttl(0), ttl(1), serde.CompatibleAfterMigration, ": TTL true, was false (TtlAwareSerializerSnapshot)"},
		{"decimal", snap(table("DecimalDataSerializer$DecimalSerializerSnapshot"), 3).i32(5, 2), snap(table("DecimalDataSerializer$DecimalSerializerSnapshot"), 3).i32(6, 2), serde.Incompatible, ": DECIMAL(6, 2) was DECIMAL(5, 2)"},
	} {
		got := serde.Compare(read(c.old), read(c.new))
		if got.Result != c.want {
			t.Errorf("%s: %v: %+v", c.name, got.Result, got.Changes)
		}
		all := ""
		for _, x := range got.Changes {
			all += fmt.Sprintf("%s: %s (%s)\n", x.Path, x.Text, x.Rule)
		}
		if !strings.Contains(all, c.text) {
			t.Errorf("%s: %s", c.name, all)
		}
	}
	r := serde.NewReader("test", snap("com.acme.SomeSnapshot", 3).b, 0)
	custom := r.Snap()
	if got := serde.Compare(custom, custom); got.Result != serde.Undecided {
		t.Errorf("%+v", got)
	}
}
