package main

import (
	"strconv"

	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/finding"
)

// reportDocument is what `report --json` prints. The README documents it.
type reportDocument struct {
	Schema     int                    `json:"schema"`
	Checkpoint reportCheckpoint       `json:"checkpoint"`
	Totals     reportTotals           `json:"totals"`
	Operators  stream[reportOperator] `json:"operators"`
	Findings   []reportFinding        `json:"findings"`
}

type reportCheckpoint struct {
	URI             string      `json:"uri"`
	MetadataVersion *int32      `json:"metadata_version"`
	CheckpointID    *int64      `json:"checkpoint_id"`
	Kind            *string     `json:"kind"`
	KindGuess       *string     `json:"kind_guess"`
	Complete        bool        `json:"complete"`
	MetadataBytes   number      `json:"metadata_bytes"`
	HeaderBytes     number      `json:"header_bytes"`
	TrailerBytes    number      `json:"trailer_bytes"`
	Damage          *jsonDamage `json:"damage"`
}

type reportTotals struct {
	Inline       number              `json:"inline"`
	Bookkeeping  number              `json:"bookkeeping"`
	Exclusive    number              `json:"exclusive"`
	Shared       number              `json:"shared"`
	Files        number              `json:"files"`
	UnknownFiles number              `json:"unknown_files"`
	ByKind       map[string]kindSize `json:"by_kind"`
}

type kindSize struct {
	Inline    number `json:"inline"`
	Exclusive number `json:"exclusive"`
	Shared    number `json:"shared"`
}

type reportOperator struct {
	ID             string              `json:"id"`
	Name           *text               `json:"name"`
	UID            *text               `json:"uid"`
	Parallelism    int32               `json:"parallelism"`
	MaxParallelism int32               `json:"max_parallelism"`
	Subtasks       int                 `json:"subtasks"`
	Finished       string              `json:"finished"`
	Sizes          jsonSizes           `json:"sizes"`
	States         stream[reportState] `json:"states"`
	Detail         operatorDetail      `json:"detail"`
}

type reportState struct {
	Selector     string      `json:"selector"`
	Kind         string      `json:"kind"`
	Name         *text       `json:"name"`
	Distribution *string     `json:"distribution"`
	Subtasks     int         `json:"subtasks"`
	Entries      number      `json:"entries"`
	Sizes        jsonSizes   `json:"sizes"`
	Detail       stateDetail `json:"detail"`
}

type reportFinding struct {
	Rule      string           `json:"rule"`
	Severity  string           `json:"severity"`
	Certainty string           `json:"certainty"`
	Selector  *string          `json:"selector"`
	Evidence  finding.Evidence `json:"evidence"`
	Cause     string           `json:"cause"`
	Action    string           `json:"action"`
	Remedy    []string         `json:"remedy"`
}

// operatorDetail is what else is known of an operator.
type operatorDetail struct {
	DisplayName    *string        `json:"display_name"`
	NameOrigin     *string        `json:"name_origin"`
	StreamHeader   number         `json:"stream_header"`
	HeaderOnly     []text         `json:"header_only"`
	ChangelogBytes number         `json:"changelog_bytes"`
	KeyedHandles   map[string]int `json:"keyed_handles"` // by type byte
	AlsoIn         []string       `json:"also_in"`       // selectors of operators that name the same files
	UnknownFiles   number         `json:"unknown_files"`
}

// stateDetail is what else is known of a state.
type stateDetail struct {
	// Whole: this row stands for all names of its kind together.
	Whole bool `json:"whole"`
	// MapEntries counts the entries of a broadcast state's map, where read.
	MapEntries   number `json:"map_entries"`
	UnknownFiles number `json:"unknown_files"`
	// Type of a keyed state: VALUE, LIST, MAP, PRIORITY_QUEUE, ...; TIMERS of raw ones.
	Type *string `json:"type"`
}

// keyedType names a keyed state of an operator.
type keyedType struct {
	kind model.Kind
	name string
}

// keyedTypes are the types of the keyed states of an operator.
func keyedTypes(s *snapshot, op int) map[keyedType]string {
	types := map[keyedType]string{}
	for _, kind := range []model.Kind{model.KindKeyed, model.KindRawKeyed} {
		for _, k := range s.KeyedNames(op, kind) {
			types[keyedType{kind, k.Name}] = k.Type
		}
	}
	return types
}

func newStateDetail(s *snapshot, n model.Node, types map[keyedType]string) stateDetail {
	d := stateDetail{Whole: s.tree.Whole(n), MapEntries: number(model.Unknown), UnknownFiles: number(s.tree.Sizes(n).UnknownFiles)}
	if s.tree.Dist(n) == model.DistBroadcast {
		d.MapEntries = number(s.MapEntries(s.tree.Operator(n), s.tree.Name(n)))
	}
	if !d.Whole {
		d.Type = stringOrNull(types[keyedType{s.tree.Kind(n), s.tree.Name(n)}])
	}
	return d
}

// newReport builds the document; findings may be empty.
func newReport(s *snapshot, findings []reportFinding) *reportDocument {
	return &reportDocument{
		Schema:     schemaVersion,
		Checkpoint: newReportCheckpoint(s),
		Totals:     newReportTotals(s),
		Operators:  newReportOperators(s),
		Findings:   list(findings),
	}
}

