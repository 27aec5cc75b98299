package serde_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"chkscope/decoder/serde"
)

func avroSnap(schema string) *enc {
	return snap("org.apache.flink.formats.avro.typeutils.AvroSerializerSnapshot", 1).utf(schema)
}

const avroSchema = `{"type":"record","name":"Click","namespace":"org.acme","fields":[
	{"name":"id","type":"long"},{"name":"page","type":["null","string"]},{"name":"kind","type":{"type":"enum","name":"Kind","symbols":["A","B"]}},
	{"name":"hash","type":{"type":"fixed","name":"Hash","size":2}},{"name":"tags","type":{"type":"array","items":"string"}},
	{"name":"attrs","type":{"type":"map","values":"int"}},{"name":"next","type":["null","Click"]},
	{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"day","type":{"type":"int","logicalType":"date"}},
	{"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},{"name":"ok","type":"boolean"},
	{"name":"f","type":"float"},{"name":"d","type":"double"}]}`

func avroValue() []byte {
	return w().i64(7).i32(1, 2).raw('/', 'p').i32(1).raw(0xca, 0xfe).
		raw(2).i32(1).raw('x').i32(1).raw('y').raw(0).
		raw(1).i32(1).raw('k').i32(9).raw(0).
		i32(0).i64(1500).i32(1).i32(2).raw(0xff, 0x38).raw(1).
		i32(int(math.Float32bits(1.5))).i64(int64(math.Float64bits(-2))).b
}

func kryoSnap(class string) *enc {
	return snap(javaRT+"kryo.KryoSerializerSnapshot", 2).utf(class).
		sub(optional(class), w().utf(class).raw(0), frame(w().utf(class).i32(0)), optional(), optional())
}

// kryoTwice is a list of a string, the same again and a number.
const kryoTwice = "\x01\x00java.util.ArrayLis\xf4\x01\x03\x03\x01t\xb0\x03\x03\x02\x06"

// kryo5 is a Kryo snapshot of Flink 2.x.
func kryo5() *serde.Snapshot {
	t := read(kryoSnap("java.util.List"))
	serde.AssumeKryo5(t)
	return t
}

const multiSet = "org.apache.flink.table.runtime.sequencedmultisetstate.linked."

func nullable() *enc {
	return composite(javaRT+"NullableSerializer$NullableSerializerSnapshot", 1, w().i32(0), longSnap())
}

// variantOfFlink was written by the VariantSerializer of Flink 2.3.0, from an
// object that has a field of every type.
const variantOfFlink = "000000d400000036020d06040c0a050900070b01080302866fb09e8199008fa70598695eb71407000000405400000061206e616d652074686174206973206c6f6e676572" +
	"207468616e2073697874792d74687265652062797465732c20736f20746861742069742069732061206c6f6e6720737472696e67206f6620697473206f776e03030002040505780cff0020" +
	"021efbffff2803cb444271764eb6429d020000000000002c464d00003045420f000000000034455b170b8e12060004380000c03f1c00000000000000c01800000000000100003c02000000" +
	"cafe010d0002060a0f1215171c1e1f20212669646e616d6574616773707269636562696764617961746c6f63616c6f6b66646e6279746573"

