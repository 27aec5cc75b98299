package model

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"

	"chkscope/decoder"
	"chkscope/decoder/connector"
	"chkscope/decoder/metadata"
	"chkscope/decoder/opstate"
	"chkscope/decoder/serde"
)

// ElementValue is one entry of operator state with its value: an element of a
// list, or an entry of a broadcast map.
type ElementValue struct {
	Index int64
	Off   int64 // of an element in its stream; of an entry in the bytes of its map
	Len   int64 // bytes, of key and value
	// Key is that of a broadcast entry, else Missing. Parts that could not be
	// decoded are Opaque.
	Key, Value serde.Value
	// Connector says whose layout Value has ("KafkaSource split"), "" where it is
	// that of the serializer.
	Connector string
	// Dead is how many bytes are left behind the value, as edits leave them.
	Dead int64
	// Err tells why Value is not all of it: damage, or (serde.ErrOpaque) a value
	// whose end is not known. Where that is in a broadcast map, its other entries
	// are not known either.
	Err error
}

// PageLimits are fit for values that are shown in pages.
var PageLimits = serde.Limits{Values: 1000, Bytes: 8 << 10}

// maxValue is how many bytes of one element are read to decode it.
const maxValue = 16 << 20

// firstV2 is the first metadata version of Flink 2.x, where Kryo is version 5.
const firstV2 = 5

// ElementValues gives up to n entries of a cell from the from-th on: elements of a
// list, or entries of a broadcast map. Of a list only the page is read, unless its
// stream is compressed; of a map what is before it too. An error of the stream
// comes beside the entries before it.
func (s *Snapshot) ElementValues(ctx context.Context, t *Tree, cell Node, from int64, n int, l serde.Limits) ([]ElementValue, error) {
	var out []ElementValue
	if t.class[cell] == ClassCell && t.kind[cell] == KindOperator && t.dist[cell] != DistBroadcast {
		if done, err := s.plainValues(ctx, t, cell, from, n, l, &out); done {
			return out, err
		}
	}
	err := s.openValues(ctx, t, cell, func(v valueStream) error {
		_, err := v.each(ctx, from, int64(n), func(raw rawValue) error {
			out = append(out, v.decode(raw, decoders{limits: l}))
			return nil
		})
		return err
	})
	return out, err
}

// EachValue calls f for n entries of a cell from the from-th on and gives how many
// the cell has: elements, or entries of a broadcast map. What f is given is valid
// during the call.
func (s *Snapshot) EachValue(ctx context.Context, t *Tree, cell Node, from, n int64, l serde.Limits, f func(ElementValue) error) (int64, error) {
	all := int64(0)
	d := newDecoders(l)
	err := s.openValues(ctx, t, cell, func(v valueStream) error {
		var err error
		all, err = v.each(ctx, from, n, func(raw rawValue) error { return f(v.decode(raw, d)) })
		return err
	})
	return all, err
}

// decoders decode keys and values: into memory of their own, or into that of the
// entry decoded last.
type decoders struct {
	limits     serde.Limits
	key, value *serde.Decoder // nil: memory of their own
	connector  *connector.Decoder
}

func newDecoders(l serde.Limits) decoders {
	return decoders{l, &serde.Decoder{Limits: l}, &serde.Decoder{Limits: l}, &connector.Decoder{}}
}

func (d decoders) all(x *serde.Decoder, t *serde.Snapshot, b []byte) (serde.Value, int, error) {
	if x == nil {
		return serde.DecodeAll(t, b, d.limits)
	}
	return x.DecodeAll(t, b)
}

func (d decoders) element(p connector.Place, b []byte) (*connector.Decoded, bool, error) {
	if d.connector == nil {
		d.connector = &connector.Decoder{}
	}
	return d.connector.Element(p, b)
}

// first decodes a value that something else may follow.
func (d decoders) first(x *serde.Decoder, t *serde.Snapshot, b []byte) (serde.Value, int, error) {
	if x == nil {
		return serde.DecodeWithin(t, b, d.limits)
	}
	return x.Decode(t, b)
}

// headLen is how much of each element of a page is read at first.
const headLen = 64 << 10

// plainValues is ElementValues for a list in a stream that is not compressed;
// false where it is, before anything is given.
func (s *Snapshot) plainValues(ctx context.Context, t *Tree, cell Node, from int64, n int, l serde.Limits, out *[]ElementValue) (bool, error) {
	done := false
	err := s.openValues(ctx, t, cell, func(v valueStream) error {
		if v.Header.Compressed {
			return nil
		}
		done = true
		list, err := s.plainElements(ctx, t, cell, from, n, headLen)
		if err != nil {
			return err
		}
		for _, e := range list {
			raw := rawValue{index: e.Index, off: e.Off, len: e.Len, value: e.Head}
			if size := min(e.Len, maxValue); int64(len(e.Head)) < size {
				if raw.value, err = decoder.ReadSpan(v.In, decoder.Span{Off: e.Off, Len: size}, maxValue); err != nil {
					return err
				}
			}
			*out = append(*out, v.decode(raw, decoders{limits: l}))
		}
		return nil
	})
	return done || err != nil, err
}

