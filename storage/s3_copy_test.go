package storage

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"chkscope/model/store"
	"chkscope/storage/storagetest"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// seen keeps the headers of all requests that pass a proxy.
type seen struct {
	mu  sync.Mutex
	all []*http.Request
}

func (s *seen) pass(r *http.Request) storagetest.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, r.Clone(r.Context()))
	return storagetest.Fault{}
}

// take gives what was seen since the last call.
func (s *seen) take() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	s.all = nil
	return all
}

// smallCopies is a store whose server copies objects of more than 5 MiB in parts
// of 5 MiB, the least that S3 takes, as it otherwise does with large ones.
func smallCopies(o S3Options) *s3Store {
	s := newS3(o, nil)
	s.wholeCopy, s.copyPart = minPart, minPart
	return s
}

func TestS3CopyInParts(t *testing.T) { copyInParts(t, useServer(t)) }
func TestS3MinIOCopyInParts(t *testing.T) {
	copyInParts(t, credentialsOf(t, storagetest.StartMinIO(t)))
}

// copyInParts lets a real server copy an object part by part.
func copyInParts(t *testing.T, server *storagetest.S3Server) {
	proxy, requests := storagetest.StartProxy(t, server.Endpoint), &seen{}
	s := smallCopies(S3Options{Endpoint: proxy.URL})
	data := pattern(23<<20 + 77)
	if err := putTo(s, "s3://bucket/d/src", data); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name        string
		off, length int64
		parts       int
	}{
		{"whole", 0, -1, 5}, {"middle", 3<<20 + 1, 15 << 20, 3}, {"one part", 1, 5<<20 + 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			requests.take()
			proxy.Inject(requests.pass)
			dst, last := "s3://bucket/d/"+c.name, int64(0)
			sum, err := s.Copy(ctx, "s3://bucket/d/src", c.off, c.length, dst, func(n int64) { last = n })
			if err != nil {
				t.Fatal(err)
			}
			want := data[c.off:]
			if c.length >= 0 {
				want = want[:c.length]
			}
			if got, err := getFrom(s, dst); err != nil || !bytes.Equal(got, want) || sum.Size != int64(len(want)) || last != sum.Size {
				t.Errorf("%d bytes, sum %+v, progress %d, %v", len(got), sum, last, err)
			}
			parts, completed := 0, 0
			for _, r := range requests.take() {
				switch {
				case r.Header.Get("X-Amz-Copy-Source-Range") != "":
					parts++
					if r.Header.Get("X-Amz-Copy-Source-If-Match") == "" {
						t.Errorf("%s: a source that is replaced would not be seen", r.URL)
					}
				case r.Method == "POST" && r.URL.Query().Has("uploadId"):
					completed++
					if r.Header.Get("If-None-Match") != "*" {
						t.Errorf("%s may replace an object", r.URL)
					}
				}
			}
			if parts != c.parts || completed != 1 {
				t.Errorf("%d parts were copied, %d uploads completed", parts, completed)
			}
		})
	}
	proxy.Inject(nil)
	t.Run("exists", func(t *testing.T) {
		if _, err := s.Copy(ctx, "s3://bucket/d/src", 0, -1, "s3://bucket/d/whole", nil); !errors.Is(err, store.ErrExist) {
			t.Error(err)
		}
	})
	t.Run("replaced meanwhile", func(t *testing.T) {
		direct, once := New(Options{S3: S3Options{Endpoint: server.Endpoint}}), sync.Once{}
		proxy.Inject(func(r *http.Request) storagetest.Fault {
			if r.Header.Get("X-Amz-Copy-Source-Range") != "" {
				once.Do(func() {
					if err := errors.Join(direct.Remove(ctx, "s3://bucket/d/src"), putTo(direct, "s3://bucket/d/src", bytes.Repeat([]byte("z"), len(data)))); err != nil {
						t.Error(err)
					}
				})
			}
			return storagetest.Fault{}
		})
		if _, err := s.Copy(ctx, "s3://bucket/d/src", 0, -1, "s3://bucket/e/mixture", nil); !errors.Is(err, store.ErrChanged) {
			t.Errorf("copying an object that is replaced: %v", err)
		}
		proxy.Inject(nil)
		if infos, err := direct.List(ctx, "s3://bucket/e"); !errors.Is(err, store.ErrNotExist) {
			t.Errorf("left behind: %v %v", infos, err)
		}
		if n, err := direct.Sweep(ctx, "s3://bucket/e"); n != 0 || err != nil {
			t.Errorf("%d begun uploads were left behind, %v", n, err)
		}
	})
}

