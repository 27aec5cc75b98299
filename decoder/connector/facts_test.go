package connector

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/metadata"
	"chkscope/decoder/opstate"
	"chkscope/decoder/serde"
)

// facts are the values that Flink's and the connectors' own classes read:
// "count x value".
var factLine = regexp.MustCompile(`^    (\d+) x (.*)$`)

// kinds: how a fact's value is cut down to what is compared.
var kinds = []struct {
	name string
	re   *regexp.Regexp
}{
	{"FlinkKafkaConsumer", regexp.MustCompile(`^\(KafkaTopicPartition\{topic='(.*)', partition=(\d+)\}, (-?\d+)\)$`)},
	{"KafkaSource split", regexp.MustCompile(`^split v0 KafkaPartitionSplit\{tp=(.*)-(\d+), startingOffset=(-?\d+),`)},
	{"FileSource split", regexp.MustCompile(`^split v1 FileSourceSplit\{id=(\d+), filePath=(.*), offset=(\d+), length=(\d+), .*recordsAfterOffset=(\d+)\}\}$`)},
	{"KafkaSink writer", regexp.MustCompile(`^writer v[12] KafkaWriterState\{transactionalIdPrefix=([^,}]*)`)},
	{"FileSink writer", regexp.MustCompile(`^writer v3 FileWriterBucketState\{bucketId=(.*), bucketPath=(.*), inProgressFileCreationTime=(\d+), inProgressFileRecoverable=(?:null|.*LocalRecoverable\{targetFile=(.*), tempFile=(.*), offset=(\d+)\}, targetPath=(.*)\}), pendingFileRecoverablesPerCheckpoint=\{\}\}$`)},
	{"KafkaSink committable", regexp.MustCompile(`^committer v2 .*KafkaCommittable\{producerId=(\d+), epoch=(\d+), transactionalId=([^,]*),`)},
}

// TestFacts: every connector value in the incident's facts is what is decoded.
func TestFacts(t *testing.T) {
	equal := map[string]int{}
	folders := map[string][]*realfiles.Snapshot{}
	realfiles.Each(t, []string{"incident"}, func(s *realfiles.Snapshot) { folders[s.Folder] = append(folders[s.Folder], s) })
	for folder, snaps := range folders {
		if len(snaps) > 1 || strings.HasSuffix(folder, "gen-9") {
			continue // facts are those of one of them; gen-9 has a million elements, of one kind
		}
		want := readFacts(t, filepath.Join(folder, "facts.txt"))
		got := map[string]int{}
		decodeAll(t, snaps[0], got)
		for line, n := range want {
			if got[line] != n {
				t.Errorf("%s: %d x %q, decoded %d times", filepath.Base(folder), n, line, got[line])
				continue
			}
			kind, _, _ := strings.Cut(line, ": ")
			equal[kind] += n
		}
	}
	names := []string{"FileSink pending", "FileSink clean up", "FileSource pending", "FileSource path"}
	for _, k := range kinds {
		names = append(names, k.name)
	}
	for _, name := range names {
		t.Logf("%s: %d values equal", name, equal[name])
		if equal[name] == 0 {
			t.Errorf("%s: none was compared", name)
		}
	}
}

func readFacts(t *testing.T, file string) map[string]int {
	out := map[string]int{}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fileSinkFacts(string(raw), out)
	fileSourceFacts(string(raw), out)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		m := factLine.FindStringSubmatch(sc.Text())
		if m == nil {
			continue
		}
		for _, k := range kinds {
			if v := k.re.FindStringSubmatch(m[2]); v != nil {
				n := 0
				fmt.Sscan(m[1], &n)
				out[k.name+": "+strings.Join(v[1:], " ")] += n
			}
		}
	}
	return out
}

