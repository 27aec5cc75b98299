package main

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"chkscope/decoder/metadata"
	"chkscope/decoder/metadata/metatest"
	"chkscope/model"
	"chkscope/storage"
)

// farStore has one file, dir/_metadata, so far away that each question takes a
// trip there and back. As in S3, opening brings the beginning of the file.
type farStore struct {
	model.WriteStore
	path       string
	dir        string
	trip       time.Duration
	asked      atomic.Int64
	bytesAsked atomic.Int64
}

func (f *farStore) Open(_ context.Context, uri string) (model.Object, error) {
	f.asked.Add(1)
	time.Sleep(f.trip)
	if uri != f.dir+"/"+model.MetadataName {
		return nil, model.ErrNotExist
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	return &farObject{file, f, info.Size()}, err
}

type farObject struct {
	*os.File
	f    *farStore
	size int64
}

func (o *farObject) Size() int64 { return o.size }

func (o *farObject) ReadAt(p []byte, off int64) (int, error) {
	if begin := int64(64 << 10); off+int64(len(p)) > begin {
		o.f.asked.Add(1)
		o.f.bytesAsked.Add(int64(len(p)))
		time.Sleep(o.f.trip)
	}
	return o.File.ReadAt(p, off)
}

// TestRoundTrips: the tree of a _metadata of the incident's size, 168 MB that are
// mostly offsets, takes few trips to a store that is far away, one behind the
// other. The clock is not a real one, so no machine is too slow for it.
func TestRoundTrips(t *testing.T) {
	const elements = 10 * 8 * 8 * 8 * 8 * 8 * 8 * 8
	for _, c := range []struct {
		name     string
		file     *metadata.Checkpoint
		trips    time.Duration
		requests int64
		bytes    int64
	}{
		{"8 subtasks", metatest.Incident(elements), 4, 40, 1 << 20},
		{"128 subtasks", metatest.WideIncident(elements, 128), 10, 400, 8 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			far := &farStore{path: filepath.Join(t.TempDir(), "f"), dir: "s3://bucket/chk-1", trip: time.Second}
			f, err := os.Create(far.path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := metadata.Encode(f, c.file); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				snap, tree, err := model.Open(t.Context(), storage.Cache(far, storage.CacheOptions{}), far.dir, model.Options{})
				if err != nil {
					t.Fatal(err)
				}
				trips := time.Since(begun) / far.trip
				t.Logf("%d rows: %d trips, %d requests, %d bytes", tree.Len(), trips, far.asked.Load(), far.bytesAsked.Load())
				if trips > c.trips || far.asked.Load() > c.requests || far.bytesAsked.Load() > c.bytes {
					t.Errorf("more than %d trips, %d requests, %d bytes", c.trips, c.requests, c.bytes)
				}
				snap.Close()
				time.Sleep(10 * far.trip) // what was read ahead in vain comes to its end
			})
		})
	}
}
