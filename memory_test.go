package main

import (
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// manyOperators writes a `_metadata` of version 3 with n operators that hold
// nothing, 29 bytes each: nothing has more rows for its length. It gives the
// directory and the file's length.
func manyOperators(t *testing.T, n int) (dir string, size int64) {
	t.Helper()
	be := binary.BigEndian
	b := be.AppendUint32(nil, 0x4960672d)
	b = be.AppendUint32(b, 3)
	b = be.AppendUint64(b, 7) // checkpoint id
	b = be.AppendUint32(b, 0) // master states
	b = be.AppendUint32(b, uint32(n))
	for i := range n {
		b = be.AppendUint64(b, uint64(i)*0x9e3779b97f4a7c15)
		b = be.AppendUint64(b, uint64(i))
		b = be.AppendUint32(b, 1)   // parallelism
		b = be.AppendUint32(b, 128) // max parallelism
		b = append(b, 0)            // no coordinator
		b = be.AppendUint32(b, 0)   // subtasks
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "_metadata"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, int64(len(b))
}

// heapWatch counts what is written and, a few times meanwhile, how much memory
// is in use.
type heapWatch struct {
	t              *testing.T
	written, next  int64
	used, measured int64
}

func (h *heapWatch) Write(p []byte) (int, error) {
	if h.written += int64(len(p)); h.written >= h.next {
		h.next = h.written + 2<<20
		h.used = max(h.used, heapInUse())
		h.measured++
	}
	return len(p), nil
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemory: what a command holds while it prints is bounded by the file's
// length and a constant, however long the document is.
func TestMemory(t *testing.T) {
	const operators = 50_000
	dir, size := manyOperators(t, operators)
	bound := size + 20<<20
	for _, command := range []string{"report --json", "report", "ls --json", "ls", "show --json", "show"} {
		t.Run(command, func(t *testing.T) {
			before := heapInUse()
			out := &heapWatch{t: t}
			p := &program{in: strings.NewReader(""), out: out, err: io.Discard, getenv: func(string) string { return "" }}
			words := strings.Fields(command)
			args := append([]string{words[0], dir}, words[1:]...)
			if words[0] == "show" {
				args = append(args, "*")
			}
			if code := p.run(context.Background(), args); code != exitOK {
				t.Fatalf("exit code %d", code)
			}
			if out.written < 60*operators || out.measured < 2 {
				t.Fatalf("only %d bytes were written, measured %d times", out.written, out.measured)
			}
			if used := out.used - before; used > bound {
				t.Errorf("%d bytes in memory for a file of %d and %d bytes of output, want at most %d", used, size, out.written, bound)
			} else {
				t.Logf("%d bytes in memory for a file of %d and %d bytes of output", used, size, out.written)
			}
		})
	}
}
