package prune_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/prune"
	"chkscope/model/store"
	"chkscope/storage"
)

// fixture is the `_metadata` of a snapshot that is committed with the code.
func fixture(t testing.TB, name string) string {
	list := metadataBelow(t, filepath.Join(corpus.Repository(t), "conformance", "testdata", name))
	if len(list) != 1 {
		t.Fatalf("fixture %s: %d snapshots", name, len(list))
	}
	return list[0]
}

// realFiles lists every `_metadata` of real Flink: the fixtures, and the corpus
// beside the repository where that is there and -short is not given.
func realFiles(t testing.TB) []string {
	root := corpus.Repository(t)
	list := metadataBelow(t, filepath.Join(root, "conformance", "testdata"))
	if testing.Short() {
		return list
	}
	if dir := corpus.Find(t); dir != "" {
		return append(list, metadataBelow(t, dir)...)
	}
	t.Log("the corpus ../shared/corpus is missing: only the fixtures are tested")
	return list
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

func metadataBelow(t testing.TB, dir string) []string {
	var list []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "_metadata" {
			list = append(list, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// open opens a snapshot of the corpus; nil where it cannot be pruned.
func open(t testing.TB, path string) (*model.Snapshot, *model.Tree) {
	t.Helper()
	s, tree, err := model.Open(context.Background(), corpusStore(path), store.FileURI(path), model.Options{})
	if err != nil {
		if errors.Is(err, decoder.ErrVersion) {
			return nil, nil
		}
		t.Fatalf("%s: %v", path, err)
	}
	t.Cleanup(func() { s.Close() })
	return s, tree
}

var madeAt = regexp.MustCompile(`(?:absolute paths inside: |checkpoint directory: )(\S+)`)

// corpusStore finds what the handles name by the place where the snapshot was
// made, which about.txt tells.
func corpusStore(path string) *storage.Router {
	for dir := filepath.Dir(path); len(dir) > 1; dir = filepath.Dir(dir) {
		about, err := os.ReadFile(filepath.Join(dir, "about.txt"))
		if err != nil {
			continue
		}
		if m := madeAt.FindSubmatch(about); m != nil {
			to := dir
			if strings.HasSuffix(string(m[1]), "/checkpoints") {
				to = filepath.Join(dir, "checkpoints")
			}
			from := store.Canonical(string(m[1]))
			return storage.New(storage.Options{Maps: store.Mappings{{From: from, To: store.FileURI(to)}}})
		}
	}
	return storage.New(storage.Options{})
}

// someSnapshots is eachSnapshot with one in eight of Flink's own many alike
// savepoints.
func someSnapshots(t *testing.T, f func(name string, s *model.Snapshot, tree *model.Tree)) {
	n := 0
	eachSnapshot(t, func(name string, s *model.Snapshot, tree *model.Tree) {
		if strings.HasPrefix(name, "flink-savepoints/") {
			if n++; n%8 != 0 {
				return
			}
		}
		f(name, s, tree)
	})
}

// eachSnapshot opens every real snapshot that can be pruned.
func eachSnapshot(t *testing.T, f func(name string, s *model.Snapshot, tree *model.Tree)) {
	for _, path := range realFiles(t) {
		s, tree := open(t, path)
		if s == nil || s.Meta.Version < 2 || hasLegacy(s) {
			continue
		}
		name := path
		for _, root := range []string{"/corpus/", "/testdata/"} {
			if _, rest, ok := strings.Cut(name, root); ok {
				name = rest
			}
		}
		f(name, s, tree)
	}
}

func hasLegacy(s *model.Snapshot) bool {
	for i := range s.Meta.Operators {
		for _, sub := range s.Meta.Operators[i].Subtasks {
			if sub.State != nil && len(sub.State.Legacy) > 0 {
				return true
			}
		}
	}
	return false
}

// TestDropEveryOperatorState drops each named operator state of every real
// snapshot by reference copy and proves the copy.
func TestDropEveryOperatorState(t *testing.T) {
	copies, rewritten, kept := 0, 0, 0
	eachSnapshot(t, func(snapshot string, s *model.Snapshot, tree *model.Tree) {
		for _, g := range operatorStates(s) {
			name := snapshot + " " + g.Selector()
			res, err := drop(t, s, tree, prune.Request{Targets: []model.Target{g}, Copy: prune.CopyReference, AcceptLoss: true, ChangelogOff: true})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			copies++
			rewritten += res.Plan.Files.Rewritten
			for _, w := range res.Plan.Warnings {
				if strings.Contains(w, "header: kept") {
					kept++
					t.Logf("%s: %s", name, w)
				}
			}
			for _, w := range res.Proof.Warnings {
				t.Logf("%s: %s", name, w)
			}
			if res.Proof.Removed == 0 || res.Proof.Equal+res.Proof.Removed != res.Proof.Checked {
				t.Errorf("%s: proof %+v", name, res.Proof)
			}
		}
	})
	t.Logf("%d copies, %d streams rewritten, %d headers kept", copies, rewritten, kept)
}

func operatorStates(s *model.Snapshot) []model.Target {
	var out []model.Target
	for i := range s.Meta.Operators {
		op := &s.Meta.Operators[i]
		seen := map[string]bool{}
		for _, sub := range op.Subtasks {
			if sub.State == nil || sub.State.ManagedOperator == nil {
				continue
			}
			for _, st := range sub.State.ManagedOperator.States {
				if !seen[st.Name] {
					seen[st.Name] = true
					out = append(out, model.StateTarget(op.ID, model.KindOperator, st.Name))
				}
			}
		}
	}
	return out
}

// drop builds and applies a plan into a directory of the test, and checks that
// the written file encodes to itself.
func drop(t testing.TB, s *model.Snapshot, tree *model.Tree, req prune.Request) (*prune.Result, error) {
	return dropAnd(t, s, tree, req, func(*prune.Plan, *metadata.Checkpoint) {})
}

// dropAnd is drop with a look at the decoded copy.
func dropAnd(t testing.TB, s *model.Snapshot, tree *model.Tree, req prune.Request, look func(*prune.Plan, *metadata.Checkpoint)) (*prune.Result, error) {
	t.Helper()
	ctx := context.Background()
	dir := filepath.Join(scratch(t), "copy")
	defer os.RemoveAll(dir)
	req.Destination = store.FileURI(dir)
	p, err := prune.Build(ctx, s, tree, req)
	if err != nil {
		return nil, err
	}
	res, err := prune.Apply(ctx, p, s.Store.(model.WriteStore), nil)
	if err != nil {
		return nil, err
	}
	look(p, checkWritten(t, dir, p))
	return res, nil
}

func checkWritten(t testing.TB, dir string, p *prune.Plan) *metadata.Checkpoint {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "_metadata"))
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(b)) != p.MetadataBytes.After {
		t.Errorf("%s: _metadata has %d bytes, %d were planned", dir, len(b), p.MetadataBytes.After)
	}
	c, err := metadata.Decode(decoder.Bytes{Data: b, Label: dir})
	if err != nil {
		t.Fatal(err)
	}
	var again strings.Builder
	if _, err := metadata.Encode(&again, c); err != nil {
		t.Fatal(err)
	}
	if again.String() != string(b) {
		t.Errorf("%s: encode(decode(x)) differs", dir)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(p.Write)+1 {
		t.Errorf("%s: %d files, %d were planned", dir, len(list), len(p.Write)+1)
	}
	if _, err := os.Stat(dir + ".chkscope-report.json"); err != nil {
		t.Error(err)
	}
	return c
}

// scratch is a directory for copies: in memory where there is such a place, as
// every written file is synced.
func scratch(t testing.TB) string {
	t.Helper()
	if _, err := os.Stat("/dev/shm"); err != nil {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "prune-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestCopyRepairsBrokenCompression: a copy of what Flink 1.18 wrote with one
// offset for all elements has them at places of their own.
func TestCopyRepairsBrokenCompression(t *testing.T) {
	path := ""
	for _, p := range realFiles(t) {
		if strings.Contains(p, "1.18-heap-snappy-broken") {
			path = p
		}
	}
	if path == "" {
		t.Skip("no corpus of real files beside the repository (../shared/corpus)")
	}
	s, _ := open(t, path)
	tree, err := s.ReadHeaders(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = prune.Build(context.Background(), s, tree, prune.Request{Targets: selected(t, s, tree, "*/operator/union-offsets"), Copy: prune.CopyFull, KeepHeaders: true})
	checkRule(t, "a broken stream with --keep-headers", err, "broken-compression")
	dest := filepath.Join(scratch(t), "copy")
	p, err := prune.Build(context.Background(), s, tree, prune.Request{Copy: prune.CopyFull, Destination: store.FileURI(dest)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prune.Apply(context.Background(), p, storage.New(storage.Options{}), nil); err != nil {
		t.Fatal(err)
	}
	out, _ := open(t, filepath.Join(dest, "_metadata"))
	lists := 0
	for op := range out.Meta.Operators {
		for _, sub := range out.Meta.Operators[op].Subtasks {
			if sub.State == nil || sub.State.ManagedOperator == nil {
				continue
			}
			for _, st := range sub.State.ManagedOperator.States {
				if lists++; out.SameOffsets(st) {
					t.Errorf("operator %d, subtask %d: %s still has one offset", op, sub.Index, st.Name)
				}
			}
		}
	}
	if lists == 0 {
		t.Error("no lists in the copy")
	}
}
