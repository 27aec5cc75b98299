package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"chkscope/model"
)

// progress is one line on stderr that tells how far long work is: only where
// stderr is a terminal, and not before the work has taken a moment. It moves also
// while the work has nothing new to tell.
type progress struct {
	what, unit string
	begun      time.Time
	ended      chan struct{}

	mu        sync.Mutex
	w         io.Writer // nil: nowhere
	done, all int64
	shown     bool
}

const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 200 * time.Millisecond
)

func (p *program) progress(what, unit string) *progress {
	b := newProgress(nil, what, unit)
	if p.errTerm && !p.quiet {
		b.w = p.err
		p.bar.Store(b)
		go b.run()
	}
	return b
}

func newProgress(w io.Writer, what, unit string) *progress {
	return &progress{w: w, what: what, unit: unit, begun: time.Now(), ended: make(chan struct{})}
}

func (b *progress) run() {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			b.show(now)
		case <-b.ended:
			return
		}
	}
}

// at tells that done of all is behind.
func (b *progress) at(done, all int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done, b.all = done, all
}

func (b *progress) show(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.w == nil || now.Sub(b.begun) < progressAfter {
		return
	}
	b.shown = true
	fmt.Fprintf(b.w, "\r\x1b[K%s", progressLine(b.what, b.unit, b.done, b.all, now.Sub(b.begun)))
}

// aside lets f write to stderr without the line. A nil progress has none.
func (b *progress) aside(f func()) {
	if b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.erase()
	}
	f()
}

func (b *progress) erase() {
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
	b.shown = false
}

// end takes the line away.
func (b *progress) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	if b.w != nil {
		close(b.ended)
	}
	b.w = nil
}

// progressLine tells what, of how many, the rate and the time left.
func progressLine(what, unit string, done, all int64, took time.Duration) string {
	amount := func(n int64) string {
		if unit == "B" {
			return model.FormatSize(n)
		}
		return strings.TrimRight(model.FormatCount(n)+" "+unit, " ")
	}
	if done <= 0 && all <= 0 {
		return fmt.Sprintf("%s: %s", what, took.Round(time.Second))
	}
	rate := float64(done) / took.Seconds()
	line := fmt.Sprintf("%s: %s of %s, %s/s", what, amount(done), amount(all), amount(int64(rate)))
	if rate > 0 && all >= done {
		left := time.Duration(float64(all-done) / rate * float64(time.Second))
		line += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return line
}
