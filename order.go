package main

import (
	"cmp"
	"fmt"
	"slices"

	"chkscope/decoder"
	"chkscope/model"
)

// order is how siblings are sorted (--sort).
type order string

const (
	sortSize  order = "size"
	sortName  order = "name"
	sortCount order = "count"
)

// String, Set and Type make it a flag.
func (o *order) String() string { return string(*o) }
func (o *order) Type() string   { return "order" }
func (o *order) Set(s string) error {
	switch order(s) {
	case sortSize, sortName, sortCount:
		*o = order(s)
		return nil
	}
	return fmt.Errorf("type size, name or count")
}

// lens is what --lens says; "" until it is known what is opened.
type lens string

func (l *lens) String() string { return string(*l) }
func (l *lens) Type() string   { return "lens" }
func (l *lens) Set(s string) error {
	switch s {
	case "metadata", "state", "files":
		*l = lens(s)
		return nil
	}
	return fmt.Errorf("type metadata, state or files")
}

// sortNodes sorts siblings: by size under a lens or by number of entries, the
// largest first, or by name. Of equal size under the lens the larger state comes
// first, then the larger metadata, then the order of the file.
func sortNodes(s *snapshot, nodes []model.Node, by order, l model.Lens) []model.Node {
	sorted := slices.Clone(nodes)
	slices.SortStableFunc(sorted, func(a, b model.Node) int {
		switch by {
		case sortName:
			return cmp.Or(cmp.Compare(sortingName(s, a), sortingName(s, b)), cmp.Compare(s.tree.Subtask(a), s.tree.Subtask(b)))
		case sortCount:
			return cmp.Compare(s.tree.Entries(b), s.tree.Entries(a))
		}
		return cmp.Or(compareWeight(s, b, a, l), compareWeight(s, b, a, model.LensState), compareWeight(s, b, a, model.LensMetadata))
	})
	return sorted
}

func compareWeight(s *snapshot, a, b model.Node, l model.Lens) int {
	wa, _ := s.tree.Sizes(a).Weight(l)
	wb, _ := s.tree.Sizes(b).Weight(l)
	return cmp.Compare(wa, wb)
}

func sortingName(s *snapshot, n model.Node) string {
	if s.tree.Class(n) == model.ClassOperator {
		if name, _ := s.OperatorName(s.tree.Operator(n)); name != "" {
			return name
		}
		return s.selector(n)
	}
	return decoder.Text(s.tree.Name(n))
}
