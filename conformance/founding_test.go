package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// smallFrame is a frame size that the multiplied list does not fit into: 27,000 elements of 8 bytes go to each task.
const smallFrame = "framesize=131072"

// TestFoundingIncident: the night from its beginning. An old consumer's union list is left under the uid of a new source, each restore multiplies
// it, and one day a restore fails on the frame size. After chkscope the same restore succeeds, with all that was kept, from a path and from high
// availability.
func TestFoundingIncident(t *testing.T) {
	for _, minor := range []string{"1.15", "1.20"} {
		if extent != "full" && minor != "1.20" {
			continue
		}
		t.Run(minor, func(t *testing.T) {
			f := start(t, minor, "")
			made := f.make(t, "legacy", t.TempDir(), "parallelism=3", "union=3000", "checkpoints=1", "savepoints=false")
			old := made.checkpoints[len(made.checkpoints)-1]
			t.Run("path", func(t *testing.T) { foundingByPath(t, f, old) })
			t.Run("HA", func(t *testing.T) { foundingByHA(t, f, old) })
		})
	}
}

func foundingByPath(t *testing.T, f *flink, checkpoint string) {
	for restores := 1; restores <= 2; restores++ {
		r, err := f.restore("migrated", checkpoint, t.TempDir(), "parallelism=3", "ignore=true") // the old job had an operator more
		if err != nil {
			t.Fatal(err)
		}
		checkpoint = r.checkpoint
		multiplied(t, f, checkpoint, restores)
	}
	if _, err := f.restore("migrated", checkpoint, t.TempDir(), "parallelism=3", smallFrame, "ask=4s"); err == nil || !strings.Contains(err.Error(), "oversized payload") {
		t.Fatalf("the restore should fail on the frame size: %v", err)
	}
	kept, err := f.restore("migrated", checkpoint, t.TempDir(), "parallelism=3")
	if err != nil {
		t.Fatal(err)
	}
	if o := chkscope(t, "report", checkpoint, "--framesize", "131072"); o.code != 1 || !strings.Contains(o.stdout, "union-multiplied") {
		t.Errorf("report: exit %d\n%s\n%s", o.code, o.stdout, o.stderr)
	}
	pruned := filepath.Join(t.TempDir(), "pruned")
	if o := chkscope(t, "prune", checkpoint, "--fix", "union-multiplied", "--framesize", "131072", "--to", pruned, "--yes"); o.code != 0 {
		t.Fatalf("prune: exit %d\n%s", o.code, o.stderr)
	}
	got, err := f.restore("migrated", pruned, t.TempDir(), "parallelism=3", smallFrame)
	if err != nil {
		t.Fatal(err)
	}
	sameFounding(t, f, kept, got)
}

func foundingByHA(t *testing.T, f *flink, checkpoint string) {
	dir := filepath.Join(t.TempDir(), "job")
	from := []string{"from=" + checkpoint, "ignore=true"} // the old job had an operator more
	for crashes := 1; crashes <= 2; crashes++ {
		if _, err := f.do(append([]string{"crash", "migrated", dir, "parallelism=3"}, from...)...); err != nil {
			t.Fatal(err)
		}
		from = nil // from now on the newest checkpoint of high availability
		multiplied(t, f, pointedTo(t, dir).checkpoint, crashes)
	}
	before := pointedTo(t, dir)
	kept, err := f.restore("migrated", before.checkpoint, t.TempDir(), "parallelism=3")
	if err != nil {
		t.Fatal(err)
	}
	copyTree(t, filepath.Join(dir, "ha"), filepath.Join(dir, "ha-kept")) // a job that has failed takes its objects along
	if _, err := f.recover("migrated", dir, "parallelism=3", smallFrame, "ask=4s"); err == nil || !strings.Contains(err.Error(), "oversized payload") {
		t.Fatalf("the recovery should fail on the frame size: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "ha")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "ha-kept"), filepath.Join(dir, "ha")); err != nil {
		t.Fatal(err)
	}
	pruned := filepath.Join(t.TempDir(), "pruned")
	if o := chkscope(t, "prune", before.object, "--fix", "union-multiplied", "--framesize", "131072", "--to", pruned, "--replace-ha", "--yes"); o.code != 0 {
		t.Fatalf("prune: exit %d\n%s", o.code, o.stderr)
	}
	got, err := f.recover("migrated", dir, "parallelism=3", smallFrame)
	if err != nil {
		t.Fatal(err)
	}
	sameFounding(t, f, kept, got)
}

// multiplied: of a list of 3,000 elements each subtask has all after the first restore, and 3 times as many after each later one.
func multiplied(t *testing.T, f *flink, checkpoint string, restores int) {
	t.Helper()
	each := 3000
	for range restores - 1 {
		each *= 3
	}
	names := f.names(t, checkpoint)
	if n := count(names, fmt.Sprintf("%s UNION elements=%d", legacyList, each)); n != 3 {
		t.Fatalf("after restore %d, %d subtasks of 3 have the list with %d elements:\n%s", restores, n, each, strings.Join(names, "\n"))
	}
}

// sameFounding: what the job reads after chkscope is what it read before, and its own next checkpoint has the list no more.
func sameFounding(t *testing.T, f *flink, kept, got restored) {
	t.Helper()
	want := lasting(kept.facts)
	if len(want) < 20 {
		t.Fatalf("only %d facts", len(want))
	}
	if d := diff(want, lasting(got.facts)); d != nil {
		t.Errorf("facts:\n%s", strings.Join(d, "\n"))
	}
	if n := count(f.names(t, got.checkpoint), legacyList); n != 0 {
		t.Errorf("the job's own checkpoint names the list in %d places", n)
	}
}
