package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"chkscope/model"
	"chkscope/model/store"
)

// demoFile is a file of the demo: pieces one behind the other, most of which
// are computed when they are read, so that the incident's size costs nothing.
type demoFile struct {
	name   string
	pieces []demoPiece
}

// demoPiece is a stretch of a file.
type demoPiece interface {
	size() int64
	// read fills p from off on; off+len(p) is at most size.
	read(p []byte, off int64)
}

// literal is bytes as they are.
type literal []byte

func (l literal) size() int64              { return int64(len(l)) }
func (l literal) read(p []byte, off int64) { copy(p, l[off:]) }

// repeated is a block, n times.
type repeated struct {
	block []byte
	n     int64
}

func (r repeated) size() int64 { return r.n * int64(len(r.block)) }

func (r repeated) read(p []byte, off int64) {
	at := int(off % int64(len(r.block)))
	for len(p) > 0 {
		n := copy(p, r.block[at:])
		p, at = p[n:], 0
	}
}

// offsetArray is the offsets (8 bytes each) of a block of elements that stands n
// times in a stream: those of the first block, and so on, a block's length apart.
type offsetArray struct {
	first  []int64
	length int64 // of the block, in bytes
	n      int64
}

func (o offsetArray) size() int64 { return 8 * o.n * int64(len(o.first)) }

func (o offsetArray) read(p []byte, off int64) {
	i, skip := off/8, off%8
	for len(p) > 0 {
		var b [8]byte
		count := int64(len(o.first))
		binary.BigEndian.PutUint64(b[:], uint64(o.first[i%count]+i/count*o.length))
		n := copy(p, b[skip:])
		p, i, skip = p[n:], i+1, 0
	}
}

// Size and Name make it a store.Object.
func (f *demoFile) Size() int64 {
	n := int64(0)
	for _, p := range f.pieces {
		n += p.size()
	}
	return n
}

func (f *demoFile) Name() string { return demoDir + "/" + f.name }
func (f *demoFile) Close() error { return nil }

func (f *demoFile) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("%s: negative offset", f.Name())
	}
	done := 0
	for _, piece := range f.pieces {
		if n := piece.size(); off >= n {
			off -= n
			continue
		}
		n := int(min(int64(len(p)-done), piece.size()-off))
		piece.read(p[done:done+n], off)
		done, off = done+n, 0
		if done == len(p) {
			return done, nil
		}
	}
	return done, io.EOF
}

// demoDir is where the demo's checkpoint is, as far as the program is concerned.
const (
	demoDir    = "demo:/incident/chk-16"
	demoScheme = "demo"
)

// demoStore is the demo's files in front of another storage, to which copies
// are written.
type demoStore struct {
	model.WriteStore
	files map[string]*demoFile // by name
}

func (d *demoStore) find(uri string) (*demoFile, error) {
	if name, ok := store.Rel(demoDir, uri); ok && d.files[name] != nil {
		return d.files[name], nil
	}
	return nil, fmt.Errorf("%s: %w", uri, model.ErrNotExist)
}

// Open gives a file of the demo, or one of the storage behind it.
func (d *demoStore) Open(ctx context.Context, uri string) (model.Object, error) {
	if store.Scheme(uri) != demoScheme {
		return d.WriteStore.Open(ctx, uri)
	}
	f, err := d.find(uri)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Stat tells of a file or of the demo's directory.
func (d *demoStore) Stat(ctx context.Context, uri string) (model.Info, error) {
	if store.Scheme(uri) != demoScheme {
		return d.WriteStore.Stat(ctx, uri)
	}
	if store.Same(uri, demoDir) {
		return model.Info{Name: store.Base(uri), URI: uri, Dir: true}, nil
	}
	f, err := d.find(uri)
	if err != nil {
		return model.Info{}, err
	}
	return model.Info{Name: f.name, URI: uri, Size: f.Size()}, nil
}

// List gives the files of the demo's directory.
func (d *demoStore) List(ctx context.Context, uri string) ([]model.Info, error) {
	if store.Scheme(uri) != demoScheme {
		return d.WriteStore.List(ctx, uri)
	}
	if !store.Same(uri, demoDir) {
		return nil, fmt.Errorf("%s: %w", uri, model.ErrNotExist)
	}
	var out []model.Info
	for _, f := range d.files {
		out = append(out, model.Info{Name: f.name, URI: f.Name(), Size: f.Size()})
	}
	slices.SortFunc(out, func(a, b model.Info) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out, nil
}

// Create writes to the storage behind the demo: the demo itself is no place.
func (d *demoStore) Create(ctx context.Context, uri string) (model.Writer, error) {
	if store.Scheme(uri) == demoScheme {
		return nil, fmt.Errorf("%s is only in memory; name a directory on disk as the destination", uri)
	}
	return d.WriteStore.Create(ctx, uri)
}

// Free is not known for the demo itself.
func (d *demoStore) Free(ctx context.Context, uri string) int64 {
	if store.Scheme(uri) == demoScheme {
		return -1
	}
	return d.WriteStore.Free(ctx, uri)
}

// Copy writes a file of the demo into the storage behind it.
func (d *demoStore) Copy(ctx context.Context, src string, off, length int64, dst string, progress func(int64)) (model.Sum, error) {
	if store.Scheme(src) != demoScheme {
		return d.WriteStore.Copy(ctx, src, off, length, dst, progress)
	}
	f, err := d.find(src)
	if err != nil {
		return model.Sum{}, err
	}
	if length < 0 {
		length = f.Size() - off
	}
	w, err := d.Create(ctx, dst)
	if err != nil {
		return model.Sum{}, err
	}
	defer w.Abort()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n, err := io.Copy(io.MultiWriter(w, sum), &demoReader{ctx, io.NewSectionReader(f, off, length), 0, progress})
	if err != nil {
		return model.Sum{}, err
	}
	return model.Sum{Size: n, CRC32: sum.Sum32()}, w.Commit()
}

// demoReader stops where the context is cancelled and tells how far it is.
type demoReader struct {
	ctx      context.Context
	r        io.Reader
	n        int64
	progress func(int64)
}

func (r *demoReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	r.n += int64(n)
	if r.progress != nil {
		r.progress(r.n)
	}
	return n, err
}
