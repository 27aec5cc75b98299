package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"chkscope/decoder"
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

// ordinary tells by its name that a directory is a checkpoint or savepoint of
// Flink's, and gives the number of chk-N, else Unknown.
func ordinary(name string) (id int64, yes bool) {
	if n, ok := strings.CutPrefix(name, "chk-"); ok {
		if id, err := strconv.ParseInt(n, 10, 64); err == nil && id >= 0 {
			return id, true
		}
	}
	return Unknown, strings.HasPrefix(name, "savepoint-")
}

// listParallel is how many directories are listed at once.
const listParallel = 32

// search looks for the checkpoints below a directory.
type search struct {
	ctx       context.Context
	st        Store
	looked    func(done, all int) // may be nil
	done, all int
	found     []Candidate
	asked     []Candidate // whose `_metadata` is to be asked for
}

// Candidates lists the checkpoints and savepoints below uri, newest first: by
// time of `_metadata`, then by number. It looks one level down, and two where
// uri holds job directories. looked may be nil; it is told how many of the
// directories known so far have been looked into.
func Candidates(ctx context.Context, st Store, uri string, looked func(done, all int)) ([]Candidate, error) {
	s := &search{ctx: ctx, st: st, looked: looked}
	entries, err := st.List(ctx, uri)
	if err != nil {
		return nil, err
	}
	if err := s.jobs(s.directories(entries)); err != nil {
		return nil, err
	}
	if err := s.metadata(); err != nil {
		return nil, err
	}
	sortCandidates(s.found)
	return s.found, nil
}

// directories notes those of entries that are checkpoints by their names, and
// gives the others.
func (s *search) directories(entries []Info) (others []Info) {
	for _, e := range entries {
		if !e.Dir || e.Name == "shared" || e.Name == "taskowned" {
			continue
		}
		s.all++
		if _, yes := ordinary(e.Name); yes {
			s.asked = append(s.asked, candidate(e))
		} else {
			others = append(others, e)
		}
	}
	return others
}

func candidate(dir Info) Candidate {
	id, _ := ordinary(dir.Name)
	return Candidate{URI: dir.URI, Name: dir.Name, ID: id, Size: Unknown, Modified: dir.Modified}
}

// jobs lists directories with other names: the list tells whether there is a
// `_metadata`, in one request, else what may be a job's checkpoints. What cannot
// be listed is passed over.
func (s *search) jobs(dirs []Info) error {
	var mu sync.Mutex
	return store.AtOnce(s.ctx, len(dirs), listParallel, func(i int) {
		entries, err := s.st.List(s.ctx, dirs[i].URI)
		mu.Lock()
		defer mu.Unlock()
		s.step()
		if err != nil {
			return
		}
		if k := slices.IndexFunc(entries, func(e Info) bool { return e.Name == MetadataName && !e.Dir }); k >= 0 {
			s.take(candidate(dirs[i]), entries[k])
			return
		}
		for _, e := range s.directories(entries) {
			s.asked = append(s.asked, candidate(e))
		}
	})
}

// metadata asks for the `_metadata` of all that are left.
func (s *search) metadata() error {
	uris := make([]string, len(s.asked))
	for i, c := range s.asked {
		uris[i] = store.Join(c.URI, MetadataName)
	}
	return store.StatAll(s.ctx, s.st, uris, func(i int, info Info, err error) {
		s.step()
		if err == nil && !info.Dir {
			s.take(s.asked[i], info)
		} else if _, yes := ordinary(s.asked[i].Name); yes {
			s.found = append(s.found, s.asked[i])
		}
	})
}

// take takes c over, with the length and time of its `_metadata`.
func (s *search) take(c Candidate, metadata Info) {
	c.Complete, c.Size, c.Modified = metadata.Size > 0, metadata.Size, metadata.Modified
	s.found = append(s.found, c)
}

func (s *search) step() {
	if s.done++; s.looked != nil {
		s.looked(s.done, s.all)
	}
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
	slices.SortFunc(list, func(a, b Candidate) int { return strings.Compare(a.URI, b.URI) })
	slices.SortStableFunc(list, newer)
}

// Several is a parent directory with more than one checkpoint, newest first, where
// Options.Choose leaves the choice to the caller.
type Several struct {
	URI  string
	List []Candidate
}

func (e *Several) Error() string {
	return fmt.Sprintf("%s holds %d checkpoints: name one", e.URI, len(e.List))
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
	obj, err := s.find(ctx, uri)
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

// AsMetadata gives the checkpoint of a completedCheckpoint object as if the
// `_metadata` that Flink wrote with it had been opened: for one that has lost it.
// It is made in memory; URI stays that of the object.
func (s *Snapshot) AsMetadata() (*Snapshot, *Tree, error) {
	var b bytes.Buffer
	if _, err := s.HA.WriteMetadata(&b); err != nil {
		return nil, nil, fmt.Errorf("no %s can be made of %s: %w", MetadataName, s.URI, err)
	}
	m, err := metadata.Decode(decoder.Bytes{Data: b.Bytes(), Label: s.URI})
	if err != nil {
		return nil, nil, fmt.Errorf("the %s made of %s: %w", MetadataName, s.URI, err)
	}
	made := &Snapshot{URI: s.URI, Dir: s.Dir, Options: s.Options, Store: s.Store, Meta: m}
	made.readProperties()
	return made, made.buildTree(), nil
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

// metadataBeginning is all of most `_metadata` files.
const metadataBeginning = 64 << 10

// find sets URI and Dir from what the user named and opens it. The most likely is
// tried first, a checkpoint's directory: over a network each question takes time.
func (s *Snapshot) find(ctx context.Context, uri string) (Object, error) {
	ctx = store.WithBeginning(ctx, metadataBeginning)
	if store.Base(uri) != MetadataName {
		s.URI, s.Dir = store.Join(uri, MetadataName), uri
		obj, err := s.Store.Open(ctx, s.URI)
		if err == nil || ctx.Err() != nil {
			return obj, err
		}
		info, statErr := s.Store.Stat(ctx, uri)
		switch missing := errors.Is(err, ErrNotExist); {
		case statErr != nil && missing:
			return nil, statErr
		case statErr != nil, info.Dir && !missing:
			return nil, err
		case info.Dir:
			return s.newest(ctx, uri)
		}
	}
	s.URI, s.Dir = uri, store.Parent(uri)
	return s.Store.Open(ctx, uri)
}

// newest opens the newest complete checkpoint below the directory uri.
func (s *Snapshot) newest(ctx context.Context, uri string) (Object, error) {
	list, err := Candidates(ctx, s.Store, uri, s.Options.Looked)
	if err != nil {
		return nil, err
	}
	if s.Options.Choose && len(list) > 1 {
		return nil, &Several{uri, list}
	}
	if len(list) == 0 || !list[0].Complete {
		return nil, &NotACheckpoint{URI: uri, Incomplete: len(list), Marker: s.hasMarker(ctx, uri)}
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
	return s.Store.Open(ctx, s.URI)
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
		return fmt.Sprintf("%s holds %s, none of them complete (no %s, or an empty one): Flink was still writing, or gave up", e.URI, FormatPlural(int64(e.Incomplete), "checkpoint"), MetadataName)
	}
	return fmt.Sprintf("%s holds no %s, neither itself nor in the directories below it that were looked at: give the directory of a checkpoint or savepoint (chk-N, savepoint-…) or of a job", e.URI, MetadataName)
}

// Is makes NotACheckpoint an ErrNotExist.
func (e *NotACheckpoint) Is(target error) bool { return target == ErrNotExist }
