package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"chkscope/model"
)

// progress is one line on stderr that tells how far long work is: only where
// stderr is a terminal, and not before the work has taken a moment.
type progress struct {
	w           io.Writer
	what, unit  string
	begun, last time.Time
	shown       bool
}

const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 200 * time.Millisecond
)

func (p *program) progress(what, unit string) *progress {
	b := &progress{what: what, unit: unit, begun: time.Now()}
	if p.errTerm {
		b.w = p.err
	}
	return b
}

// at tells that done of all is behind.
func (b *progress) at(done, all int64) {
	now := time.Now()
	if b.w == nil || now.Sub(b.begun) < progressAfter || now.Sub(b.last) < progressEvery {
		return
	}
	b.last, b.shown = now, true
	fmt.Fprintf(b.w, "\r\x1b[K%s", progressLine(b.what, b.unit, done, all, now.Sub(b.begun)))
}

// end takes the line away.
func (b *progress) end() {
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}

// progressLine tells what, of how many, the rate and the time left.
func progressLine(what, unit string, done, all int64, took time.Duration) string {
	amount := func(n int64) string {
		if unit == "B" {
			return model.FormatSize(n)
		}
		return strings.TrimRight(model.FormatCount(n)+" "+unit, " ")
	}
	rate := float64(done) / took.Seconds()
	line := fmt.Sprintf("%s: %s of %s, %s/s", what, amount(done), amount(all), amount(int64(rate)))
	if rate > 0 && all >= done {
		left := time.Duration(float64(all-done) / rate * float64(time.Second))
		line += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return line
}
