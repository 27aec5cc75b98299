package finding

import (
	"fmt"

	"chkscope/model"
)

// committedOffset is the starting offset of a KafkaSource split that says "the
// committed offset of the consumer group" (KafkaPartitionSplit.COMMITTED_OFFSET).
const committedOffset = -3

var unreadPosition = Rule{
	ID:         "unread-position",
	Severities: "info, warn",
	When:       "KafkaSource splits with starting offset -3 (committed offset); warn where all splits of the operator are so",
	Why:        "their position is only in Kafka's consumer group, not in the checkpoint: a restore with another group id starts elsewhere",
	Evidence:   []Key{{"splits", "with starting offset -3"}, {"of", "splits in all"}, {"topics", "names, the first ones"}},
	reads:      true,
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for op := range r.s.Meta.Operators {
			n := r.stateNamed(op, "SourceReaderState")
			if n == model.None || r.t.Entries(n) == 0 {
				continue
			}
			if f, fires := r.unreadPositions(op, n); fires {
				out = append(out, f)
			}
		}
		return out, r.ctx.Err()
	},
}

// unreadPositions reads the splits of one source. Streams that cannot be read
// are told by other rules.
func (r *run) unreadPositions(op int, n model.Node) (Finding, bool) {
	var unread, all int64
	var topics []string
	seen := map[string]bool{}
	for _, cell := range r.t.Children(nil, n, model.TurnState) {
		_ = r.s.EachElement(r.ctx, r.t, cell, elementCut, func(e model.ElementData) error {
			d, ok, err := r.s.ConnectorElement(r.t, cell, e.Data)
			if err != nil || !ok || len(d.Kafka) != 1 {
				return r.ctx.Err()
			}
			all++
			if k := d.Kafka[0]; k.Offset == committedOffset {
				unread++
				if !seen[k.Topic] {
					seen[k.Topic] = true
					topics = append(topics, k.Topic)
				}
			}
			return r.ctx.Err()
		})
	}
	if unread == 0 {
		return Finding{}, false
	}
	sev := Info
	if unread == all {
		sev = Warn
	}
	return Finding{
		Severity: sev, Certainty: Proved, Target: r.target(n),
		Evidence: Evidence{{"splits", unread}, {"of", all}, {"topics", topics[:min(len(topics), firstPaths)]}},
		Cause: fmt.Sprintf("%s of %s in %s have no position in the checkpoint (starting offset -3): Kafka's consumer group decides where %s reads on.",
			model.FormatCount(unread), model.FormatPlural(all, "split"), r.operatorName(op), firstOf(topics, 3)),
		Action: "Keep the consumer group id at the restore, and see that its committed offsets are those wanted.",
	}, true
}
