package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chkscope/model/store"
)

// farDirs is a store with directories only known by their `_metadata`, so far
// away that each question takes a trip there and back.
type farDirs struct {
	Store
	metadata map[string]time.Time // by URI of the directory; the zero time: there is none
	extra    map[string][]string  // other directories, by parent

	mu    sync.Mutex
	calls int
}

const farTrip = time.Second

func (f *farDirs) trip(ctx context.Context) error {
	f.mu.Lock()
	f.calls++
	f.mu.Unlock()
	select {
	case <-time.After(farTrip):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *farDirs) Open(ctx context.Context, uri string) (Object, error) {
	if err := f.trip(ctx); err != nil {
		return nil, err
	}
	return nil, ErrNotExist
}

func (f *farDirs) Stat(ctx context.Context, uri string) (Info, error) {
	if err := f.trip(ctx); err != nil {
		return Info{}, err
	}
	if at := f.metadata[strings.TrimSuffix(uri, "/"+MetadataName)]; strings.HasSuffix(uri, MetadataName) && !at.IsZero() {
		return Info{Name: MetadataName, URI: uri, Size: 10, Modified: at}, nil
	} else if strings.HasSuffix(uri, MetadataName) {
		return Info{}, ErrNotExist
	}
	return Info{URI: uri, Dir: true}, nil
}

func (f *farDirs) List(ctx context.Context, uri string) ([]Info, error) {
	if err := f.trip(ctx); err != nil {
		return nil, err
	}
	below := map[string]Info{}
	add := func(dir string) {
		if rest, ok := strings.CutPrefix(dir, uri+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			below[name] = Info{Name: name, URI: uri + "/" + name, Dir: true}
		}
	}
	for dir, at := range f.metadata {
		add(dir)
		if dir == uri && !at.IsZero() {
			below[MetadataName] = Info{Name: MetadataName, URI: uri + "/" + MetadataName, Size: 10, Modified: at}
		}
	}
	for _, name := range f.extra[uri] {
		add(uri + "/" + name)
	}
	var out []Info
	for _, i := range below {
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// StatAll asks 32 at a time, as over a network.
func (f *farDirs) StatAll(ctx context.Context, uris []string, each func(int, Info, error)) error {
	var mu sync.Mutex
	return store.AtOnce(ctx, len(uris), 32, func(i int) {
		info, err := f.Stat(ctx, uris[i])
		mu.Lock()
		defer mu.Unlock()
		each(i, info, err)
	})
}

// manyJobs is 500 jobs with two checkpoints each, of which the last was not
// finished, a copy of ours beside one of them, and a savepoint of no job.
func manyJobs() *farDirs {
	f := &farDirs{metadata: map[string]time.Time{}, extra: map[string][]string{}}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for j := range 500 {
		job := fmt.Sprintf("s3://b/ckpt/%032x", j)
		f.metadata[job+"/chk-9"] = at.Add(time.Duration(j) * time.Minute)
		f.metadata[job+"/chk-10"] = time.Time{}
		f.extra[job] = []string{"shared", "taskowned"}
	}
	f.metadata["s3://b/ckpt/"+fmt.Sprintf("%032x", 7)+"/chk-9-pruned"] = at.Add(-time.Hour)
	f.metadata["s3://b/ckpt/savepoint-1-2"] = at.Add(1000 * time.Hour)
	f.metadata["s3://b/ckpt/ours"] = at.Add(999 * time.Hour)
	return f
}

// TestCandidatesOfManyJobs: thousands of directories are looked into in few
// requests, many at once, and it is told how far that is.
func TestCandidatesOfManyJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, begun, done, all := manyJobs(), time.Now(), 0, 0
		list, err := Candidates(t.Context(), f, "s3://b/ckpt", func(d, a int) {
			if d != done+1 || d > a {
				t.Errorf("%d of %d after %d", d, a, done)
			}
			done, all = d, a
		})
		if err != nil {
			t.Fatal(err)
		}
		// 1 list of the parent, 501 of what may be jobs, 1,002 questions for _metadata.
		trips := time.Since(begun) / farTrip
		if f.calls > 1504 || trips > 1+16+32 {
			t.Errorf("%d requests in %d trips one behind the other", f.calls, trips)
		}
		if done != all || all != 502+1001 {
			t.Errorf("told of %d of %d directories", done, all)
		}
		if len(list) != 500+500+1+2 || list[0].Name != "savepoint-1-2" || list[1].Name != "ours" || !strings.HasSuffix(list[2].URI, "1f3/chk-9") {
			t.Errorf("%d candidates, the first are %+v", len(list), list[:3])
		}
		if i := slices.IndexFunc(list, func(c Candidate) bool { return !c.Complete }); i != 503 || list[i].Name != "chk-10" || list[i].Size != Unknown {
			t.Errorf("the first incomplete one is at %d", i)
		}
		again, err := Candidates(t.Context(), f, "s3://b/ckpt", nil)
		if err != nil || !slices.Equal(list, again) {
			t.Errorf("another order at the second time, %v", err)
		}
	})
}

// TestCandidatesCanBeCancelled in every phase, within a trip.
func TestCandidatesCanBeCancelled(t *testing.T) {
	for _, after := range []time.Duration{0, 3, 20} {
		synctest.Test(t, func(t *testing.T) {
			f := manyJobs()
			ctx, cancel := context.WithTimeout(t.Context(), after*farTrip+farTrip/2)
			defer cancel()
			_, _, err := Open(ctx, f, "s3://b/ckpt", Options{Choose: true})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after %d trips: %v", after, err)
			}
		})
	}
}

// TestChoose: a parent directory with one checkpoint is opened, with several it is
// the caller who chooses.
func TestChoose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var several *Several
		_, _, err := Open(t.Context(), manyJobs(), "s3://b/ckpt", Options{Choose: true})
		if !errors.As(err, &several) || several.URI != "s3://b/ckpt" || len(several.List) != 1003 {
			t.Errorf("%v", err)
		}
		one := &farDirs{metadata: map[string]time.Time{"s3://b/job/chk-1": time.Now()}}
		if _, _, err := Open(t.Context(), one, "s3://b/job", Options{Choose: true}); err != ErrNotExist { // what farDirs says to opening it
			t.Errorf("one checkpoint is not opened but: %v", err)
		}
	})
}
