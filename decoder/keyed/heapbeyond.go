package keyed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sort"
	"sync"

	"chkscope/decoder"
	"chkscope/decoder/serde"
)

// In heap layout nothing but the serializers tells where a value ends, and those of
// Kryo's fields and of users do not tell it. What stands behind such a value is not
// lost: the group has a block of each state exactly once, and its end is known. So
// all ways to read it from there on are looked for.
//
//	blocks   somewhere behind the value a block begins of a state that was not
//	         there yet, and from there on blocks fill the group
//	entries  each begins with a namespace, a key whose hash belongs into this key
//	         group, and as much of a value as is known; there are as many as are
//	         left
//
// The way in which Flink wrote them is one of these. Where there is no other it is
// this one; else nothing is told.

// maxProof is the longest group, or decompressed block, that is looked at.
const maxProof = 64 << 20

// maxCandidates bounds the places that are kept; maxWork the bytes that are looked
// at, in lengths of the group.
const (
	maxCandidates = 1 << 22
	maxWork       = 30
)

// prover looks for all ways to read a group.
type prover struct {
	s      *Stream
	number int32 // of the group
	b      []byte
	heads  []int // places where a block may begin, from the first value without an end on
	looked bool  // for heads
	seen   []bool
	unseen int
	work   int64 // that is left
}

func newProver(s *Stream, number int32, b []byte) *prover {
	n := len(s.Header.States)
	return &prover{s: s, number: number, b: b, seen: make([]bool, n), unseen: n, work: maxWork * int64(len(b)+1<<16)}
}

// untold is a block with a value whose end nothing tells: from its entry at first
// on, of which there are left, up to the end of the block.
type untold struct {
	id         int
	first, end int
	left       int64
	next       *untold // behind it in the group
}

// blocks reads blocks from at on up to the end of the group. It gives the number
// of ways to do so, at most 2, which also stands for too much work.
func (p *prover) blocks(at int) (ways int, found *untold) {
	var here []int
	defer func() {
		for _, id := range here {
			p.seen[id] = false
		}
		p.unseen += len(here)
	}()
	for p.unseen > 0 {
		id, n, ok := p.head(at)
		if !ok {
			return 0, nil
		}
		here, p.seen[id] = append(here, id), true
		p.unseen--
		at += 6
		for ; n > 0; n-- {
			end, told, ok := p.entry(id, p.b, at)
			if !ok {
				return 0, nil
			}
			if !told {
				return p.behind(&untold{id: id, first: at, end: len(p.b), left: n}, end)
			}
			at = end
		}
	}
	if at != len(p.b) {
		return 0, nil
	}
	return 1, nil
}

// behind looks for the end of block u, from at on.
func (p *prover) behind(u *untold, at int) (ways int, found *untold) {
	if p.unseen == 0 {
		return 1, u // the last one
	}
	if !p.looked {
		p.lookForHeads(at)
	}
	for _, h := range p.heads[sort.SearchInts(p.heads, at):] {
		if p.work < 0 {
			return 2, nil
		}
		n, rest := p.blocks(h)
		if ways += n; ways > 1 {
			return 2, nil
		}
		if n == 1 {
			c := *u
			c.end, c.next = h, rest
			found = &c
		}
	}
	return ways, found
}

// head reads id and number of entries of a block of a state that was not there.
func (p *prover) head(at int) (id int, n int64, ok bool) {
	if len(p.b)-at < 6 {
		return 0, 0, false
	}
	id = int(binary.BigEndian.Uint16(p.b[at:]))
	n = int64(int32(binary.BigEndian.Uint32(p.b[at+2:])))
	return id, n, id < len(p.seen) && !p.seen[id] && n >= 0 && n <= int64(len(p.b)-at)
}

// lookForHeads notes where blocks may begin: a block of a state that was not there
// without entries, or with one that may be its first.
func (p *prover) lookForHeads(from int) {
	p.looked = true
	for at := from; at+6 <= len(p.b); at++ {
		id, n, ok := p.head(at)
		if !ok {
			continue
		}
		if n > 0 {
			_, _, ok = p.entry(id, p.b, at+6)
		}
		if p.work < 0 || len(p.heads) == maxCandidates {
			p.work = -1
			return
		}
		if ok {
			p.heads = append(p.heads, at)
		}
	}
}

