package prune

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"chkscope/decoder"
	"chkscope/decoder/keyed"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
	"chkscope/model"
	"chkscope/model/where"
)

// condition chooses the entries that go. What it has no answer for stays.
type condition struct {
	expr     *where.Expr
	ttl, now int64

	mu        sync.Mutex
	counts    map[cellKey]int64 // entries that go
	undecided int64             // elements of lists, and entries of keyed streams, in one pass
	why       error
	asked     map[cellKey]int64 // undecided ones of keyed streams
	samples   []string
}

// cellKey is a named state of one subtask.
type cellKey struct {
	at   place
	name string
}

// samplesKept is how many entries that go are told.
const samplesKept = 3

// whereLimits let a value be whole: what is read of an entry is bounded.
var whereLimits = serde.Limits{Values: 1 << 30, Bytes: 1 << 30}

// compileWhere reads the condition of a request and refuses targets that have no
// entries to choose from.
func compileWhere(s *model.Snapshot, t *model.Tree, req Request) (*condition, error) {
	if req.Where == "" {
		return nil, nil
	}
	x, err := where.Compile(req.Where)
	if err != nil {
		return nil, refuse("where", "", "the condition cannot be read: "+err.Error(), "")
	}
	var bad refusals
	for _, g := range req.Targets {
		n := s.Find(t, g)
		switch {
		case g.Class != model.ClassState && g.Class != model.ClassCell || g.Whole || g.Kind != model.KindOperator && g.Kind != model.KindKeyed:
			bad.add("where-target", g.Selector(), "a condition chooses entries of named operator states and named keyed states", "")
		case g.Entries != model.AllEntries:
			bad.add("where-target", g.Selector(), "entries are chosen by number or by condition, not both", "")
		case n != model.None && t.Dist(n) == model.DistBroadcast:
			bad.add("broadcast-entries", g.Selector(), "the entries of a broadcast state are one piece in each subtask: drop the whole state", "")
		}
	}
	return &condition{expr: x, ttl: req.TTL, now: req.Now, counts: map[cellKey]int64{}, asked: map[cellKey]int64{}}, bad.err()
}

// key is what tells conditions apart in ids of handles.
func (c *condition) key() []string {
	if c == nil {
		return nil
	}
	return []string{"where", c.expr.String(), fmt.Sprint(c.ttl, c.now)}
}

// holds tells whether an entry goes; fresh asks to note it for the plan.
func (c *condition) holds(e *model.Entry, state string) (goes bool, err error) {
	return c.expr.Eval(model.EntryFields{Entry: e, State: state, TTL: c.ttl, Now: c.now})
}

func (c *condition) note(e *model.Entry, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if c.undecided++; c.why == nil {
			c.why = err
		}
		return
	}
	if len(c.samples) >= samplesKept {
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
	c.samples = append(c.samples, strings.Join(parts, ", "))
}

// shorten cuts a text at 80 characters.
func shorten(s string) string {
	if r := []rune(s); len(r) > 80 {
		s = string(r[:80]) + "…"
	}
	return strings.Clone(model.Clean(s))
}

func (c *condition) count(at place, name string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[cellKey{at, name}]
}

// removed notes what a rewrite took out.
func (c *condition) removed(at place, s *keyed.Stream, res *keyed.Rewritten) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, m := range s.Header.States {
		c.counts[cellKey{at, m.Name}] = res.Removed[id].Entries
	}
}

// resolveWhere finds out which elements of lists go.
func (w *work) resolveWhere(ctx context.Context) error {
	c := w.removal.where
	if c == nil {
		return nil
	}
	for k, rm := range w.removal.states {
		rm.found = map[int][]metadata.Range{}
		for sub := range rm.chosen {
			cell := w.snap.Find(w.tree, w.cellTarget(k, sub))
			if cell == model.None {
				continue
			}
			var gone []metadata.Range
			n := int64(0)
			err := w.snap.EachEntry(ctx, w.tree, []model.Node{cell}, whereLimits, nil, func(e *model.Entry) error {
				goes, err := c.holds(e, k.name)
				if goes || err != nil {
					c.note(e, err)
				}
				if !goes {
					return nil
				}
				n++
				if i := len(gone); i > 0 && gone[i-1].Last+1 == e.Index {
					gone[i-1].Last++
				} else {
					gone = append(gone, metadata.Range{First: e.Index, Last: e.Index})
				}
				return nil
			})
			if err != nil {
				return err
			}
			if n > 0 {
				rm.found[sub], rm.entries[sub] = gone, gone
				c.counts[cellKey{place{k.op, sub}, k.name}] = n
			}
		}
	}
	return nil
}

