package javaobj

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"chkscope/decoder"
)

// Limits on what a stream may ask for. Java's own stack ends before maxDepth.
const (
	maxDepth     = 5000 // of nested contents
	maxClasses   = 1 << 15
	maxFields    = 1 << 19 // of all classes
	maxHierarchy = 32
	maxInText    = 1 << 16 // strings and blocks above this stay in the Input
	maxRetries   = 8       // see readGuessing
)

// budgetBase is how much memory the nodes of a stream may take beyond three
// times its length. Objects as small as java.lang.Integer take about that.
var budgetBase int64 = 128 << 20

const (
	nodeBytes = 28
	kidBytes  = 4
	mapBytes  = 80 // an entry of Stream.ends or Stream.cut
)

// Parse reads one object stream with a single top-level content from the start
// of buf, which may go on behind it. It gives the number of bytes that the
// stream takes. On damage the error is a *decoder.Error with the offset in buf.
func Parse(buf []byte) (*Stream, int, error) {
	s, err := Read(decoder.Bytes{Data: buf, Label: "Java object stream"}, decoder.Span{Len: int64(len(buf))}, 1)
	if err != nil {
		return s, 0, err
	}
	return s, int(s.Span.Len), nil
}

// Open reads all of in as one object stream.
func Open(in decoder.Input) (*Stream, error) {
	return Read(in, decoder.Span{Len: in.Size()}, 0)
}

// Read reads the object stream that begins at span.Off, up to `contents`
// top-level contents (0: to the end of the span). Stream.Span tells where it
// ends. Large arrays are stepped over, not read.
//
// On damage the Stream holds what was read before it, and the error is
// Stream.Damage.
func Read(in decoder.Input, span decoder.Span, contents int) (*Stream, error) {
	s, err := readGuessing(in, span, contents)
	if err != nil {
		return s, err
	}
	return s, nil
}

// readGuessing reads with the field values of every class present. Where that
// fails inside a class with a writeObject method, it tries again without the
// field values of that class (see the package comment), innermost class first,
// and keeps a guess that comes further.
func readGuessing(in decoder.Input, span decoder.Span, contents int) (*Stream, *decoder.Error) {
	noFields := map[string]bool{}
	best := read(in, span, contents, noFields)
	for tries := 0; best.c.Err() != nil; {
		better := false
		for _, name := range best.suspects {
			if tries++; tries > maxRetries {
				return best.s, best.c.Err()
			}
			noFields[name] = true
			p := read(in, span, contents, noFields)
			if p.c.Err() == nil || p.c.Err().Offset > best.c.Err().Offset {
				best, better = p, true
				break
			}
			delete(noFields, name)
		}
		if !better {
			return best.s, best.c.Err()
		}
	}
	return best.s, nil
}

type parser struct {
	c        *decoder.Cursor
	s        *Stream
	text     strings.Builder
	handles  []uint32 // since the last reset
	kids     []uint32 // of the open nodes
	prims    []byte   // of the open objects
	classes  []uint32 // open parts that have a writeObject method and fields
	fields   int
	depth    int
	budget   int64
	aborted  bool // an exception ends the open top-level content
	noFields map[string]bool
	suspects []string // class names, innermost first
}

func read(in decoder.Input, span decoder.Span, contents int, noFields map[string]bool) *parser {
	p := &parser{
		c:        decoder.NewCursor(in, span.Off, span.End()),
		s:        &Stream{In: in, nodes: make([]node, 1), classes: make([]*Class, 1)},
		noFields: noFields,
		budget:   budgetBase + 3*span.Len,
	}
	p.s.nodes[0].kind = Null
	if span.End() > math.MaxUint32 {
		p.c.FailAt(span.Off, "an object stream within the first 4 GiB", fmt.Sprintf("one up to offset %d", span.End()), nil)
	}
	if m := p.c.I32("magic of an object stream"); uint32(m) != streamMagic {
		p.c.FailAt(span.Off, "AC ED 00 05, the magic of a Java object stream", fmt.Sprintf("% X", []byte{byte(m >> 24), byte(m >> 16), byte(m >> 8), byte(m)}), nil)
	}
	for i := 0; p.c.Err() == nil && (contents > 0 && i < contents || contents == 0 && p.c.Left() > 0); i++ {
		p.s.top = append(p.s.top, p.content(true))
		p.aborted = false
	}
	// What is kept has no room to grow.
	p.s.text, p.s.nodes, p.s.kids = strings.Clone(p.text.String()), slices.Clone(p.s.nodes), slices.Clone(p.s.kids)
	p.s.Span = decoder.Span{Off: span.Off, Len: p.c.Off() - span.Off}
	p.s.Damage = p.c.Err()
	return p
}