func hexBytes(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func table(class string) string { return "org.apache.flink.table.runtime.typeutils." + class }

// TestValues decodes values by hand-made types.
func TestValues(t *testing.T) {
	long, str := longSnap, stringSnap
	again := serde.Decoder{Limits: serde.DefaultLimits}
	one := func(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
	dates := func(class string) *enc { return snap(base+class+"Serializer$"+class+"SerializerSnapshot", 3) }
	for _, c := range []struct {
		name  string
		typ   *enc
		value []byte
		text  string
		json  string
	}{
		{"surrogate pair", str(), []byte{3, 0xbd, 0xb0, 3, 0x80, 0xbc, 3}, "😀", `"😀"`},
		{"lone surrogate", str(), []byte{2, 0xbd, 0xb0, 3}, "\xed\xa0\xbd", `"\ud83d"`},
		{"null string", str(), []byte{0}, "null", "null"},
		{"negative big number", dates("BigInt"), w().i32(6).raw(0xff, 0x7f).b, "-129", "-129"},
		{"small decimal", dates("BigDec"), w().i32(5).raw(0xfb).i32(3).b, "-0.005", "-0.005"},
		{"large decimal", dates("BigDec"), w().i32(5).raw(7).i32(-3).b, "7E3", "7E3"},
		{"no date", dates("Date"), one(math.MinInt64), "null", "null"},
		{"date before 1970", dates("Date"), one(-1), "1969-12-31T23:59:59.999Z", `"1969-12-31T23:59:59.999Z"`},
		{"date at the end of time", dates("Date"), one(math.MaxInt64), "292278994-08-17T07:12:55.807Z", `"292278994-08-17T07:12:55.807Z"`},
		{"timestamp", dates("SqlTimestamp"), w().i64(1001).i32(1_000_001).b, "1970-01-01T00:00:01.001000001Z", `"1970-01-01T00:00:01.001000001Z"`},
		{"instant", dates("Instant"), w().i64(1).i32(5000).b, "1970-01-01T00:00:01.000005Z", `"1970-01-01T00:00:01.000005Z"`},
		{"no instant", dates("Instant"), w().i64(1).i32(math.MinInt32).b, "null", "null"},
		{"local date and time", dates("LocalDateTime"), w().i32(2024).raw(2, 29, 23, 59, 1).i32(0).b, "2024-02-29T23:59:01", `"2024-02-29T23:59:01"`},
		{"no local date", dates("LocalDate"), w().i32(math.MinInt32).raw(0, 0).b, "null", "null"},
		{"UUID", dates("Uuid"), w().i64(0x123456789abcdef0).i64(-1).b, "12345678-9abc-def0-ffff-ffffffffffff", `"12345678-9abc-def0-ffff-ffffffffffff"`},
		{"null in a list", composite(base+"ListSerializerSnapshot", 2, w().raw(1), long()), w().i32(2).raw(0x40).i64(3).b, "[3, null]", "[3,null]"},
		{"set", composite(base+"SetSerializerSnapshot", 1, w(), long()), w().i32(2).raw(1, 0).i64(3).b, "[null, 3]", "[null,3]"},
		{"map of numbers", composite(base+"MapSerializerSnapshot", 1, w(), long(), str()), w().i32(2).i64(1).raw(1).i64(2).raw(0, 2, 'a').b, `{1=null, 2="a"}`, `{"1":null,"2":"a"}`},
		{"map of records", composite(base+"MapSerializerSnapshot", 1, w(), composite(javaRT+"TupleSerializerSnapshot", 1, w().utf("T"), long()), str()),
			w().i32(1).i64(1).raw(0, 1).b, `{(1)=""}`, `[{"key":{"f0":1},"value":""}]`},
		{"Scala tuple", composite("org.apache.flink.api.scala.typeutils.Tuple2CaseClassSerializerSnapshot", 1, w().utf("scala.Tuple2"), long(), long()),
			w().i64(1).i64(2).b, "(1, 2)", `{"_1":1,"_2":2}`},
		{"row with kind", composite(javaRT+"RowSerializer$RowSerializerSnapshot", 4, w().raw(1), long(), str()), w().raw(0b10100000, 2, 'x').b, `-U(null, "x")`, `{"@kind":"-U","f0":null,"f1":"x"}`},
		{"row without kind", composite(javaRT+"RowSerializer$RowSerializerSnapshot", 4, w().raw(0), long(), str()), w().raw(0).i64(9).raw(1).b, `(9, "")`, `{"f0":9,"f1":""}`},
		{"null with padding", composite(javaRT+"NullableSerializer$NullableSerializerSnapshot", 1, w().i32(8), long()), w().raw(1).i64(0).b, "null", "null"},
		{"timer", composite("org.apache.flink.streaming.api.operators.TimerSerializerSnapshot", 1, w(), long(), str()), w().i64(math.MinInt64+5).i64(1).raw(2, 'n').b,
			`1970-01-01T00:00:00.005Z key 1 namespace "n"`, `{"time":5,"key":1,"namespace":"n"}`},
		{"Scala enumeration", snap("org.apache.flink.api.scala.typeutils.ScalaEnumSerializerSnapshot", 2).utf("E").i32(1).utf("A").i32(7), w().i32(7).b, "A", `"A"`},
		{"unknown constant", snap(base+"EnumSerializer$EnumSerializerSnapshot", 3).utf("E").i32(1).utf("A"), w().i32(1).b,
			"0x00000001 (constant 1 is not in the snapshot)", `{"hex":"00000001","why":"constant 1 is not in the snapshot"}`},
		{"Scala enumeration of Flink 2", snap("org.apache.flink.table.api.typeutils.ScalaEnumSerializerSnapshot", 3).utf("E").i32(1).utf("A").i32(7), w().i32(7).b, "A", `"A"`},
		{"Scala case class of Flink 2", composite("org.apache.flink.table.api.typeutils.ScalaCaseClassSerializerSnapshot", 2, w().utf("P"), long(), str()), w().i64(1).raw(2, 'x').b, `(1, "x")`, `{"f0":1,"f1":"x"}`},
		{"sorted long", snap("org.apache.flink.table.runtime.operators.sink.SortedLongSerializer$SortedLongSerializerSnapshot", 3), one(math.MinInt64 + 9), "9", "9"},
		{"global window of SQL", snap("org.apache.flink.table.runtime.operators.window.GlobalWindow$Serializer$GlobalWindowSerializerSnapshot", 3), []byte{0}, "null", "null"},
		{"node of a sequenced multiset", composite(multiSet+"NodeSerializer$NodeSerializerSnapshot", 0, w(), rowType(), long(), nullable(), nullable(), nullable(), long()),
			append(rowValue(), w().i64(1).raw(1, 0).i64(3).raw(1).i64(5).b...), `{row=+U(5, "a string", null, 12345678901234567890.5, "inline"), sqn=1, prevSqn=null, nextSqn=3, nextSqnForRecord=null, timestamp=5}`,
			`{"row":{"@kind":"+U","f0":5,"f1":"a string","f2":null,"f3":12345678901234567890.5,"f4":"inline"},"sqn":1,"prevSqn":null,"nextSqn":3,"nextSqnForRecord":null,"timestamp":5}`},
		{"key of a sequenced multiset", snap(multiSet+"RowDataKeySerializerSnapshot", 0).i32(2).raw(9, 9).i32(1).raw(9).sub(long()), one(7), "7", "7"},
		{"behind a check of threads", composite("org.apache.flink.api.common.typeutils.SingleThreadAccessCheckingTypeSerializer$SingleThreadAccessCheckingTypeSerializerSnapshot", 1, w(), long()), one(7), "7", "7"},
		{"Variant", dates("Variant"), hexBytes(variantOfFlink),
			`{at=1970-01-01T00:00:01.000005Z, big=12345678901234567890.123, bytes=0xcafe, d=-2.0, day=2024-02-29, f=1.5, id=7, local=2024-02-29T23:59:01.000005, n=1099511627776, name="a name that is longer than sixty-three bytes, so that it is a long string of its own", ok=true, price=-12.50, tags=["x", -1, null]}`,
			`{"at":"1970-01-01T00:00:01.000005Z","big":12345678901234567890.123,"bytes":{"hex":"cafe"},"d":-2.0,"day":"2024-02-29","f":1.5,"id":7,"local":"2024-02-29T23:59:01.000005","n":1099511627776,"name":"a name that is longer than sixty-three bytes, so that it is a long string of its own","ok":true,"price":-12.50,"tags":["x",-1,null]}`},
		{"short in a Variant", dates("Variant"), hexBytes("000000030000000310d4fe010000"), "-300", "-300"},
		{"null in a Variant", dates("Variant"), hexBytes("000000010000000300010000"), "null", "null"},
		{"damaged Variant", dates("Variant"), hexBytes("000000010000000302010000"), "0x02010000 (a damaged Variant: more fields than there can be)", `{"hex":"02010000","why":"a damaged Variant: more fields than there can be"}`},
		{"Avro", avroSnap(avroSchema), avroValue(),
			`{id=7, page="/p", kind=B, hash=0xcafe, tags=["x", "y"], attrs={"k"=9}, next=null, at=1970-01-01T00:00:01.500Z, day=1970-01-02, price=-2.00, ok=true, f=1.5, d=-2.0}`,
			`{"id":7,"page":"/p","kind":"B","hash":{"hex":"cafe"},"tags":["x","y"],"attrs":{"k":9},"next":null,"at":"1970-01-01T00:00:01.500Z","day":"1970-01-02","price":-2.00,"ok":true,"f":1.5,"d":-2.0}`},
		{"Kryo list with a string again", kryoSnap("java.util.List"), []byte(kryoTwice), `["t0", "t0", 3]`, `["t0","t0",3]`},
		{"short decimal", snap(table("DecimalDataSerializer$DecimalSerializerSnapshot"), 3).i32(5, 2), one(-1), "-0.01", "-0.01"},
		{"long decimal", snap(table("DecimalDataSerializer$DecimalSerializerSnapshot"), 3).i32(30, 1), w().i32(2).raw(1, 0).b, "25.6", "25.6"},
		{"SQL timestamp", snap(table("TimestampDataSerializer$TimestampDataSerializerSnapshot"), 1).i32(6), w().i64(1).i32(2000).b, "1970-01-01T00:00:00.001002", `"1970-01-01T00:00:00.001002"`},
		{"row of a SQL job", rowType(), rowValue(), `+U(5, "a string", null, 12345678901234567890.5, "inline")`, `{"@kind":"+U","f0":5,"f1":"a string","f2":null,"f3":12345678901234567890.5,"f4":"inline"}`},
	} {
		typ := read(c.typ)
		v, n, err := serde.Decode(typ, append(c.value[:len(c.value):len(c.value)], 0xff, 0xff))
		if err != nil || n != len(c.value) {
			t.Errorf("%s: %d of %d bytes, %v", c.name, n, len(c.value), err)
			continue
		}
		if v.String() != c.text || string(v.AppendJSON(nil)) != c.json {
			t.Errorf("%s: %s\n%s", c.name, v, v.AppendJSON(nil))
		}
		checkEnds(t, c.name, typ, c.value)
		if w, n, err := again.Decode(typ, c.value); err != nil || n != len(c.value) || w.String() != c.text {
			t.Errorf("%s: in the same memory: %s, %v", c.name, w, err)
		}
	}
}

// rowType is a RowData of five columns; their logical types cannot be read, so
// that the nested serializers count.
func rowType() *enc {
	decimal := snap(table("DecimalDataSerializer$DecimalSerializerSnapshot"), 3).i32(30, 1)
	text := snap(table("StringDataSerializer$StringDataSerializerSnapshot"), 3)
	s := snap(table("RowDataSerializer$RowDataSerializerSnapshot"), 3).i32(5)
	for range 5 {
		s.sub(javaString("x"))
	}
	return s.sub(delegate(intSnap(), text, longSnap(), decimal, text))
}

func rowValue() []byte {
	row := make([]byte, 8+5*8)
	row[0], row[1] = 2, 1<<2 // +U, field 2 is null
	le := binary.LittleEndian
	le.PutUint32(row[8:], 5)
	le.PutUint64(row[16:], 48<<32|8)
	le.PutUint64(row[32:], 56<<32|9)
	copy(row[40:], "inline\x00\x86")
	row = append(row, "a string"...)
	big := append([]byte{0}, binary.BigEndian.AppendUint64(nil, 12776324570088369209)...)
	big[0] = byte(6)
	row = append(append(row, big...), make([]byte, 7)...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(row))), row...)
}

