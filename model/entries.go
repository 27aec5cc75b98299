package model

import (
	"context"
	"errors"
	"math"

	"chkscope/decoder"
	"chkscope/decoder/connector"
	"chkscope/decoder/keyed"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// Entry is one entry of any state: a list element, an entry of a broadcast map,
// an entry of keyed state (of a heap MAP one entry of a key's map), a timer, or
// all of a coordinator's state. It is valid during the call that gives it.
type Entry struct {
	Cell    Node
	Subtask int32 // -1 for coordinator state
	Index   int64 // in the list, map or state of the subtask
	Group   int32 // key group, -1 where it has none
	// Parts that do not apply are Missing, those that could not be decoded Opaque,
	// with the reason. MapKey is also the key of a broadcast entry. The value of a
	// timer is its time.
	Key, Namespace, MapKey, Value serde.Value
	// LastAccess is the time in a TTL value, milliseconds since 1970.
	LastAccess int64
	TTL        bool
	Len        int64           // bytes in the file
	Type       *serde.Snapshot // of the value, nil where there is none
	// Connector is what a connector stored, where it is known as such; Value is then
	// its value.
	Connector *connector.Decoded
	// Service is the timer service of a raw keyed timer, Processing tells that it is
	// one of processing time.
	Service    string
	Processing bool
}

// entryWalk gives the entries of several nodes.
type entryWalk struct {
	s        *Snapshot
	ctx      context.Context
	t        *Tree
	limits   serde.Limits
	f        func(*Entry) error
	progress func(done, all int64)

	done, all int64
	opaque    error
}

// EachEntry calls f for the entries of the nodes, subtask by subtask, in constant
// memory. Nodes are operators, states or cells; what is in several of them comes
// once. Progress, which may be nil, is told bytes done and all. In heap streams
// with values whose end nothing tells the entries behind them are left out, and
// the error wraps serde.ErrOpaque.
func (s *Snapshot) EachEntry(ctx context.Context, t *Tree, nodes []Node, l serde.Limits, progress func(done, all int64), f func(*Entry) error) error {
	w := &entryWalk{s: s, ctx: ctx, t: t, limits: l, f: f, progress: progress}
	jobs := w.plan(nodes)
	for _, j := range jobs {
		w.all += j.bytes
	}
	for _, j := range jobs {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := j.read()
		if errors.Is(err, serde.ErrOpaque) {
			if w.opaque == nil {
				w.opaque = err
			}
		} else if err != nil {
			return err
		}
		w.done += j.bytes
		w.tell(0)
	}
	return w.opaque
}

func (w *entryWalk) tell(off int64) {
	if w.progress != nil {
		w.progress(w.done+off, w.all)
	}
}

// entryJob is a list, a stream or what else is read at once.
type entryJob struct {
	bytes int64
	read  func() error
}

// plan lists what is to be read: each cell of operator state, and each keyed
// stream once for all of its states.
func (w *entryWalk) plan(nodes []Node) []entryJob {
	var jobs []entryJob
	keyedAt := map[opSub]*[]Node{}
	seen := map[Node]bool{}
	for _, n := range w.leaves(nodes) {
		if seen[n] {
			continue
		}
		seen[n] = true
		switch w.t.kind[n] {
		case KindOperator, KindRawOperator:
			if h := w.s.operatorHandleOf(w.t, n); h != nil {
				jobs = append(jobs, entryJob{max(streamLen(&h.Delegate), 0), func() error { return w.list(n) }})
			}
		case KindKeyed:
			at := opSub{w.t.op[n], w.t.sub[n]}
			if list := keyedAt[at]; list != nil {
				*list = append(*list, n)
				continue
			}
			h := w.s.keyGroupsOf(w.t, n)
			if h == nil || w.t.Whole(n) {
				continue
			}
			list := &[]Node{n}
			keyedAt[at] = list
			jobs = append(jobs, entryJob{max(streamLen(&h.Groups.Stream), 0), func() error { return w.keyed(h, *list) }})
		case KindRawKeyed:
			if h := w.s.Meta.Operators[w.t.op[n]].Subtasks[w.t.sub[n]].State.RawKeyed; h != nil && h.Groups != nil {
				jobs = append(jobs, entryJob{max(streamLen(&h.Groups.Stream), 0), func() error { return w.rawTimers(h, n) }})
			}
		case KindCoordinator:
			jobs = append(jobs, entryJob{0, func() error { return w.coordinator(n) }})
		}
	}
	return jobs
}

// leaves are the cells below nodes; a row for all keyed names together stands
// for each of them, the row of a coordinator for itself.
func (w *entryWalk) leaves(nodes []Node) []Node {
	var out []Node
	t := w.t
	for _, n := range nodes {
		switch t.class[n] {
		case ClassCheckpoint, ClassOperator:
			out = append(out, w.leaves(t.Children(nil, n, TurnState))...)
		case ClassSubtask:
			out = append(out, w.leaves(t.Children(nil, n, TurnSubtask))...)
		case ClassState:
			if t.kind[n] == KindCoordinator {
				out = append(out, n)
			} else {
				out = append(out, w.leaves(t.Children(nil, n, TurnState))...)
			}
		case ClassCell:
			if out = append(out, n); t.kind[n] != KindKeyed || !t.Whole(n) {
				continue
			}
			for _, c := range t.Children(nil, t.parent[t.parent[n]], TurnState) {
				if t.kind[c] != KindKeyed || t.Whole(c) {
					continue
				}
				for _, cell := range t.Children(nil, c, TurnState) {
					if t.sub[cell] == t.sub[n] {
						out = append(out, cell)
					}
				}
			}
		}
	}
	return out
}

// list gives the elements of a list or the entries of a broadcast map.
func (w *entryWalk) list(cell Node) error {
	d := newDecoders(w.limits)
	return w.s.openValues(w.ctx, w.t, cell, func(v valueStream) error {
		e := Entry{Cell: cell, Subtask: w.t.index[cell], Group: -1, Type: v.value}
		_, err := v.each(w.ctx, 0, math.MaxInt64, func(raw rawValue) error {
			if w.progress != nil && raw.index&0xfff == 0 {
				w.tell(raw.off)
			}
			e.Index, e.Len, e.Connector = raw.index, raw.len, nil
			if v.place.State != "" {
				if c, ok, err := d.element(v.place, raw.value); ok && err == nil {
					e.Connector, e.Value = c, c.Value
					return w.f(&e)
				}
			}
			x := v.decode(raw, d)
			e.MapKey, e.Value, e.Len = x.Key, x.Value, x.Len
			if x.Err != nil && x.Value.Form == serde.Missing {
				e.Value = w.undecoded(raw.value, raw.len, x.Err)
			}
			return w.f(&e)
		})
		return err
	})
}

// undecoded is bytes, of n in all, that could not be decoded.
func (w *entryWalk) undecoded(b []byte, n int64, err error) serde.Value {
	head := b[:min(len(b), max(w.limits.Bytes, 0))]
	return serde.Value{Form: serde.Opaque, N: n, Text: string(head), Cut: int64(len(head)) < n, Why: decoder.Text(err.Error())}
}

// keyed gives the entries of a stream that belong to the cells.
func (w *entryWalk) keyed(h *metadata.KeyedHandle, cells []Node) error {
	st, closer, err := w.s.openKeyGroups(w.ctx, w.t.op[cells[0]], h)
	if err != nil {
		if closer != nil {
			closer.Close()
		}
		return err
	}
	defer closer.Close()
	op := int(w.t.op[cells[0]])
	types, cellOf, number := w.s.keyedTypes(op, st), map[int]Node{}, make([]int64, len(st.Header.States))
	for _, c := range cells {
		cellOf[st.Header.State(w.t.Name(c))] = c
	}
	d := keyed.NewDecoder(types, w.limits)
	e := Entry{Subtask: w.t.index[cells[0]]}
	var opaque error
	for i := range st.Groups() {
		_, err := st.Walk(i, maxEntryRead, func(x keyed.Entry) error {
			number[x.State]++
			cell, ok := cellOf[x.State]
			if !ok {
				return nil
			}
			e.Cell, e.Index, e.Group = cell, number[x.State]-1, x.Group
			return w.give(&e, d.Decode(x), x, types)
		})
		if errors.Is(err, serde.ErrOpaque) {
			opaque = err
		} else if err != nil {
			return err
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		w.tell(st.Extent(i).End())
	}
	return opaque
}

// give gives a keyed entry of a stream that is walked.
func (w *entryWalk) give(e *Entry, f keyed.Fields, x keyed.Entry, types []keyed.Types) error {
	e.Len = int64(len(x.Namespace)) + x.KeyLen + x.ValueLen
	e.Type = typeOfValue(&types[x.State])
	return eachPart(e, f, inHeapMap(&types[x.State]), w.f)
}

// typeOfValue is the type of what stands in Value: of a map, of one of its values.
func typeOfValue(t *keyed.Types) *serde.Snapshot {
	if t.Map {
		return t.Value
	}
	return t.Stored
}

// inHeapMap reports whether an entry is a whole map.
func inHeapMap(t *keyed.Types) bool { return t.Map && t.Layout == keyed.Heap }

// eachPart gives a keyed entry; where it is a map, one entry of that at a time.
func eachPart(e *Entry, f keyed.Fields, isMap bool, give func(*Entry) error) error {
	e.Key, e.Namespace, e.MapKey, e.Value = f.Key, f.Namespace, f.MapKey, f.Value
	e.LastAccess, e.TTL = f.LastAccess, f.TTL
	if !isMap || f.Value.Form != serde.Pairs {
		return give(e)
	}
	for k := 0; k+1 < len(f.Value.Items); k += 2 {
		e.MapKey, e.Value = f.Value.Items[k], f.Value.Items[k+1]
		if len(f.Accesses) > k/2 {
			e.LastAccess = f.Accesses[k/2]
		}
		if err := give(e); err != nil {
			return err
		}
	}
	return nil
}

func (w *entryWalk) rawTimers(h *metadata.KeyedHandle, cell Node) error {
	in, closer, err := w.s.OpenStream(w.ctx, &h.Groups.Stream)
	if err != nil {
		return err
	}
	defer closer.Close()
	e := Entry{Cell: cell, Subtask: w.t.index[cell], Index: -1}
	_, err = keyed.EachRawTimer(in, w.s.Meta.In, h.Groups, func(t keyed.Timer) error {
		if !w.t.Whole(cell) && t.Service.Name != w.t.Name(cell) {
			return nil
		}
		if e.Index++; e.Index&0xfff == 0 && w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		e.Service, e.Processing = t.Service.Name, t.Processing
		e.Group, e.Namespace = t.Group, serde.Value{}
		e.Key, _, _ = serde.DecodeAll(t.Service.Key, t.Key, w.limits)
		if t.Service.Namespace == nil || t.Service.Namespace.Kind != serde.VoidByte {
			e.Namespace, _, _ = serde.DecodeAll(t.Service.Namespace, t.Namespace, w.limits)
		}
		e.Value, e.Len = serde.Value{Form: serde.Millis, N: t.Time}, int64(len(t.Key)+len(t.Namespace)+8)
		return w.f(&e)
	})
	return err
}

// coordinator gives all of a coordinator's state as one value.
func (w *entryWalk) coordinator(n Node) error {
	h := w.s.Meta.Operators[w.t.op[n]].Coordinator
	if h == nil {
		return nil
	}
	in, closer, err := w.s.OpenStream(w.ctx, h)
	if err != nil {
		return err
	}
	defer closer.Close()
	b, err := decoder.ReadSpan(in, decoder.Span{Len: in.Size()}, maxEntryRead)
	if err != nil {
		return err
	}
	e := Entry{Cell: n, Subtask: -1, Group: -1, Len: int64(len(b))}
	if c, err := connector.DecodeCoordinator(b); err == nil {
		e.Connector, e.Value = &c, c.Value
	} else {
		e.Value = w.undecoded(b, int64(len(b)), err)
	}
	return w.f(&e)
}

// EntryFields are the fields of an entry for a condition (where.Fields).
type EntryFields struct {
	*Entry
	State string // name of its state, as in the file
	// TTL is how long the state lives, 0 where that is not known: no snapshot
	// records it. Now is when that is asked, milliseconds since 1970.
	TTL, Now int64
}

// Expires is when the entry expires, in milliseconds since 1970; false where it
// has no TTL or the length of it is not known.
func (f EntryFields) Expires() (int64, bool) { return f.LastAccess + f.TTL, f.Entry.TTL && f.TTL > 0 }

// Field is where.Fields.
func (f EntryFields) Field(name string) serde.Value {
	number := func(n int64, ok bool) serde.Value {
		if !ok {
			return serde.Value{}
		}
		return serde.Value{Form: serde.Integer, N: n}
	}
	switch name {
	case "key":
		if f.Group < 0 && f.Key.Form == serde.Missing { // of a broadcast map
			return f.MapKey
		}
		return f.Key
	case "namespace":
		return f.Namespace
	case "map_key":
		return f.MapKey
	case "value":
		return f.Value
	case "key_group":
		return number(int64(f.Group), f.Group >= 0)
	case "subtask":
		return number(int64(f.Subtask), f.Subtask >= 0)
	case "entry":
		return number(f.Index, true)
	case "bytes":
		return number(f.Len, f.Len >= 0)
	case "state":
		name := decoder.Text(orElse(f.State, f.Service))
		return serde.Value{Form: serde.Text, Text: name, N: int64(len(name))}
	case "last_access":
		return number(f.LastAccess, f.Entry.TTL)
	case "expires":
		return number(f.Expires())
	case "ttl_expired":
		if at, ok := f.Expires(); ok {
			return serde.Value{Form: serde.Bool, N: int64(btoi(at <= f.Now))}
		}
		return serde.Value{}
	}
	return f.kafka(name)
}

func orElse(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// kafka is a field of the Kafka partition that the entry is about.
func (f EntryFields) kafka(name string) serde.Value {
	if f.Connector == nil || len(f.Connector.Kafka) != 1 {
		return serde.Value{}
	}
	switch p := &f.Connector.Kafka[0]; name {
	case "topic":
		return serde.Value{Form: serde.Text, Text: p.Topic, N: int64(len(p.Topic))}
	case "partition":
		return serde.Value{Form: serde.Integer, N: int64(p.Partition)}
	case "offset":
		if p.HasOffset {
			return serde.Value{Form: serde.Integer, N: p.Offset}
		}
	}
	return serde.Value{}
}
