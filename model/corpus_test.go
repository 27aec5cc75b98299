package model

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/model/store"
	"chkscope/storage"
)

// allMetadata gives the directories of every uncompressed `_metadata`: those of
// the fixtures in the repository, and the corpus where it is there.
func allMetadata(t testing.TB) []string {
	t.Helper()
	roots := []string{"../conformance/testdata"}
	if dir := corpus.Find(t); dir != "" {
		roots = append(roots, dir)
	}
	var out []string
	for _, root := range roots {
		root, err := filepath.Abs(root)
		if err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == MetadataName {
				out = append(out, filepath.Dir(p))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
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

// allObjects gives every completedCheckpoint object.
func allObjects(t testing.TB) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(corpus.Dir(t), func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "completedCheckpoint") {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestObjectAccounting(t *testing.T) {
	st := storage.New(storage.Options{})
	for _, file := range allObjects(t) {
		s, tree, err := Open(context.Background(), st, file, Options{})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if s.HA == nil || s.Dir != s.HA.ExternalPointer || !s.Properties.Present {
			t.Errorf("%s: object %v, directory %s, properties %+v", file, s.HA != nil, s.Dir, s.Properties)
		}
		sum := s.Meta.Header.Len + s.Meta.Properties.Len + s.Meta.Trailing.Len
		for op := range s.Meta.Operators {
			n := tree.OperatorNode(op)
			z := tree.Sizes(n)
			sum += z.Inline + z.Bookkeeping
			checkParts(t, tree, n, file)
		}
		if sum != s.Meta.In.Size() {
			t.Errorf("%s: nodes sum up to %d bytes, the object has %d", file, sum, s.Meta.In.Size())
		}
		s.Close()
	}
}

// TestObjectIsLikeMetadata opens the objects of a real job and the `_metadata` of
// the same checkpoints: the same states with the same sizes.
func TestObjectIsLikeMetadata(t *testing.T) {
	for _, lab := range []string{"1.15-ha", "1.18-ha", "1.20-ha", "2.1-ha"} {
		home := filepath.Join(corpus.Dir(t), "lab", lab)
		st := storage.New(storage.Options{Maps: store.Mappings{{From: "file:/tmp/flink-lab/" + lab, To: home}}})
		objects, _ := filepath.Glob(filepath.Join(home, "ha", "lab", "completedCheckpoint*"))
		for _, file := range objects {
			s, tree, err := Open(context.Background(), st, file, Options{})
			if err != nil {
				t.Fatal(err)
			}
			m, other, err := Open(context.Background(), st, s.Dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if a, b := states(s, tree), states(m, other); len(a) == 0 || !maps.Equal(a, b) {
				t.Errorf("%s: %v\n%s: %v", file, a, s.Dir, b)
			}
			s.Close()
			m.Close()
		}
	}
}

// states gives what is to be the same in an object: entries, inline bytes and
// files of every state.
func states(s *Snapshot, t *Tree) map[string]string {
	out := map[string]string{}
	for _, op := range t.Children(nil, Root, TurnState) {
		for _, n := range t.Children(nil, op, TurnState) {
			z := t.Sizes(n)
			out[t.Target(n, s.Meta.Operators).Selector()] = fmt.Sprint(t.Entries(n), z.Inline, z.Exclusive, z.Shared, z.Files)
		}
	}
	return out
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
