package model

import (
	"context"

	"chkscope/decoder/serde"
)

// shownLargest is how many of the largest keys KeyedDetails names.
const shownLargest = 10

// KeyedDetails tells of a named keyed state, as far as its streams were counted,
// which keys have the most and how it lies in its key groups. It reads the entries
// of these keys.
// Text from the file is not cleaned.
func (s *Snapshot) KeyedDetails(ctx context.Context, t *Tree, n Node) []Detail {
	c := t.Class(n)
	if t.Kind(n) != KindKeyed || c != ClassState && c != ClassCell || t.Whole(n) {
		return nil
	}
	d, op, name := &detailList{}, t.Operator(n), t.Name(n)
	groups := s.KeyGroups(op, name)
	if c == ClassCell {
		groups = groupsOf(groups, int32(t.Subtask(n)))
	}
	if len(groups) == 0 {
		return nil
	}
	keyGroupDetail(d, groups, s.Meta.Operators[op].MaxParallelism)
	if t.Entries(n) < 0 {
		d.text("", "of the subtasks that were counted")
	}
	if c == ClassCell {
		return d.list
	}
	keys, err := s.LargestKeys(ctx, t, op, name, shownLargest)
	for _, k := range keys {
		text := "key " + ValueText(k.Key)
		if k.Namespace.Form != serde.Missing {
			text += " / " + ValueText(k.Namespace)
		}
		d.add("largest", "%s: %s, %s, key group %d, subtask %d", text, FormatPlural(k.Entries, "entry"), FormatSize(k.Bytes), k.Group, k.Subtask)
	}
	if err != nil && ctx.Err() == nil {
		d.add("largest", "cannot be read: %v", err)
	}
	return d.list
}

func groupsOf(all []KeyGroupSize, subtask int32) []KeyGroupSize {
	var out []KeyGroupSize
	for _, g := range all {
		if g.Subtask == subtask {
			out = append(out, g)
		}
	}
	return out
}

// keyGroupDetail tells how even the key groups are.
func keyGroupDetail(d *detailList, groups []KeyGroupSize, maxParallelism int32) {
	most, sum := groups[0], int64(0)
	for _, g := range groups {
		if sum += g.Bytes; g.Bytes > most.Bytes {
			most = g
		}
	}
	mean := float64(sum) / float64(len(groups))
	d.add("key groups", "%s of %d hold entries, %s on average; the largest is %d with %s (%.1f times the average)", FormatCount(int64(len(groups))), maxParallelism,
		FormatSize(int64(mean)), most.Group, FormatSize(most.Bytes), float64(most.Bytes)/max(mean, 1))
}
