package storage

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"math/rand"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chkscope/model/store"
	"chkscope/storage/storagetest"
)

func TestCacheSuite(t *testing.T) {
	storagetest.Run(t, Cache(local{}, CacheOptions{Max: 1 << 20, Block: 4 << 10, Request: 64 << 10, Parallel: 4}), store.FileURI(t.TempDir()))
}

// TestCacheReads compares random reads with the file, within the bound.
func TestCacheReads(t *testing.T) {
	p := filepath.Join(t.TempDir(), "f")
	data := pattern(3 << 20)
	write(t, p, string(data))
	c := Cache(local{}, CacheOptions{Max: 256 << 10, Block: 1 << 10, Request: 32 << 10, Parallel: 3}).(*cached)
	o, err := c.Open(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewSource(int64(g)))
			for i := range 400 {
				off, n := r.Intn(len(data)), r.Intn(10_000)
				if i%100 == 0 {
					n = 1<<20 + r.Intn(1<<20)
				}
				buf := make([]byte, n)
				k, err := o.ReadAt(buf, int64(off))
				want := data[off:min(off+n, len(data))]
				if !bytes.Equal(buf[:k], want) || k < n && err != io.EOF || k == n && err != nil && err != io.EOF {
					t.Errorf("ReadAt(%d, %d) = %d, %v", n, off, k, err)
					return
				}
			}
		})
	}
	wg.Wait()
	c.blocks.mu.Lock()
	size, kept := c.blocks.size, int64(len(c.blocks.m))
	c.blocks.mu.Unlock()
	if size > c.blocks.o.Max || kept*c.blocks.o.Block != size {
		t.Errorf("%d bytes and %d blocks are kept", size, kept)
	}
	o.Close()
	if c.blocks.size != 0 || len(c.blocks.m) != 0 {
		t.Errorf("after Close %d bytes are kept", c.blocks.size)
	}
}

// TestCacheErrorsAreNotKept: the next read asks again.
func TestCacheErrorsAreNotKept(t *testing.T) {
	p := filepath.Join(t.TempDir(), "f")
	write(t, p, strings.Repeat("x", 100_000))
	var broken atomic.Bool
	c := Cache(&storagetest.Faulty{Store: local{}, Fault: func(step, _ string) error {
		if step == "read" && broken.Load() {
			return errors.New("broken")
		}
		return nil
	}}, CacheOptions{})
	o, err := c.Open(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	buf := make([]byte, 10)
	broken.Store(true)
	if _, err := o.ReadAt(buf, 5); err == nil {
		t.Fatal("no error")
	}
	broken.Store(false)
	if _, err := o.ReadAt(buf, 5); err != nil || string(buf) != "xxxxxxxxxx" {
		t.Errorf("%q %v", buf, err)
	}
}

func TestRetry(t *testing.T) {
	p := filepath.Join(t.TempDir(), "f")
	write(t, p, "hello")
	var fails atomic.Int64
	passing := func(step, _ string) error {
		if fails.Add(-1) >= 0 {
			return &Error{Op: step, URI: p, Problem: "cut", Transient: true}
		}
		return nil
	}
	var told sentences
	s := Retry(&storagetest.Faulty{Store: local{}, Fault: passing}, RetryPolicy{Attempts: 3, Wait: time.Millisecond, Notify: told.add})
	storagetest.Run(t, s, store.FileURI(t.TempDir()))
	for n, ok := range map[int64]bool{0: true, 2: true, 3: false} {
		fails.Store(n)
		if _, err := s.Stat(ctx, p); (err == nil) != ok {
			t.Errorf("%d failures: %v", n, err)
		}
		fails.Store(0)
		o, err := s.Open(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		fails.Store(n)
		if _, err := o.ReadAt(make([]byte, 5), 0); (err == nil || err == io.EOF) != ok {
			t.Errorf("%d failures of a read: %v", n, err)
		}
		o.Close()
	}
	if !strings.Contains(told.String(), "cut: trying again") {
		t.Errorf("told %q", told.String())
	}
	fails.Store(1 << 40)
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Stat(ctx, p); err == nil {
		t.Error("no error after the context has ended")
	}
}

func TestJoinCRC(t *testing.T) {
	data := pattern(100_000)
	for _, n := range []int{0, 1, 2, 7, 4096, 99_999, 100_000} {
		a, b := crc32.Checksum(data[:n], castagnoli), crc32.Checksum(data[n:], castagnoli)
		if got, want := joinCRC(a, b, int64(len(data)-n)), crc32.Checksum(data, castagnoli); got != want {
			t.Errorf("cut at %d: %08x, want %08x", n, got, want)
		}
	}
}

// TestCopyBetweenStores goes through this machine.
func TestCopyBetweenStores(t *testing.T) {
	s := useServer(t)
	dir := t.TempDir()
	data := pattern(11<<20 + 3)
	write(t, dir+"/f", string(data))
	r := New(Options{S3: S3Options{Endpoint: s.Endpoint}})
	for _, c := range []struct {
		src, dst string
		off, n   int64
	}{
		{dir + "/f", "s3://bucket/f", 0, -1},
		{"s3://bucket/f", dir + "/back", 0, -1},
		{"s3://bucket/f", dir + "/part", 5, 9 << 20},
		{dir + "/f", "s3://bucket/part", 7, 100},
	} {
		var last int64
		sum, err := r.Copy(ctx, c.src, c.off, c.n, c.dst, func(n int64) { last = n })
		if err != nil {
			t.Fatal(err)
		}
		want := data[c.off:]
		if c.n >= 0 {
			want = want[:c.n]
		}
		got, err := getFrom(r, c.dst)
		if err != nil || !bytes.Equal(got, want) || sum.Size != int64(len(want)) || sum.CRC32 != crc32.Checksum(want, castagnoli) || last != sum.Size {
			t.Errorf("%s: %d bytes, %+v, %v", c.dst, len(got), sum, err)
		}
	}
	if _, err := r.Copy(ctx, "s3://bucket/f", 0, -1, dir+"/back", nil); !errors.Is(err, store.ErrExist) {
		t.Error(err)
	}
}
