package prune

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/keyed"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
	"chkscope/model"
)

// namedKey is a named keyed state of an operator.
type namedKey struct {
	op   int
	name string
}

// resolveNamed reads the headers of operators of which named keyed states, or
// entries of them, go. Where no other name is in a stream, its whole handle goes;
// what cannot be taken out is a refusal.
func (w *work) resolveNamed(ctx context.Context, bad *refusals, keepHeaders bool) error {
	ops := map[int]bool{}
	for k := range w.removal.named {
		ops[k.op] = true
	}
	for k := range w.removal.picked {
		ops[k.op] = true
	}
	for k := range w.removal.chosen {
		ops[k.op] = true
	}
	for at := range w.removal.allKeyed {
		ops[at.op] = true
	}
	for _, op := range slices.Sorted(maps.Keys(ops)) {
		if err := w.resolveNamedOf(ctx, bad, op, keepHeaders); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) resolveNamedOf(ctx context.Context, bad *refusals, op int, keepHeaders bool) error {
	r := w.removal
	found := map[string]bool{}
	var tries []place // heap streams that are to be rewritten
	for _, sub := range r.keyedSubs(op) {
		at := place{op, sub}
		h, err := w.keyedNames(ctx, r.src.Operators[op].Subtasks[sub].State.ManagedKeyed)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			bad.add("unreadable", r.src.Operators[op].ID.String()+"/keyed", fmt.Sprintf("the header of its keyed state cannot be read: %v", err), "")
			return nil
		}
		w.chooseNames(at, h)
		gone, partly := r.namedIn(at), r.partlyIn(at)
		hit := slices.DeleteFunc(slices.Clone(h.names), func(n string) bool { return !gone[n] })
		parts := slices.DeleteFunc(slices.Clone(h.names), func(n string) bool { return !partly[n] })
		for _, n := range append(slices.Clone(hit), parts...) {
			found[n] = true
		}
		switch {
		case len(hit)+len(parts) == 0:
		case len(hit) == len(h.names) && h.all:
			r.keyed[at] = true
		case h.rule != "":
			for _, n := range hit {
				bad.add(h.rule+"-name", r.namedSelector(namedKey{op, n}), "a named state "+h.why, "")
			}
			for _, n := range parts {
				bad.add(h.rule+"-entries", r.namedSelector(namedKey{op, n}), "single entries "+h.why, "")
			}
		case keepHeaders:
			bad.add("keep-headers", r.namedSelector(namedKey{op, append(hit, parts...)[0]}), "a named keyed state, or entries of it, go only by rewriting its streams, which --keep-headers rules out", "")
		default:
			r.rewriteKeyed[at] = true
			if h.try || len(parts) > 0 {
				tries = append(tries, at)
			}
		}
	}
	w.checkNamed(bad, op, found)
	return w.tryKeyed(ctx, bad, op, tries)
}

