package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exported are the lines of an export.
func exported(t *testing.T, r result) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for line := range strings.Lines(r.out) {
		var m map[string]any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, m)
	}
	return lines
}

// TestExport exports the keyed state of a canonical savepoint of real Flink:
// every fact about a Long or String state of it is a line.
func TestExport(t *testing.T) {
	dir, flags := fixture(t, "v4-canonical-savepoint")
	args := append([]string{"export", dir, "*/keyed"}, flags...)
	lines := exported(t, run(args...).wantCode(t, exitOK))
	facts, err := os.ReadFile(filepath.Join("conformance/testdata/v4-canonical-savepoint", "facts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	found, timers := 0, 0
	for _, m := range lines {
		state, _ := m["state"].(string)
		switch {
		case state == "last-amount" || state == "sum":
			fact := "keyed enrich key=" + string(m["key"].(json.Number)) + " " + state + "=" + string(m["value"].(json.Number)) + "\n"
			if !strings.Contains(string(facts), fact) {
				t.Errorf("no fact %q", fact)
			}
			found++
		case state == "null-map" || state == "ttl-map":
			value, _ := m["value"].(string)
			if m["value"] == nil {
				value = "null"
			}
			fact := "keyed named key=" + m["key"].(string) + " " + state + "[" + m["map_key"].(string) + "]=" + value + "\n"
			if !strings.Contains(string(facts), fact) {
				t.Errorf("no fact %q", fact)
			}
			found++
		case strings.HasPrefix(state, "_timer_state"):
			timers++
			if !strings.Contains(string(facts), "key="+string(m["key"].(json.Number))+" at="+string(m["value"].(json.Number))+"\n") {
				t.Errorf("no fact of timer %v", m)
			}
		}
		for _, key := range []string{"selector", "operator", "kind", "state", "subtask", "entry", "key_group", "key", "value", "type"} {
			if _, ok := m[key]; !ok && !(key == "type" && strings.HasPrefix(state, "_timer")) {
				t.Errorf("%v: no %s", m, key)
			}
		}
		if _, ok := m["last_access"]; ok != strings.Contains(state, "ttl") {
			t.Errorf("%v: last access", m)
		}
	}
	if found < 40 || timers < 20 {
		t.Errorf("%d entries, %d timers", found, timers)
	}
	table, err := csv.NewReader(strings.NewReader(run(append(args, "--format", "csv")...).wantCode(t, exitOK).out)).ReadAll()
	if err != nil || len(table) != len(lines)+1 || strings.Join(table[0], ",") != strings.Join(exportColumns, ",") {
		t.Fatalf("%d rows of %d: %v", len(table), len(lines), err)
	}
	for i, m := range lines {
		if row := table[i+1]; row[0] != m["selector"] || row[3] != m["state"] {
			t.Errorf("row %d: %v, not %v", i, row, m)
		}
	}
}

// TestExportSelected exports by number, by limit and by condition.
func TestExportSelected(t *testing.T) {
	dir, flags := fixture(t, "v4-heap-checkpoint")
	lines := func(args ...string) []map[string]any {
		t.Helper()
		return exported(t, run(append(append([]string{"export", dir}, args...), flags...)...).wantCode(t, exitOK))
	}
	all := lines("*/operator/buffered-elements")
	if n := len(lines("*/operator/buffered-elements", "--limit", "3")); n != 3 || len(all) < 5 {
		t.Fatalf("%d of %d", n, len(all))
	}
	selector := all[1]["selector"].(string)
	if one := lines(selector); len(one) != 1 || one[0]["entry"] != all[1]["entry"] || one[0]["selector"] != selector {
		t.Errorf("%v, not %v", one, all[1])
	}
	some := lines("*/operator/buffered-elements", "--where", "value.f1 >= 2 and subtask == 0")
	if len(some) == 0 || len(some) >= len(all) {
		t.Errorf("%d of %d", len(some), len(all))
	}
	for _, m := range some {
		if m["subtask"] != json.Number("0") {
			t.Errorf("%v", m)
		}
	}
	if none := run(append([]string{"export", dir, "*/operator/buffered-elements", "--where", "value.f7 == 1"}, flags...)...).wantCode(t, exitOK); none.out != "" {
		t.Errorf("%q", none.out)
	} else {
		none.wantErr(t, fmt.Sprintf("the condition holds for none of %d entries", len(all)))
	}
	rules := lines("*/operator/limits")
	if len(rules) == 0 || rules[0]["map_key"] == nil || rules[0]["key"] != nil {
		t.Errorf("%v", rules)
	}
	spaced := lines("*/keyed/spaced", "--where", `namespace == "space-a"`)
	if len(spaced) == 0 || spaced[0]["namespace"] != "space-a" {
		t.Errorf("%v", spaced)
	}
	for _, key := range []string{"name-1"} {
		m := lines("*/keyed/ttl-map", "--where", `key == "`+key+`" and map_key != "k0"`, "--ttl", "1h")
		if len(m) == 0 || m[0]["expires"] == nil || m[0]["map_key"] == "k0" {
			t.Errorf("%v", m)
		}
	}
}

// TestExportOpaque: a value that cannot be decoded stands there with its bytes and
// the reason, and what stands behind it in the heap stream is not lost.
func TestExportOpaque(t *testing.T) {
	dir, flags := fixture(t, "v6-heap-checkpoint")
	r := run(append([]string{"export", dir, "*/keyed"}, flags...)...).wantCode(t, exitOK)
	opaque, behind := 0, 0
	for _, m := range exported(t, r) {
		value, _ := m["value"].(map[string]any)
		switch {
		case m["state"] == "opaque":
			if value["hex"] == nil || value["why"] == nil {
				t.Errorf("%v", m)
			}
			opaque++
		case opaque > 0:
			behind++
		}
	}
	if opaque == 0 || behind == 0 {
		t.Errorf("%d opaque entries, %d behind the first", opaque, behind)
	}
	one := run(append([]string{"export", dir, "*/operator/pending-orders", "--where", `value.nothing.deep == 7 or value`}, flags...)...)
	one.wantCode(t, exitOK).wantErr(t, "no answer for")
}

func TestExportUsage(t *testing.T) {
	dir := smallCheckpoint(t)
	for want, args := range map[string][]string{
		"jsonl or csv": {"--format", "xml"}, "no field topc": {"--where", "topc == 1"}, "--ttl DURATION": {"--where", "ttl_expired"}, "duration above 0": {"--ttl", "-1h"},
	} {
		run(append([]string{"export", dir, "*/operator"}, args...)...).wantCode(t, exitUsage).wantErr(t, want)
	}
	run("export", dir, "*/operator/nothing").wantCode(t, exitUsage).wantErr(t, "matches nothing")
	run("export", dir).wantCode(t, exitUsage)
	r := session{tty: true}.run("export", dir, "*/operator").wantCode(t, exitOK)
	if strings.ContainsAny(r.out, "\x1b\x07") || len(strings.Split(r.out, "\n")) != 9 {
		t.Errorf("%q", r.out)
	}
}

// TestExportKey exports what an operator keeps under one key.
func TestExportKey(t *testing.T) {
	dir, flags := fixture(t, "v4-canonical-savepoint")
	all := exported(t, run(append([]string{"export", dir, "*/keyed/order"}, flags...)...).wantCode(t, exitOK))
	key := all[0]["key"].(json.Number).String()
	one := exported(t, run(append([]string{"export", dir, "*/keyed/order", "--key", key}, flags...)...).wantCode(t, exitOK))
	if len(one) != 1 || one[0]["key"] != all[0]["key"] || one[0]["key_group"] != all[0]["key_group"] {
		t.Errorf("%v, not %v", one, all[0])
	}
	operator := all[0]["selector"].(string)[:32]
	if every := exported(t, run(append([]string{"export", dir, operator + "/keyed", "--key", key}, flags...)...).wantCode(t, exitOK)); len(every) < 5 {
		t.Errorf("%d entries of all states", len(every))
	}
	if none := run(append([]string{"export", dir, "*/keyed/order", "--key", "999999"}, flags...)...).wantCode(t, exitOK); none.out != "" {
		t.Errorf("%q", none.out)
	} else {
		none.wantErr(t, "no key 999999 in */keyed/order")
	}
}

// TestExportKeyLines: the lines of a key are those that export writes for it, but
// for the numbers of the entries, which are not counted then.
func TestExportKeyLines(t *testing.T) {
	for _, name := range []string{"v4-canonical-savepoint", "v4-heap-checkpoint"} {
		dir, flags := fixture(t, name)
		lines := func(more ...string) (list []string) {
			for _, l := range exported(t, run(append(append([]string{"export", dir, "*/keyed/null-map"}, more...), flags...)...).wantCode(t, exitOK)) {
				if l["key"] != "name-1" {
					continue
				}
				delete(l, "selector")
				delete(l, "entry")
				list = append(list, fmt.Sprint(l))
			}
			return list
		}
		all, one := lines(), lines("--key", "name-1")
		if len(all) < 2 || !slices.Equal(all, one) {
			t.Errorf("%s: of all\n%s\nof the key\n%s", name, strings.Join(all, "\n"), strings.Join(one, "\n"))
		}
	}
}

// TestExportRocksDB: an empty file is no answer where nothing can be read.
func TestExportRocksDB(t *testing.T) {
	dir, flags := fixture(t, "v4-rocks-incremental")
	run(append([]string{"export", dir, "*/keyed"}, flags...)...).wantCode(t, exitUsage).wantErr(t, "RocksDB's files or a changelog, which are not read entry by entry")
	run(append([]string{"show", dir, "*/keyed/order/0/0"}, flags...)...).wantCode(t, exitUsage).wantErr(t, "RocksDB's files or a changelog")
	run(append([]string{"report", dir, "--count"}, flags...)...).wantErr(t, "RocksDB's files or a changelog")
	r := run(append([]string{"export", dir, "*"}, flags...)...).wantCode(t, exitOK).wantErr(t, "RocksDB's files or a changelog")
	if r.out == "" {
		t.Error("operator state is missing")
	}
}
