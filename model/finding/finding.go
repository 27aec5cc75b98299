// Package finding tells what is wrong with a snapshot, or worth knowing: one
// file per rule, one table of rules (rules.go). Severity comes from
// consequence: what stops a restore is critical, what will stop one later is a
// warning, what is worth knowing is info.
package finding

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"chkscope/decoder"
	"chkscope/model"
)

// Severity of a finding.
type Severity uint8

const (
	Info Severity = iota
	Warn
	Critical
)

// String is the word that JSON and --fail-on use.
func (s Severity) String() string { return [...]string{"info", "warn", "critical"}[s] }

// Flag is the mark in a row: "i", "!" or "!!".
func (s Severity) Flag() string { return [...]string{"i", "!", "!!"}[s] }

// MarshalText makes JSON hold the word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Certainty: proved from what was read, or likely.
type Certainty string

const (
	Proved Certainty = "proved"
	Likely Certainty = "likely"
)

// Value is one number or text of evidence.
type Value struct {
	Key   string
	Value any // int64, float64, string, []int64, []string
}

// Evidence is ordered, most telling first; a JSON object.
type Evidence []Value

// MarshalJSON keeps the order.
func (e Evidence) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, v := range e {
		if i > 0 {
			b.WriteByte(',')
		}
		k, _ := json.Marshal(v.Key)
		val, err := json.Marshal(v.Value)
		if err != nil {
			return nil, err
		}
		b.Write(k)
		b.WriteByte(':')
		b.Write(val)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Get is the value of a key, or nil.
func (e Evidence) Get(key string) any {
	for _, v := range e {
		if v.Key == key {
			return v.Value
		}
	}
	return nil
}

// Finding is one anomaly at one node.
type Finding struct {
	Rule      string
	Severity  Severity
	Certainty Certainty
	Target    model.Target // the zero Target is the checkpoint
	Evidence  Evidence
	Cause     string // one sentence, text not cleaned
	Action    string // one sentence
	// Remedy is the selectors that cure it; empty where no removal does.
	Remedy []string
}

// Selector of the node; "" is the checkpoint itself.
func (f Finding) Selector() string { return f.Target.Selector() }

// Threshold is a constant of a rule, printed by `chkscope rules`.
type Threshold struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Key documents a key of evidence.
type Key struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

// Rule is one row of the table.
type Rule struct {
	ID         string
	Severities string // in words, e.g. "critical", "info, warn"
	When       string // fires when
	Why        string // why it matters
	Thresholds []Threshold
	Evidence   []Key
	// reads tells that the rule reads files or asks the store, so that it runs in
	// the background.
	reads bool
	check func(*run) ([]Finding, error)
}

// run is what a rule looks at.
type run struct {
	ctx      context.Context
	s        *model.Snapshot
	t        *model.Tree
	progress func(done, all int64)
	restores []restoreSize // by operator, computed once
	files    []fileCheck
}

// Quick runs the rules that need nothing but `_metadata`.
func Quick(s *model.Snapshot, t *model.Tree) []Finding {
	list, _ := runRules(&run{ctx: context.Background(), s: s, t: t}, false)
	return list
}

// Run runs all rules, worst findings first. Rules that cannot read what they
// need say so in what they find, or stay quiet; the error is only that of a
// cancelled context. progress may be nil; it is told files asked for and all.
func Run(ctx context.Context, s *model.Snapshot, t *model.Tree, progress func(done, all int64)) ([]Finding, error) {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	return runRules(&run{ctx: ctx, s: s, t: t, progress: progress}, true)
}

func runRules(r *run, reads bool) ([]Finding, error) {
	var out []Finding
	for _, rule := range Rules() {
		if rule.reads && !reads {
			continue
		}
		list, err := rule.check(r)
		if r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		if err != nil {
			list = append(list, Finding{Rule: rule.ID, Severity: Info, Certainty: Proved, Evidence: Evidence{{"error", err.Error()}},
				Cause: "The rule could not be checked: " + err.Error() + ".", Action: "See what keeps the file from being read; nothing is said about this rule."})
		}
		for i := range list {
			list[i].Rule = rule.ID
		}
		out = append(out, list...)
	}
	shareRemedies(out)
	slices.SortStableFunc(out, func(a, b Finding) int { return int(b.Severity) - int(a.Severity) })
	return out, nil
}

// Rules that are told apart by shareRemedies.
const (
	idDeployment  = "deployment-over-framesize"
	idAcknowledge = "acknowledge-over-framesize"
	idUnion       = "union-multiplied"
	idLegacy      = "legacy-state"
)

// shareRemedies gives the findings about too large messages the remedies of
// what makes them so large, where the same operator has such a finding.
func shareRemedies(list []Finding) {
	for i := range list {
		f := &list[i]
		if f.Rule != idDeployment && f.Rule != idAcknowledge {
			continue
		}
		for _, g := range list {
			if g.Target.Op != f.Target.Op || g.Rule != idUnion && g.Rule != idLegacy {
				continue
			}
			for _, sel := range g.Remedy {
				if !slices.Contains(f.Remedy, sel) {
					f.Remedy = append(f.Remedy, sel)
				}
			}
		}
		if len(f.Remedy) > 0 {
			f.Action = "Remove what makes it so large: " + firstOf(f.Remedy, 2) + "."
		}
	}
}

// operatorName is what sentences call an operator.
func (r *run) operatorName(op int) string {
	if name, origin := r.s.OperatorName(op); origin > model.NameGuess {
		return name
	}
	return "operator " + r.s.Meta.Operators[op].ID.String()[:8]
}

func (r *run) target(n model.Node) model.Target { return r.t.Target(n, r.s.Meta.Operators) }

// states gives the nodes of an operator's states, of one kind or all (KindNone).
func (r *run) states(op int, k model.Kind) []model.Node {
	all := r.t.Children(nil, r.t.OperatorNode(op), model.TurnState)
	if k == model.KindNone {
		return all
	}
	return slices.DeleteFunc(all, func(n model.Node) bool { return r.t.Kind(n) != k })
}

// stateNamed gives the operator state with this name, or None.
func (r *run) stateNamed(op int, name string) model.Node {
	for _, n := range r.states(op, model.KindOperator) {
		if r.t.Name(n) == name {
			return n
		}
	}
	return model.None
}

func name(r *run, n model.Node) string { return decoder.Text(r.t.Name(n)) }

// firstOf lists up to n texts, and how many more.
func firstOf(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:n], ", ") + " and " + model.FormatCount(int64(len(list)-n)) + " more"
}
