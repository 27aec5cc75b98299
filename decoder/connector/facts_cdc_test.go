package connector

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/opstate"
	"chkscope/decoder/serde"
)

var cdcSplitFact = regexp.MustCompile(`(?m)^  split (\S+) from (\S+) to (\S+) at \{(.*)\}$`)

// TestCDCFacts: MySQL CDC's own classes read the same numbers and splits.
func TestCDCFacts(t *testing.T) {
	seen := 0
	realfiles.Each(t, []string{"incident"}, func(s *realfiles.Snapshot) {
		if !strings.HasPrefix(filepath.Base(s.Folder), "cdc-mysql") {
			return
		}
		seen++
		raw, err := os.ReadFile(filepath.Join(s.Folder, "facts.txt"))
		if err != nil {
			t.Fatal(err)
		}
		facts := string(raw)
		data, err := s.Operators[0].Coordinator.Data.Read(s.In, 64<<20)
		if err != nil {
			t.Fatal(err)
		}
		d, err := DecodeCoordinator(data)
		if err != nil || d.Connector != "MySQL CDC enumerator" || !d.Value.Decoded() {
			t.Fatalf("%s, %v", d.Connector, err)
		}
		cdcNumbers(t, facts, d.Value)
		cdcSplits(t, facts, d.Value)
		cdcReaderSplit(t, facts, s)
	})
	if seen == 0 {
		t.Skip("no MySQL CDC snapshot in the corpus")
	}
}

func cdcNumbers(t *testing.T, facts string, v serde.Value) {
	for _, f := range []string{"assigned_splits", "finished_offsets"} {
		if n := len(v.Field(f).Items); n != 600 || !strings.Contains(facts, strings.ReplaceAll(f, "_", " ")+" 600") {
			t.Errorf("%s: %d", f, n)
		}
	}
	if got := v.Field("assigner").Text; !strings.Contains(facts, "assigner "+got+",") {
		t.Errorf("assigner %s", got)
	}
	if v.Field("binlog_split_assigned").N != 1 || len(v.Field("remaining_splits").Items) != 0 || v.Field("tables_done").String() != `["shop.orders", "shop.payments"]` {
		t.Errorf("tables done: %s", v.Field("tables_done"))
	}
}

func cdcSplits(t *testing.T, facts string, v serde.Value) {
	lines := map[string]bool{}
	at := map[string]string{}
	for _, f := range v.Field("finished_offsets").Items {
		at[f.Field("split").Text] = cdcPosition(f.Field("at"))
	}
	for _, s := range v.Field("assigned_splits").Items {
		id := s.Field("id").Text
		lines[id+" "+s.Field("from").String()+" "+s.Field("to").String()+" "+at[id]] = true
	}
	found := cdcSplitFact.FindAllStringSubmatch(facts, -1)
	for _, m := range found {
		if line := strings.Join(m[1:], " "); !lines[line] {
			t.Errorf("no split %s", line)
		}
	}
	if t.Logf("%d of %d splits are in the facts and equal", len(found), len(lines)); len(found) == 0 || len(lines) != 600 {
		t.Errorf("%d splits decoded", len(lines))
	}
}

// cdcPosition prints a position as the facts have it.
func cdcPosition(v serde.Value) string {
	var parts []string
	for i, name := range v.Shape.Names {
		parts = append(parts, name+"="+v.Items[i].Text)
	}
	return strings.Join(parts, ", ")
}

func cdcReaderSplit(t *testing.T, facts string, s *realfiles.Snapshot) {
	found := 0
	for k := range s.Operators[0].Subtasks {
		st := s.Operators[0].Subtasks[k].State
		if st == nil || st.ManagedOperator == nil {
			continue
		}
		stream, err := opstate.Open(s.Stream(t, &st.ManagedOperator.Delegate), s.In, st.ManagedOperator.States)
		if err != nil {
			t.Fatal(err)
		}
		err = stream.Elements(0, 0, 100, 1<<20, func(e opstate.Element) error {
			d, ok, err := Element(Place{State: st.ManagedOperator.States[0].Name}, e.Data)
			if !ok || err != nil || d.Connector != "MySQL CDC split" || !d.Value.Decoded() {
				t.Fatalf("%s, %v, %v", d.Connector, ok, err)
			}
			found++
			v := d.Value
			if len(v.Field("finished_splits").Items) != 600 || v.Field("finished_in_all").N != 600 ||
				!strings.Contains(facts, "id "+v.Field("id").Text+" from {"+cdcPosition(v.Field("from"))+"} finished-split-infos 600 total 600") {
				t.Errorf("%s from %s", v.Field("id").Text, cdcPosition(v.Field("from")))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found != 1 {
		t.Errorf("%d reader splits", found)
	}
}
