package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"chkscope/decoder/serde"
	"chkscope/model"
)

// showEntry is one entry: a list element, an entry of a broadcast map or of
// keyed state. What does not apply is null. A part that could not be decoded
// is an object with its bytes and the reason.
type showEntry struct {
	Selector  string       `json:"selector"` // of the entry, or of its cell where it has none
	Entry     int64        `json:"entry"`
	Offset    number       `json:"offset"` // of a list element in its stream
	Bytes     number       `json:"bytes"`
	Hex       *string      `json:"hex"` // the first bytes of a list element
	KeyGroup  *int32       `json:"key_group"`
	Key       *serde.Value `json:"key"`
	Namespace *serde.Value `json:"namespace"`
	MapKey    *serde.Value `json:"map_key"`
	Value     *serde.Value `json:"value"`
	Why       *string      `json:"why"`       // why there is no value, or not all of it
	Connector *string      `json:"connector"` // whose own format the value was read from
}

// firstEntries reads the entries that a selector names, or the first ones of
// the first subtask that has any.
func firstEntries(ctx context.Context, s *snapshot, n model.Node, g model.Target, f showFlags) ([]showEntry, error) {
	cells := []model.Node{n}
	if s.tree.Class(n) == model.ClassState {
		cells = s.tree.Children(nil, n, model.TurnState)
	}
	from, count := int64(0), f.entries
	if g.Entries.First >= 0 {
		from, count = g.Entries.First, int(min(int64(count), g.Entries.Last-g.Entries.First+1))
	}
	if s.tree.Kind(n) == model.KindCoordinator && count > 0 {
		return []showEntry{coordinatorEntry(s, n, f.bytes)}, nil
	}
	for _, cell := range cells {
		var out []showEntry
		switch {
		case s.tree.Dist(cell) == model.DistBroadcast:
			out = mapEntries(ctx, s, cell, from, count)
		case s.HasElements(s.tree, cell):
			out = listEntries(ctx, s, cell, from, count, f.bytes)
		case s.HasKeyedEntries(s.tree, cell):
			out = keyedEntries(ctx, s, cell, from, count)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return []showEntry{}, nil
}

// listEntries gives elements of a list, with their bytes and values as far as
// they can be read.
func listEntries(ctx context.Context, s *snapshot, cell model.Node, from int64, n, head int) []showEntry {
	elements, err := s.Elements(ctx, s.tree, cell, from, n, head)
	values, _ := s.ElementValues(ctx, s.tree, cell, from, n, model.PageLimits) // its error is that of Elements, or in each value
	at := s.tree.Target(cell, s.Meta.Operators)
	var out []showEntry
	for i, e := range elements {
		at.Entries = model.EntryRange{First: e.Index, Last: e.Index}
		v := showEntry{Selector: at.Selector(), Entry: e.Index, Offset: number(e.Off), Bytes: number(e.Len)}
		if err != nil {
			v.Why = stringOrNull(err.Error())
		} else {
			h := hex.EncodeToString(e.Head)
			v.Hex = &h
		}
		if i < len(values) {
			v.setValue(values[i].Value, values[i].Err)
		}
		v.setConnector(ctx, s, cell)
		out = append(out, v)
	}
	return out
}

// maxConnector is how much of an element is read to decode it as a connector's.
const maxConnector = 1 << 20

// setConnector reads the element as its connector wrote it, where that is known.
func (e *showEntry) setConnector(ctx context.Context, s *snapshot, cell model.Node) {
	if _, ok, _ := s.ConnectorElement(s.tree, cell, nil); !ok {
		return
	}
	whole, err := s.Elements(ctx, s.tree, cell, e.Entry, 1, maxConnector)
	if err != nil || len(whole) != 1 {
		return
	}
	if d, ok, err := s.ConnectorElement(s.tree, cell, whole[0].Head); ok && err == nil {
		e.Value, e.Why, e.Connector = present(d.Value), nil, &d.Connector
	}
}

// coordinatorEntry is the state of a coordinator, which is one piece.
func coordinatorEntry(s *snapshot, n model.Node, head int) showEntry {
	h := s.Meta.Operators[s.tree.Operator(n)].Coordinator
	v := showEntry{Selector: s.selector(n), Offset: number(model.Unknown), Bytes: number(h.Data.Len())}
	in := h.Data.Input(s.Meta.In, s.URI)
	raw := make([]byte, min(int64(head), in.Size()))
	if k, err := in.ReadAt(raw, 0); k == len(raw) {
		v.Hex = stringOrNull(hex.EncodeToString(raw))
	} else {
		v.Why = stringOrNull(err.Error())
	}
	d, err := s.CoordinatorValue(s.tree.Operator(n))
	v.setValue(d.Value, err)
	if err == nil {
		v.Connector = stringOrNull(d.Connector)
	}
	return v
}

// mapEntries gives entries of a broadcast map.
func mapEntries(ctx context.Context, s *snapshot, cell model.Node, from int64, n int) []showEntry {
	values, err := s.ElementValues(ctx, s.tree, cell, from, n, model.PageLimits)
	var out []showEntry
	for _, e := range values {
		v := showEntry{Selector: s.selector(cell), Entry: e.Index, Offset: number(e.Off), Bytes: number(e.Len), Key: present(e.Key)}
		v.setValue(e.Value, errors.Join(e.Err, err))
		out = append(out, v)
	}
	return out
}

// keyedEntries gives entries of a named keyed state.
func keyedEntries(ctx context.Context, s *snapshot, cell model.Node, from int64, n int) []showEntry {
	entries, _ := s.KeyedEntries(ctx, s.tree, cell, from, n, model.PageLimits) // what could be read is shown
	var out []showEntry
	for _, e := range entries {
		v := showEntry{
			Selector: s.selector(cell), Entry: e.Index, Offset: number(model.Unknown), Bytes: number(e.Len), KeyGroup: &e.Group,
			Key: present(e.Key), Namespace: present(e.Namespace), MapKey: present(e.MapKey),
		}
		v.setValue(e.Value, nil)
		out = append(out, v)
	}
	return out
}

// setValue takes a value over, with why it is not all there.
func (e *showEntry) setValue(v serde.Value, err error) {
	e.Value = present(v)
	switch {
	case err != nil:
		e.Why = stringOrNull(err.Error())
	case v.Form == serde.Opaque:
		e.Why = stringOrNull(v.Why)
	}
}

// present is nil for what does not apply.
func present(v serde.Value) *serde.Value {
	if v.Form == serde.Missing {
		return nil
	}
	return &v
}

func writeEntries(w io.Writer, entries []showEntry) {
	if len(entries) == 0 {
		return
	}
	fmt.Fprintln(w, "  first entries")
	rows := newTable("rrl")
	for _, e := range entries {
		rows.row(model.FormatCount(e.Entry), model.FormatSize(int64(e.Bytes)), entryText(e))
		if e.Hex != nil && *e.Hex != "" {
			raw, _ := hex.DecodeString(*e.Hex) // made above
			more := ""
			if int64(e.Bytes) > int64(len(raw)) {
				more = " …"
			}
			rows.row("", "", hexBytes(raw)+more+"  "+printableBytes(raw))
		}
	}
	rows.write(w, "    ")
}

// entryText is key and value of an entry, or why there is none.
func entryText(e showEntry) string {
	var parts []string
	for _, part := range []struct {
		label string
		v     *serde.Value
	}{{"key", e.Key}, {"namespace", e.Namespace}, {"map key", e.MapKey}} {
		if part.v != nil {
			parts = append(parts, part.label+" "+model.ValueText(*part.v))
		}
	}
	if e.Value != nil && e.Value.Form != serde.Opaque {
		value := model.ValueText(*e.Value)
		if len(parts) > 0 {
			value = "= " + value
		}
		parts = append(parts, value)
	}
	if e.Connector != nil {
		parts = append(parts, "("+model.Clean(*e.Connector)+")")
	}
	if e.Why != nil {
		parts = append(parts, "("+model.Clean(*e.Why)+")")
	}
	return strings.Join(parts, " ")
}

// hexBytes prints bytes in groups of four.
func hexBytes(b []byte) string {
	var s strings.Builder
	for i, c := range b {
		if i > 0 && i%4 == 0 {
			s.WriteByte(' ')
		}
		fmt.Fprintf(&s, "%02x", c)
	}
	return s.String()
}

// printableBytes prints ASCII and a dot for every other byte.
func printableBytes(b []byte) string {
	out := make([]byte, len(b))
	for i, c := range b {
		out[i] = '.'
		if c >= ' ' && c < 0x7f {
			out[i] = c
		}
	}
	return string(out)
}
