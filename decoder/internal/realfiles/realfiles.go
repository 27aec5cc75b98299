// Package realfiles finds the real checkpoints that lie beside the repository
// and opens the streams that they name, for tests.
package realfiles

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"chkscope/conformance/corpus"
	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

// Snapshot is a decoded `_metadata` and the files around it.
type Snapshot struct {
	// Name is the path of the `_metadata` below Dir.
	Name string
	// Folder is the directory of the corpus with about.txt and facts.txt, or that
	// of the snapshot.
	Folder string
	*metadata.Checkpoint
	files map[string]string // base name to path
}

// Each calls f for every `_metadata` below the folders given (below Dir), of
// all where there are none.
func Each(t testing.TB, folders []string, f func(s *Snapshot)) {
	t.Helper()
	root := corpus.Dir(t)
	if len(folders) == 0 {
		folders = []string{"flink-savepoints", "lab", "incident"}
	}
	n := 0
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() != "_metadata" && d.Name() != "_metadata.xz" {
				return err
			}
			s := open(t, root, p)
			n++
			f(s)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n == 0 {
		t.Fatalf("no _metadata in %v", folders)
	}
}

// opened keeps what was decoded: tests go over the same files many times.
var opened = map[string]*Snapshot{}

func open(t testing.TB, root, p string) *Snapshot {
	if s := opened[p]; s != nil {
		return s
	}
	name, _ := filepath.Rel(root, p)
	data := read(t, p)
	c, err := metadata.Decode(decoder.Bytes{Data: data, Label: name})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	s := &Snapshot{Name: name, Folder: filepath.Dir(p), Checkpoint: c, files: map[string]string{}}
	for dir := s.Folder; dir != root && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, "about.txt")) {
			s.Folder = dir
			break
		}
	}
	// Files of a snapshot lie beside it; shared ones up to two folders above.
	filepath.WalkDir(s.Folder, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			s.files[strings.TrimSuffix(d.Name(), ".xz")] = p
		}
		return nil
	})
	opened[p] = s
	return s
}

func read(t testing.TB, p string) []byte {
	data, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(p, ".xz") {
		r, err := xz.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// Stream gives the bytes of a stream handle, nil where the file is not there.
func (s *Snapshot) Stream(t testing.TB, h *metadata.StreamHandle) decoder.Input {
	switch h.Type {
	case metadata.TypeByteStream:
		return h.Data.Input(s.In, s.Name+"#"+h.Name)
	case metadata.TypeKeyGroups:
		return s.Stream(t, &h.Keyed.Stream)
	case metadata.TypeFile, metadata.TypeRelativeFile, metadata.TypeSegment:
		p, ok := s.files[path.Base(h.Name)]
		if !ok {
			return nil
		}
		in := decoder.Bytes{Data: read(t, p), Label: p}
		if h.Type == metadata.TypeSegment {
			return decoder.Section(in, decoder.Span{Off: h.Seg.Start, Len: h.Size}, p)
		}
		return in
	}
	return nil
}
