package prune_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chkscope/decoder/serde"
	"chkscope/model"
	"chkscope/model/prune"
	"chkscope/model/store"
)

// entriesOf gives every entry of a state as text, by subtask and in order.
func entriesOf(t *testing.T, s *model.Snapshot, tree *model.Tree, g model.Target) []string {
	t.Helper()
	n := s.Find(tree, g)
	if n == model.None {
		return nil
	}
	var out []string
	err := s.EachEntry(context.Background(), tree, []model.Node{n}, serde.DefaultLimits, nil, func(e *model.Entry) error {
		out = append(out, strings.Join([]string{e.Key.String(), e.Namespace.String(), e.MapKey.String(), e.Value.String()}, " | "))
		return nil
	})
	if err != nil && !errors.Is(err, serde.ErrOpaque) {
		t.Fatal(err)
	}
	return out
}

// TestWhere drops entries by condition out of lists, heap and canonical streams:
// those for which it holds are gone, all others are there, and so is every other
// state.
func TestWhere(t *testing.T) {
	for _, c := range []struct {
		fixture, kind, state, where string
		gone                        func(entry string) bool
	}{
		{"v4-heap-checkpoint", "operator", "buffered-elements", `value.f1 >= 3`, func(e string) bool {
			return !strings.Contains(e, ", 0)") && !strings.Contains(e, ", 1)") && !strings.Contains(e, ", 2)")
		}},
		{"v4-heap-checkpoint", "keyed", "spaced", `namespace == "space-a" and key != "name-1"`, func(e string) bool { return strings.Contains(e, "space-a") && !strings.HasPrefix(e, "name-1 ") }},
		{"v4-heap-snappy", "keyed", "merged-list", `key matches "[12]$"`, func(e string) bool { return strings.HasPrefix(e, "name-1 ") || strings.HasPrefix(e, "name-2 ") }},
		{"v4-heap-checkpoint", "keyed", "null-map", `key == "name-0"`, func(e string) bool { return strings.HasPrefix(e, "name-0 ") }},
		{"v4-canonical-savepoint", "keyed", "per-product", `map_key == "product-1" and key < 4`, func(e string) bool { return strings.Contains(e, "| product-1 |") && e[1] == ' ' && e[0] < '4' }},
		{"v4-heap-checkpoint", "keyed", "ttl-map", `map_key == "k0" and key != "name-1"`, func(e string) bool { return strings.Contains(e, "| k0 |") && !strings.HasPrefix(e, "name-1 ") }},
		{"v4-heap-checkpoint", "keyed", "null-map", `value == null`, func(e string) bool { return strings.HasSuffix(e, "| null") }},
		{"v4-heap-snappy", "keyed", "ttl-map", `map_key in ["k0", "k2"] or value == "v85"`, func(e string) bool {
			return strings.Contains(e, "| k0 |") || strings.Contains(e, "| k2 |") || strings.HasSuffix(e, "| v85")
		}},
		{"v4-heap-checkpoint", "keyed", "ttl-map", `ttl_expired`, func(string) bool { return true }},
		{"v4-heap-checkpoint", "operator", "rules", `value.address == null`, func(e string) bool { return strings.Contains(e, "address=null") }},
		{"v4-heap-snappy", "operator", "limits", `key in ["limit-1", "limit-5"]`, func(e string) bool { return strings.Contains(e, "limit-1 ") || strings.Contains(e, "limit-5 ") }},
		{"v4-heap-inline", "operator", "limits", `value >= 0`, func(string) bool { return true }},
		{"v4-canonical-savepoint", "keyed", "order", `value.id % 2 == 1`, nil},
		{"v3-canonical-savepoint", "keyed", "session-ttl", `ttl_expired`, func(string) bool { return true }},
		{"v4-canonical-savepoint", "keyed", "_timer_state/event_user-timers", `key in [1, 2]`, func(e string) bool { return strings.HasPrefix(e, "1 ") || strings.HasPrefix(e, "2 ") }},
	} {
		name := c.fixture + " " + c.state
		s, _ := open(t, fixture(t, c.fixture))
		tree, err := s.ReadHeaders(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		targets, err := s.Select(tree, "*/"+c.kind+"/"+strings.ReplaceAll(c.state, "/", "%2F"))
		if err != nil || len(targets) != 1 {
			t.Fatalf("%s: %v %v", name, targets, err)
		}
		g := targets[0]
		p, out, outTree := pruneEntries(t, name, s, tree, prune.Request{Targets: targets, Where: c.where, TTL: 1, Now: 1 << 50})
		if p == nil {
			continue
		}
		all := entriesOf(t, s, tree, g)
		got := entriesOf(t, out, outTree, g)
		var want []string
		for _, e := range all {
			if c.gone != nil && !c.gone(e) {
				want = append(want, e)
			}
		}
		if c.gone != nil && strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) >= len(all) {
			t.Errorf("%s: left are\n%s\nnot\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if n := p.Removed[0].Entries; n == nil || *n != int64(len(all)-len(got)) {
			t.Errorf("%s: %v entries planned, %d of %d left", name, n, len(got), len(all))
		}
		othersEqual(t, name, s, tree, out, outTree, g)
		if !strings.Contains(strings.Join(p.Losses, " "), "such as: ") {
			t.Errorf("%s: no sample in %v", name, p.Losses)
		}
	}
}

// pruneEntries writes a full copy, with its proof, and opens it again; nil where
// that failed, which it tells.
func pruneEntries(t *testing.T, name string, s *model.Snapshot, tree *model.Tree, req prune.Request) (*prune.Plan, *model.Snapshot, *model.Tree) {
	t.Helper()
	dir := filepath.Join(scratch(t), "copy")
	req.Copy, req.Destination = prune.CopyFull, store.FileURI(dir)
	p, err := prune.Build(context.Background(), s, tree, req)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return nil, nil, nil
	}
	res, err := prune.Apply(context.Background(), p, s.Store.(model.WriteStore), nil)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return nil, nil, nil
	}
	if planned := plannedEntries(p); !res.Proof.OK || res.Proof.Equal != res.Proof.Checked || res.Proof.EntriesRemoved != planned {
		t.Errorf("%s: proof %+v, %d entries were planned", name, res.Proof, planned)
	}
	out, _ := open(t, filepath.Join(dir, "_metadata"))
	outTree, err := out.ReadHeaders(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, out, outTree
}

