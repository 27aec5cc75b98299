package model

import (
	"encoding/binary"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// NameOrigin tells how an operator's name is known, in order of trust.
type NameOrigin uint8

const (
	NameNone     NameOrigin = iota
	NameGuess               // from state names: "looks like a Kafka source"
	NameAuto                // a well-known automatic id
	NameJobGraph            // --job-graph
	NameUID                 // a uid that the user gave, whose hash is the id
	NameStored              // V5 and later
)

// String says how a name is known, for details.
func (o NameOrigin) String() string {
	return [...]string{"unknown", "a guess from its states", "an automatic id", "from the job graph", "the uid given, its hash is the id", "stored in the checkpoint"}[o]
}

// OperatorName is what to call an operator and how that is known; "" and
// NameNone where nothing better than the id is. The text is not cleaned.
func (s *Snapshot) OperatorName(op int) (string, NameOrigin) {
	o := &s.Meta.Operators[op]
	if o.Name != "" {
		return decoder.Text(o.Name), NameStored
	}
	if o.UID != "" {
		return decoder.Text(o.UID), NameStored
	}
	if uid, ok := s.givenUIDs()[o.ID]; ok {
		return uid, NameUID
	}
	if n, ok := s.Options.OperatorNames[o.ID]; ok && n != "" {
		return n, NameJobGraph
	}
	if n, ok := automaticIDs[o.ID]; ok {
		return n, NameAuto
	}
	if n := guessName(o); n != "" {
		return n, NameGuess
	}
	return "", NameNone
}

// OperatorUID is the uid of an operator, stored or given by the user, or "".
func (s *Snapshot) OperatorUID(op int) string {
	o := &s.Meta.Operators[op]
	if o.UID != "" {
		return decoder.Text(o.UID)
	}
	return s.givenUIDs()[o.ID]
}

// UnmatchedUIDs are the uids of Options that no operator has.
func (s *Snapshot) UnmatchedUIDs() []string {
	has := map[metadata.OperatorID]bool{}
	for i := range s.Meta.Operators {
		has[s.Meta.Operators[i].ID] = true
	}
	var out []string
	for _, u := range s.Options.UIDs {
		if !has[metadata.OperatorIDOf(u)] {
			out = append(out, u)
		}
	}
	return out
}

func (s *Snapshot) givenUIDs() map[metadata.OperatorID]string {
	s.uidsOnce.Do(func() {
		s.uids = make(map[metadata.OperatorID]string, len(s.Options.UIDs))
		for _, u := range s.Options.UIDs {
			s.uids[metadata.OperatorIDOf(u)] = u
		}
	})
	return s.uids
}

// automaticIDs are ids that Flink gives to operators without a uid and that are
// the same in every job: those of the first node of the graph, a source, by the
// number of its chained outputs. Source: StreamGraphHasherV2, which hashes the
// number of nodes hashed so far (0) once for the node and once for each
// chainable output, as little-endian ints.
var automaticIDs = func() map[metadata.OperatorID]string {
	m := map[metadata.OperatorID]string{}
	for chained := range 4 {
		var b []byte
		for range chained + 1 {
			b = binary.LittleEndian.AppendUint32(b, 0)
		}
		m[metadata.OperatorIDOf(string(b))] = "first source (automatic id)"
	}
	return m
}()

// guesses are looked at in order; all names must be there.
var guesses = []struct {
	names []string
	text  string
}{
	{[]string{"topic-partition-offset-states", "SourceReaderState"}, "looks like a Kafka source"},
	{[]string{"topic-partition-offset-states"}, "looks like a Kafka consumer"},
	{[]string{"SourceReaderState"}, "looks like a source"},
	{[]string{"next-transactional-id-hint-v2"}, "looks like a Kafka producer"},
	{[]string{"next-transactional-id-hint"}, "looks like a Kafka producer"},
	{[]string{"Kinesis-Stream-Shard-State"}, "looks like a Kinesis consumer"},
	{[]string{"bucket-states"}, "looks like a file sink"},
	{[]string{"streaming_committer_raw_states"}, "looks like a sink committer"},
	{[]string{"writer_raw_states"}, "looks like a sink writer"},
	{[]string{"_async_wait_operator_state_"}, "looks like an async operator"},
	{[]string{"file-monitoring-state"}, "looks like a file monitor"},
}

// guessName looks at the operator-state names of the first subtasks.
func guessName(o *metadata.Operator) string {
	names := map[string]bool{}
	for i := range o.Subtasks[:min(len(o.Subtasks), 16)] {
		if st := o.Subtasks[i].State; st != nil && st.ManagedOperator != nil {
			for k := range st.ManagedOperator.States {
				names[st.ManagedOperator.States[k].Name] = true
			}
		}
	}
next:
	for _, g := range guesses {
		for _, n := range g.names {
			if !names[n] {
				continue next
			}
		}
		return g.text
	}
	if o.Coordinator != nil && strings.HasPrefix(o.Coordinator.Name, o.ID.String()) && len(names) == 0 {
		return "has a coordinator"
	}
	return ""
}