func (w *work) cellTarget(k stateKey, sub int) model.Target {
	g := model.StateTarget(w.removal.src.Operators[k.op].ID, k.kind(), k.name)
	g.Class, g.Subtask = model.ClassCell, w.removal.src.Operators[k.op].Subtasks[sub].Index
	return g
}

// chosenEntries is the edit that takes out of a keyed stream what the condition
// chooses. Each is for one pass over the stream.
func (w *work) chosenEntries(at place, s *keyed.Stream, names []string) keyed.Edit {
	c := w.removal.where
	op := &w.removal.src.Operators[at.op]
	types := make([]keyed.Types, len(s.Header.States))
	for id := range types {
		types[id] = s.Header.Types(id, s.Layout, op.MaxParallelism)
	}
	d := keyed.NewDecoder(types, whereLimits)
	c.mu.Lock()
	first := c.asked[cellKey{at: at}] == 0 // of a stream: what is found is told once
	c.asked[cellKey{at: at}] = 1
	c.mu.Unlock()
	e := keyed.Edit{Entries: map[string]func(keyed.Entry) bool{}}
	for _, name := range names {
		number := int64(-1)
		e.Entries[name] = func(x keyed.Entry) bool {
			number++
			f := d.Decode(x)
			entry := model.Entry{Subtask: op.Subtasks[at.sub].Index, Index: number, Group: x.Group, Key: f.Key, Namespace: f.Namespace, MapKey: f.MapKey,
				Value: f.Value, LastAccess: f.LastAccess, TTL: f.TTL, Len: int64(len(x.Namespace)) + x.KeyLen + x.ValueLen}
			goes, err := c.holds(&entry, name)
			if first && (goes || err != nil) {
				c.note(&entry, err)
			}
			return goes
		}
	}
	return e
}

// leaveUnchosen leaves streams alone in which the condition holds for nothing.
func (w *work) leaveUnchosen(tries []place) {
	c := w.removal.where
	if c == nil {
		return
	}
	for _, at := range tries {
		n := int64(0)
		for k, count := range c.counts {
			if k.at == at {
				n += count
			}
		}
		if n == 0 {
			delete(w.removal.rewriteKeyed, at)
		}
	}
}

// wholeMaps refuses a condition on parts of maps in heap layout, where the map
// of a key is one entry.
func (w *work) wholeMaps(at place, s *keyed.Stream) error {
	c := w.removal.where
	if c == nil || s.Layout != keyed.Heap || !c.expr.Uses("map_key") && !c.expr.Uses("value") && !c.expr.Uses("last_access") && !c.expr.Uses("expires") && !c.expr.Uses("ttl_expired") {
		return nil
	}
	for name := range w.removal.namedIn(at) {
		if id := s.Header.State(name); id >= 0 && s.Header.States[id].Type == "MAP" {
			g := w.removal.namedSelector(namedKey{at.op, name})
			return refuse("where-heap-map", g, "in a heap snapshot the whole map of a key is one entry: its entries cannot be chosen one by one, only by key, namespace or key_group; a canonical savepoint has them one by one", "")
		}
	}
	return nil
}

// chosenCount is how many entries of a target go.
func (w *work) chosenCount(g model.Target) int64 {
	c := w.removal.where
	c.mu.Lock()
	defer c.mu.Unlock()
	n := int64(0)
	for k, count := range c.counts {
		op := &w.removal.src.Operators[k.at.op]
		if op.ID == g.Op && k.name == g.Name && (g.Subtask < 0 || op.Subtasks[k.at.sub].Index == g.Subtask) {
			n += count
		}
	}
	return n
}

// nothingChosen refuses a condition that holds for no entry, and one on parts of
// heap maps.
func (w *work) nothingChosen() error {
	c := w.removal.where
	if c == nil {
		return nil
	}
	for _, n := range c.counts {
		if n > 0 {
			return nil
		}
	}
	why := "the condition holds for no entry of what was named"
	if c.undecided > 0 {
		why += fmt.Sprintf("; it has no answer for %s, the first: %v", model.FormatCount(c.undecided), c.why)
	}
	return refuse("where-nothing", "", why, "")
}

func (w *work) whereSentences(p *Plan) {
	c := w.removal.where
	if c == nil {
		return
	}
	n := int64(0)
	for _, count := range c.counts {
		n += count
	}
	p.Losses = append(p.Losses, fmt.Sprintf("%s entries for which the condition holds (%s), such as: %s.", model.FormatCount(n), decoder.Text(c.expr.String()), strings.Join(c.samples, "; ")))
	if c.undecided > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("The condition has no answer for %s entries, which stay; the first: %v", model.FormatCount(c.undecided), c.why))
	}
}
