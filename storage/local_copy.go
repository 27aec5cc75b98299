package storage

import (
	"context"
	"io"

	"chkscope/model/store"
)

// Copy shares the blocks where the file system can (reflink), and reads and
// writes otherwise. Either way every byte is read once for the checksum: of the
// new file after a reflink, on its way from the old to the new one else.
func (l local) Copy(ctx context.Context, src string, off, length int64, dst string, progress func(int64)) (store.Sum, error) {
	opened, err := l.Open(ctx, src)
	if err != nil {
		return store.Sum{}, err
	}
	defer opened.Close()
	length, err = copyLength(opened, off, length)
	if err != nil {
		return store.Sum{}, err
	}
	p, err := localPath("copy", dst)
	if err != nil {
		return store.Sum{}, err
	}
	t, err := newTemp(p)
	if err != nil {
		return store.Sum{}, err
	}
	sum, err := copyInto(ctx, t, opened.(*localObject), off, length, progress)
	if err != nil {
		t.discard()
		return store.Sum{}, err
	}
	return sum, t.commit()
}

// copyInto fills t and gives its checksum.
func copyInto(ctx context.Context, t *temp, in *localObject, off, length int64, progress func(int64)) (store.Sum, error) {
	var (
		sum store.Sum
		err error
	)
	if off == 0 && length == in.size && reflink(t.f, in.f) == nil {
		sum, err = pump(ctx, io.Discard, io.NewSectionReader(t.f, 0, length), progress)
	} else {
		sum, err = pump(ctx, t, io.NewSectionReader(in, off, length), progress)
	}
	if err == nil {
		err = in.check()
	}
	if err == nil && sum.Size != length {
		err = changed(in.path, "it became shorter while it was copied")
	}
	return sum, localError("copy", t.path, err)
}
