package prune

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"chkscope/decoder"
	"chkscope/decoder/keyed"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
)

// rewrittenKeyed compares a canonical stream with what was made of it: a node
// for each state of its header.
func (c *cell) rewrittenKeyed(what string, a, b *metadata.KeyedHandle) error {
	what = c.where + ": " + what
	if b == nil || b.Groups == nil || a.Type != b.Type || a.Start != b.Start || a.Number != b.Number || a.HandleID != "" && a.HandleID == b.HandleID {
		c.p.wrong("%s is missing, or its handle differs", what)
		return nil
	}
	x, err := c.p.app.work.openSource(c.p.ctx, innerStream(&a.Groups.Stream))
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := c.p.openCopy(c.p.ctx, innerStream(&b.Groups.Stream))
	if err != nil {
		return err
	}
	defer y.Close()
	src, err := keyed.Open(x, c.p.src.In, a.Type, a.Groups, nil)
	if err != nil {
		return err
	}
	// The type 7 says that the new stream is canonical; it was found out for the
	// source, and a stream that lost all its zero offsets would not tell.
	out, err := keyed.Open(y, c.p.out.In, metadata.TypeSavepoint, b.Groups, nil)
	if err != nil {
		return err
	}
	gone := c.p.r.namedIn(c.at)
	before := c.p.count
	if err := c.sameRecords(what, src.In, kept(src.Header.States, gone), out.In, out.Header.States); err != nil {
		return err
	}
	if err := c.sameKeySerializer(what, src, out); err != nil {
		return err
	}
	sums, err := contents(src)
	if err != nil {
		return err
	}
	outSums, err := contents(out)
	if err != nil {
		return err
	}
	for i := range src.Header.States {
		name := src.Header.States[i].Name
		k := out.Header.State(name)
		switch {
		case gone[name]:
			c.p.gone(k >= 0, fmt.Sprintf("%s %s", what, decoder.Text(name)))
		case k < 0 || sums[i] != outSums[k]:
			c.p.wrong("%s %s differs", what, decoder.Text(name))
			c.p.node(before)
		default:
			c.p.node(before)
		}
	}
	return nil
}

// sameKeySerializer compares what stands before the records of a header: the
// version, and the key serializer behind the compression flag.
func (c *cell) sameKeySerializer(what string, src, out *keyed.Stream) error {
	x, y := src.Header, out.Header
	if x.Version != y.Version || y.Compressed || len(x.States) == 0 || len(y.States) == 0 {
		c.p.wrong("%s: the header of its stream differs", what)
		return nil
	}
	from := int64(4)
	if x.Version >= 4 {
		from = 5
	}
	until := func(h *keyed.Header) decoder.Span {
		return decoder.Span{Off: from, Len: h.States[0].Span.Off - 2 - from}
	}
	return c.p.equalBytes(what+": its key serializer", src.In, until(x), out.In, until(y))
}

func kept(states []serde.StateMeta, gone map[string]bool) []serde.StateMeta {
	var out []serde.StateMeta
	for _, m := range states {
		if !gone[m.Name] {
			out = append(out, m)
		}
	}
	return out
}

// sameRecords compares header records byte by byte.
func (c *cell) sameRecords(what string, x decoder.Input, a []serde.StateMeta, y decoder.Input, b []serde.StateMeta) error {
	if len(a) != len(b) {
		c.p.wrong("%s: its header has %d states, not %d", what, len(b), len(a))
		return nil
	}
	for i := range a {
		same, err := sameSpans(x, a[i].Span, y, b[i].Span)
		if err != nil {
			return err
		}
		if !same {
			c.p.wrong("%s: the record of %s in its header differs", what, decoder.Text(a[i].Name))
		}
	}
	return nil
}

// entryCut is the longest key or value that is held.
const entryCut = 1 << 30

// contents sums the entries of each state of a canonical stream, by id: key
// groups, keys and values in their order.
func contents(s *keyed.Stream) (map[int][32]byte, error) {
	hashes := make([]hash.Hash, len(s.Header.States))
	for i := range hashes {
		hashes[i] = sha256.New()
	}
	var head [20]byte
	for g := range s.Groups() {
		_, err := s.Walk(g, entryCut, func(e keyed.Entry) error {
			if e.KeyLen > entryCut || e.ValueLen > entryCut {
				return fmt.Errorf("%s: key group %d: an entry is too long to be compared", s.In.Name(), int(s.Start)+g)
			}
			binary.BigEndian.PutUint32(head[:], uint32(s.Start)+uint32(g))
			binary.BigEndian.PutUint64(head[4:], uint64(e.KeyLen))
			binary.BigEndian.PutUint64(head[12:], uint64(e.ValueLen))
			h := hashes[e.State]
			h.Write(head[:])
			h.Write(e.Key)
			h.Write(e.Value)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	out := map[int][32]byte{}
	for i, h := range hashes {
		out[i] = [32]byte(h.Sum(nil))
	}
	return out, nil
}