// TestCut decodes long values within limits: the full length is told and the end
// is right.
func TestCut(t *testing.T) {
	l := serde.Limits{Values: 3, Bytes: 4}
	list := w().i32(100)
	for i := range 100 {
		list.i64(int64(i))
	}
	texts := w().i32(3).raw(7, 's', 't', 'r', 'i', 'n', 'g').raw(3, 0xfc, 1, 0xfc, 1).raw(2, 'x')
	for _, c := range []struct {
		name  string
		typ   *enc
		value []byte
		json  string
	}{
		{"list", composite(base+"ListSerializerSnapshot", 1, w(), longSnap()), list.b, `{"cut":[0,1],"length":100}`},
		{"string", stringSnap(), append([]byte{7}, "string"...), `{"cut":"stri","length":6}`},
		{"string of umlauts", stringSnap(), []byte{4, 0xfc, 1, 0xfc, 1, 0xfc, 1}, `{"cut":"üü","length":6}`},
		{"bytes", snap(base+"array.BytePrimitiveArraySerializer$BytePrimitiveArraySerializerSnapshot", 3), w().i32(6).raw(1, 2, 3, 4, 5, 6).b, `{"hex":"01020304","length":6}`},
		{"strings", composite(base+"ListSerializerSnapshot", 1, w(), stringSnap()), texts.b, `{"cut":[{"cut":"stri","length":6}],"length":3}`},
	} {
		v, n, err := serde.DecodeWithin(read(c.typ), c.value, l)
		if err != nil || n != len(c.value) || string(v.AppendJSON(nil)) != c.json {
			t.Errorf("%s: %d of %d bytes, %v\n%s", c.name, n, len(c.value), err, v.AppendJSON(nil))
		}
	}
}

