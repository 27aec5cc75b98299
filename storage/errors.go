package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"chkscope/model/store"
)

// Error is a failed storage operation as a sentence: what was tried, on what,
// what was wrong, what to do about it. errors.Is finds both Kind (one of the
// store.Err… values, where one applies) and Err.
type Error struct {
	Op      string // "open", "read", "stat", "list", "create", "write", "copy", "remove"
	URI     string // a local path or a URI, without secrets
	Problem string
	Hint    string // what to try; empty where there is nothing
	Kind    error
	Err     error
	// Transient: it may go well when it is tried again at once (a connection cut
	// in the middle of a body). What a store has tried often enough is not.
	Transient bool
}

func (e *Error) Error() string {
	s := "cannot " + e.Op + " " + e.URI + ": " + e.Problem
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap gives Kind and Err to errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// localError makes a sentence of what the operating system said.
func localError(op, path string, err error) error {
	var done *Error
	if err == nil || errors.As(err, &done) || errors.Is(err, io.EOF) {
		return err
	}
	e := &Error{Op: op, URI: path, Err: err, Problem: plainCause(err)}
	writing := op == "create" || op == "write" || op == "copy" || op == "remove"
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR) && !writing:
		e.Kind, e.Problem = store.ErrNotExist, "it does not exist"
	case errors.Is(err, fs.ErrExist):
		e.Kind, e.Problem, e.Hint = store.ErrExist, "it exists already", "nothing is ever replaced: choose another destination"
	case errors.Is(err, syscall.ENOSPC):
		e.Problem = "no space is left on its file system"
		if n := freeAt(path); n >= 0 {
			e.Problem += fmt.Sprintf(", %d bytes are free", n)
		}
		e.Hint = "make room and run the same command again, it goes on where it stopped; or choose another destination"
	case errors.Is(err, syscall.EDQUOT):
		e.Problem, e.Hint = "the disk quota is used up", "make room and run the same command again, or choose another destination"
	case errors.Is(err, syscall.EROFS):
		e.Kind, e.Problem, e.Hint = store.ErrReadOnly, "its file system is mounted read-only", "choose a destination elsewhere"
	case errors.Is(err, syscall.EFBIG):
		e.Problem, e.Hint = "its file system does not take a file of this length", "choose a destination on another file system"
	case errors.Is(err, fs.ErrPermission) && writing:
		e.Problem, e.Hint = "permission denied", "choose a destination that you may write to, or run as its owner"
	case errors.Is(err, fs.ErrPermission):
		e.Kind, e.Problem, e.Hint = store.ErrCannotAsk, "permission denied", "run as a user who may read it"
	case errors.Is(err, syscall.ENAMETOOLONG):
		e.Problem = "the name is longer than its file system allows"
	case errors.Is(err, syscall.ENOTDIR):
		e.Problem, e.Hint = "a part of its path is a file, not a directory", "choose another destination"
	case errors.Is(err, syscall.EIO):
		e.Problem, e.Hint = "the device reported an input/output error", "look at the kernel's log"
	case errors.Is(err, syscall.ESTALE):
		e.Kind, e.Problem = store.ErrChanged, "the file server says that it is gone (stale handle)"
	}
	return e
}

// plainCause is the error below the wrapping that repeats the path.
func plainCause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

func changed(path, how string) error {
	return &Error{Op: "read", URI: path, Kind: store.ErrChanged, Problem: how, Hint: "open it again"}
}
