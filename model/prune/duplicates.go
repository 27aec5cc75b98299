package prune

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/opstate"
)

// duplicateCut is how many bytes of an element are compared; a longer one is
// never a duplicate.
const duplicateCut = 16 << 20

// duplicates resolves duplicates into elements: those that are byte-equal to a
// later one, in subtask order, then offset order. Readers of a union list let
// the last one win.
func (w *work) duplicates(ctx context.Context) error {
	for k, rm := range w.removal.states {
		if len(rm.duplicates) == 0 {
			continue
		}
		if err := w.duplicatesOf(ctx, k, rm); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) duplicatesOf(ctx context.Context, k stateKey, rm *stateRemoval) error {
	holders := slices.Clone(rm.holders)
	subs := w.removal.src.Operators[k.op].Subtasks
	slices.SortStableFunc(holders, func(a, b int) int { return int(subs[a].Index) - int(subs[b].Index) })
	last := map[[16]byte]int64{} // number of the last element of this content
	starts := make([]int64, len(holders))
	total := int64(0)
	// The first pass notes where each content comes last, the second what goes.
	for i, sub := range holders {
		starts[i] = total
		n, err := w.eachElement(ctx, k, sub, func(e opstate.Element, sum [16]byte) { last[sum] = total + e.Index })
		if err != nil {
			return err
		}
		total += n
	}
	rm.found = map[int][]metadata.Range{}
	for i, sub := range holders {
		if !rm.duplicates[sub] {
			continue
		}
		var gone []metadata.Range
		_, err := w.eachElement(ctx, k, sub, func(e opstate.Element, sum [16]byte) {
			if last[sum] == starts[i]+e.Index {
				return
			}
			if n := len(gone); n > 0 && gone[n-1].Last+1 == e.Index {
				gone[n-1].Last++
				return
			}
			gone = append(gone, metadata.Range{First: e.Index, Last: e.Index})
		})
		if err != nil {
			return err
		}
		if len(gone) > 0 {
			rm.found[sub] = gone
			rm.entries[sub] = append(rm.entries[sub], gone...)
		}
	}
	return nil
}

// eachElement gives each element of a state in one subtask with a sum of its
// bytes, and how many there are.
func (w *work) eachElement(ctx context.Context, k stateKey, sub int, f func(opstate.Element, [16]byte)) (int64, error) {
	h := operatorHandle(w.removal.src.Operators[k.op].Subtasks[sub].State, k.raw)
	in, err := w.openSource(ctx, &h.Delegate)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	s := opstate.OpenRaw(in, w.snap.Meta.In, h.States)
	if !k.raw {
		if s, err = opstate.Open(in, w.snap.Meta.In, h.States); err != nil {
			return 0, err
		}
	}
	i := slices.IndexFunc(h.States, func(st metadata.OperatorState) bool { return st.Name == k.name })
	n := h.States[i].Offsets.Len()
	err = s.Elements(i, 0, n, duplicateCut, func(e opstate.Element) error {
		if e.Index&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if e.Len > int64(len(e.Data)) {
			return fmt.Errorf("%s: element %d of state %s has %d bytes: too long to look for duplicates", in.Name(), e.Index, decoder.Text(k.name), e.Len)
		}
		sum := sha256.Sum256(e.Data)
		f(e, [16]byte(sum[:16]))
		return nil
	})
	return n, err
}
