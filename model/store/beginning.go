package store

import "context"

type beginningKey struct{}

// WithBeginning tells a store that brings the beginning of an object along when it
// opens it, in the same request, how many bytes of that are wanted. It is a hint.
func WithBeginning(ctx context.Context, n int64) context.Context {
	return context.WithValue(ctx, beginningKey{}, n)
}

// Beginning is what WithBeginning told, else otherwise.
func Beginning(ctx context.Context, otherwise int64) int64 {
	if n, ok := ctx.Value(beginningKey{}).(int64); ok && n > 0 {
		return n
	}
	return otherwise
}
