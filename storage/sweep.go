package storage

import (
	"context"
	"errors"

	"chkscope/model/store"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Sweep removes what killed writers left in the directory dir.
func (r *Router) Sweep(ctx context.Context, dir string) (int, error) {
	s, mapped, err := r.route("remove", dir)
	if err != nil {
		return 0, err
	}
	n, err := sweepNamed(ctx, s, mapped)
	if err != nil || !isS3(mapped) {
		return n, err
	}
	if _, refused := s.(*readOnly); refused {
		return n, refuseWrite("remove", mapped)
	}
	m, err := r.s3.sweep(ctx, mapped)
	return n + m, err
}

// sweepNamed removes files with a temporary name.
func sweepNamed(ctx context.Context, s store.WriteStore, dir string) (n int, err error) {
	infos, err := s.List(ctx, dir)
	if errors.Is(err, store.ErrNotExist) {
		return 0, nil
	}
	for _, i := range infos {
		if !i.Dir && store.IsTemp(i.Name) {
			if err := s.Remove(ctx, store.Join(dir, "./"+i.Name)); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, err
}

// sweep aborts multipart uploads to keys directly in dir.
func (s *s3Store) sweep(ctx context.Context, dir string) (n int, err error) {
	at, uri := parseS3(dir), store.Redact(dir)
	in := &s3.ListMultipartUploadsInput{Bucket: &at.bucket, Prefix: aws.String(at.prefix()), Delimiter: aws.String("/"), RequestPayer: s.payer()}
	for {
		var out *s3.ListMultipartUploadsOutput
		err := s.do(ctx, "remove", uri, func(ctx context.Context, c *s3.Client) (err error) {
			out, err = c.ListMultipartUploads(ctx, in)
			return err
		})
		if err != nil {
			return n, err
		}
		for _, u := range out.Uploads {
			err := s.do(ctx, "remove", uri, func(ctx context.Context, c *s3.Client) error {
				_, err := c.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &at.bucket, Key: u.Key, UploadId: u.UploadId, RequestPayer: s.payer()})
				if errorCode(err) == "NoSuchUpload" {
					return nil
				}
				return err
			})
			if err != nil {
				return n, err
			}
			n++
		}
		if !aws.ToBool(out.IsTruncated) {
			return n, nil
		}
		in.KeyMarker, in.UploadIdMarker = out.NextKeyMarker, out.NextUploadIdMarker
	}
}
