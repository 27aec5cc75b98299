package javaobj

import (
	"encoding/binary"
	"iter"
)

// shape is how a java.util collection writes itself: in the annotation of
// class (of a TreeSet behind the comparator) a block whose i32 at sizeAt is the
// number of elements or of pairs, then those.
type shape struct {
	class     string
	sizeAt    int
	sizeField string // that holds the size too, or ""
	pairs     bool
}

var shapes = []shape{
	{class: "java.util.ArrayList", sizeAt: 0, sizeField: "size"}, // in the block: its capacity, since Java 8 its size
	{class: "java.util.LinkedList", sizeAt: 0},
	{class: "java.util.ArrayDeque", sizeAt: 0},
	{class: "java.util.HashSet", sizeAt: 8}, // behind capacity and load factor
	{class: "java.util.TreeSet", sizeAt: 0},
	{class: "java.util.HashMap", sizeAt: 4, pairs: true}, // behind the number of buckets
	{class: "java.util.Hashtable", sizeAt: 4, pairs: true},
	{class: "java.util.TreeMap", sizeAt: 0, pairs: true},
	{class: "java.util.IdentityHashMap", sizeAt: 0, pairs: true},
}

// wrappers hold another collection in a field.
var wrappers = []struct {
	class, field string
}{
	{"java.util.Collections$UnmodifiableCollection", "c"},
	{"java.util.Collections$UnmodifiableMap", "m"},
	{"java.util.Collections$SynchronizedCollection", "c"},
	{"java.util.Collections$SynchronizedMap", "m"},
}

// shapeOf gives how n writes itself, and false for what is not in shapes.
func (n Node) shapeOf() (shape, bool) {
	if n.Kind() != Object {
		return shape{}, false
	}
	for _, sh := range shapes {
		if n.Class().Is(sh.class) {
			return sh, true
		}
	}
	return shape{}, false
}

// Unwrap gives the collection inside unmodifiable and synchronized wrappers, or
// n itself.
func (n Node) Unwrap() Node {
	for range maxHierarchy {
		inner := Node{}
		for _, w := range wrappers {
			if n.Is(w.class) {
				inner = n.Field(w.field)
			}
		}
		if inner.Kind() != Object {
			break
		}
		n = inner
	}
	return n
}

// Elements gives the elements of a java.util list, set or queue, of the
// wrappers around one, or of an array of objects, each with its place. It is
// false for any other node.
func (n Node) Elements() (iter.Seq[Placed], bool) {
	n = n.Unwrap()
	if n.Kind() == Array {
		return n.Kids(), n.Class().elemSize() == 0
	}
	if n.Kind() != Object {
		return nil, false
	}
	switch n.Class().Name {
	case "java.util.Collections$SingletonSet", "java.util.Collections$SingletonList":
		return n.Kids(), true
	case "java.util.Collections$EmptyList", "java.util.Collections$EmptySet":
		return func(func(Placed) bool) {}, true
	case "java.util.Arrays$ArrayList":
		return n.Field("a").Elements()
	case "java.util.CollSer": // List.of and Set.of
		tag, _ := n.Int("tag")
		return n.contents(), tag&0xff == 1 || tag&0xff == 2
	}
	sh, ok := n.shapeOf()
	if !ok || sh.pairs {
		return nil, false
	}
	return n.contents(), true
}

// Entries gives the keys and values of a java.util map or of the wrappers
// around one. It is false for any other node.
func (n Node) Entries() (iter.Seq2[Placed, Placed], bool) {
	n = n.Unwrap()
	if n.Kind() != Object {
		return nil, false
	}
	switch n.Class().Name {
	case "java.util.Collections$SingletonMap":
		return pairs(n.Kids()), true
	case "java.util.Collections$EmptyMap":
		return func(func(Placed, Placed) bool) {}, true
	case "java.util.CollSer": // Map.of
		tag, _ := n.Int("tag")
		return pairs(n.contents()), tag&0xff == 3
	}
	sh, ok := n.shapeOf()
	if !ok || !sh.pairs {
		return nil, false
	}
	return pairs(n.contents()), true
}

// Size is the number of elements or entries that a collection says it has, -1
// where it does not say or is none. What is really there may be less in a
// damaged stream.
func (n Node) Size() int {
	n = n.Unwrap()
	sh, ok := n.shapeOf()
	if !ok {
		return -1
	}
	if sh.sizeField != "" {
		if v, ok := n.Int(sh.sizeField); ok {
			return int(v)
		}
		return -1
	}
	for k := range n.Annotation(sh.class) {
		if b, ok := k.Block(); ok && len(b) >= sh.sizeAt+4 {
			return int(int32(binary.BigEndian.Uint32([]byte(b[sh.sizeAt : sh.sizeAt+4]))))
		}
	}
	return -1
}

// contents is what stands behind the block with the size.
func (n Node) contents() iter.Seq[Placed] {
	return func(yield func(Placed) bool) {
		sized := false
		for p := range n.Kids() {
			if p.Node.Kind() == Block {
				sized = true
			} else if sized && !yield(p) {
				return
			}
		}
	}
}

func pairs(seq iter.Seq[Placed]) iter.Seq2[Placed, Placed] {
	return func(yield func(Placed, Placed) bool) {
		var key Placed
		second := false
		for p := range seq {
			if second && !yield(key, p) {
				return
			}
			key, second = p, !second
		}
	}
}

// UUID is the value of a java.util.UUID.
func (n Node) UUID() (hi, lo uint64, ok bool) {
	if !n.Is("java.util.UUID") {
		return 0, 0, false
	}
	h, ok1 := n.Int("mostSigBits")
	l, ok2 := n.Int("leastSigBits")
	return uint64(h), uint64(l), ok1 && ok2
}

// Number is the value of a boxed java.lang.Integer, Long, Short, Byte, Character
// or Boolean.
func (n Node) Number() (int64, bool) {
	if n.Kind() != Object {
		return 0, false
	}
	switch n.Class().Name {
	case "java.lang.Integer", "java.lang.Long", "java.lang.Short", "java.lang.Byte", "java.lang.Character", "java.lang.Boolean":
		return n.Int("value")
	}
	return 0, false
}
