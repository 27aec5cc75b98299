package ui

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chkscope/model"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

func TestMoving(t *testing.T) {
	x := openIncident(t, 80, 24)
	for _, step := range []struct{ keys, here string }{
		{"", "topic-partition-offset-states"}, // the largest named state, its operator open
		{"k", "kafka-source"},
		{"down", "topic-partition-offset-states"},
		{"j", "SourceReaderState"},
		{"g", "kafka-source"},
		{"G", "looks like a sink committer"},
		{"home", "kafka-source"},
		{"end", "looks like a sink committer"},
		{"pgup", "kafka-source"},
		{"ctrl+d", "kafka-sink"},
		{"ctrl+u", "kafka-source"},
		{"right", "topic-partition-offset-states"}, // open already: to its first child
		{"l", "topic-partition-offset-states"},     // opens
		{"l", "subtask 0"},
		{"h", "topic-partition-offset-states"}, // closed: to its parent
		{"left", "topic-partition-offset-states"},
		{"left", "kafka-source"},
		{"enter", "kafka-source"},
		{"j", "count"}, // it is closed
		{"k enter j", "topic-partition-offset-states"},
	} {
		x.press(step.keys)
		if got := x.here(); got != step.here {
			t.Fatalf("after %q the cursor is on %q, not %q\n%s", step.keys, got, step.here, x.text())
		}
	}
}

func TestNumbers(t *testing.T) {
	x := openIncident(t, 80, 24)
	x.press("g :")
	x.mustShow("row 1-7:")
	x.press("3 enter")
	if x.here() != "SourceReaderState" {
		t.Errorf("row 3 is %q", x.here())
	}
	x.press("g j right right :") // on subtask 0: its entries
	x.mustShow("entry 0-191:")
	x.typeIn("150")
	x.press("enter")
	if x.here() != "subtask 0 #150" {
		t.Errorf("on %q\n%s", x.here(), x.text())
	}
	x.mustShow("row 154/203")
	x.press("left")
	if x.here() != "subtask 0" {
		t.Errorf("left of an entry is %q", x.here())
	}
	x.press(":")
	x.typeIn("192")
	x.press("enter")
	x.mustShow(`no entry "192": they go from 0 to 191`)
}

// TestSuspendAnywhere: ctrl+z suspends whatever is on the screen.
func TestSuspendAnywhere(t *testing.T) {
	x := openIncident(t, 80, 24)
	for _, keys := range []string{"", "?", "esc / k", "esc x w"} {
		x.press(keys)
		_, cmd := x.Update(keyMsg("ctrl+z"))
		if cmd == nil || cmd() != (tea.SuspendMsg{}) {
			t.Errorf("after %q ctrl+z does not suspend", keys)
		}
	}
}

// TestTurnTwice: turning the tree and back goes to the same row, also where the
// other turn has only what holds it; a row gone to meanwhile is kept.
func TestTurnTwice(t *testing.T) {
	x := openIncident(t, 80, 24)
	state := x.here()
	for range 3 {
		x.press("t t")
		if x.here() != state {
			t.Fatalf("from %q to %q", state, x.here())
		}
	}
	x.press("right right down") // a subtask of the state
	cell := x.tree.here()
	x.press("t t")
	if x.tree.here() != cell {
		t.Errorf("from %v to %v", cell, x.tree.here())
	}
	x.press("t G")
	last := x.here()
	x.press("t t")
	if x.here() != last {
		t.Errorf("from %q to %q", last, x.here())
	}
}

func TestLensTurnSortPercentZoom(t *testing.T) {
	x := openIncident(t, 80, 24)
	x.mustShow("lens: state")
	x.press("m")
	x.mustShow("lens: files")
	x.press("m")
	x.mustShow("lens: metadata", "bookkeeping 6.1 KiB")
	x.press("t")
	x.mustShow("by subtask")
	if x.here() != "kafka-source" { // the state has no row here
		t.Errorf("turned to %q", x.here())
	}
	x.press("right right")
	x.mustShow("subtask 0", "topic-partition-offset-states")
	x.press("t s n")
	x.mustShow("by name")
	x.press("s n")
	x.mustShow("by name, reversed")
	x.press("s s")
	x.mustNotShow("by name")
	x.press("s c")
	x.mustShow("by count")
	x.press("%")
	x.mustShow("% of total")
	x.press("g z")
	x.mustShow("zoom: ")
	x.press("esc")
	x.mustNotShow("zoom: ")
	x.press("z backspace")
	x.mustNotShow("zoom: ")
}

