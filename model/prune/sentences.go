package prune

import (
	"fmt"
	"sort"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/store"
)

// claim sets the claim mode to restore with and the sentence of DESIGN.md's
// table that applies. Every row was seen with real Flink (EDITS.md, "Copies").
func (w *work) claim(p *Plan) {
	f := w.traits
	legacy := p.MetadataVersion <= 3 // perhaps of a Flink without claim modes
	switch {
	case p.Copy == CopyReference && f.changelog:
		p.ClaimMode = "NO_CLAIM"
		p.ClaimSentence = "Restore it with NO_CLAIM by a job that has changelog switched off (Flink 1.18 and later). The source may go when that job has completed its first checkpoint. Never CLAIM: Flink would delete the source's files."
	case p.Copy == CopyReference:
		p.ClaimMode = "NO_CLAIM"
		p.ClaimSentence = "Restore it with NO_CLAIM (Flink 1.15 and later): the source may go when the new job has completed its first checkpoint. Never CLAIM: Flink would delete the source's files."
		if legacy {
			p.ClaimSentence += " Up to Flink 1.14, which has no claim modes, and with LEGACY: keep the source while incremental RocksDB or changelog checkpoints refer to it."
		}
	case f.changelog && w.layout.carried != nil:
		p.ClaimMode = "CLAIM"
		p.ClaimSentence = "Restore it with CLAIM (in 1.x LEGACY works too); a job with changelog cannot restore with NO_CLAIM. Base snapshot and changes are inside _metadata, so the copy may be moved."
	case f.changelog && !p.ChangelogOff:
		p.ClaimMode = "CLAIM"
		p.ClaimSentence = fmt.Sprintf("Restore it with CLAIM (in 1.x LEGACY works too); a job with changelog cannot restore with NO_CLAIM. The copy may not be moved: its changelog handles name %s by absolute path.", w.layout.absolute)
	case f.changelog:
		p.ClaimMode = "NO_CLAIM"
		p.ClaimSentence = "Restore it by a job that has changelog switched off (Flink 1.18 and later) with NO_CLAIM, or CLAIM where Flink shall delete the copy later. A job with changelog would run, but could not restore its own next checkpoints."
	default:
		p.ClaimMode = "NO_CLAIM"
		p.ClaimSentence = "Restore it with NO_CLAIM, or CLAIM where Flink shall delete the copy later; both are safe, and so is LEGACY in 1.x."
	}
	if p.Copy == CopyFull && f.incremental {
		p.ClaimSentence += " The first checkpoint uploads every RocksDB file again, so it costs as much as a full one."
	}
}

// describe fills what a person has to know: removals, claim mode, warnings,
// what Flink does, what is lost.
func (w *work) describe(p *Plan) {
	w.listRemoved(p)
	w.claim(p)
	w.headerWarnings(p)
	w.versionWarnings(p)
	w.flinkSentences(p)
	w.entrySentences(p)
}

// listRemoved puts what was marked before what goes along.
func (w *work) listRemoved(p *Plan) {
	var marked []Removed
	targets := p.targets
	if w.removal.where != nil {
		targets = nil
		for _, g := range p.targets {
			if g.Class == model.ClassOperator || g.Whole {
				targets = append(targets, w.chosenStates(g)...)
			} else {
				targets = append(targets, g)
			}
		}
	}
	for _, g := range targets {
		rm := Removed{Selector: g.Selector()}
		if w.removal.where != nil {
			n := w.chosenCount(g)
			rm.Entries = &n
		} else if n, ok := w.numberCount(g); ok {
			rm.Entries = &n
		} else if n := w.snap.Find(w.tree, g); n != model.None {
			w.measure(&rm, g, n)
		}
		rm.Headers = w.headerWord(p, g)
		marked = append(marked, rm)
	}
	p.Removed = append(append([]Removed{}, marked...), p.Removed...)
}

// measure fills entries and bytes of a marked node.
func (w *work) measure(rm *Removed, g model.Target, n model.Node) {
	if g.Entries != model.AllEntries {
		count := w.countEntries(g)
		bytes := 8 * count
		rm.Entries, rm.Bytes.Metadata = &count, &bytes
		return
	}
	z := w.tree.Sizes(n)
	rm.Entries = known(w.tree.Entries(n))
	if m, lower := z.Weight(model.LensMetadata); !lower {
		rm.Bytes.Metadata = known(m)
	}
	if z.Exclusive != model.Unknown && z.Shared != model.Unknown && z.UnknownFiles == 0 {
		rm.Bytes.Files = known(z.Exclusive + z.Shared)
	}
}

func known(n int64) *int64 {
	if n == model.Unknown {
		return nil
	}
	return &n
}

// countEntries is how many list elements a target names.
func (w *work) countEntries(g model.Target) int64 {
	n := int64(0)
	for k, rm := range w.removal.states {
		if w.removal.src.Operators[k.op].ID != g.Op || k.kind() != g.Kind || k.name != g.Name {
			continue
		}
		for sub, gone := range rm.entries {
			if g.Subtask >= 0 && w.removal.src.Operators[k.op].Subtasks[sub].Index != g.Subtask {
				continue
			}
			if g.Entries.First >= 0 {
				gone = []metadata.Range{metadata.Range(g.Entries)}
			} else {
				gone = rm.found[sub]
			}
			st := findState(operatorHandle(w.removal.src.Operators[k.op].Subtasks[sub].State, k.raw), k.name)
			n += st.Offsets.Len() - st.Offsets.Without(gone).Len()
		}
	}
	return n
}