// valueStream is the stream of a cell, with what its header says about the state.
type valueStream struct {
	*opstate.Stream
	state      int // in States
	key, value *serde.Snapshot
	raw        bool
	place      connector.Place // of list elements; no State for others
}

// rawValue is an entry before it is decoded; bytes are valid during the call.
type rawValue struct {
	index, off, len int64
	key, value      []byte
	err             error // of Entry.Err
}

// openValues opens the stream of a cell for f.
func (s *Snapshot) openValues(ctx context.Context, t *Tree, cell Node, f func(valueStream) error) error {
	return s.withOperatorStream(ctx, t, cell, func(st *opstate.Stream, state int) error {
		v := valueStream{Stream: st, raw: t.kind[cell] == KindRawOperator, state: state}
		if t.kind[cell] == KindOperator && t.dist[cell] != DistBroadcast {
			v.place = s.connectorPlace(t, cell)
		}
		if v.Header != nil {
			if m := v.Header.State(t.Name(cell)); m != nil {
				v.key, v.value = m.Serializer(serde.KeySerializer), m.Serializer(serde.ValueSerializer)
			}
		}
		s.assumeKryo(v.key, v.value)
		return f(v)
	})
}

// assumeKryo tells types that were just read which Kryo wrote their values, where
// only the snapshot as a whole tells.
func (s *Snapshot) assumeKryo(types ...*serde.Snapshot) {
	if s.Meta.Version >= firstV2 {
		for _, t := range types {
			serde.AssumeKryo5(t)
		}
	}
}

// each gives the entries of the state.
func (v valueStream) each(ctx context.Context, from, n int64, f func(rawValue) error) (int64, error) {
	st := v.States[v.state]
	if from < 0 {
		return 0, fmt.Errorf("entry %d: no such entry", from)
	}
	if st.Mode == metadata.ModeBroadcast && !v.raw {
		return v.Entries(v.state, from, n, func(e opstate.Entry) error {
			return firstError(ctx.Err(), func() error {
				return f(rawValue{e.Index, e.Off, int64(len(e.Key) + len(e.Value)), e.Key, e.Value, e.Err})
			})
		})
	}
	all := st.Offsets.Len()
	if from >= all {
		return all, nil
	}
	return all, v.Elements(v.state, from, n, maxValue, func(e opstate.Element) error {
		if e.Index&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return f(rawValue{index: e.Index, off: e.Off, len: e.Len, value: e.Data})
	})
}

func firstError(err error, f func() error) error {
	if err != nil {
		return err
	}
	return f()
}

// decode decodes an entry.
func (v valueStream) decode(raw rawValue, d decoders) ElementValue {
	out := ElementValue{Index: raw.index, Off: raw.off, Len: raw.len}
	if v.key != nil && raw.key != nil {
		out.Key, _, out.Err = d.all(d.key, v.key, raw.key)
	}
	if v.place.State != "" {
		if c, ok, err := d.element(v.place, raw.value); ok && err == nil {
			out.Value, out.Connector = c.Value, c.Connector
			return out
		}
	}
	if raw.err != nil {
		out.Value, _, out.Err = d.first(d.value, v.value, raw.value)
		return out
	}
	if raw.len == Unknown { // the value tells its own end
		var n int
		if out.Value, n, out.Err = d.first(d.value, v.value, raw.value); out.Err == nil {
			out.Len = int64(n)
		}
		return out
	}
	value, left, err := d.all(d.value, v.value, raw.value)
	out.Value, out.Dead = value, int64(left)
	if out.Err == nil {
		out.Err = err
	}
	if long := raw.len - int64(len(raw.key)+len(raw.value)); long > 0 {
		out.Dead += long
		if errors.Is(err, io.ErrUnexpectedEOF) {
			out.Err = fmt.Errorf("an element of %s: only its first %s are read", FormatSize(raw.len), FormatSize(maxValue))
		}
	}
	return out
}

// ValueGroup is entries that are equal byte for byte.
type ValueGroup struct {
	Count   int64
	Subtask int // that has the first of them
	First   ElementValue
}

// ValueGroups are the different entries of a state or cell.
type ValueGroups struct {
	Entries  int64
	Distinct int64 // a lower bound where More
	// Groups are the most frequent ones, in the order of their count, then of the
	// entries.
	Groups []ValueGroup
	// More: there are more different entries than are held; those beyond are only
	// counted in Entries.
	More bool
}

