package prune

import (
	"context"
	"encoding/binary"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// timerMagic begins the raw keyed state of one key group where it is timers
// written since 1.4 (InternalTimerServiceSerializationProxy).
const timerMagic = 0xF1CD859F

// holdsTimers tells whether raw keyed state is timer services. It reads a few
// bytes of the first key group that has any.
func (w *work) holdsTimers(ctx context.Context, h *metadata.KeyedHandle) (bool, error) {
	if h.Groups == nil {
		return false, nil
	}
	in, err := w.openSource(ctx, &h.Groups.Stream)
	if err != nil {
		return false, err
	}
	defer in.Close()
	for i := range h.Groups.Offsets.Len() {
		off, err := h.Groups.Offsets.At(w.snap.Meta.In, i)
		if err != nil {
			return false, err
		}
		if off < 0 {
			continue
		}
		head, err := decoder.ReadSpan(in, decoder.Span{Off: off, Len: min(8, max(in.Size()-off, 0))}, 8)
		if err != nil {
			return false, err
		}
		return looksLikeTimers(head), nil
	}
	return true, nil // no key group has any
}

// looksLikeTimers: the magic, or, in 1.3, a small number of services and the
// length of a service's name.
func looksLikeTimers(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	n := binary.BigEndian.Uint32(head)
	if n == timerMagic {
		return true
	}
	return n > 0 && n <= 64 && len(head) >= 7 && head[4] == 0 && head[5] > 0 && head[6] >= ' ' && head[6] < 0x7f
}
