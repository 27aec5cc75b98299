package ha

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t testing.TB, name string, b []byte) *Checkpoint {
	t.Helper()
	c, err := Decode(decoder.Bytes{Data: b, Label: name})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c
}

// accounted checks that the spans of the structures lie inside each other and
// fill the file.
func accounted(t testing.TB, name string, c *metadata.Checkpoint) {
	t.Helper()
	at := c.Header.End()
	for i := range c.Operators {
		o := &c.Operators[i]
		if o.Span.Off != at || o.InlineBytes > o.Span.Len {
			t.Errorf("%s: operator %d at %v after %d, inline %d", name, i, o.Span, at, o.InlineBytes)
		}
		at = o.Span.End()
		inside, inline := o.Span.Off, int64(0)
		for k := range o.Subtasks {
			s := &o.Subtasks[k]
			if s.Span.Off < inside || s.Span.End() > at || s.InlineBytes > s.Span.Len {
				t.Errorf("%s: operator %d subtask %d at %v of %v, inline %d", name, i, s.Index, s.Span, o.Span, s.InlineBytes)
			}
			inside = s.Span.End()
			inline += s.InlineBytes
		}
		if inline > o.InlineBytes {
			t.Errorf("%s: operator %d has %d inline bytes, its subtasks %d", name, i, o.InlineBytes, inline)
		}
	}
	if c.Properties.Off != at || c.Trailing.Off != c.Properties.End() || c.Trailing.End() != c.In.Size() {
		t.Errorf("%s: properties %v, trailing %v of %d after %d", name, c.Properties, c.Trailing, c.In.Size(), at)
	}
}

// eachObject gives every object of the corpus.
func eachObject(t testing.TB, f func(name string, b []byte)) {
	t.Helper()
	root := corpus.Dir(t)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), "completedCheckpoint") {
			return err
		}
		name, _ := filepath.Rel(root, path)
		f(name, readFile(t, path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRealObjects compares every object of the corpus with the `_metadata`
// beside it.
func TestRealObjects(t *testing.T) {
	root := corpus.Dir(t)
	compared, objects := 0, 0
	eachObject(t, func(name string, b []byte) {
		path := filepath.Join(root, name)
		c := decode(t, name, b)
		objects++
		accounted(t, name, c.Meta)
		if c.ExternalPointer == "" || !c.Properties.Present || c.Properties.Kind != metadata.KindCheckpoint || c.CompletionTimestamp < c.Timestamp || c.MetadataHandle.Type == 0 {
			t.Errorf("%s: %+v", name, c)
		}
		meta := besides(root, path, c.ExternalPointer)
		if meta == "" {
			t.Errorf("%s: no _metadata for %s", name, c.ExternalPointer)
			return
		}
		b = readFile(t, meta)
		m, err := metadata.Decode(decoder.Bytes{Data: b, Label: meta})
		if err != nil {
			t.Fatal(err)
		}
		live := !strings.HasPrefix(name, "ha/") // made from an older `_metadata`
		if live {
			if c.MetadataHandle.Size != int64(len(b)) {
				t.Errorf("%s: its _metadata has %d bytes, not %d", name, len(b), c.MetadataHandle.Size)
			}
			if m.Version != c.Meta.Version && !(m.Version == 6 && c.Meta.Version == 5) {
				t.Errorf("%s: like version %d, its _metadata has %d", name, c.Meta.Version, m.Version)
			}
		}
		got, want := lines(t, c.Meta, !live), lines(t, m, !live)
		if !live { // the hook's state and the id were made up
			madeUp := func(l string) bool { return strings.HasPrefix(l, "master") || strings.HasPrefix(l, "checkpoint") }
			got, want = slices.DeleteFunc(got, madeUp), slices.DeleteFunc(want, madeUp)
		}
		same(t, name, got, want)
		compared++
	})
	t.Logf("%d objects, %d compared", objects, compared)
	if compared < 20 {
		t.Errorf("only %d objects were compared", compared)
	}
}

// besides finds the `_metadata` of an object in the corpus.
func besides(root, object, pointer string) string {
	last := pointer[strings.LastIndexByte(pointer, '/')+1:]
	dir := filepath.Dir(object)
	for range 4 {
		for _, pattern := range []string{"checkpoints/" + last, "checkpoints/*/" + last, "flink-savepoints/" + last} {
			if m, _ := filepath.Glob(filepath.Join(dir, pattern, "_metadata")); len(m) > 0 {
				return m[0]
			}
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

func TestPaths(t *testing.T) {
	for _, c := range []struct{ path, uri string }{
		{"file:/tmp/a", "file:/tmp/a"},
		{"s3://bucket/a b/%41#?x", "s3://bucket/a%20b/%2541%23%3Fx"},
		{"hdfs://host:8020/ä/[x]", "hdfs://host:8020/ä/%5Bx%5D"},
		{"s3://bucket", "s3://bucket"},
		{"/plain/path:x", "/plain/path:x"},
	} {
		if got := encodePath(c.path); got != c.uri {
			t.Errorf("encodePath(%q) = %q, want %q", c.path, got, c.uri)
		}
		if got := decodePath(c.uri); got != c.path {
			t.Errorf("decodePath(%q) = %q, want %q", c.uri, got, c.path)
		}
	}
	for uri, path := range map[string]string{"a%2": "a%2", "a%zz": "a%zz", "%c3%A4": "ä", "%F0%9F%98%80": "\xed\xa0\xbd\xed\xb8\x80"} {
		if got := decodePath(uri); got != path {
			t.Errorf("decodePath(%q) = %q, want %q", uri, got, path)
		}
	}
}
