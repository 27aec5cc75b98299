package finding

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/model"
	"chkscope/storage"
)

func open(t testing.TB, dir string, opt model.Options) (*model.Snapshot, *model.Tree) {
	t.Helper()
	s, tree, err := model.Open(context.Background(), storage.New(storage.Options{}), dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, tree
}

// TestHealthy: no warning on any healthy savepoint of Flink's own migration
// tests, but for what is known to be so in the file.
func TestHealthy(t *testing.T) {
	root := filepath.Join(corpus.Dir(t), "flink-savepoints")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != model.MetadataName {
			return err
		}
		for _, f := range find(t, filepath.Dir(p), model.Options{}) {
			if f.Severity >= Warn {
				t.Errorf("%s: %s %s: %s %v", strings.TrimPrefix(p, root), f.Rule, f.Selector(), f.Cause, f.Evidence)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
