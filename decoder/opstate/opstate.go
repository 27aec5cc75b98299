// Package opstate reads and rewrites operator state streams: what
// OperatorBackendSerializationProxy and DefaultOperatorStateBackend write, one
// for each subtask that has managed operator state.
//
// # Header
//
// Big-endian; utf is Java's writeUTF; the layouts of records are those of
// package serde.
//
//	i32 version
//	version 6: bool compressed
//	u16 number of list states, their records
//	versions 1, 2: i32 number of states
//	versions 3 and later: u16 number of broadcast states, their records
//
//	version  Flink        records (meta version)
//	1        1.2          1
//	2        1.3, 1.4     2
//	3        1.5          3
//	4        1.6          5
//	5        1.7 to 1.17  6
//	6        1.18 on      7
//
// # Data
//
// The handle in `_metadata` has for each name a mode and the offsets of its
// elements in the stream. List states come first, then broadcast states, each in
// header order.
//
//	list (SPLIT_DISTRIBUTE, UNION)  element i at offset i, as the value serializer
//	                                writes it: no count, no length
//	broadcast                       one offset: i32 n, n x (key, value)
//
// An element ends at the next larger offset of any state of the handle, or at
// the end of the stream; where offsets were removed from the handle, dead bytes
// follow it. The first offset is the end of the header, unless it was removed.
//
// # Compression
//
// The header is never compressed. The data is snappy framed (see snappyframe).
// In the current form there is one identifier behind the header and every offset
// is the beginning of a chunk; an element is whole chunks. Flink 1.18.0 and
// 1.18.1 wrote another form that Flink cannot restore: an identifier for each
// state, its elements in one run of chunks, all with the same offset, that of
// the first chunk (FLINK-33863, FLINK-34063). Where elements end in a run only
// their serializer tells.
//
// Raw operator state (the name _default_) is a stream without a header whose
// handle has nothing but offsets.
package opstate

import (
	"bytes"
	"fmt"
	"strconv"

	"chkscope/decoder"
	"chkscope/decoder/serde"
	"chkscope/decoder/snappyframe"
)

// Header is the header of a stream.
type Header struct {
	Version    int32
	Compressed bool
	// States are the records of list states, then those of broadcast states.
	States []serde.StateMeta
	// Lists is how many of States are list states by their place.
	Lists int
	// End is the offset of the first byte behind the header. Where the last
	// record is opaque it is the limit given, less identifiers.
	End int64

	listCount, broadcastCount, stateCount int64 // where the counts stand; -1: none
}

// State is the record of the named state, or nil.
func (h *Header) State(name string) *serde.StateMeta {
	for i := range h.States {
		if h.States[i].Name == name {
			return &h.States[i]
		}
	}
	return nil
}

var metaVersions = map[int32]int32{1: 1, 2: 2, 3: 3, 4: 5, 5: 6, 6: 7}

// ParseHeader reads the header at the start of in, which ends at or before
// limit: the smallest offset of the handle, or the length of the stream. Names
// are those in the handle; they help to find the way behind a serializer that
// is not known.
//
// The error is a *decoder.Error; one of an unknown version wraps
// decoder.ErrVersion. On damage the Header has the records before it.
func ParseHeader(in decoder.Input, limit int64, names []string) (*Header, error) {
	return serde.ReadHeader(in, limit, func(buf []byte, partial, whole bool) (*Header, *serde.Reader) {
		return parseHeader(in.Name(), buf, partial, whole, names)
	})
}

// parseHeader reads a header from buf. Partial: more bytes may be had; whole:
// buf ends where the header must have ended.
func parseHeader(file string, buf []byte, partial, whole bool, names []string) (*Header, *serde.Reader) {
	r := serde.NewReader(file, buf, 0)
	r.Partial = partial
	h := &Header{listCount: -1, broadcastCount: -1, stateCount: -1}
	h.Version = r.I32("operator state version")
	l := serde.MetaLayout{Version: metaVersions[h.Version]}
	if r.Err() == nil && l.Version == 0 {
		r.FailAt(0, "operator state version 1 to 6", strconv.Itoa(int(h.Version)), decoder.ErrVersion)
	}
	if h.Version >= 6 {
		h.Compressed = r.Bool("compressed")
	}
	end := len(buf) // of the header, where buf is whole
	if h.Compressed {
		for bytes.HasSuffix(buf[:end], []byte(snappyframe.Identifier)) {
			end -= len(snappyframe.Identifier)
		}
	}
	// broadcastsAt is where the count of broadcast states stands, behind a last
	// list state without a known end.
	broadcastsAt := func(from int64) int64 {
		if rec, ok := r.FindRecord(from+2, names); ok && rec.Kind == serde.Broadcast {
			return rec.Off - 2
		} else if !ok && whole && end >= 2 && buf[end-1]|buf[end-2] == 0 {
			return int64(end - 2)
		}
		return -1
	}
	h.listCount = r.Off()
	n := r.U16("number of list states")
	h.States = r.StateMetas(n, l, names, broadcastsAt)
	h.Lists = len(h.States)
	switch {
	case r.Err() != nil:
	case h.Version <= 2:
		h.stateCount = r.Off()
		r.I32("number of states")
	default:
		h.broadcastCount = r.Off()
		n := r.U16("number of broadcast states")
		h.States = append(h.States, r.StateMetas(n, l, names, func(int64) int64 {
			if !whole {
				return -1
			}
			return int64(end)
		})...)
	}
	h.End = r.Off()
	return h, r
}

// damage is an error at an offset of the stream.
func damage(in decoder.Input, off int64, path, expected, found string, cause error) error {
	return &decoder.Error{File: in.Name(), Offset: off, Path: path, Expected: expected, Found: found, Err: cause}
}

func stateName(name string) string { return fmt.Sprintf("state %q", decoder.Text(name)) }
