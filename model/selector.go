package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// NoMatch is a selector that matches nothing.
type NoMatch struct {
	Selector string
	Nearest  []string // selectors of candidates, nearest first
}

func (e *NoMatch) Error() string {
	msg := fmt.Sprintf("selector %q matches nothing", e.Selector)
	if len(e.Nearest) > 0 {
		msg += "; nearest: " + strings.Join(e.Nearest, ", ")
	}
	return msg
}

// BadSelector is a selector that cannot be read or is ambiguous.
type BadSelector struct{ Selector, Why string }

func (e *BadSelector) Error() string { return fmt.Sprintf("selector %q: %s", e.Selector, e.Why) }

// pattern is one part of a selector, percent-decoded: lit holds the bytes, wild
// the wildcard at each place ('*' or '?'), or 0.
type pattern struct {
	lit  []byte
	wild []byte
	any  bool // exactly "*", or left out
}

func parsePart(s string) (pattern, error) {
	p := pattern{any: s == "*"}
	for i := 0; i < len(s); i++ {
		c, w := s[i], byte(0)
		switch c {
		case '*', '?':
			w = c
		case '%':
			if i+2 >= len(s) {
				return p, fmt.Errorf("%% wants two hex digits behind it (a per cent sign itself is %%25)")
			}
			v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return p, fmt.Errorf("%%%s: two hex digits are wanted behind %%", s[i+1:i+3])
			}
			c, i = byte(v), i+2
		}
		p.lit, p.wild = append(p.lit, c), append(p.wild, w)
	}
	return p, nil
}

// literal is the text of a pattern without wildcards.
func (p pattern) literal() (string, bool) {
	return string(p.lit), !slices.ContainsFunc(p.wild, func(w byte) bool { return w != 0 })
}

