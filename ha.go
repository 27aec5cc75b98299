package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"chkscope/model"
	"chkscope/model/failover"
	"chkscope/model/store"
)

// haDocument is what `ha --json` prints.
type haDocument struct {
	Schema     int           `json:"schema"`
	Entries    []haEntry     `json:"entries"`
	Objects    []haObject    `json:"objects"`
	Counter    *int64        `json:"counter"` // id of the next checkpoint
	ConfigMaps []haConfigMap `json:"config_maps"`
	Problems   []haProblem   `json:"problems"`
}

type haEntry struct {
	Where             string  `json:"where"`
	Node              *string `json:"node"`  // its path in ZooKeeper
	State             *string `json:"state"` // agrees, dangling, differs, missing or unread; null: no checkpoint
	Checkpoint        *int64  `json:"checkpoint"`
	Target            *string `json:"target"`
	RecordedBytes     number  `json:"recorded_bytes"`
	MarkedForDeletion bool    `json:"marked_for_deletion"`
	JobGraph          bool    `json:"job_graph"`
	LostBytes         bool    `json:"lost_bytes"` // the text has lost bytes; only the target could be read
	Error             *string `json:"error"`
}

type haObject struct {
	URI     string `json:"uri"`
	Bytes   number `json:"bytes"`
	Pointed bool   `json:"pointed"`
	Kept    bool   `json:"kept"` // by a replacement by chkscope
}

type haConfigMap struct {
	Name  string `json:"name"`
	Bytes number `json:"bytes"`
}

type haProblem struct {
	Rule        string                `json:"rule"`
	Severity    string                `json:"severity"`
	Where       string                `json:"where"`
	Cause       string                `json:"cause"`
	Action      string                `json:"action"`
	Differences []failover.Difference `json:"differences"`
}

func (p *program) haCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ha URI",
		Short: "What Flink recovers from: high availability's pointers and objects",
		Long: `ha lists the checkpoints that ZooKeeper or Kubernetes point to and the
completedCheckpoint objects that hold them, and checks that each object is there,
can be read and holds the same as its _metadata.

URI is a directory (the HA storage directory, a tree of ZooKeeper payloads, one
file a node, or both below it), the payload of one node or what "zkCli.sh get -b"
(or -x, or kazoo) prints of it, or a ConfigMap as "kubectl get configmap NAME
-o json" (or yaml) prints it; - reads that from stdin.
Critical problems are exit code 1.`,
		Args: exactly(1, "the URI of what high availability keeps"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.ha(cmd.Context(), args[0]) },
	}
}

func (p *program) ha(ctx context.Context, arg string) error {
	st, err := p.store()
	if err != nil {
		return err
	}
	list, err := p.haListing(ctx, st, arg)
	if err != nil {
		return err
	}
	return p.listHA(ctx, st, list)
}

// listHA checks what was listed and prints it.
func (p *program) listHA(ctx context.Context, st model.Store, list *failover.Listing) error {
	opt, err := p.flags.options()
	if err != nil {
		return err
	}
	problems, err := list.Check(ctx, st, opt)
	if err != nil {
		return err
	}
	doc := newHADocument(list, problems)
	if p.flags.json {
		err = p.writeJSON(doc)
	} else {
		err = p.write(p.haText(list, doc))
	}
	if err == nil && slices.ContainsFunc(problems, func(x failover.Problem) bool { return x.Critical }) {
		return &coded{code: exitFindings}
	}
	return err
}

func (p *program) haListing(ctx context.Context, st model.Store, arg string) (*failover.Listing, error) {
	if arg == stdinArgument {
		return failover.ReadText("stdin", p.in)
	}
	uri, err := store.FromArgument(arg)
	if err != nil {
		return nil, usageError("%q: %v", arg, err)
	}
	return failover.List(ctx, st, uri)
}

