package storage

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"chkscope/model/store"
	"github.com/aws/aws-sdk-go-v2/aws"
)

// callKey finds the call in the context of an HTTP request.
type callKey struct{}

// call says what an HTTP request is made for.
type call struct{ op, uri string }

// meteredClient tells a Meter each HTTP request, retries too, when its body has
// been read.
type meteredClient struct {
	aws.HTTPClient
	m *Meter
}

func (c *meteredClient) Do(req *http.Request) (*http.Response, error) {
	if c.m == nil {
		return c.HTTPClient.Do(req)
	}
	r := Request{Op: req.Method, Written: max(req.ContentLength, 0)}
	if for_, ok := req.Context().Value(callKey{}).(*call); ok {
		r.Op, r.URI = for_.op+" "+req.Method, for_.uri
	}
	r.Range = req.Header.Get("Range")
	start := time.Now()
	resp, err := c.HTTPClient.Do(req)
	if err != nil {
		r.Took, r.Err = time.Since(start), err
		c.m.add(r)
		return resp, err
	}
	r.Status = resp.StatusCode
	resp.Body = &meteredBody{ReadCloser: resp.Body, m: c.m, r: r, start: start}
	return resp, nil
}

// meteredBody counts what is read of a body and tells when it is closed.
type meteredBody struct {
	io.ReadCloser
	m     *Meter
	r     Request
	start time.Time
	told  bool
}

func (b *meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.r.Read += int64(n)
	if err != nil && err != io.EOF {
		b.r.Err = err
	}
	return n, err
}

func (b *meteredBody) Close() error {
	if !b.told {
		b.told = true
		b.r.Took = time.Since(b.start)
		b.m.add(b.r)
	}
	return b.ReadCloser.Close()
}

// dialWatched dials connections that fail when nothing moves on them, in either
// direction, for so long. The SDK's own read timeout would also cut an upload
// that takes longer than it.
func dialWatched(idle time.Duration) func(context.Context, string, string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: min(15*time.Second, idle), KeepAlive: 30 * time.Second}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &watchedConn{conn, idle}, nil
	}
}

type watchedConn struct {
	net.Conn
	idle time.Duration
}

func (c *watchedConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write moves the deadline of the read that waits for the answer too.
func (c *watchedConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// s3Place is a bucket and a key.
type s3Place struct{ bucket, key string }

// parseS3 takes s3:, s3a: and s3n: URIs apart; a user and password in it is
// ignored.
func parseS3(uri string) s3Place {
	_, authority, pth := store.Split(store.Canonical(uri))
	return s3Place{authority, pth[min(1, len(pth)):]}
}
