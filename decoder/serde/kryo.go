package serde

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"chkscope/decoder"
)

// What Kryo 2.24 writes (Flink 1.x), as far as it can be read without classes.
// References are on and no registration is required (KryoSerializer):
//
//	value    tag [reference, content]
//	tag      varint: 0 null; 1 a class by name: varint number of the name, with
//	         its first occurrence the name as kstr; else class id + 2
//	reference (not before numbers, booleans and characters) varint: 0 null, 1 a
//	         new object, n the object number n - 2 again
//	kstr     80 null, 81 empty. First byte below 80: ASCII, the last byte has
//	         80 set. Else in the first byte 80, 40 where the length goes on, six
//	         bits of the length + 1; then the rest of the length as a varint;
//	         then each UTF-16 unit in one to three bytes
//	varint   7 bits a byte, lowest first; zigzag for signed numbers
//
// Class ids: 0 int … 9 void; 10 to 72 Scala classes, 73 to 84 those of
// FlinkChillPackageRegistrar, the registrations of the snapshot from 85 on;
// where flink-java was not there, from 10 on.
//
// Collections and maps are varint size and values; arrays varint length + 1 and
// elements. All other classes are written field by field (FieldSerializer): no
// names, no types, no length.
//
// Flink 2.x has Kryo 5 under the same snapshot class. It differs in collections,
// maps and class ids (no 9), see kryo5.

// kafkaPartition is the one class of users' state whose fields are known: cached
// hash, partition, topic.
const kafkaPartition = "org.apache.flink.streaming.connectors.kafka.internals.KafkaTopicPartition"

var kafkaPartitionShape = &Shape{Type: kafkaPartition, Names: []string{"topic", "partition"}}

// kryoCodec is what a Kryo snapshot tells about class ids.
type kryoCodec struct {
	registered []string        // classes in the order of ids
	own        map[string]bool // classes with a serializer of their own
	javaOwn    bool            // a class of java.* has one for it and what is below it
	ids        int             // no class has this id or a higher one; 0 where not known
	kryo5      bool
	kafka      bool // the type is KafkaTopicPartition
	users      bool // the type is a class of the job, or of a library beyond Java and Scala
}

func newKryoCodec(t *Snapshot) *kryoCodec {
	k := &kryoCodec{own: map[string]bool{}, kafka: t.Type == kafkaPartition, users: t.Type != "" && !ofLibrary(t.Type)}
	if t.KryoType == nil {
		k.registered = []string{t.Type} // the first registration is the type itself
		return k
	}
	k.kryo5 = t.KryoType.kryo5()
	for _, r := range t.KryoType.Registrations {
		k.registered = append(k.registered, r.Name)
		if r.Kind != KryoDefault {
			k.own[r.Name] = true
		}
	}
	k.ids = firstRegistered + len(k.registered)
	for _, list := range [][]KryoRegistration{t.KryoType.Defaults, t.KryoType.DefaultClasses} {
		for _, r := range list {
			k.own[r.Name] = true
			k.javaOwn = k.javaOwn || strings.HasPrefix(r.Name, "java.")
		}
	}
	k.kafka = k.kafka && !k.own[kafkaPartition] && !k.javaOwn
	return k
}

// AssumeKryo5 tells that the values of t were written by Flink 2.x, where the
// snapshot itself does not say so. It is called before values are read.
func AssumeKryo5(t *Snapshot) {
	Walk(t, func(s *Snapshot) bool {
		if s.KryoType != nil && !s.KryoType.kryo2() {
			s.KryoType.Kryo5 = true
		}
		return true
	})
}

// kryo5 and kryo2 go by the class that holds serializers of registrations, which
// was moved in Flink 2.0.
func (k *KryoType) kryo5() bool {
	return k.Kryo5 || k.holds("org.apache.flink.api.common.SerializableSerializer")
}

func (k *KryoType) kryo2() bool {
	return k.holds("org.apache.flink.api.common.ExecutionConfig$SerializableSerializer")
}

func (k *KryoType) holds(serializer string) bool {
	for _, r := range k.Registrations {
		if r.Serializer == serializer {
			return true
		}
	}
	return false
}

