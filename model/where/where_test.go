package where

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"chkscope/decoder/serde"
)

// entry is an entry for tests.
type entry map[string]serde.Value

func (e entry) Field(name string) serde.Value { return e[name] }

var order1 = serde.Value{Form: serde.Fields, Shape: &serde.Shape{Type: "Order", Names: []string{"id", "tags", "note", "price"}}, Items: []serde.Value{
	integer(7), {Form: serde.Sequence, N: 2, Items: []serde.Value{text("red"), text("new")}}, {Form: serde.Null}, {Form: serde.Number, Text: "12.50"}}}

var sample = entry{
	"key": text("test-42"), "key_group": integer(3), "subtask": integer(0), "entry": integer(17), "value": order1,
	"expires": {Form: serde.Millis, N: 1700000000000}, "ttl_expired": boolean(true), "topic": text("old-orders"), "partition": integer(2),
	"map_key":   {Form: serde.Opaque, Why: "no known layout"},
	"namespace": {Form: serde.Pairs, N: 1, Items: []serde.Value{text("a"), {Form: serde.Real64, N: 0x3ff8000000000000}}},
	"bytes":     integer(1 << 60),
}

func TestEval(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // true, false, undecided
	}{
		{`topic == "old-orders"`, "true"}, {`topic == 'old-orders' and partition in [1, 2]`, "true"}, {`topic != "x"`, "true"},
		{`key matches "^test-"`, "true"}, {`key matches "^\\w+-\d+$"`, "true"}, {`not (key matches "^test-")`, "false"}, {`key startsWith "test"`, "true"},
		{`key endsWith "42" && key contains "st-4"`, "true"}, {`ttl_expired`, "true"}, {`!ttl_expired`, "false"}, {`not ttl_expired or subtask == 0`, "true"},
		{`value.id == 7`, "true"}, {`value.id == 7.0`, "true"}, {`value.id == "7"`, "false"}, {`value.id + 1 > 7`, "true"}, {`value["id"] * 2 - 4 == 10`, "true"},
		{`value.price == 12.5`, "true"}, {`value.price > 12`, "true"}, {`value.price < 12.4999`, "false"},
		{`value.tags contains "new"`, "true"}, {`"red" in value.tags`, "true"}, {`"blue" not in value.tags`, "true"}, {`value.tags[1] == "new"`, "true"}, {`len(value.tags) == 2`, "true"},
		{`value.tags[5] == null`, "true"}, {`value.note == null`, "true"}, {`value.nothing == null`, "true"}, {`value.note.deep == nil`, "true"}, {`value.note > 3`, "false"},
		{`value == '{id=7, tags=["red", "new"], note=null, price=12.50}'`, "true"}, {`text(value) contains "red"`, "true"},
		{`expires < time("2023-11-15")`, "true"}, {`expires < time("2023-11-14T22:13:20Z")`, "false"}, {`upper(key) == "TEST-42"`, "true"}, {`len(key) >= 7`, "true"},
		{`namespace.a == 1.5`, "true"}, {`namespace contains "a"`, "true"}, {`bytes == 1152921504606846976`, "true"}, {`bytes * 16 > bytes`, "true"},
		{`-partition == -2`, "true"}, {`7 / 2 == 3.5 and 7 % 4 == 3 and 6 / 2 == 3`, "true"}, {`key_group == 0x3`, "true"}, {`1e3 == 1000`, "true"},
		{`map_key == "x"`, "undecided"}, {`not (map_key == "x")`, "undecided"}, {`map_key == "x" and subtask == 1`, "false"}, {`map_key == "x" or subtask == 0`, "true"},
		{`map_key == "x" or subtask == 1`, "undecided"}, {`key`, "undecided"}, {`offset == null`, "true"}, {`state == "a"`, "false"}, {`key < 5`, "false"}, {`key + 1 == 2`, "undecided"},
		{`true == (key == "test-42")`, "true"}, {`subtask == 0 and not subtask == 1`, "true"},
	} {
		x, err := Compile(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		b, err := x.Eval(sample)
		got := "false"
		if errors.Is(err, ErrUndecided) {
			got = "undecided"
		} else if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if b {
			got = "true"
		}
		if got != c.want {
			t.Errorf("%s: %s, not %s (%v)", c.text, got, c.want, err)
		}
	}
}

