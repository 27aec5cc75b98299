package failover

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder"
	"chkscope/decoder/ha"
	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/store"
	"chkscope/storage"
)

// flink gives the store that finds what the job of a corpus folder names.
func flink(t testing.TB, folder string) (*storage.Router, string) {
	t.Helper()
	home := filepath.Join(corpus.Dir(t), folder)
	from, to := "file:/tmp/flink-lab/"+filepath.Base(folder), home
	if strings.Contains(folder, "incident") {
		from, to = "file:/tmp/flink/ha/checkpoints/eb6b7013b6de48bc7c53c2011c74b223", filepath.Join(home, "checkpoints")
	}
	return storage.New(storage.Options{Maps: store.Mappings{{From: from, To: to}}}), home
}

func open(t testing.TB, st model.Store, uri string) *model.Snapshot {
	t.Helper()
	s, _, err := model.Open(context.Background(), st, uri, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func compare(t testing.TB, object, meta *model.Snapshot) []string {
	t.Helper()
	list, err := Compare(context.Background(), object, meta)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, d := range list {
		out = append(out, d.String())
	}
	return out
}

func TestCompareReal(t *testing.T) {
	for _, folder := range []string{"lab/1.15-ha", "lab/1.18-ha", "lab/1.20-ha", "lab/2.1-ha", "incident/ha-1.15/after-crash-0", "incident/ha-1.15/after-crash-1"} {
		st, home := flink(t, folder)
		objects, _ := filepath.Glob(filepath.Join(home, "*", "completedCheckpoint*"))
		deeper, _ := filepath.Glob(filepath.Join(home, "ha", "*", "completedCheckpoint*"))
		if objects = append(objects, deeper...); len(objects) < 2 {
			t.Fatalf("%s: %d objects", home, len(objects))
		}
		for i, file := range objects {
			s := open(t, st, file)
			if d := compare(t, s, open(t, st, s.Dir)); len(d) > 0 {
				t.Errorf("%s and %s: %s", file, s.Dir, strings.Join(d, "\n"))
			}
			if other := open(t, st, objects[(i+1)%len(objects)]); len(compare(t, s, open(t, st, other.Dir))) == 0 {
				t.Errorf("%s is like the _metadata of another checkpoint, %s", file, other.Dir)
			}
		}
	}
}

// snapshot is a snapshot of bytes.
func snapshot(t testing.TB, name string, read func(decoder.Input) (*metadata.Checkpoint, error)) *model.Snapshot {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "decoder", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := read(decoder.Bytes{Data: data, Label: name})
	if err != nil {
		t.Fatal(err)
	}
	return &model.Snapshot{Meta: m}
}

func readObject(in decoder.Input) (*metadata.Checkpoint, error) {
	c, err := ha.Decode(in)
	if err != nil {
		return nil, err
	}
	return c.Meta, nil
}

// TestCompareEveryHandle compares objects with handles of every type to the
// `_metadata` that they were made of, and after a change to one thing.
func TestCompareEveryHandle(t *testing.T) {
	for object, meta := range map[string]string{
		"ha/testdata/flink-1.13.object": "ha/testdata/flink-1.13.metadata",
		"ha/testdata/flink-1.15.object": "ha/testdata/flink-1.15.metadata",
		"ha/testdata/flink-1.20.object": "ha/testdata/flink-1.20.metadata",
		"ha/testdata/flink-2.3.object":  "metadata/testdata/all-v6.metadata",
	} {
		a := snapshot(t, object, readObject)
		if d := compare(t, a, snapshot(t, meta, metadata.Decode)); len(d) > 0 {
			t.Errorf("%s and %s: %s", object, meta, strings.Join(d, "\n"))
		}
		for i, change := range changes {
			b := snapshot(t, meta, metadata.Decode)
			if what := change(b.Meta); what != "" {
				if d := compare(t, a, b); len(d) != 1 || !strings.Contains(d[0], what) {
					t.Errorf("%s, change %d (%s): %q", object, i, what, d)
				}
			}
		}
	}
}

// changes each change one thing, and say what; "" where there is none.
var changes = []func(*metadata.Checkpoint) string{
	func(m *metadata.Checkpoint) string { m.ID++; return "checkpoint id" },
	func(m *metadata.Checkpoint) string { m.Masters[0].Name = "other"; return "master states" },
	func(m *metadata.Checkpoint) string { m.Operators = m.Operators[1:]; return "operator: object there" },
	func(m *metadata.Checkpoint) string { m.Operators[0].Parallelism++; return "parallelism" },
	eachSubtask(func(s *metadata.SubtaskState) string {
		if s.ManagedOperator == nil || len(s.ManagedOperator.States) == 0 {
			return ""
		}
		s.ManagedOperator.States = s.ManagedOperator.States[1:]
		return "operator state"
	}),
	eachSubtask(func(s *metadata.SubtaskState) string {
		if s.ManagedOperator == nil || len(s.ManagedOperator.States) == 0 {
			return ""
		}
		s.ManagedOperator.States[0].Offsets = metadata.NewOffsets([]int64{7, 8, 9, 10})
		return "mode or offsets"
	}),
	eachSubtask(func(s *metadata.SubtaskState) string {
		if s.ManagedKeyed == nil {
			return ""
		}
		s.ManagedKeyed = nil
		return "managed keyed state: object there, _metadata none"
	}),
	eachSubtask(func(s *metadata.SubtaskState) string {
		if s.ManagedKeyed == nil || s.ManagedKeyed.Incr == nil {
			return ""
		}
		s.ManagedKeyed.Incr.BackendID = "other"
		return "managed keyed state"
	}),
	eachSubtask(func(s *metadata.SubtaskState) string {
		if s.Input.Len() == 0 {
			return ""
		}
		s.Input = metadata.Channels{}
		return "input channel state"
	}),
}

// eachSubtask changes the first subtask that has what is changed.
func eachSubtask(change func(*metadata.SubtaskState) string) func(*metadata.Checkpoint) string {
	return func(m *metadata.Checkpoint) string {
		for i := range m.Operators {
			for k := range m.Operators[i].Subtasks {
				if s := m.Operators[i].Subtasks[k].State; s != nil {
					if what := change(s); what != "" {
						return what
					}
				}
			}
		}
		return ""
	}
}

// TestDifferenceIsClean: what a file holds does not reach the terminal raw.
func TestDifferenceIsClean(t *testing.T) {
	d := Difference{What: "name", Object: "\x1b[31m", Metadata: "x"}
	if bytes.ContainsRune([]byte(d.String()), 0x1b) {
		t.Errorf("%q", d)
	}
}
