package conformance

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// table holds the results by Flink version and row.
type table map[string]map[string]cell

func (tab table) add(minor string, g group, r row, c cell) {
	if tab[minor] == nil {
		tab[minor] = map[string]cell{}
	}
	tab[minor][g.name+" "+r.title()] = c
}

// markdown draws the table, with a note for each cell that is not ok.
func (tab table) markdown() string {
	var s strings.Builder
	fmt.Fprintf(&s, "| snapshot | edit | %s |\n|---|---|%s\n", strings.Join(versions, " | "), strings.Repeat("---|", len(versions)))
	var notes []string
	for _, g := range groups {
		for _, r := range g.rows {
			fmt.Fprintf(&s, "| %s %s | %s |", g.name, r.snapshot, strings.TrimPrefix(r.title(), r.snapshot+" "))
			for _, minor := range versions {
				c, ran := tab[minor][g.name+" "+r.title()]
				switch {
				case !g.has(minor) || !r.has(minor):
					s.WriteString(" n/a |")
				case !ran:
					s.WriteString(" - |")
				case c.Result == "ok":
					s.WriteString(" ok |")
				default:
					i := slices.Index(notes, c.Why)
					if i < 0 {
						i, notes = len(notes), append(notes, c.Why)
					}
					fmt.Fprintf(&s, " %s (%d) |", c.Result, i+1)
				}
			}
			s.WriteString("\n")
		}
	}
	s.WriteString("\n")
	for i, n := range notes {
		fmt.Fprintf(&s, "%d. %s\n", i+1, n)
	}
	return s.String()
}

// kinds are the lines of the short table, in its order.
var kinds = []string{
	"an operator", "operator state: a name, or all", "operator state: emptied, its name kept", "operator state: elements, map entries, subtasks, duplicates",
	"keyed state: a name out of a canonical savepoint", "keyed state: a name out of a heap snapshot", "keyed state: a name inside RocksDB's files",
	"keyed state: single entries, timers", "Kafka topics and partitions of a KafkaSource", "keyed state: all of an operator", "coordinator state", "in-flight data", "copy, nothing removed", "Flink's own native RocksDB savepoint, moved",
}

// kind is the line of the short table that a row counts in.
func (g group) kind(r row) string {
	is := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(r.name, p) })
	}
	rocks := strings.Contains(g.options, "backend=rocksdb") && r.snapshot != "canonical"
	switch {
	case g.name == "kafka":
		return "Kafka topics and partitions of a KafkaSource"
	case r.copies == "none":
		return "Flink's own native RocksDB savepoint, moved"
	case r.drop == nil && r.oneOf == nil && r.entry == "":
		return "copy, nothing removed"
	case is("operator "):
		return "an operator"
	case is("op-full", "op-null"):
		return "operator state: a name, or all"
	case is("op-map"):
		return "operator state: emptied, its name kept"
	case is("coordinator"):
		return "coordinator state"
	case is("channels"):
		return "in-flight data"
	case is("keyed-null", "raw-keyed"):
		return "keyed state: all of an operator"
	case is("rocks-drop") || is("keyed-drop") && rocks:
		return "keyed state: a name inside RocksDB's files"
	case is("keyed-drop", "keyed-cut") && r.snapshot == "canonical":
		return "keyed state: a name out of a canonical savepoint"
	case is("keyed-drop", "keyed-cut"):
		return "keyed state: a name out of a heap snapshot"
	case strings.Contains(r.entry+strings.Join(r.drop, ""), "/keyed"):
		return "keyed state: single entries, timers"
	}
	return "operator state: elements, map entries, subtasks, duplicates"
}

// summary draws the short table: how many rows of each kind ended how.
func (tab table) summary() string {
	var s strings.Builder
	fmt.Fprintf(&s, "| what goes | %s |\n|---|%s\n", strings.Join(versions, " | "), strings.Repeat("---|", len(versions)))
	for _, kind := range kinds {
		fmt.Fprintf(&s, "| %s |", kind)
		for _, minor := range versions {
			fmt.Fprintf(&s, " %s |", tab.tally(minor, kind))
		}
		s.WriteString("\n")
	}
	return s.String()
}

