package prune

import (
	"slices"

	"chkscope/decoder/metadata"
)

// edited is a copy of the source's structures without what goes. Handles still
// name the source's files.
type edited struct {
	*metadata.Checkpoint
	// from gives for each operator its index in the source, and for each of its
	// entries the position there.
	from []operatorFrom
}

type operatorFrom struct {
	op   int
	subs []int
}

// edit copies the structures and leaves out what goes. Offset arrays and inline
// data stay spans of the source.
func (r *removal) edit() *edited {
	out := *r.src
	e := &edited{Checkpoint: &out}
	out.Masters, out.Operators = nil, nil
	for i, m := range r.src.Masters {
		if !r.masters[i] {
			out.Masters = append(out.Masters, m)
		}
	}
	for i := range r.src.Operators {
		if !r.operators[i] {
			op, from := r.editOperator(i)
			out.Operators = append(out.Operators, op)
			e.from = append(e.from, from)
		}
	}
	return e
}

func (r *removal) editOperator(i int) (metadata.Operator, operatorFrom) {
	src := &r.src.Operators[i]
	op, from := *src, operatorFrom{op: i}
	if r.coordinators[i] {
		op.Coordinator = nil
	} else if src.Coordinator != nil {
		c := cloneStream(*src.Coordinator)
		if k := r.kafka[i]; k != nil && k.enumerator > 0 {
			c.Data.New, c.Size = k.left, int64(len(k.left))
		}
		op.Coordinator = &c
	}
	op.Subtasks = make([]metadata.Subtask, 0, len(src.Subtasks))
	for k, s := range src.Subtasks {
		if r.subtasks[place{i, k}] {
			continue
		}
		if s.State != nil {
			s.State = r.editSubtask(place{i, k}, s.State)
		}
		op.Subtasks = append(op.Subtasks, s)
		from.subs = append(from.subs, k)
	}
	if op.SubtaskCount >= 0 {
		op.SubtaskCount = int32(len(op.Subtasks))
	}
	return op, from
}

func (r *removal) editSubtask(p place, src *metadata.SubtaskState) *metadata.SubtaskState {
	s := *src
	s.ManagedOperator = r.editOperatorState(p, false, src.ManagedOperator)
	s.RawOperator = r.editOperatorState(p, true, src.RawOperator)
	if s.ManagedOperator == nil {
		s.ManagedOperatorPresence = 0
	}
	if s.RawOperator == nil {
		s.RawOperatorPresence = 0
	}
	s.ManagedKeyed, s.RawKeyed = nil, nil
	if src.ManagedKeyed != nil && !r.keyed[p] {
		k := cloneKeyed(*src.ManagedKeyed)
		s.ManagedKeyed = &k
	}
	if src.RawKeyed != nil && !r.rawKeyed[p] {
		k := cloneKeyed(*src.RawKeyed)
		s.RawKeyed = &k
	}
	s.Input.New, s.Output.New = slices.Clone(s.Input.New), slices.Clone(s.Output.New)
	if r.inFlight {
		s.Input = metadata.Channels{Output: src.Input.Output}
		s.Output = metadata.Channels{Output: src.Output.Output}
	}
	return &s
}

// editOperatorState drops names and elements from the offsets map. Where no
// name is left the handle goes; one of merged files becomes its empty form,
// which keeps the managed directories registered.
func (r *removal) editOperatorState(p place, raw bool, src *metadata.OperatorHandle) *metadata.OperatorHandle {
	if src == nil {
		return nil
	}
	h, dropped := *src, false
	h.Delegate = cloneStream(src.Delegate)
	h.States = make([]metadata.OperatorState, 0, len(src.States))
	for _, st := range src.States {
		if rm := r.states[stateKey{p.op, raw, st.Name}]; rm != nil {
			if rm.whole[p.sub] {
				dropped = true
				continue
			}
			st.Offsets = st.Offsets.Without(rm.entries[p.sub])
		}
		h.States = append(h.States, st)
	}
	if len(h.States) > 0 || !dropped {
		return &h
	}
	if h.Type == metadata.TypeFileMergingOperator {
		h.EmptyByte = 1
		h.Delegate = metadata.StreamHandle{Type: metadata.TypeEmptySegment}
		return &h
	}
	return nil
}

func cloneStream(h metadata.StreamHandle) metadata.StreamHandle {
	if h.Seg != nil {
		s := *h.Seg
		h.Seg = &s
	}
	if h.Keyed != nil {
		k := *h.Keyed
		k.Stream = cloneStream(k.Stream)
		h.Keyed = &k
	}
	return h
}

// cloneKeyed copies a keyed handle as deep as later steps change it; file lists
// that are spans stay so.
func cloneKeyed(h metadata.KeyedHandle) metadata.KeyedHandle {
	switch {
	case h.Groups != nil:
		g := *h.Groups
		g.Stream = cloneStream(g.Stream)
		h.Groups = &g
	case h.Incr != nil:
		i := *h.Incr
		i.Meta = cloneStream(i.Meta)
		i.Shared.New, i.Private.New = slices.Clone(i.Shared.New), slices.Clone(i.Private.New)
		h.Incr = &i
	case h.Changelog != nil:
		c := *h.Changelog
		c.Materialized = cloneKeyedList(c.Materialized)
		c.NonMaterialized = cloneKeyedList(c.NonMaterialized)
		h.Changelog = &c
	case h.Files != nil:
		f := *h.Files
		f.Increments = make([]metadata.Increment, len(h.Files.Increments))
		for i, n := range h.Files.Increments {
			f.Increments[i] = metadata.Increment{Offset: n.Offset, Stream: cloneStream(n.Stream)}
		}
		h.Files = &f
	}
	return h
}

func cloneKeyedList(list []metadata.KeyedHandle) []metadata.KeyedHandle {
	out := make([]metadata.KeyedHandle, len(list))
	for i, h := range list {
		out[i] = cloneKeyed(h)
	}
	return out
}