// TestS3CopyWithoutPartCopy: where the server does not copy parts the bytes pass
// through here, and still nothing is replaced.
func TestS3CopyWithoutPartCopy(t *testing.T) {
	server := useServer(t)
	proxy, requests := storagetest.StartProxy(t, server.Endpoint), &seen{}
	s, data := smallCopies(S3Options{Endpoint: proxy.URL}), pattern(12<<20)
	if err := putTo(s, "s3://bucket/src", data); err != nil {
		t.Fatal(err)
	}
	proxy.Inject(func(r *http.Request) storagetest.Fault {
		requests.pass(r)
		if r.Header.Get("X-Amz-Copy-Source-Range") != "" {
			return storagetest.Fault{Status: 501, Code: "NotImplemented"}
		}
		return storagetest.Fault{}
	})
	if _, err := s.Copy(ctx, "s3://bucket/src", 0, -1, "s3://bucket/dst", nil); err != nil {
		t.Fatal(err)
	}
	if got, err := getFrom(s, "s3://bucket/dst"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	conditions := 0
	for _, r := range requests.take() {
		if r.Header.Get("If-None-Match") == "*" {
			conditions++
		}
	}
	if conditions != 1 || s.unconditional {
		t.Errorf("%d writes had a condition", conditions)
	}
	if n, err := New(Options{S3: S3Options{Endpoint: server.Endpoint}}).Sweep(ctx, "s3://bucket/"); n != 0 || err != nil {
		t.Errorf("%d begun uploads were left behind, %v", n, err)
	}
}

// TestS3RefusedCondition: a server that answers 412 where nothing is there does
// not make it exist.
func TestS3RefusedCondition(t *testing.T) {
	server := useServer(t)
	proxy := storagetest.StartProxy(t, server.Endpoint)
	proxy.Inject(func(r *http.Request) storagetest.Fault {
		if r.Method == "POST" && r.URL.Query().Has("uploadId") {
			return storagetest.Fault{Status: 412, Code: "PreconditionFailed"}
		}
		return storagetest.Fault{}
	})
	s := newS3(S3Options{Endpoint: proxy.URL}, nil)
	if err := putTo(s, "s3://bucket/new", pattern(9<<20)); err == nil || errors.Is(err, store.ErrExist) || !strings.Contains(err.Error(), "though nothing is there") {
		t.Error(err)
	}
}

// TestS3CopyFlags: what is asked for with flags is in each request that makes an
// object of a copy, and in each that is paid for.
func TestS3CopyFlags(t *testing.T) {
	server := useServer(t)
	if err := putTo(New(Options{S3: S3Options{Endpoint: server.Endpoint}}), "s3://bucket/src", pattern(6<<20)); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"X-Amz-Server-Side-Encryption": "aws:kms", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id": "alias/k",
		"X-Amz-Storage-Class": "STANDARD_IA", "X-Amz-Acl": "bucket-owner-full-control"}
	proxy, made := storagetest.StartProxy(t, server.Endpoint), 0
	proxy.Inject(func(r *http.Request) storagetest.Fault {
		if r.Header.Get("X-Amz-Request-Payer") != "requester" {
			t.Errorf("%s %s: the requester does not pay", r.Method, r.URL)
		}
		if r.URL.Query().Has("uploads") && r.Method == "POST" || r.Header.Get("X-Amz-Copy-Source") != "" && r.Header.Get("X-Amz-Copy-Source-Range") == "" {
			made++
			for k, v := range want {
				if got := r.Header.Get(k); got != v {
					t.Errorf("%s %s: %s: %q", r.Method, r.URL, k, got)
				}
			}
		}
		// The server has neither keys nor classes.
		return storagetest.Fault{Status: 403, Code: "AccessDenied"}
	})
	o := S3Options{Endpoint: proxy.URL, SSEKMSKeyID: "alias/k", StorageClass: "STANDARD_IA", ACL: "bucket-owner-full-control", RequestPayer: true}
	for _, s := range []*s3Store{newS3(o, nil), smallCopies(o)} {
		from := &copySource{s: s, uri: "s3://bucket/src", at: parseS3("s3://bucket/src"), size: 6 << 20, etag: `"1"`}
		u := s.newUpload(ctx, "s3://bucket/dst")
		var err error
		if from.size <= s.wholeCopy {
			_, err = u.copyWhole(from, nil)
		} else {
			_, err = u.copyParts(from, 0, from.size, nil)
		}
		if err == nil || !strings.Contains(err.Error(), "access denied") {
			t.Error(err)
		}
	}
	if made != 2 {
		t.Errorf("%d objects were begun", made)
	}
}

// TestS3MinIOEncryption: a server with a key encrypts what is written, in one
// request, in parts and by copying.
func TestS3MinIOEncryption(t *testing.T) {
	server := credentialsOf(t, storagetest.StartMinIO(t))
	o := S3Options{Endpoint: server.Endpoint, SSEKMSKeyID: "test-key"}
	s := smallCopies(o)
	small, large := pattern(1000), pattern(11<<20)
	for _, err := range []error{putTo(s, "s3://bucket/small", small), putTo(s, "s3://bucket/large", large)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string][]byte{"small": small, "large": large, "small-copy": small, "large-copy": large}
	for _, name := range []string{"small", "large"} {
		if _, err := s.Copy(ctx, "s3://bucket/"+name, 0, -1, "s3://bucket/"+name+"-copy", nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range want {
		if got, err := getFrom(s, "s3://bucket/"+name); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		c, err := s.client(ctx, "bucket")
		if err != nil {
			t.Fatal(err)
		}
		h, err := c.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String("bucket"), Key: &name})
		if err != nil || h.ServerSideEncryption != "aws:kms" || !strings.Contains(aws.ToString(h.SSEKMSKeyId), "test-key") {
			t.Errorf("%s: encryption %q, key %q, %v", name, h.ServerSideEncryption, aws.ToString(h.SSEKMSKeyId), err)
		}
	}
	unknown := newS3(S3Options{Endpoint: server.Endpoint, SSEKMSKeyID: "no-such-key"}, nil)
	if err := putTo(unknown, "s3://bucket/other", small); err == nil || !strings.Contains(err.Error(), "its KMS key cannot be used") {
		t.Errorf("a key that is not there: %v", err)
	}
}
