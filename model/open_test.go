package model

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/decoder"
	"chkscope/model/store"
	"chkscope/storage"
)

// TestEmptyMetadata: a `_metadata` of 0 bytes, as a power loss leaves it, is no
// complete checkpoint: a parent directory gives the newest one before it.
func TestEmptyMetadata(t *testing.T) {
	st := storage.New(storage.Options{})
	job := t.TempDir()
	put := func(name string, b []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(job, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(job, name, MetadataName), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("chk-9", nil)
	uri := store.FileURI(job)
	var none *NotACheckpoint
	if _, _, err := Open(context.Background(), st, uri, Options{}); !errors.As(err, &none) || none.Incomplete != 1 {
		t.Errorf("only an empty one: %v", err)
	}
	whole, err := os.ReadFile("../conformance/testdata/incident/gen-3-files/checkpoint/" + MetadataName)
	if err != nil {
		t.Fatal(err)
	}
	put("chk-8", whole)
	s, _, err := Open(context.Background(), st, uri, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if store.Base(s.Dir) != "chk-8" || !strings.Contains(s.Chosen, "chk-9 is passed over, its _metadata is empty") {
		t.Errorf("opened %s: %s", s.Dir, s.Chosen)
	}
	var damage *decoder.Error
	if _, _, err := Open(context.Background(), st, store.Join(uri, "chk-9"), Options{}); !errors.As(err, &damage) || !strings.HasPrefix(damage.Found, "an empty file") {
		t.Errorf("the empty one itself: %v", err)
	}
}
