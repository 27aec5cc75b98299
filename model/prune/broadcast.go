package prune

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/opstate"
	"chkscope/decoder/serde"
	"chkscope/model"
)

// resolveMaps finds out which entries of broadcast states go. Every subtask holds
// the whole map, and at a restore a subtask may get the map of another: what is
// named in one goes in all, by its key.
func (w *work) resolveMaps(ctx context.Context, bad *refusals, p *Plan, keepHeaders bool) error {
	for _, k := range w.removal.stateKeys() {
		rm := w.removal.states[k]
		if len(rm.mapPicks) == 0 {
			continue
		}
		if keepHeaders {
			bad.add("keep-headers", w.removal.selector(k), "entries of a broadcast state go only by rewriting its streams, which --keep-headers rules out", "")
			continue
		}
		err := w.resolveMap(ctx, bad, p, k, rm)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, serde.ErrOpaque) {
			bad.add("broadcast-opaque", w.removal.selector(k), fmt.Sprintf("its entries cannot be told apart, as %s; the whole state can go", blocking(err)), "")
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (w *work) resolveMap(ctx context.Context, bad *refusals, p *Plan, k stateKey, rm *stateRemoval) error {
	keys, along := map[[16]byte]bool{}, int64(0)
	for sub, picks := range rm.mapPicks {
		hit := int64(0)
		picks = normal(picks)
		n, err := w.eachMapEntry(ctx, k, sub, func(e opstate.Entry, key [16]byte) {
			if within(picks, e.Index) {
				keys[key] = true
				hit++
			}
		})
		if err != nil {
			return err
		}
		w.removal.entries.totals[cellKey{place{k.op, sub}, k.kind(), k.name}] = n
		if along -= hit; hit == 0 {
			bad.add("unknown", w.removal.cellSelector(k, sub), fmt.Sprintf("it has %s, counted from 0", model.FormatPlural(n, "entry")), "")
		}
	}
	rm.maps = map[int][]metadata.Range{}
	for _, sub := range rm.holders {
		var gone []metadata.Range
		_, err := w.eachMapEntry(ctx, k, sub, func(e opstate.Entry, key [16]byte) {
			if keys[key] {
				gone = withIndex(gone, e.Index)
			}
		})
		if err != nil {
			return err
		}
		if len(gone) > 0 {
			rm.maps[sub] = gone
			along += count(gone)
			w.removal.entries.set(cellKey{place{k.op, sub}, k.kind(), k.name}, count(gone))
		}
	}
	// Of a state that a condition chooses of as a whole all are counted there.
	if along > 0 && len(rm.chosen) < len(rm.holders) {
		p.Removed = append(p.Removed, Removed{Selector: w.removal.selector(k), Entries: &along, Because: "each subtask holds the whole map: what goes in one goes in all"})
	}
	return w.sampleMap(ctx, k, rm)
}

// eachMapEntry gives the entries of a broadcast state in one subtask with a sum of
// the key's bytes, and how many there are.
func (w *work) eachMapEntry(ctx context.Context, k stateKey, sub int, f func(opstate.Entry, [16]byte)) (int64, error) {
	h := operatorHandle(w.removal.src.Operators[k.op].Subtasks[sub].State, k.raw)
	in, err := w.openSource(ctx, &h.Delegate)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	s, err := opstate.Open(in, w.snap.Meta.In, h.States)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(h.States, func(st metadata.OperatorState) bool { return st.Name == k.name })
	return s.Entries(i, 0, math.MaxInt64, func(e opstate.Entry) error {
		if e.Index&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if e.Err != nil {
			return &decoder.Error{File: in.Name(), Offset: e.Off, Path: fmt.Sprintf("state %s / entry %d", decoder.Text(k.name), e.Index), Expected: "its key or value", Found: e.Err.Error(), Err: e.Err}
		}
		sum := sha256.Sum256(e.Key)
		f(e, [16]byte(sum[:16]))
		return nil
	})
}

// sampleMap takes samples of entries that were picked by their numbers.
func (w *work) sampleMap(ctx context.Context, k stateKey, rm *stateRemoval) error {
	if w.removal.where != nil {
		return nil // they were taken when it was asked
	}
	id := stateID{k.op, k.kind(), k.name}
	for _, sub := range rm.holders {
		cell := w.snap.Find(w.tree, w.cellTarget(k, sub))
		if len(rm.maps[sub]) == 0 || cell == model.None {
			continue
		}
		for _, r := range rm.maps[sub] {
			values, err := w.snap.ElementValues(ctx, w.tree, cell, r.First, int(min(r.Last-r.First+1, samplesKept)), whereLimits)
			if err != nil {
				return err
			}
			for _, v := range values {
				w.removal.entries.note(id, &model.Entry{MapKey: v.Key, Value: v.Value}, nil)
			}
			if len(w.removal.entries.samples[id]) >= samplesKept {
				break
			}
		}
		return nil
	}
	return nil
}
