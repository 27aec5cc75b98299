package ha

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"sort"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// lines describes a checkpoint in lines that are the same for an object and the
// `_metadata` of the same checkpoint. With loaded, what Flink makes anew when it
// loads an old `_metadata` is left out: state handle ids and the type bytes that
// depend on the version.
func lines(t testing.TB, c *metadata.Checkpoint, loaded bool) []string {
	t.Helper()
	d := describer{t: t, c: c, loaded: loaded}
	d.add("checkpoint %d", c.ID)
	for _, m := range c.Masters {
		d.add("master %q v%d %s", m.Name, m.Version, d.hash(m.Payload.Span))
	}
	for i := range c.Operators {
		d.operator(&c.Operators[i])
	}
	sort.Strings(d.out)
	return d.out
}

type describer struct {
	t      testing.TB
	c      *metadata.Checkpoint
	loaded bool
	at     string
	out    []string
}

func (d *describer) add(format string, a ...any) {
	d.out = append(d.out, d.at+fmt.Sprintf(format, a...))
}

func (d *describer) hash(s decoder.Span) string {
	b, err := decoder.ReadSpan(d.c.In, s, 1<<30)
	if err != nil {
		d.t.Fatal(err)
	}
	return fmt.Sprintf("%d:%x", len(b), sha256.Sum256(b))[:24]
}

func (d *describer) blob(b metadata.Blob) string {
	if b.New != nil {
		return fmt.Sprintf("%d:%x", len(b.New), sha256.Sum256(b.New))[:24]
	}
	return d.hash(b.Span)
}

func (d *describer) operator(o *metadata.Operator) {
	d.at = ""
	name, uid := o.Name, o.UID
	d.add("operator %s %q %q %d/%d coordinator %s", o.ID, name, uid, o.Parallelism, o.MaxParallelism, d.stream(o.Coordinator))
	if o.SubtaskCount < 0 {
		d.add("operator %s finished", o.ID)
	}
	for i := range o.Subtasks {
		s := &o.Subtasks[i]
		d.at = fmt.Sprintf("%s %d ", o.ID, s.Index)
		d.add("finished %t", s.Finished)
		if s.State == nil {
			continue
		}
		d.operatorHandle("managed", s.State.ManagedOperator)
		d.operatorHandle("raw", s.State.RawOperator)
		d.keyed("keyed", s.State.ManagedKeyed)
		d.keyed("raw keyed", s.State.RawKeyed)
		d.channels("input", s.State.Input)
		d.channels("output", s.State.Output)
	}
	d.at = ""
}

func (d *describer) stream(h *metadata.StreamHandle) string {
	if h == nil {
		return "none"
	}
	s := fmt.Sprintf("type %d %q %d", h.Type, h.Name, h.Size)
	switch {
	case h.Seg != nil:
		s += fmt.Sprintf(" %+v", *h.Seg)
	case h.Type == metadata.TypeByteStream:
		s += " " + d.blob(h.Data)
	case h.Keyed != nil:
		s += " " + d.groups(h.Keyed)
	}
	return s
}

func (d *describer) offsets(o metadata.Offsets) string {
	var b bytes.Buffer
	if err := o.Each(d.c.In, func(_, v int64) error { fmt.Fprintf(&b, "%d ", v); return nil }); err != nil {
		d.t.Fatal(err)
	}
	if b.Len() > 60 {
		return fmt.Sprintf("%d %x", o.Len(), sha256.Sum256(b.Bytes()))[:24]
	}
	return b.String()
}

func (d *describer) operatorHandle(what string, h *metadata.OperatorHandle) {
	if h == nil {
		return
	}
	d.add("%s type %d %q %q %d in %s", what, h.Type, h.TaskOwnedDir, h.SharedDir, h.EmptyByte, d.stream(&h.Delegate))
	for _, s := range h.States {
		d.add("%s state %q mode %d offsets %s", what, s.Name, s.Mode, d.offsets(s.Offsets))
	}
}

