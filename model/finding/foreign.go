package finding

import (
	"fmt"

	"chkscope/model"
	"chkscope/model/store"
)

var foreignReference = Rule{
	ID:         "foreign-reference",
	Severities: "warn",
	When:       "the checkpoint needs files of another job or directory: absolute paths outside its own directory and outside a directory `shared`",
	Why:        "\"may I delete that directory?\" (FLINK-8531, FLIP-416)",
	Evidence:   []Key{{"files", "how many"}, {"bytes", "of them"}, {"directories", "the first ones"}},
	check: func(r *run) ([]Finding, error) {
		uses, err := r.s.FileUses()
		if err != nil {
			return nil, err
		}
		var out []Finding
		for op := range r.s.Meta.Operators {
			var files, bytes int64
			var dirs []string
			seen := map[string]bool{}
			for _, u := range uses {
				if !u.Foreign || len(u.Operators) == 0 || u.Operators[0] != op {
					continue
				}
				files++
				bytes += max(u.Need, 0)
				if d := store.Parent(u.URI); !seen[d] && len(dirs) < firstPaths {
					seen[d] = true
					dirs = append(dirs, d)
				}
			}
			if files == 0 {
				continue
			}
			out = append(out, Finding{
				Severity: Warn, Certainty: Proved, Target: model.OperatorTarget(r.s.Meta.Operators[op].ID),
				Evidence: Evidence{{"files", files}, {"bytes", bytes}, {"directories", dirs}},
				Cause:    fmt.Sprintf("%s of %s (%s) are in other directories: %s.", model.FormatPlural(files, "file"), r.operatorName(op), model.FormatSize(bytes), firstOf(dirs, 2)),
				Action:   "Keep those directories, or make the checkpoint self-contained with `chkscope copy`. If they are its own directory under another name, say so with --source-uri.",
			})
		}
		return out, nil
	},
}
