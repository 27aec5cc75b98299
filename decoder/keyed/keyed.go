// Package keyed reads and rewrites the streams of keyed state that key-group
// handles name: snapshots of the heap backend, canonical savepoints of any
// backend, RocksDB snapshots before 1.16 that are not incremental; the header is
// that of the meta stream of RocksDB snapshots too. It also reads raw keyed
// timers and the changes of the changelog backend.
//
// # Header
//
// Written by KeyedBackendSerializationProxy. Big-endian; utf is Java's writeUTF;
// the layouts of records are those of package serde.
//
//	i32 version
//	version 4 and later: bool key-group compression
//	key serializer: version 6 proxy; 3 to 5 resilient (one); 1, 2 serbytes
//	u16 number of states, their records; the place in this list is the state id
//
//	version  Flink                records (meta version)
//	1, 2     1.2                  1, 2
//	3        1.3                  3
//	4        1.4, 1.5             4
//	5        1.6                  5
//	6        1.7 on               6 or 7, the same bytes
//
// The handle has an offset for each key group of its range. The header ends at
// the smallest that is not zero, or at the end of the stream.
//
// # Canonical layout
//
// A group without entries has offset 0. Otherwise (compressed: one snappy framed
// stream a group, see snappyframe):
//
//	segments, one for each state with entries: u16 id, entries
//	u16 FFFF
//
//	entry: i32 length, key, i32 length, value
//
// The highest bit of the first byte of the last key of a segment is set; the
// key's own is never. Lengths are known, so entries and bytes of each state are
// counted without any serializer.
//
// # Heap layout
//
// All groups of the range are there: i32 key group, then one block for each
// state in any order: u16 id, i32 n, n x (namespace, key, value), or for a queue
// n x element. Compressed: each block is a snappy framed stream, the i32 is not.
// No entry has a length; heapbeyond.go tells how values are stepped over whose
// serializer does not tell their end.
//
// # Which layout
//
// A handle of type 7 is canonical. One of type 3 or 12 is canonical where an
// offset is 0, else heap where the i32 at every offset is its key group.
package keyed

import (
	"strconv"

	"chkscope/decoder"
	"chkscope/decoder/serde"
)

// Header is the header of a stream.
type Header struct {
	Version    int32
	Compressed bool
	Key        *serde.Snapshot // the key serializer
	States     []serde.StateMeta
	// End is the offset of the first byte behind the header. Where the last
	// record is opaque it is the limit given.
	End int64

	keySpan decoder.Span // key serializer with its framing
}

// State is the id of the named state, or -1.
func (h *Header) State(name string) int {
	for i := range h.States {
		if h.States[i].Name == name {
			return i
		}
	}
	return -1
}

// AssumeKryo5 tells that the stream was written by Flink 2.x: nothing in it tells
// which version of Kryo wrote its values (serde.AssumeKryo5).
func (h *Header) AssumeKryo5() {
	serde.AssumeKryo5(h.Key)
	for i := range h.States {
		for _, k := range h.States[i].Serializers {
			serde.AssumeKryo5(k.Type)
		}
	}
}

// ParseHeader reads the header at the start of in, which ends at or before
// limit. Names are states that are expected, if any are known: they help to find
// the way behind a serializer that is not known.
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
	h := &Header{Version: r.I32("keyed state version")}
	if r.Err() == nil && (h.Version < 1 || h.Version > 6) {
		r.FailAt(0, "keyed state version 1 to 6", strconv.Itoa(int(h.Version)), decoder.ErrVersion)
	}
	if h.Version >= 4 {
		h.Compressed = r.Bool("key-group compression")
	}
	at := r.Off()
	switch {
	case h.Version <= 2:
		h.Key = r.SerBytes()
	case h.Version <= 5:
		types := r.Resilient()
		if len(types) == 1 {
			h.Key = types[0]
		} else if r.Err() == nil {
			r.FailAt(at, "one key serializer", strconv.Itoa(len(types)), nil)
		}
	default:
		h.Key = r.ProxyOr(func(from int64) int64 {
			if rec, ok := r.FindRecord(from+2, names); ok {
				return rec.Off - 2
			} else if n := len(buf); whole && n >= 2 && buf[n-1]|buf[n-2] == 0 {
				return int64(n - 2)
			}
			return -1
		})
	}
	h.keySpan = decoder.Span{Off: at, Len: r.Off() - at}
	n := r.U16("number of states")
	h.States = r.StateMetas(n, serde.MetaLayout{Version: h.Version, Keyed: true}, names, func(int64) int64 {
		if !whole {
			return -1
		}
		return int64(len(buf))
	})
	h.End = r.Off()
	return h, r
}