// tryKeyed rewrites streams of an operator to nowhere. Of heap streams only that
// tells whether every value in front of what changes has a known end: where the
// names cannot be dropped they may still be emptied, so that no id behind them
// changes. Of all it tells how many entries go.
func (w *work) tryKeyed(ctx context.Context, bad *refusals, op int, tries []place) error {
	var why error
	for _, cut := range []bool{false, true} {
		if cut && !w.removal.losesNames(op) {
			break
		}
		w.removal.cutNames[op] = cut
		why = each(ctx, tries, func(ctx context.Context, at place) error {
			_, err := w.rewriteKeyedTo(ctx, at, io.Discard)
			return err
		})
		if !errors.Is(why, serde.ErrOpaque) {
			break
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if why == nil {
		w.checkNumbers(bad, op)
		w.leaveUnchosen(tries)
		return nil
	}
	rule, sentence := "unreadable", fmt.Sprintf("its keyed state cannot be read: %v", why)
	if errors.Is(why, serde.ErrOpaque) {
		rule, sentence = "heap-name", fmt.Sprintf("a heap snapshot records no lengths, and %s: what is behind it cannot be told apart; drop the operator's keyed state as a whole", blocking(why))
	}
	for _, selector := range w.removal.keyedSelectors(op) {
		bad.add(rule, selector, sentence, "")
	}
	return nil
}

// blocking tells which value has no known end.
func blocking(err error) string {
	if d := (*decoder.Error)(nil); errors.As(err, &d) {
		return fmt.Sprintf("nothing tells the end of %s (%s; %s at %d)", d.Expected, d.Found, d.Path, d.Offset)
	}
	return err.Error()
}

// checkNamed refuses names that no stream has, and those that would be
// rewritten in some subtasks only.
func (w *work) checkNamed(bad *refusals, op int, found map[string]bool) {
	r := w.removal
	for _, sub := range r.keyedSubs(op) {
		for name := range r.partlyIn(place{op, sub}) {
			if !found[name] {
				bad.add("unknown", r.namedSelector(namedKey{op, name}), "no stream of the operator has a keyed state of this name", "")
			}
		}
	}
	for k, subs := range r.named {
		if k.op != op {
			continue
		}
		all := r.keyedSubs(op)
		if !found[k.name] && len(subs) == len(all) {
			bad.add("unknown", r.namedSelector(k), "no stream of the operator has a keyed state of this name", "")
			continue
		}
		for _, sub := range all {
			if (r.losesNames(op) || !found[k.name]) && !subs[sub] {
				bad.add("keyed-in-part", r.namedSelector(k), "a named keyed state goes in all subtasks or in none", "")
			}
		}
	}
}

func (r *removal) namedSelector(k namedKey) string {
	return model.StateTarget(r.src.Operators[k.op].ID, model.KindKeyed, k.name).Selector()
}

// namedIn are the names that go in one subtask.
func (r *removal) namedIn(at place) map[string]bool {
	out := map[string]bool{}
	for k, subs := range r.named {
		if k.op == at.op && subs[at.sub] {
			out[k.name] = true
		}
	}
	return out
}

// losesNames tells whether streams of an operator are rewritten without names.
func (r *removal) losesNames(op int) bool {
	for at := range r.rewriteKeyed {
		if at.op == op && len(r.namedIn(at)) > 0 {
			return true
		}
	}
	return false
}

// rewrites tells whether keyed streams of an operator are rewritten.
func (r *removal) rewrites(op int) bool {
	for at := range r.rewriteKeyed {
		if at.op == op {
			return true
		}
	}
	return false
}

// keyedSubs are the subtasks that keep managed keyed state, or lose names of it.
func (r *removal) keyedSubs(op int) []int {
	var out []int
	r.eachSubtask(op, -1, func(at place, s *metadata.SubtaskState) bool {
		if s.ManagedKeyed != nil && !r.gone(at) && !r.keyed[at] {
			out = append(out, at.sub)
		}
		return false
	})
	return out
}

// keyedHeader is the names in a keyed handle's stream.
type keyedHeader struct {
	names []string
	all   bool // there are no others
	try   bool // only rewriting tells whether a name can go
	// rule and why tell, where not "", that no single name or entry can go; why
	// follows upon what that is.
	rule, why string
}

func (w *work) keyedNames(ctx context.Context, h *metadata.KeyedHandle) (keyedHeader, error) {
	out := keyedHeader{all: true}
	out.rule, out.why = keyedNameRefusal(h)
	switch {
	case h.Groups != nil:
		in, err := w.openSource(ctx, &h.Groups.Stream)
		if err != nil {
			return out, err
		}
		defer in.Close()
		s, err := w.snap.ReadKeyed(in, h)
		if err != nil {
			return out, err
		}
		out.try = s.Layout == keyed.Heap && !s.Header.Compressed && !certain(s.Header)
		out.names = namesOf(s.Header)
	case h.Incr != nil:
		in, err := w.openSource(ctx, &h.Incr.Meta)
		if err != nil {
			return out, err
		}
		defer in.Close()
		header, err := keyed.ParseHeader(in, in.Size(), nil)
		if err != nil {
			return out, err
		}
		out.names = namesOf(header)
	case h.Changelog != nil:
		out.all = false // the changes may tell of more
		for i := range h.Changelog.Materialized {
			below, err := w.keyedNames(ctx, &h.Changelog.Materialized[i])
			if err != nil {
				return out, err
			}
			out.names = append(out.names, below.names...)
		}
	}
	return out, nil
}

func namesOf(h *keyed.Header) []string {
	var out []string
	for i := range h.States {
		out = append(out, h.States[i].Name)
	}
	return out
}

// certain tells whether all values behind a header have known ends.
func certain(h *keyed.Header) bool {
	if !serde.Certain(h.Key) {
		return false
	}
	for i := range h.States {
		for _, k := range h.States[i].Serializers {
			if !serde.Certain(k.Type) {
				return false
			}
		}
	}
	return true
}

// keyedNameRefusal tells why a part of what is inside a keyed handle cannot go, as
// far as the handle's type tells: a word for the rule, and what follows upon the
// part.
func keyedNameRefusal(h *metadata.KeyedHandle) (rule, why string) {
	switch {
	case h.Incr != nil:
		return "rocksdb", "inside RocksDB's files cannot go alone; drop the operator's keyed state as a whole"
	case h.Changelog != nil, h.Inline != nil, h.Files != nil:
		return "changelog", "inside changelog handles cannot go alone: base snapshot and changes belong together; drop the operator's keyed state as a whole"
	}
	return "", ""
}

// keyedEdit is what goes of a keyed stream.
func (w *work) keyedEdit(at place, s *keyed.Stream) keyed.Edit {
	r := w.removal
	names, entries := slices.Sorted(maps.Keys(r.namedIn(at))), w.choosers(at, s)
	if r.cutNames[at.op] {
		return keyed.Edit{Cut: names, Entries: entries}
	}
	return keyed.Edit{Drop: names, Entries: entries}
}

// rewriteKeyedTo writes a keyed stream of the source without what goes.
func (w *work) rewriteKeyedTo(ctx context.Context, at place, to io.Writer) (*keyed.Rewritten, error) {
	src := w.removal.src.Operators[at.op].Subtasks[at.sub].State.ManagedKeyed
	in, err := w.openSource(ctx, innerStream(&src.Groups.Stream))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	s, err := w.snap.ReadKeyed(in, src)
	if err != nil {
		return nil, err
	}
	s.MaxParallelism = w.removal.src.Operators[at.op].MaxParallelism
	res, err := s.Rewrite(&cancelled{ctx, to}, w.keyedEdit(at, s))
	if err == nil {
		w.removal.noteRemoved(at, s, res)
	}
	return res, err
}

// rewriteKeyedStreams takes named states and entries out of keyed streams.
func (w *work) rewriteKeyedStreams(ctx context.Context) error {
	for i, from := range w.out.from {
		for k, sub := range from.subs {
			if at := (place{from.op, sub}); w.removal.rewriteKeyed[at] {
				src := w.removal.src.Operators[from.op].Subtasks[sub].State.ManagedKeyed
				if err := w.rewriteKeyedStream(ctx, at, src, w.out.Operators[i].Subtasks[k].State.ManagedKeyed); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *work) rewriteKeyedStream(ctx context.Context, at place, src, out *metadata.KeyedHandle) error {
	stream, inner := &out.Groups.Stream, innerStream(&src.Groups.Stream)
	write := func(ctx context.Context, to io.Writer) (int64, error) {
		res, err := w.rewriteKeyedTo(ctx, at, to)
		if err != nil {
			return 0, err
		}
		out.Groups.Offsets, stream.Size = res.Offsets, res.Size
		return res.Size, nil
	}
	if out.HandleID != "" {
		out.HandleID = derivedID(out.HandleID, w.removal.keyedKey(at))
	}
	if p, isFile := w.layout.locate.part(inner); isFile {
		job := &rewriteJob{part: p, name: w.layout.names.name(partName(p)), size: -1, write: write}
		*stream = metadata.StreamHandle{Type: metadata.TypeRelativeFile, Name: job.name, Size: job.atMost()}
		w.layout.fresh[stream] = true
		w.rewrites = append(w.rewrites, job)
		return nil
	}
	if inner.Type != metadata.TypeByteStream {
		return errors.New("a keyed handle without a stream")
	}
	*stream = cloneStream(*inner)
	var b bytes.Buffer
	if _, err := write(ctx, &b); err != nil {
		return err
	}
	stream.Data.New = b.Bytes()
	return nil
}

// innerStream is the handle inside nested key-groups handles.
func innerStream(h *metadata.StreamHandle) *metadata.StreamHandle {
	for h.Type == metadata.TypeKeyGroups && h.Keyed != nil {
		h = &h.Keyed.Stream
	}
	return h
}

// derivedID is a new id for a handle that was changed, in the form of a UUID: two
// unequal handles under one id fail in Flink 1.18 and later. The same plan gives
// the same id.
func derivedID(old string, drop []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%q", old, drop)
	b := h.Sum(nil)[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// cancelled is a writer that fails once ctx is cancelled.
type cancelled struct {
	ctx context.Context
	w   io.Writer
}

func (c *cancelled) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// relatedTimers tells of the timer queues of operators of which other keyed
// states go: their timers may fire on keys whose state is gone.
func (w *work) relatedTimers(ctx context.Context, p *Plan) {
	for op := range w.removal.src.Operators {
		subs := w.removal.keyedSubs(op)
		if !w.removal.rewrites(op) || len(subs) == 0 {
			continue
		}
		h, err := w.keyedNames(ctx, w.removal.src.Operators[op].Subtasks[subs[0]].State.ManagedKeyed)
		if err != nil {
			continue // the rewrite reads it again and tells
		}
		gone, partly := w.removal.namedIn(place{op, subs[0]}), w.removal.partlyIn(place{op, subs[0]})
		for _, n := range h.names {
			if strings.HasPrefix(n, "_timer_state/") && !gone[n] && !partly[n] {
				p.Flink = append(p.Flink, fmt.Sprintf("Timers in %s of %s stay; they may fire on keys whose state is gone.", decoder.Text(n), describe(&w.removal.src.Operators[op])))
			}
		}
	}
}
