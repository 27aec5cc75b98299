package model

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/storage"
)

func openCorpus(t testing.TB, dir string) (*Snapshot, *Tree) {
	t.Helper()
	s, tree, err := Open(context.Background(), storage.New(storage.Options{}), filepath.Join(corpus.Dir(t), dir), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, tree
}

func TestSelect(t *testing.T) {
	s, tree := openCorpus(t, "incident/consumer-to-source-1.15-p4/gen-5/checkpoint")
	const op = "61252f73469d3ffba207c548d29a0267"
	list := op + "/operator/topic-partition-offset-states"
	for _, c := range []struct {
		selector string
		want     []string
	}{
		{op, []string{op}},
		{"61252f73", []string{op}},
		{"61252F73469D3FFB", []string{op}},
		{"kafka-source", []string{op}}, // its uid hashes to the id
		{op + "/operator/*offset*", []string{list}},
		{op + "/op*r/topic?partition-offset-states", []string{list}},
		{"*/*/topic%2Dpartition-offset-states", []string{list}},
		{op + "/coordinator", []string{op + "/coordinator"}},
		{list + "/1", []string{list + "/1"}},
		{list + "/1-2", []string{list + "/1", list + "/2"}},
		{list + "/2-99", []string{list + "/2", list + "/3"}},
		{list + "/*", []string{list}},
		{list + "/0/5", []string{list + "/0/5"}},
		{list + "/0/3070-9999", []string{list + "/0/3070-3071"}},
		{list + "/*/duplicates", []string{list + "/*/duplicates"}},
		{op + "/*/*/3", []string{op + "/operator/SourceReaderState/3", list + "/3"}},
	} {
		got, err := s.Select(tree, c.selector)
		if err != nil {
			t.Errorf("%s: %v", c.selector, err)
			continue
		}
		var text []string
		for _, g := range got {
			text = append(text, g.Selector())
			back, err := ParseTarget(g.Selector())
			if err != nil || back != g {
				t.Errorf("ParseTarget(%q) = %+v, %v, want %+v", g.Selector(), back, err, g)
			}
			if s.Find(tree, g) == None {
				t.Errorf("%s: no node", g.Selector())
			}
		}
		slices.Sort(text)
		slices.Sort(c.want)
		if !slices.Equal(text, c.want) {
			t.Errorf("%s = %v, want %v", c.selector, text, c.want)
		}
	}
}

func TestSelectRefused(t *testing.T) {
	s, tree := openCorpus(t, "incident/consumer-to-source-1.15-p4/gen-5/checkpoint")
	for _, c := range []struct{ selector, want string }{
		{"61252f73469d3ffba207c548d29a0267/operator/topic-partition-offsets", "topic-partition-offset-states"},
		{"nobody", "nearest"},
		{"61252f7", "matches nothing"}, // a prefix has 8 digits or more
		{"", "empty"},
		{"x/operator/%zz", "hex digits"},
		{"x/states", "none of operator, keyed"},
		{"61252f73/operator/*/x", "no index"},
		{"61252f73/operator/*/3-1", "no index"},
		{"a/b/c/d/e/f", "at most 5"},
		{"61252f73/operator/topic-partition-offset-states/9", "matches nothing"},
		{"61252f73/operator/topic-partition-offset-states/0/3072", "matches nothing"},
		{"master/x", "matches nothing"},
	} {
		_, err := s.Select(tree, c.selector)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want an error with %q", c.selector, err, c.want)
		}
		var no *NoMatch
		var bad *BadSelector
		if !errors.As(err, &no) && !errors.As(err, &bad) {
			t.Errorf("%q: error type %T", c.selector, err)
		}
	}
}

func TestNearest(t *testing.T) {
	s, tree := openCorpus(t, "incident/consumer-to-source-1.15-p4/gen-5/checkpoint")
	_, err := s.Select(tree, "61252f73/operator/topic")
	var no *NoMatch
	if !errors.As(err, &no) || len(no.Nearest) == 0 || !strings.HasSuffix(no.Nearest[0], "/topic-partition-offset-states") {
		t.Errorf("%v", err)
	}
}

