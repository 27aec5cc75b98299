package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
)

// lab gives the folder of the corpus snapshots that the same job made, or skips.
func lab(t *testing.T) string {
	t.Helper()
	return filepath.Join(corpus.Dir(t), "lab")
}

// sample is a corpus snapshot with what its about.txt says of it.
type sample struct {
	snapshot string // directory with the _metadata
	home     string // directory that the absolute paths in it name; "" where there are none
	scenario string
	options  []string
	facts    []string
}

var (
	aboutSnapshot = regexp.MustCompile(`(?m)^snapshot: (.*)$`)
	aboutHome     = regexp.MustCompile(`(?m)^absolute paths inside: file:(\S+)`)
	aboutOptions  = regexp.MustCompile(`(?m)^restore options used: scenario (.*)$`)
)

// open copies a corpus folder to where the paths inside it point, and reads its about.txt and facts.txt.
func open(t *testing.T, folder string) sample {
	t.Helper()
	about, err := os.ReadFile(filepath.Join(folder, "about.txt"))
	if err != nil {
		t.Fatal(err)
	}
	field := func(re *regexp.Regexp) string {
		if m := re.FindSubmatch(about); m != nil {
			return strings.TrimSpace(string(m[1]))
		}
		return ""
	}
	s := sample{home: field(aboutHome)}
	if s.home == "" {
		s.home = filepath.Join(t.TempDir(), "snapshot")
	} else if _, err := os.Stat(s.home); err == nil {
		t.Skipf("%s must be copied to %s, which exists", folder, s.home)
	}
	t.Cleanup(func() { os.RemoveAll(s.home) })
	copyTree(t, folder, s.home)
	s.snapshot = filepath.Join(s.home, field(aboutSnapshot))
	words := strings.Fields(regexp.MustCompile(`=1\b`).ReplaceAllString(field(aboutOptions), "=true"))
	s.scenario, s.options = words[0], words[1:]
	if s.facts, err = lines(filepath.Join(folder, "facts.txt")); err != nil {
		t.Fatal(err)
	}
	return s
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.Walk(to, func(p string, i os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(p, i.Mode()|0o200)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestUneditedCorpus: the judge reads from each corpus snapshot what the program that made it read, and again from the restored job's
// own checkpoint.
func TestUneditedCorpus(t *testing.T) {
	folders, _ := filepath.Glob(filepath.Join(lab(t), "*"))
	for _, minor := range versions {
		for _, folder := range folders {
			name := filepath.Base(folder)
			wanted := extent == "full" || name == "1.20-heap-chk" || name == "1.20-heap-canonical" || extent == "part" && strings.HasPrefix(name, "1.20")
			if !strings.HasPrefix(name, minor+"-") || !wanted || strings.Contains(name, "-ha") || strings.Contains(name, "broken") {
				continue
			}
			t.Run(name, func(t *testing.T) {
				s := open(t, folder)
				f := start(t, minor, "")
				first, err := f.restore(s.scenario, s.snapshot, t.TempDir(), s.options...)
				if err != nil {
					t.Fatal(err)
				}
				if d := diff(s.facts, first.facts); d != nil {
					t.Errorf("facts differ from the corpus:\n%s", strings.Join(d, "\n"))
				}
				second, err := f.restore(s.scenario, first.checkpoint, t.TempDir(), s.options...)
				if err != nil {
					t.Fatalf("own checkpoint: %v", err)
				}
				if d := diff(lasting(first.facts), lasting(second.facts)); d != nil {
					t.Errorf("own checkpoint differs:\n%s", strings.Join(d, "\n"))
				}
			})
		}
	}
}

// lasting leaves out what the restored job itself changes until its own checkpoint: positions of sources, in-flight records.
func lasting(facts []string) []string { return without(facts, "source ", "inflight ") }