// decodeAll decodes every element of every operator state.
func decodeAll(t *testing.T, s *realfiles.Snapshot, got map[string]int) {
	for op := range s.Operators {
		for k := range s.Operators[op].Subtasks {
			st := s.Operators[op].Subtasks[k].State
			if st == nil || st.ManagedOperator == nil {
				continue
			}
			in := s.Stream(t, &st.ManagedOperator.Delegate)
			if in == nil {
				continue
			}
			stream, err := opstate.Open(in, s.In, st.ManagedOperator.States)
			if err != nil {
				t.Fatal(err)
			}
			for i := range st.ManagedOperator.States {
				decodeState(t, s, stream, st.ManagedOperator.States, i, got)
			}
		}
		if c := s.Operators[op].Coordinator; c != nil {
			coordinatorIdentity(t, s, c, got)
		}
	}
}

func decodeState(t *testing.T, s *realfiles.Snapshot, stream *opstate.Stream, states []metadata.OperatorState, i int, got map[string]int) {
	p := Place{State: states[i].Name}
	err := stream.Elements(i, 0, states[i].Offsets.Len(), 1<<20, func(e opstate.Element) error {
		d, ok, err := Element(p, e.Data)
		if err != nil {
			return fmt.Errorf("%s: %s element %d: %w", s.Name, p.State, e.Index, err)
		}
		if line := lineOf(d); ok && line != "" {
			got[line]++
		}
		countFiles(d, got)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func lineOf(d Decoded) string {
	v := d.Value
	switch d.Connector {
	case "FlinkKafkaConsumer", "KafkaSource split":
		return fmt.Sprintf("%s: %s %d %d", d.Connector, d.Kafka[0].Topic, d.Kafka[0].Partition, d.Kafka[0].Offset)
	case "FileSource split":
		return fmt.Sprintf("%s: %s %s %d %d %d", d.Connector, v.Field("id").Text, v.Field("path").Text, v.Field("offset").N, v.Field("length").N,
			v.Field("reader_position").Field("records_after_offset").N)
	case "KafkaSink writer":
		return fmt.Sprintf("%s: %s", d.Connector, v.Field("transactional_id_prefix").Text)
	case "FileSink writer":
		created := fmt.Sprint(v.Field("open_since").N)
		f := v.Field("in_progress").Field("recoverable")
		if v.Field("in_progress").Form == serde.Null {
			return fmt.Sprintf("%s: %s %s 9223372036854775807    ", d.Connector, v.Field("bucket").Text, v.Field("path").Text)
		}
		return fmt.Sprintf("%s: %s %s %s %s %s %d %s", d.Connector, v.Field("bucket").Text, v.Field("path").Text, created,
			f.Field("target").Text, f.Field("temporary").Text, f.Field("offset").N, v.Field("in_progress").Field("path").Text)
	case "sink committer":
		c := first(first(first(v, "checkpoints"), "subtasks"), "requests").Field("committable")
		if c.Field("producer_id").N != 0 {
			return fmt.Sprintf("KafkaSink committable: %d %d %s", c.Field("producer_id").N, c.Field("epoch").N, c.Field("transactional_id").Text)
		}
	}
	return ""
}

// first is the first element of a list in a record, or nothing.
func first(v serde.Value, list string) serde.Value {
	if items := v.Field(list).Items; len(items) > 0 {
		return items[0]
	}
	return serde.Value{}
}

// coordinatorIdentity: coordinator state is written back as it was read, down
// to the Kafka enumerator.
func coordinatorIdentity(t *testing.T, s *realfiles.Snapshot, h *metadata.StreamHandle, got map[string]int) {
	data, err := h.Data.Read(s.In, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := DecodeCoordinator(data); err == nil {
		countFiles(d, got)
	}
	c, err := ParseCoordinator(data)
	if err != nil {
		return // not a source
	}
	if e, err := ParseKafkaEnumerator(c.EnumeratorVersion, c.Enumerator); err == nil {
		if again := e.Append(nil); string(again) != string(c.Enumerator) {
			t.Errorf("%s: the Kafka enumerator is written back differently", s.Name)
		}
		c.Enumerator = e.Append(nil)
	}
	if string(c.Append(nil)) != string(data) {
		t.Errorf("%s: coordinator state is written back differently", s.Name)
	}
}
