package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"chkscope/decoder"
	"chkscope/decoder/serde"
	"chkscope/model"
	"chkscope/model/where"
)

// exportFlags are the flags of export.
type exportFlags struct {
	format string
	limit  int64
	key    string
	conditionFlags
}

// conditionFlags choose entries by what is in them.
type conditionFlags struct {
	where string
	ttl   time.Duration
}

func (p *program) exportCommand() *cobra.Command {
	f := exportFlags{format: "jsonl"}
	cmd := &cobra.Command{
		Use:   "export URI SELECTOR --format jsonl|csv",
		Short: "The entries of a state with their values, a line each",
		Long: `export writes the entries of what SELECTOR matches to stdout: list elements,
entries of broadcast maps, of keyed state (heap and canonical snapshots) and
timers, each with its value as far as that can be decoded.

    chkscope export URI 'OPERATOR/keyed/NAME' --format jsonl | jq .value
    chkscope export URI 'OPERATOR/operator/NAME' --format csv --where 'value.id > 7'

Memory does not grow with the number of entries.`,
		Args: exactly(2, "the URI of a checkpoint and a selector"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.format != "jsonl" && f.format != "csv" {
				return usageError("--format %q: type jsonl or csv", f.format)
			}
			if f.limit < 0 {
				return usageError("--limit %d: type a number from 0", f.limit)
			}
			return p.export(cmd.Context(), args[0], args[1], f)
		},
	}
	cmd.Flags().StringVar(&f.format, "format", f.format, "jsonl or csv")
	cmd.Flags().Int64Var(&f.limit, "limit", 0, "at most so many entries (0: all)")
	cmd.Flags().StringVar(&f.key, "key", "", "only keyed state of this key, as it is shown or 0x and its bytes; where its hash tells the key group only that is read")
	cmd.Flags().StringVar(&f.where, "where", "", "only entries for which this condition holds, e.g. 'key matches \"^test-\"'")
	cmd.Flags().DurationVar(&f.ttl, "ttl", 0, "how long the state lives (e.g. 24h): no snapshot records it, expires and ttl_expired need it")
	return cmd
}

// condition compiles --where.
func (f *conditionFlags) condition() (*where.Expr, error) {
	if f.ttl < 0 {
		return nil, usageError("--ttl %s: type a duration above 0", f.ttl)
	}
	if f.where == "" {
		return nil, nil
	}
	x, err := where.Compile(f.where)
	if err != nil {
		return nil, usageError("--where: %v", err)
	}
	if f.ttl == 0 && (x.Uses("expires") || x.Uses("ttl_expired")) {
		return nil, usageError("--where: a snapshot records when an entry was last used, not how long it lives; type --ttl DURATION beside it, e.g. --ttl 24h")
	}
	return x, nil
}

func (p *program) export(ctx context.Context, uri, selector string, f exportFlags) error {
	condition, err := f.condition()
	if err != nil {
		return err
	}
	s, err := p.open(ctx, uri)
	if err != nil {
		return err
	}
	err = p.exportSelected(ctx, s, selector, f, condition)
	if err != nil {
		s.Close()
		return err
	}
	return s.end()
}

// exportLimits let a value be whole: what is read of an entry is bounded.
var exportLimits = serde.Limits{Values: math.MaxInt32, Bytes: math.MaxInt32}

// errLimit ends an export at --limit.
var errLimit = errors.New("limit")

