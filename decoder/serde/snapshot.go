package serde

import (
	"fmt"
	"strconv"
	"sync/atomic"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
)

// Framing is how a Snapshot stands in the stream.
type Framing int

const (
	Nested     Framing = iota // snap
	Proxy                     // i32 2, snap
	OldProxy                  // i32 1, utf class, body
	Serializer                // the Java-serialized serializer alone, no snapshot
)

// Snapshot is one serializer snapshot: a node of a type tree. Strings are kept
// as they are in the stream (modified UTF-8). Spans are offsets in the stream.
type Snapshot struct {
	Span    decoder.Span
	Framing Framing
	Adapter bool   // a new snapshot in front of the body of an old one
	Class   string // of the snapshot; "" where Framing is Serializer
	Version int32  // behind the class name, or of a legacy body
	Outer   int32  // outer version of a composite
	Kind    Kind
	// Opaque is set where the payload has no known layout; Why says why, also
	// where only the values have none.
	Opaque bool
	Why    string
	// Java is the Java-serialized serializer of an adapter, a slot of a
	// resilient list or Framing Serializer. SerializerClass is its class, or the
	// one that a snapshot names itself.
	Java            *JavaObjectRef
	SerializerClass string
	// Type is the class of the values where the snapshot names it.
	Type string
	// Nested are the snapshots of the parts, see Kind.
	Nested []*Snapshot
	// Objects are Java objects of the payload (LogicalType, DataType, …), Logical
	// the types that they are, nil for others.
	Objects []JavaObjectRef
	Logical []*LogicalType
	// Flag, Size and Scale are parameters, see Kind.
	Flag        bool
	Size, Scale int32
	Schema      string
	Pojo        *PojoType
	KryoType    *KryoType
	EnumType    *EnumType

	codec atomic.Pointer[codec] // to read values, made when first needed
}

// JavaObjectRef is a Java object stream inside a payload and the class of its
// object.
type JavaObjectRef struct {
	Span  decoder.Span
	Class string
}

// PojoType is what a POJO snapshot holds. The order of fields and of Registered
// is that of values.
type PojoType struct {
	Fields        []PojoField
	Registered    []Subclass // value flag 8, by index
	NonRegistered []Subclass // value flag 4, by class name
}

// PojoField is a field of a POJO; Type is nil where the class that wrote the
// snapshot could not be loaded.
type PojoField struct {
	Name, Declaring string
	Type            *Snapshot
}

// Subclass is a subclass of a POJO.
type Subclass struct {
	Class string
	Type  *Snapshot
}

// KryoType is what a Kryo snapshot holds.
type KryoType struct {
	Registrations []KryoRegistration
	// Defaults and DefaultClasses: class to its default serializer.
	Defaults       []KryoRegistration
	DefaultClasses []KryoRegistration
	// Kryo5 is set by AssumeKryo5.
	Kryo5 bool
}

// Kinds of KryoRegistration.
const (
	KryoDefault  = 0 // no serializer named
	KryoClass    = 1 // a serializer class
	KryoInstance = 2 // a Java-serialized serializer
)

// KryoRegistration is one registered class, in the order of ids.
type KryoRegistration struct {
	Name       string // tag
	Class      string
	Kind       int32
	Serializer string // class
}

// EnumType is the constants of an enum in the order of their value index; IDs
// has the values of a Scala enumeration, else it is nil.
type EnumType struct {
	Constants []string
	IDs       []int32
}

const (
	adapterVersion   = 0x7A53C4F0
	compositeMagic   = 0x000DE704
	delegateMagic    = 0x001457FD
	optionalMapMagic = 0x000004F2C69A3D70
)

// node begins a Snapshot at the next byte.
func (r *Reader) node(f Framing) *Snapshot {
	s := &Snapshot{Framing: f, Span: r.span(r.off, r.off)}
	*r.nodes++
	r.bounded()
	if r.depth++; r.depth > maxDepth {
		r.fail(r.off, fmt.Sprintf("at most %d serializer snapshots in one another", maxDepth), "more", nil)
	}
	return s
}

// bounded fails where there are too many snapshots: beside the node itself all
// that hold it, though they know the lengths of their parts.
func (r *Reader) bounded() bool {
	if *r.nodes > maxNodes {
		r.fail(r.off, fmt.Sprintf("at most %d serializer snapshots", maxNodes), "more", nil)
	}
	return r.ok()
}

// done ends what node began.
func (r *Reader) done(s *Snapshot) *Snapshot {
	r.depth--
	s.Span.Len = r.Off() - s.Span.Off
	return s
}

// Proxy reads a proxy. After a failure the node is nil or incomplete.
func (r *Reader) Proxy() *Snapshot {
	s := r.node(Proxy)
	at := r.off
	switch v := r.I32("serializer snapshot proxy version"); {
	case !r.ok():
	case v == 2:
		r.body(s)
	case v == 1:
		s.Framing = OldProxy
		s.Class = r.class()
		r.enter(s.Class, -1)
		r.legacyOrVersioned(s)
		r.leave()
	default:
		r.fail(at, "serializer snapshot proxy version 1 or 2", strconv.Itoa(int(v)), nil)
	}
	return r.done(s)
}

