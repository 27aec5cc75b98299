package finding

import (
	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/store"
)

// The size of the message that deploys one task, measured with real Flink
// (RPC-SIZE.md): message = baseMessage + R, where R is the Java-serialized
// JobManagerTaskRestore. All in bytes.
const (
	baseMessage     = 20000 // job and task information and the call itself
	baseRestore     = 1777
	baseAcknowledge = 5500

	costOperatorState = 450 // once a task, for what occurs in it
	costKeyGroups     = 620
	costSavepoint     = 75
	costIncremental   = 980
	costChannels      = 1050
	costInline        = 140
	costAbsolute      = 250
	costRelative      = 350

	costName        = 24 // a state name the first time in a task, and its length
	costNameAgain   = 26
	costOffset      = 8
	costKeyedHandle = 50
	costIncrHandle  = 110
	costChannel     = 79
	costBuffer      = 14
)

// restoreSize is R for the heaviest task of an operator at the same
// parallelism, and what one of its subtasks acknowledges.
type restoreSize struct {
	restores bool // anything at all
	restore  int64
	tasks    int64
	ack      int64
	ackAt    int32 // the subtask
}

// task adds up the parts of one task's message.
type task struct {
	bytes int64
	seen  uint16 // classes that occurred
	names map[string]bool
	dir   string
}

const (
	sawOperator = 1 << iota
	sawGroups
	sawSavepoint
	sawIncremental
	sawChannels
	sawInline
	sawAbsolute
	sawRelative
)

var classCosts = [...]int64{costOperatorState, costKeyGroups, costSavepoint, costIncremental, costChannels, costInline, costAbsolute, costRelative}

func (t *task) saw(bits uint16) {
	for i, cost := range classCosts {
		if bit := uint16(1) << i; bits&bit != 0 && t.seen&bit == 0 {
			t.seen |= bit
			t.bytes += cost
		}
	}
}

func (t *task) stream(h *metadata.StreamHandle) {
	switch h.Type {
	case metadata.TypeByteStream:
		t.saw(sawInline)
		t.bytes += 50 + int64(len(h.Name)) + h.Data.Len()
	case metadata.TypeRelativeFile:
		t.saw(sawRelative)
		t.bytes += 64 + int64(len(store.Join(t.dir, h.Name))) + int64(len(h.Name))
	case metadata.TypeFile, metadata.TypeSegment:
		t.saw(sawAbsolute)
		t.bytes += 61 + int64(len(h.Name))
	case metadata.TypeKeyGroups:
		t.stream(&h.Keyed.Stream)
	}
}

// operatorState adds the names of one handle that this task gets.
func (t *task) operatorState(h *metadata.OperatorHandle, wanted func(*metadata.OperatorState) bool) {
	any := false
	for i := range h.States {
		st := &h.States[i]
		if !wanted(st) {
			continue
		}
		any = true
		cost := int64(costNameAgain)
		if !t.names[st.Name] {
			t.names[st.Name] = true
			cost = costName + int64(len(st.Name))
		}
		t.bytes += cost + costOffset*st.Offsets.Len()
	}
	if any {
		t.saw(sawOperator)
		t.stream(&h.Delegate)
	}
}

func (t *task) keyed(s *model.Snapshot, k *metadata.KeyedHandle) {
	switch {
	case k.Groups != nil:
		bits := uint16(sawGroups)
		if k.Type == metadata.TypeSavepoint {
			bits |= sawSavepoint
		}
		t.saw(bits)
		t.bytes += costKeyedHandle + costOffset*k.Groups.Offsets.Len()
		t.stream(&k.Groups.Stream)
	case k.Incr != nil:
		t.saw(sawIncremental)
		t.bytes += costIncrHandle
		t.stream(&k.Incr.Meta)
		for _, m := range []metadata.FileMap{k.Incr.Shared, k.Incr.Private} {
			// Entries were read once when decoding: errors cannot be new.
			_ = m.Each(s.Meta.In, func(_ int, f metadata.NamedStream) error {
				t.stream(&f.Stream)
				t.bytes += int64(len(f.Key)) - 22
				return nil
			})
		}
	case k.Changelog != nil:
		for _, list := range [][]metadata.KeyedHandle{k.Changelog.Materialized, k.Changelog.NonMaterialized} {
			for i := range list {
				t.keyed(s, &list[i])
			}
		}
	case k.Inline != nil:
		t.bytes += costKeyedHandle + k.Inline.Changes.Span.Len
	case k.Files != nil:
		t.bytes += costKeyedHandle
		for i := range k.Files.Increments {
			t.stream(&k.Files.Increments[i].Stream)
		}
	}
}

