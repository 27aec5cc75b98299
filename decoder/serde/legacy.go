package serde

import (
	"fmt"
	"strconv"
)

// legacyBodies read the bodies of TypeSerializerConfigSnapshot classes (up to
// 1.6, in an old proxy or behind an adapter), s.Version is their version.
var legacyBodies map[string]func(*Reader, *Snapshot)

func init() { legacyBodies = buildLegacyBodies() }

func buildLegacyBodies() map[string]func(*Reader, *Snapshot) {
	m := map[string]func(*Reader, *Snapshot){
		pkgCommon + "ParameterlessTypeSerializerConfig":                           legacySimple,
		pkgJava + "TupleSerializerConfigSnapshot":                                 legacyTuple,
		pkgBase + "EnumSerializer$EnumSerializerConfigSnapshot":                   legacyEnum,
		pkgScala + "EnumValueSerializer$ScalaEnumSerializerConfigSnapshot":        legacyScalaEnum,
		pkgJava + "kryo.KryoSerializer$KryoSerializerConfigSnapshot":              legacyRegistrations(Kryo),
		pkgJava + "ValueSerializer$ValueSerializerConfigSnapshot":                 legacyRegistrations(UserValue),
		pkgJava + "CopyableValueSerializer$CopyableValueSerializerConfigSnapshot": legacyValue,
		pkgJava + "PojoSerializer$PojoSerializerConfigSnapshot":                   legacyPojo,
	}
	for class, kind := range map[string]Kind{
		pkgBase + "CollectionSerializerConfigSnapshot":                                                   List,
		pkgJava + "EitherSerializerConfigSnapshot":                                                       Either,
		pkgStream + "api.operators.TimerSerializer$TimerSerializerConfigSnapshot":                        Timer,
		pkgScala + "ScalaOptionSerializerConfigSnapshot":                                                 Option,
		pkgScala + "OptionSerializerConfigSnapshot":                                                      Option,
		pkgScala + "OptionSerializer$OptionSerializerConfigSnapshot":                                     Option,
		pkgScala + "ScalaTrySerializerConfigSnapshot":                                                    Try,
		pkgScala + "TrySerializerConfigSnapshot":                                                         Try,
		pkgScala + "TrySerializer$TrySerializerConfigSnapshot":                                           Try,
		pkgScala + "TraversableSerializerConfigSnapshot":                                                 Traversable,
		pkgBase + "MapSerializerConfigSnapshot":                                                          Map,
		pkgJava + "RowSerializer$RowSerializerConfigSnapshot":                                            Row,
		pkgStream + "runtime.streamrecord.StreamElementSerializer$StreamElementSerializerConfigSnapshot": StreamElement,
		pkgStream + "api.datastream.CoGroupedStreams$UnionSerializerConfigSnapshot":                      Union,
		pkgStream + "api.operators.co.IntervalJoinOperator$BufferSerializerConfigSnapshot":               BufferEntry,
		pkgStream + "api.functions.sink.TwoPhaseCommitSinkFunction$StateSerializerConfigSnapshot":        TwoPhase,
		pkgRuntime + "ttl.TtlStateFactory$TtlSerializer$ConfigSnapshot":                                  TTL,
		pkgCommon + "CompositeSerializer$ConfigSnapshot":                                                 Unknown,
		pkgJava + "NullableSerializer$NullableSerializerConfigSnapshot":                                  Nullable,
	} {
		m[class] = legacyNested(kind)
	}
	return m
}

func legacySimple(r *Reader, s *Snapshot) {
	s.SerializerClass = r.UTF("serializer class")
	s.Kind = serializerKind(s.SerializerClass)
	if s.Kind == Unknown {
		s.Why = "no known layout for values of this serializer"
	}
}

func legacyNested(kind Kind) func(*Reader, *Snapshot) {
	return func(r *Reader, s *Snapshot) {
		s.Kind = kind
		s.Nested = r.Resilient()
		switch {
		case kind == Nullable:
			// The padding is a field of the Java-serialized serializer.
			s.Size, s.Why = -1, "the padding is not in the snapshot"
		case kind == Unknown:
			s.Why = "a composite of another serializer"
		case r.ok() && arity[kind] > 0 && len(s.Nested) != arity[kind]:
			s.Kind, s.Why = Unknown, fmt.Sprintf("%d nested serializers where %d belong", len(s.Nested), arity[kind])
		}
	}
}

