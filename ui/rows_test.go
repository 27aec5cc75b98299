package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"chkscope/model"

	tea "charm.land/bubbletea/v2"
)

// TestSplicesEqualBuilds opens and closes rows at random, in both turns, with and
// without a filter: what is spliced in place is what a build from nothing gives,
// and row, number and find agree with the rows counted one by one.
func TestSplicesEqualBuilds(t *testing.T) {
	x := newTester(t, synthetic(t, wideCheckpoint(4, 5, 6)), syntheticDir, 80, 24)
	rng := rand.New(rand.NewPCG(1, 2))
	for step := range 600 {
		switch step % 150 {
		case 50:
			x.press("t")
		case 75:
			x.press("/")
			x.typeIn("state-3")
			x.press("enter")
		case 120:
			x.press("esc s s")
		case 149:
			x.press("g z")
		}
		x.tree.cursor = rng.Int64N(x.tree.list.total())
		x.press("enter")
		checkList(t, &x.tree, fmt.Sprint("step ", step))
		if t.Failed() {
			return
		}
	}
}

func checkList(t *testing.T, v *treeView, when string) {
	t.Helper()
	b := &builder{spec: &v.spec, out: &list{}, stop: never}
	want := b.build()
	if !slices.Equal(v.list.nodes, want.nodes) {
		t.Errorf("%s: nodes are %v, built %v", when, v.list.nodes, want.nodes)
	}
	if !slices.Equal(v.list.blocks, want.blocks) {
		t.Errorf("%s: blocks are %v, built %v", when, v.list.blocks, want.blocks)
	}
	i := int64(0)
	check := func(r row, k int) {
		if got := v.list.row(i); got != r {
			t.Errorf("%s: row %d is %v, not %v", when, i, got, r)
		}
		if got := v.list.find(r); got != i {
			t.Errorf("%s: %v is found at %d, not %d", when, r, got, i)
		}
		if got := v.position(i); got != k {
			t.Errorf("%s: the position of row %d is %d, not %d", when, i, got, k)
		}
		i++
	}
	next := 0
	for k, n := range v.list.nodes {
		if got := v.list.number(k); got != i {
			t.Errorf("%s: node %d is row %d, not %d", when, k, got, i)
		}
		check(row{n, -1}, k)
		if next < len(v.list.blocks) && v.list.blocks[next].at == k {
			for e := range v.list.blocks[next].n {
				check(row{n, e}, k)
			}
			next++
		}
	}
	if v.list.total() != i {
		t.Errorf("%s: %d rows, counted %d", when, v.list.total(), i)
	}
}

// TestBuildBesideKeys changes the spec while a build runs: the rows that come are
// those of the last spec, and the cursor stays on its thing.
func TestBuildBesideKeys(t *testing.T) {
	x := newTester(t, synthetic(t, wideCheckpoint(30, 10, 100)), syntheticDir, 80, 24)
	for n := model.Root; int(n) < x.names.tree.Len(); n++ {
		if x.names.tree.Class(n) == model.ClassState || x.names.tree.Class(n) == model.ClassOperator {
			x.tree.open.set(n)
		}
	}
	x.run(x.tree.rebuild())
	x.press("G")
	on := x.tree.here()
	cmd := x.tree.sortForTest(byName)
	if !x.tree.building {
		t.Fatal("30,000 rows were sorted while the keys waited")
	}
	x.mustShow("at work")
	x.press("up down s c s c") // meanwhile
	x.run(cmd)
	if x.tree.building || x.tree.order != byCount || !x.tree.reverse {
		t.Errorf("building %v, by %v, reversed %v", x.tree.building, x.tree.order, x.tree.reverse)
	}
	checkOrder(t, x)
	if x.tree.here() != on {
		t.Errorf("the cursor was on %v, is on %v", on, x.tree.here())
	}
}

func (v *treeView) sortForTest(o order) tea.Cmd {
	v.order = o
	return v.rebuild()
}

func checkOrder(t *testing.T, x *tester) {
	t.Helper()
	tr := x.names.tree
	last := map[model.Node]int64{}
	for _, n := range x.tree.list.nodes {
		p := tr.Parent(n, model.TurnState)
		if e, ok := last[p]; ok && tr.Entries(n) < e {
			t.Fatalf("%d entries after %d", tr.Entries(n), e)
		}
		last[p] = tr.Entries(n)
	}
}
