package storage

import (
	"context"
	"errors"
	"io"
	"time"

	"chkscope/model/store"
)

// RetryPolicy bounds how often something is tried again.
type RetryPolicy struct {
	Attempts int           // in all; 0 means 5
	Wait     time.Duration // before the second attempt, doubled each time; 0 means 100 ms
	// Notify is told in a sentence that something is tried again; nil is not.
	Notify func(string)
}

// Retry is s with reading calls tried again when they fail with a transient
// Error. A read goes on where it stopped. Writing calls pass through: a store
// retries those itself, since only it knows whether a lost answer was a success.
func Retry(s store.WriteStore, p RetryPolicy) store.WriteStore {
	if p.Attempts == 0 {
		p.Attempts = 5
	}
	if p.Wait == 0 {
		p.Wait = 100 * time.Millisecond
	}
	return &retrying{s, p}
}

type retrying struct {
	store.WriteStore
	policy RetryPolicy
}

// do calls f until it succeeds, fails for good or has failed often enough.
// progressed tells whether the last call moved on, which starts the count anew.
func (p RetryPolicy) do(ctx context.Context, f func() error, progressed func() bool) error {
	wait := p.Wait
	for attempt := 1; ; attempt++ {
		err := f()
		var e *Error
		if err == nil || !errors.As(err, &e) || !e.Transient || ctx.Err() != nil {
			return err
		}
		if progressed != nil && progressed() {
			attempt, wait = 1, p.Wait
		}
		if attempt >= p.Attempts {
			return err
		}
		if p.Notify != nil {
			p.Notify(e.Problem + ": trying again")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait *= 2
	}
}

func (r *retrying) Open(ctx context.Context, uri string) (o store.Object, err error) {
	err = r.policy.do(ctx, func() error {
		o, err = r.WriteStore.Open(ctx, uri)
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	return &retryingObject{o, ctx, r.policy}, nil
}

func (r *retrying) Stat(ctx context.Context, uri string) (info store.Info, err error) {
	err = r.policy.do(ctx, func() error {
		info, err = r.WriteStore.Stat(ctx, uri)
		return err
	}, nil)
	return info, err
}

func (r *retrying) List(ctx context.Context, uri string) (infos []store.Info, err error) {
	err = r.policy.do(ctx, func() error {
		infos, err = r.WriteStore.List(ctx, uri)
		return err
	}, nil)
	return infos, err
}

type retryingObject struct {
	store.Object
	ctx    context.Context
	policy RetryPolicy
}

func (o *retryingObject) ReadAt(p []byte, off int64) (int, error) {
	done, moved := 0, false
	err := o.policy.do(o.ctx, func() error {
		n, err := o.Object.ReadAt(p[done:], off+int64(done))
		done, moved = done+n, n > 0
		if n > 0 && done == len(p) && err != io.EOF {
			return nil
		}
		return err
	}, func() bool { return moved })
	return done, err
}
