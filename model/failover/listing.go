package failover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/ha"
	"chkscope/model"
	"chkscope/model/store"
)

// Entry is a pointer that ZooKeeper or Kubernetes holds.
type Entry struct {
	Where      string // its file, or the key of a ConfigMap
	Checkpoint int64  // by the name of the entry; model.Unknown where that tells none
	Target     string // the file that is pointed to, as Flink sees it
	Bytes      int64  // recorded length of that file
	Marked     bool   // for deletion
	JobGraph   bool   // a job graph is pointed to
	Err        error  // the pointer cannot be read
}

// Object is a completedCheckpoint object that a directory holds.
type Object struct {
	URI     string
	Bytes   int64
	Pointed bool // by an entry, by the name of its file
}

// Listing is what was found in a directory, a file or a ConfigMap.
type Listing struct {
	Entries []Entry
	Objects []Object
	// Counter is the id of the next checkpoint, model.Unknown where there is none,
	// or one each for several jobs.
	Counter int64
	// ConfigMaps has the bytes of keys and values by the ConfigMap's name.
	ConfigMaps map[string]int64
	// Skipped counts files that are nothing of high availability.
	Skipped int

	counters int
	graphs   map[string]bool // names of job graph files that were listed along
}

// Limits of what is walked and read; a ConfigMap has at most 1 MiB.
const (
	maxDepth   = 12
	maxFiles   = 20_000
	maxPayload = 4 << 20
)

// List reads what uri holds: a directory (walked), the payload of a ZooKeeper
// node, or a ConfigMap in JSON or YAML as kubectl prints it.
func List(ctx context.Context, st model.Store, uri string) (*Listing, error) {
	l := newListing()
	info, err := st.Stat(ctx, uri)
	if err != nil {
		return nil, err
	}
	if !info.Dir {
		err = l.file(ctx, st, uri)
	} else if err = l.walk(ctx, st, uri, maxDepth); err == nil && len(l.Entries)+len(l.Objects) == 0 {
		err = fmt.Errorf("%s holds no completedCheckpoint object and no pointer to one", uri)
	}
	if err != nil {
		return nil, err
	}
	l.settle()
	return l, nil
}

// ReadConfigMap reads a ConfigMap that is no file: name is what to call it.
func ReadConfigMap(name string, in io.Reader) (*Listing, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxConfigMaps+1))
	if err != nil {
		return nil, err
	}
	l := newListing()
	if len(data) > maxConfigMaps || !isConfigMap(data) {
		return nil, fmt.Errorf("%s is no ConfigMap in JSON or YAML (kubectl get configmap NAME -o json)", name)
	}
	if err := l.configMaps(name, data); err != nil {
		return nil, err
	}
	l.settle()
	return l, nil
}

func newListing() *Listing {
	return &Listing{Counter: model.Unknown, ConfigMaps: map[string]int64{}, graphs: map[string]bool{}}
}

func (l *Listing) walk(ctx context.Context, st model.Store, uri string, depth int) error {
	entries, err := st.List(ctx, uri)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Dir && depth == 0:
			return fmt.Errorf("%s: more than %d directories deep", e.URI, maxDepth)
		case e.Dir:
			err = l.walk(ctx, st, e.URI, depth-1)
		case len(l.Entries)+len(l.Objects)+l.Skipped > maxFiles:
			return fmt.Errorf("%s: more than %d files below it; give a directory further down", uri, maxFiles)
		default:
			err = l.file(ctx, st, e.URI)
			if errors.Is(err, errNothing) {
				l.Skipped++
				l.graphs[e.Name] = strings.HasPrefix(e.Name, jobGraph)
				err = nil
			}
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errNothing = errors.New("neither a completedCheckpoint object, nor a pointer to one, nor a ConfigMap")

// file reads one file, by its name and its first bytes.
func (l *Listing) file(ctx context.Context, st model.Store, uri string) error {
	in, err := st.Open(ctx, uri)
	if err != nil {
		return err
	}
	defer in.Close()
	name := store.Base(uri)
	head := make([]byte, min(in.Size(), 512))
	if _, err := in.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	switch {
	case strings.HasSuffix(name, "checkpoint_id_counter"):
		n, err := ha.ZooKeeperCounter(head)
		if err == nil {
			l.count(n)
		}
		return err
	case bytes.Contains(head, []byte("CompletedCheckpoint")) && ha.IsObjectStream(in):
		l.Objects = append(l.Objects, Object{URI: uri, Bytes: in.Size()})
		return nil
	case in.Size() > maxPayload:
		return fmt.Errorf("%s: %w", uri, errNothing)
	}
	data, err := decoder.ReadSpan(in, decoder.Span{Len: in.Size()}, maxPayload)
	if err != nil {
		return err
	}
	if isConfigMap(data) {
		return l.configMaps(uri, data)
	}
	if isPointer(data) {
		l.entry(uri, name, data)
		return nil
	}
	return fmt.Errorf("%s: %w", uri, errNothing)
}

func (l *Listing) count(n int64) {
	if l.counters++; l.counters > 1 {
		n = model.Unknown
	}
	l.Counter = n
}

// jobGraph begins the names of files with job graphs: submittedJobGraph, from 2.0
// on submittedExecutionPlan.
const jobGraph = "submitted"

// isPointer tells whether bytes are a pointer, or text of one in Base64.
func isPointer(data []byte) bool {
	text := bytes.TrimSpace(data)
	if bytes.HasPrefix(text, []byte("rO0")) {
		return true
	}
	return bytes.HasPrefix(data, []byte{0xac, 0xed, 0, 5}) &&
		(bytes.Contains(data, []byte("RetrievableStreamStateHandle")) || bytes.Contains(data, []byte("StateHandleWithDeleteMarker")))
}

// entry reads a pointer. Which checkpoint it is of tells the last part of its
// name; parts are parted by slashes, or by dots where a tree was made flat.
func (l *Listing) entry(where, name string, data []byte) {
	e := Entry{Where: where, Checkpoint: model.Unknown, Bytes: model.Unknown}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if id, ok := ha.CheckpointOfName(last); ok {
		e.Checkpoint = id
	}
	p, err := ha.ParsePointer(data)
	if err != nil {
		e.Err = err
	} else {
		e.Target, e.Bytes, e.Marked = decoder.Text(p.Handle.Name), p.Handle.Size, p.MarkedForDeletion
		e.JobGraph = strings.HasPrefix(store.Base(p.Handle.Name), jobGraph)
	}
	l.Entries = append(l.Entries, e)
}

// settle puts entries in the order in which Flink reads them and tells which
// objects are pointed to.
func (l *Listing) settle() {
	slices.SortStableFunc(l.Entries, func(a, b Entry) int {
		switch {
		case a.Checkpoint < b.Checkpoint:
			return -1
		case a.Checkpoint > b.Checkpoint:
			return 1
		}
		return strings.Compare(a.Where, b.Where)
	})
	named := map[string]bool{}
	for _, e := range l.Entries {
		named[store.Base(e.Target)] = true
	}
	for i := range l.Objects {
		l.Objects[i].Pointed = named[store.Base(l.Objects[i].URI)]
	}
}
