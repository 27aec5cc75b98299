package ui

import (
	"fmt"
	"strconv"
	"strings"

	"chkscope/model"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// newField is a line of input. It takes pasted text from the terminal only, and
// its cursor is the terminal's own, so that nothing blinks on the wire.
func newField() textinput.Model {
	f := textinput.New()
	f.Prompt = ""
	f.SetVirtualCursor(false)
	plain := textinput.StyleState{Text: lipgloss.NewStyle(), Placeholder: lipgloss.NewStyle(), Suggestion: lipgloss.NewStyle(), Prompt: lipgloss.NewStyle()}
	f.SetStyles(textinput.Styles{Focused: plain, Blurred: plain})
	f.KeyMap.Paste = key.NewBinding(key.WithDisabled())
	f.CharLimit = 4096
	return f
}

// draw gives a field in w cells, scrolled so that its cursor is seen.
func draw(f *textinput.Model, w int) string {
	f.SetWidth(max(1, w-1)) // one more for the cursor behind the text
	f.SetCursor(f.Position())
	return f.View()
}

// cursorIn is where a field's cursor stands inside it.
func cursorIn(f *textinput.Model) int {
	if c := f.Cursor(); c != nil {
		return c.X
	}
	return 0
}

// prompt is a line of input on the status line, over the tree.
type prompt struct {
	label  string
	field  textinput.Model
	change func(a *App, s string) tea.Cmd // at every change; may be nil
	accept func(a *App, s string) tea.Cmd
	cancel func(a *App) tea.Cmd // may be nil
	single bool                 // the next key is the answer
}

func (p *prompt) key(a *App, k tea.KeyPressMsg) tea.Cmd {
	if p.single {
		a.prompt = nil
		if k.String() == "esc" {
			return nil
		}
		return p.accept(a, k.String())
	}
	switch k.String() {
	case "enter":
		a.prompt = nil
		return p.accept(a, p.field.Value())
	case "esc":
		a.prompt = nil
		if p.cancel != nil {
			return p.cancel(a)
		}
		return nil
	case "up", "down", "pgup", "pgdown":
		if p.change != nil { // the rows may be looked at while a filter is typed
			return findBinding(inTree, k.String(), a.cfg.ReadOnly)(a)
		}
	}
	return p.edit(a, k)
}

func (p *prompt) paste(a *App, m tea.PasteMsg) tea.Cmd {
	if p.single {
		return nil
	}
	return p.edit(a, m)
}

func (p *prompt) edit(a *App, m tea.Msg) tea.Cmd {
	before := p.field.Value()
	p.field, _ = p.field.Update(m)
	if s := p.field.Value(); s != before && p.change != nil {
		return p.change(a, s)
	}
	return nil
}

func (a *App) ask(p *prompt) tea.Cmd {
	if !p.single {
		p.field.Focus()
	}
	a.prompt = p
	return nil
}

// askFilter begins a filter. The rows follow while it is typed; Esc brings back
// what was there.
func (a *App) askFilter() tea.Cmd {
	old, shut, keep := a.tree.filter, a.tree.shut.clone(), model.Target{}
	if r := a.tree.here(); r.node != model.None {
		keep = a.names.target(r)
	}
	p := &prompt{label: "filter: ", field: newField()}
	p.field.SetValue(old)
	p.change = func(a *App, s string) tea.Cmd { return a.setFilter(s) }
	p.accept = func(a *App, s string) tea.Cmd {
		if strings.TrimSpace(s) == "" {
			return a.setFilter("")
		}
		return nil
	}
	p.cancel = func(a *App) tea.Cmd {
		a.tree.filter = old
		clear(a.tree.shut)
		copy(a.tree.shut, shut)
		if n := a.snap.Find(a.tree.names.tree, keep); n != model.None && n != model.Root {
			a.tree.want = &row{n, keep.Entries.First}
		}
		return a.tree.rebuild()
	}
	return a.ask(p)
}

func (a *App) setFilter(s string) tea.Cmd {
	a.tree.filter = strings.TrimSpace(s)
	clear(a.tree.shut)
	a.tree.toMatch = a.tree.filter != ""
	return a.tree.rebuild()
}

// askNumber goes to a row, or to an entry where the cursor is on a list.
func (a *App) askNumber() tea.Cmd {
	r := a.tree.here()
	if r.node == model.None {
		return nil
	}
	p := &prompt{field: newField()}
	if n := a.names.elements(r.node); n > 0 {
		p.label = fmt.Sprintf("entry 0-%d: ", n-1)
		cell := a.names.target(row{r.node, -1})
		p.accept = func(a *App, s string) tea.Cmd { return a.toEntry(cell, n, s) }
	} else {
		p.label = fmt.Sprintf("row 1-%d: ", a.tree.list.total())
		p.accept = (*App).toRow
	}
	return a.ask(p)
}

func number(s string) (int64, bool) {
	n, err := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(strings.TrimSpace(s)), 10, 64)
	return n, err == nil
}

func (a *App) toRow(s string) tea.Cmd {
	n, ok := number(s)
	if !ok || n < 1 || n > a.tree.list.total() {
		a.say("no row %q: they go from 1 to %s", s, model.FormatCount(a.tree.list.total()))
		return nil
	}
	a.tree.jump(n - 1)
	return nil
}

func (a *App) toEntry(cell model.Target, total int64, s string) tea.Cmd {
	n, ok := number(s)
	if !ok || n < 0 || n >= total {
		a.say("no entry %q: they go from 0 to %s", s, model.FormatCount(total-1))
		return nil
	}
	return a.tree.reveal(row{a.snap.Find(a.names.tree, cell), n})
}

// askSort waits for the letter after s.
func (a *App) askSort() tea.Cmd {
	return a.ask(&prompt{label: "sort by: s size, n name, c count (again reverses)", single: true, accept: func(a *App, k string) tea.Cmd {
		switch k {
		case "s":
			return a.sortBy(bySize)
		case "n":
			return a.sortBy(byName)
		case "c":
			return a.sortBy(byCount)
		}
		a.say("sort by s, n or c, not %s", k)
		return nil
	}})
}
