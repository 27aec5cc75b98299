package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var haRows = []row{
	{name: "op-full union-offsets", drop: drop("buffering/operator/union-offsets"), gone: unionFacts, released: drop("union-offsets")},
	{name: "op-full limits", drop: drop("with-rules/operator/limits"), gone: []string{`^broadcast with-rules#\d+ limits`}},
	{name: "operator with-rules", drop: drop("with-rules"), gone: []string{"^broadcast with-rules"}},
}

// TestHighAvailability: a new JobManager recovers from ZooKeeper and from a completedCheckpoint object that chkscope wrote, put in the old
// one's place as `prune` says.
func TestHighAvailability(t *testing.T) {
	for _, minor := range []string{"1.15", "1.18", "1.20", "2.1"} {
		if extent != "full" && minor != "1.20" {
			continue
		}
		for _, r := range haRows {
			t.Run(minor+" "+r.name, func(t *testing.T) {
				s := open(t, filepath.Join(lab(t), minor+"-ha"))
				f := start(t, minor, "")
				object := newestObject(t, s.home)
				to := filepath.Join(t.TempDir(), "copy")
				args := []string{"prune", object, "--to", to, "--yes"}
				args = append(args, r.selects(basicUids)...)
				if o := chkscope(t, args...); o.code != 0 {
					t.Fatalf("prune: exit %d\n%s", o.code, o.stderr)
				}
				written, err := os.ReadFile(filepath.Join(to+".ha", filepath.Base(object)))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(object, written, 0o600); err != nil {
					t.Fatal(err)
				}
				got, err := f.recover(s.scenario, s.home, s.options...)
				if err != nil {
					t.Fatal(err)
				}
				if d := r.compare(s.facts, got.facts); d != nil {
					t.Errorf("recovered facts:\n%s", strings.Join(d, "\n"))
				}
				again, err := f.restore(s.scenario, got.checkpoint, t.TempDir(), s.options...)
				if err != nil {
					t.Fatalf("own checkpoint: %v", err)
				}
				if d := diff(without(lasting(got.facts), "restored "), without(lasting(again.facts), "restored ")); d != nil {
					t.Errorf("own checkpoint:\n%s", strings.Join(d, "\n"))
				}
			})
		}
	}
}

// newestObject gives the completedCheckpoint object that the last checkpoint's node points to.
func newestObject(t *testing.T, home string) string { return pointedTo(t, home).object }

// pointed is what the last checkpoint's node points to, and the checkpoint of the same number.
type pointed struct{ node, object, checkpoint string }

func pointedTo(t *testing.T, home string) pointed {
	t.Helper()
	index, err := lines(filepath.Join(home, "zk", "index"))
	if err != nil {
		t.Fatal(err)
	}
	node, name := "", "" // the last in the order of names
	for _, line := range index {
		if f := strings.Fields(line); len(f) == 4 && regexp.MustCompile(`/checkpoints/\d+$`).MatchString(f[0]) && f[0] > name {
			name, node = f[0], f[3]
		}
	}
	pointer, err := os.ReadFile(filepath.Join(home, "zk", node))
	if err != nil {
		t.Fatal(err)
	}
	object := regexp.MustCompile(`completedCheckpoint[0-9a-f]{12}`).Find(pointer)
	found, _ := filepath.Glob(filepath.Join(home, "ha", "*", string(object)))
	if len(found) != 1 {
		t.Fatalf("the object %q is in %d places", object, len(found))
	}
	id := strings.TrimLeft(filepath.Base(name), "0")
	checkpoint, _ := filepath.Glob(filepath.Join(home, "checkpoints", "*", "chk-"+id))
	if len(checkpoint) != 1 {
		t.Fatalf("checkpoint %s is in %d places", id, len(checkpoint))
	}
	return pointed{filepath.Join(home, "zk", node), found[0], checkpoint[0]}
}

// TestHAPointer: a new JobManager follows the pointer that chkscope wrote anew, to the new object where chkscope left it.
func TestHAPointer(t *testing.T) {
	for _, minor := range []string{"1.15", "1.20"} {
		t.Run(minor, func(t *testing.T) {
			r := haRows[0]
			s := open(t, filepath.Join(lab(t), minor+"-ha"))
			f := start(t, minor, "")
			newest := pointedTo(t, s.home)
			to := filepath.Join(t.TempDir(), "copy")
			args := []string{"prune", newest.checkpoint, "--ha", filepath.Join(s.home, "zk"), "--to", to, "--yes"}
			args = append(args, r.selects(basicUids)...)
			if o := chkscope(t, args...); o.code != 0 || !strings.Contains(o.stdout, "set -b /flink/lab/jobs/") {
				t.Fatalf("prune: exit %d\n%s\n%s", o.code, o.stdout, o.stderr)
			}
			payload, err := os.ReadFile(filepath.Join(to+".ha", "znode"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(newest.node, payload, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(newest.object); err != nil { // nobody needs it
				t.Fatal(err)
			}
			got, err := f.recover(s.scenario, s.home, s.options...)
			if err != nil {
				t.Fatal(err)
			}
			if d := r.compare(s.facts, got.facts); d != nil {
				t.Errorf("recovered facts:\n%s", strings.Join(d, "\n"))
			}
		})
	}
}

// TestHALostMetadata: of a checkpoint that has only its object left a copy is made that restores from its path.
func TestHALostMetadata(t *testing.T) {
	for _, minor := range []string{"1.15", "1.20"} {
		t.Run(minor, func(t *testing.T) {
			r := haRows[0]
			s := open(t, filepath.Join(lab(t), minor+"-ha"))
			f := start(t, minor, "")
			newest := pointedTo(t, s.home)
			if err := os.Remove(filepath.Join(newest.checkpoint, "_metadata")); err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(t.TempDir(), "copy")
			args := []string{"prune", newest.object, "--to", to, "--copy", "full", "--yes"}
			args = append(args, r.selects(basicUids)...)
			if o := chkscope(t, args...); o.code != 0 {
				t.Fatalf("prune: exit %d\n%s", o.code, o.stderr)
			}
			got, err := f.restore(s.scenario, to, t.TempDir(), append(s.options, "claim=CLAIM")...)
			if err != nil {
				t.Fatal(err)
			}
			if d := r.compare(s.facts, got.facts); d != nil {
				t.Errorf("restored facts:\n%s", strings.Join(d, "\n"))
			}
		})
	}
}
