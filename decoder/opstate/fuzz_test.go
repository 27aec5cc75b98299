package opstate

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/metadata"
)

// FuzzStream reads and rewrites streams with any offsets.
func FuzzStream(f *testing.F) {
	seeds := map[string]bool{}
	realfiles.Each(f, []string{"lab/1.13-heap-chk", "lab/1.20-heap-snappy-chk", "lab/1.18-heap-snappy-broken", "flink-savepoints/operatorstate"}, func(s *realfiles.Snapshot) {
		s.EachStream(func(u metadata.StreamUse) error {
			if u.Place != metadata.ManagedOperator || len(seeds) > 20 {
				return nil
			}
			in := s.Stream(f, u.Stream)
			if in == nil || in.Size() > 4000 {
				return nil
			}
			var offs []byte
			for _, st := range u.OperatorHandle.States {
				st.Offsets.Each(s.In, func(_, off int64) error {
					offs = binary.BigEndian.AppendUint16(offs, uint16(off))
					return nil
				})
			}
			b := all(f, in)
			if !seeds[string(b)] {
				seeds[string(b)] = true
				f.Add(b, offs, "some name")
			}
			return nil
		})
	})
	f.Fuzz(func(t *testing.T, b, offs []byte, name string) {
		in := decoder.Bytes{Data: b, Label: "fuzz"}
		if h, err := ParseHeader(in, in.Size(), nil); err == nil && len(h.States) > 0 {
			name = h.States[0].Name
		}
		var values []int64
		for ; len(offs) >= 2; offs = offs[2:] {
			values = append(values, int64(binary.BigEndian.Uint16(offs)))
		}
		half := len(values) / 2
		states := []metadata.OperatorState{{Name: name, Offsets: metadata.NewOffsets(values[:half])}, {Name: "other", Offsets: metadata.NewOffsets(values[half:])}}
		s, err := Open(in, in, states)
		if err != nil {
			return
		}
		for i := range states {
			s.Bytes(i)
			s.MapEntries(i)
			s.Elements(i, 0, math.MaxInt64, 10, func(Element) error { return nil })
		}
		var out bytes.Buffer
		if r, err := s.Rewrite(&out, Edit{Drop: []string{name}}); err == nil && r.Size != int64(out.Len()) {
			t.Errorf("%d bytes written, %d said", out.Len(), r.Size)
		}
		// The same bytes as a broadcast state, without one of its entries.
		states[0].Mode = metadata.ModeBroadcast
		if s, err = Open(in, in, states); err != nil {
			return
		}
		count, err := s.Entries(0, 0, 0, nil)
		if err != nil || count < 2 {
			return
		}
		out.Reset()
		r, err := s.Rewrite(&out, Edit{Entries: map[string][]metadata.Range{name: {{First: 1, Last: 1}}}})
		if err != nil {
			return
		}
		again, err := Open(decoder.Bytes{Data: out.Bytes(), Label: "rewritten"}, in, r.States)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := again.Entries(0, 0, 0, nil); err != nil || n != count-1 {
			t.Errorf("%d entries of %d are left, %v", n, count, err)
		}
	})
}
