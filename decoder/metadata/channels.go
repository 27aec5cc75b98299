package metadata

import (
	"fmt"
	"strconv"

	"chkscope/decoder"
)

// channels steps over the channel handles of one direction; of a damaged list
// the complete ones are given.
func (r *reader) channels(what string, output bool) Channels {
	r.Enter(what, -1)
	defer r.Leave()
	defer r.stepOver()()
	ch := Channels{Output: output}
	n := r.Count("handle count", r.minChannel())
	ch.Span = r.since(r.Off())
	inline := r.inline
	for i := 0; i < n && r.ok(); i++ {
		r.metChannels = true
		r.Enter("channel handle", i)
		var h ChannelHandle
		if r.channel(&h, output); r.ok() {
			ch.Count, ch.Span, ch.InlineBytes = i+1, r.since(ch.Span.Off), r.inline-inline
		}
		r.Leave()
	}
	return ch
}

// minChannel is the length of the smallest channel handle.
func (r *reader) minChannel() int64 {
	switch {
	case r.version >= 6:
		return 22 // merged: kind, subtask, size, type 0, packed length and count
	case r.legacy111:
		return 21
	}
	return 25
}

// channel reads one handle of the input or the output list.
func (r *reader) channel(h *ChannelHandle, output bool) {
	plain, merged := byte(ChannelInput), byte(ChannelMergedInput)
	if output {
		plain, merged = ChannelOutput, ChannelMergedOutput
	}
	h.Kind = plain
	if r.version >= 6 {
		at := r.Off()
		h.Kind = r.U8("channel handle kind")
		if r.ok() && h.Kind != plain && h.Kind != merged {
			r.FailAt(at, "channel handle kind "+strconv.Itoa(int(plain))+" or "+strconv.Itoa(int(merged)), strconv.Itoa(int(h.Kind)), nil)
		}
	}
	if !r.legacy111 {
		h.Subtask = r.I32("subtask index")
	}
	if h.Kind == merged {
		h.Size = r.I64("size")
		r.stream(&h.Delegate)
		n := r.length("packed length")
		h.Packed = Blob{Span: decoder.Span{Off: r.Off(), Len: n}}
		r.packedChannels(r.Off()+n, nil)
		return
	}
	h.A, h.B = r.I32("gate or result partition"), r.I32("channel or subpartition")
	h.Offsets = r.array(r.Count("offset count", 8), "offsets")
	h.Size = r.I64("size")
	r.stream(&h.Delegate)
}

// packedChannels reads what a merged handle packs, up to end.
func (r *reader) packedChannels(end int64, f func(a, b int32, size int64, offsets Offsets) error) error {
	n := r.Count("channel count", 20)
	for i := 0; i < n && r.ok(); i++ {
		r.Enter("channel", i)
		a, b := r.I32("gate or result partition"), r.I32("channel or subpartition")
		size := r.I64("size")
		offsets := r.array(r.Count("offset count", 8), "offsets")
		r.Leave()
		if r.ok() && f != nil {
			if err := f(a, b, size, offsets); err != nil {
				return err
			}
		}
	}
	if r.ok() && r.Off() != end {
		r.FailAt(r.Off(), fmt.Sprintf("packed channels that end at offset %d", end), fmt.Sprintf("end at %d", r.Off()), nil)
	}
	return r.failure()
}

// Each decodes the channel handles again. h is valid during the call only.
func (ch Channels) Each(c *Checkpoint, f func(i int, h *ChannelHandle) error) error {
	if ch.New != nil {
		for i := range ch.New {
			if err := f(i, &ch.New[i]); err != nil {
				return err
			}
		}
		return nil
	}
	r := newReader(c.In, ch.Span.Off, ch.Span.End(), c.layout())
	for i := range ch.Count {
		var h ChannelHandle
		r.fresh("channel handle", i)
		if r.channel(&h, ch.Output); !r.ok() {
			return r.Err()
		}
		r.Leave()
		if err := f(i, &h); err != nil {
			return err
		}
	}
	return nil
}

// Load gives all channel handles in memory, for an edit of some of them: to be
// changed and stored in New.
func (ch Channels) Load(c *Checkpoint) ([]ChannelHandle, error) {
	list := make([]ChannelHandle, 0, ch.Count)
	err := ch.Each(c, func(_ int, h *ChannelHandle) error {
		list = append(list, *h)
		return nil
	})
	return list, err
}

// EachPacked decodes the channels of a merged handle (kinds 3 and 4): a and b
// are gate and channel, or result partition and subpartition; size is the bytes
// of this channel in the delegate. After an edit (Packed.New) the offsets
// stand in that slice.
func (h *ChannelHandle) EachPacked(in decoder.Input, f func(a, b int32, size int64, offsets Offsets) error) error {
	in, s := h.Packed.source(in)
	r := newReader(in, s.Off, s.End(), layout{})
	r.Enter("packed channels", -1)
	return r.packedChannels(s.End(), f)
}
