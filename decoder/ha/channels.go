package ha

import (
	"chkscope/decoder/javaobj"
	"chkscope/decoder/metadata"
)

// channels reads the in-flight data of one direction.
func (r *reader) channels(n javaobj.Node, field, what string, output bool) metadata.Channels {
	place := n.Place(field)
	ch := metadata.Channels{Span: place.Span, Output: output, New: []metadata.ChannelHandle{}}
	inline := r.inline
	r.enter(what, -1)
	r.collection(place.Node, func(_ int, p javaobj.Placed) {
		var h metadata.ChannelHandle
		if r.channel(p.Node, &h, output); r.ok() {
			ch.New = append(ch.New, h)
		}
	})
	r.leave()
	ch.Count, ch.InlineBytes = len(ch.New), r.inline-inline
	return ch
}

func (r *reader) channel(n javaobj.Node, h *metadata.ChannelHandle, output bool) {
	plain, merged := "state.InputChannelStateHandle", "state.MergedInputChannelStateHandle"
	h.Kind = metadata.ChannelInput
	if output {
		plain, merged = "state.ResultSubpartitionStateHandle", "state.MergedResultSubpartitionStateHandle"
		h.Kind = metadata.ChannelOutput
	}
	if n.Is(flinkRuntime + merged) {
		h.Kind += metadata.ChannelMergedInput - metadata.ChannelInput
		h.Packed.Span = r.array(n, "serializedChannelOffsets", "[B").Body()
	} else if r.is(n, plain) {
		h.A, h.B = r.channelInfo(n.Field("info"), output)
		h.Offsets = r.longList(n.Field("offsets"))
	}
	h.Subtask, h.Size = r.int(n, "subtaskIndex"), r.long(n, "size")
	r.stream(n.Place("delegate"), &h.Delegate)
}

// channelInfo gives gate and channel, or partition and subpartition.
func (r *reader) channelInfo(n javaobj.Node, output bool) (a, b int32) {
	if output {
		return r.int(n, "partitionIdx"), r.int(n, "subPartitionIdx")
	}
	return r.int(n, "gateIdx"), r.int(n, "inputChannelIdx")
}

// longList reads a list of java.lang.Long.
func (r *reader) longList(n javaobj.Node) metadata.Offsets {
	values := []int64{}
	r.elements(n, "offset", func(_ int, p javaobj.Placed) {
		v, ok := p.Node.Number()
		if !ok {
			r.fail(p.Node, "a java.lang.Long", describe(p.Node))
		}
		values = append(values, v)
	})
	return metadata.NewOffsets(values)
}
