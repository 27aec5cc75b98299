package serde

// collection5 reads what the collections and maps of Kryo 5 are written as:
//
//	list  size + 1 (0: null) with a flag: in the first byte 80 the flag, 40 where
//	      the number goes on, six bits of it, then a varint. Flag set: all
//	      elements have one class, which stands once (0: all are null), a bool
//	      whether there are nulls, objects without a class. Else values
//	map   varint size + 1 (0: null), values
//
// Sorted ones and queues have their comparator behind the size.
func (r *kryoValues) collection5(class string, list bool) Value {
	n, sameClass := 0, false
	if list {
		b := r.u8("size")
		sameClass = b&0x80 != 0
		if n = int(b & 0x3f); b&0x40 != 0 {
			n |= r.length("size", 1) << 6
		}
	} else {
		n = r.length("size", 1)
	}
	if !r.ok() || n == 0 {
		return nullValue
	}
	if n--; class == "java.util.TreeSet" || class == "java.util.TreeMap" || class == "java.util.PriorityQueue" {
		r.comparator()
	}
	if !list {
		return r.kryoPairs(n, r.classAndObject, r.classAndObject)
	}
	if n == 0 || !sameClass {
		return r.items(n, func(int) Value { return r.classAndObject() })
	}
	element, ok := r.classOf()
	if !ok {
		return r.alike(n, func() Value { return nullValue })
	}
	nulls := r.bool("null elements")
	return r.items(n, func(int) Value {
		if nulls && !usesReferences(element) && !r.bool("element present") {
			return nullValue
		}
		return r.object(element)
	})
}

// usesReferences says whether values of a class have a reference before them.
func usesReferences(class string) bool {
	switch class {
	case "int", "java.lang.Integer", "long", "java.lang.Long", "short", "java.lang.Short", "byte", "java.lang.Byte", "boolean",
		"java.lang.Boolean", "char", "java.lang.Character", "float", "java.lang.Float", "double", "java.lang.Double":
		return false
	}
	return true
}
