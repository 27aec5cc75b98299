package opstate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// TestEntriesOfFlink walks every broadcast state of the real files, whole and
// page by page.
func TestEntriesOfFlink(t *testing.T) {
	maps, entries := 0, 0
	eachStream(t, nil, func(snap *realfiles.Snapshot, in decoder.Input, states []metadata.OperatorState) {
		s, err := Open(in, snap.In, states)
		if err != nil {
			return
		}
		for i, st := range states {
			if st.Mode != metadata.ModeBroadcast || st.Offsets.Len() == 0 {
				continue
			}
			var whole []byte
			s.Elements(i, 0, 1, math.MaxInt64, func(e Element) error { whole = append(whole, e.Data...); return nil })
			joined, list := whole[:4:4], 0
			n, err := s.Entries(i, 0, math.MaxInt64, func(e Entry) error {
				if int64(len(joined)) != e.Off || e.Err != nil || e.Index != int64(list) {
					t.Errorf("%s: %s: %+v at %d", snap.Name, st.Name, e, len(joined))
				}
				joined = append(append(joined, e.Key...), e.Value...)
				list++
				return nil
			})
			if want, _ := s.MapEntries(i); err != nil || n != want || int64(list) != n || !bytes.Equal(joined, whole) {
				t.Errorf("%s: %s: %d of %d entries, %v", snap.Name, st.Name, list, n, err)
			}
			maps, entries = maps+1, entries+list
			if n > 2 {
				page := 0
				s.Entries(i, 1, 1, func(e Entry) error { page += int(e.Index); return nil })
				if page != 1 {
					t.Errorf("%s: page has entry %d", st.Name, page)
				}
			}
		}
	})
	t.Log(maps, "maps with", entries, "entries")
	if entries < 700 {
		t.Error("fewer than there were")
	}
}

// broadcast is a stream of one broadcast state of strings with these entries.
func broadcast(t *testing.T, valueClass string, data []byte) *Stream {
	utf := func(s string) []byte {
		return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...)
	}
	b := []byte{0, 0, 0, 5, 0, 0, 0, 1}
	b = append(b, utf("x")...)
	b = append(b, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2)
	for key, class := range []string{"org.apache.flink.api.common.typeutils.base.StringSerializer$StringSerializerSnapshot", valueClass} {
		b = append(b, utf([]string{serde.KeySerializer, serde.ValueSerializer}[key])...)
		b = append(append(append(b, 0, 0, 0, 2), utf(class)...), 0, 0, 0, 3)
	}
	h := int64(len(b))
	offsets := binary.BigEndian.AppendUint64(nil, uint64(h))
	s, err := Open(decoder.Bytes{Data: append(b, data...), Label: "x"}, decoder.Bytes{Data: offsets, Label: "meta"},
		[]metadata.OperatorState{{Name: "x", Mode: metadata.ModeBroadcast, Offsets: metadata.Offsets{Span: decoder.Span{Len: 8}}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const bytesClass = "org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer$BytePrimitiveArraySerializerSnapshot"

// TestLongEntries reads entries longer than the window.
func TestLongEntries(t *testing.T) {
	data := binary.BigEndian.AppendUint32(nil, 50)
	for i := range 50 {
		data = append(data, 2, byte('a'+i%26))
		data = binary.BigEndian.AppendUint32(data, uint32(i*9000))
		data = append(data, make([]byte, i*9000)...)
	}
	sum := 0
	n, err := broadcast(t, bytesClass, data).Entries(0, 10, 20, func(e Entry) error {
		if len(e.Value) != 4+int(e.Index)*9000 || e.Key[1] != byte('a'+e.Index%26) {
			return fmt.Errorf("entry %d: %d bytes", e.Index, len(e.Value))
		}
		sum += int(e.Index)
		return nil
	})
	if n != 50 || err != nil || sum != 390 {
		t.Error(n, err, sum)
	}
	if _, err := broadcast(t, bytesClass, data[:len(data)-1]).Entries(0, 0, 50, func(Entry) error { return nil }); err == nil {
		t.Error("no error where the last entry is cut")
	}
}

// TestOpaqueEntries gives what follows where a value has no known end.
func TestOpaqueEntries(t *testing.T) {
	var got []Entry
	n, err := broadcast(t, "com.acme.Snapshot", []byte{0, 0, 0, 2, 2, 'k', 9, 9, 9}).Entries(0, 0, 9, func(e Entry) error {
		got = append(got, e)
		return nil
	})
	if n != 2 || err != nil || len(got) != 1 || string(got[0].Key) != "\x02k" || len(got[0].Value) != 3 || !errors.Is(got[0].Err, serde.ErrOpaque) {
		t.Errorf("%d, %v, %+v", n, err, got)
	}
}
