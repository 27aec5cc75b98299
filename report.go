package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chkscope/model"
	"chkscope/model/finding"
	"chkscope/ui"
)

// failOn is the severity from which on findings set exit code 1 (--fail-on).
type failOn string

func (f *failOn) register(flags *pflag.FlagSet) {
	*f = "critical"
	flags.Var(f, "fail-on", "exit with 1 where a finding is at or above: info, warn, critical or never")
}

// String, Set and Type make it a flag.
func (f *failOn) String() string { return string(*f) }
func (f *failOn) Type() string   { return "severity" }
func (f *failOn) Set(s string) error {
	switch s {
	case "info", "warn", "critical", "never":
		*f = failOn(s)
		return nil
	}
	return fmt.Errorf("type info, warn, critical or never")
}

func (p *program) reportCommand() *cobra.Command {
	var fail failOn
	var count bool
	cmd := &cobra.Command{
		Use:   "report URI",
		Short: "What is in a checkpoint, by size, and what is wrong",
		Args:  exactly(1, "the URI of a checkpoint"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.openAndReport(cmd.Context(), args[0], fail, count)
		},
	}
	fail.register(cmd.Flags())
	cmd.Flags().BoolVar(&count, "count", false, countHelp)
	return cmd
}

func (p *program) openAndReport(ctx context.Context, uri string, fail failOn, count bool) error {
	s, err := p.open(ctx, uri)
	if err != nil {
		return p.notOpened(err, func(d *jsonDamage) any { return emptyReport(uri, d) })
	}
	if count {
		if err := p.count(ctx, s, []model.Node{model.Root}); err != nil {
			s.Close()
			return err
		}
	}
	return p.report(ctx, s, fail)
}

const countHelp = "read the streams of keyed state too, for entries and bytes by name"

// report prints the document of an opened snapshot and closes it.
func (p *program) report(ctx context.Context, s *snapshot, fail failOn) error {
	found, err := p.findings(ctx, s)
	if err != nil {
		s.Close()
		return err
	}
	doc := newReport(s, newReportFindings(found))
	write := func() error { return p.writeReport(s, doc, ui.OpeningLens(s.Snapshot, found)) }
	if p.flags.json {
		write = func() error { return p.writeJSON(doc) }
	}
	if err := write(); err != nil {
		s.Close()
		return err
	}
	p.sayMapFor(ctx, s, found)
	if err := s.end(); err != nil {
		return err
	}
	if fail.reached(found) {
		return &coded{code: exitFindings}
	}
	return nil
}

// reached tells whether a finding is at or above the severity.
func (f failOn) reached(found []finding.Finding) bool {
	for _, limit := range []finding.Severity{finding.Info, finding.Warn, finding.Critical} {
		if limit.String() == string(f) {
			return slices.ContainsFunc(found, func(x finding.Finding) bool { return x.Severity >= limit })
		}
	}
	return false
}

func (p *program) writeReport(s *snapshot, doc *reportDocument, l model.Lens) error {
	w := &strings.Builder{}
	p.writeHead(w, doc)
	p.writeFindings(w, doc)
	if err := p.write(w.String()); err != nil {
		return err
	}
	return p.writeOperators(s, l)
}

func (p *program) writeHead(w io.Writer, doc *reportDocument) {
	c, t := doc.Checkpoint, doc.Totals
	fmt.Fprintf(w, "%s\n%s\n\n", p.strong(model.Clean(c.URI)), headLine(c))
	rows := newTable("lrl")
	bytes := func(label string, n number, why string) {
		rows.row(label, model.FormatSize(int64(n)), why)
	}
	object := "_metadata"
	if c.MetadataVersion == nil {
		object = "the object"
	}
	bytes(object, c.MetadataBytes, fmt.Sprintf("%s bytes: header %s, trailer %s, the rest is inline and bookkeeping",
		model.FormatCount(int64(c.MetadataBytes)), model.FormatCount(int64(c.HeaderBytes)), model.FormatCount(int64(c.TrailerBytes))))
	bytes("  inline", t.Inline, "state inside "+object)
	bytes("  bookkeeping", t.Bookkeeping, "names, offsets, paths")
	bytes("exclusive files", t.Exclusive, "")
	bytes("shared files", t.Shared, "")
	if z := t.ByKind[model.KindInFlight.String()]; z.Inline > 0 || z.Exclusive > 0 || z.Shared > 0 {
		bytes("in-flight", max(z.Inline, 0)+max(z.Exclusive, 0)+max(z.Shared, 0), "of these: records that were under way (unaligned checkpoint)")
	}
	files := "different files"
	if t.UnknownFiles > 0 {
		files += fmt.Sprintf("; %d of unknown length, so sizes of files are lower bounds", t.UnknownFiles)
	}
	rows.row("files", model.FormatCount(int64(t.Files)), files)
	rows.write(w, "")
	if d := c.Damage; d != nil {
		fmt.Fprintf(w, "\n%s at offset %d, %s: expected %s, found %s\n", p.strong("DAMAGED"), d.Offset,
			model.Clean(d.Path), model.Clean(d.Expected), model.Clean(d.Found))
	}
}

