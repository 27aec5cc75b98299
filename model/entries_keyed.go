package model

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"

	"chkscope/decoder/keyed"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// KeyedEntry is an entry of a named keyed state in one subtask: of a canonical
// MAP one entry of the map, of a heap MAP the whole map of a key, else a key with
// its value; of a queue a timer.
type KeyedEntry struct {
	Index int64 // in the state's entries of the subtask
	Group int32 // key group
	// Key, Namespace, MapKey, Value: parts that do not apply are Missing, those that
	// could not be decoded Opaque, with the reason.
	keyed.Fields
	RawKey []byte // what the key's serializer wrote
	Len    int64  // bytes of key, namespace and value
	Type   *serde.Snapshot
	isMap  bool
}

// Each gives the entry as EachEntry does: of a map in a heap snapshot its entries,
// one at a time.
func (e KeyedEntry) Each(cell Node, subtask int32, f func(*Entry) error) error {
	out := Entry{Cell: cell, Subtask: subtask, Index: e.Index, Group: e.Group, Len: e.Len, Type: e.Type}
	return eachPart(&out, e.Fields, e.isMap, f)
}

// maxEntryRead is how much of one key or value is read to decode it.
const maxEntryRead = 16 << 20

// HasKeyedEntries reports whether a cell is a named keyed state whose entries
// can be read one by one.
func (s *Snapshot) HasKeyedEntries(t *Tree, cell Node) bool {
	return s.keyGroupsOf(t, cell) != nil && !t.Whole(cell)
}

// keyGroupsOf gives the key-groups handle of a cell of keyed state, or nil.
func (s *Snapshot) keyGroupsOf(t *Tree, cell Node) *metadata.KeyedHandle {
	if t.class[cell] != ClassCell || t.kind[cell] != KindKeyed {
		return nil
	}
	h := s.Meta.Operators[t.op[cell]].Subtasks[t.sub[cell]].State.ManagedKeyed
	if h == nil || h.Groups == nil {
		return nil
	}
	return h
}

// keyedCell is the open stream of a cell and the id of its state there.
type keyedCell struct {
	*keyed.Stream
	types keyed.Types
	id    int
	index *keyed.Index // nil where the stream was not counted
	io.Closer
}

// openKeyedCell opens the stream of a cell; id is -1 where it has no such state.
func (s *Snapshot) openKeyedCell(ctx context.Context, t *Tree, cell Node) (*keyedCell, error) {
	h := s.keyGroupsOf(t, cell)
	if h == nil {
		return nil, errors.New("this state has no entries that can be read one by one")
	}
	st, closer, err := s.openKeyGroups(ctx, t.op[cell], h)
	if err != nil {
		if closer != nil {
			closer.Close()
		}
		return nil, err
	}
	c := &keyedCell{Stream: st, Closer: closer, id: st.Header.State(t.Name(cell))}
	if c.id < 0 {
		return c, nil
	}
	c.types = st.Header.Types(c.id, st.Layout, s.Meta.Operators[t.op[cell]].MaxParallelism)
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	c.index = s.known.index[opSub{t.op[cell], t.sub[cell]}].Index
	return c, nil
}

