package serde

import (
	"fmt"
	"strconv"

	"chkscope/decoder"
)

// codec is a type made ready to read its values. It is a tree, however the
// snapshots are tied together.
type codec struct {
	t    *Snapshot
	kind Kind // Unknown: values cannot be read, why says why
	why  string
	// width is the number of bytes of every value, -1 where it differs.
	width int
	// kids are the nested types in the order of Snapshot.Nested, of a POJO those
	// of its fields.
	kids []*codec
	// tail is for each kid the width of all behind it, -1 where that differs.
	tail []int
	// runs are the kids for skipping: those of a fixed width are only counted.
	runs  []run
	shape *Shape
	pojo  *pojoCodec
	kryo  *kryoCodec
	avro  *avroType
	sql   *LogicalType // of a row, array or map
	// mark is Flag, size is Size of the Snapshot.
	mark bool
	size int
}

// run is bytes to step over and the kid behind them, if any.
type run struct {
	before int
	kid    *codec
}

// pojoCodec is the subclasses of a POJO.
type pojoCodec struct {
	registered []*codec
	others     map[string]*codec // by class, as in the stream
}

// maxWidth bounds what is taken for a fixed width, so that multiples of it fit
// into an int.
const maxWidth = 1 << 30

// maxCodecs bounds the parts of a type. Snapshots that share a part or hold one
// another count each time.
const maxCodecs = 1 << 18

// codecOf gives the codec of t, made once.
func codecOf(t *Snapshot) *codec {
	if t == nil {
		return unknownCodec(nil, "no serializer is stored")
	}
	if c := t.codec.Load(); c != nil {
		return c
	}
	n := 0
	c := compile(t, 0, &n)
	if n > maxCodecs {
		c = unknownCodec(t, fmt.Sprintf("a type of more than %d parts", maxCodecs))
	}
	t.codec.Store(c)
	return c
}

func unknownCodec(t *Snapshot, why string) *codec {
	return &codec{t: t, kind: Unknown, why: why, width: -1}
}

// compile makes the codec of t at a depth; n counts the parts of the whole.
func compile(t *Snapshot, depth int, n *int) *codec {
	if *n++; *n > maxCodecs {
		return unknownCodec(t, "")
	}
	switch {
	case t == nil:
		return unknownCodec(t, "its serializer is not in the snapshot")
	case depth > maxDepth:
		return unknownCodec(t, fmt.Sprintf("a type of more than %d levels", maxDepth))
	case t.Opaque || t.Kind == Unknown:
		return unknownCodec(t, orElse(t.Why, "no known layout for values of "+orElse(t.SerializerClass, t.Class)))
	}
	c := &codec{t: t, kind: t.Kind, width: -1, mark: t.Flag, size: int(t.Size)}
	nested := t.Nested
	if t.Kind == Pojo && t.Pojo != nil {
		nested = nil
		for _, f := range t.Pojo.Fields {
			nested = append(nested, f.Type)
		}
	}
	for _, k := range nested {
		c.kids = append(c.kids, compile(k, depth+1, n))
		if *n > maxCodecs {
			return c
		}
	}
	if want := arities[t.Kind]; want > 0 && len(c.kids) != want {
		return unknownCodec(t, fmt.Sprintf("%d nested serializers where %d belong", len(c.kids), want))
	}
	c.tail = tails(c.kids)
	c.runs = runs(c.kids)
	if c.width = c.fixedWidth(); c.width > maxWidth {
		c.width = -1
	}
	if t.Kind == Pojo {
		c.compilePojo(depth, n)
	}
	c.prepare()
	return c
}

// arities are how many nested types values of a kind need.
var arities = map[Kind]int{List: 1, Set: 1, NullAwareMap: 2, SortedMap: 2, GenericArray: 1, Either: 2, Option: 1, Try: 2,
	Traversable: 1, Nullable: 1, TTL: 2, TTLAware: 1, Timer: 2, StreamElement: 1, Union: 2, BufferEntry: 1, TwoPhase: 2,
	RawValue: 1, WindowKey: 1, External: 1, NFAState: 3, NodeID: 1, Lockable: 1, SharedBufferEdge: 2, SharedBufferNode: 1}

// tails gives for each kid the width of all behind it, -1 where that differs.
func tails(kids []*codec) []int {
	out := make([]int, len(kids))
	sum := 0
	for i := len(kids) - 1; i >= 0; i-- {
		out[i] = sum
		if sum >= 0 && kids[i].width >= 0 {
			sum += kids[i].width
		} else {
			sum = -1
		}
	}
	return out
}

func runs(kids []*codec) []run {
	var out []run
	before := 0
	for _, k := range kids {
		if k.width >= 0 {
			before += k.width
			continue
		}
		out = append(out, run{before, k})
		before = 0
	}
	return append(out, run{before: before})
}

