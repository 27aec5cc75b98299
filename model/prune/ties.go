package prune

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
)

// Removals that belong together, and those that Flink takes amiss: DESIGN.md,
// section 6. Each was seen with real Flink (EDITS.md, "Removals in part").

// readerState is the operator state in which a source's readers keep splits.
const readerState = "SourceReaderState"

// tie adds what has to go along, and refuses what must not go, or not alone.
func (w *work) tie(ctx context.Context, p *Plan, req Request) error {
	var bad refusals
	if err := w.resolveWhere(ctx); err != nil {
		return err
	}
	if err := w.resolveMaps(ctx, &bad, p, req.KeepHeaders); err != nil {
		return err
	}
	w.tieInFlight(p)
	if err := w.resolveNamed(ctx, &bad, req.KeepHeaders); err != nil {
		return err
	}
	w.relatedTimers(ctx, p)
	if err := w.tieTimers(ctx, p); err != nil {
		return err
	}
	w.tieFinished(&bad, p)
	w.tieParts(&bad, p)
	for op := range w.snap.Meta.Operators {
		if err := w.tieKafka(ctx, &bad, p, op); err != nil {
			return err
		}
		w.tieSource(&bad, p, op, req.AcceptLoss)
	}
	if err := w.checkElements(&bad); err != nil {
		return err
	}
	if err := bad.err(); err != nil {
		return err
	}
	if err := w.nothingChosen(); err != nil {
		return err
	}
	return w.duplicates(ctx)
}

// tieInFlight: in-flight data goes as a whole or not at all. An operator or a
// subtask that holds some takes it all along.
func (w *work) tieInFlight(p *Plan) {
	r := w.removal
	because := ""
	for op := range r.src.Operators {
		r.eachSubtask(op, -1, func(at place, s *metadata.SubtaskState) bool {
			if hasChannels(s) && r.gone(at) && !r.inFlight {
				r.inFlight = true
				because = fmt.Sprintf("%s holds in-flight data, and one side of a channel alone cuts records in the middle", describe(&r.src.Operators[op]))
			}
			return false
		})
	}
	if because != "" {
		p.Removed = append(p.Removed, Removed{Selector: "*/in-flight", Because: because})
	}
}

// tieTimers: raw keyed timers go with the managed keyed state of their
// operator; left alone they would fire on empty state.
func (w *work) tieTimers(ctx context.Context, p *Plan) error {
	r := w.removal
	along := map[int]bool{}
	for at := range r.keyed {
		s := r.src.Operators[at.op].Subtasks[at.sub].State
		if s.RawKeyed == nil || r.rawKeyed[at] {
			continue
		}
		timers, err := w.holdsTimers(ctx, s.RawKeyed)
		if err != nil {
			p.Warnings = append(p.Warnings, fmt.Sprintf("raw keyed state of %s cannot be read (%v); it goes along as timers do", describe(&r.src.Operators[at.op]), err))
		} else if !timers {
			p.Warnings = append(p.Warnings, fmt.Sprintf("raw keyed state of %s is not timers and stays", describe(&r.src.Operators[at.op])))
			continue
		}
		r.rawKeyed[at], along[at.op] = true, true
	}
	for _, op := range slices.Sorted(maps.Keys(along)) {
		g := model.Target{Class: model.ClassState, Op: r.src.Operators[op].ID, Kind: model.KindRawKeyed, Whole: true, Subtask: -1, Entries: model.AllEntries}
		p.Removed = append(p.Removed, Removed{Selector: g.Selector(), Because: "timers would fire on empty state"})
	}
	return nil
}

// tieFinished: all operators of a job vertex must agree on what is finished.
func (w *work) tieFinished(bad *refusals, p *Plan) {
	r := w.removal
	gone, stay := 0, 0
	for i := range r.src.Operators {
		if model.FinishedWord(&r.src.Operators[i]) == "none" {
			continue
		}
		if r.operators[i] {
			gone++
		} else {
			stay++
		}
	}
	if gone == 0 {
		return
	}
	if stay == 0 {
		p.Flink = append(p.Flink, "All operators with finished subtasks go: their vertices run again, sources from their start.")
		return
	}
	for i := range r.src.Operators {
		if op := &r.src.Operators[i]; r.operators[i] && model.FinishedWord(op) != "none" {
			bad.add("finished", op.ID.String(), "it has finished subtasks; without it Flink does not start the job (\"mixed operator finished state\"), as the other operators of its vertex keep theirs. Its single states may go", "")
		}
	}
}

// tieParts: broadcast and union states in some subtasks only.
func (w *work) tieParts(bad *refusals, p *Plan) {
	r := w.removal
	for op := range r.src.Operators {
		if r.operators[op] {
			continue
		}
		for _, raw := range []bool{false, true} {
			for _, k := range w.statesOf(op, raw) {
				w.tieState(bad, p, k)
			}
		}
	}
}

