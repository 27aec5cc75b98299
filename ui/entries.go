package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"chkscope/decoder/serde"
	"chkscope/model"

	tea "charm.land/bubbletea/v2"
)

// entryKind is what the entries of a cell are.
type entryKind uint8

const (
	noEntries    entryKind = iota
	listEntries            // elements of an operator state's list
	mapEntries             // of a broadcast state's map
	keyedEntries           // of a named keyed state, once it is counted
)

func (s *names) entryKind(n model.Node) entryKind {
	t := s.tree
	switch {
	case t.Class(n) != model.ClassCell:
	case t.Kind(n) == model.KindOperator && t.Dist(n) == model.DistBroadcast:
		return mapEntries
	case t.Kind(n) == model.KindOperator || t.Kind(n) == model.KindRawOperator:
		return listEntries
	case s.snap.HasKeyedEntries(t, n):
		return keyedEntries
	}
	return noEntries
}

// elements is the number of entries that a cell can show, 0 where it has none or
// where nobody has counted them.
func (s *names) elements(n model.Node) int64 {
	switch s.entryKind(n) {
	case listEntries, keyedEntries:
		return max(0, s.tree.Entries(n))
	case mapEntries:
		return max(0, s.snap.MapEntries(s.tree.Operator(n), s.tree.Name(n)))
	}
	return 0
}

// entry is what is shown of one entry.
type entry struct {
	off   int64 // in its stream, Unknown where that says nothing
	len   int64
	head  []byte // its first bytes, of a list element
	text  string // key and value, clean; "" where nothing could be decoded
	brief string // text for a row, where it has a shorter form
	about string // whose layout, which key group
	why   string // why text is not all of it
}

// pageMsg brings a page of entries. err is about those that are not in list.
type pageMsg struct {
	key  pageKey
	list []entry
	err  error
}

// pages are the entries that were read, a bounded number of them.
type pages struct {
	have   map[pageKey]pageMsg
	asked  map[pageKey]bool
	latest []pageKey
}

// pageKey is a page of a cell; the tree is in it because nodes are of a tree.
type pageKey struct {
	tree *model.Tree
	cell model.Node
	page int64
}

const (
	pageSize = 128
	maxPages = 64
	headSize = 64 // bytes shown of a list element
)

func (p *pages) get(t *model.Tree, cell model.Node, elem int64) (entry, error, bool) {
	m, ok := p.have[pageKey{t, cell, elem / pageSize}]
	if i := elem % pageSize; ok && i < int64(len(m.list)) {
		return m.list[i], nil, true
	}
	if ok && m.err == nil {
		m.err = errors.New("the stream has fewer entries")
	}
	return entry{}, m.err, false
}

func (p *pages) take(m pageMsg) {
	delete(p.asked, m.key)
	if p.have == nil {
		p.have = map[pageKey]pageMsg{}
	}
	p.have[m.key] = m
	p.latest = append(p.latest, m.key)
	if len(p.latest) > maxPages {
		delete(p.have, p.latest[0])
		p.latest = p.latest[1:]
	}
}

// wantPages asks for the pages of entries on the screen that are not there.
func (a *App) wantPages() tea.Cmd {
	if a.snap == nil || len(a.tree.list.blocks) == 0 {
		return nil
	}
	var cmds []tea.Cmd
	v := &a.tree
	for i := v.top; i < min(v.top+int64(v.height), v.list.total()); i++ {
		r := v.list.row(i)
		if r.elem < 0 {
			continue
		}
		k := pageKey{a.names.tree, r.node, r.elem / pageSize}
		if _, ok := a.pages.have[k]; ok || a.pages.asked[k] || len(a.pages.asked) >= maxAsked {
			continue
		}
		if a.pages.asked == nil {
			a.pages.asked = map[pageKey]bool{}
		}
		a.pages.asked[k] = true
		cmds = append(cmds, a.readPage(k))
	}
	return tea.Batch(cmds...)
}

func (a *App) readPage(k pageKey) tea.Cmd {
	s, ctx, kind := a.snap, a.ctx, a.names.entryKind(k.cell)
	return func() tea.Msg {
		m := pageMsg{key: k}
		if kind == keyedEntries {
			m.list, m.err = readKeyed(ctx, s, k)
		} else {
			m.list, m.err = readList(ctx, s, k, kind)
		}
		return m
	}
}

// readList reads elements of a list with their first bytes, or entries of a map.
func readList(ctx context.Context, s *model.Snapshot, k pageKey, kind entryKind) ([]entry, error) {
	var list []entry
	var err error
	if kind == listEntries {
		var elements []model.Element
		if elements, err = s.Elements(ctx, k.tree, k.cell, k.page*pageSize, pageSize, headSize); err != nil {
			return nil, err
		}
		for _, e := range elements {
			list = append(list, entry{off: e.Off, len: e.Len, head: e.Head})
		}
	}
	values, err := s.ElementValues(ctx, k.tree, k.cell, k.page*pageSize, pageSize, model.PageLimits)
	for i, v := range values {
		if i == len(list) {
			list = append(list, entry{off: model.Unknown, len: v.Len})
		}
		e := &list[i]
		e.about = clean(v.Connector)
		if v.Err != nil {
			e.why = clean(v.Err.Error())
		}
		e.text, e.brief = valueText(v.Key, v.Value), partitionText(v.Value)
	}
	if kind == listEntries { // what cannot be decoded is shown as bytes
		err = nil
	}
	return list, err
}