func (d *describer) groups(g *metadata.KeyGroupsHandle) string {
	return fmt.Sprintf("%d+%d offsets %s in %s", g.Start, g.Number, d.offsets(g.Offsets), d.stream(&g.Stream))
}

func (d *describer) keyed(what string, k *metadata.KeyedHandle) {
	if k == nil {
		return
	}
	typ, id := k.Type, k.HandleID
	if d.loaded {
		id = ""
		switch typ {
		case metadata.TypeKeyGroups:
			typ = metadata.TypeKeyGroups2
		case metadata.TypeIncremental1:
			typ = metadata.TypeIncremental
		case metadata.TypeChangelog1:
			typ = metadata.TypeChangelog
		case metadata.TypeChangelogFiles1:
			typ = metadata.TypeChangelogFiles
		}
	}
	d.add("%s type %d %d+%d id %q", what, typ, k.Start, k.Number, id)
	switch {
	case k.Groups != nil:
		d.add("%s groups %s", what, d.groups(k.Groups))
	case k.Incr != nil:
		size := k.Incr.CheckpointedSize
		if d.loaded {
			size = 0
		}
		d.add("%s incremental %d %s %d meta %s", what, k.Incr.CheckpointID, k.Incr.BackendID, size, d.stream(&k.Incr.Meta))
		d.files(what+" shared", k.Incr.Shared)
		d.files(what+" private", k.Incr.Private)
	case k.Changelog != nil:
		c := k.Changelog
		id := c.CheckpointID
		if d.loaded {
			id = 0
		}
		d.add("%s changelog %d %d %d", what, c.CheckpointedSize, c.MaterializationID, id)
		for i := range c.Materialized {
			d.keyed(fmt.Sprintf("%s materialized %d", what, i), &c.Materialized[i])
		}
		for i := range c.NonMaterialized {
			d.keyed(fmt.Sprintf("%s log %d", what, i), &c.NonMaterialized[i])
		}
	case k.Inline != nil:
		d.add("%s from %d to %d", what, k.Inline.From, k.Inline.To)
		i := 0
		err := k.Inline.Changes.Each(d.c.In, func(group int32, data decoder.Span) error {
			d.add("%s change %d group %d %s", what, i, group, d.hash(data))
			i++
			return nil
		})
		if err != nil {
			d.t.Fatal(err)
		}
	case k.Files != nil:
		d.add("%s files %d %d", what, k.Files.Size, k.Files.CheckpointedSize)
		for i := range k.Files.Increments {
			d.add("%s increment %d at %d %s", what, i, k.Files.Increments[i].Offset, d.stream(&k.Files.Increments[i].Stream))
		}
	}
}

func (d *describer) files(what string, m metadata.FileMap) {
	if err := m.Each(d.c.In, func(_ int, s metadata.NamedStream) error {
		d.add("%s %q %s", what, s.Key, d.stream(&s.Stream))
		return nil
	}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *describer) channels(what string, ch metadata.Channels) {
	err := ch.Each(d.c, func(_ int, h *metadata.ChannelHandle) error {
		d.add("%s kind %d subtask %d channel %d %d size %d offsets %s packed %s in %s", what, h.Kind, h.Subtask, h.A, h.B, h.Size, d.offsets(h.Offsets), d.blob(h.Packed), d.stream(&h.Delegate))
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// same compares descriptions and reports the first differences.
func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	a, b := map[string]int{}, map[string]int{}
	for _, l := range got {
		a[l]++
	}
	for _, l := range want {
		b[l]++
	}
	shown := 0
	for _, l := range got {
		if a[l] > b[l] && shown < 6 {
			t.Errorf("%s: has     %s", what, l)
			shown++
		}
	}
	for _, l := range want {
		if b[l] > a[l] && shown < 12 {
			t.Errorf("%s: has not %s", what, l)
			shown++
		}
	}
}
