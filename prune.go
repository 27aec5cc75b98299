package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chkscope/model"
	"chkscope/model/finding"
	"chkscope/model/prune"
	"chkscope/model/store"
)

// pruneFlags are the flags of prune and copy.
type pruneFlags struct {
	drop, fix []string
	conditionFlags
	object             string
	to, copyKind       string
	planFile, savePlan string
	yes, dryRun        bool
	acceptLoss         bool
	changelogOff       bool
	keepHeaders        bool
	verifyCopies       bool
	replaceHA          bool
}

func (p *program) pruneCommand() *cobra.Command {
	var f pruneFlags
	cmd := &cobra.Command{
		Use:   "prune URI (--drop SELECTOR)… (--fix RULE)… --to URI",
		Short: "Plan, confirm, write and prove a copy without what is dropped",
		Long: `prune writes a copy of a checkpoint without what the selectors name, reads it
back and proves that nothing else changed. The source is never written to.

    chkscope prune URI --drop SELECTOR --to URI
    chkscope prune URI --drop OPERATOR --where 'topic == "old-orders"' --to URI
    chkscope prune URI --fix union-multiplied --to URI
    chkscope prune --plan FILE --to URI

Where high availability is on, Flink restores from a completedCheckpoint object
and not from _metadata. With the URI of that object, or with --ha OBJECT, both
are pruned: the copy has a new _metadata and a new object for the old one's place.

It prints the plan and asks; --yes writes without asking, --dry-run never writes.
What is interrupted goes on when the same command is given again.`,
		Args: between(0, 1, "the URI of a checkpoint, or --plan FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			return p.prune(cmd.Context(), args, f)
		},
	}
	cmd.Flags().StringArrayVar(&f.drop, "drop", nil, "selector of what goes (repeatable)")
	cmd.Flags().StringArrayVar(&f.fix, "fix", nil, "rule whose remedies go (repeatable)")
	cmd.Flags().StringVar(&f.object, "ha", "", "completedCheckpoint object of this checkpoint, to be pruned with it; or what points to it: a ConfigMap (- is stdin), a ZooKeeper node, a directory")
	cmd.Flags().BoolVar(&f.replaceHA, "replace-ha", false, "put the new object in the place of the old one, which is kept beside it; no JobManager may run")
	cmd.Flags().StringVar(&f.where, "where", "", "of what --drop names (operators too) only the entries for which this condition holds, e.g. 'key matches \"^test-\"'")
	cmd.Flags().DurationVar(&f.ttl, "ttl", 0, "how long the state lives (e.g. 24h), for conditions that ask; no snapshot records it")
	cmd.Flags().StringVar(&f.planFile, "plan", "", "a saved plan instead of URI, --drop and --fix")
	cmd.Flags().BoolVar(&f.acceptLoss, "accept-loss", false, "allow removals after which data is lost or read twice")
	cmd.Flags().BoolVar(&f.keepHeaders, "keep-headers", false, "change no state file: a dropped name stays in headers, empty")
	f.registerCopy(cmd.Flags())
	return cmd
}

func (p *program) copyCommand() *cobra.Command {
	var f pruneFlags
	cmd := &cobra.Command{
		Use:   "copy URI --to URI",
		Short: "A proved copy without removing anything: move, relocate, and with --copy full make self-contained",
		Args:  exactly(1, "the URI of a checkpoint"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.to == "" {
				return usageError("where to? type --to URI")
			}
			return p.prune(cmd.Context(), args, f)
		},
	}
	f.registerCopy(cmd.Flags())
	return cmd
}

// registerCopy registers what prune and copy share.
func (f *pruneFlags) registerCopy(flags *pflag.FlagSet) {
	flags.StringVar(&f.to, "to", "", "the copy's directory, which does not exist yet")
	flags.StringVar(&f.copyKind, "copy", "", "full or reference (default: full where no file is shared or foreign or where there are changelog handles)")
	flags.BoolVar(&f.yes, "yes", false, "write without asking")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would be written and stop")
	flags.StringVar(&f.savePlan, "save-plan", "", "write the plan to this file, for --plan")
	flags.BoolVar(&f.changelogOff, "changelog-off", false, "the job that restores has changelog switched off")
	flags.BoolVar(&f.verifyCopies, "verify-copies", false, "read copied files again and compare")
}

