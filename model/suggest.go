package model

import (
	"context"
	"strings"

	"chkscope/model/store"
)

// SuggestMap looks for a file that is not where the checkpoint says under the
// directory in which the checkpoint was found: a downloaded or moved copy keeps
// the layout JOB/shared, JOB/taskowned, JOB/chk-N. It gives the prefixes for
// --map FROM=TO, or ok false.
func (s *Snapshot) SuggestMap(ctx context.Context, uri string) (from, to string, ok bool) {
	here := store.Parent(s.Dir)
	_, _, path := store.Split(uri)
	parts := strings.Split(strings.Trim(path, "/"), "/")
	// The longest tail that is found here decides how much of the front is replaced.
	for i := 1; i < len(parts); i++ {
		tail := strings.Join(parts[i:], "/")
		base := here
		for range 3 {
			if info, err := s.Store.Stat(ctx, store.Join(base, tail)); err == nil && !info.Dir {
				return strings.TrimSuffix(uri, "/"+tail), base, true
			}
			base = store.Parent(base)
		}
	}
	return "", "", false
}
