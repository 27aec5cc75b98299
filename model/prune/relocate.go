package prune

import (
	"context"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model/store"
)

// layout is where the copy has its bytes: what its handles name.
type layout struct {
	locate locator
	names  *namer
	// fresh holds handles that name files of the copy already.
	fresh map[*metadata.StreamHandle]bool
	// copies are parts that become files of the copy, in the order met; copied
	// finds them by key.
	copies []*copyJob
	copied map[string]*copyJob
	// refs are parts that stay where they are.
	refs   []part
	refKey map[string]bool
	// absolute is the copy's directory as Flink sees it where handles below a
	// changelog handle are written with it; "" for relative ones.
	absolute string
	// carried is the contents of all files below changelog handles, by key, where
	// they are few enough to be carried inside `_metadata`.
	carried map[string][]byte
}

// copyJob is a part that is copied.
type copyJob struct {
	part
	name string
}

func newLayout(l locator) *layout {
	return &layout{locate: l, names: newNamer(), fresh: map[*metadata.StreamHandle]bool{}, copied: map[string]*copyJob{}, refKey: map[string]bool{}}
}

// reference makes relative handles absolute, as Flink sees the source.
func (l *layout) reference(e *edited) error {
	return e.EditStreams(func(u metadata.StreamUse) (bool, error) {
		h := u.Stream
		p, ok := l.locate.use(u)
		if !ok || l.fresh[h] {
			return false, nil
		}
		if !l.refKey[p.key] {
			l.refKey[p.key] = true
			l.refs = append(l.refs, p)
		}
		if h.Type != metadata.TypeRelativeFile {
			return false, nil
		}
		*h = metadata.StreamHandle{Type: metadata.TypeFile, Name: p.flink, Size: h.Size}
		return true, nil
	})
}

// full gives every part a file of its own in the copy and makes handles
// relative. What Flink would carry on into its own checkpoints as relative
// paths is moved out of the way (EDITS: `shared` to `private`) or, below a
// changelog handle, made absolute.
func (l *layout) full(e *edited) error {
	for i := range e.Operators {
		for k := range e.Operators[i].Subtasks {
			if s := e.Operators[i].Subtasks[k].State; s != nil {
				if err := l.prepare(e.In, s); err != nil {
					return err
				}
			}
		}
	}
	return e.EditStreams(func(u metadata.StreamUse) (bool, error) {
		h := u.Stream
		p, ok := l.locate.use(u)
		if !ok || l.fresh[h] {
			return false, nil
		}
		if data, ok := l.carried[p.key]; ok && u.Changelog != nil {
			*h = metadata.StreamHandle{Type: metadata.TypeByteStream, Name: p.flink, Size: int64(len(data)), Data: metadata.Blob{New: data}}
			return true, nil
		}
		j := l.copied[p.key]
		if j == nil {
			j = &copyJob{p, l.names.name(partName(p))}
			l.copied[p.key] = j
			l.copies = append(l.copies, j)
		}
		*h = metadata.StreamHandle{Type: metadata.TypeRelativeFile, Name: j.name, Size: h.Size}
		if u.Changelog != nil && l.absolute != "" {
			*h = metadata.StreamHandle{Type: metadata.TypeFile, Name: store.Join(l.absolute, "./"+j.name), Size: h.Size}
		}
		return true, nil
	})
}

// carryLimit is the most that a copy carries of changelog files, in bytes. Tests
// change it.
var carryLimit int64 = 1 << 20

// carry reads all files below changelog handles where they are few; nil where
// they are not, or cannot be read.
func (w *work) carry(ctx context.Context) map[string][]byte {
	total, parts := int64(0), map[string]part{}
	err := w.out.EachStream(func(u metadata.StreamUse) error {
		p, ok := w.layout.locate.use(u)
		if u.Changelog == nil || !ok {
			return nil
		}
		if p.size < 0 || total > carryLimit {
			total = carryLimit + 1
			return nil
		}
		total += p.size // each handle carries a copy of its own
		parts[p.key] = p
		return nil
	})
	if err != nil || total > carryLimit {
		return nil
	}
	out := map[string][]byte{}
	for key, p := range parts {
		in, err := openPart(ctx, w.snap.Store, p)
		if err != nil {
			return nil
		}
		out[key], err = decoder.ReadSpan(in, decoder.Span{Len: in.Size()}, 2*carryLimit)
		in.Close()
		if err != nil || !p.segment && !p.fits(int64(len(out[key]))) {
			return nil
		}
	}
	return out
}

// prepare changes the kinds of handles that a full copy has not.
func (l *layout) prepare(in decoder.Input, s *metadata.SubtaskState) error {
	for _, h := range []**metadata.OperatorHandle{&s.ManagedOperator, &s.RawOperator} {
		if *h == nil || (*h).Type != metadata.TypeFileMergingOperator {
			continue
		}
		if (*h).EmptyByte != 0 || (*h).Delegate.Type == metadata.TypeEmptySegment {
			*h = nil
			continue
		}
		toPartitionable(*h)
	}
	if s.ManagedOperator == nil {
		s.ManagedOperatorPresence = 0
	}
	if s.RawOperator == nil {
		s.RawOperatorPresence = 0
	}
	for _, h := range []*metadata.KeyedHandle{s.ManagedKeyed, s.RawKeyed} {
		if h != nil {
			if err := l.emptyShared(in, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// toPartitionable makes a plain handle (4) of one of merged files (17).
func toPartitionable(h *metadata.OperatorHandle) {
	h.Type = metadata.TypePartitionable
	h.TaskOwnedDir, h.SharedDir, h.EmptyByte = "", "", 0
}

// emptyShared moves the shared files of incremental handles to `private`.
func (l *layout) emptyShared(in decoder.Input, h *metadata.KeyedHandle) error {
	if h.Incr != nil && h.Incr.Shared.Len() > 0 {
		shared, err := h.Incr.Shared.Load(in)
		if err != nil {
			return err
		}
		private, err := h.Incr.Private.Load(in)
		if err != nil {
			return err
		}
		h.Incr.Private.New = append(private, shared...)
		h.Incr.Shared.New = []metadata.NamedStream{}
	}
	if h.Changelog != nil && l.absolute == "" {
		for i := range h.Changelog.Materialized {
			if err := l.emptyShared(in, &h.Changelog.Materialized[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
