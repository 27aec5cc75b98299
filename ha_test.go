package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// haDirectory is an HA directory with one object, its `_metadata`, and flags
// that find both.
func haDirectory(t *testing.T) (home string, flags []string) {
	t.Helper()
	home = t.TempDir()
	for from, to := range map[string]string{"flink-1.20.metadata": "chk-1/_metadata", "flink-1.20.object": "ha/completedCheckpoint0123456789ab"} {
		data, err := os.ReadFile(filepath.Join("decoder", "ha", "testdata", from))
		if err != nil {
			t.Fatal(err)
		}
		to = filepath.Join(home, filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, to, data)
	}
	return home, []string{"--map=file:/checkpoints=" + home, "--map=s3://bucket=" + filepath.Join(home, "bucket")}
}

func TestHA(t *testing.T) {
	home, flags := haDirectory(t)
	r := run(append([]string{"ha", home}, flags...)...).wantCode(t, exitOK)
	if !strings.Contains(r.out, "completedCheckpoint0123456789ab, 13.7 KiB: no entry was found") || !strings.Contains(r.out, "none: every object is there") {
		t.Error(r.out)
	}
	var doc haDocument
	r = run(append([]string{"ha", "--json", home}, flags...)...).wantCode(t, exitOK)
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil || len(doc.Objects) != 1 || doc.Objects[0].Pointed || doc.Counter != nil || len(doc.Problems) != 0 {
		t.Errorf("%v\n%s", err, r.out)
	}
	object := filepath.Join(home, "ha", "completedCheckpoint0123456789ab")
	other, err := os.ReadFile(filepath.Join("decoder", "ha", "testdata", "flink-1.15.metadata"))
	if err != nil {
		t.Fatal(err)
	}
	if r := run(append([]string{"verify", object}, flags...)...); strings.Contains(r.out, "ha-stale") {
		t.Error(r.out)
	}
	writeFile(t, filepath.Join(home, "chk-1", "_metadata"), other)
	if r := run(append([]string{"verify", object}, flags...)...).wantCode(t, exitFindings); strings.Count(r.out, "ha-stale") < 2 || !strings.Contains(r.out, "_metadata") {
		t.Error(r.out)
	}
	if r := run(append([]string{"ha", home}, flags...)...).wantCode(t, exitOK); !strings.Contains(r.out, "do not hold the same") {
		t.Error(r.out)
	}
	data, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, object, data[:len(data)/2])
	if r := run(append([]string{"ha", home}, flags...)...).wantCode(t, exitFindings); !strings.Contains(r.out, "ha-dangling") {
		t.Error(r.out)
	}
	run("ha", filepath.Join(home, "nothing")).wantCode(t, exitFailed)
	empty := filepath.Join(home, "map.yaml")
	writeFile(t, empty, []byte("apiVersion: v1\ndata:\n  counter: \"8\"\nkind: ConfigMap\nmetadata:\n  name: job\n"))
	if r := run("ha", empty).wantCode(t, exitOK); !strings.Contains(r.out, "the next checkpoint is 8") || !strings.Contains(r.out, "no checkpoint is pointed to") {
		t.Error(r.out)
	}
}

func TestPruneObject(t *testing.T) {
	home, flags := haDirectory(t)
	object, to := filepath.Join(home, "ha", "completedCheckpoint0123456789ab"), filepath.Join(t.TempDir(), "copy")
	args := append([]string{"--drop", "4afc3a2c/operator/union", "--copy", "reference", "--changelog-off", "--to", to}, flags...)
	r := run(append([]string{"prune", object, "--yes"}, args...)...).wantCode(t, exitOK)
	if !strings.Contains(r.out, "The object too:") || !strings.Contains(r.out, "Put the new object under the old name") {
		t.Error(r.out)
	}
	made := filepath.Join(to, filepath.Base(object))
	if r := run(append([]string{"report", "--json", made}, flags...)...); strings.Contains(r.out, "/operator/union\"") || !strings.Contains(r.out, "/operator/split\"") {
		t.Error(r.out)
	}
	plan := filepath.Join(t.TempDir(), "plan.json")
	other := append([]string{"prune", filepath.Join(home, "chk-1"), "--ha", object, "--dry-run", "--save-plan", plan}, args...)
	other[len(other)-len(flags)-1] += "-2"
	run(other...).wantCode(t, exitOK)
	r = run(append([]string{"prune", "--plan", plan, "--yes", "--json"}, flags...)...).wantCode(t, exitOK)
	var doc struct {
		Object struct{ Name string }
		Proof  struct {
			OK     bool
			Object struct{ Checked, Removed int }
		}
	}
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil || !doc.Proof.OK || doc.Proof.Object.Removed == 0 || doc.Object.Name != filepath.Base(object) {
		t.Errorf("%v\n%s", err, r.out)
	}
}
