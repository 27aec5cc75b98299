package finding

import (
	"errors"
	"fmt"
	"strings"

	"chkscope/decoder"
	"chkscope/model"
)

// inFile is damage without the directory of the file.
func inFile(d *decoder.Error) string {
	short := *d
	short.File = d.File[strings.LastIndexByte(d.File, '/')+1:]
	return short.Error()
}

var unreadableStream = Rule{
	ID:         "unreadable-stream",
	Severities: "warn",
	When:       "a state stream is there but its header is not what Flink writes; one finding an operator",
	Why:        "the length may be right and the bytes wrong: a restore of it most likely fails",
	Evidence:   []Key{{"streams", "how many"}, {"first", "where the first is damaged"}},
	reads:      true,
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for _, u := range r.s.UnreadHeaders() {
			var damage *decoder.Error
			if !errors.As(u.Err, &damage) || errors.Is(u.Err, model.ErrNotExist) {
				continue // could not be opened: missing-file and its kin tell
			}
			if n := len(out); n > 0 && out[n-1].Target.Op == r.s.Meta.Operators[u.Op].ID {
				out[n-1].Evidence[0].Value = out[n-1].Evidence[0].Value.(int64) + 1
				continue
			}
			out = append(out, Finding{
				Severity: Warn, Certainty: Likely, Target: model.OperatorTarget(r.s.Meta.Operators[u.Op].ID),
				Evidence: Evidence{{"streams", int64(1)}, {"first", inFile(damage)}},
				Action:   "Take an older checkpoint, or remove the states of this operator.",
			})
		}
		for i := range out {
			op := r.s.Find(r.t, out[i].Target)
			n, _ := out[i].Evidence[0].Value.(int64)
			out[i].Cause = fmt.Sprintf("The header of %s of %s is not what Flink writes: a restore of it most likely fails. First: %v.",
				model.FormatPlural(n, "state stream"), r.operatorName(r.t.Operator(op)), out[i].Evidence[1].Value)
		}
		return out, nil
	},
}