// KeyedEntries gives up to n entries of a cell from the from-th on, with values
// decoded within limits. In a stream that was counted (Count) only the page is
// read, else all before it; fewer than n are the last ones. An error, also that
// of a value with no known end, comes beside the entries before it.
func (s *Snapshot) KeyedEntries(ctx context.Context, t *Tree, cell Node, from int64, n int, l serde.Limits) ([]KeyedEntry, error) {
	var out []KeyedEntry
	c, err := s.openKeyedCell(ctx, t, cell)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if c.id < 0 || n <= 0 {
		return nil, nil
	}
	add := func(i int64, e keyed.Entry) error {
		out = append(out, c.decode(i, e, l))
		return ctx.Err()
	}
	if c.index != nil {
		return out, c.Page(c.index, c.id, from, int64(n), maxEntryRead, add)
	}
	err = c.each(ctx, func(i int64, e keyed.Entry) error {
		if i < from {
			return nil
		}
		if err := add(i, e); err != nil || len(out) < n {
			return err
		}
		return errEnough
	})
	if err == errEnough {
		err = nil
	}
	return out, err
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// EachKeyedEntry calls f for the entries of a cell in the order of its stream,
// in constant memory. Where in a group nothing tells the end of a value, the
// others follow, and the error, which wraps serde.ErrOpaque, comes at the end.
func (s *Snapshot) EachKeyedEntry(ctx context.Context, t *Tree, cell Node, l serde.Limits, f func(KeyedEntry) error) error {
	c, err := s.openKeyedCell(ctx, t, cell)
	if err != nil {
		return err
	}
	defer c.Close()
	if c.id < 0 {
		return nil
	}
	return c.each(ctx, func(i int64, e keyed.Entry) error { return f(c.decode(i, e, l)) })
}

// each gives the entries of the state.
func (c *keyedCell) each(ctx context.Context, f func(i int64, e keyed.Entry) error) error {
	var opaque error
	n := int64(0)
	for i := range c.Groups() {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := c.Walk(i, maxEntryRead, func(e keyed.Entry) error {
			if e.State != c.id {
				return nil
			}
			n++
			return f(n-1, e)
		})
		if errors.Is(err, serde.ErrOpaque) {
			if opaque == nil {
				opaque = err
			}
		} else if err != nil {
			return err
		}
	}
	return opaque
}

func (c *keyedCell) decode(i int64, e keyed.Entry, l serde.Limits) KeyedEntry {
	return decodeEntry(&c.types, i, e, l)
}

func decodeEntry(t *keyed.Types, i int64, e keyed.Entry, l serde.Limits) KeyedEntry {
	return KeyedEntry{Index: i, Group: e.Group, Fields: t.Decode(e, l), RawKey: append([]byte(nil), t.Split(e).Key...),
		Len: int64(len(e.Namespace)) + e.KeyLen + e.ValueLen, Type: typeOfValue(t), isMap: inHeapMap(t)}
}

// KeyGroupSize is what a named keyed state has in a key group.
type KeyGroupSize struct {
	keyed.GroupSize
	Subtask int32
}

// KeyGroups are the key groups of a named keyed state that have entries, as far
// as streams were counted, ascending.
func (s *Snapshot) KeyGroups(op int, name string) []KeyGroupSize {
	var out []KeyGroupSize
	s.eachIndex(op, name, func(sub int, st *keyed.StateIndex) {
		for _, g := range st.Groups {
			out = append(out, KeyGroupSize{g, s.Meta.Operators[op].Subtasks[sub].Index})
		}
	})
	sort.SliceStable(out, func(i, j int) bool { return out[i].Group < out[j].Group })
	return out
}

// eachIndex visits what counting the streams of an operator told of a state.
func (s *Snapshot) eachIndex(op int, name string, f func(sub int, st *keyed.StateIndex)) {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	for sub := range s.Meta.Operators[op].Subtasks {
		x, ok := s.known.index[opSub{int32(op), int32(sub)}]
		if !ok {
			continue
		}
		if id := x.header.State(name); id >= 0 {
			f(sub, &x.States[id])
		}
	}
}

// LargeKey is a key with much state under one name.
type LargeKey struct {
	keyed.LargeKey
	Subtask   int32
	Key       serde.Value
	Namespace serde.Value
}

// LargestKeys are the keys with the most bytes in a named keyed state, as far as
// streams were counted, largest first.
func (s *Snapshot) LargestKeys(ctx context.Context, t *Tree, op int, name string, n int) ([]LargeKey, error) {
	var out []LargeKey
	s.eachIndex(op, name, func(sub int, st *keyed.StateIndex) {
		for _, k := range st.Largest {
			out = append(out, LargeKey{LargeKey: k, Subtask: s.Meta.Operators[op].Subtasks[sub].Index})
		}
	})
	sort.SliceStable(out, func(i, j int) bool { return out[i].Bytes > out[j].Bytes })
	out = out[:min(len(out), n)]
	for i := range out {
		k := &out[i]
		g := Target{Class: ClassCell, Op: s.Meta.Operators[op].ID, Kind: KindKeyed, Name: name, Subtask: k.Subtask, Entries: AllEntries}
		cell := s.Find(t, g)
		if cell == None {
			continue
		}
		e, err := s.KeyedEntries(ctx, t, cell, k.Entry, 1, serde.Limits{Values: 100, Bytes: 1 << 10})
		if err != nil {
			return out[:i], err
		}
		if len(e) > 0 {
			k.Key, k.Namespace = e[0].Key, e[0].Namespace
		}
	}
	return out, nil
}

// KeySearch is how a key was looked for.
type KeySearch struct {
	Group int32 // the key group that was read; Unknown: all were
	// Raw is what the key's serializer writes for it, nil where the text of each
	// key was compared.
	Raw     []byte
	Streams int // that were read
}

// FindKey calls f for the entries of a key below n: an operator, one of its
// subtasks, its keyed state as a whole, a named keyed state, or a cell. The key is as it is shown (serde.Value.String), or 0x
// and the bytes of it in hex. Where the hash of the key tells its key group only
// that group is read.
func (s *Snapshot) FindKey(ctx context.Context, t *Tree, n Node, key string, l serde.Limits, f func(cell Node, e KeyedEntry) error) (KeySearch, error) {
	q := KeySearch{Group: -1}
	if t.Operator(n) < 0 {
		return q, errors.New("a key belongs to an operator: look below one")
	}
	op := t.Operator(n)
	if err := q.prepare(s.KeySerializer(op), s.Meta.Operators[op].MaxParallelism, key); err != nil {
		return q, err
	}
	var opaque error
	for _, cells := range s.keyedCells(t, n) {
		h := s.keyGroupsOf(t, cells[0])
		if h == nil || q.Group >= 0 && (q.Group < h.Groups.Start || q.Group >= h.Groups.Start+h.Groups.Number) {
			continue
		}
		q.Streams++
		err := s.findIn(ctx, t, cells, h, q, func(e keyed.Entry, types *keyed.Types) bool {
			if q.Raw == nil {
				return types.Decode(e, serde.DefaultLimits).Key.String() == key
			}
			return string(types.Split(e).Key) == string(q.Raw)
		}, l, f)
		if errors.Is(err, serde.ErrOpaque) {
			opaque = err
		} else if err != nil {
			return q, err
		}
	}
	return q, opaque
}

// prepare finds out the bytes of the key and its group.
func (q *KeySearch) prepare(t *serde.Snapshot, maxParallelism int32, key string) error {
	if t == nil {
		return errors.New("the serializer of its keys is not known: it has no keyed state whose header was read")
	}
	if digits, ok := cutHex(key); ok {
		raw, err := hex.DecodeString(digits)
		if err != nil {
			return fmt.Errorf("%q: %w", key, err)
		}
		q.Raw = raw
	} else {
		q.Raw = encodeKey(t, key)
	}
	if hash, ok := serde.JavaHash(t, q.Raw); ok && q.Raw != nil && maxParallelism > 0 {
		q.Group = serde.KeyGroup(hash, maxParallelism)
	}
	return nil
}

// encodeKey gives the bytes of a key by its text. A key of SQL is a row, shown as
// ("a", 1); it may be typed without the brackets, and its only text without quotes.
func encodeKey(t *serde.Snapshot, key string) []byte {
	texts := []string{key}
	if t.Kind == serde.RowData || t.Kind == serde.Tuple {
		texts = append(texts, "("+key+")", "("+strconv.Quote(key)+")")
	}
	for _, text := range texts {
		if raw, ok := serde.EncodeText(t, text); ok {
			return raw
		}
	}
	return nil
}

// holdsKeyed tells if the cell of a named keyed state is at or below n. The row
// for all names together stands for each of them.
func (t *Tree) holdsKeyed(n, cell Node) bool {
	switch {
	case n == cell, n == t.parent[cell], n == t.OperatorNode(int(t.op[cell])):
		return true
	case t.op[n] != t.op[cell]:
		return false
	case t.class[n] == ClassSubtask, t.class[n] == ClassCell && t.kind[n] == KindKeyed && t.Whole(n):
		return t.sub[n] == t.sub[cell]
	}
	return t.kind[n] == KindKeyed && t.Whole(n)
}

// ReadsKeyed is false for keyed state of which no subtask's is read entry by
// entry: RocksDB's files and changelogs.
func (s *Snapshot) ReadsKeyed(t *Tree, n Node) bool {
	if t.kind[n] != KindKeyed {
		return true
	}
	for i := range s.Meta.Operators[t.op[n]].Subtasks {
		if h := s.Meta.Operators[t.op[n]].Subtasks[i].State.ManagedKeyed; h != nil && h.Groups != nil {
			return true
		}
	}
	return false
}

// UnreadKeyed is how many subtasks below the nodes hold keyed state that is not
// read entry by entry: RocksDB's files and changelogs.
func (s *Snapshot) UnreadKeyed(t *Tree, nodes []Node) int {
	asked, whole := map[Node]bool{}, map[opSub]bool{} // sub -1: all subtasks
	for _, n := range nodes {
		if asked[n] = true; t.kind[n] == KindKeyed && t.Whole(n) {
			whole[opSub{t.op[n], t.sub[n]}] = true
		}
	}
	seen := map[opSub]bool{}
	for c := range Node(t.Len()) {
		if t.class[c] != ClassCell || t.kind[c] != KindKeyed || s.keyGroupsOf(t, c) != nil {
			continue
		}
		at := opSub{t.op[c], t.sub[c]}
		if asked[Root] || asked[c] || asked[t.parent[c]] || asked[t.OperatorNode(int(at.op))] || asked[t.Parent(c, TurnSubtask)] || whole[at] || whole[opSub{at.op, -1}] {
			seen[at] = true
		}
	}
	return len(seen)
}

// UnreadKeyedText says that the keyed state of n subtasks is not read.
func UnreadKeyedText(n int) string {
	return fmt.Sprintf("the keyed state of %s lies in RocksDB's files or a changelog, which are not read entry by entry", FormatPlural(int64(n), "subtask"))
}

// keyedCells are the cells of named keyed states at or below n, by their
// streams.
func (s *Snapshot) keyedCells(t *Tree, n Node) [][]Node {
	var out [][]Node
	at := map[opSub]int{}
	for c := range Node(t.Len()) {
		if t.class[c] != ClassCell || t.kind[c] != KindKeyed || t.Whole(c) || !t.holdsKeyed(n, c) {
			continue
		}
		k := opSub{t.op[c], t.sub[c]}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k], out = i, append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// findIn gives the entries of a stream that match, of the states of cells.
func (s *Snapshot) findIn(ctx context.Context, t *Tree, cells []Node, h *metadata.KeyedHandle, q KeySearch, match func(keyed.Entry, *keyed.Types) bool, l serde.Limits, f func(Node, KeyedEntry) error) error {
	st, closer, err := s.openKeyGroups(ctx, t.op[cells[0]], h)
	if err != nil {
		if closer != nil {
			closer.Close()
		}
		return err
	}
	defer closer.Close()
	types := s.keyedTypes(int(t.op[cells[0]]), st)
	cellOf, number := map[int]Node{}, s.entriesBefore(t, cells[0], st, q.Group)
	for _, c := range cells {
		cellOf[st.Header.State(t.Name(c))] = c
	}
	var opaque error
	for i := range st.Groups() {
		if q.Group >= 0 && st.Start+int32(i) != q.Group {
			continue
		}
		_, err := st.Walk(i, maxEntryRead, func(e keyed.Entry) error {
			cell, ok := cellOf[e.State]
			if number[e.State]++; !ok || !match(e, &types[e.State]) {
				return ctx.Err()
			}
			return f(cell, decodeEntry(&types[e.State], max(number[e.State]-1, Unknown), e, l))
		})
		if errors.Is(err, serde.ErrOpaque) {
			opaque = err
		} else if err != nil {
			return err
		}
	}
	return opaque
}

// entriesBefore is how many entries each state of a stream has before a key
// group, by id; far below 0 where the stream was not counted.
func (s *Snapshot) entriesBefore(t *Tree, cell Node, st *keyed.Stream, group int32) []int64 {
	out := make([]int64, len(st.Header.States))
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	x := s.known.index[opSub{t.op[cell], t.sub[cell]}].Index
	for id := range out {
		if group >= 0 && x == nil {
			out[id] = math.MinInt64
		} else if group >= 0 {
			for _, g := range x.States[id].Groups {
				if g.Group < group {
					out[id] += g.Entries
				}
			}
		}
	}
	return out
}

// cutHex tells whether a key is given as bytes.
func cutHex(key string) (string, bool) {
	if len(key) > 2 && key[0] == '0' && (key[1] == 'x' || key[1] == 'X') {
		return key[2:], true
	}
	return "", false
}