// Text tells how many entries there are and how many different ones.
func (g *ValueGroups) Text() string {
	least := ""
	if g.More {
		least = "at least "
	}
	return fmt.Sprintf("%s, %s%s different", FormatPlural(g.Entries, "entry"), least, FormatCount(g.Distinct))
}

// HasGroups reports whether GroupValues has entries to count at n: a list or
// broadcast map of operator state, or one subtask's.
func (s *Snapshot) HasGroups(t *Tree, n Node) bool {
	k := t.Kind(n)
	return (t.Class(n) == ClassState || t.Class(n) == ClassCell) && (k == KindOperator || k == KindRawOperator)
}

// maxGroups bounds the different entries that are held.
const maxGroups = 1 << 18

// GroupValues reads all entries of a cell, or of all cells of a state, and counts
// those that are equal. At most most groups are given.
func (s *Snapshot) GroupValues(ctx context.Context, t *Tree, n Node, most int, l serde.Limits) (ValueGroups, error) {
	cells := []Node{n}
	if t.class[n] == ClassState {
		cells = t.Children(nil, n, TurnState)
	}
	g := grouper{seen: map[string]*group{}}
	for _, cell := range cells {
		if s.operatorHandleOf(t, cell) == nil {
			continue
		}
		err := s.openValues(ctx, t, cell, func(v valueStream) error {
			_, err := v.each(ctx, 0, math.MaxInt64, func(raw rawValue) error {
				g.add(t.Subtask(cell), v, raw)
				return nil
			})
			return err
		})
		if err != nil {
			return g.result(most, l), err
		}
	}
	return g.result(most, l), nil
}

// group is a ValueGroup before it is decoded.
type group struct {
	count   int64
	order   int
	subtask int
	stream  valueStream
	raw     rawValue // with bytes of its own
}

// grouper counts entries by their bytes.
type grouper struct {
	seen    map[string]*group
	entries int64
	more    bool
	buf     []byte
	held    int64 // bytes of groups
}

// maxHeld bounds the bytes of the groups together; of an entry beyond it only the
// digest is held.
const maxHeld = 64 << 20

func (g *grouper) add(subtask int, v valueStream, raw rawValue) {
	g.entries++
	key := raw.value
	if raw.key != nil {
		g.buf = append(append(g.buf[:0], raw.key...), raw.value...)
		key = g.buf
	}
	if len(key) > 64 {
		g.buf = binary.BigEndian.AppendUint64(append(g.buf[:0], key...), uint64(raw.len))
		sum := sha256.Sum256(g.buf)
		g.buf = append(g.buf[:0], sum[:]...)
		key = g.buf
	}
	if e := g.seen[string(key)]; e != nil {
		e.count++
		return
	}
	if len(g.seen) >= maxGroups {
		g.more = true
		return
	}
	e := &group{1, len(g.seen), subtask, v, raw}
	if room := maxHeld - g.held; raw.len <= room {
		e.raw.key, e.raw.value = append([]byte(nil), raw.key...), append([]byte(nil), raw.value...)
		g.held += raw.len
	} else {
		e.raw.key, e.raw.value = nil, nil
		e.raw.err = fmt.Errorf("not held: the different entries have more than %s together", FormatSize(maxHeld))
	}
	g.seen[string(key)] = e
}

func (g *grouper) result(most int, l serde.Limits) ValueGroups {
	out := ValueGroups{Entries: g.entries, Distinct: int64(len(g.seen)), More: g.more}
	all := make([]*group, 0, len(g.seen))
	for _, e := range g.seen {
		all = append(all, e)
	}
	sort.Slice(all, func(i, j int) bool {
		return all[i].count > all[j].count || all[i].count == all[j].count && all[i].order < all[j].order
	})
	for _, e := range all[:min(len(all), max(most, 0))] {
		first := ElementValue{Index: e.raw.index, Off: e.raw.off, Len: e.raw.len, Err: e.raw.err}
		if e.raw.value != nil {
			first = e.stream.decode(e.raw, decoders{limits: l})
		}
		out.Groups = append(out.Groups, ValueGroup{e.count, e.subtask, first})
	}
	return out
}

// StateTypes are the serializers of a named operator state in the first of the
// streams that can be read: key (of a broadcast state, else nil) and value.
func (s *Snapshot) StateTypes(ctx context.Context, t *Tree, n Node) (key, value *serde.Snapshot, err error) {
	cells := []Node{n}
	if t.class[n] == ClassState {
		cells = t.Children(nil, n, TurnState)
	}
	for _, cell := range cells {
		if s.operatorHandleOf(t, cell) == nil {
			continue
		}
		err = s.openValues(ctx, t, cell, func(v valueStream) error {
			key, value = v.key, v.value
			return nil
		})
		if value != nil {
			return key, value, nil
		}
	}
	return nil, nil, err
}

// ValueText is a value as text for a terminal.
func ValueText(v serde.Value) string { return Clean(v.String()) }
