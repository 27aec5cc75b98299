package keyed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
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

// serBytes is a Java-serialized object of a serializer class without fields.
func serBytes(class string) []byte {
	j := join([]byte{0xac, 0xed, 0, 5, 0x73, 0x72}, utf(class), make([]byte, 8), []byte{2, 0, 0, 0x78, 0x70})
	return join(u32(1), u32(len(j)), j)
}

const base = "org.apache.flink.api.common.typeutils.base."

// oldHeader is a header of version 1 or 2 with two states under an Integer key.
func oldHeader(version int) []byte {
	state := func(kind int, name string) []byte {
		return join(u32(kind), utf(name), serBytes("org.apache.flink.runtime.state.VoidNamespaceSerializer"), serBytes(base+"LongSerializer"))
	}
	return join(u32(version), serBytes(base+"IntSerializer"), u16(2), state(1, "a"), state(3, "b"))
}

// TestOldVersions reads and rewrites streams of versions that no file has.
func TestOldVersions(t *testing.T) {
	for _, version := range []int{1, 2} {
		header := oldHeader(version)
		group := join(u32(5),
			u16(1), u32(2), make([]byte, 13), make([]byte, 13),
			u16(0), u32(1), []byte{0}, u32(7), make([]byte, 8))
		in := decoder.Bytes{Data: join(header, group), Label: "old"}
		h := &metadata.KeyGroupsHandle{Start: 5, Number: 1, Offsets: metadata.NewOffsets([]int64{int64(len(header))})}
		s, err := Open(in, in, metadata.TypeKeyGroups, h, nil)
		if err != nil || s.Layout != Heap || s.Header.End != int64(len(header)) {
			t.Fatalf("%+v, %v", s, err)
		}
		if s.Header.Key.Kind != serde.Int || s.Header.States[1].Type != "REDUCING" || s.Header.States[1].Serializer(serde.ValueSerializer).Kind != serde.Long {
			t.Errorf("version %d: %+v", version, s.Header)
		}
		sizes, err := s.Sizes(0, nil)
		if version == 1 {
			if !errors.Is(err, serde.ErrOpaque) {
				t.Errorf("version 1: %v", err)
			}
			continue
		}
		if err != nil || sizes[0].Entries != 1 || sizes[1].Entries != 2 || sizes[1].Bytes != 32 {
			t.Errorf("version %d: %+v, %v", version, sizes, err)
		}
		n, r, b := rewrite(t, s, metadata.TypeKeyGroups, Edit{Drop: []string{"a"}})
		if r.Records != 1 || n.Header.States[0].Name != "b" || !bytes.HasSuffix(b, join(u32(5), u16(0), u32(2), make([]byte, 26))) {
			t.Errorf("% x", b)
		}
	}
}

func TestHandles(t *testing.T) {
	header := join(u32(6), []byte{0}, u32(2), utf(base+"IntSerializer$IntSerializerSnapshot"), u32(3), u16(0))
	in := decoder.Bytes{Data: header, Label: "handle"}
	for _, c := range []struct {
		number  int32
		offsets []int64
		ok      bool
	}{
		{2, []int64{0, 0}, true}, {0, nil, true}, {2, []int64{0}, false}, {1, []int64{-1}, false}, {1, []int64{int64(len(header)) + 1}, false},
		{1 << 16, make([]int64, 1<<16), false}, {1, []int64{5}, false},
	} {
		h := &metadata.KeyGroupsHandle{Number: c.number, Offsets: metadata.NewOffsets(c.offsets)}
		s, err := Open(in, in, metadata.TypeKeyGroups, h, nil)
		if c.ok != (err == nil) {
			t.Errorf("%d groups, %d offsets: %v", c.number, len(c.offsets), err)
		}
		if err == nil && (s.Header.End != int64(len(header)) || s.Layout != Canonical) {
			t.Errorf("%+v", s)
		}
	}
	if _, err := ParseHeader(decoder.Bytes{Data: u32(7), Label: "version"}, math.MaxInt64, nil); !errors.Is(err, decoder.ErrVersion) {
		t.Error(err)
	}
}
