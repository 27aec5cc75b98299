package finding

import (
	"fmt"

	"chkscope/model"
)

const (
	inlineFloor      = 4 << 20
	coordinatorFloor = 1 << 20
)

var inlineHeavy = Rule{
	ID:         "inline-heavy",
	Severities: "warn",
	When:       "inline state is most of _metadata and above 4 MiB",
	Why:        "state.storage.fs.memory-threshold is too high: the JobManager holds and sends what belongs into files (FLINK-9693, FLINK-17865)",
	Thresholds: []Threshold{{"inline", inlineFloor, "bytes"}, {"share", 0.5, "of _metadata"}},
	Evidence:   []Key{{"bytes", "inline bytes in all"}, {"share", "of _metadata, 0 to 1"}, {"heaviest", "inline bytes of the operator named"}},
	check: func(r *run) ([]Finding, error) {
		in, all := r.t.Sizes(model.Root).Inline, r.s.Meta.In.Size()
		if in <= inlineFloor || 2*in <= all {
			return nil, nil
		}
		heaviest, most := 0, int64(-1)
		for op := range r.s.Meta.Operators {
			if n := r.t.Sizes(r.t.OperatorNode(op)).Inline; n > most {
				heaviest, most = op, n
			}
		}
		return []Finding{{
			Severity: Warn, Certainty: Proved, Target: model.OperatorTarget(r.s.Meta.Operators[heaviest].ID),
			Evidence: Evidence{{"bytes", in}, {"share", float64(in) / float64(all)}, {"heaviest", most}},
			Cause: fmt.Sprintf("%s of the %s of _metadata are state kept inline, most of it by %s (%s).",
				model.FormatSize(in), model.FormatSize(all), r.operatorName(heaviest), model.FormatSize(most)),
			Action: "Set execution.checkpointing.data-inline-threshold (state.storage.fs.memory-threshold) back to its default of 20 KiB; the next checkpoint writes files.",
		}}, nil
	},
}

var coordinatorHeavy = Rule{
	ID:         "coordinator-heavy",
	Severities: "warn",
	When:       "one operator's coordinator state is above 1 MiB",
	Why:        "the JobManager holds it, and writes it into each _metadata: enumerators with 100,000s of finished splits kill it (FLINK-24855, FLINK-39775)",
	Thresholds: []Threshold{{"bytes", coordinatorFloor, "bytes"}},
	Evidence:   []Key{{"bytes", "of coordinator state"}},
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for op := range r.s.Meta.Operators {
			for _, n := range r.states(op, model.KindCoordinator) {
				bytes := r.t.Sizes(n).Inline
				if bytes <= coordinatorFloor {
					continue
				}
				out = append(out, Finding{
					Severity: Warn, Certainty: Proved, Target: r.target(n), Evidence: Evidence{{"bytes", bytes}},
					Cause:  fmt.Sprintf("The coordinator of %s keeps %s, which the JobManager holds in memory and writes into every _metadata.", r.operatorName(op), model.FormatSize(bytes)),
					Action: "See what the enumerator keeps (finished splits, discovered partitions): a newer connector or fewer, larger splits make it smaller. Removing it starts the enumerator anew.",
				})
			}
		}
		return out, nil
	},
}
