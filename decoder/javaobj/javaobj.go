// Package javaobj reads and writes Java object streams, what
// java.io.ObjectOutputStream writes (protocol version 2), as a graph, without
// loading a class and without losing a byte. Flink keeps in them the properties
// at the end of `_metadata` V4 and later, the `completedCheckpoint` objects and
// pointers of high availability, old serializers and some values.
//
// # Format
//
// Everything is big-endian. A stream is AC ED 00 05 and then contents up to its
// end. A content is a type tag and:
//
//	70 null
//	71 reference        i32 handle
//	72 class descriptor utf name, i64 serialVersionUID, *, u8 flags, u16 number
//	                    of fields, fields, annotation, super class
//	7D proxy descriptor *, i32 number of interfaces, utf each, annotation, super class
//	73 object           class, *, data of each class from the topmost
//	                    serializable super class down
//	74 string           *, u16 length, modified UTF-8
//	7C long string      *, i64 length, modified UTF-8
//	75 array            class, *, i32 length, elements
//	76 class            class, *
//	7E enum constant    class, *, name (string)
//	77 block data       u8 length, bytes
//	7A long block data  i32 length, bytes
//	78 end of an annotation
//	79 reset            forgets all handles; between top-level contents only
//	7B exception        reset, the Throwable as an object, reset: the object that
//	                    was being written ends here, at whatever depth
//
// At * the content gets the next handle, from 0x7E0000 on; a later occurrence is
// a reference to it. "class" is 72, 7D, 71 or 70. A field is a type character
// (BCDFIJSZ, or L and [ with the type as a string content behind the name) and
// utf name. Field values: the primitive ones, packed, then the object ones, each
// in the order of the descriptor (sorted by name). Flags: 1 the class has a
// writeObject method, 2 serializable, 4 externalizable, 8 externalizable in
// block mode, 10 enum. The data of one class is its field values, and with flag
// 1 an annotation behind them: contents and block data up to 78. Externalizable
// data in block mode is an annotation alone.
//
// Nothing in a stream says whether a writeObject method wrote the field values
// at all. Nearly all do; a class where the stream can only be read without them
// is marked Class.NoFields.
//
// # The graph
//
// A Stream holds nodes in flat arrays; every place that refers to a node names
// the node itself, so cycles and sharing are plain. The handles are not kept:
// written again, the first occurrence of a node in writing order is spelled out
// and the later ones are references, which gives the same bytes for a graph that
// was not edited, and a right stream for one that was (the first occurrence of a
// shared node may have been removed). Strings and small blocks are in memory;
// primitive arrays, long strings and long blocks stay spans of the Input.
package javaobj

import (
	"fmt"
	"math"

	"chkscope/decoder"
)

// Kind says what a node is.
type Kind byte

// The kinds. Missing is what an absent field or element gives.
const (
	Missing Kind = iota
	Null
	Object
	String
	Array
	Enum
	ClassObject // a java.lang.Class
	Descriptor  // a java.io.ObjectStreamClass, or the definition of a class
	Block
	Reset
	Exception
)

func (k Kind) String() string {
	return [...]string{"nothing", "null", "object", "string", "array", "enum constant", "class", "class descriptor", "block data", "reset", "exception"}[k]
}

const (
	tcNull           = 0x70
	tcReference      = 0x71
	tcClassDesc      = 0x72
	tcObject         = 0x73
	tcString         = 0x74
	tcArray          = 0x75
	tcClass          = 0x76
	tcBlockData      = 0x77
	tcEndBlockData   = 0x78
	tcReset          = 0x79
	tcBlockDataLong  = 0x7a
	tcException      = 0x7b
	tcLongString     = 0x7c
	tcProxyClassDesc = 0x7d
	tcEnum           = 0x7e

	streamMagic = 0xaced0005
	baseHandle  = 0x7e0000

	flagWriteMethod    = 0x01
	flagSerializable   = 0x02
	flagExternalizable = 0x04
	flagBlockData      = 0x08
)

// Stream is a decoded object stream.
type Stream struct {
	In decoder.Input
	// Span is the stream in In, from the magic to the end of the last content.
	Span decoder.Span
	// Damage is set where reading stopped early: objects that were open there
	// have the fields and elements that were read before.
	Damage *decoder.Error

	nodes   []node
	kids    []uint32 // see node.kids
	text    string   // strings, blocks and primitive field values
	classes []*Class // classes[0] is nil
	top     []uint32
	// cut has the nodes that an exception or damage ended early: of an object the
	// bytes of primitive fields it has, of an array the length it announced.
	cut map[uint32]int
	// ends has, for objects of which a class that is not the lowest wrote an
	// annotation, where the end marks of those stand among the kids.
	ends map[uint32][]uint32
}