// match is the usual two-pointer wildcard match: linear but for the last star.
func (p pattern) match(s string) bool {
	if p.any {
		return true
	}
	i, j, star, mark := 0, 0, -1, 0
	for j < len(s) {
		switch {
		case i < len(p.lit) && p.wild[i] == '*':
			star, mark = i, j
			i++
		case i < len(p.lit) && (p.wild[i] == '?' || p.wild[i] == 0 && p.lit[i] == s[j]):
			i, j = i+1, j+1
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p.lit) && p.wild[i] == '*' {
		i++
	}
	return i == len(p.lit)
}

// indexRange is SUBTASK or ENTRY: N, N-M or * (all).
func parseIndexRange(s string) (first, last int64, all bool, err error) {
	if s == "*" {
		return 0, 0, true, nil
	}
	a, b, isRange := strings.Cut(s, "-")
	if first, err = strconv.ParseInt(a, 10, 64); err == nil {
		last = first
		if isRange {
			last, err = strconv.ParseInt(b, 10, 64)
		}
	}
	if err != nil || first < 0 || last < first {
		return 0, 0, false, fmt.Errorf("%q is no index: a number from 0, a range such as 3-7, or *", s)
	}
	return first, last, false, nil
}

// Select parses a selector and gives the targets it matches, in file order. A
// selector that matches nothing is a *NoMatch with the nearest candidates; an
// ambiguous one, or one that cannot be read, is a *BadSelector.
func (s *Snapshot) Select(t *Tree, selector string) ([]Target, error) {
	q, err := parseSelector(selector)
	if err != nil {
		return nil, &BadSelector{selector, err.Error()}
	}
	if q.master {
		return s.selectMasters(t, selector, q)
	}
	ops, err := s.selectOperators(selector, q)
	if err != nil {
		return nil, err
	}
	if len(ops) == 0 {
		return nil, &NoMatch{selector, s.nearestOperators(q)}
	}
	var out []Target
	for _, op := range ops {
		if !q.hasKind {
			out = append(out, OperatorTarget(s.Meta.Operators[op].ID))
			continue
		}
		out = append(out, s.selectStates(t, op, q)...)
	}
	if len(out) == 0 {
		return nil, &NoMatch{selector, s.nearestStates(t, ops, q)}
	}
	return out, nil
}

// query is a parsed selector.
type query struct {
	master             bool
	op, name           pattern
	opText             string
	kinds              []Kind
	hasKind, hasName   bool
	subFirst, subLast  int64
	allSubs            bool
	entries            EntryRange
	channel            string // gate.channel
	hasSub, hasEntries bool
}

func parseSelector(selector string) (query, error) {
	q := query{allSubs: true, entries: AllEntries, name: pattern{any: true}}
	parts := strings.Split(selector, "/")
	if selector == "" || parts[0] == "" {
		return q, fmt.Errorf("it is empty; write OPERATOR/KIND/NAME/SUBTASK/ENTRY, e.g. bc764cd8/operator/offsets")
	}
	if len(parts) > 5 {
		return q, fmt.Errorf("it has %d parts, at most 5 are known (a / inside a name is written %%2F)", len(parts))
	}
	var err error
	if q.op, err = parsePart(parts[0]); err != nil {
		return q, err
	}
	q.opText = string(q.op.lit)
	if parts[0] == "master" {
		return q.asMaster(parts)
	}
	if len(parts) > 1 {
		if err = q.parseKind(parts[1]); err != nil {
			return q, err
		}
	}
	if len(parts) > 2 {
		q.hasName = true
		if q.name, err = parsePart(parts[2]); err != nil {
			return q, err
		}
	}
	if len(parts) > 3 {
		q.hasSub = true
		if q.subFirst, q.subLast, q.allSubs, err = parseIndexRange(parts[3]); err != nil {
			return q, fmt.Errorf("SUBTASK %w", err)
		}
	}
	if len(parts) > 4 {
		err = q.parseEntry(parts[4])
	}
	return q, err
}

func (q query) asMaster(parts []string) (query, error) {
	q.master = true
	if len(parts) > 2 {
		return q, fmt.Errorf("a master state is master/NAME")
	}
	var err error
	if len(parts) == 2 {
		q.name, err = parsePart(parts[1])
	}
	return q, err
}

func (q *query) parseKind(s string) error {
	p, err := parsePart(s)
	if err != nil {
		return err
	}
	q.hasKind = true
	var known []string
	for _, k := range Kinds()[:6] {
		known = append(known, k.String())
		if p.match(k.String()) {
			q.kinds = append(q.kinds, k)
		}
	}
	if len(q.kinds) == 0 {
		return fmt.Errorf("KIND %q is none of %s", s, strings.Join(known, ", "))
	}
	return nil
}

func (q *query) parseEntry(s string) error {
	q.hasEntries = true
	if s == "duplicates" {
		q.entries = Duplicates
		return nil
	}
	if slices.Equal(q.kinds, []Kind{KindInFlight}) && strings.Contains(s, ".") {
		q.channel = s
		return nil
	}
	first, last, all, err := parseIndexRange(s)
	if err != nil {
		return fmt.Errorf("ENTRY %w, or duplicates", err)
	}
	if !all {
		q.entries = EntryRange{first, last}
	}
	return nil
}

// selectOperators resolves OPERATOR in the order of CLI.md: hex id, uid, name,
// unique hex prefix, pattern.
func (s *Snapshot) selectOperators(selector string, q query) ([]int, error) {
	if q.op.any {
		return allOperators(s), nil
	}
	text, literal := q.op.literal()
	if !literal {
		return s.operatorsBy(func(i int) bool {
			o := &s.Meta.Operators[i]
			name, _ := s.OperatorName(i)
			return q.op.match(decoder.Text(o.UID)) && o.UID != "" || name != "" && q.op.match(name) || q.op.match(o.ID.String())
		}), nil
	}
	if id, err := metadata.ParseOperatorID(strings.ToLower(text)); err == nil {
		if ops := s.operatorsBy(func(i int) bool { return s.Meta.Operators[i].ID == id }); len(ops) > 0 {
			return ops, nil
		}
	}
	hash := metadata.OperatorIDOf(text)
	if ops := s.operatorsBy(func(i int) bool {
		return decoder.Text(s.Meta.Operators[i].UID) == text || s.Meta.Operators[i].ID == hash
	}); len(ops) > 0 {
		return unique(selector, "uid", ops, s)
	}
	if ops := s.operatorsBy(func(i int) bool {
		name, origin := s.OperatorName(i)
		return name == text && origin > NameGuess
	}); len(ops) > 0 {
		return unique(selector, "name", ops, s)
	}
	if len(text) >= 8 && len(text) < 32 && isHex(text) {
		return unique(selector, "prefix", s.operatorsBy(func(i int) bool {
			return strings.HasPrefix(s.Meta.Operators[i].ID.String(), strings.ToLower(text))
		}), s)
	}
	return nil, nil
}

func unique(selector, what string, ops []int, s *Snapshot) ([]int, error) {
	if len(ops) < 2 {
		return ops, nil
	}
	var ids []string
	for _, i := range ops[:min(len(ops), 5)] {
		ids = append(ids, s.Meta.Operators[i].ID.String())
	}
	return nil, &BadSelector{selector, fmt.Sprintf("the %s fits %d operators: %s", what, len(ops), strings.Join(ids, ", "))}
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

func allOperators(s *Snapshot) []int { return s.operatorsBy(func(int) bool { return true }) }

func (s *Snapshot) operatorsBy(f func(int) bool) []int {
	var out []int
	for i := range s.Meta.Operators {
		if f(i) {
			out = append(out, i)
		}
	}
	return out
}

func (s *Snapshot) selectMasters(t *Tree, selector string, q query) ([]Target, error) {
	var out []Target
	var all []string
	for _, m := range s.Meta.Masters {
		g := Target{Class: ClassMaster, Kind: KindMaster, Name: m.Name, Subtask: -1, Entries: AllEntries}
		all = append(all, g.Selector())
		if q.name.match(decoder.Text(m.Name)) {
			out = append(out, g)
		}
	}
	if len(out) == 0 {
		return nil, &NoMatch{selector, all[:min(len(all), 5)]}
	}
	return out, nil
}

// selectStates gives the targets of one operator. A state is named over all
// subtasks where the selector names none.
func (s *Snapshot) selectStates(t *Tree, op int, q query) []Target {
	var out []Target
	node := t.OperatorNode(op)
	for _, n := range t.Children(nil, node, TurnState) {
		if !slices.Contains(q.kinds, t.Kind(n)) || !q.matchesName(t, n) {
			continue
		}
		switch {
		case t.Kind(n) == KindCoordinator && (q.hasName && !q.name.any || q.hasSub && !q.allSubs || q.hasEntries):
		case q.allSubs && q.entries == AllEntries && q.channel == "":
			out = append(out, t.Target(n, s.Meta.Operators))
		case q.entries == Duplicates && q.allSubs:
			g := t.Target(n, s.Meta.Operators)
			g.Entries = Duplicates
			out = append(out, g)
		default:
			out = append(out, s.selectCells(t, n, q)...)
		}
	}
	if slices.Contains(q.kinds, KindOperator) && q.allSubs && q.entries == AllEntries && !q.name.any {
		// Names that stand in stream headers only have no row, but can go.
		for _, name := range t.Detail(op).HeaderOnly {
			if q.name.match(decoder.Text(name)) {
				out = append(out, StateTarget(s.Meta.Operators[op].ID, KindOperator, name))
			}
		}
	}
	return out
}

// matchesName: OP/keyed and OP/keyed/* are the kind as a whole where there is a
// row for that; its names then are in it.
func (q query) matchesName(t *Tree, n Node) bool {
	kind := t.Kind(n)
	if kind == KindCoordinator {
		return true
	}
	if kind == KindKeyed || kind == KindRawKeyed {
		if whole := t.wholeOf(n); whole != None && q.name.any {
			return n == whole
		}
	}
	if t.Whole(n) {
		return q.name.any
	}
	return q.name.match(decoder.Text(t.Name(n)))
}

func (s *Snapshot) selectCells(t *Tree, n Node, q query) []Target {
	var out []Target
	for _, c := range t.Children(nil, n, TurnState) {
		if i := int64(t.Subtask(c)); !q.allSubs && (i < q.subFirst || i > q.subLast) {
			continue
		}
		g := t.Target(c, s.Meta.Operators)
		if q.entries.First >= 0 {
			// What is beyond the end is nothing, where the end is known.
			if n := s.entryCount(t, c); n == Unknown {
				g.Entries = q.entries
			} else if n > q.entries.First {
				g.Entries = EntryRange{q.entries.First, min(q.entries.Last, n-1)}
			} else {
				continue
			}
		} else {
			g.Entries = q.entries
		}
		out = append(out, g)
	}
	return out
}

// entryCount is how many entries a cell has; Unknown of keyed state that was not
// counted and of the map of a broadcast state that was not read.
func (s *Snapshot) entryCount(t *Tree, cell Node) int64 {
	if t.kind[cell] == KindOperator && t.dist[cell] == DistBroadcast {
		return s.MapEntries(int(t.op[cell]), t.Name(cell))
	}
	return t.Entries(cell)
}

func (s *Snapshot) nearestOperators(q query) []string {
	return nearest(q.opText, allOperators(s), func(i int) (string, string) {
		o := &s.Meta.Operators[i]
		name, _ := s.OperatorName(i)
		if name == "" {
			name = o.ID.String()
		}
		return name, o.ID.String()
	})
}

func (s *Snapshot) nearestStates(t *Tree, ops []int, q query) []string {
	var nodes []Node
	for _, op := range ops {
		nodes = t.Children(nodes, t.OperatorNode(op), TurnState)
	}
	text := string(q.name.lit)
	return nearest(text, nodes, func(n Node) (string, string) {
		return decoder.Text(t.Name(n)), t.Target(n, s.Meta.Operators).Selector()
	})
}

// nearest gives up to three candidates by edit distance of their text.
func nearest[T any](text string, all []T, of func(T) (text, selector string)) []string {
	type candidate struct {
		selector string
		distance int
	}
	var list []candidate
	for _, a := range all[:min(len(all), 2000)] {
		name, selector := of(a)
		list = append(list, candidate{selector, unlike(text, name)})
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return a.distance - b.distance })
	var out []string
	for _, c := range list[:min(len(list), 3)] {
		out = append(out, c.selector)
	}
	return out
}

// unlike is how far a name is from what was typed: a beginning or a part of the
// name is nearest, the row without a name farthest.
func unlike(text, name string) int {
	switch {
	case name == "":
		return 1 << 10
	case text != "" && strings.HasPrefix(name, text):
		return 0
	case text != "" && strings.Contains(name, text):
		return 1
	}
	return 1 + distance(text, name)
}

// distance is the Levenshtein distance of two texts, cut at 128 bytes each.
func distance(a, b string) int {
	a, b = a[:min(len(a), 128)], b[:min(len(b), 128)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diag
			if a[i-1] != b[j-1] {
				cost++
			}
			diag = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