// emptyReport is the document of a file of which nothing could be decoded.
func emptyReport(uri string, d *jsonDamage) *reportDocument {
	none := number(model.Unknown)
	r := &reportDocument{
		Schema:     schemaVersion,
		Checkpoint: reportCheckpoint{URI: uri, MetadataBytes: none, HeaderBytes: none, TrailerBytes: none, Damage: d},
		Totals:     reportTotals{none, none, none, none, none, none, map[string]kindSize{}},
		Findings:   []reportFinding{},
	}
	for _, k := range model.Kinds() {
		r.Totals.ByKind[k.String()] = kindSize{none, none, none}
	}
	return r
}

func newReportCheckpoint(s *snapshot) reportCheckpoint {
	m := s.Meta
	c := reportCheckpoint{
		URI: s.URI, MetadataVersion: metadataVersion(m), CheckpointID: &m.ID,
		Complete: s.damage == nil, MetadataBytes: number(m.In.Size()),
		HeaderBytes: number(m.Header.Len), TrailerBytes: number(m.Properties.Len + m.Trailing.Len),
		Damage: damageOf(s.damage),
	}
	kind, guess := s.SnapshotKind()
	c.Kind, c.KindGuess = stringOrNull(kind), stringOrNull(guess)
	return c
}

// metadataVersion is nil for a completedCheckpoint object, which has none.
func metadataVersion(m *metadata.Checkpoint) *int32 {
	if m.Object {
		return nil
	}
	return &m.Version
}

func newReportTotals(s *snapshot) reportTotals {
	z := s.tree.Sizes(model.Root)
	t := reportTotals{number(z.Inline), number(z.Bookkeeping), number(z.Exclusive), number(z.Shared), number(z.Files), number(z.UnknownFiles), map[string]kindSize{}}
	for _, k := range model.Kinds() {
		z := s.tree.KindSizes(k)
		t.ByKind[k.String()] = kindSize{number(z.Inline), number(z.Exclusive), number(z.Shared)}
	}
	return t
}

func newReportOperators(s *snapshot) stream[reportOperator] {
	return func(yield func(reportOperator, error) bool) {
		for _, n := range s.tree.Children(nil, model.Root, model.TurnState) {
			if s.tree.Class(n) == model.ClassOperator && !yield(newReportOperator(s, n), nil) {
				return
			}
		}
	}
}

func newReportOperator(s *snapshot, n model.Node) reportOperator {
	i := s.tree.Operator(n)
	o := &s.Meta.Operators[i]
	return reportOperator{
		ID: o.ID.String(), Name: operatorName(s, i), UID: orNull(s.OperatorUID(i)),
		Parallelism: o.Parallelism, MaxParallelism: o.MaxParallelism,
		Subtasks: len(o.Subtasks), Finished: model.FinishedWord(o), Sizes: sizesOf(s.tree.Sizes(n)),
		States: newReportStates(s, n), Detail: newOperatorDetail(s, n, i),
	}
}

// operatorName is the name that the checkpoint or the job graph gives.
func operatorName(s *snapshot, i int) *text {
	if stored := s.Meta.Operators[i].Name; stored != "" {
		return orNull(stored)
	}
	return orNull(s.Options.OperatorNames[s.Meta.Operators[i].ID])
}

func newReportStates(s *snapshot, op model.Node) stream[reportState] {
	return func(yield func(reportState, error) bool) {
		types := keyedTypes(s, s.tree.Operator(op))
		for _, n := range s.tree.Children(nil, op, model.TurnState) {
			state := reportState{
				Selector: s.selector(n), Kind: s.tree.Kind(n).String(), Name: orNull(s.tree.Name(n)),
				Distribution: stringOrNull(s.tree.Dist(n).String()), Subtasks: stateSubtasks(s, n),
				Entries: number(s.tree.Entries(n)), Sizes: sizesOf(s.tree.Sizes(n)),
				Detail: newStateDetail(s, n, types),
			}
			if !yield(state, nil) {
				return
			}
		}
	}
}

// stateSubtasks counts the subtasks that hold a state.
func stateSubtasks(s *snapshot, n model.Node) int {
	return len(s.tree.Children(nil, n, model.TurnState))
}

func newOperatorDetail(s *snapshot, n model.Node, i int) operatorDetail {
	d := s.tree.Detail(i)
	out := operatorDetail{
		StreamHeader: number(d.StreamHeader), HeaderOnly: []text{}, ChangelogBytes: number(d.ChangelogBytes),
		KeyedHandles: map[string]int{}, AlsoIn: []string{}, UnknownFiles: number(s.tree.Sizes(n).UnknownFiles),
	}
	if name, origin := s.OperatorName(i); origin != model.NameNone {
		word := origin.String()
		out.DisplayName, out.NameOrigin = &name, &word
	}
	for _, h := range d.HeaderOnly {
		out.HeaderOnly = append(out.HeaderOnly, text(h))
	}
	for typ, count := range d.KeyedHandles {
		out.KeyedHandles[strconv.Itoa(int(typ))] = count
	}
	for _, other := range d.AlsoIn {
		out.AlsoIn = append(out.AlsoIn, s.Meta.Operators[other].ID.String())
	}
	return out
}

// selector names a node; "" for the checkpoint.
func (s *snapshot) selector(n model.Node) string {
	return s.tree.Target(n, s.Meta.Operators).Selector()
}

func stringOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func newReportFindings(found []finding.Finding) []reportFinding {
	out := []reportFinding{}
	for _, f := range found {
		out = append(out, reportFinding{
			Rule: f.Rule, Severity: f.Severity.String(), Certainty: string(f.Certainty), Selector: stringOrNull(f.Selector()),
			Evidence: f.Evidence, Cause: f.Cause, Action: f.Action, Remedy: list(f.Remedy),
		})
	}
	return out
}
