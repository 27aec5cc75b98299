package serde_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder/serde"
)

// TestValuesOfFlink decodes the value that Flink wrote with each built-in
// serializer and compares text and JSON with the golden file.
func TestValuesOfFlink(t *testing.T) {
	dirs, _ := filepath.Glob(filepath.Join(corpus.Dir(t), "serializer-snapshots/*"))
	var got strings.Builder
	decoded := 0
	for _, dir := range dirs {
		name := filepath.Base(dir)
		snapshot, err := os.ReadFile(filepath.Join(dir, "serializer-snapshot"))
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "test-data"))
		if err != nil {
			t.Fatal(err)
		}
		s := serde.NewReader(name, snapshot, 0).Proxy()
		v, left, err := serde.DecodeAll(s, data, serde.DefaultLimits)
		if err != nil || left != 0 {
			t.Errorf("%s: %d bytes left, %v", name, left, err)
		}
		if v.Decoded() {
			decoded++
			checkEnds(t, name, s, data)
		}
		fmt.Fprintf(&got, "%s: %q\n\t%s\n", name, v, v.AppendJSON(nil))
	}
	t.Logf("%d of %d values are decoded", decoded, len(dirs))
	golden(t, "testdata/values.golden", got.String())
}

// checkEnds decodes and skips data with something behind it, and cut.
func checkEnds(t *testing.T, name string, s *serde.Snapshot, data []byte) {
	t.Helper()
	more := append(data[:len(data):len(data)], 1, 2, 3)
	if _, n, err := serde.Decode(s, more); n != len(data) || err != nil {
		t.Errorf("%s: decoded %d of %d bytes, %v", name, n, len(data), err)
	}
	if n, err := serde.Skip(s, more); n != len(data) || err != nil {
		t.Errorf("%s: skipped %d of %d bytes, %v", name, n, len(data), err)
	}
	for cut := range data {
		if _, _, err := serde.Decode(s, data[:cut]); err == nil {
			t.Errorf("%s: decoded when cut to %d bytes", name, cut)
		}
		if _, err := serde.Skip(s, data[:cut]); err == nil {
			t.Errorf("%s: skipped when cut to %d bytes", name, cut)
		}
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("values differ from %s:\n%s", file, got)
	}
}
