// Package store is what the model and a storage agree on: the interface to
// bytes at URIs, its errors, and the URIs themselves. It knows nothing of Flink
// beyond how Flink prints a path, and no storage. model asks through it,
// package storage satisfies it.
package store

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"
)

// Store is what the model needs of a storage: bytes at URIs.
type Store interface {
	// Open gives the bytes at uri for ranged reading. A directory is an error.
	// ctx governs the reads too: after it is cancelled they fail.
	Open(ctx context.Context, uri string) (Object, error)
	// Stat tells the length of what is at uri, or ErrNotExist, or
	// ErrCannotAsk where this storage has no way to know.
	Stat(ctx context.Context, uri string) (Info, error)
	// List gives the direct children of the directory uri, sorted by name.
	List(ctx context.Context, uri string) ([]Info, error)
}

// Object is an open file: decoder.Input plus Close. ReadAt may be called from
// several goroutines. A file that changes after it was opened gives an error
// (ErrChanged), never a mixture of old and new bytes.
type Object interface {
	io.ReaderAt
	io.Closer
	// Size is the length in bytes, as it was when the file was opened.
	Size() int64
	// Name is where the bytes were found: a local path or a URI.
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
	// Create. It calls progress (which may be nil) with the bytes copied so far
	// and gives the checksum of what was written.
	Copy(ctx context.Context, src string, off, length int64, dst string, progress func(int64)) (Sum, error)
	// Remove deletes one file: chkscope's own marker or a temporary file.
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

// Sum is the length and CRC-32C (Castagnoli) of written bytes.
type Sum struct {
	Size  int64
	CRC32 uint32
	// NoCRC: the store copied on its own side and the bytes did not pass here.
	// CRC32 is 0 then; the store vouched for the copy by its own checksum.
	NoCRC bool
}

var (
	// ErrNotExist is a definite answer: nothing is there.
	ErrNotExist = errors.New("does not exist")
	// ErrExist: the destination is there already.
	ErrExist = errors.New("exists already")
	// ErrCannotAsk: another scheme, no access: neither there nor not there.
	ErrCannotAsk = errors.New("cannot be asked")
	// ErrChanged: the file was changed, replaced or deleted after it was opened.
	ErrChanged = errors.New("was changed while it was read")
	// ErrReadOnly: nothing may be written (--read-only).
	ErrReadOnly = errors.New("read-only")
)

// TempPrefix begins the name of every file that is not finished. Such files are
// left behind only by a kill or a crash; they may be removed when the same copy
// is taken up again.
const TempPrefix = ".chkscope-tmp-"

// IsTemp reports whether name (a last path element) is an unfinished file.
func IsTemp(name string) bool { return strings.HasPrefix(name, TempPrefix) }

// BulkStater is a Store that can ask for many files at once in fewer requests
// than one each.
type BulkStater interface {
	// StatAll calls each once for every uris[i], in any order but never two at a
	// time, with what Stat would have said. It returns early only with the error
	// of ctx.
	StatAll(ctx context.Context, uris []string, each func(i int, info Info, err error)) error
}

// Sweeper is a Store that can remove what killed writers left behind.
type Sweeper interface {
	// Sweep removes unfinished files of the directory dir and of no other: those
	// with TempPrefix, and begun uploads that no listing shows. It gives their
	// number. Nobody else may be writing there.
	Sweep(ctx context.Context, dir string) (int, error)
}
