package serde

import (
	"strconv"
	"unicode/utf8"
)

// currentLayouts are the snapshots that are neither simple nor composite.
func currentLayouts() map[string]layout {
	enum := pkgBase + "EnumSerializer$EnumSerializerSnapshot"
	avro := "org.apache.flink.formats.avro.typeutils."
	return map[string]layout{
		pkgJava + "PojoSerializerSnapshot":                                  {kind: Pojo, read: versions(pojoPayload, 2)},
		pkgJava + "LenientPojoSerializerSnapshot":                           {kind: Pojo, read: versions(pojoPayload, 2)},
		pkgJava + "kryo.KryoSerializerSnapshot":                             {kind: Kryo, read: versions(kryoPayload, 2)},
		enum:                                                                {kind: Enum, serializer: pkgBase + "EnumSerializer", read: versions(enumPayload, 3)},
		pkgScala + "ScalaEnumSerializerSnapshot":                            {kind: Enum, read: versions(scalaEnumPayload, 2, 3)},
		pkgJava + "ValueSerializer$ValueSerializerSnapshot":                 {kind: UserValue, read: versions(typePayload, 2)},
		pkgJava + "CopyableValueSerializer$CopyableValueSerializerSnapshot": {kind: UserValue, read: versions(typePayload, 2)},
		avro + "AvroSerializerSnapshot":                                     {kind: Avro, read: versions(avroPayload, 1, 2, 3)},
		avro + "AvroSerializer$AvroSchemaSerializerConfigSnapshot":          {kind: Avro, read: versions(avroPayload, 1)},
		pkgBase + "GenericArraySerializerConfigSnapshot":                    {kind: GenericArray, nested: 1, read: versions(oldArrayPayload, 1, 2)},
		pkgJava + "EitherSerializerSnapshot":                                {kind: Either, nested: 2, read: versions(oldEitherPayload, 1, 2)},
		pkgRuntime + "ttl.TtlAwareSerializerSnapshot":                       {kind: TTLAware, nested: 1, read: versions(ttlAwarePayload, 1)},
		pkgTable + "RowDataSerializer$RowDataSerializerSnapshot":            {kind: RowData, read: versions(rowDataPayload, 3)},
		pkgTable + "BinaryRowDataSerializer$BinaryRowDataSerializerSnapshot": {kind: BinaryRowData, read: versions(func(r *Reader, s *Snapshot) {
			s.Size = r.I32("arity")
		}, 3)},
		pkgTable + "DecimalDataSerializer$DecimalSerializerSnapshot": {kind: DecimalData, read: versions(func(r *Reader, s *Snapshot) {
			s.Size, s.Scale = r.I32("precision"), r.I32("scale")
		}, 3)},
		pkgTable + "TimestampDataSerializer$TimestampDataSerializerSnapshot": {kind: TimestampData, read: versions(func(r *Reader, s *Snapshot) {
			s.Size = r.I32("precision")
		}, 1)},
		pkgTable + "ArrayDataSerializer$ArrayDataSerializerSnapshot": {kind: ArrayData, read: versions(javaObjects(2), 3)},
		pkgTable + "MapDataSerializer$MapDataSerializerSnapshot":     {kind: MapData, read: versions(javaObjects(4), 3)},
		pkgTable + "SortedMapSerializerSnapshot": {kind: SortedMap, nested: 2, read: versions(func(r *Reader, s *Snapshot) {
			s.Objects = append(s.Objects, r.java())
			s.Nested = r.delegate()
		}, 3)},
		pkgMultiSet + "RowDataKeySerializerSnapshot": {kind: External, nested: 1, read: versions(func(r *Reader, s *Snapshot) {
			for _, what := range []string{"equaliser", "hash function"} { // as Java objects
				r.take(r.Count("length of the "+what, 1), what)
			}
			s.Nested = append(s.Nested, r.Snap())
		}, 0)},
		"org.apache.flink.connector.pulsar.common.schema.PulsarSchemaTypeSerializerSnapshot": {kind: PulsarSchema, read: versions(func(r *Reader, s *Snapshot) {
			r.take(r.Count("schema length", 1), "schema")
		}, 1)},
		"org.apache.beam.runners.flink.translation.types.CoderTypeSerializer$LegacySnapshot": {kind: BeamCoder, read: func(r *Reader, s *Snapshot) bool {
			// Only behind an adapter; the coder is in the Java-serialized serializer.
			return s.Adapter
		}},
	}
}

// versions makes a payload reader of one that knows some versions.
func versions(read func(*Reader, *Snapshot), known ...int32) func(*Reader, *Snapshot) bool {
	return func(r *Reader, s *Snapshot) bool {
		for _, v := range known {
			if s.Version == v {
				read(r, s)
				return true
			}
		}
		return false
	}
}

func javaObjects(n int) func(*Reader, *Snapshot) {
	return func(r *Reader, s *Snapshot) {
		for i := 0; i < n && r.ok(); i++ {
			r.javaType(s)
		}
	}
}

// javaType reads a jobj that may be a LogicalType or DataType.
func (r *Reader) javaType(s *Snapshot) {
	o, t := r.javaLogical()
	s.Objects, s.Logical = append(s.Objects, o), append(s.Logical, t)
}

func typePayload(r *Reader, s *Snapshot) {
	s.Type = r.UTF("class")
	s.Why = "the bytes of its values are defined by the class " + s.Type
}

