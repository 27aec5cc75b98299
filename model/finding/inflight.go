package finding

import (
	"fmt"

	"chkscope/decoder/metadata"
	"chkscope/model"
)

const (
	inFlightFloor = 1 << 20
	inFlightShare = 0.1
)

var inFlightHeavy = Rule{
	ID:         "in-flight-heavy",
	Severities: "warn",
	When:       "in-flight data (channel state of unaligned checkpoints) is above 1 MiB and more than a tenth of the state",
	Why:        "unaligned checkpoints under back pressure grow from 1 to 9 GB and time out",
	Thresholds: []Threshold{{"bytes", inFlightFloor, "bytes"}, {"share", inFlightShare, "of the state"}},
	Evidence: []Key{{"bytes", "of in-flight data: sum over channels"}, {"share", "of the state, 0 to 1"}, {"channels", "channels that hold some"},
		{"operators", "operators that hold some"}, {"heaviest", "bytes of the state named"}},
	check: func(r *run) ([]Finding, error) {
		var bytes, channels, operators, most int64
		heaviest := model.None
		for op := range r.s.Meta.Operators {
			states := r.states(op, model.KindInFlight)
			operators += min(int64(len(states)), 1)
			for _, n := range states {
				w, _ := r.t.Sizes(n).Weight(model.LensState)
				bytes += w
				channels += max(r.t.Entries(n), 0)
				if w > most {
					heaviest, most = n, w
				}
			}
		}
		all, _ := r.t.Sizes(model.Root).Weight(model.LensState)
		if bytes <= inFlightFloor || all <= 0 || float64(bytes) <= inFlightShare*float64(all) {
			return nil, nil
		}
		share := min(float64(bytes)/float64(all), 1)
		return []Finding{{
			Severity: Warn, Certainty: Proved, Target: r.target(heaviest),
			Evidence: Evidence{{"bytes", bytes}, {"share", share}, {"channels", channels}, {"operators", operators}, {"heaviest", most}},
			Cause: fmt.Sprintf("%s of records in flight between tasks are in this checkpoint, %.0f %% of its state, most of them at %s (%s).",
				model.FormatSize(bytes), share*100, r.operatorName(r.t.Operator(heaviest)), model.FormatSize(most)),
			Action: "Look for the operator that holds the others up; buffer debloating or an aligned timeout keep it small. Removing it loses those records.",
			Remedy: []string{"*/in-flight"},
		}}, nil
	},
}

const (
	skewRatio = 3
	skewFloor = 16 << 20
	groupSkew = 1.5
)

var subtaskSkew = Rule{
	ID:         "subtask-skew",
	Severities: "warn",
	When:       "one subtask of a keyed operator holds at least three times the median and 16 MiB more",
	Why:        "slow alignment, hot keys: one task decides how long a checkpoint takes",
	Thresholds: []Threshold{{"ratio", skewRatio, "times the median"}, {"more", skewFloor, "bytes above the median"}},
	Evidence:   []Key{{"bytes", "of the largest subtask"}, {"median", "bytes"}, {"ratio", "largest to median"}, {"subtask", "the largest"}},
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for op := range r.s.Meta.Operators {
			if f, ok := r.skewOf(op); ok {
				out = append(out, f)
			}
		}
		return out, nil
	},
}

// skewOf compares keyed bytes by subtask; where names have no sizes the row of
// the whole kind has them.
func (r *run) skewOf(op int) (Finding, bool) {
	bySubtask := map[int]int64{}
	for _, n := range r.states(op, model.KindKeyed) {
		for _, c := range r.t.Children(nil, n, model.TurnState) {
			if w, _ := r.t.Sizes(c).Weight(model.LensState); w != model.Unknown {
				bySubtask[r.t.Subtask(c)] += w
			}
		}
	}
	if len(bySubtask) < 2 {
		return Finding{}, false
	}
	largest, at, sizes := int64(-1), 0, make([]int64, 0, len(bySubtask))
	for sub, b := range bySubtask {
		sizes = append(sizes, b)
		if b > largest || b == largest && sub < at {
			largest, at = b, sub
		}
	}
	m := median(sizes)
	if largest < skewRatio*m || largest < m+skewFloor {
		return Finding{}, false
	}
	g := model.Target{Class: model.ClassSubtask, Op: r.s.Meta.Operators[op].ID, Subtask: int32(at), Entries: model.AllEntries}
	return Finding{
		Severity: Warn, Certainty: Proved, Target: g,
		Evidence: Evidence{{"bytes", largest}, {"median", m}, {"ratio", float64(largest) / float64(max(m, 1))}, {"subtask", int64(at)}},
		Cause:    fmt.Sprintf("Subtask %d of %s holds %s of keyed state, the median is %s.", at, r.operatorName(op), model.FormatSize(largest), model.FormatSize(m)),
		Action:   "Look for hot keys in that subtask, or for keys that hash together; a finer key spreads them.",
	}, true
}

var maxParallelism = Rule{
	ID:         "max-parallelism",
	Severities: "info",
	When:       "the parallelism is above half of maxParallelism, or maxima differ between keyed operators",
	Why:        "maxParallelism cannot be changed later without losing the keyed state",
	Thresholds: []Threshold{{"share", 0.5, "of maxParallelism"}},
	Evidence:   []Key{{"parallelism", ""}, {"max_parallelism", ""}, {"maxima", "different values, where they differ"}},
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		maxima, first := map[int32]bool{}, metadata.OperatorID{}
		for op := range r.s.Meta.Operators {
			o := &r.s.Meta.Operators[op]
			if len(r.states(op, model.KindKeyed)) == 0 {
				continue
			}
			if len(maxima) == 0 {
				first = o.ID
			}
			maxima[o.MaxParallelism] = true
			if 2*o.Parallelism > o.MaxParallelism {
				out = append(out, Finding{
					Severity: Info, Certainty: Proved, Target: model.OperatorTarget(o.ID),
					Evidence: Evidence{{"parallelism", int64(o.Parallelism)}, {"max_parallelism", int64(o.MaxParallelism)}, {"maxima", []int64{}}},
					Cause:    fmt.Sprintf("%s runs with parallelism %d of at most %d.", r.operatorName(op), o.Parallelism, o.MaxParallelism),
					Action:   "It cannot be doubled any more; a larger maxParallelism needs a new job or a rewritten savepoint.",
				})
			}
		}
		if len(maxima) > 1 {
			out = append(out, Finding{
				Severity: Info, Certainty: Proved, Target: model.OperatorTarget(first),
				Evidence: Evidence{{"parallelism", nil}, {"max_parallelism", nil}, {"maxima", sortedMaxima(maxima)}},
				Cause:    "Keyed operators of this job have different maximum parallelisms.",
				Action:   "Set it explicitly for the whole job, so that operators can be rescaled together.",
			})
		}
		return out, nil
	},
}
