package main

import (
	"bytes"
	"embed"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
)

// demoSource is a checkpoint of the founding incident, made by Flink 1.15.4 with
// a real Kafka broker: the third one after the move from FlinkKafkaConsumer to
// KafkaSource, parallelism 4. conformance/testdata/incident/about.txt says more.
//
//go:embed all:conformance/testdata/incident/gen-3-files/checkpoint
var demoSource embed.FS

const (
	demoSourceDir = "conformance/testdata/incident/gen-3-files/checkpoint"
	demoLeftover  = "topic-partition-offset-states"
	// demoSubtasks is the parallelism that the source is grown to.
	demoSubtasks = 8
	// demoRepeat is how often each subtask holds the list that it holds in the
	// real checkpoint (192 elements, 12 different ones). 8 subtasks then hold 12
	// different ones 8^7 times: what seven restores at parallelism 8 make of them.
	demoRepeat = 16384
)

// demoUIDs are the uids that the job gave.
var demoUIDs = []string{"kafka-source", "count", "kafka-sink"}

// growDemo makes the incident's size from the real checkpoint: the source gets
// eight subtasks, and in each the leftover union list stands demoRepeat times
// in the stream and in the offsets of `_metadata`. Everything else is as Flink
// wrote it. The structures are encoded by package metadata; the long stretches
// are computed when they are read.
func growDemo() (map[string]*demoFile, error) {
	entries, err := demoSource.ReadDir(demoSourceDir)
	if err != nil {
		return nil, err
	}
	files := map[string]*demoFile{}
	for _, e := range entries {
		data, err := demoSource.ReadFile(path.Join(demoSourceDir, e.Name()))
		if err != nil {
			return nil, err
		}
		files[e.Name()] = &demoFile{e.Name(), []demoPiece{literal(data)}}
	}
	real := files[model.MetadataName]
	c, err := metadata.Decode(real)
	if err != nil {
		return nil, err
	}
	g := grower{c: c, files: files}
	if err := g.source(); err != nil {
		return nil, err
	}
	files[model.MetadataName], err = g.metadata()
	return files, err
}

// grower holds what the leftover list of each subtask becomes, in file order.
type grower struct {
	c     *metadata.Checkpoint
	files map[string]*demoFile
	lists []offsetArray
}

// source grows the operator that has the leftover list.
func (g *grower) source() error {
	for i := range g.c.Operators {
		o := &g.c.Operators[i]
		if len(o.Subtasks) == 0 || leftoverOf(o.Subtasks[0].State) == nil {
			continue
		}
		real := o.Subtasks
		o.Subtasks, o.Parallelism, o.SubtaskCount = nil, demoSubtasks, demoSubtasks
		for k := range int32(demoSubtasks) {
			s, err := g.subtask(real[int(k)%len(real)], k, int(k) >= len(real))
			if err != nil {
				return err
			}
			o.Subtasks = append(o.Subtasks, s)
		}
		return nil
	}
	return fmt.Errorf("the demo's checkpoint has no state %s", demoLeftover)
}

func leftoverOf(s *metadata.SubtaskState) *metadata.OperatorState {
	if s == nil || s.ManagedOperator == nil {
		return nil
	}
	for i := range s.ManagedOperator.States {
		if s.ManagedOperator.States[i].Name == demoLeftover {
			return &s.ManagedOperator.States[i]
		}
	}
	return nil
}

// subtask grows one subtask. A second one made of the same real subtask has a
// stream of its own; of the other lists each of the two gets a part.
func (g *grower) subtask(real metadata.Subtask, index int32, second bool) (metadata.Subtask, error) {
	state := *real.State
	handle := *state.ManagedOperator
	handle.States = slices.Clone(handle.States)
	state.ManagedOperator = &handle

	left := leftoverOf(&state)
	list := offsetArray{first: make([]int64, left.Offsets.Len()), n: demoRepeat}
	if _, err := left.Offsets.Read(g.c.In, 0, list.first); err != nil {
		return real, err
	}
	stream, err := demoSource.ReadFile(path.Join(demoSourceDir, handle.Delegate.Name))
	if err != nil {
		return real, err
	}
	head, block := stream[:list.first[0]], stream[list.first[0]:] // the list stands last in the stream
	list.length = int64(len(block))
	g.lists = append(g.lists, list)
	for i := range handle.States {
		handle.States[i].Offsets = demoPart(handle.States[i].Offsets, second)
	}
	left.Offsets = metadata.NewOffsets(list.first[:1]) // until metadata puts the whole list here

	name := handle.Delegate.Name
	if second {
		name = strings.Replace(name, name[:8], demoTwin, 1)
	}
	grown := &demoFile{name, []demoPiece{literal(head), repeated{block, demoRepeat}}}
	g.files[name] = grown
	handle.Delegate.Name, handle.Delegate.Size = name, grown.Size()
	return metadata.Subtask{Index: index, State: &state}, nil
}

// demoTwin begins the name of the second stream that is made of a real one.
const demoTwin = "0000demo"

// demoPart is what one of two subtasks gets of a real one's list: the first all
// but the last element, the second the last.
func demoPart(o metadata.Offsets, second bool) metadata.Offsets {
	last := o.Len() - 1
	if !second {
		return o.Without([]metadata.Range{{First: last, Last: last}})
	}
	if last == 0 {
		return o
	}
	return o.Without([]metadata.Range{{First: 0, Last: last - 1}})
}

// metadata encodes the structures with one offset in place of each leftover
// list, and puts the long lists there.
func (g *grower) metadata() (*demoFile, error) {
	var b bytes.Buffer
	if _, err := metadata.Encode(&b, g.c); err != nil {
		return nil, err
	}
	data := b.Bytes()
	short, err := metadata.Decode(decoder.Bytes{Data: data, Label: "demo"})
	if err != nil {
		return nil, err
	}
	out, done, next := &demoFile{name: model.MetadataName}, int64(0), 0
	for i := range short.Operators {
		for _, s := range short.Operators[i].Subtasks {
			left := leftoverOf(s.State)
			if left == nil {
				continue
			}
			list := g.lists[next]
			next++
			span := left.Offsets.Span
			binary.BigEndian.PutUint32(data[span.Off-4:], uint32(list.n)*uint32(len(list.first)))
			out.pieces = append(out.pieces, literal(data[done:span.Off]), list)
			done = span.End()
		}
	}
	out.pieces = append(out.pieces, literal(data[done:]))
	return out, nil
}
