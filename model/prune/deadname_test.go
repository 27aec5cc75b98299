package prune_test

import (
	"context"
	"path/filepath"
	"testing"

	"chkscope/model"
	"chkscope/model/prune"
	"chkscope/model/store"
)

// TestDeadName drops a state with its headers kept, and then, of the copy, the
// name that is left in the headers.
func TestDeadName(t *testing.T) {
	ctx := context.Background()
	k := task{"incident/gen-3-files", prune.CopyFull, "topic-partition-offset-states", ""}
	base := scratch(t)
	s, tree := open(t, fixture(t, k.fixture))
	var targets []model.Target
	for _, g := range operatorStates(s) {
		if g.Name == k.state {
			targets = append(targets, g)
		}
	}
	first := filepath.Join(base, "kept")
	p, err := prune.Build(ctx, s, tree, prune.Request{Targets: targets, KeepHeaders: true, Copy: k.copy, Destination: store.FileURI(first)})
	if err != nil {
		t.Fatal(err)
	}
	if p.Files.Rewritten != 0 || p.Removed[0].Headers != "kept" {
		t.Errorf("%d files rewritten, headers %q", p.Files.Rewritten, p.Removed[0].Headers)
	}
	if _, err := prune.Apply(ctx, p, k.store(t), nil); err != nil {
		t.Fatal(err)
	}

	s, _ = open(t, filepath.Join(first, "_metadata"))
	if tree, err = s.ReadHeaders(ctx, nil); err != nil {
		t.Fatal(err)
	}
	left, err := s.Select(tree, "*/operator/topic-partition-offset-states")
	if err != nil || len(left) == 0 {
		t.Fatalf("the name that is left is not found: %v", err)
	}
	res, err := drop(t, s, tree, prune.Request{Targets: left, Copy: prune.CopyFull})
	if err != nil {
		t.Fatal(err)
	}
	if res.Plan.Files.Rewritten == 0 {
		t.Error("no header was rewritten")
	}
	if _, err := s.Select(tree, "*/operator/topic-partition-offset-state"); err == nil {
		t.Error("a name that is nowhere was found")
	}
	nowhere := left[0]
	nowhere.Name = "nowhere"
	_, err = prune.Build(ctx, s, tree, prune.Request{Targets: []model.Target{nowhere}})
	checkRule(t, "a name that is nowhere", err, "unknown")
}
