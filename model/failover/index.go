package failover

import (
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"chkscope/decoder"
	"chkscope/model"
	"chkscope/model/store"
)

// A tree of ZooKeeper nodes may be kept as a directory with a file "index", one
// line a node: its path, persistent or ephemeral, its length, and the file beside
// the index that has its bytes, or "-".

const indexName = "index"

var indexLine = regexp.MustCompile(`^(/\S*) (?:persistent|ephemeral) [0-9]+ ([^/\s]+)$`)

// maxIndex is the most that an index may have, in bytes.
const maxIndex = 16 << 20

// indexed reads a directory with an index; false where it has none.
func (l *Listing) indexed(ctx context.Context, st model.Store, dir string, entries []model.Info) (bool, error) {
	uri := ""
	for _, e := range entries {
		if e.Name == indexName && !e.Dir && e.Size <= maxIndex {
			uri = e.URI
		}
	}
	if uri == "" {
		return false, nil
	}
	in, err := st.Open(ctx, uri)
	if err != nil {
		return false, err
	}
	defer in.Close()
	data, err := decoder.ReadSpan(in, decoder.Span{Len: in.Size()}, maxIndex)
	if err != nil {
		return false, err
	}
	var nodes [][]string
	parents := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		m := indexLine.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
		if m == nil {
			return false, nil // some other index
		}
		nodes = append(nodes, m)
		parents[path.Dir(m[1])] = true
	}
	for _, m := range nodes {
		if m[2] == "-" {
			continue
		}
		before := len(l.Entries)
		err := l.file(ctx, st, Pointer{Where: store.Join(dir, "./"+m[2]), Node: m[1]})
		switch {
		case errors.Is(err, errNothing):
			l.Skipped++
		case err != nil:
			return true, err
		case len(l.Entries) > before:
			// Whoever holds a node has a lock below it.
			e := &l.Entries[before]
			e.Marked = e.Marked || !e.JobGraph && !parents[m[1]]
		}
	}
	return true, ctx.Err()
}

// JobID is the id of the job that a pointer is of, as 32 hex digits in its path or
// name tell it, else "".
func (p Pointer) JobID() string {
	for _, text := range []string{p.Node, p.ConfigMap, p.Where} {
		if id := jobID.FindString(text); id != "" {
			return id
		}
	}
	return ""
}

var jobID = regexp.MustCompile(`\b[0-9a-f]{32}\b`)

// Checkpoints gives the entries that Flink would take a checkpoint from, the newest
// first: those that can be read and are not to be deleted.
// Several jobs may be among them.
func (l *Listing) Checkpoints() (list []Entry) {
	for _, e := range slices.Backward(l.Entries) {
		if e.Err == nil && !e.Marked && !e.JobGraph {
			list = append(list, e)
		}
	}
	return list
}
