package opstate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"chkscope/decoder/serde"
	"chkscope/decoder/snappyframe"
)

// maxEntry is how many bytes one key or value of a broadcast state may have.
const maxEntry = 256 << 20

// Entry is one entry of a broadcast state.
type Entry struct {
	Index int64
	Off   int64  // in the bytes of the map, decompressed
	Key   []byte // valid during the call, like Value
	Value []byte
	// Err is set where the serializer does not tell the end of the key or value:
	// Value has the first bytes of all that follows, and the entry is the last one
	// that can be told. Key is empty where it is the key's end that is not known.
	Err error
}

// Entries calls f for n entries of broadcast state i from number from on, and
// gives how many entries there are. Those before are walked by their serializers.
func (s *Stream) Entries(i int, from, n int64, f func(Entry) error) (int64, error) {
	if err := s.index(); err != nil {
		return 0, err
	}
	name := s.States[i].Name
	off := s.places[i].first
	if off < 0 || s.Header == nil || s.Header.State(name) == nil {
		return 0, nil
	}
	m := s.Header.State(name)
	end := s.endOf(i, off, -1)
	r := mapReader{in: io.NewSectionReader(s.In, off, end-off)}
	if s.compressed() {
		r.in = snappyframe.NewReader(s.In, off, end)
	}
	if err := r.need(4); err != nil {
		return 0, damage(s.In, off, stateName(name), "number of entries (4 bytes)", err.Error(), err)
	}
	count := int64(int32(binary.BigEndian.Uint32(r.buf)))
	r.step(4)
	if count < 0 || count > end-off && !s.compressed() {
		return 0, damage(s.In, off, stateName(name), fmt.Sprintf("number of entries up to %d", end-off), strconv.FormatInt(count, 10), nil)
	}
	key, value := m.Serializer(serde.KeySerializer), m.Serializer(serde.ValueSerializer)
	to := count
	if n < count-from {
		to = from + n
	}
	empty := false
	for k := int64(0); k < to; k++ {
		e, err := r.entry(key, value)
		if err == nil && e.Err == nil && len(e.Key) == 0 {
			if empty { // or a count of 2^31 would be entries without a byte
				err = errors.New("a second entry with an empty key")
			}
			empty = true
		}
		if e.Index = k; err != nil {
			return count, damage(s.In, off, fmt.Sprintf("%s / entry %d", stateName(name), k), "key and value", err.Error(), err)
		}
		if k >= from || e.Err != nil {
			if err := f(e); err != nil {
				return count, err
			}
		}
		if e.Err != nil {
			return count, nil
		}
		r.step(len(e.Key) + len(e.Value))
	}
	return count, nil
}

// mapReader gives the entries of a map out of a window.
type mapReader struct {
	in  io.Reader
	buf []byte // unread bytes
	all []byte // buf is its end
	pos int64  // of buf[0]
	eof bool
}

func (r *mapReader) step(n int) {
	r.buf = r.buf[n:]
	r.pos += int64(n)
}

// more reads on: at least as much again as there is.
func (r *mapReader) more() error {
	size := max(2*len(r.buf), 64<<10)
	if cap(r.all) < size {
		r.all = append(make([]byte, 0, size), r.buf...)
	} else {
		r.all = r.all[:copy(r.all[:len(r.buf)], r.buf)]
	}
	n, err := io.ReadFull(r.in, r.all[len(r.all):size])
	r.all = r.all[:len(r.all)+n]
	r.buf = r.all
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		r.eof, err = true, nil
	}
	return err
}

func (r *mapReader) need(n int) error {
	for len(r.buf) < n {
		if r.eof {
			return io.ErrUnexpectedEOF
		}
		if err := r.more(); err != nil {
			return err
		}
	}
	return nil
}

// entry gives the next entry, without stepping over it.
func (r *mapReader) entry(key, value *serde.Snapshot) (Entry, error) {
	for {
		n, err := serde.Skip(key, r.buf)
		m := 0
		if err == nil {
			m, err = serde.Skip(value, r.buf[n:])
		}
		switch {
		case err == nil:
			return Entry{Off: r.pos, Key: r.buf[:n], Value: r.buf[n : n+m]}, nil
		case errors.Is(err, serde.ErrOpaque) && (r.eof || len(r.buf) >= windowLen):
			return Entry{Off: r.pos, Key: r.buf[:n], Value: r.buf[n:], Err: err}, nil
		case !r.eof && len(r.buf) < maxEntry:
			if err := r.more(); err != nil {
				return Entry{}, err
			}
		default:
			return Entry{}, err
		}
	}
}
