package prune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/connector"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
	"chkscope/model"
)

// A KafkaSource keeps a partition twice: its readers the split with the offset to
// read next, the enumerator that it is known and assigned. Gone from the readers
// alone it is never read again, gone from the enumerator alone it is read twice:
// what goes on one side goes on the other.

// kafkaEdit is what goes of a KafkaSource.
type kafkaEdit struct {
	gone       map[kafkaPartition]bool
	left       []byte // coordinator state without them
	enumerator int64  // how many of them the enumerator knew
	// finished: the enumerator has found its first partitions, so that those it finds
	// later are new ones.
	finished bool
}

type kafkaPartition struct {
	topic     string
	partition int32
}

// maxCoordinator bounds what is read of a coordinator's state.
const maxCoordinator = 256 << 20

// readerSplit is a split of a KafkaSource in a reader's list.
type readerSplit struct {
	kafkaPartition
	sub   int
	index int64
	goes  bool
}

// tieKafka takes Kafka partitions of which splits go, or which the condition
// chooses of the enumerator, out of all readers and the enumerator. What is not a
// KafkaSource is left to tieSource.
func (w *work) tieKafka(ctx context.Context, bad *refusals, p *Plan, op int) error {
	r := w.removal
	src, k := &r.src.Operators[op], stateKey{op, false, readerState}
	named, asked := r.enumerators[op]
	rm := r.states[k]
	inPart := rm != nil && len(rm.whole)+len(rm.duplicates) == 0 && len(rm.entries) > 0
	if r.operators[op] || r.coordinators[op] || src.Coordinator == nil || !inPart && !asked {
		return nil
	}
	c, e, err := w.kafkaCoordinator(src)
	var splits []readerSplit
	known := false
	if err == nil {
		splits, known, err = w.kafkaSplits(ctx, k)
	}
	if err != nil {
		return err
	}
	if e == nil || !known || len(splits) == 0 && !isKafka(c) {
		if asked {
			r.entries.asked(stateID{op, model.KindCoordinator, ""}, false)
		}
		if named {
			bad.add("where-target", src.ID.String()+"/coordinator", "its coordinator is not that of a KafkaSource of a known version: a condition cannot look into it", "")
		}
		return nil
	}
	edit := &kafkaEdit{gone: map[kafkaPartition]bool{}, finished: e.Version == 1 || e.DiscoveryFinished}
	for _, s := range splits {
		if s.goes {
			edit.gone[s.kafkaPartition] = true
		}
	}
	if asked {
		w.chooseOfEnumerator(op, c, e, edit)
	}
	if len(edit.gone) == 0 {
		return nil
	}
	left, n, err := c.WithoutKafka(edit.goes)
	if err != nil || len(c.Behind) > 0 {
		bad.add("kafka-coordinator", src.ID.String()+"/coordinator", "its coordinator state is of a version that cannot be written without some of its partitions", "")
		return nil
	}
	edit.left, edit.enumerator = left.Append(nil), int64(n)
	r.kafka[op] = edit
	w.takeAlong(p, k, splits, edit, asked)
	w.kafkaSentences(p, src, edit)
	return nil
}

// isKafka tells whether the coordinator's bytes are a KafkaSource's and nobody
// else's.
func isKafka(c *connector.Coordinator) bool {
	d, err := connector.DecodeCoordinator(c.Append(nil))
	return err == nil && len(d.Kafka) > 0
}

// goes tells whether a partition goes.
func (e *kafkaEdit) goes(p connector.Partition) bool {
	return e.gone[kafkaPartition{p.Topic, p.Partition}]
}

