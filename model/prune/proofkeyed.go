package prune

import (
	"fmt"

	"chkscope/decoder"
	"chkscope/decoder/keyed"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
	"chkscope/model"
)

// rewrittenKeyed compares a keyed stream with what was made of it: a node
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
	src, err := c.p.app.work.snap.ReadKeyed(x, a)
	if err != nil {
		return err
	}
	src.MaxParallelism = c.p.app.work.removal.src.Operators[c.at.op].MaxParallelism
	// The layout was found out for the source; a stream that lost all its zero
	// offsets would not tell. Type 7 asks for no look.
	out, err := keyed.Open(y, c.p.out.In, metadata.TypeSavepoint, b.Groups, nil)
	if err != nil {
		return err
	}
	out.Layout = src.Layout
	return c.sameStates(what, src, out)
}

// sameStates compares two keyed streams state by state.
func (c *cell) sameStates(what string, src, out *keyed.Stream) error {
	e := c.p.app.work.keyedEdit(c.at, src)
	dropped := map[string]bool{}
	for _, n := range e.Drop {
		dropped[n] = true
	}
	before := c.p.count
	if err := c.sameRecords(what, src.In, kept(src.Header.States, dropped), out.In, out.Header.States); err != nil {
		return err
	}
	if err := c.sameKeySerializer(what, src, out); err != nil {
		return err
	}
	states, err := keyed.Compare(src, out, e)
	if err != nil {
		return err
	}
	gone, partly := c.p.r.namedIn(c.at), c.p.r.partlyIn(c.at)
	for i := range src.Header.States {
		name := src.Header.States[i].Name
		if gone[name] {
			c.p.gone(!states[i].Same, fmt.Sprintf("%s %s", what, decoder.Text(name)))
			continue
		}
		if !states[i].Same || partly[name] && states[i].Gone != c.p.r.entries.of(cellKey{c.at, model.KindKeyed, name}) {
			c.p.wrong("%s %s differs", what, decoder.Text(name))
		} else {
			c.p.proof.EntriesRemoved += states[i].Gone
		}
		c.p.node(before)
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
