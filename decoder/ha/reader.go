package ha

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
	"chkscope/decoder/metadata"
)

// budgetBase is how much memory the structures may take beyond three times the
// length of the stream; elementBytes is about what one of a list takes. Objects
// that are shared may be met any number of times, so this bounds the time too.
var budgetBase int64 = 128 << 20

const elementBytes = 160

// maxNesting bounds handles inside handles, which may be cycles. Flink nests
// once.
const maxNesting = 8

// reader turns nodes into structures. The first failure sticks, as in
// decoder.Cursor.
type reader struct {
	s    *javaobj.Stream
	in   decoder.Input
	path []step
	err  *decoder.Error

	nesting int
	budget  int64
	inline  int64 // data bytes of type 1 handles so far, each array once
	// seen has the byte arrays that were counted, bounds is the operator at hand:
	// an array that stands outside it counts not.
	seen   map[javaobj.Node]bool
	bounds decoder.Span
	// legacy114 is set by the changelog handles of Flink 1.14.
	legacy114 bool
}

type step struct {
	what string
	n    int
}

// pathText is the path of structures in an error: "operator 3 / subtask 5".
func pathText(path []step) string {
	var parts []string
	for _, s := range path {
		if s.n >= 0 {
			s.what += " " + strconv.Itoa(s.n)
		}
		parts = append(parts, s.what)
	}
	return strings.Join(parts, " / ")
}

func newReader(s *javaobj.Stream) *reader {
	return &reader{s: s, in: s.In, seen: map[javaobj.Node]bool{}, budget: budgetBase + 3*s.Span.Len}
}

func (r *reader) ok() bool { return r.err == nil }

func (r *reader) enter(what string, n int) { r.path = append(r.path, step{what, n}) }

func (r *reader) leave() {
	if r.ok() {
		r.path = r.path[:len(r.path)-1]
	}
}

// fail records damage at n, the first time.
func (r *reader) fail(n javaobj.Node, expected, found string) {
	if r.err != nil {
		return
	}
	r.err = &decoder.Error{File: r.in.Name(), Offset: n.Span().Off, Path: pathText(r.path), Expected: expected, Found: found}
}

// is fails where n is no object of the class, named without its package.
func (r *reader) is(n javaobj.Node, class string) bool {
	if r.ok() && !n.Is(flinkRuntime+class) {
		r.fail(n, "a "+flinkRuntime+class, describe(n))
	}
	return r.ok()
}

// long gives an integer field.
func (r *reader) long(n javaobj.Node, field string) int64 {
	v, ok := n.Int(field)
	if !ok {
		r.fail(n, "a field "+field, "none in "+describe(n))
	}
	return v
}

// int gives an integer field of 32 bits.
func (r *reader) int(n javaobj.Node, field string) int32 { return int32(r.long(n, field)) }

// text gives a string field, in modified UTF-8.
func (r *reader) text(n javaobj.Node, field string) string {
	f := n.Field(field)
	s, ok := f.Text()
	if !ok {
		r.fail(f, "a string as "+field, describe(f))
	}
	return s
}

// optionalText gives "" for null and for a field that is not there.
func (r *reader) optionalText(n javaobj.Node, field string) string {
	if n.Field(field).IsNull() {
		return ""
	}
	return r.text(n, field)
}

// array gives a field that is an array of primitives of that class: [J, [B.
func (r *reader) array(n javaobj.Node, field, class string) javaobj.Node {
	f := n.Field(field)
	if f.Kind() != javaobj.Array || f.Class().Name != class {
		r.fail(f, class+" as "+field, describe(f))
		return javaobj.Node{}
	}
	return f
}

// charge accounts for one element of a list.
func (r *reader) charge(n javaobj.Node) {
	if r.budget -= elementBytes; r.budget < 0 {
		r.fail(n, "fewer handles", "more than there is memory for")
	}
}

// elements gives the elements of a collection.
func (r *reader) elements(n javaobj.Node, what string, f func(i int, p javaobj.Placed)) {
	seq, ok := n.Elements()
	if !ok {
		r.fail(n, what+" in a collection that is known", describe(n))
		return
	}
	i := 0
	for p := range seq {
		if !r.ok() {
			return
		}
		r.charge(p.Node)
		r.enter(what, i)
		f(i, p)
		r.leave()
		i++
	}
	if size := n.Size(); r.ok() && size >= 0 && size != i {
		r.fail(n, fmt.Sprintf("%d of %s", size, what), strconv.Itoa(i))
	}
}

// entries gives the keys and values of a map.
func (r *reader) entries(n javaobj.Node, what string, f func(k, v javaobj.Placed)) {
	seq, ok := n.Entries()
	if !ok {
		r.fail(n, what+" in a map that is known", describe(n))
		return
	}
	i := 0
	for k, v := range seq {
		if !r.ok() {
			return
		}
		r.charge(v.Node)
		f(k, v)
		i++
	}
	if size := n.Size(); r.ok() && size >= 0 && size != i {
		r.fail(n, fmt.Sprintf("%d of %s", size, what), strconv.Itoa(i))
	}
}

// abstractID reads org.apache.flink.util.AbstractID in the order of its text.
func (r *reader) abstractID(n javaobj.Node) (id [16]byte) {
	// AbstractID.getBytes, and so `_metadata` and toString, begin with the lower part.
	binary.BigEndian.PutUint64(id[:8], uint64(r.long(n, "lowerPart")))
	binary.BigEndian.PutUint64(id[8:], uint64(r.long(n, "upperPart")))
	return id
}

// stringID reads org.apache.flink.util.StringBasedID; "" for null and for a
// field that is not there.
func (r *reader) stringID(n javaobj.Node, field string) string {
	if n.Field(field).IsNull() {
		return ""
	}
	return r.text(n.Field(field), "keyString")
}

// properties reads a CheckpointProperties field.
func (r *reader) properties(n javaobj.Node, field string) metadata.Properties {
	if !r.ok() || n.Field(field).Kind() == javaobj.Missing {
		return metadata.Properties{}
	}
	p, err := metadata.PropertiesOf(n.Field(field))
	var d *decoder.Error
	if errors.As(err, &d) && r.ok() {
		r.err = d
	}
	return p
}