// kafkaCoordinator reads the coordinator of an operator; nil where it is not that
// of a KafkaSource.
func (w *work) kafkaCoordinator(op *metadata.Operator) (*connector.Coordinator, *connector.KafkaEnumerator, error) {
	if op.Coordinator.Type != metadata.TypeByteStream {
		return nil, nil, nil
	}
	data, err := op.Coordinator.Data.Read(w.snap.Meta.In, maxCoordinator)
	if err != nil {
		return nil, nil, err
	}
	c, err := connector.ParseCoordinator(data)
	if err != nil || string(c.Append(nil)) != string(data) {
		return nil, nil, nil
	}
	e, err := connector.ParseKafkaEnumerator(c.EnumeratorVersion, c.Enumerator)
	if err != nil {
		return nil, nil, nil
	}
	return c, e, nil
}

// kafkaSplits lists the splits of the readers; false where one is not Kafka's.
func (w *work) kafkaSplits(ctx context.Context, k stateKey) (list []readerSplit, known bool, err error) {
	rm := w.removal.states[k]
	w.removal.eachSubtask(k.op, -1, func(at place, s *metadata.SubtaskState) bool {
		cell := model.None
		if findState(s.ManagedOperator, k.name) != nil && err == nil {
			cell = w.snap.Find(w.tree, w.cellTarget(k, at.sub))
		}
		if cell == model.None {
			return false
		}
		var gone []metadata.Range
		if rm != nil {
			gone = normal(rm.entries[at.sub])
		}
		err = w.snap.EachEntry(ctx, w.tree, []model.Node{cell}, serde.DefaultLimits, nil, func(e *model.Entry) error {
			if e.Connector == nil || len(e.Connector.Kafka) != 1 {
				return errNotKafka
			}
			t := e.Connector.Kafka[0]
			list = append(list, readerSplit{kafkaPartition{t.Topic, t.Partition}, at.sub, e.Index, within(gone, e.Index)})
			return nil
		})
		return false
	})
	if errors.Is(err, errNotKafka) {
		return nil, false, nil
	}
	return list, true, err
}

// errNotKafka ends the reading of splits that are another source's.
var errNotKafka = errors.New("not a split of a KafkaSource")

// chooseOfEnumerator asks the condition about the partitions that the enumerator
// knows.
func (w *work) chooseOfEnumerator(op int, c *connector.Coordinator, e *connector.KafkaEnumerator, edit *kafkaEdit) {
	d, err := connector.DecodeCoordinator(c.Append(nil))
	var values []serde.Value
	if err == nil {
		values = d.Value.Field("partitions").Items
	}
	a := asker{w.removal.where, w.removal.entries, stateID{op, model.KindCoordinator, ""}, true}
	for i, t := range e.Partitions {
		d.Kafka = []connector.Partition{{Topic: t.Topic, Partition: t.Partition.Partition}}
		entry := model.Entry{Subtask: -1, Index: int64(i), Group: -1, Len: -1, Connector: &d}
		if i < len(values) {
			entry.Value = values[i]
		}
		if a.goes(&entry) {
			edit.gone[kafkaPartition{t.Topic, t.Partition.Partition}] = true
		}
	}
}

// takeAlong lets the splits of the partitions go that were not chosen themselves,
// and tells of what goes along.
func (w *work) takeAlong(p *Plan, k stateKey, splits []readerSplit, edit *kafkaEdit, asked bool) {
	r := w.removal
	gone, along := map[int][]metadata.Range{}, int64(0)
	for _, s := range splits {
		if edit.gone[s.kafkaPartition] {
			gone[s.sub] = withIndex(gone[s.sub], s.index)
			if !s.goes {
				along++
			}
		}
	}
	if along > 0 {
		rm := r.state(k)
		for sub, list := range gone {
			rm.entries[sub] = list
		}
		p.Removed = append(p.Removed, Removed{Selector: r.selector(k), Entries: &along, Because: "the readers would go on with these partitions while the enumerator hands them out again"})
	}
	if asked {
		r.entries.set(cellKey{place{k.op, -1}, model.KindCoordinator, ""}, edit.enumerator)
	} else if edit.enumerator > 0 {
		n := edit.enumerator
		p.Removed = append(p.Removed, Removed{Selector: r.src.Operators[k.op].ID.String() + "/coordinator", Entries: &n, Because: "the enumerator would believe that these partitions are read, and nobody would read them"})
	}
}

