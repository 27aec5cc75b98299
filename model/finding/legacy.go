package finding

import (
	"fmt"

	"chkscope/model"
)

// dead names a state that is dead once its operator also has one of the
// successors (FORMATS-state.md, 5.7).
type dead struct {
	name       string
	owner      string
	successors []string
	// coordinator: coordinator state of the operator is a successor too.
	coordinator bool
}

var deadAfterMigration = []dead{
	{"topic-partition-offset-states", "FlinkKafkaConsumer", []string{"SourceReaderState"}, true},
	{"Kinesis-Stream-Shard-State", "FlinkKinesisConsumer", []string{"SourceReaderState"}, true},
	{"splits", "ContinuousFileReaderOperator", []string{"SourceReaderState"}, true},
	{"file-monitoring-state", "ContinuousFileMonitoringFunction", []string{"SourceReaderState"}, true},
	{"state", "FlinkKafkaProducer or another two-phase commit sink", []string{"writer_raw_states", "streaming_committer_raw_states"}, false},
	{"next-transactional-id-hint", "FlinkKafkaProducer", []string{"writer_raw_states", "streaming_committer_raw_states"}, false},
	{"next-transactional-id-hint-v2", "FlinkKafkaProducer", []string{"writer_raw_states", "streaming_committer_raw_states"}, false},
	{"bucket-states", "StreamingFileSink", []string{"writer_raw_states"}, false},
	{"max-part-counter", "StreamingFileSink", []string{"writer_raw_states"}, false},
}

var legacyState = Rule{
	ID:         idLegacy,
	Severities: "warn",
	When:       "a state of a connector with entries, beside the state of its successor in the same operator",
	Why:        "nothing registers it any more, so Flink reads and writes it with every snapshot for ever; a union list of it multiplies at each restore",
	Evidence:   []Key{{"entries", "of the dead state"}, {"bytes", "of it, in _metadata and files; null where not known"}, {"owner", "what wrote it"}, {"successor", "what the operator uses now"}},
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for op := range r.s.Meta.Operators {
			for _, d := range deadAfterMigration {
				n := r.stateNamed(op, d.name)
				if n == model.None || r.t.Entries(n) <= 0 {
					continue
				}
				if succ := r.successor(op, d); succ != "" {
					out = append(out, r.legacy(op, n, d, succ))
				}
			}
		}
		return out, nil
	},
}

func (r *run) successor(op int, d dead) string {
	for _, s := range d.successors {
		if r.stateNamed(op, s) != model.None {
			return s
		}
	}
	if d.coordinator && r.s.Meta.Operators[op].Coordinator != nil {
		return "coordinator state"
	}
	return ""
}

func (r *run) legacy(op int, n model.Node, d dead, successor string) Finding {
	z := r.t.Sizes(n)
	bytes := any(nil)
	if w, lower := z.Weight(model.LensState); w != model.Unknown && !lower {
		bytes = w + z.Bookkeeping
	}
	g := r.target(n)
	return Finding{
		Severity: Warn, Certainty: Likely, Target: g,
		Evidence: Evidence{{"entries", r.t.Entries(n)}, {"bytes", bytes}, {"owner", d.owner}, {"successor", successor}},
		Cause: fmt.Sprintf("%s of %s holds %s left by %s; the operator now uses %s, and nothing reads the old state any more.",
			text(d.name), r.operatorName(op), model.FormatPlural(r.t.Entries(n), "entry"), d.owner, successor),
		Action: "Remove it, unless the job is to go back to the old connector.",
		Remedy: []string{g.Selector()},
	}
}
