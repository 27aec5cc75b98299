package prune

import (
	"fmt"
	"maps"
	"slices"

	"chkscope/decoder"
	"chkscope/decoder/keyed"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
	"chkscope/model"
)

// Entries of keyed states in heap and canonical streams: by their numbers, which
// are those of model.KeyedEntry, or by a condition. Of the map that a heap stream
// keeps for a key of a MAP a condition chooses single entries; by its number all
// of it goes.

// partlyIn are the names of which entries go in one subtask.
func (r *removal) partlyIn(at place) map[string]bool {
	out := map[string]bool{}
	for k, subs := range r.picked {
		if k.op == at.op && len(subs[at.sub]) > 0 {
			out[k.name] = true
		}
	}
	for k, subs := range r.chosen {
		if k.op == at.op && subs[at.sub] {
			out[k.name] = true
		}
	}
	return out
}

// chooseNames lets the condition choose in all states of a stream, where it was
// asked for all of them. What it cannot look into is refused where it was named,
// else told.
func (w *work) chooseNames(at place, h keyedHeader) {
	r := w.removal
	named, all := r.allKeyed[at]
	switch {
	case !all:
		return
	case !named && h.rule != "":
		r.entries.cannotAsk(describe(&r.src.Operators[at.op]), "single entries of keyed state "+h.why)
		return
	}
	for _, n := range h.names {
		put(r.chosen, namedKey{at.op, n}, at.sub, true)
	}
}

// keyedSelectors name the keyed states of an operator that something goes of.
func (r *removal) keyedSelectors(op int) []string {
	for at, named := range r.allKeyed {
		if at.op == op && named {
			return []string{r.src.Operators[op].ID.String() + "/" + model.KindKeyed.String()}
		}
		if at.op == op {
			return []string{r.src.Operators[op].ID.String()}
		}
	}
	names := map[string]bool{}
	for _, sub := range r.keyedSubs(op) {
		maps.Copy(names, r.namedIn(place{op, sub}))
		maps.Copy(names, r.partlyIn(place{op, sub}))
	}
	var out []string
	for _, n := range slices.Sorted(maps.Keys(names)) {
		out = append(out, r.namedSelector(namedKey{op, n}))
	}
	return out
}

// keyedKey is what tells the edits of a keyed stream apart, for the handle's id.
func (r *removal) keyedKey(at place) []string {
	key := slices.Sorted(maps.Keys(r.namedIn(at)))
	for _, n := range slices.Sorted(maps.Keys(r.partlyIn(at))) {
		key = append(key, fmt.Sprint(n, normal(r.picked[namedKey{at.op, n}][at.sub])))
	}
	return append(key, r.where.key()...)
}

// noteRemoved notes how many entries a rewrite took out.
func (r *removal) noteRemoved(at place, s *keyed.Stream, res *keyed.Rewritten) {
	partly := r.partlyIn(at)
	for id, m := range s.Header.States {
		if partly[m.Name] {
			r.entries.set(cellKey{at, model.KindKeyed, m.Name}, res.Removed[id].Entries)
		}
	}
}

// checkNumbers refuses numbers that no entry has.
func (w *work) checkNumbers(bad *refusals, op int) {
	r := w.removal
	for k, subs := range r.picked {
		for sub := range subs {
			c := cellKey{place{op, sub}, model.KindKeyed, k.name}
			if k.op != op || !r.rewriteKeyed[c.at] || r.entries.of(c) > 0 {
				continue
			}
			g := model.StateTarget(r.src.Operators[op].ID, model.KindKeyed, k.name)
			g.Class, g.Subtask = model.ClassCell, r.src.Operators[op].Subtasks[sub].Index
			bad.add("unknown", g.Selector(), fmt.Sprintf("it has %s, counted from 0", model.FormatPlural(r.entries.totals[c], "entry")), "")
		}
	}
}

// leaveUnchosen leaves streams alone of which nothing goes.
func (w *work) leaveUnchosen(tries []place) {
	for _, at := range tries {
		goes := len(w.removal.namedIn(at)) > 0
		for name := range w.removal.partlyIn(at) {
			goes = goes || w.removal.entries.of(cellKey{at, model.KindKeyed, name}) > 0
		}
		if !goes {
			delete(w.removal.rewriteKeyed, at)
		}
	}
}

