package prune

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
	"chkscope/model"
	"chkscope/model/where"
)

// condition chooses the entries that go. What it has no answer for stays.
type condition struct {
	expr     *where.Expr
	ttl, now int64
	// several: more than one state was named. Then only entries are touched that
	// have all that the condition asks for; of one alone what is not there is null.
	several bool
}

// stateID is a named state of an operator, or its coordinator.
type stateID struct {
	op   int
	kind model.Kind
	name string
}

// compileWhere reads the condition of a request and refuses targets that have no
// entries to choose from.
func compileWhere(req Request) (*condition, error) {
	if req.Where == "" {
		return nil, nil
	}
	x, err := where.Compile(req.Where)
	if err != nil {
		return nil, refuse("where", "", "the condition cannot be read: "+err.Error(), "")
	}
	var bad refusals
	c := &condition{expr: x, ttl: req.TTL, now: req.Now}
	for _, g := range req.Targets {
		first := req.Targets[0]
		c.several = c.several || g.Class == model.ClassOperator || g.Whole || g.Op != first.Op || g.Kind != first.Kind || g.Name != first.Name
		ofKind := g.Kind == model.KindOperator || g.Kind == model.KindKeyed || g.Kind == model.KindCoordinator
		switch {
		case g.Class != model.ClassOperator && (g.Class != model.ClassState && g.Class != model.ClassCell || !ofKind):
			bad.add("where-target", g.Selector(), "a condition chooses entries of operators, named operator states, keyed states and the partitions of a KafkaSource's coordinator", "")
		case g.Entries != model.AllEntries:
			bad.add("where-target", g.Selector(), "entries are chosen by number or by condition, not both", "")
		}
	}
	return c, bad.err()
}

// key is what tells conditions apart in ids of handles.
func (c *condition) key() []string {
	if c == nil {
		return nil
	}
	return []string{"where", c.expr.String(), fmt.Sprint(c.ttl, c.now)}
}

// addChosen takes a target in of whose entries the condition chooses.
func (r *removal) addChosen(op int, g model.Target) bool {
	switch {
	case g.Class == model.ClassOperator:
		r.chooseAll(op)
		return true
	case g.Kind == model.KindCoordinator:
		if r.src.Operators[op].Coordinator == nil {
			return false
		}
		r.enumerators[op] = true
		return true
	case g.Kind == model.KindOperator:
		return r.addState(stateKey{op, false, g.Name}, g)
	}
	return r.eachSubtask(op, g.Subtask, func(at place, s *metadata.SubtaskState) bool {
		switch {
		case s.ManagedKeyed == nil:
		case g.Whole || g.Name == "":
			r.allKeyed[at] = true
		default:
			put(r.chosen, namedKey{op, g.Name}, at.sub, true)
		}
		return s.ManagedKeyed != nil
	})
}

// chooseAll lets the condition choose in everything that an operator has.
func (r *removal) chooseAll(op int) {
	if r.src.Operators[op].Coordinator != nil && !r.enumerators[op] {
		r.enumerators[op] = false
	}
	r.eachSubtask(op, -1, func(at place, s *metadata.SubtaskState) bool {
		if s.ManagedOperator != nil {
			for i := range s.ManagedOperator.States {
				r.state(stateKey{op, false, s.ManagedOperator.States[i].Name}).chosen[at.sub] = true
			}
		}
		if s.ManagedKeyed != nil && !r.allKeyed[at] {
			r.allKeyed[at] = false
		}
		if s.RawKeyed != nil || s.RawOperator != nil {
			r.entries.cannotAsk(describe(&r.src.Operators[op]), "raw state is not asked entry by entry")
		}
		return true
	})
}

// asker asks the condition about the entries of a state, in one pass.
type asker struct {
	c *condition
	r *entryReport
	stateID
	tell bool // what is found is noted, for the plan
}

// goes tells whether an entry goes.
func (a *asker) goes(e *model.Entry) bool {
	f := model.EntryFields{Entry: e, State: a.name, TTL: a.c.ttl, Now: a.c.now}
	goes, applies, err := false, true, error(nil)
	if a.c.several {
		goes, applies, err = a.c.expr.Apply(f)
	} else {
		goes, err = a.c.expr.Eval(f)
	}
	if a.tell {
		a.r.asked(a.stateID, applies)
	}
	if a.tell && (goes || err != nil) {
		a.r.note(a.stateID, e, err)
	}
	return goes && err == nil
}

