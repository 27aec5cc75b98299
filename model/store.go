package model

import "chkscope/model/store"

// The storage interface is declared in model/store, which imports nothing of
// ours, so that storages and the model's own tests can both import it.
type (
	Store      = store.Store
	Object     = store.Object
	Info       = store.Info
	WriteStore = store.WriteStore
	Writer     = store.Writer
	Sum        = store.Sum
)

var (
	// ErrNotExist is a definite answer: nothing is there.
	ErrNotExist = store.ErrNotExist
	// ErrExist: the destination is there already.
	ErrExist = store.ErrExist
	// ErrCannotAsk: another scheme, no access: neither there nor not there.
	ErrCannotAsk = store.ErrCannotAsk
	// ErrChanged: the file was changed, replaced or deleted after it was opened.
	ErrChanged = store.ErrChanged
	// ErrReadOnly: nothing may be written (--read-only).
	ErrReadOnly = store.ErrReadOnly
)
