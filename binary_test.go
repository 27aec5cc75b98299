package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// builtBinary is the binary that CHKSCOPE_BINARY names, else one built here.
func builtBinary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("CHKSCOPE_BINARY"); path != "" {
		return path
	}
	return build(t)
}

var binaryDir string // where builtOnce builds; TestMain removes it

// builtOnce is the program with symbols, built once.
var builtOnce = sync.OnceValues(func() (string, error) {
	var err error
	if binaryDir, err = os.MkdirTemp("", "chkscope-binary-"); err != nil {
		return "", err
	}
	path := filepath.Join(binaryDir, "chkscope")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(binaryDir)
	os.Exit(code)
}

func build(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the binary; left out with -short")
	}
	path, err := builtOnce()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNoTemplates: the linker drops text/template only while nothing sets a
// template of cobra's. With it in the binary, its reflection keeps every method
// of every type alive, which costs megabytes.
func TestNoTemplates(t *testing.T) {
	symbols, err := exec.Command("go", "tool", "nm", build(t)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(symbols, []byte(" main.main")) {
		t.Fatal("no symbols in the binary: this test would not see anything")
	}
	for line := range strings.Lines(string(symbols)) {
		if strings.Contains(line, "text/template.(*Template).Execute") || strings.Contains(line, "text/template.(*state)") {
			t.Fatalf("text/template is in the binary: %s", line)
		}
	}
}

// TestNoForbiddenDependencies: what DESIGN leaves out stays out.
func TestNoForbiddenDependencies(t *testing.T) {
	deps, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(deps)) {
		for _, no := range []string{"gocloud.dev", "cockroachdb/pebble", "html/template"} {
			if strings.Contains(line, no) {
				t.Errorf("the program depends on %s", strings.TrimSpace(line))
			}
		}
	}
}