// ok is false once nothing more is to be read into the open nodes.
func (p *parser) ok() bool { return p.c.Err() == nil && !p.aborted }

func (p *parser) fail(off int64, expected, found string) {
	p.c.FailAt(off, expected, found, nil)
}

// close ends a node: its kids are those collected since kids, its primitive
// values those since prims.
func (p *parser) close(id uint32, kids, prims int) {
	s := p.s
	n := &s.nodes[id]
	n.end = uint32(p.c.Off())
	n.kids = uint32(len(s.kids))
	if n.kind != Array {
		n.n = uint32(len(p.kids) - kids)
	}
	s.kids = append(s.kids, p.kids[kids:]...)
	p.kids = p.kids[:kids]
	if n.kind == Object {
		n.body = uint32(p.text.Len())
		p.text.Write(p.prims[prims:])
	}
	if !p.ok() {
		n.flags |= flagCut
		if n.kind == Object {
			p.charge(int64(n.off), mapBytes)
			s.setCut(id, len(p.prims)-prims)
		}
	}
	p.prims = p.prims[:prims]
}

func (s *Stream) setCut(id uint32, n int) {
	if s.cut == nil {
		s.cut = map[uint32]int{}
	}
	s.cut[id] = n
}

func (s *Stream) setEnds(id uint32, ends []uint32) {
	if s.ends == nil {
		s.ends = map[uint32][]uint32{}
	}
	s.ends[id] = ends
}

// charge accounts for memory that is about to be taken.
func (p *parser) charge(off, n int64) bool {
	if p.budget -= n; p.budget < 0 {
		p.fail(off, "fewer or larger objects", "more than there is memory for")
	}
	return p.budget >= 0
}

// add begins a node.
func (p *parser) add(kind Kind, off int64) uint32 {
	if !p.charge(off, nodeBytes) {
		return nullNode
	}
	p.s.nodes = append(p.s.nodes, node{kind: kind, off: uint32(off), end: uint32(off)})
	return uint32(len(p.s.nodes) - 1)
}

// handle gives the node the next handle.
func (p *parser) handle(id uint32) { p.handles = append(p.handles, id) }

// content reads one content; blocks tells whether block data may stand here.
func (p *parser) content(blocks bool) uint32 {
	at := p.c.Off()
	if p.depth >= maxDepth {
		p.fail(at, "objects nested less deeply", fmt.Sprintf("more than %d levels", maxDepth))
	}
	tag := p.c.U8("type tag")
	if p.c.Err() != nil {
		p.suspect()
		return nullNode
	}
	p.depth++
	id := p.tagged(tag, at, blocks)
	p.depth--
	if p.c.Err() != nil {
		p.suspect()
	}
	return id
}

// kid reads a content of the open node. One that failed before anything of it
// was read is left out.
func (p *parser) kid(blocks bool) {
	if id := p.content(blocks); (id != nullNode || p.ok()) && p.charge(p.c.Off(), kidBytes) {
		p.kids = append(p.kids, id)
	}
}

// suspect notes, at the first failure, the open classes whose field values may
// be missing.
func (p *parser) suspect() {
	if p.suspects != nil {
		return
	}
	p.suspects = []string{}
	for i := len(p.classes) - 1; i >= 0; i-- {
		p.suspects = append(p.suspects, p.s.classes[p.classes[i]].Name)
	}
}