// kafkaSentences tell what goes and what the source does at the restart
// (KafkaSourceEnumerator.start looks for partitions in any case).
func (w *work) kafkaSentences(p *Plan, op *metadata.Operator, edit *kafkaEdit) {
	byTopic := map[string][]int32{}
	for t := range edit.gone {
		byTopic[t.topic] = append(byTopic[t.topic], t.partition)
	}
	var names []string
	for _, topic := range slices.Sorted(maps.Keys(byTopic)) {
		names = append(names, decoder.Text(topic)+" "+partitionList(byTopic[topic]))
	}
	what := strings.Join(names, "; ")
	p.Losses = append(p.Losses, fmt.Sprintf("%s: the position of %s. Both sides of the source are edited: the readers' splits and what the enumerator knows.", describe(op), what))
	from := "read from their earliest offset (by connectors before 3.1 from where the job's starting offsets say)"
	if !edit.finished {
		from = "read from where the job's starting offsets say"
	}
	p.Flink = append(p.Flink, fmt.Sprintf("%s: at the restart the enumerator looks for partitions, also where partition discovery is off. Where the job still subscribes to %s, by name or by pattern, they come back as new ones and are %s: take the topic out of the job too.", describe(op), topicList(byTopic), from))
}

// partitionList is "partition 3", "partitions 0-2, 7".
func partitionList(list []int32) string {
	slices.SortFunc(list, cmp.Compare[int32])
	var ranges []metadata.Range
	for _, p := range list {
		ranges = withIndex(ranges, int64(p))
	}
	var parts []string
	for _, r := range ranges {
		if r.First == r.Last {
			parts = append(parts, fmt.Sprint(r.First))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", r.First, r.Last))
		}
	}
	if len(list) == 1 {
		return "partition " + parts[0]
	}
	return "partitions " + strings.Join(parts, ", ")
}

func topicList(byTopic map[string][]int32) string {
	var out []string
	for _, t := range slices.Sorted(maps.Keys(byTopic)) {
		out = append(out, decoder.Text(t))
	}
	return strings.Join(out, ", ")
}

// sameKafka compares a coordinator's state with what was made of it: the copy has
// every partition that stays, in its order and with all that is known of it, none
// of those that went, and everything else byte for byte.
func (p *prover) sameKafka(k *kafkaEdit, a, b *metadata.StreamHandle) (bool, error) {
	if a.Type != metadata.TypeByteStream || b.Type != a.Type || a.Name != b.Name {
		return false, nil
	}
	x, err := a.Data.Read(p.src.In, maxCoordinator)
	if err != nil {
		return false, err
	}
	y, err := b.Data.Read(p.out.In, maxCoordinator)
	if err != nil {
		return false, err
	}
	cx, err := connector.ParseCoordinator(x)
	if err != nil {
		return false, err
	}
	cy, err := connector.ParseCoordinator(y)
	if err != nil || cx.Version != cy.Version || cx.EnumeratorVersion != cy.EnumeratorVersion || string(cx.Behind) != string(cy.Behind) {
		return false, nil
	}
	ex, err := connector.ParseKafkaEnumerator(cx.EnumeratorVersion, cx.Enumerator)
	if err != nil {
		return false, err
	}
	ey, err := connector.ParseKafkaEnumerator(cy.EnumeratorVersion, cy.Enumerator)
	if err != nil {
		return false, nil
	}
	stays := slices.DeleteFunc(slices.Clone(ex.Partitions), func(t connector.EnumeratorPartition) bool { return k.goes(t.Partition) })
	same := slices.Equal(stays, ey.Partitions) && int64(len(ex.Partitions)-len(ey.Partitions)) == k.enumerator
	// What is no partition is the same: with the source's partitions in it the copy
	// is the source.
	ey.Partitions = ex.Partitions
	return same && string(ey.Append(nil)) == string(cx.Enumerator), nil
}
