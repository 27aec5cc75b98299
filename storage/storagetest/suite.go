// Package storagetest holds what every storage must do, as one suite of tests,
// and a store that fails on demand.
package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand"
	"sync"
	"testing"

	"chkscope/model/store"
)

// Run tests s. dir is a URI below which nothing exists yet; the suite works
// in directories of its own there.
func Run(t *testing.T, s store.WriteStore, dir string) {
	tests := []struct {
		name string
		f    func(*env)
	}{
		{"WriteAndRead", writeAndRead},
		{"Names", names},
		{"Large", large},
		{"ReadAt", readAt},
		{"UnseenBeforeCommit", unseenBeforeCommit},
		{"NeverReplaces", neverReplaces},
		{"ParallelWriters", parallelWriters},
		{"Missing", missing},
		{"Directory", directory},
		{"List", list},
		{"ListMany", listMany},
		{"Copy", copyWhole},
		{"CopyRange", copyRange},
		{"CopyRefused", copyRefused},
		{"Replaced", replaced},
		{"Removed", removed},
		{"Cancelled", cancelled},
	}
	for i, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			c.f(&env{t, context.Background(), s, fmt.Sprintf("%s/%02d", dir, i)})
		})
	}
}

type env struct {
	*testing.T
	ctx context.Context
	s   store.WriteStore
	dir string
}

func (e *env) uri(name string) string { return store.Join(e.dir, "./"+name) }

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func (e *env) mustBe(err, kind error) {
	e.Helper()
	if !errors.Is(err, kind) {
		e.Fatalf("error %v, want one that is %q", err, kind)
	}
}

func (e *env) write(name string, data []byte) error {
	w, err := e.s.Create(e.ctx, e.uri(name))
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit()
}

func (e *env) put(name string, data []byte) {
	e.Helper()
	e.must(e.write(name, data))
}

func (e *env) get(name string) []byte {
	e.Helper()
	o, err := e.s.Open(e.ctx, e.uri(name))
	e.must(err)
	defer o.Close()
	data := make([]byte, o.Size())
	if n, err := o.ReadAt(data, 0); n != len(data) || err != nil && err != io.EOF {
		e.Fatalf("%s: read %d of %d bytes: %v", name, n, len(data), err)
	}
	return data
}

func (e *env) mustHold(name string, want []byte) {
	e.Helper()
	if got := e.get(name); !bytes.Equal(got, want) {
		e.Fatalf("%s holds %d bytes that differ from the %d expected", name, len(got), len(want))
	}
}

// mustBeEmpty: no file and no unfinished file is in the directory.
func (e *env) mustBeEmpty(name string) {
	e.Helper()
	infos, err := e.s.List(e.ctx, e.uri(name))
	if err != nil && !errors.Is(err, store.ErrNotExist) {
		e.Fatal(err)
	}
	if len(infos) > 0 {
		e.Fatalf("left behind: %v", infos)
	}
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(int64(n))).Read(b)
	return b
}

