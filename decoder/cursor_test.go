package decoder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand"
	"testing"
)

// counting tells how many bytes were read from an input.
type counting struct {
	Bytes
	n *int64
}

func (c counting) ReadAt(p []byte, off int64) (int, error) {
	*c.n += int64(len(p))
	return c.Bytes.ReadAt(p, off)
}

func TestCursorFields(t *testing.T) {
	b := []byte{7, 0x01, 0x02, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 'h', 'i'}
	c := NewCursor(Bytes{Data: b, Label: "x"}, 0, int64(len(b)))
	if v := c.U8("a"); v != 7 {
		t.Error(v)
	}
	if v := c.U16("b"); v != 0x0102 {
		t.Error(v)
	}
	if v := c.I32("c"); v != -2 {
		t.Error(v)
	}
	if v := c.I64("d"); v != 256 {
		t.Error(v)
	}
	if v := c.UTF("e"); v != "hi" || c.Err() != nil || c.Left() != 0 {
		t.Error(v, c.Err(), c.Left())
	}
}

// TestCursorWindows reads the same pseudo-random walk of reads and skips with a
// Cursor and from the slice.
func TestCursorWindows(t *testing.T) {
	data := make([]byte, 1<<20)
	rnd := rand.New(rand.NewSource(1))
	rnd.Read(data)
	c := NewCursor(Bytes{Data: data}, 0, int64(len(data)))
	for off := 0; ; {
		skip, n := rnd.Intn(9000), rnd.Intn(60000)
		if off+skip+n+8 > len(data) {
			break
		}
		c.Skip(int64(skip), "gap")
		off += skip
		if got := c.Bytes(n, "bytes"); !bytes.Equal(got, data[off:off+n]) {
			t.Fatalf("%d bytes at %d differ", n, off)
		}
		off += n
		if got := c.I64("value"); got != int64(binary.BigEndian.Uint64(data[off:])) {
			t.Fatalf("value at %d: %x", off, got)
		}
		off += 8
	}
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
}

func TestCursorSkipsWithoutReading(t *testing.T) {
	var n int64
	c := NewCursor(counting{Bytes{Data: make([]byte, 8<<20)}, &n}, 0, 8<<20)
	for range 8 {
		c.I32("field")
		c.Skip(1<<20-4, "array")
	}
	if c.Err() != nil || c.Left() != 0 {
		t.Fatal(c.Err(), c.Left())
	}
	if n > 8*firstWindow {
		t.Errorf("%d bytes read for 8 fields", n)
	}
}

func TestCursorDamage(t *testing.T) {
	in := Bytes{Data: []byte{0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff, 0, 1, 0x80}, Label: "file"}
	tests := []struct {
		name string
		off  int64
		read func(c *Cursor)
		at   int64
		eof  bool
	}{
		{"end", 9, func(c *Cursor) { c.I64("x") }, 9, true},
		{"count too large", 0, func(c *Cursor) { c.Count("n", 1) }, 0, false},
		{"count negative", 4, func(c *Cursor) { c.Count("n", 1) }, 4, false},
		{"skip", 3, func(c *Cursor) { c.Skip(100, "x") }, 3, true},
		{"skip back", 3, func(c *Cursor) { c.Skip(-1, "x") }, 3, true},
		{"utf cut", 2, func(c *Cursor) { c.UTF("x") }, 4, true},
		{"utf malformed", 8, func(c *Cursor) { c.UTF("x") }, 10, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := NewCursor(in, tt.off, in.Size())
			c.Enter("thing", 3)
			c.Enter("part", -1)
			tt.read(c)
			c.Leave()
			e := c.Err()
			if e == nil {
				t.Fatal("no error")
			}
			if e.Offset != tt.at || e.Path != "thing 3 / part" || e.File != "file" || e.Expected == "" || e.Found == "" {
				t.Errorf("%+v", e)
			}
			if errors.Is(e, io.ErrUnexpectedEOF) != tt.eof {
				t.Errorf("cause %v", e.Err)
			}
			if c.I32("more") != 0 || c.Err() != e {
				t.Error("the first failure does not stick")
			}
		})
	}
}

// shrinking ends earlier than it says, as a file that is cut meanwhile.
type shrinking struct{ Bytes }

func (s shrinking) Size() int64 { return s.Bytes.Size() + 100 }

func TestCursorFileShrinks(t *testing.T) {
	c := NewCursor(shrinking{Bytes{Data: make([]byte, 10)}}, 0, 110)
	c.I64("first")
	if c.Err() == nil || c.Err().Offset != 10 || !errors.Is(c.Err(), io.ErrUnexpectedEOF) {
		t.Errorf("%v", c.Err())
	}
}
