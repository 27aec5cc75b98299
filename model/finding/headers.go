package finding

import (
	"fmt"
	"strings"

	"chkscope/decoder/serde"
	"chkscope/model"
)

// goneClasses are classes that a newer Flink or connector no longer has, and
// since when: a header that names one cannot be restored there.
var goneClasses = []struct{ prefix, since string }{
	{"org.apache.flink.streaming.connectors.kafka.internals.", "the Kafka connector for Flink 2.0"},
	{"org.apache.flink.streaming.connectors.kafka.FlinkKafkaProducer", "the Kafka connector for Flink 2.0"},
	{"org.apache.flink.streaming.api.functions.sink.TwoPhaseCommitSinkFunction", "Flink 2.0 (moved)"},
	{"org.apache.flink.streaming.connectors.kinesis.model.", "the Kinesis connector for Flink 2.0"},
}

var deadName = Rule{
	ID:         "dead-name",
	Severities: "info, warn",
	When:       "a state is in stream headers or the offsets map with no elements in any subtask; warn where its serializer names a class that a newer Flink or connector has not",
	Why:        "Flink carries the name on at each checkpoint, and its serializer snapshot must still load: after a removal by hand a restore on 2.0 fails with \"Could not find class\"",
	Evidence:   []Key{{"name", "of the state"}, {"where", "header, or offsets-map"}, {"class", "the class that a newer version has not, or null"}, {"since", "which version has it no more, or null"}},
	reads:      true,
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for op := range r.s.Meta.Operators {
			for _, n := range r.states(op, model.KindOperator) {
				if r.t.Entries(n) == 0 {
					out = append(out, r.deadNameFinding(op, r.t.Name(n), "offsets-map"))
				}
			}
			for _, n := range r.t.Detail(op).HeaderOnly {
				out = append(out, r.deadNameFinding(op, n, "header"))
			}
		}
		return out, nil
	},
}

func (r *run) deadNameFinding(op int, raw, where string) Finding {
	g := model.StateTarget(r.s.Meta.Operators[op].ID, model.KindOperator, raw)
	f := Finding{
		Severity: Info, Certainty: Proved, Target: g,
		Evidence: Evidence{{"name", text(raw)}, {"where", where}, {"class", nil}, {"since", nil}},
		Cause:    fmt.Sprintf("%s of %s has no elements in any subtask, but Flink carries the name and its serializer on at each checkpoint.", text(raw), r.operatorName(op)),
		Action:   "Nothing to do where the job still registers it; else remove the name, headers included.",
		Remedy:   []string{g.Selector()},
	}
	rec, ok := r.s.Record(op, raw)
	if !ok {
		return f
	}
	for _, k := range rec.Serializers {
		class, since := goneClass(k.Type)
		if class == "" {
			continue
		}
		f.Severity = Warn
		f.Evidence[2].Value, f.Evidence[3].Value = class, since
		f.Cause = fmt.Sprintf("%s of %s has no elements, but its name stands in the stream headers with the class %s, which is gone since %s: a restore there fails with \"Could not find class\".",
			text(raw), r.operatorName(op), class, since)
		f.Action = "Remove the name, headers included, before the job moves to that version."
	}
	return f
}

// goneClass looks through a serializer's tree.
func goneClass(s *serde.Snapshot) (class, since string) {
	serde.Walk(s, func(n *serde.Snapshot) bool {
		for _, c := range []string{n.Class, n.SerializerClass, n.Type} {
			for _, g := range goneClasses {
				if strings.HasPrefix(c, g.prefix) {
					class, since = c, g.since
					return false
				}
			}
		}
		return class == ""
	})
	return class, since
}