// choosers tell which entries of a keyed stream go, for one pass over it. The
// first one takes samples for the plan.
func (w *work) choosers(at place, s *keyed.Stream) map[string]keyed.Chooser {
	names := w.removal.partlyIn(at)
	if len(names) == 0 {
		return nil
	}
	r, op := w.removal.entries, &w.removal.src.Operators[at.op]
	r.mu.Lock()
	tell := !r.told[at]
	r.told[at] = true
	r.mu.Unlock()
	out := map[string]keyed.Chooser{}
	for name := range names {
		id := s.Header.State(name)
		if id < 0 {
			continue
		}
		c := &keyedChooser{
			asker: asker{w.removal.where, r, stateID{at.op, model.KindKeyed, name}, tell}, types: s.Header.Types(id, s.Layout, op.MaxParallelism),
			cell: cellKey{at, model.KindKeyed, name}, subtask: op.Subtasks[at.sub].Index, picks: normal(w.removal.picked[namedKey{at.op, name}][at.sub]),
		}
		c.decoder = keyed.NewDecoder([]keyed.Types{c.types}, whereLimits)
		out[name] = c.choose
	}
	return out
}

// keyedChooser chooses entries of a state in one stream.
type keyedChooser struct {
	asker
	types   keyed.Types
	decoder *keyed.Decoder
	cell    cellKey
	subtask int32
	picks   []metadata.Range // without a condition
}

func (c *keyedChooser) choose(n int64, x keyed.Entry) keyed.Choice {
	if c.tell {
		c.r.mu.Lock()
		c.r.totals[c.cell] = n + 1
		c.r.mu.Unlock()
	}
	picked := within(c.picks, n)
	if c.c == nil && !(picked && c.tell) {
		return keyed.Choice{Goes: picked}
	}
	x.State = 0
	f := c.decoder.Decode(x)
	e := model.Entry{Subtask: c.subtask, Index: n, Group: x.Group, Key: f.Key, Namespace: f.Namespace, MapKey: f.MapKey, Value: f.Value,
		LastAccess: f.LastAccess, TTL: f.TTL, Len: int64(len(x.Namespace)) + x.KeyLen + x.ValueLen}
	switch {
	case c.c == nil:
		c.r.note(c.stateID, &e, nil)
		return keyed.Choice{Goes: true}
	case c.types.Map && c.types.Layout == keyed.Heap:
		return c.ofMap(e, x.Value)
	}
	return keyed.Choice{Goes: c.goes(&e)}
}

// ofMap chooses entries of the map of a key. Where it cannot be taken apart it
// stays.
func (c *keyedChooser) ofMap(e model.Entry, value []byte) keyed.Choice {
	var left [][]byte
	var choice keyed.Choice
	err := c.types.MapParts(value, func(p keyed.MapPart) error {
		e.MapKey, e.Value, e.TTL = decoded(c.types.UserKey, p.Key), serde.Value{Form: serde.Null}, false
		if !p.Null {
			e.Value = decoded(c.types.Value, p.Value)
		}
		if e.Value.Form == serde.TTLValue {
			e.LastAccess, e.TTL, e.Value = e.Value.N, true, e.Value.Items[0]
		}
		if c.goes(&e) {
			choice.Parts++
		} else {
			left = append(left, p.Raw)
		}
		return nil
	})
	if err != nil {
		if c.tell {
			c.r.note(c.stateID, &e, err)
		}
		return keyed.Choice{}
	}
	if choice.Parts > 0 {
		choice.Goes, choice.Value = len(left) == 0, keyed.JoinMap(left)
	}
	return choice
}

// decoded is the value that fills b, or b with the reason why it cannot be
// decoded.
func decoded(t *serde.Snapshot, b []byte) serde.Value {
	v, left, err := serde.DecodeAll(t, b, whereLimits)
	if err == nil && left > 0 {
		err = fmt.Errorf("%d bytes are left behind the value", left)
	}
	if err != nil && (left > 0 || v.Form == serde.Missing) {
		return serde.Value{Form: serde.Opaque, Text: string(b), N: int64(len(b)), Why: decoder.Text(err.Error())}
	}
	return v
}
