package prune_test

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/model"
	"chkscope/model/prune"
	"chkscope/model/store"
)

// memory is a store in memory, over real files that are found by their name
// alone, wherever a handle says they are.
type memory struct {
	mu    sync.Mutex
	files map[string][]byte
	real  map[string]string // local paths by base name
}

type memoryFile struct {
	*bytes.Reader
	name string
}

func (memoryFile) Close() error   { return nil }
func (f memoryFile) Name() string { return f.name }

func (m *memory) read(uri string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, ok := m.files[store.Canonical(uri)]; ok {
		return b, nil
	}
	if p := m.real[store.Base(uri)]; p != "" && !store.Under(uri, "mem:/copy") {
		return os.ReadFile(p)
	}
	return nil, model.ErrNotExist
}

func (m *memory) Open(_ context.Context, uri string) (model.Object, error) {
	b, err := m.read(uri)
	if err != nil {
		return nil, err
	}
	return memoryFile{bytes.NewReader(b), uri}, nil
}

func (m *memory) Stat(_ context.Context, uri string) (model.Info, error) {
	if b, err := m.read(uri); err == nil {
		return model.Info{Name: store.Base(uri), URI: uri, Size: int64(len(b))}, nil
	}
	list, err := m.List(context.Background(), uri)
	if err != nil || len(list) == 0 {
		return model.Info{}, model.ErrNotExist
	}
	return model.Info{Name: store.Base(uri), URI: uri, Dir: true}, nil
}

func (m *memory) List(_ context.Context, uri string) ([]model.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []model.Info
	for name, b := range m.files {
		if rel, ok := store.Rel(uri, name); ok && rel != "" && !strings.Contains(rel, "/") {
			out = append(out, model.Info{Name: rel, URI: name, Size: int64(len(b))})
		}
	}
	if len(out) == 0 {
		return nil, model.ErrNotExist
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

type memoryWriter struct {
	bytes.Buffer
	m   *memory
	uri string
}

func (w *memoryWriter) Commit() error {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if _, there := w.m.files[store.Canonical(w.uri)]; there {
		return model.ErrExist
	}
	w.m.files[store.Canonical(w.uri)] = w.Bytes()
	return nil
}

func (w *memoryWriter) Abort() error { return nil }

func (m *memory) Create(_ context.Context, uri string) (model.Writer, error) {
	return &memoryWriter{m: m, uri: uri}, nil
}

func (m *memory) Copy(ctx context.Context, src string, off, length int64, dst string, progress func(int64)) (model.Sum, error) {
	b, err := m.read(src)
	if err != nil {
		return model.Sum{}, err
	}
	if length < 0 {
		length = int64(len(b)) - off
	}
	if off < 0 || length < 0 || off > int64(len(b))-length {
		return model.Sum{}, io.ErrUnexpectedEOF
	}
	w := &memoryWriter{m: m, uri: dst}
	w.Write(b[off : off+length])
	progress(length)
	return model.Sum{Size: length, CRC32: crc32.Checksum(b[off:off+length], crc32.MakeTable(crc32.Castagnoli))}, w.Commit()
}

func (m *memory) Remove(_ context.Context, uri string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, store.Canonical(uri))
	return nil
}

func (m *memory) Free(context.Context, string) int64 { return -1 }

// FuzzPrune plans and writes copies of damaged `_metadata` beside real files:
// nothing but an error or a proved copy may come out.
func FuzzPrune(f *testing.F) {
	for _, name := range []string{"incident/gen-3-files", "v4-unaligned", "v4-changelog-heap", "v6-file-merging", "v4-rocks-incremental", "v4-canonical-savepoint"} {
		b, err := os.ReadFile(fixture(f, name))
		if err != nil {
			f.Fatal(err)
		}
		for kind := range byte(4) {
			f.Add(b, kind, kind)
		}
	}
	real := map[string]string{}
	err := filepath.WalkDir(filepath.Join(corpus.Repository(f), "conformance", "testdata"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "_metadata" {
			real[d.Name()] = p
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, which, how byte) {
		m := &memory{files: map[string][]byte{"mem:/chk/_metadata": data}, real: real}
		ctx := context.Background()
		s, tree, err := model.Open(ctx, m, "mem:/chk/_metadata", model.Options{})
		if err != nil || s == nil {
			return
		}
		defer s.Close()
		if headers, err := s.ReadHeaders(ctx, nil); err == nil {
			tree = headers
		}
		var targets []model.Target
		for n := model.Node(1); int(n) < tree.Len(); n++ {
			if g := tree.Target(n, s.Meta.Operators); byte(n)%8 == which%8 {
				targets = append(targets, g)
				prune.CheckMark(s, g)
			}
		}
		req := prune.Request{Targets: targets, Copy: prune.CopyKind(how % 3), Destination: "mem:/copy", AcceptLoss: true, ChangelogOff: how&4 != 0, KeepHeaders: how&8 != 0}
		p, err := prune.Build(ctx, s, tree, req)
		if err != nil {
			var r *prune.Refusal
			if errors.As(err, &r) && len(r.Reasons) == 0 {
				t.Error("a refusal without a reason")
			}
			return
		}
		res, err := prune.Apply(ctx, p, m, nil)
		var bad *prune.ProofError
		if errors.As(err, &bad) {
			t.Errorf("the proof failed: %v", bad.Problems)
		}
		_, written := m.files["mem:/copy/_metadata"]
		if (err == nil) != written {
			t.Errorf("_metadata written: %v, error %v", written, err)
		}
		if err == nil && !res.Proof.OK {
			t.Errorf("proof %+v", res.Proof)
		}
	})
}
