package main

import (
	"context"

	"chkscope/model"
	"chkscope/model/finding"
)

// sayMap tells which --map finds a missing file, where the checkpoint was moved
// or downloaded as a whole.
func (p *program) sayMap(ctx context.Context, s *snapshot, missing string) {
	if from, to, ok := s.SuggestMap(ctx, missing); ok {
		p.say("missing files are in another place here: add --map %s", model.ShellQuoted(from+"="+to))
	}
}

// sayMapFor is sayMap for the first missing file that a finding names.
func (p *program) sayMapFor(ctx context.Context, s *snapshot, found []finding.Finding) {
	for _, f := range found {
		if first, ok := f.Evidence.Get("first").([]string); ok && f.Rule == "missing-file" && len(first) > 0 {
			p.sayMap(ctx, s, first[0])
			return
		}
	}
}
