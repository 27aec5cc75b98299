package storage

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkCopy compares a copy with cp and with cp followed by sync of the
// file (a copy of ours is synced) on the same file in one run. The directory is
// $CHKSCOPE_BENCH_DIR, else the temporary one, which may be in memory.
func BenchmarkCopy(b *testing.B) {
	for _, size := range []int64{64 << 10, 64 << 20, 1 << 30} {
		dir, err := os.MkdirTemp(os.Getenv("CHKSCOPE_BENCH_DIR"), "copy")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { os.RemoveAll(dir) })
		src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
		if err := os.WriteFile(src, make([]byte, size), 0o666); err != nil {
			b.Fatal(err)
		}
		run := func(name string, f func() error) {
			b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
				b.SetBytes(size)
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					os.Remove(dst)
					b.StartTimer()
				}
			})
		}
		run("ours", func() error { _, err := local{}.Copy(ctx, src, 0, -1, dst, nil); return err })
		run("cp", func() error { return exec.Command("cp", src, dst).Run() })
		run("cp+sync", func() error { return exec.Command("sh", "-c", `cp "$0" "$1" && sync "$1"`, src, dst).Run() })
	}
}
