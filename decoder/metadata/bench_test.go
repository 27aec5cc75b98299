package metadata_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/metadata/metatest"
)

// Elements of the incident's shape: 168 MB as it was, and 1 GB.
const (
	incident = 10 * 8 * 8 * 8 * 8 * 8 * 8 * 8
	gigabyte = 6 * incident
)

// osFile is a file read with pread.
type osFile struct {
	*os.File
	size int64
}

func (f osFile) Size() int64 { return f.size }

// largeFile writes a file of the incident's shape.
func largeFile(b *testing.B, elements int64) decoder.Input {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "_metadata"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	n, err := metadata.Encode(f, metatest.Incident(elements))
	if err != nil {
		b.Fatal(err)
	}
	return osFile{f, n}
}

func benchOpen(b *testing.B, elements int64) {
	in := largeFile(b, elements)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := metadata.Decode(in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(in.Size())/1e6, "MB")
}

func BenchmarkOpen168MB(b *testing.B) { benchOpen(b, incident) }
func BenchmarkOpen1GB(b *testing.B)   { benchOpen(b, gigabyte) }

// BenchmarkOpenManyOperators opens a file of many small structures instead.
func BenchmarkOpenManyOperators(b *testing.B) {
	c := metatest.All(6)
	for len(c.Operators) < 10_000 {
		c.Operators = append(c.Operators, c.Operators...)
	}
	data := encode(b, c)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := metadata.Decode(decoder.Bytes{Data: data}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEachOffset reads all 21 million offsets.
func BenchmarkEachOffset(b *testing.B) {
	in := largeFile(b, incident)
	c, err := metadata.Decode(in)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(in.Size())
	for b.Loop() {
		n, sum := 0, int64(0)
		for _, op := range c.Operators[:2] {
			for _, s := range op.Subtasks {
				if err := s.State.ManagedOperator.States[0].Offsets.Each(in, func(_, v int64) error { n, sum = n+1, sum+v; return nil }); err != nil {
					b.Fatal(err)
				}
			}
		}
		if n != incident || sum == 0 {
			b.Fatalf("%d offsets", n)
		}
	}
}

// BenchmarkEncode168MB writes the file as it is.
func BenchmarkEncode168MB(b *testing.B) {
	in := largeFile(b, incident)
	c, err := metadata.Decode(in)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(in.Size())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := metadata.Encode(io.Discard, c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncodeThinned writes it with every other element dropped and the
// rest moved: the worst case for the memory of an edit.
func BenchmarkEncodeThinned(b *testing.B) {
	c, err := metadata.Decode(largeFile(b, incident))
	if err != nil {
		b.Fatal(err)
	}
	o := &c.Operators[0].Subtasks[0].State.ManagedOperator.States[0].Offsets
	var drop []metadata.Range
	for i := int64(0); i < o.Len(); i += 2 {
		drop = append(drop, metadata.Range{First: i, Last: i})
	}
	whole := *o
	b.ReportAllocs()
	for b.Loop() {
		*o = whole.Without(drop).Shifted([]metadata.Shift{{First: 10, Delta: -40}})
		if _, err := metadata.Encode(io.Discard, c); err != nil {
			b.Fatal(err)
		}
	}
}