// arity is how many nested serializers legacy composites of a kind have.
var arity = map[Kind]int{List: 1, Either: 2, Timer: 2, Option: 1, Try: 2, Traversable: 1, Map: 2,
	StreamElement: 1, Union: 2, BufferEntry: 1, TwoPhase: 2, TTL: 2}

func legacyTuple(r *Reader, s *Snapshot) {
	s.Kind = Tuple
	s.Nested = r.Resilient()
	s.Type = r.java().Class
}

func legacyEnum(r *Reader, s *Snapshot) {
	s.Kind = Enum
	s.Type = r.UTF("enum class")
	if s.Version == 1 {
		s.Objects = append(s.Objects, r.java())
		s.Why = "the constants are in a Java object"
		return
	}
	s.EnumType = &EnumType{Constants: r.constants()}
}

func legacyScalaEnum(r *Reader, s *Snapshot) {
	s.Kind = Enum
	if s.Version == 1 {
		javaObjects(2)(r, s)
		s.Why = "the constants are in Java objects"
		return
	}
	s.Type = r.UTF("enumeration class")
	s.EnumType = r.scalaConstants()
}

func legacyRegistrations(kind Kind) func(*Reader, *Snapshot) {
	return func(r *Reader, s *Snapshot) {
		s.Kind = kind
		s.Type = r.UTF("type class")
		k := &KryoType{}
		n := r.Count("registration count", 8)
		for i := 0; i < n && r.ok(); i++ {
			r.enter("registration", i)
			reg := KryoRegistration{Name: r.UTF("class tag")}
			r.kryoRegistration(&reg)
			k.Registrations = append(k.Registrations, reg)
			r.leave()
		}
		if kind == Kryo {
			s.KryoType = k
		} else {
			s.Why = "the bytes of its values are defined by the class " + s.Type
		}
	}
}

func legacyValue(r *Reader, s *Snapshot) {
	s.Kind = UserValue
	typePayload(r, s)
}

// legacyPojo reads three lists of offsets into one buffer, which holds for each
// entry in order: utf name, serbytes (absent where both offsets are equal),
// proxy.
func legacyPojo(r *Reader, s *Snapshot) {
	s.Kind = Pojo
	s.Type = r.UTF("POJO class")
	var offs [3][]int
	for i := range offs {
		n := r.Count("offset count", 8)
		for j := 0; j < 2*n && r.ok(); j++ {
			offs[i] = append(offs[i], int(r.I32("offset")))
		}
	}
	p := r.part(r.Count("entries length", 1), "entries")
	if p == nil {
		return
	}
	s.Pojo = &PojoType{}
	start := p.off
	entry := func(what string, i int, o []int) (string, *Snapshot) {
		p.enter(what, i)
		name := p.UTF("name")
		if p.ok() && (o[0] != p.off-start || o[1] < o[0] || o[1] > p.end-start) {
			p.fail(p.off, "offset "+strconv.Itoa(p.off-start), fmt.Sprintf("%d, %d", o[0], o[1]), nil)
		}
		var java *JavaObjectRef
		if p.ok() && o[1] > o[0] {
			java = p.serBytes()
		}
		t := p.Proxy()
		if p.ok() && java != nil {
			t.Java, t.SerializerClass = java, orElse(t.SerializerClass, java.Class)
		}
		p.leave()
		return name, t
	}
	for i := 0; i < len(offs[0]) && p.ok(); i += 2 {
		name, t := entry("field", i/2, offs[0][i:])
		s.Pojo.Fields = append(s.Pojo.Fields, PojoField{Name: name, Type: t})
	}
	for i := 0; i < len(offs[1]) && p.ok(); i += 2 {
		name, t := entry("registered subclass", i/2, offs[1][i:])
		s.Pojo.Registered = append(s.Pojo.Registered, Subclass{name, t})
	}
	for i := 0; i < len(offs[2]) && p.ok(); i += 2 {
		name, t := entry("other subclass", i/2, offs[2][i:])
		s.Pojo.NonRegistered = append(s.Pojo.NonRegistered, Subclass{name, t})
	}
	if !p.ok() {
		// The buffer has a length, so what follows can be read all the same.
		o := p.opaque(s, start, p.end)
		s.Kind, s.Pojo, s.Opaque, s.Why = Unknown, nil, true, o.Why
	}
}
