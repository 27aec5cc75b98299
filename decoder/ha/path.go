package ha

import (
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
)

// A core.fs.Path holds a java.net.URI, which is its text with the characters
// that a URI may not have as %XX. Flink prints and stores the decoded form.

// pathText gives a Path field as Flink's Path.toString prints it.
func (r *reader) pathText(n javaobj.Node, field string) string {
	p := n.Field(field)
	uri := r.text(p.Field("uri"), "string")
	if !r.ok() {
		return ""
	}
	return decodePath(uri)
}

// decodePath takes the %XX out of a URI. Both are modified UTF-8.
func decodePath(uri string) string {
	if !strings.Contains(uri, "%") {
		return uri
	}
	var b []byte
	text := decoder.Text(uri)
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			hi, lo := unhex(text[i+1]), unhex(text[i+2])
			if hi >= 0 && lo >= 0 {
				b = append(b, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		b = append(b, text[i])
	}
	return decoder.ModifiedUTF8(string(b))
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// legalInPath are the characters that java.net.URI leaves as they are in a path,
// beside letters, digits and what is not ASCII.
const legalInPath = "-_.!~*'():@&=+$,;/"

// encodePath makes the URI of a path that Flink prints: the scheme and the
// authority stay, characters of the path that may not stand there become %XX.
func encodePath(path string) string {
	at := 0
	if i := strings.IndexAny(path, ":/"); i > 0 && path[i] == ':' {
		at = i + 1
	}
	if strings.HasPrefix(path[at:], "//") {
		at += 2
		if i := strings.IndexByte(path[at:], '/'); i >= 0 {
			at += i
		} else {
			at = len(path)
		}
	}
	const digits = "0123456789ABCDEF"
	b := []byte(path[:at])
	for _, c := range []byte(path[at:]) {
		if c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte(legalInPath, c) >= 0 {
			b = append(b, c)
		} else {
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(b)
}