func (t *task) channels(s *model.Snapshot, c *metadata.Channels) {
	if c.Len() == 0 {
		return
	}
	t.saw(sawChannels)
	files := map[string]bool{}
	_ = c.Each(s.Meta, func(_ int, h *metadata.ChannelHandle) error {
		t.bytes += costChannel + costBuffer*max(h.Offsets.Len()-1, 0)
		if !files[h.Delegate.Name] {
			files[h.Delegate.Name] = true
			t.stream(&h.Delegate)
		}
		return nil
	})
}

// own adds what stays with a subtask at the same parallelism, beside its
// operator state.
func (t *task) own(s *model.Snapshot, st *metadata.SubtaskState) {
	if st.ManagedKeyed != nil {
		t.keyed(s, st.ManagedKeyed)
	}
	if st.RawKeyed != nil {
		t.keyed(s, st.RawKeyed)
	}
	t.channels(s, &st.Input)
	t.channels(s, &st.Output)
}

func isUnion(st *metadata.OperatorState) bool { return st.Mode == metadata.ModeUnion }
func always(*metadata.OperatorState) bool     { return true }

// restoreSizes computes R for every operator. The chain of a task is not in
// `_metadata`, so each operator stands alone: a lower bound.
func (r *run) restoreSizes() []restoreSize {
	if r.restores == nil {
		r.restores = make([]restoreSize, len(r.s.Meta.Operators))
		for op := range r.restores {
			r.restores[op] = r.operatorRestore(op)
		}
	}
	return r.restores
}

func (r *run) operatorRestore(op int) restoreSize {
	o := &r.s.Meta.Operators[op]
	dir := r.s.Dir
	if r.s.Options.SourceURI != "" {
		dir = r.s.Options.SourceURI
	}
	out := restoreSize{tasks: int64(o.Parallelism), restore: baseRestore, ack: baseAcknowledge}
	if o.SubtaskCount < 0 {
		return out
	}
	newTask := func() *task { return &task{names: map[string]bool{}, dir: dir} }
	// Every task gets the union states of all subtasks, with their whole streams.
	union, unionOwn := newTask(), make([]bool, len(o.Subtasks))
	for k := range o.Subtasks {
		before := union.bytes
		for _, h := range operatorHandles(&o.Subtasks[k]) {
			union.operatorState(h, isUnion)
		}
		unionOwn[k] = union.bytes > before
	}
	for k := range o.Subtasks {
		st := o.Subtasks[k].State
		if st == nil {
			continue
		}
		t := &task{bytes: baseRestore + union.bytes, seen: union.seen, names: copySet(union.names), dir: dir}
		mine := &task{bytes: baseAcknowledge, names: map[string]bool{}, dir: dir}
		for _, h := range operatorHandles(&o.Subtasks[k]) {
			before := t.bytes
			t.operatorState(h, func(s *metadata.OperatorState) bool { return !isUnion(s) })
			if t.bytes > before && unionOwn[k] {
				t.bytes -= streamCost(&h.Delegate, dir) // one handle carries both
			}
			mine.operatorState(h, always)
		}
		t.own(r.s, st)
		mine.own(r.s, st)
		out.restores = out.restores || t.bytes > baseRestore
		out.restore = max(out.restore, t.bytes)
		if mine.bytes > out.ack {
			out.ack, out.ackAt = mine.bytes, o.Subtasks[k].Index
		}
	}
	return out
}

func copySet(m map[string]bool) map[string]bool {
	out := make(map[string]bool, len(m))
	for k := range m {
		out[k] = true
	}
	return out
}

func streamCost(h *metadata.StreamHandle, dir string) int64 {
	t := &task{seen: ^uint16(0), dir: dir}
	t.stream(h)
	return t.bytes
}

func operatorHandles(s *metadata.Subtask) []*metadata.OperatorHandle {
	if s.State == nil {
		return nil
	}
	var out []*metadata.OperatorHandle
	for _, h := range []*metadata.OperatorHandle{s.State.ManagedOperator, s.State.RawOperator} {
		if h != nil {
			out = append(out, h)
		}
	}
	return out
}

func text(s string) string { return decoder.Text(s) }
