package model

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"sync"

	"chkscope/decoder/metadata"
	"chkscope/decoder/opstate"
	"chkscope/decoder/serde"
	"chkscope/model/store"
)

// headerParallel is how many streams are read at once: what takes time is the
// way to a store and back.
const headerParallel = 32

// StateRecord is what a stream header says about a named state.
type StateRecord struct {
	serde.StateMeta
	// Compressed: the stream was written with snapshot compression.
	Compressed bool
}

// ReadHeaders reads the headers of state streams (bounded ranges of the files)
// and gives the tree with the names that stand only there: named keyed states,
// header-only names. A stream that cannot be read is no error: its names stay
// unknown, and Unread tells why. progress may be nil; it is told streams done and all.
func (s *Snapshot) ReadHeaders(ctx context.Context, progress func(done, all int)) (*Tree, error) {
	jobs := s.headerJobs()
	s.known.mu.Lock()
	s.known.makeMaps()
	opened := s.opened
	if len(jobs) == 0 && opened != nil {
		s.known.headersRead = true
		s.known.mu.Unlock()
		return opened, nil // nothing to learn
	}
	s.opened = nil
	s.known.mu.Unlock()
	var (
		mu   sync.Mutex
		done int
	)
	err := store.AtOnce(ctx, len(jobs), headerParallel, func(i int) {
		s.readHeader(ctx, jobs[i])
		mu.Lock()
		defer mu.Unlock()
		if done++; progress != nil {
			progress(done, len(jobs))
		}
	})
	if err != nil {
		return nil, err
	}
	s.known.mu.Lock()
	s.known.headersRead = true
	s.known.mu.Unlock()
	return s.buildTree(), nil
}

// headerJob is one stream whose header is to be read.
type headerJob struct {
	op, sub  int32
	kind     Kind
	operator *metadata.OperatorHandle
	keyed    *metadata.KeyedHandle
}

func (s *Snapshot) headerJobs() []headerJob {
	var jobs []headerJob
	for op := range s.Meta.Operators {
		subtasks := s.Meta.Operators[op].Subtasks
		for k := range subtasks {
			st := subtasks[k].State
			if st == nil {
				continue
			}
			at := headerJob{op: int32(op), sub: int32(k)}
			if st.ManagedOperator != nil && st.ManagedOperator.Delegate.Type != metadata.TypeEmptySegment {
				at.kind, at.operator = KindOperator, st.ManagedOperator
				jobs = append(jobs, at)
			}
			at.operator = nil
			if st.ManagedKeyed != nil {
				at.kind, at.keyed = KindKeyed, st.ManagedKeyed
				jobs = append(jobs, at)
			}
			if st.RawKeyed != nil {
				at.kind, at.keyed = KindRawKeyed, st.RawKeyed
				jobs = append(jobs, at)
			}
		}
	}
	return jobs
}

func (s *Snapshot) readHeader(ctx context.Context, j headerJob) {
	var err error
	if j.operator != nil {
		err = s.readOperatorHeader(ctx, j)
	} else {
		err = s.readKeyedHeader(ctx, j)
	}
	if err != nil {
		s.known.mu.Lock()
		s.known.unread = append(s.known.unread, UnreadHeader{int(j.op), int(j.sub), err})
		s.known.mu.Unlock()
	}
}

func (s *Snapshot) readOperatorHeader(ctx context.Context, j headerJob) error {
	in, closer, err := s.OpenStream(ctx, &j.operator.Delegate)
	if err != nil {
		return err
	}
	defer closer.Close()
	st, err := opstate.Open(in, s.Meta.In, j.operator.States)
	if st.Header == nil {
		return err
	}
	maps := broadcastMaps(st, j.operator.States)
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	for name, n := range maps {
		s.known.mapEntries[opName{j.op, name}] = n
	}
	all := s.known.records[j.op]
	if all == nil {
		all = map[string]StateRecord{}
		s.known.records[j.op] = all
	}
	for _, m := range st.Header.States {
		for _, x := range m.Serializers {
			s.assumeKryo(x.Type)
		}
		if _, ok := all[m.Name]; !ok {
			all[m.Name] = StateRecord{m, st.Header.Compressed}
		}
	}
	if st.Header.Compressed {
		s.known.compressed[opSub{j.op, j.sub}] = true
	}
	return err
}