func headLine(c reportCheckpoint) string {
	form := "completedCheckpoint object"
	if c.MetadataVersion != nil {
		form = fmt.Sprintf("metadata version %d", *c.MetadataVersion)
	}
	parts := []string{form, fmt.Sprintf("checkpoint %d", *c.CheckpointID)}
	switch {
	case c.Kind != nil:
		parts = append(parts, *c.Kind)
	case c.KindGuess != nil:
		parts = append(parts, "looks like "+*c.KindGuess+" (this version does not record it)")
	}
	if !c.Complete {
		parts = append(parts, "INCOMPLETE")
	}
	return strings.Join(parts, ", ")
}

func (p *program) writeFindings(w io.Writer, doc *reportDocument) {
	fmt.Fprintf(w, "\n%s\n", p.strong("Findings"))
	if len(doc.Findings) == 0 {
		fmt.Fprintln(w, "  none")
	}
	for _, f := range doc.Findings {
		where := "the checkpoint"
		if f.Selector != nil {
			where = *f.Selector
		}
		certainty := ""
		if f.Certainty != "proved" {
			certainty = " (" + f.Certainty + ")"
		}
		fmt.Fprintf(w, "  %s  %s%s  %s\n", p.severity(f.Severity), p.strong(f.Rule), certainty, model.Clean(where))
		fmt.Fprintf(w, "      %s\n", model.Clean(f.Cause))
		fmt.Fprintf(w, "      %s\n", model.Clean(f.Action))
		for _, r := range f.Remedy {
			fmt.Fprintf(w, "      remedy: --drop %s\n", model.ShellQuoted(r))
		}
	}
}

// writeOperators prints every operator, the largest first, and its states.
func (p *program) writeOperators(s *snapshot, l model.Lens) error {
	if err := p.write(fmt.Sprintf("\n%s\n", p.strong("Operators and their states, the largest first (lens: "+l.String()+")"))); err != nil {
		return err
	}
	top := sortNodes(s, s.tree.Children(nil, model.Root, model.TurnState), sortSize, l)
	out := p.output()
	newTable("rrrrrrll").writeEach(out, "  ", func(row func(...string)) {
		row("INLINE", "BOOKKEEPING", "EXCLUSIVE", "SHARED", "FILES", "ENTRIES", "TYPE", "NAME")
		for _, n := range top {
			row(reportRow(s, n, "")...)
			for _, c := range sortNodes(s, s.tree.Children(nil, n, model.TurnState), sortSize, l) {
				row(reportRow(s, c, "  ")...)
			}
			if s.tree.Class(n) != model.ClassOperator {
				continue
			}
			for _, name := range s.tree.Detail(s.tree.Operator(n)).HeaderOnly {
				row("", "", "", "", "", "0", "header only", "  "+cleanName(name))
			}
		}
	})
	return out.Flush()
}

func reportRow(s *snapshot, n model.Node, indent string) []string {
	z := s.tree.Sizes(n)
	entries := model.FormatCount(s.tree.Entries(n))
	if s.tree.Class(n) == model.ClassOperator {
		entries = ""
	}
	return []string{
		model.FormatSize(z.Inline), model.FormatSize(z.Bookkeeping), model.FormatSize(z.Exclusive), model.FormatSize(z.Shared),
		model.FormatCount(z.Files), entries, rowType(s, n), indent + rowName(s, n),
	}
}

// rowType is the column that helps to decide: parallelism of an operator, kind
// and distribution of a state.
func rowType(s *snapshot, n model.Node) string {
	switch s.tree.Class(n) {
	case model.ClassOperator:
		return "x" + strconv.Itoa(int(s.Meta.Operators[s.tree.Operator(n)].Parallelism))
	case model.ClassMaster:
		return "master"
	}
	if d := s.tree.Dist(n); d != model.DistNone {
		return s.tree.Kind(n).String() + " " + d.String()
	}
	return s.tree.Kind(n).String()
}

func rowName(s *snapshot, n model.Node) string {
	switch s.tree.Class(n) {
	case model.ClassOperator:
		i := s.tree.Operator(n)
		id := s.Meta.Operators[i].ID.String()
		if name, origin := s.OperatorName(i); origin == model.NameGuess || origin == model.NameAuto {
			return id + " (" + model.Clean(name) + ")"
		} else if origin != model.NameNone {
			return id + " " + model.Clean(name)
		}
		return id
	case model.ClassCell, model.ClassSubtask:
		return "subtask " + strconv.Itoa(s.tree.Subtask(n))
	}
	if name := s.tree.Name(n); name != "" {
		return cleanName(name)
	}
	if s.tree.Kind(n) == model.KindCoordinator {
		return "coordinator"
	}
	return "all names together"
}
