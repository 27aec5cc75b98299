package storage

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"chkscope/model/store"
)

// writeBuffer collects the small writes of encoders.
const writeBuffer = 256 << 10

// Create opens a file under a temporary name beside uri. See temp.commit for
// how it gets its name.
func (local) Create(ctx context.Context, uri string) (store.Writer, error) {
	p, err := localPath("create", uri)
	if err != nil {
		return nil, err
	}
	t, err := newTemp(p)
	if err != nil {
		return nil, err
	}
	return &localWriter{ctx: ctx, temp: t, buf: bufio.NewWriterSize(t, writeBuffer)}, nil
}

// temp is a file that has not got its name yet.
type temp struct {
	f       *os.File
	path    string // the name it is to get
	written int64
	begun   int64 // up to here the kernel was asked to write to the disk
}

// writebackStep is how much is written between two calls of startWriteback.
const writebackStep = 8 << 20

func (t *temp) Write(p []byte) (int, error) {
	n, err := t.f.Write(p)
	t.written += int64(n)
	if t.written-t.begun >= writebackStep {
		startWriteback(t.f, t.begun, t.written-t.begun)
		t.begun = t.written
	}
	return n, err
}

func newTemp(p string) (*temp, error) {
	if _, err := os.Lstat(p); err == nil {
		return nil, localError("create", p, fs.ErrExist)
	}
	if err := makeDirs(filepath.Dir(p)); err != nil {
		return nil, localError("create", p, err)
	}
	var r [8]byte
	rand.Read(r[:]) // never fails
	name := filepath.Join(filepath.Dir(p), store.TempPrefix+hex.EncodeToString(r[:]))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, localError("create", p, err)
	}
	return &temp{f: f, path: p}, nil
}

// commit syncs the file, gives it its name without ever replacing what is
// there, and syncs the directory, so that after a power cut the name, too, is
// there. On an error before it has its name nothing is left behind.
func (t *temp) commit() error {
	err := t.f.Sync()
	if e := t.f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = renameNoReplace(t.f.Name(), t.path)
	}
	if err != nil {
		os.Remove(t.f.Name())
		return localError("write", t.path, err)
	}
	return localError("write", t.path, syncDir(filepath.Dir(t.path)))
}

func (t *temp) discard() error {
	t.f.Close()
	if err := os.Remove(t.f.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return localError("remove", t.f.Name(), err)
	}
	return nil
}

// makeDirs makes dir and its parents and syncs each directory that got a new
// entry.
func makeDirs(dir string) error {
	info, err := os.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	up := filepath.Dir(dir)
	if up != dir {
		if err := makeDirs(up); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err // it may exist: another writer made it meanwhile
	}
	return syncDir(up)
}

// syncDir makes names durable. Some file systems cannot sync a directory and
// say so; their names are as durable as they get.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // may be written but not read
	}
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EBADF) {
		return nil
	}
	return err
}

// linkNoReplace is renameNoReplace for file systems without such a rename: a
// hard link fails where the name is taken. Without hard links too (some FUSE
// file systems) what is left is to look and rename.
func linkNoReplace(from, to string) error {
	err := os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.ENOTSUP) &&
		!errors.Is(err, syscall.ENOSYS) && !errors.Is(err, syscall.EMLINK) {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}

type localWriter struct {
	ctx  context.Context
	temp *temp
	buf  *bufio.Writer
	done bool
}

func (w *localWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.buf.Write(p)
	return n, localError("write", w.temp.path, err)
}

const (
	fillChunk    = 8 << 20
	fillParallel = 5
)

// fill writes parts at their places.
func (w *localWriter) fill(in store.Object, off, length int64, progress func(int64)) (store.Sum, error) {
	return fillParts(w.ctx, in, off, length, fillChunk, fillParallel, func(i int64, data []byte, _ uint32) error {
		_, err := w.temp.f.WriteAt(data, i*fillChunk)
		startWriteback(w.temp.f, i*fillChunk, int64(len(data)))
		return localError("write", w.temp.path, err)
	}, progress)
}

func (w *localWriter) Commit() error {
	if w.done {
		return &Error{Op: "write", URI: w.temp.path, Problem: "it was ended already"}
	}
	w.done = true
	err := w.ctx.Err()
	if err == nil {
		err = localError("write", w.temp.path, w.buf.Flush())
	}
	if err != nil {
		w.temp.discard()
		return err
	}
	return w.temp.commit()
}

func (w *localWriter) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	return w.temp.discard()
}
