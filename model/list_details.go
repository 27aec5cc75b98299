package model

import (
	"context"

	"chkscope/decoder/serde"
)

// Of ListDetails.
const (
	maxListDetail = 256 << 10 // bytes of a list that is read for it
	shownEntries  = 10
)

// ListDetails tells which entries a small list or broadcast map of operator state
// has, equal ones once. States of Kafka partitions are left to ConnectorDetails.
// Text from the file is cleaned.
func (s *Snapshot) ListDetails(ctx context.Context, t *Tree, n Node) []Detail {
	z := t.Sizes(n)
	if !s.HasGroups(t, n) || t.Entries(n) <= 0 || mayHoldPartitions(t.Name(n)) || z.Inline+z.Exclusive+z.Shared > maxListDetail {
		return nil
	}
	g, err := s.GroupValues(ctx, t, n, shownEntries, PageLimits)
	if ctx.Err() != nil {
		return nil
	}
	d := &detailList{}
	for _, v := range g.Groups {
		d.text("entry", v.Text())
	}
	if left := g.Distinct - int64(len(g.Groups)); left > 0 {
		d.add("", "and %s others", FormatCount(left))
	}
	if err != nil {
		d.add("entries", "cannot be read: %v", err)
	}
	return d.list
}

// Text is the entry with how often it is there, where that is more than once.
func (g *ValueGroup) Text() string {
	text := ValueText(g.First.Value)
	if g.First.Key.Form != serde.Missing {
		text = ValueText(g.First.Key) + " = " + text
	}
	if g.Count > 1 {
		text = FormatCount(g.Count) + " x " + text
	}
	return text
}
