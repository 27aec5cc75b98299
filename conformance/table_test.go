package conformance

import (
	"encoding/json"
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
				case tab[minor] == nil:
					s.WriteString(" - |")
				case !ran:
					s.WriteString(" n/a |")
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

// write keeps the columns of this run in matrix.json beside those of other versions, and draws the table between the two marks of README.md.
func (tab table) write(t *testing.T) {
	all := table{}
	if b, err := os.ReadFile("matrix.json"); err == nil {
		if err := json.Unmarshal(b, &all); err != nil {
			t.Fatal(err)
		}
	}
	maps.Copy(all, tab)
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("matrix.json", append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	const from, to = "<!-- written by TestMatrix -->\n", "<!-- end -->"
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(readme), from)
	_, tail, closed := strings.Cut(rest, to)
	if !ok || !closed {
		t.Fatal("README.md has no place for the table")
	}
	if err := os.WriteFile("README.md", []byte(head+from+all.markdown()+to+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