func (p *program) exportSelected(ctx context.Context, s *snapshot, selector string, f exportFlags, condition *where.Expr) error {
	targets, err := s.Select(s.tree, selector)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(p.out, 64<<10)
	x := &exporter{s: s, terminal: p.outTerm, ranges: map[model.Node][]model.EntryRange{}, places: map[model.Node]*exportPlace{}, ttl: f.ttl.Milliseconds(), now: time.Now().UnixMilli()}
	if x.jsonl = w; f.format == "csv" {
		x.csv = csv.NewWriter(w)
		x.csv.Write(exportColumns)
	}
	nodes := x.nodes(targets)
	bar := p.progress("exporting", "B")
	undecided, why := int64(0), error(nil)
	one := func(e *model.Entry) error {
		x.read++
		if !x.wanted(e) {
			return nil
		}
		if condition != nil {
			ok, err := condition.Eval(x.fields(e))
			if err != nil {
				if undecided++; why == nil {
					why = err
				}
				return nil
			}
			if !ok {
				return nil
			}
		}
		if x.lines++; f.limit > 0 && x.lines > f.limit {
			return errLimit
		}
		return x.write(e)
	}
	if f.key != "" {
		err = s.entriesOfKey(ctx, nodes, f.key, one)
	} else {
		err = s.EachEntry(ctx, s.tree, nodes, exportLimits, bar.at, one)
	}
	bar.end()
	if x.csv != nil {
		x.csv.Flush()
	}
	if flushed := w.Flush(); err == nil || errors.Is(err, errLimit) {
		err = flushed
	}
	if unread := s.UnreadKeyed(s.tree, nodes); unread > 0 && err == nil {
		if x.read == 0 {
			return usageError("%s: %s", selector, model.UnreadKeyedText(unread))
		}
		p.say("%s", model.UnreadKeyedText(unread))
	}
	if f.key != "" && x.read == 0 && err == nil {
		p.say("no key %s in %s", model.Clean(f.key), model.Clean(selector))
	}
	if condition != nil && x.lines+undecided == 0 && x.read > 0 && err == nil {
		p.say("the condition holds for none of %s; a field that is not there is null", model.FormatPlural(x.read, "entry"))
	}
	if undecided > 0 {
		p.say("the condition has no answer for %s entries, which are left out; the first: %v", model.FormatCount(undecided), why)
	}
	if errors.Is(err, serde.ErrOpaque) {
		return failed(fmt.Errorf("entries are missing: in a heap snapshot nothing records where a value ends: %w", err))
	}
	return err
}

