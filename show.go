package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"chkscope/decoder/metadata"
	"chkscope/model"
)

// showFlags are the flags of show.
type showFlags struct {
	entries int // to show of each list
	bytes   int // to show of each entry
	count   bool
	against string // URI of another snapshot
}

type showDocument struct {
	Schema   int              `json:"schema"`
	Complete bool             `json:"complete"`
	Damage   *jsonDamage      `json:"damage"`
	Nodes    stream[showNode] `json:"nodes"`
}

type showNode struct {
	Selector     string             `json:"selector"`
	Class        string             `json:"class"`
	Kind         *string            `json:"kind"`
	Name         *text              `json:"name"`
	Operator     *showOperator      `json:"operator"`
	Distribution *string            `json:"distribution"`
	Subtask      *int               `json:"subtask"`
	Entries      number             `json:"entries"`
	Sizes        jsonSizes          `json:"sizes"`
	UnknownFiles number             `json:"unknown_files"`
	Details      []showDetail       `json:"details"`
	Handles      stream[showHandle] `json:"handles"`
	Serializers  []showSerializer   `json:"serializers"`
	FirstEntries []showEntry        `json:"first_entries"`
	// Against is what becomes of the state with the serializers in the snapshot of
	// --against; empty without it.
	Against []showChange `json:"against"`
	// Of the whole operator, for it and for its states that hold them.
	Coordinator    *showCoordinator `json:"coordinator"`
	KafkaPositions []showPosition   `json:"kafka_positions"`

	morePositions bool // than KafkaPositions holds
}

type showOperator struct {
	ID             string `json:"id"`
	Name           *text  `json:"name"`
	UID            *text  `json:"uid"`
	Parallelism    int32  `json:"parallelism"`
	MaxParallelism int32  `json:"max_parallelism"`
}

type showDetail struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// showHandle is one stream handle: bytes inside `_metadata`, or a file.
type showHandle struct {
	Subtask *int32  `json:"subtask"` // null for the coordinator
	Place   string  `json:"place"`
	Part    *string `json:"part"` // delegate, meta, shared, private, increment; null for the coordinator
	Key     *text   `json:"key"`  // local name of a RocksDB file
	Type    int     `json:"type"` // the type byte
	Name    text    `json:"name"` // as it stands in the handle
	URI     *text   `json:"uri"`  // resolved; null where it is inline
	Offset  number  `json:"offset"`
	Bytes   number  `json:"bytes"`
	Shared  bool    `json:"shared"`
	Foreign bool    `json:"foreign"`
}

func (p *program) showCommand() *cobra.Command {
	f := showFlags{entries: 10, bytes: 32}
	cmd := &cobra.Command{
		Use:   "show URI SELECTOR",
		Short: "Everything known about a node: handles, files, serializers, values",
		Args:  exactly(2, "the URI of a checkpoint and a selector"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.entries < 0 || f.bytes < 0 {
				return usageError("--entries and --bytes: type numbers from 0")
			}
			return p.show(cmd.Context(), args[0], args[1], f)
		},
	}
	cmd.Flags().IntVar(&f.entries, "entries", f.entries, "how many entries of a list to show")
	cmd.Flags().IntVar(&f.bytes, "bytes", f.bytes, "how many bytes of an entry to show")
	cmd.Flags().BoolVar(&f.count, "count", false, countHelp)
	cmd.Flags().StringVar(&f.against, "against", "", "the URI of another snapshot: what Flink makes of states that are restored with its serializers")
	return cmd
}

func (p *program) show(ctx context.Context, uri, selector string, f showFlags) error {
	s, err := p.open(ctx, uri)
	if err != nil {
		return p.notOpened(err, func(d *jsonDamage) any { return showDocument{Schema: schemaVersion, Damage: d} })
	}
	err = p.showSelected(ctx, s, selector, f)
	if err != nil {
		s.Close()
		return err
	}
	return s.end()
}

func (p *program) showSelected(ctx context.Context, s *snapshot, selector string, f showFlags) error {
	targets, err := s.Select(s.tree, selector)
	if err != nil {
		return err
	}
	if f.count {
		if err := p.count(ctx, s, s.nodes(targets)); err != nil {
			return err
		}
		if targets, err = s.Select(s.tree, selector); err != nil { // in the new tree
			return err
		}
	}
	var other *snapshot
	if f.against != "" {
		if other, err = p.open(ctx, f.against); err != nil {
			return err
		}
		defer other.Close()
		targets = s.withStates(targets)
	}
	nodes := showNodes(ctx, s, targets, other, f)
	if p.flags.json {
		return p.writeJSON(showDocument{Schema: schemaVersion, Complete: s.damage == nil, Damage: damageOf(s.damage), Nodes: nodes})
	}
	return p.writeShow(nodes, f.against)
}

// withStates adds the named states of operators, and puts them in the place of the
// row for all keyed names: serializers are compared name by name.
func (s *snapshot) withStates(targets []model.Target) []model.Target {
	var out []model.Target
	t := s.tree
	seen := map[model.Node]bool{}
	for _, g := range targets {
		n := s.Find(t, g)
		all := n != model.None && t.Kind(n) == model.KindKeyed && t.Whole(n) && t.Class(n) == model.ClassState
		if !all && !seen[n] {
			seen[n] = g.Entries.First < 0
			out = append(out, g)
		}
		if !all && g.Class != model.ClassOperator {
			continue
		}
		for _, c := range t.Children(nil, t.OperatorNode(t.Operator(n)), model.TurnState) {
			if !seen[c] && !t.Whole(c) && (t.Kind(c) == model.KindKeyed || t.Kind(c) == model.KindOperator && !all) {
				seen[c] = true
				out = append(out, s.targets([]model.Node{c})...)
			}
		}
	}
	return out
}

