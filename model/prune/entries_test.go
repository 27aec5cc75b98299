package prune_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"chkscope/decoder/serde"
	"chkscope/model"
	"chkscope/model/prune"
)

// withHeaders opens a fixture and reads the headers of its streams.
func withHeaders(t *testing.T, path string) (*model.Snapshot, *model.Tree) {
	t.Helper()
	s, _ := open(t, path)
	return s, headersOf(t, s)
}

// selected gives the targets of selectors.
func selected(t *testing.T, s *model.Snapshot, tree *model.Tree, selectors ...string) (out []model.Target) {
	t.Helper()
	for _, sel := range selectors {
		g, err := s.Select(tree, sel)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g...)
	}
	return out
}

// numbered gives the entries of a state as text with subtask and number; an entry
// of a heap map has the number of its key.
func numbered(t *testing.T, s *model.Snapshot, tree *model.Tree, g model.Target) []string {
	t.Helper()
	var out []string
	err := s.EachEntry(context.Background(), tree, []model.Node{s.Find(tree, g)}, serde.DefaultLimits, nil, func(e *model.Entry) error {
		out = append(out, fmt.Sprintf("%d/%d: %s | %s | %s | %s", e.Subtask, e.Index, &e.Key, &e.Namespace, &e.MapKey, &e.Value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// withoutNumbers are the entries alone.
func withoutNumbers(list []string) []string {
	var out []string
	for _, e := range list {
		_, text, _ := strings.Cut(e, ": ")
		out = append(out, text)
	}
	return out
}

// TestEntriesByNumber takes entries of keyed and broadcast states out by the
// numbers that show gives them: just these are gone.
func TestEntriesByNumber(t *testing.T) {
	for _, c := range []struct {
		fixture, state string
		numbers        []string
		gone           func(e string) bool
	}{
		{"v4-heap-checkpoint", "keyed/spaced", []string{"0/0", "0/2-3", "1/1"}, nil},
		{"v4-heap-checkpoint", "keyed/ttl-map", []string{"0/1"}, nil},
		{"v4-heap-checkpoint", "keyed/ttl-list", []string{"*/0"}, nil},
		{"v4-heap-snappy", "keyed/merged-list", []string{"0/0", "1/1"}, nil},
		{"v4-canonical-savepoint", "keyed/history", []string{"1/1-2"}, nil},
		{"v4-canonical-savepoint", "keyed/per-product", []string{"0/0", "1/3-1000000"}, nil},
		{"v4-canonical-savepoint", "keyed/_timer_state%2Fevent_user-timers", []string{"1/2"}, nil},
		{"v3-canonical-savepoint", "keyed/session-ttl", []string{"0/0-5"}, nil},
		{"v4-heap-checkpoint", "operator/rules", []string{"0/1"}, func(e string) bool { return strings.Contains(e, "rule-3 ") }},
		{"v4-heap-snappy", "operator/limits", []string{"1/0-1", "0/1"}, nil},
		{"v6-heap-checkpoint", "operator/limits", []string{"*/2"}, nil},
		{"v6-file-merging", "operator/rules", []string{"0/0"}, nil},
		{"v6-file-merging", "keyed/spaced", []string{"1/0-1"}, nil},
	} {
		name := c.fixture + " " + c.state
		s, tree := withHeaders(t, fixture(t, c.fixture))
		g := selected(t, s, tree, "*/"+c.state)[0]
		var selectors []string
		for _, n := range c.numbers {
			selectors = append(selectors, "*/"+c.state+"/"+n)
		}
		targets := selected(t, s, tree, selectors...)
		p, out, outTree := pruneEntries(t, name, s, tree, prune.Request{Targets: targets})
		if p == nil {
			continue
		}
		named := func(e string) bool {
			var sub, n int64
			fmt.Sscanf(e, "%d/%d:", &sub, &n)
			return slices.ContainsFunc(targets, func(g model.Target) bool {
				return int64(g.Subtask) == sub && g.Entries.First <= n && n <= g.Entries.Last
			})
		}
		all := numbered(t, s, tree, g)
		goes := c.gone
		if goes == nil && strings.HasPrefix(c.state, "operator/") { // in every subtask, by its key
			keys := map[string]bool{}
			for _, e := range all {
				if named(e) {
					keys[withoutNumbers([]string{e})[0]] = true
				}
			}
			goes = func(e string) bool { return keys[withoutNumbers([]string{e})[0]] }
		} else if goes == nil {
			goes = named
		}
		want := slices.DeleteFunc(slices.Clone(all), goes)
		got := numbered(t, out, outTree, g)
		if len(want) == len(all) || !slices.Equal(withoutNumbers(got), withoutNumbers(want)) {
			t.Errorf("%s: left are\n%s\nnot\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		othersEqual(t, name, s, tree, out, outTree, g)
		if !strings.Contains(strings.Join(p.Losses, " "), "such as: ") || p.Removed[0].Entries == nil || *p.Removed[0].Entries < 1 {
			t.Errorf("%s: the plan says %+v %v", name, p.Removed, p.Losses)
		}
	}
}

// TestNumbersAndWholeStates: entries of one state and another state as a whole go
// at once.
func TestNumbersAndWholeStates(t *testing.T) {
	s, tree := withHeaders(t, fixture(t, "v4-heap-checkpoint"))
	targets := selected(t, s, tree, "*/keyed/spaced/0/1", "*/keyed/ttl-list", "*/operator/rules/0/0", "*/operator/limits", "*/operator/buffered-elements/0/0")
	var states []model.Target
	for _, g := range targets {
		states = append(states, model.StateTarget(g.Op, g.Kind, g.Name))
	}
	dir := pruneMixed(t, s, tree, targets)
	othersEqual(t, "mixed", s, tree, dir.s, dir.tree, states...)
	for i, g := range states {
		if before, after := len(entriesOf(t, s, tree, g)), len(entriesOf(t, dir.s, dir.tree, g)); after >= before || targets[i] == g && after != 0 {
			t.Errorf("%s: %d entries became %d", g.Selector(), before, after)
		}
	}
}

type opened struct {
	s    *model.Snapshot
	tree *model.Tree
}

func pruneMixed(t *testing.T, s *model.Snapshot, tree *model.Tree, targets []model.Target) opened {
	t.Helper()
	dir := scratch(t) + "/copy"
	p, err := prune.Build(context.Background(), s, tree, prune.Request{Targets: targets, Copy: prune.CopyReference, Destination: "file:" + dir})
	if err != nil {
		t.Fatal(err)
	}
	res, err := prune.Apply(context.Background(), p, s.Store.(model.WriteStore), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Proof.OK || res.Proof.Equal+res.Proof.Removed != res.Proof.Checked {
		t.Errorf("proof %+v", res.Proof)
	}
	out, outTree := withHeaders(t, dir+"/_metadata")
	return opened{out, outTree}
}

// TestSeveralStates: a condition on an operator, or on its keyed state without a
// name, is asked of the states that have what it asks for; the plan names the
// others.
func TestSeveralStates(t *testing.T) {
	for _, c := range []struct {
		fixture, selector, where string
		states                   []string // of which entries go
		not                      string   // in the sentence about those that it does not apply to
		rule                     string
	}{
		{"v4-canonical-savepoint", "enrich/keyed", `map_key == "product-1"`, []string{"per-product"}, "session-ttl", ""},
		{"v4-canonical-savepoint", "enrich/keyed", `key == 3 and state != "blob"`, []string{"address", "aggregate", "level", "session-ttl", "per-product"}, "", ""},
		{"v4-canonical-savepoint", "named/keyed", `not (namespace == "space-a")`, []string{"spaced"}, "ttl-list", ""},
		{"v4-heap-checkpoint", "named", `map_key == "k0" or map_key == "n0"`, []string{"ttl-map", "null-map"}, "spaced", ""},
		{"v4-heap-checkpoint", "with-rules", `key in ["rule-1", "limit-1"]`, []string{"rules", "limits"}, "", ""},
		{"v4-heap-checkpoint", "buffering", `value.f1 != 2`, []string{"buffered-elements", "union-offsets"}, "pending-orders", ""},
		{"v4-heap-checkpoint", "buffering", `topic == "orders"`, nil, "", "where-nothing"},
		{"v4-rocks-incremental", "enrich/keyed", `key == 3`, nil, "", "rocksdb-entries"},
		{"v4-rocks-incremental", "enrich", `key == 3`, nil, "", "where-nothing"},
		{"v4-changelog-heap", "enrich/keyed", `key == 3`, nil, "", "changelog-entries"},
	} {
		name := c.fixture + " " + c.selector + " " + c.where
		s, _, err := model.Open(context.Background(), corpusStore(fixture(t, c.fixture)), "file:"+fixture(t, c.fixture), model.Options{UIDs: []string{"enrich", "named", "with-rules", "buffering"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		tree := headersOf(t, s)
		targets := selected(t, s, tree, c.selector)
		req := prune.Request{Targets: targets, Where: c.where, Copy: prune.CopyFull}
		if c.rule != "" {
			_, err := prune.Build(context.Background(), s, tree, req)
			checkRule(t, name, err, c.rule)
			continue
		}
		p, out, outTree := pruneEntries(t, name, s, tree, req)
		if p == nil {
			continue
		}
		var changed []model.Target
		for _, r := range p.Removed {
			g, err := model.ParseTarget(r.Selector)
			if err != nil || r.Entries == nil || *r.Entries == 0 {
				t.Fatalf("%s: %v %+v", name, err, r)
			}
			changed = append(changed, g)
			before, after := entriesOf(t, s, tree, g), entriesOf(t, out, outTree, g)
			if int64(len(before)-len(after)) != *r.Entries {
				t.Errorf("%s: %s: %d entries became %d, %d were planned", name, r.Selector, len(before), len(after), *r.Entries)
			}
		}
		for _, want := range c.states {
			if !slices.ContainsFunc(changed, func(g model.Target) bool { return g.Name == want }) {
				t.Errorf("%s: nothing of %s goes: %+v", name, want, p.Removed)
			}
		}
		if c.not != "" && (len(changed) != len(c.states) || !slices.ContainsFunc(p.Warnings, func(s string) bool {
			return strings.Contains(s, "does not apply to") && strings.Contains(s, c.not)
		})) {
			t.Errorf("%s: %d states change, warnings %v", name, len(changed), p.Warnings)
		}
		othersEqual(t, name, s, tree, out, outTree, changed...)
	}
}

// TestEntriesRefused: what cannot go entry by entry says why, and so does the mark
// where that is known then.
func TestEntriesRefused(t *testing.T) {
	for _, c := range []struct{ fixture, selector, rule, mark string }{
		{"v4-heap-checkpoint", "*/keyed/spaced/0/100", "unknown", ""},
		{"v4-rocks-incremental", "*/keyed/order/0/1", "rocksdb-entries", "RocksDB's files"},
		{"v4-changelog-heap", "*/keyed/order/0/1", "changelog-entries", "changelog handles"},
		{"v4-heap-checkpoint", "*/operator/limits/*/duplicates", "broadcast-entries", "no duplicates"},
	} {
		s, tree := withHeaders(t, fixture(t, c.fixture))
		targets := selected(t, s, tree, c.selector)
		_, err := prune.Build(context.Background(), s, tree, prune.Request{Targets: targets, Copy: prune.CopyFull})
		checkRule(t, c.fixture+" "+c.selector, err, c.rule)
		if why, ok := prune.CheckMark(s, targets[0]); ok != (c.mark == "") || !strings.Contains(why, c.mark) {
			t.Errorf("%s %s: the mark says %v %q", c.fixture, c.selector, ok, why)
		}
	}
	s, tree := withHeaders(t, fixture(t, "v4-heap-checkpoint"))
	for _, selector := range []string{"*/keyed/spaced/0/0", "*/operator/limits/0/0"} {
		_, err := prune.Build(context.Background(), s, tree, prune.Request{Targets: selected(t, s, tree, selector), Copy: prune.CopyFull, KeepHeaders: true})
		checkRule(t, selector+" with --keep-headers", err, "keep-headers")
	}
}
