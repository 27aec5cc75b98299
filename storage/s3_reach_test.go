package storage

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"chkscope/model/store"
	"chkscope/storage/storagetest"
)

// TestS3Unreachable: no server is needed to see that these sentences name what
// is wrong and what to try.
func TestS3Unreachable(t *testing.T) {
	cleanAWS(t)
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	profiles := filepath.Join(t.TempDir(), "config")
	write(t, profiles, "[profile sso]\nsso_session = s\nsso_account_id = 1\nsso_role_name = r\nregion = us-east-1\n[sso-session s]\nsso_region = us-east-1\nsso_start_url = https://example.invalid/start\n")
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "SK"}
	for _, c := range []struct {
		name string
		env  map[string]string
		o    S3Options
		uri  string
		want []string
	}{
		{"no bucket", keys, S3Options{}, "s3:///key", []string{"names no bucket"}},
		{"no credentials", nil, S3Options{Endpoint: plain.URL}, "s3://b/k", []string{"no usable credentials", "--s3-profile", "--s3-anonymous"}},
		{"no profile", keys, S3Options{Profile: "nobody"}, "s3://b/k", []string{`the profile "nobody"`}},
		{"sso", map[string]string{"AWS_CONFIG_FILE": profiles}, S3Options{Profile: "sso", Endpoint: plain.URL}, "s3://b/k", []string{"the SSO login has ended", "aws sso login --profile sso"}},
		{"refused", keys, S3Options{Endpoint: "127.0.0.1:1"}, "s3://b/k", []string{"nothing answers", "--s3-endpoint"}},
		{"host", keys, S3Options{Endpoint: "https://nowhere.invalid"}, "s3://b/k", []string{"nowhere.invalid is not found"}},
		{"no TLS", keys, S3Options{Endpoint: strings.Replace(plain.URL, "http:", "https:", 1)}, "s3://b/k", []string{"does not speak TLS", "http://"}},
		{"authority", keys, S3Options{Endpoint: secure.URL}, "s3://b/k", []string{"not known here", "AWS_CA_BUNDLE"}},
		{"bundle", merged(keys, "AWS_CA_BUNDLE", "/nonexistent.pem"), S3Options{}, "s3://b/k", []string{"/nonexistent.pem"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			c.o.Attempts = 1
			_, err := New(Options{S3: c.o}).Stat(ctx, c.uri)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: no %q in it", err, want)
				}
			}
		})
	}
}

func merged(m map[string]string, k, v string) map[string]string {
	all := map[string]string{k: v}
	for k, v := range m {
		all[k] = v
	}
	return all
}

// TestS3CustomCA reaches a server with a certificate of a private authority.
func TestS3CustomCA(t *testing.T) {
	s := useServer(t)
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, _ := http.NewRequest(r.Method, s.Endpoint+r.URL.RequestURI(), r.Body)
		out.Header, out.Host, out.ContentLength = r.Header, r.Host, r.ContentLength
		if r.ContentLength == 0 {
			out.Body = nil
		}
		resp, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			w.WriteHeader(502)
			return
		}
		defer resp.Body.Close()
		for k, v := range resp.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(resp.StatusCode)
		io.Copy(w, resp.Body)
	}))
	front.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	front.StartTLS()
	defer front.Close()
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	write(t, bundle, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})))
	t.Setenv("AWS_CA_BUNDLE", bundle)
	r := New(Options{S3: S3Options{Endpoint: front.URL}})
	if err := putTo(r, "s3://bucket/f", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if got, err := getFrom(r, "s3://bucket/f"); string(got) != "hello" || err != nil {
		t.Error(got, err)
	}
}

