package model

import (
	"hash/maphash"
	"strings"

	"chkscope/decoder/metadata"
	"chkscope/model/store"
)

// role is where a stream handle stands, as far as it decides whether its file
// is shared.
type role uint8

const (
	roleOwn       role = iota
	roleSharedMap      // in the `shared` map of an incremental handle
	roleChangelog      // a changelog file
)

// Location is the physical file that a stream handle names, resolved.
type Location struct {
	// URI of the file as this checkpoint means it: relative paths against the
	// checkpoint's directory. "" for inline and empty handles.
	URI string
	// Off and Len are the part of the file that is meant; Len is Unknown where the
	// handle does not record it.
	Off, Len int64
	Segment  bool // Off and Len are a segment of a shared physical file
	Relative bool
	Shared   bool // may be used by others
	Foreign  bool // in another directory than the checkpoint's own and `shared`
}

// Locate resolves the stream that a walk over the structures met: the rule is in
// CLI.md, "exclusive / shared". The URI of inline and empty streams is "".
func (s *Snapshot) Locate(u metadata.StreamUse) Location {
	r := roleOwn
	switch u.Part {
	case metadata.Shared:
		r = roleSharedMap
	case metadata.LogStream:
		r = roleChangelog
	}
	return s.locate(u.Stream, r)
}

// locate resolves a stream handle (not type 1) that stands in a place of the
// given kind. CLI.md, "exclusive / shared", is the rule.
func (s *Snapshot) locate(h *metadata.StreamHandle, r role) Location {
	switch h.Type {
	case metadata.TypeRelativeFile:
		return Location{URI: store.Join(s.Dir, h.Name), Len: h.Size, Relative: true}
	case metadata.TypeSegment:
		return Location{URI: h.Name, Off: h.Seg.Start, Len: h.Size, Segment: true, Shared: h.Seg.Scope == 1}
	case metadata.TypeFile:
		l := Location{URI: h.Name, Len: h.Size}
		own := store.Under(h.Name, s.Dir) || s.Options.SourceURI != "" && store.Under(h.Name, s.Options.SourceURI)
		if r != roleOwn || inSharedDir(h.Name) || s.ownTaskDir(h.Name) {
			l.Shared = true
			return l
		}
		l.Shared, l.Foreign = !own, !own
		return l
	}
	return Location{}
}

// ownTaskDir: a file that the tasks of this job own (changelog base snapshots,
// merged files), beside the checkpoint's directory: JOB/taskowned. A checkpoint
// that was moved with its job's directory is known by the job id.
func (s *Snapshot) ownTaskDir(path string) bool {
	if s.Options.SourceURI != "" && store.Under(path, store.Join(store.Parent(s.Options.SourceURI), "taskowned")) {
		return true
	}
	job := store.Parent(s.Dir)
	return store.Under(path, store.Join(job, "taskowned")) ||
		len(store.Base(job)) == 32 && strings.Contains(path, "/"+store.Base(job)+"/taskowned/")
}

// inSharedDir: some directory of the path is called "shared".
func inSharedDir(path string) bool {
	dir, _, _ := cutLast(path, '/')
	return strings.Contains(dir+"/", "/shared/")
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// slots tell apart who has counted a file already.
const (
	slotOperator = iota
	slotOpState
	slotKeyed
	slotRawOp
	slotRawKeyed
	slotInput
	slotOutput
	slotCell
	slotSubtask
	slotCount
)

// fileTable knows every physical file (and every segment) once.
type fileTable struct {
	seed    maphash.Seed
	ids     map[uint64]int32
	size    []int64
	kinds   []uint8 // bit k: counted for Kind k already
	firstOp []int32
	stamp   [slotCount][]int32
}

func newFileTable() *fileTable {
	return &fileTable{seed: maphash.MakeSeed(), ids: map[uint64]int32{}}
}

// id of a file or segment; new is true at the first sight of it.
func (f *fileTable) id(canonical string, off int64, whole bool, size int64) (id int32, isNew bool) {
	var h maphash.Hash
	h.SetSeed(f.seed)
	h.WriteString(canonical)
	if !whole {
		var b [9]byte
		for i := range 8 {
			b[i] = byte(off >> (8 * i))
		}
		b[8] = 1
		h.Write(b[:])
	}
	sum := h.Sum64()
	if id, ok := f.ids[sum]; ok {
		return id, false
	}
	id = int32(len(f.size))
	f.ids[sum] = id
	f.size = append(f.size, size)
	f.kinds = append(f.kinds, 0)
	f.firstOp = append(f.firstOp, -1)
	for i := range f.stamp {
		f.stamp[i] = append(f.stamp[i], -1)
	}
	return id, true
}

// first reports whether by has not counted the file in this slot yet, and
// notes that it now has.
func (f *fileTable) first(slot int, id, by int32) bool {
	if f.stamp[slot][id] == by {
		return false
	}
	f.stamp[slot][id] = by
	return true
}
