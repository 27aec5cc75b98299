package realfiles

import (
	"os"
	"strings"
	"testing"
)

// InReadme compares a part of the README, which the tests of a package two folders
// down make, or writes it there. It stands between comments with its name.
func InReadme(t testing.TB, name, part string, update bool) {
	t.Helper()
	const file = "../../README.md"
	readme, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->"
	head, rest, ok := strings.Cut(string(readme), begin)
	was, tail, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Errorf("the README has no part %q", name)
	case update:
		if err := os.WriteFile(file, []byte(head+begin+part+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	case was != part:
		t.Errorf("the README says\n%s, not\n%s; renew it with -update", was, part)
	}
}
