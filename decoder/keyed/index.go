package keyed

import (
	"errors"
	"sort"

	"chkscope/decoder"
	"chkscope/decoder/serde"
)

// markEvery is how many bytes of a state's entries lie between two places of an
// Index.
const markEvery = 1 << 20

// maxLargest is how many of the largest keys of a state are kept.
const maxLargest = 10

// Index tells where the entries of each state of a stream are, so that a page of
// them is read without those before it.
type Index struct {
	States []StateIndex // by id

	proofs proofs
}

// StateIndex is what an Index knows of one state. Bytes are those of segments or
// blocks, decompressed.
type StateIndex struct {
	StateSize
	// Partial: entries are missing, because in some group nothing tells where a
	// value before them, or among them, ends.
	Partial bool
	// Groups are the key groups that have entries, ascending.
	Groups []GroupSize
	// Largest are the keys with the most bytes of key and value, largest first.
	// Entries of one key that stand together (of a MAP) are one.
	Largest []LargeKey

	marks []mark
}

// GroupSize is what a state has in one key group.
type GroupSize struct {
	Group          int32
	Entries, Bytes int64
}

// LargeKey is a key with much state.
type LargeKey struct {
	Group          int32
	Entry          int64 // number of its first entry in the stream
	Entries, Bytes int64
}

// mark is a place in front of an entry.
type mark struct {
	entry int64 // number of the entry
	group int   // position of its group
	block int64 // compressed: offset of the framed stream
	pos   int64 // bytes before it in the group, or in the framed stream
	left  int64 // heap: entries of the block from it on
}

// indexer builds an Index.
type indexer struct {
	s     *Stream
	x     *Index
	types []Types
	at    []int64 // pos of the last mark of each state
	run   []LargeKey
	key   [][]byte // of run
	every int64
}

// Index goes through the whole stream and counts it. Types are those of the
// states, by id, which tell what is one key of a MAP; nil counts each entry
// alone. Progress, which may be nil, is told the offset behind each group and may
// end it with an error. Where nothing tells the end of a value (see Walk), what follows in
// the group is left out, and the error wraps serde.ErrOpaque beside what was
// counted.
func (s *Stream) Index(types []Types, progress func(off int64) error) (*Index, error) {
	return s.index(types, progress, markEvery)
}

func (s *Stream) index(types []Types, progress func(off int64) error, every int64) (*Index, error) {
	n := len(s.Header.States)
	b := &indexer{s: s, x: &Index{States: make([]StateIndex, n)}, types: types, at: make([]int64, n), run: make([]LargeKey, n), key: make([][]byte, n), every: every}
	var opaque error
	for i := range s.Offsets {
		var err error
		if s.Layout == Heap {
			err = b.heap(i)
		} else {
			err = b.canonical(i)
		}
		if errors.Is(err, serde.ErrOpaque) {
			opaque, err = firstOf(opaque, err), nil
		}
		if err != nil {
			return b.x, err
		}
		if progress != nil {
			if err := progress(s.Extent(i).End()); err != nil {
				return b.x, err
			}
		}
	}
	for id := range b.run {
		b.endRun(id)
	}
	return b.x, opaque
}

// indexCut is how much of a key is looked at.
const indexCut = 64 << 10

func (b *indexer) canonical(i int) error {
	w := walker{states: len(b.x.States), cut: indexCut}
	m := mark{group: i, block: b.s.Offsets[i]}
	w.segment = func(id int) error {
		m.pos = w.c.pos
		b.mark(id, m)
		b.add(id, m.group, 0, 2)
		return nil
	}
	w.entry = func(e Entry) error {
		size := 8 + e.KeyLen + e.ValueLen
		if m.pos = w.c.pos - size; m.pos-b.at[e.State] >= b.every {
			b.mark(e.State, m)
		}
		b.entry(e, size)
		return nil
	}
	_, err := b.s.walk(&w, i)
	return err
}

func (b *indexer) heap(i int) error {
	w := &heapWalker{s: b.s, cut: indexCut, proofs: &b.x.proofs}
	m := mark{group: i}
	w.begin = func(id int, n int64) {
		if m.block = b.s.Offsets[i]; b.s.Header.Compressed {
			m.block = w.start
		}
		m.pos, m.left = w.c.pos, n
		if n > 0 {
			b.mark(id, m)
		}
	}
	w.entry = func(e Entry) error {
		if w.at-b.at[e.State] >= b.every {
			m.pos = w.at
			b.mark(e.State, m)
		}
		m.left--
		b.entry(e, int64(len(e.Namespace))+e.KeyLen+e.ValueLen)
		return nil
	}
	done := make([]bool, len(b.x.States))
	w.finish = func(id int, bytes int64) {
		done[id] = !w.partial
		// What was counted of entries, and the id and number before them.
		b.add(id, i, 0, bytes-b.inBlock(id, i))
	}
	_, err := w.group(i)
	if errors.Is(err, serde.ErrOpaque) {
		for id := range done {
			b.x.States[id].Partial = b.x.States[id].Partial || !done[id]
		}
	}
	return err
}