// TestS3WrongCredentials: what a real server says of them.
func TestS3WrongCredentials(t *testing.T) {
	s := useServer(t)
	if err := os.WriteFile(filepath.Join(s.Dir, "f"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, key, secret string
		o                 S3Options
		want              string
	}{
		{"unknown key", "other", "x", S3Options{}, "does not know the access key"},
		{"wrong secret", s.AccessKey, "wrong", S3Options{}, "the secret key does not fit"},
		{"anonymous", s.AccessKey, s.Secret, S3Options{Anonymous: true}, "drop --s3-anonymous"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("AWS_ACCESS_KEY_ID", c.key)
			t.Setenv("AWS_SECRET_ACCESS_KEY", c.secret)
			c.o.Endpoint = s.Endpoint
			r := New(Options{S3: c.o})
			_, e1 := r.Open(ctx, "s3://bucket/f")
			_, e2 := r.Stat(ctx, "s3://bucket/f")
			_, e3 := r.List(ctx, "s3://bucket/")
			for i, err := range []error{e1, e2, e3} {
				if !errors.Is(err, store.ErrCannotAsk) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("call %d: %v", i, err)
				}
			}
		})
	}
	r := New(Options{S3: S3Options{Endpoint: s.Endpoint}})
	for _, call := range []func() error{
		func() error { _, err := r.List(ctx, "s3://no-such-bucket/x"); return err },
		func() error { _, err := r.Stat(ctx, "s3://no-such-bucket/x"); return err },
		func() error { _, err := r.Open(ctx, "s3://no-such-bucket/x"); return err },
		func() error { return putTo(r, "s3://no-such-bucket/x", []byte("x")) },
	} {
		if err := call(); !errors.Is(err, store.ErrNotExist) || !strings.Contains(err.Error(), `bucket "no-such-bucket"`) {
			t.Error(err)
		}
	}
}