// statesOf lists the named states of an operator that a removal touches: those
// marked, and those in a subtask that goes.
func (w *work) statesOf(op int, raw bool) []stateKey {
	r := w.removal
	names := map[string]bool{}
	for k := range r.states {
		if k.op == op && k.raw == raw {
			names[k.name] = true
		}
	}
	r.eachSubtask(op, -1, func(at place, s *metadata.SubtaskState) bool {
		if h := operatorHandle(s, raw); h != nil && r.subtasks[at] {
			for i := range h.States {
				names[h.States[i].Name] = true
			}
		}
		return false
	})
	var out []stateKey
	for _, n := range slices.Sorted(maps.Keys(names)) {
		out = append(out, stateKey{op, raw, n})
	}
	return out
}

func (w *work) tieState(bad *refusals, p *Plan, k stateKey) {
	r := w.removal
	mode, gone, stay, inPart := byte(metadata.ModeSplit), 0, 0, false
	r.eachSubtask(k.op, -1, func(at place, s *metadata.SubtaskState) bool {
		e := findState(operatorHandle(s, k.raw), k.name)
		if e == nil {
			return false
		}
		mode = e.Mode
		rm := r.states[k]
		switch {
		case r.subtasks[at] || rm != nil && rm.whole[at.sub]:
			gone++
		default:
			stay++
			inPart = inPart || rm != nil && (len(rm.entries[at.sub]) > 0 || rm.duplicates[at.sub])
		}
		return false
	})
	rm := r.states[k]
	switch {
	case mode == metadata.ModeBroadcast && inPart:
		bad.add("broadcast-entries", r.selector(k), "a broadcast state has no duplicates: every subtask holds the whole map", "")
	case mode == metadata.ModeBroadcast && gone > 0 && stay > 0:
		bad.add("broadcast-in-part", r.selector(k), "a broadcast state dropped in some subtasks only comes back at the restore: every subtask gets the map of another. Drop it in all subtasks", "")
	case rm != nil && len(rm.duplicates) > 0 && mode != metadata.ModeUnion:
		bad.add("duplicates-of-split", r.selector(k), "duplicates are removed of union states only; equal elements of a split list may be real", "")
	case mode == metadata.ModeUnion && gone > 0 && stay > 0:
		p.Flink = append(p.Flink, fmt.Sprintf("%s is a union state: at the restore every subtask gets what is left of all subtasks' lists, also those whose own list goes.", decoder.Text(k.name)))
	}
}

// tieSource: a source's coordinator and the splits of its readers, where tieKafka
// does not take both along.
func (w *work) tieSource(bad *refusals, p *Plan, op int, accept bool) {
	r := w.removal
	src := &r.src.Operators[op]
	if r.operators[op] || r.kafka[op] != nil {
		return
	}
	k := stateKey{op, false, readerState}
	rm := r.states[k]
	splits, goes, stays := false, false, false
	r.eachSubtask(op, -1, func(at place, s *metadata.SubtaskState) bool {
		e := findState(s.ManagedOperator, readerState)
		if e == nil || e.Offsets.Len() == 0 {
			return false
		}
		splits = true
		switch {
		case r.subtasks[at] || rm != nil && rm.whole[at.sub]:
			goes = true
		case rm != nil && (len(rm.entries[at.sub]) > 0 || rm.duplicates[at.sub]):
			goes, stays = true, true
		default:
			stays = true
		}
		return false
	})
	var rule, sentence, selector string
	switch {
	case r.coordinators[op] && splits && stays:
		rule, selector = "coordinator-alone", src.ID.String()+"/coordinator"
		sentence = "the enumerator starts anew and may hand out every split again while the readers go on with theirs: data is read twice"
	case goes && src.Coordinator != nil && !r.coordinators[op]:
		rule, selector = "reader-alone", r.selector(k)
		sentence = "the coordinator believes that these splits are assigned: they are never read, and nothing says so. Drop the coordinator state too, and the source starts from its configured beginning"
	case r.coordinators[op] && goes:
		p.Flink = append(p.Flink, describe(src)+": reader state and coordinator state both go, so the source starts from its configured beginning.")
		return
	case r.coordinators[op]:
		p.Losses = append(p.Losses, describe(src)+": its coordinator starts anew, without what it knew.")
		return
	default:
		return
	}
	if !accept {
		bad.add(rule, selector, sentence, "--accept-loss")
		return
	}
	p.Losses = append(p.Losses, fmt.Sprintf("%s: %s.", describe(src), sentence))
}

const brokenSentence = "its elements all have the same offset (Flink 1.18 with snapshot compression): single ones cannot go, the whole state can"

// checkElements refuses to drop single elements of streams in which every
// element has the same offset (compressed by Flink 1.18.0 and 1.18.1).
func (w *work) checkElements(bad *refusals) error {
	for k, rm := range w.removal.states {
		for _, sub := range rm.holders {
			if len(rm.entries[sub]) == 0 && !rm.duplicates[sub] {
				continue
			}
			st := findState(operatorHandle(w.removal.src.Operators[k.op].Subtasks[sub].State, k.raw), k.name)
			if st.Offsets.Len() < 2 {
				continue
			}
			var first [2]int64
			if _, err := st.Offsets.Read(w.snap.Meta.In, 0, first[:]); err != nil {
				return err
			}
			if first[0] == first[1] {
				bad.add("broken-compression", w.removal.cellSelector(k, sub), brokenSentence, "")
			}
		}
	}
	return nil
}
