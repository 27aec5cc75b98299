package serde

import (
	"math/bits"
	"strconv"

	"chkscope/decoder"
)

// list reads i32 n, with Flag a mask of null elements, and the elements.
func (d *values) list(c *codec) Value {
	k := c.kids[0]
	each := min(max(k.width, 0), 1)
	if c.mark {
		each = 0
	}
	n := d.count("number of elements", each)
	if c.mark {
		if n > 8*(d.end-d.off) {
			d.fail(d.off-4, "number of elements that fits", strconv.Itoa(n), nil)
		}
		mask := d.take((n+7)/8, "null mask")
		return d.items(n, func(i int) Value {
			if maskBit(mask, i) {
				d.left.Values--
				return Value{Form: Null}
			}
			return d.step(k)
		})
	}
	if k.width == 0 {
		return d.alike(n, func() Value { return d.value(k) })
	}
	return d.items(n, func(int) Value { return d.step(k) })
}

// maskBit is bit i of a mask, the most significant bit of a byte first.
func maskBit(mask []byte, i int) bool {
	return i/8 < len(mask) && mask[i/8]&(0x80>>(i%8)) != 0
}

// flaggedList reads i32 n and elements with a flag before each. Of a Set it says
// that the element is null, of the others that it is there.
func (d *values) flaggedList(c *codec) Value {
	n := d.count("number of elements", 1)
	return d.items(n, func(int) Value {
		if d.bool("null flag") == (c.kind == Set) || !d.ok() {
			d.left.Values--
			return Value{Form: Null}
		}
		return d.step(c.kids[0])
	})
}

// pairs reads i32 n and entries: key, null flag, value; of a NullAwareMap with a
// null flag before the key too.
func (d *values) pairs(c *codec) Value {
	n := d.count("number of entries", 1)
	v := Value{Form: Pairs, N: int64(n)}
	nullable := func(k *codec) Value {
		if d.bool("null flag") || !d.ok() {
			d.left.Values--
			return Value{Form: Null}
		}
		return d.step(k)
	}
	for i := 0; i < n && d.ok(); i++ {
		if d.left.Values <= 0 {
			v.Cut = true
		}
		key, value := Value{}, Value{}
		if c.kind == NullAwareMap {
			key = nullable(c.kids[0])
		} else {
			key = d.step(c.kids[0])
		}
		if d.ok() {
			value = nullable(c.kids[1])
		}
		if !d.ok() {
			d.at("entry " + strconv.Itoa(i))
		}
		if !v.Cut {
			v.Items = append(v.Items, key, value)
		}
	}
	return v
}

var choiceShapes = map[Kind][2]*Shape{
	Either: {{Type: "Either", Names: []string{"left"}}, {Type: "Either", Names: []string{"right"}}},
	Union:  {{Type: "TaggedUnion", Names: []string{"one"}}, {Type: "TaggedUnion", Names: []string{"two"}}},
	Try:    {{Type: "Try", Names: []string{"success"}}, {Type: "Try", Names: []string{"failure"}}},
}

// choice reads a value of the first or the second type: true for the first, of
// a Union 1 and 2.
func (d *values) choice(c *codec) Value {
	i := 0
	if at := d.off; c.kind == Union {
		if tag := d.u8("tag"); tag == 2 {
			i = 1
		} else if tag != 1 {
			d.fail(at, "tag 1 or 2", strconv.Itoa(int(tag)), nil)
		}
	} else if !d.bool("first of two") {
		i = 1
	}
	if !d.ok() {
		return Value{}
	}
	return Value{Form: Fields, Shape: choiceShapes[c.kind][i], Items: append(d.room(1), d.value(c.kids[i]))}
}

// optional reads an Option (true: a value follows) or a Nullable (true: null,
// the padding follows).
func (d *values) optional(c *codec) Value {
	if flag := d.bool("null flag"); flag == (c.kind == Option) {
		if !d.ok() {
			return Value{}
		}
		return d.value(c.kids[0])
	}
	if c.kind == Nullable {
		d.take(c.size, "padding")
	}
	return d.checked(Value{Form: Null})
}

// rowKinds are RowKind.shortString by RowKind.toByteValue.
var rowKinds = [4]string{"", "-U", "+U", "-D"}

// withKind is a shape with a row kind.
func (s *Shape) withKind(kind byte) *Shape {
	if kind == 0 || int(kind) >= len(rowKinds) {
		return s
	}
	t := *s
	t.Kind = rowKinds[kind]
	return &t
}

