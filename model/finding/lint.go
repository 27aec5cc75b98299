package finding

import (
	"fmt"

	"chkscope/decoder/metadata"
	"chkscope/model"
)

var finishedOrEmpty = Rule{
	ID:         "finished-or-empty",
	Severities: "info",
	When:       "an operator is finished, or all its states have zero entries",
	Why:        "noise that hides the rest",
	Evidence:   []Key{{"finished", "none, some or all of its subtasks"}, {"states", "states with zero entries"}},
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for op := range r.s.Meta.Operators {
			o := &r.s.Meta.Operators[op]
			word, empty := model.FinishedWord(o), int64(0)
			states := r.states(op, model.KindNone)
			for _, n := range states {
				if r.t.Entries(n) == 0 {
					empty++
				}
			}
			allEmpty := len(states) > 0 && int(empty) == len(states)
			if word == "none" && !allEmpty {
				continue
			}
			cause := fmt.Sprintf("All states of %s have zero entries.", r.operatorName(op))
			if word != "none" {
				cause = fmt.Sprintf("%s is finished (%s of its subtasks).", r.operatorName(op), word)
			}
			out = append(out, Finding{Severity: Info, Certainty: Proved, Target: model.OperatorTarget(o.ID),
				Evidence: Evidence{{"finished", word}, {"states", empty}}, Cause: cause,
				Action: "Nothing to do. A finished operator cannot be removed alone: its whole job vertex goes or none of it."})
		}
		return out, nil
	},
}

var autoID = Rule{
	ID:         "auto-id",
	Severities: "info",
	When:       "metadata version 5 or later, which records uids, and operators without one",
	Why:        "the next change of the job graph gives them other ids and loses their state (FLINK-20376)",
	Evidence:   []Key{{"operators", "without a uid"}, {"of", "operators in all"}, {"first", "the first ids"}},
	check: func(r *run) ([]Finding, error) {
		if r.s.Meta.Version < 5 {
			return nil, nil
		}
		var first []string
		var without int64
		for op := range r.s.Meta.Operators {
			o := &r.s.Meta.Operators[op]
			if o.UID != "" {
				continue
			}
			without++
			if len(first) < firstPaths {
				first = append(first, o.ID.String())
			}
		}
		if without == 0 {
			return nil, nil
		}
		return []Finding{{Severity: Info, Certainty: Proved, Target: firstWithoutUID(r.s),
			Evidence: Evidence{{"operators", without}, {"of", int64(len(r.s.Meta.Operators))}, {"first", first}},
			Cause:    fmt.Sprintf("%s of %d have no uid: their ids come from the shape of the job graph.", model.FormatPlural(without, "operator"), len(r.s.Meta.Operators)),
			Action:   "Set uids in the job with uid(…) before its graph changes."}}, nil
	},
}

func firstWithoutUID(s *model.Snapshot) model.Target {
	for op := range s.Meta.Operators {
		if s.Meta.Operators[op].UID == "" {
			return model.OperatorTarget(s.Meta.Operators[op].ID)
		}
	}
	return model.Target{}
}

var versionLint = Rule{
	ID:         "version-lint",
	Severities: "info, warn",
	When:       "always one info with what can read the file; more where changelog, file merging, trailing bytes or an old version matter; warn where no current Flink restores it",
	Why:        "which Flink can read it, which claim mode is needed (FLINK-38307, FLINK-41627)",
	Evidence:   []Key{{"version", "of the metadata"}, {"what", "version, changelog, file-merging or trailing-bytes"}, {"count", "handles or bytes"}},
	check:      checkVersion,
}

// readers tells for each version what wrote and what reads it (FORMATS-metadata.md, 1).
var readers = map[int32]string{
	1: "was written by Flink 1.2 and is read by no Flink after 1.10",
	2: "was written by Flink 1.3 to 1.10; every Flink from 1.3 on reads it",
	3: "was written by Flink 1.11 to 1.15; Flink 1.11 and later read it",
	4: "was written by Flink 1.16 to 1.20; Flink 1.16 and later read it",
	5: "was written by Flink 2.0; Flink 2.0 and later read it",
	6: "was written by Flink 2.1 or later; Flink 2.1 and later read it",
}

func checkVersion(r *run) ([]Finding, error) {
	v := r.s.Meta.Version
	finding := func(sev Severity, what string, count int64, cause, action string) Finding {
		return Finding{Severity: sev, Certainty: Proved, Evidence: Evidence{{"version", int64(v)}, {"what", what}, {"count", count}}, Cause: cause, Action: action}
	}
	sev, action := Info, "Restore it with one of those."
	if v == 1 {
		sev, action = Warn, "Load it with Flink 1.10 or older and take a savepoint there; chkscope shows it but does not prune it."
	}
	form := fmt.Sprintf("Metadata version %d %s.", v, readers[v])
	if r.s.HA != nil {
		form, action = "An object of high availability is read by the Flink version that wrote it; classes in it change between versions.", "To change the version, restore from the checkpoint's directory."
	}
	out := []Finding{finding(sev, "version", 1, form, action)}
	changelog, merging := int64(0), int64(0)
	err := r.s.Meta.EachStream(func(u metadata.StreamUse) error {
		changelog += count(u.Changelog != nil)
		merging += count(u.Stream.Type == metadata.TypeSegment)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for op := range r.s.Meta.Operators {
		changelog += count(changelogHandles(r.t.Detail(op)) > 0)
	}
	if changelog > 0 {
		out = append(out, finding(Info, "changelog", changelog, "It has changelog handles: a job with changelog cannot restore it with NO_CLAIM.",
			"Restore it with CLAIM (LEGACY in 1.x), or with NO_CLAIM by a job that has changelog switched off (1.18 and later)."))
	}
	if merging > 0 {
		out = append(out, finding(Info, "file-merging", merging, "Its state lies in segments of merged files (Flink 1.20 and later).",
			"Older Flink does not read it; a full copy writes each segment as a file of its own."))
	}
	if n := r.s.Meta.Trailing.Len; n > 0 {
		out = append(out, finding(Info, "trailing-bytes", n, fmt.Sprintf("%s follow the last structure; Flink ignores them.", model.FormatPlural(n, "byte")), "Nothing to do."))
	}
	return out, nil
}

func changelogHandles(d model.OperatorDetail) int {
	return d.KeyedHandles[metadata.TypeChangelog] + d.KeyedHandles[metadata.TypeChangelog1]
}

func count(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
