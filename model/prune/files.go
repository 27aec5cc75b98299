package prune

import (
	"strconv"
	"strings"

	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/store"
)

// part is what a stream handle names: a file, or a segment of one. Two handles
// name the same bytes where their parts are equal in key.
type part struct {
	key     string
	flink   string // the file's URI as Flink sees it
	read    string // where it is found from here
	off     int64
	size    int64 // -1: not recorded
	segment bool
	id      string // logical file id of a segment
	// loose: a changelog file, of which Flink records one byte less than it has
	// (the flag in front says whether it is compressed).
	loose bool
}

// fits tells whether a file of n bytes can be the whole file p.
func (p part) fits(n int64) bool { return p.size < 0 || n == p.size || p.loose && n > p.size }

// locator resolves the handles of a source.
type locator struct {
	dir   string // of `_metadata`, as opened here
	flink string // the same as Flink sees it
}

func newLocator(s *model.Snapshot) locator {
	l := locator{dir: s.Dir, flink: s.Options.SourceURI}
	if l.flink == "" {
		l.flink = s.Dir
		if p, ok := store.LocalPath(s.Dir); ok {
			l.flink = store.FileURI(p)
		}
	}
	return l
}

// use resolves the handle of a use.
func (l locator) use(u metadata.StreamUse) (part, bool) {
	p, ok := l.part(u.Stream)
	p.loose = u.Part == metadata.LogStream
	return p, ok
}

// part resolves a handle; false for inline and empty ones. A nested key-groups
// handle is resolved by what it holds.
func (l locator) part(h *metadata.StreamHandle) (part, bool) {
	switch h.Type {
	case metadata.TypeRelativeFile:
		p := part{flink: store.Join(l.flink, h.Name), read: store.Join(l.dir, h.Name), size: h.Size}
		p.key = store.Canonical(p.flink)
		return p, true
	case metadata.TypeFile:
		p := part{flink: h.Name, read: l.found(h.Name), size: h.Size}
		p.key = store.Canonical(p.flink)
		return p, true
	case metadata.TypeSegment:
		p := part{flink: h.Name, read: l.found(h.Name), off: h.Seg.Start, size: h.Size, segment: true, id: h.Seg.LogicalID}
		p.key = store.Canonical(p.flink) + "\x00" + strconv.FormatInt(p.off, 10) + "+" + strconv.FormatInt(p.size, 10)
		return p, true
	}
	return part{}, false
}

// found is where an absolute path is found from here: what lies below the
// source as Flink sees it lies below the source as opened.
func (l locator) found(uri string) string {
	if rel, ok := store.Rel(l.flink, uri); ok && rel != "" && l.flink != l.dir {
		return store.Join(l.dir, "./"+rel)
	}
	return uri
}

// namer gives files of the copy names that no other has, also where the file
// system does not tell upper from lower case.
type namer struct{ used map[string]bool }

func newNamer() *namer {
	return &namer{map[string]bool{model.MetadataName: true, model.IncompleteName: true}}
}

func (n *namer) name(want string) string {
	want = cleanName(want)
	name := want
	for i := 1; n.used[strings.ToLower(name)]; i++ {
		name = want + "-" + strconv.Itoa(i)
	}
	n.used[strings.ToLower(name)] = true
	return name
}

// cleanName is a file name that is safe as a relative path of Flink: a colon
// could read as a scheme.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == '/' || r == '\\' || r == ':' || r == 0x7f {
			return '_'
		}
		return r
	}, s)
	if s == "" || s == "." || s == ".." || store.IsTemp(s) || strings.HasPrefix(s, markerStem) {
		return "file" + strings.TrimLeft(s, ".")
	}
	if len(s) > 200 {
		s = s[len(s)-200:]
	}
	return s
}

// partName is what a part would like to be called in the copy.
func partName(p part) string {
	if p.segment && p.id != "" {
		return p.id
	}
	return store.Base(p.flink)
}
