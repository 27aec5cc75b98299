package storage

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"chkscope/model/store"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const (
	// wholeCopy is the longest object that is copied by one request. S3 allows
	// 5 GB; parts are copied in parallel and show progress.
	wholeCopy = 256 << 20
	// copyPart is the length of a part that is copied on the server's side.
	copyPart = 128 << 20
)

// Copy copies on the server's side. Short parts of objects pass through here:
// that takes fewer requests than a multipart copy.
func (s *s3Store) Copy(ctx context.Context, src string, off, length int64, dst string, progress func(int64)) (store.Sum, error) {
	from := &copySource{s: s, uri: store.Redact(src), at: parseS3(src)}
	if err := from.stat(ctx); err != nil {
		return store.Sum{}, err
	}
	whole := off == 0 && (length < 0 || length == from.size)
	length, err := copyLength(from, off, length)
	if err != nil {
		return store.Sum{}, err
	}
	u := s.newUpload(ctx, dst)
	defer u.cancel()
	switch {
	case whole && length <= s.wholeCopy:
		return u.copyWhole(from, progress)
	case length <= minPart:
		return u.copyThrough(from, off, length, progress)
	}
	sum, err := u.copyParts(from, off, length, progress)
	if err != nil {
		u.abort()
	}
	if errors.Is(err, errNoPartCopy) {
		return streamCopy(ctx, Retry(s, RetryPolicy{Notify: s.o.Notify}), src, off, length, s, dst, progress)
	}
	return sum, err
}

// errNoPartCopy: the server has no UploadPartCopy, as that of Google.
var errNoPartCopy = errors.New("parts of objects are not copied by the server")

// copySource is the object that is copied.
type copySource struct {
	store.Object // never read: only Size and Name are called
	s            *s3Store
	uri          string
	at           s3Place
	size         int64
	etag         string
	sse          types.ServerSideEncryption
}

func (c *copySource) Size() int64  { return c.size }
func (c *copySource) Name() string { return c.uri }

func (c *copySource) stat(ctx context.Context) error {
	return c.s.do(ctx, "copy", c.uri, func(ctx context.Context, client *s3.Client) error {
		h, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &c.at.bucket, Key: &c.at.key, RequestPayer: c.s.payer()})
		if err != nil {
			return c.s.explain(ctx, client, c.at, err)
		}
		c.size, c.etag, c.sse = aws.ToInt64(h.ContentLength), aws.ToString(h.ETag), h.ServerSideEncryption
		return nil
	})
}

// header is the value of x-amz-copy-source.
func (c *copySource) header() *string {
	parts := strings.Split(c.at.key, "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(p), "+", "%20")
	}
	return aws.String(c.at.bucket + "/" + strings.Join(parts, "/"))
}

// copyWhole is one request. The server is asked for the checksum.
func (u *upload) copyWhole(from *copySource, progress func(int64)) (store.Sum, error) {
	o, sum := u.s.o, store.Sum{Size: from.size, NoCRC: true}
	err := u.call("copy", func(ctx context.Context, c *s3.Client) error {
		// There are servers that know If-None-Match of a PUT but not of a copy.
		if err := u.refuseExisting(ctx, c); err != nil {
			return err
		}
		condition, err := u.condition(ctx, c)
		if err != nil {
			return err
		}
		out, err := c.CopyObject(ctx, &s3.CopyObjectInput{Bucket: &u.at.bucket, Key: &u.at.key, IfNoneMatch: condition,
			CopySource: from.header(), CopySourceIfMatch: optional(from.etag), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32c,
			Metadata: u.metadata(), MetadataDirective: types.MetadataDirectiveReplace,
			ACL: types.ObjectCannedACL(o.ACL), ServerSideEncryption: types.ServerSideEncryption(o.SSE), SSEKMSKeyId: optional(o.SSEKMSKeyID),
			StorageClass: types.StorageClass(o.StorageClass), RequestPayer: u.s.payer()})
		if err != nil {
			return u.settleCopy(ctx, c, from, err)
		}
		if r := out.CopyObjectResult; r != nil {
			if crc, ok := decodeCRC(r.ChecksumCRC32C); ok {
				sum.CRC32, sum.NoCRC = crc, false
			}
		}
		return nil
	})
	if err == nil {
		err = u.verify(from, sum.Size, true)
	}
	if err != nil {
		return store.Sum{}, err
	}
	if progress != nil {
		progress(sum.Size)
	}
	return sum, nil
}

