package model

import "chkscope/decoder/metadata"

// keyedHandle adds a managed or raw keyed handle: one row for all names
// together, or for the only name, and a row for each name that a stream header
// tells, with sizes where they were counted.
func (b *builder) keyedHandle(k int32, h *metadata.KeyedHandle, kind Kind, slot int) {
	b.serial++
	var cell, state Sizes
	changelog := b.keyedStreams(h, kind, slot, func(c, s use) {
		cell, state = addSizes(cell, c.sizes()), addSizes(state, s.sizes())
	})
	cell.Bookkeeping = h.Span.Len - cell.Inline
	d := b.detail(b.op)
	d.ChangelogBytes += changelog
	if kind == KindKeyed {
		if d.KeyedHandles == nil {
			d.KeyedHandles = map[byte]int{}
		}
		d.KeyedHandles[h.Type]++
	}
	names := b.s.keyedNames(int(b.op), kind)
	entries := Unknown
	key, flags := stateKey{kind: kind, whole: true}, flag(0)
	only := len(names) == 1 && kind == KindKeyed
	if only {
		key, flags = stateKey{kind: kind, name: names[0].Name}, flagHeaderName
		if c, ok := b.s.counted(b.op, k, kind, names[0].Name); ok {
			entries = c.Entries
		}
	}
	counted := !only && len(names) > 0 && b.s.allCounted(int(b.op), kind)
	if !counted {
		si := b.state(key, DistNone, flags)
		b.cell(si, k, cell, entries)
		st := &b.states[si].sizes
		st.Exclusive, st.Shared = st.Exclusive+state.Exclusive, st.Shared+state.Shared
		st.Files, st.UnknownFiles = st.Files+state.Files, st.UnknownFiles+state.UnknownFiles
	}
	if !only && len(names) > 0 {
		b.keyedNameCells(k, h, kind, names, cell)
	}
}

// keyedNameCells adds a cell for each name of the handle's streams. What was
// not counted is Unknown; a counted one lies where the handle's bytes lie.
func (b *builder) keyedNameCells(k int32, h *metadata.KeyedHandle, kind Kind, names []KeyedName, whole Sizes) {
	for _, n := range names {
		si := b.state(stateKey{kind: kind, name: n.Name}, DistNone, flagHeaderName)
		size := Sizes{Inline: Unknown, Bookkeeping: Unknown, Exclusive: Unknown, Shared: Unknown, Files: Unknown}
		entries := Unknown
		if c, ok := b.s.counted(b.op, k, kind, n.Name); ok {
			size, entries = Sizes{}, c.Entries
			switch {
			case c.Bytes == Unknown:
				size = Sizes{Inline: Unknown, Bookkeeping: Unknown, Exclusive: Unknown, Shared: Unknown, Files: Unknown}
			case whole.Exclusive > 0:
				size.Exclusive, size.Files = c.Bytes, whole.Files
			case whole.Shared > 0:
				size.Shared, size.Files = c.Bytes, whole.Files
			default:
				size.Inline = c.Bytes
			}
		}
		b.cell(si, k, size, entries)
		st := &b.states[si].sizes
		st.Exclusive, st.Shared, st.Files = plus(st.Exclusive, size.Exclusive), plus(st.Shared, size.Shared), plus(st.Files, size.Files)
	}
}

// keyedStreams visits every stream of a keyed handle and gives the bytes of
// in-memory changelog in it.
func (b *builder) keyedStreams(h *metadata.KeyedHandle, kind Kind, slot int, f func(cell, state use)) (changelog int64) {
	visit := func(sh *metadata.StreamHandle, r role) { f(b.stream(sh, kind, r, slot)) }
	switch {
	case h.Groups != nil:
		visit(&h.Groups.Stream, roleOwn)
	case h.Incr != nil:
		visit(&h.Incr.Meta, roleOwn)
		b.fileMap(&h.Incr.Shared, roleSharedMap, visit)
		b.fileMap(&h.Incr.Private, roleOwn, visit)
	case h.Changelog != nil:
		for i := range h.Changelog.Materialized {
			changelog += b.keyedStreams(&h.Changelog.Materialized[i], kind, slot, f)
		}
		for i := range h.Changelog.NonMaterialized {
			changelog += b.keyedStreams(&h.Changelog.NonMaterialized[i], kind, slot, f)
		}
	case h.Inline != nil:
		changelog = h.Inline.Changes.Span.Len
	case h.Files != nil:
		for i := range h.Files.Increments {
			visit(&h.Files.Increments[i].Stream, roleChangelog)
		}
	}
	return changelog
}

func (b *builder) fileMap(m *metadata.FileMap, r role, visit func(*metadata.StreamHandle, role)) {
	// Errors cannot be new here: the entries were read once when decoding.
	_ = m.Each(b.s.Meta.In, func(_ int, s metadata.NamedStream) error {
		visit(&s.Stream, r)
		return nil
	})
}
