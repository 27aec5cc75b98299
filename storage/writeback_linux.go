package storage

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriteback asks the kernel to begin writing n bytes at off to the disk,
// so that the sync at the end finds most of it done. It is a hint: errors come
// back from that sync.
func startWriteback(f *os.File, off, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), off, n, unix.SYNC_FILE_RANGE_WRITE)
}