// showNodes reads what is known about each target; other is the snapshot of
// --against, or nil.
func showNodes(ctx context.Context, s *snapshot, targets []model.Target, other *snapshot, f showFlags) stream[showNode] {
	return func(yield func(showNode, error) bool) {
		for _, g := range targets {
			n := s.Find(s.tree, g)
			if n == model.None {
				continue
			}
			node, err := newShowNode(ctx, s, n, g, f)
			if other != nil && err == nil {
				node.Against = changesOf(s, n, other)
			}
			if !yield(node, err) || err != nil {
				return
			}
		}
	}
}

var classWords = map[model.Class]string{
	model.ClassOperator: "operator", model.ClassState: "state", model.ClassCell: "state of a subtask",
	model.ClassSubtask: "subtask", model.ClassMaster: "master",
}

func newShowNode(ctx context.Context, s *snapshot, n model.Node, g model.Target, f showFlags) (showNode, error) {
	t := s.tree
	z := t.Sizes(n)
	v := showNode{
		Selector: g.Selector(), Class: classWords[t.Class(n)], Kind: stringOrNull(t.Kind(n).String()), Name: orNull(t.Name(n)),
		Distribution: stringOrNull(t.Dist(n).String()), Entries: number(t.Entries(n)), Sizes: sizesOf(z), UnknownFiles: number(z.UnknownFiles),
		Details: []showDetail{}, Handles: showHandles(s, n), Serializers: serializersOf(s, n), FirstEntries: []showEntry{}, Against: []showChange{},
	}
	if i := t.Operator(n); i >= 0 {
		o := &s.Meta.Operators[i]
		v.Operator = &showOperator{o.ID.String(), operatorName(s, i), orNull(s.OperatorUID(i)), o.Parallelism, o.MaxParallelism}
	}
	if sub := t.Subtask(n); sub >= 0 {
		v.Subtask = &sub
	}
	for _, d := range s.Details(t, n) {
		v.Details = append(v.Details, showDetail{d.Label, d.Text})
	}
	for _, d := range s.KeyedDetails(ctx, t, n) {
		v.Details = append(v.Details, showDetail{d.Label, d.Text})
	}
	if f.count && s.HasGroups(t, n) {
		g, err := s.GroupValues(ctx, t, n, shownGroups, model.PageLimits)
		if err != nil {
			return v, err
		}
		v.Details = append(v.Details, groupDetails(g)...)
	}
	var err error
	if v.FirstEntries, err = firstEntries(ctx, s, n, g, f); err != nil {
		return v, err
	}
	if len(v.FirstEntries) == 0 && g.Entries.First >= 0 && f.entries > 0 && t.Entries(n) == model.Unknown {
		if !s.ReadsKeyed(t, n) {
			return v, usageError("%s: %s", g.Selector(), model.UnreadKeyedText(max(1, s.UnreadKeyed(t, []model.Node{n}))))
		}
		return v, usageError("%s: there is no such entry, or the stream cannot be read that far", g.Selector())
	}
	c, err := connectorOf(ctx, s, n)
	v.Coordinator, v.KafkaPositions, v.morePositions = c.coordinator, c.positions, c.more
	return v, err
}

// shownGroups is how many different entries of a list are shown.
const shownGroups = 20

func groupDetails(g model.ValueGroups) []showDetail {
	out := []showDetail{{"equal entries", g.Text()}}
	for _, v := range g.Groups {
		out = append(out, showDetail{"", v.Text()})
	}
	return out
}

// showHandles are the stream handles of a node. Of a damaged checkpoint they are
// those before the damage.
func showHandles(s *snapshot, n model.Node) stream[showHandle] {
	return func(yield func(showHandle, error) bool) {
		stopped := errors.New("stopped")
		err := s.EachUse(s.tree, n, func(u metadata.StreamUse) error {
			if !yield(newShowHandle(s, u), nil) {
				return stopped
			}
			return nil
		})
		if err != nil && err != stopped && s.damage == nil {
			yield(showHandle{}, err)
		}
	}
}

func newShowHandle(s *snapshot, u metadata.StreamUse) showHandle {
	h := showHandle{Place: u.Place.String(), Part: stringOrNull(u.Part.String()), Key: orNull(u.Key), Type: int(u.Stream.Type), Name: text(u.Stream.Name), Offset: number(model.Unknown)}
	if u.Entry >= 0 {
		h.Subtask = &u.Subtask
	}
	l := s.Locate(u)
	if l.URI == "" {
		h.Bytes = number(u.Stream.InlineBytes())
		return h
	}
	h.URI, h.Bytes, h.Shared, h.Foreign = orNull(l.URI), number(l.Len), l.Shared, l.Foreign
	if l.Segment {
		h.Offset = number(l.Off)
	}
	return h
}

func (p *program) writeShow(nodes stream[showNode], against string) error {
	between := ""
	for n, err := range nodes {
		if err != nil {
			return err
		}
		w := &strings.Builder{}
		fmt.Fprintf(w, "%s%s\n", between, p.strong(n.Selector))
		rows := newTable("ll")
		for _, d := range n.Details {
			if d.Label != "selector" {
				rows.row(model.Clean(d.Label), model.Clean(d.Text))
			}
		}
		rows.write(w, "  ")
		writeSerializers(w, n.Serializers)
		writeChanges(w, against, n)
		writeCoordinator(w, n.Coordinator)
		writePositions(w, n.KafkaPositions, n.morePositions)
		writeEntries(w, n.FirstEntries)
		if err := p.write(w.String()); err != nil {
			return err
		}
		between = "\n"
	}
	return nil
}
