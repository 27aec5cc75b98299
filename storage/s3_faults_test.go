package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chkscope/model/store"
	"chkscope/storage/storagetest"
)

// faultyS3 is a server behind a proxy, and a router that reaches it through
// that.
type faultyS3 struct {
	*testing.T
	server *storagetest.S3Server
	proxy  *storagetest.Proxy
	told   *sentences
}

type sentences struct {
	mu  sync.Mutex
	all []string
}

func (s *sentences) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, text)
}

func (s *sentences) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.all, "\n")
}

func newFaultyS3(t *testing.T) *faultyS3 {
	server := useServer(t)
	return &faultyS3{t, server, storagetest.StartProxy(t, server.Endpoint), &sentences{}}
}

func (f *faultyS3) router(change ...func(*Options)) *Router {
	o := Options{S3: S3Options{Endpoint: f.proxy.URL, Timeout: 2 * time.Second, Attempts: 4, Notify: f.told.add}}
	for _, c := range change {
		c(&o)
	}
	return New(o)
}

func (f *faultyS3) put(uri string, data []byte) {
	f.Helper()
	if err := putTo(New(Options{S3: S3Options{Endpoint: f.server.Endpoint}}), uri, data); err != nil {
		f.Fatal(err)
	}
}

func putTo(s store.WriteStore, uri string, data []byte) error {
	w, err := s.Create(ctx, uri)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		w.Abort()
		return err
	}
	return w.Commit()
}

func getFrom(s store.Store, uri string) ([]byte, error) {
	o, err := s.Open(ctx, uri)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	return io.ReadAll(io.NewSectionReader(o, 0, o.Size()))
}

func method(m string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == m }
}

func any_(*http.Request) bool { return true }

func cutAt(n int64) *int64 { return &n }

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i>>8) ^ byte(i*7)
	}
	return b
}

