package metadata

import (
	"encoding/binary"
	"fmt"
	"math"
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
	page := make([]int64, min(o.Len(), offsetsPage/8))
	for i := int64(0); i < o.Len(); {
		n, err := o.Read(in, i, page)
		if err != nil {
			return err
		}
		for k, v := range page[:n] {
			if err := f(i+int64(k), v); err != nil {
				return err
			}
		}
		i += int64(n)
	}
	return nil
}

// Without gives the array without the elements in drop, which may overlap and
// be in any order; what lies outside the array is ignored. Memory is taken for
// the runs that stay, not for the elements.
func (o Offsets) Without(drop []Range) Offsets {
	keep, at := []Range{}, int64(0)
	for _, r := range sortedRanges(drop, o.Len()) {
		if r.First > at {
			keep = append(keep, Range{at, r.First - 1})
		}
		at = max(at, r.Last+1)
	}
	if at == 0 {
		return o
	}
	if at < o.Len() {
		keep = append(keep, Range{at, o.Len() - 1})
	}
	return o.sub(keep)
}

func sortedRanges(ranges []Range, n int64) []Range {
	var s []Range
	for _, r := range ranges {
		r.First, r.Last = max(r.First, 0), min(r.Last, n-1)
		if r.First <= r.Last {
			s = append(s, r)
		}
	}
	sort.Slice(s, func(i, k int) bool { return s[i].First < s[k].First })
	return s
}

// sub gives the elements of the ascending ranges keep.
func (o Offsets) sub(keep []Range) Offsets {
	e := &offsetsEdit{}
	if o.edit != nil {
		e.literal = o.edit.literal
	}
	for _, r := range keep {
		for i := r.First; i <= r.Last; {
			p, left := o.pieceAt(i)
			left = min(left, r.Last+1-i)
			e.add(p.first, left, p.delta)
			i += left
		}
	}
	return Offsets{Span: o.Span, edit: e}
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
	e := &offsetsEdit{}
	if o.edit != nil {
		e.literal = o.edit.literal
	}
	run := func(from, to, delta int64) {
		for i := from; i < to; {
			p, left := o.pieceAt(i)
			left = min(left, to-i)
			e.add(p.first, left, p.delta+delta)
			i += left
		}
	}
	at, delta := int64(0), int64(0)
	for _, s := range shifts {
		first := min(max(s.First, at), o.Len())
		run(at, first, delta)
		at, delta = first, s.Delta
	}
	run(at, o.Len(), delta)
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
