package storage

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"chkscope/model/store"
)

// Request is one request that reached a store. For a network store it is an
// HTTP request, retries counted each; for the disk it is a call.
type Request struct {
	Op      string // "open", "read", "stat", "list", "create", "write", "copy", "remove"; with the HTTP method behind it for S3
	URI     string // without secrets
	Range   string // of a ranged read, as HTTP writes it: "bytes=0-99"
	Status  int    // of HTTP, 0 for others
	Read    int64  // bytes received
	Written int64  // bytes sent
	Took    time.Duration
	Err     error
}

// Meter counts requests and bytes; all methods may be called by several
// goroutines. Its zero value is ready.
type Meter struct {
	// Log is told each request, for --log; nil is not told. It must be set
	// before the first use and be safe for concurrent calls.
	Log func(Request)

	requests, read, written, failed atomic.Int64
}

// Totals is what a Meter has counted so far.
type Totals struct {
	Requests, Failed int64
	Read, Written    int64 // bytes
}

// Totals gives the counts so far.
func (m *Meter) Totals() Totals {
	return Totals{Requests: m.requests.Load(), Failed: m.failed.Load(), Read: m.read.Load(), Written: m.written.Load()}
}

// add counts r; m may be nil.
func (m *Meter) add(r Request) {
	if m == nil {
		return
	}
	m.requests.Add(1)
	m.read.Add(r.Read)
	m.written.Add(r.Written)
	if r.Err != nil && r.Err != io.EOF {
		m.failed.Add(1)
	}
	if m.Log != nil {
		r.URI = store.Redact(r.URI)
		m.Log(r)
	}
}

// Count is s with every call told to m; with a nil m it is s itself.
func Count(s store.WriteStore, m *Meter) store.WriteStore {
	if m == nil {
		return s
	}
	return &counted{s, m}
}

type counted struct {
	store.WriteStore
	m *Meter
}

func (c *counted) Open(ctx context.Context, uri string) (store.Object, error) {
	start := time.Now()
	o, err := c.WriteStore.Open(ctx, uri)
	c.m.add(Request{Op: "open", URI: uri, Took: time.Since(start), Err: err})
	if err != nil {
		return nil, err
	}
	return &countedObject{o, c.m}, nil
}

func (c *counted) Stat(ctx context.Context, uri string) (store.Info, error) {
	start := time.Now()
	info, err := c.WriteStore.Stat(ctx, uri)
	c.m.add(Request{Op: "stat", URI: uri, Took: time.Since(start), Err: err})
	return info, err
}

func (c *counted) List(ctx context.Context, uri string) ([]store.Info, error) {
	start := time.Now()
	infos, err := c.WriteStore.List(ctx, uri)
	c.m.add(Request{Op: "list", URI: uri, Took: time.Since(start), Err: err})
	return infos, err
}

func (c *counted) Create(ctx context.Context, uri string) (store.Writer, error) {
	start := time.Now()
	w, err := c.WriteStore.Create(ctx, uri)
	c.m.add(Request{Op: "create", URI: uri, Took: time.Since(start), Err: err})
	if err != nil {
		return nil, err
	}
	return &countedWriter{w, c.m, uri, 0}, nil
}

func (c *counted) Copy(ctx context.Context, src string, off, length int64, dst string, progress func(int64)) (store.Sum, error) {
	start := time.Now()
	sum, err := c.WriteStore.Copy(ctx, src, off, length, dst, progress)
	c.m.add(Request{Op: "copy", URI: dst, Read: sum.Size, Written: sum.Size, Took: time.Since(start), Err: err})
	return sum, err
}

func (c *counted) Remove(ctx context.Context, uri string) error {
	start := time.Now()
	err := c.WriteStore.Remove(ctx, uri)
	c.m.add(Request{Op: "remove", URI: uri, Took: time.Since(start), Err: err})
	return err
}

type countedObject struct {
	store.Object
	m *Meter
}

func (o *countedObject) ReadAt(p []byte, off int64) (int, error) {
	start := time.Now()
	n, err := o.Object.ReadAt(p, off)
	o.m.add(Request{Op: "read", URI: o.Name(), Range: fmt.Sprintf("bytes=%d-%d", off, off+int64(len(p))-1), Read: int64(n), Took: time.Since(start), Err: err})
	return n, err
}

// countedWriter counts a file as one request when it is ended.
type countedWriter struct {
	store.Writer
	m   *Meter
	uri string
	n   int64
}

func (w *countedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.n += int64(n)
	return n, err
}

func (w *countedWriter) fill(in store.Object, off, length int64, progress func(int64)) (store.Sum, error) {
	f, ok := w.Writer.(filler)
	if !ok {
		return pump(context.Background(), w, io.NewSectionReader(in, off, length), progress)
	}
	sum, err := f.fill(in, off, length, progress)
	w.n += sum.Size
	return sum, err
}

func (w *countedWriter) Commit() error {
	start := time.Now()
	err := w.Writer.Commit()
	w.m.add(Request{Op: "write", URI: w.uri, Written: w.n, Took: time.Since(start), Err: err})
	return err
}
