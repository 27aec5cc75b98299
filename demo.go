package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (p *program) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "The explorer on a built-in checkpoint of the incident that chkscope was made for",
		Long: `demo opens a checkpoint of a job that was moved from FlinkKafkaConsumer to
KafkaSource: the union list of the old connector, which nothing reads any more,
multiplies at each restore. It is a real checkpoint (Flink 1.15, parallelism 4),
grown by chkscope's own encoder to what seven restores at parallelism 8 make of
it. It is in memory only. A copy can be written to disk. demo always ends with 0.`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.demo(cmd.Context()) },
	}
}

func (p *program) demo(ctx context.Context) error {
	files, err := growDemo()
	if err != nil {
		return err
	}
	disk, err := p.store()
	if err != nil {
		return err
	}
	p.flags.uids = append(p.flags.uids, demoUIDs...)
	st := &demoStore{disk, files}
	if p.interactive() {
		return p.exploreDemo(ctx, st)
	}
	if !p.flags.json {
		fmt.Fprintln(p.out, "A real checkpoint of the founding incident (Flink 1.15), grown by chkscope's encoder to what seven restores at parallelism 8 make of it.")
	}
	s, err := p.openIn(ctx, st, demoDir)
	if err != nil {
		return err
	}
	return p.report(ctx, s, "never")
}
