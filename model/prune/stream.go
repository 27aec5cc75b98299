package prune

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/opstate"
	"chkscope/decoder/serde"
	"chkscope/model"
)

// rewriteJob is a state stream that is written anew, into a file of the copy.
type rewriteJob struct {
	part part   // of the source
	name string // in the copy
	size int64  // of the new file; -1: known when it is written
	// write writes the new stream to w, brings offsets and size in the structures
	// up to date and gives the size. Where the file is there already it is called
	// to write to nowhere.
	write func(ctx context.Context, w io.Writer) (int64, error)
}

// atMost is the size of the new file, or that of the source where it is not
// known yet.
func (j *rewriteJob) atMost() int64 {
	if j.size >= 0 {
		return j.size
	}
	return max(j.part.size, 0)
}

// keptHeader is a stream whose header keeps the names that go, and why.
type keptHeader struct {
	op    int
	names []string
	where string
	why   error
}

// operatorStream is a stream of managed operator state, with every handle that
// names it.
type operatorStream struct {
	key     string
	source  *metadata.StreamHandle
	part    part // of a file
	inline  bool
	op      int
	handles []streamUse
	drop    []string
	repair  bool // written anew also where nothing of it goes (see brokenStream)
	maps    bool // entries of its broadcast states go

	stream *opstate.Stream
	hit    []string // names of drop that its header has
}

// streamView is a stream of the source as seen by one of its handles: that
// handle's states begin at first.
type streamView struct {
	stream *opstate.Stream
	first  int
}

// streamUse is a handle in the source and the same in the copy.
type streamUse struct {
	src, out *metadata.OperatorHandle
	sub      int
	owner    **metadata.OperatorHandle // where out stands
}

// rewriteStreams takes the names that go completely out of the streams that
// have them in their headers.
func (w *work) rewriteStreams(ctx context.Context, keep bool) error {
	streams := w.operatorStreams()
	if keep {
		return w.checkKept(streams)
	}
	var mu sync.Mutex
	var broken []error
	var bad refusals
	done := make([]*rewriteJob, len(streams))
	index := make([]int, len(streams))
	for i := range index {
		index[i] = i
	}
	err := each(ctx, index, func(ctx context.Context, i int) error {
		s := streams[i]
		job, err := w.rewriteStream(ctx, s)
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case s.repair:
				broken = append(broken, fmt.Errorf("%s: %w", s.key, err))
			case s.maps:
				bad.add("broadcast-opaque", w.snap.Meta.Operators[s.op].ID.String()+"/operator", fmt.Sprintf("its stream cannot be written without entries of a broadcast state: %v", err), "")
			default:
				w.kept = append(w.kept, keptHeader{s.op, s.drop, s.key, err})
			}
		}
		done[i] = job
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if len(broken) > 0 {
		bad.add("broken-compression", "", fmt.Sprintf("%d streams of operator state were written by Flink 1.18 with snapshot compression and one offset for all elements, and cannot be repaired: %v. Remove the states of that operator", len(broken), broken[0]), "")
	}
	if err := bad.err(); err != nil {
		return err
	}
	slices.SortFunc(w.kept, func(a, b keptHeader) int { return bytes.Compare([]byte(a.where), []byte(b.where)) })
	for i, job := range done {
		if s := streams[i]; s.stream != nil {
			first := 0
			for _, u := range s.handles {
				w.views[&u.src.Delegate] = streamView{s.stream, first}
				first += len(u.src.States)
			}
		}
		if job != nil {
			job.name = w.layout.names.name(partName(job.part))
			w.adopt(streams[i], job)
		}
	}
	return w.checkHeaderOnly(streams)
}

// checkKept refuses to leave broken streams as they are, where no state file may
// change: Flink does not restore them.
func (w *work) checkKept(streams []*operatorStream) error {
	var bad refusals
	for _, s := range streams {
		if s.repair {
			bad.add("broken-compression", w.snap.Meta.Operators[s.op].ID.String()+"/operator", "Flink 1.18 wrote it with snapshot compression and one offset for all elements: it restores only when its stream is written anew, which --keep-headers rules out", "")
			break
		}
	}
	if err := bad.err(); err != nil {
		return err
	}
	return w.checkHeaderOnly(nil)
}

// checkHeaderOnly refuses names that no offsets map has and no header either.
func (w *work) checkHeaderOnly(streams []*operatorStream) error {
	found := map[stateKey]bool{}
	for _, s := range streams {
		for _, n := range s.hit {
			found[stateKey{s.op, false, n}] = true
		}
	}
	var bad refusals
	for k, rm := range w.removal.states {
		if rm.nowhere && !found[k] {
			bad.add("unknown", w.removal.selector(k), "no subtask has a state of this name, and no header of a stream that is rewritten", "")
		}
	}
	return bad.err()
}

