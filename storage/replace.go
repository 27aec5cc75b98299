package storage

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"chkscope/model/store"
)

// CanReplace tells why Replace cannot be asked for uri, nil where it can.
func (r *Router) CanReplace(uri string) error {
	s, mapped, err := r.route("replace", uri)
	if err != nil {
		return err
	}
	if _, refused := s.(*readOnly); refused {
		return refuseWrite("replace", mapped)
	}
	if _, local := store.LocalPath(mapped); !local {
		return &Error{Op: "replace", URI: store.Redact(mapped), Kind: store.ErrCannotAsk,
			Problem: "an object store has no rename, and not every one refuses a write (If-Match) to an object that was changed meanwhile",
			Hint:    "put the new object there by hand, as the next steps say"}
	}
	return nil
}

// Replace gives the file by the name uri, in one step and durably: there is no
// moment without a whole file of that name. It gets the mode and the owner of the
// file that had the name. Both are on the local disk and in the same directory.
func (r *Router) Replace(ctx context.Context, by, uri string) error {
	if err := errors.Join(r.CanReplace(uri), ctx.Err()); err != nil {
		return err
	}
	from, err := localPath("replace", r.maps.Apply(by))
	if err != nil {
		return err
	}
	to, err := localPath("replace", r.maps.Apply(uri))
	if err != nil {
		return err
	}
	if to, err = filepath.EvalSymlinks(to); err != nil {
		return localError("replace", to, err)
	}
	if err := sameOwner(from, to); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return localError("write", to, err)
	}
	return localError("write", to, syncDir(filepath.Dir(to)))
}

// sameOwner gives from the mode and the owner of to: who could read that has to
// read this.
func sameOwner(from, to string) error {
	info, err := os.Stat(to)
	if err != nil {
		return localError("replace", to, err)
	}
	if err := os.Chmod(from, info.Mode().Perm()); err != nil {
		return localError("write", from, err)
	}
	want, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	now, err := os.Stat(from)
	if err != nil {
		return localError("replace", from, err)
	}
	if have, ok := now.Sys().(*syscall.Stat_t); ok && (have.Uid != want.Uid || have.Gid != want.Gid) {
		if err := os.Chown(from, int(want.Uid), int(want.Gid)); errors.Is(err, fs.ErrPermission) {
			return &Error{Op: "replace", URI: to, Err: err, Problem: "the new file cannot be given to its owner", Hint: "run as the user who owns it"}
		} else if err != nil {
			return localError("write", from, err)
		}
	}
	return nil
}
