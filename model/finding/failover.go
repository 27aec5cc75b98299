package finding

import "chkscope/model/failover"

// The rules about high availability. Of an opened object only its `_metadata` is
// looked at; what points to objects is looked at by `chkscope ha`.

var haDangling = Rule{
	ID:         failover.RuleDangling,
	Severities: "critical, warn",
	When:       "`chkscope ha`: what ZooKeeper or a ConfigMap points to is not there or cannot be read",
	Why:        "the JobManager does not start, or takes an older checkpoint",
	check:      func(*run) ([]Finding, error) { return nil, nil },
}

var haStale = Rule{
	ID:         failover.RuleStale,
	Severities: "critical, warn",
	When:       "a completedCheckpoint object and its _metadata do not hold the same; `chkscope ha`: an entry or the counter does not fit the object",
	Why:        "after a failure Flink restores another state than from the path",
	Evidence:   []Key{{"differences", "how many"}, {"first", "the first ones"}},
	reads:      true,
	check: func(r *run) ([]Finding, error) {
		if r.s.HA == nil || r.s.Damage() != nil {
			return nil, nil
		}
		list, err := failover.CheckMetadata(r.ctx, r.s)
		var out []Finding
		for _, p := range list {
			f := Finding{Severity: Warn, Certainty: Proved, Cause: p.Cause, Action: p.Action}
			var first []string
			for _, d := range p.Differences[:min(len(p.Differences), firstPaths)] {
				first = append(first, d.String())
			}
			f.Evidence = Evidence{{"differences", int64(len(p.Differences))}, {"first", append([]string{}, first...)}}
			out = append(out, f)
		}
		return out, err
	},
}

var haOversized = Rule{
	ID:         failover.RuleOversized,
	Severities: "warn",
	When:       "`chkscope ha`: a ConfigMap comes near to what Kubernetes stores",
	Why:        "when it is full no checkpoint completes",
	Thresholds: []Threshold{{"warn", failover.ConfigMapWarn, "bytes"}, {"limit", failover.ConfigMapLimit, "bytes"}},
	check:      func(*run) ([]Finding, error) { return nil, nil },
}
