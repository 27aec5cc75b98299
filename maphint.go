package main

import (
	"context"
	"strings"

	"chkscope/model"
	"chkscope/model/finding"
	"chkscope/model/store"
)

// sayMap tells which --map finds a missing file, where the checkpoint was moved
// or downloaded as a whole: a directory above it (of the job, mostly) is named in
// the file's path too, and below it the file is there.
func (p *program) sayMap(ctx context.Context, s *snapshot, missing string) {
	dir := s.Dir
	for range 4 {
		base := store.Base(dir)
		if base == "" {
			return
		}
		if at := strings.Index(missing, "/"+base+"/"); at > 0 {
			from, to := missing[:at], store.Parent(dir)
			if info, err := s.Store.Stat(ctx, to+missing[at:]); err == nil && !info.Dir {
				p.say("missing files are in another place here: add --map %s", model.ShellQuoted(from+"="+to))
				return
			}
		}
		dir = store.Parent(dir)
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
