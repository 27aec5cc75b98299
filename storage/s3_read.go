package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"chkscope/model/store"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// firstRead is what Open fetches where nobody says better (store.WithBeginning):
// one request gives length, ETag and the beginning. mostFirst is the most.
const (
	firstRead = 16 << 10
	mostFirst = 1 << 20
)

// Open asks for the beginning of the object.
func (s *s3Store) Open(ctx context.Context, uri string) (store.Object, error) {
	at := parseS3(uri)
	ctx, cancel := context.WithCancel(ctx)
	o := &s3Object{s: s, ctx: ctx, cancel: cancel, uri: store.Redact(uri), at: at, head: make([]byte, min(store.Beginning(ctx, firstRead), mostFirst))}
	err := s.do(ctx, "open", o.uri, func(ctx context.Context, c *s3.Client) error {
		n, err := o.get(ctx, c, o.head, 0)
		o.head = o.head[:n]
		return err
	})
	if errors.Is(err, errEmptyObject) {
		err = s.do(ctx, "open", o.uri, func(ctx context.Context, c *s3.Client) error {
			h, err := c.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &at.bucket, Key: &at.key, RequestPayer: s.payer()})
			if err == nil {
				o.opened, o.size, o.etag, o.head = true, aws.ToInt64(h.ContentLength), aws.ToString(h.ETag), nil
			}
			return err
		})
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return o, nil
}

// errEmptyObject: no range of an empty object can be had.
var errEmptyObject = errors.New("the range begins behind the end")

// s3Object reads by ranged GETs, all but the first with If-Match, so that an
// object that is replaced meanwhile is an error and not a mixture.
type s3Object struct {
	s      *s3Store
	ctx    context.Context
	cancel context.CancelFunc
	uri    string
	at     s3Place
	opened bool // size and etag are known
	size   int64
	etag   string // "" where the server has none
	head   []byte // the beginning, read at Open
}

func (o *s3Object) Size() int64  { return o.size }
func (o *s3Object) Name() string { return o.uri }

func (o *s3Object) Close() error {
	o.cancel()
	return nil
}

func (o *s3Object) ReadAt(p []byte, off int64) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, &Error{Op: "read", URI: o.uri, Problem: "negative offset"}
	}
	want := p[:min(int64(len(p)), max(o.size-off, 0))]
	n := 0
	if off < int64(len(o.head)) {
		n = copy(want, o.head[off:])
	}
	if n < len(want) {
		var m int
		err := o.s.do(o.ctx, "read", o.uri, func(ctx context.Context, c *s3.Client) (err error) {
			m, err = o.get(ctx, c, want[n:], off+int64(n))
			return err
		})
		n += m
		if err != nil {
			return n, o.vanished(err)
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// vanished: what does not exist now existed at Open.
func (o *s3Object) vanished(err error) error {
	if errors.Is(err, store.ErrNotExist) {
		return changed(o.uri, "it was deleted while it was read")
	}
	return err
}

// get reads len(p) bytes at off with one request. The first one takes what there
// is of them and learns size and ETag.
func (o *s3Object) get(ctx context.Context, c *s3.Client, p []byte, off int64) (int, error) {
	in := &s3.GetObjectInput{Bucket: &o.at.bucket, Key: &o.at.key, RequestPayer: o.s.payer(),
		Range: aws.String(fmt.Sprintf("bytes=%d-%d", off, off+int64(len(p))-1))}
	first := !o.opened
	if o.etag != "" {
		in.IfMatch = &o.etag
	}
	out, err := c.GetObject(ctx, in)
	if httpStatus(err) == http.StatusRequestedRangeNotSatisfiable {
		if first {
			return 0, errEmptyObject
		}
		return 0, changed(o.uri, "it became shorter while it was read")
	}
	if err != nil {
		return 0, err
	}
	defer out.Body.Close()
	start, total, err := contentRange(out)
	switch {
	case err != nil:
		return 0, &Error{Op: "read", URI: o.uri, Err: err, Problem: "the server does not serve ranges of an object", Hint: "download it and open the copy"}
	case start != off:
		return 0, &Error{Op: "read", URI: o.uri, Problem: fmt.Sprintf("the server sent bytes from %d on where %d was asked for", start, off)}
	case first:
		o.opened, o.etag, o.size = true, aws.ToString(out.ETag), total
		p = p[:min(int64(len(p)), total)]
	case aws.ToString(out.ETag) != o.etag || total != o.size:
		return 0, changed(o.uri, "it was replaced while it was read")
	}
	n, err := io.ReadFull(out.Body, p)
	if err != nil {
		return n, o.cut(ctx, n, len(p), err)
	}
	return n, nil
}

// cut is a body that ended early.
func (o *s3Object) cut(ctx context.Context, n, of int, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Op: "read", URI: o.uri, Kind: store.ErrCannotAsk, Err: o.s.hidden(err), Transient: true,
		Problem: fmt.Sprintf("the connection was cut after %d of %d bytes", n, of), Hint: "look at the network or a proxy in between"}
}

// contentRange is the first byte sent and the object's length. A server that
// ignored the range has sent all of it.
func contentRange(out *s3.GetObjectOutput) (start, total int64, err error) {
	if out.ContentRange == nil {
		return 0, aws.ToInt64(out.ContentLength), nil
	}
	var end int64
	if _, err := fmt.Sscanf(*out.ContentRange, "bytes %d-%d/%d", &start, &end, &total); err != nil {
		return 0, 0, fmt.Errorf("Content-Range %q", *out.ContentRange)
	}
	return start, total, nil
}

func (s *s3Store) payer() types.RequestPayer {
	if s.o.RequestPayer {
		return types.RequestPayerRequester
	}
	return ""
}

// Stat asks by HEAD; where there is no object it looks for keys below the name.
func (s *s3Store) Stat(ctx context.Context, uri string) (store.Info, error) {
	at, uri := parseS3(uri), store.Redact(uri)
	info := store.Info{Name: store.Base(uri), URI: uri}
	err := error(&Error{Kind: store.ErrNotExist})
	if at.key != "" {
		err = s.do(ctx, "stat", uri, func(ctx context.Context, c *s3.Client) error {
			h, err := c.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &at.bucket, Key: &at.key, RequestPayer: s.payer()})
			if err == nil {
				info.Size, info.Modified = aws.ToInt64(h.ContentLength), aws.ToTime(h.LastModified)
				return nil
			}
			return s.explain(ctx, c, at, err)
		})
	}
	if !errors.Is(err, store.ErrNotExist) {
		return info, err
	}
	below, listErr := s.listPages(ctx, "stat", uri, at.prefix(), 1, nil)
	switch {
	case listErr == nil && (len(below) > 0 || at.key == ""):
		info.Dir = true
		return info, nil
	case listErr == nil || at.key != "" && errorCode(listErr) == "AccessDenied":
		return store.Info{}, err // who may not list was still told that the key is not there
	}
	return store.Info{}, listErr
}

