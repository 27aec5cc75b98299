package ha

import (
	"bytes"
	"strings"

	"chkscope/decoder/javaobj"
	"chkscope/decoder/metadata"
)

// subclass finds a class of the stream, or makes it: both classes of merged
// files that are empty have the declared serialVersionUID 1 and no fields in
// every Flink that has them (1.20 and later).
func (e *editor) subclass(name, super string) *javaobj.Class {
	if c := e.c.stream.Class(name); c != nil {
		return c
	}
	c, err := e.e.NewSubclass(name, 1, e.c.stream.Class(super))
	e.do(err)
	return c
}

// emptySegment is EmptySegmentFileStateHandle.INSTANCE: one of the stream, or
// one made with what Flink puts into it.
func (e *editor) emptySegment(like javaobj.Node) javaobj.Node {
	merging := flinkRuntime + "state.filemerging."
	class := e.subclass(merging+"EmptySegmentFileStateHandle", merging+"SegmentFileStateHandle")
	for n := range e.c.stream.Nodes() {
		if n.Kind() == javaobj.Object && n.Class() == class {
			return n
		}
	}
	if e.err != nil {
		return javaobj.Node{}
	}
	n, err := e.e.NewObject(class)
	e.do(err)
	id, err := e.e.NewObject(like.Field("logicalFileId").Class())
	e.do(err)
	e.do(e.e.Set(id, "keyString", e.e.NewString("DUMMY")))
	e.do(e.e.Set(n, "logicalFileId", id))
	e.do(e.e.Set(n, "scope", like.Field("scope"))) // never looked at
	e.do(e.e.Set(n, "filePath", e.newPath("empty")))
	return n
}

// stream gives a field of n a new stream where it differs.
func (e *editor) stream(n javaobj.Node, field string, src, out *metadata.StreamHandle) (changed bool) {
	old := n.Field(field)
	if e.err != nil || e.sameStream(src, out, old) {
		return false
	}
	by := e.replace(old, src, out)
	if e.err == nil {
		e.do(e.e.Set(n, field, by))
	}
	return true
}

// replace makes the stream that stands for old where it was decoded as src.
func (e *editor) replace(old javaobj.Node, src, out *metadata.StreamHandle) javaobj.Node {
	if r, ok := e.replaced[old]; ok && equalStreams(&r.handle, out) {
		return r.node
	}
	if src.Type == metadata.TypeKeyGroups && out.Type == src.Type && src.Keyed.Number == out.Keyed.Number { // the stream inside
		e.visit(old, e.keyGroups(old, src.Keyed, out.Keyed))
		return old
	}
	if old.IsNull() {
		e.fail("the stream was not there")
		return old
	}
	by := e.newStream(out)
	if e.err == nil && src.Type == metadata.TypeByteStream && out.Type == src.Type && out.Name == src.Name {
		e.do(e.e.Set(by, "handleName", old.Field("handleName")))
	}
	e.replaced[old] = replacement{*out, by}
	return by
}

// sameStream tells whether out is the stream of the node n, which was decoded as
// src. A relative file is the same as the absolute one that the object names for
// it.
func (e *editor) sameStream(src, out *metadata.StreamHandle, n javaobj.Node) bool {
	if equalStreams(src, out) {
		return true
	}
	if src.Type == metadata.TypeRelativeFile && out.Type == metadata.TypeFile && src.Size == out.Size {
		r := newReader(e.c.stream)
		return out.Name == r.pathText(n, "filePath") && r.ok()
	}
	return false
}

func equalStreams(a, b *metadata.StreamHandle) bool {
	if a == b {
		return true
	}
	if a.Type != b.Type || a.Name != b.Name || a.Size != b.Size || a.Data.Span != b.Data.Span || (a.Data.New == nil) != (b.Data.New == nil) || !bytes.Equal(a.Data.New, b.Data.New) {
		return false
	}
	if (a.Seg == nil) != (b.Seg == nil) || a.Seg != nil && *a.Seg != *b.Seg || (a.Keyed == nil) != (b.Keyed == nil) {
		return false
	}
	return a.Keyed == nil || a.Keyed.Start == b.Keyed.Start && a.Keyed.Number == b.Keyed.Number && a.Keyed.Offsets == b.Keyed.Offsets && equalStreams(&a.Keyed.Stream, &b.Keyed.Stream)
}

// newStream makes a stream handle of the classes of the object.
func (e *editor) newStream(h *metadata.StreamHandle) javaobj.Node {
	switch h.Type {
	case metadata.TypeFile:
		return e.newFile(h.Name, h.Size)
	case metadata.TypeRelativeFile:
		if e.dir == "" {
			e.fail("the directory of the new file %s is not known", h.Name)
			return javaobj.Node{}
		}
		return e.newFile(strings.TrimSuffix(e.dir, "/")+"/"+h.Name, h.Size)
	case metadata.TypeByteStream:
		return e.newBytes(h)
	}
	e.fail("a stream handle of type %d cannot be made", h.Type)
	return javaobj.Node{}
}

// class finds a class that new objects need; one of another Flink must not be
// made up.
func (e *editor) class(name string) *javaobj.Class {
	c := e.c.stream.Class(name)
	if c == nil {
		e.fail("the object has no %s to make a new one like it", name)
	}
	return c
}

// newObject makes an object of a class of the stream.
func (e *editor) newObject(name string) javaobj.Node {
	c := e.class(name)
	if e.err != nil {
		return javaobj.Node{}
	}
	n, err := e.e.NewObject(c)
	e.do(err)
	return n
}

func (e *editor) newFile(path string, size int64) javaobj.Node {
	n, p := e.newObject(flinkRuntime+"state.filesystem.FileStateHandle"), e.newPath(path)
	if e.err == nil {
		e.do(e.e.SetInt(n, "stateSize", size))
		e.do(e.e.Set(n, "filePath", p))
	}
	return n
}

func (e *editor) newPath(path string) javaobj.Node {
	p, uri := e.newObject("org.apache.flink.core.fs.Path"), e.newObject("java.net.URI")
	if e.err == nil {
		e.do(e.e.Set(uri, "string", e.e.NewString(encodePath(path))))
		e.do(e.e.Set(p, "uri", uri))
	}
	return p
}

func (e *editor) newBytes(h *metadata.StreamHandle) javaobj.Node {
	n, array := e.newObject(flinkRuntime+"state.memory.ByteStreamStateHandle"), e.class("[B")
	if e.err != nil {
		return n
	}
	content := javaobj.SpanContent(e.in, h.Data.Span)
	if h.Data.New != nil {
		content = javaobj.BytesContent(h.Data.New)
	}
	data, err := e.e.NewArray(array, content)
	e.do(err)
	e.do(e.e.Set(n, "data", data))
	e.do(e.e.Set(n, "handleName", e.e.NewString(h.Name)))
	return n
}
