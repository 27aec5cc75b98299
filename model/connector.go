package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/connector"
)

// maxCoordinator bounds what is read of one coordinator's state.
const maxCoordinator = 256 << 20

// CoordinatorValue decodes the coordinator state of an operator.
func (s *Snapshot) CoordinatorValue(op int) (connector.Decoded, error) {
	h := s.Meta.Operators[op].Coordinator
	if h == nil {
		return connector.Decoded{}, errors.New("the operator has no coordinator state")
	}
	data, err := h.Data.Read(s.Meta.In, maxCoordinator)
	if err != nil {
		return connector.Decoded{}, err
	}
	return connector.DecodeCoordinator(data)
}

// ConnectorElement decodes an element of an operator state as its connector
// wrote it; ok is false where the state is not known as a connector's.
func (s *Snapshot) ConnectorElement(t *Tree, cell Node, data []byte) (d connector.Decoded, ok bool, err error) {
	return connector.Element(s.connectorPlace(t, cell), data)
}

func (s *Snapshot) connectorPlace(t *Tree, cell Node) connector.Place {
	return connector.Place{State: t.Name(cell)}
}

// KafkaPosition is a Kafka partition in the state of an operator.
type KafkaPosition struct {
	connector.Partition
	State   string // "" for the coordinator
	Subtask int    // -1 for the coordinator
	Copies  int64  // how often the same stands there
}

// Where names the state that a position is in.
func (p KafkaPosition) Where() string {
	switch {
	case p.State == "":
		return "enumerator"
	case p.Subtask < 0:
		return decoder.Text(p.State)
	}
	return fmt.Sprintf("%s of subtask %d", decoder.Text(p.State), p.Subtask)
}

// maxPositions bounds the table of KafkaPositions.
const maxPositions = 100_000

// KafkaPositions lists what an operator's states say about Kafka partitions,
// those of all states and the coordinator together, by topic and partition.
// Equal entries of one state are counted, not repeated. more tells that there
// are more than the table holds. With an error the list is what could be read.
func (s *Snapshot) KafkaPositions(ctx context.Context, t *Tree, op int) (list []KafkaPosition, more bool, err error) {
	index := map[KafkaPosition]int{}
	add := func(p KafkaPosition) {
		i, ok := index[p]
		if !ok {
			if len(list) == maxPositions {
				more = true
				return
			}
			i = len(list)
			index[p] = i
			list = append(list, p)
		}
		list[i].Copies++
	}
	if s.Meta.Operators[op].Coordinator != nil {
		// A coordinator that is not a source's has no partitions.
		if d, err := s.CoordinatorValue(op); err == nil {
			for _, k := range d.Kafka {
				add(KafkaPosition{Partition: k, Subtask: -1})
			}
		}
	}
	for _, n := range t.Children(nil, t.OperatorNode(op), TurnState) {
		if t.Kind(n) != KindOperator || t.Dist(n) == DistBroadcast || !mayHoldPartitions(t.Name(n)) {
			continue
		}
		if err = errors.Join(err, s.statePositions(ctx, t, n, add)); ctx.Err() != nil {
			return list, more, err
		}
	}
	slices.SortStableFunc(list, func(a, b KafkaPosition) int {
		if c := strings.Compare(a.Topic, b.Topic); c != 0 {
			return c
		}
		if c := int(a.Partition.Partition) - int(b.Partition.Partition); c != 0 {
			return c
		}
		switch enumerator := a.State == ""; {
		case enumerator == (b.State == ""):
			return 0
		case enumerator:
			return 1 // last: it has no offset, or the one to begin with
		}
		return -1
	})
	return list, more, err
}

// HoldsConnector reports whether n is the coordinator state or a state that may
// hold Kafka partitions, or an operator with one of these.
func (s *Snapshot) HoldsConnector(t *Tree, n Node) bool {
	switch t.Class(n) {
	case ClassOperator:
		return s.Meta.Operators[t.Operator(n)].Coordinator != nil ||
			slices.ContainsFunc(t.Children(nil, n, TurnState), func(c Node) bool { return s.HoldsConnector(t, c) })
	case ClassState:
		return t.Kind(n) == KindCoordinator || t.Kind(n) == KindOperator && t.Dist(n) != DistBroadcast && mayHoldPartitions(t.Name(n))
	}
	return false
}

func mayHoldPartitions(name string) bool {
	return name == "topic-partition-offset-states" || name == "SourceReaderState"
}

// statePositions reads the elements of one state. A union state is the same in
// every subtask in effect, so its subtasks are not told apart.
func (s *Snapshot) statePositions(ctx context.Context, t *Tree, n Node, add func(KafkaPosition)) error {
	for _, cell := range t.Children(nil, n, TurnState) {
		sub := t.Subtask(cell)
		if t.Dist(n) == DistUnion {
			sub = -1
		}
		err := s.EachElement(ctx, t, cell, maxElement, func(e ElementData) error {
			d, ok, err := s.ConnectorElement(t, cell, e.Data)
			if !ok || err != nil {
				return ctx.Err() // not Kafka's: nothing to list
			}
			for _, k := range d.Kafka {
				add(KafkaPosition{Partition: k, State: t.Name(n), Subtask: sub})
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// maxElement is how much of an element is read to decode it.
const maxElement = 1 << 20
