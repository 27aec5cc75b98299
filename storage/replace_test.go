package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"chkscope/model/store"
)

func TestReplace(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	old, fresh := filepath.Join(dir, "object"), filepath.Join(dir, "fresh")
	for path, text := range map[string]string{old: "old", fresh: "new"} {
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(old, 0o604); err != nil {
		t.Fatal(err)
	}
	st := New(Options{Maps: store.Mappings{{From: "s3://bucket/ha", To: dir}}})
	if err := st.Replace(ctx, "s3://bucket/ha/fresh", "s3://bucket/ha/object"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(old); err != nil || string(b) != "new" {
		t.Errorf("%q, %v", b, err)
	}
	if i, err := os.Stat(old); err != nil || i.Mode().Perm() != 0o604 {
		t.Errorf("%v, %v", i.Mode(), err)
	}
	if _, err := os.Stat(fresh); !errors.Is(err, os.ErrNotExist) {
		t.Error("the new file has two names")
	}
	if err := st.Replace(ctx, fresh, old); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := st.CanReplace("s3://bucket/elsewhere"); !errors.Is(err, store.ErrCannotAsk) {
		t.Errorf("%v", err)
	}
	if err := New(Options{ReadOnly: true}).Replace(ctx, fresh, old); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("%v", err)
	}
}