// node is 28 bytes, so that a graph of many small objects stays near the size
// of its stream.
type node struct {
	off, end uint32 // the first occurrence in In, all that is nested in it included
	// kids is where the node's kids begin in Stream.kids. For an object: for each
	// class that has data the object fields and, where there is one, the
	// annotation with endMark behind it. For a descriptor: the type string of
	// each object field, the annotation and endMark, the super class's node. For
	// an array its elements, for an enum constant its name, for an exception the
	// Throwable.
	kids  uint32
	n     uint32 // number of kids; array elements; bytes of a string or block
	body  uint32 // where the bytes begin in Stream.text (flagInText)
	class uint32
	kind  Kind
	flags uint8
}

const (
	flagLong   = 1 << iota // a long string or long block
	flagInText             // the bytes are in Stream.text
	flagCut                // an exception or damage ended the node early
)

const (
	nullNode = 0 // Stream.nodes[0]
	endMark  = math.MaxUint32
)

// Class is a class descriptor, as the stream has it.
type Class struct {
	Name   string // e.g. java.util.HashMap, [J; "" for a proxy
	UID    int64  // serialVersionUID
	Flags  byte
	Fields []Field
	// Interfaces of a dynamic proxy class.
	Interfaces []string
	Proxy      bool
	Super      *Class // nil: none that is serializable
	// NoFields: its writeObject method did not write the field values.
	NoFields bool

	node     uint32
	index    uint32
	complete bool           // all of it is read
	parts    []*Class       // of the hierarchy, topmost first: those that write anything
	prims    int            // bytes of the primitive fields
	objects  int            // number of object fields
	depth    int            // of the hierarchy
	byName   map[string]int // of Fields, where they are many
}

// Field is a serializable field.
type Field struct {
	Name string
	Type byte // B C D F I J S Z, L for an object, [ for an array
	pos  int  // primitive: offset among the class's primitive values; object: index
}

// Is tells whether c is the class name or has it as a super class.
func (c *Class) Is(name string) bool {
	for ; c != nil; c = c.Super {
		if c.Name == name {
			return true
		}
	}
	return false
}

// ShortName is the name without its package.
func (c *Class) ShortName() string {
	if c == nil {
		return "null"
	}
	if c.Proxy {
		return "proxy"
	}
	return shortName(c.Name)
}

func shortName(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

// custom tells whether an annotation follows the field values.
func (c *Class) custom() bool {
	return c.Flags&(flagWriteMethod|flagExternalizable) != 0
}

// hasFields tells whether field values are written.
func (c *Class) hasFields() bool {
	return c.Flags&flagExternalizable == 0 && !c.NoFields
}

// writes tells whether objects have any data of this class.
func (c *Class) writes() bool {
	return !c.Proxy && c.Flags&(flagSerializable|flagExternalizable) != 0 && (len(c.Fields) > 0 || c.custom())
}

// manyFields is how many fields a class has that are found by a map.
const manyFields = 16

// field gives the field that the class itself declares and writes, or nil.
func (c *Class) field(name string) *Field {
	if !c.hasFields() {
		return nil
	}
	if c.byName != nil {
		if i, ok := c.byName[name]; ok {
			return &c.Fields[i]
		}
		return nil
	}
	for i := range c.Fields {
		if c.Fields[i].Name == name {
			return &c.Fields[i]
		}
	}
	return nil
}

// layout gives every field its place.
func (c *Class) layout() {
	if len(c.Fields) > manyFields {
		c.byName = make(map[string]int, len(c.Fields))
	}
	for i := range c.Fields {
		f := &c.Fields[i]
		if c.byName != nil {
			c.byName[f.Name] = i
		}
		if size := primSize(f.Type); size > 0 {
			f.pos = c.prims
			c.prims += size
		} else {
			f.pos = c.objects
			c.objects++
		}
	}
}

// primSize is the size of a primitive type in bytes, 0 for any other.
func primSize(t byte) int {
	switch t {
	case 'B', 'Z':
		return 1
	case 'C', 'S':
		return 2
	case 'F', 'I':
		return 4
	case 'D', 'J':
		return 8
	}
	return 0
}

// elemSize is the size of an element of a primitive array class, else 0.
func (c *Class) elemSize() int {
	if len(c.Name) == 2 && c.Name[0] == '[' {
		return primSize(c.Name[1])
	}
	return 0
}

func (s *Stream) String() string {
	return fmt.Sprintf("%s: Java object stream of %d bytes, %d nodes, %d classes", s.In.Name(), s.Span.Len, len(s.nodes)-1, len(s.classes)-1)
}
