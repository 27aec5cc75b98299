package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/model/store"
)

// fixture gives the directory of a committed snapshot (its about.txt says where
// in its folder it is) and the flags that map the absolute paths inside and say
// where Flink saw it: predicted messages hold those paths, so that they are the
// same wherever the repository is.
func fixture(t *testing.T, name string) (dir string, flags []string) {
	t.Helper()
	home := filepath.Join("conformance", "testdata", name)
	pattern := filepath.Join(home, "checkpoints", "*", "chk-*")
	if strings.Contains(name, "savepoint") {
		pattern = filepath.Join(home, "savepoint-*", "savepoint-*")
	}
	if strings.HasPrefix(name, "incident") {
		pattern = filepath.Join(home, "checkpoint")
	}
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %d snapshots, %v", pattern, len(found), err)
	}
	inside, err := filepath.Rel(home, found[0])
	if err != nil {
		t.Fatal(err)
	}
	return found[0], []string{"--map=file:/flink/" + name + "=" + home, "--source-uri=file:/flink/" + name + "/" + filepath.ToSlash(inside)}
}

// TestGolden compares what the commands print on snapshots of real Flink with
// testdata/golden. Renew with: go test . -run TestGolden -update
func TestGolden(t *testing.T) {
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	fixtures := []string{
		"incident/gen-3-files", "v3-heap-checkpoint", "v4-rocks-incremental", "v4-rocks-native-savepoint",
		"v4-unaligned", "v4-finished", "v4-changelog-heap", "v6-file-merging", "v6-no-uids",
	}
	commands := []struct {
		name string
		args func(dir string) []string
	}{
		{"report", func(dir string) []string { return []string{"report", dir} }},
		{"report.json", func(dir string) []string { return []string{"report", "--json", dir} }},
		{"ls", func(dir string) []string { return []string{"ls", "--depth", "3", "--lens", "metadata", dir} }},
		{"ls.json", func(dir string) []string { return []string{"ls", "--json", "--sort", "name", "--limit", "3", dir} }},
		{"show", func(dir string) []string { return []string{"show", dir, "*/*/*/0", "--entries", "2"} }},
		{"show.json", func(dir string) []string { return []string{"show", "--json", dir, "*"} }},
		{"verify", func(dir string) []string { return []string{"verify", dir} }},
		{"verify.json", func(dir string) []string { return []string{"verify", "--json", dir} }},
	}
	for _, name := range fixtures {
		dir, flags := fixture(t, name)
		for _, c := range commands {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				r := run(append(c.args(dir), flags...)...)
				got := withoutRoot(r.out+r.errOut, root)
				compareGolden(t, filepath.Join("testdata", "golden", strings.ReplaceAll(name, "/", "-")+"."+c.name), got)
			})
		}
	}
	object := filepath.Join("decoder", "ha", "testdata", "flink-1.20.object")
	for _, c := range commands {
		if !strings.HasPrefix(c.name, "report") && !strings.HasPrefix(c.name, "verify") {
			continue
		}
		t.Run("object/"+c.name, func(t *testing.T) {
			// Which stream is the first that cannot be read, on stderr, is by chance.
			r := run(append(c.args(object), "--map=s3://bucket=decoder/ha/testdata/bucket")...)
			got := withoutRoot(r.out, root)
			compareGolden(t, filepath.Join("testdata", "golden", "object."+c.name), got)
		})
	}
	for _, name := range []string{"rules", "rules.json", "version.help"} {
		t.Run(name, func(t *testing.T) {
			args := map[string][]string{"rules": {"rules"}, "rules.json": {"rules", "--json"}, "version.help": {"version", "--help"}}[name]
			compareGolden(t, filepath.Join("testdata", "golden", name), run(args...).wantCode(t, exitOK).out)
		})
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, []byte(got))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (renew with -update, after a look at why):\n--- got\n%s\n--- want\n%s", path, got, want)
	}
}

// withoutRoot takes the place of the repository out of URIs and paths.
func withoutRoot(text, root string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, store.FileURI(root), "file:/REPOSITORY"), root, "/REPOSITORY")
}