// row reads a mask, of null fields and with Flag before them two bits of the row
// kind (the lower one first), and the fields that are not null.
func (d *values) row(c *codec) Value {
	skip := 0
	if c.mark {
		skip = 2
	}
	mask := d.take((len(c.kids)+skip+7)/8, "null mask")
	if !d.ok() {
		return Value{}
	}
	v := Value{Form: Fields, Shape: c.shape}
	if c.mark {
		v.Shape = c.shape.withKind(bits.Reverse8(mask[0]) & 3)
	}
	for i, k := range c.kids {
		if maskBit(mask, i+skip) {
			d.left.Values--
			v.Items = append(v.Items, Value{Form: Null})
			continue
		}
		d.whole = d.whole && i == len(c.kids)-1
		v.Items = append(v.Items, d.value(k))
		if !d.ok() {
			d.at(c.shape.Names[i])
			break
		}
	}
	return v
}

// Flags of a POJO (PojoSerializer).
const (
	pojoNull        = 1
	pojoPlain       = 2
	pojoUnknownType = 4 // a subclass by its name
	pojoRegistered  = 8 // a subclass by its index
)

// pojo reads a byte of flags and the fields, each behind a null flag; of a
// subclass its name or index and a POJO again.
func (d *values) pojo(c *codec) Value {
	at := d.off
	switch flags := d.u8("POJO flags"); {
	case !d.ok():
		return Value{}
	case flags&pojoNull != 0:
		return Value{Form: Null}
	case flags&pojoUnknownType != 0:
		name := string(d.take(int(uint16(d.big(2, "class length"))), "class"))
		return d.subclass(decoder.Text(name), c.pojo.others[name])
	case flags&pojoRegistered != 0:
		i := d.u8("subclass")
		if int(i) < len(c.pojo.registered) {
			return d.subclass(strconv.Itoa(int(i)), c.pojo.registered[i])
		}
		return d.subclass(strconv.Itoa(int(i)), nil)
	case flags&pojoPlain == 0:
		d.fail(at, "POJO flags 1, 2, 4 or 8", strconv.Itoa(int(flags)), nil)
		return Value{}
	}
	return d.pojoFields(c)
}

func (d *values) subclass(name string, k *codec) Value {
	if !d.ok() {
		return Value{}
	}
	if k == nil {
		return d.noLayout("the subclass " + name + " is not in the serializer snapshot")
	}
	return d.value(k)
}

func (d *values) pojoFields(c *codec) Value {
	v := Value{Form: Fields, Shape: c.shape, Items: d.room(len(c.kids))}
	whole := d.whole
	for i, k := range c.kids {
		d.whole = whole && i == len(c.kids)-1
		if d.bool("null flag") {
			d.left.Values--
			v.Items = append(v.Items, Value{Form: Null})
		} else if d.ok() {
			v.Items = append(v.Items, d.value(k))
		}
		if !d.ok() {
			d.at(c.shape.Names[i])
			break
		}
	}
	d.whole = whole
	return v
}

// ttl reads the time of the last access and the value.
func (d *values) ttl(c *codec) Value {
	at := d.value(c.kids[0])
	v := d.value(c.kids[1])
	if !d.ok() && v.Form == Missing {
		return Value{}
	}
	return Value{Form: TTLValue, N: at.N, Items: append(d.room(1), v)}
}

// timer reads the time with its sign bit turned, key and namespace
// (TimerSerializer).
func (d *values) timer(c *codec) Value {
	at := uint64(d.i64("timestamp")) ^ 1<<63
	if !d.ok() {
		return Value{}
	}
	return Value{Form: TimerMark, N: int64(at), Items: d.fields(c.kids, c.tail, timerParts)}
}

var timerParts = []string{"key", "namespace"}

// enum reads the index of a constant, of a Scala enumeration its id.
func (d *values) enum(c *codec) Value {
	p := d.take(4, "enum constant")
	if p == nil {
		return Value{}
	}
	n := int32(uint32(p[0])<<24 | uint32(p[1])<<16 | uint32(p[2])<<8 | uint32(p[3]))
	e := c.t.EnumType
	if e == nil {
		return d.opaque(p, orElse(c.t.Why, "the constants are not in the snapshot"))
	}
	if e.IDs == nil && n >= 0 && int(n) < len(e.Constants) {
		return Value{Form: EnumName, Text: decoder.Text(e.Constants[n]), N: int64(n)}
	}
	for i, id := range e.IDs {
		if id == n {
			return Value{Form: EnumName, Text: decoder.Text(e.Constants[i]), N: int64(n)}
		}
	}
	return d.opaque(p, "constant "+strconv.Itoa(int(n))+" is not in the snapshot")
}
