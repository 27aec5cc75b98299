// Package corpus finds the files of real Flink that tests read: the fixtures in
// the repository, and the corpus beside it, where it is there.
package corpus

import (
	"os"
	"path/filepath"
	"testing"
)

// Repository is the directory of the go.mod above the package under test.
func Repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for !exists(filepath.Join(dir, "go.mod")) {
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the package")
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// Find is shared/corpus beside the repository, or "" where that is missing.
func Find(t testing.TB) string {
	t.Helper()
	// A worktree of the repository may lie one folder deeper.
	for _, p := range []string{"../shared/corpus", "../../shared/corpus"} {
		if p = filepath.Join(Repository(t), p); exists(p) {
			return p
		}
	}
	return ""
}

// Dir is Find; the test is skipped where the corpus is missing.
func Dir(t testing.TB) string {
	t.Helper()
	dir := Find(t)
	if dir == "" {
		t.Skip("no corpus of real files beside the repository (../shared/corpus)")
	}
	return dir
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
