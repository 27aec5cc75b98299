package store

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A URI here is a string in the form in which Flink prints paths
// (org.apache.flink.core.fs.Path): SCHEME ":" ["//" AUTHORITY] PATH. It is not
// percent-encoded: "file:/dir/x y%20z" names a file with a blank and a per cent
// sign in its name. Local files have one slash: "file:/dir/x". A plain absolute
// path is a local file too. The functions below accept every such string;
// FORMATS: a path that is written back into _metadata is never normalised, so
// keep the original beside what these functions give.

// Split cuts uri into its scheme (lower case, "" for a plain path), authority
// (bucket, host:port) and path. It never fails; a plain path is all path.
func Split(uri string) (scheme, authority, pth string) {
	n := schemeLen(uri)
	if n == 0 {
		return "", "", uri
	}
	scheme, rest := strings.ToLower(uri[:n]), uri[n+1:]
	if !strings.HasPrefix(rest, "//") {
		return scheme, "", rest
	}
	rest = rest[2:]
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return scheme, rest[:i], rest[i:]
	}
	return scheme, rest, "/"
}

// schemeLen is the length of the scheme of uri, or 0. A scheme is two or more
// letters, digits, "+", "-", ".", with ":/" behind them, so that a relative path
// with a colon in it stays a path.
func schemeLen(uri string) int {
	i := strings.Index(uri, ":/")
	if i < 2 {
		return 0
	}
	for k, c := range []byte(uri[:i]) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (k == 0 || !(c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return 0
		}
	}
	return i
}

// Scheme is the scheme of uri in lower case; "file" for a plain path.
func Scheme(uri string) string {
	s, _, _ := Split(uri)
	if s == "" {
		return "file"
	}
	return s
}

// Print puts the parts together as Flink prints them.
func Print(scheme, authority, pth string) string {
	if scheme == "" {
		scheme = "file"
	}
	if authority == "" {
		return scheme + ":" + pth
	}
	return scheme + "://" + authority + pth
}

// FromArgument makes a URI of what a person typed: a relative or absolute path,
// "~" and "~/x", "file:x", or a URI of any scheme. Relative paths are taken from
// the working directory. A trailing slash is dropped.
func FromArgument(arg string) (string, error) {
	if arg == "" {
		return "", errors.New("an empty path names nothing")
	}
	scheme, authority, pth := Split(arg)
	if scheme != "" && scheme != "file" {
		return Print(scheme, authority, path.Clean("/"+pth)), nil
	}
	if scheme == "file" && authority != "" && authority != "localhost" {
		return Print(scheme, authority, path.Clean("/"+pth)), nil
	}
	if scheme == "" {
		pth = strings.TrimPrefix(pth, "file:")
	}
	if pth == "~" || strings.HasPrefix(pth, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		pth = home + pth[1:]
	}
	abs, err := filepath.Abs(pth)
	if err != nil {
		return "", err
	}
	return FileURI(abs), nil
}

// FileURI is the URI of an absolute local path, as Flink prints it.
func FileURI(localPath string) string { return "file:" + filepath.ToSlash(localPath) }

// LocalPath is the path in the local file system that uri names, and whether it
// names one: a plain absolute path, file:/x, file:///x, file://localhost/x.
func LocalPath(uri string) (string, bool) {
	scheme, authority, pth := Split(uri)
	if scheme != "" && scheme != "file" || authority != "" && authority != "localhost" {
		return "", false
	}
	if !strings.HasPrefix(pth, "/") {
		return "", false
	}
	return filepath.FromSlash(path.Clean(pth)), true
}

// Join resolves rel, the path of a relative handle, against the directory base,
// as Flink's Path(parent, child) does: a rel with a scheme stands for itself, a
// leading slash of rel is ignored, "." and ".." are resolved.
func Join(base, rel string) string {
	if schemeLen(rel) > 0 {
		return rel
	}
	scheme, authority, pth := Split(base)
	joined := path.Join("/", pth, rel)
	if scheme == "" {
		return joined
	}
	return Print(scheme, authority, joined)
}

// Parent is the directory that uri is in; a root is its own parent.
func Parent(uri string) string {
	scheme, authority, pth := Split(uri)
	dir := path.Dir(path.Clean("/" + pth))
	if scheme == "" {
		return dir
	}
	return Print(scheme, authority, dir)
}

// Base is the last path element of uri, "" for a root.
func Base(uri string) string {
	_, _, pth := Split(uri)
	if b := path.Base(path.Clean("/" + pth)); b != "/" {
		return b
	}
	return ""
}

// Canonical is one spelling for all URIs of the same physical file: file:/x for
// /x, file:///x and file://localhost/x; s3: for s3a: and s3n:; lower-case scheme; no
// doubled or trailing slashes, no "." and "..". Links are not followed.
func Canonical(uri string) string {
	scheme, authority, pth := Split(uri)
	pth = path.Clean("/" + pth)
	switch scheme {
	case "", "file":
		if authority == "localhost" {
			authority = ""
		}
		return Print("file", authority, pth)
	case "s3a", "s3n":
		scheme = "s3"
	}
	return Print(scheme, withoutUser(authority), pth)
}

// Same reports whether a and b name the same physical file.
func Same(a, b string) bool { return a == b || Canonical(a) == Canonical(b) }

// Under reports whether uri is dir or lies in it, at any depth.
func Under(uri, dir string) bool {
	_, ok := cutDir(Canonical(uri), Canonical(dir))
	return ok
}

// Rel is the path of uri below dir ("" for dir itself), and whether it is there.
func Rel(dir, uri string) (string, bool) { return cutDir(Canonical(uri), Canonical(dir)) }

func cutDir(uri, dir string) (string, bool) {
	if uri == dir {
		return "", true
	}
	if !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	return strings.CutPrefix(uri, dir)
}

// Redact is uri without a user and password in its authority, for messages.
// (s3n://KEY:SECRET@bucket/ was once a way to write credentials.)
func Redact(uri string) string {
	scheme, authority, pth := Split(uri)
	if at := strings.LastIndexByte(pth, '@'); at >= 0 && strings.HasPrefix(scheme, "s3") &&
		strings.Contains(authority, ":") && !strings.HasPrefix(authority, "arn:") {
		return Print(scheme, "…", "/"+pth[at+1:]) // a secret with slashes in it
	}
	if a := withoutUser(authority); a != authority {
		return Print(scheme, a, pth)
	}
	return uri
}

// withoutUser drops "user:password@". The abfs and wasb schemes write
// CONTAINER@ACCOUNT, which has no colon before the @ and is kept.
func withoutUser(authority string) string {
	i := strings.LastIndexByte(authority, '@')
	if i >= 0 && strings.Contains(authority[:i], ":") {
		return authority[i+1:]
	}
	return authority
}
