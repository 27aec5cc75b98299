package serde

import (
	"math"
	"math/big"
	"slices"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
)

// java reads a Java object stream as a value.
func (d *values) java() Value {
	at := d.off
	s, n, err := javaobj.Parse(d.buf[d.off:d.end])
	if err != nil {
		d.fail(at, "a Java object", err.Error(), javaCause(err))
		return Value{}
	}
	d.off += n
	j := javaValues{d: d, buf: d.buf[at : at+n]}
	return j.value(s.Root())
}

// javaValues turns nodes of a Java object graph into values.
type javaValues struct {
	d    *values
	buf  []byte         // the stream
	path []javaobj.Node // that are open
}

func (j *javaValues) value(n javaobj.Node) Value {
	j.d.left.Values--
	if v, ok := j.simple(n); ok {
		return v
	}
	if len(j.path) >= maxValueDepth || j.d.left.Values <= 0 {
		return j.span(n, "deep inside a large Java object")
	}
	if slices.Contains(j.path, n) {
		return j.span(n, "the object itself again")
	}
	j.path = append(j.path, n)
	defer func() { j.path = j.path[:len(j.path)-1] }()
	if entries, ok := n.Entries(); ok {
		v := Value{Form: Pairs}
		for key, value := range entries {
			if v.N++; j.d.left.Values > 0 {
				v.Items = append(v.Items, j.value(key.Node), j.value(value.Node))
			} else {
				v.Cut = true
			}
		}
		return v
	}
	if elements, ok := n.Elements(); ok {
		v := Value{Form: Sequence}
		for e := range elements {
			if v.N++; j.d.left.Values > 0 {
				v.Items = append(v.Items, j.value(e.Node))
			} else {
				v.Cut = true
			}
		}
		return v
	}
	if n.Kind() == javaobj.Object {
		return j.object(n)
	}
	return j.span(n, n.Kind().String())
}

// span is a node as its bytes.
func (j *javaValues) span(n javaobj.Node, why string) Value {
	s := n.Span()
	return j.d.opaque(j.buf[s.Off:s.End()], why)
}

// simple gives strings, numbers and what else stands for one thing.
func (j *javaValues) simple(n javaobj.Node) (Value, bool) {
	switch n.Kind() {
	case javaobj.Missing, javaobj.Null:
		return nullValue, true
	case javaobj.String:
		b := n.Body()
		return j.d.text([]byte(decoder.Text(string(j.buf[b.Off:b.End()])))), true
	case javaobj.Enum:
		name, _ := n.Text()
		return Value{Form: EnumName, Text: decoder.Text(name)}, true
	case javaobj.ClassObject:
		if c := n.Class(); c != nil {
			return textValue(decoder.Text(c.Name)), true
		}
	case javaobj.Array:
		return j.primitives(n)
	case javaobj.Object:
		return j.boxed(n)
	}
	return Value{}, false
}

// boxed gives objects of java.lang and java.util that stand for one value.
func (j *javaValues) boxed(n javaobj.Node) (Value, bool) {
	switch class := n.Class().Name; class {
	case "java.lang.Boolean":
		v, ok := n.Int("value")
		return boolValue(v != 0), ok
	case "java.lang.Character":
		v, ok := n.Int("value")
		return textValue(string(appendUTF16(nil, []uint16{uint16(v)}))), ok
	case "java.lang.Float":
		v, ok := n.Int("value")
		return Value{Form: Real32, N: v}, ok
	case "java.lang.Double":
		v, ok := n.Int("value")
		return Value{Form: Real64, N: v}, ok
	case "java.math.BigInteger":
		return j.bigInteger(n)
	case "java.util.UUID":
		p, ok := n.Int("mostSigBits")
		q, ok2 := n.Int("leastSigBits")
		return uuidValue(uint64(p), uint64(q)), ok && ok2
	case "java.util.Date", "java.sql.Date", "java.sql.Time":
		for b := range n.Annotation("java.util.Date") {
			if text, ok := b.Block(); ok && len(text) == 8 {
				d := values{buf: []byte(text), end: 8}
				return millisMoment(d.i64("")), true
			}
		}
	}
	if v, ok := n.Number(); ok {
		return integer(v), true
	}
	return Value{}, false
}

func (j *javaValues) bigInteger(n javaobj.Node) (Value, bool) {
	sign, ok := n.Int("signum")
	b := n.Field("magnitude").Body()
	if !ok || b.Len > maxDigitBytes {
		return Value{}, false
	}
	v := new(big.Int).SetBytes(j.buf[b.Off:b.End()])
	if sign < 0 {
		v.Neg(v)
	}
	return numberValue(v, 0), true
}

// primitives gives an array of primitive values.
func (j *javaValues) primitives(n javaobj.Node) (Value, bool) {
	b := n.Body()
	name := n.Class().Name
	if len(name) != 2 {
		return Value{}, false
	}
	kind, ok := map[byte]Kind{'Z': Boolean, 'C': Char, 'S': Short, 'I': Int, 'J': Long, 'F': Float, 'D': Double}[name[1]]
	if !ok {
		return j.d.bytes(j.buf[b.Off:b.End()]), true
	}
	d := values{buf: j.buf, off: int(b.Off), end: int(b.End()), left: j.d.left}
	k := &codec{kind: kind, width: widths[kind]}
	v := Value{Form: Sequence, N: int64(n.Len())}
	for d.left.Values > 0 && d.off < d.end && d.ok() {
		v.Items = append(v.Items, d.value(k))
	}
	v.Cut, j.d.left = d.off < d.end, d.left
	return v, true
}

// object gives the fields of an object, those of the topmost class first, and
// what its writeObject methods wrote besides.
func (j *javaValues) object(n javaobj.Node) Value {
	v := Value{Form: Fields, Shape: &Shape{Type: decoder.Text(n.Class().Name)}}
	add := func(name string, e Value) {
		v.Shape.Names = append(v.Shape.Names, decoder.Text(name))
		v.Items = append(v.Items, e)
	}
	var classes []*javaobj.Class
	lowest := map[string]*javaobj.Class{} // class of a field; those above it are hidden
	for c := n.Class(); c != nil; c = c.Super {
		classes = append(classes, c)
		for _, f := range c.Fields {
			if lowest[f.Name] == nil {
				lowest[f.Name] = c
			}
		}
	}
	slices.Reverse(classes)
	for _, c := range classes {
		for _, f := range c.Fields {
			if lowest[f.Name] == c {
				add(f.Name, j.field(n, f))
			} else {
				add(f.Name+" of "+c.ShortName(), j.d.opaque(nil, "a field of the same name is below it"))
			}
		}
		for a := range n.Annotation(c.Name) {
			if a.Kind() == javaobj.Block {
				b := a.Body()
				add("@block", j.d.bytes(j.buf[b.Off:b.End()]))
			} else {
				add("@object", j.value(a))
			}
		}
	}
	return v
}

func (j *javaValues) field(n javaobj.Node, f javaobj.Field) Value {
	if f.Type == 'L' || f.Type == '[' {
		return j.value(n.Field(f.Name))
	}
	j.d.left.Values--
	v, ok := n.Int(f.Name)
	if !ok {
		return nullValue
	}
	switch f.Type {
	case 'Z':
		return boolValue(v != 0)
	case 'C':
		return textValue(string(appendUTF16(nil, []uint16{uint16(v)})))
	case 'F':
		return Value{Form: Real32, N: v & math.MaxUint32}
	case 'D':
		return Value{Form: Real64, N: v}
	}
	return integer(v)
}
