package ha

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder"
)

// pointers are the real ones of the corpus.
func pointers(t testing.TB) map[string][]byte {
	t.Helper()
	root := corpus.Dir(t)
	found := map[string][]byte{}
	for _, pattern := range []string{"ha/*/zk-node-data", "ha/*/k8s-entry-data", "incident/ha-1.15/*/zookeeper/*.checkpoints.*", "incident/ha-1.15/*/zookeeper/*.jobgraphs.*", "lab/*-ha/zk/*.node"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b := readFile(t, f)
			if strings.HasSuffix(pattern, ".node") && !bytes.Contains(b, []byte(classPointer)) {
				continue // locks, leaders, the counter
			}
			name, _ := filepath.Rel(root, f)
			found[name] = b
		}
	}
	if len(found) < 20 {
		t.Errorf("only %d pointers", len(found))
	}
	return found
}

func TestPointers(t *testing.T) {
	root := corpus.Dir(t)
	for name, b := range pointers(t) {
		for _, text := range []bool{false, true} {
			in := b
			if text {
				in = []byte(base64.StdEncoding.EncodeToString(b) + "\n")
			}
			p, err := ParsePointer(in)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if p.Marker != strings.Contains(name, "k8s") || p.MarkedForDeletion || p.Base64 != text {
				t.Errorf("%s: %+v", name, p)
			}
			object, ok := pointed(root, name, path.Base(p.Handle.Name))
			if !ok || int64(len(object)) != p.Handle.Size {
				t.Errorf("%s: points to %q with %d bytes, which has %d", name, p.Handle.Name, p.Handle.Size, len(object))
			}
			again, err := p.Encode(p.Handle.Name, p.Handle.Size)
			if err != nil || !bytes.Equal(again, bytes.TrimSpace(in)) {
				t.Errorf("%s: written again it differs, %v", name, err)
			}
			moved, err := p.Encode("s3://b/a b", 99)
			if err != nil {
				t.Fatal(err)
			}
			q, err := ParsePointer(moved)
			if err != nil || q.Handle.Name != "s3://b/a b" || q.Handle.Size != 99 || q.Marker != p.Marker || q.Base64 != text {
				t.Errorf("%s: moved it is %+v, %v", name, q, err)
			}
		}
	}
}

// pointed finds the object in the corpus.
func pointed(root, pointer, object string) ([]byte, bool) {
	dir := filepath.Dir(filepath.Join(root, pointer))
	for _, p := range []string{object, "../storage/" + object, "../ha/lab/" + object} {
		if b, err := os.ReadFile(filepath.Join(dir, p)); err == nil {
			return b, true
		}
	}
	return nil, false
}

func TestPointerErrors(t *testing.T) {
	for name, b := range pointers(t) {
		for i := range b {
			if _, err := ParsePointer(b[:i]); err == nil {
				t.Fatalf("%s cut at %d: no error", name, i)
			}
		}
	}
	for name, b := range map[string][]byte{
		"nothing": nil, "text": []byte("hello"), "Base64 that is none": []byte("rO0***"),
		"a string": []byte("\xac\xed\x00\x05\x74\x00\x01a"), "long": make([]byte, maxPointer+1),
	} {
		_, err := ParsePointer(b)
		var e *decoder.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCounters(t *testing.T) {
	if n, err := ZooKeeperCounter([]byte{0, 0, 1, 4}); n != 260 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := ZooKeeperCounter([]byte("12345")); err == nil {
		t.Error("5 bytes were taken for a counter")
	}
	if n, err := KubernetesCounter("42\n"); n != 42 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := KubernetesCounter("x"); err == nil {
		t.Error("x was taken for a counter")
	}
	for name, want := range map[string]int64{"0000000000000000003": 3, "checkpointID-0000000000000000012": 12, "counter": -1, "3": -1, "checkpointID-00000000000000000x2": -1, "9999999999999999999": -1} {
		id, ok := CheckpointOfName(name)
		if ok != (want >= 0) || ok && id != want {
			t.Errorf("%s: %d, %t", name, id, ok)
		}
	}
}

func FuzzParsePointer(f *testing.F) {
	for _, name := range []string{"zookeeper.pointer", "kubernetes.pointer"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePointer(b)
		if err != nil {
			return
		}
		moved, err := p.Encode("file:/x", 1)
		if err != nil {
			t.Fatal(err)
		}
		if q, err := ParsePointer(moved); err != nil || q.Handle.Name != "file:/x" {
			t.Fatalf("moved it is %+v, %v", q, err)
		}
	})
}
