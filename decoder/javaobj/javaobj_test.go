package javaobj

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder"
)

// fixtures are written by testdata/Streams.java.
var fixtures = []string{"everything.ser", "exception.ser", "annotated.ser", "shared.ser", "deep.ser", "kinds.ser"}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// haFiles gives the objects and pointers of high availability in the corpus.
func haFiles(t testing.TB) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(corpus.Dir(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := d.Name()
		if strings.HasPrefix(name, "completedCheckpoint") || strings.HasPrefix(name, "submitted") ||
			name == "zk-node-data" || name == "k8s-entry-data" || strings.Contains(name, ".checkpoints.") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func write(t testing.TB, s io.WriterTo) []byte {
	t.Helper()
	var out bytes.Buffer
	n, err := s.WriteTo(&out)
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(out.Len()) {
		t.Fatalf("WriteTo says %d bytes, wrote %d", n, out.Len())
	}
	return out.Bytes()
}

func open(t testing.TB, b []byte) *Stream {
	t.Helper()
	s, err := Open(decoder.Bytes{Data: b, Label: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Span.Len != int64(len(b)) {
		t.Fatalf("read %d of %d bytes", s.Span.Len, len(b))
	}
	return s
}

func TestRoundTrip(t *testing.T) {
	for _, name := range fixtures {
		b := fixture(t, name)
		if s := open(t, b); !bytes.Equal(write(t, s), b) {
			t.Errorf("%s: written again it is not the same", name)
		}
	}
}

func TestRoundTripCorpus(t *testing.T) {
	files := haFiles(t)
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, n, err := Parse(b)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if n != len(b) || !bytes.Equal(write(t, s), b) {
			t.Errorf("%s: written again it is not the same", path)
		}
	}
	t.Logf("%d files", len(files))
	if len(files) < 25 {
		t.Errorf("only %d files", len(files))
	}
}

// TestFromFile reads through the cursor's window instead of from memory.
func TestFromFile(t *testing.T) {
	b := fixture(t, "everything.ser")
	in := decoder.Section(decoder.Bytes{Data: append([]byte("in front"), b...)}, decoder.Span{Off: 8, Len: int64(len(b))}, "section")
	s, err := Open(in)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(write(t, s), b) {
		t.Error("written again it is not the same")
	}
}

func TestParseStopsBehindOneObject(t *testing.T) {
	b := fixture(t, "shared.ser")
	s, n, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if got := write(t, s); !bytes.Equal(got, b[:n]) || n >= len(b) {
		t.Errorf("the first of three contents takes %d of %d bytes, written again %d", n, len(b), len(got))
	}
	if len(s.Top()) != 1 || !s.Root().Is("java.util.HashMap") {
		t.Errorf("%d contents, the first a %s", len(s.Top()), s.Root().Class().Name)
	}
}

// value finds a key of the map in everything.ser.
func value(t *testing.T, m Node, key string) Node {
	t.Helper()
	entries, ok := m.Entries()
	if !ok {
		t.Fatalf("%s is no map", m.Class().Name)
	}
	for k, v := range entries {
		if text, _ := k.Node.Text(); text == key {
			return v.Node
		}
	}
	t.Fatalf("no key %s", key)
	return Node{}
}

func everything(t *testing.T) Node {
	t.Helper()
	for _, n := range open(t, fixture(t, "everything.ser")).Top() {
		if n.Is("java.util.LinkedHashMap") {
			return n
		}
	}
	t.Fatal("no map in everything.ser")
	return Node{}
}

func TestFields(t *testing.T) {
	m := everything(t)
	d := value(t, m, "derived")
	for _, c := range []struct {
		field string
		want  int64
	}{
		{"number", 1 << 40}, // the lower class's
		{"small", -2}, {"tiny", -1}, {"letter", 'x'}, {"yes", 1},
		{"half", 0x3f000000}, {"third", 0x3fd5555555555555},
	} {
		if got, ok := d.Int(c.field); !ok || got != c.want {
			t.Errorf("%s is %d, %t; want %d", c.field, got, ok, c.want)
		}
	}
	if text, ok := d.Field("text").Text(); !ok || text != "base" {
		t.Errorf("text of the super class is %q", text)
	}
	if d.Field("self") != d {
		t.Error("the object does not refer to itself")
	}
	if name, _ := d.Field("color").Text(); name != "GREEN" || d.Field("color").Kind() != Enum {
		t.Errorf("color is %s %q", d.Field("color").Kind(), name)
	}
	raw, err := decoder.ReadSpan(d.s.In, d.Field("raw").Body(), 10)
	if err != nil || !bytes.Equal(raw, []byte{1, 2, 3}) {
		t.Errorf("raw is %v, %v", raw, err)
	}
	if d.Field("nothing").Kind() != Missing || d.Field("number").Kind() != Missing || d.Field("nothing").Field("more").Kind() != Missing {
		t.Error("an absent field is there")
	}
	if _, ok := d.Int("text"); ok {
		t.Error("an object field has an Int")
	}
	if !d.Has("text") || d.Has("nothing") {
		t.Error("Has is wrong")
	}
	if c := value(t, m, "custom"); c.Field("shared") != value(t, m, "shared") {
		t.Error("a shared object is not the same node")
	}
	if value(t, m, "null").Kind() != Null {
		t.Error("null is not null")
	}
	if hi, lo, ok := value(t, m, "uuid").UUID(); !ok || hi != 1 || lo != 2 {
		t.Errorf("UUID %d %d", hi, lo)
	}
	if n := value(t, m, "longstring"); n.Len() != 7000*10 || n.Body().Len != 70000 {
		t.Errorf("a long string of %d bytes, body %v", n.Len(), n.Body())
	}
	if v := value(t, m, "class"); v.Kind() != ClassObject || v.Class().Name != "java.lang.String" {
		t.Errorf("a class is %s %s", v.Kind(), v.Class().Name)
	}
	if p := value(t, m, "proxy"); !p.Class().Proxy || strings.Join(p.Class().Interfaces, " ") != "java.lang.Runnable java.lang.Comparable" || !p.Field("h").Is("Streams$Handler") {
		t.Errorf("proxy class %+v", p.Class())
	}
	for n := range value(t, m, "external").Annotation("Streams$External") {
		if text, ok := n.Text(); ok && text != "external" {
			t.Errorf("external data holds %q", text)
		}
	}
}

func TestPlace(t *testing.T) {
	m := everything(t)
	d := value(t, m, "derived")
	color, again := d.Place("color"), value(t, m, "enum2")
	if color.Node != d.Field("color") || color.Node != again || color.Span.Len != 5 {
		t.Errorf("a reference to an enum constant is placed at %v", color.Span)
	}
	raw := d.Place("raw")
	if raw.Node != d.Field("raw") || raw.Span != raw.Node.Span() {
		t.Errorf("an array that stands at %v is placed at %v", raw.Node.Span(), raw.Span)
	}
	if text := d.Place("text"); text.Node != d.Field("text") || text.Span.Off < d.Span().Off {
		t.Errorf("the super class's field is placed at %v", text.Span)
	}
	if d.Place("number").Node.Kind() != Missing || d.Place("none").Node.Kind() != Missing {
		t.Error("what is no object field has a place")
	}
}

func TestNoFields(t *testing.T) {
	m := everything(t)
	c := value(t, m, "nofields").Class()
	if !c.NoFields || value(t, m, "custom").Class().NoFields {
		t.Error("which classes wrote their field values was guessed wrongly")
	}
	if _, ok := value(t, m, "nofields").Int("hidden"); ok {
		t.Error("a field value that was not written is there")
	}
	var texts []string
	for n := range value(t, m, "nofields2").Annotation("Streams$NoFields") {
		if text, ok := n.Text(); ok {
			texts = append(texts, text)
		}
	}
	if strings.Join(texts, " ") != "other" {
		t.Errorf("its own data are %q", texts)
	}
}

func TestCollections(t *testing.T) {
	m := everything(t)
	list := func(key string) string {
		seq, ok := value(t, m, key).Elements()
		if !ok {
			return "not a collection"
		}
		var out []string
		for e := range seq {
			text, isText := e.Node.Text()
			if n, ok := e.Node.Number(); ok {
				text = string(rune('0' + n))
			} else if !isText {
				text = e.Node.Kind().String()
			}
			out = append(out, text)
		}
		return strings.Join(out, " ")
	}
	for key, want := range map[string]string{
		"linkedlist": "1 2 3", "deque": "1 2", "treeset": "x y", "unmodifiablelist": "u", "singleton": "one",
		"empty": "", "aslist": "1 2", "immutable": "i1 i2 i3", "hashmap": "not a collection", "uuid": "not a collection",
	} {
		if got := list(key); got != want {
			t.Errorf("%s has %q, want %q", key, got, want)
		}
	}
	if got := list("hashset"); got != "x y" && got != "y x" {
		t.Errorf("hashset has %q", got)
	}
	for key, size := range map[string]int{"hashmap": 3, "list": 9, "treemap": 1, "linkedlist": 3, "hashset": 2, "unmodifiable": 1, "empty": -1, "uuid": -1} {
		if got := value(t, m, key).Size(); got != size {
			t.Errorf("%s has size %d, want %d", key, got, size)
		}
	}
	for key, want := range map[string]string{"unmodifiable": "u", "treemap": "t", "singletonmap": "key", "immutablemap": "i"} {
		entries, ok := value(t, m, key).Entries()
		if !ok {
			t.Errorf("%s is no map", key)
			continue
		}
		for k := range entries {
			if text, _ := k.Node.Text(); text != want {
				t.Errorf("%s has key %q", key, text)
			}
		}
	}
}

// TestKidsFillTheirNode: what Placed says adds up to the bytes of the node.
func TestKidsFillTheirNode(t *testing.T) {
	for _, name := range fixtures {
		s := open(t, fixture(t, name))
		for n := range s.Nodes() {
			if k := n.Kind(); k != Object && k != Enum && k != Array || n.Cut() {
				continue
			}
			size := n.dataStart() - n.Span().Off + n.Body().Len
			for p := range n.Kids() {
				if k := p.Node.Span(); k.Off == p.Span.Off && k != p.Span {
					t.Fatalf("%s: a kid at %v stands at %v", name, k, p.Span)
				}
				size += p.Span.Len
			}
			if n.Kind() == Object {
				size += int64(len(n.prims()))
			}
			for _, k := range n.get().kidSpan(s) {
				if k == endMark {
					size++
				}
			}
			if size != n.Span().Len {
				t.Fatalf("%s: %s at %v: its parts have %d bytes", name, n.Class().Name, n.Span(), size)
			}
		}
	}
}

func TestException(t *testing.T) {
	s := open(t, fixture(t, "exception.ser"))
	top := s.Top()
	if len(top) != 4 {
		t.Fatalf("%d contents, want 4", len(top))
	}
	if !top[1].Cut() || !top[1].Is("java.util.ArrayList") || top[1].Size() != 3 {
		t.Errorf("the list that failed is %s, cut %t", top[1].Kind(), top[1].Cut())
	}
	var elements []Node
	seq, _ := top[1].Elements()
	for e := range seq {
		elements = append(elements, e.Node)
	}
	if len(elements) != 2 || !elements[1].Is("Streams$Broken") || elements[1].Field("inside").Len() != 2 {
		t.Errorf("of the list that failed %d elements are there", len(elements))
	}
	if x := elements[1].Field("inside").Elem(1); x.Kind() != Exception || !x.Thrown().Is("java.io.NotSerializableException") {
		t.Errorf("the exception is %s", x.Kind())
	}
	if top[2] == top[0] || !top[3].Is("Streams$Base") {
		t.Error("handles were not forgotten")
	}
}

func TestAnnotatedClasses(t *testing.T) {
	s := open(t, fixture(t, "annotated.ser"))
	if v, ok := s.Root().Int("number"); !ok || v != 1<<40 || s.Root().Is("Streams$Other") || !s.Root().Is("Streams$Base") {
		t.Errorf("number is %d", v)
	}
}

func TestErrors(t *testing.T) {
	head := "\xac\xed\x00\x05"
	desc := "\x72\x00\x01A\x00\x00\x00\x00\x00\x00\x00\x01"
	for _, c := range []struct{ name, stream, expected, found string }{
		{"empty", "", "magic", "end after 0 bytes"},
		{"magic", "\xac\xed\x00\x04\x70", "AC ED 00 05", "AC ED 00 04"},
		{"tag", head + "\x6f", "object", "type tag 0x6F"},
		{"end mark", head + "\x78", "object", "end of an annotation"},
		{"reference to nothing", head + "\x71\x00\x7e\x00\x00", "one of 0 handles", "handle 0"},
		{"negative reference", head + "\x71\x00\x00\x00\x00", "one of 0 handles", "handle -8257536"},
		{"reset inside", head + "\x73" + desc + "\x02\x00\x01L\x00\x01f\x74\x00\x01A\x78\x70\x79", "object", "reset"},
		{"block as a field", head + "\x73" + desc + "\x02\x00\x01L\x00\x01f\x74\x00\x01A\x78\x70\x77\x00", "object", "block data"},
		{"object of null", head + "\x73\x70", "class", "null"},
		{"object of a string", head + "\x73\x74\x00\x00", "class", "string"},
		{"its own super class", head + desc + "\x02\x00\x00\x78\x71\x00\x7e\x00\x00", "super class", "not complete"},
		{"object of its own descriptor", head + desc + "\x02\x00\x00\x73\x71\x00\x7e\x00\x00", "class", "not complete"},
		{"field type", head + desc + "\x02\x00\x01X\x00\x01f", "field type", "0x58"},
		{"type of a field", head + desc + "\x02\x00\x01L\x00\x01f\x70", "type of field f", "null"},
		{"both kinds", head + desc + "\x06", "class flags", "0x06"},
		{"external of version 1", head + "\x73" + desc + "\x04\x00\x00\x78\x70", "block mode", "protocol version 1"},
		{"array of no array class", head + "\x75" + desc + "\x02\x00\x00\x78\x70", "array class", "A"},
		{"long array", head + "\x75\x72\x00\x02[J\x00\x00\x00\x00\x00\x00\x00\x01\x02\x00\x00\x78\x70\x7f\xff\xff\xff", "array length", "2147483647"},
		{"negative array", head + "\x75\x72\x00\x02[L\x00\x00\x00\x00\x00\x00\x00\x01\x02\x00\x00\x78\x70\xff\xff\xff\xff", "array length", "-1"},
		{"long string", head + "\x7c\x7f\xff\xff\xff\xff\xff\xff\xff", "string", "end after 0"},
		{"negative string", head + "\x7c\xff\xff\xff\xff\xff\xff\xff\xff", "string", "end after 0"},
		{"enum without name", head + "\x7e" + desc + "\x12\x00\x00\x78\x70\x70", "name of an enum constant", "null"},
	} {
		_, _, err := Parse([]byte(c.stream))
		var e *decoder.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !strings.Contains(e.Expected, c.expected) || !strings.Contains(e.Found, c.found) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestErrorPath(t *testing.T) {
	b := fixture(t, "shared.ser")
	at := bytes.Index(b, []byte("in b")) - 3
	b[at] = 0x60
	_, _, err := Parse(b)
	var e *decoder.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	if want := "HashMap / element 4 / [Ljava.lang.Object; / element 2"; e.Path != want && !strings.HasSuffix(e.Path, "element 2") || e.Offset != int64(at) {
		t.Errorf("offset %d, path %q; want %d, %q", e.Offset, e.Path, at, want)
	}
}

// TestPartial: a damaged stream shows what came before the damage.
func TestPartial(t *testing.T) {
	b := fixture(t, "everything.ser")
	at := bytes.Index(b, []byte("longstring"))
	s, err := Open(decoder.Bytes{Data: b[:at]})
	if err == nil || s.Damage == nil {
		t.Fatal("no error for a cut stream")
	}
	var m Node
	for _, n := range s.Top() {
		if n.Is("java.util.LinkedHashMap") {
			m = n
		}
	}
	if !m.Cut() || m.Size() != 35 {
		t.Errorf("the map: cut %t, says it has %d", m.Cut(), m.Size())
	}
	if _, _, ok := value(t, m, "uuid").UUID(); !ok {
		t.Error("what stands before the damage is not there")
	}
	if _, err := s.WriteTo(io.Discard); err == nil {
		t.Error("a damaged stream was written")
	}
}

func TestTruncatedEverywhere(t *testing.T) {
	for _, name := range []string{"shared.ser", "exception.ser", "annotated.ser", "kinds.ser"} {
		b := fixture(t, name)
		s := open(t, b)
		at := int64(4)
		ends := map[int64]bool{at: true}
		for _, n := range s.Top() {
			at = n.placeOf(n.id, at).End()
			ends[at] = true
		}
		for i := range b {
			s, err := Open(decoder.Bytes{Data: b[:i:i]})
			if (err == nil) != ends[int64(i)] && i > 0 {
				t.Fatalf("%s cut at %d: %v", name, i, err)
			}
			walk(s)
		}
	}
}

// walk calls every accessor on every node.
func walk(s *Stream) (n int) {
	for node := range s.Nodes() {
		for p := range node.Kids() {
			n += int(p.Span.Len)
		}
		if c := node.Class(); c != nil {
			for ; c != nil; c = c.Super {
				for _, f := range c.Fields {
					v, _ := node.Int(f.Name)
					n += int(v) + node.Field(f.Name).Len() + int(node.Place(f.Name).Span.Len)
				}
				for k := range node.Annotation(c.Name) {
					n += k.Len()
				}
			}
		}
		if seq, ok := node.Elements(); ok {
			for e := range seq {
				n += e.Node.Len() + int(e.Span.Len)
			}
		}
		if seq, ok := node.Entries(); ok {
			for k, v := range seq {
				n += k.Node.Len() + v.Node.Len()
			}
		}
		text, _ := node.Text()
		block, _ := node.Block()
		n += len(text) + len(block) + node.Size() + int(node.Body().Len)
	}
	return n
}

func TestFlippedBits(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for _, name := range []string{"shared.ser", "everything.ser", "exception.ser"} {
		orig := fixture(t, name)
		for range 600 {
			b := bytes.Clone(orig)
			for range 1 + rng.Intn(3) {
				b[rng.Intn(len(b))] ^= 1 << rng.Intn(8)
			}
			check(t, b)
		}
	}
}

// check reads any bytes: no panic, and what is read is written as it was.
func check(t *testing.T, b []byte) {
	s, err := Open(decoder.Bytes{Data: b})
	walk(s)
	if err != nil {
		if e, ok := err.(*decoder.Error); !ok || e.Offset < 0 || e.Offset > int64(len(b)) {
			t.Fatalf("error %v", err)
		}
		return
	}
	if got := write(t, s); !bytes.Equal(got, b) {
		t.Fatalf("read without an error, but written again it differs")
	}
}

// namedByItself is an enum constant whose name is a reference to the constant.
const namedByItself = "\xac\xed\x00\x05\x7e\x72\x00\x01E\x00\x00\x00\x00\x00\x00\x00\x00\x12\x00\x00\x78\x70\x71\x00\x7e\x00\x01"

func TestNamedByItself(t *testing.T) {
	s, err := Open(decoder.Bytes{Data: []byte(namedByItself)})
	if err == nil {
		t.Error("an enum constant that has no name is read")
	}
	if text, ok := s.Root().Text(); s.Root().Kind() != Enum || ok {
		t.Errorf("%v, its name is %q", s.Root().Kind(), text)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"kinds.ser", "shared.ser", "annotated.ser", "exception.ser"} { // the small ones
		f.Add(fixture(f, name))
	}
	f.Add([]byte("\xac\xed\x00\x05\x70"))
	f.Add([]byte(namedByItself))
	f.Fuzz(func(t *testing.T, b []byte) {
		check(t, b)
		Parse(b)
	})
}

func TestLimits(t *testing.T) {
	defer func(n int64) { budgetBase = n }(budgetBase)
	budgetBase = 1 << 18
	head := "\xac\xed\x00\x05"
	// an array class whose elements are arrays of one element ...
	class := "\x75\x72\x00\x02[L\x00\x00\x00\x00\x00\x00\x00\x01\x02\x00\x00\x78\x70\x00\x00\x00\x01"
	again := "\x75\x71\x00\x7e\x00\x00\x00\x00\x00\x01"
	for _, c := range []struct{ name, stream, found string }{
		{"depth", head + class + strings.Repeat(again, maxDepth) + "\x70", "levels"},
		{"descriptors in descriptors", head + strings.Repeat("\x72\x00\x01A\x00\x00\x00\x00\x00\x00\x00\x01\x02\x00\x00", maxDepth+1), "levels"},
		{"super classes", head + strings.Repeat("\x72\x00\x01A\x00\x00\x00\x00\x00\x00\x00\x01\x02\x00\x00\x78", maxHierarchy+1) + "\x70", "more"},
		{"classes", head + strings.Repeat("\x72\x00\x01A\x00\x00\x00\x00\x00\x00\x00\x01\x02\x00\x00\x78\x70", maxClasses+1), "more than 32768"},
		{"objects", head + strings.Repeat("\x77\x00", 60_000), "memory"},
		{"references", head + "\x75\x72\x00\x02[L\x00\x00\x00\x00\x00\x00\x00\x01\x02\x00\x00\x78\x70\x00\x10\x00\x00" + strings.Repeat("\x70", 1<<20), "memory"},
	} {
		s, err := Open(decoder.Bytes{Data: []byte(c.stream)})
		if e, ok := err.(*decoder.Error); !ok || !strings.Contains(e.Found, c.found) {
			t.Errorf("%s: %.200v", c.name, err)
		}
		if s.Damage == nil || len(s.Damage.Path) > 4000 {
			t.Errorf("%s: a path of %d bytes", c.name, len(s.Damage.Path))
		}
	}
}

// failing gives an I/O error from some offset on.
type failing struct {
	decoder.Bytes
	from int64
}

var errDisk = errors.New("disk gone")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return f.Bytes.ReadAt(p, off)
}

func TestInputFails(t *testing.T) {
	b := fixture(t, "everything.ser")
	s, err := Open(failing{decoder.Bytes{Data: b}, 40000})
	if !errors.Is(err, errDisk) || s.Damage == nil {
		t.Errorf("error %v", err)
	}
}

// java runs testdata/Streams.java, or skips.
func java(t *testing.T, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs Java")
	}
	path, err := exec.LookPath("java")
	if err != nil {
		t.Skip("needs Java 17:", err)
	}
	out, err := exec.Command(path, append([]string{filepath.Join("testdata", "Streams.java")}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}