// resolveWhere finds out which entries of operator state the condition chooses.
func (w *work) resolveWhere(ctx context.Context) error {
	c := w.removal.where
	if c == nil {
		return nil
	}
	for _, k := range w.removal.stateKeys() {
		rm := w.removal.states[k]
		rm.found = map[int][]metadata.Range{}
		for _, sub := range slices.Sorted(maps.Keys(rm.chosen)) {
			gone, err := w.chosenOf(ctx, k, sub)
			if err != nil {
				return err
			}
			switch {
			case len(gone) == 0:
			case rm.mode == metadata.ModeBroadcast:
				rm.mapPicks[sub] = gone
			default:
				rm.found[sub], rm.entries[sub] = gone, gone
				w.removal.entries.set(cellKey{place{k.op, sub}, k.kind(), k.name}, count(gone))
			}
		}
	}
	return nil
}

// chosenOf are the entries of a state in one subtask for which the condition
// holds.
func (w *work) chosenOf(ctx context.Context, k stateKey, sub int) (gone []metadata.Range, err error) {
	cell := w.snap.Find(w.tree, w.cellTarget(k, sub))
	if cell == model.None {
		return nil, nil
	}
	a := asker{w.removal.where, w.removal.entries, stateID{k.op, k.kind(), k.name}, true}
	err = w.snap.EachEntry(ctx, w.tree, []model.Node{cell}, whereLimits, nil, func(e *model.Entry) error {
		if a.goes(e) {
			gone = withIndex(gone, e.Index)
		}
		return nil
	})
	return gone, err
}

func (w *work) cellTarget(k stateKey, sub int) model.Target {
	g := model.StateTarget(w.removal.src.Operators[k.op].ID, k.kind(), k.name)
	g.Class, g.Subtask = model.ClassCell, w.removal.src.Operators[k.op].Subtasks[sub].Index
	return g
}

// nothingChosen refuses a condition that holds for no entry.
func (w *work) nothingChosen() error {
	r := w.removal
	if r.where == nil || r.entries.any() {
		return nil
	}
	why := "the condition holds for no entry of what was named"
	if missing := r.entries.notApplied(); len(missing) > 0 {
		why += fmt.Sprintf("; %s of it do not have what it asks for", model.FormatPlural(int64(len(missing)), "state"))
	}
	if r.entries.undecided > 0 {
		why += fmt.Sprintf("; it has no answer for %s, the first: %v", model.FormatCount(r.entries.undecided), r.entries.why)
	}
	return refuse("where-nothing", "", why, "")
}

// cellKey is a named state of one subtask; its place of a coordinator is {op, -1}.
type cellKey struct {
	at   place
	kind model.Kind
	name string
}

// entryReport is what is known of entries that go one by one.
type entryReport struct {
	mu     sync.Mutex
	counts map[cellKey]int64 // that go
	totals map[cellKey]int64 // of keyed and broadcast states that were gone through
	// applies tells of the states that a condition was asked about whether any entry
	// had its fields.
	applies   map[stateID]bool
	undecided int64
	why       error
	samples   map[stateID][]string
	told      map[place]bool // keyed streams of which samples are taken
	unreached []string       // sentences about state that the condition cannot look into
}

func newEntryReport() *entryReport {
	return &entryReport{counts: map[cellKey]int64{}, totals: map[cellKey]int64{}, applies: map[stateID]bool{}, samples: map[stateID][]string{}, told: map[place]bool{}}
}

// samplesKept is how many entries of a state that go are told.
const samplesKept = 3

// whereLimits let a value be whole: what is read of an entry is bounded.
var whereLimits = serde.Limits{Values: 1 << 30, Bytes: 1 << 30}

// cannotAsk notes, once, what of an operator a condition cannot look into.
func (r *entryReport) cannotAsk(operator, why string) {
	s := fmt.Sprintf("The condition does not reach everything of %s: %s.", operator, why)
	if !slices.Contains(r.unreached, s) {
		r.unreached = append(r.unreached, s)
	}
}

func (r *entryReport) asked(id stateID, applies bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if applies || !r.applies[id] {
		r.applies[id] = applies
	}
}

// note keeps an entry that goes as a sample, or counts one that is undecided.
func (r *entryReport) note(id stateID, e *model.Entry, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if r.undecided++; r.why == nil {
			r.why = err
		}
		return
	}
	if len(r.samples[id]) >= samplesKept {
		return
	}
	var parts []string
	for _, p := range []struct {
		name string
		v    *serde.Value
	}{{"key", &e.Key}, {"namespace", &e.Namespace}, {"map_key", &e.MapKey}, {"value", &e.Value}} {
		if p.v.Form != serde.Missing {
			parts = append(parts, p.name+" "+shorten(p.v.String()))
		}
	}
	if text := strings.Join(parts, ", "); !slices.Contains(r.samples[id], text) {
		r.samples[id] = append(r.samples[id], text)
	}
}

