package ha

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/metadata/metatest"
)

var update = flag.Bool("update", false, "write the .metadata files of testdata again")

// fixtures are objects that Flink's own classes wrote (testdata/HaObjects.java)
// and the `_metadata` that each was made of.
var fixtures = []struct {
	object, metadata string
	version          int32
}{
	{"flink-1.13.object", "testdata/flink-1.13.metadata", 3},
	{"flink-1.15.object", "testdata/flink-1.15.metadata", 3},
	{"flink-1.20.object", "testdata/flink-1.20.metadata", 4},
	{"flink-2.3.object", "../metadata/testdata/all-v6.metadata", 6},
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return readFile(t, filepath.Join("testdata", name))
}

// forFlink gives every structure that Flink 1.20, 1.15 or 1.13 can read.
func forFlink(minor int) *metadata.Checkpoint {
	if minor == 20 {
		c := metatest.All(4)
		eachOperatorHandle(c, func(h **metadata.OperatorHandle) { (*h).EmptyByte = 0 })
		return c
	}
	c := metatest.All(3)
	plain := metadata.StreamHandle{Type: metadata.TypeFile, Name: "file:/shared/000001.sst", Size: 50}
	for i := range c.Operators {
		o := &c.Operators[i]
		kept := o.Subtasks[:0]
		for _, s := range o.Subtasks {
			if s.State == nil && minor < 14 {
				continue
			}
			if s.State != nil {
				if h := s.State.ManagedOperator; h != nil && h.Type == metadata.TypeFileMergingOperator {
					h.Type, h.Delegate = metadata.TypePartitionable, plain
				}
				k := s.State.ManagedKeyed
				switch {
				case k == nil:
				case k.Type == metadata.TypeChangelog || minor < 15 && k.Type != metadata.TypeSavepoint && k.Type != metadata.TypeIncremental1:
					s.State.ManagedKeyed = nil
				case k.Changelog != nil:
					k.Changelog.Materialized = k.Changelog.Materialized[:1]
					k.Changelog.Materialized[0].Incr.Shared.New[0].Stream = plain
				case k.Incr != nil:
					k.Incr.Shared.New[0].Stream = plain
				}
			}
			kept = append(kept, s)
		}
		o.Subtasks = kept
	}
	if minor < 14 { // finished operators
		c.Operators = c.Operators[:len(c.Operators)-1]
	}
	return c
}

func TestFixtures(t *testing.T) {
	for name, minor := range map[string]int{"flink-1.13.metadata": 13, "flink-1.15.metadata": 15, "flink-1.20.metadata": 20} {
		var b bytes.Buffer
		if _, err := metadata.Encode(&b, forFlink(minor)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(readFile(t, path), b.Bytes()) {
			t.Errorf("%s is not what is made now: -update, and HaObjects.java", name)
		}
	}
	for _, f := range fixtures {
		c := decode(t, f.object, fixture(t, f.object))
		accounted(t, f.object, c.Meta)
		if c.Meta.Version != f.version || c.ExternalPointer != "file:/checkpoints/chk-1" || c.Timestamp != 1000 || c.CompletionTimestamp != 2000 || c.JobID[0] != 1 || c.Properties.Kind != metadata.KindCheckpoint || c.Restored.Present {
			t.Errorf("%s: version %d, %+v", f.object, c.Meta.Version, c)
		}
		if c.MetadataHandle.Name != "file:/checkpoints/chk-1/_metadata" {
			t.Errorf("%s: its _metadata is %+v", f.object, c.MetadataHandle)
		}
		m, err := metadata.Decode(decoder.Bytes{Data: readFile(t, f.metadata), Label: f.metadata})
		if err != nil {
			t.Fatal(err)
		}
		asLoaded(m)
		same(t, f.object, lines(t, c.Meta, true), lines(t, m, true))
	}
}

// asLoaded changes what Flink changes when it loads a `_metadata`: any raw bool
// becomes 1, materialized handles that are null are left out.
func asLoaded(c *metadata.Checkpoint) {
	eachOperatorHandle(c, func(h **metadata.OperatorHandle) {
		(*h).EmptyByte = min((*h).EmptyByte, 1)
	})
	eachKeyed(c, func(k *metadata.KeyedHandle) {
		if k.Changelog == nil {
			return
		}
		kept := []metadata.KeyedHandle{}
		for _, m := range k.Changelog.Materialized {
			if m.Type != metadata.TypeNull {
				kept = append(kept, m)
			}
		}
		k.Changelog.Materialized = kept
	})
}

func TestFixturePointers(t *testing.T) {
	for name, marker := range map[string]bool{"zookeeper.pointer": false, "kubernetes.pointer": true} {
		p, err := ParsePointer(fixture(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if p.Marker != marker || p.Handle.Name != "s3://bucket/ha/completedCheckpoint0123456789ab" || p.Handle.Size != 1234 || !strings.HasPrefix(p.Handle.Name, "s3:") {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestEditsOfFixtures(t *testing.T) {
	tried := map[string]bool{}
	for _, f := range fixtures {
		checkEdits(t, f.object, fixture(t, f.object), func(edit string, _ []byte) { tried[edit] = true })
	}
	for _, e := range edits {
		if !tried[e.name] {
			t.Errorf("no object to try %q on", e.name)
		}
	}
}
