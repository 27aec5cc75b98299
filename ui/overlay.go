package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// overlay is what lies over the tree and has the keys: a page of text, a list, a
// dialog.
type overlay interface {
	at() place
	// view draws it into at most h lines of w cells, and says where the
	// terminal's cursor stands (nil: nowhere).
	view(a *App, w, h int) ([]string, *tea.Cursor)
	// move scrolls it by lines.
	move(a *App, by int)
	// key takes a key before the table does; false leaves it to the table.
	key(a *App, k tea.KeyPressMsg) (tea.Cmd, bool)
	paste(a *App, m tea.PasteMsg)
	// leave is Esc; false where it may not go.
	leave(a *App) bool
	// band: it covers only the rows that it needs, not the tree.
	band() bool
}

// page is what overlays have in common; they embed it and change what differs.
type page struct{ top int }

func (p *page) key(*App, tea.KeyPressMsg) (tea.Cmd, bool) { return nil, false }
func (p *page) paste(*App, tea.PasteMsg)                  {}
func (p *page) leave(*App) bool                           { return true }
func (p *page) band() bool                                { return false }
func (p *page) move(_ *App, by int)                       { p.top += by }

// window gives the part of lines that is scrolled to, and keeps the scrolling in
// bounds.
func (p *page) window(lines []string, h int) []string {
	p.top = max(0, min(p.top, len(lines)-h))
	return lines[p.top:min(len(lines), p.top+h)]
}

// scrolled is a page of h lines: a title and the part of the text that is
// scrolled to. Where there is more of it, the title's line says which part.
func (p *page) scrolled(a *App, title, right string, text []string, w, h int) []string {
	part := p.window(text, h-1)
	if len(part) < len(text) {
		if right != "" {
			right += " " + a.theme.sep + " "
		}
		right += fmt.Sprintf("lines %d-%d of %d", p.top+1, p.top+len(part), len(text))
	}
	return append([]string{a.rule(title, right, w)}, part...)
}

// rule is a line across the screen with a title in it.
func (a *App) rule(title, right string, w int) string {
	th := &a.theme
	if title != "" {
		title += " "
	}
	if right != "" {
		right = " " + right
	}
	right = cut(right, w-8, th.more)
	title = cut(title, w-width(right), th.more)
	n := max(0, w-width(title)-width(right))
	return th.title.Render(title) + strings.Repeat(th.line, n) + right
}

// option is one way out of a question.
type option struct {
	key, word string
	do        func(*App) tea.Cmd
}

// ask is a question over the tree with few answers.
type ask struct {
	page
	text    string
	options []option
	firm    bool // Esc does not take it away
}

func newAsk(text string, options ...option) *ask { return &ask{text: text, options: options} }

func (q *ask) at() place  { return inAsk }
func (q *ask) band() bool { return true }

func (q *ask) leave(*App) bool { return !q.firm }

func (q *ask) view(a *App, w, h int) ([]string, *tea.Cursor) {
	lines := []string{a.rule("", "", w), ""}
	for _, l := range wrap(q.text, w-2) {
		lines = append(lines, " "+l)
	}
	var opts []string
	for _, o := range q.options {
		name := o.key
		if name == "esc" || name == "enter" {
			name = strings.ToUpper(name[:1]) + name[1:]
		}
		opts = append(opts, a.theme.key.Render(name)+" "+o.word)
	}
	return append(lines, "", " "+strings.Join(opts, "   "), "", a.rule("", "", w)), nil
}

func (q *ask) key(a *App, k tea.KeyPressMsg) (tea.Cmd, bool) {
	for _, o := range q.options {
		if k.String() != o.key {
			continue
		}
		a.drop(q)
		if o.do == nil {
			return nil, true
		}
		return o.do(a), true
	}
	return nil, false
}

// logPage is what was said, newest first.
type logPage struct{ page }

func (*logPage) at() place { return inLog }

func (l *logPage) view(a *App, w, h int) ([]string, *tea.Cursor) {
	lines := []string{}
	for i := len(a.notes.log) - 1; i >= 0; i-- {
		n := a.notes.log[i]
		sign := "  "
		if n.level == levelError {
			sign = a.theme.critical.Render("! ")
		}
		for k, t := range wrap(n.said(), w-11) {
			if k == 0 {
				lines = append(lines, n.at.Local().Format("15:04:05")+" "+sign+t)
			} else {
				lines = append(lines, spaces(11)+t)
			}
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "Nothing was said yet.")
	}
	return l.scrolled(a, "log of errors and notices, newest first", "", lines, w, h), nil
}

func (a *App) showLog() tea.Cmd { return a.push(&logPage{}) }
