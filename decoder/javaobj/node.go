package javaobj

import (
	"encoding/binary"
	"iter"

	"chkscope/decoder"
)

// Node is one node of a Stream: an object, an array, a string ... Two Nodes are
// the same object of the stream where they are equal (==). The zero Node is
// Missing, and every method may be called on it: what does not apply gives a
// zero, so that a path of fields is followed without a check at each step.
type Node struct {
	s  *Stream
	id uint32
}

// Top gives the top-level contents.
func (s *Stream) Top() []Node {
	top := make([]Node, len(s.top))
	for i, id := range s.top {
		top[i] = Node{s, id}
	}
	return top
}

// Root is the first top-level content that is not block data, or Missing.
func (s *Stream) Root() Node {
	for _, id := range s.top {
		if s.nodes[id].kind != Block {
			return Node{s, id}
		}
	}
	return Node{}
}

// Nodes gives every node once, what it is made of (its class) before it.
func (s *Stream) Nodes() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for id := 1; id < len(s.nodes); id++ {
			if !yield(Node{s, uint32(id)}) {
				return
			}
		}
	}
}

// Classes gives the class descriptors in the order of the stream.
func (s *Stream) Classes() []*Class { return s.classes[1:] }

// Class gives the first class descriptor of that name, or nil.
func (s *Stream) Class(name string) *Class {
	for _, c := range s.classes[1:] {
		if c.Name == name && c.complete {
			return c
		}
	}
	return nil
}

// get gives the node's record; of a Missing node an empty one.
func (n Node) get() *node {
	if n.s == nil || int(n.id) >= len(n.s.nodes) {
		return &node{}
	}
	return &n.s.nodes[n.id]
}

// Kind tells what n is.
func (n Node) Kind() Kind { return n.get().kind }

// IsNull tells whether n is null or Missing.
func (n Node) IsNull() bool { return n.Kind() <= Null }

// Class is the class of an object, array, enum constant or Class object, or the
// class that a descriptor describes; else nil.
func (n Node) Class() *Class {
	if n.s == nil {
		return nil
	}
	return n.s.classes[n.get().class]
}

// Is tells whether n is an object (enum constant, array) of the named class or
// of one below it.
func (n Node) Is(class string) bool {
	switch n.Kind() {
	case Object, Enum, Array:
		return n.Class().Is(class)
	}
	return false
}

// Span is where the node stands in the Input: its first occurrence with
// everything that first occurs inside it, tag included. Empty for null.
func (n Node) Span() decoder.Span {
	d := n.get()
	return decoder.Span{Off: int64(d.off), Len: int64(d.end) - int64(d.off)}
}

// File is the name of the Input that n stands in.
func (n Node) File() string {
	if n.s == nil {
		return ""
	}
	return n.s.In.Name()
}

// Cut tells whether damage or an exception ended the node early.
func (n Node) Cut() bool { return n.get().flags&flagCut != 0 }

// Len is the number of elements of an array, of bytes of a string or block.
func (n Node) Len() int {
	switch d := n.get(); d.kind {
	case Array, String, Block:
		return int(d.n)
	}
	return 0
}

// Body is the bytes of a string, a block or a primitive array in the Input.
func (n Node) Body() decoder.Span {
	d := n.get()
	size := int64(d.n)
	switch d.kind {
	case Array:
		size *= int64(n.s.classes[d.class].elemSize())
	case String, Block:
	default:
		return decoder.Span{}
	}
	return decoder.Span{Off: int64(d.end) - size, Len: size}
}

// Text is the modified UTF-8 of a string, or the name of an enum constant. It
// is false for anything else, and for a string of 64 KiB or more, whose bytes
// are at Body.
func (n Node) Text() (string, bool) {
	d := n.get()
	switch {
	case d.kind == String && d.flags&flagInText != 0:
		return n.s.text[d.body : d.body+d.n], true
	case d.kind == Enum && d.n == 1:
		// In a damaged stream it may be anything, the constant itself too.
		if name := (Node{n.s, n.s.kids[d.kids]}); name.Kind() == String {
			return name.Text()
		}
	}
	return "", false
}

// Block is the bytes of block data as a string of bytes, false as for Text.
func (n Node) Block() (string, bool) {
	if d := n.get(); d.kind == Block && d.flags&flagInText != 0 {
		return n.s.text[d.body : d.body+d.n], true
	}
	return "", false
}

