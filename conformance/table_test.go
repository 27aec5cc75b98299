package conformance

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// table holds the results by row and version, in the order in which they came.
type table []*tableRow

type tableRow struct {
	group, title string
	cells        map[string]cell
}

func (tab *table) add(g group, r row, minor string, c cell) {
	for _, x := range *tab {
		if x.group == g.name && x.title == r.title() {
			x.cells[minor] = c
			return
		}
	}
	*tab = append(*tab, &tableRow{g.name, r.title(), map[string]cell{minor: c}})
}

// markdown draws the table, with a note for each cell that is not ok.
func (tab table) markdown() string {
	var s strings.Builder
	fmt.Fprintf(&s, "| snapshot | edit | %s |\n|---|---|%s\n", strings.Join(versions, " | "), strings.Repeat("---|", len(versions)))
	var notes []string
	for _, x := range tab {
		snapshot, edit, _ := strings.Cut(x.title, " ")
		fmt.Fprintf(&s, "| %s %s | %s |", x.group, snapshot, edit)
		for _, minor := range versions {
			c, ran := x.cells[minor]
			switch {
			case !ran:
				s.WriteString(" n/a |")
			case c.result == "ok":
				s.WriteString(" ok |")
			default:
				note := clean(c.why)
				i := slices.Index(notes, note)
				if i < 0 {
					i, notes = len(notes), append(notes, note)
				}
				fmt.Fprintf(&s, " %s (%d) |", c.result, i+1)
			}
		}
		s.WriteString("\n")
	}
	s.WriteString("\n")
	for i, n := range notes {
		fmt.Fprintf(&s, "%d. %s\n", i+1, n)
	}
	return s.String()
}

var (
	pathOf   = regexp.MustCompile(`(file:)?(/[\w.+-]+){2,}/`)
	randomID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}`)
)

// clean makes a reason the same in each run: no directories, no random names, not too long.
func clean(why string) string {
	why = strings.Join(strings.Fields(why), " ")
	why = randomID.ReplaceAllString(pathOf.ReplaceAllString(why, "…/"), "…")
	why = strings.ReplaceAll(why, "|", "\\|")
	if r := []rune(why); len(r) > 300 {
		why = string(r[:300]) + "…"
	}
	return why
}

// write puts the table between the two marks of a Markdown file.
func (tab table) write(t *testing.T, file string) {
	const from, to = "<!-- written by TestMatrix -->\n", "<!-- end -->"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), from)
	_, tail, closed := strings.Cut(rest, to)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table", file)
	}
	if err := os.WriteFile(file, []byte(head+from+tab.markdown()+to+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
