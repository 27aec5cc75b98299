package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixture is a small snapshot of the conformance job that is committed in testdata.
type fixture struct {
	name, minor, scenario string
	kind                  string // checkpoint, canonical or native
	options               string
}

const small = "upTo=100 keys=5 retained=1 maxParallelism=8 "

var fixtures = []fixture{
	{"v3-heap-checkpoint", "1.15", "basic", "checkpoint", small},
	{"v3-canonical-savepoint", "1.15", "basic", "canonical", small},
	{"v4-heap-checkpoint", "1.20", "basic", "checkpoint", small},
	{"v4-heap-inline", "1.20", "basic", "checkpoint", small + "threshold=20480"},
	{"v4-heap-snappy", "1.20", "basic", "checkpoint", small + "compression=true"},
	{"v4-canonical-savepoint", "1.20", "basic", "canonical", small},
	{"v4-rocks-incremental", "1.20", "basic", "checkpoint", small + few + "backend=rocksdb incremental=true throttle=20000"},
	{"v4-rocks-native-savepoint", "1.20", "basic", "native", small + few + "backend=rocksdb incremental=true"},
	{"v4-unaligned", "1.20", "unaligned", "checkpoint", small + "unaligned=true slow=8000 upTo=4000000000"},
	{"v4-changelog-heap", "1.20", "basic", "checkpoint", small + "changelog=true throttle=20000"},
	{"v4-finished", "1.20", "basic", "checkpoint", small + "finish=true"},
	{"v4-union-legacy", "1.20", "legacy", "checkpoint", small + "parallelism=3"},
	{"v6-heap-checkpoint", "2.1", "basic", "checkpoint", small},
	{"v6-file-merging", "2.1", "basic", "checkpoint", small + "filemerging=true"},
	{"v6-no-uids", "2.1", "multi", "checkpoint", small},
}

// few leaves the job four keyed states beside the timers: each is an SST file a subtask.
const few = "without=address,opaque,level,history,blob,tuple,aggregate,click-avro,session-ttl,sum "

// TestMakeFixtures makes testdata anew, only when asked to: CHKSCOPE_FIXTURES names an absolute directory that does not exist and is what
// the absolute paths in the fixtures will begin with. The committed ones were made with /flink.
func TestMakeFixtures(t *testing.T) {
	home := os.Getenv("CHKSCOPE_FIXTURES")
	if home == "" {
		t.Skip("makes testdata anew where CHKSCOPE_FIXTURES says how the paths inside shall begin, such as /flink")
	}
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	for _, x := range fixtures {
		t.Run(x.name, func(t *testing.T) { makeFixture(t, x, filepath.Join(home, x.name)) })
	}
	t.Run("incident", func(t *testing.T) { makeIncident(t, filepath.Join(home, "incident")) })
}

func makeFixture(t *testing.T, x fixture, dir string) {
	f := start(t, x.minor, "")
	options := strings.Fields(x.options)
	made := f.make(t, x.scenario, dir, append(options, fmt.Sprint("savepoints=", x.kind != "checkpoint"))...)
	snapshot := made.checkpoints[len(made.checkpoints)-1]
	switch x.kind {
	case "canonical":
		snapshot = made.canonical
	case "native":
		snapshot = made.native
	}
	claim := "claim=NO_CLAIM"
	if slices.Contains(options, "changelog=true") {
		claim = "claim=LEGACY" // NO_CLAIM needs a full snapshot, which the changelog backend has not
	}
	restoreOptions := append(without(options, "upTo=", "retained=", "throttle=", "slow="), claim)
	r, err := f.restore(x.scenario, snapshot, t.TempDir(), restoreOptions...)
	if err != nil {
		t.Fatal(err)
	}
	inside, _ := filepath.Rel(dir, snapshot)
	to := filepath.Join("testdata", x.name)
	os.RemoveAll(to)
	for _, sub := range keep(t, dir, inside, x.kind) {
		copyTree(t, filepath.Join(dir, sub), filepath.Join(to, sub))
	}
	writeLines(t, filepath.Join(to, "facts.txt"), r.facts)
	writeLines(t, filepath.Join(to, "names.txt"), f.names(t, snapshot))
	writeLines(t, filepath.Join(to, "about.txt"), []string{
		"made by Apache Flink " + x.minor + ": ./flink " + strings.Join([]string{x.minor, "make", x.scenario, dir, x.options}, " "),
		"snapshot: " + inside,
		"facts.txt: what the same Flink read from it; names.txt: what Flink's own loader and header readers see in it",
		"absolute paths inside: file:" + dir + " stands for this folder",
		"restore options used: scenario " + x.scenario + " " + strings.Join(restoreOptions, " "),
	})
}

// keep says which folders below dir belong to a snapshot: its own, and of a checkpoint what other checkpoints of the job may share.
func keep(t *testing.T, dir, inside, kind string) []string {
	folders := []string{inside}
	if kind != "checkpoint" {
		return folders
	}
	for _, pattern := range []string{"shared", "taskowned"} {
		folders = append(folders, filepath.Join(filepath.Dir(inside), pattern))
	}
	return slices.DeleteFunc(append(folders, "changelog"), func(p string) bool {
		found, _ := filepath.Glob(filepath.Join(dir, p, "*"))
		return found == nil
	})
}

func makeIncident(t *testing.T, dir string) {
	f := start(t, "1.15", "")
	answer, err := f.do("incident", dir)
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll("testdata/incident")
	about := []string{
		"The founding incident, made by Apache Flink 1.15.4 and a real Kafka broker: ./flink 1.15 incident " + dir,
		"gen-0 is a FlinkKafkaConsumer job, parallelism 4, topics orders (8 partitions) and payments (4). gen-1 to gen-3 are KafkaSource under the same",
		"uid, each restored from the one before: the union list topic-partition-offset-states, which nothing registers, has 12, 48, 192 and 768 elements.",
		"gen-3-files is gen-3 once more with every stream in a file of its own; all file handles are relative. uids: kafka-source, count, kafka-sink.",
		"names.txt: what Flink's own loader and header readers see in it.",
	}
	for _, a := range answer {
		name := strings.Split(strings.TrimPrefix(a[1], dir+"/"), "/")[0]
		to := filepath.Join("testdata/incident", name)
		copyTree(t, a[1], filepath.Join(to, "checkpoint"))
		writeLines(t, filepath.Join(to, "names.txt"), f.names(t, a[1]))
	}
	writeLines(t, "testdata/incident/about.txt", about)
}

func writeLines(t *testing.T, file string, l []string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(strings.Join(l, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
