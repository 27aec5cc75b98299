package keyed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/serde"
)

// TestHeapGroups walks every group of heap layout exactly to its end, if the
// lengths of all its values are known, or there is one way only to read it.
func TestHeapGroups(t *testing.T) {
	exact, blocked := 0, 0
	eachGroups(t, nil, func(r real, s *Stream) {
		if s.Layout != Heap {
			return
		}
		for i := range s.Offsets {
			entries := make([]StateSize, len(s.Header.States))
			end, err := s.Walk(i, math.MaxInt32, func(e Entry) error {
				entries[e.State].Entries++
				entries[e.State].Bytes += e.KeyLen + e.ValueLen + int64(len(e.Namespace))
				return nil
			})
			if errors.Is(err, serde.ErrOpaque) {
				blocked++
				t.Log(r, err)
				continue
			}
			if err != nil || end != s.Extent(i).End() {
				t.Errorf("%s: group %d ends at %d, not %d: %v", r, i, end, s.Extent(i).End(), err)
				continue
			}
			exact++
			sizes, err := s.Sizes(i, nil)
			if err != nil {
				t.Errorf("%s: %v", r, err)
			}
			for id, z := range sizes {
				if z.Entries != entries[id].Entries || z.Bytes != entries[id].Bytes+6 {
					t.Errorf("%s: %s: %+v, walked %+v", r, s.Header.States[id].Name, z, entries[id])
				}
			}
		}
	})
	t.Log(exact, "groups,", blocked, "with values of unknown length")
	if exact < 4800 || blocked > 10 {
		t.Error("fewer groups than there were")
	}
}

// TestCompressedHeap drops each state of compressed heap streams, also where
// values have no known length: there each block has its own end.
func TestCompressedHeap(t *testing.T) {
	drops := 0
	eachGroups(t, []string{"lab"}, func(r real, s *Stream) {
		if s.Layout != Heap || !s.Header.Compressed {
			return
		}
		var out bytes.Buffer
		all, err := s.Rewrite(&out, Edit{})
		if err != nil {
			t.Fatal(err)
		}
		for id, m := range s.Header.States {
			drops++
			res, err := s.Rewrite(&out, Edit{Drop: []string{m.Name}})
			if err != nil || res.Size != all.Size-m.Span.Len-res.Removed[id].Bytes || res.Removed[id].Bytes < 6*int64(s.Groups()) {
				t.Errorf("%s: without %s: %+v of %d bytes, %v", r, m.Name, res, all.Size, err)
			}
		}
	})
	if drops < 50 {
		t.Errorf("only %d states", drops)
	}
}

// heapStream is a heap stream of one group with states of the types given, an
// entry each.
func heapStream(values ...*serde.Snapshot) *Stream {
	b := []byte{0, 0, 0, 0, 0, 0, 0, 5} // 4 for the header; key group 5
	h := &Header{Version: 6, End: 4, Key: &serde.Snapshot{Kind: serde.Int}}
	for i, v := range values {
		h.States = append(h.States, serde.StateMeta{Name: string(rune('a' + i)), Serializers: []serde.KeyedSerializer{
			{Key: serde.NamespaceSerializer, Type: &serde.Snapshot{Kind: serde.VoidByte}}, {Key: serde.ValueSerializer, Type: v}}})
		b = append(b, 0, byte(i), 0, 0, 0, 1, 0)
		b = append(b, 0, 0, 0, 7, 1, 2, 3, byte(i))
	}
	return &Stream{In: decoder.Bytes{Data: b, Label: "heap"}, Header: h, Layout: Heap, Start: 5, Offsets: []int64{4}, sorted: []int64{4}}
}

// TestUnknownLengths drops states beside one whose values have no known length.
func TestUnknownLengths(t *testing.T) {
	known, opaque := &serde.Snapshot{Kind: serde.Int}, &serde.Snapshot{Kind: serde.Unknown}
	for _, c := range []struct {
		name  string
		s     *Stream
		edit  Edit
		ids   []byte // that are left, nil: refused
		bytes int
	}{
		{"before it, no id behind it", heapStream(known, opaque), Edit{Cut: []string{"a"}}, []byte{0, 1}, 0},
		{"before it, its own id changes", heapStream(known, opaque), Edit{Drop: []string{"a"}}, []byte{0}, 0},
		{"before it, an id behind it changes", heapStream(known, opaque, known), Edit{Drop: []string{"a"}}, []byte{0, 1}, 0},
		{"before it, the same where its end is not sure", unsure(true, 5), Edit{Drop: []string{"a"}}, nil, 0},
		{"before it, cut", heapStream(known, opaque, known), Edit{Cut: []string{"a"}}, []byte{0, 1, 2}, 0},
		{"behind it", heapStream(opaque, known), Edit{Drop: []string{"b"}}, []byte{0}, 0},
		{"behind it where its end is not sure", unsure(false, 5), Edit{Drop: []string{"b"}}, nil, 0},
		{"itself, the last", heapStream(known, opaque), Edit{Drop: []string{"b"}}, []byte{0}, 0},
		{"itself", heapStream(opaque, known), Edit{Drop: []string{"a"}}, []byte{0}, 0},
		{"itself where its end is not sure", unsure(false, 5), Edit{Drop: []string{"a"}}, nil, 0},
	} {
		// The header of these streams is not one: only the groups are looked at.
		out := &bytes.Buffer{}
		o := newOutput(out, 0)
		p := c.s.plan(c.edit)
		_, err := c.s.rewriteHeap(o, p, make([]StateSize, len(p.ids)))
		if c.ids == nil {
			if !errors.Is(err, serde.ErrOpaque) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		o.w.Flush()
		b := out.Bytes()[4:]
		for i, id := range c.ids {
			if got := binary.BigEndian.Uint16(b); got != uint16(id) {
				t.Errorf("%s: block %d has the id %d, not %d", c.name, i, got, id)
			}
			b = b[6+9*int(binary.BigEndian.Uint32(b[2:])):]
		}
		if len(b) > 0 {
			t.Errorf("%s: % x is left", c.name, b)
		}
	}
}

func TestHeapDamage(t *testing.T) {
	known := &serde.Snapshot{Kind: serde.Int}
	good := heapStream(known, known)
	b := good.In.(decoder.Bytes).Data
	for _, c := range []struct {
		at   int
		to   byte
		want string
	}{{7, 6, "key group"}, {9, 2, "state id"}, {24, 0, "state id"}, {10, 0xff, "number of entries"}, {13, 9, "entry"}} {
		d := bytes.Clone(b)
		d[c.at] = c.to
		s := *good
		s.In = decoder.Bytes{Data: d, Label: "heap"}
		if _, err := s.Walk(0, 10, func(Entry) error { return nil }); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("byte %d: %v", c.at, err)
		}
	}
	for cut := 4; cut < len(b); cut++ {
		s := *good
		s.In = decoder.Bytes{Data: b[:cut], Label: "heap"}
		if _, err := s.Walk(0, 10, func(Entry) error { return nil }); err == nil {
			t.Errorf("cut to %d bytes: no error", cut)
		}
	}
}
