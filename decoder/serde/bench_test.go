package serde_test

import (
	"encoding/binary"
	"testing"

	"chkscope/decoder/serde"
)

const kafkaPartition = "org.apache.flink.streaming.connectors.kafka.internals.KafkaTopicPartition"

// kafkaType is the serializer of the elements of FlinkKafkaConsumer.
func kafkaType() *serde.Snapshot {
	kryo := snap(javaRT+"kryo.KryoSerializerSnapshot", 2).utf(kafkaPartition).sub(optional(kafkaPartition)).
		utf(kafkaPartition).raw(0).sub(frame(w().utf(kafkaPartition).i32(0))).sub(optional(), optional())
	return read(composite(javaRT+"TupleSerializerSnapshot", 1, w().utf("org.apache.flink.api.java.tuple.Tuple2"), kryo, longSnap()))
}

// read is the type of a snap.
func read(s *enc) *serde.Snapshot {
	r := serde.NewReader("test", s.b, 0)
	t := r.Snap()
	if r.Err() != nil || r.Left() != 0 {
		panic(r.Err())
	}
	return t
}

var kafkaElement = []byte("\x57\x01\x87\x99\x98\xff\x08\x02\x01order\xf3\x00\x00\x00\x00\x00\x00\x00\xbb")

// BenchmarkKafkaList decodes the elements of an old Kafka consumer's list.
func BenchmarkKafkaList(b *testing.B) {
	t := kafkaType()
	b.SetBytes(int64(len(kafkaElement)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := serde.Decode(t, kafkaElement); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkKafkaListReused does so in the same memory.
func BenchmarkKafkaListReused(b *testing.B) {
	t := kafkaType()
	d := serde.Decoder{Limits: serde.DefaultLimits}
	b.SetBytes(int64(len(kafkaElement)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := d.Decode(t, kafkaElement); err != nil {
			b.Fatal(err)
		}
	}
}

// orderType is a POJO with a nested one, as heap and canonical streams have it.
func orderType() *serde.Snapshot {
	field := func(name string, s *enc) *enc { return w().utf(name).raw(0).sub(frame(s)) }
	address := snap(javaRT+"PojoSerializerSnapshot", 2).utf("Address").
		sub(optional("street", "zip"), field("street", stringSnap()), field("zip", intSnap()), optional(), optional())
	return read(snap(javaRT+"PojoSerializerSnapshot", 2).utf("Order").sub(optional("a", "b", "c", "d"),
		field("address", address), field("amount", longSnap()), field("id", longSnap()), field("product", stringSnap()), optional(), optional()))
}

func intSnap() *enc { return snap(base+"IntSerializer$IntSerializerSnapshot", 3) }

func orders() []byte {
	one := w().raw(2, 0, 2, 0).raw(byte(len("a street of some length") + 1)).raw([]byte("a street of some length")...).raw(0).i32(12345).
		raw(0).i64(1).raw(0).i64(2).raw(0).raw(byte(len("product-12") + 1)).raw([]byte("product-12")...).b
	var all []byte
	for range 10_000 {
		all = binary.BigEndian.AppendUint64(append(all, 0), 7) // namespace, key
		all = append(all, one...)
	}
	return all
}

// BenchmarkSkipEntries walks entries as a heap stream has them: namespace, key
// and value.
func BenchmarkSkipEntries(b *testing.B) {
	void := read(snap("org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot", 3))
	types := []*serde.Snapshot{void, read(longSnap()), orderType()}
	all := orders()
	b.SetBytes(int64(len(all)))
	b.ReportAllocs()
	for b.Loop() {
		for p, i := all, 0; len(p) > 0; i++ {
			n, err := serde.Skip(types[i%3], p)
			if err != nil {
				b.Fatal(err)
			}
			p = p[n:]
		}
	}
}

// BenchmarkDecodePojo decodes the values of such entries.
func BenchmarkDecodePojo(b *testing.B) {
	t := orderType()
	one := orders()[9:]
	b.SetBytes(78)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := serde.Decode(t, one); err != nil {
			b.Fatal(err)
		}
	}
}
