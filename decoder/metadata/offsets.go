package metadata

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"unsafe"

	"chkscope/decoder"
)

// offsetsPage is how many bytes of an array are read at once.
const offsetsPage = 256 << 10

// offsetsEdit is what an edit made of an array: pieces of the span, or of the
// literal values where there are any, in their new order.
type offsetsEdit struct {
	literal []int64
	pieces  []piece
	n       int64 // elements in all
}

// piece is a run of elements of the base: element at is base[first] + delta. It
// goes up to the next piece, or to the end.
type piece struct{ at, first, delta int64 }

// Shift moves elements First and following by Delta, up to the next Shift.
type Shift struct{ First, Delta int64 }

// NewOffsets is an array of values that stand in no file.
func NewOffsets(values []int64) Offsets {
	n := int64(len(values))
	return Offsets{edit: &offsetsEdit{literal: values, pieces: []piece{{}}, n: n}}
}

// Len is the number of elements.
func (o Offsets) Len() int64 {
	if o.edit != nil {
		return o.edit.n
	}
	return o.Span.Len / 8
}

// Edited tells whether the array differs from the span it was decoded from.
func (o Offsets) Edited() bool { return o.edit != nil }

// Read fills dst with elements from number from on and gives how many there
// were; fewer than len(dst) only at the end of the array.
func (o Offsets) Read(in decoder.Input, from int64, dst []int64) (int, error) {
	if from < 0 || from > o.Len() {
		return 0, fmt.Errorf("offset %d of %d: no such element", from, o.Len())
	}
	dst = dst[:min(int64(len(dst)), o.Len()-from)]
	for done := 0; done < len(dst); {
		p, left := o.pieceAt(from + int64(done))
		part := dst[done:min(int64(len(dst)), int64(done)+left)]
		if err := o.readBase(in, p.first, part); err != nil {
			return done, err
		}
		if p.delta != 0 {
			for i := range part {
				part[i] += p.delta
			}
		}
		done += len(part)
	}
	return len(dst), nil
}

// pieceAt gives the rest of the piece from element i on, and its length.
func (o Offsets) pieceAt(i int64) (p piece, left int64) {
	e := o.edit
	if e == nil {
		return piece{at: i, first: i}, o.Len() - i
	}
	k := sort.Search(len(e.pieces), func(k int) bool { return e.pieces[k].at > i }) - 1
	end := e.n
	if k+1 < len(e.pieces) {
		end = e.pieces[k+1].at
	}
	p = e.pieces[k]
	return piece{at: i, first: p.first + i - p.at, delta: p.delta}, end - i
}

// readBase reads elements of the span or of the literal values. The bytes are
// read into dst itself and turned there: a page costs no second buffer.
func (o Offsets) readBase(in decoder.Input, first int64, dst []int64) error {
	if o.edit != nil && o.edit.literal != nil {
		copy(dst, o.edit.literal[first:])
		return nil
	}
	if len(dst) == 0 {
		return nil
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), len(dst)*8)
	if err := readFull(in, raw, o.Span.Off+first*8); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = int64(binary.BigEndian.Uint64(raw[i*8:]))
	}
	return nil
}

// At gives one element.
func (o Offsets) At(in decoder.Input, i int64) (int64, error) {
	var v [1]int64
	if i == o.Len() {
		return 0, fmt.Errorf("offset %d of %d: no such element", i, o.Len())
	}
	_, err := o.Read(in, i, v[:])
	return v[0], err
}

// First gives the first element; the array must not be empty.
func (o Offsets) First(in decoder.Input) (int64, error) { return o.At(in, 0) }

// Last gives the last element; the array must not be empty.
func (o Offsets) Last(in decoder.Input) (int64, error) { return o.At(in, o.Len()-1) }

// Each calls f for every element in order and stops at the first error.
func (o Offsets) Each(in decoder.Input, f func(i, offset int64) error) error {
	w := window{o: o, in: in}
	for i := int64(0); i < o.Len(); {
		p, left := o.pieceAt(i)
		for left > 0 {
			page, err := w.from(p.first, left, o.nextFirst(i, left))
			if err != nil {
				return err
			}
			for k, v := range page {
				if err := f(i+int64(k), v+p.delta); err != nil {
					return err
				}
			}
			n := int64(len(page))
			i, left, p.first = i+n, left-n, p.first+n
		}
	}
	return nil
}

