package ha

import (
	"encoding/binary"
	"fmt"
	"io"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
	"chkscope/decoder/metadata"
)

// Encode writes the object with what differs between edited and c.Meta: edited is
// a copy of c.Meta in which structures were taken out or changed. Everything
// else stays as it is: a copy without changes gives the same bytes.
//
// What can differ: master states, operators, subtasks, coordinator states and
// operator and keyed handles may be gone; names and offsets of operator states;
// streams (a new file, new inline data); offsets, ids and file lists of keyed
// handles; in-flight data, all of a list or its streams. Any other difference is
// an error. Sizes that Flink counts up for its statistics (stateSize,
// checkpointedSize) are not touched.
//
// Dir is the directory in which new relative handles (type 6) are, as Flink sees
// it: the object gets absolute ones for them.
func (c *Checkpoint) Encode(w io.Writer, edited *metadata.Checkpoint, dir string) (int64, error) {
	e, err := c.edit(edited, dir)
	if err != nil {
		return 0, err
	}
	return e.WriteTo(w)
}

// EncodedSize is the number of bytes that Encode would write.
func (c *Checkpoint) EncodedSize(edited *metadata.Checkpoint, dir string) (int64, error) {
	e, err := c.edit(edited, dir)
	if err != nil {
		return 0, err
	}
	return e.Size()
}

func (c *Checkpoint) edit(edited *metadata.Checkpoint, dir string) (*javaobj.Edit, error) {
	if c.Meta.Damage != nil {
		return nil, fmt.Errorf("a damaged checkpoint object is not written: %w", c.Meta.Damage)
	}
	e := &editor{
		c: c, e: c.stream.Edit(), in: c.Meta.In, dir: dir,
		visited: map[javaobj.Node]bool{}, replaced: map[javaobj.Node]replacement{},
	}
	e.checkpoint(edited)
	if e.err != nil {
		return nil, e.err
	}
	return e.e, nil
}

// editor applies differences to the graph. It walks the source's structures, the
// edited ones and the nodes side by side. The first failure sticks.
type editor struct {
	c    *Checkpoint
	e    *javaobj.Edit
	in   decoder.Input
	dir  string
	path []step
	err  error
	// visited has the nodes of handles and subtasks, and whether they were
	// changed: one that is shared cannot be changed in one place.
	visited map[javaobj.Node]bool
	// replaced has the last stream that stands for a node: what several handles
	// share they share afterwards.
	replaced map[javaobj.Node]replacement
	empty    javaobj.Node // a StateObjectCollection
}

type replacement struct {
	handle metadata.StreamHandle
	node   javaobj.Node
}

func (e *editor) enter(what string, n int) { e.path = append(e.path, step{what, n}) }

func (e *editor) leave() {
	if e.err == nil {
		e.path = e.path[:len(e.path)-1]
	}
}

func (e *editor) fail(format string, a ...any) {
	if e.err != nil {
		return
	}
	e.err = fmt.Errorf("%s: "+format, append([]any{pathText(e.path)}, a...)...)
}

// do takes the error of an edit of the graph.
func (e *editor) do(err error) {
	if err != nil {
		e.fail("%v", err)
	}
}

// visit tells that n is used once more, changed or not.
func (e *editor) visit(n javaobj.Node, changed bool) {
	if n.IsNull() {
		return
	}
	if before, again := e.visited[n]; again && (before || changed) {
		e.fail("the %s is shared with another place and cannot be changed in one", n.Class().ShortName())
	}
	e.visited[n] = changed
}

func (e *editor) checkpoint(edited *metadata.Checkpoint) {
	src, root := e.c.Meta, e.c.root
	if edited.ID != src.ID || edited.Version != src.Version || !edited.Object {
		e.fail("the edited structures are not those of this object")
		return
	}
	e.masters(src.Masters, edited.Masters)
	keep := map[metadata.OperatorID]*metadata.Operator{}
	for i := range edited.Operators {
		keep[edited.Operators[i].ID] = &edited.Operators[i]
	}
	if len(keep) != len(edited.Operators) {
		e.fail("an operator is there twice")
	}
	gone := map[javaobj.Node]bool{}
	i := 0
	e.entries(root.Field("operatorStates"), func(k, v javaobj.Node) {
		if i >= len(src.Operators) {
			e.fail("more operators than were decoded")
			return
		}
		op := &src.Operators[i]
		i++
		if out := keep[op.ID]; out != nil {
			delete(keep, op.ID)
			e.enter("operator", i-1)
			e.operator(v, op, out)
			e.leave()
		} else {
			gone[k] = true
		}
	})
	for id := range keep {
		e.fail("operator %s is not in the object", id)
	}
	e.drop(root, "operatorStates", gone)
}

// entries walks a map that was decoded before.
func (e *editor) entries(n javaobj.Node, f func(k, v javaobj.Node)) {
	seq, ok := n.Entries()
	if !ok {
		e.fail("a %s is not a map that is known", describe(n))
		return
	}
	for k, v := range seq {
		if e.err != nil {
			return
		}
		f(k.Node, v.Node)
	}
}