// Elem is an element of an array of objects.
func (n Node) Elem(i int) Node {
	d := n.get()
	if d.kind != Array || i < 0 || i >= int(d.n) || n.s.classes[d.class].elemSize() > 0 {
		return Node{}
	}
	return Node{n.s, n.s.kids[int(d.kids)+i]}
}

// Thrown is the Throwable of an exception.
func (n Node) Thrown() Node {
	if d := n.get(); d.kind == Exception && d.n == 1 {
		return Node{n.s, n.s.kids[d.kids]}
	}
	return Node{}
}

func (d *node) kidSpan(s *Stream) []uint32 {
	if d.n == 0 || d.kind == String || d.kind == Block || d.kind == Array && s.classes[d.class].elemSize() > 0 {
		return nil
	}
	return s.kids[d.kids : d.kids+d.n]
}

// part is where one class's data stand in an object.
type part struct {
	class      *Class
	prims      int // offset of its primitive values among the object's
	objects    int // index of its first object field among the object's kids
	annotation int // index of the first content of its annotation
	end        int // index behind the annotation, of the end mark where there is one
}

// parts gives the parts of an object with the given kids, topmost class first.
// Kids may be fewer than the classes say where the object is cut. Ends are the
// end marks of the annotations but the last, or nil to look for them.
func parts(c *Class, kids, ends []uint32) iter.Seq[part] {
	return func(yield func(part) bool) {
		at, prims := 0, 0
		if c == nil {
			return
		}
		for i, cl := range c.parts {
			pt := part{class: cl, prims: prims, objects: at}
			if cl.hasFields() {
				at += cl.objects
				prims += cl.prims
			}
			pt.annotation, pt.end = at, at
			if cl.custom() {
				switch {
				case i == len(c.parts)-1 && len(kids) > at && kids[len(kids)-1] == endMark:
					pt.end = len(kids) - 1
				case len(ends) > 0:
					pt.end, ends = int(ends[0]), ends[1:]
				default:
					for pt.end < len(kids) && kids[pt.end] != endMark {
						pt.end++
					}
				}
				at = pt.end + 1
			}
			if !yield(pt) {
				return
			}
		}
	}
}

// find gives the lowest class's field of that name and the part it stands in.
func find(c *Class, kids, ends []uint32, name string) (part, *Field) {
	if c == nil {
		return part{}, nil
	}
	for i := len(c.parts) - 1; i >= 0; i-- {
		f := c.parts[i].field(name)
		if f == nil {
			continue
		}
		for pt := range parts(c, kids, ends) {
			if pt.class == c.parts[i] {
				return pt, f
			}
		}
	}
	return part{}, nil
}

// Has tells whether an object's class has the field.
func (n Node) Has(field string) bool {
	if n.Kind() != Object {
		return false
	}
	for _, c := range n.Class().parts {
		if c.field(field) != nil {
			return true
		}
	}
	return false
}

// Field is the value of an object field, the lowest class's where several have
// one of that name.
func (n Node) Field(name string) Node {
	d := n.get()
	if d.kind != Object {
		return Node{}
	}
	kids := d.kidSpan(n.s)
	pt, f := find(n.Class(), kids, n.s.ends[n.id], name)
	if f == nil || primSize(f.Type) > 0 || pt.objects+f.pos >= len(kids) {
		return Node{}
	}
	return Node{n.s, kids[pt.objects+f.pos]}
}

// Int is the value of a primitive field: sign-extended for B, S, I and J, 0 or
// 1 for Z (any other byte as it is), the code unit for C, the raw bits for F
// and D.
func (n Node) Int(name string) (int64, bool) {
	d := n.get()
	if d.kind != Object {
		return 0, false
	}
	pt, f := find(n.Class(), d.kidSpan(n.s), n.s.ends[n.id], name)
	if f == nil || primSize(f.Type) == 0 {
		return 0, false
	}
	at := pt.prims + f.pos
	if prims := n.prims(); at+primSize(f.Type) <= len(prims) {
		return primValue(f.Type, prims[at:]), true
	}
	return 0, false
}

