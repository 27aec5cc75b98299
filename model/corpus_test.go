package model

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"chkscope/storage"
)

// corpus is the folder of real files, or the test is skipped.
func corpus(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../../shared/corpus")
	if err == nil {
		_, err = os.Stat(dir)
	}
	if err != nil {
		t.Skip("no corpus of real files beside the repository (../shared/corpus)")
	}
	return dir
}

// allMetadata gives the directories of every uncompressed `_metadata`.
func allMetadata(t testing.TB) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(corpus(t), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == MetadataName {
			out = append(out, filepath.Dir(p))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAccounting(t *testing.T) {
	st := storage.New(storage.Options{})
	for _, dir := range allMetadata(t) {
		s, tree, err := Open(context.Background(), st, dir, Options{})
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		sum := s.Meta.Header.Len + s.Meta.Properties.Len + s.Meta.Trailing.Len
		for op := range s.Meta.Operators {
			n := tree.OperatorNode(op)
			z := tree.Sizes(n)
			sum += z.Inline + z.Bookkeeping
			checkParts(t, tree, n, dir)
		}
		if sum != s.Meta.In.Size() {
			t.Errorf("%s: nodes sum up to %d bytes, the file has %d", dir, sum, s.Meta.In.Size())
		}
		s.Close()
	}
}

// checkParts: what is below an operator is not more than the operator.
func checkParts(t *testing.T, tree *Tree, op Node, dir string) {
	var in, book int64
	for _, c := range tree.Children(nil, op, TurnState) {
		z := tree.Sizes(c)
		in, book = in+max(z.Inline, 0), book+max(z.Bookkeeping, 0)
	}
	z := tree.Sizes(op)
	if in > z.Inline || book > z.Bookkeeping {
		t.Errorf("%s: states of operator %d: inline %d of %d, bookkeeping %d of %d", dir, tree.Operator(op), in, z.Inline, book, z.Bookkeeping)
	}
	in, book = 0, 0
	for _, c := range tree.Children(nil, op, TurnSubtask) {
		z := tree.Sizes(c)
		in, book = in+z.Inline, book+z.Bookkeeping
	}
	if in != z.Inline || book > z.Bookkeeping {
		t.Errorf("%s: subtasks of operator %d: inline %d of %d, bookkeeping %d of %d", dir, tree.Operator(op), in, z.Inline, book, z.Bookkeeping)
	}
}