// widths of the kinds whose values have all the same.
var widths = map[Kind]int{Boolean: 1, Byte: 1, Short: 2, Int: 4, Long: 8, Float: 4, Double: 8, Char: 2, Date: 8, SQLDate: 8,
	SQLTime: 8, SQLTimestamp: 12, Instant: 12, LocalDate: 6, LocalTime: 7, LocalDateTime: 13, VoidByte: 1, NullValue: 0,
	SortedLong: 8, TimeWindow: 16, CountWindow: 8, EventID: 12, KafkaIDHint: 12, UUID: 16, Enum: 4}

func (c *codec) fixedWidth() int {
	if w, ok := widths[c.kind]; ok {
		return w
	}
	add := func(w int) int {
		for _, k := range c.kids {
			if k.width < 0 {
				return -1
			}
			w += k.width
		}
		return w
	}
	switch c.kind {
	case Tuple, TTL, External, TTLAware:
		return add(0)
	case Timer:
		return add(8)
	case Lockable:
		return add(4)
	case Union, BufferEntry:
		if c.kind == BufferEntry || c.kids[0].width == c.kids[1].width {
			return addOne(c.kids[0].width)
		}
	case Nullable:
		if c.size > 0 && c.kids[0].width == c.size {
			return 1 + c.size
		}
	case Row:
		if len(c.kids) == 0 && !c.mark {
			return 0
		}
	case DecimalData:
		if c.size <= 18 {
			return 8
		}
	case TimestampData:
		if c.size <= 3 {
			return 8
		}
		return 12
	}
	return -1
}

func addOne(w int) int {
	if w < 0 {
		return -1
	}
	return w + 1
}

func (c *codec) compilePojo(depth int, n *int) {
	p := c.t.Pojo
	if p == nil {
		c.kind, c.why = Unknown, orElse(c.t.Why, "the fields are not in the snapshot")
		return
	}
	c.pojo = &pojoCodec{others: map[string]*codec{}}
	for _, s := range p.Registered {
		c.pojo.registered = append(c.pojo.registered, subclassCodec(s, depth, n))
	}
	for _, s := range p.NonRegistered {
		c.pojo.others[s.Class] = subclassCodec(s, depth, n)
	}
}

func subclassCodec(s Subclass, depth int, n *int) *codec {
	c := compile(s.Type, depth+1, n)
	if c.shape != nil {
		shape := *c.shape
		shape.Type, shape.Subclass = decoder.Text(s.Class), true
		c.shape = &shape
	}
	return c
}

// prepare makes what the kind needs beside its parts.
func (c *codec) prepare() {
	switch c.kind {
	case Pojo:
		c.shape = &Shape{Type: decoder.Text(c.t.Type)}
		if c.t.Pojo != nil {
			for _, f := range c.t.Pojo.Fields {
				c.shape.Names = append(c.shape.Names, decoder.Text(f.Name))
			}
		}
	case Tuple:
		prefix, first := "f", 0
		if isScalaTuple(c.t.Type) {
			prefix, first = "_", 1
		}
		c.shape = &Shape{Type: decoder.Text(c.t.Type), Positional: true, Names: numbered(prefix, first, len(c.kids))}
		if r, ok := records[c.t.Class]; ok && len(r.names) == len(c.kids) {
			c.shape = &Shape{Type: r.class, Names: r.names}
		}
	case Row:
		c.shape = &Shape{Type: "org.apache.flink.types.Row", Positional: true, Names: numbered("f", 0, len(c.kids))}
	case Nullable:
		if c.size < 0 {
			c.kind, c.why = Unknown, orElse(c.t.Why, "the padding is not known")
		}
	case Kryo:
		c.kryo = newKryoCodec(c.t)
	case Avro:
		c.prepareAvro()
	case RowData, ArrayData, MapData:
		c.prepareRows()
	case UserValue, PulsarSchema, BeamCoder:
		c.kind, c.why = Unknown, orElse(c.t.Why, "the bytes of its values are defined by its own code")
	case External, TTLAware:
		// An external value is written as the nested internal one, whose names the
		// DataType has. Under a TTL aware type is a TTL type or, without TTL, that
		// of the value.
		logical := c.t.Logical
		if *c = *c.kids[0]; len(logical) > 0 && logical[0] != nil && c.kind == RowData && len(logical[0].Names) == len(c.kids) {
			c.sql = logical[0]
			c.shape = &Shape{Type: c.sql.Root, Names: c.sql.Names}
		}
	case List, Map:
		// Data views are written as the list or map in them.
		if c.t.Class == pkgView+"ListViewSerializerSnapshot" || c.t.Class == pkgView+"MapViewSerializerSnapshot" {
			*c = *c.kids[0]
		} else if c.kind == Map && len(c.kids) != 2 {
			c.kind, c.why = Unknown, fmt.Sprintf("%d nested serializers where 2 belong", len(c.kids))
		}
	}
}

func isScalaTuple(class string) bool { return len(class) > 11 && class[:11] == "scala.Tuple" }

// numbered gives n names: prefix and a number from first on.
func numbered(prefix string, first, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + strconv.Itoa(first+i)
	}
	return names
}
