package main

import (
	"strconv"

	"chkscope/model"
)

// selectNodes gives the nodes that a selector matches. Entries of a list are no
// nodes: their cell stands for them.
func (s *snapshot) selectNodes(selector string) ([]model.Node, error) {
	targets, err := s.Select(s.tree, selector)
	if err != nil {
		return nil, err
	}
	return s.nodes(targets), nil
}

// targets and nodes go from one tree to the next: a new tree has the same
// targets under other numbers.
func (s *snapshot) targets(nodes []model.Node) []model.Target {
	targets := make([]model.Target, len(nodes))
	for i, n := range nodes {
		targets[i] = s.tree.Target(n, s.Meta.Operators)
	}
	return targets
}

func (s *snapshot) nodes(targets []model.Target) []model.Node {
	var nodes []model.Node
	seen := map[model.Node]bool{}
	for _, g := range targets {
		if n := s.Find(s.tree, g); n != model.None && !seen[n] {
			seen[n] = true
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// weightText prints a size under a lens; a lower bound has ">=" before it.
func weightText(l model.Lens, n int64, lower bool) string {
	text := model.FormatSize(n)
	if l == model.LensFiles {
		text = model.FormatCount(n)
	}
	if lower && n != model.Unknown {
		return ">= " + text
	}
	return text
}

func percent(part, whole int64) string {
	if part == model.Unknown || whole <= 0 {
		return ""
	}
	return strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 1, 64)
}
