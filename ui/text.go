package ui

import (
	"strconv"
	"strings"

	"chkscope/model"

	"github.com/charmbracelet/x/ansi"
)

// width is the number of terminal cells of s, which has no escape sequences.
func width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return ansi.StringWidthWc(s)
		}
	}
	return len(s)
}

// cut shortens s to at most w cells; what was cut off shows as more ("…").
func cut(s string, w int, more string) string {
	if w <= 0 {
		return ""
	}
	if width(s) <= w {
		return s
	}
	return ansi.TruncateWc(s, w, more)
}

// cutLeft keeps the end of s, for paths.
func cutLeft(s string, w int, more string) string {
	n := width(s)
	if w <= 0 {
		return ""
	}
	if n <= w {
		return s
	}
	return ansi.TruncateLeftWc(s, n-w+width(more), more)
}

// padRight fills s with spaces up to w cells.
func padRight(s string, w int) string {
	if n := w - width(s); n > 0 {
		return s + spaces(n)
	}
	return s
}

// padLeft puts spaces before s up to w cells.
func padLeft(s string, w int) string {
	if n := w - width(s); n > 0 {
		return spaces(n) + s
	}
	return s
}

const blank = "                                                                                                                                "

func spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blank) {
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

// wrap breaks s into lines of at most w cells, between words where it can. s
// must be clean.
func wrap(s string, w int) []string {
	if w < 1 {
		return nil
	}
	var lines []string
	for para := range strings.SplitSeq(s, "\n") {
		indent := para[:len(para)-len(strings.TrimLeft(para, " "))]
		if len(indent) > w/2 {
			indent = ""
		}
		line := indent
		fresh := true
		for _, word := range strings.Fields(para) {
			for {
				room := w - width(line)
				if !fresh {
					room--
				}
				if width(word) <= room {
					break
				}
				if !fresh {
					lines = append(lines, line)
					line, fresh = indent, true
					continue
				}
				head := ansi.TruncateWc(word, room, "")
				if head == "" { // not even one wide character fits
					if line != "" {
						line, indent = "", ""
						continue
					}
					head = word
				}
				lines = append(lines, line+head)
				word = word[len(head):]
			}
			if word == "" {
				continue
			}
			if !fresh {
				line += " "
			}
			line += word
			fresh = false
		}
		if !fresh || para == "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// clean is model.Clean: nothing from a file reaches the screen but through it.
func clean(s string) string { return model.Clean(s) }

// onlyASCII is for terminals that do not read UTF-8, to which its bytes might
// even be control characters: each other character becomes question marks, as
// many as it is wide.
func onlyASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return toASCII(s)
		}
	}
	return s
}

func toASCII(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r == '…':
			b.WriteByte('~')
		default:
			b.WriteString(strings.Repeat("?", ansi.StringWidthWc(string(r))))
		}
	}
	return b.String()
}

// short prints a count in at most six cells: "80", "21.0M".
func short(n int64) string {
	if n < 0 {
		return "?"
	}
	if n < 10000 {
		return strconv.FormatInt(n, 10)
	}
	v := float64(n)
	for _, unit := range "KMGTPE" {
		v /= 1000
		if v < 999.95 {
			return strconv.FormatFloat(v, 'f', 1, 64) + string(unit)
		}
	}
	return strconv.FormatInt(n, 10)
}

// percent prints part of whole in at most six cells; "" where one is unknown.
func percent(part, whole int64) string {
	if part < 0 || whole < 0 {
		return ""
	}
	if whole == 0 {
		return "0.0%"
	}
	return strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 1, 64) + "%"
}

func plural(n int64, one string) string { return model.FormatPlural(n, one) }

// cutStyled is cut for a line with escape sequences.
func cutStyled(s string, w int) string { return ansi.TruncateWc(s, w, "") }
