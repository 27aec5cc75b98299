package opstate

import (
	"encoding/binary"
	"io"
	"math"
	"runtime"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// pattern is an Input of any size that takes no memory: a header, then bytes.
type pattern struct {
	header []byte
	size   int64
}

func (p pattern) ReadAt(b []byte, off int64) (int, error) {
	n := int(min(int64(len(b)), p.size-off))
	if off < int64(len(p.header)) {
		copy(b[:n], p.header[off:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
func (p pattern) Size() int64  { return p.size }
func (p pattern) Name() string { return "pattern" }

// ascending is `_metadata` with an array of offsets first, first + step, …
type ascending struct{ first, step, n int64 }

func (a ascending) ReadAt(b []byte, off int64) (int, error) {
	if off%8 != 0 {
		panic("not at an offset")
	}
	n := int64(0)
	for i := off / 8; i < a.n && n+8 <= int64(len(b)); i++ {
		binary.BigEndian.PutUint64(b[n:], uint64(a.first+i*a.step))
		n += 8
	}
	if n < int64(len(b)) {
		return int(n), io.EOF
	}
	return int(n), nil
}
func (a ascending) Size() int64  { return 8 * a.n }
func (a ascending) Name() string { return "offsets" }

// bigList is a stream of n elements of 20 bytes, as the old Kafka consumer has
// them for short topic names.
func bigList(t testing.TB, n int64) *Stream {
	header := []byte{0, 0, 0, 5, 0, 1}
	header = append(header, 0, 1, 'x', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	h := int64(len(header))
	in := pattern{header, h + 20*n}
	s, err := Open(in, ascending{h, 20, n}, []metadata.OperatorState{{Name: "x", Mode: 1, Offsets: metadata.Offsets{Span: decoder.Span{Len: 8 * n}}}})
	if err != nil || s.Header.End != h {
		t.Fatal(s.Header, err)
	}
	return s
}

// BenchmarkElements walks 21 million elements.
func BenchmarkElements(b *testing.B) {
	const n = 21_000_000
	b.SetBytes(20 * n)
	for b.Loop() {
		got := int64(0)
		err := bigList(b, n).Elements(0, 0, math.MaxInt64, 1<<20, func(e Element) error {
			got += int64(len(e.Data))
			return nil
		})
		if err != nil || got != 20*n {
			b.Fatal(got, err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "elements/s")
}

// BenchmarkRewrite takes every third of 3 million elements out.
func BenchmarkRewrite(b *testing.B) {
	const n = 3_000_000
	b.SetBytes(20 * n)
	var gone []metadata.Range
	for i := int64(0); i < n; i += 3 {
		gone = append(gone, metadata.Range{First: i, Last: i})
	}
	for b.Loop() {
		if _, err := bigList(b, n).Rewrite(io.Discard, Edit{Elements: map[string][]metadata.Range{"x": gone}}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMemory walks and rewrites a list of 400 MB and looks at what is taken.
func TestMemory(t *testing.T) {
	const n = 20_000_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := bigList(t, n)
	if err := s.Elements(0, 0, math.MaxInt64, 1<<20, func(Element) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Rewrite(io.Discard, Edit{Drop: []string{"y"}}); err != nil || r.Size != s.In.Size() {
		t.Fatal(r, err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("%d bytes were allocated", took)
	}
}
