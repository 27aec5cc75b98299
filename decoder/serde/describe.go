package serde

import (
	"fmt"
	"strconv"
	"strings"

	"chkscope/decoder"
)

// Line is one line of a type tree for people.
type Line struct {
	Depth int
	// Name is the place in the type above: a field, "element", "key", …; "" at the
	// top.
	Name string
	// Type is what values are: "POJO com.acme.Order", "List", "Enum Level (LOW,
	// HIGH)".
	Type string
	// Class is the serializer where it is known, else the snapshot, Version that
	// of the snapshot; "" and 0 where a line is no serializer.
	Class   string
	Version int32
	// Why tells why values of this part cannot be read, or "".
	Why string
}

// String is the line without its depth.
func (l Line) String() string {
	s := l.Type
	if l.Name != "" {
		s = l.Name + ": " + s
	}
	if l.Class != "" {
		s += " [" + ShortClass(l.Class)
		if l.Version > 0 {
			s += " " + strconv.Itoa(int(l.Version))
		}
		s += "]"
	}
	if l.Why != "" {
		s += " (" + l.Why + ")"
	}
	return s
}

// ShortClass is a class without its package.
func ShortClass(class string) string {
	return decoder.Text(class[strings.LastIndexByte(class, '.')+1:])
}

// maxLines bounds what Describe gives.
const maxLines = 5000

// Describe gives the type tree of t as lines, parents first. The rest of a tree
// of more than 5,000 lines is left out, said in the last one.
func Describe(t *Snapshot) []Line {
	d := describer{}
	d.add("", t, 0)
	if d.cut {
		d.lines = append(d.lines, Line{Depth: 1, Type: fmt.Sprintf("… more than %d lines", maxLines)})
	}
	return d.lines
}

type describer struct {
	lines []Line
	cut   bool
}

func (d *describer) line(l Line) bool {
	if len(d.lines) >= maxLines {
		d.cut = true
		return false
	}
	d.lines = append(d.lines, l)
	return true
}

// roles name the nested types of a kind.
var roles = map[Kind][]string{List: {"element"}, Set: {"element"}, Map: {"key", "value"}, SortedMap: {"key", "value"}, NullAwareMap: {"key", "value"},
	GenericArray: {"element"}, Either: {"left", "right"}, Option: {"value"}, Try: {"value", "failure"}, Traversable: {"element"},
	Nullable: {"value"}, TTL: {"last access", "value"}, TTLAware: {"value"}, Timer: {"key", "namespace"}, StreamElement: {"value"},
	Union: {"one", "two"}, BufferEntry: {"element"}, TwoPhase: {"transaction", "context"}, RawValue: {"value"}, WindowKey: {"key"},
	External: {"internal"}, NFAState: {"version", "node id", "event id"}, NodeID: {"event id"}, Lockable: {"element"},
	SharedBufferEdge: {"target", "version"}, SharedBufferNode: {"edge"}}

func role(t *Snapshot, i int) string {
	if r := roles[t.Kind]; i < len(r) && (t.Kind != Map || len(t.Nested) == 2) {
		return r[i]
	}
	switch t.Kind {
	case Tuple, Row, RowData:
		return "f" + strconv.Itoa(i)
	}
	return "nested " + strconv.Itoa(i)
}

func (d *describer) add(name string, t *Snapshot, depth int) {
	if t == nil {
		d.line(Line{Depth: depth, Name: name, Type: "unknown", Why: "its serializer is not in the snapshot"})
		return
	}
	l := Line{Depth: depth, Name: name, Type: typeText(t), Class: orElse(t.SerializerClass, t.Class), Version: t.version()}
	if t.Opaque || t.Kind == Unknown || t.Kind == UserValue || t.Kind == PulsarSchema || t.Kind == BeamCoder {
		l.Why = orElse(t.Why, "no known layout")
	}
	if !d.line(l) || depth > maxDepth {
		return
	}
	if t.Pojo != nil {
		d.pojo(t.Pojo, depth+1)
	}
	for i, n := range t.Nested {
		if len(t.Nested) == len(t.Logical) && t.Logical[i] != nil {
			d.column(role(t, i), n, t.Logical[i], depth+1)
		} else {
			d.add(role(t, i), n, depth+1)
		}
	}
	if t.KryoType != nil {
		d.kryo(t, depth+1)
	}
	if t.Kind == Avro {
		d.avro(t, depth+1)
	}
}

