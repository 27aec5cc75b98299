package ha

import (
	"strings"

	"chkscope/decoder/javaobj"
	"chkscope/decoder/metadata"
)

// keyed applies the differences of a keyed handle.
func (e *editor) keyed(n javaobj.Node, src, out *metadata.KeyedHandle) {
	if e.err != nil {
		return
	}
	if src.Type != out.Type || src.Start != out.Start || src.Number != out.Number {
		e.fail("type or key groups of the handle differ")
		return
	}
	changed := src.HandleID != out.HandleID
	if changed {
		e.handleID(n, out.HandleID)
	}
	switch {
	case src.Groups != nil:
		changed = e.keyGroups(n, src.Groups, out.Groups) || changed
	case src.Incr != nil:
		changed = e.incremental(n, src.Incr, out.Incr) || changed
	case src.Changelog != nil:
		e.keyedList(n, "materialized", src.Changelog.Materialized, out.Changelog.Materialized)
		e.keyedList(n, "nonMaterialized", src.Changelog.NonMaterialized, out.Changelog.NonMaterialized)
	case src.Files != nil:
		e.increments(n, src.Files, out.Files)
	}
	e.visit(n, changed)
}

// handleID gives the handle a new id.
func (e *editor) handleID(n javaobj.Node, id string) {
	field := "stateHandleId"
	if !n.Has(field) {
		field = "stateHandleID" // of changelog handles
	}
	by := e.newObject(flinkRuntime + "state.StateHandleID")
	if e.err == nil {
		e.do(e.e.Set(by, "keyString", e.e.NewString(id)))
		e.do(e.e.Set(n, field, by))
	}
}

func (e *editor) keyGroups(n javaobj.Node, src, out *metadata.KeyGroupsHandle) (changed bool) {
	if out.Offsets.Len() != int64(src.Number) {
		e.fail("%d offsets of %d key groups", out.Offsets.Len(), src.Number)
		return false
	}
	offsets := n.Field("groupRangeOffsets")
	e.visit(offsets, e.setOffsets(offsets, src.Offsets, out.Offsets))
	return e.stream(n, "stateHandle", &src.Stream, &out.Stream)
}

func (e *editor) incremental(n javaobj.Node, src, out *metadata.IncrementalHandle) (changed bool) {
	if src.CheckpointID != out.CheckpointID || src.BackendID != out.BackendID {
		e.fail("checkpoint or backend of the incremental handle differ")
	}
	if src.CheckpointedSize != out.CheckpointedSize {
		e.do(e.e.SetInt(n, "persistedSizeOfThisCheckpoint", out.CheckpointedSize))
		changed = true
	}
	e.enter("meta", -1)
	changed = e.stream(n, "metaStateHandle", &src.Meta, &out.Meta) || changed
	e.leave()
	if equalFiles(src.Private.New, out.Private.New) && equalFiles(src.Shared.New, out.Shared.New) {
		e.visit(n.Field("privateState").Unwrap(), false)
		e.visit(n.Field("sharedState").Unwrap(), false)
		return changed
	}
	files := e.fileNodes(n)
	e.fileMap(n, "privateState", out.Private, files)
	e.fileMap(n, "sharedState", out.Shared, files)
	return true
}

// fileNode is an entry of sharedState or privateState: key is the StateHandleID
// of a Map, or the HandleAndLocalPath itself.
type fileNode struct {
	key, stream javaobj.Node
	source      *metadata.StreamHandle
}

// fileNodes finds the entries of both lists by local name; a list may have a
// name more than once.
func (e *editor) fileNodes(n javaobj.Node) map[string][]fileNode {
	files := map[string][]fileNode{}
	r := newReader(e.c.stream)
	for _, field := range []string{"privateState", "sharedState"} {
		coll := n.Field(field)
		add := func(name string, f fileNode) {
			f.source = new(metadata.StreamHandle)
			r.stream(javaobj.Placed{Node: f.stream, Span: f.stream.Span()}, f.source)
			files[name] = append(files[name], f)
		}
		if _, isMap := coll.Entries(); isMap {
			e.entries(coll, func(k, v javaobj.Node) { add(r.text(k, "keyString"), fileNode{key: k, stream: v}) })
		} else if seq, ok := coll.Elements(); ok {
			for p := range seq {
				add(r.text(p.Node, "localPath"), fileNode{key: p.Node, stream: p.Node.Field("handle")})
			}
		}
	}
	return files
}

// fileMap gives a list of files its new entries: those of the object that have
// the same name, their streams replaced where they differ, and new ones.
func (e *editor) fileMap(n javaobj.Node, field string, out metadata.FileMap, files map[string][]fileNode) {
	if e.err != nil {
		return
	}
	e.enter(field, -1)
	defer e.leave()
	coll := n.Field(field).Unwrap()
	_, isMap := coll.Entries()
	var elements []javaobj.Node
	for i := range out.New {
		f := e.takeFile(files, &out.New[i], isMap)
		if elements = append(elements, f.key); isMap {
			elements = append(elements, f.stream)
		}
		if e.err != nil {
			return
		}
	}
	if fixedSize(coll) {
		by, err := e.e.NewCollection(e.growing(isMap), elements...)
		e.do(err)
		e.do(e.e.Set(n, field, by))
		return
	}
	e.visit(coll, true)
	e.do(e.e.SetElements(coll, elements))
}

