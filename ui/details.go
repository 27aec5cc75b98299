package ui

import (
	"fmt"
	"strconv"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/finding"

	tea "charm.land/bubbletea/v2"
)

// detailsMsg brings what the model knows about a node. Listing its files may
// read parts of `_metadata`, and what connectors keep stands in streams, so it is
// asked for beside the keys.
type detailsMsg struct {
	tree *model.Tree
	node model.Node
	list []model.Detail
}

// detailCache keeps the last answers.
type detailCache struct {
	have  map[detailKey][]model.Detail
	asked map[detailKey]bool
}

type detailKey struct {
	tree *model.Tree
	node model.Node
}

const (
	maxDetails = 64
	maxAsked   = 4 // questions under way at once
)

func (c *detailCache) take(m detailsMsg) {
	k := detailKey{m.tree, m.node}
	delete(c.asked, k)
	if c.have == nil || len(c.have) >= maxDetails {
		c.have = map[detailKey][]model.Detail{}
	}
	c.have[k] = m.list
}

// wantDetails asks for the details of the row under the cursor where they can be
// seen.
func (a *App) wantDetails() tea.Cmd {
	if a.snap == nil || a.plot().side == 0 && a.place() != inDetails {
		return nil
	}
	n := a.detailNode()
	k := detailKey{a.names.tree, n}
	if _, ok := a.details.have[k]; ok || n == model.None || a.details.asked[k] || len(a.details.asked) >= maxAsked {
		return nil
	}
	if a.details.asked == nil {
		a.details.asked = map[detailKey]bool{}
	}
	a.details.asked[k] = true
	s, t, ctx := a.snap, a.names.tree, a.ctx
	return func() tea.Msg {
		return detailsMsg{t, n, s.AllDetails(ctx, t, n)}
	}
}

// detailNode is the node that the details are about: that of the cursor, or of
// the finding that is looked at.
func (a *App) detailNode() model.Node {
	for _, o := range a.over {
		if d, ok := o.(*detailPage); ok {
			return d.row.node
		}
	}
	return a.tree.here().node
}

// briefly is the details below the tree: the worst finding in words, then what
// the row is.
func (a *App) briefly(w, lines int) []string {
	if a.snap == nil {
		return nil
	}
	r := a.tree.here()
	if r.node == model.None {
		return nil
	}
	var out []string
	if f := a.findingHere(); f != nil {
		out = a.findingLines(f, w)
		if len(out) > lines {
			return a.ellipsis(out[:lines], w)
		}
	}
	out = append(out, a.summary(r, w)...)
	if len(out) > lines {
		out = a.ellipsis(out[:lines], w)
	}
	return out
}

// ellipsis marks the last of lines as cut off.
func (a *App) ellipsis(lines []string, w int) []string {
	last := len(lines) - 1
	lines[last] = cut(lines[last]+" "+a.theme.more, w, a.theme.more)
	return lines
}

// findingLines are a finding in words, its flag before it.
func (a *App) findingLines(f *finding.Finding, w int) []string {
	sign := f.Severity.Flag()
	lines := wrap(sentences(f), w-3)
	for i := range lines {
		if i == 0 {
			lines[i] = a.theme.flag(sign) + spaces(3-width(sign)) + lines[i]
		} else {
			lines[i] = "   " + lines[i]
		}
	}
	return lines
}

// summary is what a row is, from what is in memory: first where it is, in one
// line, then the facts. So little changes on the screen from row to row.
func (a *App) summary(r row, w int) []string {
	t := a.names.tree
	if r.elem >= 0 {
		return a.elementSummary(r, w)
	}
	where := a.names.full(r.node)
	var parts []string
	switch t.Class(r.node) {
	case model.ClassOperator:
		op := &a.snap.Meta.Operators[t.Operator(r.node)]
		where += " (" + op.ID.String() + ")"
		if !a.names.operator(r.node).named {
			where = op.ID.String()
		}
		parts = append(parts, fmt.Sprintf("parallelism %d of %d", op.Parallelism, op.MaxParallelism))
	case model.ClassState, model.ClassCell:
		kind := t.Kind(r.node).String()
		if d := t.Dist(r.node); d != model.DistNone {
			kind += " " + d.String()
		}
		parts = append(parts, kind)
		e := t.Entries(r.node)
		switch {
		case e >= 0:
			parts = append(parts, plural(e, "entry"))
		case !a.snap.ReadsKeyed(t, r.node):
			parts = append(parts, "entries not read (RocksDB or changelog)")
		default:
			parts = append(parts, "entries not counted (c counts)")
		}
	}
	parts = append(parts, sizesText(t.Sizes(r.node))...)
	return append([]string{cut(where, w, a.theme.more)}, wrap(strings.Join(parts, " "+a.theme.sep+" "), w)...)
}

// sizesText are the sizes by kind, those that are not zero.
func sizesText(z model.Sizes) []string {
	var parts []string
	add := func(what string, n int64) {
		if n > 0 {
			parts = append(parts, what+" "+model.FormatSize(n))
		}
	}
	add("inline", z.Inline)
	add("bookkeeping", z.Bookkeeping)
	add("exclusive files", z.Exclusive)
	add("shared files", z.Shared)
	if z.Files > 0 {
		parts = append(parts, plural(z.Files, "file"))
	}
	if z.UnknownFiles > 0 {
		parts = append(parts, plural(z.UnknownFiles, "file")+" of unknown length")
	}
	return parts
}

