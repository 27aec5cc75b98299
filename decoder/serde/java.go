package serde

import (
	"errors"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
)

// javaClass is the class of the object in a stream, for a java.lang.Class the
// class that it is.
func javaClass(s *javaobj.Stream) string {
	if c := s.Root().Class(); c != nil {
		return c.Name
	}
	return ""
}

// javaCause is the cause inside the damage of a Java object stream.
func javaCause(err error) error {
	var d *decoder.Error
	if errors.As(err, &d) {
		return d.Err
	}
	return err
}

// parts are the fields of serializers that hold the serializers of their parts,
// by class; super classes count too.
var parts = []struct {
	class  string
	kind   Kind
	fields []string
}{
	{pkgBase + "ListSerializer", List, []string{"elementSerializer"}},
	{pkgRuntime + "ArrayListSerializer", List, []string{"elementSerializer"}},
	{pkgBase + "MapSerializer", Map, []string{"keySerializer", "valueSerializer"}},
	{pkgBase + "GenericArraySerializer", GenericArray, []string{"componentSerializer"}},
	{pkgJava + "EitherSerializer", Either, []string{"leftSerializer", "rightSerializer"}},
	{pkgJava + "NullableSerializer", Nullable, []string{"originalSerializer"}},
}

// OfSerializer is the type that a Java-serialized serializer tells by its class
// and fields: of simple serializers, tuples, lists and maps, enums; a Kind of
// Unknown for others.
func OfSerializer(n javaobj.Node) *Snapshot {
	budget := maxParts
	return ofSerializer(n, 0, &budget)
}

// maxParts bounds the nodes of one type: a graph of objects may have cycles.
const maxParts = 10000

func ofSerializer(n javaobj.Node, depth int, budget *int) *Snapshot {
	s := &Snapshot{Framing: Serializer}
	if *budget--; *budget < 0 {
		s.Why = "too many serializers in one another"
		return s
	}
	if c := n.Class(); c != nil {
		s.SerializerClass = c.Name
	}
	if s.Kind = serializerKind(s.SerializerClass); s.Kind != Unknown || depth > maxDepth {
		return s
	}
	nested := func(f javaobj.Node) { s.Nested = append(s.Nested, ofSerializer(f, depth+1, budget)) }
	switch {
	case n.Is(pkgJava + "TupleSerializerBase"):
		s.Kind = Tuple
		if c := n.Field("tupleClass").Class(); c != nil {
			s.Type = c.Name
		}
		fields := n.Field("fieldSerializers")
		for i := 0; i < fields.Len() && *budget > 0; i++ {
			nested(fields.Elem(i))
		}
		return s
	case n.Is(pkgBase + "EnumSerializer"):
		s.Kind = Enum
		return s
	case n.Is(pkgJava + "kryo.KryoSerializer"):
		s.Kind = Kryo
		if c := n.Field("type").Class(); c != nil {
			s.Type = c.Name
		}
		return s
	}
	for _, p := range parts {
		if n.Is(p.class) {
			s.Kind = p.kind
			for _, f := range p.fields {
				nested(n.Field(f))
			}
			s.Size = int32(n.Field("padding").Len())
			return s
		}
	}
	s.Why = "nothing but the Java-serialized serializer is stored"
	return s
}

// tell fills s with what its Java-serialized serializer tells.
func (r *Reader) tell(s *Snapshot) {
	if s.Java == nil {
		return
	}
	at := int(s.Java.Span.Off - r.base)
	stream, _, err := javaobj.Parse(r.buf[at : at+int(s.Java.Span.Len)])
	if err != nil {
		s.Why = err.Error()
		return
	}
	o := OfSerializer(stream.Root())
	s.SerializerClass, s.Kind, s.Type, s.Nested, s.Size, s.Why = o.SerializerClass, o.Kind, o.Type, o.Nested, o.Size, o.Why
}
