package keyed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/serde"
)

// group writes the bytes of a heap group for tests.
type group struct {
	b     []byte
	types []*serde.Snapshot
	want  []string // entries
}

func newGroup(values ...*serde.Snapshot) *group {
	return &group{b: []byte{0, 0, 0, 0, 0, 0, 0, 5}, types: values}
}

func (g *group) block(id byte, n int) { g.b = append(g.b, 0, id, 0, 0, 0, byte(n)) }

func (g *group) entry(id byte, key uint32, value ...byte) {
	g.b = append(g.b, 0)
	g.b = append(binary.BigEndian.AppendUint32(g.b, key), value...)
	g.want = append(g.want, fmt.Sprintf("%d %x %x", id, key, value))
}

func (g *group) stream() *Stream {
	s := heapStream(g.types...)
	s.In = decoder.Bytes{Data: g.b, Label: "heap"}
	return s
}

func walked(s *Stream) ([]string, error) {
	var got []string
	_, err := s.Walk(0, 1000, func(e Entry) error {
		got = append(got, fmt.Sprintf("%d %x %x", e.State, binary.BigEndian.Uint32(e.Key), e.Value))
		return nil
	})
	return got, err
}

var (
	known   = &serde.Snapshot{Kind: serde.Int}
	endless = &serde.Snapshot{Kind: serde.Unknown}
)

// unsure is a group that can be read in two ways: in the value that nothing tells
// the end of a block begins with one entry of the key given in its upper half.
func unsure(before bool, key byte) *Stream {
	g := newGroup(endless, known)
	id := byte(0)
	if before {
		g = newGroup(known, endless, known)
		g.block(0, 1)
		g.entry(0, 7, 1, 2, 3, 4)
		id = 1
	}
	g.block(id, 1)
	g.entry(id, 7, 0, id+1, 0, 0, 0, 1, 0, key, 1)
	g.block(id+1, 0)
	return g.stream()
}

