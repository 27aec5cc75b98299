package prune

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
)

// removal is what goes, by position in the source's structures. Nothing in it
// is finer than what holds it: an operator that goes has no states in it.
type removal struct {
	src          *metadata.Checkpoint
	masters      map[int]bool // by index in Checkpoint.Masters
	operators    map[int]bool // by index in Checkpoint.Operators
	coordinators map[int]bool
	subtasks     map[place]bool
	keyed        map[place]bool // managed keyed handles
	rawKeyed     map[place]bool
	named        map[namedKey]map[int]bool             // names of keyed states, and the subtasks in which they go
	picked       map[namedKey]map[int][]metadata.Range // entries of keyed states that go by their numbers, by subtask
	chosen       map[namedKey]map[int]bool             // keyed states of whose entries the condition chooses
	allKeyed     map[place]bool                        // all names there are chosen; true: and must be
	rewriteKeyed map[place]bool                        // keyed streams that lose names or entries
	cutNames     map[int]bool                          // operators whose names are emptied, as they cannot leave the headers
	states       map[stateKey]*stateRemoval
	enumerators  map[int]bool       // operators of whose enumerator the condition chooses partitions; true: it was named
	kafka        map[int]*kafkaEdit // partitions that go out of a KafkaSource's readers and enumerator
	inFlight     bool               // all of the checkpoint
	where        *condition         // chooses the entries of what is named, or nil
	entries      *entryReport       // what is known of entries that go
}

// place is an entry of an operator: positions, not Flink's subtask index.
type place struct{ op, sub int }

// stateKey is a named operator state of one operator.
type stateKey struct {
	op   int
	raw  bool
	name string // modified UTF-8
}

// stateRemoval is what goes of one named operator state.
type stateRemoval struct {
	mode    byte
	holders []int // positions of the subtasks that hold it
	whole   map[int]bool
	entries map[int][]metadata.Range
	// duplicates holds the positions whose duplicates go.
	duplicates map[int]bool
	found      map[int][]metadata.Range // what they are
	// chosen holds the positions of whose entries the condition chooses.
	chosen map[int]bool
	// mapPicks are entries of a broadcast map by their numbers in one subtask, maps
	// those that go with them: the same keys in every subtask.
	mapPicks, maps map[int][]metadata.Range
	// complete: no subtask keeps it, so its name leaves the headers too.
	complete bool
	// nowhere: no offsets map has the name; perhaps a header.
	nowhere bool
}

func (k stateKey) kind() model.Kind {
	if k.raw {
		return model.KindRawOperator
	}
	return model.KindOperator
}

func (r *removal) selector(k stateKey) string {
	return model.StateTarget(r.src.Operators[k.op].ID, k.kind(), k.name).Selector()
}

func (r *removal) cellSelector(k stateKey, sub int) string {
	g := model.StateTarget(r.src.Operators[k.op].ID, k.kind(), k.name)
	g.Class, g.Subtask = model.ClassCell, r.src.Operators[k.op].Subtasks[sub].Index
	return g.Selector()
}

// compile resolves targets. What matches nothing is a *Refusal.
func compile(src *metadata.Checkpoint, targets []model.Target) (*removal, error) {
	return compileTargets(src, targets, nil)
}

