package model

import (
	"context"
	"errors"
	"io"
	"slices"

	"chkscope/decoder"
	"chkscope/decoder/keyed"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// KeyedLayout is how an operator's keyed state is written.
type KeyedLayout string

const (
	LayoutUnknown   KeyedLayout = ""
	LayoutHeap      KeyedLayout = "heap"
	LayoutCanonical KeyedLayout = "canonical"
	LayoutRocksDB   KeyedLayout = "rocksdb" // or ForSt: files of an incremental handle
)

// KeyedLayout is the layout of an operator's keyed state, after ReadHeaders.
func (s *Snapshot) KeyedLayout(op int, k Kind) KeyedLayout {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	return s.known.layouts[opKind{int32(op), k}]
}

// KeyedNames are the named states of an operator's keyed handles, after
// ReadHeaders, in the order of the headers.
func (s *Snapshot) KeyedNames(op int, k Kind) []KeyedName { return s.keyedNames(op, k) }

// readKeyedHeader learns the names in a keyed handle.
func (s *Snapshot) readKeyedHeader(ctx context.Context, j headerJob) error {
	if j.kind == KindRawKeyed {
		return s.readRawTimers(ctx, j)
	}
	h, layout, err := s.keyedHeader(ctx, j.op, j.keyed)
	if h == nil {
		return err
	}
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	at := opKind{j.op, j.kind}
	s.known.makeMaps()
	s.known.layouts[at] = layout
	if s.known.keys[at].t == nil {
		s.known.keys[at] = keySerializer{h.Key, h.Compressed}
	}
	s.assumeKryo(h.Key)
	for i := range h.States {
		for _, x := range h.States[i].Serializers {
			s.assumeKryo(x.Type)
		}
		s.known.addName(at, &h.States[i])
	}
	return err
}

func (k *knowledge) addName(at opKind, m *serde.StateMeta) {
	for _, n := range k.names[at] {
		if n.Name == m.Name {
			return
		}
	}
	n := KeyedName{Name: m.Name, Type: m.Type, Meta: m}
	if m.Type == "" {
		n.Type = m.Kind.String()
	}
	k.names[at] = append(k.names[at], n)
}

// keyedHeader reads the header of the first stream of a handle that has one.
func (s *Snapshot) keyedHeader(ctx context.Context, op int32, h *metadata.KeyedHandle) (*keyed.Header, KeyedLayout, error) {
	switch {
	case h.Groups != nil:
		st, closer, err := s.openKeyGroups(ctx, op, h)
		if st == nil || st.Header == nil {
			return nil, LayoutUnknown, err
		}
		defer closer.Close()
		layout := LayoutCanonical
		if st.Layout == keyed.Heap {
			layout = LayoutHeap
		}
		return st.Header, layout, err
	case h.Incr != nil:
		in, closer, err := s.OpenStream(ctx, &h.Incr.Meta)
		if err != nil {
			return nil, LayoutRocksDB, err
		}
		defer closer.Close()
		head, err := keyed.ParseHeader(in, in.Size(), nil)
		return head, LayoutRocksDB, err
	case h.Changelog != nil:
		return s.changelogHeader(ctx, op, h.Changelog)
	}
	return nil, LayoutUnknown, nil
}

// changelogHeader puts the names of the base snapshots and of the changes
// behind them together.
func (s *Snapshot) changelogHeader(ctx context.Context, op int32, h *metadata.ChangelogHandle) (*keyed.Header, KeyedLayout, error) {
	out, layout := &keyed.Header{}, LayoutUnknown
	for i := range h.Materialized {
		head, l, err := s.keyedHeader(ctx, op, &h.Materialized[i])
		if err != nil {
			return head, l, err
		}
		if head != nil {
			out.States, layout, out.Key = append(out.States, head.States...), l, head.Key
		}
	}
	var log keyed.ChangeLog
	for i := range h.NonMaterialized {
		if err := s.addChanges(ctx, &log, &h.NonMaterialized[i]); err != nil {
			return out, layout, err
		}
	}
	for _, c := range log.States {
		if c.Meta.Name != "" {
			out.States = append(out.States, c.Meta)
		}
	}
	return out, layout, nil
}

func (s *Snapshot) addChanges(ctx context.Context, log *keyed.ChangeLog, h *metadata.KeyedHandle) error {
	if h.Inline != nil {
		return log.Inline(s.Meta.In, h.Inline.Changes)
	}
	if h.Files == nil {
		return nil
	}
	for i := range h.Files.Increments {
		inc := &h.Files.Increments[i]
		in, closer, err := s.OpenStream(ctx, &inc.Stream)
		if err != nil {
			return err
		}
		err = log.Increment(in, inc.Offset)
		closer.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// maxRawTimers is the largest raw keyed stream whose timers are counted when
// the headers are read: it has no header, so all of it is read.
const maxRawTimers = 8 << 20

// readRawTimers learns the timer services in a raw keyed stream and counts
// their timers. Raw keyed state that is something else has no names.
func (s *Snapshot) readRawTimers(ctx context.Context, j headerJob) error {
	if j.keyed.Groups == nil || streamLen(&j.keyed.Groups.Stream) > maxRawTimers {
		return nil
	}
	in, closer, err := s.OpenStream(ctx, &j.keyed.Groups.Stream)
	if err != nil {
		return err
	}
	defer closer.Close()
	groups, err := keyed.RawTimers(in, s.Meta.In, j.keyed.Groups)
	if errors.Is(err, keyed.ErrNotTimers) {
		return nil
	}
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	s.known.makeMaps()
	for _, g := range groups {
		for _, service := range g.Services {
			s.known.addTimers(j, service)
		}
	}
	return err
}

func (k *knowledge) addTimers(j headerJob, t keyed.TimerService) {
	at := opKind{j.op, j.kind}
	if !slices.ContainsFunc(k.names[at], func(n KeyedName) bool { return n.Name == t.Name }) {
		k.names[at] = append(k.names[at], KeyedName{Name: t.Name, Type: "TIMERS"})
	}
	cell := cellName{j.op, j.sub, j.kind, t.Name}
	c, ok := k.counts[cell]
	if !ok {
		c = Counted{Bytes: Unknown}
	}
	n := Unknown
	if t.Event != Unknown && t.Processing != Unknown {
		n = t.Event + t.Processing
	}
	c.Entries = plus(c.Entries, n)
	k.counts[cell] = c
}

// openKeyGroups opens the stream of a key-groups handle of an operator. The closer is not nil
// where the stream is not.
func (s *Snapshot) openKeyGroups(ctx context.Context, op int32, h *metadata.KeyedHandle) (*keyed.Stream, io.Closer, error) {
	in, closer, err := s.OpenStream(ctx, &h.Groups.Stream)
	if err != nil {
		return nil, nil, err
	}
	st, err := s.ReadKeyed(in, h)
	if st == nil || st.Header == nil {
		closer.Close()
		return nil, nil, err
	}
	st.MaxParallelism = s.Meta.Operators[op].MaxParallelism
	return st, closer, err
}

// ReadKeyed reads the header of the stream in of a key-groups handle, as the
// Flink wrote it that wrote this snapshot.
func (s *Snapshot) ReadKeyed(in decoder.Input, h *metadata.KeyedHandle) (*keyed.Stream, error) {
	st, err := keyed.Open(in, s.Meta.In, h.Type, h.Groups, nil)
	if st != nil && st.Header != nil && s.Kryo5() {
		st.Header.AssumeKryo5()
	}
	return st, err
}
