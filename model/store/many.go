package store

import (
	"context"
	"sync"
)

// AtOnce calls f for 0 to n-1, so many at a time, and comes back when all have
// ended. After the end of ctx it begins no more and gives its error.
func AtOnce(ctx context.Context, n, parallel int, f func(i int)) error {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(parallel, n) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}

// statParallel is how many calls of Stat are under way where the store does not
// say better.
const statParallel = 8

// StatAll asks st for all uris: by its own means where it is a BulkStater, else
// by Stat, several at a time. What it calls and gives is told there.
func StatAll(ctx context.Context, st Store, uris []string, each func(i int, info Info, err error)) error {
	if many, ok := st.(BulkStater); ok {
		return many.StatAll(ctx, uris, each)
	}
	var mu sync.Mutex
	return AtOnce(ctx, len(uris), statParallel, func(i int) {
		info, err := st.Stat(ctx, uris[i])
		mu.Lock()
		defer mu.Unlock()
		each(i, info, err)
	})
}
