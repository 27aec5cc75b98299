package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// place is where a key works; places are a set.
type place uint16

const (
	inTree place = 1 << iota
	inDetails
	inFindings
	inPlan
	inWrite
	inProgress
	inResult
	inHelp
	inLog
	inChoose
	inAsk

	inText = inDetails | inPlan | inResult | inHelp | inLog | inFindings | inChoose // what scrolls
)

// binding is one row of the table of keys: the footer, `?`, the README's table
// and read-only mode are all made from it.
type binding struct {
	shown  string // as the help prints it
	does   string
	foot   string // as the footer prints it, "key word"; "": not there
	rank   int    // in the footer, from the left
	in     place
	writes bool // taken away by --read-only, from everything made of this table
	acts   []act
}

type act struct {
	keys string // as Bubble Tea names them, separated by spaces
	do   func(*App) tea.Cmd
}

// bindings is the table, in the order of the help. The first rows, those that
// work in the tree, are the README's table.
var bindings = []binding{
	{"↑ ↓ j k, PgUp PgDn, ctrl+u ctrl+d, g G, Home End", "move", "↑↓ move", 1, inTree | inText, false, []act{
		{"up k", (*App).lineUp}, {"down j", (*App).lineDown},
		{"pgup ctrl+b", (*App).pageUp}, {"pgdown ctrl+f", (*App).pageDown},
		{"ctrl+u", (*App).halfUp}, {"ctrl+d", (*App).halfDown},
		{"g home", (*App).first}, {"G end", (*App).last},
	}},
	{"→ l / ← h", "open, on an open row go to its first child / close, on a closed row go to its parent", "→ open", 2, inTree, false, []act{
		{"right l", (*App).openRow}, {"left h", (*App).closeRow},
	}},
	{"Enter", "open or close", "", 0, inTree, false, []act{{"enter", (*App).toggleRow}}},
	{":", "go to a row or entry by its number", "", 0, inTree, false, []act{{":", (*App).askNumber}}},
	{"c", "count what is not counted yet below this row (entries, sizes), with progress", "", 0, inTree, false, []act{{"c", (*App).count}}},
	{"K", "find a key of keyed state below this row, as it is shown or 0x and hex: all its entries", "", 0, inTree, false, []act{{"K", (*App).askKey}}},
	{"D", "the different entries of a list, each with how often it is there", "", 0, inTree, false, []act{{"D", (*App).showGroups}}},
	{"z / Backspace", "zoom into the node / back out", "", 0, inTree, false, []act{
		{"z", (*App).zoomIn}, {"backspace", (*App).zoomOut},
	}},
	{"m", "next lens: metadata, state, files", "m lens", 5, inTree, false, []act{{"m", (*App).nextLens}}},
	{"t", "turn the tree: by state or by subtask", "", 0, inTree, false, []act{{"t", (*App).turnTree}}},
	{"s, then s n c", "sort by size, name, count; the same letter again reverses", "", 0, inTree, false, []act{{"s", (*App).askSort}}},
	{"%", "percent of parent or of total", "", 0, inTree, false, []act{{"%", (*App).togglePercent}}},
	{"space", "toggle the mark and move down. On a row that a marked parent covers nothing changes and the status line says which parent", "space mark", 3, inTree, false, []act{{"space", (*App).toggleMark}}},
	{"v", "start a range, move, space marks it; Esc ends it", "", 0, inTree, false, []act{{"v", (*App).startRange}}},
	{"*", "mark the rows that match the filter (not the parents shown for context); without a filter nothing", "", 0, inTree, false, []act{{"* mul", (*App).markMatches}}},
	{"x", "mark the remedy of the finding under the cursor, or of the row's worst finding", "", 0, inTree, false, []act{{"x", (*App).markRemedy}}},
	{"u / ctrl+r", "undo, redo a change of marks", "", 0, inTree | inPlan | inFindings, false, []act{
		{"u", (*App).undo}, {"ctrl+r", (*App).redo},
	}},
	{"/ , n N", "filter over the whole tree, with expansion kept; next, previous match", "/ filter", 6, inTree, false, []act{
		{"/", (*App).askFilter}, {"n", (*App).nextMatch}, {"N", (*App).prevMatch},
	}},
	{"f F", "next, previous finding", "f finding", 4, inTree, false, []act{
		{"f", (*App).nextFinding}, {"F", (*App).prevFinding},
	}},
	{"!", "the list of findings", "", 0, inTree, false, []act{{"!", (*App).showFindings}}},
	{"i", "details full screen", "", 0, inTree, false, []act{{"i", (*App).showDetails}}},
	{"y Y", "copy the selector / the path or id (OSC 52); the text stays on the status line, as not every terminal lets it through", "", 0, inTree | inDetails | inFindings, false, []act{
		{"y", (*App).copySelector}, {"Y", (*App).copyPath},
	}},
	{"Tab", "the plan: what is marked, before and after, what it means; `s` there saves it", "Tab plan", 7, inTree, false, []act{{"tab", (*App).showPlan}}},
	{"w", "write a pruned copy", "w write", 8, inTree | inPlan, true, []act{{"w", (*App).askWrite}}},
	{"E", "the log of errors and notices", "", 0, inTree, false, []act{{"E", (*App).showLog}}},
	{"ctrl+l", "redraw", "", 0, inTree | inText | inWrite | inProgress | inAsk, false, []act{{"ctrl+l", (*App).redraw}}},
	{"?", "all keys, searchable", "? keys", 0, inTree | inDetails | inPlan | inFindings | inLog, false, []act{{"?", (*App).showHelp}}},
	{"Esc", "leaves the innermost thing: dialog, a loading or counting in progress, range, filter, zoom; never the program", "", 0, inTree | inProgress | inAsk | inChoose, false, []act{{"esc", (*App).escape}}},
	{"q, ctrl+c", "quit; asks only if something is marked. During a write ctrl+c cancels the write. ctrl+z suspends", "", 0, inTree | inDetails | inFindings | inLog | inPlan | inResult, false, []act{
		{"q", (*App).quit}, {"ctrl+z", (*App).suspend},
	}},

	{"Esc", "back", "Esc back", 9, inText&^inChoose | inWrite, false, []act{{"esc", (*App).escape}}},
	{"x", "mark its remedy", "x mark", 4, inFindings, false, []act{{"x", (*App).markRemedy}}},
	{"i", "its row's details full screen", "i details", 4, inFindings, false, []act{{"i", (*App).showDetails}}},
	{"Enter", "go to the row that the finding is about", "Enter go", 4, inFindings, false, []act{{"enter", (*App).goToFinding}}},
	{"Tab", "back to the tree", "Tab tree", 4, inPlan, false, []act{{"tab", (*App).escape}}},
	{"s", "save the plan to a file, to be reviewed and given to `chkscope prune --plan`", "s save", 4, inPlan, true, []act{{"s", (*App).askSavePlan}}},
	{"c", "a reference copy or a full copy", "c copy", 4, inPlan, false, []act{{"c", (*App).cycleCopy}}},
	{"a", "accept the loss that the plan names (--accept-loss)", "a accept loss", 4, inPlan, false, []act{{"a", (*App).toggleAcceptLoss}}},
	{"o", "the job that restores has changelog switched off (--changelog-off)", "", 0, inPlan, false, []act{{"o", (*App).toggleChangelogOff}}},
	{"h", "change no state file; empty names stay (--keep-headers)", "", 0, inPlan, false, []act{{"h", (*App).toggleKeepHeaders}}},
	{"Enter", "write, when the word reads `write`", "Enter write", 4, inWrite, true, []act{{"enter", (*App).confirmWrite}}},
	{"↑ ↓", "the other field", "↑ destination", 4, inWrite, true, []act{{"up down tab shift+tab", (*App).otherField}}},
	{"ctrl+c", "cancel the write", "ctrl+c cancel", 4, inProgress, true, nil},
	{"p", "print these steps when chkscope has quit", "p print at the end", 4, inResult, true, []act{{"p", (*App).printLater}}},
	{"q", "quit", "q quit", 9, inChoose, false, []act{{"q", (*App).quit}}},
	{"Enter", "open the checkpoint under the cursor", "Enter open", 4, inChoose, false, []act{{"enter", (*App).openChosen}}},
}