func sumOf(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func writeAndRead(e *env) {
	for _, n := range []int{0, 1, 4095, 70_000} {
		name := fmt.Sprintf("deep/er/%d", n)
		e.put(name, random(n))
		e.mustHold(name, random(n))
		info, err := e.s.Stat(e.ctx, e.uri(name))
		e.must(err)
		if info.Size != int64(n) || info.Dir || info.Name != fmt.Sprint(n) || !store.Same(info.URI, e.uri(name)) || info.Modified.IsZero() {
			e.Errorf("Stat: %+v", info)
		}
	}
}

func names(e *env) {
	for _, name := range []string{"a b", "x%20y", "100%", "ü+ö", "a&b=c;d", "q?#", "'\"", "日本", "a:b", "~", "{}[]", "back\\slash"} {
		e.put(name, []byte(name))
	}
	infos, err := e.s.List(e.ctx, e.dir)
	e.must(err)
	if len(infos) != 12 {
		e.Errorf("%d names came back", len(infos))
	}
	for _, i := range infos {
		e.mustHold(i.Name, []byte(i.Name))
		if !store.Same(i.URI, e.uri(i.Name)) {
			e.Errorf("%q is listed as %q", i.Name, i.URI)
		}
		if _, err := e.s.Copy(e.ctx, i.URI, 0, -1, e.uri("copies/"+i.Name), nil); err != nil {
			e.Error(err)
		} else {
			e.mustHold("copies/"+i.Name, []byte(i.Name))
		}
	}
}

// large is written in odd pieces and read back in others, over several blocks
// and parts.
func large(e *env) {
	data := random(19<<20 + 12345)
	w, err := e.s.Create(e.ctx, e.uri("f"))
	e.must(err)
	for rest := data; len(rest) > 0; {
		n := min(len(rest), 777_777)
		_, err := w.Write(rest[:n])
		e.must(err)
		rest = rest[n:]
	}
	e.must(w.Commit())
	o, err := e.s.Open(e.ctx, e.uri("f"))
	e.must(err)
	defer o.Close()
	got, err := io.ReadAll(io.NewSectionReader(o, 0, o.Size()))
	e.must(err)
	if !bytes.Equal(got, data) {
		e.Error("read back differently")
	}
}

func readAt(e *env) {
	data := random(300_000)
	e.put("f", data)
	o, err := e.s.Open(e.ctx, e.uri("f"))
	e.must(err)
	defer o.Close()
	if o.Size() != int64(len(data)) || o.Name() == "" {
		e.Errorf("size %d, name %q", o.Size(), o.Name())
	}
	for _, c := range []struct {
		off  int64
		n    int
		want int
		eof  bool
	}{
		{0, 10, 10, false}, {299_990, 10, 10, false}, {299_990, 11, 10, true}, {100_000, 150_000, 150_000, false},
		{300_000, 1, 0, true}, {300_001, 1, 0, true}, {1 << 40, 5, 0, true}, {5, 0, 0, false},
	} {
		p := make([]byte, c.n)
		n, err := o.ReadAt(p, c.off)
		if n != c.want || c.eof && err != io.EOF || !c.eof && n < c.n && err == nil || !c.eof && err != nil && err != io.EOF {
			e.Errorf("ReadAt(%d bytes, %d) = %d, %v", c.n, c.off, n, err)
		}
		if n > 0 && !bytes.Equal(p[:n], data[c.off:c.off+int64(n)]) {
			e.Errorf("ReadAt(%d bytes, %d): other bytes", c.n, c.off)
		}
	}
	if _, err := o.ReadAt(make([]byte, 1), -1); err == nil || err == io.EOF {
		e.Errorf("negative offset: %v", err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewSource(int64(g)))
			for range 50 {
				off, p := r.Intn(len(data)-5000), make([]byte, 1+r.Intn(5000))
				if n, err := o.ReadAt(p, int64(off)); n != len(p) || !bytes.Equal(p, data[off:off+n]) {
					e.Errorf("parallel read at %d: %d, %v", off, n, err)
				}
			}
		})
	}
	wg.Wait()
}

func unseenBeforeCommit(e *env) {
	for _, n := range []int{10, 12 << 20} {
		w, err := e.s.Create(e.ctx, e.uri("d/f"))
		e.must(err)
		_, err = w.Write(random(n))
		e.must(err)
		_, err = e.s.Stat(e.ctx, e.uri("d/f"))
		e.mustBe(err, store.ErrNotExist)
		e.must(w.Abort())
		e.must(w.Abort())
		e.mustBeEmpty("d")
	}
	e.put("d/f", []byte("x"))
	w, err := e.s.Create(e.ctx, e.uri("d/g"))
	e.must(err)
	e.must(w.Commit())
	e.must(w.Abort())
	e.mustHold("d/g", nil)
}

func neverReplaces(e *env) {
	for _, n := range []int{10, 12 << 20} {
		name := fmt.Sprint(n)
		w, err := e.s.Create(e.ctx, e.uri(name))
		e.must(err)
		_, err = w.Write(random(n))
		e.must(err)
		e.put(name, []byte("first"))
		e.mustBe(w.Commit(), store.ErrExist)
		e.mustBe(e.write(name, []byte("second")), store.ErrExist)
		e.mustHold(name, []byte("first"))
		e.must(w.Abort())
	}
	infos, err := e.s.List(e.ctx, e.dir)
	e.must(err)
	if len(infos) != 2 {
		e.Errorf("left behind: %v", infos)
	}
}