// headerWord tells whether the headers of streams lose a name.
func (w *work) headerWord(p *Plan, g model.Target) string {
	if w.removal.where != nil {
		return ""
	}
	if g.Kind == model.KindKeyed && g.Class == model.ClassState && !g.Whole {
		return w.keyedHeaderWord(g)
	}
	if g.Class != model.ClassState || g.Kind != model.KindOperator || g.Entries != model.AllEntries {
		return ""
	}
	if p.KeepHeaders {
		return "kept"
	}
	for _, k := range w.kept {
		for _, name := range k.names {
			if w.removal.src.Operators[k.op].ID == g.Op && name == g.Name {
				return "kept"
			}
		}
	}
	return "dropped"
}

func (w *work) keyedHeaderWord(g model.Target) string {
	for k := range w.removal.named {
		if w.removal.src.Operators[k.op].ID != g.Op || k.name != g.Name || !w.removal.rewrites(k.op) {
			continue
		}
		if w.removal.cutNames[k.op] {
			return "kept"
		}
		return "dropped"
	}
	return ""
}

func (w *work) headerWarnings(p *Plan) {
	for op := range w.removal.src.Operators {
		if w.removal.cutNames[op] && w.removal.rewrites(op) {
			p.Warnings = append(p.Warnings, fmt.Sprintf("Keyed state of %s: header: kept. Values with no known ends stand behind what goes, so the names stay in the headers, without entries; their serializers must still load.", describe(&w.removal.src.Operators[op])))
		}
	}
	if p.KeepHeaders {
		for _, k := range w.completeStates() {
			p.Flink = append(p.Flink, fmt.Sprintf("%s: header: kept. Flink restores the name with no elements, writes it into every later snapshot, and its serializer must still load.", decoder.Text(k.name)))
		}
		return
	}
	for _, k := range w.kept {
		for _, name := range k.names {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s of %s: header: kept in %s (%v). Flink restores the empty name, and its serializer must still load.",
				decoder.Text(name), describe(&w.removal.src.Operators[k.op]), store.Redact(k.where), k.why))
		}
	}
}

// completeStates lists the states that no subtask keeps.
func (w *work) completeStates() []stateKey {
	var out []stateKey
	for k, rm := range w.removal.states {
		if rm.complete && !k.raw {
			out = append(out, k)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		return out[i].op < out[j].op || out[i].op == out[j].op && out[i].name < out[j].name
	})
	return out
}

func (w *work) versionWarnings(p *Plan) {
	if w.snap.Meta.Version == 2 && (p.Copy == CopyFull || p.Files.Rewritten > 0) && len(p.Write) > 0 {
		p.Warnings = append(p.Warnings, "Metadata version 2 (Flink 1.3 to 1.10): the copy names its files by relative paths, which Flink reads from 1.11 on.")
	}
	if p.Copy == CopyReference && w.snap.Options.SourceURI == "" && store.Scheme(w.snap.Dir) == "file" {
		p.Warnings = append(p.Warnings, fmt.Sprintf("The copy names the source's files as %s/…: Flink must find them there. Where Flink sees that directory under another URI, give --source-uri.", w.layout.locate.flink))
	}
	if p.Copy == CopyFull && w.layout.absolute != "" && store.Scheme(p.Destination) == "file" {
		p.Warnings = append(p.Warnings, fmt.Sprintf("Changelog handles name the copy's files as %s/…: Flink must find them there.", w.layout.absolute))
	}
}

// flinkSentences tells what Flink does with what is gone, and what is lost.
func (w *work) flinkSentences(p *Plan) {
	r := w.removal
	for i := range r.src.Operators {
		op := &r.src.Operators[i]
		if r.operators[i] {
			p.Flink = append(p.Flink, describe(op)+" starts without state; a job that lacks it restores without --allowNonRestoredState.")
			p.Losses = append(p.Losses, describe(op)+": all of its state.")
			continue
		}
		if n := w.subtasksGone(i); n > 0 {
			p.Losses = append(p.Losses, fmt.Sprintf("%s: all state of %d of its %d subtasks.", describe(op), n, len(op.Subtasks)))
		}
		if r.losesNames(i) || losesAny(r.keyed, i) {
			p.Losses = append(p.Losses, describe(op)+": the keyed state that goes; keys start without it.")
		}
		if losesAny(r.rawKeyed, i) {
			p.Losses = append(p.Losses, describe(op)+": raw keyed state; timers in it never fire.")
		}
	}
	if r.inFlight {
		p.Losses = append(p.Losses, fmt.Sprintf("All in-flight data: the records that were under way in %d channels are lost.", w.channelCount()))
	}
	for _, k := range w.completeStates() {
		p.Flink = append(p.Flink, fmt.Sprintf("%s of %s is gone; where the job still registers it, it starts empty.", decoder.Text(k.name), describe(&r.src.Operators[k.op])))
	}
	for i := range r.src.Masters {
		if r.masters[i] {
			p.Flink = append(p.Flink, "The hook "+decoder.Text(r.src.Masters[i].Name)+" is called without state.")
		}
	}
}

func (w *work) subtasksGone(op int) int {
	n := 0
	for at := range w.removal.subtasks {
		if at.op == op {
			n++
		}
	}
	return n
}

func losesAny(gone map[place]bool, op int) bool {
	for at := range gone {
		if at.op == op {
			return true
		}
	}
	return false
}

func (w *work) channelCount() int {
	n := 0
	for i := range w.removal.src.Operators {
		w.removal.eachSubtask(i, -1, func(_ place, s *metadata.SubtaskState) bool {
			n += s.Input.Len() + s.Output.Len()
			return false
		})
	}
	return n
}
