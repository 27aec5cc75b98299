package keyed

import (
	"bufio"
	"encoding/binary"
	"io"
	"slices"
	"strconv"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// Edit is what Rewrite takes out of a stream.
type Edit struct {
	// Drop are names of states that go with their records; the ids of the states
	// behind them become smaller.
	Drop []string
	// Cut are names of states whose entries go and whose records stay.
	Cut []string
	// Entries tells, by the name of a state, which of its entries go.
	Entries map[string]Chooser
}

// Chooser tells what becomes of entry n of a state, counted in the order of the
// stream. It is asked with the whole of key and value, in that order, and perhaps
// twice.
type Chooser func(n int64, e Entry) Choice

// Choice is what becomes of an entry.
type Choice struct {
	Goes bool
	// Value, where not nil, is what is left of the value of an entry that stays.
	Value []byte
	// Parts is how many entries of a heap map go, with all of it or with the rest of
	// Value; 0 where the value is not looked into.
	Parts int64
}

// count is how many entries go.
func (c Choice) count() int64 {
	if c.Goes && c.Parts == 0 {
		return 1
	}
	return c.Parts
}

// Rewritten is the stream that Rewrite wrote.
type Rewritten struct {
	Offsets metadata.Offsets // of the key groups; 0 for those that are empty
	Size    int64            // bytes written
	Records int              // that the new header has
	Removed []StateSize      // what was taken out, by id in the old header
}

// Rewrite writes the stream without what e takes out. What stays is copied byte
// for byte. A compressed stream is written uncompressed. Nothing but a buffer is
// held in memory. Names that the header does not have are ignored.
//
// A heap stream that is not compressed needs the end of every entry in front of
// what changes in a group: the error wraps serde.ErrOpaque where neither a
// serializer nor the rest of the group tells (see Walk). Entries of a heap state go in two passes over a group.
func (s *Stream) Rewrite(w io.Writer, e Edit) (*Rewritten, error) {
	out := newOutput(w, s.In.Size())
	plan := s.plan(e)
	if err := s.writeHeader(out, plan); err != nil {
		return nil, err
	}
	res := &Rewritten{Records: plan.records, Removed: make([]StateSize, len(plan.ids))}
	rewrite := s.rewriteCanonical
	if s.Layout == Heap {
		rewrite = s.rewriteHeap
	}
	offsets, err := rewrite(out, plan, res.Removed)
	if err != nil {
		return nil, err
	}
	res.Offsets, res.Size = metadata.NewOffsets(offsets), out.n
	return res, out.w.Flush()
}

// rewriteCanonical writes the groups of a canonical stream without what the plan
// takes out and gives their offsets.
func (s *Stream) rewriteCanonical(out *output, plan plan, removed []StateSize) ([]int64, error) {
	offsets := make([]int64, len(s.Offsets))
	walk := s.copier(out, plan, removed)
	for i := range s.Offsets {
		start := out.n
		if _, err := s.walk(walk, i); err != nil {
			return nil, err
		}
		if out.n == start {
			continue
		}
		offsets[i] = start
		if _, err := out.Write([]byte{0xff, 0xff}); err != nil {
			return nil, err
		}
	}
	return offsets, nil
}

// output counts what is written.
type output struct {
	w *bufio.Writer
	n int64
}

func newOutput(w io.Writer, size int64) *output {
	return &output{w: bufio.NewWriterSize(w, int(min(size+4096, 1<<20)))}
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	o.n += int64(n)
	return n, err
}

// plan is what becomes of each state.
type plan struct {
	ids     []int     // new id, -1: its entries go
	place   []int     // new id of the record
	drop    []bool    // its record goes
	goes    []Chooser // not nil: which of its entries go
	records int
}

// filters tells whether single entries go.
func (p *plan) filters() bool {
	return slices.ContainsFunc(p.goes, func(f Chooser) bool { return f != nil })
}

func (s *Stream) plan(e Edit) plan {
	n := len(s.Header.States)
	p := plan{ids: make([]int, n), place: make([]int, n), drop: make([]bool, n), goes: make([]Chooser, n)}
	drop, cut := map[string]bool{}, map[string]bool{}
	for _, n := range e.Drop {
		drop[n] = true
	}
	for _, n := range e.Cut {
		cut[n] = true
	}
	for i, m := range s.Header.States {
		p.ids[i], p.place[i] = p.records, p.records
		if p.drop[i] = drop[m.Name]; !p.drop[i] {
			p.records++
		}
		if drop[m.Name] || cut[m.Name] {
			p.ids[i] = -1
		} else {
			p.goes[i] = e.Entries[m.Name]
		}
	}
	return p
}

// copier is a walker that copies the segments that stay.
func (s *Stream) copier(out *output, p plan, removed []StateSize) *walker {
	w := &walker{states: len(p.ids)}
	if p.filters() {
		w.cut = maxEntry
	}
	var part *segment // of a state whose entries are looked at
	number := make([]int64, len(p.ids))
	w.segment = func(id int) error {
		if part = nil; p.ids[id] < 0 {
			removed[id].Bytes += 2
			return nil
		}
		head := binary.BigEndian.AppendUint16(nil, uint16(p.ids[id]))
		if p.goes[id] != nil {
			part = &segment{out: out, held: head}
			return nil
		}
		w.c.tee = out
		_, err := out.Write(head)
		return err
	}
	w.entry = func(e Entry) error {
		gone := p.ids[e.State] < 0
		if part != nil {
			if e.KeyLen > maxEntry || e.ValueLen > maxEntry {
				w.c.fail("an entry of at most 1 GiB", strconv.FormatInt(e.KeyLen+e.ValueLen, 10)+" bytes", nil)
				return w.c.err
			}
			choice := p.goes[e.State](number[e.State], e)
			if number[e.State]++; !choice.Goes {
				return part.add(e)
			}
			gone = true
		}
		if gone {
			removed[e.State].add(e)
		}
		return nil
	}
	w.done = func(id int) error {
		if part == nil {
			return nil
		}
		if part.key == 0 {
			removed[id].Bytes += 2
		}
		return part.end()
	}
	return w
}

// maxEntry is the longest key or value of an entry that is looked at.
const maxEntry = 1 << 30

// segment writes those entries of a segment that stay. The last one has a flag,
// so one is held back.
type segment struct {
	out  *output
	held []byte // an entry, at first with the id before it
	key  int    // place of the key in held, 0: no entry yet
}

func (g *segment) add(e Entry) error {
	if g.key > 0 {
		if _, err := g.out.Write(g.held); err != nil {
			return err
		}
		g.held = g.held[:0]
	}
	g.held = binary.BigEndian.AppendUint32(g.held, uint32(len(e.Key)))
	g.key = len(g.held)
	g.held = append(g.held, e.Key...)
	g.held = binary.BigEndian.AppendUint32(g.held, uint32(len(e.Value)))
	g.held = append(g.held, e.Value...)
	return nil
}

func (g *segment) end() error {
	if g.key == 0 {
		return nil
	}
	g.held[g.key] |= 0x80
	_, err := g.out.Write(g.held)
	return err
}

// writeHeader writes the header with the records that stay and without
// compression.
func (s *Stream) writeHeader(out *output, p plan) error {
	h := s.Header
	head := binary.BigEndian.AppendUint32(nil, uint32(h.Version))
	if h.Version >= 4 {
		head = append(head, 0)
	}
	if _, err := out.Write(head); err != nil {
		return err
	}
	if err := s.copySpan(out, h.keySpan); err != nil {
		return err
	}
	if _, err := out.Write(binary.BigEndian.AppendUint16(nil, uint16(p.records))); err != nil {
		return err
	}
	for i, m := range h.States {
		if p.drop[i] {
			continue
		}
		if err := s.copySpan(out, m.Span); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stream) copySpan(out *output, span decoder.Span) error {
	p, err := decoder.ReadSpan(s.In, span, serde.MaxHeader)
	if err != nil {
		return err
	}
	_, err = out.Write(p)
	return err
}
