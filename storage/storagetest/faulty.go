package storagetest

import (
	"context"

	"chkscope/model/store"
)

// Faulty is Store with every step asked for its error first: Fault is told the
// step ("open", "read", "stat", "list", "create", "write", "commit", "copy",
// "remove") and the URI, and a step for which it gives an error fails with it
// and does nothing. It must be safe for concurrent calls.
type Faulty struct {
	Store store.WriteStore
	Fault func(step, uri string) error
}

// Open fails at "open"; reads of what it gives fail at "read".
func (f *Faulty) Open(ctx context.Context, uri string) (store.Object, error) {
	if err := f.Fault("open", uri); err != nil {
		return nil, err
	}
	o, err := f.Store.Open(ctx, uri)
	if err != nil {
		return nil, err
	}
	return &faultyObject{o, f, uri}, nil
}

// Stat fails at "stat".
func (f *Faulty) Stat(ctx context.Context, uri string) (store.Info, error) {
	if err := f.Fault("stat", uri); err != nil {
		return store.Info{}, err
	}
	return f.Store.Stat(ctx, uri)
}

// List fails at "list".
func (f *Faulty) List(ctx context.Context, uri string) ([]store.Info, error) {
	if err := f.Fault("list", uri); err != nil {
		return nil, err
	}
	return f.Store.List(ctx, uri)
}

// Create fails at "create"; what it gives fails at "write" and "commit".
func (f *Faulty) Create(ctx context.Context, uri string) (store.Writer, error) {
	if err := f.Fault("create", uri); err != nil {
		return nil, err
	}
	w, err := f.Store.Create(ctx, uri)
	if err != nil {
		return nil, err
	}
	return &faultyWriter{w, f, uri}, nil
}

// Copy fails at "copy".
func (f *Faulty) Copy(ctx context.Context, src string, off, length int64, dst string, progress func(int64)) (store.Sum, error) {
	if err := f.Fault("copy", dst); err != nil {
		return store.Sum{}, err
	}
	return f.Store.Copy(ctx, src, off, length, dst, progress)
}

// Remove fails at "remove".
func (f *Faulty) Remove(ctx context.Context, uri string) error {
	if err := f.Fault("remove", uri); err != nil {
		return err
	}
	return f.Store.Remove(ctx, uri)
}

// Free never fails.
func (f *Faulty) Free(ctx context.Context, uri string) int64 { return f.Store.Free(ctx, uri) }

type faultyObject struct {
	store.Object
	f   *Faulty
	uri string
}

func (o *faultyObject) ReadAt(p []byte, off int64) (int, error) {
	if err := o.f.Fault("read", o.uri); err != nil {
		return 0, err
	}
	return o.Object.ReadAt(p, off)
}

type faultyWriter struct {
	store.Writer
	f   *Faulty
	uri string
}

func (w *faultyWriter) Write(p []byte) (int, error) {
	if err := w.f.Fault("write", w.uri); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

func (w *faultyWriter) Commit() error {
	if err := w.f.Fault("commit", w.uri); err != nil {
		w.Writer.Abort()
		return err
	}
	return w.Writer.Commit()
}
