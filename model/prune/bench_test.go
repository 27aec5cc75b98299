package prune_test

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/prune"
	"chkscope/model/store"
	"chkscope/storage"
)

// incidentElements is the number of entries of the founding incident, 160 MiB of
// offsets; elementBytes is what one of them takes in its file.
const (
	incidentElements = 20_971_520
	elementBytes     = 62
)

// growIncident writes the incident with n entries: the fixture's `_metadata` and
// files, with the forgotten union list drawn out. The files are sparse.
func growIncident(tb testing.TB, n int64) string {
	tb.Helper()
	s, _ := open(tb, fixture(tb, "incident/gen-3-files"))
	dir := scratch(tb)
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(fixture(tb, "incident/gen-3-files")))); err != nil {
		tb.Fatal(err)
	}
	var lists []*metadata.OperatorState
	var handles []*metadata.OperatorHandle
	for i := range s.Meta.Operators {
		for _, sub := range s.Meta.Operators[i].Subtasks {
			if sub.State == nil || sub.State.ManagedOperator == nil {
				continue
			}
			h := sub.State.ManagedOperator
			for k := range h.States {
				if h.States[k].Name == "topic-partition-offset-states" && h.States[k].Offsets.Len() > 0 {
					lists, handles = append(lists, &h.States[k]), append(handles, h)
				}
			}
		}
	}
	for i, list := range lists {
		h := handles[i]
		values := make([]int64, n/int64(len(lists)))
		for k := range values {
			values[k] = h.Delegate.Size + int64(k)*elementBytes
		}
		list.Offsets = metadata.NewOffsets(values)
		h.Delegate.Size += int64(len(values)) * elementBytes
		if err := os.Truncate(filepath.Join(dir, h.Delegate.Name), h.Delegate.Size); err != nil {
			tb.Fatal(err)
		}
	}
	path := filepath.Join(dir, "_metadata")
	os.Remove(path)
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := metadata.Encode(f, s.Meta); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

// BenchmarkDropIncident plans, writes and proves the reference copy of the
// incident without its forgotten state.
func BenchmarkDropIncident(b *testing.B) {
	path := growIncident(b, incidentElements)
	base := scratch(b)
	ctx := context.Background()
	b.ResetTimer()
	for i := range b.N {
		s, tree, err := model.Open(ctx, storage.New(storage.Options{}), store.FileURI(path), model.Options{})
		if err != nil {
			b.Fatal(err)
		}
		var targets []model.Target
		for _, g := range operatorStates(s) {
			if g.Name == "topic-partition-offset-states" {
				targets = append(targets, g)
			}
		}
		p, err := prune.Build(ctx, s, tree, prune.Request{Targets: targets, Copy: prune.CopyReference, Destination: store.FileURI(filepath.Join(base, fmt.Sprint("copy", i)))})
		if err != nil {
			b.Fatal(err)
		}
		res, err := prune.Apply(ctx, p, storage.New(storage.Options{}), nil)
		if err != nil {
			b.Fatal(err)
		}
		if res.Plan.Files.Rewritten != 4 || p.MetadataBytes.After > 1<<20 {
			b.Fatalf("%d files rewritten, %d bytes of _metadata", res.Plan.Files.Rewritten, p.MetadataBytes.After)
		}
		s.Close()
	}
}

// BenchmarkFullCopy copies 64 files of 8 MiB, written, synced and proved; the
// figure to set beside it is that of cp and sync.
func BenchmarkFullCopy(b *testing.B) {
	m := &made{dir: filepath.Join(b.TempDir(), "chk-1"), meta: metadata.Checkpoint{Version: 3, ID: 1}}
	var subs []*metadata.SubtaskState
	data := make([]byte, 8<<20)
	for i := range 64 {
		rand.New(rand.NewSource(int64(i))).Read(data)
		subs = append(subs, raw(m.file(b, fmt.Sprint("file-", i), string(data)), 0))
	}
	m.operator(1, subs...)
	s, tree := m.open(b, model.Options{})
	b.SetBytes(64 * int64(len(data)))
	b.ResetTimer()
	for range b.N {
		dest := filepath.Join(filepath.Dir(m.dir), "copy")
		p, err := prune.Build(context.Background(), s, tree, prune.Request{Copy: prune.CopyFull, Destination: store.FileURI(dest)})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := prune.Apply(context.Background(), p, storage.New(storage.Options{}), nil); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		os.RemoveAll(dest)
		os.Remove(dest + ".chkscope-report.json")
		b.StartTimer()
	}
}

// BenchmarkManyStates plans the removal of every named state of 1,500 operators
// with 100 subtasks each: 750,000 cells.
func BenchmarkManyStates(b *testing.B) {
	m := &made{dir: filepath.Join(scratch(b), "chk-1"), meta: metadata.Checkpoint{Version: 3, ID: 1}}
	for op := range 1500 {
		var subs []*metadata.SubtaskState
		for sub := range 100 {
			h := metadata.StreamHandle{Type: metadata.TypeFile, Name: fmt.Sprintf("file:/nowhere/%d-%d", op, sub), Size: 100}
			st := raw(h)
			for k := range 5 {
				st.RawOperator.States = append(st.RawOperator.States, metadata.OperatorState{Name: fmt.Sprint("state-", k), Offsets: metadata.NewOffsets([]int64{int64(k)})})
			}
			subs = append(subs, st)
		}
		m.operator(0, subs...)
		m.meta.Operators[op].ID[1], m.meta.Operators[op].ID[2] = byte(op), byte(op>>8)
	}
	s, tree := m.open(b, model.Options{})
	var targets []model.Target
	for i := range s.Meta.Operators {
		for k := range 5 {
			targets = append(targets, model.StateTarget(s.Meta.Operators[i].ID, model.KindRawOperator, fmt.Sprint("state-", k)))
		}
	}
	b.ResetTimer()
	for range b.N {
		if _, err := prune.Build(context.Background(), s, tree, prune.Request{Targets: targets, Copy: prune.CopyReference}); err != nil {
			b.Fatal(err)
		}
	}
}