func pojoPayload(r *Reader, s *Snapshot) {
	s.Type = r.UTF("POJO class")
	p := &PojoType{}
	s.Pojo = p
	r.optionalMap("field", func(name string, key, value *Reader) {
		f := PojoField{Name: name, Type: value.whole()}
		if key != nil {
			f.Declaring = key.UTF("declaring class")
		}
		p.Fields = append(p.Fields, f)
	})
	r.optionalMap("registered subclass", func(name string, _, value *Reader) {
		p.Registered = append(p.Registered, Subclass{name, value.whole()})
	})
	r.optionalMap("other subclass", func(name string, _, value *Reader) {
		p.NonRegistered = append(p.NonRegistered, Subclass{name, value.whole()})
	})
}

func kryoPayload(r *Reader, s *Snapshot) {
	s.Type = r.UTF("Kryo type class")
	k := &KryoType{}
	s.KryoType = k
	r.optionalMap("registration", func(name string, _, value *Reader) {
		reg := KryoRegistration{Name: name}
		if value != nil {
			value.kryoRegistration(&reg)
		}
		k.Registrations = append(k.Registrations, reg)
	})
	r.optionalMap("default serializer", func(name string, _, value *Reader) {
		reg := KryoRegistration{Name: name, Class: name, Kind: KryoInstance}
		if value != nil {
			reg.Serializer = value.java().Class
		}
		k.Defaults = append(k.Defaults, reg)
	})
	r.optionalMap("default serializer class", func(name string, _, value *Reader) {
		reg := KryoRegistration{Name: name, Class: name, Kind: KryoClass}
		if value != nil {
			reg.Serializer = value.UTF("serializer class")
		}
		k.DefaultClasses = append(k.DefaultClasses, reg)
	})
}

func (r *Reader) kryoRegistration(reg *KryoRegistration) {
	reg.Class = r.UTF("registered class")
	at := r.off
	reg.Kind = r.I32("kind of registration")
	switch {
	case !r.ok() || reg.Kind == KryoDefault:
	case reg.Kind == KryoClass:
		reg.Serializer = r.UTF("serializer class")
	case reg.Kind == KryoInstance:
		reg.Serializer = r.java().Class
	default:
		r.fail(at, "kind of registration 0 to 2", strconv.Itoa(int(reg.Kind)), nil)
	}
}

func enumPayload(r *Reader, s *Snapshot) {
	s.Type = r.UTF("enum class")
	s.EnumType = &EnumType{Constants: r.constants()}
}

func (r *Reader) constants() []string {
	n := r.Count("constant count", 2)
	var out []string
	for i := 0; i < n && r.ok(); i++ {
		out = append(out, r.UTF("constant"))
	}
	return out
}

func scalaEnumPayload(r *Reader, s *Snapshot) {
	s.Type = r.UTF("enumeration class")
	s.EnumType = r.scalaConstants()
}

func (r *Reader) scalaConstants() *EnumType {
	e := &EnumType{}
	n := r.Count("constant count", 6)
	for i := 0; i < n && r.ok(); i++ {
		e.Constants = append(e.Constants, r.UTF("constant"))
		e.IDs = append(e.IDs, r.I32("constant id"))
	}
	return e
}

func avroPayload(r *Reader, s *Snapshot) {
	switch s.Version {
	case 1:
		s.Schema = r.UTF("Avro schema")
	case 2:
		s.Type, s.Schema = r.UTF("Avro class"), r.UTF("Avro schema")
	default:
		s.Type, s.Schema = r.flinkString("Avro class"), r.flinkString("Avro schema")
	}
}

// flinkString reads a string as StringValue.writeString writes it: varint of
// length + 1 (0 is null, given as ""), a varint for each UTF-16 unit.
func (r *Reader) flinkString(what string) string {
	at := r.off
	n := int(r.varint(what+" length")) - 1
	if r.ok() && n > r.Left() {
		r.fail(at, what+" length", strconv.Itoa(n), nil)
	}
	var b []byte
	for i := 0; i < n && r.ok(); i++ {
		// Units are kept one by one: a surrogate pair gives U+FFFD twice.
		b = utf8.AppendRune(b, rune(r.varint(what)&0xffff))
	}
	return string(b)
}

func (r *Reader) varint(what string) uint32 {
	var v uint32
	for shift := 0; shift < 32; shift += 7 {
		b := r.U8(what)
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	return v & 0x7fffffff
}

func oldArrayPayload(r *Reader, s *Snapshot) {
	if s.Version == 1 {
		s.Nested = r.Resilient()
		s.Type = r.java().Class
		return
	}
	s.Type = r.UTF("component class")
	s.Nested = r.delegate()
}

func oldEitherPayload(r *Reader, s *Snapshot) {
	if s.Version == 1 {
		s.Nested = r.Resilient()
		return
	}
	s.Nested = r.delegate()
}

func ttlAwarePayload(r *Reader, s *Snapshot) {
	s.Flag = r.Bool("TTL enabled")
	s.Nested = append(s.Nested, r.Snap())
}

func rowDataPayload(r *Reader, s *Snapshot) {
	n := r.Count("field count", 4)
	javaObjects(n)(r, s)
	s.Nested = r.delegate()
	if r.ok() && len(s.Nested) != n {
		s.Kind, s.Why = Unknown, strconv.Itoa(len(s.Nested))+" nested serializers for "+strconv.Itoa(n)+" fields"
	}
}
