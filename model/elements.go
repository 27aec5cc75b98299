package model

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/opstate"
)

// Element is one entry of a list state.
type Element struct {
	Index int64
	Off   int64 // in its stream
	Len   int64 // to the next larger offset of the handle, or the end; Unknown where that cannot be told
	Head  []byte
}

// operatorHandleOf gives the handle that holds a cell's elements, or nil.
func (s *Snapshot) operatorHandleOf(t *Tree, cell Node) *metadata.OperatorHandle {
	if t.class[cell] != ClassCell {
		return nil
	}
	st := s.Meta.Operators[t.op[cell]].Subtasks[t.sub[cell]].State
	switch t.kind[cell] {
	case KindOperator:
		return st.ManagedOperator
	case KindRawOperator:
		return st.RawOperator
	}
	return nil
}

// HasElements reports whether a cell is a list whose elements can be shown.
func (s *Snapshot) HasElements(t *Tree, cell Node) bool {
	return t.class[cell] == ClassCell && (t.kind[cell] == KindOperator || t.kind[cell] == KindRawOperator) && t.entries[cell] > 0
}

// plainElements is Elements for a stream that is not compressed: only the first
// and last offset of each state and the page itself are read.
func (s *Snapshot) plainElements(ctx context.Context, t *Tree, cell Node, from int64, n, head int) ([]Element, error) {
	h := s.operatorHandleOf(t, cell)
	if h == nil {
		return nil, errors.New("this state has no list elements")
	}
	st := stateOf(h, t.Name(cell))
	if st == nil || from >= st.Offsets.Len() || n <= 0 {
		return nil, nil
	}
	// One more than asked for gives the end of the last.
	offsets := make([]int64, min(int64(n)+1, st.Offsets.Len()-from))
	if _, err := st.Offsets.Read(s.Meta.In, from, offsets); err != nil {
		return nil, err
	}
	out := make([]Element, min(n, len(offsets)))
	bounds, err := s.bounds(h)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = Element{Index: from + int64(i), Off: offsets[i], Len: Unknown}
		end := bounds.after(offsets[i])
		if i+1 < len(offsets) && offsets[i+1] > offsets[i] && (end == Unknown || offsets[i+1] < end) {
			end = offsets[i+1]
		}
		if end != Unknown && bounds.ordered {
			out[i].Len = end - offsets[i]
		}
	}
	return out, s.readHeads(ctx, h, out, head)
}

func stateOf(h *metadata.OperatorHandle, name string) *metadata.OperatorState {
	for i := range h.States {
		if h.States[i].Name == name {
			return &h.States[i]
		}
	}
	return nil
}

// bound is where the runs of elements of a handle's states begin, and the end
// of the stream.
type bounds struct {
	at      []int64 // sorted
	ordered bool    // states do not interleave, so that these and the next offset give ends
}

func (s *Snapshot) bounds(h *metadata.OperatorHandle) (bounds, error) {
	s.boundsMu.Lock()
	defer s.boundsMu.Unlock()
	if s.boundsOf == h {
		return s.bounded, nil
	}
	b, err := s.readBounds(h)
	if err == nil {
		s.boundsOf, s.bounded = h, b
	}
	return b, err
}

func (s *Snapshot) readBounds(h *metadata.OperatorHandle) (bounds, error) {
	b := bounds{ordered: true}
	length := streamLen(&h.Delegate)
	for i, e := range extents(s.Meta.In, h.States, length) {
		if h.States[i].Offsets.Len() == 0 {
			continue
		}
		first, err := h.States[i].Offsets.First(s.Meta.In)
		if err != nil {
			return b, err
		}
		b.at = append(b.at, first)
		b.ordered = b.ordered && e != Unknown
	}
	if length >= 0 {
		b.at = append(b.at, length)
	}
	slices.Sort(b.at)
	return b, nil
}

func (b bounds) after(off int64) int64 {
	i, _ := slices.BinarySearch(b.at, off+1)
	if i == len(b.at) {
		return Unknown
	}
	return b.at[i]
}