func TestMarks(t *testing.T) {
	x := openIncident(t, 80, 24)
	x.press("space")
	if x.here() != "SourceReaderState" {
		t.Errorf("space did not move down: %q", x.here())
	}
	x.mustShow("marked 1 · 17.5 KiB", "✗   ▸ topic-partition", "~ ▾ kafka-source")
	x.press("up right right") // into the marked state
	x.mustShow("·     ▸ subtask 0")
	x.press("space")
	x.mustShow("covered: kafka-source / topic-partition-offset-states is marked already", "marked 1")
	x.press("u")
	x.mustNotShow("marked 1")
	x.press("ctrl+r")
	x.mustShow("marked 1")
	x.press("ctrl+r")
	x.mustShow("nothing to redo")
	x.press("u")

	// A range of entries is one mark; unmarking one of them leaves the rest.
	x.press("right right v j j j space")
	x.mustShow("marked 1")
	got := x.marks.set.Targets()
	if len(got) != 1 || got[0].Entries != (model.EntryRange{First: 0, Last: 3}) {
		t.Fatalf("the range marked %v", got)
	}
	x.press("k space")
	if s := fmt.Sprint(entries(x)); s != "[0-1 3]" {
		t.Errorf("after unmarking entry 2: %s", s)
	}
	x.press("u")
	if s := fmt.Sprint(entries(x)); s != "[0-3]" {
		t.Errorf("undone: %s", s)
	}
}

func entries(x *tester) (out []model.EntryRange) {
	for _, g := range x.marks.set.Targets() {
		out = append(out, g.Entries)
	}
	return out
}

func TestRangeOfRows(t *testing.T) {
	x := openIncident(t, 80, 24)
	x.press("g v j j j j space") // the operator, what is below it, and the next
	x.mustShow("2 rows marked")
	x.press("g v j j j j space")
	x.mustShow("2 rows unmarked")
	x.press("v j")
	x.mustShow("|")
	x.press("esc space")
	if n := x.marks.set.Len(); n != 1 {
		t.Errorf("%d marks after a range that was left", n)
	}
}

func TestFilter(t *testing.T) {
	x := openIncident(t, 80, 24)
	open := x.text()
	x.press("/")
	x.typeIn("committer")
	x.mustShow("filter: committer", "streaming_committer_raw_states", "kafka-sink")
	x.mustNotShow("topic-partition", "b71731f1")
	x.press("enter")
	x.mustShow(`filter "committer": 3 matches`)
	first := x.tree.cursor
	x.press("n n")
	if x.tree.cursor == first {
		t.Error("n does not move")
	}
	x.press("n")
	if x.tree.cursor != first {
		t.Errorf("after all matches n is on row %d, not %d again", x.tree.cursor, first)
	}
	x.press("N n")
	if x.tree.cursor != first {
		t.Errorf("N and n: row %d", x.tree.cursor)
	}
	x.press("*")
	x.mustShow("2 rows marked") // one match is below another one
	x.press("u esc")
	x.press("g j")
	if got := x.text(); got != open {
		t.Errorf("expansion is not as before the filter:\n%s", got)
	}
	x.press("*")
	x.mustShow("without a filter * marks nothing")
	x.press("/")
	x.typeIn("sink")
	x.press("esc")
	x.mustNotShow("filter:", `filter "`)
}

func TestFindings(t *testing.T) {
	x := openIncident(t, 80, 24)
	x.press("G f")
	x.mustShow("finding 1 of 5: legacy-state")
	if x.here() != "topic-partition-offset-states" {
		t.Errorf("f went to %q", x.here())
	}
	x.press("f f")
	if x.here() != "streaming_committer_raw_states" {
		t.Errorf("the third finding is on %q", x.here())
	}
	x.press("F F x")
	x.mustShow("marked the remedy of legacy-state", "marked 1")
	x.press("x")
	x.mustShow("marked already")
	x.press("! G enter")
	x.mustShow("version-lint", "was written by Flink 1.11 to 1.15")
	x.press("x")
	x.mustShow("version-lint has no remedy that can be marked")
	x.press("j")
	x.mustNotShow("was written by Flink 1.11 to 1.15")
	x.press("! g i")
	x.mustShow("details", "selector")
	x.press("esc esc")
	x.mustShow("lens:")
}

