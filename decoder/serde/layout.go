package serde

import "strings"

// layout is how the payload of a snapshot class is read. read gives false for
// a version without a known layout, before it has read anything.
type layout struct {
	kind       Kind
	serializer string // class, where the snapshot's name tells it
	nested     int    // how many nested snapshots belong; 0: any number
	read       func(*Reader, *Snapshot) bool
}

const (
	pkgCommon = "org.apache.flink.api.common.typeutils."
	pkgBase   = pkgCommon + "base."
	pkgJava   = "org.apache.flink.api.java.typeutils.runtime."
	pkgScala  = "org.apache.flink.api.scala.typeutils."
	// Where those of pkgScala are from Flink 2.0 on.
	pkgTableScala = "org.apache.flink.table.api.typeutils."
	pkgRuntime    = "org.apache.flink.runtime.state."
	pkgStream     = "org.apache.flink.streaming."
	pkgTable      = "org.apache.flink.table.runtime.typeutils."
	pkgMultiSet   = "org.apache.flink.table.runtime.sequencedmultisetstate.linked."
	pkgView       = "org.apache.flink.table.dataview."
	pkgCEP        = "org.apache.flink.cep.nfa."
	pkgKafka      = pkgStream + "connectors.kafka."
)

// simpleSerializers have a simple snapshot called SERIALIZER$NAMESnapshot.
var simpleSerializers = map[string]Kind{
	pkgBase + "BooleanSerializer": Boolean, pkgBase + "ByteSerializer": Byte, pkgBase + "ShortSerializer": Short,
	pkgBase + "IntSerializer": Int, pkgBase + "LongSerializer": Long, pkgBase + "FloatSerializer": Float,
	pkgBase + "DoubleSerializer": Double, pkgBase + "CharSerializer": Char, pkgBase + "StringSerializer": String,
	pkgBase + "BooleanValueSerializer": Boolean, pkgBase + "ByteValueSerializer": Byte, pkgBase + "ShortValueSerializer": Short,
	pkgBase + "IntValueSerializer": Int, pkgBase + "LongValueSerializer": Long, pkgBase + "FloatValueSerializer": Float,
	pkgBase + "DoubleValueSerializer": Double, pkgBase + "CharValueSerializer": Char,
	pkgBase + "StringValueSerializer": StringValue, pkgBase + "NullValueSerializer": NullValue,
	pkgBase + "BigIntSerializer": BigInt, pkgBase + "BigDecSerializer": BigDec,
	pkgBase + "DateSerializer": Date, pkgBase + "SqlDateSerializer": SQLDate, pkgBase + "SqlTimeSerializer": SQLTime,
	pkgBase + "SqlTimestampSerializer": SQLTimestamp, pkgBase + "InstantSerializer": Instant,
	pkgBase + "LocalDateSerializer": LocalDate, pkgBase + "LocalTimeSerializer": LocalTime,
	pkgBase + "LocalDateTimeSerializer": LocalDateTime, pkgBase + "VoidSerializer": VoidByte,
	pkgBase + "VariantSerializer": Variant, pkgBase + "BitmapSerializer": Bitmap, pkgBase + "UuidSerializer": UUID,
	pkgRuntime + "VoidNamespaceSerializer":            VoidByte,
	pkgBase + "array.BooleanPrimitiveArraySerializer": BooleanArray, pkgBase + "array.BytePrimitiveArraySerializer": ByteArray,
	pkgBase + "array.CharPrimitiveArraySerializer": CharArray, pkgBase + "array.DoublePrimitiveArraySerializer": DoubleArray,
	pkgBase + "array.FloatPrimitiveArraySerializer": FloatArray, pkgBase + "array.IntPrimitiveArraySerializer": IntArray,
	pkgBase + "array.LongPrimitiveArraySerializer": LongArray, pkgBase + "array.ShortPrimitiveArraySerializer": ShortArray,
	pkgBase + "array.StringArraySerializer": StringArray,
	pkgRuntime + "JavaSerializer":           JavaObject,
	pkgTable + "StringDataSerializer":       StringData,
	pkgView + "NullSerializer":              VoidByte,
	pkgTableScala + "UnitSerializer":        VoidByte,

	"org.apache.flink.table.runtime.operators.sink.SortedLongSerializer": SortedLong,

	pkgCEP + "DeweyNumber$DeweyNumberSerializer":                         DeweyNumber,
	pkgCEP + "sharedbuffer.EventId$EventIdSerializer":                    EventID,
	pkgKafka + "FlinkKafkaProducer$ContextStateSerializer":               KafkaContext,
	pkgKafka + "FlinkKafkaProducer011$ContextStateSerializer":            KafkaContext,
	pkgKafka + "FlinkKafkaProducer$TransactionStateSerializer":           KafkaTxn,
	pkgKafka + "FlinkKafkaProducer011$TransactionStateSerializer":        KafkaTxn,
	pkgKafka + "FlinkKafkaProducer$NextTransactionalIdHintSerializer":    KafkaIDHint,
	pkgKafka + "FlinkKafkaProducer011$NextTransactionalIdHintSerializer": KafkaIDHint,
}

