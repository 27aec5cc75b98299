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

// Pointer is a pointer to a stored file, as it stands in ZooKeeper or Kubernetes.
type Pointer struct {
	Where string `json:"where"` // its file, or the name and key of a ConfigMap
	// ConfigMap, Namespace and Key tell where it stands in Kubernetes; "" for
	// ZooKeeper, and Namespace where it is not told.
	ConfigMap string `json:"config_map"`
	Namespace string `json:"namespace"`
	Key       string `json:"key"`
	// Node is the path in ZooKeeper, "" where it is not known.
	Node string `json:"node"`
	// Payload is what stands there: the node's bytes, or text in Base64. nil where
	// the text of a client has lost bytes.
	Payload []byte `json:"payload"`
}

// Entry is a pointer and what it says.
type Entry struct {
	Pointer
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
	// Kept: an old object, or one that is not in its place yet, of a replacement by
	// chkscope. Flink knows nothing of it.
	Kept bool
}

// KeptMark stands in the names of files that a replacement by chkscope made beside
// an object.
const KeptMark = ".chkscope-"

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

	limit    int // of files
	counters int
	graphs   map[string]bool // names of job graph files that were listed along
}

// Limits of what is walked and read; a ConfigMap has at most 1 MiB.
const (
	maxDepth   = 12
	maxFiles   = 20_000
	maxFind    = 1_000
	maxFindFar = 100
	maxPayload = 4 << 20
)

// List reads what uri holds: a directory (walked), the payload of a ZooKeeper
// node or what a client prints of it, or a ConfigMap in JSON or YAML as kubectl
// prints it.
func List(ctx context.Context, st model.Store, uri string) (*Listing, error) {
	return list(ctx, st, uri, maxFiles)
}

// Find is List for what may as well be nothing of high availability: it gives up
// on a directory with many files, earlier where each is a request.
func Find(ctx context.Context, st model.Store, uri string) (*Listing, error) {
	limit := maxFind
	if store.Scheme(uri) != "file" {
		limit = maxFindFar
	}
	return list(ctx, st, uri, limit)
}

func list(ctx context.Context, st model.Store, uri string, limit int) (*Listing, error) {
	l := newListing()
	l.limit = limit
	info, err := st.Stat(ctx, uri)
	if err != nil {
		return nil, err
	}
	if !info.Dir {
		err = l.file(ctx, st, Pointer{Where: uri})
	} else if err = l.walk(ctx, st, uri, maxDepth); err == nil && len(l.Entries)+len(l.Objects) == 0 {
		err = fmt.Errorf("%s holds no completedCheckpoint object and no pointer to one", uri)
	}
	if err != nil {
		return nil, err
	}
	l.settle()
	return l, nil
}

// ReadText reads a ConfigMap, or what a client prints of a ZooKeeper node, that is
// no file: name is what to call it.
func ReadText(name string, in io.Reader) (*Listing, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxConfigMaps+1))
	if err != nil {
		return nil, err
	}
	l := newListing()
	switch {
	case len(data) > maxConfigMaps:
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxConfigMaps)
	case len(bytes.TrimSpace(data)) == 0:
		err = fmt.Errorf("%s is empty: the command before it printed no ConfigMap and no ZooKeeper node", name)
	case isConfigMap(data):
		err = l.configMaps(name, data)
	case !l.payload(Pointer{Where: name}, name, data):
		err = fmt.Errorf("%s is neither a ConfigMap in JSON or YAML (kubectl get configmap NAME -o json) nor what a client prints of a ZooKeeper node", name)
	}
	if err != nil {
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
	if done, err := l.indexed(ctx, st, uri, entries); done || err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Dir && depth == 0:
			return fmt.Errorf("%s: more than %d directories deep", e.URI, maxDepth)
		case e.Dir:
			err = l.walk(ctx, st, e.URI, depth-1)
		case len(l.Entries)+len(l.Objects)+l.Skipped >= l.limit:
			return fmt.Errorf("%s: more than %d files below it; give a directory further down", uri, l.limit)
		default:
			err = l.file(ctx, st, Pointer{Where: e.URI})
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

// file reads the file at.Where, by its name, or that of its node, and its first
// bytes.
func (l *Listing) file(ctx context.Context, st model.Store, at Pointer) error {
	in, err := st.Open(ctx, at.Where)
	if err != nil {
		return err
	}
	defer in.Close()
	name := store.Base(at.Where)
	if at.Node != "" {
		name = store.Base(at.Node)
	}
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
		l.Objects = append(l.Objects, Object{URI: at.Where, Bytes: in.Size(), Kept: strings.Contains(name, KeptMark)})
		return nil
	case in.Size() > maxPayload:
		return fmt.Errorf("%s: %w", at.Where, errNothing)
	}
	data, err := decoder.ReadSpan(in, decoder.Span{Len: in.Size()}, maxPayload)
	if err != nil {
		return err
	}
	if isConfigMap(data) {
		return l.configMaps(at.Where, data)
	}
	if !l.payload(at, name, data) {
		return fmt.Errorf("%s: %w", at.Where, errNothing)
	}
	return nil
}

// payload takes what stands in a node: its bytes, or what a client printed of
// them; false where that is nothing that is looked for.
func (l *Listing) payload(at Pointer, name string, data []byte) bool {
	if isPointer(data) {
		at.Payload = data
		l.entry(at, name)
		return true
	}
	raw, ok := nodeText(data)
	if !ok {
		return false
	}
	if m := nodePath.FindSubmatch(data); m != nil && at.Node == "" {
		at.Node = string(m[1])
		name = store.Base(at.Node)
	}
	if at.Payload = raw; raw != nil {
		l.entry(at, name)
		return true
	}
	e := newEntry(at, name)
	if e.Target = string(targetText.Find(data)); e.Target == "" {
		e.Err = errLost
	}
	e.JobGraph = strings.HasPrefix(store.Base(e.Target), jobGraph)
	l.Entries = append(l.Entries, e)
	return true
}

// errLost is why a pointer cannot be read from text.
var errLost = errors.New("the text has lost bytes of the node: it was printed as characters, and what is no character became \"?\" or U+FFFD; " + PrintAgain)

// PrintAgain is how to get a node's bytes.
const PrintAgain = "print it again without loss: zkCli.sh get -b PATH (ZooKeeper 3.9 and later), or with Python's kazoo"

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
	return bytes.HasPrefix(data, magic) && (namesPointer(data) || bytes.Contains(data, []byte("StateHandleWithDeleteMarker")))
}

// newEntry is an entry of which only the name is known. Which checkpoint it is of
// tells the last part of its name; parts are parted by slashes, or by dots where a
// tree was made flat.
func newEntry(at Pointer, name string) Entry {
	e := Entry{Pointer: at, Checkpoint: model.Unknown, Bytes: model.Unknown}
	if id, ok := ha.CheckpointOfName(name[strings.LastIndexByte(name, '.')+1:]); ok {
		e.Checkpoint = id
	}
	return e
}

// entry reads a pointer.
func (l *Listing) entry(at Pointer, name string) {
	e := newEntry(at, name)
	p, err := ha.ParsePointer(at.Payload)
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