func parallelWriters(e *env) {
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		wins []byte
	)
	for g := range 8 {
		wg.Go(func() {
			e.put(fmt.Sprintf("own/%d", g), random(g*1000))
			if err := e.write("same/one", bytes.Repeat([]byte{byte(g)}, 1000)); err == nil {
				mu.Lock()
				wins = append(wins, byte(g))
				mu.Unlock()
			} else if !errors.Is(err, store.ErrExist) {
				e.Error(err)
			}
		})
	}
	wg.Wait()
	if len(wins) != 1 {
		e.Fatalf("%d writers of one name succeeded", len(wins))
	}
	e.mustHold("same/one", bytes.Repeat(wins, 1000))
	for g := range 8 {
		e.mustHold(fmt.Sprintf("own/%d", g), random(g*1000))
	}
}

func missing(e *env) {
	_, err := e.s.Open(e.ctx, e.uri("no"))
	e.mustBe(err, store.ErrNotExist)
	_, err = e.s.Stat(e.ctx, e.uri("no"))
	e.mustBe(err, store.ErrNotExist)
	_, err = e.s.List(e.ctx, e.uri("no"))
	e.mustBe(err, store.ErrNotExist)
	e.mustBe(e.s.Remove(e.ctx, e.uri("no")), store.ErrNotExist)
	_, err = e.s.Copy(e.ctx, e.uri("no"), 0, -1, e.uri("copy"), nil)
	e.mustBe(err, store.ErrNotExist)
	e.mustBeEmpty(".")
}

func directory(e *env) {
	e.put("d/f", []byte("x"))
	info, err := e.s.Stat(e.ctx, e.uri("d"))
	e.must(err)
	if !info.Dir || info.Name != "d" {
		e.Errorf("Stat: %+v", info)
	}
	if o, err := e.s.Open(e.ctx, e.uri("d")); err == nil {
		e.Errorf("a directory was opened: %d bytes", o.Size())
	}
	if err := e.s.Remove(e.ctx, e.uri("d")); err == nil {
		e.Error("a directory was removed")
	}
	e.mustHold("d/f", []byte("x"))
}

func list(e *env) {
	for _, n := range []string{"b", "a/1", "a/2", "c/x/y", "aa", "a-"} {
		e.put(n, random(len(n)))
	}
	infos, err := e.s.List(e.ctx, e.dir)
	e.must(err)
	want := []store.Info{{Name: "a", Dir: true}, {Name: "a-", Size: 2}, {Name: "aa", Size: 2}, {Name: "b", Size: 1}, {Name: "c", Dir: true}}
	if len(infos) != len(want) {
		e.Fatalf("List: %+v", infos)
	}
	for i, w := range want {
		g := infos[i]
		if g.Name != w.Name || g.Dir != w.Dir || g.Size != w.Size || !store.Same(g.URI, e.uri(w.Name)) || !g.Dir && g.Modified.IsZero() {
			e.Errorf("row %d: %+v, want %+v", i, g, w)
		}
	}
}

// listMany is more than one page of any server.
func listMany(e *env) {
	if testing.Short() {
		e.Skip("1,100 files")
	}
	var wg sync.WaitGroup
	for g := range 11 {
		wg.Go(func() {
			for i := range 100 {
				if err := e.write(fmt.Sprintf("f%04d", g*100+i), nil); err != nil {
					e.Error(err)
				}
			}
		})
	}
	wg.Wait()
	infos, err := e.s.List(e.ctx, e.dir)
	e.must(err)
	for i, info := range infos {
		if info.Name != fmt.Sprintf("f%04d", i) {
			e.Fatalf("row %d is %q", i, info.Name)
		}
	}
	if len(infos) != 1100 {
		e.Errorf("%d of 1100 files", len(infos))
	}
}

func copyWhole(e *env) {
	for _, n := range []int{0, 1, 3<<20 + 7, 17 << 20} {
		data, name := random(n), fmt.Sprint(n)
		e.put(name, data)
		last := int64(-1)
		sum, err := e.s.Copy(e.ctx, e.uri(name), 0, -1, e.uri("to/"+name), func(done int64) {
			if done < last {
				e.Errorf("progress went from %d to %d", last, done)
			}
			last = done
		})
		e.must(err)
		e.mustHold("to/"+name, data)
		e.mustHold(name, data)
		e.checkSum(sum, data)
		if n > 0 && last != int64(n) {
			e.Errorf("progress ended at %d of %d", last, n)
		}
	}
}

