package ha

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"chkscope/decoder/javaobj"
	"chkscope/decoder/metadata"
)

// fileInput is an Input over a file, read as it is asked for.
type fileInput struct {
	*os.File
	size int64
}

func (f fileInput) Size() int64 { return f.size }

// incident writes an object of the shape of the founding incident: a few arrays
// of millions of offsets, 84 MB in all.
func incident(b *testing.B) fileInput {
	b.Helper()
	c := decode(b, "flink-1.20.object", fixture(b, "flink-1.20.object"))
	e := c.stream.Edit()
	infos := []javaobj.Node{}
	for _, n := range all(c.stream, "OperatorStateHandle$StateMetaInfo") {
		if mode, _ := n.Field("distributionMode").Text(); mode == "UNION" {
			infos = append(infos, n)
		}
	}
	each := int64(84_000_000 / 8 / len(infos))
	for _, n := range infos {
		content := javaobj.Content{Len: 8 * each, Write: func(w io.Writer) error {
			var buf []byte
			for i := range each {
				buf = binary.BigEndian.AppendUint64(buf[:0], uint64(1000+40*i))
				if _, err := w.Write(buf); err != nil {
					return err
				}
			}
			return nil
		}}
		if err := e.SetContent(n.Field("offsets"), content); err != nil {
			b.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(b.TempDir(), "completedCheckpoint"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	w := bufio.NewWriterSize(f, 1<<20)
	size, err := e.WriteTo(w)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		b.Fatal(err)
	}
	return fileInput{f, size}
}

// BenchmarkReadIncident is what opening is measured against: reading the file.
func BenchmarkReadIncident(b *testing.B) {
	in := incident(b)
	b.SetBytes(in.size)
	buf := make([]byte, 1<<20)
	for b.Loop() {
		if _, err := io.CopyBuffer(io.Discard, io.NewSectionReader(in, 0, in.size), buf); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecodeIncident opens 84 MB.
func BenchmarkDecodeIncident(b *testing.B) { benchDecode(b, incident(b)) }

// benchDecode opens a file; heap/file is what the structures and the graph take.
func benchDecode(b *testing.B, in fileInput) {
	b.SetBytes(in.size)
	before := heap()
	var c *Checkpoint
	for b.Loop() {
		var err error
		if c, err = Decode(in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(heap()-before)/float64(in.size), "heap/file")
	runtime.KeepAlive(c)
}

// BenchmarkEncodeIncident writes the 84 MB again.
func BenchmarkEncodeIncident(b *testing.B) {
	in := incident(b)
	c, err := Decode(in)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(in.size)
	for b.Loop() {
		if n, err := c.Encode(io.Discard, c.Meta, ""); err != nil || n != in.size {
			b.Fatal(n, err)
		}
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// dense writes an object with half a million shared files, of which every byte is
// an object or a string.
func dense(b *testing.B) fileInput {
	b.Helper()
	c := decode(b, "flink-1.20.object", fixture(b, "flink-1.20.object"))
	m := *c.Meta
	files := make([]metadata.NamedStream, 500_000)
	for i := range files {
		files[i] = metadata.NamedStream{Key: fmt.Sprintf("%06d.sst", i), Stream: metadata.StreamHandle{Type: metadata.TypeFile, Name: fmt.Sprintf("s3://bucket/checkpoints/shared/%08x-0000-4000-8000-%012x", i, i), Size: 64 << 20}}
	}
	m.Operators = slices.Clone(m.Operators)
	for i := range m.Operators {
		o := &m.Operators[i]
		o.Subtasks = slices.Clone(o.Subtasks)
		for k := range o.Subtasks {
			s := &o.Subtasks[k]
			if s.State == nil || s.State.ManagedKeyed == nil || s.State.ManagedKeyed.Incr == nil {
				continue
			}
			state, keyed, incr := *s.State, *s.State.ManagedKeyed, *s.State.ManagedKeyed.Incr
			incr.Shared.New = files
			keyed.Incr, state.ManagedKeyed, s.State = &incr, &keyed, &state
			f, err := os.Create(filepath.Join(b.TempDir(), "completedCheckpoint"))
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { f.Close() })
			size, err := c.Encode(f, &m, "")
			if err != nil {
				b.Fatal(err)
			}
			return fileInput{f, size}
		}
	}
	b.Fatal("the fixture has no incremental handle")
	return fileInput{}
}

// BenchmarkDecodeDense is the worst shape for memory: a graph of small objects.
func BenchmarkDecodeDense(b *testing.B) { benchDecode(b, dense(b)) }