// prims is the primitive field values of an object, all parts in a row.
func (n Node) prims() string {
	d := n.get()
	size := 0
	for _, c := range n.Class().parts {
		if c.hasFields() {
			size += c.prims
		}
	}
	if d.flags&flagCut != 0 {
		size = n.s.cut[n.id]
	}
	return n.s.text[d.body : int(d.body)+size]
}

func primValue(t byte, s string) int64 {
	switch t {
	case 'B':
		return int64(int8(s[0]))
	case 'Z':
		return int64(s[0])
	case 'C':
		return int64(s[0])<<8 | int64(s[1])
	case 'S':
		return int64(int8(s[0]))<<8 | int64(s[1])
	case 'I':
		return int64(int32(binary.BigEndian.Uint32([]byte(s[:4]))))
	case 'F':
		return int64(binary.BigEndian.Uint32([]byte(s[:4])))
	}
	return int64(binary.BigEndian.Uint64([]byte(s[:8])))
}

// Annotation gives what the named class's writeObject (or writeExternal) wrote
// besides field values: contents and block data.
func (n Node) Annotation(class string) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		d := n.get()
		if d.kind != Object {
			return
		}
		kids := d.kidSpan(n.s)
		for pt := range parts(n.Class(), kids, n.s.ends[n.id]) {
			if pt.class.Name != class {
				continue
			}
			for i := pt.annotation; i < pt.end; i++ {
				if !yield(Node{n.s, kids[i]}) {
					return
				}
			}
		}
	}
}

// Placed is a kid of a node and where it stands inside it: spelled out, as a
// reference (5 bytes) or as null (1 byte).
type Placed struct {
	Node Node
	Span decoder.Span
}

// Kids gives, in the order of the stream, what stands inside an object (its
// field values and annotations), array, enum constant or exception, each with its place. The
// class descriptor is not among them, nor block data's bytes.
func (n Node) Kids() iter.Seq[Placed] {
	return func(yield func(Placed) bool) {
		d := n.get()
		kids := d.kidSpan(n.s)
		if kids == nil || d.kind == Descriptor {
			return
		}
		at := n.dataStart()
		if d.kind != Object {
			n.place(kids, at, yield)
			return
		}
		for pt := range parts(n.Class(), kids, n.s.ends[n.id]) {
			if pt.class.hasFields() {
				at += int64(pt.class.prims)
			}
			var more bool
			if at, more = n.place(kids[min(pt.objects, len(kids)):min(pt.end, len(kids))], at, yield); !more {
				return
			}
			if pt.class.custom() {
				at++ // the end mark
			}
		}
	}
}

// Place is Field with where the value stands inside n.
func (n Node) Place(field string) Placed {
	d := n.get()
	if d.kind != Object {
		return Placed{}
	}
	pt, f := find(n.Class(), d.kidSpan(n.s), n.s.ends[n.id], field)
	if f == nil || primSize(f.Type) > 0 {
		return Placed{}
	}
	at := pt.objects + f.pos
	for _, earlier := range n.Class().parts { // end marks are no Kids
		if earlier == pt.class {
			break
		}
		if earlier.custom() {
			at--
		}
	}
	for p := range n.Kids() {
		if at == 0 {
			return p
		}
		at--
	}
	return Placed{}
}

// dataStart is the offset behind a node's tag, class and array length.
func (n Node) dataStart() int64 {
	d := n.get()
	at := int64(d.off) + 1
	if d.kind == Exception {
		return at
	}
	at = n.placeOf(n.s.classes[d.class].node, at).End()
	if d.kind == Array {
		at += 4
	}
	return at
}

// placeOf is the place of the kid with that id, given where it begins.
func (n Node) placeOf(id uint32, at int64) decoder.Span {
	switch k := &n.s.nodes[id]; {
	case id == nullNode:
		return decoder.Span{Off: at, Len: 1}
	case int64(k.off) == at:
		return decoder.Span{Off: at, Len: int64(k.end) - at}
	}
	return decoder.Span{Off: at, Len: 5}
}

func (n Node) place(kids []uint32, at int64, yield func(Placed) bool) (int64, bool) {
	for _, id := range kids {
		span := n.placeOf(id, at)
		if !yield(Placed{Node{n.s, id}, span}) {
			return at, false
		}
		at = span.End()
	}
	return at, true
}