// explain asks again with GET where HEAD was refused, since an answer to HEAD
// has no body that would tell why.
func (s *s3Store) explain(ctx context.Context, c *s3.Client, at s3Place, err error) error {
	if status := httpStatus(err); status != http.StatusForbidden && status != http.StatusBadRequest || regionHeader(err) != "" && regionHeader(err) != c.Options().Region {
		return err
	}
	out, why := c.GetObject(ctx, &s3.GetObjectInput{Bucket: &at.bucket, Key: &at.key, RequestPayer: s.payer(), Range: aws.String("bytes=0-0")})
	if why == nil {
		out.Body.Close()
		return err
	}
	if httpStatus(why) == 0 {
		return err
	}
	return why
}

// prefix is what the keys in the directory begin with.
func (p s3Place) prefix() string {
	if p.key == "" {
		return ""
	}
	return p.key + "/"
}

// List gives the keys and common prefixes directly below uri, by pages.
func (s *s3Store) List(ctx context.Context, uri string) ([]store.Info, error) {
	at, uri := parseS3(uri), store.Redact(uri)
	infos, err := s.listPages(ctx, "list", uri, at.prefix(), 0, nil)
	if err != nil {
		return nil, err
	}
	if len(infos) == 0 && at.key != "" {
		return nil, &Error{Op: "list", URI: uri, Kind: store.ErrNotExist, Problem: "no key begins with " + at.prefix(),
			Hint: "look at the path; aws s3 ls lists what is there"}
	}
	slices.SortFunc(infos, func(a, b store.Info) int { return cmp.Compare(a.Name, b.Name) })
	return slices.DeleteFunc(infos, func(i store.Info) bool { return i.Name == "" }), nil
}

// listPages gives the children of prefix: at most limit (0: all of them). Where
// more is not nil it is asked before each further page. A marker object of the
// directory itself comes as a child without a name.
func (s *s3Store) listPages(ctx context.Context, op, uri, prefix string, limit int32, more func() bool) ([]store.Info, error) {
	var infos []store.Info
	in := &s3.ListObjectsV2Input{Bucket: aws.String(parseS3(uri).bucket), Prefix: &prefix, Delimiter: aws.String("/"),
		RequestPayer: s.payer(), EncodingType: types.EncodingTypeUrl}
	if limit > 0 {
		in.MaxKeys = &limit
	}
	for {
		var out *s3.ListObjectsV2Output
		err := s.do(ctx, op, uri, func(ctx context.Context, c *s3.Client) (err error) {
			out, err = c.ListObjectsV2(ctx, in)
			return err
		})
		if err != nil {
			return nil, err
		}
		name := func(key *string) string {
			k := aws.ToString(key)
			if out.EncodingType == types.EncodingTypeUrl {
				if plain, err := url.QueryUnescape(k); err == nil {
					k = plain
				}
			}
			return strings.TrimPrefix(k, prefix)
		}
		for _, o := range out.Contents {
			n := name(o.Key)
			infos = append(infos, store.Info{Name: n, URI: strings.TrimSuffix(uri, "/") + "/" + n, Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified)})
		}
		for _, p := range out.CommonPrefixes {
			if n := strings.TrimSuffix(name(p.Prefix), "/"); n != "" {
				infos = append(infos, store.Info{Name: n, URI: strings.TrimSuffix(uri, "/") + "/" + n, Dir: true})
			}
		}
		if !aws.ToBool(out.IsTruncated) || limit > 0 || more != nil && !more() {
			return infos, nil
		}
		if out.NextContinuationToken == nil || aws.ToString(out.NextContinuationToken) == aws.ToString(in.ContinuationToken) {
			return nil, &Error{Op: op, URI: uri, Problem: "the server says that there is more but not where"}
		}
		in.ContinuationToken = out.NextContinuationToken
	}
}

// Free is not known of an object store.
func (s *s3Store) Free(context.Context, string) int64 { return -1 }

// Remove deletes one object that is there.
func (s *s3Store) Remove(ctx context.Context, uri string) error {
	at, uri := parseS3(uri), store.Redact(uri)
	return s.do(ctx, "remove", uri, func(ctx context.Context, c *s3.Client) error {
		if _, err := c.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &at.bucket, Key: &at.key, RequestPayer: s.payer()}); err != nil {
			return s.explain(ctx, c, at, err)
		}
		_, err := c.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &at.bucket, Key: &at.key, RequestPayer: s.payer()})
		return err
	})
}
