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

// search finds the places of some words, one after the other.
type search struct {
	buf   []byte
	words [][]byte
	at    []int // of each word: the next place, -1 before the first search
}

func (r *Reader) search(words ...[]byte) *search {
	s := &search{buf: r.buf[:r.end], words: words, at: make([]int, len(words))}
	for i := range s.at {
		s.at[i] = -1
	}
	return s
}

// next is the first place of a word at or behind from, which never goes back;
// -1 where there is none.
func (s *search) next(from int) int {
	first := math.MaxInt
	for i, w := range s.words {
		if s.at[i] < from {
			s.at[i] = math.MaxInt
			if k := bytes.Index(s.buf[min(from, len(s.buf)):], w); k >= 0 {
				s.at[i] = from + k
			}
		}
		first = min(first, s.at[i])
	}
	if first == math.MaxInt {
		return -1
	}
	return first
}

// nextSerializer is where the next serializer of a record begins: its key.
func (r *Reader) nextSerializer(from int) int { return r.search(keyWords...).next(from) }

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
	known := make(map[string]bool, len(names))
	for _, n := range names {
		known[n] = true
	}
	s := r.search(append(optionWords[:len(optionWords):len(optionWords)], queueWord)...)
	for i := s.next(from); i >= 0; i = s.next(i + 1) {
		typeAt := i - 4
		if bytes.HasPrefix(r.buf[i:r.end], queueWord) {
			typeAt = i
		}
		if typeAt < from {
			continue
		}
		kind := int32(binary.BigEndian.Uint32(r.buf[typeAt:]))
		if kind < 0 || kind > int32(KeyValueV2) {
			continue
		}
		if at := r.nameBefore(from, typeAt, known); at >= 0 {
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
		if shortest < 0 && utf8.Valid(name) {
			shortest = at
		}
	}
	return shortest
}

// ProxyOr reads a proxy; where that fails, end tells where the next structure
// begins, searching from the offset given (-1: unknown), and the node is opaque
// up to there.
func (r *Reader) ProxyOr(end func(from int64) int64) *Snapshot {
	return r.resync(func(from int) int { return int(end(r.base+int64(from)) - r.base) })
}
