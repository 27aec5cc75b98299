package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// incidentFiles is a snapshot made by real Flink that is committed.
const incidentFiles = "conformance/testdata/incident/gen-3-files/checkpoint"

func TestPrune(t *testing.T) {
	to := filepath.Join(t.TempDir(), "pruned")
	args := []string{"prune", incidentFiles, "--drop", "kafka-source/operator/topic-partition-offset-states", "--uid", "kafka-source", "--to", to, "--json"}

	dry := run(append(args, "--dry-run")...).wantCode(t, exitOK).decode(t)
	if dry["written"] != false || dry["proof"] != nil {
		t.Errorf("--dry-run: written %v, proof %v", dry["written"], dry["proof"])
	}
	if _, err := os.Stat(to); !os.IsNotExist(err) {
		t.Fatalf("--dry-run made the destination: %v", err)
	}

	doc := run(append(args, "--yes")...).wantCode(t, exitOK).decode(t)
	proof, _ := doc["proof"].(map[string]any)
	if doc["written"] != true || proof["ok"] != true || proof["removed"] != 4.0 {
		t.Errorf("written %v, proof %v", doc["written"], proof)
	}
	for key := range dry {
		if _, there := doc[key]; !there {
			t.Errorf("%s is only in the document of --dry-run", key)
		}
	}
	run("verify", to).wantCode(t, exitOK)
	if r := run("ls", to, "--depth", "2").wantCode(t, exitOK); strings.Contains(r.out, "topic-partition") {
		t.Errorf("the state is still there:\n%s", r.out)
	}

	run(append(args, "--yes")...).wantCode(t, exitUsage).wantErr(t, "not empty")
}

func TestPruneAsks(t *testing.T) {
	args := func(to string) []string {
		return []string{"prune", incidentFiles, "--fix", "legacy-state", "--to", to}
	}
	to := filepath.Join(t.TempDir(), "pruned")
	run(args(to)...).wantCode(t, exitUsage).wantErr(t, "--yes")
	session{tty: true, in: "yes\n"}.run(args(to)...).wantCode(t, exitUsage).wantErr(t, "declined")
	session{tty: true}.run(args(to)...).wantCode(t, exitUsage).wantErr(t, "declined")
	if _, err := os.Stat(to); !os.IsNotExist(err) {
		t.Fatalf("something was written before the answer: %v", err)
	}
	r := session{tty: true, in: "write\n"}.run(args(to)...).wantCode(t, exitOK)
	if !strings.Contains(r.out, "Proof passed") && !strings.Contains(r.out, "Proof\x1b") {
		t.Errorf("no word of the proof: %s", r.out)
	}
	run("verify", to).wantCode(t, exitOK)
}

func TestPlanFile(t *testing.T) {
	dir := t.TempDir()
	plan, to := filepath.Join(dir, "plan.json"), filepath.Join(dir, "pruned")
	run("prune", incidentFiles, "--fix", "legacy-state", "--to", to, "--dry-run", "--save-plan", plan).wantCode(t, exitOK)
	run("prune", incidentFiles, "--fix", "legacy-state", "--to", to, "--dry-run", "--save-plan", plan).wantCode(t, exitUsage)
	run("prune", "--plan", plan, "--yes", "--to", to).wantCode(t, exitOK)
	run("verify", to).wantCode(t, exitOK)
	run("prune", "--plan", plan, "--drop", "x", "--yes").wantCode(t, exitUsage)
	run("prune", "--plan", filepath.Join(dir, "none")).wantCode(t, exitUsage)
}

func TestCopy(t *testing.T) {
	to := filepath.Join(t.TempDir(), "copy")
	doc := run("copy", incidentFiles, "--to", to, "--yes", "--json", "--verify-copies").wantCode(t, exitOK).decode(t)
	if removed := doc["removed"].([]any); len(removed) != 0 || doc["copy"] != "full" {
		t.Errorf("removed %v, copy %v", removed, doc["copy"])
	}
	run("verify", to).wantCode(t, exitOK)
}

