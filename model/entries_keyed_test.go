package model

import (
	"context"
	"encoding/hex"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder/serde"
	"chkscope/storage"
)

// openLab opens the snapshot of a folder of lab with its headers read.
func openLab(t *testing.T, pattern string) (*Snapshot, *Tree) {
	t.Helper()
	dirs, _ := filepath.Glob(filepath.Join(corpus.Dir(t), "lab", pattern))
	if len(dirs) == 0 {
		t.Fatalf("nothing at %s", pattern)
	}
	s, _, err := Open(context.Background(), storage.New(storage.Options{}), dirs[len(dirs)-1], Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	tree, err := s.ReadHeaders(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, tree
}

var keyedSnapshots = []string{"1.20-heap-plain-chk/checkpoints/*/chk-4", "1.20-heap-chk/checkpoints/*/chk-*", "1.20-heap-canonical/savepoints-canonical/*",
	"2.1-heap-snappy-canonical/savepoints-canonical/*", "2.1-rocks-maxpar300-canonical/savepoints-canonical/*", "1.15-heap-snappy-chk/checkpoints/*/chk-*"}

// TestKeyedPages reads pages before and after counting: they are what reading
// all gives.
func TestKeyedPages(t *testing.T) {
	ctx, l := context.Background(), serde.DefaultLimits
	for _, pattern := range keyedSnapshots {
		s, tree := openLab(t, pattern)
		counted, err := s.Count(ctx, tree, Root, nil)
		if err != nil && !errors.Is(err, serde.ErrOpaque) {
			t.Fatal(err)
		}
		fresh, _ := openLab(t, pattern)
		fresh.ReadHeaders(ctx, nil)
		cells, entries := 0, 0
		for cell := range Node(counted.Len()) {
			if !s.HasKeyedEntries(counted, cell) {
				continue
			}
			var all []KeyedEntry
			opaque := s.EachKeyedEntry(ctx, counted, cell, l, func(e KeyedEntry) error {
				all = append(all, e)
				return nil
			})
			untyped(all)
			if opaque != nil && !errors.Is(opaque, serde.ErrOpaque) {
				t.Fatal(opaque)
			}
			if n := counted.Entries(cell); n != Unknown && n != int64(len(all)) {
				t.Errorf("%s: %s: %d entries, counted %d", pattern, counted.Name(cell), len(all), n)
			}
			cells++
			entries += len(all)
			for _, at := range []int{0, 1, len(all) / 2, len(all) - 1, len(all) + 3} {
				from := max(at, 0)
				want := all[min(from, len(all)):min(from+4, len(all))]
				got, err := s.KeyedEntries(ctx, counted, cell, int64(from), 4, l)
				if err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(untyped(got), want) {
					t.Errorf("%s: %s from %d: %v, not %v: %v", pattern, counted.Name(cell), from, got, want, err)
				}
				other := fresh.Find(fresh.buildTree(), counted.Target(cell, s.Meta.Operators))
				got, err = fresh.KeyedEntries(ctx, fresh.buildTree(), other, int64(from), 4, l)
				if err != nil && opaque == nil || len(got)+len(want) > 0 && !reflect.DeepEqual(untyped(got), want) {
					t.Errorf("%s: %s from %d, not counted: %v, not %v: %v", pattern, counted.Name(cell), from, got, want, err)
				}
			}
		}
		t.Log(pattern, cells, "cells,", entries, "entries")
		if cells < 4 || entries < 50 {
			t.Error("fewer than there were")
		}
	}
}

// TestFindKey looks for every key of an operator by its text and its bytes.
func TestFindKey(t *testing.T) {
	ctx, l := context.Background(), serde.DefaultLimits
	for _, pattern := range keyedSnapshots {
		s, tree := openLab(t, pattern)
		counted, _ := s.Count(ctx, tree, Root, nil)
		for op := range s.Meta.Operators {
			want := map[string]int{}
			hexOf := map[string]string{}
			node := counted.OperatorNode(op)
			for cell := range Node(counted.Len()) {
				if counted.Operator(cell) == op && s.HasKeyedEntries(counted, cell) {
					s.EachKeyedEntry(ctx, counted, cell, l, func(e KeyedEntry) error {
						want[e.Key.String()]++
						hexOf[e.Key.String()] = "0x" + hex.EncodeToString(e.RawKey)
						return nil
					})
				}
			}
			for key, n := range want {
				for _, text := range []string{key, hexOf[key]} {
					got := 0
					q, err := s.FindKey(ctx, counted, node, text, l, func(cell Node, e KeyedEntry) error {
						got++
						if e.Key.String() != key || e.Group != q0(s, op, hexOf[key]) {
							t.Errorf("%s: %s: %+v", pattern, text, e)
						}
						again, err := s.KeyedEntries(ctx, counted, cell, e.Index, 1, l)
						if err != nil || len(again) != 1 || !reflect.DeepEqual(untyped(again), untyped([]KeyedEntry{e})) {
							t.Errorf("%s: %s: entry %d is %+v, %v", pattern, text, e.Index, again, err)
						}
						return nil
					})
					if err != nil && !errors.Is(err, serde.ErrOpaque) {
						t.Fatal(err)
					}
					if got != n || q.Group < 0 || q.Streams != 1 {
						t.Errorf("%s: %s: found %d, not %d; %+v", pattern, text, got, n, q)
					}
					for _, whole := range []Node{wholeKeyed(tree, op), node} {
						if got := countKey(ctx, s, tree, whole, text); whole != None && got != n {
							t.Errorf("%s: %s: found %d below %v, not %d", pattern, text, got, tree.Class(whole), n)
						}
					}
					got = 0
					for _, sub := range counted.Children(nil, node, TurnSubtask) {
						got += countKey(ctx, s, counted, sub, text)
					}
					if got != n {
						t.Errorf("%s: %s: found %d by subtask, not %d", pattern, text, got, n)
					}
				}
			}
		}
	}
}

// wholeKeyed is the row for all keyed names of an operator together, or None.
func wholeKeyed(t *Tree, op int) Node {
	for _, n := range t.Children(nil, t.OperatorNode(op), TurnState) {
		if t.Kind(n) == KindKeyed && t.Whole(n) {
			return n
		}
	}
	return None
}

func countKey(ctx context.Context, s *Snapshot, t *Tree, n Node, key string) int {
	got := 0
	if n != None {
		s.FindKey(ctx, t, n, key, serde.DefaultLimits, func(Node, KeyedEntry) error { got++; return nil })
	}
	return got
}

// q0 is the key group of the bytes of a key.
func q0(s *Snapshot, op int, text string) int32 {
	raw, _ := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	hash, _ := serde.JavaHash(s.KeySerializer(op), raw)
	return serde.KeyGroup(hash, s.Meta.Operators[op].MaxParallelism)
}

func TestLargestKeys(t *testing.T) {
	ctx := context.Background()
	s, tree := openLab(t, "1.20-heap-canonical/savepoints-canonical/*")
	tree, err := s.Count(ctx, tree, Root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for op := range s.Meta.Operators {
		for _, name := range s.KeyedNames(op, KindKeyed) {
			groups := s.KeyGroups(op, name.Name)
			entries := int64(0)
			for i, g := range groups {
				entries += g.Entries
				if i > 0 && g.Group <= groups[i-1].Group {
					t.Errorf("%s: %+v", name.Name, groups)
				}
			}
			large, err := s.LargestKeys(ctx, tree, op, name.Name, 3)
			if err != nil || entries > 0 && len(large) == 0 || len(large) > 0 && large[0].Key.Form == serde.Missing {
				t.Errorf("%s: %+v %v", name.Name, large, err)
			}
			n := s.Find(tree, StateTarget(s.Meta.Operators[op].ID, KindKeyed, name.Name))
			if tree.Entries(n) != entries {
				t.Errorf("%s: %d entries in groups, %d in all", name.Name, entries, tree.Entries(n))
			}
		}
	}
}

// TestEncodeKey: what is shown with brackets may be typed without.
func TestEncodeKey(t *testing.T) {
	long, text := &serde.Snapshot{Kind: serde.Long}, &serde.Snapshot{Kind: serde.String}
	tuple := func(nested ...*serde.Snapshot) *serde.Snapshot {
		return &serde.Snapshot{Kind: serde.Tuple, Nested: nested}
	}
	for _, k := range []struct {
		t     *serde.Snapshot
		shown string
		typed []string
	}{
		{tuple(text), `("a")`, []string{`a`, `"a"`, `(a)`}},
		{tuple(text), `("a, b")`, []string{`a, b`, `"a, b"`}},
		{tuple(text), `("7")`, []string{`7`}},
		{tuple(long), `(7)`, []string{`7`}},
		{tuple(text, long), `("a", 7)`, []string{`"a", 7`, `a,7`}},
	} {
		want := encodeKey(k.t, k.shown)
		if want == nil {
			t.Fatalf("%s is not encoded", k.shown)
		}
		for _, typed := range k.typed {
			if got := encodeKey(k.t, typed); string(got) != string(want) {
				t.Errorf("%s is %x, not %x of %s", typed, got, want, k.shown)
			}
		}
	}
	if got := encodeKey(tuple(long), "a"); got != nil {
		t.Errorf("%x", got)
	}
	if got := encodeKey(text, "(a)"); string(got) != "\x04(a)" {
		t.Errorf("the brackets of a text: %x", got)
	}
}

// untyped takes the types away, which each reading of a header makes anew.
func untyped(list []KeyedEntry) []KeyedEntry {
	for i := range list {
		list[i].Type = nil
	}
	return list
}
