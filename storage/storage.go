// Package storage gives bytes at URIs: the local disk and object stores behind
// the one interface that the model declares (model/store). It knows nothing of
// Flink.
//
//	Router        one store for all schemes; applies --map
//	local         file: and plain paths
//	Count         tells every request to a Meter
//	ReadOnly      refuses writes
//	Cache         blocks of ranged reads, kept within a bound
//	Retry         tries again what failed for a passing reason
//
// Another store is added by satisfying store.WriteStore, passing
// storagetest.Run, and a line in New.
package storage

import (
	"context"
	"strings"

	"chkscope/model/store"
)

// Options says what a Router can reach and how. The zero value is the local
// disk, readable and writable.
type Options struct {
	// Maps are the --map flags: where what a URI names is found here. They
	// apply to every URI that comes in, sources and destinations.
	Maps store.Mappings
	// ReadOnly refuses Create, Copy and Remove (--read-only).
	ReadOnly bool
	// Meter counts the requests that reach a store, those to the disk only where it
	// logs them; nil counts nothing.
	Meter *Meter
	// S3 says how s3:, s3a: and s3n: are reached.
	S3 S3Options
}

// Router hands each call to the store of the URI's scheme. It satisfies
// store.WriteStore and may be used by several goroutines.
type Router struct {
	maps    store.Mappings
	schemes map[string]store.WriteStore
	s3      *s3Store
}

// New makes a Router. It opens nothing and asks nothing.
func New(o Options) *Router {
	bucket := newS3(o.S3, o.Meter)
	disk, objects := store.WriteStore(local{}), Cache(Retry(bucket, RetryPolicy{Notify: o.S3.Notify}), o.S3.Cache)
	if o.Meter != nil && o.Meter.Log != nil {
		disk = Count(disk, o.Meter)
	}
	if o.ReadOnly {
		disk, objects = ReadOnly(disk), ReadOnly(objects)
	}
	return &Router{maps: o.Maps, s3: bucket, schemes: map[string]store.WriteStore{"file": disk, "s3": objects, "s3a": objects, "s3n": objects}}
}

// route maps uri and finds the store of its scheme.
func (r *Router) route(op, uri string) (store.WriteStore, string, error) {
	mapped := r.maps.Apply(uri)
	if s := r.schemes[store.Scheme(mapped)]; s != nil {
		return s, mapped, nil
	}
	return nil, "", unknownScheme(op, mapped)
}

// unknownScheme tells which store it would have been.
func unknownScheme(op, uri string) error {
	scheme := store.Scheme(uri)
	what := map[string]string{
		"hdfs": "HDFS", "viewfs": "HDFS", "webhdfs": "HDFS", "maprfs": "MapR-FS",
		"gs":   "Google Cloud Storage",
		"abfs": "Azure storage", "abfss": "Azure storage", "wasb": "Azure storage", "wasbs": "Azure storage",
		"oss": "Alibaba OSS", "obs": "Huawei OBS", "cos": "Tencent COS", "cosn": "Tencent COS",
		"swift": "OpenStack Swift", "alluxio": "Alluxio", "tachyon": "Alluxio",
	}[scheme]
	problem := "chkscope cannot read " + scheme + ": URIs"
	if what != "" {
		problem += " (" + what + ")"
	}
	return &Error{Op: op, URI: store.Redact(uri), Kind: store.ErrCannotAsk, Problem: problem,
		Hint: "mount or download it and say where with --map FROM=TO"}
}

// Far tells that reading uri takes a way over the network.
func (r *Router) Far(uri string) bool {
	scheme := store.Scheme(r.maps.Apply(uri))
	return scheme != "file" && r.schemes[scheme] != nil
}

// Open opens uri; see store.Store.
func (r *Router) Open(ctx context.Context, uri string) (store.Object, error) {
	s, mapped, err := r.route("open", uri)
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, mapped)
}

// Stat tells of uri; the Info names it as it was asked for, not as mapped.
func (r *Router) Stat(ctx context.Context, uri string) (store.Info, error) {
	s, mapped, err := r.route("stat", uri)
	if err != nil {
		return store.Info{}, err
	}
	info, err := s.Stat(ctx, mapped)
	info.URI = uri
	return info, err
}

// List gives the children of uri, named below it as it was asked for.
func (r *Router) List(ctx context.Context, uri string) ([]store.Info, error) {
	s, mapped, err := r.route("list", uri)
	if err != nil {
		return nil, err
	}
	infos, err := s.List(ctx, mapped)
	for i := range infos {
		infos[i].URI = strings.TrimSuffix(uri, "/") + "/" + infos[i].Name
	}
	return infos, err
}

// Create begins a new file.
func (r *Router) Create(ctx context.Context, uri string) (store.Writer, error) {
	s, mapped, err := r.route("create", uri)
	if err != nil {
		return nil, err
	}
	return s.Create(ctx, mapped)
}

// Copy copies by the store's own means within one store, else through here.
func (r *Router) Copy(ctx context.Context, src string, off, length int64, dst string, progress func(int64)) (store.Sum, error) {
	from, mappedSrc, err := r.route("copy", src)
	if err != nil {
		return store.Sum{}, err
	}
	to, mappedDst, err := r.route("copy", dst)
	if err != nil {
		return store.Sum{}, err
	}
	if from == to {
		return to.Copy(ctx, mappedSrc, off, length, mappedDst, progress)
	}
	return streamCopy(ctx, from, mappedSrc, off, length, to, mappedDst, progress)
}

// Remove deletes one file.
func (r *Router) Remove(ctx context.Context, uri string) error {
	s, mapped, err := r.route("remove", uri)
	if err != nil {
		return err
	}
	return s.Remove(ctx, mapped)
}

// Free is the free space at uri, -1 where nobody can know.
func (r *Router) Free(ctx context.Context, uri string) int64 {
	s, mapped, err := r.route("stat", uri)
	if err != nil {
		return -1
	}
	return s.Free(ctx, mapped)
}
