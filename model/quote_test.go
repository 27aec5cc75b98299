package model

import "testing"

func TestShellWord(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"file:/data/chk-7", "file:/data/chk-7"},
		{"s3://b/chk-7_x", "s3://b/chk-7_x"},
		{"", "''"},
		{"/a b", "'/a b'"},
		{"a'$(x)'b", `'a'\''$(x)'\''b'`},
		{"a;b", "'a;b'"},
		{"~/a", "'~/a'"},
		{"a\x1bb", `'a\x1bb'`},
	} {
		if got := ShellWord(c.in); got != c.want {
			t.Errorf("ShellWord(%q) = %s, want %s", c.in, got, c.want)
		}
	}
	if got := ShellQuoted("a/b"); got != "'a/b'" {
		t.Errorf("ShellQuoted: %s", got)
	}
}
