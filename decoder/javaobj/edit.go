package javaobj

import (
	"encoding/binary"
	"fmt"
)

// Edit is a set of changes to a Stream, which itself stays as it is. Nodes that
// are shared are changed wherever they are used. Methods refuse what would give
// a stream that its classes cannot read; after an error the Edit is as before.
type Edit struct {
	s     *Stream
	kids  map[uint32][]uint32
	prims map[uint32]string
	body  map[uint32]Content
	fresh []node // ids from len(s.nodes) on
	// classes made by NewSubclass, with indexes from len(s.classes) on.
	classes []*Class
}

// Edit begins a set of changes.
func (s *Stream) Edit() *Edit {
	return &Edit{s: s, kids: map[uint32][]uint32{}, prims: map[uint32]string{}, body: map[uint32]Content{}}
}

func (e *Edit) node(id uint32) *node {
	if i := int(id) - len(e.s.nodes); i >= 0 {
		return &e.fresh[i]
	}
	return &e.s.nodes[id]
}

func (e *Edit) kidsOf(id uint32) []uint32 {
	if k, ok := e.kids[id]; ok {
		return k
	}
	return e.node(id).kidSpan(e.s)
}

func (e *Edit) primsOf(id uint32) string {
	if p, ok := e.prims[id]; ok {
		return p
	}
	return Node{e.s, id}.prims()
}

func (e *Edit) contentOf(id uint32) Content {
	if c, ok := e.body[id]; ok {
		return c
	}
	n := Node{e.s, id}
	if d := n.get(); d.flags&flagInText != 0 {
		return textContent(e.s.text[d.body : d.body+d.n])
	}
	return SpanContent(e.s.In, n.Body())
}

// Changed tells whether anything was edited.
func (e *Edit) Changed() bool {
	return len(e.kids)+len(e.prims)+len(e.body) > 0
}

// of checks that n is a node of this stream and of that kind.
func (e *Edit) of(n Node, kind Kind) (*node, error) {
	if n.s != e.s || int(n.id) >= len(e.s.nodes)+len(e.fresh) {
		return nil, fmt.Errorf("not a node of %s", e.s.In.Name())
	}
	d := e.node(n.id)
	if d.kind != kind {
		return nil, fmt.Errorf("expected %s, found %s", kind, d.kind)
	}
	return d, nil
}

// Get is the value of an object field after the edits so far.
func (e *Edit) Get(n Node, field string) Node {
	d, err := e.of(n, Object)
	if err != nil {
		return Node{}
	}
	kids := e.kidsOf(n.id)
	pt, f := find(e.class(d.class), kids, field)
	if f == nil || primSize(f.Type) > 0 || pt.objects+f.pos >= len(kids) {
		return Node{}
	}
	return Node{e.s, kids[pt.objects+f.pos]}
}

// Set sets an object field. That the class of v fits is the caller's care.
func (e *Edit) Set(n Node, field string, v Node) error {
	d, err := e.of(n, Object)
	if err != nil {
		return err
	}
	kids := e.kidsOf(n.id)
	pt, f := find(e.class(d.class), kids, field)
	if f == nil || primSize(f.Type) > 0 || pt.objects+f.pos >= len(kids) {
		return fmt.Errorf("%s has no object field %s", e.class(d.class).Name, field)
	}
	if v.s != e.s && !v.IsNull() {
		return fmt.Errorf("the value of %s is of another stream", field)
	}
	kids = append([]uint32(nil), kids...)
	kids[pt.objects+f.pos] = v.id
	e.kids[n.id] = kids
	return nil
}

// SetInt sets a primitive field, with the value as Node.Int gives it.
func (e *Edit) SetInt(n Node, field string, v int64) error {
	d, err := e.of(n, Object)
	if err != nil {
		return err
	}
	pt, f := find(e.class(d.class), e.kidsOf(n.id), field)
	prims := e.primsOf(n.id)
	if f == nil || primSize(f.Type) == 0 || pt.prims+f.pos+primSize(f.Type) > len(prims) {
		return fmt.Errorf("%s has no primitive field %s", e.class(d.class).Name, field)
	}
	b, at := []byte(prims), pt.prims+f.pos
	var wide [8]byte
	binary.BigEndian.PutUint64(wide[:], uint64(v))
	copy(b[at:at+primSize(f.Type)], wide[8-primSize(f.Type):])
	e.prims[n.id] = string(b)
	return nil
}

