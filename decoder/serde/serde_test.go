package serde_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chkscope/conformance/corpus"
	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/serde"
)

// enc builds what Flink writes.
type enc struct{ b []byte }

func (e *enc) i32(v ...int) *enc {
	for _, x := range v {
		e.b = binary.BigEndian.AppendUint32(e.b, uint32(x))
	}
	return e
}

func (e *enc) i64(v int64) *enc { e.b = binary.BigEndian.AppendUint64(e.b, uint64(v)); return e }

func (e *enc) utf(v ...string) *enc {
	for _, s := range v {
		e.b = append(binary.BigEndian.AppendUint16(e.b, uint16(len(s))), s...)
	}
	return e
}

func (e *enc) raw(p ...byte) *enc { e.b = append(e.b, p...); return e }

func (e *enc) sub(parts ...*enc) *enc {
	for _, p := range parts {
		e.b = append(e.b, p.b...)
	}
	return e
}

const (
	base   = "org.apache.flink.api.common.typeutils.base."
	javaRT = "org.apache.flink.api.java.typeutils.runtime."
)

func w() *enc { return &enc{} }

func snap(class string, version int) *enc { return w().utf(class).i32(version) }

func longSnap() *enc   { return snap(base+"LongSerializer$LongSerializerSnapshot", 3) }
func stringSnap() *enc { return snap(base+"StringSerializer$StringSerializerSnapshot", 3) }

func delegate(snaps ...*enc) *enc {
	return w().i32(0x001457FD, 1, len(snaps)).sub(snaps...)
}

func composite(class string, outer int, payload *enc, snaps ...*enc) *enc {
	return snap(class, 3).i32(0x000DE704, outer).sub(payload, delegate(snaps...))
}

func proxy(s *enc) *enc { return w().i32(2).sub(s) }

// oldProxy is a proxy of a legacy config snapshot.
func oldProxy(class string, version int, body *enc) *enc {
	return w().i32(1).utf(class).i32(version).sub(body)
}

func simpleOld(serializer string) *enc {
	return oldProxy("org.apache.flink.api.common.typeutils.ParameterlessTypeSerializerConfig", 1, w().utf(serializer))
}

// javaString is a jobj, here of a string.
func javaString(s string) *enc { return w().raw(0xac, 0xed, 0, 5, 0x74).utf(s) }

// javaClass is a jobj of a java.lang.Class.
func javaClass(name string) *enc {
	return w().raw(0xac, 0xed, 0, 5, 0x76, 0x72).utf(name).i64(1).raw(2, 0, 0, 0x78, 0x70)
}

func serBytes(j *enc) *enc { return w().i32(1, len(j.b)).sub(j) }

func resilient(proxies ...*enc) *enc {
	offs, buf := w().i32(len(proxies)), w()
	for _, p := range proxies {
		offs.i32(len(buf.b))
		buf.sub(serBytes(javaString("serializer")))
		offs.i32(len(buf.b))
		buf.sub(p)
	}
	return offs.i32(len(buf.b)).sub(buf)
}

func optional(names ...string) *enc { return w().i64(0x000004F2C69A3D70).i32(len(names)) }

func frame(p *enc) *enc { return w().raw(1).i32(len(p.b)).sub(p) }