// entry reads an entry of state id at a place of b. Told says whether its end is
// known; else end is how far it could be read.
func (p *prover) entry(id int, b []byte, at int) (end int, told, ok bool) {
	m := &p.s.Header.States[id]
	key, start := p.s.Header.Key, at
	if m.Kind == serde.PriorityQueue {
		n, err := serde.Skip(m.Serializer(serde.ValueSerializer), b[at:])
		p.work -= int64(n) + 16
		t := Types{Layout: Heap, Queue: true, Stored: m.Serializer(serde.ValueSerializer)}
		if err == nil {
			if parts := t.Split(Entry{Key: b[at : at+n]}); parts.Why == "" && !p.belongs(t.Stored.Nested[0], parts.Key) {
				return 0, false, false
			}
		}
		return at + n, err == nil, err == nil || errors.Is(err, serde.ErrOpaque)
	}
	namespace := m.Serializer(serde.NamespaceSerializer)
	for _, t := range [...]*serde.Snapshot{namespace, key, m.Serializer(serde.ValueSerializer)} {
		if t == namespace && isVoid(t) && (at >= len(b) || b[at] != 0) {
			return 0, false, false
		}
		n, err := serde.Skip(t, b[min(at, len(b)):])
		p.work -= int64(n) + 8
		if err != nil {
			return at + n, false, errors.Is(err, serde.ErrOpaque)
		}
		if t == key && !p.belongs(key, b[at:at+n]) {
			return 0, false, false
		}
		at += n
	}
	return at, true, at > start
}

func isVoid(t *serde.Snapshot) bool { return t != nil && t.Kind == serde.VoidByte }

// belongs tells whether a key may be in the group.
func (p *prover) belongs(t *serde.Snapshot, raw []byte) bool {
	if p.s.MaxParallelism <= 0 {
		return true
	}
	hash, ok := serde.JavaHash(t, raw)
	return !ok || serde.KeyGroup(hash, p.s.MaxParallelism) == p.number
}

// place is where an entry may begin.
type place struct {
	at, end int
	told    bool
}

// split tells where the left entries of state id begin, of which the first is at
// the start of b and the last ends with it; nil where that is not sure.
func (p *prover) split(id int, b []byte, left int64) []int {
	if _, _, told := p.s.keyEnds(id, b); !told {
		return nil
	}
	if left == 1 {
		return []int{0}
	}
	end, _, ok := p.entry(id, b, 0)
	if !ok || left > int64(len(b)) {
		return nil
	}
	places := []place{{0, end, false}}
	void := isVoid(p.s.Header.States[id].Serializer(serde.NamespaceSerializer))
	for at := end; at < len(b); at++ {
		if void {
			n := bytes.IndexByte(b[at:], 0)
			if n < 0 {
				break
			}
			at += n
		}
		if end, told, ok := p.entry(id, b, at); ok {
			places = append(places, place{at, end, told})
		}
		if p.work -= 4; p.work < 0 || len(places) > maxCandidates {
			return nil
		}
	}
	return only(places, left, len(b))
}

// keyEnds tells where namespace and key at the start of b end; false where their
// serializers do not tell.
func (s *Stream) keyEnds(id int, b []byte) (namespace, key int, ok bool) {
	namespace, err := serde.Skip(s.Header.States[id].Serializer(serde.NamespaceSerializer), b)
	if err != nil {
		return 0, 0, false
	}
	n, err := serde.Skip(s.Header.Key, b[namespace:])
	return namespace, namespace + n, err == nil
}

// only gives the places if they are the one way to put n entries up to the end.
// An entry whose end is known needs another one there.
func only(places []place, n int64, end int) []int {
	begins := map[int]bool{end: true}
	var starts []int
	for i := len(places) - 1; i >= 0; i-- {
		if q := places[i]; !q.told || begins[q.end] {
			begins[q.at] = true
			starts = append(starts, q.at)
		} else {
			places[i].at = -1
		}
	}
	if int64(len(starts)) != n {
		return nil
	}
	sort.Ints(starts)
	for _, q := range places {
		if q.at < 0 {
			continue
		}
		next := end
		if k := sort.SearchInts(starts, q.at) + 1; k < len(starts) {
			next = starts[k]
		}
		if q.end > next || q.told && q.end != next {
			return nil
		}
	}
	return starts
}

