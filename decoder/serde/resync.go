package serde

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"unicode/utf8"
)

// maxEmpty bounds how many unknown classes of one serializer are tried as
// empty snapshots.
const maxEmpty = 8

// resync reads a proxy. Where that fails, end tells where the next structure
// begins, searching from the offset given (-1: unknown). If the proxy reads
// exactly up to there with its unknown classes taken as snapshots without a
// payload, it is kept so; else it is opaque.
func (r *Reader) resync(end func(from int) int) *Snapshot {
	if !r.ok() {
		return nil
	}
	at := r.off
	whole := r.section(at, r.end)
	s := whole.Proxy()
	to := -1
	if !whole.ok() && !r.Partial {
		from := whole.off
		if whole.unknown == nil {
			from = min(at+4, r.end) // no offset behind the version can be trusted
		}
		if to = end(from); to < from || to > r.end {
			to = -1
		}
		if whole.err.Err == io.ErrUnexpectedEOF && to > r.end-4 {
			to = -1 // cut off: nothing was recognised behind it
		}
	}
	if to < 0 {
		r.off, r.err, r.unknown = whole.off, whole.err, whole.unknown
		return s
	}
	first := whole
	r.off = to
	empty := map[string]bool{}
	for whole.unknown != nil && len(empty) < maxEmpty && !empty[whole.unknown.Class] {
		empty[whole.unknown.Class] = true
		whole = r.section(at, to)
		whole.empty = empty
		if t := whole.Proxy(); whole.ok() && whole.off == to {
			return t
		}
	}
	return first.opaque(s, at, to)
}

var serializerKeys = []string{KeySerializer, NamespaceSerializer, ValueSerializer, UserKeySerializer}

// utf is s as writeUTF writes it.
func utf(s string) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...)
}

// Fixed words of records of layouts 6 and 7.
var (
	keyWords    [][]byte // utf KEY, i32 2 (proxy version)
	optionWords [][]byte // i32 1 (one option), utf KEY
	queueWord   = append([]byte{0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1}, utf(ValueSerializer)...)
)

func init() {
	for _, k := range serializerKeys {
		keyWords = append(keyWords, append(utf(k), 0, 0, 0, 2))
	}
	for _, k := range []string{KeyedStateType, DistributionMode} {
		optionWords = append(optionWords, append([]byte{0, 0, 0, 1}, utf(k)...))
	}
}

// search finds the places of some words. It keeps what it found, so that
// searching on from place to place reads the buffer once.
type search struct {
	buf   []byte
	words [][]byte
	found []place
}

// place is the first place of a word at or behind since; math.MaxInt: none.
type place struct{ since, at int }

func newSearch(buf []byte, words ...[]byte) *search {
	s := &search{buf: buf, words: words, found: make([]place, len(words))}
	for i := range s.found {
		s.found[i].at = -1
	}
	return s
}

// next is the first place of a word at or behind from, -1 where there is none.
func (s *search) next(from int) int {
	first := math.MaxInt
	for i, w := range s.words {
		p := &s.found[i]
		if p.at < from || p.since > from {
			*p = place{from, math.MaxInt}
			if k := bytes.Index(s.buf[min(from, len(s.buf)):], w); k >= 0 {
				p.at = from + k
			}
		}
		first = min(first, p.at)
	}
	if first == math.MaxInt {
		return -1
	}
	return first
}

// finder is what a Reader and its parts find places with.
type finder struct {
	keys, records *search
	names         []string // of known
	known         map[string]bool
}

// nextSerializer is where the next serializer of a record begins: its key.
func (r *Reader) nextSerializer(from int) int {
	if r.find.keys == nil {
		r.find.keys = newSearch(r.buf, keyWords...)
	}
	return r.find.keys.next(from)
}

// Record is the place of a state record that was found by its fixed words.
type Record struct {
	Off  int64
	Kind StateKind
}

// FindRecord finds the first state record of layout 6 or 7 that begins at or
// behind the offset from by its fixed words, without reading any serializer.
// Names are as for StateMetas.
func (r *Reader) FindRecord(from int64, names []string) (Record, bool) {
	if from < r.base || from > r.base+int64(r.end) {
		return Record{}, false
	}
	at, kind := r.findRecord(int(from-r.base), names)
	return Record{r.base + int64(at), kind}, at >= 0
}

func (r *Reader) findRecord(from int, names []string) (at int, kind StateKind) {
	f := r.find
	if f.records == nil {
		f.records = newSearch(r.buf, append(optionWords[:len(optionWords):len(optionWords)], queueWord)...)
	}
	if f.known == nil || len(f.names) != len(names) || len(names) > 0 && &f.names[0] != &names[0] {
		f.names, f.known = names, make(map[string]bool, len(names))
		for _, n := range names {
			f.known[n] = true
		}
	}
	s := f.records
	for i := s.next(from); i >= 0; i = s.next(i + 1) {
		typeAt := i - 4
		if bytes.HasPrefix(r.buf[i:r.end], queueWord) {
			typeAt = i
		}
		if typeAt < from || typeAt+4 > r.end {
			continue
		}
		kind := int32(binary.BigEndian.Uint32(r.buf[typeAt:]))
		if kind < 0 || kind > int32(KeyValueV2) {
			continue
		}
		if at := r.nameBefore(from, typeAt, f.known); at >= 0 {
			return at, StateKind(kind)
		}
	}
	return -1, 0
}

// nameBefore finds the utf that ends at end and begins at or behind from: one
// of names where there is one, else the shortest that is text.
func (r *Reader) nameBefore(from, end int, names map[string]bool) int {
	shortest := -1
	for n := 1; n <= math.MaxUint16 && end-n-2 >= from; n++ {
		at := end - n - 2
		if r.buf[at+2] < ' ' || r.buf[at+2] == 0x7f {
			break // no longer text from here on
		}
		if int(binary.BigEndian.Uint16(r.buf[at:])) != n {
			continue
		}
		name := r.buf[at+2 : end]
		if names[string(name)] {
			return at
		}
		if shortest < 0 && isText(name) {
			shortest = at
		}
	}
	return shortest
}

// isText says whether p is modified UTF-8: a supplementary character is two
// surrogates of three bytes each.
func isText(p []byte) bool {
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError && n == 1 {
			if len(p) < 3 || p[0] != 0xed || p[1]&0xe0 != 0xa0 || p[2]&0xc0 != 0x80 {
				return false
			}
			n = 3
		}
		p = p[n:]
	}
	return true
}

// ProxyOr reads a proxy; where that fails, end tells where the next structure
// begins, searching from the offset given (-1: unknown), and the node is opaque
// up to there.
func (r *Reader) ProxyOr(end func(from int64) int64) *Snapshot {
	return r.resync(func(from int) int { return int(end(r.base+int64(from)) - r.base) })
}
