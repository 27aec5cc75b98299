package keyed

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// maxGroups is the largest number of key groups (KeyGroupRangeAssignment).
const maxGroups = 1 << 15

// Layout is how the data behind the header is laid out.
type Layout int

const (
	Canonical Layout = iota
	Heap
)

func (l Layout) String() string {
	if l == Heap {
		return "heap"
	}
	return "canonical"
}

// Stream is a stream of keyed state and the handle that names it.
type Stream struct {
	In     decoder.Input
	Header *Header
	Layout Layout
	// Start is the first key group, Offsets has one offset for each.
	Start   int32
	Offsets []int64
	// MaxParallelism is that of the operator, 0 where it is not known. It tells in
	// heap layout which keys may be in a group.
	MaxParallelism int32

	sorted []int64 // offsets that are not zero, ascending
}

// Open reads the header of the stream in and finds its layout. H is the handle,
// of the type given (3, 7, 12), whose offsets are read from meta (`_metadata`).
// Names are as for ParseHeader. On damage of the header the Stream is there too.
func Open(in, meta decoder.Input, kind byte, h *metadata.KeyGroupsHandle, names []string) (*Stream, error) {
	s := &Stream{In: in, Start: h.Start}
	if err := s.readOffsets(meta, h, false); err != nil {
		return s, err
	}
	limit := in.Size()
	if len(s.sorted) > 0 {
		limit = s.sorted[0]
	}
	var err error
	if s.Header, err = ParseHeader(in, limit, names); err != nil {
		return s, err
	}
	s.Layout, err = s.findLayout(kind)
	return s, err
}

// readOffsets reads the offsets of the handle. Those of raw state are -1 where a
// group has nothing, and may be 0.
func (s *Stream) readOffsets(meta decoder.Input, h *metadata.KeyGroupsHandle, raw bool) error {
	n := h.Offsets.Len()
	if n > maxGroups || n != int64(h.Number) {
		return damage(meta, h.Offsets.Span.Off, "key-group offsets", fmt.Sprintf("%d offsets, at most %d", h.Number, maxGroups), fmt.Sprint(n), nil)
	}
	s.Offsets = make([]int64, n)
	if _, err := h.Offsets.Read(meta, 0, s.Offsets); err != nil {
		return err
	}
	for i, off := range s.Offsets {
		if raw && off == -1 {
			continue
		}
		if off < 0 || off > s.In.Size() {
			return damage(s.In, off, s.path(i), fmt.Sprintf("offset between 0 and %d", s.In.Size()), fmt.Sprint(off), nil)
		}
		if off > 0 || raw {
			s.sorted = append(s.sorted, off)
		}
	}
	slices.Sort(s.sorted)
	return nil
}

// findLayout tells the layout by the type of the handle, the offsets and what
// stands at them.
func (s *Stream) findLayout(kind byte) (Layout, error) {
	if kind == metadata.TypeSavepoint || len(s.sorted) < len(s.Offsets) || len(s.Offsets) == 0 {
		return Canonical, nil
	}
	for i, off := range s.Offsets {
		var p [4]byte
		if n, err := s.In.ReadAt(p[:], off); n < len(p) {
			return 0, damage(s.In, off, s.path(i), "4 bytes", fmt.Sprint(err), err)
		}
		if int32(binary.BigEndian.Uint32(p[:])) != s.Start+int32(i) {
			return Canonical, nil
		}
	}
	if s.Start != 0 || len(s.Offsets) > 1 {
		return Heap, nil
	}
	// Group 0 alone: in canonical layout the first id and half a length are zeros
	// too. Only one of the two is exact.
	if end, err := s.Walk(0, 0, func(Entry) error { return nil }); err == nil && end == s.In.Size() {
		return Canonical, nil
	}
	return Heap, nil
}

// Groups is how many key groups there are; group i has the number Start + i.
func (s *Stream) Groups() int { return len(s.Offsets) }

// Extent is where the data of group i lies, up to the next group or the end of
// the stream; empty where it has none.
func (s *Stream) Extent(i int) decoder.Span {
	if s.Offsets[i] == 0 {
		return decoder.Span{}
	}
	return s.extent(s.Offsets[i])
}

func (s *Stream) extent(off int64) decoder.Span {
	end := s.In.Size()
	if k := sort.Search(len(s.sorted), func(k int) bool { return s.sorted[k] > off }); k < len(s.sorted) {
		end = s.sorted[k]
	}
	return decoder.Span{Off: off, Len: end - off}
}

func (s *Stream) path(i int) string { return fmt.Sprintf("key group %d", s.Start+int32(i)) }

func damage(in decoder.Input, off int64, path, expected, found string, cause error) error {
	return &decoder.Error{File: in.Name(), Offset: off, Path: path, Expected: expected, Found: found, Err: cause}
}
