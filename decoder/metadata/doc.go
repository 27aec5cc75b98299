// Package metadata decodes and encodes the `_metadata` file of a checkpoint or
// savepoint, format versions 2 to 6 both ways. Version 1 is decoded (and
// encoded, for proof), though no Flink since 1.11 reads it; 0 and what comes
// after 6 is refused.
//
// Flink writes and reads it in
// org.apache.flink.runtime.checkpoint.metadata: MetadataV2V3SerializerBase and
// MetadataV2Serializer to MetadataV6Serializer, channel handles from V6 on in
// ChannelStateHandleSerializerV2. Version 1 is SavepointV1Serializer of Flink 1.2.
//
// # The file
//
// Big-endian, one flat stream without padding, checksum, index or stored
// offsets into itself. utf is a u16 length and that many bytes of Java's
// modified UTF-8 (kept as they are, see decoder.Text); list is an i32 count and
// that many records; data is an i32 length and that many bytes.
//
//	i32 magic 49 60 67 2d
//	i32 version      1: Flink 1.2; 2: 1.3-1.10; 3: 1.11-1.15; 4: 1.16-1.20; 5: 2.0; 6: 2.1 and later
//	i64 checkpoint id
//	list of master states                        V2 and later
//	list of operators                            in no order
//	Java object stream: CheckpointProperties     V4 and later, to the end of the file
//
//	master state:  i32 magic c9 6b 16 96, i32 length of the rest,
//	               i32 hook version, utf hook name, data
//	operator:      utf name, utf uid             V5 and later, "" where absent
//	               16 bytes operator id, i32 parallelism, i32 max parallelism
//	               i32 chain length              V1, V2 only
//	               stream handle: coordinator    V3 and later, type 0 or 1
//	               list of subtasks; a count below 0: fully finished (from 1.14 on)
//	subtask:       i32 index; below 0 (V3 and later): subtask -(index+1) is finished
//	               and nothing follows
//	               i64 duration, list of stream handles (state older than 1.2)  V1, V2
//	               i32 presence and operator handle: managed  (V1: list, one a chain position)
//	               i32 presence and operator handle: raw      (V1: the same)
//	               keyed handle: managed; keyed handle: raw
//	               list of channel handles: input, the same: output             V3 and later
//
// # Stream handles: a type byte, then
//
//	0   nothing: none
//	1   utf name (not a file), data              bytes inside the file
//	2   i64 size, utf absolute path              size -1: not known
//	3   i32 first key group, i32 number, number x i64 offset, stream handle
//	6   utf path relative to the directory of `_metadata`, i64 size
//	15  i64 start, i64 size, i32 scope (0 exclusive, 1 shared), utf path, utf logical file id
//	16  nothing: an empty segment
//
// # Operator handles
//
//	4   list of {utf state name, i8 mode, list of i64 offset}, stream handle
//	17  the same list, utf task-owned directory, utf shared directory, bool empty,
//	    stream handle of type 15 or 16
//
// # Keyed handles
//
// A range is i32 first key group and i32 number of them; id is utf.
//
//	0   nothing: none
//	3   range, number x i64 offset, stream handle
//	7   as 3 (canonical savepoint)
//	12  as 3, then id
//	5   i64 checkpoint id, utf backend id, range, stream handle (meta),
//	    files `shared`, files `private`; files: list of {utf local path, stream handle}
//	11  as 5 with i64 checkpointed size after the range, id at the end
//	8   range, i64 checkpointed size, list of keyed handles (materialized), list of
//	    keyed handles 9, 10 or 13 (the log since), i64 materialization id, id
//	14  as 8 with i64 checkpoint id after the materialization id
//	9   range, i64 from, i64 to, list of {i32 key group, data}, id
//	10  range, list of {i64 offset, stream handle}, i64 size, i64 checkpointed size, id
//	13  as 10, then utf storage id
//
// Flink 1.14 wrote 8 without checkpointed size, materialization id and id, 9
// without id, and 10 up to its size, with nothing to tell: where reading the
// standard layout fails, the other is tried, and believed if it consumes the
// file exactly (Legacy114).
//
// # Channel handles
//
//	V3-V5  i32 subtask, i32 a, i32 b, list of i64 offset, i64 size, stream handle
//	       (a, b: gate and channel, or result partition and subpartition). Flink
//	       1.11 had no subtask: Legacy111, tried as above
//	V6     u8 kind first. 1 input, 2 output: as before. 3, 4 merged input, output:
//	       i32 subtask, i64 size, stream handle, data: list of {i32 a, i32 b,
//	       i64 size, list of i64 offset}
package metadata
