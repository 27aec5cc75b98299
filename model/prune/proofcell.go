package prune

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/opstate"
	"chkscope/model/store"
)

// cell compares one subtask's record.
type cell struct {
	p     *prover
	at    place
	where string
}

func (c *cell) compare(a, b *metadata.SubtaskState) error {
	if b == nil {
		c.p.wrong("%s: its record is missing", c.where)
		return nil
	}
	if a.Duration != b.Duration {
		c.p.wrong("%s: its duration differs", c.where)
	}
	for _, raw := range []bool{false, true} {
		if err := c.operatorState(raw, operatorHandle(a, raw), operatorHandle(b, raw)); err != nil {
			return err
		}
	}
	if c.p.r.rewriteKeyed[c.at] {
		if err := c.rewrittenKeyed("keyed state", a.ManagedKeyed, b.ManagedKeyed); err != nil {
			return err
		}
	} else if err := c.keyedState("managed keyed state", c.p.r.keyed[c.at], a.ManagedKeyed, b.ManagedKeyed); err != nil {
		return err
	}
	if err := c.keyedState("raw keyed state", c.p.r.rawKeyed[c.at], a.RawKeyed, b.RawKeyed); err != nil {
		return err
	}
	if err := c.channels("input channel state", &a.Input, &b.Input); err != nil {
		return err
	}
	return c.channels("output channel state", &a.Output, &b.Output)
}

// operatorState compares the named states of one handle.
func (c *cell) operatorState(raw bool, a, b *metadata.OperatorHandle) error {
	if a == nil {
		if b != nil {
			c.p.wrong("%s: operator state is too much", c.where)
		}
		return nil
	}
	same, err := c.sameDelegate(a, b)
	if err != nil {
		return err
	}
	var r *elementReader
	if !same {
		if r, err = c.openBoth(raw, a, b); err != nil {
			return err
		}
		defer r.close()
	}
	k := 0
	for i := range a.States {
		st := &a.States[i]
		what := fmt.Sprintf("%s: state %s", c.where, decoder.Text(st.Name))
		rm := c.p.r.states[stateKey{c.at.op, raw, st.Name}]
		if rm != nil && rm.whole[c.at.sub] {
			c.p.gone(findState(b, st.Name) != nil, what)
			continue
		}
		if b == nil || k >= len(b.States) || b.States[k].Name != st.Name || b.States[k].Mode != st.Mode {
			c.p.wrong("%s is missing or out of order", what)
			continue
		}
		if err := c.namedState(what, r, rm, st, &b.States[k], i, k); err != nil {
			return err
		}
		k++
	}
	switch {
	case b != nil && k < len(b.States):
		c.p.wrong("%s: state %s is too much", c.where, decoder.Text(b.States[k].Name))
	case r != nil && !raw:
		return c.headers(r.src, r.out)
	case same && k == 0 && len(a.States) > 0 && b != nil && b.Delegate.Type != metadata.TypeEmptySegment:
		c.p.wrong("%s: an operator state handle without states is left", c.where)
	}
	return nil
}

// namedState compares state i of the source with state k of the copy: by their
// offsets where the stream is the same (r is nil), else by their elements.
func (c *cell) namedState(what string, r *elementReader, rm *stateRemoval, a, b *metadata.OperatorState, i, k int) error {
	before := c.p.count
	var gone, mapGone []metadata.Range
	if rm != nil {
		gone, mapGone = rm.entries[c.at.sub], rm.maps[c.at.sub]
	}
	var equal bool
	var err error
	if len(mapGone) > 0 {
		equal, err = r.equalMaps(i, k, mapGone)
	} else if r == nil {
		equal, err = c.p.sameOffsets(a.Offsets.Without(gone), b.Offsets)
	} else {
		equal, err = r.equal(i, k, gone)
	}
	switch {
	case err == nil && !equal:
		c.p.wrong("%s differs", what)
	case err == nil:
		c.p.proof.EntriesRemoved += a.Offsets.Len() - b.Offsets.Len() + count(mapGone)
	}
	c.p.node(before)
	return err
}