// settleCopy tells a source that changed from a destination that is there: the
// answer to both is 412.
func (u *upload) settleCopy(ctx context.Context, c *s3.Client, from *copySource, err error) error {
	if httpStatus(err) != http.StatusPreconditionFailed {
		return u.settle(ctx, c, err)
	}
	if _, headErr := u.head(ctx, c); headErr == nil {
		return u.settle(ctx, c, err)
	}
	return changed(from.uri, "it was replaced while it was copied")
}

// verify looks at the new object.
func (u *upload) verify(from *copySource, length int64, whole bool) error {
	return u.call("copy", func(ctx context.Context, c *s3.Client) error {
		h, err := u.head(ctx, c)
		if err != nil {
			return err
		}
		if n := aws.ToInt64(h.ContentLength); n != length {
			return &Error{Op: "copy", URI: u.uri, Problem: fmt.Sprintf("the server made %d bytes of %d", n, length)}
		}
		// Without encryption the ETag of an object that was put whole is its MD5.
		plain := func(etag string, sse types.ServerSideEncryption) bool {
			return len(strings.Trim(etag, `"`)) == 32 && sse != types.ServerSideEncryptionAwsKms && sse != types.ServerSideEncryptionAwsKmsDsse
		}
		if etag := aws.ToString(h.ETag); whole && plain(etag, h.ServerSideEncryption) && plain(from.etag, from.sse) && etag != from.etag {
			return &Error{Op: "copy", URI: u.uri, Problem: "the server made other bytes (another ETag)", Hint: "remove it and run the same command again"}
		}
		return nil
	})
}

// copyThrough reads the part and puts it.
func (u *upload) copyThrough(from *copySource, off, length int64, progress func(int64)) (store.Sum, error) {
	data := make([]byte, length)
	if length > 0 {
		o, err := Retry(u.s, RetryPolicy{Notify: u.s.o.Notify}).Open(u.ctx, from.uri)
		if err != nil {
			return store.Sum{}, err
		}
		defer o.Close()
		if n, err := o.ReadAt(data, off); n < len(data) {
			if err == io.EOF {
				err = changed(from.uri, "it became shorter while it was copied")
			}
			return store.Sum{}, err
		}
	}
	if err := u.put(data); err != nil {
		return store.Sum{}, err
	}
	if progress != nil {
		progress(length)
	}
	return store.Sum{Size: length, CRC32: crc32.Checksum(data, castagnoli)}, nil
}

// copyParts lets the server copy parts, several at once.
func (u *upload) copyParts(from *copySource, off, length int64, progress func(int64)) (store.Sum, error) {
	if err := u.begin(false); err != nil {
		return store.Sum{}, err
	}
	part := max(u.s.copyPart, length/(maxParts-1)+1)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		done int64
		free = make(chan struct{}, u.s.o.Parallel)
	)
	for at := int64(0); at < length && u.failure() == nil; at += part {
		n, number := min(part, length-at), u.next()
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if err := u.copyPart(from, off+at, n, number); err != nil {
				u.fail(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			done += n
			if progress != nil {
				progress(done)
			}
		})
	}
	wg.Wait()
	if err := u.failure(); err != nil {
		return store.Sum{}, err
	}
	if err := u.complete(); err != nil {
		return store.Sum{}, err
	}
	return store.Sum{Size: length, NoCRC: true}, u.verify(from, length, false)
}

func (u *upload) copyPart(from *copySource, off, n int64, number int32) error {
	return u.call("copy", func(ctx context.Context, c *s3.Client) error {
		out, err := c.UploadPartCopy(ctx, &s3.UploadPartCopyInput{Bucket: &u.at.bucket, Key: &u.at.key, UploadId: &u.id, PartNumber: &number,
			CopySource: from.header(), CopySourceIfMatch: optional(from.etag), CopySourceRange: aws.String(fmt.Sprintf("bytes=%d-%d", off, off+n-1)),
			RequestPayer: u.s.payer()})
		switch httpStatus(err) {
		case http.StatusPreconditionFailed:
			return changed(from.uri, "it was replaced while it was copied")
		case http.StatusNotImplemented, http.StatusMethodNotAllowed:
			return &Error{Op: "copy", URI: u.uri, Problem: "the server does not copy parts of objects", Err: errNoPartCopy}
		}
		if err == nil {
			u.addPart(types.CompletedPart{PartNumber: &number, ETag: out.CopyPartResult.ETag})
		}
		return err
	})
}