// TestApply: where a field or part is not there, on either side of an "or" too, a
// condition does not apply.
func TestApply(t *testing.T) {
	for text, want := range map[string]string{
		`topic == "old-orders"`: "true", `topic != "old-orders"`: "false", `offset == 3`: "not", `offset != 3`: "not", `not (offset == 3)`: "not",
		`topic == "old-orders" or offset == 3`: "not", `topic == "x" and offset == 3`: "not", `value.id == 7`: "true", `value.nothing == null`: "not",
		`value.note == null`: "true", `value.note.deep == null`: "not", `value.id == 7 or not value.nothing`: "not", `namespace.a > 1`: "true", `namespace.b > 1`: "not",
		`map_key == "x"`: "undecided", `map_key == "x" or offset == 1`: "not", `key.part == 1`: "not",
	} {
		x, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		holds, applies, err := x.Apply(sample)
		got := fmt.Sprint(holds)
		if !applies {
			got = "not"
		} else if errors.Is(err, ErrUndecided) {
			got = "undecided"
		}
		if got != want || !applies && (holds || err != nil) {
			t.Errorf("%s: %s, not %s (%v)", text, got, want, err)
		}
	}
}

// TestCutValues: what is not there as a whole has no answer.
func TestCutValues(t *testing.T) {
	e := entry{"key": {Form: serde.Text, Text: "abc", N: 100, Cut: true}, "value": {Form: serde.Sequence, N: 9, Cut: true, Items: []serde.Value{integer(1)}}}
	for text, want := range map[string]bool{`key == "abc"`: false, `key matches "a"`: false, `len(key) == 100`: true, `1 in value`: true, `2 in value`: false, `value[0] == 1`: true, `value[7] == 1`: false, `len(value) > 8`: true} {
		x, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := x.Eval(e); want != (err == nil) || want && !b {
			t.Errorf("%s: %v %v", text, b, err)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for text, want := range map[string]string{
		``: "column 1", `key =`: "==", `key == `: "the end", `topc == "a"`: "no field topc; there are key,", `key == "a`: "closing quote", `key matches x`: "no field",
		`key matches value`: "pattern in quotes", `key matches "("`: "column 5", `foo(1)`: "no function foo", `len(1, 2)`: "one value", `key & 1`: "does not belong",
		`(key`: ") is wanted", `[1 2]`: ", or ] is wanted", `value.`: "a name", `value.1`: "column", `key not matches "a"`: `"in" behind "not"`, `99999999999999999999999e999`: "no number",
		strings.Repeat("(", 200): "nested", strings.Repeat("not ", 200) + "true": "nested", strings.Repeat("x", 20000): "at most", `key == "a" "b"`: "an operator or the end", "\x00": "does not belong",
	} {
		if _, err := Compile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %q", text, err, want)
		}
	}
}

func FuzzWhere(f *testing.F) {
	for _, s := range []string{`topic == "a" and not (key matches "^x") or value.a["b"][1] > 5`, `len(text(value)) * -2 % 3 in [1, null]`, `"a\"b" startsWith 'c'`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := Compile(s)
		if err != nil {
			return
		}
		if _, err := x.Eval(sample); err != nil && !errors.Is(err, ErrUndecided) {
			t.Error(err)
		}
	})
}

func BenchmarkEval(b *testing.B) {
	x, _ := Compile(`topic == "old-orders" and partition in [1, 2] or key matches "^test-"`)
	b.ReportAllocs()
	for b.Loop() {
		x.Eval(sample)
	}
}
