package opstate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

func u16(n int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(n)) }
func u32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
func utf(s string) []byte {
	return append(u16(len(s)), s...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

const simple = "org.apache.flink.api.common.typeutils.ParameterlessTypeSerializerConfig"

// slots is a resilient list of legacy snapshots of simple serializers.
func slots(serializers ...string) []byte {
	offs, buf := u32(len(serializers)), []byte(nil)
	for _, s := range serializers {
		java := join([]byte{0xac, 0xed, 0, 5, 0x74}, utf("serializer"))
		offs = append(offs, u32(len(buf))...)
		buf = append(buf, join(u32(1), u32(len(java)), java)...)
		offs = append(offs, u32(len(buf))...)
		buf = append(buf, join(u32(1), utf(simple), u32(1), utf("org.apache.flink.api.common.typeutils.base."+s))...)
	}
	return join(offs, u32(len(buf)), buf)
}

// TestOldVersions reads and rewrites streams of versions that few files have.
func TestOldVersions(t *testing.T) {
	java := join([]byte{0xac, 0xed, 0, 5, 0x74}, utf("serializer"))
	list := func(name string, mode byte) []byte { return join(utf(name), []byte{mode}, slots("LongSerializer")) }
	for _, c := range []struct {
		version int
		header  []byte
		kinds   []serde.StateKind
	}{
		{1, join(u16(2), utf("a"), []byte{0}, java, utf("b"), []byte{1}, java, u32(2)), []serde.StateKind{serde.Operator, serde.Operator}},
		{2, join(u16(2), list("a", 0), list("b", 1), u32(2)), []serde.StateKind{serde.Operator, serde.Operator}},
		{3, join(u16(1), list("a", 0), u16(1), utf("b"), []byte{2}, slots("StringSerializer", "LongSerializer")), []serde.StateKind{serde.Operator, serde.Broadcast}},
	} {
		header := join(u32(c.version), c.header)
		data := []byte("11111111222222220000")
		in := decoder.Bytes{Data: join(header, data), Label: "old"}
		h := int64(len(header))
		states := []metadata.OperatorState{{Name: "b", Mode: 1, Offsets: metadata.NewOffsets([]int64{h + 16})}, {Name: "a", Offsets: metadata.NewOffsets([]int64{h, h + 8})}}
		s, err := Open(in, in, states)
		if err != nil {
			t.Fatalf("version %d: %v", c.version, err)
		}
		if s.Header.End != h {
			t.Errorf("version %d: header ends at %d, not %d", c.version, s.Header.End, h)
		}
		for i, k := range c.kinds {
			if m := s.Header.States[i]; m.Kind != k || m.Opaque {
				t.Errorf("version %d: %+v", c.version, m)
			}
		}
		for _, gone := range []string{"a", "b"} {
			n, r, b := rewrite(t, s, Edit{Drop: []string{gone}})
			if r.Records != 1 || len(n.States) != 1 || n.Header.State(gone) != nil {
				t.Errorf("version %d without %s: %+v", c.version, gone, n.Header)
			}
			if c.version <= 2 && !bytes.Equal(b[n.Header.End-4:n.Header.End], u32(1)) {
				t.Errorf("version %d: number of states % x", c.version, b[n.Header.End-4:n.Header.End])
			}
			want := map[string][]string{"a": {"11111111", "22222222"}, "b": {"0000"}}
			sameExcept(t, "old", contents(t, n), want, gone)
		}
		if r, _, _ := rewrite(t, s, Edit{Drop: []string{"a", "b"}}); r.In.Size() != r.Header.End || len(r.States) != 0 {
			t.Errorf("version %d: %d bytes are left of nothing", c.version, r.In.Size())
		}
	}
}

// TestUnorderedOffsets reads and rewrites a handle whose offsets do not ascend,
// whose states lie in one another, with dead bytes and empty elements.
func TestUnorderedOffsets(t *testing.T) {
	header := join(u32(3), u16(2), utf("a"), []byte{0}, slots("LongSerializer"), utf("b"), []byte{1}, slots("LongSerializer"), u16(0))
	h := int64(len(header))
	in := decoder.Bytes{Data: join(header, []byte("dead1234567890")), Label: "unordered"}
	for name, c := range map[string]struct {
		a, b         []int64
		wantA, wantB []string
	}{
		"backwards":    {[]int64{8, 6, 4}, []int64{10}, []string{"56", "34", "12"}, []string{"7890"}},
		"in one other": {[]int64{4, 8}, []int64{6, 10}, []string{"12", "56"}, []string{"34", "7890"}},
		"empty":        {[]int64{4, 4, 6, 14}, nil, []string{"", "12", "34567890", ""}, []string{}},
	} {
		at := func(offs []int64) metadata.Offsets {
			var abs []int64
			for _, o := range offs {
				abs = append(abs, h+o)
			}
			return metadata.NewOffsets(abs)
		}
		s, err := Open(in, in, []metadata.OperatorState{{Name: "a", Offsets: at(c.a)}, {Name: "b", Mode: 1, Offsets: at(c.b)}})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{"a": c.wantA, "b": c.wantB}
		sameExcept(t, name, contents(t, s), want, "\x00none")
		n, r, _ := rewrite(t, s, Edit{})
		sameExcept(t, name+" rewritten", contents(t, n), want, "\x00none")
		if r.Size != in.Size()-4 {
			t.Errorf("%s: %d bytes", name, r.Size)
		}
		n, _, _ = rewrite(t, s, Edit{Drop: []string{"b"}})
		sameExcept(t, name+" without b", contents(t, n), want, "b")
	}
}

func TestVersions(t *testing.T) {
	for _, v := range []int{0, 7, -1} {
		in := decoder.Bytes{Data: u32(v), Label: "version"}
		if _, err := ParseHeader(in, 4, nil); !errors.Is(err, decoder.ErrVersion) {
			t.Errorf("version %d: %v", v, err)
		}
	}
	in := decoder.Bytes{Data: join(u32(3), u16(0), u16(0)), Label: "offsets"}
	s, err := Open(in, in, []metadata.OperatorState{{Name: "x", Offsets: metadata.NewOffsets([]int64{8, 9})}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bytes(0); err == nil {
		t.Error("an offset behind the end: no error")
	}
}
