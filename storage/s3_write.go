package storage

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"net/http"
	"slices"
	"sync"
	"time"

	"chkscope/model/store"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const (
	// minPart is the least that S3 takes as a part that is not the last, and the
	// most that is sent by a single PUT: a server may cut the connection of a
	// longer one when it refuses it because the object exists.
	minPart = 5 << 20
	// maxParts is the most parts of one upload.
	maxParts = 10_000
	// tokenKey is the metadata key by which a writer knows its own object again.
	tokenKey = "chkscope-write"
)

// Create asks nothing yet: up to 5 MiB are sent by one PUT at Commit, more as a
// multipart upload that begins when they have been written. Both are made with
// If-None-Match, so that an object is never replaced.
func (s *s3Store) Create(ctx context.Context, uri string) (store.Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &s3Writer{upload: s.newUpload(ctx, uri), free: make(chan []byte, s.o.Parallel), part: s.o.PartSize}
	for range s.o.Parallel {
		w.free <- nil
	}
	return w, nil
}

// s3Writer collects parts and uploads several at once. Write waits while as
// many as allowed are under way, so memory stays below (Parallel+1) parts.
type s3Writer struct {
	*upload
	buf  []byte
	part int64
	free chan []byte // buffers that no part under way uses
	wg   sync.WaitGroup
	done bool
}

func (w *s3Writer) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		if err := w.failure(); err != nil {
			return written, err
		}
		n := int(min(int64(len(p)), w.part-int64(len(w.buf))))
		if need := len(w.buf) + n; need > minPart && int64(cap(w.buf)) < w.part {
			w.buf = append(make([]byte, 0, w.part), w.buf...) // it will be a whole part
		}
		w.buf = append(w.buf, p[:n]...)
		p, written = p[n:], written+n
		if int64(len(w.buf)) == w.part {
			if err := w.flush(); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

// flush sends the collected part on its way. Parts of a file of unknown length
// grow by their first size every thousand parts, which is enough for 440 GB.
func (w *s3Writer) flush() error {
	if err := w.begin(true); err != nil {
		return err
	}
	data, number := w.buf, w.next()
	if number%1000 == 0 {
		w.part += w.s.o.PartSize
	}
	select {
	case buf := <-w.free:
		w.buf = buf[:0]
	case <-w.ctx.Done():
		return w.stopped()
	}
	w.wg.Go(func() {
		defer func() { w.free <- data }()
		if err := w.sendPart(number, data, crc32.Checksum(data, castagnoli)); err != nil {
			w.fail(err)
		}
	})
	return nil
}

// fill uploads parts of a known length.
func (w *s3Writer) fill(in store.Object, off, length int64, progress func(int64)) (store.Sum, error) {
	if err := w.begin(true); err != nil {
		return store.Sum{}, err
	}
	part := max(w.part, length/(maxParts-1)+1)
	return fillParts(w.ctx, in, off, length, part, w.s.o.Parallel, func(i int64, data []byte, crc uint32) error {
		return w.sendPart(int32(i+1), data, crc)
	}, progress)
}

func (w *s3Writer) Commit() error {
	if w.done {
		return &Error{Op: "write", URI: w.uri, Problem: "it was ended already"}
	}
	w.done = true
	defer w.cancel()
	if err := w.failure(); err != nil {
		return errors.Join(err, w.drop())
	}
	if !w.begun() && len(w.buf) <= minPart {
		return w.put(w.buf)
	}
	var err error
	if len(w.buf) > 0 {
		err = w.flush()
	}
	w.wg.Wait()
	if err == nil {
		err = w.failure()
	}
	if err == nil {
		err = w.complete()
	}
	if err != nil {
		w.drop()
	}
	return err
}

func (w *s3Writer) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	return w.drop()
}

// drop waits for what is under way and removes the parts.
func (w *s3Writer) drop() error {
	w.wg.Wait()
	err := w.abort()
	w.cancel()
	return err
}

// upload is a new object on its way: a single PUT or a multipart upload.
type upload struct {
	s      *s3Store
	ctx    context.Context
	cancel context.CancelFunc
	uri    string
	at     s3Place
	token  string

	mu    sync.Mutex
	id    string
	count int32
	parts []types.CompletedPart
	err   error // the first failure of a part
}

