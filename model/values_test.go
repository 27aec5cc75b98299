package model

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder"
	"chkscope/decoder/connector"
	"chkscope/decoder/metadata"
	"chkscope/decoder/opstate"
	"chkscope/decoder/serde"
	"chkscope/storage"
)

// TestElementValues decodes the entries of every operator state of the real
// files, as a whole, page by page and in groups: all give the same.
func TestElementValues(t *testing.T) {
	ctx := context.Background()
	st := storage.New(storage.Options{})
	cells, entries, opaque := 0, 0, 0
	for _, dir := range allMetadata(t) {
		s, tree, err := Open(ctx, st, dir, Options{})
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		for op := range s.Meta.Operators {
			for _, n := range tree.Children(nil, tree.OperatorNode(op), TurnState) {
				if tree.Kind(n) != KindOperator {
					continue
				}
				for _, cell := range tree.Children(nil, n, TurnState) {
					k, o := checkValues(t, s, tree, cell, dir)
					cells, entries, opaque = cells+1, entries+k, opaque+o
				}
			}
		}
		s.Close()
	}
	t.Logf("%d entries of %d cells, %d not decoded", entries, cells, opaque)
	if opaque != 0 || len(allMetadata(t)) > 100 && entries < 20000 {
		t.Error("fewer than there were")
	}
}

func checkValues(t *testing.T, s *Snapshot, tree *Tree, cell Node, dir string) (entries, opaque int) {
	ctx := context.Background()
	what := dir + ": " + tree.Name(cell)
	var all []ElementValue
	n, err := s.EachValue(ctx, tree, cell, 0, math.MaxInt64, PageLimits, func(v ElementValue) error {
		v.Key, v.Value = keep(v.Key), keep(v.Value)
		// What a connector wrote may hold parts whose layout only it knows.
		if all = append(all, v); v.Err != nil || !v.Value.Decoded() && v.Connector == "" || v.Dead != 0 {
			opaque++
		}
		return nil
	})
	switch {
	case err != nil && strings.Contains(err.Error(), "it does not exist"):
		return 0, 0 // shared files of some snapshots are not in the corpus
	case err != nil || n != int64(len(all)):
		t.Errorf("%s: %d of %d entries, %v", what, len(all), n, err)
		return 0, 0
	}
	groups, err := s.GroupValues(ctx, tree, cell, 10, PageLimits)
	if err != nil || groups.Entries != n || n > 0 && len(groups.Groups) == 0 {
		t.Errorf("%s: %d of %d entries in groups, %v", what, groups.Entries, n, err)
	}
	const page = 7
	for from := 0; from < min(len(all), 5*page); from += page {
		list, err := s.ElementValues(ctx, tree, cell, int64(from), page, PageLimits)
		if err != nil || len(list) != min(page, len(all)-from) {
			t.Errorf("%s: page of %d at %d of %d, %v", what, len(list), from, n, err)
			continue
		}
		for i, v := range list {
			w := all[from+i]
			if v.Index != w.Index || v.Off != w.Off || v.Len != w.Len || v.Value.String() != w.Value.String() || v.Key.String() != w.Key.String() {
				t.Errorf("%s: entry %d on a page: %+v, not %+v", what, from+i, v, w)
			}
		}
	}
	return len(all), opaque
}

// keep is v in memory of its own.
func keep(v serde.Value) serde.Value {
	v.Text = strings.Clone(v.Text)
	v.Items = slices.Clone(v.Items)
	for i := range v.Items {
		v.Items[i] = keep(v.Items[i])
	}
	return v
}