func TestEscape(t *testing.T) {
	g := Target{Class: ClassState, Kind: KindOperator, Name: "a/b %*?\xc0\x80é", Subtask: -1, Entries: AllEntries}
	want := "00000000000000000000000000000000/operator/a%2Fb%20%25%2A%3F%00%C3%A9" // NUL is C0 80 in the file
	if got := g.Selector(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if back, err := ParseTarget(want); err != nil || back != g {
		t.Errorf("ParseTarget = %+v, %v", back, err)
	}
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"*", "", true}, {"a*", "abc", true}, {"*c", "abc", true}, {"a*c", "abbc", true}, {"a?c", "abc", true},
		{"a?c", "ac", false}, {"%2A", "*", true}, {"%2A", "x", false}, {"a*b*c", "aXbYbZc", true}, {"abc", "ab", false},
		{"**", "x", true}, {"?", "", false},
	} {
		p, err := parsePart(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.match(c.text); got != c.want {
			t.Errorf("%q match %q = %v", c.pattern, c.text, got)
		}
	}
}

func TestMarks(t *testing.T) {
	s, tree := openCorpus(t, "incident/consumer-to-source-1.15-p4/gen-5/checkpoint")
	sel := func(text string) Target {
		got, err := s.Select(tree, text)
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %v %v", text, got, err)
		}
		return got[0]
	}
	state := sel("kafka-source/operator/topic-partition-offset-states")
	cell := sel("kafka-source/operator/topic-partition-offset-states/2")
	op := sel("kafka-source")
	var m Marks
	m.Add(state)
	v := m.View(s, tree)
	for g, want := range map[Target]MarkState{state: MarkMarked, cell: MarkCovered, op: MarkPartial} {
		if got := v.Of(s.Find(tree, g)); got != want {
			t.Errorf("%s is %d, want %d", g.Selector(), got, want)
		}
	}
	z := tree.Sizes(s.Find(tree, state))
	if v.Metadata != z.Inline+z.Bookkeeping || v.State != z.Inline+z.Exclusive+z.Shared || v.Lower {
		t.Errorf("totals %d %d %v of %+v", v.Metadata, v.State, v.Lower, z)
	}
	m.Add(op) // covers the state, which counts once
	if v := m.View(s, tree); v.State != tree.Sizes(s.Find(tree, op)).Exclusive+tree.Sizes(s.Find(tree, op)).Inline || v.Of(s.Find(tree, cell)) != MarkCovered {
		t.Errorf("operator marked: %d", v.State)
	}
	if !m.Undo() || m.Len() != 1 || !m.Undo() || m.Len() != 0 || m.Undo() {
		t.Error("undo")
	}
	if !m.Redo() || !m.Has(state) || !m.Redo() || m.Redo() {
		t.Error("redo")
	}
	m.Remove(op, state)
	sub := Target{Class: ClassSubtask, Op: op.Op, Subtask: 2, Entries: AllEntries}
	m.Add(sub)
	v = m.View(s, tree)
	if v.Of(s.Find(tree, cell)) != MarkCovered || v.Of(s.Find(tree, state)) != MarkPartial || v.Of(s.Find(tree, sub)) != MarkMarked {
		t.Error("a marked subtask covers its cells and makes the state partial")
	}
	m.Add(Target{Class: ClassCell, Op: op.Op, Kind: KindOperator, Name: state.Name, Subtask: 1, Entries: EntryRange{3, 7}})
	v = m.View(s, tree)
	one := s.Find(tree, sel("kafka-source/operator/topic-partition-offset-states/1"))
	if v.OfEntry(one, 3) != MarkMarked || v.OfEntry(one, 8) != MarkNone || v.Of(one) != MarkPartial {
		t.Error("marked entries")
	}
}

func TestFormat(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 167876810: "160.1 MiB", 10485760: "10.0 MiB", 1<<30 - 1: "1.0 GiB", -1: "?"} {
		if got := FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 20971520: "20,971,520"} {
		if got := FormatCount(n); got != want {
			t.Errorf("FormatCount(%d) = %q, want %q", n, got, want)
		}
	}
	for in, want := range map[string]string{"plain é 漢": "plain é 漢", "a\x1b[31mb": `a\x1b[31mb`, "\u202egnp": `\u202egnp`, "a\u200bb": `a\u200bb`, "\xff": `\xff`, "a\nb": `a\x0ab`, "\U000e0041": `\U000e0041`} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}