// check refuses combinations that say two things at once.
func (f *pruneFlags) check(args []string) error {
	if _, err := f.condition(); err != nil {
		return err
	}
	switch {
	case f.where != "" && (f.planFile != "" || len(f.fix) > 0):
		return usageError("--where is about the entries of what --drop names; type prune URI --drop SELECTOR --where CONDITION --to URI")
	case f.planFile != "" && len(args)+len(f.drop)+len(f.fix) > 0:
		return usageError("--plan names source and removals itself; type only --plan FILE --to URI")
	case f.planFile != "" && (f.object != "" || f.copyKind != "" || f.acceptLoss || f.changelogOff || f.keepHeaders || f.verifyCopies):
		return usageError("--plan holds how the copy is made; for another way make another plan")
	case f.planFile != "":
		return nil
	case len(args) == 0:
		return usageError("prune what? type chkscope prune URI --drop SELECTOR --to URI")
	case len(f.drop)+len(f.fix) == 0:
		return usageError("nothing to remove; type --drop SELECTOR or --fix RULE, or chkscope copy to remove nothing")
	case f.to == "":
		return usageError("where to? type --to URI")
	}
	return nil
}

// prune makes the plan, asks, writes.
func (p *program) prune(ctx context.Context, args []string, f pruneFlags) error {
	if p.flags.readOnly && (!f.dryRun || f.savePlan != "") {
		return usageError("--read-only: nothing is written; type --dry-run to see the plan")
	}
	st, err := p.store()
	if err != nil {
		return err
	}
	s, plan, err := p.plan(ctx, st, args, f)
	if err != nil {
		return err
	}
	defer s.Close()
	defer plan.Close()
	if f.savePlan != "" {
		if err := savePlan(ctx, plan, f.savePlan); err != nil {
			return err
		}
	}
	if f.dryRun {
		if err := p.writePlan(ctx, st, plan); err != nil {
			return err
		}
		return plan.CheckSources(ctx)
	}
	if f.replaceHA {
		return p.pruneAndReplace(ctx, st, plan, f.yes)
	}
	if err := p.confirm(ctx, st, plan, "write", f.yes); err != nil {
		return err
	}
	result, err := p.apply(ctx, st, plan)
	if err != nil {
		return err
	}
	return p.writeResult(ctx, st, plan.Document(result))
}

// plan opens the source and plans, from flags or from a plan file.
func (p *program) plan(ctx context.Context, st model.Store, args []string, f pruneFlags) (*snapshot, *prune.Plan, error) {
	to, err := destination(f.to)
	if err != nil {
		return nil, nil, err
	}
	var saved *prune.Plan
	if f.planFile != "" {
		if saved, err = loadPlan(f.planFile); err != nil {
			return nil, nil, err
		}
		if to == "" && saved.Destination == "" {
			return nil, nil, usageError("where to? type --to URI")
		}
		if p.flags.sourceURI == "" {
			p.flags.sourceURI = saved.SourceURI
		}
		args = []string{saved.Source}
	}
	s, err := p.openArgument(ctx, st, args[0])
	if err != nil {
		return nil, nil, err
	}
	plan, err := p.makePlan(ctx, s, saved, to, f)
	if err != nil {
		p.sayReplaced(ctx, s, f)
		s.Close()
		return nil, nil, err
	}
	return s, plan, nil
}

func (p *program) makePlan(ctx context.Context, s *snapshot, saved *prune.Plan, to string, f pruneFlags) (*prune.Plan, error) {
	if s.damage != nil {
		return nil, failed(fmt.Errorf("a damaged checkpoint is not pruned; take an older one, or bring the whole file back: %w", s.damage))
	}
	if saved != nil {
		return prune.Rebuild(ctx, s.Snapshot, s.tree, saved, to)
	}
	kind, err := prune.ParseCopyKind(f.copyKind)
	if err != nil {
		return nil, usageError("--copy: %v", err)
	}
	req := prune.Request{
		Copy: kind, Destination: to, ChangelogOff: f.changelogOff, AcceptLoss: f.acceptLoss,
		KeepHeaders: f.keepHeaders, VerifyCopies: f.verifyCopies,
	}
	if f.where != "" {
		req.Where, req.TTL, req.Now = f.where, f.ttl.Milliseconds(), time.Now().UnixMilli()
	}
	if err := p.findObject(ctx, s, f.object, &req); err != nil {
		return nil, err
	}
	if f.replaceHA { // the pointer stays as it is
		req.Pointer = nil
	}
	selectors, err := p.remedies(ctx, s, f.fix)
	if err != nil {
		return nil, err
	}
	for _, sel := range append(slices.Clone(f.drop), selectors...) {
		targets, err := s.Select(s.tree, sel)
		if err != nil {
			return nil, err
		}
		for _, g := range targets {
			if !slices.Contains(req.Targets, g) {
				req.Targets = append(req.Targets, g)
			}
		}
	}
	return prune.Build(ctx, s.Snapshot, s.tree, req)
}

