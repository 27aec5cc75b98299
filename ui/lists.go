package ui

import (
	"chkscope/model"
	"chkscope/model/finding"
	"chkscope/model/store"

	tea "charm.land/bubbletea/v2"
)

// findingList is `!`: all findings, worst first, the one under the cursor in
// words below.
type findingList struct {
	page
	cursor int
}

func (a *App) showFindings() tea.Cmd {
	l := &findingList{cursor: max(0, a.found.at)}
	return a.push(l)
}

func (*findingList) at() place { return inFindings }

func (l *findingList) here(a *App) *finding.Finding {
	if l.cursor < len(a.found.list) {
		return &a.found.list[l.cursor]
	}
	return nil
}

func (l *findingList) move(a *App, by int) {
	l.cursor = max(0, min(l.cursor+by, len(a.found.list)-1))
}

func (l *findingList) view(a *App, w, h int) ([]string, *tea.Cursor) {
	f := &a.found
	title := "findings"
	if s := f.summary(); s != "" {
		title += ": " + s + a.findingsPending()
	}
	lines := []string{a.rule(title, "", w)}
	if len(f.list) == 0 {
		if a.findingsPending() != "" {
			return append(lines, "", " None so far; streams and files are still being looked at."), nil
		}
		return append(lines, "", " None: nothing here looks wrong."), nil
	}
	l.cursor = min(l.cursor, len(f.list)-1)
	text := a.findingLines(&f.list[l.cursor], w)
	text = append(text, a.evidence(&f.list[l.cursor], w)...)
	below := min(len(text), max(3, h/2))
	rows := max(1, h-below-2)
	l.top = max(min(l.top, l.cursor), l.cursor-rows+1)
	l.top = max(0, min(l.top, len(f.list)-rows))
	ruleW := 0
	for i := range f.list {
		ruleW = max(ruleW, width(f.list[i].Rule))
	}
	ruleW = min(ruleW, w/2)
	for i := l.top; i < min(l.top+rows, len(f.list)); i++ {
		lines = append(lines, l.line(a, i, ruleW, w))
	}
	lines = append(lines, a.rule("", "", w))
	if len(text) > below {
		text = a.ellipsis(text[:below], w)
	}
	return append(lines, text...), nil
}

func (l *findingList) line(a *App, i, ruleW, w int) string {
	f := &a.found.list[i]
	sign, rule := " ", cut(clean(f.Rule), ruleW, a.theme.more)
	pad := spaces(ruleW - width(rule))
	if i == l.cursor {
		sign, rule = ">", a.theme.cursor.Render(rule)
	}
	about := "the checkpoint"
	if n := a.found.nodes[i]; n != model.None {
		about = a.names.full(n)
	} else if f.Selector() != "" {
		about = clean(f.Selector())
	}
	fl := f.Severity.Flag()
	return sign + padLeft("", 2-width(fl)) + a.theme.flag(fl) + " " + rule + pad + "  " + cut(about, w-ruleW-6, a.theme.more)
}

func (a *App) goToFinding() tea.Cmd {
	l, ok := a.top().(*findingList)
	if !ok || l.here(a) == nil {
		return nil
	}
	i := l.cursor
	a.drop(l)
	a.layout()
	return a.toFinding(i)
}

// choose is the list of checkpoints of a parent directory.
type choose struct {
	page
	uri    string
	list   []model.Candidate
	cursor int
}

func newChoose(uri string, list []model.Candidate) *choose { return &choose{uri: uri, list: list} }

func (*choose) at() place { return inChoose }

func (c *choose) move(_ *App, by int) { c.cursor = max(0, min(c.cursor+by, len(c.list)-1)) }

// leave: there is nothing behind the list.
func (c *choose) leave(a *App) bool {
	if !a.cancelJob(false) {
		a.say("q quits")
	}
	return false
}

func (c *choose) view(a *App, w, h int) ([]string, *tea.Cursor) {
	lines := []string{a.rule("which checkpoint?", shownURI(c.uri), w)}
	rows := max(1, h-2)
	c.top = max(min(c.top, c.cursor), c.cursor-rows+1)
	c.top = max(0, min(c.top, len(c.list)-rows))
	nameW := 0
	for _, x := range c.list {
		nameW = max(nameW, width(c.name(x)))
	}
	nameW = min(nameW, max(12, w-42))
	lines = append(lines, "  "+padRight("name", nameW)+"  "+padRight("time", 16)+"  "+padLeft("_metadata", 10))
	for i := c.top; i < min(c.top+rows, len(c.list)); i++ {
		x := c.list[i]
		name := padRight(cutLeft(c.name(x), nameW, a.theme.more), nameW)
		sign, size := " ", "incomplete"
		switch {
		case x.Complete:
			size = model.FormatSize(x.Size)
		case x.Empty():
			size = "empty"
		}
		if i == c.cursor {
			sign, name = ">", a.theme.cursor.Render(name)
		}
		lines = append(lines, sign+" "+name+"  "+when(x.Modified)+"  "+padLeft(size, 10))
	}
	return lines, nil
}

// name is the path of a candidate below the directory that was named.
func (c *choose) name(x model.Candidate) string {
	if rel, ok := store.Rel(c.uri, x.URI); ok && rel != "" {
		return clean(rel)
	}
	return clean(x.Name)
}

func (a *App) openChosen() tea.Cmd {
	if c, ok := a.top().(*choosePointed); ok {
		return c.open(a)
	}
	c, ok := a.top().(*choose)
	if !ok {
		return nil
	}
	x := c.list[c.cursor]
	if x.Empty() {
		a.say("the _metadata of %s is empty, as a power loss or a full disk leaves it: take an older one", x.Name)
		return nil
	}
	if !x.Complete {
		a.say("%s has no _metadata: Flink was still writing it, or gave up", x.Name)
		return nil
	}
	if a.running() != nil {
		return nil
	}
	return a.open(x.URI)
}