// tally counts the results of a kind with one version.
func (tab table) tally(minor, kind string) string {
	counts := map[string]int{}
	for _, g := range groups {
		for _, r := range g.rows {
			if g.kind(r) != kind || !g.has(minor) || !r.has(minor) {
				continue
			}
			c, ran := tab[minor][g.name+" "+r.title()]
			if !ran {
				c.Result = "not run"
			}
			counts[c.Result]++
		}
	}
	var parts []string
	for _, result := range []string{"ok", "refused", "fails", "not run"} {
		if counts[result] > 0 {
			parts = append(parts, fmt.Sprint(counts[result], " ", result))
		}
	}
	switch {
	case parts == nil:
		return "n/a"
	case len(parts) == 1 && counts["not run"] > 0:
		return "-"
	}
	return strings.Join(parts, ", ")
}

var (
	causesOf = regexp.MustCompile(`Flink \d+\.\d+: .*`)
	pathOf   = regexp.MustCompile(`(file:)?(/[\w.+-]+){2,}/`)
	randomID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}`)
)

// clean makes a reason the same in each run: no directories, no random names, of a chain of causes the last, not too long.
func clean(why string) string {
	why = strings.Join(strings.Fields(why), " ")
	if causes := strings.Split(why, " <- "); len(causes) > 2 { // what it comes from
		why = causesOf.ReplaceAllString(causes[0], "") + causes[len(causes)-1]
	}
	why = randomID.ReplaceAllString(pathOf.ReplaceAllString(why, "…/"), "…")
	why = strings.ReplaceAll(why, "|", "\\|")
	if r := []rune(why); len(r) > 300 {
		why = string(r[:300]) + "…"
	}
	return why
}

// recorded reads matrix.json: each cell as it was last run.
func recorded(t *testing.T) table {
	t.Helper()
	b, err := os.ReadFile("matrix.json")
	if err != nil {
		t.Fatal(err)
	}
	tab := table{}
	if err := json.Unmarshal(b, &tab); err != nil {
		t.Fatal(err)
	}
	return tab
}

// write puts the cells of this run into matrix.json, takes out those of rows that are no more, and draws both tables.
func (tab table) write(t *testing.T) {
	t.Helper()
	all := recorded(t)
	for minor, cells := range tab {
		if all[minor] == nil {
			all[minor] = map[string]cell{}
		}
		maps.Copy(all[minor], cells)
	}
	for minor, cells := range all {
		maps.DeleteFunc(cells, func(key string, _ cell) bool { return !slices.Contains(keys(minor), key) })
	}
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("matrix.json", append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	for file, text := range all.drawn(t) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// keys are the cells that a version of Flink can have.
func keys(minor string) []string {
	var all []string
	for _, g := range groups {
		for _, r := range g.rows {
			if g.has(minor) && r.has(minor) {
				all = append(all, g.name+" "+r.title())
			}
		}
	}
	return all
}

// drawn gives the two files that hold a table, as they should be.
func (tab table) drawn(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for file, text := range map[string]string{"README.md": tab.markdown(), "../README.md": tab.summary()} {
		const begin, end = "<!-- matrix: begin -->\n", "<!-- matrix: end -->"
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, ok := strings.Cut(string(b), begin)
		_, tail, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no place for the table", file)
		}
		files[file] = head + begin + text + end + tail
	}
	return files
}

var update = flag.Bool("update", false, "draw the tables of both READMEs from matrix.json again")

// TestTables: the tables in both READMEs say what matrix.json says, and that says nothing of rows that are no more.
func TestTables(t *testing.T) {
	tab := recorded(t)
	if *update {
		table{}.write(t)
		return
	}
	for minor, cells := range tab {
		for key := range cells {
			if !slices.Contains(keys(minor), key) {
				t.Errorf("matrix.json has %q of Flink %s, and there is no such row", key, minor)
			}
		}
	}
	for file, text := range tab.drawn(t) {
		if b, err := os.ReadFile(file); err != nil || string(b) != text {
			t.Errorf("%s does not say what matrix.json says; renew with: go test ./conformance -run TestTables -update", file)
		}
	}
}