// nextFirst is where in the base the piece after elements i to i+left begins;
// the largest number where there is none.
func (o Offsets) nextFirst(i, left int64) int64 {
	if i+left >= o.Len() {
		return math.MaxInt64
	}
	p, _ := o.pieceAt(i + left)
	return p.first
}

// window is a page of the base: where many short pieces lie close together,
// they are read at once.
type window struct {
	o      Offsets
	in     decoder.Input
	first  int64
	values []int64
	page   []int64
}

// from gives up to n base elements from number first on; next is where the
// base is read after them.
func (w *window) from(first, n, next int64) ([]int64, error) {
	const pageLen = offsetsPage / 8
	have := w.first + int64(len(w.values)) - first
	if first < w.first || have <= 0 {
		load := min(n, pageLen)
		if next >= first && next < first+pageLen {
			load = min(pageLen, w.o.baseLen()-first)
		}
		if int64(len(w.page)) < load {
			w.page = make([]int64, load)
		}
		w.first, w.values = first, w.page[:load]
		if err := w.o.readBase(w.in, first, w.values); err != nil {
			w.values = nil
			return nil, err
		}
		have = load
	}
	at := first - w.first
	return w.values[at : at+min(n, have)], nil
}

// baseLen is the number of elements of the span or of the literal values.
func (o Offsets) baseLen() int64 {
	if o.edit != nil && o.edit.literal != nil {
		return int64(len(o.edit.literal))
	}
	return o.Span.Len / 8
}

// Without gives the array without the elements in drop, which may overlap and
// be in any order; what lies outside the array is ignored. Memory is taken for
// the runs that stay, not for the elements.
func (o Offsets) Without(drop []Range) Offsets {
	before := func(a, b Range) int { return cmp.Compare(a.First, b.First) }
	if !slices.IsSortedFunc(drop, before) {
		drop = slices.Clone(drop)
		slices.SortFunc(drop, before)
	}
	e := o.newEdit(len(drop) + 1)
	at := int64(0)
	for _, r := range drop {
		e.take(o, at, min(r.First, o.Len()), 0)
		if r.Last >= r.First {
			at = max(at, min(r.Last, o.Len()-1)+1)
		}
	}
	e.take(o, at, o.Len(), 0)
	if e.n == o.Len() {
		return o
	}
	return Offsets{Span: o.Span, edit: e}
}

// newEdit begins an edit of o with room for that many more pieces than o has.
func (o Offsets) newEdit(more int) *offsetsEdit {
	e := &offsetsEdit{}
	if o.edit != nil {
		e.literal = o.edit.literal
		more += len(o.edit.pieces)
	}
	e.pieces = make([]piece, 0, more)
	return e
}

// take adds elements from up to, not including, to of o, moved by delta.
func (e *offsetsEdit) take(o Offsets, from, to, delta int64) {
	for i := from; i < to; {
		p, left := o.pieceAt(i)
		left = min(left, to-i)
		e.add(p.first, left, p.delta+delta)
		i += left
	}
}

func (e *offsetsEdit) add(first, count, delta int64) {
	if k := len(e.pieces) - 1; k < 0 || e.pieces[k].delta != delta || e.pieces[k].first+e.n-e.pieces[k].at != first {
		e.pieces = append(e.pieces, piece{e.n, first, delta})
	}
	e.n += count
}

// Shifted gives the array with elements moved as shifts say, which are in
// ascending order of First (positions in this array, after any Without).
// Elements before the first shift stay as they are.
func (o Offsets) Shifted(shifts []Shift) Offsets {
	e := o.newEdit(len(shifts) + 1)
	at, delta := int64(0), int64(0)
	for _, s := range shifts {
		first := min(max(s.First, at), o.Len())
		e.take(o, at, first, delta)
		at, delta = first, s.Delta
	}
	e.take(o, at, o.Len(), delta)
	return Offsets{Span: o.Span, edit: e}
}

// readFull fills p from off on.
func readFull(in decoder.Input, p []byte, off int64) error {
	if off < 0 || off > math.MaxInt64-int64(len(p)) {
		return &decoder.Error{File: in.Name(), Offset: off, Expected: "an offset in the file", Found: fmt.Sprint(off)}
	}
	n, err := in.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	return &decoder.Error{File: in.Name(), Offset: off + int64(n), Expected: fmt.Sprintf("%d more bytes", len(p)-n), Found: fmt.Sprint(err), Err: err}
}