func newHADocument(l *failover.Listing, problems []failover.Problem) *haDocument {
	doc := &haDocument{Schema: schemaVersion, Entries: []haEntry{}, Objects: []haObject{}, ConfigMaps: []haConfigMap{}, Problems: []haProblem{}}
	if l.Counter != model.Unknown {
		doc.Counter = &l.Counter
	}
	for i := range l.Entries {
		e := &l.Entries[i]
		x := haEntry{Where: e.Where, Node: stringOrNull(e.Node), Target: stringOrNull(e.Target), RecordedBytes: number(e.Bytes), MarkedForDeletion: e.Marked, JobGraph: e.JobGraph, LostBytes: e.Payload == nil}
		if e.Checkpoint != model.Unknown {
			x.Checkpoint = &e.Checkpoint
		}
		if e.Err != nil {
			x.Error = stringOrNull(e.Err.Error())
		}
		if !e.JobGraph {
			word, _ := failover.State(problems, e.Where)
			x.State = &word
		}
		doc.Entries = append(doc.Entries, x)
	}
	for _, o := range l.Objects {
		doc.Objects = append(doc.Objects, haObject{o.URI, number(o.Bytes), o.Pointed, o.Kept})
	}
	for name, n := range l.ConfigMaps {
		doc.ConfigMaps = append(doc.ConfigMaps, haConfigMap{name, number(n)})
	}
	slices.SortFunc(doc.ConfigMaps, func(a, b haConfigMap) int { return strings.Compare(a.Name, b.Name) })
	for _, x := range problems {
		severity := "warn"
		if x.Critical {
			severity = "critical"
		}
		doc.Problems = append(doc.Problems, haProblem{x.Rule, severity, x.Where, x.Cause, x.Action, list(x.Differences)})
	}
	return doc
}

func (p *program) haText(l *failover.Listing, doc *haDocument) string {
	w := &strings.Builder{}
	rows := newTable("rlrll")
	rows.row("CHECKPOINT", "STATE", "BYTES", "ENTRY", "POINTS TO")
	for _, e := range doc.Entries {
		what := ""
		switch {
		case e.Error != nil:
			what = "cannot be read"
		case e.MarkedForDeletion:
			what = *e.Target + " (marked for deletion)"
		case e.JobGraph:
			what = *e.Target + " (the job graph)"
		default:
			what = *e.Target
		}
		if e.LostBytes {
			what += " (the text has lost bytes, so this pointer cannot be written anew)"
		}
		id := ""
		if e.Checkpoint != nil {
			id = fmt.Sprint(*e.Checkpoint)
		}
		where, state := e.Where, ""
		if e.Node != nil {
			where = *e.Node
		}
		if e.State != nil {
			state = *e.State
		}
		rows.row(id, state, model.FormatCount(int64(e.RecordedBytes)), model.Clean(where), model.Clean(what))
	}
	if len(doc.Entries) > 0 {
		rows.write(w, "")
		fmt.Fprintln(w)
	}
	for _, o := range doc.Objects {
		pointed := "no entry was found that points to it"
		switch {
		case o.Kept:
			pointed = "kept by chkscope when the object was replaced; Flink knows nothing of it"
		case o.Pointed:
			pointed = "pointed to"
		}
		fmt.Fprintf(w, "object %s, %s: %s\n", model.Clean(o.URI), model.FormatSize(int64(o.Bytes)), pointed)
	}
	if doc.Counter != nil {
		fmt.Fprintf(w, "the next checkpoint is %d\n", *doc.Counter)
	}
	for _, m := range doc.ConfigMaps {
		fmt.Fprintf(w, "ConfigMap %s, %s of at most %s\n", model.Clean(m.Name), model.FormatSize(int64(m.Bytes)), model.FormatSize(failover.ConfigMapLimit))
	}
	fmt.Fprintf(w, "\n%s\n", p.strong("Problems"))
	switch {
	case len(doc.Entries)+len(doc.Objects) == 0:
		fmt.Fprintln(w, "  none, and no checkpoint is pointed to: a job starts from nothing, or from the path that it is given")
	case len(doc.Problems) == 0:
		fmt.Fprintln(w, "  none: every object is there and holds the same as its _metadata")
	}
	for _, x := range doc.Problems {
		fmt.Fprintf(w, "  %s  %s  %s\n      %s\n      %s\n", p.severity(x.Severity), p.strong(x.Rule), model.Clean(x.Where), model.Clean(x.Cause), model.Clean(x.Action))
	}
	return w.String()
}
