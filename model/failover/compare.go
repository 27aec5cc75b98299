// Package failover looks at what Flink restores from when a JobManager fails: the
// completedCheckpoint objects of high availability, and what points to them in
// ZooKeeper and Kubernetes. It tells what is there, and whether it agrees with
// the `_metadata` files that a restore from a path reads.
package failover

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
)

// Difference is something that an object and its `_metadata` do not have alike.
type Difference struct {
	// Selector names the operator, or a state of one of its subtasks; "" is the
	// checkpoint.
	Selector string `json:"selector"`
	What     string `json:"what"`     // in words, e.g. "managed keyed state"
	Object   string `json:"object"`   // what the object has; "none" where it has nothing
	Metadata string `json:"metadata"` // what `_metadata` has
}

// String is one sentence, cleaned for a terminal.
func (d Difference) String() string {
	where := d.Selector
	if where != "" {
		where += ": "
	}
	return model.Clean(fmt.Sprintf("%s%s: object %s, _metadata %s", where, d.What, d.Object, d.Metadata))
}

// Compare gives the differences between a completedCheckpoint object and the
// `_metadata` of the same checkpoint: operators, subtasks, names and offsets of
// operator states, handles, inline data. Contents of files are not read. The
// order of operators, names and files counts not.
func Compare(ctx context.Context, object, meta *model.Snapshot) ([]Difference, error) {
	c := &comparison{ctx: ctx, object: side{object.Meta, object.Meta.In}, meta: side{meta.Meta, meta.Meta.In}, version: meta.Meta.Version}
	return c.list, c.run()
}

type side struct {
	*metadata.Checkpoint
	in decoder.Input
}

type comparison struct {
	ctx          context.Context
	object, meta side
	version      int32
	list         []Difference
}

const none = "none"

func (c *comparison) differ(g model.Target, what, object, meta string) {
	c.list = append(c.list, Difference{g.Selector(), what, object, meta})
}

// text compares two facts.
func (c *comparison) text(g model.Target, what, object, meta string) {
	if object != meta {
		c.differ(g, what, object, meta)
	}
}

func (c *comparison) run() error {
	top := model.Target{}
	c.text(top, "checkpoint id", fmt.Sprint(c.object.ID), fmt.Sprint(c.meta.ID))
	c.text(top, "master states", masters(c.object.Checkpoint), masters(c.meta.Checkpoint))
	of := map[metadata.OperatorID]*metadata.Operator{}
	for i := range c.object.Operators {
		of[c.object.Operators[i].ID] = &c.object.Operators[i]
	}
	for i := range c.meta.Operators {
		b := &c.meta.Operators[i]
		a := of[b.ID]
		delete(of, b.ID)
		if a == nil {
			c.differ(target(b), "operator", none, "there")
			continue
		}
		if err := c.operator(a, b); err != nil {
			return err
		}
	}
	for i := range c.object.Operators {
		if o := &c.object.Operators[i]; of[o.ID] != nil {
			c.differ(target(o), "operator", "there", none)
		}
	}
	return nil
}

func masters(m *metadata.Checkpoint) string {
	names := []string{}
	for _, x := range m.Masters {
		names = append(names, fmt.Sprintf("%s (%d B)", decoder.Text(x.Name), x.Payload.Len()))
	}
	slices.Sort(names)
	if len(names) == 0 {
		return none
	}
	return strings.Join(names, ", ")
}

func target(o *metadata.Operator) model.Target {
	return model.OperatorTarget(o.ID)
}

