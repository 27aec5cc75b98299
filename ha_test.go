package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chkscope/decoder/ha"
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
	made := filepath.Join(to+".ha", filepath.Base(object))
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

// pointers are a ZooKeeper node and a ConfigMap that lead to the object of
// haDirectory.
func pointers(t *testing.T, home string) (node, configMap string) {
	t.Helper()
	write := func(like, name string, form func([]byte) string) string {
		data, err := os.ReadFile(filepath.Join("decoder", "ha", "testdata", like))
		if err != nil {
			t.Fatal(err)
		}
		p, err := ha.ParsePointer(data)
		if err == nil {
			data, err = p.Encode("file:/checkpoints/ha/completedCheckpoint0123456789ab", 14049)
		}
		name = filepath.Join(home, name)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(form(data)), 0o644)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	node = write("zookeeper.pointer", "zk/jobs/0123456789abcdef0123456789abcdef/checkpoints/0000000000000000007", func(b []byte) string { return string(b) })
	configMap = write("kubernetes.pointer", "map.json", func(b []byte) string {
		return `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "job-config-map", "namespace": "flink"}, "data": {"counter": "8", "checkpointID-0000000000000000007": "` + base64.StdEncoding.EncodeToString(b) + `"}}`
	})
	return node, configMap
}

// TestPointers: what points to a checkpoint opens it, as its parent directory
// does; chkscope alone lists what is pointed to.
func TestPointers(t *testing.T) {
	home, flags := haDirectory(t)
	object := filepath.Join(home, "ha", "completedCheckpoint0123456789ab")
	want := run(append([]string{"report", "--json", object}, flags...)...).out
	node, configMap := pointers(t, home)
	for _, uri := range []string{node, configMap, filepath.Join(home, "zk")} {
		r := run(append([]string{"report", "--json", uri}, flags...)...)
		if r.out != strings.ReplaceAll(want, object, "/checkpoints/ha/completedCheckpoint0123456789ab") || !strings.Contains(r.errOut, "points to a checkpoint; opened it, file:/checkpoints/ha/completedCheckpoint0123456789ab") {
			t.Errorf("%s: %s\n%s", uri, r.out, r.errOut)
		}
		if r := run(append([]string{uri}, flags...)...).wantCode(t, exitOK); !strings.Contains(r.out, "CHECKPOINT  STATE") || !strings.Contains(r.out, "file:/checkpoints/ha/completedCheckpoint0123456789ab") {
			t.Errorf("%s: %s", uri, r.out)
		}
	}
	if r := run("report", filepath.Join(home, "nothing")).wantCode(t, exitFailed); !strings.Contains(r.errOut, "does not exist") {
		t.Error(r.errOut)
	}
}

// TestPrunePointer: with what points to the object a new pointer is written, and
// the steps have the command.
func TestPrunePointer(t *testing.T) {
	home, flags := haDirectory(t)
	node, configMap := pointers(t, home)
	args := append([]string{"--drop", "4afc3a2c/operator/union", "--copy", "reference", "--changelog-off", "--yes"}, flags...)
	dir := t.TempDir()
	for i, first := range [][]string{{"prune", configMap}, {"prune", filepath.Join(home, "chk-1"), "--ha", configMap}, {"prune", node}, {"prune", filepath.Join(home, "ha", "completedCheckpoint0123456789ab"), "--ha", filepath.Join(home, "zk")}} {
		to := filepath.Join(dir, fmt.Sprint("copy-", i))
		r := run(append(append(first, "--to", to), args...)...).wantCode(t, exitOK)
		if i < 2 && !strings.Contains(r.out, "kubectl -n flink patch configmap job-config-map --type json --patch-file "+to+".ha/configmap-patch.json") {
			t.Error(r.out)
		}
		if i >= 2 && !strings.Contains(r.out, "zkCli.sh -server HOST:2181 set -b /…/checkpoints/0000000000000000007 \"$(base64 < "+to+".ha/znode | tr -d '\\n')\"") {
			t.Error(r.out)
		}
	}
	other := filepath.Join(home, "other.json")
	writeFile(t, other, []byte(`{"kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"counter": "8"}}`))
	r := run(append([]string{"prune", filepath.Join(home, "chk-1"), "--ha", other, "--to", filepath.Join(dir, "none")}, args...)...).wantCode(t, exitUsage)
	if !strings.Contains(r.errOut, "nothing there points to checkpoint 7") {
		t.Error(r.errOut)
	}
}