// TestOpaque gives what can be told of values that cannot be read.
func TestOpaque(t *testing.T) {
	kafka := w().raw(kafkaElement...)
	unknown := snap("com.acme.SomeSnapshot", 3)
	tuple := func(kids ...*enc) *enc { return composite(javaRT+"TupleSerializerSnapshot", 1, w().utf("T"), kids...) }
	pojo := kryoSnap("com.acme.Pojo")
	value := append([]byte("\x57\x01\x02pro\xe4\x05"), 0, 0, 0, 0, 0, 0, 0, 9)
	v, left, err := serde.DecodeAll(read(tuple(pojo, longSnap())), value, serde.DefaultLimits)
	if err != nil || left != 0 || v.Items[1].N != 9 || v.Items[0].Form != serde.Opaque || !strings.Contains(v.Items[0].Why, "com.acme.Pojo") || v.Items[0].Text != "\x02pro\xe4\x05" {
		t.Errorf("%s, %v", v, err)
	}
	v, _, err = serde.Decode(read(tuple(longSnap(), pojo)), append(make([]byte, 8), value...))
	if !errors.Is(err, serde.ErrOpaque) || v.Items[0].Form != serde.Integer || v.Items[1].Form != serde.Opaque || v.Decoded() {
		t.Errorf("%s, %v", v, err)
	}
	if _, err := serde.Skip(read(tuple(longSnap(), pojo)), append(make([]byte, 8), value...)); !errors.Is(err, serde.ErrOpaque) {
		t.Errorf("skipped: %v", err)
	}
	if v, n, err := serde.Decode(kafkaType(), kafka.b); err != nil || n != len(kafka.b) || v.Items[0].Field("topic").Text != "orders" || v.Items[0].Field("partition").N != 1 || v.Items[1].N != 187 {
		t.Errorf("%s, %d bytes, %v", v, n, err)
	}
	r := serde.NewReader("test", unknown.b, 0)
	if v, n, err := serde.Decode(r.Snap(), []byte{1, 2}); !errors.Is(err, serde.ErrOpaque) || n != 0 || v.Text != "\x01\x02" {
		t.Errorf("%s, %d bytes, %v", v, n, err)
	}
	if _, _, err := serde.Decode(nil, []byte{1}); !errors.Is(err, serde.ErrOpaque) {
		t.Error(err)
	}
}

