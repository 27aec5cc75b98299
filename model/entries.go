package model

import (
	"context"
	"errors"
	"math"
	"slices"

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
			if h := w.s.Meta.Operators[w.t.op[n]].Subtasks[w.t.sub[n]].State.RawKeyed; h != nil && h.Groups != nil && w.t.Whole(n) {
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
	at := w.place(cell)
	return w.s.openValues(w.ctx, w.t, cell, func(v valueStream) error {
		e := Entry{Cell: cell, Subtask: w.t.index[cell], Group: -1, Type: v.value}
		_, err := v.each(w.ctx, 0, math.MaxInt64, func(raw rawValue) error {
			x := v.decode(raw, d)
			e.Index, e.MapKey, e.Value, e.Len, e.Connector = x.Index, x.Key, x.Value, x.Len, nil
			if x.Err != nil && x.Value.Form == serde.Missing {
				e.Value = serde.Value{Form: serde.Opaque, N: raw.len, Text: string(raw.value[:min(len(raw.value), max(w.limits.Bytes, 0))]), Why: decoder.Text(x.Err.Error())}
			}
			if c, ok, err := connector.Element(at, raw.value); ok && err == nil && raw.len == int64(len(raw.value)) {
				e.Connector, e.Value = &c, c.Value
			}
			if w.progress != nil && raw.index&0xfff == 0 {
				w.tell(raw.off)
			}
			return w.f(&e)
		})
		return err
	})
}

// place tells a connector's decoder where an element stands.
func (w *entryWalk) place(cell Node) connector.Place {
	op := int(w.t.op[cell])
	o := &w.s.Meta.Operators[op]
	return connector.Place{State: w.t.Name(cell), Coordinator: o.Coordinator != nil, Has: func(name string) bool {
		return slices.ContainsFunc(o.Subtasks, func(s metadata.Subtask) bool {
			return s.State != nil && s.State.ManagedOperator != nil && stateOf(s.State.ManagedOperator, name) != nil
		})
	}}
}

// keyed gives the entries of a stream that belong to the cells.
func (w *entryWalk) keyed(h *metadata.KeyedHandle, cells []Node) error {
	st, closer, err := w.s.openKeyGroups(w.ctx, h)
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

// give gives a keyed entry; a heap MAP one entry at a time.
func (w *entryWalk) give(e *Entry, f keyed.Fields, x keyed.Entry, types []keyed.Types) error {
	t := &types[x.State]
	e.Key, e.Namespace, e.MapKey, e.Value = f.Key, f.Namespace, f.MapKey, f.Value
	e.LastAccess, e.TTL, e.Type = f.LastAccess, f.TTL, t.Stored
	e.Len = int64(len(x.Namespace)) + x.KeyLen + x.ValueLen
	if t.Map {
		e.Type = t.Value
	}
	if !t.Map || t.Layout != keyed.Heap || f.Value.Form != serde.Pairs {
		return w.f(e)
	}
	for k := 0; k+1 < len(f.Value.Items); k += 2 {
		e.MapKey, e.Value = f.Value.Items[k], f.Value.Items[k+1]
		if len(f.Accesses) > k/2 {
			e.LastAccess = f.Accesses[k/2]
		}
		if err := w.f(e); err != nil {
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
		if e.Index++; e.Index&0xfff == 0 && w.ctx.Err() != nil {
			return w.ctx.Err()
		}
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
		e.Value = serde.Value{Form: serde.Opaque, N: int64(len(b)), Text: string(b[:min(len(b), max(w.limits.Bytes, 0))]), Why: decoder.Text(err.Error())}
	}
	return w.f(&e)
}