// TestGroupValues counts the elements of the incident's union list.
func TestGroupValues(t *testing.T) {
	ctx := context.Background()
	s, tree, err := Open(ctx, storage.New(storage.Options{}), filepath.Join(corpus.Dir(t), "incident/consumer-to-source-1.15-p4/gen-3/checkpoint"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for op := range s.Meta.Operators {
		for _, n := range tree.Children(nil, tree.OperatorNode(op), TurnState) {
			if tree.Name(n) != "topic-partition-offset-states" {
				continue
			}
			g, err := s.GroupValues(ctx, tree, n, 3, PageLimits)
			if err != nil || g.Entries != 768 || g.Distinct != 12 || g.More || len(g.Groups) != 3 || g.Groups[0].Count != 64 {
				t.Fatalf("%+v, %v", g, err)
			}
			if v := g.Groups[0].First.Value; v.Field("topic").Text != "orders" || !strings.HasPrefix(ValueText(v), `{topic="orders", partition=`) || g.Groups[0].First.Connector != "FlinkKafkaConsumer" {
				t.Errorf("%s", v)
			}
			key, value, err := s.StateTypes(ctx, tree, n)
			if err != nil || key != nil || value.Kind != serde.Tuple {
				t.Error(key, value, err)
			}
			return
		}
	}
	t.Error("the state is not there")
}

// kafkaList is a stream of n elements of an old Kafka consumer, of 12 different
// ones, that takes no memory.
type kafkaList struct {
	header []byte
	n      int64
}

const kafkaLen = 23

func (k kafkaList) Size() int64  { return int64(len(k.header)) + k.n*kafkaLen }
func (k kafkaList) Name() string { return "list" }

func (k kafkaList) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) && off < k.Size() {
		from, at := k.header, off
		if off >= int64(len(k.header)) {
			i := (off - int64(len(k.header))) / kafkaLen
			from = []byte("\x57\x01\x87\x99\x98\xff\x08\x02\x01order\xf3\x00\x00\x00\x00\x00\x00\x00\xbb")
			from[7] = byte(2 * (i % 12))
			at = (off - int64(len(k.header))) % kafkaLen
		}
		m := copy(p[done:], from[at:])
		done, off = done+m, off+int64(m)
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// steps is the offsets of such a list.
type steps struct{ first, n int64 }

func (s steps) Size() int64  { return 8 * s.n }
func (s steps) Name() string { return "offsets" }

func (s steps) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for i := off / 8; i < s.n && n+8 <= len(p); i++ {
		binary.BigEndian.PutUint64(p[n:], uint64(s.first+i*kafkaLen))
		n += 8
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func bigKafkaList(b *testing.B, n int64) valueStream {
	utf := func(s string) []byte {
		return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...)
	}
	join := func(parts ...[]byte) []byte {
		var all []byte
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	i32 := func(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }
	none := []byte{0, 0, 4, 0xF2, 0xC6, 0x9A, 0x3D, 0x70, 0, 0, 0, 0}
	partition := utf("org.apache.flink.streaming.connectors.kafka.internals.KafkaTopicPartition")
	kryo := join(utf("org.apache.flink.api.java.typeutils.runtime.kryo.KryoSerializerSnapshot"), i32(2), partition,
		[]byte{0, 0, 4, 0xF2, 0xC6, 0x9A, 0x3D, 0x70, 0, 0, 0, 1}, partition, []byte{0, 1}, i32(uint32(len(partition)+4)), partition, i32(0), none, none)
	long := join(utf("org.apache.flink.api.common.typeutils.base.LongSerializer$LongSerializerSnapshot"), i32(3))
	tuple := join(i32(2), utf("org.apache.flink.api.java.typeutils.runtime.TupleSerializerSnapshot"), i32(3), i32(0x000DE704), i32(2),
		utf("org.apache.flink.api.java.tuple.Tuple2"), i32(0x001457FD), i32(1), i32(2), kryo, long)
	header := join(i32(5), []byte{0, 1}, utf("x"), i32(1), i32(0), i32(1), utf(serde.ValueSerializer), tuple, []byte{0, 0})
	list := kafkaList{header, n}
	st, err := opstate.Open(list, steps{int64(len(header)), n}, []metadata.OperatorState{{Name: "x", Mode: metadata.ModeUnion, Offsets: metadata.Offsets{Span: decoder.Span{Len: 8 * n}}}})
	if err != nil || st.Header.End != int64(len(header)) {
		b.Fatal(err)
	}
	return valueStream{Stream: st, value: st.Header.State("x").Serializer(serde.ValueSerializer)}
}

// BenchmarkGroupKafkaList counts and decodes the different elements of an old
// Kafka consumer's list of 5 million.
func BenchmarkGroupKafkaList(b *testing.B) {
	const n = 5_000_000
	v := bigKafkaList(b, n)
	for b.Loop() {
		g := grouper{seen: map[string]*group{}}
		if _, err := v.each(context.Background(), 0, math.MaxInt64, func(raw rawValue) error { g.add(0, v, raw); return nil }); err != nil {
			b.Fatal(err)
		}
		if r := g.result(20, PageLimits); r.Entries != n || len(r.Groups) != 12 || !r.Groups[0].First.Value.Decoded() {
			b.Fatal(r)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "elements/s")
}

// BenchmarkDecodeKafkaList decodes each of them, by its serializer and as what
// its connector wrote.
func BenchmarkDecodeKafkaList(b *testing.B) {
	b.Run("serializer", func(b *testing.B) { decodeKafkaList(b, connector.Place{}, 1) })
	b.Run("connector", func(b *testing.B) {
		decodeKafkaList(b, connector.Place{State: "topic-partition-offset-states"}, 2)
	})
}

// decodeKafkaList decodes a list in a place; the offset is part at of a value.
func decodeKafkaList(b *testing.B, place connector.Place, at int) {
	const n = 1_000_000
	v := bigKafkaList(b, n)
	v.place = place
	d := newDecoders(PageLimits)
	for b.Loop() {
		sum := int64(0)
		_, err := v.each(context.Background(), 0, math.MaxInt64, func(raw rawValue) error {
			sum += v.decode(raw, d).Value.Items[at].N
			return nil
		})
		if err != nil || sum != 187*n {
			b.Fatal(sum, err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "elements/s")
}
