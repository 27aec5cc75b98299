package model

import (
	"context"
	"fmt"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// Detail is one line of what is known about a node: a label and its text.
type Detail struct{ Label, Text string }

// maxDetailFiles is how many files Details names before it only counts.
const maxDetailFiles = 20

// Details tells everything known about a node, most useful first, without
// reading anything but `_metadata`: selector, ids, sizes by kind, handles, files
// and their paths. Text from the file is not cleaned.
func (s *Snapshot) Details(t *Tree, n Node) []Detail { return s.detailsWith(t, n, nil) }

// AllDetails is Details with what ConnectorDetails, ListDetails and KeyedDetails
// read, before the files.
func (s *Snapshot) AllDetails(ctx context.Context, t *Tree, n Node) []Detail {
	inside := append(s.ConnectorDetails(ctx, t, n), s.ListDetails(ctx, t, n)...)
	return s.detailsWith(t, n, append(inside, s.KeyedDetails(ctx, t, n)...))
}

func (s *Snapshot) detailsWith(t *Tree, n Node, inside []Detail) []Detail {
	d := &detailList{}
	if g := t.Target(n, s.Meta.Operators); g.Class != ClassCheckpoint {
		d.text("selector", g.Selector())
	}
	switch t.Class(n) {
	case ClassCheckpoint:
		s.checkpointDetails(d)
	case ClassOperator:
		s.operatorDetails(d, t, n)
	case ClassMaster:
		d.text("master hook", decoder.Text(t.Name(n)))
	default:
		s.stateDetails(d, t, n)
	}
	d.sizes(t.Sizes(n))
	d.list = append(d.list, inside...)
	s.fileDetails(d, t, n)
	return d.list
}

type detailList struct{ list []Detail }

func (d *detailList) text(label, text string) { d.list = append(d.list, Detail{label, text}) }

func (d *detailList) add(label, format string, a ...any) { d.text(label, fmt.Sprintf(format, a...)) }

func (d *detailList) sizes(z Sizes) {
	bound := ""
	if z.UnknownFiles > 0 {
		bound = " at least (" + FormatPlural(z.UnknownFiles, "file") + " of no recorded length)"
	}
	d.add("in _metadata", "inline %s, bookkeeping %s", FormatSize(z.Inline), FormatSize(z.Bookkeeping))
	d.add("in files", "exclusive %s, shared %s%s, %s", FormatSize(z.Exclusive), FormatSize(z.Shared), bound, FormatPlural(z.Files, "file"))
}

func (s *Snapshot) checkpointDetails(d *detailList) {
	m := s.Meta
	d.text("file", s.URI)
	d.add("format", "version %d, checkpoint id %d, %d operators, %d master states", m.Version, m.ID, len(m.Operators), len(m.Masters))
	kind, guess := s.SnapshotKind()
	switch {
	case kind != "":
		d.text("kind", kind)
	case guess != "":
		d.add("kind", "not recorded; looks like %s", guess)
	}
	if m.Damage != nil {
		d.text("damage", m.Damage.Error())
	}
	d.add("length", "%s (%s bytes): header %s, trailer %s", FormatSize(m.In.Size()), FormatCount(m.In.Size()), FormatSize(m.Header.Len), FormatSize(m.Properties.Len+m.Trailing.Len))
}

func (s *Snapshot) operatorDetails(d *detailList, t *Tree, n Node) {
	op := t.Operator(n)
	o := &s.Meta.Operators[op]
	if name, origin := s.OperatorName(op); origin != NameNone {
		d.add("name", "%s (%s)", name, origin)
	}
	if uid := s.OperatorUID(op); uid != "" {
		d.text("uid", uid)
	}
	d.text("id", o.ID.String())
	d.add("parallelism", "%d of at most %d; %d subtasks recorded%s", o.Parallelism, o.MaxParallelism, len(o.Subtasks), finishedText(o))
	det := t.Detail(op)
	if det.StreamHeader > 0 {
		d.add("stream headers", "%s of operator-state streams belong to no element", FormatSize(det.StreamHeader))
	}
	if len(det.HeaderOnly) > 0 {
		d.add("header only", "%s: named in stream headers, without elements", strings.Join(texts(det.HeaderOnly), ", "))
	}
	if det.ChangelogBytes > 0 {
		d.add("changelog", "%s of changes in memory, inside the bookkeeping", FormatSize(det.ChangelogBytes))
	}
	if len(det.AlsoIn) > 0 {
		d.add("shares files", "with %d other operators", len(det.AlsoIn))
	}
}

func texts(raw []string) []string {
	out := make([]string, len(raw))
	for i, r := range raw {
		out[i] = decoder.Text(r)
	}
	return out
}

// FinishedWord is none, some or all: how many subtasks of an operator are finished.
func FinishedWord(o *metadata.Operator) string {
	n := 0
	for i := range o.Subtasks {
		if o.Subtasks[i].Finished {
			n++
		}
	}
	switch {
	case o.SubtaskCount < 0 || n > 0 && n == len(o.Subtasks):
		return "all"
	case n > 0:
		return "some"
	}
	return "none"
}

func finishedText(o *metadata.Operator) string {
	switch FinishedWord(o) {
	case "all":
		return "; finished"
	case "some":
		return "; some subtasks are finished"
	}
	return ""
}

func (s *Snapshot) stateDetails(d *detailList, t *Tree, n Node) {
	switch {
	case t.Whole(n):
		d.add("state", "all %s state of the operator, names together", t.Kind(n))
	case t.Kind(n) == KindCoordinator:
		d.add("state", "coordinator state (kept by the JobManager)")
	case t.Class(n) == ClassSubtask:
		d.add("subtask", "%d", t.Subtask(n))
		return
	default:
		d.add("state", "%s (%s%s)", decoder.Text(t.Name(n)), t.Kind(n), distText(t.Dist(n)))
	}
	if t.Class(n) == ClassCell {
		d.add("subtask", "%d", t.Subtask(n))
	} else if c := t.count[n]; c > 0 {
		d.add("subtasks", "%d hold it", c)
	}
	for _, k := range s.keyedNames(t.Operator(n), t.Kind(n)) {
		if !t.Whole(n) && k.Name == t.Name(n) && k.Type != "" {
			d.text("type", k.Type)
		}
	}
	if e := t.Entries(n); e != Unknown {
		d.text("entries", FormatCount(e))
	}
}

func distText(dist Distribution) string {
	switch dist {
	case DistSplit:
		return ", split list: each subtask gets its share at a restore"
	case DistUnion:
		return ", union list: every subtask gets all elements at a restore"
	case DistBroadcast:
		return ", broadcast: the same in every subtask"
	}
	return ""
}

// fileDetails lists the files of a node.
func (s *Snapshot) fileDetails(d *detailList, t *Tree, n Node) {
	if t.Class(n) == ClassCheckpoint || t.Class(n) == ClassMaster {
		return
	}
	seen, more := map[string]bool{}, 0
	err := s.EachUse(t, n, func(u metadata.StreamUse) error {
		text := s.streamText(u)
		if seen[text] {
			return nil
		}
		if len(seen) == maxDetailFiles {
			more++
			return nil
		}
		seen[text] = true
		d.text(partText(u), text)
		return nil
	})
	if err != nil {
		d.add("files", "cannot be listed: %v", err)
	}
	if more > 0 {
		d.add("files", "and %s more", FormatCount(int64(more)))
	}
}

func partText(u metadata.StreamUse) string {
	if p := u.Part.String(); p != "" && u.Part != metadata.Delegate {
		return p
	}
	return "stream"
}

func (s *Snapshot) streamText(u metadata.StreamUse) string {
	h, key := u.Stream, ""
	if u.Key != "" {
		key = decoder.Text(u.Key) + " = "
	}
	switch h.Type {
	case metadata.TypeByteStream:
		return fmt.Sprintf("%sinline, %s (%s)", key, FormatSize(h.Data.Len()), decoder.Text(h.Name))
	case metadata.TypeEmptySegment:
		return key + "empty segment"
	case metadata.TypeSegment:
		return fmt.Sprintf("%s%s, bytes %d to %d", key, decoder.Text(h.Name), h.Seg.Start, h.Seg.Start+h.Size)
	case metadata.TypeRelativeFile:
		return fmt.Sprintf("%s%s, %s (relative)", key, decoder.Text(h.Name), FormatSize(h.Size))
	}
	return fmt.Sprintf("%s%s, %s", key, decoder.Text(h.Name), FormatSize(h.Size))
}

// EachUse visits the stream handles of a node, in file order. A cell, and a named
// state, visits the handle that it shares with the other names of its kind.
func (s *Snapshot) EachUse(t *Tree, n Node, f func(metadata.StreamUse) error) error {
	place, any := placeOf(t.Kind(n), t.Name(n))
	visit := func(u metadata.StreamUse) error {
		if !any && u.Place != place {
			return nil
		}
		return f(u)
	}
	op := t.Operator(n)
	switch t.Class(n) {
	case ClassOperator, ClassState:
		return s.Meta.EachOperatorStream(op, visit)
	case ClassCell, ClassSubtask:
		return s.Meta.EachSubtaskStream(op, t.SubtaskAt(n), visit)
	}
	return nil
}

func placeOf(k Kind, name string) (p metadata.Place, any bool) {
	switch k {
	case KindOperator:
		return metadata.ManagedOperator, false
	case KindRawOperator:
		return metadata.RawOperator, false
	case KindKeyed:
		return metadata.ManagedKeyed, false
	case KindRawKeyed:
		return metadata.RawKeyed, false
	case KindCoordinator:
		return metadata.Coordinator, false
	case KindInFlight:
		if name == "output" {
			return metadata.OutputChannels, false
		}
		return metadata.InputChannels, false
	}
	return 0, true
}
