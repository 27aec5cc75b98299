package conformance

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const legacyList = "topic-partition-offset-states"

// TestIncident: the founding incident, pruned by chkscope, restores with every kept value, and what was removed does not come back.
func TestIncident(t *testing.T) {
	for _, minor := range []string{"1.15", "1.20"} {
		t.Run(minor, func(t *testing.T) {
			s := open(t, filepath.Join(lab(t), minor+"-incident-chk"))
			f := start(t, minor, "")
			unedited := uneditedIncident(t, f, s)
			for _, copies := range []string{"reference", "full"} {
				t.Run(copies, func(t *testing.T) { prunedIncident(t, f, s, unedited, copies) })
			}
		})
	}
}

// uneditedIncident gives what the job that runs now reads. The old consumer would still read the union list, and each restore multiplies it.
func uneditedIncident(t *testing.T, f *flink, s sample) restored {
	r, err := f.restore(s.scenario, s.snapshot, t.TempDir(), s.options...)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(s.facts, r.facts); d != nil {
		t.Fatalf("unedited facts differ from the corpus:\n%s", strings.Join(d, "\n"))
	}
	unedited, err := f.restore("migrated", s.snapshot, t.TempDir(), "parallelism=3")
	if err != nil {
		t.Fatal(err)
	}
	if len(unedited.facts) < 100 {
		t.Fatalf("only %d facts", len(unedited.facts))
	}
	if n := count(f.names(t, unedited.checkpoint), legacyList+" UNION elements=72"); n != 3 {
		t.Fatalf("the unedited job should multiply the list to 72 elements in each of 3 subtasks, not in %d", n)
	}
	return unedited
}

func prunedIncident(t *testing.T, f *flink, s sample, unedited restored, copies string) {
	pruned := filepath.Join(t.TempDir(), "pruned")
	o := chkscope(t, "prune", s.snapshot, "--uid", "orders-source", "--drop", "orders-source/operator/"+legacyList, "--to", pruned, "--copy", copies, "--yes")
	if o.code != 0 {
		t.Fatalf("prune: exit %d\n%s", o.code, o.stderr)
	}
	if n := count(f.names(t, pruned), legacyList); n != 0 {
		t.Errorf("the pruned copy still names the list in %d places", n)
	}

	old, err := f.restore(s.scenario, pruned, t.TempDir(), s.options...)
	if err != nil {
		t.Fatal(err)
	}
	want := without(s.facts, "union ", "restored ")
	for subtask := range 3 {
		want = append(want, fmt.Sprintf("restored orders-source#%d true names [SourceReaderState]", subtask), fmt.Sprintf("union orders-source#%d %s count=0", subtask, legacyList))
	}
	if d := diff(want, old.facts); d != nil {
		t.Errorf("the old consumer's facts:\n%s", strings.Join(d, "\n"))
	}

	kept, err := f.restore("migrated", pruned, t.TempDir(), "parallelism=3")
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(unedited.facts, kept.facts); d != nil {
		t.Errorf("kept facts:\n%s", strings.Join(d, "\n"))
	}
	if n := count(f.names(t, kept.checkpoint), legacyList); n != 0 {
		t.Errorf("the job's own checkpoint names the list in %d places", n)
	}
	again, err := f.restore("migrated", kept.checkpoint, t.TempDir(), "parallelism=3")
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(lasting(kept.facts), lasting(again.facts)); d != nil {
		t.Errorf("the job's own checkpoint:\n%s", strings.Join(d, "\n"))
	}
}

// TestMissingConnector: once the old connector is gone from the class path, a copy without the state restores; the snapshot itself does not,
// and neither does a copy where the name is left in the stream's header, whose serializer names the connector's class.
func TestMissingConnector(t *testing.T) {
	for _, minor := range []string{"1.15", "1.20"} {
		t.Run(minor, func(t *testing.T) {
			b := &bench{flink: start(t, minor, ""), home: filepath.Join(t.TempDir(), "source")}
			b.makeIncident(t)
			snapshot, dir := b.snapshots["checkpoint"], t.TempDir()
			for to, flags := range map[string][]string{"whole": nil, "half": {"--keep-headers"}} {
				o := chkscope(t, append([]string{"prune", snapshot, "--uid", "orders-source", "--drop", "orders-source/operator/" + legacyList, "--to", filepath.Join(dir, to), "--yes"}, flags...)...)
				if o.code != 0 {
					t.Fatalf("prune %s: exit %d\n%s", to, o.code, o.stderr)
				}
			}
			f := start(t, minor, "flink-connector-kafka")
			for _, from := range []string{snapshot, filepath.Join(dir, "half")} {
				if _, err := f.restore("migrated", from, t.TempDir(), "parallelism=3"); err == nil || !strings.Contains(err.Error(), "KafkaTopicPartition") {
					t.Errorf("%s should miss the class KafkaTopicPartition: %v", from, err)
				}
			}
			if _, err := f.restore("migrated", filepath.Join(dir, "whole"), t.TempDir(), "parallelism=3"); err != nil {
				t.Error(err)
			}
		})
	}
}

// count says in how many lines a text stands.
func count(lines []string, text string) int {
	n := 0
	for _, l := range lines {
		if strings.Contains(l, text) {
			n++
		}
	}
	return n
}