// othersEqual compares every entry of every named state but those of some.
func othersEqual(t *testing.T, name string, s *model.Snapshot, tree *model.Tree, out *model.Snapshot, outTree *model.Tree, but ...model.Target) {
	t.Helper()
	for n := range model.Node(tree.Len()) {
		g := tree.Target(n, s.Meta.Operators)
		if g.Class != model.ClassState || g.Whole || g.Kind != model.KindOperator && g.Kind != model.KindKeyed || slices.Contains(but, g) {
			continue
		}
		if a, b := entriesOf(t, s, tree, g), entriesOf(t, out, outTree, g); !slices.Equal(a, b) {
			t.Errorf("%s: %s differs", name, g.Selector())
		}
	}
}

func TestWhereRefused(t *testing.T) {
	s, _ := open(t, fixture(t, "v4-heap-checkpoint"))
	tree, err := s.ReadHeaders(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ selector, where, rule string }{
		{"*/operator/buffered-elements", `value.f1 == -7`, "where-nothing"},
		{"*/operator/buffered-elements", `value.f1 ==`, "where"},
		{"*/coordinator", `subtask == 0`, "where-target"},
		{"*/operator/buffered-elements/0/1", `subtask == 0`, "where-target"},
	} {
		targets, err := s.Select(tree, c.selector)
		if err != nil {
			t.Fatal(err)
		}
		_, err = prune.Build(context.Background(), s, tree, prune.Request{Targets: targets, Where: c.where, Copy: prune.CopyFull})
		checkRule(t, c.selector+" "+c.where, err, c.rule)
	}
}
