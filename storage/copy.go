package storage

import (
	"context"
	"hash/crc32"
	"io"

	"chkscope/model/store"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pumpChunk is how many bytes are moved between two looks at the context and
// two calls of progress.
const pumpChunk = 256 << 10

// pump copies r to w up to its end and sums what w took.
func pump(ctx context.Context, w io.Writer, r io.Reader, progress func(int64)) (store.Sum, error) {
	var sum store.Sum
	buf := make([]byte, pumpChunk)
	for {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		n, err := io.ReadFull(r, buf)
		if n > 0 {
			if _, e := w.Write(buf[:n]); e != nil {
				return sum, e
			}
			sum.CRC32 = crc32.Update(sum.CRC32, castagnoli, buf[:n])
			sum.Size += int64(n)
			if progress != nil {
				progress(sum.Size)
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
	}
}

// copyLength is how many bytes of in from off on are meant by length.
func copyLength(in store.Object, off, length int64) (int64, error) {
	left := in.Size() - off
	if length < 0 && off >= 0 && left >= 0 {
		return left, nil
	}
	if off < 0 || length < 0 || length > left {
		return 0, &Error{Op: "copy", URI: in.Name(), Err: io.ErrUnexpectedEOF,
			Problem: "it is shorter than the part of it that is asked for"}
	}
	return length, nil
}

// streamCopy copies between two stores through this machine.
func streamCopy(ctx context.Context, from store.Store, src string, off, length int64, to store.WriteStore, dst string, progress func(int64)) (store.Sum, error) {
	in, err := from.Open(ctx, src)
	if err != nil {
		return store.Sum{}, err
	}
	defer in.Close()
	length, err = copyLength(in, off, length)
	if err != nil {
		return store.Sum{}, err
	}
	out, err := to.Create(ctx, dst)
	if err != nil {
		return store.Sum{}, err
	}
	var r io.Reader = io.NewSectionReader(in, off, length)
	if far, ok := in.(interface{ parallel() int }); ok {
		ahead := readParallel(in, off, length, far.parallel())
		defer ahead.stop()
		r = ahead
	}
	sum, err := pump(ctx, out, r, progress)
	if err == nil && sum.Size != length {
		err = changed(in.Name(), "it became shorter while it was copied")
	}
	if err != nil {
		out.Abort()
		return store.Sum{}, err
	}
	return sum, out.Commit()
}

// parallelChunk is what one request of a parallel reader fetches.
const parallelChunk = 4 << 20

// parallelReader reads a part of an object in order, with several chunks under
// way at once.
type parallelReader struct {
	chunks chan chan chunk
	buffer chan []byte
	now    chunk
	rest   []byte
	quit   chan struct{}
}

type chunk struct {
	data []byte
	err  error
}

func readParallel(in io.ReaderAt, off, length int64, parallel int) *parallelReader {
	r := &parallelReader{chunks: make(chan chan chunk, parallel), buffer: make(chan []byte, parallel), quit: make(chan struct{})}
	for range parallel {
		r.buffer <- nil
	}
	go func() {
		defer close(r.chunks)
		for at := int64(0); at < length; at += parallelChunk {
			var buf []byte
			select {
			case buf = <-r.buffer:
			case <-r.quit:
				return
			}
			n := min(parallelChunk, length-at)
			if int64(cap(buf)) < n {
				buf = make([]byte, n)
			}
			next := make(chan chunk, 1)
			r.chunks <- next
			go func() {
				k, err := in.ReadAt(buf[:n], off+at)
				if int64(k) == n {
					err = nil
				} else if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				next <- chunk{buf[:k], err}
			}()
		}
	}()
	return r
}

func (r *parallelReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.now.data != nil {
			r.buffer <- r.now.data
			r.now.data = nil
		}
		if r.now.err != nil {
			return 0, r.now.err
		}
		next, ok := <-r.chunks
		if !ok {
			return 0, io.EOF
		}
		r.now = <-next
		r.rest = r.now.data
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// stop lets what is under way end by itself and begins nothing more.
func (r *parallelReader) stop() { close(r.quit) }