// simpleSnapshots are simple snapshots of other names, with their serializer.
var simpleSnapshots = map[string]struct {
	serializer string
	kind       Kind
}{
	pkgJava + "Tuple0SerializerSnapshot":   {pkgJava + "Tuple0Serializer", VoidByte},
	pkgScala + "UnitSerializerSnapshot":    {pkgScala + "UnitSerializer", VoidByte},
	pkgScala + "NothingSerializerSnapshot": {pkgScala + "NothingSerializer", NullValue},

	pkgStream + "api.windowing.windows.TimeWindow$Serializer$TimeWindowSerializerSnapshot":     {pkgStream + "api.windowing.windows.TimeWindow$Serializer", TimeWindow},
	pkgStream + "api.windowing.windows.GlobalWindow$Serializer$GlobalWindowSerializerSnapshot": {pkgStream + "api.windowing.windows.GlobalWindow$Serializer", VoidByte},

	sqlWindows + "TimeWindow$Serializer$TimeWindowSerializerSnapshot":     {sqlWindows + "TimeWindow$Serializer", TimeWindow},
	sqlWindows + "GlobalWindow$Serializer$GlobalWindowSerializerSnapshot": {sqlWindows + "GlobalWindow$Serializer", VoidByte},
	sqlWindows + "CountWindow$Serializer$CountWindowSerializerSnapshot":   {sqlWindows + "CountWindow$Serializer", CountWindow},
}