func (s *s3Store) newUpload(ctx context.Context, uri string) *upload {
	ctx, cancel := context.WithCancel(ctx)
	return &upload{s: s, ctx: ctx, cancel: cancel, uri: store.Redact(uri), at: parseS3(uri), token: rand.Text()}
}

func (u *upload) call(op string, f func(context.Context, *s3.Client) error) error {
	return u.s.do(u.ctx, op, u.uri, f)
}

func (u *upload) stopped() error { return u.s.sentence("write", u.uri, u.ctx.Err()) }

// failure is the first error of a part, or that of the context.
func (u *upload) failure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err == nil && u.ctx.Err() != nil {
		return u.stopped()
	}
	return u.err
}

// fail keeps the first error, after which no part is begun. Those under way are
// left to end: a server that has all of one makes it even when nobody waits for
// the answer, and even after the upload was aborted.
func (u *upload) fail(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err == nil {
		u.err = err
	}
}

func (u *upload) begun() bool { return u.id != "" }

func (u *upload) next() int32 {
	u.count++
	return u.count
}

// begin starts the multipart upload, unless it is started, after a look at
// whether the object is there: the condition itself is checked at the end only.
//
// Parts that are sent carry a CRC-32C. Parts that the server copies do not: there
// are servers that give such a part the checksum of the whole source.
func (u *upload) begin(summed bool) error {
	if u.begun() {
		return nil
	}
	o := u.s.o
	var (
		algorithm types.ChecksumAlgorithm
		kind      types.ChecksumType
	)
	if summed {
		algorithm, kind = types.ChecksumAlgorithmCrc32c, types.ChecksumTypeFullObject
	}
	return u.call("create", func(ctx context.Context, c *s3.Client) error {
		if err := u.refuseExisting(ctx, c); err != nil {
			return err
		}
		out, err := c.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &u.at.bucket, Key: &u.at.key,
			ACL: types.ObjectCannedACL(o.ACL), ServerSideEncryption: types.ServerSideEncryption(o.SSE), SSEKMSKeyId: optional(o.SSEKMSKeyID),
			StorageClass: types.StorageClass(o.StorageClass), RequestPayer: u.s.payer(), Metadata: u.metadata(),
			ChecksumAlgorithm: algorithm, ChecksumType: kind})
		if err == nil {
			u.id = aws.ToString(out.UploadId)
		}
		return err
	})
}

func (u *upload) refuseExisting(ctx context.Context, c *s3.Client) error {
	if _, err := u.head(ctx, c); err == nil {
		return &Error{Op: "create", URI: u.uri, Kind: store.ErrExist, Problem: "it exists already", Hint: "nothing is ever replaced: choose another destination"}
	}
	return nil // whatever else is wrong, the upload itself tells better
}

// condition is If-None-Match, or a look for the object where the server does
// not implement that.
func (u *upload) condition(ctx context.Context, c *s3.Client) (*string, error) {
	u.s.mu.Lock()
	unconditional := u.s.unconditional
	u.s.mu.Unlock()
	if unconditional {
		return nil, u.refuseExisting(ctx, c)
	}
	return aws.String("*"), nil
}

func (u *upload) head(ctx context.Context, c *s3.Client) (*s3.HeadObjectOutput, error) {
	return c.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &u.at.bucket, Key: &u.at.key, RequestPayer: u.s.payer()})
}

func (u *upload) metadata() map[string]string { return map[string]string{tokenKey: u.token} }

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// encodeCRC is a CRC-32C as S3 writes it; S3 refuses a body that differs.
func encodeCRC(sum uint32) *string {
	return aws.String(base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum)))
}

func decodeCRC(text *string) (uint32, bool) {
	raw, err := base64.StdEncoding.DecodeString(aws.ToString(text))
	if err != nil || len(raw) != 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(raw), true
}

// sendPart uploads one part.
func (u *upload) sendPart(number int32, data []byte, crc uint32) error {
	sum := encodeCRC(crc)
	return u.call("write", func(ctx context.Context, c *s3.Client) error {
		out, err := c.UploadPart(ctx, &s3.UploadPartInput{Bucket: &u.at.bucket, Key: &u.at.key, UploadId: &u.id, PartNumber: &number,
			Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data))), ChecksumCRC32C: sum, RequestPayer: u.s.payer()})
		if err == nil {
			u.addPart(types.CompletedPart{PartNumber: &number, ETag: out.ETag, ChecksumCRC32C: sum})
		}
		return err
	})
}

