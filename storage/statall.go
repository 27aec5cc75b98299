package storage

import (
	"context"
	"sync"

	"chkscope/model/store"
)

const (
	statParallel = 8  // calls of Stat under way, on the disk
	headParallel = 32 // the same, over the network
	worthListing = 10 // files of one directory from which on it is listed
	headsPerList = 20 // HEADs, which go in parallel, that one page of a listing is worth
)

// StatAll asks for all uris: of an object store by listing their directories
// where that takes fewer calls, else by Stat, several at once.
func (r *Router) StatAll(ctx context.Context, uris []string, each func(int, store.Info, error)) error {
	var (
		mu   sync.Mutex
		rest []int
		told = func(i int, info store.Info, err error) {
			mu.Lock()
			defer mu.Unlock()
			info.URI = uris[i]
			each(i, info, err)
		}
		groups   = map[string][]int{} // by directory, as mapped
		parallel = statParallel
	)
	for i, uri := range uris {
		mapped := r.maps.Apply(uri)
		if r.s3 != nil && isS3(mapped) {
			dir := store.Canonical(store.Parent(mapped))
			groups[dir] = append(groups[dir], i)
			parallel = headParallel
		} else {
			rest = append(rest, i)
		}
	}
	for dir, wanted := range groups {
		if len(wanted) >= worthListing {
			wanted = r.s3.statByListing(ctx, dir, uris, wanted, told)
		}
		rest = append(rest, wanted...)
	}
	return store.AtOnce(ctx, len(rest), parallel, func(k int) {
		info, err := r.Stat(ctx, uris[rest[k]])
		told(rest[k], info, err)
	})
}

func isS3(uri string) bool {
	s := store.Scheme(uri)
	return s == "s3" || s == "s3a" || s == "s3n"
}

// statByListing tells what a listing of dir can tell of the wanted ones, and
// gives those that are left: all, where the listing is refused; those behind
// the end, where it takes more pages than it saves requests.
func (s *s3Store) statByListing(ctx context.Context, dir string, uris []string, wanted []int, told func(int, store.Info, error)) []int {
	pages, complete, last := 1, true, ""
	infos, err := s.listPages(ctx, "stat", dir, parseS3(dir).prefix(), 0, func() bool {
		complete = pages < len(wanted)/headsPerList
		pages++
		return complete
	})
	if err != nil {
		return wanted
	}
	byName := make(map[string]store.Info, len(infos))
	for _, i := range infos {
		last = max(last, i.Name)
		if seen, ok := byName[i.Name]; !ok || seen.Dir {
			byName[i.Name] = i // a file hides a directory of the same name, as in Stat
		}
	}
	var left []int
	for _, i := range wanted {
		name := store.Base(uris[i])
		info, ok := byName[name]
		switch {
		case ok:
			told(i, info, nil)
		case complete || name < last:
			told(i, store.Info{}, &Error{Op: "stat", URI: store.Redact(uris[i]), Kind: store.ErrNotExist, Problem: "it does not exist"})
		default:
			left = append(left, i)
		}
	}
	return left
}