// remedies gives the selectors that cure the findings of the rules.
func (p *program) remedies(ctx context.Context, s *snapshot, rules []string) ([]string, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	found, err := p.findings(ctx, s)
	if err != nil {
		return nil, err
	}
	var selectors []string
	for _, rule := range rules {
		if !slices.ContainsFunc(finding.Rules(), func(r finding.Rule) bool { return r.ID == rule }) {
			return nil, usageError("--fix %q is no rule; type \"chkscope rules\" for them", rule)
		}
		before := len(selectors)
		for _, f := range found {
			if f.Rule == rule {
				selectors = append(selectors, f.Remedy...)
			}
		}
		if len(selectors) == before {
			return nil, usageError("--fix %s: no finding of this rule has a remedy here; type \"chkscope report URI\" for what was found", rule)
		}
	}
	return selectors, nil
}

func destination(to string) (string, error) {
	if to == "" {
		return "", nil
	}
	uri, err := store.FromArgument(to)
	if err != nil {
		return "", usageError("--to %q: %v", to, err)
	}
	return uri, nil
}

func loadPlan(path string) (*prune.Plan, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, usageError("--plan: %v", err)
	}
	defer file.Close()
	plan, err := prune.Load(bufio.NewReader(file))
	if err != nil {
		return nil, usageError("--plan %s: %v", path, err)
	}
	return plan, nil
}

// savePlan never replaces a file.
func savePlan(ctx context.Context, plan *prune.Plan, path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return usageError("--save-plan: %v", err)
	}
	return errors.Join(plan.Save(ctx, file), file.Close())
}

// confirm shows the plan and asks for the word, unless --yes.
func (p *program) confirm(ctx context.Context, st model.WriteStore, plan *prune.Plan, word string, yes bool) error {
	if yes {
		return nil
	}
	if !p.inTerm {
		return usageError("without a terminal nothing is asked and nothing written; type --yes to write, --dry-run to see the plan")
	}
	if _, err := io.WriteString(p.err, withoutSecrets(p.planText(ctx, st, plan.Document(nil)))); err != nil {
		return err
	}
	what := "to write this copy"
	if word == replaceWord {
		what = fmt.Sprintf("to write this copy and to put its object in the place of %s (no JobManager of the cluster may run)", model.Clean(plan.Object.Source))
	}
	fmt.Fprintf(p.err, "\nType %s %s, anything else to stop: ", word, what)
	line, err := bufio.NewReader(p.in).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if strings.TrimSpace(line) != word {
		return usageError("declined: nothing was written")
	}
	return nil
}

// apply writes the copy, with progress.
func (p *program) apply(ctx context.Context, st model.WriteStore, plan *prune.Plan) (*prune.Result, error) {
	bar := p.progress("writing", "B")
	result, err := prune.Apply(ctx, plan, st, func(now prune.Progress) {
		bar.what = "writing " + now.Phase
		bar.at(now.BytesDone, now.BytesAll)
	})
	bar.end()
	if err != nil && ctx.Err() != nil {
		p.say("stopped; the same command goes on where it was")
	}
	return result, err
}

// writeResult prints the document of what was written.
func (p *program) writeResult(ctx context.Context, st model.WriteStore, doc *prune.Document) error {
	var err error
	if p.flags.json {
		err = p.writeJSON(doc)
	} else {
		err = p.write(p.resultText(ctx, st, doc))
	}
	if err != nil {
		return err
	}
	if !doc.Proof.OK {
		return failed(errors.New("the copy was written but the proof failed: do not restore from it"))
	}
	return nil
}

// writePlan prints what would be written.
func (p *program) writePlan(ctx context.Context, st model.WriteStore, plan *prune.Plan) error {
	if err := plan.Seal(ctx); err != nil {
		return err
	}
	doc := plan.Document(nil)
	if p.flags.json {
		return p.writeJSON(doc)
	}
	return p.write(p.planText(ctx, st, doc))
}
