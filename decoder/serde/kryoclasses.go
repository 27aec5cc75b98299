package serde

import (
	"math/bits"
	"strconv"
	"strings"

	"chkscope/decoder"
)

// single reads classes that stand for one value (DefaultSerializers and those of
// chill); false for others.
func (r *kryoValues) single(class string) (Value, bool) {
	switch class {
	case "java.lang.String", "java.lang.StringBuilder", "java.lang.StringBuffer", "java.util.Currency", "java.util.TimeZone",
		"sun.util.calendar.ZoneInfo", "java.util.regex.Pattern", "java.net.URI", "scala.Symbol":
		return r.kryoText(), true
	case "java.math.BigInteger", "java.math.BigDecimal":
		return r.kryoNumber(class == "java.math.BigDecimal"), true
	case "java.util.Date", "java.sql.Date", "java.sql.Time":
		return millisMoment(int64(r.kryoVarint("time"))), true
	case "java.sql.Timestamp":
		ms := int64(r.kryoVarint("time"))
		if nanos := int64(r.kryoVarint("nanoseconds")); r.ok() {
			return nanoMoment(ms, floorDiv(ms, 1000), nanos), true
		}
		return Value{}, true
	case "java.util.UUID":
		return uuidValue(uint64(r.kryoInt("UUID")), uint64(r.kryoInt("UUID"))), true
	case "java.util.Locale":
		var parts []string
		for range 3 {
			if p, _ := r.kstr("locale"); p != "" {
				parts = append(parts, decoder.Text(p))
			}
		}
		return textValue(strings.Join(parts, "_")), true
	case "java.net.InetSocketAddress":
		host, _ := r.kstr("host")
		return textValue(decoder.Text(host) + ":" + strconv.FormatUint(r.kryoVarint("port"), 10)), true
	case "java.lang.Class":
		name, _ := r.classOf()
		if !r.k.kryo5 || !usesReferences(name) {
			r.u8("primitive")
		}
		return textValue(decoder.Text(name)), true
	}
	return Value{}, false
}

// kryoNumber reads a BigInteger (varint length + 1, bytes) or a BigDecimal (with
// the scale behind it).
func (r *kryoValues) kryoNumber(scaled bool) Value {
	n := r.length("length", 1)
	if !r.ok() || n == 0 {
		return nullValue
	}
	p := r.take(n-1, "number")
	scale := int64(0)
	if scaled {
		scale = r.kryoInt("scale")
	}
	if !r.ok() {
		return Value{}
	}
	if len(p) > maxDigitBytes {
		return r.opaque(p, "a number of more than "+strconv.Itoa(maxDigitBytes)+" bytes")
	}
	return numberValue(twosComplement(p), int(scale))
}

// kryoArrays are primitive arrays by class, with the class of the elements.
var kryoArrays = map[string]string{"[Z": "boolean", "[C": "char", "[S": "short", "[I": "int", "[J": "long", "[F": "float", "[D": "double"}

// arrays reads arrays: varint length + 1 and elements; false for other classes.
func (r *kryoValues) arrays(class string) (Value, bool) {
	element, primitive := kryoArrays[class]
	if !primitive && class != "[B" && class != "[Ljava.lang.String;" && class != "[Ljava.lang.Object;" {
		return Value{}, false
	}
	n := r.length("array length", 1)
	if !r.ok() {
		return Value{}, true
	}
	if n--; n < 0 {
		return nullValue, true
	}
	switch class {
	case "[B":
		p := r.take(n, "byte array")
		return r.checked(r.bytes(p)), true
	case "[Ljava.lang.String;":
		return r.items(n, func(int) Value { return r.object("java.lang.String") }), true
	case "[Ljava.lang.Object;":
		return r.items(n, func(int) Value { return r.classAndObject() }), true
	}
	return r.items(n, func(int) Value { return r.object(element) }), true
}