// Snap reads a snap.
func (r *Reader) Snap() *Snapshot {
	s := r.node(Nested)
	r.body(s)
	return r.done(s)
}

// class reads a class name and refuses what cannot be one.
func (r *Reader) class() string {
	at := r.off
	name := r.UTF("serializer snapshot class")
	if r.ok() && !isClassName(name) {
		r.fail(at, "class name", strconv.Quote(clip(name)), nil)
	}
	return name
}

func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}

// isClassName says whether s may be the name of a Java or Scala class.
func isClassName(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c == 0x7f || c == '/' || c == '"' || c == '(' || c == '{' {
			return false
		}
	}
	return true
}

// body reads class, version and payload into s.
func (r *Reader) body(s *Snapshot) {
	s.Class = r.class()
	r.enter(s.Class, -1)
	s.Version = r.I32("serializer snapshot version")
	if r.ok() && s.Version == adapterVersion {
		s.Adapter = true
		if j := r.serBytes(); r.ok() {
			s.Java, s.SerializerClass = j, j.Class
		}
		r.legacyOrVersioned(s)
	} else {
		r.payload(s)
	}
	r.leave()
}

// legacyOrVersioned reads what follows the class in an old proxy or the
// serializer in an adapter.
func (r *Reader) legacyOrVersioned(s *Snapshot) {
	s.Version = r.I32("serializer snapshot version")
	if f, ok := legacyBodies[s.Class]; ok && r.ok() {
		f(r, s)
		return
	}
	r.payload(s)
}