func (c *comparison) operator(a, b *metadata.Operator) error {
	g := target(b)
	c.text(g, "parallelism", fmt.Sprint(a.Parallelism), fmt.Sprint(b.Parallelism))
	c.text(g, "max parallelism", fmt.Sprint(a.MaxParallelism), fmt.Sprint(b.MaxParallelism))
	if c.version >= 5 {
		c.text(g, "name", decoder.Text(a.Name), decoder.Text(b.Name))
		c.text(g, "uid", decoder.Text(a.UID), decoder.Text(b.UID))
	}
	at := model.StateTarget(b.ID, model.KindCoordinator, "")
	if err := c.stream(at, "coordinator state", a.Coordinator, b.Coordinator); err != nil {
		return err
	}
	if (a.SubtaskCount < 0) != (b.SubtaskCount < 0) {
		c.differ(g, "finished", fmt.Sprint(a.SubtaskCount < 0), fmt.Sprint(b.SubtaskCount < 0))
	}
	subtasks := map[int32]*metadata.Subtask{}
	for i := range a.Subtasks {
		subtasks[a.Subtasks[i].Index] = &a.Subtasks[i]
	}
	for i := range b.Subtasks {
		y := &b.Subtasks[i]
		x := subtasks[y.Index]
		delete(subtasks, y.Index)
		what := fmt.Sprintf("subtask %d", y.Index)
		switch {
		case x == nil:
			c.differ(g, what, none, "there")
		case x.Finished != y.Finished:
			c.differ(g, what+" finished", fmt.Sprint(x.Finished), fmt.Sprint(y.Finished))
		case !x.Finished:
			if err := c.subtask(b.ID, y.Index, x.State, y.State); err != nil {
				return err
			}
		}
	}
	for i := range a.Subtasks {
		if x := &a.Subtasks[i]; subtasks[x.Index] != nil {
			c.differ(g, fmt.Sprintf("subtask %d", x.Index), "there", none)
		}
	}
	return c.ctx.Err()
}

func (c *comparison) subtask(op metadata.OperatorID, index int32, a, b *metadata.SubtaskState) error {
	at := func(k model.Kind) model.Target {
		return model.Target{Class: model.ClassCell, Op: op, Kind: k, Whole: true, Subtask: index, Entries: model.AllEntries}
	}
	if err := c.operatorHandle(at(model.KindOperator), a.ManagedOperator, b.ManagedOperator); err != nil {
		return err
	}
	if err := c.operatorHandle(at(model.KindRawOperator), a.RawOperator, b.RawOperator); err != nil {
		return err
	}
	if err := c.keyed(at(model.KindKeyed), "managed keyed state", a.ManagedKeyed, b.ManagedKeyed); err != nil {
		return err
	}
	if err := c.keyed(at(model.KindRawKeyed), "raw keyed state", a.RawKeyed, b.RawKeyed); err != nil {
		return err
	}
	for _, d := range []struct {
		what string
		a, b *metadata.Channels
	}{{"input channel state", &a.Input, &b.Input}, {"output channel state", &a.Output, &b.Output}} {
		if err := c.channels(at(model.KindInFlight), d.what, d.a, d.b); err != nil {
			return err
		}
	}
	return nil
}

// operatorHandle compares the stream, and each name by mode and offsets.
func (c *comparison) operatorHandle(g model.Target, a, b *metadata.OperatorHandle) error {
	if a == nil || b == nil {
		c.presence(g, "operator state", a != nil, b != nil)
		return nil
	}
	if err := c.stream(g, "stream of operator state", &a.Delegate, &b.Delegate); err != nil {
		return err
	}
	of := map[string]*metadata.OperatorState{}
	for i := range a.States {
		of[a.States[i].Name] = &a.States[i]
	}
	for i := range b.States {
		y := &b.States[i]
		x := of[y.Name]
		delete(of, y.Name)
		n := g
		n.Name, n.Whole = y.Name, false
		if x == nil {
			c.differ(n, "operator state", none, elements(y))
			continue
		}
		same, err := c.sameOffsets(x, y)
		if err != nil {
			return err
		}
		if !same {
			c.differ(n, "mode or offsets", elements(x), elements(y))
		}
	}
	for i := range a.States {
		if x := &a.States[i]; of[x.Name] != nil {
			n := g
			n.Name, n.Whole = x.Name, false
			c.differ(n, "operator state", elements(x), none)
		}
	}
	return nil
}

