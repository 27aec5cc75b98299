// Package connector reads what well-known connectors keep in their state. Names
// prove nothing alone: what is decoded depends on the name of the state and
// on whether every byte is accounted for. What is not known
// is given as versions and lengths, never guessed.
//
// All big-endian unless said otherwise; utf is Java's writeUTF; "versioned" is
// SimpleVersionedSerialization: i32 version, i32 length, bytes.
//
// FlinkKafkaConsumer, state topic-partition-offset-states (UNION), an element is
// a Tuple2 of KafkaTopicPartition (Kryo) and Long:
//
//	u8 0x57 (Kryo class id 85)   u8 1 (new object)
//	varint cached hash (zigzag)  varint partition (zigzag)
//	u8 1 (new object)            Kryo string topic
//	i64 offset: of the record that was READ LAST; sentinels below
//
// KafkaSource (KafkaPartitionSplitSerializer, KafkaSourceEnumStateSerializer):
//
//	split v0, in SourceReaderState:  utf topic, i32 partition, i64 starting
//	  offset (of the record to read NEXT), i64 stopping offset
//	enumerator v1:  i32 n x (utf topic, i32 partition), all assigned
//	enumerator v2:  i32 n x (utf topic, i32 partition, i32 status), bool discovery finished
//	enumerator v3:  i32 n, i32 split version, n x (i32 length, split, i32 status), bool
//
// Any source (SourceCoordinatorSerdeUtils, SourceOperator): coordinator state is
// i32 coordinator version, i32 enumerator version, i32 length, bytes; an element
// of SourceReaderState is a byte array (i32 length) with a versioned split.
//
// KafkaSink: writer_raw_states holds versioned KafkaWriterState in a byte array,
// v1 utf prefix; v2 utf prefix, i32 subtask, i32 of how many, i32 ownership,
// i32 n x (utf transactional id, i64 checkpoint). Its committable (v1) is i16
// epoch, i64 producer id, utf transactional id.
//
// Committers, streaming_committer_raw_states (CommittableCollectorSerializer),
// a versioned collector in a byte array: i32 magic 0xB91F252C, then v1: i32
// committable version, i32 n x (i32 length, committable); v2: a versioned list
// of checkpoints, each i64 checkpoint, a versioned list of subtasks, each a
// versioned list of requests and counters.
//
// FileSource: enumerator and split are described at fileCoordinator and
// fileSplit. FileSink and StreamingFileSink: buckets, in writer_raw_states and
// bucket-states, are versioned in a byte array: u32 magic 0x1E764B79, a versioned
// bucket id, utf path, i64 time of creation (Long.MAX_VALUE: no file is open),
// bool and, if set, a versioned file in progress; v1 and v2 have pending files
// behind it. Committables and compaction are described in filesink.go.
//
// MySQL CDC, enumerator v3 to v5 and splits v2 to v4: at cdcCoordinator and
// cdcReader.split.
//
// NumberSequenceSource: split v1 utf id, i64 from, i64 to.
package connector
