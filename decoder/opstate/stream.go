package opstate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// maxSorted is how many offsets are held in memory where they do not ascend.
const maxSorted = 1 << 25

// Stream is an operator state stream and the handle that names its states.
type Stream struct {
	In decoder.Input
	// Meta is where the offsets of States are read from (`_metadata`).
	Meta   decoder.Input
	States []metadata.OperatorState
	// Header is nil for raw operator state.
	Header *Header

	places []place // by state, after index
	sorted []int64 // all offsets, where the places do not tell
	broken bool
}

// place is where the elements of a state lie, if they ascend and no other
// state's lie between them.
type place struct{ first, last, end int64 }

// ErrBroken is wrapped by errors about a stream of Flink 1.18.0 or 1.18.1 with
// snapshot compression, where nothing but a serializer that is not understood
// tells the end of an element.
var ErrBroken = errors.New("all elements have the same offset (snapshot compression of Flink 1.18.0, 1.18.1)")

// Open reads the header of the stream in, whose states and offsets are those of
// a handle; meta is what their offsets are read from. On damage of the header
// the Stream is there too.
func Open(in, meta decoder.Input, states []metadata.OperatorState) (*Stream, error) {
	s := &Stream{In: in, Meta: meta, States: states}
	limit, names := in.Size(), make([]string, len(states))
	for i, st := range states {
		names[i] = st.Name
		if st.Offsets.Len() > 0 {
			first, err := st.Offsets.First(meta)
			if err != nil {
				return s, err
			}
			limit = min(limit, max(first, 0))
		}
	}
	h, err := ParseHeader(in, limit, names)
	s.Header = h
	return s, err
}

// OpenRaw is Open for raw operator state, a stream without a header.
func OpenRaw(in, meta decoder.Input, states []metadata.OperatorState) *Stream {
	return &Stream{In: in, Meta: meta, States: states}
}

// index looks at all offsets once.
func (s *Stream) index() error {
	if s.places != nil || len(s.States) == 0 {
		return nil
	}
	start := int64(0)
	if s.Header != nil {
		start = s.Header.End
	}
	places := make([]place, len(s.States))
	ascending, total := true, int64(0)
	for i, st := range s.States {
		p, up, err := s.scan(st, start)
		if err != nil {
			return err
		}
		ascending = ascending && up
		n := st.Offsets.Len()
		total += n
		if s.compressed() && n > 1 && p.first == p.last && up {
			s.broken = true
		}
		places[i] = p
	}
	if !ascending || !s.close(places) || s.broken {
		if err := s.sort(total); err != nil {
			return err
		}
	}
	s.places = places
	return nil
}

// scan looks at the offsets of a state, which may not lie before start.
func (s *Stream) scan(st metadata.OperatorState, start int64) (p place, ascending bool, err error) {
	n, size := st.Offsets.Len(), s.In.Size()
	p.first, ascending = -1, true
	page := make([]int64, min(n, pageLen))
	for i := int64(0); i < n; {
		k, err := st.Offsets.Read(s.Meta, i, page)
		if err != nil {
			return p, false, err
		}
		for j, off := range page[:k] {
			if off < start || off > size {
				return p, false, damage(s.In, off, stateName(st.Name), fmt.Sprintf("offset of element %d between %d and %d", i+int64(j), start, size), fmt.Sprint(off), nil)
			}
			ascending = ascending && off >= p.last
			p.last = off
		}
		if i == 0 {
			p.first = page[0]
		}
		i += int64(k)
	}
	return p, ascending, nil
}

func (s *Stream) compressed() bool { return s.Header != nil && s.Header.Compressed }

// close gives each place its end; false where places overlap.
func (s *Stream) close(places []place) bool {
	end := s.In.Size()
	order := s.order(places)
	for k := len(order) - 1; k >= 0; k-- {
		p := &places[order[k]]
		if p.last > end {
			return false
		}
		p.end, end = end, p.first
	}
	return true
}

// order is the states that have elements, by their first offset.
func (s *Stream) order(places []place) []int {
	var order []int
	for i := range places {
		if places[i].first >= 0 {
			order = append(order, i)
		}
	}
	// Behind equal offsets the one with more than an empty element comes last.
	sort.SliceStable(order, func(a, b int) bool {
		p, q := places[order[a]], places[order[b]]
		return p.first < q.first || p.first == q.first && p.last < q.last
	})
	return order
}