// inBlock is what was counted of a state in group i.
func (b *indexer) inBlock(id, i int) int64 {
	if g := b.x.States[id].Groups; len(g) > 0 && g[len(g)-1].Group == b.s.Start+int32(i) {
		return g[len(g)-1].Bytes
	}
	return 0
}

func (b *indexer) mark(id int, m mark) {
	st := &b.x.States[id]
	m.entry = st.Entries
	b.at[id] = m.pos
	st.marks = append(st.marks, m)
}

// add counts entries and bytes of a state in group i.
func (b *indexer) add(id, i int, entries, bytes int64) {
	st := &b.x.States[id]
	st.Entries += entries
	st.Bytes += bytes
	group := b.s.Start + int32(i)
	if n := len(st.Groups); n == 0 || st.Groups[n-1].Group != group {
		if entries == 0 && b.s.Layout == Heap {
			return // an empty block
		}
		st.Groups = append(st.Groups, GroupSize{Group: group})
	}
	g := &st.Groups[len(st.Groups)-1]
	g.Entries += entries
	g.Bytes += bytes
}

func (b *indexer) entry(e Entry, size int64) {
	st := &b.x.States[e.State]
	st.largest(e)
	b.largest(e, size)
	b.add(e.State, int(e.Group-b.s.Start), 1, size)
}

// largest notes an entry among the largest keys.
func (b *indexer) largest(e Entry, size int64) {
	id := e.State
	var key []byte
	if b.types != nil && b.types[id].Map && b.s.Layout == Canonical {
		if p := b.types[id].Split(e); p.Why == "" {
			key = e.Key[:int64(len(e.Key))-int64(len(p.MapKey))]
			if r := &b.run[id]; r.Entries > 0 && string(b.key[id]) == string(key) {
				r.Entries++
				r.Bytes += size
				return
			}
		}
	}
	b.endRun(id)
	b.run[id] = LargeKey{Group: e.Group, Entry: b.x.States[id].Entries, Entries: 1, Bytes: size}
	b.key[id] = append(b.key[id][:0], key...)
}

// endRun puts the key that was counted last among the largest.
func (b *indexer) endRun(id int) {
	list, r := b.x.States[id].Largest, b.run[id]
	if b.run[id] = (LargeKey{}); r.Entries == 0 || len(list) == maxLargest && list[maxLargest-1].Bytes >= r.Bytes {
		return
	}
	k := sort.Search(len(list), func(k int) bool { return list[k].Bytes < r.Bytes })
	list = append(list, LargeKey{})
	copy(list[k+1:], list[k:])
	list[k] = r
	b.x.States[id].Largest = list[:min(len(list), maxLargest)]
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// Page gives up to n entries of state id from number from on, with keys and
// values cut to cut bytes.
func (s *Stream) Page(x *Index, id int, from, n int64, cut int, f func(number int64, e Entry) error) error {
	st := &x.States[id]
	if from < 0 || from >= st.Entries || n <= 0 {
		return nil
	}
	at := sort.Search(len(st.marks), func(k int) bool { return st.marks[k].entry > from }) - 1
	last := min(from+n, st.Entries)
	number := int64(0)
	give := func(e Entry) error {
		number++
		if number <= from {
			return nil
		}
		if err := f(number-1, e); err != nil || number < last {
			return err
		}
		return errEnough
	}
	for group := -1; at < len(st.marks); at++ {
		m := st.marks[at]
		if m.group == group {
			continue // inside of what was walked
		}
		if group, number = m.group, m.entry; number >= last {
			break
		}
		if err := s.from(x, id, m, cut, give); err == errEnough {
			break
		} else if err != nil {
			return err
		}
	}
	return nil
}

// from gives the entries of a state behind a mark up to the end of its segment
// or block.
func (s *Stream) from(x *Index, id int, m mark, cut int, f func(Entry) error) error {
	end := s.Extent(m.group).End()
	if s.Layout == Heap {
		w := &heapWalker{s: s, cut: cut, number: s.Start + int32(m.group), entry: f, proofs: &x.proofs}
		s.seek(&w.c, m, end)
		return w.entries(id, m.left)
	}
	w := walker{cut: cut, number: s.Start + int32(m.group)}
	s.seek(&w.c, m, end)
	for last := false; !last; {
		e := Entry{State: id, Group: w.number}
		if last = w.read(&e); w.c.err != nil {
			return w.c.err
		}
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

// seek makes c stand at a mark.
func (s *Stream) seek(c *source, m mark, end int64) {
	switch path := s.path(m.group); {
	case !s.Header.Compressed:
		c.reset(s.In, decoder.Span{Off: m.block + m.pos, Len: end - m.block - m.pos}, false, path)
	case s.Layout == Heap:
		c.resetOne(s.In, m.block, end, path)
		c.skip(m.pos, "entries")
	default:
		c.reset(s.In, decoder.Span{Off: m.block, Len: end - m.block}, true, path)
		c.skip(m.pos, "entries")
	}
}
