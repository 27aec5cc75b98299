// Package serde reads what a snapshot holds about its serializers: serializer
// snapshots, as a tree of types, and the state records (StateMetaInfoSnapshot)
// that carry them in the headers of operator and keyed streams.
//
// Everything is big-endian. utf is Java's writeUTF (u16 length, modified
// UTF-8), jobj one Java-serialized object with its own AC ED 00 05 header.
//
// Framings (TypeSerializerSnapshotSerializationUtil, TypeSerializerSnapshot,
// NestedSerializersSnapshotDelegate, LinkedOptionalMapSerializer):
//
//	proxy            i32 2, snap. i32 1 (up to 1.6): utf class, then the body
//	                 of a legacy config snapshot, or i32 version and payload
//	snap             utf class, i32 version, payload of that class and version
//	adapter          a snap of version 0x7A53C4F0: serbytes, then a legacy
//	                 body, or i32 version and payload
//	serbytes         i32 1, i32 len, len bytes: jobj of the serializer
//	resilient        i32 n, n x (i32 serOff, i32 snapOff), i32 total, total
//	                 bytes; slot i is a serbytes at serOff and a proxy at snapOff
//	nested delegate  i32 0x001457FD, i32 1, i32 n, n x snap
//	composite        a snap of version 3: i32 0x000DE704, i32 outer version,
//	                 outer payload, nested delegate. Version 2 and below: outer
//	                 payload of that version, nested delegate
//	simple           a snap of version 3 without payload; version 2 has one utf
//	optional map     i64 0x000004F2C69A3D70, i32 n, n x (utf name, bool [i32
//	                 len, key], bool [i32 len, value])
//
// A legacy body begins with its own i32 version. The number behind a class name
// is that of the snapshot framework: 3 is the current one of simple and
// composite snapshots, whose own number is the outer version.
//
// No snapshot has a length: a class must be known to get past it. Where a
// container has lengths (optional map, resilient), a node that cannot be read
// is opaque and the rest goes on. Elsewhere reading stops, and the reader of
// state records finds the next record by its fixed words (see StateMetas).
//
// State records, by meta version (StateMetaInfoSnapshotReadersWriters and its
// legacy readers):
//
//	6, 7        utf name, i32 type, i32 n x (utf option, utf value),
//	            i32 n x (utf key, proxy)
//	8           as 7, then i32 n x (utf key, i32 len, len bytes)
//	5           utf name, i32 type, i32 n x (utf, utf), i32 n x utf key,
//	            resilient of n slots in that order
//	operator 2, 3  utf name, u8 mode, resilient (element, or key and value)
//	operator 1     utf name, u8 mode, jobj serializer
//	keyed 3, 4     i32 descriptor type, utf name, resilient (namespace, value)
//	keyed 1, 2     i32 descriptor type, utf name, serbytes, serbytes
//
// Values, by kind of serializer (the classes are those of Flink's serializers;
// fstr is a Flink string: varint of characters + 1, 0 null, then a varint for each
// UTF-16 unit; varint is 7 bits a byte, the lowest first):
//
//	Boolean, Byte, Short, Integer, Long, Float, Double, Character  1 to 8 bytes
//	String           fstr; StringValue: varint length, units
//	StringData       i32 length, UTF-8
//	BigInteger       i32 x: 0 null, 1 zero, 2 one, 3 ten, else x - 4 bytes of two's
//	                 complement; BigDecimal: the same, then unless null i32 scale
//	Date, Time       i64 ms, smallest: null; Timestamp: i64 ms, i32 nanoseconds
//	Instant          i64 seconds, i32 nanoseconds, smallest: null
//	LocalDate        i32 year, u8 month, u8 day; LocalTime: u8 hour, minute, second,
//	                 i32 nanosecond; LocalDateTime: both
//	primitive array  i32 n, elements; String[]: i32 n, n x fstr
//	List             i32 n, with Flag a mask of nulls, elements
//	Set, array, Traversable  i32 n, n x (bool, element): Set true for null, others
//	                 for an element
//	Map              i32 n, n x (key, bool null, value)
//	Either, Try      bool first, value; Union: u8 1 or 2, value; Option: bool, value
//	Nullable         bool null, then the padding or the value
//	Tuple            fields (Scala case classes too)
//	Row              mask of (two bits of the row kind with Flag, null fields), then
//	                 the fields that are not null
//	POJO             u8 flags: 1 null; 2 fields, each behind a bool null; 4 utf
//	                 class and a POJO; 8 u8 index and a POJO
//	Enum             i32 index of the snapshot's constants, Scala: their id
//	TTL              i64 last access in ms, value
//	Timer            i64 timestamp with its sign bit turned, key, namespace
//	StreamElement    u8 tag, see streamElement
//	TwoPhaseCommit   see twoPhase; CEP states: see other
//	Kryo             see kryo.go; Avro: avro.go; SQL rows, arrays, maps: rowdata.go;
//	                 Variant: variant.go
//	Java object      jobj
//
// Masks have the most significant bit of a byte first. No value has a length of its
// own: where a type cannot be read, neither can what follows it, unless the end is
// known (DecodeAll).
package serde