// sort holds all offsets, to look up the end of each element.
func (s *Stream) sort(total int64) error {
	if total > maxSorted {
		return damage(s.In, 0, "", "ascending offsets", fmt.Sprintf("%d in another order", total), nil)
	}
	sorted := make([]int64, 0, total)
	for _, st := range s.States {
		err := st.Offsets.Each(s.Meta, func(_, off int64) error {
			sorted = append(sorted, off)
			return nil
		})
		if err != nil {
			return err
		}
	}
	slices.Sort(sorted)
	s.sorted = slices.Compact(sorted)
	return nil
}

// endOf is the end of an element of state i that begins at off; next is the
// offset of the element behind it, -1 for the last one.
func (s *Stream) endOf(i int, off, next int64) int64 {
	if s.sorted != nil {
		k := sort.Search(len(s.sorted), func(k int) bool { return s.sorted[k] > off })
		if k < len(s.sorted) {
			return s.sorted[k]
		}
		return s.In.Size()
	}
	if next >= 0 {
		return next
	}
	return s.places[i].end
}

// Broken says whether the stream has the form of compression in which the ends
// of elements are not recorded (see ErrBroken).
func (s *Stream) Broken() (bool, error) {
	err := s.index()
	return s.broken, err
}

// Bytes is the sum of the extents of state i in the stream, compressed where the
// stream is; dead bytes behind elements count with them.
func (s *Stream) Bytes(i int) (int64, error) {
	if err := s.index(); err != nil {
		return 0, err
	}
	p := s.places[i]
	switch {
	case p.first < 0:
		return 0, nil
	case s.broken && p.first == p.last:
		return s.endOf(i, p.first, -1) - p.first, nil
	case s.sorted == nil:
		return p.end - p.first, nil
	}
	sum := int64(0)
	err := s.States[i].Offsets.Each(s.Meta, func(_, off int64) error {
		sum += s.endOf(i, off, -1) - off
		return nil
	})
	return sum, err
}

// pagedOffsets reads single offsets of an array that is walked upwards.
type pagedOffsets struct {
	o     metadata.Offsets
	in    decoder.Input
	page  []int64
	first int64
}

const pageLen = 32 << 10

func (p *pagedOffsets) at(i int64) (int64, error) {
	if i < p.first || i >= p.first+int64(len(p.page)) {
		if cap(p.page) == 0 {
			p.page = make([]int64, min(p.o.Len(), pageLen))
		}
		n, err := p.o.Read(p.in, i, p.page[:cap(p.page)])
		if err != nil {
			p.page = p.page[:0]
			return 0, err
		}
		p.page, p.first = p.page[:n], i
		if n == 0 {
			return 0, fmt.Errorf("offset %d of %d: no such element", i, p.o.Len())
		}
	}
	return p.page[i-p.first], nil
}

// next is at(i), or -1 behind the last.
func (p *pagedOffsets) next(i int64) (int64, error) {
	if i >= p.o.Len() {
		return -1, nil
	}
	return p.at(i)
}

// window reads stretches of an Input that is walked upwards.
type window struct {
	in   decoder.Input
	buf  []byte
	base int64
}

const windowLen = 1 << 20

// bytes gives n bytes at off, valid until the next call.
func (w *window) bytes(off, n int64) ([]byte, error) {
	if off < w.base || off+n > w.base+int64(len(w.buf)) {
		if off < 0 || n < 0 || off > w.in.Size()-n {
			return nil, damage(w.in, off, "", fmt.Sprintf("%d bytes", n), fmt.Sprintf("end of file at %d", w.in.Size()), nil)
		}
		size := min(max(n, windowLen), w.in.Size()-off, math.MaxInt)
		if int64(cap(w.buf)) < size {
			w.buf = make([]byte, size)
		}
		w.buf, w.base = w.buf[:size], off
		if k, err := w.in.ReadAt(w.buf, off); int64(k) < size {
			w.buf = w.buf[:k]
			return nil, damage(w.in, off+int64(k), "", "more bytes", fmt.Sprint(err), err)
		}
	}
	i := off - w.base
	return w.buf[i : i+n], nil
}
