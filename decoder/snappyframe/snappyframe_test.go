package snappyframe

import (
	"bytes"
	"io"
	"math/rand"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"

	"chkscope/decoder"
)

// framed encodes p with another writer of the format.
func framed(t testing.TB, p []byte) []byte {
	var b bytes.Buffer
	w := snappy.NewBufferedWriter(&b)
	if _, err := w.Write(p); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sample(n int) []byte {
	rnd := rand.New(rand.NewSource(int64(n)))
	p := make([]byte, n)
	rnd.Read(p[:n/2])
	return p
}

func readAll(b []byte) ([]byte, error) {
	in := decoder.Bytes{Data: b, Label: "test"}
	return io.ReadAll(NewReader(in, 0, in.Size()))
}

func TestReadsWhatSnappyWrites(t *testing.T) {
	for _, n := range []int{0, 1, 100, 65536, 65537, 1 << 20} {
		want := sample(n)
		got, err := readAll(append(framed(t, want), framed(t, want)...))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, append(want, want...)) {
			t.Errorf("%d bytes: not the same", n)
		}
	}
}

func TestOneAfterTheOther(t *testing.T) {
	a, b := sample(100000), sample(5)
	in := decoder.Bytes{Data: append(append(framed(t, a), Identifier...), framed(t, b)...), Label: "test"}
	r := NewReader(in, 0, 0)
	for _, want := range [][]byte{a, nil, b} {
		r.ResetOne(r.Off(), in.Size())
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, not %d: %v", len(got), len(want), err)
		}
	}
	if r.Off() != in.Size() {
		t.Errorf("ends at %d of %d", r.Off(), in.Size())
	}
}

func TestDamage(t *testing.T) {
	good := framed(t, sample(1000))
	for cut := 1; cut < len(good); cut++ {
		if cut == len(Identifier) {
			continue // an empty stream
		}
		if _, err := readAll(good[:cut]); err == nil {
			t.Fatalf("cut to %d bytes: no error", cut)
		}
	}
	flipped := bytes.Clone(good)
	flipped[100] ^= 1
	if _, err := readAll(flipped); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("flipped bit: %v", err)
	}
	for name, b := range map[string][]byte{
		"reserved chunk":    {2, 4, 0, 0, 0, 0, 0, 0},
		"no checksum":       {0, 1, 0, 0, 0},
		"long block":        append([]byte{0, 10, 0, 0, 0, 0, 0, 0}, 0xff, 0xff, 0xff, 0x7f, 0, 0),
		"not an identifier": []byte("\xff\x06\x00\x00sNaPpy"),
	} {
		if _, err := readAll(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(framed(f, sample(1000)))
	f.Add([]byte(Identifier))
	f.Add([]byte{0x80, 2, 0, 0, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		readAll(b)
	})
}
