package keyed

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// small gives the small streams of a few folders, one of each header.
func small(t testing.TB, f func(r real, s *Stream, b []byte)) {
	seen := map[string]bool{}
	eachGroups(t, []string{"lab/1.13-heap-canonical", "lab/1.20-heap-snappy-canonical", "lab/1.20-heap-chk", "lab/1.20-heap-snappy-chk",
		"flink-savepoints/new-stateful-udf-migration-itcase-flink1.4-rocksdb-savepoint", "flink-savepoints/type-serializer-snapshot-migration-itcase-flink1.3-savepoint",
		"flink-savepoints/new-stateful-udf-migration-itcase-flink1.6-rocksdb-savepoint"}, func(r real, s *Stream) {
		if s.In.Size() > 20000 || seen[string(rune(s.Header.Version))+s.Layout.String()+s.Header.Key.Class] {
			return
		}
		seen[string(rune(s.Header.Version))+s.Layout.String()+s.Header.Key.Class] = true
		b, err := decoder.ReadSpan(s.In, decoder.Span{Len: s.In.Size()}, math.MaxInt64)
		if err != nil {
			t.Fatal(err)
		}
		f(r, s, b)
	})
	if len(seen) < 4 {
		t.Errorf("streams: %v", seen)
	}
}

// TestTruncated cuts streams at every byte: the header or a group says so.
func TestTruncated(t *testing.T) {
	small(t, func(r real, s *Stream, b []byte) {
		for cut := int64(0); cut < s.Header.End; cut += 1 + cut/500 {
			if _, err := ParseHeader(decoder.Bytes{Data: b[:cut]}, cut, nil); err == nil {
				t.Errorf("%s: header cut to %d of %d bytes: no error", r, cut, s.Header.End)
			}
		}
		if s.Layout != Canonical {
			return
		}
		for cut := s.Header.End; cut < int64(len(b)); cut += 1 + (cut-s.Header.End)/200 {
			c := Stream{In: decoder.Bytes{Data: b[:cut]}, Header: s.Header, Start: s.Start, Offsets: s.Offsets, sorted: s.sorted}
			bad := false
			for i, off := range c.Offsets {
				if off > cut {
					bad = true
					continue
				}
				_, err := c.Walk(i, 100, func(Entry) error { return nil })
				bad = bad || err != nil
			}
			if !bad {
				t.Errorf("%s: cut to %d of %d bytes: no error", r, cut, len(b))
			}
		}
	})
}

// TestUnknownSerializer makes the class of each snapshot in turn one that is not
// known: all records keep their places.
func TestUnknownSerializer(t *testing.T) {
	edits := 0
	small(t, func(r real, s *Stream, b []byte) {
		if s.Header.Version < 6 {
			return
		}
		types := []*serde.Snapshot{s.Header.Key}
		for _, m := range s.Header.States {
			for _, k := range m.Serializers {
				types = append(types, k.Type)
			}
		}
		for _, k := range types {
			edits++
			c := bytes.Clone(b[:s.Header.End])
			c[k.Span.Off+6] ^= 1 // first letter of the class
			h, err := ParseHeader(decoder.Bytes{Data: c, Label: "edited"}, s.Header.End, nil)
			if err != nil || h.End != s.Header.End || len(h.States) != len(s.Header.States) {
				t.Errorf("%s: %v", r, err)
				continue
			}
			for j := range h.States {
				if h.States[j].Span != s.Header.States[j].Span || h.States[j].Name != s.Header.States[j].Name {
					t.Errorf("%s: %s at %v, not %v", r, h.States[j].Name, h.States[j].Span, s.Header.States[j].Span)
				}
			}
		}
	})
	if edits < 20 {
		t.Errorf("only %d edits", edits)
	}
}

// FuzzStream opens, walks and rewrites streams with any offsets.
func FuzzStream(f *testing.F) {
	small(f, func(r real, s *Stream, b []byte) {
		if len(s.sorted) > 0 {
			f.Add(b, uint16(s.sorted[0]), uint16(s.sorted[len(s.sorted)-1]), r.use.Keyed.Type)
		}
	})
	f.Fuzz(func(t *testing.T, b []byte, first, second uint16, kind byte) {
		in := decoder.Bytes{Data: b, Label: "fuzz"}
		h := &metadata.KeyGroupsHandle{Number: 2, Offsets: metadata.NewOffsets([]int64{int64(first), int64(second)})}
		s, err := Open(in, in, kind, h, nil)
		if err != nil {
			return
		}
		for i := range s.Offsets {
			s.Walk(i, 10, func(Entry) error { return nil })
			s.Sizes(i, nil)
		}
		e := Edit{}
		if len(s.Header.States) > 0 {
			e.Drop = []string{s.Header.States[0].Name}
		}
		var out bytes.Buffer
		if r, err := s.Rewrite(&out, e); err == nil && r.Size != int64(out.Len()) {
			t.Errorf("%d bytes written, %d said", out.Len(), r.Size)
		}
	})
}

