package prune_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder/ha"
	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/failover"
	"chkscope/model/prune"
	"chkscope/model/store"
)

// pointerTo is one of Flink's pointers, to the object at path.
func pointerTo(t testing.TB, like, path string, at failover.Pointer) *failover.Pointer {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(corpus.Repository(t), "decoder", "ha", "testdata", like))
	if err != nil {
		t.Fatal(err)
	}
	p, err := ha.ParsePointer(data)
	if err == nil {
		at.Payload, err = p.Encode(store.FileURI(path), 14049)
	}
	if at.ConfigMap != "" {
		at.Payload = []byte(base64.StdEncoding.EncodeToString(at.Payload))
	}
	if err != nil {
		t.Fatal(err)
	}
	return &at
}

// planned makes the plan of an object with a pointer.
func planned(t *testing.T, st model.Store, object string, at *failover.Pointer) (*prune.Plan, error) {
	t.Helper()
	s := openIn(t, st, object)
	req := prune.Request{
		Targets: objectTargets(s)[:1], Copy: prune.CopyReference, ChangelogOff: true, AcceptLoss: true, Pointer: at,
		Destination: store.FileURI(filepath.Join(t.TempDir(), "copy")),
	}
	p, err := prune.Build(context.Background(), s, nil, req)
	if err == nil {
		t.Cleanup(func() { p.Close() })
	}
	return p, err
}