// SetContent replaces the elements of a primitive array.
func (e *Edit) SetContent(n Node, c Content) error {
	d, err := e.of(n, Array)
	if err != nil {
		return err
	}
	size := int64(e.class(d.class).elemSize())
	if size == 0 || c.Len%size != 0 || c.Len/size > 1<<31-1 {
		return fmt.Errorf("%d bytes are not the elements of %s", c.Len, e.class(d.class).Name)
	}
	e.body[n.id] = c
	return nil
}

// Filter keeps of a java.util collection, map or array of objects (not of its
// wrappers) what keep says, and tells how many elements or pairs are gone. Keep
// gets the key and the value of a map, the element twice otherwise.
func (e *Edit) Filter(n Node, keep func(key, value Node) bool) (int, error) {
	if n.s == e.s && n.Kind() == Array && n.Class().elemSize() == 0 {
		kept := e.filter(e.kidsOf(n.id), 1, keep)
		gone := len(e.kidsOf(n.id)) - len(kept)
		if gone > 0 {
			e.kids[n.id] = kept
		}
		return gone, nil
	}
	return e.filterObject(n, n, keep)
}

// filterObject filters the object n, which has the class of like.
func (e *Edit) filterObject(n, like Node, keep func(key, value Node) bool) (int, error) {
	d, err := e.of(n, Object)
	if err != nil {
		return 0, err
	}
	sh, ok := like.shapeOf()
	if !ok {
		return 0, fmt.Errorf("elements of a %s cannot be removed", e.class(d.class).Name)
	}
	kids := e.kidsOf(n.id)
	var pt part
	for p := range parts(e.class(d.class), kids) {
		if p.class.Name == sh.class {
			pt = p
		}
	}
	step := 1
	if sh.pairs {
		step = 2
	}
	at := pt.annotation // of the block with the size
	for at < pt.end && e.node(kids[at]).kind != Block {
		at++
	}
	if pt.class == nil || at == pt.end || (pt.end-at-1)%step != 0 {
		return 0, fmt.Errorf("%s is not written as expected", e.class(d.class).Name)
	}
	kept := e.filter(kids[at+1:pt.end], step, keep)
	gone := (pt.end - at - 1 - len(kept)) / step
	if gone == 0 {
		return 0, nil
	}
	block, err := e.shrunk(kids[at], sh, len(kept)/step, len(kept)/step+gone)
	if err != nil {
		return 0, err
	}
	if sh.sizeField != "" {
		if err := e.SetInt(n, sh.sizeField, int64(len(kept)/step)); err != nil {
			return 0, err
		}
	}
	all := append([]uint32(nil), kids[:at]...)
	all = append(append(all, block), kept...)
	e.kids[n.id] = append(all, kids[pt.end:]...)
	return gone, nil
}

func (e *Edit) filter(kids []uint32, step int, keep func(k, v Node) bool) []uint32 {
	kept := make([]uint32, 0, len(kids))
	for i := 0; i+step <= len(kids); i += step {
		if keep(Node{e.s, kids[i]}, Node{e.s, kids[i+step-1]}) {
			kept = append(kept, kids[i:i+step]...)
		}
	}
	return kept
}