// shorten cuts a text at 80 characters.
func shorten(s string) string {
	if r := []rune(s); len(r) > 80 {
		s = string(r[:80]) + "…"
	}
	return strings.Clone(model.Clean(s))
}

func (r *entryReport) set(k cellKey, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[k] = n
}

// of is how many entries of a state go in one subtask.
func (r *entryReport) of(k cellKey) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[k]
}

func (r *entryReport) any() bool {
	for _, n := range r.counts {
		if n > 0 {
			return true
		}
	}
	return false
}

// byState is how many entries go of each state, but for those of which none does.
func (r *entryReport) byState() map[stateID]int64 {
	out := map[stateID]int64{}
	for k, n := range r.counts {
		if n > 0 {
			out[stateID{k.at.op, k.kind, k.name}] += n
		}
	}
	return out
}

// notApplied are the states that the condition was asked about and whose entries
// do not have its fields.
func (r *entryReport) notApplied() []stateID {
	var out []stateID
	for id, applies := range r.applies {
		if !applies {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, compareIDs)
	return out
}

func compareIDs(a, b stateID) int {
	return cmp.Or(cmp.Compare(a.op, b.op), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
}

// label names a state in a sentence.
func (id stateID) label() string {
	if id.kind == model.KindCoordinator {
		return "the coordinator"
	}
	return decoder.Text(id.name)
}

// chosenCount is how many entries of a target go.
func (w *work) chosenCount(g model.Target) int64 {
	n := int64(0)
	for k, count := range w.removal.entries.counts {
		op := &w.removal.src.Operators[k.at.op]
		if op.ID == g.Op && k.kind == g.Kind && k.name == g.Name && (g.Subtask < 0 || k.at.sub >= 0 && op.Subtasks[k.at.sub].Index == g.Subtask) {
			n += count
		}
	}
	return n
}

// numberCount is how many entries a target names by their numbers in states that
// have no list; false for others.
func (w *work) numberCount(g model.Target) (n int64, ok bool) {
	if g.Entries.First < 0 {
		return 0, false
	}
	for k, total := range w.removal.entries.totals {
		op := &w.removal.src.Operators[k.at.op]
		if op.ID == g.Op && k.kind == g.Kind && k.name == g.Name && (g.Subtask < 0 || op.Subtasks[k.at.sub].Index == g.Subtask) {
			n, ok = n+max(min(g.Entries.Last, total-1)-g.Entries.First+1, 0), true
		}
	}
	return n, ok
}

// chosenStates are the states below a target from which entries go.
func (w *work) chosenStates(g model.Target) []model.Target {
	var out []model.Target
	by := w.removal.entries.byState()
	for _, id := range slices.SortedFunc(maps.Keys(by), compareIDs) {
		h := model.StateTarget(w.removal.src.Operators[id.op].ID, id.kind, id.name)
		if h.Op == g.Op && (g.Class == model.ClassOperator || g.Whole && id.kind == g.Kind) {
			out = append(out, h)
		}
	}
	return out
}

// entrySentences tell which entries go, with samples, and what a condition did
// not reach.
func (w *work) entrySentences(p *Plan) {
	r := w.removal.entries
	by := r.byState()
	for _, id := range slices.SortedFunc(maps.Keys(by), compareIDs) {
		s := fmt.Sprintf("%s: %s of %s", describe(&w.removal.src.Operators[id.op]), model.FormatPlural(by[id], "entry"), id.label())
		if c := w.removal.where; c != nil {
			s += fmt.Sprintf(" for which the condition holds (%s)", decoder.Text(c.expr.String()))
		}
		if samples := r.samples[id]; len(samples) > 0 {
			s += ", such as: " + strings.Join(samples, "; ")
		}
		p.Losses = append(p.Losses, s+".")
	}
	if r.undecided > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("The condition has no answer for %s entries, which stay; the first: %v", model.FormatCount(r.undecided), r.why))
	}
	if missing := r.notApplied(); len(missing) > 0 {
		var names []string
		for i, id := range missing {
			name := id.label()
			if i+1 == len(missing) || missing[i+1].op != id.op {
				name += " of " + describe(&w.removal.src.Operators[id.op])
			}
			names = append(names, name)
		}
		p.Warnings = append(p.Warnings, fmt.Sprintf("The condition does not apply to %s: their entries do not have what it asks for, and stay.", strings.Join(names, ", ")))
	}
	p.Warnings = append(p.Warnings, r.unreached...)
}
