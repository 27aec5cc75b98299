package ui

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"chkscope/decoder/ha"
	"chkscope/model"
)

// countingStore counts the files that are open.
type countingStore struct {
	*memStore
	open *atomic.Int64
}

type countedObject struct {
	model.Object
	open *atomic.Int64
}

func (c countingStore) Open(ctx context.Context, uri string) (model.Object, error) {
	o, err := c.memStore.Open(ctx, uri)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return countedObject{o, c.open}, nil
}

func (c countedObject) Close() error {
	c.open.Add(-1)
	return c.Object.Close()
}

// haStore has a completedCheckpoint object with its `_metadata`.
func haStore(t testing.TB) *memStore {
	st := &memStore{files: map[string][]byte{}}
	for from, to := range map[string]string{"flink-1.20.metadata": "file:/checkpoints/chk-1/_metadata", "flink-1.20.object": haObject} {
		b, err := os.ReadFile("../decoder/ha/testdata/" + from)
		if err != nil {
			t.Fatal(err)
		}
		st.files[to] = b
	}
	return st
}

const haObject = "file:/ha/lab/completedCheckpoint0123456789ab"

// TestPlansAreClosed: the plan of an object opens its `_metadata` beside it, and
// gives that back when it is not wanted any more.
func TestPlansAreClosed(t *testing.T) {
	open := &atomic.Int64{}
	x := newTester(t, countingStore{haStore(t), open}, haObject, 100, 30)
	for range 3 {
		x.press("space tab esc")
	}
	if n := open.Load(); n > 2 {
		t.Errorf("%d files are open, the object and the _metadata of one plan are 2", n)
	}
	if err := x.finish(nil); err != nil {
		t.Fatal(err)
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d files are open at the end", n)
	}
}

// pointAt puts a pointer of ZooKeeper into the store.
func pointAt(t testing.TB, st *memStore, number int, object string) {
	t.Helper()
	b, err := os.ReadFile("../decoder/ha/testdata/zookeeper.pointer")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ha.ParsePointer(b)
	if err == nil {
		b, err = p.Encode(object, 14049)
	}
	if err != nil {
		t.Fatal(err)
	}
	st.files[fmt.Sprintf("file:/zk/jobs/0123456789abcdef0123456789abcdef/checkpoints/%019d", number)] = b
}

// pointedStore has two pointers, one of them dangling, and an object without one.
func pointedStore(t testing.TB) *memStore {
	st := haStore(t)
	pointAt(t, st, 7, haObject)
	pointAt(t, st, 8, "file:/ha/lab/completedCheckpointcccccccccccc")
	st.files["file:/ha/lab/completedCheckpointbbbbbbbbbbbb"] = st.files[haObject]
	return st
}

// openPointed is the explorer on ZooKeeper's nodes.
func openPointed(t testing.TB, w, h int) *tester {
	return newTester(t, pointedStore(t), "file:/zk", w, h)
}

// TestChoosePointed: what points to several checkpoints is a list like that of a
// parent directory; a plan of the chosen one writes its pointer anew.
func TestChoosePointed(t *testing.T) {
	st := pointedStore(t)
	x := newTester(t, st, "file:/zk", 100, 30)
	x.mustShow("which checkpoint does Flink recover from?", "> "+strings.Repeat(" ", 7)+"8", "dangling", "cccccccccccc is not there", "7  2026-03-04", "agrees")
	for _, l := range strings.Split(newTester(t, st, "file:/zk", 60, 20).text(), "\n") {
		if width(l) > 60 {
			t.Errorf("too wide: %q", l)
		}
	}
	x.press("enter")
	x.mustShow("does not exist", "which checkpoint does Flink recover from?")
	x.press("down")
	x.mustNotShow("is not there")
	x.press("enter")
	x.mustShow("checkpoint 7")
	x.press("space tab")
	if p := x.plan.plan; p == nil || p.Object == nil || p.Object.Pointer == nil || !strings.HasSuffix(p.Object.Pointer.Where, "0000000000000000007") {
		t.Errorf("%+v, %v", p, x.plan.err)
	}
	y := newTester(t, st, "file:/ha", 100, 30)
	y.mustShow("not pointed to", "completedCheckpointbbbbbbbbbbbb", "?")
}