func TestEntries(t *testing.T) {
	x := openIncident(t, 100, 24)
	x.press("right right right j")
	x.mustShow("orders 6  last_read=139", `{topic="orders", partition=2, last_read=59}`, "FlinkKafkaConsumer", "23 bytes at")
	x.press("i")
	x.mustShow("entry 0", "57 01 85 99 98 ff")

	x.press("esc left D")
	x.mustShow("equal entries of kafka-source / topic-partition-offset-states", "192 entries, 12 different", "16 x {topic=")
	x.press("esc left left D")
	x.mustShow("768 entries, 12 different", "64 x {topic=")

	// Entries of a broadcast map, and of keyed state once it is counted.
	st := &memStore{files: map[string][]byte{}}
	st.load(t, "../conformance/testdata/v4-canonical-savepoint", "file:/flink/savepoint")
	dir := ""
	for name := range st.files {
		if strings.HasSuffix(name, "/_metadata") {
			dir = strings.TrimSuffix(name, "/_metadata")
		}
	}
	x = newTester(t, st, dir, 100, 24)
	x.press("/")
	x.typeIn("broadcast")
	x.press("enter right right right j")
	x.mustShow("rule-4 = {")
	x.press("D")
	x.mustShow("different", "rule-4 = {")
	x.press("esc")
	x.press("esc /")
	x.typeIn("per-product")
	x.press("enter right right right")
	x.mustShow("its entries are not counted yet: c counts them")
	x.press("c")
	x.mustShow("counted ")
	x.press("right right")
	x.mustShow("key group", "3 / product-3 = 20")
	x.press("K")
	x.typeIn("3")
	x.press("enter")
	x.mustShow("key 3 in 9c32e3838cee893dbb2fc90ccad79598 / per-product ─", "read key group 1 of 1 stream", "product-3 = 20", "entry 0 of subtask 0, key group 1,")
	x.press("esc K")
	x.typeIn("0x0000000000000003")
	x.press("enter")
	x.mustShow("key 0x0000000000000003 in")
	x.press("esc K")
	x.typeIn("77")
	x.press("enter")
	x.mustShow("no key 77 in")
	x.press("left left left i")
	x.mustShow("key groups", "hold entries", "largest", "key 3: ")
	x.press("esc right right right right")
	x.press("space")
	x.mustShow("marked 1")
	x.press("tab")
	x.mustShow("per-product / subtask 0 / entry 0, 1 entry", "1 entry of per-product, such as: key 3, map_key product-3, value 20")
}

// TestKeyOfAllNames: a key is found below the row for all names, and where
// nothing can be read that is said, not that there is none.
func TestKeyOfAllNames(t *testing.T) {
	for _, snapshot := range []struct{ dir, want string }{
		{"v4-heap-checkpoint", "key 3 in "},
		{"v4-rocks-incremental", "keys in RocksDB's files or a changelog cannot be looked for"},
	} {
		st := &memStore{files: map[string][]byte{}}
		st.load(t, "../conformance/testdata/"+snapshot.dir, "file:/flink/"+snapshot.dir)
		for name := range st.files {
			if strings.HasSuffix(name, "/_metadata") {
				x := newTester(t, st, strings.TrimSuffix(name, "/_metadata"), 100, 24)
				x.mustShow(">", "keyed state")
				x.press("K")
				x.typeIn("3")
				x.press("enter")
				x.mustShow(snapshot.want)
			}
		}
	}
}

// TestMarkedSplit: a split that is marked goes on both sides of a KafkaSource, and
// a broadcast entry in every subtask.
func TestMarkedSplit(t *testing.T) {
	x := openIncident(t, 100, 40)
	x.press("/")
	x.typeIn("SourceReaderState")
	x.press("enter right right right j")
	x.mustShow("KafkaSource split")
	x.press("space tab")
	x.mustShow("SourceReaderState / subtask 0 / entry 0, 1 entry", "coordinator state, 1 entry, the enumerator would believe", "Both sides of the source are edited", "by name or by pattern, they come")
}

func TestCopy(t *testing.T) {
	x := openIncident(t, 80, 24)
	x.press("y")
	if want := "61252f73469d3ffba207c548d29a0267/operator/topic-partition-offset-states"; x.copied != want {
		t.Errorf("copied %q", x.copied)
	}
	x.mustShow("copied: 61252f73469d3ffba207c548d29a0267/operator")
	x.press("right right Y")
	if want := "c19ce108-142d-4bce-9fb8-08c46287696e"; x.copied != want {
		t.Errorf("copied %q", x.copied)
	}
	x.press("g Y")
	if want := "61252f73469d3ffba207c548d29a0267"; x.copied != want {
		t.Errorf("copied %q", x.copied)
	}
}

