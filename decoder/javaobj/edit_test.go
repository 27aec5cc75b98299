package javaobj

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dropB removes what holds the first occurrence of most of the rest.
func dropB(t *testing.T, s *Stream, e *Edit) {
	t.Helper()
	gone, err := e.Filter(s.Root(), func(k, _ Node) bool {
		text, _ := k.Text()
		return text != "b"
	})
	if err != nil || gone != 1 {
		t.Fatalf("%d gone, %v", gone, err)
	}
}

func TestRemoveFirstOccurrence(t *testing.T) {
	s := open(t, fixture(t, "shared.ser"))
	e := s.Edit()
	dropB(t, s, e)
	if !e.Changed() || s.Edit().Changed() {
		t.Error("Changed is wrong")
	}
	got := open(t, write(t, e))
	m := got.Root()
	if m.Size() != 3 {
		t.Errorf("the map says it has %d", m.Size())
	}
	c := value(t, m, "c")
	if shared := got.Top()[1]; c.Elem(1) != shared || c.Elem(0) != shared.Field("next") || c.Elem(4).Field("shared") != shared {
		t.Error("shared objects are no longer shared")
	}
	if bytes.Contains(write(t, e), []byte("in b")) {
		t.Error("what was removed is still there")
	}
	if got, err := e.Size(); err != nil || got != int64(len(write(t, e))) {
		t.Errorf("Size %d, %v", got, err)
	}
	if !bytes.Equal(write(t, s), fixture(t, "shared.ser")) {
		t.Error("the edit changed the stream")
	}
}

