package keyed

import (
	"errors"
	"fmt"
	"strconv"

	"chkscope/decoder"
	"chkscope/decoder/serde"
)

// heapWalker goes through groups of a heap stream.
type heapWalker struct {
	c     source
	s     *Stream
	cut   int
	entry func(Entry) error
	// copies: entries are not read where their end is known without, but for a
	// state of look.
	copies bool
	look   []Chooser
	// raw is called with each entry of a state of look and its bytes, of which the
	// value is the last part.
	raw func(e Entry, b []byte) error
	// block is called behind the id of a block; it may set c.tee to copy what
	// follows.
	block func(id int) error
	// begin is called behind the number of entries, finish behind the last one,
	// with the bytes of the block.
	begin  func(id int, n int64)
	finish func(id int, bytes int64)
	// blocked is called where the length of an entry is not known. It may go to
	// the end of the group and give true, where that is enough.
	blocked func(seen map[int]bool) bool
	number  int32 // of the group
	start   int64 // compressed: offset of the block's framed stream
	at      int64 // pos of the entry that is given
	proofs  *proofs
	// partial: entries of the block cannot be told apart, only its end is known.
	// untold is the first error about those that were to be given.
	partial bool
	untold  error
}

// group goes through group i. In a compressed stream a block whose entries have
// no known length does not stop it: the first such error is given at the end.
func (w *heapWalker) group(i int) (end int64, err error) {
	c, span := &w.c, w.s.Extent(i)
	w.number = w.s.Start + int32(i)
	if w.s.Header.Version == 1 {
		return 0, damage(w.s.In, span.Off, w.s.path(i), "a known layout", "the heap layout of Flink 1.2", serde.ErrOpaque)
	}
	if span.Len == 0 {
		return 0, damage(w.s.In, span.Off, w.s.path(i), "a key group", "nothing", nil)
	}
	c.reset(w.s.In, span, false, w.s.path(i))
	if g := c.i32("key group"); c.err == nil && g != w.s.Start+int32(i) {
		c.fail(fmt.Sprintf("key group %d", w.s.Start+int32(i)), strconv.Itoa(int(g)), nil)
	}
	if w.proofs == nil {
		w.proofs = &proofs{}
	}
	w.untold = nil
	seen := map[int]bool{}
	var opaque error
	for at := span.Off + 4; len(seen) < len(w.s.Header.States) && c.err == nil; {
		if w.s.Header.Compressed {
			w.start = at
			c.resetOne(w.s.In, at, span.End(), w.s.path(i))
		}
		err := w.one(seen)
		switch {
		case errors.Is(err, serde.ErrOpaque) && w.s.Header.Compressed:
			if opaque == nil {
				opaque = err
			}
			c.err = nil
			c.toEnd()
		case errors.Is(err, serde.ErrOpaque) && w.blocked != nil && w.blocked(seen):
			return span.End(), c.err
		case err != nil:
			return 0, err
		}
		if w.s.Header.Compressed && c.err == nil {
			if c.more(1); c.w > c.r {
				c.fail("end of the block", "more bytes", nil)
			}
			at = c.frame.Off()
		}
	}
	if err := firstOf(c.err, firstOf(opaque, w.untold)); err != nil {
		return 0, err
	}
	if w.s.Header.Compressed {
		return c.frame.Off(), nil
	}
	return span.Off + c.pos, nil
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// one goes through one block.
func (w *heapWalker) one(seen map[int]bool) error {
	c := &w.c
	start := c.pos
	id := c.u16("state id")
	if c.err == nil && (id >= len(w.s.Header.States) || seen[id]) {
		c.fail(fmt.Sprintf("a state id below %d that was not there before", len(w.s.Header.States)), strconv.Itoa(id), nil)
	}
	if c.err != nil {
		return c.err
	}
	seen[id], w.partial = true, false
	if w.block != nil {
		if err := w.block(id); err != nil {
			return err
		}
	}
	n := int64(c.count("number of entries"))
	if w.begin != nil && c.err == nil {
		w.begin(id, n)
	}
	if w.copies && w.s.Header.Compressed && (w.look == nil || w.look[id] == nil) {
		c.toEnd()
	} else if err := w.entries(id, n); err != nil {
		return err
	}
	w.finished(id, c.pos-start)
	return c.err
}

func (w *heapWalker) finished(id int, bytes int64) {
	w.c.tee = nil
	if w.finish != nil && w.c.err == nil {
		w.finish(id, bytes)
	}
}

// entries goes through n entries of a state.
func (w *heapWalker) entries(id int, n int64) error {
	c, m := &w.c, &w.s.Header.States[id]
	types := [3]*serde.Snapshot{m.Serializer(serde.NamespaceSerializer), w.s.Header.Key, m.Serializer(serde.ValueSerializer)}
	if m.Kind == serde.PriorityQueue {
		types = [3]*serde.Snapshot{nil, m.Serializer(serde.ValueSerializer), nil}
	}
	for n > 0 && c.err == nil {
		b, off := c.buf[c.r:c.w], 0
		for n > 0 {
			ends, err := w.lengths(types, b[off:])
			if err != nil && errors.Is(err, serde.ErrOpaque) {
				c.take(off, "entries")
				return w.beyond(id, n, err)
			}
			if err != nil {
				if err := w.stuck(m, off, err); err != nil {
					return err
				}
				break
			}
			w.at = c.pos + int64(off)
			if err := w.give(id, b[off:], ends); err != nil {
				return err
			}
			off += ends[2]
			n--
		}
		c.take(off, "entries")
		if n > 0 {
			c.more(max(2*(c.w-c.r), 4096))
		}
	}
	return c.err
}

// wants tells whether entries of a state are to be given.
func (w *heapWalker) wants(id int) bool {
	if w.look != nil {
		return w.look[id] != nil
	}
	return w.entry != nil
}

// give calls what wants the entry at the start of b.
func (w *heapWalker) give(id int, b []byte, ends [3]int) error {
	if w.raw != nil && w.look[id] != nil {
		if err := w.raw(w.entryAt(id, b, ends), b[:ends[2]]); err != nil {
			return err
		}
	}
	if w.entry != nil && w.wants(id) {
		return w.entry(w.entryAt(id, b, ends))
	}
	return nil
}

// lengths gives where namespace, key and value at the start of b end.
func (w *heapWalker) lengths(types [3]*serde.Snapshot, b []byte) (ends [3]int, err error) {
	at := 0
	for i, t := range types {
		if t != nil || i == 1 {
			n, err := serde.Skip(t, b[at:])
			if err != nil {
				return ends, err
			}
			at += n
		}
		ends[i] = at
	}
	return ends, nil
}

// stuck is the error for an entry at off in the buffer that could not be read,
// nil where more bytes may help.
func (w *heapWalker) stuck(m *serde.StateMeta, off int, err error) error {
	c := &w.c
	opaque := errors.Is(err, serde.ErrOpaque)
	if !opaque && !c.ended && c.w-c.r-off < maxParsed {
		return nil
	}
	c.take(off, "entries")
	found := err.Error()
	if d := (*decoder.Error)(nil); errors.As(err, &d) {
		found = d.Found
	}
	c.fail("an entry of state "+strconv.Quote(decoder.Text(m.Name)), found, err)
	return c.err
}

func (w *heapWalker) entryAt(id int, b []byte, ends [3]int) Entry {
	cut := func(p []byte) []byte { return p[:min(len(p), w.cut)] }
	return Entry{
		State: id, Group: w.number, Namespace: cut(b[:ends[0]]), Key: cut(b[ends[0]:ends[1]]), Value: cut(b[ends[1]:ends[2]]),
		KeyLen: int64(ends[1] - ends[0]), ValueLen: int64(ends[2] - ends[1]),
	}
}

// resetOne begins a framed stream that ends before the next one.
func (c *source) resetOne(in decoder.Input, off, end int64, path string) {
	c.reset(in, decoder.Span{Off: off, Len: end - off}, true, path)
	c.frame.ResetOne(off, end)
}

// toEnd steps over all bytes up to the end.
func (c *source) toEnd() {
	for c.err == nil {
		if c.r == c.w {
			if c.more(1); c.r == c.w {
				return
			}
		}
		c.take(c.w-c.r, "")
	}
}

// count reads an i32 that is not negative.
func (c *source) count(what string) int32 {
	n := c.i32(what)
	if c.err == nil && n < 0 {
		c.fail(what+" of 0 or more", strconv.Itoa(int(n)), nil)
	}
	return n
}
