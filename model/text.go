package model

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FormatSize prints bytes in binary units with one decimal place: "0 B",
// "24.0 KiB", "160.0 MiB"; Unknown is "?". It is the one function that prints
// sizes anywhere.
func FormatSize(n int64) string {
	if n < 0 {
		return "?"
	}
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	units := [...]string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	v, u := float64(n)/1024, 0
	// 1023.95 would print as 1024.0.
	for v >= 1023.95 && u < len(units)-1 {
		v, u = v/1024, u+1
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " " + units[u]
}

// FormatCount prints a number with commas: "20,971,520"; Unknown is "?".
func FormatCount(n int64) string {
	if n < 0 {
		return "?"
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// FormatPlural prints a number with its noun, given in the singular: "1 state",
// "3 states", "2 entries".
func FormatPlural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if strings.HasSuffix(one, "y") {
		one = one[:len(one)-1] + "ie"
	}
	return FormatCount(n) + " " + one + "s"
}

// Clean makes text from a file fit for a terminal: what is not a printable
// character (controls, escapes, direction marks, invisible ones) is shown as
// an escape such as \x1b or \u202e.
func Clean(s string) string {
	for _, r := range s {
		if r == utf8.RuneError || !printable(r) {
			return escapeAll(s)
		}
	}
	return s
}

func escapeAll(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatInt(int64(s[i])|0x100, 16)[1:])
		case printable(r):
			b.WriteString(s[i : i+n])
		case r < 0x80:
			b.WriteString(`\x` + strconv.FormatInt(int64(r)|0x100, 16)[1:])
		case r < 0x10000:
			b.WriteString(`\u` + strconv.FormatInt(int64(r)|0x10000, 16)[1:])
		default:
			b.WriteString(`\U` + strconv.FormatInt(int64(r)|0x100000000, 16)[1:])
		}
		i += n
	}
	return b.String()
}

// printable leaves out format characters (direction marks, zero-width ones,
// tags), which change how the text around them is shown, and combining marks
// that stand for nothing of their own but may be piled up without end.
func printable(r rune) bool {
	if r == ' ' {
		return true
	}
	return unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r) && !unicode.Is(unicode.M, r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
