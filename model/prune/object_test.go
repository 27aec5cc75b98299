package prune_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/failover"
	"chkscope/model/prune"
	"chkscope/model/store"
	"chkscope/storage"
)

// madeObjects gives an object and the `_metadata` of the same checkpoint, with
// handles of every type, below a directory that Flink saw as file:/checkpoints.
func madeObjects(t testing.TB) (st *storage.Router, object, dir string) {
	t.Helper()
	home := t.TempDir()
	dir = filepath.Join(home, "chk-1")
	for from, to := range map[string]string{"flink-1.20.metadata": "chk-1/_metadata", "flink-1.20.object": "ha/completedCheckpoint0123456789ab"} {
		data, err := os.ReadFile(filepath.Join(corpus.Repository(t), "decoder", "ha", "testdata", from))
		if err != nil {
			t.Fatal(err)
		}
		to = filepath.Join(home, filepath.FromSlash(to))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	maps := store.Mappings{{From: "file:/checkpoints", To: home}, {From: "s3://bucket", To: home}}
	return storage.New(storage.Options{Maps: maps}), filepath.Join(home, "ha", "completedCheckpoint0123456789ab"), dir
}

// prunedObject prunes and gives the new object and the new `_metadata`, opened.
func prunedObject(t *testing.T, st *storage.Router, source string, req prune.Request) (*prune.Result, *model.Snapshot, *model.Snapshot) {
	t.Helper()
	ctx := context.Background()
	s, tree, err := model.Open(ctx, st, source, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	plan, err := prune.Build(ctx, s, tree, req)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	defer plan.Close()
	res, err := prune.Apply(ctx, plan, st, nil)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	if o := res.Proof.Object; o == nil || o.Checked == 0 || o.Checked != o.Equal+o.Removed {
		t.Errorf("%s: object proof %+v", source, o)
	}
	return res, openIn(t, st, plan.Object.URI), openIn(t, st, req.Destination)
}

// TestObjectGoesAlong: every named state of every kind, one at a time, goes from
// the object as from `_metadata`, and nothing else does.
func TestObjectGoesAlong(t *testing.T) {
	st, object, dir := madeObjects(t)
	s := openIn(t, st, object)
	before, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	targets := objectTargets(s)
	if len(targets) < 6 {
		t.Fatalf("only %d targets", len(targets))
	}
	for i, g := range targets {
		req := prune.Request{
			Targets: []model.Target{g}, Copy: prune.CopyReference, ChangelogOff: true, AcceptLoss: true,
			Destination: store.FileURI(filepath.Join(t.TempDir(), "copy")),
		}
		source := object
		if i%2 == 1 { // the other way round: _metadata is opened, and the object named
			source, req.Object = dir, store.FileURI(object)
		}
		res, o, m := prunedObject(t, st, source, req)
		if res.Proof.Object.Removed == 0 || res.Proof.Object.Removed != res.Proof.Removed {
			t.Errorf("%s: %d removed, %d in the object", g.Selector(), res.Proof.Removed, res.Proof.Object.Removed)
		}
		list, err := failover.Compare(context.Background(), o, m)
		if err != nil {
			t.Fatal(err)
		}
		// In a reference copy handles are absolute that are relative in the object.
		list = slices.DeleteFunc(list, func(d failover.Difference) bool {
			return d.Object != "none" && d.Metadata != "none" && !strings.Contains(d.What, "mode") && !strings.Contains(d.What, "parallelism")
		})
		if len(list) > 0 {
			t.Errorf("%s: %v", g.Selector(), list)
		}
		if o.HA.JobID != s.HA.JobID || o.Dir != s.Dir || o.HA.MetadataHandle.Name != s.HA.MetadataHandle.Name {
			t.Errorf("%s: %+v", g.Selector(), o.HA)
		}
	}
	if after, err := os.ReadFile(object); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the source object was changed (%v)", err)
	}
}

// objectTargets are removals of every kind of which the fixture allows.
func objectTargets(s *model.Snapshot) (list []model.Target) {
	for i := range s.Meta.Operators {
		o := &s.Meta.Operators[i]
		if o.Coordinator != nil {
			list = append(list, model.StateTarget(o.ID, model.KindCoordinator, ""))
		}
		seen := map[string]bool{}
		for k := range o.Subtasks {
			if o.Subtasks[k].State == nil {
				continue
			}
			for kind, h := range map[model.Kind]*metadata.OperatorHandle{model.KindOperator: o.Subtasks[k].State.ManagedOperator, model.KindRawOperator: o.Subtasks[k].State.RawOperator} {
				if h == nil {
					continue
				}
				for _, st := range h.States {
					if key := kind.String() + "/" + st.Name; !seen[key] {
						seen[key] = true
						list = append(list, model.StateTarget(o.ID, kind, st.Name))
					}
				}
			}
		}
	}
	return list
}

// TestObjectOfAnotherCheckpoint: an object that does not hold the same is refused.
func TestObjectOfAnotherCheckpoint(t *testing.T) {
	st, object, dir := madeObjects(t)
	data, err := os.ReadFile(filepath.Join(corpus.Repository(t), "decoder", "ha", "testdata", "flink-1.15.object"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(object, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for source, rule := range map[string]string{object: "ha-stale", dir: "ha-stale"} {
		s, tree, err := model.Open(context.Background(), st, source, model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		req := prune.Request{Destination: store.FileURI(filepath.Join(t.TempDir(), "copy")), Object: store.FileURI(object)}
		_, err = prune.Build(context.Background(), s, tree, req)
		var refusal *prune.Refusal
		if !errors.As(err, &refusal) || refusal.Reasons[0].Rule != rule {
			t.Errorf("%s: %v", source, err)
		}
		s.Close()
	}
}

// TestObjectPlan: a plan file with an object is built again from both sources, and
// not where the object was changed.
func TestObjectPlan(t *testing.T) {
	st, object, _ := madeObjects(t)
	ctx := context.Background()
	s, _, err := model.Open(ctx, st, object, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dest := store.FileURI(filepath.Join(t.TempDir(), "copy"))
	req := prune.Request{
		Targets: objectTargets(s)[:1], Copy: prune.CopyReference, ChangelogOff: true, AcceptLoss: true, Destination: dest,
		Pointer: pointerTo(t, "zookeeper.pointer", object, failover.Pointer{Where: "zk/7", Node: "/flink/7"}),
	}
	plan, err := prune.Build(ctx, s, nil, req)
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	var file bytes.Buffer
	if err := plan.Save(ctx, &file); err != nil {
		t.Fatal(err)
	}
	saved, err := prune.Load(&file)
	if err != nil {
		t.Fatal(err)
	}
	m, tree, err := model.Open(ctx, st, saved.Source, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	again, err := prune.Rebuild(ctx, m, tree, saved, "")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Digest != plan.Digest || again.Object == nil || !reflect.DeepEqual(again.Object, plan.Object) {
		t.Errorf("%+v\n%+v", again.Object, plan.Object)
	}
	data, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(object, append(data, 0), 0o644); err != nil { // a byte that Java ignores
		t.Fatal(err)
	}
	if _, err := prune.Rebuild(ctx, m, tree, saved, ""); err == nil {
		t.Error("the object was changed, and the plan still holds")
	}
}

// TestObjectDamagedInTheCopy: what is not as planned in the new object is found.
func TestObjectDamagedInTheCopy(t *testing.T) {
	st, object, _ := madeObjects(t)
	ctx := context.Background()
	s, _, err := model.Open(ctx, st, object, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dest := store.FileURI(filepath.Join(t.TempDir(), "copy"))
	plan, err := prune.Build(ctx, s, nil, prune.Request{Targets: objectTargets(s)[:1], Copy: prune.CopyReference, ChangelogOff: true, AcceptLoss: true, Destination: dest})
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	// The object of the source in the place of the new one: nothing is gone in it.
	_, err = prune.Apply(ctx, plan, &swapped{Router: st, name: plan.Object.Name, by: object}, nil)
	var proof *prune.ProofError
	if !errors.As(err, &proof) {
		t.Errorf("%v", err)
	}
	if _, err := st.Stat(ctx, store.Join(dest, "_metadata")); !errors.Is(err, model.ErrNotExist) {
		t.Errorf("_metadata of an unproved copy: %v", err)
	}
}

// swapped gives another file when the object is read back.
type swapped struct {
	*storage.Router
	name, by string
}

func (s *swapped) Open(ctx context.Context, uri string) (model.Object, error) {
	if store.Base(uri) == s.name && !strings.Contains(uri, "/ha/") {
		uri = store.FileURI(s.by)
	}
	return s.Router.Open(ctx, uri)
}

// TestObjectsOfRealFlink prunes objects of real jobs: states in files, whose
// headers are rewritten, and the multiplied union list of the incident.
func TestObjectsOfRealFlink(t *testing.T) {
	root := corpus.Dir(t)
	for _, lab := range []string{"1.15-ha", "1.18-ha", "1.20-ha", "2.1-ha"} {
		home := filepath.Join(root, "lab", lab)
		st := storage.New(storage.Options{Maps: store.Mappings{{From: "file:/tmp/flink-lab/" + lab, To: home}}})
		objects, _ := filepath.Glob(filepath.Join(home, "ha", "lab", "completedCheckpoint*"))
		s := openIn(t, st, objects[0])
		for _, g := range objectTargets(s) {
			if g.Kind == model.KindCoordinator || g.Name == "SourceReaderState" {
				continue
			}
			dest := store.FileURI(filepath.Join(t.TempDir(), "copy"))
			res, o, _ := prunedObject(t, st, objects[0], prune.Request{Targets: []model.Target{g}, Destination: dest})
			if res.Proof.Object.Removed == 0 || res.Files.Rewritten == 0 {
				t.Errorf("%s: %+v, %d rewritten", g.Selector(), res.Proof.Object, res.Files.Rewritten)
			}
			checkObjectFiles(t, st, o)
		}
	}
	home := filepath.Join(root, "incident", "ha-1.15", "after-crash-1")
	st := storage.New(storage.Options{Maps: store.Mappings{{From: "file:/tmp/flink/ha/checkpoints/eb6b7013b6de48bc7c53c2011c74b223", To: filepath.Join(home, "checkpoints")}}})
	objects, _ := filepath.Glob(filepath.Join(home, "storage", "completedCheckpoint*"))
	s := openIn(t, st, objects[0])
	for _, g := range objectTargets(s) {
		if g.Name == "topic-partition-offset-states" {
			dest := store.FileURI(filepath.Join(t.TempDir(), "copy"))
			_, o, _ := prunedObject(t, st, objects[0], prune.Request{Targets: []model.Target{g}, Destination: dest})
			if o.Meta.In.Size() >= s.Meta.In.Size()*4/5 {
				t.Errorf("the object has still %d of %d bytes", o.Meta.In.Size(), s.Meta.In.Size())
			}
			prunedByCondition(t, st, objects[0], g)
			return
		}
	}
	t.Error("the union list is not there")
}

// prunedByCondition: only the entries that a condition chooses go, from the object
// as from `_metadata`.
func prunedByCondition(t *testing.T, st *storage.Router, object string, g model.Target) {
	t.Helper()
	entries := func(s *model.Snapshot) (n int64) {
		for i := range s.Meta.Operators {
			for _, sub := range s.Meta.Operators[i].Subtasks {
				if sub.State == nil || sub.State.ManagedOperator == nil {
					continue
				}
				for _, x := range sub.State.ManagedOperator.States {
					if x.Name == g.Name {
						n += x.Offsets.Len()
					}
				}
			}
		}
		return n
	}
	all := entries(openIn(t, st, object))
	dest := store.FileURI(filepath.Join(t.TempDir(), "copy"))
	_, o, m := prunedObject(t, st, object, prune.Request{Targets: []model.Target{g}, Where: "partition == 0", Destination: dest})
	if a, b := entries(o), entries(m); a != b || a == 0 || a >= all {
		t.Errorf("of %d elements the object has %d, _metadata %d", all, a, b)
	}
}

// checkObjectFiles: every file that the object names is there, with its length.
func checkObjectFiles(t *testing.T, st *storage.Router, o *model.Snapshot) {
	t.Helper()
	uses, err := o.FileUses()
	if err != nil || len(uses) == 0 {
		t.Fatalf("%d files, %v", len(uses), err)
	}
	for _, u := range uses {
		info, err := st.Stat(context.Background(), u.URI)
		if err != nil || info.Size != u.Need {
			t.Errorf("%s: %d bytes of %d, %v", u.URI, info.Size, u.Need, err)
		}
	}
}
