package store

import (
	"fmt"
	"strings"
)

// Mapping says that what is named below From is found below To (--map FROM=TO):
// a downloaded copy, a mount, another endpoint.
type Mapping struct{ From, To string }

// Mappings is the list of all --map flags.
type Mappings []Mapping

// ParseMapping reads FROM=TO. As paths may contain "=", the text is cut at the
// first "=" with something behind it that begins like a path or a URI, else at
// the first "=".
func ParseMapping(s string) (Mapping, error) {
	cut := -1
	for i := range len(s) {
		if s[i] != '=' || i == 0 || i == len(s)-1 {
			continue
		}
		if cut < 0 {
			cut = i
		}
		if beginsLikePath(s[i+1:]) {
			cut = i
			break
		}
	}
	if cut < 0 {
		return Mapping{}, fmt.Errorf("%q is not of the form FROM=TO", s)
	}
	from, err := FromArgument(s[:cut])
	if err != nil {
		return Mapping{}, err
	}
	to, err := FromArgument(s[cut+1:])
	if err != nil {
		return Mapping{}, err
	}
	return Mapping{From: from, To: to}, nil
}

func beginsLikePath(s string) bool {
	return schemeLen(s) > 0 || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") ||
		strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "file:")
}

// Apply rewrites uri by the mapping with the longest From that holds it, at a
// boundary of path elements; without one uri comes back as it is. The result is
// not mapped again.
func (m Mappings) Apply(uri string) string {
	if len(m) == 0 {
		return uri
	}
	canonical, best, rest := Canonical(uri), -1, ""
	for i, e := range m {
		from := Canonical(e.From)
		if r, ok := cutDir(canonical, from); ok && (best < 0 || len(from) > len(Canonical(m[best].From))) {
			best, rest = i, r
		}
	}
	if best < 0 {
		return uri
	}
	return Join(m[best].To, "./"+rest)
}
