package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"chkscope/decoder/serde"
	"chkscope/model"

	tea "charm.land/bubbletea/v2"
)

// maxKeyEntries is how many entries of a key are listed.
const maxKeyEntries = 1000

// foundKeyMsg brings the entries of a key.
type foundKeyMsg struct {
	job    *job
	key    string
	where  string
	how    model.KeySearch
	unread bool // there is keyed state that is not read entry by entry
	list   []keyEntry
	more   bool
	err    error
}

// keyEntry is one entry of the key, clean.
type keyEntry struct {
	state string
	at    string // subtask, key group, number, bytes
	text  string
}

var errManyEntries = errors.New("more entries than are listed")

// askKey looks for a key below the row under the cursor.
func (a *App) askKey() tea.Cmd {
	r := a.tree.here()
	if r.node == model.None || a.names.tree.Operator(r.node) < 0 {
		a.say("a key belongs to an operator: go to one, or to its keyed state")
		return nil
	}
	p := &prompt{label: "key, as it is shown or 0x and hex: ", field: newField()}
	p.accept = func(a *App, key string) tea.Cmd {
		if key == "" {
			return nil
		}
		return a.findKey(a.allSubtasks(r.node), key)
	}
	return a.ask(p)
}

// allSubtasks is the state of a cell, in which its key may lie elsewhere; of
// other nodes themselves.
func (a *App) allSubtasks(n model.Node) model.Node {
	g := a.names.target(row{n, -1})
	if g.Class != model.ClassCell {
		return n
	}
	g.Class, g.Subtask = model.ClassState, 0
	if state := a.snap.Find(a.names.tree, g); state != model.None {
		return state
	}
	return n
}

func (a *App) findKey(n model.Node, key string) tea.Cmd {
	where := a.names.full(n)
	j, ctx := a.begin("looking for key "+clean(key), "entries")
	s, t := a.snap, a.names.tree
	return func() tea.Msg { return searchKey(ctx, s, t, n, foundKeyMsg{job: j, key: key, where: where}) }
}

// searchKey fills m with what is found.
func searchKey(ctx context.Context, s *model.Snapshot, t *model.Tree, n model.Node, m foundKeyMsg) tea.Msg {
	add := func(cell model.Node, e model.KeyedEntry) error {
		if len(m.list) == maxKeyEntries {
			return errManyEntries
		}
		m.list = append(m.list, newKeyEntry(t, cell, e))
		m.job.progress(int64(len(m.list)), 0)
		return ctx.Err()
	}
	m.unread = s.UnreadKeyed(t, []model.Node{n}) > 0
	m.how, m.err = s.FindKey(ctx, t, n, m.key, model.PageLimits, add)
	slices.SortStableFunc(m.list, func(x, y keyEntry) int { return strings.Compare(x.state, y.state) })
	if m.more = errors.Is(m.err, errManyEntries); m.more {
		m.err = nil
	}
	return m
}

func newKeyEntry(t *model.Tree, cell model.Node, e model.KeyedEntry) keyEntry {
	k := keyEntry{state: clean(t.Name(cell)), text: valueText(e.Namespace, e.MapKey, e.Value)}
	if k.text == "" {
		k.text = model.ValueText(e.Value)
	}
	k.at = fmt.Sprintf("subtask %d, key group %d, %s", t.Subtask(cell), e.Group, plural(e.Len, "byte"))
	if e.Index >= 0 {
		k.at = fmt.Sprintf("entry %s of ", model.FormatCount(e.Index)) + k.at
	}
	if e.TTL {
		k.at += ", last access " + model.ValueText(serde.Value{Form: serde.Millis, N: e.LastAccess})
	}
	return k
}

func (a *App) foundKey(m foundKeyMsg) tea.Cmd {
	a.end(m.job)
	switch {
	case errors.Is(m.err, context.Canceled):
		return nil
	case m.err != nil && len(m.list) == 0:
		a.fail("key %s: %s", clean(m.key), reason(m.err))
		return nil
	case len(m.list) == 0 && m.unread:
		a.say("keys in RocksDB's files or a changelog cannot be looked for")
		return nil
	case len(m.list) == 0:
		a.say("no key %s in %s (%s)", clean(m.key), m.where, m.read())
		return nil
	}
	return a.push(&keyPage{found: m})
}

// read tells how much was looked at.
func (m *foundKeyMsg) read() string {
	switch {
	case m.how.Streams == 0 && m.how.Group >= 0:
		return fmt.Sprintf("its key group %d is not there", m.how.Group)
	case m.how.Streams == 0:
		return "nothing to read there"
	}
	streams := "all of " + plural(int64(m.how.Streams), "stream")
	if m.how.Group >= 0 {
		streams = fmt.Sprintf("key group %d of %s", m.how.Group, plural(int64(m.how.Streams), "stream"))
	}
	return "read " + streams
}

// keyPage is the entries of one key, by state.
type keyPage struct {
	page
	found foundKeyMsg
}

func (*keyPage) at() place { return inLog }

func (k *keyPage) view(a *App, w, h int) ([]string, *tea.Cursor) {
	m := &k.found
	var lines []string
	state := ""
	for i, e := range m.list {
		if e.state != state || i == 0 {
			state = e.state
			lines = append(lines, "", " "+a.theme.title.Render(cut(state, w-2, a.theme.more)))
		}
		for _, l := range wrap(e.text, w-4) {
			lines = append(lines, "   "+l)
		}
		lines = append(lines, "     "+cut(e.at, w-6, a.theme.more))
	}
	if m.more {
		lines = append(lines, "", fmt.Sprintf(" %s more than %s entries", a.theme.more, model.FormatCount(maxKeyEntries)))
	}
	if m.err != nil {
		lines = append(append(lines, ""), wrap(" not all could be read: "+clean(reason(m.err)), w-1)...)
	}
	title := strings.Join([]string{"key", clean(m.key), "in", m.where}, " ")
	return k.scrolled(a, title, m.read(), lines, w, h), nil
}