// payload reads the payload of s.Class in s.Version.
func (r *Reader) payload(s *Snapshot) {
	if !r.ok() {
		return
	}
	l, known := layouts[s.Class]
	if known {
		s.Kind, s.SerializerClass = l.kind, orElse(l.serializer, s.SerializerClass)
		known = l.read(r, s)
	} else if r.empty[s.Class] {
		s.Why = "not a serializer of Flink; its snapshot is taken to be empty"
		known = r.emptyPayload(s)
	}
	if r.ok() && !known {
		r.stopUnknown(s)
	}
	if r.ok() && known && l.nested > 0 && len(s.Nested) != l.nested {
		s.Kind, s.Why = Unknown, fmt.Sprintf("%d nested serializers where %d belong", len(s.Nested), l.nested)
	}
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

// emptyPayload reads an unknown snapshot as one that has nothing of its own:
// simple, or composite without an outer payload.
func (r *Reader) emptyPayload(s *Snapshot) bool {
	if s.Version != 3 {
		return true
	}
	if p := r.section(r.off, r.end); p.I32("") == compositeMagic && p.ok() {
		r.expect(compositeMagic, "composite magic")
		s.Outer = r.I32("outer snapshot version")
		s.Nested = r.delegate()
	}
	return true
}

// stopUnknown fails with s as the node that has no known layout.
func (r *Reader) stopUnknown(s *Snapshot) {
	s.Opaque = true
	s.Why = fmt.Sprintf("no known layout for version %d of this class", uint32(s.Version))
	r.fail(r.off, "a serializer snapshot with a known layout", fmt.Sprintf("%s version %d", clip(s.Class), uint32(s.Version)), nil)
	r.unknown = s
}

// delegate reads a nested delegate.
func (r *Reader) delegate() []*Snapshot {
	r.expect(delegateMagic, "nested serializer snapshots magic")
	r.expect(1, "nested serializer snapshots version")
	n := r.Count("nested serializer snapshot count", 6)
	var out []*Snapshot
	for i := 0; i < n && r.ok(); i++ {
		r.enter("nested", i)
		out = append(out, r.Snap())
		r.leave()
	}
	return out
}

// framed reads a snap or proxy that has a length: what cannot be read becomes
// an opaque node of that length.
func (r *Reader) framed(n int, read func(*Reader) *Snapshot) *Snapshot {
	at := r.off
	p := r.part(n, "serializer snapshot")
	if p == nil {
		return nil
	}
	s := read(p)
	if p.ok() && p.Left() > 0 {
		p.fail(p.off, "end of serializer snapshot", fmt.Sprintf("%d more bytes", p.Left()), nil)
	}
	if !p.ok() {
		s = p.opaque(s, at, at+n)
	}
	return s
}

// opaque turns a node that could not be read into one of the extent given.
func (r *Reader) opaque(s *Snapshot, from, to int) *Snapshot {
	o := &Snapshot{Span: r.span(from, to), Opaque: true, Why: r.err.Expected + " expected, found " + r.err.Found}
	if r.unknown != nil {
		o.Why = r.unknown.Why
		if r.unknown != s {
			o.Why = "holds " + clip(r.unknown.Class) + ": " + r.unknown.Why
		}
	}
	if s != nil {
		o.Framing, o.Adapter, o.Class, o.Version, o.SerializerClass, o.Java = s.Framing, s.Adapter, s.Class, s.Version, s.SerializerClass, s.Java
	}
	return o
}

// serBytes reads a Java-serialized serializer with its length.
func (r *Reader) serBytes() *JavaObjectRef {
	r.expect(1, "serializer proxy version")
	n := r.Count("serializer length", 1)
	at := r.off
	r.take(n, "serializer")
	if !r.ok() {
		return nil
	}
	j := &JavaObjectRef{Span: r.span(at, r.off)}
	// A serializer that cannot be walked has its length all the same.
	if s, _, err := javaobj.Parse(r.buf[at:r.off]); err == nil {
		j.Class = javaClass(s)
	}
	return j
}

// SerBytes reads a serbytes as a node.
func (r *Reader) SerBytes() *Snapshot {
	s := r.node(Serializer)
	s.Java = r.serBytes()
	r.tell(s)
	return r.done(s)
}

// JavaSerializer reads a serializer that stands as a jobj of its own.
func (r *Reader) JavaSerializer() *Snapshot {
	s := r.node(Serializer)
	if j := r.java(); r.ok() {
		s.Java = &j
	}
	r.tell(s)
	return r.done(s)
}

// java reads a jobj.
func (r *Reader) java() JavaObjectRef { return r.javaWith(nil) }

// javaWith reads a jobj and shows it to f, where that is not nil.
func (r *Reader) javaWith(f func(*javaobj.Stream)) JavaObjectRef {
	if !r.ok() {
		return JavaObjectRef{}
	}
	at := r.off
	s, n, err := javaobj.Parse(r.buf[at:r.end])
	if err != nil {
		r.fail(at, "a Java object", err.Error(), javaCause(err))
		return JavaObjectRef{}
	}
	r.off += n
	if f != nil {
		f(s)
	}
	return JavaObjectRef{r.span(at, r.off), javaClass(s)}
}

// Resilient reads a resilient list: one node a slot. A slot that cannot be read
// is opaque.
func (r *Reader) Resilient() []*Snapshot {
	n := r.Count("serializer count", 8)
	p := r.take(8*n, "serializer offsets")
	total := r.Count("serializers length", 1)
	at := r.off
	r.take(total, "serializers")
	if !r.ok() {
		return nil
	}
	off := func(i int) int { // offset i of 2n, then the end
		if i == 2*n {
			return total
		}
		return int(int32(uint32(p[4*i])<<24 | uint32(p[4*i+1])<<16 | uint32(p[4*i+2])<<8 | uint32(p[4*i+3])))
	}
	var out []*Snapshot
	for i := 0; i < n && r.bounded(); i++ {
		ser, snap, end := off(2*i), off(2*i+1), off(2*i+2)
		if ser < 0 || ser > snap || snap > end || end > total {
			r.fail(at, "ascending serializer offsets", fmt.Sprintf("%d, %d, %d of %d", ser, snap, end, total), nil)
			return nil
		}
		r.enter("serializer", i)
		out = append(out, r.slot(at+ser, at+snap, at+end))
		r.leave()
	}
	return out
}

// slot reads serializer and snapshot of one place of a resilient list.
func (r *Reader) slot(ser, snap, end int) *Snapshot {
	p := r.section(snap, end)
	s := p.framed(end-snap, (*Reader).Proxy)
	if ser < snap {
		if q := r.section(ser, snap); s != nil {
			if j := q.serBytes(); q.ok() {
				s.Java, s.SerializerClass = j, orElse(s.SerializerClass, j.Class)
			}
		}
	}
	switch {
	case s == nil || s.Opaque:
	case s.Kind == Unknown && len(s.Nested) == 0:
		s.Kind = serializerKind(s.SerializerClass)
	case s.Kind == Nullable && s.Size < 0 && s.Java != nil:
		o := Snapshot{Java: s.Java}
		if r.tell(&o); o.Kind == Nullable {
			s.Size, s.Why = o.Size, ""
		}
	}
	return s
}

// optionalMap reads an optional map and calls entry for each, with readers for
// key and value that are nil where absent.
func (r *Reader) optionalMap(what string, entry func(name string, key, value *Reader)) {
	at := r.off
	hi, lo := r.I32("optional map magic"), r.I32("optional map magic")
	if v := int64(hi)<<32 | int64(uint32(lo)); r.ok() && v != optionalMapMagic {
		r.fail(at, fmt.Sprintf("optional map magic %#x", int64(optionalMapMagic)), fmt.Sprintf("%#x", v), nil)
	}
	n := r.Count(what+" count", 4)
	frame := func() *Reader {
		if !r.Bool(what + " present") {
			return nil
		}
		return r.part(r.Count(what+" length", 1), what)
	}
	for i := 0; i < n && r.bounded(); i++ {
		r.enter(what, i)
		name := r.UTF(what + " name")
		key := frame()
		value := frame()
		if r.ok() {
			entry(name, key, value)
		}
		r.leave()
	}
}

// whole reads a snap that fills a frame.
func (r *Reader) whole() *Snapshot {
	if r == nil {
		return nil
	}
	return r.framed(r.Left(), (*Reader).Snap)
}
