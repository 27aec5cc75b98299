package conformance

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// binary builds chkscope once, as a user gets it.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "chkscope")
	cmd := exec.Command("go", "build", "-o", path, "chkscope")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// outcome is what a run of chkscope gave.
type outcome struct {
	code           int
	stdout, stderr string
}

// chkscope runs the real binary.
func chkscope(t *testing.T, args ...string) outcome {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatalf("chkscope does not build: %v", err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}