// FuzzMapParts takes any bytes for the map of a key in a heap stream: what is left
// of it can be taken apart again.
func FuzzMapParts(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, 0, 0, 0, 7, 0, 1, 'a', 0, 0, 0, 8, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	types := Types{Layout: Heap, Map: true, UserKey: &serde.Snapshot{Kind: serde.Int}, Value: &serde.Snapshot{Kind: serde.String}}
	f.Fuzz(func(t *testing.T, b []byte) {
		var raw [][]byte
		part := func(p MapPart) error { raw = append(raw, p.Raw); return nil }
		if types.MapParts(b, part) != nil {
			return
		}
		if !bytes.Equal(JoinMap(raw), b) {
			t.Errorf("%x became %x", b, JoinMap(raw))
		}
		if len(raw) > 0 {
			left := JoinMap(raw[1:])
			raw = nil
			if err := types.MapParts(left, part); err != nil || !bytes.Equal(JoinMap(raw), left) {
				t.Errorf("%x: %v", left, err)
			}
		}
	})
}

// FuzzEntries indexes streams, reads their entries in pages and decodes them:
// pages are what a walk gives, and values are valid JSON.
func FuzzEntries(f *testing.F) {
	small(f, func(r real, s *Stream, b []byte) {
		if len(s.sorted) > 0 {
			f.Add(b, uint16(s.sorted[0]), uint16(s.sorted[len(s.sorted)-1]), r.use.Keyed.Type, uint16(s.MaxParallelism))
		}
	})
	f.Fuzz(func(t *testing.T, b []byte, first, second uint16, kind byte, maxParallelism uint16) {
		in := decoder.Bytes{Data: b, Label: "fuzz"}
		h := &metadata.KeyGroupsHandle{Number: 2, Offsets: metadata.NewOffsets([]int64{int64(first), int64(second)})}
		s, err := Open(in, in, kind, h, nil)
		if err != nil {
			return
		}
		s.MaxParallelism = int32(maxParallelism & 0x7fff)
		var types []Types
		for id := range s.Header.States {
			types = append(types, s.Header.Types(id, s.Layout, s.MaxParallelism))
		}
		walked := map[int][]Entry{}
		for i := range s.Offsets {
			s.Walk(i, 100, func(e Entry) error {
				walked[e.State] = append(walked[e.State], cloned(e))
				return nil
			})
		}
		x, err := s.index(types, nil, 50)
		again := NewDecoder(types, serde.Limits{Values: 50, Bytes: 200})
		for id := range x.States {
			n := x.States[id].Entries
			if err == nil && n != int64(len(walked[id])) {
				t.Fatalf("state %d: %d entries, walked %d", id, n, len(walked[id]))
			}
			pageErr := s.Page(x, id, n/2, 100, 100, func(i int64, e Entry) error {
				if err == nil && !sameEntry(e, walked[id][i]) {
					t.Errorf("state %d, entry %d: %v, not %v", id, i, e, walked[id][i])
				}
				v := types[id].Decode(e, serde.Limits{Values: 50, Bytes: 200})
				for _, p := range []serde.Value{v.Key, v.Namespace, v.MapKey, v.Value} {
					if p.Form != serde.Missing && !json.Valid(p.AppendJSON(nil)) {
						t.Errorf("JSON %s", p.AppendJSON(nil))
					}
				}
				if w := again.Decode(e); w.Key.String() != v.Key.String() || w.Value.String() != v.Value.String() {
					t.Errorf("in the same memory %s = %s, not %s = %s", w.Key, w.Value, v.Key, v.Value)
				}
				types[id].Split(e)
				return nil
			})
			if err == nil && pageErr != nil {
				t.Errorf("state %d: %v", id, pageErr)
			}
		}
	})
}
