package ha

import (
	"fmt"
	"strconv"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
	"chkscope/decoder/metadata"
)

func (r *reader) masters(n javaobj.Node) (list []metadata.Master) {
	if n.IsNull() {
		return nil
	}
	r.elements(n, "master state", func(_ int, p javaobj.Placed) {
		if !r.is(p.Node, "checkpoint.MasterState") {
			return
		}
		m := metadata.Master{Span: p.Span, Version: r.int(p.Node, "version"), Name: r.text(p.Node, "name")}
		m.Payload.Span = r.array(p.Node, "bytes", "[B").Body()
		if r.ok() {
			list = append(list, m)
		}
	})
	return list
}

// pairSpan is the place of a map entry.
func pairSpan(k, v javaobj.Placed) decoder.Span {
	return decoder.Span{Off: k.Span.Off, Len: v.Span.End() - k.Span.Off}
}

func (r *reader) operators(n javaobj.Node, m *metadata.Checkpoint) {
	i := 0
	r.entries(n.Field("operatorStates"), "operator", func(k, v javaobj.Placed) {
		r.enter("operator", i)
		op := metadata.Operator{Span: pairSpan(k, v)}
		r.bounds = op.Span
		if r.operator(v.Node, &op) {
			m.Operators = append(m.Operators, op)
		}
		r.leave()
		i++
	})
	m.Legacy114 = r.legacy114
}

// operator reads one OperatorState; false where not even its head could be read.
func (r *reader) operator(n javaobj.Node, op *metadata.Operator) bool {
	if !r.is(n, "checkpoint.OperatorState") {
		return false
	}
	inline := r.inline
	op.ID = r.abstractID(n.Field("operatorID"))
	op.Parallelism, op.MaxParallelism = r.int(n, "parallelism"), r.int(n, "maxParallelism")
	if r.ok() && (op.Parallelism < 0 || op.Parallelism > op.MaxParallelism) {
		r.fail(n, "parallelism between 0 and the max parallelism", fmt.Sprintf("%d of %d", op.Parallelism, op.MaxParallelism))
	}
	if !r.ok() {
		return false
	}
	op.Name, op.UID = r.optionalText(n, "operatorName"), r.optionalText(n, "operatorUid")
	if c := n.Place("coordinatorState"); !c.Node.IsNull() {
		r.enter("coordinator state", -1)
		h := new(metadata.StreamHandle)
		r.stream(c, h)
		if r.ok() && h.Type != metadata.TypeByteStream {
			r.fail(c.Node, "a ByteStreamStateHandle", describe(c.Node))
		}
		if r.ok() {
			op.Coordinator = h
		}
		r.leave()
	}
	if n.Is(flinkRuntime + "checkpoint.FullyFinishedOperatorState") {
		op.SubtaskCount = -1
	} else {
		r.entries(n.Field("operatorSubtaskStates"), "subtask", func(k, v javaobj.Placed) { r.subtask(op, k, v) })
		op.SubtaskCount = int32(len(op.Subtasks))
	}
	op.InlineBytes = r.inline - inline
	return true
}

func (r *reader) subtask(op *metadata.Operator, k, v javaobj.Placed) {
	index, ok := k.Node.Number()
	if !ok || index < 0 || index >= int64(op.Parallelism) {
		r.enter("subtask entry", len(op.Subtasks))
		found := strconv.FormatInt(index, 10)
		if !ok {
			found = describe(k.Node)
		}
		r.fail(k.Node, fmt.Sprintf("subtask index below the parallelism, %d", op.Parallelism), found)
		return
	}
	r.enter("subtask", int(index))
	defer r.leave()
	if !r.is(v.Node, "checkpoint.OperatorSubtaskState") {
		return
	}
	s := metadata.Subtask{Index: int32(index), Span: pairSpan(k, v)}
	inline := r.inline
	if v.Node.Is(flinkRuntime + "checkpoint.FinishedOperatorSubtaskState") {
		s.Finished = true
	} else {
		s.State = new(metadata.SubtaskState)
		r.state(v.Node, s.State)
	}
	s.InlineBytes = r.inline - inline
	op.Subtasks = append(op.Subtasks, s)
}

// The fields of an OperatorSubtaskState.
const (
	managedOperator = "managedOperatorState"
	rawOperator     = "rawOperatorState"
	managedKeyed    = "managedKeyedState"
	rawKeyed        = "rawKeyedState"
	inputChannels   = "inputChannelState"
	outputChannels  = "resultSubpartitionState"
)

// state reads the collections in the order of the stream, so that what stands
// once for several counts for the first.
func (r *reader) state(n javaobj.Node, s *metadata.SubtaskState) {
	s.Input = r.channels(n, inputChannels, "input channel state", false)
	s.ManagedKeyed = r.keyedField(n, managedKeyed, "managed keyed state")
	s.ManagedOperator = r.operatorField(n, managedOperator, "managed operator state")
	s.RawKeyed = r.keyedField(n, rawKeyed, "raw keyed state")
	s.RawOperator = r.operatorField(n, rawOperator, "raw operator state")
	s.Output = r.channels(n, outputChannels, "result subpartition state", true)
	if s.ManagedOperator != nil {
		s.ManagedOperatorPresence = 1
	}
	if s.RawOperator != nil {
		s.RawOperatorPresence = 1
	}
}

// collection gives the elements of a StateObjectCollection.
func (r *reader) collection(c javaobj.Node, f func(i int, p javaobj.Placed)) {
	if r.ok() && !c.IsNull() && r.is(c, "checkpoint.StateObjectCollection") {
		r.elements(c.Field("stateObjects"), "handle", f)
	}
}

// single gives the only element of a StateObjectCollection. Flink refuses to
// write a `_metadata` with more, and does so before it stores the object.
func (r *reader) single(n javaobj.Node, field, what string, f func(p javaobj.Placed)) {
	if !r.ok() || n.Field(field).Kind() == javaobj.Missing && n.Cut() {
		return
	}
	r.enter(what, -1)
	defer r.leave()
	r.collection(n.Field(field), func(i int, p javaobj.Placed) {
		switch {
		case i > 0:
			r.fail(p.Node, "one handle", "a second one")
		case !p.Node.IsNull():
			f(p)
		}
	})
}

func (r *reader) operatorField(n javaobj.Node, field, what string) (h *metadata.OperatorHandle) {
	r.single(n, field, what, func(p javaobj.Placed) {
		h = &metadata.OperatorHandle{Span: p.Span}
		r.operatorHandle(p.Node, h)
	})
	return h
}

func (r *reader) keyedField(n javaobj.Node, field, what string) (h *metadata.KeyedHandle) {
	r.single(n, field, what, func(p javaobj.Placed) {
		h = new(metadata.KeyedHandle)
		r.keyed(p, h)
	})
	return h
}
