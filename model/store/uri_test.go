package store

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"/a/b", "file:/a/b"},
		{"/a//b/", "file:/a/b"},
		{"file:/a/b", "file:/a/b"},
		{"file:///a/b", "file:/a/b"},
		{"file://localhost/a/./b", "file:/a/b"},
		{"FILE:/a/../b", "file:/b"},
		{"file://nas/a", "file://nas/a"},
		{"file:/dir/x y%20z", "file:/dir/x y%20z"},
		{"s3://bucket/k", "s3://bucket/k"},
		{"s3a://bucket/k", "s3://bucket/k"},
		{"s3n://KEY:SECRET@bucket/k", "s3://bucket/k"},
		{"S3A://bucket", "s3://bucket/"},
		{"hdfs://nn:8020/a", "hdfs://nn:8020/a"},
		{"abfss://container@account.dfs.core.windows.net/a", "abfss://container@account.dfs.core.windows.net/a"},
		{"/", "file:/"},
	} {
		if got := Canonical(c.in); got != c.want {
			t.Errorf("Canonical(%q) = %q, want %q", c.in, got, c.want)
		}
		if got := Canonical(Canonical(c.in)); got != c.want {
			t.Errorf("Canonical is not stable for %q: %q", c.in, got)
		}
	}
	if !Same("s3a://b/x", "s3://b//x/") || Same("s3://b/x", "s3://c/x") {
		t.Error("Same is wrong")
	}
}

func TestJoinParentBase(t *testing.T) {
	for _, c := range []struct{ base, rel, want string }{
		{"file:/c/chk-1", "0a1b", "file:/c/chk-1/0a1b"},
		{"file:///c/chk-1", "0a1b", "file:/c/chk-1/0a1b"},
		{"/c/chk-1/", "x y%20z", "/c/chk-1/x y%20z"},
		{"s3://b/c", "../shared/f", "s3://b/shared/f"},
		{"s3://b", "f", "s3://b/f"},
		{"s3://b/c", "/f", "s3://b/c/f"},
		{"s3://b/c", "s3://other/f", "s3://other/f"},
		{"/c", "a:b", "/c/a:b"},
		{"s3://b/c", "../../../f", "s3://b/f"},
		{"file:/c", "", "file:/c"},
	} {
		if got := Join(c.base, c.rel); got != c.want {
			t.Errorf("Join(%q, %q) = %q, want %q", c.base, c.rel, got, c.want)
		}
	}
	for _, c := range []struct{ in, parent, base string }{
		{"s3://b/a/_metadata", "s3://b/a", "_metadata"},
		{"s3://b/a", "s3://b/", "a"},
		{"s3://b", "s3://b/", ""},
		{"file:/a/b/", "file:/a", "b"},
		{"/a", "/", "a"},
		{"/", "/", ""},
	} {
		if p, b := Parent(c.in), Base(c.in); p != c.parent || b != c.base {
			t.Errorf("%q: parent %q base %q, want %q %q", c.in, p, b, c.parent, c.base)
		}
	}
}

func TestUnder(t *testing.T) {
	for _, c := range []struct {
		uri, dir string
		want     bool
	}{
		{"file:/a/b", "/a", true},
		{"/a", "file:///a/", true},
		{"/ab", "/a", false},
		{"/a/../b", "/a", false},
		{"s3a://b/x/y", "s3://b/x", true},
		{"s3://b/x", "s3://b", true},
		{"s3://bb/x", "s3://b", false},
		{"/anything", "/", true},
	} {
		if got := Under(c.uri, c.dir); got != c.want {
			t.Errorf("Under(%q, %q) = %v", c.uri, c.dir, got)
		}
	}
	if r, ok := Rel("s3a://b/x", "s3://b/x/y/z"); r != "y/z" || !ok {
		t.Errorf("Rel = %q, %v", r, ok)
	}
}

func TestFromArgument(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, want string }{
		{"x", "file:" + filepath.Join(cwd, "x")},
		{"a:b/c", "file:" + filepath.Join(cwd, "a:b/c")},
		{"./s3:/x", "file:" + filepath.Join(cwd, "s3:/x")},
		{"/x/", "file:/x"},
		{"~", "file:" + home},
		{"~/x", "file:" + home + "/x"},
		{"~x", "file:" + filepath.Join(cwd, "~x")},
		{"file:/x", "file:/x"},
		{"file:///x/../y", "file:/y"},
		{"file:x", "file:" + filepath.Join(cwd, "x")},
		{"s3a://b/x/", "s3a://b/x"},
		{"hdfs://nn:9000/x", "hdfs://nn:9000/x"},
	} {
		if got, err := FromArgument(c.in); got != c.want || err != nil {
			t.Errorf("FromArgument(%q) = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
	if _, err := FromArgument(""); err == nil {
		t.Error("the empty argument was taken")
	}
}

func TestLocalPath(t *testing.T) {
	for _, c := range []struct {
		in, want string
		ok       bool
	}{
		{"/a", "/a", true},
		{"file:/a b%20", "/a b%20", true},
		{"file:///a/", "/a", true},
		{"file://localhost/a", "/a", true},
		{"file://nas/a", "", false},
		{"s3://b/a", "", false},
		{"a", "", false},
	} {
		if got, ok := LocalPath(c.in); got != c.want || ok != c.ok {
			t.Errorf("LocalPath(%q) = %q, %v", c.in, got, ok)
		}
	}
}

func TestRedact(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"s3n://KEY:SECRET@bucket/x", "s3n://bucket/x"},
		{"s3n://KEY:SEC/RET@bucket/x", "s3n://…/bucket/x"},
		{"abfss://c@account/x", "abfss://c@account/x"},
		{"/a@b:c", "/a@b:c"},
	} {
		if got := Redact(c.in); got != c.want {
			t.Errorf("Redact(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestMappings(t *testing.T) {
	var m Mappings
	for _, s := range []string{"s3a://b/flink=/mnt/f", "s3://b/flink/dt=1=/mnt/one", "hdfs://nn:8020/=s3://h"} {
		e, err := ParseMapping(s)
		if err != nil {
			t.Fatal(err)
		}
		m = append(m, e)
	}
	for _, c := range []struct{ in, want string }{
		{"s3://b/flink/chk-1/x", "file:/mnt/f/chk-1/x"},
		{"s3n://b/flink", "file:/mnt/f"},
		{"s3://b/flink2/x", "s3://b/flink2/x"},
		{"s3://b/flink/dt=1/s3:/x", "file:/mnt/one/s3:/x"},
		{"s3://b/flink/dt=10/x", "file:/mnt/f/dt=10/x"},
		{"hdfs://nn:8020/a", "s3://h/a"},
		{"/elsewhere", "/elsewhere"},
	} {
		if got := m.Apply(c.in); got != c.want {
			t.Errorf("Apply(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	for _, bad := range []string{"", "x", "=x", "x="} {
		if _, err := ParseMapping(bad); err == nil {
			t.Errorf("ParseMapping(%q) was taken", bad)
		}
	}
}