func openIn(t *testing.T, st model.Store, uri string) *model.Snapshot {
	t.Helper()
	s, _, err := model.Open(context.Background(), st, uri, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestNewPointer: what is written for ZooKeeper and Kubernetes leads to the new
// object, and the way back is what stood there.
func TestNewPointer(t *testing.T) {
	for _, like := range []string{"zookeeper.pointer", "kubernetes.pointer"} {
		st, object, _ := madeObjects(t)
		at := failover.Pointer{Where: "node", Node: "/flink/x/checkpoints/0000000000000000007"}
		if strings.HasPrefix(like, "k") {
			at = failover.Pointer{Where: "m checkpointID-0000000000000000007", ConfigMap: "job-config-map", Namespace: "flink", Key: "checkpointID-0000000000000000007"}
		}
		pointer := pointerTo(t, like, object, at)
		plan, err := planned(t, st, object, pointer)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := prune.Apply(context.Background(), plan, st, nil); err != nil {
			t.Fatal(err)
		}
		var there, back []byte
		if at.ConfigMap == "" {
			there, back = fileAt(t, plan.Object.Pointer.Files[0]), fileAt(t, plan.Object.Pointer.Files[1])
		} else {
			there, back = patched(t, plan.Object.Pointer.Files[0], pointer.Payload), pointer.Payload
			if got := patched(t, plan.Object.Pointer.Files[1], there); string(got) != string(back) {
				t.Errorf("the way back gives %s", got)
			}
		}
		if string(back) != string(pointer.Payload) {
			t.Errorf("%s: the way back is not what stood there", like)
		}
		p, err := ha.ParsePointer(there)
		if err != nil || p.Handle.Name != plan.Object.URI || p.Handle.Size != plan.Object.Bytes.After || p.Marker != (at.ConfigMap != "") {
			t.Errorf("%s: %+v, %v, not to %s", like, p, err, plan.Object.URI)
		}
		next := strings.Join(plan.NextSteps(), "\n")
		want := "set -b /flink/x/checkpoints/0000000000000000007"
		if at.ConfigMap != "" {
			want = "kubectl -n flink patch configmap job-config-map --type json --patch-file "
		}
		if !strings.Contains(next, want) || !strings.Contains(next, "Checkpoint 7 @") {
			t.Error(next)
		}
	}
}

func fileAt(t *testing.T, uri string) []byte {
	t.Helper()
	path, _ := store.LocalPath(uri)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// patched applies a patch as Kubernetes does, to the one key that it is about.
func patched(t *testing.T, uri string, value []byte) []byte {
	t.Helper()
	var list []struct{ Op, Path, Value string }
	if err := json.Unmarshal(fileAt(t, uri), &list); err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list[0].Op != "test" || list[1].Op != "replace" || list[0].Path != list[1].Path || list[1].Path != "/data/checkpointID-0000000000000000007" {
		t.Errorf("%+v", list)
	}
	if list[0].Value != string(value) {
		t.Errorf("it would be refused: it is for %s", list[0].Value)
	}
	return []byte(list[1].Value)
}

// TestPointerRefused: pointers that lead elsewhere or cannot be written anew.
func TestPointerRefused(t *testing.T) {
	st, object, _ := madeObjects(t)
	for rule, at := range map[string]*failover.Pointer{
		"pointer-elsewhere":  pointerTo(t, "zookeeper.pointer", object+"0", failover.Pointer{}),
		"pointer-lost-bytes": {Where: "node"},
	} {
		_, err := planned(t, st, object, at)
		var refusal *prune.Refusal
		if !errors.As(err, &refusal) || refusal.Reasons[0].Rule != rule {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

// TestObjectWithoutMetadata: the copy's `_metadata` is made of the object, which
// alone is left, or left whole.
func TestObjectWithoutMetadata(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		st, object, dir := madeObjects(t)
		whole := openIn(t, st, dir)
		want, err := planned(t, st, object, nil)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, model.MetadataName)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if damaged {
			if err := os.WriteFile(path, data[:len(data)/2], 0o644); err != nil {
				t.Fatal(err)
			}
		}
		plan, err := planned(t, st, object, nil)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Source != store.FileURI(object) && plan.Source != object || len(plan.Warnings) <= len(want.Warnings) {
			t.Errorf("source %s, warnings %q", plan.Source, plan.Warnings)
		}
		var saved strings.Builder
		if err := plan.Save(context.Background(), &saved); err != nil {
			t.Fatal(err)
		}
		res, err := prune.Apply(context.Background(), plan, st, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.Proof.Removed == 0 || res.Proof.Object.Removed != res.Proof.Removed {
			t.Errorf("%+v", res.Proof)
		}
		m := openIn(t, st, plan.Destination)
		if m.Meta.Version != whole.Meta.Version || m.Properties.Discard != openIn(t, st, object).Properties.Discard || m.Properties.Kind != metadata.KindCheckpoint || m.Meta.ID != whole.Meta.ID {
			t.Errorf("version %d, %+v", m.Meta.Version, m.Properties)
		}
		loaded, err := prune.Load(strings.NewReader(saved.String()))
		if err != nil {
			t.Fatal(err)
		}
		again, err := prune.Rebuild(context.Background(), openIn(t, st, loaded.Source), nil, loaded, "")
		if err != nil {
			t.Fatal(err)
		}
		again.Close()
		if err := os.WriteFile(object, append(fileAt(t, store.FileURI(object)), 0), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := prune.Rebuild(context.Background(), openIn(t, st, loaded.Source), nil, loaded, ""); err == nil {
			t.Error("the object was changed, and the plan still holds")
		}
	}
}

// TestObjectBeside: the copy's directory has only what Flink deletes with it, and
// what lies where the object goes is not written over.
func TestObjectBeside(t *testing.T) {
	st, object, _ := madeObjects(t)
	plan, err := planned(t, st, object, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(strings.TrimPrefix(plan.Destination, "file:")+".ha", plan.Object.Name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(other), 0o755), os.WriteFile(other, []byte("other"), 0o644)); err != nil {
		t.Fatal(err)
	}
	var refusal *prune.Refusal
	if _, err := prune.Apply(context.Background(), plan, st, nil); !errors.As(err, &refusal) || !strings.Contains(err.Error(), ".ha is there already") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if _, err := prune.Apply(context.Background(), plan, st, nil); err != nil {
		t.Fatal(err)
	}
	list, err := st.List(context.Background(), plan.Destination)
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]bool{model.MetadataName: true}
	for _, f := range plan.Write {
		written[f.Name] = true
	}
	for _, e := range list {
		if !written[e.Name] {
			t.Errorf("%s lies in the copy's directory", e.Name)
		}
	}
	inside := store.Join(store.Parent(store.FileURI(object)), "copy")
	if _, err := prune.Build(context.Background(), openIn(t, st, object), nil, prune.Request{Destination: inside, Copy: prune.CopyReference, ChangelogOff: true}); !errors.As(err, &refusal) || refusal.Reasons[0].Rule != "destination-inside" {
		t.Errorf("a copy among the objects: %v", err)
	}
}
