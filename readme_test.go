package main

import (
	"encoding"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"chkscope/decoder/serde"
	"chkscope/model/finding"
	"chkscope/model/prune"
	"chkscope/ui"
)

// documents are what --json prints, by command.
var documents = []struct {
	command string
	typ     reflect.Type
}{
	{"report", reflect.TypeFor[reportDocument]()},
	{"ls", reflect.TypeFor[lsDocument]()},
	{"show", reflect.TypeFor[showDocument]()},
	{"verify", reflect.TypeFor[verifyDocument]()},
	{"prune", reflect.TypeFor[prune.Document]()},
	{"ha", reflect.TypeFor[haDocument]()},
	{"rules", reflect.TypeFor[rulesDocument]()},
	{"version", reflect.TypeFor[versionDocument]()},
}

// TestReadme compares the parts of the README that are made from the program:
// the table of keys and the JSON documents. Renew with: go test . -run TestReadme -update
func TestReadme(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := part(t, string(data), "keys", ui.KeyTable())
	var schemas strings.Builder
	for i, d := range documents {
		if i > 0 {
			schemas.WriteString("\n")
		}
		schemas.WriteString("`" + d.command + "`:\n\n```\n" + schemaText(d.typ, "") + "\n```\n")
	}
	readme = part(t, readme, "json", schemas.String())
	if readme == string(data) {
		return
	}
	if *update {
		writeFile(t, "README.md", []byte(readme))
		return
	}
	t.Error("the README is not what the program makes of it; renew with: go test . -run TestReadme -update")
}

// part replaces what stands between <!-- name: begin --> and <!-- name: end -->.
func part(t *testing.T, text, name, with string) string {
	t.Helper()
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->"
	before, rest, ok := strings.Cut(text, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("the README has no %q … %q", begin, end)
	}
	return before + begin + with + end + after
}

// schemaText describes the JSON of a type: an object with a word for each value.
func schemaText(typ reflect.Type, indent string) string {
	switch typ {
	case reflect.TypeFor[number]():
		return "integer or null"
	case reflect.TypeFor[text](), reflect.TypeFor[[]byte]():
		return "text"
	case reflect.TypeFor[finding.Evidence]():
		return "{keys of the rule, see chkscope rules}"
	case reflect.TypeFor[serde.Value]():
		return "any value"
	}
	if typ.Implements(reflect.TypeFor[streamed]()) {
		return "[" + schemaText(itemType(typ), indent) + "]"
	}
	if typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return "text"
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return schemaText(typ.Elem(), indent) + " or null"
	case reflect.Slice:
		return "[" + schemaText(typ.Elem(), indent) + "]"
	case reflect.Map:
		return "{text: " + schemaText(typ.Elem(), indent) + "}"
	case reflect.Struct:
		return objectText(typ, indent)
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Float64:
		return "number"
	}
	return "integer"
}

// itemType is T of a stream[T], or of []T.
func itemType(list reflect.Type) reflect.Type {
	if list.Kind() == reflect.Func {
		return list.In(0).In(0)
	}
	return list.Elem()
}

// objectText is an object on one line where that is short, else a line a key.
func objectText(typ reflect.Type, indent string) string {
	var keys []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "-" && f.IsExported() {
			keys = append(keys, name+": "+schemaText(f.Type, indent+"  "))
		}
	}
	if line := "{" + strings.Join(keys, ", ") + "}"; len(line)+len(indent) <= 130 && !strings.Contains(line, "\n") {
		return line
	}
	return "{\n" + indent + "  " + strings.Join(keys, ",\n"+indent+"  ") + "\n" + indent + "}"
}

// TestEveryKeyIsThere: no key of a document may be left out, whatever its value.
func TestEveryKeyIsThere(t *testing.T) {
	var check func(typ reflect.Type, path string)
	seen := map[reflect.Type]bool{}
	check = func(typ reflect.Type, path string) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map || typ.Kind() == reflect.Func {
			typ = itemType(typ)
		}
		if typ.Kind() != reflect.Struct || seen[typ] || typ == reflect.TypeFor[finding.Value]() || typ == reflect.TypeFor[serde.Value]() {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && (name == "" || options != "") {
				t.Errorf("%s.%s: tag %q leaves the key out at times, or names none", path, f.Name, f.Tag)
			}
			check(f.Type, path+"."+f.Name)
		}
	}
	for _, d := range documents {
		check(d.typ, d.command)
	}
}

// TestNoNullLists: a list without items is [], in documents of every kind.
func TestNoNullLists(t *testing.T) {
	dir, _ := fixture(t, "v6-no-uids")
	to := t.TempDir() + "/copy"
	home, flags := haDirectory(t)
	runs := map[string][]string{
		"report": {"report", dir}, "ls": {"ls", dir}, "show": {"show", dir, "*"}, "verify": {"verify", dir},
		"rules": {"rules"}, "version": {"version"}, "prune": {"copy", dir, "--to", to, "--yes"},
		"ha": append([]string{"ha", home}, flags...),
	}
	for _, d := range documents {
		doc := run(append(runs[d.command], "--json")...).wantCode(t, exitOK).decode(t)
		nullLists(t, d.typ, doc, d.command)
	}
}

// nullLists walks a type and a document made of it.
func nullLists(t *testing.T, typ reflect.Type, value any, path string) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ == reflect.TypeFor[serde.Value]() {
		return // as the job made it
	}
	switch v := value.(type) {
	case nil:
		if k := typ.Kind(); (k == reflect.Slice || k == reflect.Map || k == reflect.Func) && typ != reflect.TypeFor[finding.Evidence]() {
			t.Errorf("%s is null, want an empty list or object", path)
		}
	case []any:
		for _, item := range v {
			nullLists(t, itemType(typ), item, path+"[]")
		}
	case map[string]any:
		if typ.Kind() != reflect.Struct {
			return
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() {
				continue
			}
			item, there := v[name]
			if !there {
				t.Errorf("%s.%s is not in the document", path, name)
			}
			nullLists(t, f.Type, item, path+"."+name)
		}
	}
}

// TestReadmePictures: each picture that the README shows is there.
func TestReadmePictures(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range strings.Split(string(data), "](screenshots/")[1:] {
		name, _, _ := strings.Cut(piece, ")")
		if _, err := os.Stat("screenshots/" + name); err != nil {
			t.Errorf("the README shows a picture that is not there: %v", err)
		}
	}
}

// TestReadmeCommands: the test command of the README is the one that .ci/run calls.
func TestReadmeCommands(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	ci, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"    go run . demo\n", "    go test ./...\n"} {
		if !strings.Contains(string(readme), line) {
			t.Errorf("the README does not say %q", line)
		}
	}
	if !strings.Contains(string(ci), "\ngo test ./...\n") {
		t.Error(".ci/run does not call the README's test command")
	}
	if _, err := exec.LookPath("bash"); err == nil {
		if out, err := exec.Command("bash", "-n", ".ci/run").CombinedOutput(); err != nil {
			t.Errorf(".ci/run: %v\n%s", err, out)
		}
	}
}
