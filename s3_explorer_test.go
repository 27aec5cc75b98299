package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chkscope/decoder/metadata"
	"chkscope/decoder/metadata/metatest"
	"chkscope/screenshots/terminal"
	"chkscope/storage"
	"chkscope/storage/storagetest"
)

// s3Explorer is the built program in a pseudo-terminal, on a server behind a
// proxy.
type s3Explorer struct {
	*testing.T
	server *storagetest.S3Server
	proxy  *storagetest.Proxy
	run    func(args ...string) result
	home   string
}

func newS3Explorer(t *testing.T) *s3Explorer {
	server, proxy, run := s3Session(t)
	return &s3Explorer{t, server, proxy, run, t.TempDir()}
}

func (x *s3Explorer) open(args ...string) *terminal.Screen {
	x.Helper()
	env := []string{"XDG_STATE_HOME=" + filepath.Join(x.home, "state")}
	for k, v := range s3Environment(x.server) {
		env = append(env, k+"="+v)
	}
	s, err := terminal.Start(100, 30, env, append([]string{builtBinary(x.T), "--s3-endpoint", x.proxy.URL, "--s3-region", "us-east-1"}, args...)...)
	if err != nil {
		x.Fatal(err)
	}
	x.Cleanup(s.Close)
	return s
}

// checkpoint puts the incident's checkpoint at s3://bucket/path.
func (x *s3Explorer) checkpoint(path string) {
	x.Helper()
	if err := os.CopyFS(filepath.Join(x.server.Dir, path), os.DirFS(incidentFiles)); err != nil {
		x.Fatal(err)
	}
}

// writeCopy marks the remedy of the first finding and writes a copy; to "" leaves
// the destination as it is.
func (x *s3Explorer) writeCopy(s *terminal.Screen, to string) {
	x.Helper()
	typeKeys(x.T, s, "f", "x")
	see(x.T, s, "marked 1")
	typeKeys(x.T, s, "w")
	see(x.T, s, "word:")
	s.Settle(400 * time.Millisecond) // keys typed ahead are swallowed
	if to != "" {
		typeKeys(x.T, s, "up", "\x15", to, "down") // ctrl+u empties the field
	}
	typeKeys(x.T, s, "write", "enter")
}