var kryoPrimitives = [...]string{"int", "java.lang.String", "float", "boolean", "byte", "char", "short", "long", "double", "void"}

// chillClasses have the ids from 73 on.
var chillClasses = [...]string{"java.util.Arrays$ArrayList", "java.util.BitSet", "java.util.PriorityQueue", "java.util.regex.Pattern",
	"java.sql.Date", "java.sql.Time", "java.sql.Timestamp", "java.net.URI", "java.net.InetSocketAddress", "java.util.UUID",
	"java.util.Locale", "java.text.SimpleDateFormat"}

const (
	firstScala      = 10
	firstChill      = 73
	firstRegistered = 85
)

// class is the name of the class with an id, "" where it is not known.
func (k *kryoCodec) class(id int) string {
	primitives := kryoPrimitives[:]
	if k.kryo5 {
		primitives = primitives[:9] // no void
	}
	switch {
	case id < len(primitives):
		return primitives[id]
	case id >= firstRegistered:
		if id-firstRegistered < len(k.registered) {
			return k.registered[id-firstRegistered]
		}
		return ""
	case id-len(primitives) < len(k.registered):
		return k.registered[id-len(primitives)]
	case id >= firstChill && !k.kryo5:
		return chillClasses[id-firstChill]
	}
	return ""
}

// kryoValues reads the values of one Kryo object graph.
type kryoValues struct {
	*values
	k     *kryoCodec
	names []string
	refs  []kryoRef
	depth int
}

// kryoRef is an object that may be referred to again.
type kryoRef struct {
	v    Value
	size int // parts it has
	done bool
}

func (d *values) kryo(k *kryoCodec) Value {
	if end := k.skipPartition(d.buf[:d.end], d.off); end != noEnd {
		return d.partition(end)
	}
	r := kryoValues{values: d, k: k}
	at := r.off
	class, ok := r.classOf()
	switch {
	case !ok:
		return r.noClass()
	case k.users && ofLibrary(class):
		r.fail(at, "a class that the type may have", class, nil)
		return Value{}
	}
	return r.object(class)
}

// ofLibrary tells whether a class is one of Java or Scala, which no class of a job
// can be a type of.
func ofLibrary(class string) bool {
	for _, p := range []string{"java.", "javax.", "scala.", "["} {
		if strings.HasPrefix(class, p) {
			return true
		}
	}
	return slices.Contains(kryoPrimitives[:], class) || strings.HasPrefix(class, unnamedScala)
}

const unnamedScala = "the Scala class with Kryo id "

// partition reads a KafkaTopicPartition that stands alone, up to end: what
// kryoValues reads, without its bookkeeping, as there may be many millions.
func (d *values) partition(end int) Value {
	at := d.off + 2 // class, reference
	for d.buf[at] >= 0x80 {
		at++ // cached hash
	}
	n, at := avroCount(d.buf, at+1)
	var room [64]byte
	topic := append(room[:0], d.buf[at+1:end]...) // behind its reference
	topic[len(topic)-1] &= 0x7f
	d.off, d.left.Values = end, d.left.Values-3
	return Value{Form: Fields, Shape: kafkaPartitionShape, Items: append(d.room(2), d.text(topic), integer(n>>1^-(n&1)))}
}

// kryoInt reads a signed number of Kryo: zigzag.
func (r *kryoValues) kryoInt(what string) int64 {
	v := r.kryoVarint(what)
	return int64(v>>1) ^ -int64(v&1)
}