// compileTargets is compile for targets of which a condition, where not nil,
// chooses the entries.
func compileTargets(src *metadata.Checkpoint, targets []model.Target, c *condition) (*removal, error) {
	r := &removal{
		src: src, where: c, masters: map[int]bool{}, operators: map[int]bool{}, coordinators: map[int]bool{},
		subtasks: map[place]bool{}, keyed: map[place]bool{}, rawKeyed: map[place]bool{},
		named: map[namedKey]map[int]bool{}, picked: map[namedKey]map[int][]metadata.Range{}, chosen: map[namedKey]map[int]bool{}, allKeyed: map[place]bool{},
		rewriteKeyed: map[place]bool{}, cutNames: map[int]bool{}, states: map[stateKey]*stateRemoval{}, enumerators: map[int]bool{}, kafka: map[int]*kafkaEdit{},
		entries: newEntryReport(),
	}
	var bad refusals
	for _, g := range targets {
		if why := noEntries(g); why != "" {
			bad.add("keyed-entries", g.Selector(), why, "")
			continue
		}
		if g.Kind == model.KindRawKeyed && !g.Whole && g.Name != "" {
			bad.add("raw-keyed-name", g.Selector(), "the timers of raw keyed state stand in one stream and go together: drop OPERATOR/raw-keyed", "")
			continue
		}
		if !r.add(g) {
			bad.add("unknown", g.Selector(), "the checkpoint has nothing of this name", "")
		}
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	r.settle()
	return r, nil
}

// noEntries tells why a target of keyed state cannot go entry by entry, "" where
// that is not known yet or it does not ask for it.
func noEntries(g model.Target) string {
	switch {
	case g.Entries == model.AllEntries:
	case g.Kind == model.KindRawKeyed:
		return "single timers of raw keyed state cannot go; all of them can"
	case g.Kind == model.KindKeyed && (g.Whole || g.Entries == model.Duplicates):
		return "entries of keyed state go by their numbers in one named state"
	}
	return ""
}

// add takes one target in; false where it matches nothing.
func (r *removal) add(g model.Target) bool {
	if g.Class == model.ClassMaster {
		found := false
		for i, m := range r.src.Masters {
			if m.Name == g.Name {
				r.masters[i], found = true, true
			}
		}
		return found
	}
	found := false
	for op := range r.src.Operators {
		if g.Class != model.ClassCheckpoint && r.src.Operators[op].ID == g.Op {
			found = r.addIn(op, g) || found
		}
	}
	return found
}

func (r *removal) addIn(op int, g model.Target) bool {
	if r.where != nil {
		return r.addChosen(op, g)
	}
	switch {
	case g.Class == model.ClassOperator:
		r.operators[op] = true
		return true
	case g.Class == model.ClassSubtask:
		return r.eachSubtask(op, g.Subtask, func(p place, _ *metadata.SubtaskState) bool {
			r.subtasks[p] = true
			return true
		})
	}
	switch g.Kind {
	case model.KindCoordinator:
		r.coordinators[op] = r.src.Operators[op].Coordinator != nil
		return r.coordinators[op]
	case model.KindInFlight:
		r.inFlight = true
		return r.eachSubtask(op, g.Subtask, func(_ place, s *metadata.SubtaskState) bool { return hasChannels(s) })
	case model.KindKeyed:
		return r.addKeyed(op, g)
	case model.KindRawKeyed:
		return r.eachSubtask(op, g.Subtask, func(p place, s *metadata.SubtaskState) bool {
			if s.RawKeyed != nil {
				r.rawKeyed[p] = true
			}
			return s.RawKeyed != nil
		})
	case model.KindOperator, model.KindRawOperator:
		return r.addState(stateKey{op, g.Kind == model.KindRawOperator, g.Name}, g)
	}
	return false
}

func (r *removal) addKeyed(op int, g model.Target) bool {
	if !g.Whole && g.Name != "" {
		// Whether the name is there is known when the headers are read.
		k := namedKey{op, g.Name}
		return r.eachSubtask(op, g.Subtask, func(p place, s *metadata.SubtaskState) bool {
			switch {
			case s.ManagedKeyed == nil:
			case g.Entries != model.AllEntries:
				put(r.picked, k, p.sub, append(r.picked[k][p.sub], metadata.Range(g.Entries)))
			default:
				put(r.named, k, p.sub, true)
			}
			return s.ManagedKeyed != nil
		})
	}
	return r.eachSubtask(op, g.Subtask, func(p place, s *metadata.SubtaskState) bool {
		if s.ManagedKeyed != nil {
			r.keyed[p] = true
		}
		return s.ManagedKeyed != nil
	})
}

// put sets a value in a map of maps.
func put[K comparable, V any](m map[K]map[int]V, k K, sub int, v V) {
	if m[k] == nil {
		m[k] = map[int]V{}
	}
	m[k][sub] = v
}

// eachSubtask calls f for the subtasks with that index (-1: all) that have a
// state record, and tells whether any call gave true.
func (r *removal) eachSubtask(op int, index int32, f func(place, *metadata.SubtaskState) bool) bool {
	found := false
	subs := r.src.Operators[op].Subtasks
	for i := range subs {
		if subs[i].State != nil && (index < 0 || subs[i].Index == index) && f(place{op, i}, subs[i].State) {
			found = true
		}
	}
	return found
}

func (r *removal) addState(k stateKey, g model.Target) bool {
	s := r.state(k)
	found := len(s.holders) == 0 && !k.raw && g.Subtask < 0 && g.Entries == model.AllEntries
	for _, sub := range s.holders {
		if g.Subtask >= 0 && r.src.Operators[k.op].Subtasks[sub].Index != g.Subtask {
			continue
		}
		found = true
		switch {
		case r.where != nil:
			s.chosen[sub] = true
		case g.Entries.First >= 0 && s.mode == metadata.ModeBroadcast && !k.raw:
			s.mapPicks[sub] = append(s.mapPicks[sub], metadata.Range(g.Entries))
		case g.Entries == model.AllEntries:
			s.whole[sub] = true
		case g.Entries == model.Duplicates:
			s.duplicates[sub] = true
		default:
			s.entries[sub] = append(s.entries[sub], metadata.Range(g.Entries))
		}
	}
	if !found {
		delete(r.states, k)
	}
	return found
}

// state gives the entry of a named state, made from the subtasks that hold it.
func (r *removal) state(k stateKey) *stateRemoval {
	if s := r.states[k]; s != nil {
		return s
	}
	s := &stateRemoval{whole: map[int]bool{}, entries: map[int][]metadata.Range{}, duplicates: map[int]bool{}, chosen: map[int]bool{}, mapPicks: map[int][]metadata.Range{}}
	r.eachSubtask(k.op, -1, func(p place, st *metadata.SubtaskState) bool {
		if e := findState(operatorHandle(st, k.raw), k.name); e != nil {
			s.holders = append(s.holders, p.sub)
			s.mode = e.Mode
		}
		return true
	})
	s.nowhere = len(s.holders) == 0
	r.states[k] = s
	return s
}

// stateKeys are the keys of states in a fixed order.
func (r *removal) stateKeys() []stateKey {
	return slices.SortedFunc(maps.Keys(r.states), func(a, b stateKey) int {
		return cmp.Or(cmp.Compare(a.op, b.op), cmp.Compare(a.kind(), b.kind()), cmp.Compare(a.name, b.name))
	})
}

func operatorHandle(s *metadata.SubtaskState, raw bool) *metadata.OperatorHandle {
	if raw {
		return s.RawOperator
	}
	return s.ManagedOperator
}

func findState(h *metadata.OperatorHandle, name string) *metadata.OperatorState {
	if h == nil {
		return nil
	}
	for i := range h.States {
		if h.States[i].Name == name {
			return &h.States[i]
		}
	}
	return nil
}

func hasChannels(s *metadata.SubtaskState) bool { return s.Input.Count+s.Output.Count > 0 }

// settle drops what a larger removal covers and finds out which states go
// completely.
func (r *removal) settle() {
	for p := range r.subtasks {
		if r.operators[p.op] {
			delete(r.subtasks, p)
		}
	}
	for op := range r.operators {
		delete(r.coordinators, op)
	}
	for _, m := range []map[place]bool{r.keyed, r.rawKeyed} {
		for p := range m {
			if r.gone(p) {
				delete(m, p)
			}
		}
	}
	for k, subs := range r.named {
		maps.DeleteFunc(subs, func(sub int, _ bool) bool {
			return r.gone(place{k.op, sub}) || r.keyed[place{k.op, sub}]
		})
		if len(subs) == 0 {
			delete(r.named, k)
		}
	}
	for k, subs := range r.picked {
		maps.DeleteFunc(subs, func(sub int, _ []metadata.Range) bool {
			return r.gone(place{k.op, sub}) || r.keyed[place{k.op, sub}] || r.named[k][sub]
		})
		if len(subs) == 0 {
			delete(r.picked, k)
		}
	}
	for k, s := range r.states {
		r.settleState(k, s)
	}
}

// gone is true where the whole record of a subtask goes.
func (r *removal) gone(p place) bool { return r.operators[p.op] || r.subtasks[p] }

func (r *removal) settleState(k stateKey, s *stateRemoval) {
	if r.operators[k.op] {
		delete(r.states, k)
		return
	}
	s.holders = slices.DeleteFunc(s.holders, func(sub int) bool { return r.subtasks[place{k.op, sub}] })
	s.complete = true
	for _, sub := range s.holders {
		if s.whole[sub] {
			delete(s.entries, sub)
			delete(s.duplicates, sub)
			delete(s.mapPicks, sub)
		} else {
			s.complete = false
		}
	}
}

// describe names an operator in a sentence: its name where V5 and later record
// one, else the first eight digits of its id.
func describe(op *metadata.Operator) string {
	if op.Name != "" {
		return fmt.Sprintf("operator %s (%s)", op.ID.String()[:8], decoder.Text(op.Name))
	}
	return "operator " + op.ID.String()[:8]
}
