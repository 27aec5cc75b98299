package ha

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// clone copies structures as deep as the edits below change them.
func clone(c *metadata.Checkpoint) *metadata.Checkpoint {
	out := *c
	out.Masters = slices.Clone(c.Masters)
	out.Operators = slices.Clone(c.Operators)
	for i := range out.Operators {
		o := &out.Operators[i]
		o.Coordinator = cloneOf(o.Coordinator)
		o.Subtasks = slices.Clone(o.Subtasks)
		for k := range o.Subtasks {
			if o.Subtasks[k].State == nil {
				continue
			}
			s := *o.Subtasks[k].State
			s.ManagedOperator, s.RawOperator = cloneOperator(s.ManagedOperator), cloneOperator(s.RawOperator)
			s.ManagedKeyed, s.RawKeyed = cloneKeyed(s.ManagedKeyed), cloneKeyed(s.RawKeyed)
			s.Input.New, s.Output.New = slices.Clone(s.Input.New), slices.Clone(s.Output.New)
			o.Subtasks[k].State = &s
		}
	}
	return &out
}

func cloneOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func cloneOperator(h *metadata.OperatorHandle) *metadata.OperatorHandle {
	if h = cloneOf(h); h != nil {
		h.States = slices.Clone(h.States)
	}
	return h
}

func cloneKeyed(k *metadata.KeyedHandle) *metadata.KeyedHandle {
	if k = cloneOf(k); k == nil {
		return nil
	}
	k.Groups, k.Incr, k.Changelog, k.Files = cloneOf(k.Groups), cloneOf(k.Incr), cloneOf(k.Changelog), cloneOf(k.Files)
	if k.Incr != nil {
		k.Incr.Shared.New, k.Incr.Private.New = slices.Clone(k.Incr.Shared.New), slices.Clone(k.Incr.Private.New)
		for _, list := range [][]metadata.NamedStream{k.Incr.Shared.New, k.Incr.Private.New} {
			for i := range list {
				list[i].Stream.Keyed = cloneOf(list[i].Stream.Keyed)
			}
		}
	}
	if k.Changelog != nil {
		k.Changelog.Materialized, k.Changelog.NonMaterialized = cloneList(k.Changelog.Materialized), cloneList(k.Changelog.NonMaterialized)
	}
	if k.Files != nil {
		k.Files.Increments = slices.Clone(k.Files.Increments)
	}
	return k
}

func cloneList(list []metadata.KeyedHandle) []metadata.KeyedHandle {
	out := make([]metadata.KeyedHandle, len(list))
	for i := range list {
		out[i] = *cloneKeyed(&list[i])
	}
	return out
}

// eachState calls f for every subtask with a state record.
func eachState(c *metadata.Checkpoint, f func(s *metadata.SubtaskState)) {
	for i := range c.Operators {
		for k := range c.Operators[i].Subtasks {
			if s := c.Operators[i].Subtasks[k].State; s != nil {
				f(s)
			}
		}
	}
}

func eachOperatorHandle(c *metadata.Checkpoint, f func(h **metadata.OperatorHandle)) {
	eachState(c, func(s *metadata.SubtaskState) {
		for _, h := range []**metadata.OperatorHandle{&s.ManagedOperator, &s.RawOperator} {
			if *h != nil {
				f(h)
			}
		}
	})
}

func eachKeyed(c *metadata.Checkpoint, f func(k *metadata.KeyedHandle)) {
	var nested func(k *metadata.KeyedHandle)
	nested = func(k *metadata.KeyedHandle) {
		f(k)
		if k.Changelog != nil {
			for i := range k.Changelog.Materialized {
				nested(&k.Changelog.Materialized[i])
			}
			for i := range k.Changelog.NonMaterialized {
				nested(&k.Changelog.NonMaterialized[i])
			}
		}
	}
	eachState(c, func(s *metadata.SubtaskState) {
		for _, k := range []*metadata.KeyedHandle{s.ManagedKeyed, s.RawKeyed} {
			if k != nil {
				nested(k)
			}
		}
	})
}

const newDir = "s3://bucket/new dir/chk-9"

// relocated gives every file of the checkpoint another name.
func relocated(h metadata.StreamHandle) metadata.StreamHandle {
	switch h.Type {
	case metadata.TypeFile, metadata.TypeRelativeFile:
		return metadata.StreamHandle{Type: metadata.TypeFile, Name: "s3://moved/" + fmt.Sprint(len(h.Name)), Size: h.Size}
	}
	return h
}