func readKeyed(ctx context.Context, s *model.Snapshot, k pageKey) ([]entry, error) {
	values, err := s.KeyedEntries(ctx, k.tree, k.cell, k.page*pageSize, pageSize, model.PageLimits)
	var list []entry
	for _, v := range values {
		list = append(list, entry{off: model.Unknown, len: v.Len, about: fmt.Sprintf("key group %d", v.Group), text: valueText(v.Key, v.Namespace, v.MapKey, v.Value)})
	}
	return list, err
}

// valueText is keys and a value in one line: what stands before the value leads
// to it. It is "" where the value is bytes alone.
func valueText(parts ...serde.Value) string {
	var path []string
	for _, v := range parts[:len(parts)-1] {
		if v.Form != serde.Missing {
			path = append(path, model.ValueText(v))
		}
	}
	value := parts[len(parts)-1]
	switch {
	case len(path) > 0 && value.Form == serde.Missing:
		return strings.Join(path, " / ")
	case len(path) > 0:
		return strings.Join(path, " / ") + " = " + model.ValueText(value)
	case value.Form == serde.Opaque || value.Form == serde.Missing:
		return ""
	}
	return model.ValueText(value)
}

// partitionText is a Kafka partition with what is kept of it, short enough for a
// narrow row; "" for other values.
func partitionText(v serde.Value) string {
	if v.Form != serde.Fields || len(v.Items) < 3 || v.Shape.Names[0] != "topic" || v.Shape.Names[1] != "partition" {
		return ""
	}
	rest := serde.Value{Form: serde.Fields, Shape: &serde.Shape{Names: v.Shape.Names[2:]}, Items: v.Items[2:]}
	return fmt.Sprintf("%s %d  %s", clean(v.Items[0].Text), v.Items[1].N, strings.Trim(model.ValueText(rest), "{}"))
}

// line is an entry in its row.
func (e *entry) line() string {
	if e.brief != "" {
		return e.brief
	}
	if e.text != "" {
		return e.text
	}
	return printableBytes(e.head)
}

// printableBytes shows bytes as text, one cell a byte.
func printableBytes(p []byte) string {
	var b strings.Builder
	for _, c := range p {
		if c < 0x20 || c >= 0x7f {
			c = '.'
		}
		b.WriteByte(c)
	}
	return b.String()
}

func (a *App) elementSummary(r row, w int) []string {
	out := []string{cut(a.names.full(r.node), w, a.theme.more)}
	s := "entry " + model.FormatCount(r.elem)
	e, err, ok := a.pages.get(a.names.tree, r.node, r.elem)
	switch {
	case err != nil:
		return append(out, wrap(s+": cannot be read: "+clean(reason(err)), w)...)
	case !ok:
		return append(out, s)
	}
	sep := " " + a.theme.sep + " "
	s += sep + e.size()
	if e.about != "" {
		s += sep + e.about
	}
	text := e.text
	if text == "" {
		text = e.line()
	}
	return append(append(out, wrap(s, w)...), wrap(text, w)...)
}

// size tells how large an entry is and where it stands.
func (e *entry) size() string {
	s := "length not known"
	if e.len >= 0 {
		s = plural(e.len, "byte")
	}
	if e.off >= 0 {
		s += " at " + model.FormatCount(e.off)
	}
	return s
}

// elementDetails are an entry in full: where, whose, value, bytes.
func (a *App) elementDetails(r row, w int) []string {
	lines := []string{a.theme.title.Render("entry " + model.FormatCount(r.elem))}
	e, err, ok := a.pages.get(a.names.tree, r.node, r.elem)
	switch {
	case err != nil:
		return append(lines, wrap("cannot be read: "+clean(err.Error()), w)...)
	case !ok:
		return append(lines, "being read"+a.theme.more)
	}
	lines = append(lines, e.size())
	if e.about != "" {
		lines = append(lines, wrap(e.about, w)...)
	}
	if e.text != "" {
		lines = append(append(lines, ""), wrap(e.text, w)...)
	}
	if e.why != "" {
		lines = append(append(lines, ""), wrap("not decoded, or not all of it: "+e.why, w)...)
	}
	if len(e.head) == 0 {
		return lines
	}
	lines = append(lines, "")
	per := 16
	if w < 16*3+18 {
		per = 8
	}
	for i := 0; i < len(e.head); i += per {
		part := e.head[i:min(len(e.head), i+per)]
		lines = append(lines, padRight(spacedHex(part), per*3)+" "+printableBytes(part))
	}
	if e.len > int64(len(e.head)) {
		lines = append(lines, fmt.Sprintf("%s the first %d bytes of %s", a.theme.more, len(e.head), model.FormatCount(e.len)))
	}
	return lines
}

func spacedHex(p []byte) string {
	var b strings.Builder
	for _, c := range p {
		fmt.Fprintf(&b, "%02x ", c)
	}
	return b.String()
}