// entriesOfKey gives the entries of one key in keyed state below nodes.
func (s *snapshot) entriesOfKey(ctx context.Context, nodes []model.Node, key string, f func(*model.Entry) error) error {
	for _, n := range nodes {
		_, err := s.FindKey(ctx, s.tree, n, key, exportLimits, func(cell model.Node, e model.KeyedEntry) error {
			return e.Each(cell, int32(s.tree.Subtask(cell)), f)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// exporter writes entries as lines.
type exporter struct {
	s        *snapshot
	terminal bool
	jsonl    io.Writer
	csv      *csv.Writer // nil: jsonl
	ranges   map[model.Node][]model.EntryRange
	places   map[model.Node]*exportPlace
	ttl, now int64
	read     int64 // entries, those that are left out too
	lines    int64
	buf      []byte
	record   []string
}

// exportPlace is what the entries of a cell have in common.
type exportPlace struct {
	selector, operator, kind, state string
	types                           map[*serde.Snapshot]string
}

// nodes are what is read; entries by number are kept in ranges.
func (x *exporter) nodes(targets []model.Target) []model.Node {
	var nodes []model.Node
	for _, g := range targets {
		n := x.s.Find(x.s.tree, g)
		if n == model.None {
			continue
		}
		if nodes = append(nodes, n); g.Entries.First >= 0 {
			x.ranges[n] = append(x.ranges[n], g.Entries)
		}
	}
	return nodes
}

func (x *exporter) wanted(e *model.Entry) bool {
	ranges := x.ranges[e.Cell]
	for _, r := range ranges {
		if e.Index >= r.First && e.Index <= r.Last {
			return true
		}
	}
	return ranges == nil
}

func (x *exporter) fields(e *model.Entry) model.EntryFields {
	return model.EntryFields{Entry: e, State: x.s.tree.Name(e.Cell), TTL: x.ttl, Now: x.now}
}

func (x *exporter) place(cell model.Node) *exportPlace {
	if p := x.places[cell]; p != nil {
		return p
	}
	t := x.s.tree
	p := &exportPlace{selector: x.s.selector(cell), kind: t.Kind(cell).String(), state: decoder.Text(t.Name(cell)), types: map[*serde.Snapshot]string{}}
	op := t.Operator(cell)
	p.operator = x.s.Meta.Operators[op].ID.String()
	if name, origin := x.s.OperatorName(op); origin > model.NameGuess {
		p.operator = name
	}
	x.places[cell] = p
	return p
}

func (p *exportPlace) typeOf(e *model.Entry) string {
	switch {
	case e.Connector != nil:
		return e.Connector.Connector
	case e.Service != "" && e.Processing:
		return "processing-time timer"
	case e.Service != "":
		return "event-time timer"
	}
	if e.Type == nil {
		return ""
	}
	name, ok := p.types[e.Type]
	if !ok {
		t := e.Type
		if t.Kind == serde.TTL && len(t.Nested) == 2 {
			t = t.Nested[1]
		}
		name = serde.Describe(t)[0].Type
		p.types[e.Type] = name
	}
	return name
}

// exportColumns are the keys of a line and the columns of a table.
var exportColumns = []string{"selector", "operator", "kind", "state", "subtask", "entry", "key_group", "key", "namespace", "map_key", "value", "type", "last_access", "expires"}

func (x *exporter) write(e *model.Entry) error {
	p := x.place(e.Cell)
	whole := e.Subtask < 0 // not one of several entries
	selector := p.selector
	if !whole && e.Index >= 0 {
		selector += "/" + strconv.FormatInt(e.Index, 10)
	}
	l := exportLine{x: x}
	l.text(selector, false)
	l.text(p.operator, false)
	l.text(p.kind, false)
	state := p.state
	if state == "" {
		state = decoder.Text(e.Service)
	}
	l.text(state, state == "")
	l.number(int64(e.Subtask), whole)
	l.number(e.Index, whole || e.Index < 0)
	l.number(int64(e.Group), e.Group < 0)
	for _, v := range []*serde.Value{&e.Key, &e.Namespace, &e.MapKey, &e.Value} {
		l.value(v)
	}
	kind := p.typeOf(e)
	l.text(kind, kind == "")
	l.number(e.LastAccess, !e.TTL)
	expires, ok := x.fields(e).Expires()
	l.number(expires, !ok)
	return l.end()
}

// exportLine is one line under way: columns come in the order of exportColumns.
type exportLine struct {
	x      *exporter
	column int
}

// next begins a column; false where it is empty.
func (l *exportLine) next(absent bool) bool {
	x, name := l.x, exportColumns[l.column]
	if l.column == 0 {
		x.buf, x.record = x.buf[:0], x.record[:0]
	}
	l.column++
	switch {
	case x.csv != nil && absent:
		x.record = append(x.record, "")
	case x.csv == nil && !absent:
		x.buf = append(x.buf, "{,"[min(len(x.buf), 1)])
		x.buf = append(append(append(x.buf, '"'), name...), `":`...)
	}
	return !absent
}

func (l *exportLine) text(s string, absent bool) {
	v := serde.Value{Form: serde.Text, Text: s}
	if absent {
		v.Form = serde.Missing
	}
	l.value(&v)
}

func (l *exportLine) number(n int64, absent bool) {
	if !l.next(absent) {
		return
	}
	if x := l.x; x.csv != nil {
		x.record = append(x.record, strconv.FormatInt(n, 10))
	} else {
		x.buf = strconv.AppendInt(x.buf, n, 10)
	}
}

// value writes a value as JSON; in a table texts, times and constants stand
// without quotes.
func (l *exportLine) value(v *serde.Value) {
	if !l.next(v.Form == serde.Missing) {
		return
	}
	x := l.x
	switch {
	case x.csv == nil:
		x.buf = v.AppendJSON(x.buf)
	case v.Form == serde.Text && !v.Cut, v.Form == serde.EnumName, v.Form == serde.Moment:
		x.record = append(x.record, x.clean(v.Text))
	default:
		x.record = append(x.record, x.clean(string(v.AppendJSON(nil))))
	}
}

// clean makes text fit for a terminal where it goes to one.
func (x *exporter) clean(s string) string {
	if x.terminal {
		return model.Clean(s)
	}
	return s
}

func (l *exportLine) end() error {
	x := l.x
	if x.csv != nil {
		return x.csv.Write(x.record)
	}
	x.buf = append(x.buf, "}\n"...)
	if x.terminal {
		_, err := io.WriteString(x.jsonl, model.Clean(string(x.buf[:len(x.buf)-1]))+"\n")
		return err
	}
	_, err := x.jsonl.Write(x.buf)
	return err
}
