package model

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder/metadata"
	"chkscope/storage"
)

// TestCountCanonical compares the counted entries with the numbers of keys that
// real Flink found after a restore.
func TestCountCanonical(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(corpus.Dir(t), "lab", "*-canonical"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, dir := range dirs {
		snaps, _ := filepath.Glob(filepath.Join(dir, "savepoints-canonical", "*"))
		if len(snaps) != 1 {
			continue
		}
		compared += compareCounts(t, snaps[0], filepath.Join(dir, "facts.txt"))
	}
	for _, v := range []string{"1.15", "1.20"} {
		dir := filepath.Join(corpus.Dir(t), "lab", v+"-heap-plain-chk")
		snaps, _ := filepath.Glob(filepath.Join(dir, "checkpoints", "*", "chk-*"))
		if len(snaps) != 1 {
			t.Fatalf("%s: %v", dir, snaps)
		}
		n := compareCounts(t, snaps[0], filepath.Join(dir, "facts.txt"))
		if n == 0 {
			t.Errorf("%s: nothing was compared", dir)
		}
		compared += n
	}
	if compared < 100 {
		t.Errorf("only %d counts were compared", compared)
	}
	t.Logf("%d counts equal", compared)
}

var keysFact = regexp.MustCompile(`^keys (\S+)#(\d+) (\S+)=(\d+)$`)

func compareCounts(t *testing.T, dir, facts string) (compared int) {
	ctx := context.Background()
	s, _, err := Open(ctx, storage.New(storage.Options{}), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tree, err := s.ReadHeaders(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if tree, err = s.Count(ctx, tree, Root, nil); err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for op := range s.Meta.Operators {
		for _, n := range s.KeyedNames(op, KindKeyed) {
			types[n.Name] = n.Type
		}
	}
	f, err := os.Open(facts)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		m := keysFact.FindStringSubmatch(sc.Text())
		if m == nil || types[m[3]] == "MAP" || types[m[3]] == "" {
			continue
		}
		sub, _ := strconv.Atoi(m[2])
		want, _ := strconv.ParseInt(m[4], 10, 64)
		n := s.Find(tree, Target{Class: ClassCell, Op: metadata.OperatorIDOf(m[1]), Kind: KindKeyed, Name: m[3], Subtask: int32(sub), Entries: AllEntries})
		if n == None {
			if want > 0 {
				t.Errorf("%s: %s: no such row", filepath.Base(filepath.Dir(facts)), sc.Text())
			}
			continue
		}
		if got := tree.Entries(n); got != want && !strings.Contains(m[3], "spaced") { // one entry a namespace
			t.Errorf("%s: %s: counted %d", filepath.Base(filepath.Dir(facts)), sc.Text(), got)
		}
		compared++
	}
	return compared
}

// TestCountFixtures is the same on the fixtures of the repository.
func TestCountFixtures(t *testing.T) {
	for _, name := range []string{"v3-canonical-savepoint", "v4-canonical-savepoint"} {
		dir := filepath.Join("..", "conformance", "testdata", name)
		abs, err := filepath.Abs(filepath.Join(dir, "savepoint-canonical"))
		if err != nil {
			t.Fatal(err)
		}
		if n := compareCounts(t, abs, filepath.Join(dir, "facts.txt")); n < 10 {
			t.Errorf("%s: only %d counts were compared", name, n)
		}
	}
}
