package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"chkscope/model"
	"chkscope/model/finding"
	"chkscope/ui"
)

// lsFlags are the flags of ls.
type lsFlags struct {
	lens  lens
	sort  order
	depth int
	limit int
	count bool
}

type lsDocument struct {
	Schema   int            `json:"schema"`
	Complete bool           `json:"complete"`
	Damage   *jsonDamage    `json:"damage"`
	Nodes    stream[lsNode] `json:"nodes"`
}

type lsNode struct {
	Selector string    `json:"selector"`
	Parent   *string   `json:"parent"`
	Entries  number    `json:"entries"`
	Sizes    jsonSizes `json:"sizes"`
}

func (p *program) lsCommand() *cobra.Command {
	f := lsFlags{sort: sortSize}
	cmd := &cobra.Command{
		Use:   "ls URI [SELECTOR]",
		Short: "One row for each operator, state or subtask",
		Long: `ls prints one row for each node that SELECTOR matches (without one: every
operator and every master state), and below it its children down to --depth rows.`,
		Args: between(1, 2, "the URI of a checkpoint and perhaps a selector"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.depth < 1 {
				return usageError("--depth %d: type a number from 1", f.depth)
			}
			if f.limit < 0 {
				return usageError("--limit %d: type a number from 0", f.limit)
			}
			return p.ls(cmd.Context(), args, f)
		},
	}
	cmd.Flags().Var(&f.lens, "lens", "size under which rows are sorted and compared: metadata, state or files (default as in the explorer)")
	cmd.Flags().Var(&f.sort, "sort", "size, name or count")
	cmd.Flags().IntVar(&f.depth, "depth", 2, "levels to print: 1 is what SELECTOR matches, 2 its children, ...")
	cmd.Flags().IntVar(&f.limit, "limit", 0, "at most so many rows (0: all)")
	cmd.Flags().BoolVar(&f.count, "count", false, countHelp)
	return cmd
}

func (p *program) ls(ctx context.Context, args []string, f lsFlags) error {
	s, err := p.open(ctx, args[0])
	if err != nil {
		return p.notOpened(err, func(d *jsonDamage) any { return lsDocument{Schema: schemaVersion, Damage: d} })
	}
	rows, err := p.lsRows(ctx, s, args[1:], f)
	if err == nil {
		err = p.writeRows(s, rows, f)
	}
	if err != nil {
		s.Close()
		return err
	}
	return s.end()
}

func (p *program) writeRows(s *snapshot, rows []lsRow, f lsFlags) error {
	if !p.flags.json {
		return p.writeLs(s, rows, f)
	}
	return p.writeJSON(lsDocument{schemaVersion, s.damage == nil, damageOf(s.damage), newLsNodes(s, rows)})
}

func newLsNodes(s *snapshot, rows []lsRow) stream[lsNode] {
	return func(yield func(lsNode, error) bool) {
		for _, r := range rows {
			if !yield(lsNode{s.selector(r.node), parentSelector(s, r.node), number(s.tree.Entries(r.node)), sizesOf(s.tree.Sizes(r.node))}, nil) {
				return
			}
		}
	}
}

// parentSelector is null for what hangs on the checkpoint itself.
func parentSelector(s *snapshot, n model.Node) *string {
	turn := model.TurnState
	if s.tree.Class(n) == model.ClassSubtask {
		turn = model.TurnSubtask
	}
	return stringOrNull(s.selector(s.tree.Parent(n, turn)))
}

type lsRow struct {
	node  model.Node
	depth int // from 0
}

// lsRows gives the rows in the order in which they are printed.
func (p *program) lsRows(ctx context.Context, s *snapshot, selectors []string, f lsFlags) ([]lsRow, error) {
	choose := func() ([]model.Node, error) {
		if len(selectors) > 0 {
			return s.selectNodes(selectors[0])
		}
		return s.tree.Children(nil, model.Root, model.TurnState), nil
	}
	top, err := choose()
	if err == nil && f.count {
		if err = p.count(ctx, s, top); err == nil {
			top, err = choose() // in the new tree
		}
	}
	if err != nil {
		return nil, err
	}
	w := lsWalk{s: s, f: f, lens: f.lens.of(s)}
	w.add(top, 0)
	return w.rows, nil
}

// lsWalk goes down the tree, sorted, until --depth and --limit.
type lsWalk struct {
	s    *snapshot
	f    lsFlags
	lens model.Lens
	rows []lsRow
}

func (w *lsWalk) add(siblings []model.Node, depth int) {
	for _, n := range sortNodes(w.s, siblings, w.f.sort, w.lens) {
		if w.f.limit > 0 && len(w.rows) >= w.f.limit {
			return
		}
		w.rows = append(w.rows, lsRow{n, depth})
		if depth+1 < w.f.depth {
			turn := model.TurnState
			if w.s.tree.Class(n) == model.ClassSubtask {
				turn = model.TurnSubtask
			}
			w.add(w.s.tree.Children(nil, n, turn), depth+1)
		}
	}
}

// of is the lens that the flag names, else the one that the explorer opens with.
func (l lens) of(s *snapshot) model.Lens {
	for _, known := range []model.Lens{model.LensMetadata, model.LensState, model.LensFiles} {
		if string(l) == known.String() {
			return known
		}
	}
	return ui.OpeningLens(s.Snapshot, finding.Quick(s.Snapshot, s.tree))
}

func (p *program) writeLs(s *snapshot, rows []lsRow, f lsFlags) error {
	l := f.lens.of(s)
	whole, _ := s.tree.Sizes(model.Root).Weight(l)
	out := p.output()
	newTable("rrrlll").writeEach(out, "", func(row func(...string)) {
		row(strings.ToUpper(l.String()), "%", "ENTRIES", "TYPE", "NAME", "SELECTOR")
		for _, r := range rows {
			weight, lower := s.tree.Sizes(r.node).Weight(l)
			row(weightText(l, weight, lower), percent(weight, whole), entriesText(s, r.node), rowType(s, r.node),
				strings.Repeat("  ", r.depth)+rowName(s, r.node), s.selector(r.node))
		}
	})
	return out.Flush()
}

func entriesText(s *snapshot, n model.Node) string {
	if s.tree.Class(n) == model.ClassOperator {
		return ""
	}
	return model.FormatCount(s.tree.Entries(n))
}
