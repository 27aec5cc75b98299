package keyed

import (
	"encoding/binary"
	"errors"

	"chkscope/decoder/serde"
)

// rewriteHeap writes the groups of a heap stream without what the plan takes
// out and gives their offsets.
func (s *Stream) rewriteHeap(out *output, p plan, removed []StateSize) ([]int64, error) {
	gone := make([]chosen, len(p.ids))
	w := s.heapCopier(out, p, removed, gone)
	offsets := make([]int64, len(s.Offsets))
	for i := range s.Offsets {
		offsets[i] = out.n
		if _, err := out.Write(binary.BigEndian.AppendUint32(nil, uint32(s.Start)+uint32(i))); err != nil {
			return nil, err
		}
		if p.filters() {
			if err := s.choose(i, p, gone); err != nil {
				return nil, err
			}
		}
		if _, err := w.group(i); err != nil {
			return nil, err
		}
	}
	return offsets, nil
}

// chosen is the entries of a state in a group that go or lose something: a bit
// for each entry.
type chosen struct {
	first    int64 // number of the group's first entry in the stream
	bits     []uint64
	n, total int64 // that go; all
	next     int64 // entry that is copied next
	done     bool  // all entries of the group were looked at
}

// reset begins the next group.
func (c *chosen) reset(done bool) {
	*c = chosen{first: c.first + c.total, bits: c.bits[:0], done: done}
}

func (c *chosen) add(choice Choice) {
	if c.total%64 == 0 {
		c.bits = append(c.bits, 0)
	}
	if choice.Goes || choice.Value != nil {
		c.bits[c.total/64] |= 1 << (c.total % 64)
	}
	if choice.Goes {
		c.n++
	}
	c.total++
}

// pop gives the number of the next entry and whether it is not copied as it is.
func (c *chosen) pop() (int64, bool) {
	i := c.next
	c.next++
	if i >= c.total {
		return c.first + i, false // the stream has changed in between
	}
	return c.first + i, c.bits[i/64]&(1<<(i%64)) != 0
}

// choose finds out which entries of group i go: their number stands before them.
func (s *Stream) choose(i int, p plan, gone []chosen) error {
	for id := range gone {
		gone[id].reset(p.goes[id] == nil)
	}
	w := &heapWalker{s: s, cut: maxEntry, copies: true, look: p.goes}
	w.entry = func(e Entry) error {
		c := &gone[e.State]
		c.add(p.goes[e.State](c.first+c.total, e))
		return nil
	}
	w.finish = func(id int, _ int64) { gone[id].done = !w.partial }
	_, err := w.group(i)
	if !errors.Is(err, serde.ErrOpaque) {
		return err
	}
	for id := range gone {
		if !gone[id].done {
			return err
		}
	}
	return nil
}

// heapCopier is a walker that copies the blocks that stay.
func (s *Stream) heapCopier(out *output, p plan, removed []StateSize, gone []chosen) *heapWalker {
	w := &heapWalker{s: s, cut: maxEntry, copies: true, look: p.goes}
	w.block = func(id int) error {
		if p.drop[id] {
			return nil
		}
		head := binary.BigEndian.AppendUint16(nil, uint16(p.place[id]))
		switch {
		case p.ids[id] < 0:
			head = append(head, 0, 0, 0, 0) // no entries
		case p.goes[id] != nil:
			head = binary.BigEndian.AppendUint32(head, uint32(gone[id].total-gone[id].n))
		default:
			w.c.tee = out
		}
		_, err := out.Write(head)
		return err
	}
	w.raw = func(e Entry, b []byte) error {
		n, changes := gone[e.State].pop()
		if !changes {
			_, err := out.Write(b)
			return err
		}
		choice := p.goes[e.State](n, e)
		removed[e.State].Entries += choice.count()
		if choice.Goes {
			removed[e.State].Bytes += int64(len(b))
			return nil
		}
		removed[e.State].Bytes += int64(len(e.Value) - len(choice.Value))
		if _, err := out.Write(b[:len(b)-len(e.Value)]); err != nil {
			return err
		}
		_, err := out.Write(choice.Value)
		return err
	}
	w.begin = func(id int, n int64) {
		if p.ids[id] < 0 {
			removed[id].Entries += n
		}
	}
	w.finish = func(id int, bytes int64) {
		if p.ids[id] < 0 {
			removed[id].Bytes += bytes
		}
	}
	w.blocked = func(seen map[int]bool) bool {
		// What is left of the group is this block, or can be copied as it is where
		// nothing in it changes.
		for id := range p.ids {
			if !seen[id] && (w.c.tee == nil || p.ids[id] != id || p.goes[id] != nil) {
				return false
			}
		}
		w.c.err = nil
		w.c.toEnd()
		return w.c.err == nil
	}
	return w
}