// operatorStreams lists the streams of operators of which names go completely.
func (w *work) operatorStreams() []*operatorStream {
	names := map[int][]string{}
	for k, rm := range w.removal.states {
		if rm.complete && !k.raw {
			names[k.op] = append(names[k.op], k.name)
		}
	}
	var list []*operatorStream
	byKey := map[string]*operatorStream{}
	for i, from := range w.out.from {
		drop := names[from.op]
		slices.Sort(drop)
		for k, sub := range from.subs {
			src, out := w.removal.src.Operators[from.op].Subtasks[sub].State, w.out.Operators[i].Subtasks[k].State
			if out == nil || src.ManagedOperator == nil || out.ManagedOperator == nil || out.ManagedOperator.Delegate.Type == metadata.TypeEmptySegment {
				continue
			}
			repair := w.brokenStream(from.op, sub, src.ManagedOperator)
			maps := w.removal.losesMapEntries(place{from.op, sub})
			if len(drop) == 0 && !repair && !maps {
				continue
			}
			s := w.operatorStream(from.op, src.ManagedOperator)
			if known := byKey[s.key]; known != nil && known.op == s.op {
				s = known
			} else {
				byKey[s.key] = s
				list = append(list, s)
			}
			s.drop, s.repair, s.maps = drop, s.repair || repair, s.maps || maps
			s.handles = append(s.handles, streamUse{src.ManagedOperator, out.ManagedOperator, sub, &out.ManagedOperator})
		}
	}
	return list
}

// losesMapEntries tells whether entries of broadcast states go in a subtask.
func (r *removal) losesMapEntries(at place) bool {
	for k, rm := range r.states {
		if k.op == at.op && len(rm.maps[at.sub]) > 0 && !rm.whole[at.sub] {
			return true
		}
	}
	return false
}

// brokenStream: a stream of Flink 1.18.0 or 1.18.1 with snapshot compression,
// in which the elements of a list have one offset. Its own Flink cannot restore
// it and a later one makes every element the first, so that a copy as it is
// would be no copy: it is written anew, split by the serializers.
func (w *work) brokenStream(op, sub int, h *metadata.OperatorHandle) bool {
	return w.snap.Compressed(op, sub) && slices.ContainsFunc(h.States, w.snap.SameOffsets)
}

func (w *work) operatorStream(op int, h *metadata.OperatorHandle) *operatorStream {
	s := &operatorStream{op: op, source: &h.Delegate}
	p, isFile := w.layout.locate.part(&h.Delegate)
	if isFile {
		s.part, s.key = p, p.key
	} else {
		s.inline = true
		s.key = fmt.Sprintf("inline %s at %d", decoder.Text(h.Delegate.Name), h.Delegate.Data.Span.Off)
	}
	return s
}

// rewriteStream rewrites an inline stream at once and gives the job for a file;
// neither where the header has none of the names. An error leaves the stream as
// it is.
func (w *work) rewriteStream(ctx context.Context, s *operatorStream) (*rewriteJob, error) {
	in, err := w.openSource(ctx, s.source)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var states []metadata.OperatorState
	named := false // a name is left in the copy's offsets maps
	for _, u := range s.handles {
		states = append(states, u.src.States...)
		named = named || len(u.out.States) > 0
	}
	if s.stream, err = opstate.Open(in, w.snap.Meta.In, states); err != nil {
		return nil, err
	}
	header := s.stream.Header
	s.hit = slices.DeleteFunc(slices.Clone(s.drop), func(n string) bool { return header.State(n) == nil })
	records := slices.DeleteFunc(slices.Clone(header.States), func(m serde.StateMeta) bool { return slices.Contains(s.drop, m.Name) })
	switch {
	case s.maps && len(s.handles) > 1:
		return nil, errors.New("several handles name it")
	case len(records) == len(header.States) && !s.repair && !s.maps:
		return nil, nil
	case len(records) == 0 && !named:
		s.release()
		return nil, nil
	case s.inline:
		return nil, s.rewriteInline(in, w.removal)
	}
	size, err := s.newSize(w.removal)
	if err != nil {
		return nil, err
	}
	return &rewriteJob{part: s.part, size: size, write: func(ctx context.Context, out io.Writer) (int64, error) {
		in, err := w.openSource(ctx, s.source)
		if err != nil {
			return 0, err
		}
		defer in.Close()
		n, err := s.write(in, &cancelled{ctx, out}, w.removal)
		for _, u := range s.handles {
			u.out.Delegate.Size = n
		}
		return n, err
	}}, nil
}

// rewriteInline rewrites a stream that is inside `_metadata`.
func (s *operatorStream) rewriteInline(in decoder.Input, r *removal) error {
	var b bytes.Buffer
	if _, err := s.write(in, &b, r); err != nil {
		return err
	}
	for _, u := range s.handles {
		u.out.Delegate.Data.New, u.out.Delegate.Size = b.Bytes(), int64(b.Len())
	}
	return nil
}