func TestSavedMarks(t *testing.T) {
	st, dir := incident(t), t.TempDir()
	at := func(c *Config) { c.StateDir = dir }
	x := newTester(t, st, incidentDir, 80, 24, at)
	x.press("space j j space")
	x.fire()
	x = newTester(t, st, incidentDir, 80, 24, at)
	x.mustShow("2 marks saved for this checkpoint on 2026-03-04 03:12", "Enter take them")
	x.press("esc")
	if x.marks.set.Len() != 0 {
		t.Error("Esc took the marks")
	}
	x = newTester(t, st, incidentDir, 80, 24, at)
	x.press("enter")
	x.mustShow("marked 2")
	x.press("u")
	x.fire()
	x = newTester(t, st, incidentDir, 80, 24, at)
	x.mustNotShow("saved for this checkpoint")
	// Another checkpoint at the same place is not offered these marks.
	x.press("space")
	x.fire()
	st.files[incidentDir+"/_metadata"] = append([]byte{}, st.files[incidentDir+"/_metadata"]...)
	st.files[incidentDir+"/_metadata"][15] ^= 1 // its number
	x = newTester(t, st, incidentDir, 80, 24, at)
	x.mustNotShow("saved for this checkpoint")
}

func TestMarksAreSavedWhenTheProgramEnds(t *testing.T) {
	st, dir := incident(t), t.TempDir()
	x := newTester(t, st, incidentDir, 80, 24, func(c *Config) { c.StateDir = dir })
	x.press("space")
	x.send(hangupMsg{})
	if err := x.finish(nil); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "marks-*.json")); len(files) != 1 {
		t.Errorf("saved: %v", files)
	}
}

func TestQuit(t *testing.T) {
	x := openIncident(t, 80, 24)
	x.press("space q")
	x.mustShow("Quit? 1 row marked and not written")
	x.press("esc")
	if x.leaving {
		t.Fatal("Esc left the program")
	}
	x.press("esc esc esc esc")
	if x.leaving {
		t.Fatal("Esc left the program")
	}
	x.press("q q")
	if !x.leaving {
		t.Error("q q did not leave")
	}
	x = openIncident(t, 80, 24)
	x.press("ctrl+c")
	if !x.leaving {
		t.Error("without marks ctrl+c leaves at once")
	}
}

func TestChoose(t *testing.T) {
	x := openJob(t, 80, 24)
	x.mustShow("> chk-9", "incomplete")
	x.press("esc G enter")
	x.mustShow("has no _metadata")
	x.press("g j enter")
	x.mustShow("chk-8", "topic-partition-offset-states")
}

func TestDamage(t *testing.T) {
	x := openDamaged(t, 80, 24)
	x.mustShow("INCOMPLETE", "damaged, shown up to there, cannot be pruned")
	x.wait(3 * time.Minute)
	x.mustShow("(3 min ago)")
	x.press("space")
	x.mustShow("a damaged one is not pruned")
	x.press("E")
	x.mustShow("damaged, shown up to there")
}

func TestCannotOpen(t *testing.T) {
	x := newTester(t, incident(t), "file:/nowhere", 80, 24)
	if !x.leaving || !errors.Is(x.openErr, model.ErrNotExist) {
		t.Errorf("leaving %v, error %v", x.leaving, x.openErr)
	}
}

// slowStore holds reading back until told.
type slowStore struct {
	*memStore
	gate chan struct{}
}