// shrunk gives the block of a collection that has size elements instead of was.
func (e *Edit) shrunk(block uint32, sh shape, size, was int) (uint32, error) {
	c := e.contentOf(block)
	var b byteSink
	if c.Len > 64 {
		return 0, fmt.Errorf("%d bytes in front of the elements of a %s", c.Len, sh.class)
	}
	if err := c.Write(&b); err != nil {
		return 0, err
	}
	if len(b) < sh.sizeAt+4 {
		return 0, fmt.Errorf("no size in front of the elements of a %s", sh.class)
	}
	found := int(int32(binary.BigEndian.Uint32(b[sh.sizeAt:])))
	if sh.sizeField != "" && found != was { // a capacity: stays
		return block, nil
	}
	if found != was {
		return 0, fmt.Errorf("a %s of %d says that it has %d", sh.class, was, found)
	}
	binary.BigEndian.PutUint32(b[sh.sizeAt:], uint32(size))
	id := e.add(node{kind: Block})
	e.body[id] = BytesContent(b)
	return id, nil
}

type byteSink []byte

func (b *byteSink) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

func (e *Edit) add(n node) uint32 {
	e.fresh = append(e.fresh, n)
	return uint32(len(e.s.nodes) + len(e.fresh) - 1)
}

// Null is null, as a value for Set.
func (e *Edit) Null() Node { return Node{e.s, nullNode} }

// NewObject makes an object of a class of the stream: primitive fields 0,
// object fields null, annotations empty.
func (e *Edit) NewObject(c *Class) (Node, error) {
	if !e.owns(c) {
		return Node{}, fmt.Errorf("not a class of %s", e.s.In.Name())
	}
	var kids []uint32
	prims := 0
	for _, part := range c.parts {
		if part.hasFields() {
			prims += part.prims
			kids = append(kids, make([]uint32, part.objects)...)
		}
		if part.custom() {
			kids = append(kids, endMark)
		}
	}
	id := e.add(node{kind: Object, class: c.index})
	e.kids[id], e.prims[id] = kids, string(make([]byte, prims))
	return Node{e.s, id}, nil
}

// NewEmpty makes an empty java.util collection or map of the class of like,
// with its other fields.
func (e *Edit) NewEmpty(like Node) (Node, error) {
	d, err := e.of(like, Object)
	if err != nil {
		return Node{}, err
	}
	n := Node{e.s, e.add(node{kind: Object, class: d.class})}
	e.kids[n.id], e.prims[n.id] = e.kidsOf(like.id), e.primsOf(like.id)
	if _, err := e.filterObject(n, like, func(_, _ Node) bool { return false }); err != nil {
		return Node{}, err
	}
	return n, nil
}

// NewSubclass makes a class below one of the stream, serializable and without
// fields of its own.
func (e *Edit) NewSubclass(name string, uid int64, super *Class) (*Class, error) {
	if !e.owns(super) {
		return nil, fmt.Errorf("not a class of %s", e.s.In.Name())
	}
	c := &Class{Name: name, UID: uid, Flags: flagSerializable, Super: super, complete: true, parts: super.parts, depth: super.depth + 1}
	c.index = uint32(len(e.s.classes) + len(e.classes))
	c.node = e.add(node{kind: Descriptor, class: c.index})
	e.kids[c.node] = []uint32{endMark, super.node}
	e.classes = append(e.classes, c)
	return c, nil
}

// owns tells whether c is a class of the stream or of NewSubclass.
func (e *Edit) owns(c *Class) bool {
	return c != nil && c.complete && int(c.index) < len(e.s.classes)+len(e.classes) && e.class(c.index) == c
}

func (e *Edit) class(i uint32) *Class {
	if k := int(i) - len(e.s.classes); k >= 0 {
		return e.classes[k]
	}
	return e.s.classes[i]
}

// NewString makes a string of modified UTF-8.
func (e *Edit) NewString(text string) Node {
	id := e.add(node{kind: String})
	e.body[id] = textContent(text)
	return Node{e.s, id}
}

// NewArray makes an array of primitives of a class of the stream.
func (e *Edit) NewArray(c *Class, elements Content) (Node, error) {
	if !e.owns(c) {
		return Node{}, fmt.Errorf("not a class of %s", e.s.In.Name())
	}
	n := Node{e.s, e.add(node{kind: Array, class: c.index})}
	if err := e.SetContent(n, elements); err != nil {
		return Node{}, err
	}
	return n, nil
}