// release drops the handles of a stream in which no name is left.
func (s *operatorStream) release() {
	for _, u := range s.handles {
		if u.out.Type == metadata.TypeFileMergingOperator {
			u.out.EmptyByte, u.out.States = 1, nil
			u.out.Delegate = metadata.StreamHandle{Type: metadata.TypeEmptySegment}
			continue
		}
		*u.owner = nil
	}
}

// edit is what goes of the stream, given what goes of the checkpoint.
func (s *operatorStream) edit(r *removal) opstate.Edit {
	e := opstate.Edit{Drop: s.drop, Elements: map[string][]metadata.Range{}, Entries: map[string][]metadata.Range{}}
	if len(s.handles) > 1 {
		return e
	}
	for k, rm := range r.states {
		if k.op != s.op || k.raw {
			continue
		}
		if rm.whole[s.handles[0].sub] && !rm.complete {
			e.Drop = append(slices.Clone(e.Drop), k.name)
		}
		if gone := rm.entries[s.handles[0].sub]; len(gone) > 0 {
			e.Elements[k.name] = gone
		}
		if gone := rm.maps[s.handles[0].sub]; len(gone) > 0 {
			e.Entries[k.name] = gone
		}
	}
	return e
}

// newSize is the length of the new stream where that is known before it is
// written, else -1.
func (s *operatorStream) newSize(r *removal) (int64, error) {
	e := s.edit(r)
	h := s.stream.Header
	if len(e.Entries) > 0 {
		res, err := s.stream.Rewrite(io.Discard, e)
		if err != nil {
			return 0, err
		}
		return res.Size, nil
	}
	if h.Compressed || len(e.Elements) > 0 {
		broken, err := s.stream.Broken()
		if err == nil && broken {
			_, err = s.stream.Rewrite(io.Discard, e) // its elements may have no known ends
		}
		return -1, err
	}
	size := h.End
	for _, m := range h.States {
		if slices.Contains(e.Drop, m.Name) {
			size -= m.Span.Len
		}
	}
	for i, st := range s.stream.States {
		if slices.Contains(e.Drop, st.Name) {
			continue
		}
		n, err := s.stream.Bytes(i)
		if err != nil {
			return 0, err
		}
		size += n
	}
	return size, nil
}

// write writes the new stream and puts its offsets into the copy's handles.
func (s *operatorStream) write(in decoder.Input, out io.Writer, r *removal) (int64, error) {
	s.stream.In = in
	e := s.edit(r)
	res, err := s.stream.Rewrite(out, e)
	if err != nil {
		return 0, err
	}
	left := res.States
	for _, u := range s.handles {
		k := 0
		for i := range u.src.States {
			if slices.Contains(e.Drop, u.src.States[i].Name) {
				continue
			}
			if k < len(u.out.States) && u.out.States[k].Name == left[0].Name {
				u.out.States[k].Offsets = left[0].Offsets
				if rm := r.states[stateKey{s.op, false, left[0].Name}]; rm != nil && len(s.handles) > 1 {
					u.out.States[k].Offsets = left[0].Offsets.Without(rm.entries[u.sub])
				}
				k++
			}
			left = left[1:]
		}
	}
	return res.Size, nil
}

// adopt makes the copy's handles name the new file.
func (w *work) adopt(s *operatorStream, job *rewriteJob) {
	w.rewrites = append(w.rewrites, job)
	for _, u := range s.handles {
		if u.out.Type == metadata.TypeFileMergingOperator {
			toPartitionable(u.out)
		}
		u.out.Delegate = metadata.StreamHandle{Type: metadata.TypeRelativeFile, Name: job.name, Size: job.atMost()}
		w.layout.fresh[&u.out.Delegate] = true
	}
}

// openStream is an input that is closed after use.
type openStream struct {
	decoder.Input
	io.Closer
}

// openSource opens what a handle of the source holds or names.
func (w *work) openSource(ctx context.Context, h *metadata.StreamHandle) (openStream, error) {
	if p, ok := w.layout.locate.part(h); ok {
		return openPart(ctx, w.snap.Store, p)
	}
	in, c, err := w.snap.OpenStream(ctx, h)
	return openStream{in, c}, err
}

func openPart(ctx context.Context, st model.Store, p part) (openStream, error) {
	o, err := st.Open(ctx, p.read)
	if err != nil {
		return openStream{}, err
	}
	if !p.segment {
		return openStream{o, o}, nil
	}
	if p.off < 0 || p.size < 0 || p.off > o.Size()-p.size {
		o.Close()
		return openStream{}, fmt.Errorf("%s: the segment of %d bytes at %d ends behind the file's end", p.read, p.size, p.off)
	}
	return openStream{decoder.Section(o, decoder.Span{Off: p.off, Len: p.size}, o.Name()), o}, nil
}
