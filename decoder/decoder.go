// Package decoder holds what every format reader of chkscope shares: where
// bytes come from (Input), how a stretch of them is named (Span), how damage is
// reported (Error) and the bounded forward reader that all streams are read
// with (Cursor).
//
// Nothing below this package does I/O beyond the io.ReaderAt inside an Input,
// knows a terminal or decides policy.
package decoder

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Input is the bytes of one file, object or in-memory value. Offsets in spans
// and errors are offsets in it. Implementations must be safe for concurrent
// ReadAt calls.
type Input interface {
	io.ReaderAt
	// Size is the length in bytes.
	Size() int64
	// Name is how a person finds the bytes again: a path, a URI, or
	// "file#offset" for a part of one.
	Name() string
}

// Span is a stretch of an Input, in bytes. It stands for contents that were
// stepped over: an offset array, an inline blob.
type Span struct{ Off, Len int64 }

// End is the offset of the first byte behind the span.
func (s Span) End() int64 { return s.Off + s.Len }

// Error is damage, or a form that is not understood, at one place of an Input.
type Error struct {
	File     string // Input.Name
	Offset   int64  // where the offending bytes begin
	Path     string // structures around it, e.g. "operator 3 / subtask 5 / offsets"
	Expected string
	Found    string
	Err      error // cause, where there is one (an I/O error, io.ErrUnexpectedEOF)
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: offset %d", e.File, e.Offset)
	if e.Path != "" {
		fmt.Fprintf(&b, ", %s", e.Path)
	}
	fmt.Fprintf(&b, ": expected %s, found %s", e.Expected, e.Found)
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// ErrVersion is wrapped by an Error for a format version that is not decoded at
// all: nothing of the file is shown (exit code 3).
var ErrVersion = errors.New("unsupported format version")

// Bytes is an Input over memory.
type Bytes struct {
	Data  []byte
	Label string
}

func (b Bytes) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > int64(len(b.Data)) {
		return 0, io.EOF
	}
	n := copy(p, b.Data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (b Bytes) Size() int64  { return int64(len(b.Data)) }
func (b Bytes) Name() string { return b.Label }

// Section is the part s of in as an Input of its own.
func Section(in Input, s Span, name string) Input {
	return section{io.NewSectionReader(in, s.Off, s.Len), name}
}

type section struct {
	*io.SectionReader
	name string
}

func (s section) Name() string { return s.name }

// ReadSpan reads a whole span into memory; more than limit bytes are refused.
func ReadSpan(in Input, s Span, limit int64) ([]byte, error) {
	if s.Len > limit {
		return nil, &Error{File: in.Name(), Offset: s.Off, Expected: fmt.Sprintf("at most %d bytes", limit), Found: fmt.Sprintf("%d", s.Len)}
	}
	if s.Off < 0 || s.Len < 0 || s.Off > in.Size()-s.Len {
		return nil, &Error{File: in.Name(), Offset: s.Off, Expected: fmt.Sprintf("%d bytes", s.Len), Found: fmt.Sprintf("end of file at %d", in.Size()), Err: io.ErrUnexpectedEOF}
	}
	p := make([]byte, s.Len)
	if n, err := in.ReadAt(p, s.Off); n < len(p) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, &Error{File: in.Name(), Offset: s.Off + int64(n), Expected: fmt.Sprintf("%d more bytes", len(p)-n), Found: err.Error(), Err: err}
	}
	return p, nil
}