func elements(s *metadata.OperatorState) string {
	return fmt.Sprintf("%s, %d elements", model.Distribution(s.Mode), s.Offsets.Len())
}

func (c *comparison) presence(g model.Target, what string, object, meta bool) {
	word := map[bool]string{true: "there", false: none}
	c.text(g, what, word[object], word[meta])
}

// sameOffsets compares the arrays block by block.
func (c *comparison) sameOffsets(a, b *metadata.OperatorState) (bool, error) {
	if a.Mode != b.Mode || a.Offsets.Len() != b.Offsets.Len() {
		return false, nil
	}
	var x, y [4096]int64
	for i := int64(0); i < a.Offsets.Len(); {
		n, err := a.Offsets.Read(c.object.in, i, x[:])
		if err != nil {
			return false, err
		}
		if _, err := b.Offsets.Read(c.meta.in, i, y[:n]); err != nil {
			return false, err
		}
		if !slices.Equal(x[:n], y[:n]) {
			return false, nil
		}
		i += int64(n)
	}
	return true, nil
}

// The handles below are compared by what they are written as in `_metadata`: that
// is all that Flink takes from either. The hash is of one subtask with nothing
// else in it.

func (c *comparison) encoded(s side, state metadata.SubtaskState, coordinator *metadata.StreamHandle) ([sha256.Size]byte, error) {
	h := sha256.New()
	op := metadata.Operator{Coordinator: coordinator, SubtaskCount: 1, Subtasks: []metadata.Subtask{{State: &state}}}
	_, err := metadata.Encode(h, &metadata.Checkpoint{
		In: s.in, Version: c.version, Legacy114: c.meta.Legacy114, Legacy111: c.meta.Legacy111, Operators: []metadata.Operator{op},
	})
	return [sha256.Size]byte(h.Sum(nil)), err
}

// same compares two subtasks, or coordinator states, by their hashes.
func (c *comparison) same(a, b metadata.SubtaskState, ca, cb *metadata.StreamHandle) (bool, error) {
	x, err := c.encoded(c.object, a, ca)
	if err != nil {
		return false, fmt.Errorf("%s: %w", c.object.in.Name(), err)
	}
	y, err := c.encoded(c.meta, b, cb)
	if err != nil {
		return false, fmt.Errorf("%s: %w", c.meta.in.Name(), err)
	}
	return x == y, nil
}

func (c *comparison) stream(g model.Target, what string, a, b *metadata.StreamHandle) error {
	if a == nil || b == nil {
		c.presence(g, what, a != nil, b != nil)
		return nil
	}
	same, err := c.same(metadata.SubtaskState{}, metadata.SubtaskState{}, a, b)
	if err == nil && !same {
		c.differ(g, what, handle(a), handle(b))
	}
	return err
}

// handle is a stream handle in words.
func handle(h *metadata.StreamHandle) string {
	switch h.Type {
	case metadata.TypeByteStream:
		return fmt.Sprintf("inline, %d B", h.Data.Len())
	case metadata.TypeEmptySegment, metadata.TypeNull:
		return "empty"
	case metadata.TypeKeyGroups:
		if h.Keyed != nil {
			return handle(&h.Keyed.Stream)
		}
	}
	return fmt.Sprintf("%s, %d B", decoder.Text(h.Name), h.Size)
}

func (c *comparison) keyed(g model.Target, what string, a, b *metadata.KeyedHandle) error {
	if a == nil || b == nil {
		c.presence(g, what, a != nil, b != nil)
		return nil
	}
	x, err := sorted(c.object.in, *a)
	if err != nil {
		return err
	}
	y, err := sorted(c.meta.in, *b)
	if err != nil {
		return err
	}
	align(&x, &y)
	same, err := c.same(metadata.SubtaskState{ManagedKeyed: &x}, metadata.SubtaskState{ManagedKeyed: &y}, nil, nil)
	if err == nil && !same {
		c.differ(g, what, keyedText(&x), keyedText(&y))
	}
	return err
}

