package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"chkscope/decoder/ha"
	"chkscope/decoder/metadata"
	"chkscope/model/store"
)

// MetadataName is the file name by which Flink knows a checkpoint.
const MetadataName = "_metadata"

// IncompleteName is the file that marks a copy of ours that is not finished and proved.
const IncompleteName = "_chkscope-incomplete.json"

// Candidate is a checkpoint below a parent directory.
type Candidate struct {
	URI      string // of its directory
	Name     string
	ID       int64 // of chk-N, else Unknown
	Complete bool  // it has a `_metadata` that is not empty
	Size     int64 // of `_metadata`, Unknown where it has none
	Modified time.Time
}

// Empty tells that the `_metadata` is there and has no bytes, as a power loss or a
// full disk leaves it (FLINK-36421).
func (c Candidate) Empty() bool { return c.Size == 0 }

// Candidates lists the checkpoints and savepoints below uri, newest first: by
// time of `_metadata`, then by number. It looks one level down, and two where
// uri holds job directories.
func Candidates(ctx context.Context, st Store, uri string) ([]Candidate, error) {
	list, err := candidatesIn(ctx, st, uri, 2)
	if err != nil {
		return nil, err
	}
	sortCandidates(list)
	return list, nil
}

func candidatesIn(ctx context.Context, st Store, uri string, depth int) ([]Candidate, error) {
	entries, err := st.List(ctx, uri)
	if err != nil {
		return nil, err
	}
	var out []Candidate
	for _, e := range entries {
		if !e.Dir || e.Name == "shared" || e.Name == "taskowned" {
			continue
		}
		c := Candidate{URI: e.URI, Name: e.Name, ID: Unknown, Size: Unknown, Modified: e.Modified}
		if n, ok := strings.CutPrefix(e.Name, "chk-"); ok {
			if id, err := strconv.ParseInt(n, 10, 64); err == nil && id >= 0 {
				c.ID = id
			}
		}
		info, err := st.Stat(ctx, store.Join(e.URI, MetadataName))
		switch {
		case err == nil && !info.Dir:
			c.Complete, c.Size, c.Modified = info.Size > 0, info.Size, info.Modified
			out = append(out, c)
		case c.ID != Unknown || strings.HasPrefix(e.Name, "savepoint-"):
			out = append(out, c)
		case depth > 1:
			below, err := candidatesIn(ctx, st, e.URI, depth-1)
			if ctx.Err() != nil {
				return nil, err
			}
			out = append(out, below...)
		}
	}
	return out, nil
}

func sortCandidates(list []Candidate) {
	newer := func(a, b Candidate) int {
		if a.Complete != b.Complete {
			if a.Complete {
				return -1
			}
			return 1
		}
		// Within one job the number decides: times of copied files lie.
		if store.Parent(a.URI) == store.Parent(b.URI) && a.ID != Unknown && b.ID != Unknown && a.ID != b.ID {
			if a.ID > b.ID {
				return -1
			}
			return 1
		}
		return b.Modified.Compare(a.Modified)
	}
	slices.SortStableFunc(list, newer)
}

// Open opens uri: the directory of a checkpoint, its `_metadata`, a
// completedCheckpoint object, or a parent directory, whose newest complete
// checkpoint is then opened. Damage gives the partial snapshot, its tree and a
// *decoder.Error.
func Open(ctx context.Context, st Store, uri string, opt Options) (*Snapshot, *Tree, error) {
	if opt.FrameSize <= 0 {
		opt.FrameSize = DefaultFrameSize
	}
	s := &Snapshot{Options: opt, Store: st}
	if err := s.find(ctx, uri); err != nil {
		return nil, nil, err
	}
	obj, err := st.Open(ctx, s.URI)
	if err != nil {
		return nil, nil, err
	}
	s.object = obj
	err = s.decode(obj)
	if s.Meta == nil {
		obj.Close()
		return nil, nil, err
	}
	if err == nil && s.Meta.Damage != nil {
		err = s.Meta.Damage
	}
	s.opened = s.buildTree()
	return s, s.opened, err
}

// decode reads the structures: of a completedCheckpoint object, which is known by
// its first bytes, or of `_metadata`. Meta stays nil where there are none.
func (s *Snapshot) decode(obj Object) error {
	if !ha.IsObjectStream(obj) {
		meta, err := metadata.Decode(obj)
		if s.Meta = meta; meta != nil {
			s.readProperties()
		}
		return err
	}
	c, err := ha.Decode(obj)
	if c == nil {
		return err
	}
	s.HA, s.Meta, s.Properties = c, c.Meta, c.Properties
	if c.ExternalPointer != "" {
		s.Dir = c.ExternalPointer
	}
	return err
}

// find sets URI and Dir from what the user named.
func (s *Snapshot) find(ctx context.Context, uri string) error {
	info, err := s.Store.Stat(ctx, uri)
	if err != nil {
		return err
	}
	if !info.Dir {
		s.URI, s.Dir = uri, store.Parent(uri)
		return nil
	}
	meta := store.Join(uri, MetadataName)
	if m, err := s.Store.Stat(ctx, meta); err == nil && !m.Dir {
		s.URI, s.Dir = meta, uri
		return nil
	} else if err != nil && !errors.Is(err, ErrNotExist) {
		return err
	}
	list, err := Candidates(ctx, s.Store, uri)
	if err != nil {
		return err
	}
	if len(list) == 0 || !list[0].Complete {
		return &NotACheckpoint{URI: uri, Incomplete: len(list), Marker: s.hasMarker(ctx, uri)}
	}
	s.Dir, s.URI = list[0].URI, store.Join(list[0].URI, MetadataName)
	complete := 0
	for _, c := range list {
		if c.Complete {
			complete++
		}
	}
	s.Chosen = fmt.Sprintf("%s is a parent directory with %d complete checkpoints; opened the newest, %s", uri, complete, s.Dir)
	if complete == 1 {
		s.Chosen = fmt.Sprintf("%s is a parent directory; opened the complete checkpoint in it, %s", uri, s.Dir)
	}
	if i := slices.IndexFunc(list, Candidate.Empty); i >= 0 {
		s.Chosen += fmt.Sprintf("; %s is passed over, its %s is empty", list[i].Name, MetadataName)
	}
	return nil
}

func (s *Snapshot) hasMarker(ctx context.Context, uri string) bool {
	_, err := s.Store.Stat(ctx, store.Join(uri, IncompleteName))
	return err == nil
}

// NotACheckpoint is a directory without a complete checkpoint.
type NotACheckpoint struct {
	URI        string
	Incomplete int  // checkpoints below it without a `_metadata`, or with an empty one
	Marker     bool // a copy of ours that was not finished
}

func (e *NotACheckpoint) Error() string {
	switch {
	case e.Marker:
		return fmt.Sprintf("%s is an unfinished copy by chkscope: it has %s and no %s; the command that began it goes on where it stopped", e.URI, IncompleteName, MetadataName)
	case e.Incomplete > 0:
		return fmt.Sprintf("%s holds %d checkpoints and none is complete (no %s, or an empty one): Flink was still writing them, or gave up", e.URI, e.Incomplete, MetadataName)
	}
	return fmt.Sprintf("%s holds no %s, neither itself nor in a directory below it: give the directory of a checkpoint or savepoint (chk-N, savepoint-…) or of a job", e.URI, MetadataName)
}

// Is makes NotACheckpoint an ErrNotExist.
func (e *NotACheckpoint) Is(target error) bool { return target == ErrNotExist }
