package model

import (
	"context"
	"errors"

	"chkscope/decoder/keyed"
	"chkscope/decoder/serde"
)

// Count counts what is not counted yet below n (entries and sizes of keyed
// states of canonical and heap streams) and gives a new tree. progress may be
// nil; it is told bytes done and all. What cannot be counted (a heap stream
// with values whose ends nothing tells) is an error beside the tree.
func (s *Snapshot) Count(ctx context.Context, t *Tree, n Node, progress func(done, all int64)) (*Tree, error) {
	jobs := s.countJobs(t, n)
	var done, all int64
	for _, j := range jobs {
		all += max(streamLen(&j.keyed.Groups.Stream), 0)
	}
	var failed error
	for _, j := range jobs {
		base := done
		err := s.countStream(ctx, j, func(off int64) {
			if progress != nil {
				progress(base+off, all)
			}
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil && failed == nil {
			failed = err
		}
		done += max(streamLen(&j.keyed.Groups.Stream), 0)
	}
	s.noteWhole(jobs)
	return s.buildTree(), failed
}

// countJobs are the key-group streams below a node that are not counted.
func (s *Snapshot) countJobs(t *Tree, n Node) []headerJob {
	var jobs []headerJob
	for _, j := range s.headerJobs() {
		below := t.class[n] == ClassCheckpoint || t.class[n] != ClassMaster && t.op[n] == j.op && (t.sub[n] < 0 || t.sub[n] == j.sub)
		if !below || j.kind != KindKeyed || j.keyed.Groups == nil || s.isCounted(j) {
			continue
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func (s *Snapshot) isCounted(j headerJob) bool {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	return s.known.counted[opSub{j.op, j.sub}]
}

// isPartial: some of its states could not be counted to the end.
func (s *Snapshot) isPartial(j headerJob) bool {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	return s.known.partial[opSub{j.op, j.sub}]
}

func (s *Snapshot) countStream(ctx context.Context, j headerJob, progress func(off int64)) error {
	st, closer, err := s.openKeyGroups(ctx, j.op, j.keyed)
	if err != nil {
		if closer != nil {
			closer.Close()
		}
		return err
	}
	defer closer.Close()
	x, err := st.Index(s.keyedTypes(int(j.op), st), func(off int64) error {
		progress(off)
		return ctx.Err()
	})
	if err != nil && !errors.Is(err, serde.ErrOpaque) {
		return err
	}
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	s.known.makeMaps()
	at := opSub{j.op, j.sub}
	s.known.counted[at], s.known.index[at] = true, keyedIndex{x, st.Header}
	for i, m := range st.Header.States {
		c := Counted{x.States[i].Entries, x.States[i].Bytes}
		if x.States[i].Partial {
			s.known.partial[at] = true
			c = Counted{Unknown, Unknown}
		}
		s.known.counts[cellName{j.op, j.sub, j.kind, m.Name}] = c
	}
	return err
}

// keyedTypes are the types of the entries of a stream, by id.
func (s *Snapshot) keyedTypes(op int, st *keyed.Stream) []keyed.Types {
	types := make([]keyed.Types, len(st.Header.States))
	for id := range types {
		types[id] = st.Header.Types(id, st.Layout, s.Meta.Operators[op].MaxParallelism)
	}
	return types
}

// noteWhole marks operators all of whose keyed streams are counted, so that the
// row for all names together is not needed any more.
func (s *Snapshot) noteWhole(counted []headerJob) {
	ops := map[int32]bool{}
	for _, j := range counted {
		ops[j.op] = true
	}
	for _, j := range s.headerJobs() {
		if j.kind == KindKeyed && ops[j.op] && (!s.isCounted(j) || s.isPartial(j)) {
			delete(ops, j.op)
		}
	}
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	if s.known.whole == nil {
		s.known.whole = map[opKind]bool{}
	}
	for op := range ops {
		s.known.whole[opKind{op, KindKeyed}] = true
	}
}
