package ui

import (
	"context"
	"errors"

	"chkscope/model"
)

// checkMark tells why a target cannot be marked.
func checkMark(*model.Snapshot, *model.Tree, model.Target) (string, bool) { return "", true }

// countBelow counts what is not counted yet below a node.
func countBelow(ctx context.Context, s *model.Snapshot, t *model.Tree, n model.Node, progress func(done, all int64)) (*model.Tree, error) {
	c, ok := any(s).(interface {
		Count(context.Context, *model.Tree, model.Node, func(done, all int64)) (*model.Tree, error)
	})
	if !ok {
		return nil, errors.New("nothing here can be counted")
	}
	return c.Count(ctx, t, n, progress)
}
