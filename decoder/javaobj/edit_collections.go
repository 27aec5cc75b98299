package javaobj

import (
	"encoding/binary"
	"fmt"
)

// Filter keeps of a java.util collection, map or array of objects (not of its
// wrappers) what keep says, and tells how many elements or pairs are gone. Keep
// gets the key and the value of a map, the element twice otherwise.
func (e *Edit) Filter(n Node, keep func(key, value Node) bool) (int, error) {
	gone := 0
	err := e.rebuild(n, n, func(kids []uint32, step int) []uint32 {
		kept := make([]uint32, 0, len(kids))
		for i := 0; i+step <= len(kids); i += step {
			if keep(Node{e.s, kids[i]}, Node{e.s, kids[i+step-1]}) {
				kept = append(kept, kids[i:i+step]...)
			} else {
				gone++
			}
		}
		return kept
	})
	if err != nil {
		return 0, err
	}
	return gone, nil
}

// SetElements gives a java.util collection or array of objects new elements, or
// a map new keys and values in turn.
func (e *Edit) SetElements(n Node, elements []Node) error {
	ids, err := e.ids(elements)
	if err != nil {
		return err
	}
	return e.rebuild(n, n, func([]uint32, int) []uint32 { return ids })
}

// NewCollection makes a java.util collection or map of the class of like, with
// its other fields, and the elements given.
func (e *Edit) NewCollection(like Node, elements ...Node) (Node, error) {
	d, err := e.of(like, Object)
	if err != nil {
		return Node{}, err
	}
	ids, err := e.ids(elements)
	if err != nil {
		return Node{}, err
	}
	n := Node{e.s, e.add(node{kind: Object, class: d.class})}
	e.kids[n.id], e.prims[n.id] = e.kidsOf(like.id), e.primsOf(like.id)
	if err := e.rebuild(n, like, func([]uint32, int) []uint32 { return ids }); err != nil {
		return Node{}, err
	}
	return n, nil
}

func (e *Edit) ids(elements []Node) ([]uint32, error) {
	ids := make([]uint32, len(elements))
	for i, el := range elements {
		if el.s != e.s {
			return nil, fmt.Errorf("element %d is of another stream", i)
		}
		ids[i] = el.id
	}
	return ids, nil
}

// rebuild gives n, which has the class of like, the elements that f makes of
// the ones it has. Step is 2 for a map, whose keys and values stand in turn.
func (e *Edit) rebuild(n, like Node, f func(kids []uint32, step int) []uint32) error {
	if n.s == e.s && n.Kind() == Array && n.Class().elemSize() == 0 {
		e.kids[n.id] = f(e.kidsOf(n.id), 1)
		return nil
	}
	d, err := e.of(n, Object)
	if err != nil {
		return err
	}
	sh, ok := like.shapeOf()
	if !ok {
		return fmt.Errorf("elements of a %s cannot be changed", e.class(d.class).Name)
	}
	kids := e.kidsOf(n.id)
	var pt part
	for p := range parts(e.class(d.class), kids, nil) {
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
		return fmt.Errorf("%s is not written as expected", e.class(d.class).Name)
	}
	elements := f(kids[at+1:pt.end], step)
	block, err := e.resized(kids[at], sh, len(elements)/step, (pt.end-at-1)/step)
	if err != nil {
		return err
	}
	if sh.sizeField != "" {
		if err := e.SetInt(n, sh.sizeField, int64(len(elements)/step)); err != nil {
			return err
		}
	}
	all := append([]uint32(nil), kids[:at]...)
	all = append(append(all, block), elements...)
	e.kids[n.id] = append(all, kids[pt.end:]...)
	return nil
}

// resized gives the block of a collection that has size elements instead of was.
func (e *Edit) resized(block uint32, sh shape, size, was int) (uint32, error) {
	if size == was {
		return block, nil
	}
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
