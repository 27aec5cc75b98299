package main

import (
	"bytes"
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
		{"B", 0, 0, 2 * time.Second, "copying: 2s"}, // nothing is known yet
	}
	for _, test := range tests {
		if got := progressLine("copying", test.unit, test.done, test.all, test.took); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// TestProgressOnlyOnTerminals: nothing on a pipe.
func TestProgressOnlyOnTerminals(t *testing.T) {
	var errOut bytes.Buffer
	p := &program{err: &errOut}
	bar := p.progress("copying", "B")
	bar.at(1, 100)
	bar.show(bar.begun.Add(time.Minute))
	bar.end()
	if errOut.Len() > 0 {
		t.Errorf("%q", errOut.String())
	}
}

// TestProgressGoesAway: the line does not come at once, stands behind no other
// text, and nothing of it stays.
func TestProgressGoesAway(t *testing.T) {
	var errOut bytes.Buffer
	bar := newProgress(&errOut, "copying", "B")
	bar.at(1, 100)
	bar.show(bar.begun.Add(progressAfter - 1))
	if errOut.Len() > 0 {
		t.Errorf("shown at once: %q", errOut.String())
	}
	p := &program{err: &errOut}
	p.bar.Store(bar)
	bar.show(bar.begun.Add(time.Minute))
	p.say("by the way")
	bar.show(bar.begun.Add(time.Minute))
	bar.end()
	line := "\r\x1b[Kcopying: 1 B of 100 B, 0 B/s, 1h39m0s left"
	if want := line + "\r\x1b[Kchkscope: by the way\n" + line + "\r\x1b[K"; errOut.String() != want {
		t.Errorf("got %q, want %q", errOut.String(), want)
	}
}