// edits are what is tried on every object: each changes a copy of the
// structures, and tells whether it changed anything.
var edits = []struct {
	name string
	edit func(c *metadata.Checkpoint) bool
}{
	{"nothing", func(c *metadata.Checkpoint) bool { return true }},
	{"masters", func(c *metadata.Checkpoint) bool {
		had := len(c.Masters)
		c.Masters = nil
		return had > 0
	}},
	{"first operator", func(c *metadata.Checkpoint) bool {
		c.Operators = c.Operators[min(1, len(c.Operators)):]
		return true
	}},
	{"all but the last operator", func(c *metadata.Checkpoint) bool {
		c.Operators = c.Operators[max(len(c.Operators)-1, 0):]
		return true
	}},
	{"coordinators", func(c *metadata.Checkpoint) (changed bool) {
		for i := range c.Operators {
			changed = changed || c.Operators[i].Coordinator != nil
			c.Operators[i].Coordinator = nil
		}
		return changed
	}},
	{"coordinator rewritten", func(c *metadata.Checkpoint) (changed bool) {
		for i := range c.Operators {
			if h := c.Operators[i].Coordinator; h != nil {
				h.Data, h.Size, changed = metadata.Blob{New: []byte("new state")}, 9, true
			}
		}
		return changed
	}},
	{"subtask 0", func(c *metadata.Checkpoint) bool {
		for i := range c.Operators {
			o := &c.Operators[i]
			o.Subtasks = slices.DeleteFunc(o.Subtasks, func(s metadata.Subtask) bool { return s.Index == 0 })
			if o.SubtaskCount >= 0 {
				o.SubtaskCount = int32(len(o.Subtasks))
			}
		}
		return true
	}},
	{"operator handles", func(c *metadata.Checkpoint) (changed bool) {
		eachOperatorHandle(c, func(h **metadata.OperatorHandle) { *h, changed = nil, true })
		return changed
	}},
	{"first name of each", func(c *metadata.Checkpoint) (changed bool) {
		eachOperatorHandle(c, func(h **metadata.OperatorHandle) {
			if len((*h).States) > 0 {
				(*h).States, changed = (*h).States[1:], true
			}
		})
		return changed
	}},
	{"every second element", func(c *metadata.Checkpoint) (changed bool) {
		eachOperatorHandle(c, func(h **metadata.OperatorHandle) {
			for i := range (*h).States {
				o := &(*h).States[i].Offsets
				for k := int64(0); k < min(o.Len(), 6); k += 2 {
					*o, changed = o.Without([]metadata.Range{{First: k, Last: k}}), true
				}
			}
		})
		return changed
	}},
	{"operator streams in new files", func(c *metadata.Checkpoint) (changed bool) {
		n := 0
		eachOperatorHandle(c, func(h **metadata.OperatorHandle) {
			if (*h).Type == metadata.TypePartitionable {
				(*h).Delegate, changed = metadata.StreamHandle{Type: metadata.TypeRelativeFile, Name: fmt.Sprintf("new file %d", n), Size: 77}, true
				n++
			}
		})
		return changed
	}},
	{"operator streams inline", func(c *metadata.Checkpoint) (changed bool) {
		eachOperatorHandle(c, func(h **metadata.OperatorHandle) {
			if d := &(*h).Delegate; d.Type == metadata.TypeByteStream {
				d.Data, d.Size, changed = metadata.Blob{New: []byte{1, 2, 3}}, 3, true
			}
		})
		return changed
	}},
	{"merged files emptied", func(c *metadata.Checkpoint) (changed bool) {
		eachOperatorHandle(c, func(h **metadata.OperatorHandle) {
			if (*h).Type == metadata.TypeFileMergingOperator && (*h).EmptyByte == 0 {
				(*h).States, (*h).EmptyByte, (*h).Delegate, changed = nil, 1, metadata.StreamHandle{Type: metadata.TypeEmptySegment}, true
			}
		})
		return changed
	}},
	{"merged files to a new file", func(c *metadata.Checkpoint) (changed bool) {
		eachOperatorHandle(c, func(h **metadata.OperatorHandle) {
			if (*h).Type == metadata.TypeFileMergingOperator && (*h).EmptyByte == 0 {
				(*h).Type, (*h).TaskOwnedDir, (*h).SharedDir = metadata.TypePartitionable, "", ""
				(*h).Delegate, changed = metadata.StreamHandle{Type: metadata.TypeFile, Name: "file:/new", Size: 5}, true
			}
		})
		return changed
	}},
	{"keyed handles", func(c *metadata.Checkpoint) (changed bool) {
		eachState(c, func(s *metadata.SubtaskState) {
			changed = changed || s.ManagedKeyed != nil || s.RawKeyed != nil
			s.ManagedKeyed, s.RawKeyed = nil, nil
		})
		return changed
	}},
	{"key groups rewritten", func(c *metadata.Checkpoint) (changed bool) {
		eachKeyed(c, func(k *metadata.KeyedHandle) {
			if k.Groups != nil {
				k.Groups.Offsets = metadata.NewOffsets(make([]int64, k.Groups.Number))
				k.Groups.Stream = metadata.StreamHandle{Type: metadata.TypeFile, Name: "file:/new/keyed", Size: 1000}
				if k.Type == metadata.TypeKeyGroups2 {
					k.HandleID = "11111111-2222-3333-4444-555555555555"
				}
				changed = true
			}
		})
		return changed
	}},
	{"files of incremental handles", func(c *metadata.Checkpoint) (changed bool) {
		eachKeyed(c, func(k *metadata.KeyedHandle) {
			if k.Incr == nil {
				return
			}
			changed = true
			k.Incr.Meta = metadata.StreamHandle{Type: metadata.TypeFile, Name: "file:/new/meta", Size: 10}
			if k.Type == metadata.TypeIncremental {
				k.HandleID += "x"
			}
			shared, private := k.Incr.Shared.New, k.Incr.Private.New
			private = append(private, metadata.NamedStream{Key: "new.sst", Stream: metadata.StreamHandle{Type: metadata.TypeFile, Name: "file:/new/sst", Size: 11}})
			if len(shared) > 0 {
				private, shared = append(private, shared[0]), shared[1:]
			}
			if len(shared) > 0 {
				shared[0].Stream = metadata.StreamHandle{Type: metadata.TypeFile, Name: "file:/other/sst", Size: 12}
			}
			k.Incr.Shared.New, k.Incr.Private.New = shared, private
			k.Incr.Shared.Count, k.Incr.Private.Count = len(shared), len(private)
		})
		return changed
	}},
	{"channels", func(c *metadata.Checkpoint) (changed bool) {
		eachState(c, func(s *metadata.SubtaskState) {
			changed = changed || s.Input.Count+s.Output.Count > 0
			s.Input, s.Output = metadata.Channels{}, metadata.Channels{Output: true}
		})
		return changed
	}},
	{"all files elsewhere", func(c *metadata.Checkpoint) bool {
		changed := false
		if err := c.EditStreams(func(u metadata.StreamUse) (bool, error) {
			was := u.Stream.Type
			*u.Stream = relocated(*u.Stream)
			changed = changed || was == metadata.TypeFile || was == metadata.TypeRelativeFile
			return true, nil
		}); err != nil {
			panic(err)
		}
		return changed
	}},
}