// kryoVarint reads a number of at most 9 bytes; the ninth has 8 bits.
func (r *kryoValues) kryoVarint(what string) uint64 {
	var v uint64
	for shift := 0; shift < 56; shift += 7 {
		b := r.u8(what)
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	return v | uint64(r.u8(what))<<56
}

// length reads a varint number of parts of at least each bytes.
func (r *kryoValues) length(what string, each int) int {
	at := r.off
	v := r.kryoVarint(what)
	room := uint64(math.MaxInt32)
	if each > 0 {
		room = uint64((r.end-r.off)/each) + 1 // lengths are one too large
	}
	if r.ok() && v > room {
		r.fail(at, fmt.Sprintf("%s up to %d", what, room), strconv.FormatUint(v, 10), nil)
		return 0
	}
	return int(v)
}

// kstr reads a string of Kryo as modified UTF-8; false for null.
func (r *kryoValues) kstr(what string) (string, bool) {
	at := r.off
	c := r.u8(what)
	if !r.ok() {
		return "", false
	}
	if c < 0x80 {
		for r.ok() && c < 0x80 {
			c = r.u8(what)
		}
		if !r.ok() {
			return "", false
		}
		return string(r.buf[at:r.off-1]) + string(rune(c&0x7f)), true
	}
	n := uint64(c & 0x3f)
	if c&0x40 != 0 {
		n |= r.kryoVarint(what+" length") << 6
	}
	if n <= 1 {
		return "", n == 1
	}
	if n--; n > uint64(r.end-r.off) {
		r.fail(at, fmt.Sprintf("%s length up to %d", what, r.end-r.off), strconv.FormatUint(n, 10), nil)
		return "", false
	}
	at = r.off
	for i := uint64(0); i < n && r.ok(); i++ {
		switch c := r.u8(what); c >> 4 {
		case 12, 13:
			r.take(1, what)
		case 14:
			r.take(2, what)
		}
	}
	if !r.ok() {
		return "", false
	}
	return string(r.buf[at:r.off]), true
}

// kryoText reads a string as a value.
func (r *kryoValues) kryoText() Value {
	s, ok := r.kstr("string")
	if !ok {
		return nullValue
	}
	return r.text([]byte(decoder.Text(s)))
}

// classOf reads a tag: the class of what follows, false for null. The error of a
// class that is not known says what is known of it.
func (r *kryoValues) classOf() (class string, ok bool) {
	at := r.off
	tag := r.length("Kryo class tag", 0)
	switch {
	case !r.ok() || tag == 0:
		return "", false
	case r.k.ids > 0 && tag-2 >= r.k.ids:
		r.fail(at, fmt.Sprintf("Kryo class id below %d", r.k.ids), strconv.Itoa(tag-2), nil)
		return "", false
	case tag > 1:
		if class = r.k.class(tag - 2); class == "" {
			class = "the class with Kryo id " + strconv.Itoa(tag-2)
			if id := tag - 2; id >= firstScala && id < firstChill {
				class = unnamedScala + strconv.Itoa(id)
			}
		}
		return class, true
	}
	n := r.length("number of a class name", 0)
	switch {
	case !r.ok():
		return "", false
	case n < len(r.names):
		return r.names[n], true
	case n > len(r.names):
		r.fail(at, fmt.Sprintf("number of a class name up to %d", len(r.names)), strconv.Itoa(n), nil)
		return "", false
	}
	name, _ := r.kstr("class name")
	r.names = append(r.names, name)
	return name, r.ok()
}

// classAndObject reads a value behind its class.
func (r *kryoValues) classAndObject() Value {
	class, ok := r.classOf()
	if !ok {
		return r.noClass()
	}
	return r.object(class)
}

// noClass is null, or nothing after a failure.
func (r *kryoValues) noClass() Value {
	if !r.ok() {
		return Value{}
	}
	r.left.Values--
	return nullValue
}

// object reads a value of a class that is known, behind its reference where the
// class has any.
func (r *kryoValues) object(class string) Value {
	if r.depth++; r.depth > maxValueDepth {
		r.fail(r.off, fmt.Sprintf("at most %d values in one another", maxValueDepth), "more", nil)
		return Value{}
	}
	defer func() { r.depth-- }()
	if v, ok := r.primitive(class); ok {
		return r.checked(v)
	}
	switch id := r.length("Kryo reference", 0); {
	case !r.ok():
		return Value{}
	case id == 0 && r.depth == 1:
		r.fail(r.off-1, "a new object", "null behind its class", nil)
		return Value{}
	case id == 0:
		return nullValue
	case id > 1:
		return r.again(id - 2)
	}
	n := len(r.refs)
	r.refs = append(r.refs, kryoRef{})
	before := r.left.Values
	v := r.content(class)
	r.refs[n] = kryoRef{v, before - r.left.Values, true}
	return v
}

// again is an object that was read before.
func (r *kryoValues) again(n int) Value {
	if n >= len(r.refs) {
		r.fail(r.off, fmt.Sprintf("reference to one of %d objects", len(r.refs)), strconv.Itoa(n), nil)
		return Value{}
	}
	ref := r.refs[n]
	if !ref.done {
		return r.opaque(nil, "the object around it again")
	}
	if ref.size > r.left.Values {
		return r.opaque(nil, "object "+strconv.Itoa(n)+" again")
	}
	r.left.Values -= ref.size
	return ref.v
}

// fixed reads a number of n bytes, sign-extended: big-endian in Kryo 2,
// little-endian in Kryo 5.
func (r *kryoValues) fixed(n int, what string) int64 {
	if !r.k.kryo5 {
		return r.big(n, what)
	}
	p := r.take(n, what)
	if p == nil {
		return 0
	}
	v := int64(int8(p[n-1]))
	for i := n - 2; i >= 0; i-- {
		v = v<<8 | int64(p[i])
	}
	return v
}

// primitive reads values without references; false for other classes.
func (r *kryoValues) primitive(class string) (Value, bool) {
	r.left.Values--
	switch class {
	case "int", "java.lang.Integer", "long", "java.lang.Long":
		return integer(r.kryoInt("number")), true
	case "short", "java.lang.Short":
		return integer(r.fixed(2, "short")), true
	case "byte", "java.lang.Byte":
		return integer(r.big(1, "byte")), true
	case "boolean", "java.lang.Boolean":
		return boolValue(r.bool("boolean")), true
	case "char", "java.lang.Character":
		return textValue(string(appendUTF16(nil, []uint16{uint16(r.fixed(2, "char"))}))), true
	case "float", "java.lang.Float":
		return Value{Form: Real32, N: int64(uint32(r.fixed(4, "float")))}, true
	case "double", "java.lang.Double":
		return Value{Form: Real64, N: r.fixed(8, "double")}, true
	}
	r.left.Values++
	return Value{}, false
}

// content reads what a serializer writes for a class. A class without a known
// layout is an opaque rest.
func (r *kryoValues) content(class string) Value {
	if class == kafkaPartition && !r.k.own[class] {
		r.kryoInt("cached hash")
		partition := integer(r.kryoInt("partition"))
		topic := r.object("java.lang.String")
		return r.checked(Value{Form: Fields, Shape: kafkaPartitionShape, Items: []Value{topic, partition}})
	}
	if class != "java.lang.String" && (r.k.own[class] || r.k.javaOwn) {
		return r.noLayout("Kryo wrote " + class + " with a serializer of the job")
	}
	if v, ok := r.single(class); ok {
		return r.checked(v)
	}
	if v, ok := r.arrays(class); ok {
		return v
	}
	if v, ok := r.collections(class); ok {
		return v
	}
	if p := r.buf[r.off:r.end]; len(p) > 4 && string(p[:4]) == "\xac\xed\x00\x05" {
		return r.java()
	}
	return r.fieldSerializer(class)
}

// fieldSerializer is an object of which only the texts can be told.
func (r *kryoValues) fieldSerializer(class string) Value {
	why := "Kryo wrote the fields of " + class + " without their names and types"
	if r.left.Bytes <= 0 {
		return r.noLayout(why) // only its end is looked for
	}
	if texts := kryoTexts(r.buf[r.off:r.end]); texts != "" {
		why += "; texts in it: " + texts
	}
	return r.noLayout(why)
}

// kryoTexts finds strings of ASCII in the bytes of an object: at least four
// characters, the last with 80 set.
func kryoTexts(p []byte) string {
	const most, longest = 5, 40
	var found []string
	start := -1
	for i, c := range p[:min(len(p), 4096)] {
		switch plain := c&0x7f >= ' ' && c&0x7f < 0x7f; {
		case plain && c < 0x80:
			if start < 0 {
				start = i
			}
			continue
		case plain && start >= 0 && i-start >= 3:
			text := string(p[start:i]) + string(c&0x7f)
			if len(text) > longest {
				text = text[:longest] + "…"
			}
			found = append(found, strconv.Quote(text))
		}
		start = -1
		if len(found) == most {
			break
		}
	}
	return strings.Join(found, ", ")
}
