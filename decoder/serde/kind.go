package serde

// Kind is how the values of a serializer look like.
type Kind int

// Kinds. Behind each the nested types in the order of Snapshot.Nested, where it
// has any.
const (
	Unknown Kind = iota
	Boolean
	Byte
	Short
	Int
	Long
	Float
	Double
	Char
	String
	StringValue
	BigInt
	BigDec
	Date
	SQLDate
	SQLTime
	SQLTimestamp
	Instant
	LocalDate
	LocalTime
	LocalDateTime
	VoidByte  // one byte 0: Void, VoidNamespace, Unit, GlobalWindow, Tuple0, NullSerializer
	NullValue // no bytes
	BooleanArray
	ByteArray
	CharArray
	DoubleArray
	FloatArray
	IntArray
	LongArray
	ShortArray
	StringArray
	JavaObject
	SortedLong       // i64 with its sign bit turned
	TimeWindow       // i64 start, i64 end
	CountWindow      // i64
	StringData       // i32 length, UTF-8
	DeweyNumber      // CEP
	EventID          // CEP
	KafkaTxn         // FlinkKafkaProducer transaction
	KafkaContext     // FlinkKafkaProducer transactional ids
	KafkaIDHint      // FlinkKafkaProducer next transactional id
	Variant          // 2.x
	Bitmap           // 2.x
	UUID             // 2.x
	List             // element; Flag: with a null mask
	Set              // element
	Map              // key, value
	SortedMap        // key, value
	NullAwareMap     // key, value
	GenericArray     // element; Class
	Either           // left, right
	Option           // value
	Try              // value, throwable
	Traversable      // element; Class: source of the builder
	Tuple            // fields; Class (tuples and case classes)
	Row              // fields; Flag: with row kind
	Nullable         // value; Size: padding
	TTL              // timestamp, value
	TTLAware         // value; Flag: it is a TTL
	Timer            // key, namespace
	StreamElement    // value
	Union            // left, right
	BufferEntry      // element
	TwoPhase         // transaction, context; Flag: pending transaction flagged
	RawValue         // value
	WindowKey        // row
	External         // internal value; Java: DataType; Flag: internal input
	NFAState         // Dewey number, node id, event id; Flag: with previous timestamp
	NodeID           // event id
	Lockable         // element
	SharedBufferEdge // node id, Dewey number
	SharedBufferNode // edge
	Pojo             // Pojo
	Kryo             // Kryo
	Enum             // Enum
	UserValue        // user-defined bytes; Type
	Avro             // Class, Schema
	RowData
	BinaryRowData // Size: arity
	DecimalData   // Size: precision, Scale
	TimestampData // Size: precision
	ArrayData     // Java: LogicalType, serializer
	MapData       // Java: key and value LogicalType, key and value serializer
	PulsarSchema
	BeamCoder
	kindCount
)

var kindNames = [kindCount]string{
	"unknown", "Boolean", "Byte", "Short", "Integer", "Long", "Float", "Double", "Character",
	"String", "StringValue", "BigInteger", "BigDecimal", "Date", "java.sql.Date", "java.sql.Time",
	"java.sql.Timestamp", "Instant", "LocalDate", "LocalTime", "LocalDateTime", "Void", "NullValue",
	"boolean[]", "byte[]", "char[]", "double[]", "float[]", "int[]", "long[]", "short[]", "String[]",
	"Java object", "sorted Long", "TimeWindow", "CountWindow", "StringData", "DeweyNumber", "EventId",
	"Kafka transaction", "Kafka transactional ids", "Kafka transactional id hint", "Variant", "Bitmap", "UUID",
	"List", "Set", "Map", "SortedMap", "Map", "array", "Either", "Option", "Try", "Traversable", "Tuple", "Row",
	"Nullable", "TTL", "TTL aware", "Timer", "StreamElement", "Union", "BufferEntry", "TwoPhaseCommit",
	"RawValue", "WindowKey", "External", "NFAState", "NodeId", "Lockable", "SharedBufferEdge", "SharedBufferNode",
	"POJO", "Kryo", "Enum", "Value", "Avro", "RowData", "BinaryRowData", "DecimalData", "TimestampData",
	"ArrayData", "MapData", "Pulsar schema", "Beam coder",
}

// String is a short name for people.
func (k Kind) String() string {
	if k < 0 || k >= kindCount {
		return kindNames[Unknown]
	}
	return kindNames[k]
}
