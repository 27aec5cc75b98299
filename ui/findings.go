package ui

import (
	"cmp"
	"slices"
	"strings"

	"chkscope/model"
	"chkscope/model/finding"
)

// findings is what was found, worst first, and where in the tree it stands.
type findings struct {
	list  []finding.Finding
	nodes []model.Node       // of each finding, None where the tree has it not
	own   map[model.Node]int // the worst finding of a node itself
	worst map[model.Node]finding.Severity
	at    int // the one that f went to, -1
	on    row // where the cursor was then: one about the whole checkpoint is told there
}

// set takes a new list in and keeps the place of the one that f went to.
func (f *findings) set(n *names, list []finding.Finding) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b finding.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	at := -1
	if f.at >= 0 && f.at < len(f.list) {
		old := f.list[f.at]
		at = slices.IndexFunc(list, func(g finding.Finding) bool { return g.Rule == old.Rule && g.Target == old.Target })
	}
	f.list, f.at = list, at
	f.place(n)
}

// place finds the nodes of the findings in a tree. A row shows the worst of what
// is on it and below it, in either turn.
func (f *findings) place(n *names) {
	f.nodes = make([]model.Node, len(f.list))
	f.own, f.worst = map[model.Node]int{}, map[model.Node]finding.Severity{}
	for i := range f.list {
		node := n.snap.Find(n.tree, f.list[i].Target)
		f.nodes[i] = node
		if node == model.None {
			continue
		}
		if j, ok := f.own[node]; !ok || f.list[j].Severity < f.list[i].Severity {
			f.own[node] = i
		}
		for _, turn := range []model.Turn{model.TurnState, model.TurnSubtask} {
			for p := node; p != model.None; p = n.tree.Parent(p, turn) {
				if s, ok := f.worst[p]; !ok || s < f.list[i].Severity {
					f.worst[p] = f.list[i].Severity
				}
			}
		}
	}
}

// of gives the findings of a node itself, worst first.
func (f *findings) of(n model.Node) []*finding.Finding {
	var out []*finding.Finding
	for i := range f.list {
		if f.nodes[i] == n {
			out = append(out, &f.list[i])
		}
	}
	return out
}

// metadataRules are the rules about what makes `_metadata`, or what is sent of
// it, too large.
var metadataRules = []string{"deployment-over-framesize", "acknowledge-over-framesize", "union-multiplied", "legacy-state", "inline-heavy", "coordinator-heavy"}

func aboutMetadata(f *finding.Finding) bool { return slices.Contains(metadataRules, f.Rule) }

// metadataFlag is the worst of the findings about `_metadata` itself, for the header.
func (f *findings) metadataFlag() string {
	worst := -1
	for i := range f.list {
		if aboutMetadata(&f.list[i]) {
			worst = max(worst, int(f.list[i].Severity))
		}
	}
	if worst < int(finding.Warn) {
		return ""
	}
	return finding.Severity(worst).Flag()
}

// count tells how many there are of each severity: "1 critical, 2 warn".
func (f *findings) summary() string {
	var n [3]int64
	for i := range f.list {
		n[f.list[i].Severity]++
	}
	var parts []string
	for s := finding.Critical; ; s-- {
		if n[s] > 0 {
			parts = append(parts, model.FormatCount(n[s])+" "+s.String())
		}
		if s == finding.Info {
			break
		}
	}
	return strings.Join(parts, ", ")
}

// sentences are a finding in words.
func sentences(f *finding.Finding) string {
	s := clean(f.Rule) + ": " + clean(f.Cause)
	if f.Certainty == finding.Likely {
		s = clean(f.Rule) + " (likely): " + clean(f.Cause)
	}
	if f.Action != "" {
		s += " " + clean(f.Action)
	}
	if len(f.Remedy) > 0 {
		s += " x marks it."
	}
	return s
}
