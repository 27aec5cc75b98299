package finding

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"chkscope/conformance/corpus"
	"chkscope/model"
)

// unpack gives a directory with the files of dir, decompressed where they end in .xz.
func unpack(t *testing.T, dir string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "chk")
	if err := os.CopyFS(out, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(out, "*.xz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		in, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		r, err := xz.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		in.Close()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(strings.TrimSuffix(f, ".xz"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func find(t *testing.T, dir string, opt model.Options) []Finding {
	t.Helper()
	ctx := context.Background()
	s, _ := open(t, dir, opt)
	tree, err := s.ReadHeaders(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Run(ctx, s, tree, nil)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func only(t *testing.T, list []Finding, rule string) Finding {
	t.Helper()
	var found []Finding
	for _, f := range list {
		if f.Rule == rule {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d findings of %s, want 1", len(found), rule)
	}
	return found[0]
}

// TestIncidentGenerations: the first night, generation by generation. The
// numbers are those of each facts.txt.
func TestIncidentGenerations(t *testing.T) {
	root := filepath.Join(corpus.Dir(t), "incident", "consumer-to-source-1.15-p4")
	const sel = "61252f73469d3ffba207c548d29a0267/operator/topic-partition-offset-states"
	for _, c := range []struct {
		gen                       string
		entries, distinct, copies int64
		severity                  Severity
	}{
		{"gen-1", 48, 12, 4, Info}, {"gen-2", 192, 12, 16, Info}, {"gen-3", 768, 12, 64, Info}, {"gen-5", 12288, 12, 1024, Warn},
	} {
		list := find(t, filepath.Join(root, c.gen, "checkpoint"), model.Options{})
		f := only(t, list, "union-multiplied")
		if f.Severity != c.severity || f.Certainty != Proved || f.Selector() != sel || f.Evidence.Get("entries") != c.entries ||
			f.Evidence.Get("distinct") != c.distinct || f.Evidence.Get("copies") != c.copies {
			t.Errorf("%s: %v %v %s", c.gen, f.Severity, f.Evidence, f.Selector())
		}
		if next, _ := f.Evidence.Get("next").([]int64); len(next) != 2 || next[0] != 4*c.entries || next[1] != 16*c.entries {
			t.Errorf("%s: next %v", c.gen, next)
		}
		if len(f.Remedy) != 1 || f.Remedy[0] != sel {
			t.Errorf("%s: remedy %v", c.gen, f.Remedy)
		}
		if l := only(t, list, "legacy-state"); l.Severity != Warn || l.Selector() != sel {
			t.Errorf("%s: legacy-state %v", c.gen, l)
		}
	}
	for _, f := range find(t, filepath.Join(root, "gen-0", "checkpoint"), model.Options{}) {
		if f.Severity > Info {
			t.Errorf("the old consumer alone is healthy: %s %s", f.Rule, f.Cause)
		}
	}
}

// TestIncidentDropped: the generation that no longer restores. The JobManager's
// log had messages of 12,602,014 and 12,602,041 bytes.
func TestIncidentDropped(t *testing.T) {
	list := find(t, unpack(t, filepath.Join(corpus.Dir(t), "incident", "consumer-to-source-1.15-p4", "gen-9", "checkpoint")), model.Options{})
	d := only(t, list, "deployment-over-framesize")
	got, _ := d.Evidence.Get("message_bytes").(int64)
	if diff := float64(got)/12602041 - 1; d.Severity != Critical || diff > 0.02 || diff < -0.02 {
		t.Errorf("predicted %d, the log says 12,602,041; %v", got, d.Evidence)
	}
	if f := only(t, list, "union-multiplied"); f.Severity != Critical || f.Evidence.Get("entries") != int64(1572864) || f.Evidence.Get("distinct") != int64(12) {
		t.Errorf("union-multiplied %v %v", f.Severity, f.Evidence)
	}
	if len(d.Remedy) != 1 {
		t.Errorf("deployment-over-framesize has no remedy: %v", d.Remedy)
	}
}

// TestUnionInPart: of a store that is far away only the first elements of each
// subtask are read; they are the same after a restore.
func TestUnionInPart(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("..", "..", "conformance", "testdata", "incident", "gen-3-files", "checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	f := only(t, find(t, dir, model.Options{ReadAtMost: 12 << 10}), "union-multiplied")
	if f.Certainty != Likely || f.Evidence.Get("entries") != int64(768) || f.Evidence.Get("distinct") != nil || len(f.Remedy) != 1 ||
		!strings.Contains(f.Cause, "The first 400 of 768 entries of topic-partition-offset-states that were read hold 12 different ones, about 33 times each") {
		t.Errorf("%v %s %v", f.Certainty, f.Cause, f.Evidence)
	}
	if f := only(t, find(t, dir, model.Options{ReadAtMost: 1 << 20}), "union-multiplied"); f.Certainty != Proved {
		t.Errorf("what is short is read whole: %s", f.Cause)
	}
}

// TestFramesizeOne: with no floor the rule names each operator that restores anything.
func TestFramesizeOne(t *testing.T) {
	dir := filepath.Join(corpus.Dir(t), "incident", "consumer-to-source-1.15-p4", "gen-5", "checkpoint")
	n := 0
	for _, f := range find(t, dir, model.Options{FrameSize: 1}) {
		if f.Rule == "deployment-over-framesize" {
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d operators, want 3", n)
	}
}

// TestUnreadableUnion: without the state files the finding is likely, from counts.
func TestUnreadableUnion(t *testing.T) {
	dir := unpack(t, filepath.Join(corpus.Dir(t), "incident", "consumer-to-source-1.15-p4", "gen-5", "checkpoint"))
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name() != model.MetadataName {
			if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	list := find(t, dir, model.Options{})
	f := only(t, list, "union-multiplied")
	if f.Certainty != Likely || f.Evidence.Get("distinct") != nil {
		t.Errorf("%s %v", f.Certainty, f.Evidence)
	}
	m := only(t, list, "missing-file")
	if m.Severity != Critical || m.Evidence.Get("files") != int64(4) {
		t.Errorf("missing-file %v", m.Evidence)
	}
}

// TestFileProblems: an empty and a cut file.
func TestFileProblems(t *testing.T) {
	dir := unpack(t, filepath.Join(corpus.Dir(t), "incident", "consumer-to-source-1.15-p4", "gen-5", "checkpoint"))
	files, err := filepath.Glob(filepath.Join(dir, "*-*"))
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	for file, size := range map[string]int64{files[0]: 0, files[1]: 100} {
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
	}
	list := find(t, dir, model.Options{})
	for _, rule := range []string{"empty-file", "wrong-length"} {
		if f := only(t, list, rule); f.Severity != Critical || f.Evidence.Get("files") != int64(1) {
			t.Errorf("%s: %v", rule, f.Evidence)
		}
	}
}

// TestBrokenCompression: the snapshot of 1.18 that its own Flink cannot restore.
func TestBrokenCompression(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(corpus.Dir(t), "lab", "1.18-heap-snappy-broken", "checkpoints", "*", "chk-*"))
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	if f := only(t, find(t, dirs[0], model.Options{}), "broken-compression"); f.Severity != Critical {
		t.Errorf("%v", f)
	}
}

// TestIncidentFixtures: the incident that is in the repository, made with real
// Flink and Kafka: three restores at parallelism 4.
func TestIncidentFixtures(t *testing.T) {
	for gen, entries := range map[string]int64{"gen-1": 48, "gen-2": 192, "gen-3": 768, "gen-3-files": 768} {
		dir, err := filepath.Abs(filepath.Join("..", "..", "conformance", "testdata", "incident", gen))
		if err != nil {
			t.Fatal(err)
		}
		list := find(t, dir, model.Options{FrameSize: 4000})
		f := only(t, list, "union-multiplied")
		if f.Certainty != Proved || f.Severity != Critical || f.Evidence.Get("entries") != entries || f.Evidence.Get("distinct") != int64(12) {
			t.Errorf("%s: %v %v %v", gen, f.Severity, f.Certainty, f.Evidence)
		}
		if d := only(t, list, "legacy-state"); d.Selector() != f.Selector() {
			t.Errorf("%s: %s", gen, d.Selector())
		}
	}
}

// TestUnreadableStream: a state file of the right length with wrong bytes.
func TestUnreadableStream(t *testing.T) {
	fixture, err := filepath.Abs(filepath.Join("..", "..", "conformance", "testdata", "incident", "gen-3-files"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "chk-1")
	if err := os.CopyFS(dir, os.DirFS(fixture)); err != nil {
		t.Fatal(err)
	}
	spoiled := 0
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == model.MetadataName || !strings.Contains(d.Name(), "-") {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for i := range data {
			data[i] = byte(i*7 + 3)
		}
		spoiled++
		return os.WriteFile(p, data, 0o600)
	})
	if err != nil || spoiled == 0 {
		t.Fatal(spoiled, err)
	}
	found := false
	for _, f := range find(t, dir, model.Options{}) {
		found = found || f.Rule == "unreadable-stream" && f.Severity == Warn
	}
	if !found {
		t.Error("no finding unreadable-stream")
	}
}
