package metadata

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder"

	"github.com/ulikunitz/xz"
)

// corpusFiles gives the bytes of every `_metadata` of the corpus.
func corpusFiles(t testing.TB, f func(name string, data []byte)) {
	t.Helper()
	root := corpus.Dir(t)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := d.Name()
		isHandle := filepath.Base(filepath.Dir(p)) == "handles"
		if !isHandle && name != "_metadata" && name != "_metadata.xz" {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".xz") {
			r, err := xz.NewReader(bytes.NewReader(data))
			if err != nil {
				return err
			}
			if data, err = io.ReadAll(r); err != nil {
				return err
			}
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		f(rel, data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCorpus decodes every real file, encodes it again and accounts for its
// bytes.
func TestCorpus(t *testing.T) {
	files, uids, versions := 0, 0, map[int32]int{}
	corpusFiles(t, func(name string, data []byte) {
		files++
		c, err := Decode(decoder.Bytes{Data: data, Label: name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		versions[c.Version]++
		if c.Trailing.Len > 0 {
			t.Errorf("%s: %d trailing bytes", name, c.Trailing.Len)
		}
		checkRoundTrip(t, name, c, data)
		checkAccounts(t, name, c)
		for _, op := range c.Operators {
			if op.UID == "" || strings.HasPrefix(name, "handles") {
				continue // those of handles/ are made up
			}
			uids++
			if id := OperatorIDOf(decoder.Text(op.UID)); id != op.ID {
				t.Errorf("%s: uid %q gives id %s, the file says %s", name, op.UID, id, op.ID)
			}
		}
	})
	t.Logf("%d files, by version: %v; %d uids", files, versions, uids)
	if files < 300 {
		t.Errorf("only %d files found", files)
	}
}

func checkRoundTrip(t testing.TB, name string, c *Checkpoint, data []byte) {
	t.Helper()
	var out bytes.Buffer
	n, err := Encode(&out, c)
	if err != nil {
		t.Errorf("%s: encode: %v", name, err)
		return
	}
	if n != int64(out.Len()) {
		t.Errorf("%s: Encode says %d bytes, wrote %d", name, n, out.Len())
	}
	if !bytes.Equal(out.Bytes(), data) {
		t.Errorf("%s: encoded differently (%d bytes, were %d)", name, out.Len(), len(data))
	}
	if size, err := EncodedSize(c); err != nil || size != int64(len(data)) {
		t.Errorf("%s: EncodedSize %d, %v; want %d", name, size, err, len(data))
	}
}

// checkAccounts asserts that every byte belongs to exactly one top-level part,
// and that the parts of an operator and the inline bytes add up.
func checkAccounts(t testing.TB, name string, c *Checkpoint) {
	t.Helper()
	at := int64(0)
	next := func(what string, s decoder.Span) {
		if s.Off != at && s.Len > 0 {
			t.Errorf("%s: %s begins at %d, the part before it ends at %d", name, what, s.Off, at)
		}
		at += s.Len
	}
	next("header", c.Header)
	for i := range c.Operators {
		op := &c.Operators[i]
		next("operator", op.Span)
		checkOperator(t, name, c, i)
	}
	next("properties", c.Properties)
	next("trailing", c.Trailing)
	next("unread", c.Unread())
	if at != c.In.Size() {
		t.Errorf("%s: %d bytes accounted for, the file has %d", name, at, c.In.Size())
	}
}

func checkOperator(t testing.TB, name string, c *Checkpoint, i int) {
	t.Helper()
	op := &c.Operators[i]
	e := sizer(c.layout())
	head := *op
	head.Subtasks, head.SubtaskCount = nil, min(op.SubtaskCount, 0)
	e.operator(&head)
	at, inline := op.Span.Off+e.n, op.Coordinator.InlineBytes()
	for k := range op.Subtasks {
		s := &op.Subtasks[k]
		if s.Span.Off != at {
			t.Errorf("%s: operator %d, entry %d begins at %d, want %d", name, i, k, s.Span.Off, at)
		}
		at, inline = s.Span.End(), inline+s.InlineBytes
	}
	if c.Damage == nil && at != op.Span.End() {
		t.Errorf("%s: operator %d ends at %d, its last entry at %d", name, i, op.Span.End(), at)
	}
	if n, err := c.EncodedOperatorSize(i); c.Damage == nil && (err != nil || n != op.Span.Len) {
		t.Errorf("%s: operator %d: EncodedOperatorSize %d, %v, want %d", name, i, n, err, op.Span.Len)
	}
	seen := int64(0)
	if err := c.EachOperatorStream(i, func(u StreamUse) error { seen += u.Stream.InlineBytes(); return nil }); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if c.Damage == nil && (inline != op.InlineBytes || seen != inline) {
		t.Errorf("%s: operator %d: inline bytes %d, of its entries %d, of its streams %d", name, i, op.InlineBytes, inline, seen)
	}
}
