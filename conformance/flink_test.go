package conformance

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// versions are the minor versions of Flink that can be built, each a profile in pom.xml.
var versions = []string{"1.13", "1.15", "1.18", "1.20", "2.1", "2.3"}

// extent says how much the tests do: "" (the judge and the incident), "part" or "full".
var extent = os.Getenv("CHKSCOPE_CONFORMANCE")

// flink is the Java program running with one version of Flink, taking commands.
type flink struct {
	minor, without string
	cmd            *exec.Cmd
	in             io.WriteCloser
	out            chan string
	ended          bool
}

// jvms are those that no test uses. Each holds 1.5 GB.
var jvms struct {
	sync.Mutex
	idle []*flink
}

// scratch lives as long as the tests.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "conformance"); err != nil {
		panic(err)
	}
	code := m.Run()
	for _, f := range jvms.idle {
		f.stop()
	}
	os.RemoveAll(scratch)
	os.Exit(code)
}

// start gives the program with a version of Flink until the test ends, built where needed. Jars whose names hold the word without are left out of
// the class path.
func start(t *testing.T, minor, without string) *flink {
	t.Helper()
	jvms.Lock()
	defer jvms.Unlock()
	f := idle(minor, without)
	if f == nil {
		build(t, minor)
		f = launch(t, minor, without)
	}
	t.Cleanup(func() {
		jvms.Lock()
		defer jvms.Unlock()
		if !f.ended {
			jvms.idle = append(jvms.idle, f)
		}
	})
	return f
}

// idle takes a JVM that does nothing, or ends those that are for something else.
func idle(minor, without string) *flink {
	for i, f := range jvms.idle {
		if f.minor == minor && f.without == without {
			jvms.idle = slices.Delete(jvms.idle, i, i+1)
			return f
		}
	}
	for _, f := range jvms.idle {
		f.stop()
	}
	jvms.idle = nil
	return nil
}

func launch(t *testing.T, minor, without string) *flink {
	t.Helper()
	f := &flink{minor: minor, without: without, out: make(chan string, 64)}
	f.cmd = exec.Command("./flink", minor)
	f.cmd.Env = append(os.Environ(), "FLINK_WITHOUT="+without, "TMPDIR="+scratch)
	f.cmd.Stderr = os.Stderr
	var err error
	if f.in, err = f.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(f.out)
		for s := bufio.NewScanner(out); s.Scan(); {
			f.out <- s.Text()
		}
	}()
	return f
}

func (f *flink) stop() {
	f.ended = true
	f.in.Close()
	f.cmd.Process.Kill()
	f.cmd.Wait()
}

// build compiles the program for a version of Flink if it is not, or if a source is newer.
func build(t *testing.T, minor string) {
	t.Helper()
	if testing.Short() {
		t.Skip("real Flink is not run with -short")
	}
	for _, tool := range []string{"java", "mvn", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs Java 11 or 17 and Maven to run real Flink: %v", err)
		}
	}
	built, err := os.Stat(filepath.Join("target", "flink-"+minor, "classpath"))
	sources, _ := filepath.Glob("src/main/java/*.java")
	more, _ := filepath.Glob("src/main/java/*/*.java")
	stale := err != nil
	for _, s := range append(append(sources, more...), "pom.xml") {
		if i, e := os.Stat(s); !stale && e == nil {
			stale = i.ModTime().After(built.ModTime())
		}
	}
	if !stale {
		return
	}
	os.Remove(filepath.Join("target", "flink-"+minor, "classpath"))
	cmd := exec.Command("mvn", "-B", "-q", "-P", "flink-"+minor, "package")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("Maven cannot build the conformance program with Flink %s: %v\n%s", minor, err, out)
	}
}

// do runs one command and gives its answer, lines of key and value.
func (f *flink) do(words ...string) ([][2]string, error) {
	for _, w := range words {
		if strings.ContainsAny(w, " \t\n") || w == "" {
			return nil, fmt.Errorf("a command has no such word: %q", w)
		}
	}
	if _, err := fmt.Fprintln(f.in, strings.Join(words, " ")); err != nil {
		return nil, err
	}
	late := time.After(3 * time.Minute)
	var answer [][2]string
	for {
		select {
		case line, open := <-f.out:
			key, value, _ := strings.Cut(line, "\t")
			switch {
			case !open:
				f.stop()
				return nil, fmt.Errorf("Flink %s: the JVM ended", f.minor)
			case key == "ok":
				return answer, nil
			case key == "failed":
				return nil, fmt.Errorf("Flink %s: %s", f.minor, value)
			}
			answer = append(answer, [2]string{key, value})
		case <-late:
			f.stop()
			return nil, fmt.Errorf("Flink %s: no answer to %v", f.minor, words)
		}
	}
}

// snapshots are directories with a _metadata.
type snapshots struct {
	checkpoints       []string // the oldest first
	canonical, native string
}

// make runs a job that leaves snapshots below dir.
func (f *flink) make(t *testing.T, scenario, dir string, options ...string) snapshots {
	t.Helper()
	answer, err := f.do(append([]string{"make", scenario, dir}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	var s snapshots
	for _, a := range answer {
		switch a[0] {
		case "checkpoint":
			s.checkpoints = append(s.checkpoints, a[1])
		case "canonical":
			s.canonical = a[1]
		case "native":
			s.native = a[1]
		}
	}
	return s
}

// restored is what Flink read from a snapshot, and the checkpoint that the restored job then took.
type restored struct {
	facts      []string
	checkpoint string
}

// restore restores a snapshot by the job that made it. The job's own checkpoints go below dir.
func (f *flink) restore(scenario, snapshot, dir string, options ...string) (restored, error) {
	answer, err := f.do(append([]string{"restore", scenario, snapshot, dir}, options...)...)
	if err != nil {
		return restored{}, err
	}
	facts, err := lines(filepath.Join(dir, "facts.txt"))
	return restored{facts, answer[len(answer)-1][1]}, err
}

// recover is restore as a new JobManager does it, from high availability in dir.
func (f *flink) recover(scenario, dir string, options ...string) (restored, error) {
	answer, err := f.do(append([]string{"recover", scenario, dir}, options...)...)
	if err != nil {
		return restored{}, err
	}
	facts, err := lines(filepath.Join(dir, "facts.txt"))
	return restored{facts, answer[len(answer)-1][1]}, err
}

// names gives the state names in a snapshot as Flink's own loader reads them.
func (f *flink) names(t *testing.T, snapshot string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "names.txt")
	if _, err := f.do("names", snapshot, file); err != nil {
		t.Fatal(err)
	}
	l, err := lines(file)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func lines(file string) ([]string, error) {
	b, err := os.ReadFile(file)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"), nil
}

// diff gives the facts that only a or only b holds, marked - and +, at most 20.
func diff(a, b []string) []string {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	var d []string
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			d, a = append(d, "- "+a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			d, b = append(d, "+ "+b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
		if len(d) == 20 {
			return append(d, "…")
		}
	}
	return d
}

// without leaves out the facts that begin with one of the prefixes.
func without(facts []string, prefixes ...string) []string {
	return slices.DeleteFunc(slices.Clone(facts), func(f string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(f, p) })
	})
}