// TestEndToEndS3: browse a parent prefix, choose a checkpoint, find, mark, write a
// copy to S3 and one to the disk, open the copies.
func TestEndToEndS3(t *testing.T) {
	x := newS3Explorer(t)
	x.checkpoint("job/chk-15")
	x.checkpoint("job/chk-16")
	if err := os.MkdirAll(filepath.Join(x.server.Dir, "job/chk-17"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(x.server.Dir, "job/chk-17/half"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	before := digest(t, filepath.Join(x.server.Dir, "job"))
	log, local := filepath.Join(x.home, "log"), filepath.Join(x.home, "local")

	s := x.open("--log", log, "s3a://bucket/job")
	see(t, s, "which checkpoint?", "> chk-16", "chk-15", "chk-17", "incomplete")
	typeKeys(t, s, "down", "enter")
	see(t, s, "job/chk-15", "topic-partition-offset-states")
	typeKeys(t, s, "/", "partition-offset", "enter")
	see(t, s, `filter "partition-offset"`)
	typeKeys(t, s, "esc")
	s.Settle(300 * time.Millisecond)
	typeKeys(t, s, "i")
	see(t, s, "in _metadata") // what the model knows has come
	typeKeys(t, s, "G")
	see(t, s, "Asked of the store so far:")
	typeKeys(t, s, "esc")
	s.Settle(300 * time.Millisecond)
	x.writeCopy(s, "")
	see(t, s, "written and proved", "s3a://bucket/job/chk-15-pruned")
	typeKeys(t, s, "esc")
	s.Settle(300 * time.Millisecond)
	quit(t, s)

	s = x.open("s3://bucket/job/chk-16")
	see(t, s, "job/chk-16", "topic-partition-offset-states")
	x.writeCopy(s, local)
	see(t, s, "written and proved")
	typeKeys(t, s, "esc")
	s.Settle(300 * time.Millisecond)
	quit(t, s)

	for _, copied := range []string{"s3://bucket/job/chk-15-pruned", local} {
		x.run("verify", copied).wantCode(t, exitOK)
		s = x.open(copied)
		see(t, s, "looks like a source")
		if strings.Contains(s.Text(), "topic-partition") {
			t.Errorf("the state is in the copy:\n%s", s.Text())
		}
		quit(t, s)
	}
	for _, made := range []string{"job/chk-15-pruned", "job/chk-15-pruned.chkscope-report.json"} {
		if err := os.RemoveAll(filepath.Join(x.server.Dir, made)); err != nil {
			t.Fatal(err)
		}
	}
	if digest(t, filepath.Join(x.server.Dir, "job")) != before {
		t.Error("the sources were changed")
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"open GET s3a://bucket/job/chk-15/_metadata bytes=0-65535 status 206 read", "in all "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the log has no %q:\n%s", want, text)
		}
	}
}

// TestEndToEndS3Cancel: Esc ends an opening that does not come on, and leaves the
// program where it is.
func TestEndToEndS3Cancel(t *testing.T) {
	x := newS3Explorer(t)
	hold := make(chan struct{})
	x.proxy.Inject(func(*http.Request) storagetest.Fault { return storagetest.Fault{Hold: hold} })
	s := x.open("s3://bucket/in")
	see(t, s, "opening s3://bucket/in", "Esc cancels")
	typeKeys(t, s, "esc")
	see(t, s, "was cancelled.", "Enter open it again")
	close(hold)
	typeKeys(t, s, "enter")
	see(t, s, "topic-partition-offset-states")
	quit(t, s)
}

// TestEndToEndS3Throttled: that S3 asks to slow down, and that connections are cut,
// is a sentence on the status line; what is shown is whole.
func TestEndToEndS3Throttled(t *testing.T) {
	x := newS3Explorer(t)
	x.proxy.Inject(storagetest.Times(2, func(*http.Request) bool { return true }, storagetest.Fault{Status: 503, Code: "SlowDown"}))
	s := x.open("s3://bucket/in")
	see(t, s, "topic-partition-offset-states", "S3 asks to slow down: trying again (2 times)")
	typeKeys(t, s, "E")
	see(t, s, "log of errors and notices", "S3 asks to slow down: trying again")
	typeKeys(t, s, "esc")
	s.Settle(300 * time.Millisecond)
	quit(t, s)
}

// TestEndToEndS3Forbidden: one state file that may not be read is told, and the
// rest is there.
func TestEndToEndS3Forbidden(t *testing.T) {
	x := newS3Explorer(t)
	x.proxy.Inject(func(r *http.Request) storagetest.Fault {
		if strings.HasSuffix(r.URL.Path, "/8ee40c77-de1f-4583-b7fd-165b5a912f33") {
			return storagetest.Fault{Status: 403, Code: "AccessDenied", Message: "no"}
		}
		return storagetest.Fault{}
	})
	s := x.open("s3://bucket/in")
	see(t, s, "topic-partition-offset-states", "1 stream header could not be read")
	typeKeys(t, s, "E")
	see(t, s, "8ee40c77-de1f-4583-b7fd-165b5a912f33", "access denied")
	typeKeys(t, s, "esc")
	s.Settle(300 * time.Millisecond)
	quit(t, s)
}

// TestEndToEndS3Replaced: a checkpoint that another one takes the place of while it
// is open is an error and not a mixture, and no copy is made of it.
func TestEndToEndS3Replaced(t *testing.T) {
	x := newS3Explorer(t)
	put := func(elements int64) {
		t.Helper()
		r, ctx := storage.New(storage.Options{S3: storage.S3Options{Endpoint: x.server.Endpoint, Region: "us-east-1"}}), context.Background()
		const uri = "s3://bucket/large/_metadata"
		if _, err := os.Stat(filepath.Join(x.server.Dir, "large/_metadata")); err == nil {
			if err := r.Remove(ctx, uri); err != nil {
				t.Fatal(err)
			}
		}
		w, err := r.Create(ctx, uri)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := metadata.Encode(w, metatest.Incident(elements)); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	put(6_000_000)
	s := x.open("s3://bucket/large")
	see(t, s, "topic-partition-offset-states", "critical")
	put(6_000_016)
	typeKeys(t, s, "space")
	see(t, s, "marked 1")
	typeKeys(t, s, "w")
	see(t, s, "word:")
	s.Settle(400 * time.Millisecond) // keys typed ahead are swallowed
	typeKeys(t, s, "write", "enter")
	see(t, s, "the write failed", "it was replaced", "w with the same destination")
	typeKeys(t, s, "esc")
	s.Settle(300 * time.Millisecond)
	typeKeys(t, s, "q")
	see(t, s, "Quit?")
	typeKeys(t, s, "q")
	if code, err := s.Wait(patient); code != exitOK || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	if _, err := os.Stat(filepath.Join(x.server.Dir, "large-pruned/_metadata")); !os.IsNotExist(err) {
		t.Errorf("a copy was written: %v", err)
	}
}

// TestEndToEndS3Browse: a prefix with more directories than a page of a listing is
// looked into with progress, which Esc ends, and its list goes to the last one.
func TestEndToEndS3Browse(t *testing.T) {
	x := newS3Explorer(t)
	for i := range 1200 {
		dir := filepath.Join(x.server.Dir, "job", fmt.Sprintf("chk-%d", i))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "_metadata"), []byte("no checkpoint"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(x.server.Dir, "job/chk-0")); err != nil {
		t.Fatal(err)
	}
	x.checkpoint("job/chk-0")
	hold, asked := make(chan struct{}), atomic.Int64{}
	x.proxy.Inject(func(r *http.Request) storagetest.Fault {
		if r.Method == http.MethodHead && asked.Add(1) > 500 {
			return storagetest.Fault{Hold: hold}
		}
		return storagetest.Fault{}
	})
	s := x.open("s3://bucket/job")
	see(t, s, "looking below s3://bucket/job", "of 1,200 directories")
	typeKeys(t, s, "esc")
	see(t, s, "was cancelled.")
	close(hold)
	x.proxy.Inject(nil)
	typeKeys(t, s, "enter")
	see(t, s, "which checkpoint?", "> chk-1199")
	typeKeys(t, s, "G")
	see(t, s, "> chk-0")
	typeKeys(t, s, "enter")
	see(t, s, "job/chk-0", "topic-partition-offset-states")
	quit(t, s)
	pages := 0
	for _, r := range x.proxy.Requests() {
		if strings.Contains(r, "continuation-token") {
			pages++
		}
	}
	if pages != 1 {
		t.Errorf("%d further pages were listed", pages)
	}
}
