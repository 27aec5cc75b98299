package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"chkscope/decoder/serde"
	"chkscope/model"
)

// showCoordinator is the coordinator state of an operator.
type showCoordinator struct {
	Connector    string       `json:"connector"`
	Version      number       `json:"version"`      // of its serializer
	Experimental bool         `json:"experimental"` // no real bytes of this form were at hand to test with
	Value        *serde.Value `json:"value"`
	Why          *string      `json:"why"` // why there is no value
}

// showPosition is a Kafka partition in one state of the operator. Equal entries
// are counted, not repeated.
type showPosition struct {
	Topic     text    `json:"topic"`
	Partition int32   `json:"partition"`
	Offset    *int64  `json:"offset"`  // as it is stored; null where none is
	Meaning   *string `json:"meaning"` // of the offset: last_read or next; null without one
	Sentinel  *string `json:"sentinel"`
	State     *text   `json:"state"`   // null for the coordinator
	Subtask   *int    `json:"subtask"` // null for the coordinator and union lists
	Copies    int64   `json:"copies"`

	where string
}

// showConnector is what connectors keep in an operator's state.
type showConnector struct {
	coordinator *showCoordinator
	positions   []showPosition
	more        bool
}

// connectorOf decodes the coordinator and the Kafka positions of the operator
// of a node that holds them, alone or with others.
func connectorOf(ctx context.Context, s *snapshot, n model.Node) (showConnector, error) {
	c := showConnector{positions: []showPosition{}}
	op := s.tree.Operator(n)
	if op < 0 || !s.HoldsConnector(s.tree, n) {
		return c, nil
	}
	if k := s.tree.Kind(n); s.Meta.Operators[op].Coordinator != nil && (s.tree.Class(n) == model.ClassOperator || k == model.KindCoordinator) {
		c.coordinator = newShowCoordinator(s, op)
	}
	list, more, err := s.KafkaPositions(ctx, s.tree, op)
	if ctx.Err() != nil {
		return c, ctx.Err()
	}
	if err != nil {
		more = true // a stream that cannot be read is told with its entries
	}
	for _, p := range list {
		v := showPosition{Topic: text(p.Topic), Partition: p.Partition.Partition, Sentinel: stringOrNull(p.Sentinel), State: orNull(p.State), Copies: p.Copies, where: p.Where()}
		if p.HasOffset {
			v.Offset, v.Meaning = &p.Offset, stringOrNull("next")
			if p.LastRead {
				v.Meaning = stringOrNull("last_read")
			}
		}
		if p.Subtask >= 0 {
			v.Subtask = &p.Subtask
		}
		c.positions = append(c.positions, v)
	}
	c.more = more
	return c, nil
}

func newShowCoordinator(s *snapshot, op int) *showCoordinator {
	d, err := s.CoordinatorValue(op)
	if err != nil {
		return &showCoordinator{Version: number(model.Unknown), Why: stringOrNull(err.Error())}
	}
	return &showCoordinator{Connector: d.Connector, Version: number(d.Version), Experimental: d.Experimental, Value: &d.Value}
}

func writeCoordinator(w io.Writer, c *showCoordinator) {
	if c == nil {
		return
	}
	if c.Value == nil {
		fmt.Fprintf(w, "  coordinator   not decoded: %s\n", model.Clean(*c.Why))
		return
	}
	experimental := ""
	if c.Experimental {
		experimental = ", experimental"
	}
	value := model.ValueText(*c.Value)
	if len(value) > maxShownValue {
		value = strings.ToValidUTF8(value[:maxShownValue], "") + " … --json has all of it"
	}
	fmt.Fprintf(w, "  coordinator   %s, version %d%s\n    %s\n", model.Clean(c.Connector), c.Version, experimental, value)
}

// Of text; documents have all.
const (
	maxShownPositions = 200  // lines of the table
	maxShownValue     = 4096 // bytes of a coordinator's value
)

func writePositions(w io.Writer, list []showPosition, more bool) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, "  Kafka partitions (KafkaSource keeps the offset to read next, the old FlinkKafkaConsumer that of the last record read)")
	rows := newTable("lrrlll")
	rows.row("topic", "partition", "offset", "", "state", "")
	for _, p := range list[:min(len(list), maxShownPositions)] {
		offset, meaning, copies := "", "", ""
		switch {
		case p.Sentinel != nil:
			meaning = *p.Sentinel
		case p.Offset != nil && *p.Meaning == "last_read":
			offset, meaning = fmt.Sprint(*p.Offset), "read last"
		case p.Offset != nil:
			offset, meaning = fmt.Sprint(*p.Offset), "to read next"
		}
		if p.Copies > 1 {
			copies = model.FormatCount(p.Copies) + " equal"
		}
		rows.row(model.Clean(string(p.Topic)), fmt.Sprint(p.Partition), offset, meaning, model.Clean(p.where), copies)
	}
	rows.write(w, "    ")
	if left := len(list) - maxShownPositions; left > 0 {
		fmt.Fprintf(w, "    and %s more; --json has them\n", model.FormatCount(int64(left)))
	}
	if more {
		fmt.Fprintln(w, "    the list is not complete")
	}
}
