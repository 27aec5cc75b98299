package storage

import "os"

// startWriteback has no counterpart in macOS.
func startWriteback(*os.File, int64, int64) {}
