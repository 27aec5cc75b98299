package ui

import (
	"chkscope/model"

	tea "charm.land/bubbletea/v2"
)

// marking is the marks and how they lie over the tree.
type marking struct {
	set  model.Marks
	view *model.MarkView
	tree *model.Tree // that view lies over
	gen  uint64
	// written are the marks that were in the last copy: quitting need not ask.
	written map[model.Target]bool
}

func newMarking() *marking { return &marking{view: &model.MarkView{}} }

// marksViewMsg is a view that was made beside the keys.
type marksViewMsg struct {
	gen  uint64
	view *model.MarkView
	tree *model.Tree
}

// look lays the marks over the tree anew: at once where that is quick.
func (m *marking) look(n *names) tea.Cmd {
	m.gen++
	if n.tree.Len() <= 5*syncRows {
		m.view, m.tree = m.set.View(n.snap, n.tree), n.tree
		return nil
	}
	gen := m.gen
	set := model.Marks{}
	set.Add(m.set.Targets()...)
	return func() tea.Msg { return marksViewMsg{gen, set.View(n.snap, n.tree), n.tree} }
}

func (m *marking) taken(msg marksViewMsg) {
	if msg.gen == m.gen {
		m.view, m.tree = msg.view, msg.tree
	}
}

// of is how a row is marked; nothing until the view of its tree is made.
func (m *marking) of(n *names, r row) model.MarkState {
	switch {
	case m.tree != n.tree:
		return model.MarkNone
	case r.elem >= 0:
		return m.view.OfEntry(r.node, r.elem)
	}
	return m.view.Of(r.node)
}

// unwritten tells whether there are marks that no copy was made with.
func (m *marking) unwritten() bool {
	for _, g := range m.set.Targets() {
		if !m.written[g] {
			return true
		}
	}
	return false
}

func (m *marking) rememberWritten() {
	m.written = map[model.Target]bool{}
	for _, g := range m.set.Targets() {
		m.written[g] = true
	}
}

// marksChanged follows every change of marks.
func (a *App) marksChanged() tea.Cmd {
	a.plan.forget()
	return tea.Batch(a.marks.look(a.names), a.saveSoon())
}
