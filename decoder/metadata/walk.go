package metadata

import (
	"fmt"
	"strings"
)

// Place is the field of an operator or subtask record that a stream stands in.
type Place uint8

const (
	Coordinator Place = iota
	Legacy
	ManagedOperator
	RawOperator
	ManagedKeyed
	RawKeyed
	InputChannels
	OutputChannels
)

var placeNames = [...]string{"coordinator state", "legacy state", "managed operator state", "raw operator state",
	"managed keyed state", "raw keyed state", "input channel state", "result subpartition state"}

func (p Place) String() string { return placeNames[p] }

// Part is what a stream is to the handle that names it.
type Part uint8

const (
	Whole     Part = iota // the coordinator's or a legacy handle itself
	Delegate              // of an operator-state, key-group or channel handle
	Meta                  // of an incremental handle
	Shared                // a file of an incremental handle's `shared` map
	Private               // a file of its `private` map
	LogStream             // an increment of a changelog (types 10, 13)
)

var partNames = [...]string{"", "delegate", "meta", "shared", "private", "increment"}

func (p Part) String() string { return partNames[p] }

// StreamUse is one stream handle and where it stands.
type StreamUse struct {
	// Operator and Entry are positions in Checkpoint.Operators and
	// Operator.Subtasks; Entry is -1 for the coordinator.
	Operator, Entry int
	Subtask         int32 // index; -1 for the coordinator
	Place           Place
	Part            Part
	// Element is the position in the list that the stream stands in: legacy
	// handles, `shared`, `private`, increments, channels, chain (V1); else -1.
	Element int
	Key     string // local name in `shared` and `private`
	// Stream names or holds bytes: types 1, 2, 6, 15 and 16. Where type 3 wraps
	// another handle, Stream is the inner one. It is never of type 0.
	Stream *StreamHandle
	// Held tells that Stream is part of the Checkpoint, so that changing it
	// changes what is encoded. Streams in lists that are decoded on demand are
	// copies: see FileMap.Load, Channels.Load and EditStreams.
	Held bool
	// Operator-state, keyed and channel handles around the stream; nil where
	// there is none. Keyed is the innermost one, Changelog the one around it
	// (types 8, 14), Materialized tells in which of its lists.
	OperatorHandle   *OperatorHandle
	Keyed, Changelog *KeyedHandle
	Materialized     bool
	Channel          *ChannelHandle
}

// String is the path of structures, as in decoder.Error.Path.
func (u StreamUse) String() string {
	parts := []string{fmt.Sprintf("operator %d", u.Operator)}
	if u.Entry >= 0 {
		parts = append(parts, fmt.Sprintf("subtask %d", u.Subtask))
	}
	parts = append(parts, u.Place.String())
	if u.Changelog != nil && u.Materialized {
		parts = append(parts, "materialized")
	} else if u.Changelog != nil {
		parts = append(parts, "non-materialized")
	}
	last := u.Part.String()
	switch {
	case u.Key != "":
		last += " " + u.Key
	case u.Element >= 0:
		last = strings.TrimLeft(fmt.Sprintf("%s %d", last, u.Element), " ")
	}
	if last != "" {
		parts = append(parts, last)
	}
	return strings.Join(parts, " / ")
}

// EachStream calls f for every stream handle of the file, in file order, and
// stops at the first error. Lists that are decoded on demand are decoded.
func (c *Checkpoint) EachStream(f func(StreamUse) error) error {
	for i := range c.Operators {
		if err := c.EachOperatorStream(i, f); err != nil {
			return err
		}
	}
	return nil
}

// EachOperatorStream is EachStream for the operator at position op.
func (c *Checkpoint) EachOperatorStream(op int, f func(StreamUse) error) error {
	w := walker{c: c, visit: func(u StreamUse) (bool, error) { return false, f(u) }}
	return w.operator(op)
}

// EachSubtaskStream is EachStream for one entry of the operator at position op.
func (c *Checkpoint) EachSubtaskStream(op, entry int, f func(StreamUse) error) error {
	w := walker{c: c, visit: func(u StreamUse) (bool, error) { return false, f(u) }}
	return w.subtask(op, entry)
}

// EditStreams calls f for every stream handle; f may change u.Stream and then
// gives true. A list that was decoded on demand stays in memory from then on,
// if one of its streams was changed. Of a merged channel handle and of the
// handles around a stream, nothing but the stream may be changed.
func (c *Checkpoint) EditStreams(f func(StreamUse) (changed bool, err error)) error {
	w := walker{c: c, visit: f, edit: true}
	for i := range c.Operators {
		if err := w.operator(i); err != nil {
			return err
		}
	}
	return nil
}

// walker visits streams; visit tells whether it changed one.
type walker struct {
	c     *Checkpoint
	visit func(StreamUse) (bool, error)
	edit  bool
}

// stream visits h as u.
func (w *walker) stream(u StreamUse, h *StreamHandle) (bool, error) {
	for h != nil && h.Type == TypeKeyGroups && h.Keyed != nil {
		h = &h.Keyed.Stream
	}
	if h == nil || h.Type == TypeNull {
		return false, nil
	}
	u.Stream = h
	return w.visit(u)
}

