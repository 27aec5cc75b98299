package keyed

import (
	"encoding/binary"
	"fmt"
)

// endOfGroup stands in place of the id of the next segment.
const endOfGroup = 0xFFFF

// Entry is an entry of a stream.
//
// In canonical layout Key is the composite key: it begins with the key group, and
// the flag in its first byte is cleared; that of a queue is key group and
// element. In heap layout Key is the key alone, or the element of a queue.
type Entry struct {
	State int   // id: the place in Header.States
	Group int32 // number of the key group
	// The first bytes, up to the cut, valid during the call. Namespace is nil in
	// canonical layout and for queues.
	Namespace, Key, Value []byte
	KeyLen, ValueLen      int64 // of the whole
}

// Walk calls f for every entry of group i, with keys and values cut to cut
// bytes, and gives where the group ends. Dead bytes may be between there and the
// end of its Extent.
//
// In heap layout nothing but the serializers tells where an entry ends. Where they
// do not, what follows is given if there is one way only to read the group; else
// the error wraps serde.ErrOpaque, and what follows in the group is lost, or only
// what follows of the same state.
func (s *Stream) Walk(i int, cut int, f func(Entry) error) (end int64, err error) {
	if s.Layout == Heap {
		w := heapWalker{s: s, cut: cut, entry: f}
		return w.group(i)
	}
	w := walker{states: len(s.Header.States), cut: cut, entry: f}
	return s.walk(&w, i)
}

func (s *Stream) walk(w *walker, i int) (end int64, err error) {
	if s.Offsets[i] == 0 {
		return 0, nil
	}
	span := s.Extent(i)
	w.number = s.Start + int32(i)
	w.c.reset(s.In, span, s.Header.Compressed, s.path(i))
	if err := w.group(); err != nil {
		return 0, err
	}
	if s.Header.Compressed {
		return w.c.frame.Off(), nil
	}
	return span.Off + w.c.pos, nil
}

// walker goes through groups of a canonical stream.
type walker struct {
	c      source
	states int
	cut    int
	entry  func(Entry) error
	// segment is called behind the id of a segment; it may set c.tee to copy the
	// entries.
	segment func(id int) error
	// done is called behind the last entry of a segment.
	done   func(id int) error
	number int32 // of the group
}

// group goes through one group.
func (w *walker) group() error {
	c := &w.c
	for {
		id := c.u16("state id")
		if c.err != nil || id == endOfGroup {
			return c.err
		}
		if id >= w.states {
			c.fail(fmt.Sprintf("state id below %d", w.states), fmt.Sprint(id), nil)
			return c.err
		}
		if w.segment != nil {
			if err := w.segment(id); err != nil {
				return err
			}
		}
		for last := false; !last; {
			e := Entry{State: id, Group: w.number}
			if last = w.read(&e); c.err != nil {
				return c.err
			}
			if w.entry != nil {
				if err := w.entry(e); err != nil {
					return err
				}
			}
		}
		c.tee = nil
		if w.done != nil {
			if err := w.done(id); err != nil {
				return err
			}
		}
	}
}

// read reads one entry and tells whether it is the last of its segment.
func (w *walker) read(e *Entry) bool {
	c := &w.c
	// Most entries stand whole in the buffer: one step.
	if b := c.buf[c.r:c.w]; len(b) >= 4 {
		k := int64(int32(binary.BigEndian.Uint32(b)))
		if k > 0 && int64(len(b)) >= k+8 {
			v := int64(int32(binary.BigEndian.Uint32(b[4+k:])))
			if v >= 0 && int64(len(b)) >= k+v+8 {
				p := c.take(int(k+v+8), "entry")
				if p == nil {
					return false
				}
				last := p[4]&0x80 != 0
				p[4] &= 0x7f
				e.KeyLen, e.ValueLen = k, v
				e.Key, e.Value = p[4:4+min(k, int64(w.cut))], p[8+k:8+k+min(v, int64(w.cut))]
				return last
			}
		}
	}
	return w.readLong(e)
}

func (w *walker) readLong(e *Entry) bool {
	c := &w.c
	e.KeyLen = c.length("key length", 1)
	key := c.take(int(min(e.KeyLen, int64(max(w.cut, 1)))), "key")
	if key == nil {
		return false
	}
	last := key[0]&0x80 != 0
	// The value is read over the key: keep it.
	key = append([]byte(nil), key[:min(len(key), w.cut)]...)
	if len(key) > 0 {
		key[0] &= 0x7f
	}
	c.skip(e.KeyLen-min(e.KeyLen, int64(max(w.cut, 1))), "key")
	e.Key = key
	e.ValueLen = c.length("value length", 0)
	e.Value = c.take(int(min(e.ValueLen, int64(w.cut))), "value")
	c.skip(e.ValueLen-int64(len(e.Value)), "value")
	return last
}

// StateSize is what one state has in a group: Bytes are those of its segment or
// block, decompressed.
type StateSize struct {
	Entries, Bytes           int64
	LargestKey, LargestValue int64
}

func (z *StateSize) add(e Entry) {
	z.Entries++
	z.Bytes += 8 + e.KeyLen + e.ValueLen
	z.largest(e)
}

func (z *StateSize) largest(e Entry) {
	z.LargestKey, z.LargestValue = max(z.LargestKey, e.KeyLen), max(z.LargestValue, e.ValueLen)
}

// Sizes counts entries and bytes of each state in group i, by id. Into is added
// to where it is not nil, else made. Errors in heap layout are as those of Walk:
// what was counted before is given too, with the number of entries but no bytes
// of the state where it stopped.
func (s *Stream) Sizes(i int, into []StateSize) ([]StateSize, error) {
	if into == nil {
		into = make([]StateSize, len(s.Header.States))
	}
	if s.Layout == Heap {
		w := heapWalker{s: s}
		w.entry = func(e Entry) error { into[e.State].largest(e); return nil }
		w.begin = func(id int, n int64) { into[id].Entries += n }
		w.finish = func(id int, bytes int64) { into[id].Bytes += bytes }
		_, err := w.group(i)
		return into, err
	}
	w := walker{states: len(s.Header.States)}
	w.segment = func(id int) error { into[id].Bytes += 2; return nil }
	w.entry = func(e Entry) error {
		into[e.State].add(e)
		return nil
	}
	_, err := s.walk(&w, i)
	return into, err
}
