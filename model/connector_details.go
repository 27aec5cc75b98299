package model

import (
	"context"
	"fmt"
	"strings"
)

// Of ConnectorDetails.
const (
	maxDetailStreams    = 8 << 20 // bytes of operator state that are read for it
	maxDetailPositions  = 200
	maxDetailValueBytes = 4096
)

// ConnectorDetails tells what connectors keep in the operator of n: the
// coordinator's state and the Kafka partitions of all sides. Unlike Details it
// reads state; lists too long for that are left out, with a line that says so.
// Text from the file is not cleaned.
func (s *Snapshot) ConnectorDetails(ctx context.Context, t *Tree, n Node) []Detail {
	if !s.HoldsConnector(t, n) {
		return nil
	}
	d, op := &detailList{}, t.Operator(n)
	if t.Class(n) == ClassOperator || t.Kind(n) == KindCoordinator {
		s.coordinatorDetail(d, op)
	}
	z := t.Sizes(t.OperatorNode(op))
	if z.Inline+z.Exclusive+z.Shared > maxDetailStreams {
		d.add("partitions", "not listed: the operator holds %s of state", FormatSize(z.Inline+z.Exclusive+z.Shared))
		return d.list
	}
	list, more, err := s.KafkaPositions(ctx, t, op)
	lines := 0
	for i, p := range list {
		if i > 0 && p.Topic == list[i-1].Topic && p.Partition.Partition == list[i-1].Partition.Partition {
			if lines <= maxDetailPositions {
				d.list[len(d.list)-1].Text += "; " + p.Text()
			}
		} else if lines++; lines <= maxDetailPositions {
			d.add("partition", "%s %d: %s", p.Topic, p.Partition.Partition, p.Text())
		}
	}
	if left := lines - maxDetailPositions; left > 0 || more {
		d.add("partitions", "and %s more", FormatCount(int64(max(left, 1))))
	}
	if err != nil && ctx.Err() == nil {
		d.add("partitions", "cannot be read: %v", err)
	}
	return d.list
}

func (s *Snapshot) coordinatorDetail(d *detailList, op int) {
	if s.Meta.Operators[op].Coordinator == nil {
		return
	}
	v, err := s.CoordinatorValue(op)
	if err != nil {
		d.add("coordinator", "not decoded: %v", err)
		return
	}
	text := v.Value.String()
	if len(text) > maxDetailValueBytes {
		text = strings.ToValidUTF8(text[:maxDetailValueBytes], "") + " …"
	}
	d.add("coordinator", "%s, version %d: %s", v.Connector, v.Version, text)
}

// Text is where a position stands and what its offset means.
func (p KafkaPosition) Text() string {
	text := ""
	switch {
	case p.Sentinel != "":
		text = p.Sentinel + ", "
	case p.HasOffset && p.LastRead:
		text = fmt.Sprintf("read last %d, ", p.Offset)
	case p.HasOffset:
		text = fmt.Sprintf("to read next %d, ", p.Offset)
	}
	text += p.Where()
	if p.Copies > 1 {
		text += fmt.Sprintf(" (%s equal)", FormatCount(p.Copies))
	}
	return text
}
