package conformance

import (
	"path/filepath"
	"strings"
	"testing"
)

const legacyList = "topic-partition-offset-states"

// TestIncident: the founding incident, pruned by chkscope, restores with every kept value, and what was removed does not come back.
func TestIncident(t *testing.T) {
	for _, minor := range []string{"1.15", "1.20"} {
		for _, copies := range []string{"reference", "full"} {
			t.Run(minor+" "+copies, func(t *testing.T) {
				s := open(t, filepath.Join(lab(t), minor+"-incident-chk"))
				f := start(t, minor, "")

				// What the old consumer would still read, and what the job that runs now reads.
				if r, err := f.restore(s.scenario, s.snapshot, t.TempDir(), s.options...); err != nil {
					t.Fatal(err)
				} else if d := diff(s.facts, r.facts); d != nil {
					t.Fatalf("unedited facts differ from the corpus:\n%s", strings.Join(d, "\n"))
				}
				unedited, err := f.restore("migrated", s.snapshot, t.TempDir(), "parallelism=3", "claim=NO_CLAIM")
				if err != nil {
					t.Fatal(err)
				}
				if n := count(f.names(t, unedited.checkpoint), legacyList+" UNION elements=72"); n != 3 {
					t.Fatalf("the unedited job should multiply the list to 72 elements in each of 3 subtasks, not in %d", n)
				}

				pruned := filepath.Join(t.TempDir(), "pruned")
				o := chkscope(t, "prune", s.snapshot, "--uid", "orders-source", "--drop", "orders-source/operator/"+legacyList, "--to", pruned, "--copy", copies, "--yes")
				if o.code != 0 {
					t.Fatalf("prune: exit %d\n%s", o.code, o.stderr)
				}
				if n := count(f.names(t, pruned), legacyList); n != 0 {
					t.Errorf("the pruned copy still names the list in %d places", n)
				}
				r, err := f.restore(s.scenario, pruned, t.TempDir(), s.options...)
				if err != nil {
					t.Fatal(err)
				}
				empty := []string{"restored orders-source#0 true names [SourceReaderState]", "restored orders-source#1 true names [SourceReaderState]", "restored orders-source#2 true names [SourceReaderState]",
					"union orders-source#0 " + legacyList + " count=0", "union orders-source#1 " + legacyList + " count=0", "union orders-source#2 " + legacyList + " count=0"}
				if d := diff(append(without(s.facts, "union ", "restored "), empty...), r.facts); d != nil {
					t.Errorf("the old consumer's facts:\n%s", strings.Join(d, "\n"))
				}

				kept, err := f.restore("migrated", pruned, t.TempDir(), "parallelism=3", "claim=NO_CLAIM")
				if err != nil {
					t.Fatal(err)
				}
				if len(kept.facts) < 100 {
					t.Errorf("only %d facts", len(kept.facts))
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
			})
		}
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