func (e *env) checkSum(sum store.Sum, data []byte) {
	e.Helper()
	if sum.Size != int64(len(data)) || sum.NoCRC && sum.CRC32 != 0 || !sum.NoCRC && sum.CRC32 != sumOf(data) {
		e.Errorf("sum %+v of %d bytes", sum, len(data))
	}
}

func copyRange(e *env) {
	data := random(13 << 20)
	e.put("f", data)
	for i, c := range []struct{ off, n int }{{0, 100}, {4096, 8192}, {1, 6<<20 + 1}, {12 << 20, 1 << 20}, {13 << 20, 0}, {7, 12 << 20}} {
		name := fmt.Sprintf("part%d", i)
		sum, err := e.s.Copy(e.ctx, e.uri("f"), int64(c.off), int64(c.n), e.uri(name), nil)
		e.must(err)
		e.mustHold(name, data[c.off:c.off+c.n])
		e.checkSum(sum, data[c.off:c.off+c.n])
	}
	sum, err := e.s.Copy(e.ctx, e.uri("f"), 12<<20, -1, e.uri("rest"), nil)
	e.must(err)
	e.checkSum(sum, data[12<<20:])
}

func copyRefused(e *env) {
	e.put("f", random(1000))
	e.put("there", []byte("old"))
	_, err := e.s.Copy(e.ctx, e.uri("f"), 0, -1, e.uri("there"), nil)
	e.mustBe(err, store.ErrExist)
	e.mustHold("there", []byte("old"))
	for _, c := range []struct{ off, n int64 }{{0, 1001}, {1000, 1}, {1001, -1}, {-1, 5}, {1, 1 << 62}} {
		if sum, err := e.s.Copy(e.ctx, e.uri("f"), c.off, c.n, e.uri("to/x"), nil); err == nil {
			e.Errorf("copied %d bytes at %d of 1000: %+v", c.n, c.off, sum)
		}
	}
	e.mustBeEmpty("to")
}

// replaced: a file that is another one than the one opened is an error.
func replaced(e *env) {
	old := random(3 << 20)
	e.put("f", old)
	o, err := e.s.Open(e.ctx, e.uri("f"))
	e.must(err)
	defer o.Close()
	p := make([]byte, 100)
	_, err = o.ReadAt(p, 0)
	e.must(err)
	e.must(e.s.Remove(e.ctx, e.uri("f")))
	e.put("f", bytes.Repeat([]byte("new"), 1<<20))
	_, err = o.ReadAt(p, 2<<20)
	e.mustBe(err, store.ErrChanged)
}

func removed(e *env) {
	e.put("f", random(3<<20))
	o, err := e.s.Open(e.ctx, e.uri("f"))
	e.must(err)
	defer o.Close()
	e.must(e.s.Remove(e.ctx, e.uri("f")))
	_, err = e.s.Stat(e.ctx, e.uri("f"))
	e.mustBe(err, store.ErrNotExist)
	if _, err = o.ReadAt(make([]byte, 100), 2<<20); !errors.Is(err, store.ErrChanged) && !errors.Is(err, store.ErrNotExist) {
		e.Errorf("reading a removed file: %v", err)
	}
}

func cancelled(e *env) {
	e.put("f", random(9<<20))
	ctx, cancel := context.WithCancel(e.ctx)
	o, err := e.s.Open(ctx, e.uri("f"))
	e.must(err)
	defer o.Close()
	w, err := e.s.Create(ctx, e.uri("d/w"))
	e.must(err)
	_, err = w.Write([]byte("x"))
	e.must(err)
	_, err = e.s.Copy(ctx, e.uri("f"), 0, -1, e.uri("d/copy"), func(int64) { cancel() })
	if err == nil {
		// A store may copy in one step that is over before anybody is told.
		e.must(e.s.Remove(e.ctx, e.uri("d/copy")))
		cancel()
	} else {
		e.mustBe(err, context.Canceled)
	}
	_, err = o.ReadAt(make([]byte, 10), 8<<20)
	e.mustBe(err, context.Canceled)
	e.mustBe(w.Commit(), context.Canceled)
	_, err = e.s.Stat(ctx, e.uri("f"))
	e.mustBe(err, context.Canceled)
	e.mustBeEmpty("d")
}