// TestS3PassingFaults: what passes within the bounds costs a sentence each and
// nothing else; every byte is right.
func TestS3PassingFaults(t *testing.T) {
	f := newFaultyS3(t)
	data := pattern(13 << 20)
	slow := storagetest.Fault{Status: 503, Code: "SlowDown", Message: "Please reduce your request rate."}
	for i, c := range []struct {
		name  string
		fault func(*http.Request) storagetest.Fault
		says  string
	}{
		{"slow down", storagetest.Times(2, any_, slow), "slow down"},
		{"500", storagetest.Times(2, any_, storagetest.Fault{Status: 500, Code: "InternalError"}), "500"},
		{"reset before the answer", storagetest.Times(3, any_, storagetest.Fault{Reset: true}), "cut"},
		{"body cut at once", storagetest.Times(3, method("GET"), storagetest.Fault{Cut: cutAt(0)}), "cut"},
		{"body cut in the middle", storagetest.Times(4, method("GET"), storagetest.Fault{Cut: cutAt(30_000)}), "cut"},
		{"no answer in time", storagetest.Times(1, any_, storagetest.Fault{Latency: 3 * time.Second}), "in time"},
		{"answer to PUT lost", storagetest.Times(1, method("PUT"), storagetest.Fault{LoseAnswer: true}), "cut"},
		{"answer to POST lost", storagetest.Times(2, method("POST"), storagetest.Fault{LoseAnswer: true}), "cut"},
		{"clock skew", storagetest.Times(1, any_, storagetest.Fault{Status: 403, Code: "RequestTimeTooSkewed",
			Header: map[string]string{"Date": time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			small, large := fmt.Sprintf("s3://bucket/%d/small", i), fmt.Sprintf("s3://bucket/%d/large", i)
			r := f.router()
			f.told.all = nil
			f.proxy.Inject(c.fault)
			for uri, want := range map[string][]byte{small: data[:100_000], large: data} {
				if err := putTo(r, uri, want); err != nil {
					t.Fatalf("%s: %v", uri, err)
				}
				if got, err := getFrom(r, uri); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s: %d bytes, %v", uri, len(got), err)
				}
			}
			if _, err := r.Copy(ctx, large, 5, 6<<20, large+"-part", nil); err != nil {
				t.Error(err)
			}
			if infos, err := r.List(ctx, store.Parent(small)); err != nil || len(infos) != 3 {
				t.Errorf("List: %v, %v", infos, err)
			}
			if c.says != "" && !strings.Contains(f.told.String(), c.says) {
				t.Errorf("nobody was told %q but %q", c.says, f.told)
			}
		})
	}
}

// TestS3LastingFaults: what does not pass becomes a sentence, in time, and
// leaves nothing behind.
func TestS3LastingFaults(t *testing.T) {
	f := newFaultyS3(t)
	f.put("s3://bucket/there", pattern(1<<20))
	always := func(fault storagetest.Fault) func(*http.Request) storagetest.Fault {
		return func(*http.Request) storagetest.Fault { return fault }
	}
	for _, c := range []struct {
		name, want string
		fault      storagetest.Fault
		kind       error
	}{
		{"slow down", "asked to slow down each of 2 times", storagetest.Fault{Status: 503, Code: "SlowDown"}, nil},
		{"500", "failed each of 2 times (500 InternalError)", storagetest.Fault{Status: 500, Code: "InternalError"}, nil},
		{"reset", "cut", storagetest.Fault{Reset: true}, store.ErrCannotAsk},
		{"no answer", "no answer in time", storagetest.Fault{Latency: 700 * time.Millisecond, Reset: true}, store.ErrCannotAsk},
		{"denied", "access denied", storagetest.Fault{Status: 403, Code: "AccessDenied", Message: "not authorized to perform s3:X"}, store.ErrCannotAsk},
		{"key", "does not know the access key", storagetest.Fault{Status: 403, Code: "InvalidAccessKeyId"}, store.ErrCannotAsk},
		{"secret", "the secret key does not fit", storagetest.Fault{Status: 403, Code: "SignatureDoesNotMatch"}, store.ErrCannotAsk},
		{"expired", "the credentials have expired", storagetest.Fault{Status: 400, Code: "ExpiredToken"}, store.ErrCannotAsk},
		{"clock", "the clock of this machine", storagetest.Fault{Status: 403, Code: "RequestTimeTooSkewed"}, store.ErrCannotAsk},
		{"bucket", `the bucket "bucket" does not exist`, storagetest.Fault{Status: 404, Code: "NoSuchBucket"}, store.ErrNotExist},
		{"archived", "restore it first", storagetest.Fault{Status: 403, Code: "InvalidObjectState"}, store.ErrCannotAsk},
		{"kms", "its KMS key cannot be used", storagetest.Fault{Status: 400, Code: "KMS.DisabledException"}, store.ErrCannotAsk},
		{"region", "another region", storagetest.Fault{Status: 301, Code: "PermanentRedirect"}, store.ErrCannotAsk},
		{"full", "no space is left", storagetest.Fault{Status: 507, Code: "XMinioStorageFull"}, nil},
		{"escape", "S3 answered Strange: x [31m", storagetest.Fault{Status: 400, Code: "Strange", Message: "x&#x9;[31m"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := f.router(func(o *Options) { o.S3.Attempts, o.S3.Timeout = 2, 400*time.Millisecond })
			f.proxy.Inject(always(c.fault))
			_, open := r.Open(ctx, "s3://bucket/there")
			_, list := r.List(ctx, "s3://bucket/")
			write := putTo(r, "s3://bucket/new", pattern(100))
			_, copied := r.Copy(ctx, "s3://bucket/there", 0, -1, "s3://bucket/copy", nil)
			_, stat := r.Stat(ctx, "s3://bucket/there")
			for i, err := range []error{open, list, write, copied, stat} {
				if head := i >= 3; err == nil || !strings.Contains(err.Error(), c.want) && !(head && c.fault.Code != "" && isHeadOnly(c.name)) {
					t.Errorf("call %d: %v", i, err)
				}
				if c.kind != nil && !errors.Is(err, c.kind) {
					t.Errorf("call %d is not %v: %v", i, c.kind, err)
				}
			}
			f.proxy.Inject(nil)
			infos, err := r.List(ctx, "s3://bucket/")
			if err != nil || len(infos) != 1 {
				t.Errorf("left behind: %v %v", infos, err)
			}
		})
	}
}

// isHeadOnly: an answer to HEAD has no body, and these statuses are not asked
// again with GET.
func isHeadOnly(name string) bool {
	return name == "500" || name == "full" || name == "slow down" || name == "bucket"
}

// TestS3UploadThatFails: no object, no parts.
func TestS3UploadThatFails(t *testing.T) {
	f := newFaultyS3(t)
	for _, c := range []struct {
		name  string
		fault func(*http.Request) storagetest.Fault
	}{
		{"a part is refused", func(r *http.Request) storagetest.Fault {
			if r.URL.Query().Get("partNumber") == "2" {
				return storagetest.Fault{Status: 403, Code: "AccessDenied"}
			}
			return storagetest.Fault{}
		}},
		{"the end is refused", func(r *http.Request) storagetest.Fault {
			if r.Method == "POST" && r.URL.Query().Has("uploadId") {
				return storagetest.Fault{Status: 403, Code: "AccessDenied"}
			}
			return storagetest.Fault{}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.proxy.Inject(c.fault)
			err := putTo(f.router(), "s3://bucket/d/f", pattern(20<<20))
			if err == nil || !strings.Contains(err.Error(), "access denied") {
				t.Error(err)
			}
			f.mustBeClean("s3://bucket/d")
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		f.proxy.Inject(func(r *http.Request) storagetest.Fault { return storagetest.Fault{Latency: 300 * time.Millisecond} })
		ctx, cancel := context.WithCancel(ctx)
		w, err := f.router().Create(ctx, "s3://bucket/d/f")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(pattern(20 << 20)); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := w.Commit(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		f.mustBeClean("s3://bucket/d")
	})
}

// mustBeClean: neither objects nor begun uploads are in dir.
func (f *faultyS3) mustBeClean(dir string) {
	f.Helper()
	r := New(Options{S3: S3Options{Endpoint: f.server.Endpoint}})
	if infos, err := r.List(ctx, dir); !errors.Is(err, store.ErrNotExist) {
		f.Errorf("left behind: %v %v", infos, err)
	}
	if n, err := r.Sweep(ctx, dir); n != 0 || err != nil {
		f.Errorf("%d begun uploads were left behind, %v\n%s", n, err, strings.Join(f.proxy.Requests(), "\n"))
	}
}

// TestS3Sweep: an upload that nobody ends (its process was killed) is removed.
func TestS3Sweep(t *testing.T) {
	f := newFaultyS3(t)
	w, err := f.router().Create(ctx, "s3://bucket/d/f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(pattern(9 << 20)); err != nil {
		t.Fatal(err)
	}
	f.put("s3://bucket/d/kept", []byte("x"))
	if _, err := f.router(func(o *Options) { o.ReadOnly = true }).Sweep(ctx, "s3://bucket/d"); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
	if n, err := f.router().Sweep(ctx, "s3://bucket/d"); n != 1 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	if err := w.Commit(); err == nil {
		t.Error("the upload went on without its parts")
	}
	if infos, err := f.router().List(ctx, "s3://bucket/d"); err != nil || len(infos) != 1 {
		t.Errorf("%v %v", infos, err)
	}
}

// TestS3IgnoredConditions: a server that ignores If-Match is seen through.
func TestS3IgnoredConditions(t *testing.T) {
	f := newFaultyS3(t)
	f.put("s3://bucket/f", pattern(1<<20))
	f.proxy.Inject(func(r *http.Request) storagetest.Fault {
		return storagetest.Fault{Change: func(r *http.Request) {
			if r.Header.Get("If-Match") != "" {
				r.Header.Set("If-Match", "*")
			}
		}}
	})
	o, err := f.router().Open(ctx, "s3://bucket/f")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	direct := New(Options{S3: S3Options{Endpoint: f.server.Endpoint}})
	if err := direct.Remove(ctx, "s3://bucket/f"); err != nil {
		t.Fatal(err)
	}
	f.put("s3://bucket/f", bytes.Repeat([]byte("z"), 1<<20))
	n, err := o.ReadAt(make([]byte, 100), 500_000)
	if err == nil {
		t.Errorf("%d bytes of another object were read", n)
	}
}

// TestS3WithoutConditions: a server that does not implement If-None-Match is
// asked whether the object is there.
func TestS3WithoutConditions(t *testing.T) {
	f := newFaultyS3(t)
	f.proxy.Inject(func(r *http.Request) storagetest.Fault {
		if strings.Contains(r.Header.Get("Authorization"), "accept-encoding") {
			return storagetest.Fault{Status: 400, Code: "AcceptEncodingIsSigned"}
		}
		if r.Header.Get("If-None-Match") != "" {
			return storagetest.Fault{Status: 501, Code: "NotImplemented"}
		}
		return storagetest.Fault{}
	})
	r := f.router()
	for _, n := range []int{100, 6 << 20} {
		uri := fmt.Sprintf("s3://bucket/%d", n)
		if err := putTo(r, uri, pattern(n)); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Copy(ctx, uri, 0, -1, uri+"-copy", nil); err != nil {
			t.Error(err)
		}
		if err := putTo(r, uri, []byte("other")); !errors.Is(err, store.ErrExist) {
			t.Errorf("%d: %v", n, err)
		}
		if got, err := getFrom(r, uri+"-copy"); err != nil || !bytes.Equal(got, pattern(n)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
}

// TestS3Region: the bucket's region is found from a redirect, once.
func TestS3Region(t *testing.T) {
	f := newFaultyS3(t)
	f.put("s3://bucket/f", []byte("hello"))
	for _, c := range []struct {
		name   string
		answer storagetest.Fault
	}{
		{"301", storagetest.Fault{Status: 301, Code: "PermanentRedirect", Header: map[string]string{"X-Amz-Bucket-Region": "us-east-1"}}},
		{"400", storagetest.Fault{Status: 400, Code: "AuthorizationHeaderMalformed", Message: "The authorization header is malformed; the region 'eu-west-1' is wrong; expecting 'us-east-1'"}},
	} {
		for _, call := range []func(*Router) error{
			func(r *Router) error { _, err := getFrom(r, "s3://bucket/f"); return err },
			func(r *Router) error { _, err := r.Stat(ctx, "s3://bucket/f"); return err },
			func(r *Router) error { _, err := r.List(ctx, "s3://bucket/"); return err },
		} {
			var wrong atomic.Int64
			f.proxy.Inject(func(r *http.Request) storagetest.Fault {
				if strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/s3/") {
					wrong.Add(1)
					return c.answer
				}
				return storagetest.Fault{}
			})
			r := f.router(func(o *Options) { o.S3.Region = "eu-west-1" })
			for range 2 {
				if err := call(r); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
			}
			if n := wrong.Load(); n < 1 || n > 2 {
				t.Errorf("%s: the wrong region was asked %d times", c.name, n)
			}
		}
	}
}

// TestS3CredentialsThatExpire are read again: somebody may have renewed them.
func TestS3CredentialsThatExpire(t *testing.T) {
	f := newFaultyS3(t)
	f.put("s3://bucket/f", []byte("hello"))
	file := filepath.Join(t.TempDir(), "credentials")
	credentials := func(token string) {
		write(t, file, fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\naws_session_token = %s\n", f.server.AccessKey, f.server.Secret, token))
	}
	setenv(t, "AWS_ACCESS_KEY_ID", "")
	setenv(t, "AWS_SECRET_ACCESS_KEY", "")
	setenv(t, "AWS_SHARED_CREDENTIALS_FILE", file)
	credentials("old")
	f.proxy.Inject(func(r *http.Request) storagetest.Fault {
		if r.Header.Get("X-Amz-Security-Token") == "old" {
			return storagetest.Fault{Status: 400, Code: "ExpiredToken", Message: "The provided token has expired."}
		}
		if r.Header.Get("X-Amz-Security-Token") == "new" {
			return storagetest.Fault{Status: 200, Header: map[string]string{"Content-Length": "5"}}
		}
		return storagetest.Fault{Reset: true}
	})
	r := f.router()
	_, err := r.Stat(ctx, "s3://bucket/f")
	if err == nil || !strings.Contains(err.Error(), "the credentials have expired") || !strings.Contains(err.Error(), "aws sso login") {
		t.Errorf("expired: %v", err)
	}
	credentials("new")
	if _, err := r.Stat(ctx, "s3://bucket/f"); err != nil {
		t.Errorf("renewed: %v", err)
	}
}

// TestS3Secrets: no secret is in a message, an error or the log, whatever the
// server says.
func TestS3Secrets(t *testing.T) {
	f := newFaultyS3(t)
	const key, secret, token = "AKIDAKIDAKID", "SECRETSECRETSECRET", "TOKENTOKENTOKEN"
	setenv(t, "AWS_ACCESS_KEY_ID", key)
	setenv(t, "AWS_SECRET_ACCESS_KEY", secret)
	setenv(t, "AWS_SESSION_TOKEN", token)
	f.proxy.Inject(func(r *http.Request) storagetest.Fault {
		return storagetest.Fault{Status: 403, Code: "AccessDenied", Message: "you sent " + token + " and " + r.Header.Get("Authorization") + secret}
	})
	var log sentences
	m := &Meter{Log: func(r Request) { log.add(fmt.Sprintf("%+v", r)) }}
	r := f.router(func(o *Options) { o.Meter = m })
	for _, uri := range []string{"s3://bucket/f", "s3n://KEY:" + secret + "@bucket/f"} {
		_, e1 := r.Open(ctx, uri)
		_, e2 := r.Stat(ctx, uri)
		e3 := putTo(r, uri, []byte("x"))
		for _, err := range []error{e1, e2, e3} {
			text := fmt.Sprintf("%v %+v", err, err)
			for e := err; e != nil; e = errors.Unwrap(e) {
				text += e.Error()
			}
			var se *Error
			if errors.As(err, &se) {
				text += se.Err.Error()
			}
			if err == nil || strings.Contains(text, secret) || strings.Contains(text, token) || strings.Contains(text, key) {
				t.Errorf("%s: %s", uri, text)
			}
		}
	}
	for _, text := range []string{log.String(), f.told.String()} {
		if strings.Contains(text, secret) || strings.Contains(text, token) {
			t.Errorf("in the log: %s", text)
		}
	}
	if log.String() == "" {
		t.Error("nothing was logged")
	}
}
