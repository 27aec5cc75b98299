package serde

import "chkscope/decoder"

// MaxHeader is how many bytes of a stream's header are read.
const MaxHeader = 64 << 20

// ReadHeader reads the header at the start of in, which ends at or before limit,
// with parse: first a little of it, and more while the Reader that parse gives
// says that it came to the end (Reader.Short). Partial tells parse that more
// bytes may be had, whole that buf ends where the header must have ended.
func ReadHeader[H any](in decoder.Input, limit int64, parse func(buf []byte, partial, whole bool) (*H, *Reader)) (*H, error) {
	limit = min(limit, in.Size())
	for size := int64(64 << 10); ; size *= 16 {
		size = min(size, limit, MaxHeader)
		buf, err := decoder.ReadSpan(in, decoder.Span{Len: size}, MaxHeader)
		if err != nil {
			return nil, err
		}
		h, r := parse(buf, size < limit && size < MaxHeader, size == limit)
		if !r.Short() {
			return h, r.Err()
		}
	}
}