func (s slowStore) Open(ctx context.Context, uri string) (model.Object, error) {
	select {
	case <-s.gate:
		return s.memStore.Open(ctx, uri)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestLoadingCanBeCancelled(t *testing.T) {
	st := slowStore{incident(t), make(chan struct{})}
	cfg := Config{Store: st, URI: incidentDir}
	a := newApp(t.Context(), cfg)
	x := &tester{TB: t, App: a, clock: testTime}
	x.now = func() time.Time { return x.clock }
	x.later = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	x.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	cmd := a.open(incidentDir)
	end := make(chan tea.Msg)
	go func() { end <- cmd() }()
	x.mustShow("opening /flink/checkpoints", "Esc cancels, q quits")
	x.press("esc")
	x.send(<-end)
	x.mustShow("cancelled.", "Enter open it again", "q quit")
	x.press("esc") // never the program
	if x.leaving {
		t.Fatal("Esc left the program")
	}
	close(st.gate)
	x.press("enter")
	x.mustShow("topic-partition-offset-states")
}

// TestNoticesOfTheStore: what a storage says stands on the status line beside
// what runs, counted, and does not hide an error.
func TestNoticesOfTheStore(t *testing.T) {
	x := openIncident(t, 80, 24)
	const slow = "S3 asks to slow down: trying again"
	x.send(noticesMsg{slow, slow})
	x.send(noticesMsg{slow})
	x.mustShow(slow + " (3 times)")
	j, _ := x.begin("opening s3://b/k", "")
	x.clock = x.clock.Add(time.Second)
	x.mustShow("again (3 times) · opening s3://b/k")
	x.end(j)
	x.press("j")
	x.mustNotShow("slow down")
	x.fail("something was lost")
	x.send(noticesMsg{"the connection to S3 was cut: trying again"})
	x.mustShow("! something was lost")
	x.press("E")
	x.mustShow(slow+" (3 times)", "was cut: trying again", "something was lost")
}

// TestTraffic: the details say what was asked of the store.
func TestTraffic(t *testing.T) {
	x := openIncident(t, 80, 24)
	x.cfg.Traffic = func() (int64, int64, int64) { return 1234, 5 << 20, 0 }
	x.press("i G")
	x.mustShow("Asked of the store so far: 1,234 requests, 5.0 MiB read")
}

func TestTooSmall(t *testing.T) {
	x := openIncident(t, 39, 24)
	x.mustShow("chkscope needs 40x8, this is 39x24")
	x.press("q") // keys wait
	if x.leaving {
		t.Error("a key did something that could not be seen")
	}
	x.send(tea.WindowSizeMsg{Width: 40, Height: 8})
	x.mustShow("topic-partition")
	lines, _ := x.screen()
	checkShape(t, lines, 40, 8)
}

// TestEverySize draws all screens in many sizes: nothing may be too wide, too
// long, or fall over.
func TestEverySize(t *testing.T) {
	for _, s := range screens {
		x := s.open(t, 80, 24)
		s.do(x)
		for w := 1; w <= 210; w += 7 {
			for h := 1; h <= 60; h += 5 {
				x.send(tea.WindowSizeMsg{Width: w, Height: h})
				lines, _ := x.screen()
				checkShape(t, lines, w, h)
				if t.Failed() {
					t.Fatalf("%s at %dx%d", s.name, w, h)
				}
			}
		}
	}
}

func TestColourProfile(t *testing.T) {
	for _, c := range []struct {
		choice, term, noColor string
		want                  colorprofile.Profile
	}{
		{"auto", "xterm-256color", "", colorprofile.ANSI},
		{"auto", "xterm-256color", "1", colorprofile.ASCII},
		{"auto", "xterm-256color", "false", colorprofile.ASCII},
		{"auto", "xterm-256color", "0", colorprofile.ASCII},
		{"auto", "linux", "", colorprofile.ANSI},
		{"auto", "screen", "", colorprofile.ANSI},
		{"auto", "vt100", "", colorprofile.ASCII},
		{"auto", "", "", colorprofile.ASCII},
		{"always", "xterm", "1", colorprofile.ANSI},
		{"never", "xterm", "", colorprofile.ASCII},
	} {
		env := map[string]string{"TERM": c.term, "NO_COLOR": c.noColor}
		if got := colorProfile(c.choice, func(s string) string { return env[s] }); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestNeedsASCII(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"LANG": "en_US.UTF-8"}, false},
		{map[string]string{"LANG": "C.utf8"}, false},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "C"}, true},
		{map[string]string{"LANG": "C", "LC_CTYPE": "C.UTF-8"}, false},
		{map[string]string{}, true},
		{map[string]string{"LANG": "en_US.UTF-8", "TERM": "linux"}, true},
		{map[string]string{"LANG": "en_US.UTF-8", "TERM": "screen"}, false},
	} {
		if got := needsASCII(func(s string) string { return c.env[s] }); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}

// TestASCIIOnly: with --ascii nothing else reaches the terminal.
func TestASCIIOnly(t *testing.T) {
	for _, s := range screens {
		x := s.open(t, 80, 24)
		x.cfg.ASCII, x.theme = true, newTheme(true)
		s.do(x)
		for i, l := range strings.Split(x.View().Content, "\n") {
			for _, r := range l {
				if r > 0x7e {
					t.Errorf("%s, line %d: %q", s.name, i+1, l)
					break
				}
			}
		}
	}
}

// TestOpensAtTheTop: where the cursor is sent to the largest state and that fits
// on the first screen, the rows above it are on the screen too.
func TestOpensAtTheTop(t *testing.T) {
	x := openIncident(t, 80, 10) // fewer lines than rows
	if x.tree.cursor == 0 || x.tree.list.total() <= int64(x.tree.height) {
		t.Fatalf("cursor %d of %d rows on %d lines: not the case that is meant", x.tree.cursor, x.tree.list.total(), x.tree.height)
	}
	if x.tree.top != 0 {
		t.Errorf("the first row on the screen is %d, and the cursor is at %d", x.tree.top, x.tree.cursor)
	}
}
