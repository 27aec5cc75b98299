package store

import (
	"strings"
	"testing"
)

// FuzzURI: no string is a surprise, and one spelling stays one spelling.
func FuzzURI(f *testing.F) {
	for _, s := range []string{"file:/a b%20", "s3a://b/k", "/a//b/../c", "s3n://K:S/E@b/k", "hdfs://nn:1/", "a=b", "s3://b/x==/y", "~", "://", "s3:/", "file://h/x"} {
		f.Add(s, "../x")
	}
	f.Fuzz(func(t *testing.T, uri, rel string) {
		c := Canonical(uri)
		if again := Canonical(c); again != c {
			t.Errorf("Canonical(%q) = %q, and of that %q", uri, c, again)
		}
		if !Under(c, Parent(c)) {
			t.Errorf("%q is not under its parent %q", c, Parent(c))
		}
		if schemeLen(rel) == 0 && !strings.Contains(rel, "..") && !Under(Join(c, rel), c) {
			t.Errorf("%q joined to %q is %q", rel, c, Join(c, rel))
		}
		m, err := ParseMapping(uri)
		if err == nil {
			Mappings{m}.Apply(rel)
		}
		Redact(uri)
		LocalPath(uri)
		FromArgument(uri)
	})
}
