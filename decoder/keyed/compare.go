package keyed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"chkscope/decoder"
)

// Compared is what Compare found of a state.
type Compared struct {
	// Same: out has what the edit leaves of it, byte for byte and in the same
	// order; of a state that goes, out has none of it.
	Same bool
	// Gone counts the entries of Edit.Entries, of heap maps the parts, that are not in
	// out any more.
	Gone int64
}

// Compare tells for each state of s, by id, whether out, of the same layout and
// not compressed, holds what the edit leaves of it. It goes by names and knows
// nothing of how out was written. Headers are not compared.
//
// Damage of out makes states differ; an error is one of reading, or damage of s.
func Compare(s, out *Stream, e Edit) ([]Compared, error) {
	c := &comparison{src: s, out: out, plan: s.plan(e), res: make([]Compared, len(s.Header.States)), number: make([]int64, len(s.Header.States))}
	for id, m := range s.Header.States {
		c.ids = append(c.ids, out.Header.State(m.Name))
		c.res[id].Same = c.plan.drop[id] == (c.ids[id] < 0)
	}
	if len(s.Offsets) != len(out.Offsets) || s.Start != out.Start {
		c.differ(func(int) bool { return true })
		return c.res, nil
	}
	if s.Layout == Heap {
		return c.res, c.heap()
	}
	return c.res, c.canonical()
}

type comparison struct {
	src, out *Stream
	plan     plan
	ids      []int // in out, -1: not there
	res      []Compared
	number   []int64 // of the next entry of a state of plan.goes
}

// choose tells what becomes of an entry of a state of plan.goes.
func (c *comparison) choose(e Entry) Choice {
	choice := c.plan.goes[e.State](c.number[e.State], e)
	c.number[e.State]++
	c.res[e.State].Gone += choice.count()
	return choice
}

// differ notes that the states differ for which f is true.
func (c *comparison) differ(f func(id int) bool) {
	for id := range c.res {
		if f(id) {
			c.res[id].Same = false
		}
	}
}

// damaged tells whether an error is about the bytes of out, not about reading
// them.
func damaged(err error) bool {
	var d *decoder.Error
	return errors.As(err, &d) && (d.Err == nil || errors.Is(err, io.ErrUnexpectedEOF))
}

// canonical compares sums over the entries of each state.
func (c *comparison) canonical() error {
	want, err := sums(c.src, func(e Entry) bool {
		if c.plan.goes[e.State] != nil {
			return !c.choose(e).Goes
		}
		return c.plan.ids[e.State] >= 0
	})
	if err != nil {
		return err
	}
	got, err := sums(c.out, func(Entry) bool { return true })
	if damaged(err) {
		c.differ(func(int) bool { return true })
		return nil
	} else if err != nil {
		return err
	}
	c.differ(func(id int) bool { return c.ids[id] >= 0 && want[id] != got[c.ids[id]] })
	return nil
}

// sums gives for each state a sum over the groups, keys and values of the
// entries that f lets through.
func sums(s *Stream, f func(Entry) bool) (map[int][32]byte, error) {
	hashes := make([]hash.Hash, len(s.Header.States))
	for i := range hashes {
		hashes[i] = sha256.New()
	}
	var head [20]byte
	for g := range s.Groups() {
		_, err := s.Walk(g, maxEntry, func(e Entry) error {
			if e.KeyLen > maxEntry || e.ValueLen > maxEntry {
				return fmt.Errorf("%s: %s: an entry is too long to be compared", s.In.Name(), s.path(g))
			}
			if !f(e) {
				return nil
			}
			binary.BigEndian.PutUint32(head[:], uint32(e.Group))
			binary.BigEndian.PutUint64(head[4:], uint64(e.KeyLen))
			binary.BigEndian.PutUint64(head[12:], uint64(e.ValueLen))
			h := hashes[e.State]
			h.Write(head[:])
			h.Write(e.Key)
			h.Write(e.Value)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	out := map[int][32]byte{}
	for i, h := range hashes {
		out[i] = [32]byte(h.Sum(nil))
	}
	return out, nil
}

// heap goes through the blocks of each group and reads out beside them: what
// cannot be walked can be compared so too.
func (c *comparison) heap() error {
	for i := range c.src.Offsets {
		if err := c.heapGroup(i); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) heapGroup(i int) error {
	m := &beside{c: newSource(c.out.In, c.out.Extent(i), false, c.out.path(i))}
	m.word(uint32(c.src.Start)+uint32(i), 4)
	seen := map[int]bool{}
	w := &heapWalker{s: c.src, cut: maxEntry, copies: true, look: c.plan.goes}
	end := func(id int) {
		if w.c.tee = nil; m.differs {
			c.res[id].Same = false
		}
		seen[id] = true
	}
	w.block = func(id int) error {
		m.block(w, id, c.plan, c.ids[id])
		return nil
	}
	w.raw = func(e Entry, b []byte) error {
		choice := c.choose(e)
		if choice.Goes {
			return nil
		}
		if m.left--; choice.Value == nil {
			m.Write(b)
		} else {
			m.Write(b[:len(b)-len(e.Value)])
			m.Write(choice.Value)
		}
		return m.err
	}
	w.finish = func(id int, _ int64) {
		if c.plan.goes[id] != nil && m.left != 0 {
			m.differs = true
		}
		end(id)
	}
	w.blocked = func(all map[int]bool) bool {
		// What is left is compared as it is; ids in it must mean the same.
		whole := w.c.tee != nil
		w.c.err = nil
		w.c.toEnd()
		for id := range c.res {
			if !all[id] && (!whole || c.ids[id] != id || c.plan.ids[id] != id || c.plan.goes[id] != nil) {
				c.res[id].Same = false
			} else if !seen[id] {
				end(id)
			}
		}
		return true
	}
	if _, err := w.group(i); err != nil {
		return err
	}
	if m.end(); m.differs {
		c.differ(func(id int) bool { return !seen[id] || m.tail })
	}
	return m.err
}

// beside reads the group of out beside that of the source.
type beside struct {
	c       *source
	left    int64 // entries that out says it has of a state of which some go
	differs bool
	tail    bool // it differs in that something is left
	err     error
}

// block begins a block of the source.
func (m *beside) block(w *heapWalker, id int, p plan, outID int) {
	switch {
	case p.drop[id]:
	case p.ids[id] < 0:
		m.word(uint32(outID), 2)
		m.word(0, 4)
	case p.goes[id] != nil:
		m.word(uint32(outID), 2)
		m.left = int64(m.c.i32("number of entries"))
		m.failed()
	default:
		m.word(uint32(outID), 2)
		w.c.tee = m
	}
}

// word expects a number of n bytes.
func (m *beside) word(v uint32, n int) {
	m.Write(binary.BigEndian.AppendUint32(nil, v)[4-n:])
}

// Write compares p with what comes next in out.
func (m *beside) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && !m.differs; {
		n := min(len(rest), sourceLen)
		q := m.c.take(n, "bytes of the source")
		if m.failed() {
			break
		}
		m.differs = !bytes.Equal(q, rest[:n])
		rest = rest[n:]
	}
	return len(p), m.err
}

// failed notes a failure in reading out.
func (m *beside) failed() bool {
	if m.c.err == nil {
		return false
	}
	m.differs = true
	if !damaged(m.c.err) {
		m.err = m.c.err
	}
	return true
}

// end expects the end of the group.
func (m *beside) end() {
	if m.differs || m.err != nil {
		return
	}
	if m.c.more(1); m.c.w > m.c.r {
		m.differs, m.tail = true, true
	}
	m.failed()
}
