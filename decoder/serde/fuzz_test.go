package serde_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder/serde"
)

// FuzzDecode reads a type from the first bytes and a value of it from the second.
func FuzzDecode(f *testing.F) {
	add := func(t *enc, value ...byte) { f.Add(t.b, value) }
	add(composite(base+"MapSerializerSnapshot", 1, w(), longSnap(), stringSnap()), w().i32(1).i64(5).raw(0, 2, 'a').b...)
	add(composite(base+"ListSerializerSnapshot", 2, w().raw(1), longSnap()), w().i32(2).raw(0x80).i64(7).b...)
	add(avroSnap(avroSchema), avroValue()...)
	add(composite(javaRT+"TupleSerializerSnapshot", 1, w().utf("T"), kryoSnap("java.util.List"), longSnap()),
		append([]byte("\x01\x00java.util.ArrayLis\xf4\x01\x02\x03\x01t\xb0\x03\x01\x82\xc3\xbc"), 0, 0, 0, 0, 0, 0, 0, 1)...)
	dirs, _ := filepath.Glob(filepath.Join(corpus.Find(f), "serializer-snapshots", "*-1.14"))
	for _, d := range dirs {
		s, err1 := os.ReadFile(filepath.Join(d, "serializer-snapshot"))
		v, err2 := os.ReadFile(filepath.Join(d, "test-data"))
		if err1 == nil && err2 == nil && len(s) > 4 {
			f.Add(s[4:], v)
		}
	}
	add(snap(base+"VariantSerializer$VariantSerializerSnapshot", 3), hexBytes(variantOfFlink)...)
	f.Fuzz(func(t *testing.T, s, value []byte) {
		r := serde.NewReader("fuzz", s, 0)
		if typ := r.Snap(); r.Err() == nil {
			checkValue(t, typ, value)
			serde.Describe(typ)
			if c := serde.Compare(typ, typ); c.Result == serde.Incompatible {
				t.Errorf("a type against itself: %+v", c)
			}
		}
	})
}

// FuzzValues reads values of hand-made types.
func FuzzValues(f *testing.F) {
	tuple := func(kids ...*enc) *enc { return composite(javaRT+"TupleSerializerSnapshot", 1, w().utf("T"), kids...) }
	list := func(kid *enc) *enc { return composite(base+"ListSerializerSnapshot", 1, w(), kid) }
	state := "org.apache.flink.streaming.api.functions.sink.TwoPhaseCommitSinkFunction$StateSerializerSnapshot"
	kafka := "org.apache.flink.streaming.connectors.kafka.FlinkKafkaProducer$"
	types := []*serde.Snapshot{kafkaType(), orderType(), read(avroSnap(avroSchema)), read(rowType()), read(kryoSnap("java.util.List")), kryo5(),
		read(snap("org.apache.flink.runtime.state.JavaSerializer$JavaSerializerSnapshot", 3)),
		read(tuple(list(tuple(stringSnap(), kryoSnap("com.acme.X"))), longSnap())), read(list(avroSnap(avroSchema))),
		read(composite(state, 3, w(), snap(kafka+"TransactionStateSerializer$TransactionStateSerializerSnapshot", 3), snap(kafka+"ContextStateSerializer$ContextStateSerializerSnapshot", 3))),
		read(composite(base+"MapSerializerSnapshot", 1, w(), stringSnap(), composite("org.apache.flink.runtime.state.ttl.TtlStateFactory$TtlSerializerSnapshot", 1, w(), longSnap(), list(rowType())))),
	}
	for i, value := range [][]byte{kafkaElement, orders()[9:87], avroValue(), rowValue(), []byte(kryoTwice), []byte("\x01\x00java.util.ArrayLis\xf4\x01\x83\x03\x00\x01t\xb0\x01t\xb1"),
		javaString("a text").b, append(make([]byte, 11), 7), append([]byte{0, 0, 0, 1}, avroValue()...), make([]byte, 40), w().i32(1).raw(2, 'k', 0).i64(5).i32(1).raw(rowValue()...).b} {
		f.Add(byte(i), value)
	}
	f.Fuzz(func(t *testing.T, i byte, value []byte) { checkValue(t, types[int(i)%len(types)], value) })
}

// checkValue decodes a value: what can be decoded has one end for all functions
// and is valid JSON.
func checkValue(t *testing.T, typ *serde.Snapshot, value []byte) {
	v, n, err := serde.DecodeWithin(typ, value, serde.Limits{Values: 2000, Bytes: 4096})
	if !json.Valid(v.AppendJSON(nil)) {
		t.Errorf("JSON %s", v.AppendJSON(nil))
	}
	_, _ = v.String(), v.Any()
	m, skipErr := serde.Skip(typ, value)
	if err == nil && (n > len(value) || skipErr != nil || m != n) {
		t.Errorf("decoded %d bytes, skipped %d, %v", n, m, skipErr)
	}
	if w := serde.Width(typ); w >= 0 && err == nil && w != n {
		t.Errorf("%d bytes, width %d", n, w)
	}
	if all, left, err := serde.DecodeAll(typ, value, serde.DefaultLimits); err == nil && left > len(value) {
		t.Errorf("%v: %d bytes left of %d", all, left, len(value))
	}
	x := serde.Decoder{Limits: serde.Limits{Values: 2000, Bytes: 4096}}
	if w, k, againErr := x.Decode(typ, value); k != n || (againErr == nil) != (err == nil) || w.String() != v.String() {
		t.Errorf("in the same memory %s", w)
	}
	serde.Unreadable(typ)
}