// TestBeyond goes over values that nothing tells the end of, where there is one
// way to do so.
func TestBeyond(t *testing.T) {
	const maxParallelism = 128
	var keys []uint32 // of group 5
	for k := uint32(0); len(keys) < 3; k++ {
		if serde.KeyGroup(int32(k), maxParallelism) == 5 {
			keys = append(keys, k)
		}
	}
	g := newGroup(endless, known, endless, known)
	g.block(2, 2)
	g.entry(2, keys[0], 1, 2, 3)
	g.entry(2, keys[1], 0xff)
	g.block(1, 1)
	g.entry(1, keys[2], 1, 2, 3, 4)
	g.block(0, 1)
	g.entry(0, keys[2], []byte("anything 0 1")...)
	g.block(3, 0)
	s := g.stream()
	got, err := walked(s)
	if !errors.Is(err, serde.ErrOpaque) {
		t.Errorf("%v: two entries whose place is not sure are told", got)
	}
	// Without them the others are there.
	if want := g.want[2:]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, not %q", got, want)
	}
	sizes, _ := s.Sizes(0, nil)
	if sizes[2].Entries != 2 || sizes[2].Bytes != 6+8+6 || sizes[0].Bytes != 6+5+12 || sizes[3].Bytes != 6 {
		t.Errorf("%+v", sizes)
	}
	if x, err := s.Index(nil, nil); !errors.Is(err, serde.ErrOpaque) || !x.States[2].Partial || x.States[0].Partial || x.States[1].Entries != 1 {
		t.Errorf("%+v, %v", x.States, err)
	}
	// The hashes of keys leave one place.
	s.MaxParallelism = maxParallelism
	if got, err = walked(s); err != nil || fmt.Sprint(got) != fmt.Sprint(g.want) {
		t.Errorf("%q, not %q, %v", got, g.want, err)
	}
	x, err := s.Index(nil, nil)
	if err != nil || x.States[2].Partial {
		t.Fatalf("%+v, %v", x, err)
	}
	err = s.Page(x, 2, 1, 1, 100, func(i int64, e Entry) error {
		if i != 1 || string(e.Value) != "\xff" {
			t.Errorf("entry %d: %x", i, e.Value)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestBeyondUnsure: two ways to read a group tell nothing, and the hash of a key
// that rules one out leaves the other.
func TestBeyondUnsure(t *testing.T) {
	s := unsure(false, 9)
	if got, err := walked(s); !errors.Is(err, serde.ErrOpaque) || len(got) > 0 {
		t.Errorf("%q, %v", got, err)
	}
	for m := int32(10); ; m++ {
		if serde.KeyGroup(7, m) == 5 && serde.KeyGroup(0x09010001, m) != 5 {
			s.MaxParallelism = m
			break
		}
	}
	if got, err := walked(s); err != nil || fmt.Sprint(got) != "[0 7 000100000001000901]" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestBeyondHostile: many places where a block may begin take no long time.
func TestBeyondHostile(t *testing.T) {
	types := []*serde.Snapshot{}
	for range 40 {
		types = append(types, endless)
	}
	g := newGroup(types...)
	g.block(0, 1)
	for i := range 100_000 {
		g.b = append(g.b, 0, byte(i%40), 0, 0, 0, byte(i%3), 0)
	}
	if got, err := walked(g.stream()); !errors.Is(err, serde.ErrOpaque) {
		t.Errorf("%d entries, %v", len(got), err)
	}
}

// TestBeyondHuge: a group that is too long to be looked at as a whole takes little
// memory, and what stands before the value is given.
func TestBeyondHuge(t *testing.T) {
	g := newGroup(known, endless, known)
	g.block(0, 1)
	g.entry(0, 7, 1, 2, 3, 4)
	g.block(1, 5)
	g.entry(1, 7, 1)
	s := g.stream()
	s.In = repeated{head: g.b, body: make([]byte, 64<<10), times: 5 << 30 / (64 << 10)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got, err := walked(s); !errors.Is(err, serde.ErrOpaque) || fmt.Sprint(got) != fmt.Sprint(g.want[:1]) {
		t.Errorf("%q, %v", got, err)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 4<<20 {
		t.Errorf("%d bytes were allocated", after.TotalAlloc-before.TotalAlloc)
	}
}

// FuzzBeyond makes groups of blocks and reads them: what is read is what was
// written, or it is not told.
func FuzzBeyond(f *testing.F) {
	f.Add([]byte{2, 1, 1, 3, 7, 1, 2, 9, 9, 0, 2, 1, 1, 1}, int32(0))
	f.Add([]byte{1, 2, 9, 0, 1, 0, 0, 0, 1, 0, 5, 1, 0, 0}, int32(16))
	f.Fuzz(func(t *testing.T, b []byte, maxParallelism int32) {
		next := func() byte {
			if len(b) == 0 {
				return 0
			}
			v := b[0]
			b = b[1:]
			return v
		}
		kinds := []*serde.Snapshot{known, endless, {Kind: serde.ByteArray}, endless}
		g := newGroup(kinds[:1+next()%4]...)
		if maxParallelism = maxParallelism & 0x7f; maxParallelism < 6 {
			maxParallelism = 0
		}
		for id := range g.types {
			n := int(next() % 4)
			g.block(byte(id), n)
			for range n {
				key := uint32(next())
				for maxParallelism > 0 && serde.KeyGroup(int32(key), maxParallelism) != 5 {
					key++
				}
				value := make([]byte, next()%16)
				for i := range value {
					value[i] = next()
				}
				switch g.types[id].Kind {
				case serde.Int:
					value = append(value, 0, 0, 0, 0)[:4]
				case serde.ByteArray:
					value = append(binary.BigEndian.AppendUint32(nil, uint32(len(value))), value...)
				}
				g.entry(byte(id), key, value...)
			}
		}
		s := g.stream()
		s.MaxParallelism = maxParallelism
		got, err := walked(s)
		if err != nil && !errors.Is(err, serde.ErrOpaque) {
			t.Fatal(err)
		}
		if err == nil && len(got) != len(g.want) {
			t.Errorf("%q, not %q", got, g.want)
		}
		at := 0
		for _, e := range got {
			for at < len(g.want) && g.want[at] != e {
				at++
			}
			if at++; at > len(g.want) {
				t.Fatalf("%q, not %q", got, g.want)
			}
		}
		var out bytes.Buffer
		o := newOutput(&out, 0)
		o.Write(make([]byte, 4))
		if _, err := s.rewriteHeap(o, s.plan(Edit{}), make([]StateSize, len(g.types))); err != nil {
			t.Fatal(err)
		}
		if o.w.Flush(); !bytes.Equal(out.Bytes(), g.b) {
			t.Errorf("rewritten %x, not %x", out.Bytes(), g.b)
		}
	})
}