// composites have outer payloads as outerPayloads tells, none otherwise.
var composites = map[string]struct {
	kind   Kind
	nested int
}{
	pkgBase + "ListSerializerSnapshot":                                                                      {List, 1},
	pkgRuntime + "ArrayListSerializerSnapshot":                                                              {List, 1},
	pkgBase + "SetSerializerSnapshot":                                                                       {Set, 1},
	pkgBase + "MapSerializerSnapshot":                                                                       {Map, 2},
	pkgBase + "GenericArraySerializerSnapshot":                                                              {GenericArray, 1},
	pkgJava + "JavaEitherSerializerSnapshot":                                                                {Either, 2},
	pkgScala + "ScalaEitherSerializerSnapshot":                                                              {Either, 2},
	pkgScala + "ScalaTrySerializerSnapshot":                                                                 {Try, 2},
	pkgScala + "ScalaOptionSerializerSnapshot":                                                              {Option, 1},
	pkgScala + "TraversableSerializerSnapshot":                                                              {Traversable, 1},
	pkgJava + "TupleSerializerSnapshot":                                                                     {Tuple, 0},
	pkgScala + "ScalaCaseClassSerializerSnapshot":                                                           {Tuple, 0},
	pkgScala + "Tuple2CaseClassSerializerSnapshot":                                                          {Tuple, 0},
	pkgJava + "RowSerializer$RowSerializerSnapshot":                                                         {Row, 0},
	pkgJava + "NullableSerializer$NullableSerializerSnapshot":                                               {Nullable, 1},
	pkgRuntime + "ttl.TtlStateFactory$TtlSerializerSnapshot":                                                {TTL, 2},
	pkgRuntime + "v2.ttl.TtlStateFactory$TtlSerializerSnapshot":                                             {TTL, 2},
	pkgStream + "api.operators.TimerSerializerSnapshot":                                                     {Timer, 2},
	pkgStream + "runtime.streamrecord.StreamElementSerializer$StreamElementSerializerSnapshot":              {StreamElement, 1},
	pkgStream + "api.datastream.CoGroupedStreams$UnionSerializerSnapshot":                                   {Union, 2},
	pkgStream + "api.operators.co.IntervalJoinOperator$BufferEntrySerializerSnapshot":                       {BufferEntry, 1},
	pkgStream + "api.functions.sink.TwoPhaseCommitSinkFunction$StateSerializerSnapshot":                     {TwoPhase, 2},
	pkgStream + "api.functions.sink.legacy.TwoPhaseCommitSinkFunction$StateSerializerSnapshot":              {TwoPhase, 2},
	pkgTable + "LinkedListSerializer$LinkedListSerializerSnapshot":                                          {List, 1},
	pkgCommon + "SingleThreadAccessCheckingTypeSerializer$SingleThreadAccessCheckingTypeSerializerSnapshot": {External, 1},
	pkgMultiSet + "MetaSqnInfoSerializer$MetaSqnInfoSerializerSnapshot":                                     {Tuple, 2},
	pkgMultiSet + "RowSqnInfoSerializer$RowSqnInfoSerializerSnapshot":                                       {Tuple, 2},
	pkgMultiSet + "NodeSerializer$NodeSerializerSnapshot":                                                   {Tuple, 6},
	pkgTable + "RawValueDataSerializer$RawValueDataSerializerSnapshot":                                      {RawValue, 1},
	pkgTable + "WindowKeySerializer$WindowKeySerializerSnapshot":                                            {WindowKey, 1},
	pkgTable + "ExternalSerializer$ExternalSerializerSnapshot":                                              {External, 1},
	pkgCEP + "NFAStateSerializerSnapshot":                                                                   {NFAState, 3},
	pkgCEP + "sharedbuffer.NodeId$NodeIdSerializer$NodeIdSerializerSnapshot":                                {NodeID, 1},
	pkgCEP + "sharedbuffer.LockableTypeSerializerSnapshot":                                                  {Lockable, 1},
	pkgCEP + "sharedbuffer.SharedBufferEdge$SharedBufferEdgeSerializer$SharedBufferEdgeSerializerSnapshot":  {SharedBufferEdge, 2},
	pkgCEP + "sharedbuffer.SharedBufferNodeSerializerSnapshotV2":                                            {SharedBufferNode, 1},
	pkgView + "ListViewSerializerSnapshot":                                                                  {List, 1},
	pkgView + "MapViewSerializerSnapshot":                                                                   {Map, 1},
	pkgView + "NullAwareMapSerializerSnapshot":                                                              {NullAwareMap, 2},
}

// records are composites of Flink's own whose fields have names, by class.
var records = map[string]struct {
	class string
	names []string
}{
	pkgMultiSet + "MetaSqnInfoSerializer$MetaSqnInfoSerializerSnapshot": {"MetaSqnInfo", []string{"highSqn", "size"}},
	pkgMultiSet + "RowSqnInfoSerializer$RowSqnInfoSerializerSnapshot":   {"RowSqnInfo", []string{"firstSqn", "lastSqn"}},
	pkgMultiSet + "NodeSerializer$NodeSerializerSnapshot":               {"Node", []string{"row", "sqn", "prevSqn", "nextSqn", "nextSqnForRecord", "timestamp"}},
}

