package storage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"chkscope/model/store"
	"chkscope/storage/storagetest"
)

var ctx = context.Background()

func TestLocal(t *testing.T) { storagetest.Run(t, local{}, store.FileURI(t.TempDir())) }

func TestRouter(t *testing.T) {
	m := Meter{Log: func(Request) {}} // the disk is counted where it is logged
	dir := t.TempDir()
	r := New(Options{Meter: &m, Maps: store.Mappings{{From: "hdfs://nn/c", To: dir}}})
	storagetest.Run(t, r, "hdfs://nn/c/x")
	if n := m.Totals(); n.Requests == 0 || n.Read == 0 || n.Written == 0 || n.Failed == 0 {
		t.Errorf("counted: %+v", n)
	}
}

// TestLinkNoReplace runs what file systems without an exclusive rename get.
func TestLinkNoReplace(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, a, "new")
	write(t, b, "old")
	if err := linkNoReplace(a, b); !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	os.Remove(b)
	if err := linkNoReplace(a, b); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(b); string(got) != "new" {
		t.Errorf("%q", got)
	}
	if _, err := os.Lstat(a); err == nil {
		t.Error("the temporary name is still there")
	}
}

func write(t *testing.T, p, data string) {
	t.Helper()
	if err := os.WriteFile(p, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestIrregularFilesAreRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{dir, "a directory"}, {fifo, "a named pipe"}, {"/dev/zero", "a device"}, {link, "a device"},
	} {
		done := make(chan error, 1)
		go func() {
			_, err := local{}.Open(ctx, c.path)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.path, err)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: Open hangs", c.path)
		}
	}
}

func TestFileThatChangesWhileItIsRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p string) error
	}{
		{"shrinks", func(p string) error { return os.Truncate(p, 10) }},
		{"emptied", func(p string) error { return os.Truncate(p, 0) }},
		{"grows", func(p string) error { return os.Truncate(p, 1<<21) }},
		{"vanishes", os.Remove},
		{"written", func(p string) error {
			return errors.Join(os.WriteFile(p, bytes.Repeat([]byte("y"), 1<<20), 0o666), os.Chtimes(p, time.Now(), time.Now().Add(time.Hour)))
		}},
		{"replaced", func(p string) error {
			return errors.Join(os.WriteFile(p+"2", make([]byte, 1<<20), 0o666), os.Rename(p+"2", p))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := filepath.Join(t.TempDir(), "f")
			write(t, p, strings.Repeat("x", 1<<20))
			o, err := local{}.Open(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			if err := c.change(p); err != nil {
				t.Fatal(err)
			}
			for _, off := range []int64{0, 1 << 19} {
				if _, err := o.ReadAt(make([]byte, 100), off); !errors.Is(err, store.ErrChanged) {
					t.Errorf("ReadAt(%d): %v", off, err)
				}
			}
		})
	}
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		op   string
		err  error
		want string
		kind error
	}{
		{"open", syscall.ENOENT, "cannot open /p: it does not exist", store.ErrNotExist},
		{"stat", syscall.ENOTDIR, "cannot stat /p: it does not exist", store.ErrNotExist},
		{"open", syscall.EACCES, "cannot open /p: permission denied (run as a user who may read it)", store.ErrCannotAsk},
		{"create", syscall.EACCES, "cannot create /p: permission denied (choose a destination that you may write to, or run as its owner)", nil},
		{"create", syscall.EROFS, "cannot create /p: its file system is mounted read-only (choose a destination elsewhere)", store.ErrReadOnly},
		{"write", syscall.ENOSPC, "no space is left on its file system", nil},
		{"write", syscall.EDQUOT, "the disk quota is used up", nil},
		{"create", syscall.ENOTDIR, "a part of its path is a file", nil},
		{"read", syscall.EIO, "the device reported an input/output error", nil},
		{"read", syscall.ESTALE, "stale handle", store.ErrChanged},
		{"create", syscall.ENAMETOOLONG, "the name is longer", nil},
	} {
		err := localError(c.op, "/p", &fs.PathError{Op: "x", Path: "/tmpname", Err: c.err})
		if !strings.Contains(err.Error(), c.want) || !errors.Is(err, c.err) || c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}

func TestUnwritableDestination(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	os.Chmod(dir, 0o500)
	_, err := local{}.Create(ctx, dir+"/f")
	if !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}

// TestFullDisk writes to the device that is always full.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	file := &temp{f: full, path: "/dst/f"}
	w := &localWriter{ctx: ctx, temp: file, buf: bufio.NewWriter(file)}
	_, err = w.Write(make([]byte, 1<<20))
	if err == nil || !strings.Contains(err.Error(), "no space is left") || !strings.Contains(err.Error(), "/dst/f") {
		t.Errorf("Write: %v", err)
	}
}

func TestUnknownSchemes(t *testing.T) {
	r := New(Options{})
	for _, uri := range []string{"hdfs://nn:8020/f", "gs://b/f", "abfss://c@a.dfs.core.windows.net/f", "oss://b/f", "made-up://x/f", "file://nas/f"} {
		_, err := r.Stat(ctx, uri)
		if !errors.Is(err, store.ErrCannotAsk) || !strings.Contains(err.Error(), store.Scheme(uri)+":") || !strings.Contains(err.Error(), "--map") {
			t.Errorf("%s: %v", uri, err)
		}
		if r.Free(ctx, uri) != -1 {
			t.Errorf("%s: free space", uri)
		}
	}
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/f", "x")
	r := New(Options{ReadOnly: true})
	_, e1 := r.Create(ctx, dir+"/g")
	_, e2 := r.Copy(ctx, dir+"/f", 0, -1, dir+"/g", nil)
	e3 := r.Remove(ctx, dir+"/f")
	for _, err := range []error{e1, e2, e3} {
		if !errors.Is(err, store.ErrReadOnly) {
			t.Error(err)
		}
	}
	if i, err := r.Stat(ctx, dir+"/f"); err != nil || i.Size != 1 {
		t.Error(i, err)
	}
}

func TestFree(t *testing.T) {
	dir := t.TempDir()
	a, b := (local{}).Free(ctx, dir), (local{}).Free(ctx, dir+"/not/there/yet")
	if a <= 0 || b <= 0 {
		t.Errorf("free: %d, %d", a, b)
	}
}