func (w *walker) held(u StreamUse, h *StreamHandle) error {
	u.Held = true
	_, err := w.stream(u, h)
	return err
}

func (w *walker) operator(op int) error {
	o := &w.c.Operators[op]
	u := StreamUse{Operator: op, Entry: -1, Subtask: -1, Element: -1}
	if err := w.held(u, o.Coordinator); err != nil {
		return err
	}
	for i := range o.Subtasks {
		if err := w.subtask(op, i); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) subtask(op, entry int) error {
	t := &w.c.Operators[op].Subtasks[entry]
	s := t.State
	if s == nil {
		return nil
	}
	u := StreamUse{Operator: op, Entry: entry, Subtask: t.Index, Element: -1}
	if err := w.legacy(u, s); err != nil {
		return err
	}
	u.Part, u.Place = Delegate, ManagedOperator
	if err := w.operatorHandle(u, s.ManagedOperator); err != nil {
		return err
	}
	u.Place = RawOperator
	if err := w.operatorHandle(u, s.RawOperator); err != nil {
		return err
	}
	u.Place = ManagedKeyed
	if err := w.keyed(u, s.ManagedKeyed); err != nil {
		return err
	}
	u.Place = RawKeyed
	if err := w.keyed(u, s.RawKeyed); err != nil {
		return err
	}
	u.Place = InputChannels
	if err := w.channels(u, &s.Input); err != nil {
		return err
	}
	u.Place = OutputChannels
	return w.channels(u, &s.Output)
}

// legacy visits what only V1 and the V2 files of Flink 1.3 have.
func (w *walker) legacy(u StreamUse, s *SubtaskState) error {
	u.Place = Legacy
	for i := range s.Legacy {
		u.Element = i
		if err := w.held(u, &s.Legacy[i]); err != nil {
			return err
		}
	}
	if s.Chain == nil {
		return nil
	}
	u.Part = Delegate
	for p, list := range [][]*OperatorHandle{s.Chain.Managed, s.Chain.Raw} {
		u.Place = ManagedOperator + Place(p)
		for i, h := range list {
			u.Element = i
			if err := w.operatorHandle(u, h); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) operatorHandle(u StreamUse, h *OperatorHandle) error {
	if h == nil {
		return nil
	}
	u.OperatorHandle = h
	return w.held(u, &h.Delegate)
}

func (w *walker) keyed(u StreamUse, k *KeyedHandle) error {
	if k == nil {
		return nil
	}
	u.Keyed = k
	switch {
	case k.Groups != nil:
		return w.held(u, &k.Groups.Stream)
	case k.Incr != nil:
		return w.incremental(u, k.Incr)
	case k.Changelog != nil:
		return w.changelog(u, k)
	case k.Files != nil:
		u.Part = LogStream
		for i := range k.Files.Increments {
			u.Element = i
			if err := w.held(u, &k.Files.Increments[i].Stream); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) incremental(u StreamUse, h *IncrementalHandle) error {
	u.Part = Meta
	if err := w.held(u, &h.Meta); err != nil {
		return err
	}
	u.Part = Shared
	if err := w.fileMap(u, &h.Shared); err != nil {
		return err
	}
	u.Part = Private
	return w.fileMap(u, &h.Private)
}

func (w *walker) changelog(u StreamUse, k *KeyedHandle) error {
	u.Changelog = k
	for i, list := range [][]KeyedHandle{k.Changelog.Materialized, k.Changelog.NonMaterialized} {
		u.Materialized = i == 0
		for j := range list {
			if err := w.keyed(u, &list[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// fileMap visits the files of an incremental handle; an edit keeps them all in
// memory once one was changed.
func (w *walker) fileMap(u StreamUse, m *FileMap) error {
	if m.New != nil {
		u.Held = true
		for i := range m.New {
			u.Element, u.Key = i, m.New[i].Key
			if _, err := w.stream(u, &m.New[i].Stream); err != nil {
				return err
			}
		}
		return nil
	}
	changed, list := false, []NamedStream(nil)
	err := m.Each(w.c.In, func(i int, s NamedStream) error {
		u.Element, u.Key = i, s.Key
		one, err := w.stream(u, &s.Stream)
		changed = changed || one
		if w.edit {
			list = append(list, s)
		}
		return err
	})
	if err == nil && changed {
		m.New = list
	}
	return err
}

func (w *walker) channels(u StreamUse, ch *Channels) error {
	u.Held = ch.New != nil
	changed, list := false, []ChannelHandle(nil)
	err := ch.Each(w.c, func(i int, h *ChannelHandle) error {
		u.Element, u.Channel = i, h
		one, err := w.stream(u, &h.Delegate)
		changed = changed || one
		if w.edit && ch.New == nil {
			list = append(list, *h)
		}
		return err
	})
	if err == nil && changed && ch.New == nil {
		ch.New = list
	}
	return err
}
