package storage

import (
	"context"
	"hash/crc32"
	"io"
	"sync"

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

// filler is a writer that can take a file in parts, several at once. It is used
// instead of Write, before Commit.
type filler interface {
	fill(in store.Object, off, length int64, progress func(int64)) (store.Sum, error)
}

// fillParts reads a part of in at a time, several at once, and hands each with
// its number (from 0) and CRC-32C to put. The first failure ends it.
func fillParts(ctx context.Context, in store.Object, off, length, part int64, parallel int, put func(i int64, data []byte, crc uint32) error, progress func(int64)) (store.Sum, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
		sum   = store.Sum{Size: length}
		crcs  = make([]uint32, (length+part-1)/part)
		done  int64
		free  = make(chan []byte, parallel)
	)
	for range parallel {
		free <- nil
	}
	failed := func() error {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = ctx.Err()
		}
		return first
	}
	for i := range int64(len(crcs)) {
		buf := <-free
		if failed() != nil {
			break
		}
		n := min(part, length-i*part)
		if int64(cap(buf)) < n {
			buf = make([]byte, n)
		}
		wg.Go(func() {
			defer func() { free <- buf }()
			data := buf[:n]
			k, err := in.ReadAt(data, off+i*part)
			if int64(k) == n {
				crcs[i] = crc32.Checksum(data, castagnoli)
				err = put(i, data, crcs[i])
			} else if err == nil || err == io.EOF {
				err = changed(in.Name(), "it became shorter while it was copied")
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				if first == nil {
					first = err
				}
				return
			}
			done += n
			if progress != nil {
				progress(done)
			}
		})
	}
	wg.Wait()
	if err := failed(); err != nil {
		return store.Sum{}, err
	}
	for i, crc := range crcs {
		sum.CRC32 = joinCRC(sum.CRC32, crc, min(part, length-int64(i)*part))
	}
	return sum, nil
}

// joinCRC is the CRC-32C of two stretches of bytes, of which a and b are the
// CRCs and n is the length of the second: a moved on by 8n zero bits, xor b.
// The CRCs are polynomials over GF(2) with the highest power in bit 0.
func joinCRC(a, b uint32, n int64) uint32 {
	const one = 1 << 31
	power, square := uint32(one), uint32(one>>8) // x^0, x^8
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			power = multiplyCRC(power, square)
		}
		square = multiplyCRC(square, square)
	}
	return multiplyCRC(power, a) ^ b
}

// multiplyCRC is a times b modulo the Castagnoli polynomial.
func multiplyCRC(a, b uint32) (product uint32) {
	for bit := uint32(1 << 31); bit != 0; bit >>= 1 {
		if a&bit != 0 {
			product ^= b
		}
		low := b & 1
		b = b>>1 ^ low*crc32.Castagnoli
	}
	return product
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
	var sum store.Sum
	if f, ok := out.(filler); ok && length > minPart {
		sum, err = f.fill(in, off, length, progress)
	} else {
		sum, err = pump(ctx, out, io.NewSectionReader(in, off, length), progress)
	}
	if err == nil && sum.Size != length {
		err = changed(in.Name(), "it became shorter while it was copied")
	}
	if err != nil {
		out.Abort()
		return store.Sum{}, err
	}
	return sum, out.Commit()
}
