package ui

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"chkscope/model/prune"

	"github.com/charmbracelet/colorprofile"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	code := m.Run()
	os.RemoveAll(programDir)
	os.Exit(code)
}

var goldenSizes = [][2]int{{60, 20}, {80, 24}, {120, 40}, {200, 50}}

// screens are all screens that there are, each after the keys that lead to it.
var screens = []struct {
	name string
	open func(t testing.TB, w, h int) *tester
	do   func(x *tester)
}{
	{"tree", openIncident, func(x *tester) {}},
	{"all-open", openIncident, func(x *tester) { x.press("g j h right j j j right G right G right") }},
	{"files-lens-by-subtask", openIncident, func(x *tester) { x.press("m t g right j right %") }},
	{"elements", openIncident, func(x *tester) { x.press("right right right j j") }},
	{"marks", openIncident, func(x *tester) { x.press("space right right v j j space G space") }},
	{"filter", openIncident, func(x *tester) {
		x.press("/")
		x.typeIn("state")
		x.press("enter *")
	}},
	{"filter-typing", openIncident, func(x *tester) {
		x.press("/")
		x.typeIn("sink")
	}},
	{"filter-nothing", openIncident, func(x *tester) {
		x.press("/")
		x.typeIn("no such thing")
		x.press("enter")
	}},
	{"zoom-sorted", openIncident, func(x *tester) { x.press("g z s n s n v j") }},
	{"sort-prompt", openIncident, func(x *tester) { x.press("s") }},
	{"findings", openIncident, func(x *tester) { x.press("! j") }},
	{"details", openIncident, func(x *tester) { x.press("i") }},
	{"details-element", openIncident, func(x *tester) { x.press("right right right j i") }},
	{"plan", openIncident, func(x *tester) { x.press("f x tab") }},
	{"plan-refused", openIncident, func(x *tester) {
		x.press("/")
		x.typeIn("coordinator")
		x.press("enter space tab")
	}},
	{"save-plan", openIncident, func(x *tester) { x.press("f x tab s") }},
	{"write", openIncident, func(x *tester) { x.press("f x w") }},
	{"progress", openIncident, writeHalfway},
	{"result", openIncident, writeAll},
	{"write-failed", openIncident, func(x *tester) {
		writeAll(x)
		x.press("esc w")
		x.wait(time.Second)
		x.press("up backspace backspace down") // to where the copy is
		x.confirm()
	}},
	{"help", openIncident, func(x *tester) { x.press("?") }},
	{"help-search", openIncident, func(x *tester) {
		x.press("?")
		x.typeIn("mark")
	}},
	{"log", openIncident, func(x *tester) { x.press("y u f x E") }},
	{"quit", openIncident, func(x *tester) { x.press("f x q") }},
	{"choose", openJob, func(x *tester) { x.press("j") }},
	{"choose-pointed", openPointed, func(x *tester) {}},
	{"damaged", openDamaged, func(x *tester) {}},
	{"hostile-names", openHostile, func(x *tester) { x.press("right right") }},
	{"ascii", openASCII, func(x *tester) { x.press("f x g j") }},
	{"read-only-help", openReadOnly, func(x *tester) {
		x.press("?")
		x.typeIn("writ")
	}},
}

func TestScreens(t *testing.T) {
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			var plain, colour bytes.Buffer
			for _, size := range goldenSizes {
				x := s.open(t, size[0], size[1])
				s.do(x)
				lines, cursor := x.screen()
				checkShape(t, lines, size[0], size[1])
				head := fmt.Sprintf("== %dx%d", size[0], size[1])
				if cursor != nil {
					head += fmt.Sprintf(" cursor %d,%d", cursor.X, cursor.Y)
				}
				fmt.Fprintln(&plain, head)
				fmt.Fprintln(&colour, head)
				for _, l := range lines {
					fmt.Fprintln(&plain, visible(l, colorprofile.ASCII))
					fmt.Fprintln(&colour, visible(l, colorprofile.ANSI))
				}
			}
			golden(t, s.name+".txt", plain.Bytes())
			golden(t, s.name+".colour.txt", colour.Bytes())
		})
	}
}

