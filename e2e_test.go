package main

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chkscope/screenshots/terminal"
)

const patient = time.Minute

// TestEndToEnd drives the built binary in a real pseudo-terminal, as a person
// would: open, find, mark, look at the plan, write, quit, open the copy.
func TestEndToEnd(t *testing.T) {
	binary := builtBinary(t)
	dir := t.TempDir()
	source := filepath.Join(dir, "chk-16")
	if err := os.CopyFS(source, os.DirFS(incidentFiles)); err != nil {
		t.Fatal(err)
	}
	before := digest(t, source)

	s := start(t, dir, binary, source)
	see(t, s, "looks like a Kafka source", "1 warn")
	typeKeys(t, s, "x")
	see(t, s, "marked 1")
	typeKeys(t, s, "tab")
	see(t, s, "Will be gone", "NO_CLAIM")
	typeKeys(t, s, "tab", "w")
	see(t, s, "word:")
	typeKeys(t, s, "enter") // does nothing until the word is there
	s.Settle(300 * time.Millisecond)
	if _, err := os.Stat(source + "-pruned"); !os.IsNotExist(err) {
		t.Fatalf("written before the word was typed: %v", err)
	}
	typeKeys(t, s, "write", "enter")
	see(t, s, "written and proved")
	typeKeys(t, s, "esc")
	quit(t, s)

	if after := digest(t, source); after != before {
		t.Error("the source was changed")
	}
	run("verify", source+"-pruned").wantCode(t, exitOK)

	s = start(t, dir, binary, source+"-pruned")
	see(t, s, "looks like a source")
	if strings.Contains(s.Text(), "topic-partition") {
		t.Errorf("the state is in the copy:\n%s", s.Text())
	}
	quit(t, s)
}

// TestEndToEndHostileNames: an escape sequence in a state name does not reach
// the terminal.
func TestEndToEndHostileNames(t *testing.T) {
	s := start(t, t.TempDir(), builtBinary(t), smallCheckpoint(t))
	see(t, s, "evil")
	typeKeys(t, s, "i")
	see(t, s, "details ")
	typeKeys(t, s, "esc")
	quit(t, s)
	if bytes.Contains(s.Raw(), []byte("\x1b]0;title")) || bytes.Contains(s.Raw(), []byte("evil\x1b")) {
		t.Error("the escape sequence of a name reached the terminal")
	}
}

// TestEndToEndDumb: TERM=dumb gets the plain report.
func TestEndToEndDumb(t *testing.T) {
	s, err := terminal.Start(120, 60, []string{"TERM=dumb"}, builtBinary(t), "--fail-on", "never", smallCheckpoint(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if code, err := s.Wait(patient); code != exitOK || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	if raw := s.Raw(); bytes.Contains(raw, []byte("\x1b")) || !bytes.Contains(raw, []byte("Findings")) {
		t.Errorf("TERM=dumb: %q", raw)
	}
}

func start(t *testing.T, home string, argv ...string) *terminal.Screen {
	t.Helper()
	s, err := terminal.Start(80, 24, []string{"XDG_STATE_HOME=" + filepath.Join(home, "state")}, argv...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func see(t *testing.T, s *terminal.Screen, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := s.WaitFor(text, patient); err != nil {
			t.Fatal(err)
		}
	}
}

func typeKeys(t *testing.T, s *terminal.Screen, keys ...string) {
	t.Helper()
	if err := s.Type(keys...); err != nil {
		t.Fatal(err)
	}
}

// quit leaves with q, and y where marks make it ask.
func quit(t *testing.T, s *terminal.Screen) {
	t.Helper()
	typeKeys(t, s, "q")
	s.Settle(300 * time.Millisecond)
	s.Type("y") // the program may have ended already
	if code, err := s.Wait(patient); code != exitOK || err != nil {
		t.Fatalf("exit code %d, %v", code, err)
	}
}

// digest is over all names and contents of a directory.
func digest(t *testing.T, dir string) [32]byte {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		h.Write([]byte(path))
		h.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return [32]byte(h.Sum(nil))
}
