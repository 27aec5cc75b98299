package model

import (
	"context"
	"errors"
	"io"
	"time"
)

// Store is what the model needs of a storage: bytes at URIs, nothing of Flink.
// The package storage satisfies it.
type Store interface {
	// Open gives the bytes at uri for ranged reading. A directory is an error.
	Open(ctx context.Context, uri string) (Object, error)
	// Stat tells the length of what is at uri, or ErrNotExist, or
	// ErrCannotAsk where this storage has no way to know.
	Stat(ctx context.Context, uri string) (Info, error)
	// List gives the direct children of the directory uri, sorted by name.
	List(ctx context.Context, uri string) ([]Info, error)
}

// Object is an open file: decoder.Input plus Close.
type Object interface {
	io.ReaderAt
	io.Closer
	Size() int64
	Name() string
}

// Info is one file or directory.
type Info struct {
	Name     string // last path element
	URI      string
	Size     int64
	Dir      bool
	Modified time.Time
}

// WriteStore is what a copy is written through.
type WriteStore interface {
	Store
	// Create begins a new file at uri. It appears under its name, whole and
	// synced, only when Commit returns nil; it never replaces an existing one
	// (ErrExist). Directories are made as needed.
	Create(ctx context.Context, uri string) (Writer, error)
	// Copy makes dst a new file with length bytes of src from off on (length -1:
	// all of it), by the store's own means where it can; the same promises as
	// Create. It calls progress with bytes copied so far and gives the
	// checksum of what was written (CRC-32C).
	Copy(ctx context.Context, src string, off, length int64, dst string, progress func(int64)) (Sum, error)
	// Remove deletes one file; used for chkscope's own marker file only.
	Remove(ctx context.Context, uri string) error
	// Free is the free space in bytes at uri, or -1 where nobody can know.
	Free(ctx context.Context, uri string) int64
}

// Writer is a file that is being written.
type Writer interface {
	io.Writer
	// Commit syncs and gives the file its name.
	Commit() error
	// Abort removes what was written; after Commit it does nothing.
	Abort() error
}

// Sum is the length and CRC-32C of written bytes.
type Sum struct {
	Size  int64
	CRC32 uint32
}

var (
	// ErrNotExist is a definite answer: nothing is there.
	ErrNotExist = errors.New("does not exist")
	// ErrExist: the destination is there already.
	ErrExist = errors.New("exists already")
	// ErrCannotAsk: another scheme, no access: neither there nor not there.
	ErrCannotAsk = errors.New("cannot be asked")
)