// sorted is a copy with the files of incremental handles in the order of their
// names, and without materialized handles that are null: Flink takes no notice of
// them.
func sorted(in decoder.Input, h metadata.KeyedHandle) (metadata.KeyedHandle, error) {
	if h.Incr != nil {
		i := *h.Incr
		for _, m := range []*metadata.FileMap{&i.Shared, &i.Private} {
			list, err := m.Load(in)
			if err != nil {
				return h, err
			}
			list = slices.Clone(list)
			slices.SortStableFunc(list, func(a, b metadata.NamedStream) int { return strings.Compare(a.Key, b.Key) })
			if m.New = list; list == nil {
				m.New = []metadata.NamedStream{}
			}
		}
		h.Incr = &i
	}
	if h.Changelog != nil {
		l := *h.Changelog
		l.NonMaterialized = slices.Clone(l.NonMaterialized)
		l.Materialized = slices.DeleteFunc(slices.Clone(l.Materialized), func(k metadata.KeyedHandle) bool { return k.Type == metadata.TypeNull })
		for k := range l.Materialized {
			x, err := sorted(in, l.Materialized[k])
			if err != nil {
				return h, err
			}
			l.Materialized[k] = x
		}
		h.Changelog = &l
	}
	return h, nil
}

// olderType is the form of handle without an id, by the newer form: an object has
// only the newer ones, a `_metadata` of Flink before 1.16 the others.
var olderType = map[byte]byte{
	metadata.TypeKeyGroups2: metadata.TypeKeyGroups, metadata.TypeIncremental: metadata.TypeIncremental1,
	metadata.TypeChangelog: metadata.TypeChangelog1, metadata.TypeChangelogFiles: metadata.TypeChangelogFiles1,
}

// align gives both handles the older form where one has it.
func align(a, b *metadata.KeyedHandle) {
	switch {
	case olderType[a.Type] == b.Type:
		a.Type = b.Type
	case olderType[b.Type] == a.Type:
		b.Type = a.Type
	}
	if a.Changelog == nil || b.Changelog == nil {
		return
	}
	x, y := a.Changelog, b.Changelog
	for i := range min(len(x.Materialized), len(y.Materialized)) {
		align(&x.Materialized[i], &y.Materialized[i])
	}
	for i := range min(len(x.NonMaterialized), len(y.NonMaterialized)) {
		align(&x.NonMaterialized[i], &y.NonMaterialized[i])
	}
}

// keyedText is a keyed handle in words.
func keyedText(h *metadata.KeyedHandle) string {
	s := fmt.Sprintf("type %d, key groups %d to %d", h.Type, h.Start, int64(h.Start)+int64(h.Number)-1)
	switch {
	case h.Groups != nil:
		return s + ", " + handle(&h.Groups.Stream)
	case h.Incr != nil:
		return s + fmt.Sprintf(", %d shared and %d private files", h.Incr.Shared.Len(), h.Incr.Private.Len())
	}
	return s
}

func (c *comparison) channels(g model.Target, what string, a, b *metadata.Channels) error {
	if a.Len() != b.Len() {
		c.differ(g, what, fmt.Sprintf("%d handles", a.Len()), fmt.Sprintf("%d handles", b.Len()))
		return nil
	}
	if a.Len() == 0 {
		return nil
	}
	states := func(ch *metadata.Channels) metadata.SubtaskState {
		if ch.Output {
			return metadata.SubtaskState{Output: *ch}
		}
		return metadata.SubtaskState{Input: *ch}
	}
	same, err := c.same(states(a), states(b), nil, nil)
	if err == nil && !same {
		c.differ(g, what, fmt.Sprintf("%d handles", a.Len()), fmt.Sprintf("%d others", b.Len()))
	}
	return err
}
