package prune_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/prune"
	"chkscope/model/store"
	"chkscope/storage"
)

// made is a checkpoint that the test makes: what no real file at hand has.
type made struct {
	dir  string
	meta metadata.Checkpoint
}

func newMade(t *testing.T) *made {
	return &made{dir: filepath.Join(scratch(t), "made", "chk-1"), meta: metadata.Checkpoint{Version: 3, ID: 1}}
}

func (m *made) file(t testing.TB, name, data string) metadata.StreamHandle {
	p := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
	return metadata.StreamHandle{Type: metadata.TypeRelativeFile, Name: name, Size: int64(len(data))}
}

// operator adds an operator with the subtasks' states.
func (m *made) operator(id byte, states ...*metadata.SubtaskState) metadata.OperatorID {
	op := metadata.Operator{Parallelism: int32(len(states)), MaxParallelism: 128, SubtaskCount: int32(len(states))}
	op.ID[0] = id
	for i, s := range states {
		op.Subtasks = append(op.Subtasks, metadata.Subtask{Index: int32(i), State: s})
	}
	m.meta.Operators = append(m.meta.Operators, op)
	return op.ID
}

func (m *made) open(t testing.TB, opt model.Options) (*model.Snapshot, *model.Tree) {
	t.Helper()
	var b bytes.Buffer
	if _, err := metadata.Encode(&b, &m.meta); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(m.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(m.dir, "_metadata")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	s, tree, err := model.Open(context.Background(), storage.New(storage.Options{}), store.FileURI(path), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, tree
}

func raw(h metadata.StreamHandle, offsets ...int64) *metadata.SubtaskState {
	return &metadata.SubtaskState{RawOperator: &metadata.OperatorHandle{Type: metadata.TypePartitionable, Delegate: h,
		States: []metadata.OperatorState{{Name: "_default_", Offsets: metadata.NewOffsets(offsets)}}}}
}

func groups(kind byte, h metadata.StreamHandle, id string) *metadata.KeyedHandle {
	return &metadata.KeyedHandle{Type: kind, Start: 0, Number: 1, HandleID: id,
		Groups: &metadata.KeyGroupsHandle{Start: 0, Number: 1, Offsets: metadata.NewOffsets([]int64{0}), Stream: h}}
}

// TestMastersAndRawState drops what no real file at hand has.
func TestMastersAndRawState(t *testing.T) {
	m := newMade(t)
	for _, name := range []string{"hook-a", "hook-b"} {
		m.meta.Masters = append(m.meta.Masters, metadata.Master{Version: 1, Name: name, Payload: metadata.Blob{New: []byte("payload of " + name)}})
	}
	a := m.operator(1, raw(m.file(t, "a", "0123456789"), 0, 4), raw(m.file(t, "b", "abc"), 0))
	m.operator(2, raw(m.file(t, "c", "xyz"), 0, 1))
	s, tree := m.open(t, model.Options{})
	elements := model.StateTarget(a, model.KindRawOperator, "_default_")
	elements.Class, elements.Subtask, elements.Entries = model.ClassCell, 0, model.EntryRange{First: 1, Last: 1}
	for _, c := range []struct {
		g     model.Target
		files int // that the full copy needs
	}{
		{model.Target{Class: model.ClassMaster, Kind: model.KindMaster, Name: "hook-a", Subtask: -1, Entries: model.AllEntries}, 3},
		{model.Target{Class: model.ClassMaster, Kind: model.KindMaster, Name: "hook-b", Subtask: -1, Entries: model.AllEntries}, 3},
		{model.StateTarget(a, model.KindRawOperator, "_default_"), 1},
		{elements, 3},
	} {
		res, err := drop(t, s, tree, prune.Request{Targets: []model.Target{c.g}})
		if err != nil {
			t.Errorf("%s: %v", c.g.Selector(), err)
			continue
		}
		if res.Plan.Copy != prune.CopyFull || res.Files.Copied != c.files || res.Proof.Equal+res.Proof.Removed != res.Proof.Checked {
			t.Errorf("%s: %s copy of %d files, proof %+v", c.g.Selector(), res.Plan.Copy, res.Files.Copied, res.Proof)
		}
	}
	_, err := drop(t, s, tree, prune.Request{Targets: []model.Target{{Class: model.ClassMaster, Kind: model.KindMaster, Name: "no", Subtask: -1}}})
	checkRule(t, "no such hook", err, "unknown")
}

// TestNamesInACopy: equal names from several directories, names that differ in
// case only, names that are ours, segments, one file under several handles.
func TestNamesInACopy(t *testing.T) {
	m := newMade(t)
	merged := m.file(t, "merged", "0123456789")
	segment := func(start, size int64, id string) metadata.StreamHandle {
		return metadata.StreamHandle{Type: metadata.TypeSegment, Name: store.FileURI(filepath.Join(m.dir, merged.Name)), Size: size, Seg: &metadata.Segment{Start: start, LogicalID: id}}
	}
	absolute := func(h metadata.StreamHandle) metadata.StreamHandle {
		return metadata.StreamHandle{Type: metadata.TypeFile, Name: store.FileURI(filepath.Join(m.dir, h.Name)), Size: h.Size}
	}
	twice := m.file(t, "twice", "one file, two handles")
	m.operator(1,
		raw(m.file(t, "x/same", "first"), 0), raw(m.file(t, "y/same", "second"), 0), raw(m.file(t, "z/SAME", "third"), 0),
		raw(m.file(t, "w/_metadata", "fourth"), 0), raw(m.file(t, "w/_chkscope-incomplete.json", "fifth"), 0),
		raw(twice, 0), raw(absolute(twice), 0),
		raw(segment(2, 3, "segment"), 0), raw(segment(5, 4, "segment"), 0), raw(segment(2, 3, "another id"), 0),
		raw(m.file(t, ".chkscope-tmp-1", "sixth"), 0))
	nested := metadata.StreamHandle{Type: metadata.TypeKeyGroups, Keyed: &metadata.KeyGroupsHandle{Start: 0, Number: 1, Offsets: metadata.NewOffsets([]int64{0}), Stream: m.file(t, "nested", "keyed")}}
	m.operator(2, &metadata.SubtaskState{ManagedKeyed: groups(metadata.TypeKeyGroups2, nested, "id")})
	s, tree := m.open(t, model.Options{})
	res, err := dropAnd(t, s, tree, prune.Request{Copy: prune.CopyFull, VerifyCopies: true}, func(p *prune.Plan, c *metadata.Checkpoint) {
		seen := map[string]bool{}
		for _, f := range p.Write {
			if name := strings.ToLower(f.Name); seen[name] || name == "_metadata" || strings.HasPrefix(name, "_chkscope") || strings.HasPrefix(name, ".") {
				t.Errorf("a file is called %s", f.Name)
			}
			seen[strings.ToLower(f.Name)] = true
		}
		if got := c.Operators[1].Subtasks[0].State.ManagedKeyed.Groups.Stream; got.Type != metadata.TypeKeyGroups || got.Keyed.Stream.Type != metadata.TypeRelativeFile {
			t.Errorf("the nested handle became %+v", got)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Files.Copied != 10 {
		t.Errorf("%d files were copied, want 10: %+v", res.Files.Copied, res.Plan.Write)
	}
}

// TestSourceURI: what a reference copy writes where Flink sees the source
// elsewhere.
func TestSourceURI(t *testing.T) {
	m := newMade(t)
	rel := m.file(t, "rel", "relative")
	abs := metadata.StreamHandle{Type: metadata.TypeFile, Name: "s3://bucket/job/chk-1/abs", Size: m.file(t, "abs", "absolute").Size}
	far := metadata.StreamHandle{Type: metadata.TypeFile, Name: "s3://bucket/job/shared/far", Size: 3}
	m.operator(1, raw(rel, 0), raw(abs, 0), raw(far, 0))
	s, tree := m.open(t, model.Options{})
	_, err := drop(t, s, tree, prune.Request{Copy: prune.CopyReference})
	checkRule(t, "a local directory whose handles name s3:", err, "source-uri")

	s, tree = m.open(t, model.Options{SourceURI: "s3://bucket/job/chk-1"})
	res, err := dropAnd(t, s, tree, prune.Request{Copy: prune.CopyAuto}, func(p *prune.Plan, c *metadata.Checkpoint) {
		for i, want := range []string{"s3://bucket/job/chk-1/rel", abs.Name, far.Name} {
			if got := c.Operators[0].Subtasks[i].State.RawOperator.Delegate; got.Type != metadata.TypeFile || got.Name != want {
				t.Errorf("handle %d names %q by type %d, want %q", i, got.Name, got.Type, want)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	// The file that nobody here can ask for is told, the others were looked at.
	if res.Plan.Copy != prune.CopyReference || res.Proof.Unchecked != 1 || len(res.Proof.Warnings) != 1 {
		t.Errorf("%s copy, proof %+v", res.Plan.Copy, res.Proof)
	}
}

// TestMissingAtTheSource: a referenced file that is missing is a warning, one to
// be copied an error, before anything is written.
func TestMissingAtTheSource(t *testing.T) {
	m := newMade(t)
	h := m.file(t, "gone", "data")
	short := m.file(t, "short", "data")
	short.Size = 5
	m.operator(1, raw(h, 0), raw(short, 0), raw(m.file(t, "there", "data"), 0))
	os.Remove(filepath.Join(m.dir, "gone"))
	s, tree := m.open(t, model.Options{})
	res, err := drop(t, s, tree, prune.Request{Copy: prune.CopyReference})
	if err != nil || res.Proof.Unchecked != 2 || !res.Proof.OK {
		t.Errorf("reference copy: %v %+v", err, res)
	}
	dest := filepath.Join(scratch(t), "full")
	p, err := prune.Build(context.Background(), s, tree, prune.Request{Copy: prune.CopyFull, Destination: store.FileURI(dest)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prune.Apply(context.Background(), p, storage.New(storage.Options{}), nil); err == nil || !strings.Contains(err.Error(), "2 of the files") || exists(dest) {
		t.Errorf("full copy: %v", err)
	}
}

// TestDefaultCopy: which kind of copy is chosen, and which claim mode it needs.
func TestDefaultCopy(t *testing.T) {
	for _, c := range []struct {
		fixture string
		req     prune.Request
		kind    prune.CopyKind
		rule    string
		claim   string
		says    string
		movable bool
	}{
		{fixture: "v4-rocks-incremental", kind: prune.CopyReference, claim: "NO_CLAIM", says: "Never CLAIM"},
		{fixture: "v4-rocks-incremental", req: prune.Request{Copy: prune.CopyFull}, kind: prune.CopyFull, claim: "NO_CLAIM", says: "uploads every RocksDB file again", movable: true},
		{fixture: "v4-rocks-native-savepoint", kind: prune.CopyFull, claim: "NO_CLAIM", says: "uploads every RocksDB file again", movable: true},
		{fixture: "v4-heap-checkpoint", kind: prune.CopyFull, claim: "NO_CLAIM", says: "both are safe", movable: true},
		{fixture: "v3-heap-checkpoint", req: prune.Request{Copy: prune.CopyReference}, kind: prune.CopyReference, claim: "NO_CLAIM", says: "Up to Flink 1.14"},
		{fixture: "v4-changelog-heap", kind: prune.CopyFull, claim: "CLAIM", says: "inside _metadata", movable: true},
		{fixture: "v4-changelog-heap", req: prune.Request{ChangelogOff: true}, kind: prune.CopyFull, claim: "NO_CLAIM", says: "switched off", movable: true},
		{fixture: "v4-changelog-heap", req: prune.Request{Copy: prune.CopyReference}, rule: "changelog-reference"},
		{fixture: "v4-changelog-heap", req: prune.Request{Copy: prune.CopyReference, ChangelogOff: true}, kind: prune.CopyReference, claim: "NO_CLAIM", says: "switched off"},
	} {
		s, tree := open(t, fixture(t, c.fixture))
		c.req.Destination = store.FileURI(filepath.Join(scratch(t), "copy"))
		p, err := prune.Build(context.Background(), s, tree, c.req)
		checkRule(t, c.fixture, err, c.rule)
		if err != nil {
			continue
		}
		if p.Copy != c.kind || p.ClaimMode != c.claim || !strings.Contains(p.ClaimSentence, c.says) || p.Movable != c.movable || p.CopyReason == "" {
			t.Errorf("%s: %s copy (%s), %s, movable %v: %s", c.fixture, p.Copy, p.CopyReason, p.ClaimMode, p.Movable, p.ClaimSentence)
		}
		next := strings.Join(p.NextSteps(), "\n")
		for _, want := range []string{p.Destination, "claim-mode=" + c.claim, "initialSavepointPath", "savepointRedeployNonce", "HA entries", p.ClaimSentence} {
			if !strings.Contains(next, want) {
				t.Errorf("%s: the next steps do not say %q", c.fixture, want)
			}
		}
	}
}

// TestInFlightAllOrNothing: a mark on one channel list, or on an operator that
// holds in-flight data, takes all of it along and says so.
func TestInFlightAllOrNothing(t *testing.T) {
	s, tree := open(t, fixture(t, "v4-unaligned"))
	for i := range s.Meta.Operators {
		holds := false
		for _, sub := range s.Meta.Operators[i].Subtasks {
			holds = holds || sub.State != nil && sub.State.Input.Len()+sub.State.Output.Len() > 0
		}
		if !holds {
			continue
		}
		res, err := dropAnd(t, s, tree, prune.Request{Targets: []model.Target{model.OperatorTarget(s.Meta.Operators[i].ID)}}, func(p *prune.Plan, c *metadata.Checkpoint) {
			err := c.EachStream(func(u metadata.StreamUse) error {
				if u.Channel != nil {
					t.Errorf("%s is left", u)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(res.Plan.Losses, " "), "in-flight") || len(res.Plan.Removed) < 2 || res.Plan.Removed[1].Because == "" {
			t.Errorf("losses %v, removed %+v", res.Plan.Losses, res.Plan.Removed)
		}
		return
	}
	t.Error("the fixture has no in-flight data")
}