// TestReplaceHA: the new object takes the place of the old one, which is kept; the
// same command finds what an earlier run has left, and tells where all is done.
func TestReplaceHA(t *testing.T) {
	home, flags := haDirectory(t)
	object := filepath.Join(home, "ha", "completedCheckpoint0123456789ab")
	old, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy")
	args := append([]string{"prune", object, "--drop", "4afc3a2c/operator/union", "--copy", "reference", "--changelog-off", "--to", to}, flags...)
	args = slices.Clip(args)
	replacing := slices.Clip(append(args, "--replace-ha"))
	unchanged := func() {
		t.Helper()
		if now, err := os.ReadFile(object); err != nil || !bytes.Equal(now, old) {
			t.Error("the object was changed")
		}
	}
	if r := run(append(replacing, "--dry-run")...).wantCode(t, exitOK); !strings.Contains(r.out, "object") {
		t.Error(r.out)
	}
	run(replacing...).wantCode(t, exitUsage) // nobody to ask
	terminal := session{in: "write\n", tty: true}
	if r := terminal.run(replacing...).wantCode(t, exitUsage); !strings.Contains(r.errOut, "Type replace to") || !strings.Contains(r.errOut, "declined") {
		t.Error(r.errOut)
	}
	unchanged()
	// The copy alone, then the replacement.
	run(append(args, "--yes")...).wantCode(t, exitOK)
	unchanged()
	terminal.in = "replace\n"
	r := terminal.run(replacing...).wantCode(t, exitOK)
	if !strings.Contains(r.errOut, "only the object is left to be replaced") || !strings.Contains(r.out, "The object was replaced.") || !strings.Contains(r.out, "mv "+object+".chkscope-old-") ||
		strings.Index(r.out, "The new object is in the place") > strings.Index(r.out, "HA entries must go first") {
		t.Errorf("%s\n%s", r.out, r.errOut)
	}
	written, err := os.ReadFile(filepath.Join(to+".ha", filepath.Base(object)))
	if err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(object); err != nil || !bytes.Equal(now, written) {
		t.Error("the new object is not in the place of the old one")
	}
	list, err := filepath.Glob(object + ".*")
	if err != nil || len(list) != 1 || !strings.Contains(list[0], ".chkscope-old-") {
		t.Fatalf("%v, %v", list, err)
	}
	if kept, err := os.ReadFile(list[0]); err != nil || !bytes.Equal(kept, old) {
		t.Error("the kept object is not the old one")
	}
	// Once more: it is done, and said so.
	if r := run(append(replacing, "--yes")...); r.code == exitOK || !strings.Contains(r.errOut, "was replaced by chkscope before; the old object is kept as") {
		t.Errorf("exit %d: %s", r.code, r.errOut)
	}
	if r := run(append([]string{"ha", home}, flags...)...); !strings.Contains(r.out, "kept by chkscope when the object was replaced") {
		t.Error(r.out)
	}
	chk := append([]string{"prune", filepath.Join(home, "chk-1"), "--drop", "4afc3a2c/operator/union", "--to", to + "-2", "--replace-ha", "--yes", "--copy", "reference", "--changelog-off", "--source-uri", "file:/checkpoints/chk-1"}, flags...)
	if r := run(chk...).wantCode(t, exitUsage); !strings.Contains(r.errOut, "there is no object to be replaced") {
		t.Error(r.errOut)
	}
}