var opaqueSerializer = Rule{
	ID:         "opaque-serializer",
	Severities: "info",
	When:       "a state is written with Kryo or Java serialization",
	Why:        "it breaks when the class changes, and cannot be read without the classes",
	Evidence:   []Key{{"states", "names, the first ones"}, {"count", "how many states"}, {"serializer", "kryo or java"}},
	reads:      true,
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for op := range r.s.Meta.Operators {
			for _, kind := range []string{"kryo", "java"} {
				names := r.statesWith(op, kind)
				if len(names) == 0 {
					continue
				}
				out = append(out, Finding{
					Severity: Info, Certainty: Proved, Target: model.OperatorTarget(r.s.Meta.Operators[op].ID),
					Evidence: Evidence{{"states", names[:min(len(names), firstPaths)]}, {"count", int64(len(names))}, {"serializer", kind}},
					Cause:    fmt.Sprintf("%s writes %s with %s serialization.", r.operatorName(op), firstOf(names, 3), map[string]string{"kryo": "Kryo", "java": "Java"}[kind]),
					Action:   "Give the types a serializer of their own (POJO, Avro, TypeInfo) before the classes change.",
				})
			}
		}
		return out, nil
	},
}

func (r *run) statesWith(op int, kind string) []string {
	var names []string
	for _, rec := range r.s.Records(op) {
		for _, k := range rec.Serializers {
			if usesSerializer(k.Type, kind) {
				names = append(names, text(rec.Name))
				break
			}
		}
	}
	return names
}

func usesSerializer(s *serde.Snapshot, kind string) (found bool) {
	serde.Walk(s, func(n *serde.Snapshot) bool {
		switch kind {
		case "kryo":
			found = found || n.KryoType != nil
		case "java":
			found = found || strings.HasSuffix(n.SerializerClass, ".JavaSerializer") || strings.Contains(n.Class, ".JavaSerializer$")
		}
		return !found
	})
	return found
}

var brokenCompression = Rule{
	ID:         "broken-compression",
	Severities: "critical",
	When:       "an operator-state stream was written with snapshot compression and all elements of a list have the same offset (Flink 1.18.0 and 1.18.1)",
	Why:        "its own Flink cannot restore it (\"invalid stream header\"); a later one restores it silently with every element a copy of the first (FLINK-33863, FLINK-34063)",
	Evidence:   []Key{{"streams", "how many subtasks"}, {"entries", "elements of the lists concerned"}, {"states", "names, the first ones"}},
	reads:      true,
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for op := range r.s.Meta.Operators {
			if f, broken := r.brokenStreams(op); broken {
				out = append(out, f)
			}
		}
		return out, nil
	},
}

func (r *run) brokenStreams(op int) (Finding, bool) {
	var streams, entries int64
	var names []string
	seen := map[string]bool{}
	subtasks := r.s.Meta.Operators[op].Subtasks
	for k := range subtasks {
		if !r.s.Compressed(op, k) || subtasks[k].State == nil || subtasks[k].State.ManagedOperator == nil {
			continue
		}
		hit := false
		for _, st := range subtasks[k].State.ManagedOperator.States {
			if !r.s.SameOffsets(st) {
				continue
			}
			hit = true
			entries += st.Offsets.Len()
			if !seen[st.Name] {
				seen[st.Name] = true
				names = append(names, text(st.Name))
			}
		}
		streams += count(hit)
	}
	if streams == 0 {
		return Finding{}, false
	}
	return Finding{
		Severity: Critical, Certainty: Proved, Target: model.OperatorTarget(r.s.Meta.Operators[op].ID),
		Evidence: Evidence{{"streams", streams}, {"entries", entries}, {"states", names[:min(len(names), firstPaths)]}},
		Cause: fmt.Sprintf("Flink 1.18 wrote the lists %s of %s with snapshot compression and one offset for all elements: 1.18 cannot restore it, a later Flink gives every element the value of the first.",
			firstOf(names, 3), r.operatorName(op)),
		Action: "Do not restore it as it is. A copy (`chkscope copy`, or any removal) writes the stream anew without compression, which repairs the lists whose serializers are known.",
	}, true
}
