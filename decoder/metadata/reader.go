package metadata

import (
	"fmt"
	"strconv"

	"chkscope/decoder"
)

const (
	// budgetBase is how much more memory than the file's size the structures of
	// one file may take.
	budgetBase = 128 << 20
	// maxNesting bounds handles inside handles (types 3, 8 and 14). Flink itself
	// nests once.
	maxNesting = 8
	// absurd is the list length from which a count that cannot fit into the
	// rest of the file is refused at once. Below it, what is there is read, so
	// that a truncated file shows its beginning.
	absurd = 1 << 20
)

// reader decodes the structures of one file.
type reader struct {
	*decoder.Cursor
	layout
	// keep is false while structures are only stepped over to find their end.
	keep    bool
	names   map[string]string
	heap    int64
	budget  int64
	nesting int
	inline  int64 // data bytes of type 1 handles so far
	// met tells which of the structures with a legacy layout were met.
	metChangelog, metChannels bool
}

// layout is what decides how a structure is written.
type layout struct {
	version              int32
	legacy114, legacy111 bool
}

func newReader(in decoder.Input, off, end int64, l layout) *reader {
	return &reader{
		Cursor: decoder.NewCursor(in, off, end),
		layout: l, keep: true, names: map[string]string{},
		budget: budgetBase + max(end-off, 0),
	}
}

// charge accounts for memory that is about to be taken.
func (r *reader) charge(n int64) bool {
	r.heap += n
	if r.heap > r.budget {
		r.FailAt(r.Off(), fmt.Sprintf("structures that fit into %d bytes of memory", r.budget), "more", nil)
	}
	return r.Err() == nil
}

// utf reads a string: "" where nothing is kept.
func (r *reader) utf(what string) string { return r.str(r.UTFBytes(what)) }

// path reads a path, which Flink refuses where it is empty.
func (r *reader) path(what string) string {
	at := r.Off()
	b := r.UTFBytes(what)
	if len(b) == 0 {
		r.FailAt(at, what, "empty string", nil)
	}
	return r.str(b)
}

func (r *reader) str(b []byte) string {
	if !r.keep || len(b) == 0 {
		return ""
	}
	if s, ok := r.names[string(b)]; ok {
		return s
	}
	if !r.charge(int64(len(b)) + 64) {
		return ""
	}
	s := string(b)
	r.names[s] = s
	return s
}

// length reads an i32 number of bytes that follow (not necessarily at once).
func (r *reader) length(what string) int64 { return int64(r.Count(what, 1)) }

// array steps over n values of 8 bytes.
func (r *reader) array(n int, what string) Offsets {
	return Offsets{Span: r.Skip(int64(n)*8, what)}
}

// newList makes room for n elements of at least each bytes in the file, as far
// as the rest of the file can hold them and the budget allows.
func newList[T any](r *reader, n int, each, size int64) []T {
	n = int(min(int64(n), r.Left()/each))
	if n <= 0 || !r.charge(int64(n)*size) {
		return nil
	}
	return make([]T, 0, n)
}

// openCount reads the length of a list of which the elements that are there
// are wanted even where the file ends early.
func (r *reader) openCount(what string, each int64) int {
	at := r.Off()
	n := r.I32(what)
	if r.Err() == nil && (n < 0 || n > absurd && int64(n) > r.Left()/each) {
		r.FailAt(at, fmt.Sprintf("%s between 0 and %d", what, r.Left()/each), strconv.Itoa(int(n)), nil)
		return 0
	}
	return int(n)
}

// nest enters one more level of handles inside handles, behind its type byte.
func (r *reader) nest() bool {
	if r.nesting++; r.nesting > maxNesting {
		r.FailAt(r.Off()-1, fmt.Sprintf("at most %d handles inside each other", maxNesting), "more", nil)
	}
	return r.Err() == nil
}

func (r *reader) ok() bool { return r.Err() == nil }

// failure is Err as a plain error.
func (r *reader) failure() error {
	if e := r.Err(); e != nil {
		return e
	}
	return nil
}

// fresh begins an element that is decoded on demand and not kept: it has the
// whole budget.
func (r *reader) fresh(what string, i int) {
	r.heap = 0
	clear(r.names)
	r.Enter(what, i)
}

func (c *Checkpoint) layout() layout {
	return layout{version: c.Version, legacy114: c.Legacy114, legacy111: c.Legacy111}
}
