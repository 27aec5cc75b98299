package connector

import (
	"fmt"
	"math"

	"chkscope/decoder/serde"
)

// Partition is a Kafka partition and a position in it.
type Partition struct {
	Topic     string
	Partition int32
	// Offset as it is stored: of the record read last (LastRead) or to be read
	// next; HasOffset is false where none is stored.
	Offset    int64
	HasOffset bool
	LastRead  bool
	// Sentinel says what an offset means that is none, e.g. "committed offset of
	// the group"; "" for a real one.
	Sentinel string
}

// consumerSentinels are offsets of FlinkKafkaConsumer that mean something else
// (KafkaTopicPartitionStateSentinel).
var consumerSentinels = map[int64]string{
	-915623761776: "not set", -915623761775: "earliest", -915623761774: "latest", -915623761773: "committed offset of the group",
}

// sourceSentinels are starting offsets of KafkaPartitionSplit.
var sourceSentinels = map[int64]string{
	-1: "latest", -2: "earliest", -3: "committed offset of the group", math.MinInt64: "only after migration",
}

// consumerState is the name of FlinkKafkaConsumer's state.
const consumerState = "topic-partition-offset-states"

const (
	kryoTopicPartition = 0x57 // class id 85: KafkaTopicPartition is registered first
	kryoNew            = 1
)

// ParseKafkaConsumer reads one element of topic-partition-offset-states.
func ParseKafkaConsumer(data []byte) (Partition, error) { return parseKafkaConsumer(data, nil) }

// parseKafkaConsumer takes the topic from names where it is there.
func parseKafkaConsumer(data []byte, names *names) (Partition, error) {
	r := reader{buf: data, names: names}
	class := r.varint()
	mark := r.u8()
	if r.err == nil && (mark != kryoNew || class < 2) {
		return Partition{}, fmt.Errorf("%w: no KafkaTopicPartition object begins it", errLayout)
	}
	r.varint() // cached hash
	p := Partition{HasOffset: true, LastRead: true}
	p.Partition = zigzag(r.varint())
	if m := r.u8(); r.err == nil && m != kryoNew {
		return Partition{}, fmt.Errorf("%w: no topic", errLayout)
	}
	p.Topic = r.kryoString()
	p.Offset = r.i64()
	if p.Offset < 0 {
		p.Sentinel = consumerSentinels[p.Offset]
	}
	// -1: nothing was read of a partition that begins with record 0.
	if r.err == nil && (p.Partition < 0 || p.Offset < -1 && p.Sentinel == "") {
		return Partition{}, fmt.Errorf("%w: partition %d, offset %d", errLayout, p.Partition, p.Offset)
	}
	return p, r.err
}

func kafkaConsumer(data []byte) (Decoded, error) {
	var x Decoder
	err := x.kafkaConsumer(data)
	return x.last, err
}

// Decoder decodes many elements one after the other in the same memory, those of
// FlinkKafkaConsumer, of which there may be many millions: each is valid until the
// next call. It is not safe for concurrent use.
type Decoder struct {
	names names
	last  Decoded
	items [3]serde.Value
	kafka [1]Partition
}

// Element is the function Element.
func (x *Decoder) Element(p Place, data []byte) (d *Decoded, ok bool, err error) {
	if p.State == consumerState {
		return &x.last, true, x.kafkaConsumer(data)
	}
	x.last, ok, err = Element(p, data)
	return &x.last, ok, err
}

// consumerShape is what all positions have in common that are no sentinels.
var consumerShape = &serde.Shape{Names: []string{"topic", "partition", "last_read"}}

func (x *Decoder) kafkaConsumer(data []byte) error {
	p := &x.kafka[0]
	var err error
	if *p, err = parseKafkaConsumer(data, &x.names); err != nil {
		x.last = Decoded{}
		return err
	}
	if p.Sentinel != "" {
		x.last = Decoded{Connector: "FlinkKafkaConsumer", Version: -1, Value: p.value("last_read"), Kafka: x.kafka[:]}
		return nil
	}
	x.items[0].Form, x.items[0].Text, x.items[0].N = serde.Text, p.Topic, int64(len(p.Topic))
	x.items[1].Form, x.items[1].N = serde.Integer, int64(p.Partition)
	x.items[2].Form, x.items[2].N = serde.Integer, p.Offset
	if v := &x.last.Value; v.Shape != consumerShape {
		x.last = Decoded{Connector: "FlinkKafkaConsumer", Version: -1, Kafka: x.kafka[:],
			Value: serde.Value{Form: serde.Fields, Shape: consumerShape, Items: x.items[:], N: 3}}
	}
	return nil
}

func (p Partition) value(offset string) serde.Value {
	if p.Sentinel != "" {
		return fields("", "topic", p.Topic, "partition", p.Partition, offset, p.Offset, "means", p.Sentinel)
	}
	return fields("", "topic", p.Topic, "partition", p.Partition, offset, p.Offset)
}

