package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgressLine(t *testing.T) {
	tests := []struct {
		unit      string
		done, all int64
		took      time.Duration
		want      string
	}{
		{"B", 10 << 20, 40 << 20, 2 * time.Second, "copying: 10.0 MiB of 40.0 MiB, 5.0 MiB/s, 6s left"},
		{"files", 1500, 3000, 3 * time.Second, "copying: 1,500 files of 3,000 files, 500 files/s, 3s left"},
		{"", 0, 3000, time.Second, "copying: 0 of 3,000, 0/s"},
	}
	for _, test := range tests {
		if got := progressLine("copying", test.unit, test.done, test.all, test.took); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// TestProgressOnlyOnTerminals: nothing on a pipe, and on a terminal nothing of
// it stays.
func TestProgressOnlyOnTerminals(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var errOut bytes.Buffer
		p := &program{err: &errOut, errTerm: terminal}
		bar := p.progress("copying", "B")
		bar.begun = time.Now().Add(-time.Minute)
		bar.at(1, 100)
		if shown := errOut.Len() > 0; shown != terminal {
			t.Errorf("terminal %v: %q", terminal, errOut.String())
		}
		bar.end()
		if terminal && !strings.HasSuffix(errOut.String(), "\r\x1b[K") {
			t.Errorf("the line stays: %q", errOut.String())
		}
	}
}