// checkShape: a screen is exactly as large as the terminal.
func checkShape(t testing.TB, lines []string, w, h int) {
	t.Helper()
	if len(lines) != h {
		t.Errorf("%dx%d: %d lines", w, h, len(lines))
	}
	for i, l := range lines {
		if n := width(strip(l)); n > w {
			t.Errorf("%dx%d: line %d has %d cells: %q", w, h, i, n, strip(l))
		}
	}
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// visible is a line as a terminal with this profile gets it, escape sequences
// shown as {1;31}.
func visible(line string, p colorprofile.Profile) string {
	var b bytes.Buffer
	w := colorprofile.Writer{Forward: &b, Profile: p}
	w.Write([]byte(line))
	return strings.TrimRight(sgr.ReplaceAllString(b.String(), "{$1}"), " ")
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "screens", name)
	if *update {
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test ./ui -update writes it)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not as it was; look at it, then go test ./ui -update\n%s", name, firstDifference(string(want), string(got)))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\nwas: %s\nis:  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("%d lines, were %d", len(g), len(w))
}

func openIncident(t testing.TB, w, h int) *tester {
	return newTester(t, incident(t), incidentDir, w, h)
}

func openASCII(t testing.TB, w, h int) *tester {
	return newTester(t, incident(t), incidentDir, w, h, func(c *Config) { c.ASCII = true })
}

func openReadOnly(t testing.TB, w, h int) *tester {
	return newTester(t, incident(t), incidentDir, w, h, func(c *Config) { c.ReadOnly = true })
}

// openJob opens a job's directory with several checkpoints.
func openJob(t testing.TB, w, h int) *tester {
	st := incident(t)
	const job = "file:/flink/checkpoints/5e2515d36048db6c91c3dbde4f3a5449"
	for _, n := range []string{"chk-7", "chk-8"} {
		st.files[job+"/"+n+"/_metadata"] = st.files[incidentDir+"/_metadata"]
	}
	st.files[job+"/chk-10/_metadata"] = nil
	delete(st.files, job+"/chk-10/_metadata")
	st.files[job+"/chk-10/8ee40c77"] = []byte("half")
	return newTester(t, st, job, w, h)
}

// openDamaged opens a checkpoint that is cut off.
func openDamaged(t testing.TB, w, h int) *tester {
	st := incident(t)
	b := st.files[incidentDir+"/_metadata"]
	st.files[incidentDir+"/_metadata"] = b[:len(b)*2/3]
	return newTester(t, st, incidentDir, w, h)
}

// openHostile opens a checkpoint whose names would write to the terminal.
func openHostile(t testing.TB, w, h int) *tester {
	c := wideCheckpoint(1, 4, 2)
	for k := range c.Operators[0].Subtasks {
		h := c.Operators[0].Subtasks[k].State.ManagedOperator
		for i, name := range []string{"\x1b]0;owned\x07\x1b[2J", "right\u202eleft\u200b", "状態の名前は幅が二つ分あります", "plain"} {
			h.States[i].Name = name
		}
	}
	return newTester(t, synthetic(t, c), syntheticDir, w, h)
}

// confirm types the word into the write dialog and goes.
func (x *tester) confirm() {
	x.wait(time.Second)
	x.typeIn(confirmWord)
	x.press("enter")
}

func writeAll(x *tester) {
	x.press("f x w")
	x.confirm()
}

// writeHalfway shows the progress of a write that stands still.
func writeHalfway(x *tester) {
	x.press("f x w")
	x.wait(time.Second)
	x.typeIn(confirmWord)
	x.Update(keyMsg("enter")) // the write itself does not run
	x.done.Done()
	x.writer.progress.Store(&prune.Progress{Phase: "files", BytesDone: 700 << 20, BytesAll: 2 << 30, FilesDone: 12, FilesAll: 40})
	x.screen()
	x.wait(7 * time.Second)
}