// sameDelegate tells whether both handles are over the same stream.
func (c *cell) sameDelegate(a, b *metadata.OperatorHandle) (bool, error) {
	if b == nil || b.Delegate.Type == metadata.TypeEmptySegment {
		return true, nil // nothing of it is compared
	}
	return c.p.sameStream(&a.Delegate, &b.Delegate)
}

// headers compares the header of a rewritten stream with the source's: the
// records that stay, in their order, and none of a name that went completely.
func (c *cell) headers(src, out *opstate.Stream) error {
	gone := map[string]bool{}
	for i := range src.Header.States {
		name := src.Header.States[i].Name
		rm := c.p.r.states[stateKey{c.at.op, false, name}]
		gone[name] = rm != nil && (rm.complete || rm.whole[c.at.sub] && out.Header.State(name) == nil)
	}
	return c.sameRecords(c.where, src.In, kept(src.Header.States, gone), out.In, out.Header.States)
}

// elementReader reads the elements of a stream and of what was made of it.
type elementReader struct {
	src, out *opstate.Stream
	first    int // of the states of this handle in src
	closers  []io.Closer
}

func (r *elementReader) close() {
	for _, c := range r.closers {
		c.Close()
	}
}

func (c *cell) openBoth(raw bool, a, b *metadata.OperatorHandle) (*elementReader, error) {
	x, err := c.p.app.work.openSource(c.p.ctx, &a.Delegate)
	if err != nil {
		return nil, err
	}
	y, err := c.p.openCopy(c.p.ctx, &b.Delegate)
	if err != nil {
		x.Close()
		return nil, err
	}
	r := &elementReader{closers: []io.Closer{x, y}}
	if raw {
		r.src, r.out = opstate.OpenRaw(x, c.p.src.In, a.States), opstate.OpenRaw(y, c.p.out.In, b.States)
		return r, nil
	}
	if v := c.p.app.work.views[&a.Delegate]; v.stream != nil {
		r.src, r.first = v.stream, v.first
		r.src.In = x
	} else {
		r.src, err = opstate.Open(x, c.p.src.In, a.States)
	}
	if err == nil {
		r.out, err = opstate.Open(y, c.p.out.In, b.States)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// openCopy opens what a handle of the copy holds or names.
func (p *prover) openCopy(ctx context.Context, h *metadata.StreamHandle) (openStream, error) {
	if h.Type == metadata.TypeByteStream {
		return openStream{h.Data.Input(p.out.In, p.out.In.Name()+" (inline)"), io.NopCloser(nil)}, nil
	}
	if name, ok := p.nameInCopy(h); ok {
		return openPart(ctx, p.app.ws, part{read: store.Join(p.app.plan.Destination, "./"+name)})
	}
	pt, ok := p.at.part(h)
	if !ok {
		return openStream{}, fmt.Errorf("a handle of type %d names no stream", h.Type)
	}
	return openPart(ctx, p.app.work.snap.Store, pt)
}

// elementBlock is how many elements are compared at once; elementCut how many
// bytes of each are held.
const (
	elementBlock = 8192
	elementCut   = 1 << 30
)

// equal compares the elements of state i of the source, without gone, with those
// of state k of the copy. The last bytes of an element may be followed by dead
// bytes in the copy where they were in the source.
func (r *elementReader) equal(i, k int, gone []metadata.Range) (bool, error) {
	src, out := r.src.States[r.first+i].Offsets, r.out.States[k].Offsets
	kept := keptRanges(gone, src.Len())
	at := int64(0)
	for _, run := range kept {
		for from := run.First; from <= run.Last; from += elementBlock {
			n := min(elementBlock, run.Last-from+1)
			if at+n > out.Len() {
				return false, nil
			}
			same, err := r.equalBlock(i, k, from, at, n)
			if !same || err != nil {
				return false, err
			}
			at += n
		}
	}
	return at == out.Len(), nil
}

func (r *elementReader) equalBlock(i, k int, from, at, n int64) (bool, error) {
	var data []byte
	var ends []int
	err := r.src.Elements(r.first+i, from, n, elementCut, func(e opstate.Element) error {
		data = append(data, e.Data...)
		ends = append(ends, len(data))
		return nil
	})
	if err != nil {
		return false, err
	}
	j, start, same := 0, 0, true
	err = r.out.Elements(k, at, n, elementCut, func(e opstate.Element) error {
		want := data[start:ends[j]]
		same = same && string(e.Data[:min(len(e.Data), len(want))]) == string(want)
		start, j = ends[j], j+1
		return nil
	})
	return same && j == len(ends), err
}

// equalMaps compares the entries of broadcast state i of the source, without
// gone, with those of state k of the copy; false where the stream is still the
// source's.
func (r *elementReader) equalMaps(i, k int, gone []metadata.Range) (bool, error) {
	if r == nil {
		return false, nil
	}
	sums, counts := [2][32]byte{}, [2]int64{}
	for side, s := range []struct {
		stream *opstate.Stream
		state  int
		gone   []metadata.Range
	}{{r.src, r.first + i, gone}, {r.out, k, nil}} {
		h, size := sha256.New(), [16]byte{}
		all, err := s.stream.Entries(s.state, 0, math.MaxInt64, func(e opstate.Entry) error {
			if e.Err != nil {
				return e.Err
			}
			if within(s.gone, e.Index) {
				return nil
			}
			counts[side]++
			binary.BigEndian.PutUint64(size[:], uint64(len(e.Key)))
			binary.BigEndian.PutUint64(size[8:], uint64(len(e.Value)))
			h.Write(size[:])
			h.Write(e.Key)
			h.Write(e.Value)
			return nil
		})
		if err != nil {
			return false, err
		}
		if counts[side] != all-count(s.gone) {
			return false, nil
		}
		sums[side] = [32]byte(h.Sum(nil))
	}
	return sums[0] == sums[1] && counts[0] == counts[1], nil
}

// keyedState compares keyed handles; one node.
func (c *cell) keyedState(what string, gone bool, a, b *metadata.KeyedHandle) error {
	what = c.where + ": " + what
	if gone {
		c.p.gone(b != nil, what)
		return nil
	}
	if a == nil && b == nil {
		return nil
	}
	if a == nil || b == nil {
		c.p.wrong("%s is missing or too much", what)
		return nil
	}
	before := c.p.count
	same, err := c.sameKeyed(a, b)
	if err != nil {
		return err
	}
	if !same {
		c.p.wrong("%s differs", what)
	}
	c.p.node(before)
	return nil
}

func (c *cell) sameKeyed(a, b *metadata.KeyedHandle) (bool, error) {
	if a.Type != b.Type || a.Start != b.Start || a.Number != b.Number || a.HandleID != b.HandleID {
		return false, nil
	}
	switch {
	case a.Groups != nil:
		if same, err := c.p.sameOffsets(a.Groups.Offsets, b.Groups.Offsets); !same || err != nil {
			return false, err
		}
		return c.p.sameStream(&a.Groups.Stream, &b.Groups.Stream)
	case a.Incr != nil:
		return c.sameIncremental(a.Incr, b.Incr)
	case a.Changelog != nil:
		return c.sameChangelog(a.Changelog, b.Changelog)
	case a.Inline != nil:
		if a.Inline.From != b.Inline.From || a.Inline.To != b.Inline.To || a.Inline.Changes.Count != b.Inline.Changes.Count {
			return false, nil
		}
		return sameSpans(c.p.src.In, a.Inline.Changes.Span, c.p.out.In, b.Inline.Changes.Span)
	case a.Files != nil:
		return c.sameLogFiles(a.Files, b.Files)
	}
	return true, nil
}

// sameIncremental compares by local name: a full copy moves files from `shared`
// to `private`.
func (c *cell) sameIncremental(a, b *metadata.IncrementalHandle) (bool, error) {
	if a.CheckpointID != b.CheckpointID || a.BackendID != b.BackendID || a.CheckpointedSize != b.CheckpointedSize {
		return false, nil
	}
	if same, err := c.p.sameStream(&a.Meta, &b.Meta); !same || err != nil {
		return false, err
	}
	left := map[string][]metadata.StreamHandle{}
	n := 0
	note := func(_ int, s metadata.NamedStream) error {
		left[s.Key] = append(left[s.Key], s.Stream)
		n++
		return nil
	}
	if err := b.Shared.Each(c.p.out.In, note); err != nil {
		return false, err
	}
	if err := b.Private.Each(c.p.out.In, note); err != nil {
		return false, err
	}
	same := true
	match := func(_ int, s metadata.NamedStream) error {
		n--
		for i := range left[s.Key] {
			ok, err := c.p.sameStream(&s.Stream, &left[s.Key][i])
			if err != nil {
				return err
			}
			if ok {
				left[s.Key] = slices.Delete(left[s.Key], i, i+1)
				return nil
			}
		}
		same = false
		return nil
	}
	if err := a.Shared.Each(c.p.src.In, match); err != nil {
		return false, err
	}
	err := a.Private.Each(c.p.src.In, match)
	return same && n == 0, err
}

func (c *cell) sameChangelog(a, b *metadata.ChangelogHandle) (bool, error) {
	if a.CheckpointedSize != b.CheckpointedSize || a.MaterializationID != b.MaterializationID || a.CheckpointID != b.CheckpointID ||
		len(a.Materialized) != len(b.Materialized) || len(a.NonMaterialized) != len(b.NonMaterialized) {
		return false, nil
	}
	for _, lists := range [][2][]metadata.KeyedHandle{{a.Materialized, b.Materialized}, {a.NonMaterialized, b.NonMaterialized}} {
		for i := range lists[0] {
			if same, err := c.sameKeyed(&lists[0][i], &lists[1][i]); !same || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

func (c *cell) sameLogFiles(a, b *metadata.ChangelogFiles) (bool, error) {
	if a.Size != b.Size || a.CheckpointedSize != b.CheckpointedSize || a.StorageID != b.StorageID || len(a.Increments) != len(b.Increments) {
		return false, nil
	}
	for i := range a.Increments {
		if a.Increments[i].Offset != b.Increments[i].Offset {
			return false, nil
		}
		if same, err := c.p.sameStream(&a.Increments[i].Stream, &b.Increments[i].Stream); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// channels compares in-flight data; one node a direction.
func (c *cell) channels(what string, a, b *metadata.Channels) error {
	what = c.where + ": " + what
	if a.Len() == 0 && b.Len() == 0 {
		return nil
	}
	if c.p.r.inFlight {
		c.p.gone(b.Len() > 0, what)
		return nil
	}
	if a.Len() != b.Len() {
		c.p.wrong("%s: %d handles became %d", what, a.Len(), b.Len())
		return nil
	}
	before := c.p.count
	list, err := b.Load(c.p.out)
	if err != nil {
		return err
	}
	err = a.Each(c.p.src, func(i int, h *metadata.ChannelHandle) error {
		same, err := c.sameChannel(h, &list[i])
		if err == nil && !same {
			c.p.wrong("%s: handle %d differs", what, i)
		}
		return err
	})
	c.p.node(before)
	return err
}

func (c *cell) sameChannel(a, b *metadata.ChannelHandle) (bool, error) {
	if a.Kind != b.Kind || a.Subtask != b.Subtask || a.A != b.A || a.B != b.B || a.Size != b.Size {
		return false, nil
	}
	if same, err := c.p.sameOffsets(a.Offsets, b.Offsets); !same || err != nil {
		return false, err
	}
	if same, err := sameSpans(c.p.src.In, a.Packed.Span, c.p.out.In, b.Packed.Span); !same || err != nil {
		return false, err
	}
	return c.p.sameStream(&a.Delegate, &b.Delegate)
}