func (d *describer) pojo(p *PojoType, depth int) {
	for _, f := range p.Fields {
		d.add(decoder.Text(f.Name), f.Type, depth)
	}
	for i, s := range p.Registered {
		d.add("subclass "+strconv.Itoa(i)+" "+decoder.Text(s.Class), s.Type, depth)
	}
	for _, s := range p.NonRegistered {
		d.add("subclass "+decoder.Text(s.Class), s.Type, depth)
	}
}

// column is a column of a SQL row: its SQL type says more than its serializer.
func (d *describer) column(name string, t *Snapshot, l *LogicalType, depth int) {
	at := len(d.lines)
	d.add(name, t, depth)
	if at < len(d.lines) {
		d.lines[at].Type = l.String()
	}
}

func (d *describer) kryo(t *Snapshot, depth int) {
	for i, r := range t.KryoType.Registrations {
		if r.Name == t.Type && r.Kind == KryoDefault || strings.HasPrefix(r.Name, "org.apache.avro.") {
			continue // the type itself; what Flink always registers
		}
		d.line(Line{Depth: depth, Name: "registration " + strconv.Itoa(i), Type: registrationText(r)})
	}
	for _, list := range [][]KryoRegistration{t.KryoType.Defaults, t.KryoType.DefaultClasses} {
		for _, r := range list {
			d.line(Line{Depth: depth, Name: "default serializer", Type: registrationText(r)})
		}
	}
}

func registrationText(r KryoRegistration) string {
	text := decoder.Text(r.Name)
	if r.Serializer != "" {
		text += " with " + decoder.Text(r.Serializer)
	}
	return text
}

func (d *describer) avro(t *Snapshot, depth int) {
	schema, err := parseAvro(decoder.Text(t.Schema))
	if err != nil {
		d.line(Line{Depth: depth, Name: "schema", Type: clip(decoder.Text(t.Schema)), Why: err.Error()})
		return
	}
	d.avroFields(schema, depth, map[*avroType]bool{})
}

func (d *describer) avroFields(t *avroType, depth int, open map[*avroType]bool) {
	if open[t] || depth > maxDepth {
		return
	}
	open[t] = true
	for i, k := range t.kids {
		name := "element"
		if t.kind == "record" {
			name = t.shape.Names[i]
		} else if t.kind == "union" {
			name = "or"
		}
		if d.line(Line{Depth: depth, Name: name, Type: k.String()}) && !k.inline() {
			d.avroFields(k, depth+1, open)
		}
	}
	delete(open, t)
}

// inline says whether String tells all of a type.
func (t *avroType) inline() bool {
	for _, k := range t.kids {
		if t.kind == "record" || len(k.kids) > 0 {
			return false
		}
	}
	return true
}

// String is the type on one line, as a schema has it.
func (t *avroType) String() string {
	text := t.kind
	if t.shape != nil {
		text += " " + t.shape.Type
	}
	if t.logical != "" {
		text += " (" + t.logical + ")"
	}
	if len(t.symbols) > 0 {
		text += " (" + strings.Join(t.symbols, ", ") + ")"
	}
	if t.kind != "record" && len(t.kids) > 0 && t.inline() {
		var in []string
		for _, k := range t.kids {
			in = append(in, k.String())
		}
		text += " of " + strings.Join(in, ", ")
	}
	return text
}

// version is the version that says how a snapshot is laid out.
func (t *Snapshot) version() int32 {
	if t.Outer > 0 {
		return t.Outer
	}
	return t.Version
}

// typeText is what values of t are.
func typeText(t *Snapshot) string {
	if t.Opaque || t.Kind == Unknown {
		return "unknown"
	}
	text := t.Kind.String()
	switch t.Kind {
	case Tuple:
		return decoder.Text(orElse(t.Type, text))
	case Nullable:
		if t.Size > 0 {
			text += fmt.Sprintf(" (null takes %d bytes too)", t.Size)
		}
	case DecimalData:
		return fmt.Sprintf("DECIMAL(%d, %d)", t.Size, t.Scale)
	case TimestampData:
		return fmt.Sprintf("TIMESTAMP(%d)", t.Size)
	case ArrayData, MapData:
		if c := codecOf(t); c.sql != nil {
			return c.sql.String()
		}
	case TTLAware:
		text = "without TTL"
		if t.Flag {
			text = "with TTL"
		}
	case VoidByte:
		if name := strings.TrimRight(strings.TrimSuffix(ShortClass(orElse(t.SerializerClass, t.Class)), "Serializer"), "$"); name != "" {
			return name
		}
	case Traversable:
		return text // its Type is source code
	}
	if t.Type != "" {
		text += " " + decoder.Text(t.Type)
	}
	if t.EnumType != nil {
		text += " (" + decoder.Text(strings.Join(t.EnumType.Constants, ", ")) + ")"
	}
	return text
}
