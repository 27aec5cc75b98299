package storage

import (
	"container/list"
	"context"
	"io"
	"sync"

	"chkscope/model/store"
)

// CacheOptions bounds a Cache. Zero values mean the defaults.
type CacheOptions struct {
	Block    int64 // bytes of one block; 16 KiB
	Max      int64 // bytes kept and under way, over all objects; 32 MiB
	Request  int64 // most bytes of one request; 4 MiB
	Parallel int   // requests under way, over all objects; 64
}

// directRead is the length from which on a read passes by the cache: in
// parallel requests, straight into the caller's buffer.
const directRead = 1 << 20

// Cache is s with the ranged reads of its objects served from blocks that are
// kept within a bound. It reads ahead: of sequential reads, and of reads that
// jump by like distances, which is how a decoder steps over arrays of a
// _metadata; so the whole tree takes a few round trips and not one a jump.
func Cache(s store.WriteStore, o CacheOptions) store.WriteStore {
	if o.Block == 0 {
		o.Block = 16 << 10
	}
	if o.Max == 0 {
		o.Max = 32 << 20
	}
	if o.Request == 0 {
		o.Request = 4 << 20
	}
	if o.Parallel == 0 {
		o.Parallel = 64
	}
	return &cached{s, &blocks{o: o, free: make(chan struct{}, o.Parallel), m: map[blockKey]*block{}, lru: list.New()}}
}

type cached struct {
	store.WriteStore
	blocks *blocks
}

func (c *cached) Open(ctx context.Context, uri string) (store.Object, error) {
	o, err := c.WriteStore.Open(ctx, uri)
	if err != nil {
		return nil, err
	}
	return &cachedObject{Object: o, blocks: c.blocks, ahead: newReadAhead(o.Size(), c.blocks.o.Max/4)}, nil
}

// blocks is the shared memory of all objects of one cache.
type blocks struct {
	o    CacheOptions
	free chan struct{} // one token a request under way

	mu   sync.Mutex
	m    map[blockKey]*block
	lru  *list.List // of *block, most recently used first
	size int64
}

type blockKey struct {
	of *cachedObject
	n  int64
}

// block is a piece of an object; data and err may be read when done is closed.
type block struct {
	key  blockKey
	at   *list.Element
	done chan struct{}
	data []byte
	err  error
}

type cachedObject struct {
	store.Object
	blocks *blocks

	mu    sync.Mutex
	ahead *readAhead
}

func (o *cachedObject) Close() error {
	o.blocks.forget(o)
	return o.Object.Close()
}

func (o *cachedObject) ReadAt(p []byte, off int64) (int, error) {
	size := o.Size()
	if off < 0 || off >= size || len(p) == 0 {
		return o.Object.ReadAt(p, off)
	}
	want := p[:min(int64(len(p)), size-off)]
	var err error
	n := len(want)
	if len(want) >= directRead {
		n, err = o.direct(want, off)
	} else {
		err = o.through(want, off)
	}
	if err != nil {
		return 0, err
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// direct reads past the cache.
func (o *cachedObject) direct(p []byte, off int64) (int, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	for at := int64(0); at < int64(len(p)); at += o.blocks.o.Request {
		part := p[at:min(at+o.blocks.o.Request, int64(len(p)))]
		o.blocks.free <- struct{}{}
		wg.Go(func() {
			n, err := o.Object.ReadAt(part, off+at)
			<-o.blocks.free
			if n < len(part) {
				mu.Lock()
				first = err
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return len(p), first
}

// through reads p by way of the blocks that hold it.
func (o *cachedObject) through(p []byte, off int64) error {
	size := o.blocks.o.Block
	first, last := off/size, (off+int64(len(p))-1)/size
	wanted := o.blocks.get(o, first, last+1)
	o.mu.Lock()
	ahead := o.ahead.observe(off, int64(len(p)))
	o.mu.Unlock()
	for _, r := range ahead {
		o.blocks.get(o, r.from/size, (r.to-1)/size+1)
	}
	for i, b := range wanted {
		<-b.done
		if b.err != nil {
			return b.err
		}
		start := (first + int64(i)) * size
		copy(p[max(start-off, 0):], b.data[max(off-start, 0):])
	}
	return nil
}

// get gives the blocks from up to to of o, and requests those that are neither
// there nor under way. It does not wait for them.
func (c *blocks) get(o *cachedObject, from, to int64) []*block {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*block, 0, to-from)
	var run []*block
	flush := func() {
		if len(run) > 0 {
			go c.fetch(o, run)
			run = nil
		}
	}
	for n := from; n < to; n++ {
		key := blockKey{o, n}
		b := c.m[key]
		if b != nil {
			c.lru.MoveToFront(b.at)
			flush()
		} else {
			b = &block{key: key, done: make(chan struct{})}
			b.at = c.lru.PushFront(b)
			c.m[key] = b
			c.size += c.o.Block
			run = append(run, b)
			if int64(len(run))*c.o.Block >= c.o.Request {
				flush()
			}
		}
		all = append(all, b)
	}
	flush()
	for e := c.lru.Back(); e != nil && c.size > c.o.Max; e = c.lru.Back() {
		c.drop(e.Value.(*block))
	}
	return all
}

// drop takes b out; who holds it already may go on using it.
func (c *blocks) drop(b *block) {
	if c.m[b.key] == b {
		delete(c.m, b.key)
		c.lru.Remove(b.at)
		c.size -= c.o.Block
	}
}

// fetch reads neighbouring blocks with one request.
func (c *blocks) fetch(o *cachedObject, run []*block) {
	c.free <- struct{}{}
	start := run[0].key.n * c.o.Block
	buf := make([]byte, min(int64(len(run))*c.o.Block, o.Size()-start))
	n, err := o.Object.ReadAt(buf, start)
	<-c.free
	if n == len(buf) {
		err = nil
	} else if err == nil || err == io.EOF {
		err = changed(o.Name(), "it became shorter while it was read")
	}
	for i, b := range run {
		b.err = err
		if err == nil {
			at := int64(i) * c.o.Block
			b.data = buf[at:min(at+c.o.Block, int64(len(buf)))]
		}
	}
	if err != nil {
		c.mu.Lock()
		for _, b := range run {
			c.drop(b) // the next read asks again
		}
		c.mu.Unlock()
	}
	for _, b := range run {
		close(b.done)
	}
}

// forget drops all blocks of o.
func (c *blocks) forget(o *cachedObject) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.lru.Front(); e != nil; {
		b := e.Value.(*block)
		e = e.Next()
		if b.key.of == o {
			c.drop(b)
		}
	}
}
