package ui

import (
	"context"
	"errors"
	"fmt"

	"chkscope/model"

	tea "charm.land/bubbletea/v2"
)

// maxShownGroups is how many different entries are listed.
const maxShownGroups = 1000

// groupsMsg brings the different entries of a list.
type groupsMsg struct {
	job   *job
	where string
	found model.ValueGroups
	err   error
}

// showGroups counts the equal entries of the list under the cursor.
func (a *App) showGroups() tea.Cmd {
	n := a.tree.here().node
	if n == model.None || !a.snap.HasGroups(a.names.tree, n) {
		a.say("equal entries are counted in lists and broadcast maps of operator state: go to one")
		return nil
	}
	where := a.names.full(n)
	j, ctx := a.begin("counting equal entries of "+where, "")
	s, t := a.snap, a.names.tree
	return func() tea.Msg {
		g, err := s.GroupValues(ctx, t, n, maxShownGroups, model.PageLimits)
		return groupsMsg{j, where, g, err}
	}
}

func (a *App) groupsCame(m groupsMsg) tea.Cmd {
	a.end(m.job)
	switch {
	case errors.Is(m.err, context.Canceled):
		return nil
	case m.err != nil && m.found.Entries == 0:
		a.fail("%s: %s", m.where, reason(m.err))
		return nil
	}
	return a.push(&groupsPage{found: m})
}

// groupsPage is the different entries of a list with how often each is there, the
// most frequent first.
type groupsPage struct {
	page
	found groupsMsg
}

func (*groupsPage) at() place { return inLog }

func (g *groupsPage) view(a *App, w, h int) ([]string, *tea.Cursor) {
	m := &g.found
	count := 0
	for _, v := range m.found.Groups {
		count = max(count, len(model.FormatCount(v.Count)))
	}
	var lines []string
	for _, v := range m.found.Groups {
		text := valueText(v.First.Key, v.First.Value)
		if text == "" {
			text = model.ValueText(v.First.Value)
		}
		for i, l := range wrap(text, w-count-4) {
			head := ""
			if i == 0 {
				head = fmt.Sprintf("%*s x", count, model.FormatCount(v.Count))
			}
			lines = append(lines, " "+padRight(head, count+2)+" "+l)
		}
	}
	if more := m.found.Distinct - int64(len(m.found.Groups)); more > 0 {
		lines = append(lines, fmt.Sprintf(" %s and %s others", a.theme.more, model.FormatCount(more)))
	}
	if m.err != nil {
		lines = append(append(lines, ""), wrap(" not all could be read: "+clean(reason(m.err)), w-1)...)
	}
	return g.scrolled(a, "equal entries of "+m.where, m.found.Text(), lines, w, h), nil
}