// absolute is what becomes of a new relative file: an absolute one.
func absolute(c *metadata.Checkpoint) {
	eachOperatorHandle(c, func(h **metadata.OperatorHandle) {
		if d := &(*h).Delegate; d.Type == metadata.TypeRelativeFile && len(d.Name) > 4 && d.Name[:4] == "new " {
			d.Type, d.Name = metadata.TypeFile, newDir+"/"+d.Name
		}
	})
}

// checkEdits tries every edit on an object.
func checkEdits(t *testing.T, name string, b []byte, seen func(edit string, out []byte)) {
	t.Helper()
	c := decode(t, name, b)
	before := lines(t, c.Meta, false)
	for _, ed := range edits {
		edited := clone(c.Meta)
		if !ed.edit(edited) {
			continue
		}
		var out bytes.Buffer
		n, err := c.Encode(&out, edited, newDir+"/")
		if err != nil || n != int64(out.Len()) {
			t.Errorf("%s: %s: %d of %d bytes, %v", name, ed.name, n, out.Len(), err)
			continue
		}
		size, err := c.EncodedSize(edited, newDir)
		if err != nil || size != n {
			t.Errorf("%s: %s: size %d, %v; %d were written", name, ed.name, size, err, n)
		}
		if ed.name == "nothing" && !bytes.Equal(out.Bytes(), b[:c.stream.Span.Len]) {
			t.Errorf("%s: written without edits it differs", name)
		}
		got, err := Decode(decoder.Bytes{Data: out.Bytes(), Label: name + " " + ed.name})
		if err != nil {
			t.Errorf("%s: %s: %v", name, ed.name, err)
			continue
		}
		accounted(t, name, got.Meta)
		absolute(edited)
		same(t, name+": "+ed.name, lines(t, got.Meta, false), lines(t, edited, false))
		if got.JobID != c.JobID || got.ExternalPointer != c.ExternalPointer || got.Timestamp != c.Timestamp || got.Properties.Kind != c.Properties.Kind || got.Restored.Kind != c.Restored.Kind {
			t.Errorf("%s: %s: other fields changed", name, ed.name)
		}
		if seen != nil {
			seen(ed.name, out.Bytes())
		}
	}
	if after := lines(t, c.Meta, false); !slices.Equal(before, after) {
		t.Errorf("%s: an edit changed the source", name)
	}
}

func TestEditsOfRealObjects(t *testing.T) {
	eachObject(t, func(name string, b []byte) { checkEdits(t, name, b, nil) })
}
