package keyed

import (
	"encoding/binary"
	"errors"

	"chkscope/decoder/serde"
)

// MapPart is an entry of the map that a heap MAP keeps as the value of a key.
type MapPart struct {
	Key, Value []byte // Value is nil where Null
	Null       bool
	Raw        []byte // all of it, with the flag between the two
}

// errMap says that a value is not a map that can be taken apart.
var errMap = errors.New("a value that is not a map of known types")

// MapParts takes the value of a heap MAP (i32 n, n x (user key, bool null,
// [value])) apart. The error wraps serde.ErrOpaque where nothing tells where a key
// or value ends.
func (t *Types) MapParts(value []byte, f func(MapPart) error) error {
	if !t.Map || t.Layout != Heap || t.UserKey == nil || t.Value == nil || len(value) < 4 {
		return errMap
	}
	n, rest := binary.BigEndian.Uint32(value), value[4:]
	for range n {
		k, err := serde.Skip(t.UserKey, rest)
		if err != nil {
			return err
		}
		if k == len(rest) || rest[k] > 1 {
			return errMap
		}
		p := MapPart{Key: rest[:k], Null: rest[k] == 1}
		v := 0
		if !p.Null {
			if v, err = serde.Skip(t.Value, rest[k+1:]); err != nil {
				return err
			}
			p.Value = rest[k+1 : k+1+v]
		}
		p.Raw, rest = rest[:k+1+v], rest[k+1+v:]
		if err := f(p); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		return errMap
	}
	return nil
}

// JoinMap is the value of a heap MAP that has these entries (MapPart.Raw).
func JoinMap(raw [][]byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(raw)))
	for _, r := range raw {
		out = append(out, r...)
	}
	return out
}