// ParseKafkaSplit reads a KafkaPartitionSplit, version 0.
func ParseKafkaSplit(data []byte) (p Partition, stopping int64, err error) {
	r := reader{buf: data}
	p = Partition{Topic: r.utf(), Partition: r.i32(), Offset: r.i64(), HasOffset: true}
	stopping = r.i64()
	if err := r.done(); err != nil {
		return p, 0, err
	}
	if p.Sentinel = sourceSentinels[p.Offset]; p.Topic == "" || p.Partition < 0 || p.Offset < 0 && p.Sentinel == "" {
		return p, 0, fmt.Errorf("%w: no Kafka split", errLayout)
	}
	return p, stopping, nil
}

func kafkaSplitValue(p Partition, stopping int64) serde.Value {
	v := p.value("next")
	if stopping != math.MinInt64 {
		v.Shape.Names, v.Items = append(v.Shape.Names, "stopping"), append(v.Items, value(stopping))
		v.N = int64(len(v.Items))
	}
	return v
}

// nextTransactionalID is FlinkKafkaProducer.NextTransactionalIdHint.
func nextTransactionalID(data []byte) (Decoded, error) {
	r := reader{buf: data}
	next, parallelism := r.i64(), r.i32()
	return Decoded{Connector: "FlinkKafkaProducer", Version: -1,
		Value: fields("NextTransactionalIdHint", "next_free_transactional_id", next, "last_parallelism", parallelism)}, r.done()
}

// KafkaEnumerator is the enumerator state of a KafkaSource.
type KafkaEnumerator struct {
	Version    int32
	Partitions []EnumeratorPartition
	// DiscoveryFinished of version 2 and later.
	DiscoveryFinished bool
	splitVersion      int32
}

// EnumeratorPartition is a partition that the enumerator knows. Its offset, of
// version 3, is where reading began, not how far it has come.
type EnumeratorPartition struct {
	Partition
	Stopping int64 // version 3
	Status   int32 // 0 assigned, 1 unassigned
}

// ParseKafkaEnumerator reads the enumerator's bytes, versions 1 to 3.
func ParseKafkaEnumerator(version int32, data []byte) (*KafkaEnumerator, error) {
	r := &reader{buf: data}
	e := &KafkaEnumerator{Version: version}
	switch version {
	case 1, 2:
		for range r.count(6) {
			p := EnumeratorPartition{Partition: Partition{Topic: r.utf(), Partition: r.i32()}}
			if version == 2 {
				p.Status = r.i32()
			}
			e.Partitions = append(e.Partitions, p)
		}
	case 3:
		n := r.count(0)
		e.splitVersion = r.i32()
		for range min(n, r.left()/8) {
			split, stopping, err := ParseKafkaSplit(r.take(r.count(1)))
			if err != nil && r.err == nil {
				return nil, err
			}
			e.Partitions = append(e.Partitions, EnumeratorPartition{Partition: split, Stopping: stopping, Status: r.i32()})
		}
		if r.err == nil && len(e.Partitions) != n {
			return nil, fmt.Errorf("%w: %d splits cannot fit", errLayout, n)
		}
	default:
		return nil, fmt.Errorf("%w: version %d of the Kafka enumerator", errLayout, version)
	}
	if version > 1 {
		e.DiscoveryFinished = r.bool()
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	for _, p := range e.Partitions {
		if p.Topic == "" || p.Partition.Partition < 0 || p.Status < 0 || p.Status > 1 {
			return nil, fmt.Errorf("%w: no Kafka enumerator", errLayout)
		}
	}
	return e, nil
}

// Append writes the enumerator's bytes as they are read.
func (e *KafkaEnumerator) Append(b []byte) []byte {
	w := writer{b}
	w.i32(int32(len(e.Partitions)))
	if e.Version == 3 {
		w.i32(e.splitVersion)
	}
	for _, p := range e.Partitions {
		if e.Version == 3 {
			w.i32(int32(2 + len(p.Topic) + 20))
		}
		w.utf(p.Topic)
		w.i32(p.Partition.Partition)
		if e.Version == 3 {
			w.i64(p.Offset)
			w.i64(p.Stopping)
		}
		if e.Version > 1 {
			w.i32(p.Status)
		}
	}
	if e.Version > 1 {
		w.bool(e.DiscoveryFinished)
	}
	return w.b
}

func (e *KafkaEnumerator) value() serde.Value {
	list := make([]serde.Value, len(e.Partitions))
	for i, p := range e.Partitions {
		v := fields("", "topic", p.Topic, "partition", p.Partition.Partition)
		if e.Version > 1 {
			v.Shape.Names, v.Items = append(v.Shape.Names, "status"), append(v.Items, value([...]string{"assigned", "unassigned"}[p.Status]))
		}
		if e.Version == 3 {
			v.Shape.Names, v.Items = append(v.Shape.Names, "began_at"), append(v.Items, value(p.Offset))
		}
		list[i] = v
	}
	if e.Version == 1 {
		return fields("KafkaSourceEnumState", "partitions", list)
	}
	return fields("KafkaSourceEnumState", "partitions", list, "initial_discovery_finished", e.DiscoveryFinished)
}
