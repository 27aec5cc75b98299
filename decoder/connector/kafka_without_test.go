package connector

import (
	"testing"

	"chkscope/decoder/internal/realfiles"
)

// TestWithoutTopic takes each topic out of every Kafka coordinator in the corpus:
// what is left is what was there, in its order and with its status.
func TestWithoutTopic(t *testing.T) {
	removed, versions := 0, map[int32]int{}
	realfiles.Each(t, []string{"incident"}, func(s *realfiles.Snapshot) {
		for op := range s.Operators {
			h := s.Operators[op].Coordinator
			if h == nil {
				continue
			}
			data, err := h.Data.Read(s.In, 64<<20)
			if err != nil {
				t.Fatal(err)
			}
			c, err := ParseCoordinator(data)
			if err != nil {
				continue
			}
			e, err := ParseKafkaEnumerator(c.EnumeratorVersion, c.Enumerator)
			if err != nil {
				continue
			}
			topics := map[string]int{}
			for _, p := range e.Partitions {
				topics[p.Topic]++
			}
			for topic, n := range topics {
				withoutTopic(t, s.Name, c, e, topic, n)
				removed += n
				versions[e.Version]++
			}
		}
	})
	t.Logf("%d partitions removed, topics by version %v", removed, versions)
	if removed == 0 || versions[1] == 0 || versions[2] == 0 {
		t.Errorf("%d partitions removed, topics by version %v", removed, versions)
	}
}

func withoutTopic(t *testing.T, name string, c *Coordinator, e *KafkaEnumerator, topic string, want int) {
	out, n, err := c.WithoutKafka(func(p Partition) bool { return p.Topic == topic })
	if err != nil || n != want {
		t.Errorf("%s without %s: %d removed, want %d, %v", name, topic, n, want, err)
		return
	}
	again, err := ParseCoordinator(out.Append(nil))
	if err != nil {
		t.Error(err)
		return
	}
	left, err := ParseKafkaEnumerator(again.EnumeratorVersion, again.Enumerator)
	if err != nil || left.DiscoveryFinished != e.DiscoveryFinished || len(left.Partitions)+n != len(e.Partitions) {
		t.Errorf("%s without %s: %+v, %v", name, topic, left, err)
		return
	}
	i := 0
	for _, p := range e.Partitions {
		if p.Topic == topic {
			continue
		}
		if left.Partitions[i] != p {
			t.Errorf("%s without %s: %+v became %+v", name, topic, p, left.Partitions[i])
		}
		i++
	}
}

// TestWithoutVersion3: statuses, offsets and the flag stay.
func TestWithoutVersion3(t *testing.T) {
	split := func(topic string, partition uint32) []byte {
		return sized(join(utf(topic), be(partition), be64(-2), be64(-1<<63)))
	}
	body := join(be(3), be(0), split("a", 0), be(0), split("b", 7), be(1), split("a", 1), be(1), []byte{1})
	c, err := ParseCoordinator(join(be(1), versioned(3, body)))
	if err != nil {
		t.Fatal(err)
	}
	out, n, err := c.WithoutKafka(func(p Partition) bool { return p.Topic == "a" })
	want := join(be(1), versioned(3, join(be(1), be(0), split("b", 7), be(1), []byte{1})))
	if got := out.Append(nil); err != nil || n != 2 || string(got) != string(want) {
		t.Errorf("%x, %d, %v, want %x", got, n, err, want)
	}
	if string(c.Enumerator) != string(body) {
		t.Error("the coordinator itself was changed")
	}
	c.EnumeratorVersion = 9
	if _, _, err := c.WithoutKafka(func(Partition) bool { return true }); err == nil {
		t.Error("version 9 was rewritten")
	}
}

// FuzzWithoutKafka: what is written is read again, shorter by what went.
func FuzzWithoutKafka(f *testing.F) {
	f.Add(join(be(1), versioned(1, join(be(2), utf("a"), be(0), utf("b"), be(1)))), "a")
	f.Add(join(be(1), versioned(2, join(be(1), utf("a"), be(0), be(1), []byte{1}))), "a")
	f.Fuzz(func(t *testing.T, data []byte, topic string) {
		c, err := ParseCoordinator(data)
		if err != nil {
			return
		}
		out, n, err := c.WithoutKafka(func(p Partition) bool { return p.Topic == topic })
		if err != nil {
			return
		}
		if n == 0 && string(out.Append(nil)) != string(data) {
			t.Error("nothing was removed and the bytes differ")
		}
		if _, err := ParseKafkaEnumerator(out.EnumeratorVersion, out.Enumerator); err != nil {
			t.Errorf("what was written: %v", err)
		}
	})
}
