package prune_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/model"
	"chkscope/model/prune"
	"chkscope/model/store"
)

// TestPlanFile: a plan is saved, loaded, built again and applied; a changed
// source is refused.
func TestPlanFile(t *testing.T) {
	ctx := context.Background()
	base := scratch(t)
	src := filepath.Join(base, "chk")
	if err := os.CopyFS(src, os.DirFS(filepath.Dir(fixture(t, "incident/gen-3-files")))); err != nil {
		t.Fatal(err)
	}
	k := task{"incident/gen-3-files", prune.CopyReference, "topic-partition-offset-states", ""}
	reopen := func() (*model.Snapshot, *model.Tree) { return open(t, filepath.Join(src, "_metadata")) }

	s, tree := reopen()
	var targets []model.Target
	for _, g := range operatorStates(s) {
		if g.Name == k.state {
			targets = append(targets, g)
		}
	}
	dest := store.FileURI(filepath.Join(base, "copy"))
	p, err := prune.Build(ctx, s, tree, prune.Request{Targets: targets, Copy: k.copy, Destination: dest})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := p.Save(ctx, &file); err != nil {
		t.Fatal(err)
	}
	saved, err := prune.Load(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prune.Apply(ctx, saved, k.store(t), nil); err == nil {
		t.Error("a loaded plan was applied without its source")
	}
	s2, tree2 := reopen()
	again, err := prune.Rebuild(ctx, s2, tree2, saved, "")
	if err != nil {
		t.Fatal(err)
	}
	if again.Digest != p.Digest {
		t.Error("the plan came out different")
	}
	if _, err := prune.Apply(ctx, again, k.store(t), nil); err != nil {
		t.Fatal(err)
	}
	elsewhere, err := prune.Rebuild(ctx, s2, tree2, saved, dest+"-2")
	if err != nil || elsewhere.Destination != dest+"-2" {
		t.Errorf("another destination: %v", err)
	}

	// One more byte behind the end, which Flink ignores in version 3.
	f, err := os.OpenFile(filepath.Join(src, "_metadata"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte{0})
	f.Close()
	s3, tree3 := reopen()
	_, err = prune.Rebuild(ctx, s3, tree3, saved, "")
	checkRule(t, "changed source", err, "source-changed")
	if _, err := prune.Apply(ctx, p, k.store(t), nil); err == nil {
		t.Error("a plan was applied to a source that was changed after it was opened")
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, c := range []string{"", "[]", "{}", `{"schema":99}`, `{"schema":1,"source":"file:/x"}`, `{"schema":1,"copy":"some"}`} {
		if p, err := prune.Load(strings.NewReader(c)); err == nil {
			t.Errorf("Load(%q) = %+v", c, p)
		}
	}
}

// bender writes one file with one bit of it changed.
type bender struct {
	model.WriteStore
	name string
	at   int // offset of the bit's byte; below 0: from the end of what one Write brings
}

func (b bender) Create(ctx context.Context, uri string) (model.Writer, error) {
	w, err := b.WriteStore.Create(ctx, uri)
	if err == nil && store.Base(uri) == b.name {
		w = &bentWriter{Writer: w, at: b.at}
	}
	return w, err
}

type bentWriter struct {
	model.Writer
	at, n int
}

func (w *bentWriter) Write(p []byte) (int, error) {
	q := bytes.Clone(p)
	if i := w.at - w.n; i >= 0 && i < len(q) {
		q[i] ^= 1
	}
	w.n += len(p)
	return w.Writer.Write(q)
}

// TestProofSeesOneBit changes single bits on their way to the disk: in
// `_metadata`, in a rewritten stream of operator state, in a canonical stream, in
// what single entries are taken out of.
func TestProofSeesOneBit(t *testing.T) {
	for _, k := range append([]task{tasks[0], tasks[1], tasks[3]}, entryTasks...) {
		dest := filepath.Join(scratch(t), "copy")
		p := k.plan(t, dest)
		for _, f := range append(p.Write, prune.PlannedFile{Name: "_metadata", Size: p.MetadataBytes.After, Action: "rewrite"}) {
			if f.Action != "rewrite" {
				continue
			}
			size := int(f.Size)
			if size < 0 {
				size = 2000
			}
			seen, unseen := 0, []int{}
			for at := 0; at < size; at += 1 + size/97 {
				_, err := prune.Apply(context.Background(), k.plan(t, dest), bender{k.store(t), f.Name, at}, nil)
				if err == nil {
					unseen = append(unseen, at)
				} else {
					seen++
				}
				if err != nil && exists(filepath.Join(dest, "_metadata")) {
					t.Errorf("%s: bit at %d of %s: %v, and _metadata is left", k.fixture, at, f.Name, err)
				}
				var bad *prune.ProofError
				if errors.As(err, &bad) && len(bad.Problems) == 0 {
					t.Error("a proof failed without a reason")
				}
				os.RemoveAll(dest)
				os.Remove(dest + ".chkscope-report.json")
			}
			if len(unseen) > 0 {
				t.Errorf("%s: bits of %s (%d bytes) that the proof did not see: %v; %d seen", k.fixture, f.Name, size, unseen, seen)
			}
		}
	}
}

// TestPlanOfEveryTarget: what a plan file holds of a target gives it back.
func TestPlanOfEveryTarget(t *testing.T) {
	for _, path := range metadataBelow(t, filepath.Join(corpus.Repository(t), "conformance", "testdata")) {
		s, _ := open(t, path)
		tree, err := s.ReadHeaders(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var targets []model.Target
		for n := model.Node(1); int(n) < tree.Len(); n++ {
			targets = append(targets, tree.Target(n, s.Meta.Operators))
		}
		for _, list := range removalsOf(s) {
			targets = append(targets, list...)
		}
		for _, g := range targets {
			if got, err := model.ParseTarget(g.Selector()); err != nil || got != g {
				t.Errorf("%s: %s came back as %+v, was %+v: %v", path, g.Selector(), got, g, err)
			}
		}
	}
}