// TestHostileTypes refuses types and values that would take forever.
func TestHostileTypes(t *testing.T) {
	loop := &serde.Snapshot{Kind: serde.Tuple}
	loop.Nested = []*serde.Snapshot{loop, loop}
	wide := &serde.Snapshot{Kind: serde.Tuple, Nested: make([]*serde.Snapshot, 1_000_000)}
	for i := range wide.Nested {
		wide.Nested[i] = &serde.Snapshot{Kind: serde.NullValue}
	}
	for name, typ := range map[string]*serde.Snapshot{"loop": loop, "wide": wide} {
		if _, _, err := serde.Decode(typ, make([]byte, 100)); !errors.Is(err, serde.ErrOpaque) {
			t.Errorf("%s: %v", name, err)
		}
	}
	nothing := read(composite(base+"ListSerializerSnapshot", 1, w(), composite(base+"ListSerializerSnapshot", 1, w(), snap(base+"NullValueSerializer$NullValueSerializerSnapshot", 3))))
	v, n, err := serde.Decode(nothing, w().i32(1, 1<<31-1).b)
	if err != nil || n != 8 || v.Items[0].N != 1<<31-1 || !v.Items[0].Cut {
		t.Errorf("%s: %d bytes, %v", v, n, err)
	}
	var b strings.Builder // each level twice the one before
	b.WriteString(`{"type":"record","name":"R0","fields":[]}`)
	schema := b.String()
	for i := range 60 {
		name := "R" + string(rune('A'+i/26)) + string(rune('A'+i%26))
		schema = `{"type":"record","name":"` + name + `","fields":[{"name":"a","type":` + schema + `},{"name":"b","type":"` + lastName(schema) + `"}]}`
	}
	if _, n, err := serde.Decode(read(avroSnap(schema)), nil); err != nil || n != 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// lastName is the name of the outermost record of a schema.
func lastName(schema string) string {
	name := schema[len(`{"type":"record","name":"`):]
	return name[:strings.IndexByte(name, '"')]
}
