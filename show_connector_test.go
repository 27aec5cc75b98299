package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestShowKafka: an operator's enumerator and the partitions of both sides and
// of the old consumer stand together.
func TestShowKafka(t *testing.T) {
	dir, flags := fixture(t, "incident/gen-3-files")
	selector := ""
	r := run(append([]string{"show", "--json", dir, "*"}, flags...)...).wantCode(t, exitOK)
	var doc struct {
		Nodes []struct {
			Selector       string
			Coordinator    *showCoordinator
			KafkaPositions []showPosition `json:"kafka_positions"`
		}
	}
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
		t.Fatal(err)
	}
	for _, n := range doc.Nodes {
		sides := map[string]bool{}
		for _, p := range n.KafkaPositions {
			state := "enumerator"
			if p.State != nil {
				state = string(*p.State)
			}
			sides[state] = true
			if p.Topic == "" || p.Offset != nil && (p.Meaning == nil || *p.Meaning == "last_read" != (state == "topic-partition-offset-states")) {
				t.Errorf("%s: %+v", n.Selector, p)
			}
		}
		if len(sides) == 3 {
			selector = n.Selector
			if n.Coordinator == nil || n.Coordinator.Connector != "KafkaSource enumerator" || n.Coordinator.Value == nil {
				t.Errorf("coordinator of %s: %+v", n.Selector, n.Coordinator)
			}
		}
	}
	if selector == "" {
		t.Fatal("no operator has all three sides")
	}
	r = run(append([]string{"show", dir, selector}, flags...)...).wantCode(t, exitOK)
	for _, want := range []string{"coordinator   KafkaSource enumerator, version ", "to read next", "read last", " equal"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is missing in\n%s", want, r.out)
		}
	}
}