// drop takes the entries with those keys, or the elements, out of a collection
// field.
func (e *editor) drop(parent javaobj.Node, field string, gone map[javaobj.Node]bool) {
	if e.err != nil {
		return
	}
	inner := parent.Field(field).Unwrap()
	switch {
	case len(gone) == 0:
		e.visit(inner, false)
	case fixedSize(inner):
		e.do(e.e.Set(parent, field, e.remaining(inner, gone)))
	default:
		e.visit(inner, true)
		_, err := e.e.Filter(inner, func(k, _ javaobj.Node) bool { return !gone[k] })
		e.do(err)
	}
}

// remaining makes a collection of what is not gone.
func (e *editor) remaining(n javaobj.Node, gone map[javaobj.Node]bool) javaobj.Node {
	var kept []javaobj.Node
	entries, isMap := n.Entries()
	if isMap {
		for k, v := range entries {
			if !gone[k.Node] {
				kept = append(kept, k.Node, v.Node)
			}
		}
	} else if elements, ok := n.Elements(); ok {
		for p := range elements {
			if !gone[p.Node] {
				kept = append(kept, p.Node)
			}
		}
	}
	by, err := e.e.NewCollection(e.growing(isMap), kept...)
	e.do(err)
	return by
}

func (e *editor) masters(src, out []metadata.Master) {
	keep := map[int64]bool{}
	for _, m := range out {
		keep[m.Span.Off] = true
	}
	if len(out) == len(src) && len(keep) == len(out) {
		return
	}
	gone := map[javaobj.Node]bool{}
	seq, _ := e.c.root.Field("masterHookStates").Elements()
	for p := range seq {
		if !keep[p.Span.Off] {
			gone[p.Node] = true
		}
	}
	e.drop(e.c.root, "masterHookStates", gone)
}

func (e *editor) operator(n javaobj.Node, src, out *metadata.Operator) {
	if src.Parallelism != out.Parallelism || src.MaxParallelism != out.MaxParallelism || src.Name != out.Name || src.UID != out.UID || (src.SubtaskCount < 0) != (out.SubtaskCount < 0) {
		e.fail("parallelism, names or the finished mark of operator %s differ", src.ID)
	}
	e.enter("coordinator state", -1)
	switch {
	case src.Coordinator != nil && out.Coordinator == nil:
		e.do(e.e.Set(n, "coordinatorState", e.e.Null()))
	case src.Coordinator != nil:
		e.stream(n, "coordinatorState", src.Coordinator, out.Coordinator)
	case out.Coordinator != nil:
		e.fail("it was not there")
	}
	e.leave()
	if src.SubtaskCount < 0 {
		return
	}
	keep := map[int32]*metadata.Subtask{}
	for i := range out.Subtasks {
		keep[out.Subtasks[i].Index] = &out.Subtasks[i]
	}
	if len(keep) != len(out.Subtasks) {
		e.fail("a subtask is there twice")
	}
	gone := map[javaobj.Node]bool{}
	i := 0
	e.entries(n.Field("operatorSubtaskStates"), func(k, v javaobj.Node) {
		s := &src.Subtasks[i]
		i++
		if o := keep[s.Index]; o != nil {
			delete(keep, s.Index)
			e.enter("subtask", int(s.Index))
			e.subtask(v, s, o)
			e.leave()
		} else {
			gone[k] = true
		}
	})
	for index := range keep {
		e.fail("subtask %d is not in the object", index)
	}
	e.drop(n, "operatorSubtaskStates", gone)
}

func (e *editor) subtask(n javaobj.Node, src, out *metadata.Subtask) {
	if src.Finished || out.Finished {
		if src.Finished != out.Finished {
			e.fail("the finished mark differs")
		}
		return
	}
	s, o := src.State, out.State
	changed := 0
	handleField(e, n, managedOperator, s.ManagedOperator, o.ManagedOperator, &changed, e.operatorHandle)
	handleField(e, n, rawOperator, s.RawOperator, o.RawOperator, &changed, e.operatorHandle)
	handleField(e, n, managedKeyed, s.ManagedKeyed, o.ManagedKeyed, &changed, e.keyed)
	handleField(e, n, rawKeyed, s.RawKeyed, o.RawKeyed, &changed, e.keyed)
	e.channels(n, inputChannels, s.Input, o.Input, &changed)
	e.channels(n, outputChannels, s.Output, o.Output, &changed)
	e.visit(n, changed > 0)
}

// clear gives a subtask an empty collection.
func (e *editor) clear(n javaobj.Node, field string, changed *int) {
	*changed++
	e.do(e.e.Set(n, field, e.emptyCollection()))
}

// emptyCollection is an empty StateObjectCollection: one of the object, or a new
// one of its class.
func (e *editor) emptyCollection() javaobj.Node {
	if !e.empty.IsNull() {
		return e.empty
	}
	class := e.c.stream.Class(flinkRuntime + "checkpoint.StateObjectCollection")
	for n := range e.c.stream.Nodes() {
		if n.Kind() == javaobj.Object && n.Class() == class && n.Field("stateObjects").Is("java.util.Collections$EmptyList") {
			e.empty = n
			return n
		}
	}
	n, err := e.e.NewObject(class)
	e.do(err)
	list, err := e.e.NewCollection(e.growing(false))
	e.do(err)
	e.do(e.e.Set(n, "stateObjects", list))
	return n
}

