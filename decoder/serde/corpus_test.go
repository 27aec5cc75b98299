package serde

import (
	"os"
	"path/filepath"
	"testing"
)

// corpus is the directory of real files beside the repository.
func corpus(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
	}
	for _, c := range []string{filepath.Join(dir, "../shared/corpus"), filepath.Join(dir, "../../shared/corpus")} {
		if _, err := os.Stat(c); err == nil {
			return c
		}
	}
	t.Skip("the corpus of real files is not beside the repository")
	return ""
}

func TestSerializerSnapshotsOfFlink(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpus(t), "serializer-snapshots/*/serializer-snapshot"))
	if len(files) < 100 {
		t.Fatalf("%d files", len(files))
	}
	for _, f := range files {
		buf, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(f))
		r := NewReader(name, buf, 0)
		s := r.Proxy()
		if r.Err() != nil {
			t.Errorf("%s: %v", name, r.Err())
			continue
		}
		if r.Left() != 0 {
			t.Errorf("%s: %d bytes left", name, r.Left())
		}
		t.Logf("%s: %s", name, notation(s))
	}
}
