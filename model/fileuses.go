package model

import (
	"slices"

	"chkscope/decoder/metadata"
	"chkscope/model/store"
)

// FileUse is one physical file that a checkpoint needs.
type FileUse struct {
	URI string // as this checkpoint names it, relative paths resolved
	// Need is how long it must be: exactly, or (segments of it, changelog files)
	// at least; Unknown where no handle records it.
	Need      int64
	Exact     bool
	Foreign   bool
	Operators []int // that need it, ascending
}

// FileUses lists every physical file once, in the order of the first use. It
// reads `_metadata` only.
func (s *Snapshot) FileUses() ([]FileUse, error) {
	var out []FileUse
	index := map[string]int{}
	err := s.Meta.EachStream(func(u metadata.StreamUse) error {
		l := s.Locate(u)
		if l.URI == "" {
			return nil
		}
		key := store.Canonical(l.URI)
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, FileUse{URI: l.URI, Need: Unknown})
		}
		f := &out[i]
		switch {
		case l.Segment, u.Part == metadata.LogStream:
			// The length that Flink records for a changelog file leaves out its first
			// byte, the compression flag (OutputStreamWithPos counts after it).
			f.Need = max(f.Need, l.Off+l.Len)
		case l.Len >= 0:
			f.Need, f.Exact = l.Len, true
		}
		f.Foreign = f.Foreign || l.Foreign
		if n := len(f.Operators); n == 0 || f.Operators[n-1] != u.Operator {
			if at, found := slices.BinarySearch(f.Operators, u.Operator); !found {
				f.Operators = slices.Insert(f.Operators, at, u.Operator)
			}
		}
		return nil
	})
	return out, err
}
