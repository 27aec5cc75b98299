package storage

import (
	"context"

	"chkscope/model/store"
)

// ReadOnly is s without the calls that write; they fail with ErrReadOnly.
func ReadOnly(s store.WriteStore) store.WriteStore { return &readOnly{s} }

type readOnly struct{ store.WriteStore }

func refuseWrite(op, uri string) error {
	return &Error{Op: op, URI: store.Redact(uri), Kind: store.ErrReadOnly,
		Problem: "nothing is written with --read-only"}
}

func (*readOnly) Create(_ context.Context, uri string) (store.Writer, error) {
	return nil, refuseWrite("create", uri)
}

func (*readOnly) Copy(_ context.Context, _ string, _, _ int64, dst string, _ func(int64)) (store.Sum, error) {
	return store.Sum{}, refuseWrite("copy", dst)
}

func (*readOnly) Remove(_ context.Context, uri string) error { return refuseWrite("remove", uri) }