func (u *upload) addPart(p types.CompletedPart) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.parts = append(u.parts, p)
}

// put writes a small object whole.
func (u *upload) put(data []byte) error {
	o := u.s.o
	return u.call("write", func(ctx context.Context, c *s3.Client) error {
		condition, err := u.condition(ctx, c)
		if err != nil {
			return err
		}
		_, err = c.PutObject(ctx, &s3.PutObjectInput{Bucket: &u.at.bucket, Key: &u.at.key, IfNoneMatch: condition,
			Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data))), ChecksumCRC32C: encodeCRC(crc32.Checksum(data, castagnoli)), Metadata: u.metadata(),
			ACL: types.ObjectCannedACL(o.ACL), ServerSideEncryption: types.ServerSideEncryption(o.SSE), SSEKMSKeyId: optional(o.SSEKMSKeyID),
			StorageClass: types.StorageClass(o.StorageClass), RequestPayer: u.s.payer()})
		return u.settle(ctx, c, err)
	})
}

// complete makes the object of its parts.
func (u *upload) complete() error {
	slices.SortFunc(u.parts, func(a, b types.CompletedPart) int { return int(*a.PartNumber - *b.PartNumber) })
	return u.call("write", func(ctx context.Context, c *s3.Client) error {
		condition, err := u.condition(ctx, c)
		if err != nil {
			return err
		}
		_, err = c.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: &u.at.bucket, Key: &u.at.key, UploadId: &u.id,
			IfNoneMatch: condition, MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts}, RequestPayer: u.s.payer()})
		return u.settle(ctx, c, err)
	})
}

// settle looks twice at a refusal. When the answer to a request that succeeded
// is lost, the SDK sends it again, and that one finds the object there, or the
// upload gone: the token tells that it is ours.
func (u *upload) settle(ctx context.Context, c *s3.Client, err error) error {
	status := httpStatus(err)
	if err == nil || status != http.StatusPreconditionFailed && status != http.StatusConflict && errorCode(err) != "NoSuchUpload" {
		return err
	}
	h, headErr := u.head(ctx, c)
	if httpStatus(headErr) == http.StatusNotFound && status == http.StatusPreconditionFailed {
		return &Error{Op: "write", URI: u.uri, Kind: store.ErrCannotAsk, Err: u.s.hidden(err), Problem: "the server refused it because of a condition, though nothing is there: " + u.s.message(err),
			Hint: "it may not take conditional writes or checksums; write to a disk"}
	}
	if headErr != nil {
		return err
	}
	if h.Metadata[tokenKey] == u.token {
		return nil
	}
	return &Error{Op: "write", URI: u.uri, Kind: store.ErrExist, Problem: "it exists already", Hint: "nothing is ever replaced: choose another destination", Err: u.s.hidden(err)}
}

// abort removes the parts, also when the context has ended. A part that was on
// its way may arrive at the server after that, so it asks whether the upload is
// gone, and tries again.
func (u *upload) abort() error {
	if !u.begun() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), 20*time.Second)
	defer cancel()
	var err error
	for range 3 {
		var gone bool
		if gone, err = u.abortOnce(ctx); err != nil || gone {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	u.id = ""
	return err
}

func (u *upload) abortOnce(ctx context.Context) (gone bool, err error) {
	err = u.s.do(ctx, "remove", u.uri, func(ctx context.Context, c *s3.Client) error {
		_, err := c.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &u.at.bucket, Key: &u.at.key, UploadId: &u.id, RequestPayer: u.s.payer()})
		if errorCode(err) == "NoSuchUpload" {
			gone = true
			return nil
		}
		if err != nil {
			return err
		}
		_, err = c.ListParts(ctx, &s3.ListPartsInput{Bucket: &u.at.bucket, Key: &u.at.key, UploadId: &u.id, RequestPayer: u.s.payer()})
		gone = err != nil // it says that there is no such upload, or may not be asked
		return nil
	})
	return gone, err
}
