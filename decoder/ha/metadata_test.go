package ha

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// made gives the `_metadata` made of an object, decoded.
func made(t testing.TB, name string, c *Checkpoint) (*metadata.Checkpoint, []byte) {
	t.Helper()
	var b bytes.Buffer
	n, err := c.WriteMetadata(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%s: %d of %d bytes, %v", name, n, b.Len(), err)
	}
	m, err := metadata.Decode(decoder.Bytes{Data: b.Bytes(), Label: name})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m, b.Bytes()
}

// TestWriteMetadata: the `_metadata` made of an object has what the object has.
func TestWriteMetadata(t *testing.T) {
	for _, f := range fixtures {
		c := decode(t, f.object, fixture(t, f.object))
		m, b := made(t, f.object, c)
		same(t, f.object, lines(t, c.Meta, true), lines(t, m, true))
		if m.Version < 4 {
			continue
		}
		p, err := metadata.ParseProperties(b[m.Properties.Off:])
		p.Len = c.Properties.Len
		if err != nil || p != c.Properties {
			t.Errorf("%s: properties %+v, not %+v, %v", f.object, p, c.Properties, err)
		}
	}
}

// TestWriteMetadataOfRealObjects: it is what Flink wrote beside the object, byte
// for byte but for the version of 2.1.
func TestWriteMetadataOfRealObjects(t *testing.T) {
	root := corpus.Dir(t)
	compared := 0
	eachObject(t, func(name string, b []byte) {
		c := decode(t, name, b)
		path := besides(root, filepath.Join(root, name), c.ExternalPointer)
		if path == "" || strings.HasPrefix(name, "ha/") {
			return
		}
		compared++
		real := readFile(t, path)
		if _, b = made(t, name, c); c.Meta.Version == 5 {
			real[7] = 5
		}
		if !bytes.Equal(real, b) {
			t.Errorf("%s: %d bytes are not the %d of Flink", name, len(b), len(real))
		}
	})
	if compared == 0 {
		t.Error("nothing was compared")
	}
}
