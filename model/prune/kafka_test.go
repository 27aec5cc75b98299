package prune_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder/connector"
	"chkscope/decoder/metadata"
	"chkscope/decoder/serde"
	"chkscope/model"
	"chkscope/model/prune"
	"chkscope/model/store"
	"chkscope/storage"
)

// kafkaSides gives what readers and enumerator of an operator hold, each
// partition with all that is known of it.
func kafkaSides(t *testing.T, s *model.Snapshot, tree *model.Tree, op int) (readers, enumerator []string) {
	t.Helper()
	g := model.StateTarget(s.Meta.Operators[op].ID, model.KindOperator, "SourceReaderState")
	err := s.EachEntry(context.Background(), tree, []model.Node{s.Find(tree, g)}, serde.DefaultLimits, nil, func(e *model.Entry) error {
		p := e.Connector.Kafka[0]
		readers = append(readers, fmt.Sprintf("%s-%d %d of subtask %d", p.Topic, p.Partition, p.Offset, e.Subtask))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.Meta.Operators[op].Coordinator.Data.Read(s.Meta.In, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	c, err := connector.ParseCoordinator(data)
	if err != nil {
		t.Fatal(err)
	}
	e, err := connector.ParseKafkaEnumerator(c.EnumeratorVersion, c.Enumerator)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range e.Partitions {
		enumerator = append(enumerator, fmt.Sprintf("%s-%d %+v", p.Topic, p.Partition.Partition, p))
	}
	return readers, append(enumerator, fmt.Sprintf("discovered %v version %d", e.DiscoveryFinished, e.Version))
}

// kafkaSources are snapshots with a KafkaSource, of every enumerator version that
// there are real bytes of.
func kafkaSources(t *testing.T) []string {
	list := []string{fixture(t, "incident/gen-3"), fixture(t, "incident/gen-3-files")}
	for _, name := range []string{"kafka-sink-1.20", "kafka-sink-2.2-connector-5", "consumer-to-source-1.15-p4/gen-5"} {
		if p := filepath.Join(corpus.Find(t), "incident", name, "checkpoint", "_metadata"); exists(p) {
			list = append(list, p)
		}
	}
	return list
}

// TestKafkaTopic takes a topic, or one partition, out of a KafkaSource, named on
// either side, on the operator, and by the numbers of splits: it is gone from the
// readers and the enumerator, and nothing else is.
func TestKafkaTopic(t *testing.T) {
	versions := map[string]bool{}
	for _, path := range kafkaSources(t) {
		s, tree := withHeaders(t, path)
		op := slices.IndexFunc(s.Meta.Operators, func(o metadata.Operator) bool {
			return s.Find(tree, model.StateTarget(o.ID, model.KindOperator, "SourceReaderState")) != model.None
		})
		id := s.Meta.Operators[op].ID.String()
		readers, enumerator := kafkaSides(t, s, tree, op)
		versions[enumerator[len(enumerator)-1]] = true
		var sub, number int
		for i, r := range readers {
			if n, _ := fmt.Sscanf(r[strings.Index(r, " of "):], " of subtask %d", &sub); n == 1 && strings.HasPrefix(r, "payments-2 ") {
				for number = 0; i-number > 0 && strings.HasSuffix(readers[i-number-1], fmt.Sprintf("subtask %d", sub)); {
					number++
				}
				break
			}
		}
		for _, c := range []struct{ selector, where, gone string }{
			{id + "/operator/SourceReaderState", `topic == "payments"`, "payments-"},
			{id + "/coordinator", `topic == "payments"`, "payments-"},
			{id, `topic == "payments" and partition == 2`, "payments-2 "},
			{id + "/coordinator", `partition >= 0`, ""},
			{id, `topic == "payments" and offset > -5 and partition == 2`, "payments-2 "}, // the enumerator has no offsets
			{id + fmt.Sprintf("/operator/SourceReaderState/%d/%d", sub, number), "", "payments-2 "},
		} {
			name := filepath.Base(filepath.Dir(filepath.Dir(path))) + " " + c.selector + " " + c.where
			p, out, outTree := pruneEntries(t, name, s, tree, prune.Request{Targets: selected(t, s, tree, c.selector), Where: c.where})
			if p == nil {
				continue
			}
			stays := func(list []string) []string {
				return slices.DeleteFunc(slices.Clone(list), func(e string) bool { return strings.HasPrefix(e, c.gone) && !strings.HasPrefix(e, "discovered") })
			}
			gotReaders, gotEnumerator := kafkaSides(t, out, outTree, op)
			if want := stays(readers); !slices.Equal(gotReaders, want) || len(want) == len(readers) {
				t.Errorf("%s: readers have\n%v\nnot\n%v", name, gotReaders, want)
			}
			if want := stays(enumerator); !slices.Equal(gotEnumerator, want) || len(want) == len(enumerator) {
				t.Errorf("%s: the enumerator has\n%v\nnot\n%v", name, gotEnumerator, want)
			}
			if c.selector != id {
				othersEqual(t, name, s, tree, out, outTree, model.StateTarget(s.Meta.Operators[op].ID, model.KindOperator, "SourceReaderState"))
			}
			sides := map[string]bool{}
			for _, r := range p.Removed {
				if r.Entries != nil && *r.Entries > 0 {
					sides[strings.TrimPrefix(r.Selector, id)[:10]] = true
				}
			}
			if !sides["/coordinat"] || !sides["/operator/"] || !strings.Contains(strings.Join(p.Flink, " "), "come back as new ones") || !strings.Contains(strings.Join(p.Losses, " "), "Both sides") {
				t.Errorf("%s: the plan says %+v %v %v", name, p.Removed, p.Flink, p.Losses)
			}
		}
	}
	t.Log(versions)
}

// TestKafkaRefused: a condition that no coordinator but a KafkaSource's can be
// asked, and splits of other sources, which still need their reason.
func TestKafkaRefused(t *testing.T) {
	s, tree := withHeaders(t, fixture(t, "v4-heap-checkpoint"))
	_, err := prune.Build(context.Background(), s, tree, prune.Request{Targets: selected(t, s, tree, "*/coordinator"), Where: `topic == "a"`, Copy: prune.CopyFull})
	checkRule(t, "a coordinator of another source", err, "where-target")
	_, err = prune.Build(context.Background(), s, tree, prune.Request{Targets: selected(t, s, tree, "*/operator/SourceReaderState/0/0"), Copy: prune.CopyFull})
	checkRule(t, "a split of another source", err, "reader-alone")
}

// TestObjectByValue: what goes by value or number of `_metadata` goes of the
// object of high availability too.
func TestObjectByValue(t *testing.T) {
	home := filepath.Join(corpus.Dir(t), "incident", "ha-1.15", "after-crash-1")
	st := storage.New(storage.Options{Maps: store.Mappings{{From: "file:/tmp/flink/ha/checkpoints/eb6b7013b6de48bc7c53c2011c74b223", To: filepath.Join(home, "checkpoints")}}})
	objects, _ := filepath.Glob(filepath.Join(home, "storage", "completedCheckpoint*"))
	s := openIn(t, st, objects[0])
	op := slices.IndexFunc(objectTargets(s), func(g model.Target) bool { return g.Name == "SourceReaderState" })
	id := objectTargets(s)[op].Op
	req := prune.Request{Targets: []model.Target{model.OperatorTarget(id)}, Where: `topic == "payments"`, Destination: store.FileURI(filepath.Join(t.TempDir(), "copy"))}
	_, object, meta := prunedObject(t, st, objects[0], req)
	for name, out := range map[string]*model.Snapshot{"object": object, "_metadata": meta} {
		outTree := headersOf(t, out)
		for i := range out.Meta.Operators {
			if out.Meta.Operators[i].ID != id {
				continue
			}
			readers, enumerator := kafkaSides(t, out, outTree, i)
			if all := strings.Join(append(readers, enumerator...), " "); strings.Contains(all, "payments") || !strings.Contains(all, "orders-3") {
				t.Errorf("%s: %s", name, all)
			}
		}
	}
	othersEqual(t, "object", meta, headersOf(t, meta), object, headersOf(t, object))
}

func headersOf(t *testing.T, s *model.Snapshot) *model.Tree {
	t.Helper()
	tree, err := s.ReadHeaders(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