// heading is the first place of a binding, under which the help lists it.
func (b *binding) heading() place { return b.in & -b.in }

// available is the table without what --read-only takes away.
func available(readOnly bool) []*binding {
	var out []*binding
	for i := range bindings {
		if !readOnly || !bindings[i].writes {
			out = append(out, &bindings[i])
		}
	}
	return out
}

// findBinding gives what a key does in a place, or nil.
func findBinding(in place, key string, readOnly bool) func(*App) tea.Cmd {
	for i := range bindings {
		b := &bindings[i]
		if b.in&in == 0 || b.writes && readOnly {
			continue
		}
		for _, act := range b.acts {
			for k := range strings.FieldsSeq(act.keys) {
				if k == key {
					return act.do
				}
			}
		}
	}
	return nil
}

// footer is the keys of a place, as many as fit.
func (a *App) footer(in place, w int) string {
	line, used := "", 0
	var help string
	table := available(a.cfg.ReadOnly)
	slices.SortStableFunc(table, func(x, y *binding) int { return x.rank - y.rank })
	for _, b := range table {
		if b.in&in == 0 || b.foot == "" {
			continue
		}
		key, word, _ := strings.Cut(b.foot, " ")
		if a.cfg.ASCII {
			key = asciiFoot.Replace(key)
		}
		n := width(key) + 1 + width(word)
		if b.foot == "? keys" {
			help = a.theme.key.Render(key)
			continue
		}
		if used > 0 {
			n += 2
		}
		if used+n+3 > w {
			continue
		}
		if used > 0 {
			line += "  "
		}
		line += a.theme.key.Render(key) + " " + word
		used += n
	}
	if help != "" {
		line += spaces(w-1-used) + help
	}
	return line
}