func (p *parser) tagged(tag byte, at int64, blocks bool) uint32 {
	switch tag {
	case tcNull:
		return nullNode
	case tcReference:
		return p.reference(at)
	case tcClassDesc, tcProxyClassDesc:
		return p.descriptor(tag, at)
	case tcObject:
		return p.object(at)
	case tcString, tcLongString:
		return p.string(tag, at)
	case tcArray:
		return p.array(at)
	case tcClass:
		class := p.class("class")
		id := p.add(ClassObject, at)
		p.s.nodes[id].class = class
		p.handle(id)
		p.close(id, len(p.kids), len(p.prims))
		return id
	case tcEnum:
		return p.enum(at)
	case tcBlockData, tcBlockDataLong:
		if blocks {
			return p.block(tag, at)
		}
	case tcReset:
		if p.depth == 1 {
			p.handles = p.handles[:0]
			id := p.add(Reset, at)
			p.close(id, len(p.kids), len(p.prims))
			return id
		}
	case tcException:
		return p.exception(at)
	}
	p.fail(at, "an object", tagName(tag))
	return nullNode
}

func tagName(tag byte) string {
	switch tag {
	case tcBlockData, tcBlockDataLong:
		return "block data"
	case tcEndBlockData:
		return "the end of an annotation"
	case tcReset:
		return "a reset inside an object"
	}
	return fmt.Sprintf("type tag 0x%02X", tag)
}

func (p *parser) reference(at int64) uint32 {
	h := int64(p.c.I32("handle")) - baseHandle
	if p.c.Err() != nil {
		return nullNode
	}
	if h < 0 || h >= int64(len(p.handles)) {
		p.fail(at, fmt.Sprintf("a reference to one of %d handles", len(p.handles)), fmt.Sprintf("handle %d", h))
		return nullNode
	}
	return p.handles[h]
}

func (p *parser) string(tag byte, at int64) uint32 {
	id := p.add(String, at)
	p.handle(id)
	n := int64(0)
	if tag == tcLongString {
		n = p.c.I64("string length")
	} else {
		n = int64(p.c.U16("string length"))
	}
	p.bytes(id, n, tag == tcLongString, "string")
	return id
}

func (p *parser) block(tag byte, at int64) uint32 {
	id := p.add(Block, at)
	n := int64(0)
	if tag == tcBlockDataLong {
		n = int64(p.c.I32("block length"))
	} else {
		n = int64(p.c.U8("block length"))
	}
	p.bytes(id, n, tag == tcBlockDataLong, "block data")
	return id
}

// bytes reads or steps over the n bytes of a string or block.
func (p *parser) bytes(id uint32, n int64, long bool, what string) {
	flags := uint8(0)
	if long {
		flags = flagLong
	}
	if n >= 0 && n < maxInText {
		flags |= flagInText
		p.s.nodes[id].body = uint32(p.text.Len())
		p.text.Write(p.c.Bytes(int(n), what))
	} else {
		p.c.Skip(n, what)
	}
	nd := &p.s.nodes[id]
	nd.flags, nd.end = flags, uint32(p.c.Off())
	if p.c.Err() == nil {
		nd.n = uint32(n)
	}
}

func (p *parser) enum(at int64) uint32 {
	class := p.class("enum class")
	if class == 0 {
		p.missingClass(at)
		return nullNode
	}
	id := p.add(Enum, at)
	p.s.nodes[id].class = class
	p.handle(id)
	kids := len(p.kids)
	if p.ok() {
		nameAt := p.c.Off()
		name := p.content(false)
		if p.ok() && p.s.nodes[name].kind != String {
			p.fail(nameAt, "the name of an enum constant", p.s.nodes[name].kind.String())
		}
		p.kids = append(p.kids, name)
	}
	p.close(id, kids, len(p.prims))
	return id
}

func (p *parser) exception(at int64) uint32 {
	id := p.add(Exception, at)
	p.handles = p.handles[:0]
	kids := len(p.kids)
	p.c.Enter("exception", -1)
	p.kid(false)
	p.c.Leave()
	p.handles = p.handles[:0]
	p.close(id, kids, len(p.prims))
	p.aborted = true
	return id
}