// fixedSize tells of the collections of java.util.Collections and List.of.
func fixedSize(n javaobj.Node) bool {
	name := n.Class().Name
	return strings.HasPrefix(name, "java.util.Collections$") || name == "java.util.CollSer" || name == "java.util.Arrays$ArrayList"
}

// growing is a HashMap or an ArrayList that every CompletedCheckpoint has.
func (e *editor) growing(isMap bool) javaobj.Node {
	if isMap {
		return e.c.root.Field("operatorStates").Unwrap()
	}
	return e.c.root.Field("masterHookStates").Unwrap()
}

func equalFiles(a, b []metadata.NamedStream) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Key != b[i].Key || !equalStreams(&a[i].Stream, &b[i].Stream) {
			return false
		}
	}
	return true
}

// takeFile takes the entry of the object for a file, or makes one.
func (e *editor) takeFile(files map[string][]fileNode, s *metadata.NamedStream, isMap bool) fileNode {
	list := files[s.Key]
	for i, f := range list { // the very same
		if e.sameStream(f.source, &s.Stream, f.stream) {
			files[s.Key] = append(list[:i:i], list[i+1:]...)
			return f
		}
	}
	if len(list) > 0 { // another stream under the name
		f := list[0]
		files[s.Key] = list[1:]
		f.stream = e.replace(f.stream, f.source, &s.Stream)
		if !isMap && e.err == nil {
			e.visit(f.key, true)
			e.do(e.e.Set(f.key, "handle", f.stream))
		}
		return f
	}
	if isMap {
		f := fileNode{key: e.newObject(flinkRuntime + "state.StateHandleID"), stream: e.newStream(&s.Stream)}
		if e.err == nil {
			e.do(e.e.Set(f.key, "keyString", e.e.NewString(s.Key)))
		}
		return f
	}
	f := fileNode{key: e.newObject(flinkRuntime + "state.IncrementalKeyedStateHandle$HandleAndLocalPath"), stream: e.newStream(&s.Stream)}
	if e.err == nil {
		e.do(e.e.Set(f.key, "localPath", e.e.NewString(s.Key)))
		e.do(e.e.Set(f.key, "handle", f.stream))
	}
	return f
}

// keyedList applies the differences of the handles below a changelog handle,
// which belong together: none may be gone.
func (e *editor) keyedList(n javaobj.Node, field string, src, out []metadata.KeyedHandle) {
	if len(src) != len(out) {
		e.fail("%s has %d handles and not %d", field, len(src), len(out))
		return
	}
	seq, ok := n.Field(field).Elements()
	if !ok {
		return
	}
	i := 0
	for p := range seq {
		e.enter(field, i)
		if !p.Node.IsNull() {
			e.keyed(p.Node, &src[i], &out[i])
		}
		e.leave()
		i++
	}
}

func (e *editor) increments(n javaobj.Node, src, out *metadata.ChangelogFiles) {
	if len(src.Increments) != len(out.Increments) {
		e.fail("the handle has %d increments and not %d", len(src.Increments), len(out.Increments))
		return
	}
	seq, ok := n.Field("handlesAndOffsets").Elements()
	if !ok {
		return
	}
	i := 0
	for p := range seq {
		if src.Increments[i].Offset != out.Increments[i].Offset {
			e.fail("the offset of increment %d differs", i)
		}
		e.enter("increment", i)
		e.visit(p.Node, e.stream(p.Node, "f0", &src.Increments[i].Stream, &out.Increments[i].Stream))
		e.leave()
		i++
	}
}

// channels empties a list of in-flight data, or replaces streams in it.
func (e *editor) channels(n javaobj.Node, field string, src, out metadata.Channels, changed *int) {
	switch {
	case e.err != nil || src.Len() == 0 && out.Len() == 0:
		return
	case out.Len() == 0:
		e.clear(n, field, changed)
		return
	case src.Len() != out.Len():
		e.fail("%s has %d handles and not %d: in-flight data go together", field, src.Len(), out.Len())
		return
	}
	seq, ok := n.Field(field).Field("stateObjects").Elements()
	if !ok {
		return
	}
	i := 0
	for p := range seq {
		s, o := &src.New[i], &out.New[i]
		if s.Kind != o.Kind || s.Subtask != o.Subtask || s.A != o.A || s.B != o.B || s.Size != o.Size || s.Offsets != o.Offsets || s.Packed.Span != o.Packed.Span || o.Packed.New != nil {
			e.fail("%s: handle %d differs in more than its stream", field, i)
		}
		e.enter(field, i)
		e.visit(p.Node, e.stream(p.Node, "delegate", &s.Delegate, &o.Delegate))
		e.leave()
		i++
	}
}