var kryoLists = map[string]bool{"java.util.ArrayList": true, "java.util.LinkedList": true, "java.util.ArrayDeque": true,
	"java.util.HashSet": true, "java.util.LinkedHashSet": true, "java.util.Vector": true, "java.util.Stack": true,
	"java.util.concurrent.ConcurrentLinkedQueue": true, "java.util.concurrent.CopyOnWriteArrayList": true,
	"java.util.concurrent.LinkedBlockingQueue": true, "java.util.concurrent.ConcurrentLinkedDeque": true,
	"java.util.TreeSet": true}

var kryoMaps = map[string]bool{"java.util.HashMap": true, "java.util.LinkedHashMap": true, "java.util.Hashtable": true,
	"java.util.Properties": true, "java.util.concurrent.ConcurrentHashMap": true, "java.util.IdentityHashMap": true,
	"java.util.WeakHashMap": true, "java.util.TreeMap": true}

// collections reads the collections of java.util; false for other classes.
func (r *kryoValues) collections(class string) (Value, bool) {
	sequence := func(n int) Value {
		return r.items(n, func(int) Value { return r.classAndObject() })
	}
	switch class {
	case "java.util.Collections$EmptyList", "java.util.Collections$EmptySet":
		return Value{Form: Sequence}, true
	case "java.util.Collections$EmptyMap":
		return Value{Form: Pairs}, true
	case "java.util.Collections$SingletonList", "java.util.Collections$SingletonSet":
		return sequence(1), true
	case "java.util.Collections$SingletonMap":
		return r.kryoPairs(1, r.classAndObject, r.classAndObject), true
	case "java.util.Arrays$ArrayList":
		if r.k.kryo5 {
			return r.collection5(class, true), true
		}
		return r.asList(sequence), true
	case "java.util.PriorityQueue":
		if r.k.kryo5 {
			return r.collection5(class, true), true
		}
		r.comparator()
		return sequence(r.length("size", 1)), true
	case "java.util.BitSet":
		return r.bitSet(), true
	}
	list := kryoLists[class]
	if !list && !kryoMaps[class] {
		return Value{}, false
	}
	if r.k.kryo5 {
		return r.collection5(class, list), true
	}
	if class == "java.util.TreeSet" || class == "java.util.TreeMap" {
		r.comparator()
	}
	n := r.length("size", 1)
	if list {
		return sequence(n), true
	}
	return r.kryoPairs(n, r.classAndObject, r.classAndObject), true
}

// comparator reads the comparator of a sorted collection, mostly null.
func (r *kryoValues) comparator() {
	if v := r.classAndObject(); r.ok() && v.Form != Null {
		r.fail(r.off, "no comparator", v.String(), ErrOpaque)
	}
}

func (r *kryoValues) kryoPairs(n int, key, value func() Value) Value {
	v := Value{Form: Pairs, N: int64(n)}
	for i := 0; i < n && r.ok(); i++ {
		v.Cut = v.Cut || r.left.Values <= 0
		k, e := key(), Value{}
		if r.ok() {
			e = value()
		}
		if !r.ok() {
			r.at("entry " + strconv.Itoa(i))
		}
		if !v.Cut {
			v.Items = append(v.Items, k, e)
		}
	}
	return v
}

// asList reads what chill's ArraysAsListSerializer writes: size, class of the
// elements, elements.
func (r *kryoValues) asList(sequence func(int) Value) Value {
	n := r.length("size", 1)
	r.classOf()
	return sequence(n)
}

// bitSet reads what chill's BitSetSerializer writes: number of words and the
// words. It gives the numbers of the bits that are set.
func (r *kryoValues) bitSet() Value {
	n := r.length("number of words", 1)
	v := Value{Form: Sequence}
	for w := 0; w < n && r.ok(); w++ {
		word := uint64(r.fixed(8, "word"))
		for ; word != 0; word &= word - 1 {
			if v.N++; r.left.Values <= 0 {
				v.Cut = true
				continue
			}
			r.left.Values--
			v.Items = append(v.Items, integer(int64(64*w+bits.TrailingZeros64(word))))
		}
	}
	return v
}