// told is what is known of a block with values whose ends nothing tells. Places
// are offsets in the stream.
type told struct {
	end    int64
	starts []int64 // of entries, from the first such one on; nil where not sure
}

// proofs are the blocks of the group that was looked at last.
type proofs struct {
	mu     sync.Mutex
	group  int
	blocks map[int]told
	valid  bool
}

// of gives what is told of the blocks of group i.
func (c *proofs) of(s *Stream, i int) (map[int]told, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.valid && c.group == i {
		return c.blocks, nil
	}
	blocks, err := s.prove(i)
	c.group, c.blocks, c.valid = i, blocks, err == nil
	return blocks, err
}

// prove looks for the one way to read group i.
func (s *Stream) prove(i int) (map[int]told, error) {
	span := s.Extent(i)
	if span.Len > maxProof || span.Len < 4 {
		return nil, nil
	}
	b, err := decoder.ReadSpan(s.In, span, maxProof)
	if err != nil {
		return nil, err
	}
	p := newProver(s, s.Start+int32(i), b)
	ways, u := p.blocks(4)
	if ways != 1 {
		return nil, nil
	}
	out := map[int]told{}
	for ; u != nil; u = u.next {
		t := told{end: span.Off + int64(u.end)}
		for _, at := range p.split(u.id, b[u.first:u.end], u.left) {
			t.starts = append(t.starts, span.Off+int64(u.first+at))
		}
		out[u.id] = t
	}
	return out, nil
}

// beyond goes on at the entry in front, the first of n in a block whose end
// nothing tells; err says so.
func (w *heapWalker) beyond(id int, n int64, err error) error {
	c := &w.c
	starts, end, proofErr := w.tell(id, n)
	if proofErr != nil {
		return proofErr
	}
	if end < 0 {
		return w.stuck(&w.s.Header.States[id], 0, err)
	}
	if starts == nil {
		if w.partial = true; w.untold == nil && w.wants(id) {
			w.untold = w.stuck(&w.s.Header.States[id], 0, err)
			c.err = nil
		}
		c.skip(end-c.pos, "entries")
		return c.err
	}
	for i, at := range starts {
		next := end
		if i+1 < len(starts) {
			next = starts[i+1]
		}
		if !c.need(int(next-at), "entry") {
			return c.err
		}
		b := c.buf[c.r : c.r+int(next-at)]
		namespace, key, _ := w.s.keyEnds(id, b)
		w.at = c.pos
		if err := w.give(id, b, [3]int{namespace, key, len(b)}); err != nil {
			return err
		}
		c.take(len(b), "entry")
	}
	return c.err
}

// tell gives where the n entries from here on begin and the block ends, in bytes
// that were given (pos); end is -1 where nothing is told, starts is nil where only
// the end is.
func (w *heapWalker) tell(id int, n int64) (starts []int64, end int64, err error) {
	c := &w.c
	if w.s.Header.Compressed {
		if c.more(maxProof); !c.ended || c.err != nil {
			return nil, -1, c.err
		}
		b := c.buf[c.r:c.w]
		for _, at := range newProver(w.s, w.number, b).split(id, b, n) {
			starts = append(starts, c.pos+int64(at))
		}
		return starts, c.pos + int64(len(b)), nil
	}
	blocks, err := w.proofs.of(w.s, int(w.number-w.s.Start))
	t, ok := blocks[id]
	if !ok {
		return nil, -1, err
	}
	here := c.at() - c.pos
	i := sort.Search(len(t.starts), func(i int) bool { return t.starts[i] >= c.at() })
	if i < len(t.starts) && t.starts[i] == c.at() && int64(len(t.starts)-i) == n {
		for _, at := range t.starts[i:] {
			starts = append(starts, at-here)
		}
	}
	return starts, t.end - here, nil
}