// element is the handle in a StateObjectCollection of one.
func element(n javaobj.Node, field string) (h javaobj.Node) {
	if seq, ok := n.Field(field).Field("stateObjects").Elements(); ok {
		for p := range seq {
			if !p.Node.IsNull() {
				return p.Node
			}
		}
	}
	return javaobj.Node{}
}

// handleField edits the handle in a field of a subtask's state with edit.
func handleField[H any](e *editor, n javaobj.Node, field string, src, out *H, changed *int, edit func(n javaobj.Node, src, out *H)) {
	if src == nil && out == nil || e.err != nil {
		return
	}
	e.enter(field, -1)
	defer e.leave()
	switch {
	case src == nil:
		e.fail("the handle was not there")
	case out == nil:
		e.clear(n, field, changed)
	default:
		edit(element(n, field), src, out)
	}
}

// offsets is the new content of a long[].
func (e *editor) offsets(o metadata.Offsets) javaobj.Content {
	return javaobj.Content{Len: 8 * o.Len(), Write: func(w io.Writer) error {
		buf := make([]byte, 0, 32<<10)
		err := o.Each(e.in, func(_, v int64) error {
			buf = binary.BigEndian.AppendUint64(buf, uint64(v))
			if len(buf) < cap(buf) {
				return nil
			}
			_, err := w.Write(buf)
			buf = buf[:0]
			return err
		})
		if err == nil {
			_, err = w.Write(buf)
		}
		return err
	}}
}

func (e *editor) operatorHandle(n javaobj.Node, src, out *metadata.OperatorHandle) {
	keep := map[string]*metadata.OperatorState{}
	for i := range out.States {
		keep[out.States[i].Name] = &out.States[i]
	}
	if len(keep) != len(out.States) {
		e.fail("a state is there twice")
	}
	gone := map[javaobj.Node]bool{}
	i := 0
	e.entries(n.Field("stateNameToPartitionOffsets"), func(k, v javaobj.Node) {
		s := &src.States[i]
		i++
		o := keep[s.Name]
		if o == nil {
			gone[k] = true
			return
		}
		delete(keep, s.Name)
		if s.Mode != o.Mode {
			e.fail("the mode of state %q differs", s.Name)
		}
		e.visit(v, e.setOffsets(v, s.Offsets, o.Offsets))
	})
	for name := range keep {
		e.fail("state %q is not in the object", name)
	}
	e.drop(n, "stateNameToPartitionOffsets", gone)
	e.enter("delegate", -1)
	e.visit(n, e.delegate(n, src, out))
	e.leave()
}

// setOffsets gives an object new offsets where they differ.
func (e *editor) setOffsets(n javaobj.Node, src, out metadata.Offsets) bool {
	if src == out || e.err != nil {
		return false
	}
	array, err := e.e.NewArray(n.Field("offsets").Class(), e.offsets(out))
	e.do(err)
	e.do(e.e.Set(n, "offsets", array))
	return true
}

// delegate gives an operator-state handle its stream, and where the kind of the
// handle changes an object of another class in its place.
func (e *editor) delegate(n javaobj.Node, src, out *metadata.OperatorHandle) (changed bool) {
	empty := out.EmptyByte != 0 && src.EmptyByte == 0
	if src.Type == out.Type && !empty {
		return e.stream(n, "delegateStateHandle", &src.Delegate, &out.Delegate)
	}
	merging := flinkRuntime + "state.filemerging."
	var class *javaobj.Class
	switch {
	case src.Type == metadata.TypeFileMergingOperator && out.Type == metadata.TypePartitionable:
		class = e.c.stream.Class(flinkRuntime + "state.OperatorStreamStateHandle")
	case empty:
		class = e.subclass(merging+"EmptyFileMergingOperatorStreamStateHandle", merging+"FileMergingOperatorStreamStateHandle")
	default:
		e.fail("a handle of type %d cannot become one of type %d", src.Type, out.Type)
		return false
	}
	by, err := e.e.NewObject(class)
	e.do(err)
	stream := n.Field("delegateStateHandle")
	if empty && out.Delegate.Type == metadata.TypeEmptySegment {
		stream = e.emptySegment(stream)
	} else if !e.sameStream(&src.Delegate, &out.Delegate, stream) {
		stream = e.newStream(&out.Delegate)
	}
	if e.err != nil {
		return false
	}
	e.do(e.e.Set(by, "delegateStateHandle", stream))
	e.do(e.e.Set(by, "stateNameToPartitionOffsets", e.e.Get(n, "stateNameToPartitionOffsets")))
	if empty {
		e.do(e.e.Set(by, "taskOwnedDirHandle", n.Field("taskOwnedDirHandle")))
		e.do(e.e.Set(by, "sharedDirHandle", n.Field("sharedDirHandle")))
	}
	e.do(e.e.Replace(n, by))
	return true
}
