package ui

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// helpPage lists all keys; what is typed searches them.
type helpPage struct {
	page
	search textinput.Model
	from   place // where `?` was pressed: its keys come first
}

func (a *App) showHelp() tea.Cmd {
	h := &helpPage{search: newField(), from: a.place()}
	h.search.Focus()
	return a.push(h)
}

func (*helpPage) at() place { return inHelp }

// key gives letters to the search; the other keys scroll and leave.
func (h *helpPage) key(a *App, k tea.KeyPressMsg) (tea.Cmd, bool) {
	if k.Text == "" && findBinding(inHelp, k.String(), a.cfg.ReadOnly) != nil {
		return nil, false
	}
	h.search, _ = h.search.Update(k)
	h.top = 0
	return nil, true
}

func (h *helpPage) paste(_ *App, m tea.PasteMsg) { h.search, _ = h.search.Update(m) }

// leave clears a search first.
func (h *helpPage) leave(*App) bool {
	if h.search.Value() == "" {
		return true
	}
	h.search.SetValue("")
	return false
}

func (h *helpPage) view(a *App, w, hgt int) ([]string, *tea.Cursor) {
	const label = "all keys; type to search: "
	head := a.theme.title.Render(label) + draw(&h.search, w-len(label))
	var lines []string
	for _, g := range helpGroups {
		part := h.group(a, g.in, w)
		if len(part) > 0 {
			lines = append(append(lines, a.theme.title.Render(g.title)), part...)
		}
	}
	if len(lines) == 0 {
		lines = []string{"No key does that."}
	}
	return append([]string{head}, h.scrolled(a, "", "", lines, w, hgt-1)...), tea.NewCursor(len(label)+cursorIn(&h.search), 0)
}

// helpGroups are the headings of `?`. A key that works in several places stands
// under the first.
var helpGroups = []struct {
	title string
	in    place
}{
	{"In the tree", inTree}, {"In the list of findings", inFindings}, {"In the plan", inPlan},
	{"In the write dialog", inWrite}, {"While a copy is written", inProgress}, {"After a write", inResult},
	{"In the list of checkpoints", inChoose},
}

func (h *helpPage) group(a *App, in place, w int) []string {
	words := strings.Fields(strings.ToLower(h.search.Value()))
	keyW := min(24, w/3)
	var lines []string
next:
	for _, b := range available(a.cfg.ReadOnly) {
		if b.heading() != in {
			continue
		}
		shown := b.shown
		if a.cfg.ASCII {
			shown = asciiKeys.Replace(shown)
		}
		text := strings.ToLower(b.shown + " " + b.does)
		for _, word := range words {
			if !strings.Contains(text, word) {
				continue next
			}
		}
		left, right := wrap(shown, keyW), wrap(b.does, w-keyW-4)
		for i := range max(len(left), len(right)) {
			l, r := "", ""
			if i < len(left) {
				l = left[i]
			}
			if i < len(right) {
				r = right[i]
			}
			lines = append(lines, "  "+a.theme.key.Render(padRight(l, keyW))+"  "+r)
		}
	}
	return lines
}

// asciiKeys are the arrows in words, for the help; asciiFoot are letters that do
// the same, for the footer.
var (
	asciiKeys = strings.NewReplacer("↑", "up", "↓", "down", "→", "right", "←", "left")
	asciiFoot = strings.NewReplacer("↑↓", "jk", "→", "l", "↑", "up")
)

// KeyTable is the table of keys of the README, as Markdown.
func KeyTable() string {
	var b strings.Builder
	b.WriteString("| key | does |\n|---|---|\n")
	for i := range bindings {
		if bindings[i].heading() == inTree {
			b.WriteString("| " + bindings[i].shown + " | " + bindings[i].does + " |\n")
		}
	}
	return b.String()
}
