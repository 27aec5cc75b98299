package opstate

import (
	"encoding/binary"
	"fmt"
	"io"

	"chkscope/decoder/serde"
	"chkscope/decoder/snappyframe"
)

// maxRun is how many decoded bytes of a state of a broken stream are held.
const maxRun = 256 << 20

// Element is one element of a list state, or the map of a broadcast state.
type Element struct {
	Index int64  // in the offsets of the handle
	Off   int64  // in the stream; of the first chunk where that is compressed
	Len   int64  // bytes, decompressed, dead bytes behind the element included
	Data  []byte // the first bytes, up to the cut; valid during the call
}

// Elements calls f for n elements of state i from number from on (fewer at the
// end of the list) and stops at the first error. Elements longer than cut are
// given cut to it.
func (s *Stream) Elements(i int, from, n, cut int64, f func(Element) error) error {
	if err := s.index(); err != nil {
		return err
	}
	st := s.States[i]
	to := st.Offsets.Len()
	if from < 0 || from > to {
		return fmt.Errorf("element %d of %d: no such element", from, to)
	}
	if n < to-from {
		to = from + n
	}
	if s.broken && s.places[i].first == s.places[i].last && st.Offsets.Len() > 1 {
		return s.splitRun(i, from, to, cut, f)
	}
	data := s.dataReader(cut)
	page := make([]int64, min(to-from, pageLen)+1)
	for k := from; k < to; {
		n, err := st.Offsets.Read(s.Meta, k, page)
		if err != nil {
			return err
		}
		last := n // elements whose end the page tells
		if k+int64(n) < st.Offsets.Len() {
			last--
		}
		for j := 0; j < last && k < to; j, k = j+1, k+1 {
			off, next := page[j], int64(-1)
			if j+1 < n {
				next = page[j+1]
			}
			e := Element{Index: k, Off: off}
			if e.Data, e.Len, err = data(off, s.endOf(i, off, next)); err != nil {
				return err
			}
			if err := f(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// dataReader reads what lies between two offsets of the stream, decompressed,
// and gives its first bytes and its length.
func (s *Stream) dataReader(cut int64) func(off, end int64) ([]byte, int64, error) {
	if !s.compressed() {
		w := window{in: s.In}
		return func(off, end int64) ([]byte, int64, error) {
			p, err := w.bytes(off, min(end-off, cut))
			return p, end - off, err
		}
	}
	r := snappyframe.NewReader(s.In, 0, 0)
	var buf []byte
	return func(off, end int64) ([]byte, int64, error) {
		r.Reset(off, end)
		buf = buf[:0]
		n := int64(0)
		for {
			p, err := r.Next()
			if err == io.EOF {
				return buf, n, nil
			}
			if err != nil {
				return nil, 0, err
			}
			buf = append(buf, p[:min(int64(len(p)), cut-int64(len(buf)))]...)
			n += int64(len(p))
		}
	}
}

// splitRun gives elements of a state of a broken stream, which lie in one run,
// as their serializer splits it.
func (s *Stream) splitRun(i int, from, to, cut int64, f func(Element) error) error {
	off := s.places[i].first
	var m *serde.StateMeta
	if s.Header != nil {
		m = s.Header.State(s.States[i].Name)
	}
	if m == nil {
		return damage(s.In, off, stateName(s.States[i].Name), "an offset for each element", fmt.Sprintf("one for %d elements", s.States[i].Offsets.Len()), ErrBroken)
	}
	run, n, err := s.dataReader(maxRun)(off, s.endOf(i, off, -1))
	if err != nil {
		return err
	}
	if n > int64(len(run)) {
		return damage(s.In, off, stateName(m.Name), fmt.Sprintf("at most %d bytes to split", maxRun), fmt.Sprint(n), ErrBroken)
	}
	for k := int64(0); k < to; k++ {
		n, err := serde.Skip(m.Serializer(serde.ValueSerializer), run)
		if err != nil {
			return damage(s.In, off, fmt.Sprintf("%s / element %d", stateName(m.Name), k), "the end of the element", err.Error(), ErrBroken)
		}
		if k >= from {
			if err := f(Element{Index: k, Off: off, Len: int64(n), Data: run[:min(int64(n), cut)]}); err != nil {
				return err
			}
		}
		run = run[n:]
	}
	return nil
}

// MapEntries is the number of entries of broadcast state i, -1 where the handle
// has no offset for it.
func (s *Stream) MapEntries(i int) (int64, error) {
	n := int64(-1)
	err := s.Elements(i, 0, 1, 4, func(e Element) error {
		if len(e.Data) < 4 {
			return damage(s.In, e.Off, stateName(s.States[i].Name), "number of entries (4 bytes)", fmt.Sprintf("%d bytes", len(e.Data)), io.ErrUnexpectedEOF)
		}
		v := int32(binary.BigEndian.Uint32(e.Data))
		if v < 0 || int64(v) > e.Len-4 {
			return damage(s.In, e.Off, stateName(s.States[i].Name), fmt.Sprintf("number of entries in %d bytes", e.Len-4), fmt.Sprint(v), nil)
		}
		n = int64(v)
		return nil
	})
	return n, err
}