// readHeads reads the first bytes of elements, with one range where they lie
// close together.
func (s *Snapshot) readHeads(ctx context.Context, h *metadata.OperatorHandle, list []Element, head int) error {
	if head <= 0 || len(list) == 0 {
		return nil
	}
	in, closer, err := s.OpenStream(ctx, &h.Delegate)
	if err != nil {
		return err
	}
	defer closer.Close()
	paged := decoder.Paged(in, 64<<10)
	for i := range list {
		e := &list[i]
		n := int64(head)
		if e.Len != Unknown {
			n = min(n, e.Len)
		}
		n = min(n, in.Size()-e.Off)
		if n <= 0 {
			continue
		}
		e.Head = make([]byte, n)
		if k, err := paged.ReadAt(e.Head, e.Off); k < len(e.Head) {
			if err == io.EOF || err == nil {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// nothing is a Closer for inline streams.
type nothing struct{}

func (nothing) Close() error { return nil }

// OpenStream opens what a stream handle holds or names: inline data, a file, or
// the segment of one. A file whose length is not the recorded one is still opened.
func (s *Snapshot) OpenStream(ctx context.Context, h *metadata.StreamHandle) (decoder.Input, io.Closer, error) {
	switch h.Type {
	case metadata.TypeNull, metadata.TypeEmptySegment:
		return decoder.Bytes{Label: "empty"}, nothing{}, nil
	case metadata.TypeByteStream:
		if h.Data.New != nil {
			return decoder.Bytes{Data: h.Data.New, Label: h.Name}, nothing{}, nil
		}
		return decoder.Section(s.Meta.In, h.Data.Span, s.Meta.In.Name()+" (inline "+h.Name+")"), nothing{}, nil
	case metadata.TypeKeyGroups:
		return s.OpenStream(ctx, &h.Keyed.Stream)
	}
	l := s.locate(h, roleOwn)
	obj, err := s.Store.Open(ctx, l.URI)
	if err != nil {
		return nil, nil, err
	}
	if !l.Segment {
		return obj, obj, nil
	}
	if l.Off < 0 || l.Len < 0 || l.Off > obj.Size()-l.Len {
		obj.Close()
		return nil, nil, &decoder.Error{File: l.URI, Offset: l.Off, Expected: "a segment inside the file", Found: "it ends behind the file's end", Err: io.ErrUnexpectedEOF}
	}
	return decoder.Section(obj, decoder.Span{Off: l.Off, Len: l.Len}, l.URI), obj, nil
}

// ElementData is one element as it is read through: its number, place, length
// and first bytes (decompressed), valid during the call.
type ElementData = opstate.Element

// EachElement reads all elements of a cell in order; elements longer than cut
// are given cut to it. It needs constant memory but for streams whose offsets
// do not ascend.
func (s *Snapshot) EachElement(ctx context.Context, t *Tree, cell Node, cut int64, f func(ElementData) error) error {
	return s.FirstElements(ctx, t, cell, math.MaxInt64, cut, f)
}

// FirstElements is EachElement of up to n elements.
func (s *Snapshot) FirstElements(ctx context.Context, t *Tree, cell Node, n, cut int64, f func(ElementData) error) error {
	return s.elementsFrom(ctx, t, cell, 0, n, cut, f)
}

func (s *Snapshot) elementsFrom(ctx context.Context, t *Tree, cell Node, from, n, cut int64, f func(ElementData) error) error {
	return s.withOperatorStream(ctx, t, cell, func(st *opstate.Stream, state int) error {
		return st.Elements(state, from, n, cut, f)
	})
}

// withOperatorStream opens the stream of a cell of operator state for f, which
// also gets the index of the state in it.
func (s *Snapshot) withOperatorStream(ctx context.Context, t *Tree, cell Node, f func(st *opstate.Stream, state int) error) error {
	h := s.operatorHandleOf(t, cell)
	if h == nil {
		return errors.New("this state has no list elements")
	}
	in, closer, err := s.OpenStream(ctx, &h.Delegate)
	if err != nil {
		return err
	}
	defer closer.Close()
	var st *opstate.Stream
	if t.kind[cell] == KindRawOperator {
		st = opstate.OpenRaw(in, s.Meta.In, h.States)
	} else if st, err = opstate.Open(in, s.Meta.In, h.States); st.Header == nil {
		return err
	}
	name := t.Name(cell)
	state := slices.IndexFunc(h.States, func(o metadata.OperatorState) bool { return o.Name == name })
	if state < 0 {
		return nil
	}
	return f(st, state)
}

// Elements gives up to n list elements of a cell from the from-th on, with the
// first bytes of each (at most head). It reads their ranges only. Where the
// stream cannot be read the elements come without bytes, beside the error.
func (s *Snapshot) Elements(ctx context.Context, t *Tree, cell Node, from int64, n, head int) ([]Element, error) {
	if t.class[cell] == ClassCell && s.Compressed(int(t.op[cell]), int(t.sub[cell])) {
		var out []Element
		err := s.elementsFrom(ctx, t, cell, from, int64(n), int64(head), func(e ElementData) error {
			out = append(out, Element{Index: e.Index, Off: e.Off, Len: e.Len, Head: append([]byte(nil), e.Data...)})
			return ctx.Err()
		})
		return out, err
	}
	return s.plainElements(ctx, t, cell, from, n, head)
}
