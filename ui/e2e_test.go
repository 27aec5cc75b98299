package ui

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var programDir string // where program builds; TestMain removes it

// program is chkscope, built once.
var program = sync.OnceValues(func() (string, error) {
	var err error
	if programDir, err = os.MkdirTemp("", "chkscope-e2e-"); err != nil {
		return "", err
	}
	file := filepath.Join(programDir, "chkscope")
	out, err := exec.Command("go", "build", "-o", file, "..").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return file, nil
})

func built(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program")
	}
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// copyIncident puts the incident's checkpoint into a directory of the test.
func copyIncident(t *testing.T) (job string) {
	t.Helper()
	job = filepath.Join(t.TempDir(), "job")
	if err := os.CopyFS(filepath.Join(job, "chk-16"), os.DirFS("../conformance/testdata/incident/gen-3-files/checkpoint")); err != nil {
		t.Fatal(err)
	}
	return job
}

// TestEndToEnd is the whole job in a real terminal: open, find, mark, plan,
// write, quit with the steps printed, open the copy.
func TestEndToEnd(t *testing.T) {
	chkscope, job := built(t), copyIncident(t)
	source := filepath.Join(job, "chk-16")
	before := treeSums(t, source)
	env := []string{"HOME=" + t.TempDir()}

	c, cmd := start(t, 100, 30, env, chkscope, "--uid", "kafka-source", source)
	c.wait("kafka-source", "topic-partition-offset-states", "f goes to the next")
	c.press("f x")
	c.wait("marked 1", "marked the remedy of legacy-state")
	c.press("tab")
	c.wait("Will be gone", "topic-partition-offset-states, 768 entries")
	c.press("w")
	c.wait("word:", "NO_CLAIM")
	time.Sleep(2 * swallow)
	c.typeIn("writ")
	c.press("enter") // does nothing yet
	c.typeIn("e")
	c.wait("Enter writes")
	c.press("enter")
	c.wait("written and proved", "What to do next", "Proof:")
	c.press("p")
	c.wait("is printed at the end")
	c.press("q")
	if err := c.end(cmd); err != nil {
		t.Fatalf("%v\n%s", err, c.text())
	}
	c.until(func() bool {
		_, after, gone := strings.Cut(string(c.since(0)), "\x1b[?1049l")
		return gone && strings.Contains(after, "chk-16-pruned")
	}, func() string { return "the next steps are not printed after the screen is gone" })
	if after := treeSums(t, source); after != before {
		t.Error("the source was changed")
	}

	c, cmd = start(t, 80, 24, env, chkscope, source+"-pruned")
	c.wait("chk-16-pruned", "looks like a source", "w write")
	c.press("/")
	c.typeIn("topic-partition")
	c.wait("Nothing matches")
	c.press("esc q")
	if err := c.end(cmd); err != nil {
		t.Fatal(err)
	}
}

// TestSavedMarksAreOffered kills the program as a dropped connection does, and
// finds the marks again.
func TestSavedMarksAreOffered(t *testing.T) {
	chkscope, job := built(t), copyIncident(t)
	env := []string{"HOME=" + t.TempDir()}
	c, cmd := start(t, 80, 24, env, chkscope, job)
	c.wait("topic-partition-offset-states", "w write")
	c.press("space")
	c.wait("marked 1")
	cmd.Process.Signal(syscall.SIGHUP)
	c.end(cmd)

	c, _ = start(t, 80, 24, env, chkscope, job)
	c.wait("1 mark saved", "topic-partition-offset-states", "Enter take them")
	c.press("enter")
	c.wait("marked 1")
}

// TestChooseFromParent opens a job's directory with two checkpoints.
func TestChooseFromParent(t *testing.T) {
	chkscope, job := built(t), copyIncident(t)
	if err := os.CopyFS(filepath.Join(job, "chk-9"), os.DirFS(filepath.Join(job, "chk-16"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(job, "chk-17"), 0o755); err != nil {
		t.Fatal(err)
	}
	c, _ := start(t, 80, 24, []string{"HOME=" + t.TempDir()}, chkscope, job)
	c.wait("which checkpoint?", "> chk-16", "chk-17", "incomplete")
	c.press("down enter")
	c.wait("job/chk-9", "topic-partition-offset-states")
}

// treeSums is the names and contents of a directory.
func treeSums(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		b.WriteString(path + "\n" + string(data) + info.ModTime().String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