// broadcastMaps gives the number of entries of the maps in a stream. One that
// cannot be read is left out: the error shows where its entries are asked for.
func broadcastMaps(st *opstate.Stream, states []metadata.OperatorState) map[string]int64 {
	out := map[string]int64{}
	for i := range states {
		if states[i].Mode != metadata.ModeBroadcast || states[i].Offsets.Len() != 1 {
			continue
		}
		if n, err := st.MapEntries(i); err == nil && n >= 0 {
			out[states[i].Name] = n
		}
	}
	return out
}

// MapEntries is the number of entries of a broadcast state's map, after
// ReadHeaders, or Unknown. All subtasks hold the same map.
func (s *Snapshot) MapEntries(op int, name string) int64 {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	if n, ok := s.known.mapEntries[opName{int32(op), name}]; ok {
		return n
	}
	return Unknown
}

// Record is what the stream headers of an operator say about a named operator
// state, after ReadHeaders.
func (s *Snapshot) Record(op int, name string) (StateRecord, bool) {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	r, ok := s.known.records[int32(op)][name]
	return r, ok
}

// HeadersRead is true once ReadHeaders went through.
func (s *Snapshot) HeadersRead() bool {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	return s.known.headersRead
}

// UnreadHeader is a stream whose header could not be read, by the positions of
// its operator and subtask.
type UnreadHeader struct {
	Op, Sub int
	Err     error
}

// UnreadHeaders lists the stream headers that could not be read, in file order.
func (s *Snapshot) UnreadHeaders() []UnreadHeader {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	out := slices.Clone(s.known.unread)
	slices.SortStableFunc(out, func(a, b UnreadHeader) int { return cmp.Or(a.Op-b.Op, a.Sub-b.Sub) })
	return out
}

// Unread is how many stream headers could not be read, and why the first.
func (s *Snapshot) Unread() (int, error) {
	list := s.UnreadHeaders()
	if len(list) == 0 {
		return 0, nil
	}
	return len(list), list[0].Err
}

// Compressed reports whether the operator-state stream of a subtask (by
// position) was written with snapshot compression, as far as headers were read.
func (s *Snapshot) Compressed(op, sub int) bool {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	return s.known.compressed[opSub{int32(op), int32(sub)}]
}

// SameOffsets reports whether all elements of a list, two or more, have one
// offset: in a stream with snapshot compression the sign of Flink 1.18.0 and
// 1.18.1, whose elements have no recorded ends.
func (s *Snapshot) SameOffsets(st metadata.OperatorState) bool {
	if st.Offsets.Len() < 2 {
		return false
	}
	first, err1 := st.Offsets.First(s.Meta.In)
	last, err2 := st.Offsets.Last(s.Meta.In)
	return err1 == nil && err2 == nil && first == last
}

// headerOnly gives names of an operator's stream headers that no offsets map
// has, sorted.
func (s *Snapshot) headerOnly(op int, inMap func(string) bool) []string {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	var out []string
	for n := range s.known.records[int32(op)] {
		if !inMap(n) {
			out = append(out, n)
		}
	}
	sort.Strings(out)
	return out
}

// Records are all named states that the stream headers of an operator tell,
// operator states and keyed ones, by name.
func (s *Snapshot) Records(op int) []StateRecord {
	s.known.mu.RLock()
	defer s.known.mu.RUnlock()
	var out []StateRecord
	for _, r := range s.known.records[int32(op)] {
		out = append(out, r)
	}
	for _, k := range []Kind{KindKeyed, KindRawKeyed} {
		for _, n := range s.known.names[opKind{int32(op), k}] {
			if n.Meta != nil {
				out = append(out, StateRecord{StateMeta: *n.Meta})
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
