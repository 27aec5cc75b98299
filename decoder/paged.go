package decoder

import "io"

// Paged gives an Input that reads in in pages of at most so many bytes and keeps
// the last one, for many small reads that move forward. Behind a jump it begins
// with a small page: who jumps on needs no more of it. It is not safe for
// concurrent use.
func Paged(in Input, page int) Input { return &paged{Input: in, page: make([]byte, 0, page)} }

type paged struct {
	Input
	page []byte
	base int64
}

func (p *paged) ReadAt(dst []byte, off int64) (int, error) {
	if len(dst) > cap(p.page) || off < 0 {
		return p.Input.ReadAt(dst, off)
	}
	if off < p.base || off+int64(len(dst)) > p.base+int64(len(p.page)) {
		size := int64(firstWindow)
		if off >= p.base && off <= p.base+int64(len(p.page)) {
			size = max(2*int64(len(p.page)), size)
		}
		size = min(max(size, int64(len(dst))), int64(cap(p.page)), p.Size()-off)
		if size < int64(len(dst)) {
			return p.Input.ReadAt(dst, off)
		}
		p.page = p.page[:size]
		n, err := p.Input.ReadAt(p.page, off)
		p.base, p.page = off, p.page[:n]
		if n < len(dst) {
			if err == nil {
				err = io.ErrUnexpectedEOF
			}
			return copy(dst, p.page), err
		}
	}
	return copy(dst, p.page[off-p.base:]), nil
}
