package finding

import (
	"fmt"

	"chkscope/model"
)

// heavyGroup is how many times the median of its state's key groups one holds
// that dominates; it also holds skewFloor more.
const heavyGroup = 10

var keyGroupSkew = Rule{
	ID:         "key-group-skew",
	Severities: "warn",
	When:       "the subtask with most key groups has at least 1.5 times as many as the one with fewest; or, where entries are counted, one key group of a named state holds at least 10 times the median of its groups and 16 MiB more",
	Why:        "maxParallelism is no multiple of the parallelism: half of the tasks do twice the work (FLINK-21695); a heavy key group stays whole at every parallelism",
	Thresholds: []Threshold{{"ratio", groupSkew, "most to fewest key groups"}, {"group_ratio", heavyGroup, "times the median of the groups"}, {"group_more", skewFloor, "bytes above that median"}},
	Evidence: []Key{{"most", "key groups of one subtask"}, {"fewest", "key groups of one subtask"}, {"parallelism", ""}, {"max_parallelism", ""},
		{"state", "named state of the heavy group, or null"}, {"group", "the heavy group, or null"}, {"bytes", "in the heavy group, or null"}, {"median", "bytes of a group, or null"}},
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for op := range r.s.Meta.Operators {
			if len(r.states(op, model.KindKeyed)) == 0 {
				continue
			}
			if f, ok := r.uneven(op); ok {
				out = append(out, f)
			}
			for _, n := range r.s.KeyedNames(op, model.KindKeyed) {
				if f, ok := r.heavyGroup(op, n.Name); ok {
					out = append(out, f)
				}
			}
		}
		return out, nil
	},
}

// uneven compares how many key groups subtasks have.
func (r *run) uneven(op int) (Finding, bool) {
	o := &r.s.Meta.Operators[op]
	if o.Parallelism < 2 || o.MaxParallelism < o.Parallelism {
		return Finding{}, false
	}
	// KeyGroupRangeAssignment: subtasks get floor or ceil of max / parallelism.
	fewest := o.MaxParallelism / o.Parallelism
	most := (o.MaxParallelism + o.Parallelism - 1) / o.Parallelism
	if float64(most) < groupSkew*float64(fewest) {
		return Finding{}, false
	}
	return Finding{
		Severity: Warn, Certainty: Proved, Target: model.OperatorTarget(o.ID),
		Evidence: Evidence{{"most", int64(most)}, {"fewest", int64(fewest)}, {"parallelism", int64(o.Parallelism)}, {"max_parallelism", int64(o.MaxParallelism)},
			{"state", nil}, {"group", nil}, {"bytes", nil}, {"median", nil}},
		Cause: fmt.Sprintf("%s spreads %d key groups over %d subtasks: some have %d, some %d, and so twice the work of others.",
			r.operatorName(op), o.MaxParallelism, o.Parallelism, most, fewest),
		Action: "Choose a parallelism that divides maxParallelism, or one several times smaller.",
	}, true
}

// heaviest gives the key group that dominates the others, and their median.
func heaviest(groups []model.KeyGroupSize) (heavy model.KeyGroupSize, m int64, dominates bool) {
	if len(groups) < 2 {
		return heavy, 0, false
	}
	sizes := make([]int64, 0, len(groups))
	for _, g := range groups {
		sizes = append(sizes, g.Bytes)
		if g.Bytes > heavy.Bytes {
			heavy = g
		}
	}
	m = median(sizes)
	return heavy, m, heavy.Bytes >= heavyGroup*m && heavy.Bytes >= m+skewFloor
}

// heavyGroup looks for a key group that dominates a named state; only what was
// counted is known.
func (r *run) heavyGroup(op int, name string) (Finding, bool) {
	heavy, m, dominates := heaviest(r.s.KeyGroups(op, name))
	if !dominates {
		return Finding{}, false
	}
	o := &r.s.Meta.Operators[op]
	return Finding{
		Severity: Warn, Certainty: Proved, Target: model.StateTarget(o.ID, model.KindKeyed, name),
		Evidence: Evidence{{"most", nil}, {"fewest", nil}, {"parallelism", int64(o.Parallelism)}, {"max_parallelism", int64(o.MaxParallelism)},
			{"state", text(name)}, {"group", int64(heavy.Group)}, {"bytes", heavy.Bytes}, {"median", m}},
		Cause: fmt.Sprintf("Key group %d of %s in %s holds %s, the median of its groups is %s: one key, or few that hash together, has most of the state.",
			heavy.Group, text(name), r.operatorName(op), model.FormatSize(heavy.Bytes), model.FormatSize(m)),
		Action: "Look at its largest keys. A key group is never split: a finer key spreads it, a higher parallelism does not.",
	}, true
}