func (p *parser) array(at int64) uint32 {
	class := p.class("array class")
	if class == 0 {
		p.missingClass(at)
		return nullNode
	}
	id := p.add(Array, at)
	p.s.nodes[id].class = class
	p.handle(id)
	kids := len(p.kids)
	if p.ok() && !strings.HasPrefix(p.s.classes[class].Name, "[") {
		p.fail(at, "an array class", p.s.classes[class].ShortName())
	}
	if p.ok() {
		c := p.s.classes[class]
		p.c.Enter(c.ShortName(), -1)
		size := c.elemSize()
		n := p.c.Count("array length", int64(max(size, 1)))
		if size > 0 {
			p.c.Skip(int64(n)*int64(size), "array elements")
		}
		p.s.nodes[id].n = uint32(n)
		for i := 0; size == 0 && i < n && p.ok(); i++ {
			p.c.Enter("element", i)
			p.kid(false)
			p.c.Leave()
		}
		p.c.Leave()
	}
	announced := int(p.s.nodes[id].n)
	if !p.ok() { // of an object array the elements that are there
		p.s.nodes[id].n = uint32(len(p.kids) - kids)
	}
	p.close(id, kids, len(p.prims))
	if !p.ok() {
		p.s.setCut(id, announced)
	}
	return id
}

// missingClass is for an object whose class is null.
func (p *parser) missingClass(at int64) {
	if p.ok() {
		p.fail(at, "an object with a class", "null")
	}
}

func (p *parser) object(at int64) uint32 {
	class := p.class("class of an object")
	if class == 0 {
		p.missingClass(at)
		return nullNode
	}
	id := p.add(Object, at)
	p.s.nodes[id].class = class
	p.handle(id)
	kids, prims := len(p.kids), len(p.prims)
	if p.ok() {
		c := p.s.classes[class]
		p.c.Enter(c.ShortName(), -1)
		var ends []uint32
		for i, part := range c.parts {
			p.part(part)
			if part.custom() && i < len(c.parts)-1 {
				ends = append(ends, uint32(len(p.kids)-kids-1))
			}
		}
		if ends != nil && p.ok() {
			p.charge(at, mapBytes)
			p.s.setEnds(id, ends)
		}
		p.c.Leave()
	}
	p.close(id, kids, prims)
	return id
}

// part reads what one class of an object's hierarchy wrote.
func (p *parser) part(c *Class) {
	if !p.ok() {
		return
	}
	if c.Flags&flagExternalizable != 0 && c.Flags&flagBlockData == 0 {
		p.fail(p.c.Off(), "externalizable data in block mode", c.Name+" in the mode of protocol version 1, which only its class can read")
		return
	}
	if c.hasFields() {
		guess := c.custom() && len(c.Fields) > 0 && !strings.HasPrefix(c.Name, "java.")
		if guess {
			p.classes = append(p.classes, c.index)
		}
		p.values(c)
		if c.custom() {
			p.annotation()
		}
		if guess {
			p.classes = p.classes[:len(p.classes)-1]
		}
		return
	}
	p.annotation()
}

// values reads the field values of one class.
func (p *parser) values(c *Class) {
	whole := len(p.prims)
	for left := c.prims; left > 0 && p.c.Err() == nil; {
		n := min(left, maxInText-1)
		p.prims = append(p.prims, p.c.Bytes(n, "field values")...)
		left -= n
	}
	if p.c.Err() != nil { // all of a class's values or none
		p.prims = p.prims[:whole]
		p.suspect()
		return
	}
	for _, f := range c.Fields {
		if primSize(f.Type) > 0 {
			continue
		}
		p.c.Enter(f.Name, -1)
		p.kid(false)
		p.c.Leave()
		if !p.ok() {
			return
		}
	}
}

// annotation reads contents and block data up to their end mark.
func (p *parser) annotation() {
	for i := 0; p.ok(); i++ {
		if p.c.Peek("end of an annotation") == tcEndBlockData {
			p.c.U8("end of an annotation")
			p.kids = append(p.kids, endMark)
			return
		}
		if p.c.Err() != nil {
			p.suspect()
			return
		}
		p.c.Enter("element", i)
		p.kid(true)
		p.c.Leave()
	}
}