// TestS3Flags: what the flags ask for is in the requests.
func TestS3Flags(t *testing.T) {
	var (
		mu   sync.Mutex
		seen []*http.Request
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		mu.Lock()
		seen = append(seen, r)
		mu.Unlock()
		switch {
		case r.Method == "HEAD":
			w.WriteHeader(404)
		case r.URL.Query().Has("uploads"):
			fmt.Fprint(w, `<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>`)
		case r.Method == "POST":
			fmt.Fprint(w, `<CompleteMultipartUploadResult><ETag>"1"</ETag></CompleteMultipartUploadResult>`)
		}
		w.Header().Set("ETag", `"1"`)
	}))
	defer server.Close()
	cleanAWS(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "AK")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "SK")
	r := New(Options{S3: S3Options{Endpoint: server.URL, SSEKMSKeyID: "alias/k", StorageClass: "STANDARD_IA", ACL: "bucket-owner-full-control", RequestPayer: true}})
	if err := putTo(r, "s3://bucket/small", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := putTo(r, "s3://bucket/large", make([]byte, 6<<20)); err != nil {
		t.Fatal(err)
	}
	begun := 0
	for _, r := range seen {
		if r.Header.Get("X-Amz-Request-Payer") != "requester" {
			t.Errorf("%s %s: the requester does not pay", r.Method, r.URL)
		}
		if r.Method == "PUT" && r.Header.Get("X-Amz-Checksum-Crc32c") == "" {
			t.Errorf("%s %s: no checksum", r.Method, r.URL)
		}
		if creates := strings.HasSuffix(r.URL.Path, "small") || r.URL.Query().Has("uploads"); !creates {
			continue
		}
		begun++
		for k, want := range map[string]string{"X-Amz-Server-Side-Encryption": "aws:kms", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id": "alias/k",
			"X-Amz-Storage-Class": "STANDARD_IA", "X-Amz-Acl": "bucket-owner-full-control"} {
			if got := r.Header.Get(k); got != want {
				t.Errorf("%s %s: %s: %q", r.Method, r.URL, k, got)
			}
		}
	}
	if begun != 2 {
		t.Errorf("%d objects were begun", begun)
	}
	for _, r := range seen {
		last := strings.HasSuffix(r.URL.Path, "small") || r.Method == "POST" && r.URL.Query().Has("uploadId")
		if last && r.Header.Get("If-None-Match") != "*" {
			t.Errorf("%s %s may replace an object", r.Method, r.URL)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for _, c := range []struct {
		in, url string
		path    bool
	}{
		{"localhost:9000", "http://localhost:9000", true},
		{"127.0.0.1:9000", "http://127.0.0.1:9000", true},
		{"[::1]:9000", "http://[::1]:9000", true},
		{"minio:9000", "https://minio:9000", true},
		{"http://minio:9000", "http://minio:9000", true},
		{"storage.googleapis.com", "https://storage.googleapis.com", false},
		{"https://10.0.0.1", "https://10.0.0.1", true},
	} {
		url := endpointURL(c.in)
		if url != c.url || needsPathStyle(url) != c.path {
			t.Errorf("%s: %s, path style %v", c.in, url, needsPathStyle(url))
		}
	}
}

// TestS3StatAll takes few requests for many files, and tells the same as Stat.
func TestS3StatAll(t *testing.T) {
	f := newFaultyS3(t)
	var uris []string
	for i := range 300 {
		uris = append(uris, fmt.Sprintf("s3a://bucket/shared/f%04d", i))
		if i%3 != 0 {
			write(t, mkdir(t, filepath.Join(f.server.Dir, "shared"))+fmt.Sprintf("/f%04d", i), strings.Repeat("x", i))
		}
	}
	local := filepath.Join(t.TempDir(), "local")
	write(t, local, "12345")
	uris = append(uris, local, "s3://bucket/other/f", "gs://b/f")
	check := func(most int) {
		t.Helper()
		f.proxy.Inject(nil)
		told := make([]int, len(uris))
		err := f.router().StatAll(ctx, uris, func(i int, info store.Info, err error) {
			told[i]++
			switch {
			case i == 300:
				if info.Size != 5 || err != nil {
					t.Errorf("local: %v %v", info, err)
				}
			case i == 302:
				if !errors.Is(err, store.ErrCannotAsk) {
					t.Error(err)
				}
			case i == 301 || i%3 == 0:
				if !errors.Is(err, store.ErrNotExist) {
					t.Errorf("%s: %v", uris[i], err)
				}
			case err != nil || info.Size != int64(i) || info.URI != uris[i]:
				t.Errorf("%s: %+v %v", uris[i], info, err)
			}
		})
		if err != nil {
			t.Error(err)
		}
		for i, n := range told {
			if n != 1 {
				t.Errorf("%s was told %d times", uris[i], n)
			}
		}
		if n := len(f.proxy.Requests()); n > most {
			t.Errorf("%d requests", n)
		}
	}
	check(4)
	// Many other files in the directory make the listing dearer than it is worth.
	for i := range 3000 {
		write(t, filepath.Join(f.server.Dir, "shared", fmt.Sprintf("a%05d", i)), "")
	}
	uris = append(uris[:60:60], uris[300:]...)
	f.proxy.Inject(nil)
	n := 0
	if err := f.router().StatAll(ctx, uris, func(i int, info store.Info, err error) {
		n++
		if i < 60 && (i%3 == 0) != errors.Is(err, store.ErrNotExist) {
			t.Errorf("%s: %v", uris[i], err)
		}
	}); err != nil || n != len(uris) {
		t.Error(n, err)
	}
	if n := len(f.proxy.Requests()); n > 90 {
		t.Errorf("%d requests", n)
	}
}

func mkdir(t *testing.T, dir string) string {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestS3FewRequests reads a large object as a decoder does that steps over arrays:
// few bytes, and nothing twice. How many trips that takes one behind the other,
// TestRoundTrips of the program tells.
func TestS3FewRequests(t *testing.T) {
	f := newFaultyS3(t)
	name := filepath.Join(f.server.Dir, "_metadata")
	write(t, name, "")
	const size, jump, window = 168 << 20, 1_300_000, 32 << 10
	if err := os.Truncate(name, size); err != nil {
		t.Fatal(err)
	}
	m := &Meter{}
	r := f.router(func(o *Options) { o.Meter = m })
	o, err := r.Open(ctx, "s3://bucket/_metadata")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	buf, reads := make([]byte, window), 0
	for at := int64(0); at+window < o.Size(); at += jump {
		if _, err := o.ReadAt(buf, at); err != nil {
			t.Fatal(err)
		}
		reads++
	}
	n := m.Totals()
	t.Logf("%d reads, %d requests, %d bytes", reads, n.Requests, n.Read)
	if n.Requests > 200 || n.Read > 12<<20 {
		t.Errorf("%d requests and %d bytes for %d reads", n.Requests, n.Read, reads)
	}
	// What was read is there now: a key never waits for the network.
	f.proxy.Inject(func(*http.Request) storagetest.Fault { return storagetest.Fault{Reset: true} })
	for range 100 {
		if _, err := o.ReadAt(buf[:4096], 3*jump); err != nil {
			t.Fatal(err)
		}
	}
}
