package keyed

import (
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"chkscope/decoder/serde"
)

// repeated is an Input of any size that takes no memory: head, the same bytes
// again and again, tail.
type repeated struct {
	head, body, tail []byte
	times            int64
}

func (p repeated) ReadAt(b []byte, off int64) (int, error) {
	n := 0
	for n < len(b) && off < p.Size() {
		var from []byte
		switch at := off - int64(len(p.head)); {
		case at < 0:
			from = p.head[off:]
		case at < p.times*int64(len(p.body)):
			from = p.body[at%int64(len(p.body)):]
		default:
			from = p.tail[at-p.times*int64(len(p.body)):]
		}
		k := copy(b[n:], from)
		n, off = n+k, off+int64(k)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
func (p repeated) Size() int64 {
	return int64(len(p.head)) + p.times*int64(len(p.body)) + int64(len(p.tail))
}
func (p repeated) Name() string { return "repeated" }

func entry(key, value []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(key)))
	b = binary.BigEndian.AppendUint32(append(b, key...), uint32(len(value)))
	return append(b, value...)
}

// huge is a canonical stream of about size bytes with all entries in one group:
// of state 0, and a last one of state 1.
func huge(size int64) *Stream { return hugeOf(size, 42) }

// hugeOf is huge with values of a length.
func hugeOf(size int64, value int) *Stream {
	p := repeated{head: make([]byte, 50)} // 48 for the header
	p.head = append(p.head[:48], 0, 0)
	one := entry([]byte{0, 0, 0, 0, 0, 0, 0, 0, 9, 0}, make([]byte, value))
	for len(p.body) < 64<<10 {
		p.body = append(p.body, one...)
	}
	p.times = size / int64(len(p.body))
	p.tail = append(p.tail, entry([]byte{0x80, 1}, nil)...)
	p.tail = append(append(p.tail, 0, 1), entry([]byte{0x80, 2}, []byte("kept"))...)
	p.tail = append(p.tail, 0xff, 0xff)
	h := &Header{Version: 6, End: 48, States: []serde.StateMeta{{Name: "a"}, {Name: "b"}}}
	return &Stream{In: p, Header: h, Offsets: []int64{48}, sorted: []int64{48}}
}

// BenchmarkSizes counts entries of 60 bytes.
func BenchmarkSizes(b *testing.B) {
	s := huge(1 << 30)
	b.SetBytes(s.In.Size())
	for b.Loop() {
		z, err := s.Sizes(0, nil)
		if err != nil || z[0].Entries < 1e7 {
			b.Fatal(z, err)
		}
	}
}

// BenchmarkRewrite copies entries of 60 bytes.
func BenchmarkRewrite(b *testing.B) {
	s := huge(1 << 30)
	b.SetBytes(s.In.Size())
	for b.Loop() {
		if _, err := s.Rewrite(io.Discard, Edit{Cut: []string{"b"}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHeapSizes counts entries of a Long key and a Tuple2 of String and
// Long, 47 bytes each.
func BenchmarkHeapSizes(b *testing.B) {
	of := func(k serde.Kind, nested ...*serde.Snapshot) *serde.Snapshot {
		return &serde.Snapshot{Kind: k, Nested: nested}
	}
	s := heapStream(of(serde.Tuple, of(serde.String), of(serde.Long)))
	s.Header.Key = of(serde.Long)
	one := append(make([]byte, 9), 30)
	one = append(append(one, "a string of 29 characters abc"...), 0, 0, 0, 0, 0, 0, 0, 1)
	p := repeated{head: append(make([]byte, 4), 0, 0, 0, 5, 0, 0), times: 1 << 12}
	for range 1 << 11 {
		p.body = append(p.body, one...)
	}
	p.head = binary.BigEndian.AppendUint32(p.head, 1<<23)
	s.In = p
	b.SetBytes(p.Size())
	b.ReportAllocs()
	for b.Loop() {
		if z, err := s.Sizes(0, nil); err != nil || z[0].Entries != 1<<23 || z[0].Bytes != 6+int64(len(one))<<23 {
			b.Fatal(z, err)
		}
	}
}

// TestHugeGroup takes a state of 256 MB out of one group, walks over a value of
// 2 GB, and looks at what memory is taken.
func TestHugeGroup(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := huge(256 << 20)
	r, err := s.Rewrite(io.Discard, Edit{Cut: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	if kept := int64(2 + 8 + 2 + len("kept")); r.Removed[0].Bytes != s.In.Size()-s.Header.End-kept-2 || r.Size > 100 {
		t.Errorf("%d bytes written, %d of %d removed", r.Size, r.Removed[0].Bytes, s.In.Size())
	}
	value := repeated{head: append(make([]byte, 48), 0, 0, 0, 0, 0, 1, 0x80, 0x7f, 0xff, 0xff, 0), body: make([]byte, 1<<20), times: 2047, tail: nil}
	value.tail = append(make([]byte, 0x7fffff00-2047<<20), 0xff, 0xff)
	one := *s
	one.In = value
	var last Entry
	end, err := one.Walk(0, 16, func(e Entry) error { last = e; return nil })
	if err != nil || end != value.Size() || last.ValueLen != 0x7fffff00 || len(last.Value) != 16 {
		t.Errorf("end %d of %d, %+v, %v", end, value.Size(), last, err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("%d bytes were allocated", took)
	}
}
