package connector

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// consumerElement is the example of the format description: topic abc,
// partition 13, offset 16768.
const consumerElement = "57 01 D6CFEC02 1A 01 6162E3 0000000000004180"

func TestKafkaConsumer(t *testing.T) {
	p, err := ParseKafkaConsumer(unhex(t, consumerElement))
	if err != nil || p.Topic != "abc" || p.Partition != 13 || p.Offset != 16768 || !p.LastRead || p.Sentinel != "" {
		t.Errorf("%+v, %v", p, err)
	}
	for n := range unhex(t, consumerElement) {
		if p, err := ParseKafkaConsumer(unhex(t, consumerElement)[:n]); err == nil {
			t.Errorf("cut to %d bytes: %+v", n, p)
		}
	}
	group := append(unhex(t, "57 01 D6CFEC02 1A 01 6162E3"), binary.BigEndian.AppendUint64(nil, 1<<64-915623761773)...)
	if p, err := ParseKafkaConsumer(group); err != nil || p.Sentinel != "committed offset of the group" {
		t.Errorf("%+v, %v", p, err)
	}
	before := append(unhex(t, "57 01 D6CFEC02 1A 01 6162E3"), unhex(t, "FFFFFFFFFFFFFFFF")...)
	if p, err := ParseKafkaConsumer(before); err != nil || p.Offset != -1 {
		t.Errorf("in front of record 0: %+v, %v", p, err)
	}
	before[len(before)-1] = 0xFE
	if p, err := ParseKafkaConsumer(before); err == nil {
		t.Errorf("an offset that there is not: %+v", p)
	}
}

// TestDeadBytes: an element is read to its end, whatever is between it and the
// next; the neighbour whose offset went may have stood there.
func TestDeadBytes(t *testing.T) {
	const split = "00000026 00000000 0000001E 0008 6F72646572732D74 00000003 000000000000004C 8000000000000000"
	for state, element := range map[string]string{"topic-partition-offset-states": consumerElement, "SourceReaderState": split} {
		alone, ok, err := Element(Place{State: state}, unhex(t, element))
		if err != nil || !ok {
			t.Fatalf("%s: %v, %v", state, ok, err)
		}
		d, _, err := Element(Place{State: state}, unhex(t, element+element))
		if err != nil || len(d.Kafka) != 1 || d.Value.String() != alone.Value.String() || d.Kafka[0] != alone.Kafka[0] {
			t.Errorf("%s with dead bytes: %+v, %v", state, d, err)
		}
	}
}

func TestKafkaSplit(t *testing.T) {
	const split = "0000002A 00000000 00000022 000C 6F72646572732D746F706963 00000003 000000000000004C 8000000000000000"
	d, ok, err := Element(Place{State: "SourceReaderState"}, unhex(t, strings.Replace(split, "0000002A", "0000002A", 1)))
	if err != nil || !ok || d.Connector != "KafkaSource split" || len(d.Kafka) != 1 {
		t.Fatalf("%+v, %v, %v", d, ok, err)
	}
	if k := d.Kafka[0]; k.Topic != "orders-topic" || k.Partition != 3 || k.Offset != 76 || k.LastRead {
		t.Errorf("%+v", k)
	}
	if got := d.Value.String(); !strings.Contains(got, "orders-topic") || strings.Contains(got, "stopping") {
		t.Errorf("%s", got)
	}
}

func TestUnknownStaysOpaque(t *testing.T) {
	d, ok, err := Element(Place{State: "writer_raw_states"}, unhex(t, "0000000B 00000007 00000003 010203"))
	if err != nil || !ok || d.Connector != "sink writer" || d.Value.Decoded() {
		t.Errorf("%+v, %v, %v", d, ok, err)
	}
	if _, ok, _ := Element(Place{State: "my-state"}, nil); ok {
		t.Error("a state of the job is no connector's")
	}
	if _, err := DecodeCoordinator(unhex(t, "00000009 00000001 00000000")); err == nil {
		t.Error("version 9 of a coordinator was decoded")
	}
}

func FuzzElement(f *testing.F) {
	for _, name := range []string{"topic-partition-offset-states", "next-transactional-id-hint", "SourceReaderState", "writer_raw_states", "streaming_committer_raw_states", "coordinator",
		"bucket-states", "remaining_compact_commit_raw_state", "remaining_requests_raw_state"} {
		for _, seed := range append(cdcSeeds(), fileSeeds...) {
			f.Add(name, seed)
		}

		f.Add(name, unhex(f, consumerElement))
		f.Add(name, unhex(f, "0000002A 00000000 00000022 000C 6F72646572732D746F706963 00000003 000000000000004C 8000000000000000"))
		f.Add(name, unhex(f, "00000001 00000002 0000000F 00000001 0001 61 00000000 00000001"))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if name == "coordinator" {
			c, err := ParseCoordinator(data)
			if err != nil {
				return
			}
			if string(c.Append(nil)) != string(data) {
				t.Error("coordinator state is written back differently")
			}
			if d, err := DecodeCoordinator(data); err == nil {
				_ = d.Value.String()
			}
			return
		}
		if d, ok, err := Element(Place{State: name}, data); ok && err == nil {
			_ = d.Value.String()
		}
	})
}

func BenchmarkKafkaConsumer(b *testing.B) {
	data := unhex(b, consumerElement)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := ParseKafkaConsumer(data); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "elements/s")
}
