package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestJudge: the judge sees a single flipped bit as one fact, wherever the value is.
func TestJudge(t *testing.T) {
	f := start(t, "1.20", "")
	s := f.make(t, "basic", filepath.Join(t.TempDir(), "source"), "upTo=300", "keys=12")
	sound, err := f.restore("basic", s.canonical, t.TempDir(), "keys=12")
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"subtask-1-element-3", newest(t, sound.facts, "spaced-"), newest(t, sound.facts, "session-")} {
		t.Run(value, func(t *testing.T) {
			dir := t.TempDir()
			copyTree(t, s.canonical, dir)
			flip(t, dir, value)
			r, err := f.restore("basic", dir, t.TempDir(), "keys=12")
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(sound.facts, r.facts); len(d) != 2 || !strings.Contains(d[0]+d[1], value) {
				t.Errorf("one fact should differ:\n%s", strings.Join(d, "\n"))
			}
		})
	}
}

// newest gives the value of prefix and the largest number: how far the job had come
// when the snapshot was taken is another in each run. It begins no other value.
func newest(t *testing.T, facts []string, prefix string) string {
	t.Helper()
	number := regexp.MustCompile("=" + prefix + `(\d+)$`)
	most := -1
	for _, fact := range facts {
		if m := number.FindStringSubmatch(fact); m != nil {
			n, _ := strconv.Atoi(m[1])
			most = max(most, n)
		}
	}
	if most < 0 {
		t.Fatalf("no value %sN in %d facts", prefix, len(facts))
	}
	return prefix + strconv.Itoa(most)
}

// flip changes the lowest bit of the last byte of a value that stands once in the files of a directory.
func flip(t *testing.T, dir, value string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	var places []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range strings.Count(string(b), value) {
			places = append(places, file)
		}
	}
	if len(places) != 1 {
		t.Fatalf("%s stands in %d places: %v", value, len(places), places)
	}
	b, _ := os.ReadFile(places[0])
	b[strings.Index(string(b), value)+len(value)-1] ^= 1
	if err := os.WriteFile(places[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
}
