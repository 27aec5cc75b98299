package serde_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/serde"
)

var update = flag.Bool("update", false, "write the golden files")

// TestSnapshotsOfFlink reads the snapshot of every built-in serializer as Flink
// wrote it and compares the types.
func TestSnapshotsOfFlink(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpus.Dir(t), "serializer-snapshots/*/serializer-snapshot"))
	var got strings.Builder
	for _, f := range files {
		buf, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(f))
		r := serde.NewReader(name, buf, 0)
		s := r.Proxy()
		if r.Err() != nil || r.Left() != 0 {
			t.Errorf("%s: %d bytes left, %v", name, r.Left(), r.Err())
			continue
		}
		fmt.Fprintf(&got, "%s: %s\n", name, realfiles.Notation(s))
		for cut := range buf {
			r := serde.NewReader(name, buf[:cut], 0)
			if r.Proxy(); r.Err() == nil {
				t.Errorf("%s cut to %d bytes: no error", name, cut)
			}
		}
	}
	golden := "testdata/snapshots.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("types differ from %s:\n%s", golden, got.String())
	}
}