// outerPayloads read what a composite holds of its own, by its outer version.
var outerPayloads = map[string]func(*Reader, *Snapshot) bool{
	pkgBase + "ListSerializerSnapshot":                                                         flagFrom(2, 0),
	pkgBase + "GenericArraySerializerSnapshot":                                                 outerType,
	pkgScala + "TraversableSerializerSnapshot":                                                 outerType,
	pkgJava + "TupleSerializerSnapshot":                                                        outerType,
	pkgScala + "ScalaCaseClassSerializerSnapshot":                                              outerType,
	pkgScala + "Tuple2CaseClassSerializerSnapshot":                                             outerType,
	pkgJava + "RowSerializer$RowSerializerSnapshot":                                            flagFrom(4, 3),
	pkgCEP + "NFAStateSerializerSnapshot":                                                      flagFrom(2, 0),
	pkgTable + "LinkedListSerializer$LinkedListSerializerSnapshot":                             flagFrom(3, 2),
	pkgStream + "api.functions.sink.TwoPhaseCommitSinkFunction$StateSerializerSnapshot":        flagFrom(4, 3),
	pkgStream + "api.functions.sink.legacy.TwoPhaseCommitSinkFunction$StateSerializerSnapshot": flagFrom(4, 3),
	pkgJava + "NullableSerializer$NullableSerializerSnapshot": func(r *Reader, s *Snapshot) bool {
		s.Size = r.I32("padding length")
		return true
	},
	pkgTable + "ExternalSerializer$ExternalSerializerSnapshot": func(r *Reader, s *Snapshot) bool {
		r.javaType(s)
		s.Flag = r.Bool("internal input")
		return true
	},
}

// flagFrom is an outer payload that is one bool from version stored on; below,
// the flag is set in version implied alone.
func flagFrom(stored, implied int32) func(*Reader, *Snapshot) bool {
	return func(r *Reader, s *Snapshot) bool {
		if s.Outer > stored || s.Outer < 1 {
			return false
		}
		s.Flag = s.Outer == implied
		if s.Outer == stored {
			s.Flag = r.Bool("flag")
		}
		return true
	}
}

func outerType(r *Reader, s *Snapshot) bool {
	s.Type = r.UTF("class")
	return true
}

// layouts of all snapshot classes that are known by name.
var layouts map[string]layout

func init() { layouts = buildLayouts() }

func buildLayouts() map[string]layout {
	m := currentLayouts()
	for ser, kind := range simpleSerializers {
		m[ser+"$"+ser[strings.LastIndexAny(ser, ".$")+1:]+"Snapshot"] = layout{kind: kind, serializer: ser, read: simplePayload}
	}
	for class, s := range simpleSnapshots {
		m[class] = layout{kind: s.kind, serializer: s.serializer, read: simplePayload}
	}
	for class, c := range composites {
		m[class] = layout{kind: c.kind, nested: c.nested, read: compositePayload}
	}
	for class, l := range m {
		if name, ok := strings.CutPrefix(class, pkgScala); ok {
			m[pkgTableScala+name] = l
		}
	}
	return m
}

// serializerKinds are kinds by serializer class, with '.' for '$' as legacy
// snapshots have the canonical name.
var serializerKinds = buildSerializerKinds()

func buildSerializerKinds() map[string]Kind {
	m := map[string]Kind{}
	for class, kind := range simpleSerializers {
		m[strings.ReplaceAll(class, "$", ".")] = kind
	}
	for _, s := range simpleSnapshots {
		m[strings.ReplaceAll(s.serializer, "$", ".")] = s.kind
	}
	return m
}

func serializerKind(class string) Kind {
	return serializerKinds[strings.ReplaceAll(class, "$", ".")]
}

func simplePayload(r *Reader, s *Snapshot) bool {
	switch s.Version {
	case 3:
		return true
	case 2:
		s.SerializerClass = orElse(s.SerializerClass, r.UTF("serializer identifier"))
		return true
	}
	return false
}

func compositePayload(r *Reader, s *Snapshot) bool {
	switch {
	case s.Version == 3:
		r.expect(compositeMagic, "composite magic")
		s.Outer = r.I32("outer snapshot version")
	case s.Version == 1 || s.Version == 2:
		s.Outer = s.Version
	default:
		return false
	}
	if !r.ok() {
		return true
	}
	if outer := outerPayloads[strings.Replace(s.Class, pkgTableScala, pkgScala, 1)]; outer != nil {
		if !outer(r, s) {
			return false
		}
	} else if p := r.section(r.off, r.end); p.I32("") != delegateMagic && p.ok() {
		return false // a payload that came with a later version
	}
	s.Nested = r.delegate()
	return true
}
