package finding

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"chkscope/model"
	"chkscope/model/store"
)

// firstPaths is how many paths a finding about files names.
const firstPaths = 5

var missingFile = Rule{
	ID:         "missing-file",
	Severities: "critical",
	When:       "the store says for certain that a named file is not there; one finding an operator",
	Why:        "the restore fails, often late, when the task reads it",
	Evidence:   fileEvidence,
	reads:      true,
	check: func(r *run) ([]Finding, error) {
		list, err := r.fileProblems(problemMissing, Critical, "%s of %s %s not there: a restore of it fails.", is,
			"Bring the files back (they may be in another directory: --map FROM=TO), or remove the states that need them.")
		for i := range list {
			first, _ := list[i].Evidence.Get("first").([]string)
			if len(first) == 0 {
				continue
			}
			if from, to, ok := r.s.SuggestMap(r.ctx, first[0]); ok {
				list[i].Action = fmt.Sprintf("A file of that name is under %s; if the checkpoint was moved or downloaded, look there with --map %s.", to, model.ShellQuoted(from+"="+to))
			}
		}
		return list, err
	},
}

var emptyFile = Rule{
	ID:         "empty-file",
	Severities: "critical",
	When:       "a named file has 0 bytes though more are recorded",
	Why:        "a power loss or a full disk after the checkpoint was acknowledged (FLINK-36421)",
	Evidence:   fileEvidence,
	reads:      true,
	check: func(r *run) ([]Finding, error) {
		return r.fileProblems(problemEmpty, Critical, "%s of %s %s 0 bytes: a restore of it fails.", has,
			"Take an older checkpoint, or remove the states that need them.")
	},
}

var wrongLength = Rule{
	ID:         "wrong-length",
	Severities: "critical",
	When:       "a named file has another length than recorded",
	Why:        "it was cut off, or replaced by another file",
	Evidence:   fileEvidence,
	reads:      true,
	check: func(r *run) ([]Finding, error) {
		return r.fileProblems(problemLength, Critical, "%s of %s %s another length than recorded: a restore of it fails or reads wrong data.", has,
			"Take an older checkpoint, bring the right files back, or remove the states that need them.")
	},
}

var unchecked = Rule{
	ID:         "unchecked",
	Severities: "info",
	When:       "files could not be asked for: another scheme, no access",
	Why:        "nothing is known about them; they are not missing for certain",
	Evidence:   append(slices.Clone(fileEvidence), Key{"reason", "why, for the first"}),
	reads:      true,
	check: func(r *run) ([]Finding, error) {
		return r.fileProblems(problemUnchecked, Info, "%s of %s %s not be asked for.", could,
			"Give chkscope the access it needs, or say where they are found with --map FROM=TO.")
	},
}

var fileEvidence = []Key{{"files", "how many"}, {"bytes", "recorded bytes of them"}, {"first", "the first paths"}}

type problem uint8

const (
	problemNone problem = iota
	problemMissing
	problemEmpty
	problemLength
	problemUnchecked
)

// fileCheck is the answer about one file of an operator.
type fileCheck struct {
	model.FileUse
	problem problem
	reason  string
}

// fileChecks asks the store once for every physical file.
func (r *run) fileChecks() ([]fileCheck, error) {
	if r.files != nil {
		return r.files, nil
	}
	uses, err := r.s.FileUses()
	if err != nil {
		return nil, err
	}
	r.files = make([]fileCheck, len(uses))
	uris := make([]string, len(uses))
	for i, u := range uses {
		uris[i] = u.URI
	}
	done := int64(0)
	return r.files, store.StatAll(r.ctx, r.s.Store, uris, func(i int, info model.Info, err error) {
		r.files[i] = checkFile(uses[i], info, err)
		done++
		r.progress(done, int64(len(uses)))
	})
}

func checkFile(u model.FileUse, info model.Info, err error) fileCheck {
	c := fileCheck{FileUse: u}
	switch {
	case errors.Is(err, model.ErrNotExist):
		c.problem = problemMissing
	case err != nil:
		c.problem, c.reason = problemUnchecked, err.Error()
	case info.Dir:
		c.problem = problemLength
	case info.Size == 0 && u.Need > 0:
		c.problem = problemEmpty
	case u.Exact && info.Size != u.Need || !u.Exact && info.Size < u.Need:
		c.problem = problemLength
	}
	return c
}

// verb is a verb for one and for many.
type verb struct{ one, many string }

var (
	is    = verb{"is", "are"}
	has   = verb{"has", "have"}
	could = verb{"could", "could"}
)

func (v verb) of(n int64) string {
	if n == 1 {
		return v.one
	}
	return v.many
}

// fileProblems makes one finding an operator of all files with a problem.
func (r *run) fileProblems(p problem, sev Severity, cause string, does verb, action string) ([]Finding, error) {
	checks, err := r.fileChecks()
	if err != nil {
		return nil, err
	}
	type sum struct {
		files, bytes int64
		first        []string
		reason       string
	}
	byOp := map[int]*sum{}
	var ops []int
	for _, c := range checks {
		if c.problem != p {
			continue
		}
		for _, op := range c.Operators {
			s := byOp[op]
			if s == nil {
				s = &sum{reason: c.reason}
				byOp[op] = s
				ops = append(ops, op)
			}
			s.files++
			s.bytes += max(c.Need, 0)
			if len(s.first) < firstPaths {
				s.first = append(s.first, c.URI)
			}
		}
	}
	slices.Sort(ops)
	var out []Finding
	for _, op := range ops {
		s := byOp[op]
		e := Evidence{{"files", s.files}, {"bytes", s.bytes}, {"first", s.first}}
		text := fmt.Sprintf(cause, model.FormatPlural(s.files, "file"), r.operatorName(op), does.of(s.files))
		if p == problemUnchecked {
			e = append(e, Value{"reason", s.reason})
			text += " " + s.reason
		} else {
			shown := s.first[:min(2, len(s.first))]
			text += " First: " + strings.Join(shown, ", ")
			if more := s.files - int64(len(shown)); more > 0 {
				text += " and " + model.FormatCount(more) + " more"
			}
			text += "."
		}
		out = append(out, Finding{Severity: sev, Certainty: Proved, Target: model.OperatorTarget(r.s.Meta.Operators[op].ID), Evidence: e, Cause: text, Action: action})
	}
	return out, nil
}
