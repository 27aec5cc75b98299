package opstate

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sort"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// Edit is what Rewrite takes out of a stream.
type Edit struct {
	// Drop are names of states that go: record, elements, and the name in the
	// handle. A name that is only in the header or only in the handle goes too.
	Drop []string
	// Elements are elements of list states that go, by name.
	Elements map[string][]metadata.Range
	// Entries are entries of broadcast states that go, by name: their numbers in the
	// map of this stream (Entry.Index). Their serializers must tell where each key
	// and value ends; the error wraps serde.ErrOpaque where one does not.
	Entries map[string][]metadata.Range
}

// Rewritten is the stream that Rewrite wrote.
type Rewritten struct {
	// States are those of the handle that are left, with their offsets in the new
	// stream, to be read with the same Meta.
	States []metadata.OperatorState
	Size   int64 // bytes written
	// Records is how many records the new header has. Without any, and without
	// States, the handle can go.
	Records int
}

// Rewrite writes the stream without what e takes out. Records and elements
// that stay are copied byte for byte, in their order; dead bytes are left out
// where they do not follow an element that stays. A compressed stream is written
// uncompressed. The stream is never held in memory; of a compressed one, or one
// whose offsets do not ascend, the new offsets are.
func (s *Stream) Rewrite(w io.Writer, e Edit) (*Rewritten, error) {
	if err := s.index(); err != nil {
		return nil, err
	}
	drop := map[string]bool{}
	for _, n := range e.Drop {
		drop[n] = true
	}
	out := &output{w: bufio.NewWriterSize(w, int(min(s.In.Size()+4096, 1<<20)))}
	res := &Rewritten{}
	if s.Header != nil {
		n, err := s.writeHeader(out, drop)
		if err != nil {
			return nil, err
		}
		res.Records = n
	}
	offsets := make([]metadata.Offsets, len(s.States))
	for _, i := range s.order(s.places) {
		if drop[s.States[i].Name] {
			continue
		}
		var err error
		if gone := e.Entries[s.States[i].Name]; len(gone) > 0 {
			offsets[i], err = s.writeMap(out, i, gone)
		} else {
			offsets[i], err = s.writeState(out, i, e.Elements[s.States[i].Name])
		}
		if err != nil {
			return nil, err
		}
	}
	for i, st := range s.States {
		if !drop[st.Name] {
			st.Offsets = offsets[i]
			res.States = append(res.States, st)
		}
	}
	res.Size = out.n
	return res, out.w.Flush()
}

// output counts what is written.
type output struct {
	w *bufio.Writer
	n int64
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	o.n += int64(n)
	return n, err
}

// writeHeader writes the header without the records in drop and gives how many
// stay.
func (s *Stream) writeHeader(out *output, drop map[string]bool) (int, error) {
	h := s.Header
	lists, all := 0, 0
	for i, m := range h.States {
		if !drop[m.Name] {
			if all++; i < h.Lists {
				lists++
			}
		}
	}
	records := func(from, to int) error {
		for _, m := range h.States[from:to] {
			if drop[m.Name] {
				continue
			}
			p, err := decoder.ReadSpan(s.In, m.Span, serde.MaxHeader)
			if err != nil {
				return err
			}
			if _, err := out.Write(p); err != nil {
				return err
			}
		}
		return nil
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(h.Version))
	if h.Version >= 6 {
		head = append(head, 0)
	}
	if _, err := out.Write(binary.BigEndian.AppendUint16(head, uint16(lists))); err != nil {
		return 0, err
	}
	if err := records(0, h.Lists); err != nil {
		return 0, err
	}
	var middle []byte
	if h.stateCount >= 0 {
		middle = binary.BigEndian.AppendUint32(nil, uint32(all))
	} else {
		middle = binary.BigEndian.AppendUint16(nil, uint16(all-lists))
	}
	if _, err := out.Write(middle); err != nil {
		return 0, err
	}
	return all, records(h.Lists, len(h.States))
}

