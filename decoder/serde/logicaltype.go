package serde

import (
	"strconv"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
)

// LogicalType is a type of a SQL column, as far as it tells how values look like
// (org.apache.flink.table.types.logical.LogicalType, Java-serialized).
type LogicalType struct {
	Root      string // LogicalTypeRoot: INTEGER, VARCHAR, ROW, …
	Precision int    // of numbers and times
	Scale     int
	Nullable  bool
	// Names and Kids are the fields of a ROW or STRUCTURED_TYPE; Kids alone the
	// element of an ARRAY or MULTISET, key and value of a MAP.
	Names []string
	Kids  []*LogicalType
	// Raw is the serializer of a RAW type where it is known.
	Raw *Snapshot
}

// logicalType reads a LogicalType object; nil where it is none.
func logicalType(n javaobj.Node, depth int) *LogicalType {
	root, ok := n.Field("typeRoot").Text()
	if !ok || depth > maxDepth {
		return nil
	}
	t := &LogicalType{Root: root}
	if v, ok := n.Int("precision"); ok {
		t.Precision = int(v)
	}
	if v, ok := n.Int("scale"); ok {
		t.Scale = int(v)
	}
	v, ok := n.Int("isNullable")
	t.Nullable = !ok || v != 0
	switch root {
	case "DISTINCT_TYPE":
		return logicalType(n.Field("sourceType"), depth+1)
	case "ARRAY", "MULTISET":
		return t.with(n, depth, "elementType")
	case "MAP":
		return t.with(n, depth, "keyType", "valueType")
	case "RAW":
		if ser := n.Field("serializer"); ser.Kind() == javaobj.Object {
			t.Raw = OfSerializer(ser)
		}
	case "ROW":
		return t.withFields(n.Field("fields"), depth)
	case "STRUCTURED_TYPE":
		return t.withFields(n.Field("attributes"), depth)
	}
	return t
}

func (t *LogicalType) with(n javaobj.Node, depth int, fields ...string) *LogicalType {
	for _, f := range fields {
		k := logicalType(n.Field(f), depth+1)
		if k == nil {
			return nil
		}
		t.Kids = append(t.Kids, k)
	}
	return t
}

func (t *LogicalType) withFields(list javaobj.Node, depth int) *LogicalType {
	fields, ok := list.Elements()
	if !ok {
		return nil
	}
	for f := range fields {
		name, _ := f.Node.Field("name").Text()
		k := logicalType(f.Node.Field("type"), depth+1)
		if k == nil {
			return nil
		}
		t.Names = append(t.Names, decoder.Text(name))
		t.Kids = append(t.Kids, k)
	}
	return t
}

// String is the type in SQL's words.
func (t *LogicalType) String() string {
	if t == nil {
		return "?"
	}
	var b strings.Builder
	b.WriteString(t.Root)
	switch {
	case t.Root == "DECIMAL":
		b.WriteString("(" + strconv.Itoa(t.Precision) + ", " + strconv.Itoa(t.Scale) + ")")
	case strings.HasPrefix(t.Root, "TIME"):
		b.WriteString("(" + strconv.Itoa(t.Precision) + ")")
	case len(t.Kids) > 0:
		b.WriteByte('<')
		for i, k := range t.Kids {
			if i > 0 {
				b.WriteString(", ")
			}
			if i < len(t.Names) {
				b.WriteString(t.Names[i] + " ")
			}
			b.WriteString(k.String())
		}
		b.WriteByte('>')
	}
	if !t.Nullable {
		b.WriteString(" NOT NULL")
	}
	return b.String()
}

// javaLogical reads a jobj that is a LogicalType, or a DataType around one.
func (r *Reader) javaLogical() (JavaObjectRef, *LogicalType) {
	var t *LogicalType
	ref := r.javaWith(func(s *javaobj.Stream) {
		root := s.Root()
		if inner := root.Field("logicalType"); inner.Kind() == javaobj.Object {
			root = inner
		}
		t = logicalType(root, 0)
	})
	return ref, t
}

// sqlKinds are the types of columns whose serializer tells all.
var sqlKinds = map[Kind]string{Boolean: "BOOLEAN", Byte: "TINYINT", Short: "SMALLINT", Int: "INTEGER", Long: "BIGINT", Float: "FLOAT",
	Double: "DOUBLE", StringData: "VARCHAR", ByteArray: "VARBINARY", DecimalData: "DECIMAL", TimestampData: "TIMESTAMP_WITHOUT_TIME_ZONE"}

// columnType is the type of a column of the serializer t; stored is the one in
// the snapshot, which may be nil.
func columnType(t *Snapshot, stored *LogicalType) *LogicalType {
	if stored != nil && stored.Root == "RAW" && t != nil && t.Kind == RawValue && len(t.Nested) == 1 {
		raw := *stored
		raw.Raw = t.Nested[0]
		return &raw
	}
	if stored != nil || t == nil {
		return stored
	}
	if root := sqlKinds[t.Kind]; root != "" {
		return &LogicalType{Root: root, Precision: int(t.Size), Scale: int(t.Scale), Nullable: true}
	}
	if t.Kind != RowData {
		return nil
	}
	row := &LogicalType{Root: "ROW", Nullable: true}
	for i, k := range t.Nested {
		var in *LogicalType
		if i < len(t.Logical) {
			in = t.Logical[i]
		}
		kid := columnType(k, in)
		if kid == nil {
			return nil
		}
		row.Names = append(row.Names, "f"+strconv.Itoa(i))
		row.Kids = append(row.Kids, kid)
	}
	return row
}
