package ui

import (
	"context"
	"os"
	"sync/atomic"
	"testing"

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