func TestJavaReadsEdited(t *testing.T) {
	s := open(t, fixture(t, "shared.ser"))
	e := s.Edit()
	dropB(t, s, e)
	list := value(t, s.Root(), "d")
	if gone, err := e.Filter(list, func(k, _ Node) bool { text, _ := k.Text(); return text != "d1" }); gone != 1 || err != nil {
		t.Fatalf("%d gone, %v", gone, err)
	}
	shared := s.Top()[1]
	if err := e.SetContent(shared.Field("payload"), BytesContent([]byte{7, 8, 9})); err != nil {
		t.Fatal(err)
	}
	if err := e.SetInt(shared, "id", -5); err != nil {
		t.Fatal(err)
	}
	derived := value(t, s.Root(), "c").Elem(2)
	if err := e.Set(derived, "text", e.NewString("new text")); err != nil {
		t.Fatal(err)
	}
	link, err := e.NewObject(shared.Class())
	if err != nil {
		t.Fatal(err)
	}
	payload, err := e.NewArray(shared.Field("payload").Class(), BytesContent(make([]byte, 4)))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{e.SetInt(link, "id", 99), e.Set(link, "payload", payload), e.Set(shared, "next", link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if e.Get(shared, "next") != link || e.Get(link, "next").Kind() != Null {
		t.Error("Get does not give what was set")
	}
	file := filepath.Join(t.TempDir(), "edited.ser")
	if err := os.WriteFile(file, write(t, e), 0o600); err != nil {
		t.Fatal(err)
	}
	want := `keys [a, c, d], then end
d [d0, d2]
shared -5 [7, 8, 9], next 99 4
identity false true true
derived 1099511627776 new text, enum GREEN
left 0
`
	if got := java(t, "read", file); strings.ReplaceAll(got, "\r", "") != want {
		t.Errorf("Java read\n%s\nwant\n%s", got, want)
	}
}

func TestFilterKinds(t *testing.T) {
	m := everything(t)
	s := m.s
	for _, c := range []struct {
		key  string
		left int // -1: refused
	}{
		{"hashmap", 0}, {"list", 0}, {"linkedlist", 0}, {"deque", 0}, {"hashset", 0}, {"treeset", 0}, {"treemap", 0},
		{"arrays", 0}, {"singleton", -1}, {"concurrent", -1}, {"unmodifiable", -1}, {"uuid", -1}, {"longstring", -1},
	} {
		e := s.Edit()
		n := value(t, m, c.key)
		_, err := e.Filter(n, func(_, _ Node) bool { return false })
		if (err != nil) != (c.left < 0) {
			t.Errorf("%s: %v", c.key, err)
		}
		if err != nil {
			continue
		}
		again := open(t, write(t, e))
		for _, top := range again.Top() {
			if !top.Is("java.util.LinkedHashMap") {
				continue
			}
			if v := value(t, top, c.key); v.Kind() == Array && v.Len() != 0 || v.Kind() == Object && v.Size() != 0 {
				t.Errorf("%s: %d are left", c.key, v.Size())
			}
		}
	}
}

func TestNewCollectionAndSubclass(t *testing.T) {
	s := open(t, fixture(t, "shared.ser"))
	e := s.Edit()
	list := value(t, s.Root(), "d")
	empty, err := e.NewCollection(list)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.NewCollection(s.Top()[1]); err == nil {
		t.Error("an empty Link was made")
	}
	below, err := e.NewSubclass("Streams$Below", 9, s.Class("Streams$Custom"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := e.NewObject(below)
	if err != nil {
		t.Fatal(err)
	}
	custom := value(t, s.Root(), "c").Elem(4)
	for _, err := range []error{e.Set(n, "name", e.NewString("new")), e.Set(n, "shared", empty), e.Set(custom, "shared", n)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got := value(t, open(t, write(t, e)).Root(), "c").Elem(4).Field("shared")
	if got.Class().Name != "Streams$Below" || !got.Is("Streams$Custom") || got.Class().UID != 9 {
		t.Errorf("the new object is a %s", got.Class().Name)
	}
	if inner := got.Field("shared"); !inner.Is("java.util.ArrayList") || inner.Size() != 0 {
		t.Errorf("the empty list has %d elements", inner.Size())
	}
	if list.Size() != 3 || value(t, open(t, write(t, e)).Root(), "d").Size() != 3 {
		t.Error("the list that the empty one was made like has changed")
	}
}

func TestReplaceAndSetElements(t *testing.T) {
	s := open(t, fixture(t, "shared.ser"))
	e := s.Edit()
	shared, list := s.Top()[1], value(t, s.Root(), "d")
	link, err := e.NewObject(shared.Class())
	if err != nil {
		t.Fatal(err)
	}
	var elements []Node
	seq, _ := list.Elements()
	for p := range seq {
		elements = append(elements, p.Node)
	}
	for _, err := range []error{e.SetInt(link, "id", 99), e.Replace(shared, link), e.SetElements(list, append(elements[1:], elements[0], e.NewString("d3")))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got := open(t, write(t, e))
	c := value(t, got.Root(), "c")
	if id, _ := c.Elem(1).Int("id"); id != 99 || c.Elem(1) != got.Top()[1] || c.Elem(4).Field("shared") != c.Elem(1) {
		t.Errorf("the object that stands for another has id %d", id)
	}
	texts := ""
	seq, _ = value(t, got.Root(), "d").Elements()
	for p := range seq {
		text, _ := p.Node.Text()
		texts += text + " "
	}
	if texts != "d1 d2 d0 d3 " || value(t, got.Root(), "d").Size() != 4 {
		t.Errorf("the list has %s, says %d", texts, value(t, got.Root(), "d").Size())
	}
	if e.Replace(e.Null(), link) == nil || e.Replace(link, open(t, fixture(t, "kinds.ser")).Root()) == nil {
		t.Error("null or a foreign node was taken for a replacement")
	}
}

func TestEditRefuses(t *testing.T) {
	s := open(t, fixture(t, "shared.ser"))
	other := open(t, fixture(t, "annotated.ser"))
	e := s.Edit()
	shared := s.Top()[1]
	_, newErr := e.NewObject(other.Root().Class())
	_, arrErr := e.NewArray(s.Class("Streams$Link"), BytesContent(nil))
	_, fltErr := e.Filter(other.Root(), func(_, _ Node) bool { return false })
	for name, err := range map[string]error{
		"field of another type":   e.Set(shared, "id", shared),
		"no such field":           e.Set(shared, "none", shared),
		"value of another stream": e.Set(shared, "next", other.Root()),
		"node of another stream":  e.SetInt(other.Root(), "number", 1),
		"object as a primitive":   e.SetInt(shared, "next", 1),
		"content of an object":    e.SetContent(shared, BytesContent(nil)),
		"class of another stream": newErr,
		"array of no array class": arrErr,
		"filter of a foreign one": fltErr,
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	long := value(t, s.Root(), "c").Elem(1).Field("payload")
	if err := e.SetContent(long, Content{Len: 5, Write: func(w io.Writer) error { _, err := w.Write([]byte{1}); return err }}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.WriteTo(io.Discard); err == nil {
		t.Error("fewer bytes than announced were accepted")
	}
}
