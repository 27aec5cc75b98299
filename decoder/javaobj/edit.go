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
	// alias has the nodes that stand in the place of others.
	alias map[uint32]uint32
	// classes made by NewSubclass, with indexes from len(s.classes) on.
	classes []*Class
}

// Edit begins a set of changes.
func (s *Stream) Edit() *Edit {
	return &Edit{s: s, kids: map[uint32][]uint32{}, prims: map[uint32]string{}, body: map[uint32]Content{}, alias: map[uint32]uint32{}}
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
	return len(e.kids)+len(e.prims)+len(e.body)+len(e.alias) > 0
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
	pt, f := find(e.class(d.class), kids, nil, field)
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
	pt, f := find(e.class(d.class), kids, nil, field)
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
	pt, f := find(e.class(d.class), e.kidsOf(n.id), nil, field)
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

// Replace puts by in the place of n wherever n is used.
func (e *Edit) Replace(n, by Node) error {
	if n.s != e.s || by.s != e.s || n.IsNull() || n.Kind() == Block || n.Kind() == Descriptor {
		return fmt.Errorf("%s cannot be replaced", n.Kind())
	}
	e.alias[n.id] = by.id
	return nil
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
