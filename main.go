// Command chkscope explores Apache Flink checkpoints and savepoints: it shows
// which named state takes the bytes and why that is wrong, and writes pruned
// copies that Flink restores.
//
// Package main holds the command line: one file for each command, and what
// several of them share: flags.go (flags and environment), exit.go (exit codes),
// open.go (a URI to a snapshot), table.go (aligned text), json.go (documents).
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"chkscope/storage"
)

// program is one run of chkscope: where it reads and writes, and what its
// flags say. Tests make one without a process.
type program struct {
	in       io.Reader
	out, err io.Writer
	// inTerm, outTerm and errTerm: is that a terminal?
	inTerm, outTerm, errTerm bool
	getenv                   func(string) string

	flags globalFlags
	log   *logFile // --log, or nil
	bar   atomic.Pointer[progress]
	meter storage.Meter
	// toExplorer takes what storages say while the explorer is on the screen; nil
	// takes nothing.
	toExplorer chan string
	// quiet: the explorer is on the screen, so nothing goes to stderr.
	quiet bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	p := &program{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		inTerm:  term.IsTerminal(int(os.Stdin.Fd())),
		outTerm: term.IsTerminal(int(os.Stdout.Fd())),
		errTerm: term.IsTerminal(int(os.Stderr.Fd())),
		getenv:  os.Getenv,
	}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run carries out one command line and gives the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.rootCommand()
	root.SetArgs(args)
	root.SetOut(p.out)
	root.SetErr(p.err)
	code := p.exitCode(ctx, root.ExecuteContext(ctx))
	p.log.totals(p.meter.Totals())
	p.log.close()
	return code
}

func (p *program) rootCommand() *cobra.Command {
	var fail failOn
	root := &cobra.Command{
		Use:   "chkscope [URI]",
		Short: "Explore Flink checkpoints and write pruned copies",
		Long: `chkscope opens an Apache Flink checkpoint or savepoint, shows which named state
takes the bytes and why that is wrong, and writes a pruned copy that Flink
restores. The source is never written to.

With a URI alone it opens the explorer; without a terminal it prints the same
as "chkscope report URI". Without a URI it opens the working directory.
"chkscope demo" shows a built-in checkpoint.

URI is a path or file: URI of a checkpoint's directory, of its _metadata, or of
a parent directory, whose newest complete checkpoint is opened.`,
		Args:          atMost(1, "the URI of a checkpoint"),
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.flags.fromEnvironment(cmd, p.getenv); err != nil {
				return err
			}
			return p.openLog()
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.rootRun(cmd.Context(), args, fail)
		},
	}
	p.flags.register(root.PersistentFlags())
	fail.register(root.Flags())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		where := ""
		if cmd.HasParent() { // every message begins with the program's name
			where = cmd.CommandPath() + ": "
		}
		return usageError("%s%s; type %q for what it takes", where, flagProblem(err), cmd.CommandPath()+" --help")
	})
	root.AddCommand(p.demoCommand(), p.reportCommand(), p.lsCommand(), p.showCommand(), p.exportCommand(), p.pruneCommand(), p.copyCommand(), p.verifyCommand(), p.haCommand(), p.rulesCommand(), p.versionCommand())
	return root
}

func (p *program) rootRun(ctx context.Context, args []string, fail failOn) error {
	uri := "."
	if len(args) == 1 {
		uri = args[0]
	}
	open := func() error { return p.reportOrList(ctx, uri, fail) }
	if p.interactive() {
		open = func() error { return p.explore(ctx, uri) }
	}
	err := open()
	if len(args) == 0 && isNotFound(err) {
		return usageError("no URI given and no checkpoint in the working directory; type \"chkscope URI\" or \"chkscope demo\"")
	}
	return err
}

// atMost is cobra.MaximumNArgs with a sentence that says what to type.
func atMost(n int, what string) cobra.PositionalArgs { return between(0, n, what) }

// exactly is cobra.ExactArgs with such a sentence.
func exactly(n int, what string) cobra.PositionalArgs { return between(n, n, what) }

func between(low, high int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= low && len(args) <= high {
			return nil
		}
		if cmd.HasSubCommands() && len(args) > 0 {
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return usageError("%q is no command; did you mean %q?", args[0], cmd.CommandPath()+" "+strings.Join(append(near[:1:1], args[1:]...), " "))
			}
		}
		if cmd.HasSubCommands() {
			return usageError("%q is no command, and without one chkscope takes only the URI of a checkpoint; type \"chkscope help\" for the commands", args[0])
		}
		given := "1 argument"
		if len(args) != 1 {
			given = fmt.Sprintf("%d arguments", len(args))
		}
		return usageError("%s takes %s, not %s; type %q", cmd.CommandPath(), what, given, usageLine(cmd))
	}
}

func usageLine(cmd *cobra.Command) string { return strings.TrimSuffix(cmd.UseLine(), " [flags]") }
