package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"chkscope/model/store"
)

// local is the local file system; a mounted one (NFS, FUSE) is local too.
type local struct{}

// localPath is the path of uri, or an error wrapping ErrCannotAsk.
func localPath(op, uri string) (string, error) {
	p, ok := store.LocalPath(uri)
	if !ok {
		return "", &Error{Op: op, URI: store.Redact(uri), Kind: store.ErrCannotAsk,
			Problem: "it is not a local file", Hint: "where it is mounted here, say so with --map FROM=TO"}
	}
	return p, nil
}

// Open opens a regular file. Anything else (a directory, a FIFO, a device) is
// refused before it is opened, since opening those may wait for ever or do
// something.
func (local) Open(ctx context.Context, uri string) (store.Object, error) {
	p, err := localPath("open", uri)
	if err != nil {
		return nil, err
	}
	before, err := os.Stat(p)
	if err != nil {
		return nil, localError("open", p, err)
	}
	if err := refuseIrregular(p, before); err != nil {
		return nil, err
	}
	// O_NONBLOCK: between Stat and here it may have become a FIFO.
	f, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, localError("open", p, err)
	}
	now, err := f.Stat()
	if err == nil {
		err = refuseIrregular(p, now)
	}
	if err != nil {
		f.Close()
		return nil, localError("open", p, err)
	}
	return &localObject{ctx: ctx, f: f, path: p, size: now.Size(), modified: now.ModTime()}, nil
}

func refuseIrregular(p string, info fs.FileInfo) error {
	mode, what := info.Mode(), ""
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &Error{Op: "open", URI: p, Problem: "it is a directory", Err: syscall.EISDIR}
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	default:
		what = "no regular file"
	}
	return &Error{Op: "open", URI: p, Problem: "it is " + what, Hint: "only regular files are read"}
}

// localObject reads by pread and not by a mapping: a mapped file that is cut
// short kills the process with SIGBUS.
type localObject struct {
	ctx      context.Context
	f        *os.File
	path     string
	size     int64
	modified time.Time
}

func (o *localObject) Size() int64  { return o.size }
func (o *localObject) Name() string { return o.path }
func (o *localObject) Close() error { return o.f.Close() }

func (o *localObject) ReadAt(p []byte, off int64) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, &Error{Op: "read", URI: o.path, Problem: "negative offset"}
	}
	want := int(min(int64(len(p)), max(o.size-off, 0)))
	n, err := o.f.ReadAt(p[:want], off)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, localError("read", o.path, err)
	}
	if err := o.check(); err != nil {
		return 0, err
	}
	if n < want {
		return n, changed(o.path, "it became shorter while it was read")
	}
	if want < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// check compares the open file with what it was at Open.
func (o *localObject) check() error {
	info, err := o.f.Stat()
	if err != nil {
		return localError("read", o.path, err)
	}
	switch size := info.Size(); {
	case size < o.size:
		return changed(o.path, "it became shorter while it was read")
	case size > o.size:
		return changed(o.path, "it grew while it was read")
	case !info.ModTime().Equal(o.modified):
		return changed(o.path, "it was written to while it was read")
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink == 0 {
		return changed(o.path, "it was deleted or replaced while it was read")
	}
	return nil
}

func (local) Stat(ctx context.Context, uri string) (store.Info, error) {
	p, err := localPath("stat", uri)
	if err != nil {
		return store.Info{}, err
	}
	if err := ctx.Err(); err != nil {
		return store.Info{}, err
	}
	info, err := os.Stat(p)
	if err != nil {
		return store.Info{}, localError("stat", p, err)
	}
	return localInfo(uri, info), nil
}

func localInfo(uri string, info fs.FileInfo) store.Info {
	i := store.Info{Name: store.Base(uri), URI: uri, Dir: info.IsDir(), Modified: info.ModTime()}
	if !i.Dir {
		i.Size = info.Size()
	}
	return i
}

// List follows links; one that leads nowhere is listed as the link itself.
func (local) List(ctx context.Context, uri string) ([]store.Info, error) {
	p, err := localPath("list", uri)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(p)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, &Error{Op: "list", URI: p, Problem: "it is not a directory", Err: err}
	}
	if err != nil {
		return nil, localError("list", p, err)
	}
	all := make([]store.Info, 0, len(entries))
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := os.Stat(filepath.Join(p, e.Name()))
		if err != nil {
			info, err = e.Info()
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // vanished since ReadDir
		}
		if err != nil {
			return nil, localError("list", p, err)
		}
		i := localInfo(store.Join(uri, "./"+e.Name()), info)
		i.Name = e.Name()
		all = append(all, i)
	}
	return all, nil
}

func (local) Remove(_ context.Context, uri string) error {
	p, err := localPath("remove", uri)
	if err != nil {
		return err
	}
	info, err := os.Lstat(p)
	if err == nil && info.IsDir() {
		err = &Error{Op: "remove", URI: p, Problem: "it is a directory", Err: syscall.EISDIR}
	}
	if err == nil {
		err = os.Remove(p)
	}
	return localError("remove", p, err)
}

func (local) Free(_ context.Context, uri string) int64 {
	p, ok := store.LocalPath(uri)
	if !ok {
		return -1
	}
	return freeAt(p)
}

// freeAt asks the nearest directory of p that exists.
func freeAt(p string) int64 {
	for {
		var st syscall.Statfs_t
		err := syscall.Statfs(p, &st)
		if err == nil {
			return int64(st.Bavail) * int64(st.Bsize)
		}
		up := filepath.Dir(p)
		if up == p || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return -1
		}
		p = up
	}
}
