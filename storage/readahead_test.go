package storage

import (
	"math/rand"
	"testing"
)

// walk plays the reads of a decoder against a readAhead on a network where a
// request takes one unit of time however long it is, and gives the time and the
// bytes asked for.
func walk(size int64, reads []span) (rounds int, bytes int64) {
	const block = 16 << 10
	a := newReadAhead(size, 8<<20)
	ready, now := map[int64]int{}, 0
	ask := func(s span) {
		for b := s.from / block; b <= (s.to-1)/block; b++ {
			if _, ok := ready[b]; !ok {
				ready[b] = now + 1
				bytes += block
			}
		}
	}
	for _, r := range reads {
		ask(r)
		for _, s := range a.observe(r.from, r.to-r.from) {
			ask(s)
		}
		for b := r.from / block; b <= (r.to-1)/block; b++ {
			now = max(now, ready[b])
		}
	}
	return now, bytes
}

// TestReadAhead: a file of the founding incident's shape, 168 MB of offsets in
// arrays of one, two or slightly differing sizes, costs few round trips and few
// bytes; what cannot be predicted costs no more than the whole file.
func TestReadAhead(t *testing.T) {
	const window, size = 32 << 10, 168 << 20
	r := rand.New(rand.NewSource(1))
	for _, c := range []struct {
		name   string
		jump   func(i int) int64
		rounds int
		bytes  int64
	}{
		{"equal arrays", func(int) int64 { return 1_300_000 }, 6, 7 << 20},
		{"few large arrays", func(int) int64 { return 10_000_000 }, 4, 1 << 20},
		{"two states", func(i int) int64 { return []int64{1_300_000, 700_000}[i%2] }, 8, 11 << 20},
		{"three states", func(i int) int64 { return []int64{1_300_000, 500_000, 900_000}[i%3] }, 9, 13 << 20},
		{"nearly equal", func(int) int64 { return 1_300_000 + r.Int63n(8000) }, 8, 45 << 20},
		{"at random", func(int) int64 { return 100_000 + r.Int63n(4_000_000) }, 45, size},
		{"sequential", func(int) int64 { return window }, 30, size},
	} {
		var reads []span
		for i, at := 0, int64(0); at < size; i++ {
			reads = append(reads, span{at, min(at+window, size)})
			at += c.jump(i)
		}
		rounds, bytes := walk(size, reads)
		t.Logf("%s: %d reads, %d round trips, %d bytes", c.name, len(reads), rounds, bytes)
		if rounds > c.rounds || bytes > c.bytes {
			t.Errorf("%s: %d round trips and %d bytes, want at most %d and %d", c.name, rounds, bytes, c.rounds, c.bytes)
		}
	}
}
