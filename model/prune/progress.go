package prune

import (
	"sync"
	"time"
)

// Progress is how far Apply is in one phase.
type Progress struct {
	Phase               string // "files", "_metadata", "proof"
	BytesDone, BytesAll int64
	FilesDone, FilesAll int
}

// progressEvery is the least time between two reports of progress.
const progressEvery = 50 * time.Millisecond

// meter counts from several goroutines and reports from one at a time.
type meter struct {
	mu     sync.Mutex
	now    Progress
	last   time.Time
	report func(Progress)
}

func newMeter(report func(Progress)) *meter { return &meter{report: report} }

func (m *meter) begin(phase string, files int, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = Progress{Phase: phase, BytesAll: bytes, FilesAll: files}
	m.tell(true)
}

func (m *meter) add(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.BytesDone += n
	m.tell(false)
}

func (m *meter) file() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.FilesDone++
	m.tell(m.now.FilesDone == m.now.FilesAll)
}

func (m *meter) tell(force bool) {
	if m.report == nil {
		return
	}
	if now := time.Now(); force || now.Sub(m.last) >= progressEvery {
		m.last = now
		m.report(m.now)
	}
}