// allDetails is everything known about a row, for the pane at the right and the
// full screen.
func (a *App) allDetails(r row, w int) []string {
	if a.snap == nil || r.node == model.None {
		return nil
	}
	lines := []string{}
	for _, l := range wrap(a.names.full(r.node), w) {
		lines = append(lines, a.theme.title.Render(l))
	}
	lines = append(lines, "")
	about := a.found.of(r.node)
	if f := a.wholeHere(); f != nil && r == a.tree.here() {
		about = append([]*finding.Finding{f}, about...)
	}
	for _, f := range about {
		lines = append(lines, a.findingLines(f, w)...)
		lines = append(lines, a.evidence(f, w)...)
		lines = append(lines, "")
	}
	if r.elem >= 0 {
		lines = append(lines, a.elementDetails(r, w)...)
		lines = append(lines, "")
	}
	list, ok := a.details.have[detailKey{a.names.tree, r.node}]
	if !ok {
		return append(lines, a.summary(row{r.node, -1}, w)[1:]...)
	}
	label := 0
	for _, d := range list {
		label = max(label, width(clean(d.Label)))
	}
	label = min(label, 16, w/3)
	for _, d := range list {
		for i, l := range wrap(clean(d.Text), w-label-2) {
			head := ""
			if i == 0 {
				head = cut(clean(d.Label), label, a.theme.more)
			}
			lines = append(lines, padRight(head, label)+"  "+l)
		}
	}
	return append(lines, a.traffic(w)...)
}

// traffic is what was asked of a store over a network so far.
func (a *App) traffic(w int) []string {
	if a.cfg.Traffic == nil {
		return nil
	}
	requests, read, written := a.cfg.Traffic()
	if requests == 0 {
		return nil
	}
	text := fmt.Sprintf("Asked of the store so far: %s, %s read", plural(requests, "request"), model.FormatSize(read))
	if written > 0 {
		text += ", " + model.FormatSize(written) + " written"
	}
	return append([]string{""}, wrap(text, w)...)
}

func (a *App) evidence(f *finding.Finding, w int) []string {
	if len(f.Evidence) == 0 {
		return nil
	}
	var parts []string
	for _, kv := range f.Evidence {
		if kv.Value == nil {
			continue // not known
		}
		parts = append(parts, clean(kv.Key)+" "+clean(evidenceText(kv.Value)))
	}
	lines := wrap(strings.Join(parts, ", "), w-3)
	for i := range lines {
		lines[i] = "   " + lines[i]
	}
	return lines
}

// evidenceText prints one piece of evidence.
func evidenceText(v any) string {
	switch v := v.(type) {
	case int64:
		return model.FormatCount(v)
	case float64:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case []int64:
		parts := make([]string, len(v))
		for i, n := range v {
			parts[i] = model.FormatCount(n)
		}
		return strings.Join(parts, " then ")
	case []string:
		return strings.Join(v, ", ")
	}
	return fmt.Sprint(v)
}

// sidePane is the details at the right.
func (a *App) sidePane(w, h int) []string {
	if a.tree.list == nil {
		return nil // nothing is loaded yet
	}
	lines := a.allDetails(a.tree.here(), w)
	if len(lines) > h {
		lines = a.ellipsis(lines[:h], w)
	}
	return lines
}

// detailPage is the details in full.
type detailPage struct {
	page
	row row
}

func (*detailPage) at() place { return inDetails }

func (d *detailPage) view(a *App, w, h int) ([]string, *tea.Cursor) {
	lines := a.allDetails(d.row, w-2)
	for i := range lines {
		lines[i] = " " + lines[i]
	}
	return d.scrolled(a, "details", "", lines, w, h), nil
}

func (a *App) showDetails() tea.Cmd {
	r := a.subject()
	if r.node == model.None {
		return nil
	}
	return a.push(&detailPage{row: r})
}

// pathOrID is what Y copies: the file that holds a row's bytes, else the
// operator's id.
func (a *App) pathOrID(r row) string {
	t := a.names.tree
	op, sub := t.Operator(r.node), t.SubtaskAt(r.node)
	if op < 0 {
		return a.snap.URI
	}
	o := &a.snap.Meta.Operators[op]
	var h *metadata.StreamHandle
	switch {
	case t.Kind(r.node) == model.KindCoordinator:
		h = o.Coordinator
	case sub >= 0 && o.Subtasks[sub].State != nil:
		h = firstStream(o.Subtasks[sub].State, t.Kind(r.node))
	}
	if h != nil && h.Type != metadata.TypeByteStream && h.Name != "" {
		return decoder.Text(h.Name)
	}
	return o.ID.String()
}

// firstStream is the stream of an operator state, or the one in which a keyed
// handle's bytes or its file list stand.
func firstStream(s *metadata.SubtaskState, k model.Kind) *metadata.StreamHandle {
	keyed := s.ManagedKeyed
	switch k {
	case model.KindOperator:
		if s.ManagedOperator != nil {
			return &s.ManagedOperator.Delegate
		}
		return nil
	case model.KindRawOperator:
		if s.RawOperator != nil {
			return &s.RawOperator.Delegate
		}
		return nil
	case model.KindRawKeyed:
		keyed = s.RawKeyed
	}
	switch {
	case keyed == nil:
	case keyed.Groups != nil:
		return &keyed.Groups.Stream
	case keyed.Incr != nil:
		return &keyed.Incr.Meta
	}
	return nil
}