// writeState writes the elements of state i that stay and gives their offsets.
func (s *Stream) writeState(out *output, i int, gone []metadata.Range) (metadata.Offsets, error) {
	kept := keptRanges(gone, s.States[i].Offsets.Len())
	if s.compressed() || s.sorted != nil {
		return s.writeElements(out, i, kept)
	}
	offs := pagedOffsets{o: s.States[i].Offsets, in: s.Meta}
	copier := window{in: s.In}
	var shifts []metadata.Shift
	count := int64(0)
	for _, r := range kept {
		first, err := offs.at(r.First)
		if err != nil {
			return metadata.Offsets{}, err
		}
		end, err := offs.next(r.Last + 1)
		if err != nil {
			return metadata.Offsets{}, err
		}
		if end < 0 {
			end = s.places[i].end
		}
		if d := out.n - first; len(shifts) == 0 || shifts[len(shifts)-1].Delta != d {
			shifts = append(shifts, metadata.Shift{First: count, Delta: d})
		}
		count += r.Last - r.First + 1
		if err := copyBytes(out, &copier, first, end); err != nil {
			return metadata.Offsets{}, err
		}
	}
	return s.States[i].Offsets.Without(gone).Shifted(shifts), nil
}

// writeMap writes the entries of broadcast state i that stay.
func (s *Stream) writeMap(out *output, i int, gone []metadata.Range) (metadata.Offsets, error) {
	count, err := s.Entries(i, 0, 0, nil)
	if err != nil {
		return metadata.Offsets{}, err
	}
	kept, left := keptRanges(gone, count), int64(0)
	for _, r := range kept {
		left += r.Last - r.First + 1
	}
	offsets := metadata.NewOffsets([]int64{out.n})
	if _, err := out.Write(binary.BigEndian.AppendUint32(nil, uint32(left))); err != nil {
		return offsets, err
	}
	_, err = s.Entries(i, 0, count, func(e Entry) error {
		if e.Err != nil {
			return damage(s.In, e.Off, stateName(s.States[i].Name), "an entry whose end is known", e.Err.Error(), e.Err)
		}
		if len(kept) > 0 && kept[0].Last < e.Index {
			kept = kept[1:]
		}
		if len(kept) == 0 || e.Index < kept[0].First {
			return nil
		}
		if _, err := out.Write(e.Key); err != nil {
			return err
		}
		_, err := out.Write(e.Value)
		return err
	})
	return offsets, err
}

// writeElements is writeState element by element, with offsets in memory.
func (s *Stream) writeElements(out *output, i int, kept []metadata.Range) (metadata.Offsets, error) {
	values := []int64{}
	for _, r := range kept {
		if len(values) > maxSorted {
			return metadata.Offsets{}, damage(s.In, 0, stateName(s.States[i].Name), fmt.Sprintf("at most %d elements", maxSorted), "more", nil)
		}
		err := s.whole(i, r, func(e Element) error {
			values = append(values, out.n)
			_, err := out.Write(e.Data)
			return err
		})
		if err != nil {
			return metadata.Offsets{}, err
		}
	}
	return metadata.NewOffsets(values), nil
}

// whole is Elements for a range, with the bytes of each element up to maxRun.
func (s *Stream) whole(i int, r metadata.Range, f func(Element) error) error {
	return s.Elements(i, r.First, r.Last-r.First+1, maxRun, func(e Element) error {
		if e.Len > int64(len(e.Data)) {
			return damage(s.In, e.Off, stateName(s.States[i].Name), fmt.Sprintf("an element of at most %d bytes", maxRun), fmt.Sprint(e.Len), nil)
		}
		return f(e)
	})
}

func copyBytes(out *output, w *window, from, to int64) error {
	for from < to {
		n := min(to-from, windowLen)
		p, err := w.bytes(from, n)
		if err != nil {
			return err
		}
		if _, err := out.Write(p); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// keptRanges are the elements of n that are not in gone, ascending.
func keptRanges(gone []metadata.Range, n int64) []metadata.Range {
	gone = append([]metadata.Range(nil), gone...)
	sort.Slice(gone, func(a, b int) bool { return gone[a].First < gone[b].First })
	var kept []metadata.Range
	at := int64(0)
	for _, g := range gone {
		if g.First > at && at < n {
			kept = append(kept, metadata.Range{First: at, Last: min(g.First, n) - 1})
		}
		if g.Last < math.MaxInt64 {
			at = max(at, g.Last+1)
		} else {
			at = n
		}
	}
	if at < n {
		kept = append(kept, metadata.Range{First: at, Last: n - 1})
	}
	return kept
}
