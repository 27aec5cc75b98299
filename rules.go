package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"chkscope/model/finding"
)

type rulesDocument struct {
	Schema int        `json:"schema"`
	Rules  []jsonRule `json:"rules"`
}

type jsonRule struct {
	Rule       string              `json:"rule"`
	Severities string              `json:"severities"`
	When       string              `json:"when"`
	Why        string              `json:"why"`
	Thresholds []finding.Threshold `json:"thresholds"`
	Evidence   []finding.Key       `json:"evidence"`
}

// findings runs the rules.
func (p *program) findings(ctx context.Context, s *snapshot) ([]finding.Finding, error) {
	bar := p.progress("checking the rules", "files")
	defer bar.end()
	return finding.Run(ctx, s.Snapshot, s.tree, bar.at)
}

func (p *program) rulesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rules",
		Short: "The anomaly rules with their thresholds",
		Args:  exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if p.flags.json {
				doc := rulesDocument{schemaVersion, []jsonRule{}}
				for _, r := range finding.Rules() {
					doc.Rules = append(doc.Rules, jsonRule{r.ID, r.Severities, r.When, r.Why, list(r.Thresholds), list(r.Evidence)})
				}
				return p.writeJSON(doc)
			}
			return p.writeRules()
		},
	}
}

func (p *program) writeRules() error {
	w := &strings.Builder{}
	for i, r := range finding.Rules() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s  (%s)\n", p.strong(r.ID), r.Severities)
		rows := newTable("ll")
		rows.row("when", r.When)
		rows.row("why", r.Why)
		for _, t := range r.Thresholds {
			rows.row("threshold", strings.TrimRight(t.Name+" "+strconv.FormatFloat(t.Value, 'f', -1, 64)+" "+t.Unit, " "))
		}
		for _, k := range r.Evidence {
			rows.row("evidence", k.Name+": "+k.Meaning)
		}
		rows.write(w, "  ")
	}
	return p.write(w.String())
}