func TestPruneUsage(t *testing.T) {
	to := filepath.Join(t.TempDir(), "x")
	tests := []struct {
		name, err string
		args      []string
	}{
		{"nothing to remove", "--drop SELECTOR", []string{"prune", incidentFiles, "--to", to}},
		{"no destination", "--to URI", []string{"prune", incidentFiles, "--drop", "*"}},
		{"no destination of a copy", "--to URI", []string{"copy", incidentFiles}},
		{"no source", "chkscope prune URI", []string{"prune", "--to", to}},
		{"no such rule", "chkscope rules", []string{"prune", incidentFiles, "--fix", "nonsense", "--to", to}},
		{"a rule that does not fire", "no finding", []string{"prune", incidentFiles, "--fix", "missing-file", "--to", to}},
		{"bad kind of copy", "full or reference", []string{"prune", incidentFiles, "--drop", "*", "--copy", "deep", "--to", to}},
		{"no match", "nearest", []string{"prune", incidentFiles, "--drop", "*/operator/topix", "--to", to}},
		{"into the source", "never written to", []string{"prune", incidentFiles, "--fix", "legacy-state", "--to", incidentFiles + "/x", "--yes"}},
		{"read only", "--read-only", []string{"prune", incidentFiles, "--fix", "legacy-state", "--to", to, "--yes", "--read-only"}},
		{"duplicates of a split list", "union states only", []string{"prune", incidentFiles, "--drop", "*/operator/SourceReaderState/*/duplicates", "--to", to, "--yes"}},
		{"readers without coordinator", "--accept-loss", []string{"prune", incidentFiles, "--drop", "*/operator/SourceReaderState", "--to", to, "--yes"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			run(test.args...).wantCode(t, exitUsage).wantErr(t, test.err)
			if _, err := os.Stat(to); !os.IsNotExist(err) {
				t.Error("something was written")
			}
		})
	}
	damaged := smallCheckpoint(t)
	if err := os.Truncate(filepath.Join(damaged, "_metadata"), 60); err != nil {
		t.Fatal(err)
	}
	run("prune", damaged, "--drop", "*", "--to", to, "--yes").wantCode(t, exitFailed)
}

// TestPruneWhere drops by condition, from the command line and by a saved plan.
func TestPruneWhere(t *testing.T) {
	dir, flags := fixture(t, "v4-canonical-savepoint")
	base := t.TempDir()
	to, plan := filepath.Join(base, "copy"), filepath.Join(base, "plan.json")
	args := append([]string{"prune", dir, "--drop", "*/keyed/session-ttl", "--where", "ttl_expired and key < 3", "--ttl", "1s", "--to", to, "--yes"}, flags...)
	run(append(args, "--dry-run", "--save-plan", plan)...).wantCode(t, exitOK)
	r := run("prune", "--plan", plan, "--to", to, "--yes", flags[0], flags[1]).wantCode(t, exitOK)
	if !strings.Contains(r.out, "ttl_expired and key < 3") {
		t.Errorf("the condition is not told:\n%s", r.out)
	}
	before := exported(t, run(append([]string{"export", dir, "*/keyed/session-ttl"}, flags...)...).wantCode(t, exitOK))
	after := exported(t, run("export", to, "*/keyed/session-ttl").wantCode(t, exitOK))
	if len(after) == 0 || len(after) >= len(before) {
		t.Errorf("%d of %d entries are left", len(after), len(before))
	}
	for _, m := range after {
		if n, _ := m["key"].(json.Number).Int64(); n < 3 {
			t.Errorf("%v is left", m)
		}
	}
	run("prune", dir, "--fix", "dead-name", "--where", "key == 1", "--to", to).wantCode(t, exitUsage).wantErr(t, "--where is about")
	run("prune", dir, "--drop", "*/keyed/session-ttl", "--where", "ttl_expired", "--to", to).wantCode(t, exitUsage).wantErr(t, "--ttl DURATION")
}