func TestTypes(t *testing.T) {
	nullMap := optional().sub(optional())
	for _, c := range []struct {
		name string
		in   *enc
		want string
	}{
		{"simple, version 2", proxy(snap(base+"IntSerializer$IntSerializerSnapshot", 2).utf("some id")), "i4"},
		{"map", proxy(composite(base+"MapSerializerSnapshot", 1, w(), longSnap(), stringSnap())), "map(i8, fstr)"},
		{"composite of snapshot version 2", proxy(snap(base+"MapSerializerSnapshot", 2).sub(delegate(longSnap(), stringSnap()))), "map(i8, fstr)"},
		{"map of three", proxy(composite(base+"MapSerializerSnapshot", 1, w(), longSnap(), longSnap(), longSnap())),
			"unknown " + base + "MapSerializerSnapshot 3 nested serializers where 2 belong(i8, i8, i8)"},
		{"list with mask", proxy(composite(base+"ListSerializerSnapshot", 2, w().raw(1), longSnap())), "list(i8)"},
		{"set", proxy(composite(base+"SetSerializerSnapshot", 1, w(), longSnap())), "Set(i8)"},
		{"TTL aware", proxy(snap("org.apache.flink.runtime.state.ttl.TtlAwareSerializerSnapshot", 1).raw(0).sub(longSnap())), "TTL aware(i8)"},
		{"Avro version 3", proxy(snap("org.apache.flink.formats.avro.typeutils.AvroSerializerSnapshot", 3).raw(4, 'a', '.', 'B').raw(0)), "avro<B>"},
		{"Scala enumeration", proxy(snap("org.apache.flink.api.scala.typeutils.ScalaEnumSerializerSnapshot", 2).utf("E").i32(1).utf("A").i32(7)), "enum<E>['A']"},
		{"adapter of a legacy body", proxy(snap("org.apache.flink.api.common.typeutils.ParameterlessTypeSerializerConfig", 0x7A53C4F0).
			sub(serBytes(javaString("x"))).i32(1).utf(base + "LongSerializer")), "i8"},
		{"adapter of a snapshot", proxy(snap(base+"LongSerializer$LongSerializerSnapshot", 0x7A53C4F0).sub(serBytes(javaString("x"))).i32(3)), "i8"},
		{"canonical name of a nested class", simpleOld("org.apache.flink.streaming.api.windowing.windows.TimeWindow.Serializer"), "TimeWindow"},
		{"old map", oldProxy(base+"MapSerializerConfigSnapshot", 1, resilient(simpleOld(base+"LongSerializer"), simpleOld(base+"StringSerializer"))), "map(i8, fstr)"},
		{"old tuple", oldProxy(javaRT+"TupleSerializerConfigSnapshot", 2, resilient(simpleOld(base+"LongSerializer")).sub(javaClass("org.Tuple1"))), "tuple<Tuple1>(i8)"},
		{"old enum", oldProxy(base+"EnumSerializer$EnumSerializerConfigSnapshot", 2, w().utf("E").i32(2).utf("A", "B")), "enum<E>['A', 'B']"},
		{"old Kryo", oldProxy(javaRT+"kryo.KryoSerializer$KryoSerializerConfigSnapshot", 1,
			w().utf("T").i32(3).utf("t", "C").i32(0).utf("t", "C").i32(1).utf("S").utf("t", "C").i32(2).sub(javaString("x"))), "kryo<T>"},
		{"old nullable", oldProxy(javaRT+"NullableSerializer$NullableSerializerConfigSnapshot", 1, resilient(simpleOld(base+"LongSerializer"))), "nullable(i8)"},
		{"old POJO", oldPojo(false), "pojo<P>{f:i8} | Sub fstr"},
		{"old POJO without serializers", oldPojo(true), "pojo<P>{f:i8} | Sub fstr"},
		{"slot of unknown class", oldProxy(base+"CollectionSerializerConfigSnapshot", 1, resilient(oldProxy("com.acme.Config", 1, w().raw(1, 2, 3)))), "list(?com.acme.Config)"},
		{"POJO with an unknown field", proxy(snap(javaRT+"PojoSerializerSnapshot", 2).utf("P").sub(optional("f", "g")).
			utf("f").sub(frame(w().utf("P", "f")), frame(snap("com.acme.Snapshot", 1).raw(9, 9))).
			utf("g").raw(0, 0).sub(nullMap)), "pojo<P>{f:?com.acme.Snapshot, g:-}"},
		{"POJO with damage in a field", proxy(snap(javaRT+"PojoSerializerSnapshot", 2).utf("P").sub(optional("f")).
			utf("f").raw(0).sub(frame(longSnap().raw(0))).sub(nullMap)), "pojo<P>{f:?" + base + "LongSerializer$LongSerializerSnapshot}"},
	} {
		r := serde.NewReader("test", c.in.b, 100)
		s := r.Proxy()
		if r.Err() != nil {
			t.Errorf("%s: %v", c.name, r.Err())
			continue
		}
		if r.Left() != 0 || s.Span.Off != 100 || s.Span.Len != int64(len(c.in.b)) {
			t.Errorf("%s: span %v of %d bytes", c.name, s.Span, len(c.in.b))
		}
		if got := realfiles.Notation(s); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// oldPojo is a legacy POJO snapshot with a field and two subclasses; without
// serializers the two offsets of an entry are equal.
func oldPojo(without bool) *enc {
	offs, buf := w().utf("P"), w()
	entry := func(name string, p *enc) {
		offs.i32(1)
		buf.utf(name)
		offs.i32(len(buf.b))
		if !without {
			buf.sub(serBytes(javaString("x")))
		}
		offs.i32(len(buf.b))
		buf.sub(p)
	}
	entry("f", simpleOld(base+"LongSerializer"))
	entry("Sub", simpleOld(base+"StringSerializer"))
	offs.i32(0)
	return oldProxy(javaRT+"PojoSerializer$PojoSerializerConfigSnapshot", 1, offs.i32(len(buf.b)).sub(buf))
}

func TestUnknownAndDamaged(t *testing.T) {
	deep := longSnap()
	for range 200 {
		deep = composite(base+"ListSerializerSnapshot", 1, w(), deep)
	}
	for _, c := range []struct {
		name string
		in   *enc
		want string
	}{
		{"unknown class", proxy(snap("com.acme.Snapshot", 1)), "known layout, found com.acme.Snapshot version 1"},
		{"unknown version", proxy(snap(base+"LongSerializer$LongSerializerSnapshot", 9)), "known layout"},
		{"proxy version", w().i32(3), "proxy version 1 or 2, found 3"},
		{"not a class", proxy(snap("no class", 3)), "class name"},
		{"composite magic", proxy(snap(base+"MapSerializerSnapshot", 3).i32(1, 2, 3, 4)), "composite magic"},
		{"count", proxy(snap(base+"MapSerializerSnapshot", 2).i32(0x001457FD, 1, 1<<30)), "count between 0 and 0"},
		{"depth", proxy(deep), "at most 100"},
	} {
		r := serde.NewReader("file", c.in.b, 0)
		r.Proxy()
		if r.Err() == nil || !strings.Contains(r.Err().Error(), c.want) {
			t.Errorf("%s: %v", c.name, r.Err())
		}
	}
}

// record is a state record of layout 7 with two serializers.
func record(name string, key, value *enc) *enc {
	return w().utf(name).i32(2, 1).utf(serde.DistributionMode, "BROADCAST").i32(2).
		utf(serde.KeySerializer).sub(key).utf(serde.ValueSerializer).sub(value)
}

// TestUnknownSerializers reads records with serializers that are not known and
// still finds all others.
func TestUnknownSerializers(t *testing.T) {
	custom := proxy(snap("com.acme.Snapshot", 2).utf("payload").i32(1, 2, 3))
	empty := proxy(snap("com.acme.EmptySnapshot", 3))
	inMap := proxy(composite(base+"MapSerializerSnapshot", 1, w(), longSnap(), snap("com.acme.EmptySnapshot", 3)))
	wrapper := proxy(composite("com.acme.WrapperSnapshot", 1, w(), longSnap()))
	long := proxy(longSnap())
	records := []*enc{
		record("first", custom, long), record("second", long, custom), record("third", empty, inMap),
		record("fourth", long, wrapper), record("last", custom, custom),
	}
	in := w().sub(records...)
	r := serde.NewReader("file", in.b, 0)
	got := r.StateMetas(5, serde.MetaLayout{Version: 7}, []string{"first", "fourth"}, func(int64) int64 { return int64(len(in.b)) })
	if r.Err() != nil || r.Left() != 0 {
		t.Fatalf("%d left, %v", r.Left(), r.Err())
	}
	want := []string{"first true ?com.acme.Snapshot i8", "second true i8 ?com.acme.Snapshot",
		"third false unknown com.acme.EmptySnapshot " + got[2].Serializers[0].Type.Why + " map(i8, unknown com.acme.EmptySnapshot " + got[2].Serializers[0].Type.Why + ")",
		"fourth false i8 unknown com.acme.WrapperSnapshot " + got[3].Serializers[1].Type.Why + "(i8)", "last true ?com.acme.Snapshot ?com.acme.Snapshot"}
	for i, m := range got {
		s := m.Name
		if m.Opaque {
			s += " true"
		} else {
			s += " false"
		}
		for _, k := range m.Serializers {
			s += " " + realfiles.Notation(k.Type)
		}
		if s != want[i] {
			t.Errorf("got  %s\nwant %s", s, want[i])
		}
		if m.Span.Len != int64(len(records[i].b)) {
			t.Errorf("%s: %d bytes, not %d", m.Name, m.Span.Len, len(records[i].b))
		}
	}
	// Without a known end the last record cannot be read.
	r = serde.NewReader("file", in.b, 0)
	if r.StateMetas(5, serde.MetaLayout{Version: 7}, nil, nil); r.Err() == nil {
		t.Error("no error without a known end")
	}
}

// TestFindRecord finds records by names of every kind.
func TestFindRecord(t *testing.T) {
	long := proxy(longSnap())
	for _, c := range []struct {
		name  string
		known []string
		ok    bool
	}{
		{"plain", nil, true}, {"größe", nil, true}, {"\xed\xa0\xbd\xed\xb8\x80", nil, true}, {strings.Repeat("long ", 100), nil, true},
		// Its own tail, read as a name with its length, is shorter.
		{"tail of\x00\x03abc", []string{"tail of\x00\x03abc"}, false}, {"\xff\xfe", nil, false}, {"\xff\xfe", []string{"\xff\xfe"}, true},
	} {
		in := w().raw(1, 2, 3).sub(record(c.name, long, long))
		r := serde.NewReader("file", in.b, 10)
		rec, ok := r.FindRecord(10, c.known)
		if ok = ok && rec.Off == 13 && rec.Kind == serde.Broadcast; ok != c.ok {
			t.Errorf("%q: %+v", c.name, rec)
		}
	}
	queue := w().raw(9).utf("_timer_state/event_x").i32(3, 0, 1).utf(serde.ValueSerializer).sub(long)
	if rec, ok := serde.NewReader("file", queue.b, 0).FindRecord(0, nil); !ok || rec.Off != 1 || rec.Kind != serde.PriorityQueue {
		t.Errorf("queue: %+v", rec)
	}
}

// TestManyUnknown reads many records that cannot be read, in a moment.
func TestManyUnknown(t *testing.T) {
	one := record("x", proxy(snap("com.acme.Snapshot", 2).utf("payload")), proxy(snap("com.acme.Snapshot", 2).utf("payload")))
	const n = 20000
	in := bytes.Repeat(one.b, n)
	begin := time.Now()
	r := serde.NewReader("file", in, 0)
	got := r.StateMetas(n, serde.MetaLayout{Version: 7}, []string{"y"}, func(int64) int64 { return int64(len(in)) })
	if r.Err() != nil || len(got) != n || !got[n-1].Opaque {
		t.Errorf("%d records, %v", len(got), r.Err())
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

func FuzzProxy(f *testing.F) {
	f.Add(oldPojo(false).b)
	f.Add(proxy(composite(base+"MapSerializerSnapshot", 1, w(), longSnap(), stringSnap())).b)
	f.Add(record("a", proxy(longSnap()), proxy(snap("com.acme.Snapshot", 2).utf("x"))).b)
	snapshots, _ := filepath.Glob(filepath.Join(corpus.Find(f), "serializer-snapshots", "*-1.14", "serializer-snapshot"))
	for _, d := range snapshots {
		if b, err := os.ReadFile(d); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := serde.NewReader("fuzz", b, 0)
		if s := r.Proxy(); r.Err() == nil && s.Span.Len != r.Off() {
			t.Errorf("span %v, offset %d", s.Span, r.Off())
		}
		for v := int32(1); v <= 8; v++ {
			for _, keyed := range []bool{false, true} {
				r := serde.NewReader("fuzz", b, 0)
				r.StateMetas(2, serde.MetaLayout{Version: v, Keyed: keyed}, nil, func(int64) int64 { return int64(len(b)) })
			}
		}
	})
}
