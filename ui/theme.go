package ui

import (
	"io"
	"os"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// theme is how things look. Colour is never the only sign: each style has an
// attribute or stands on a letter of its own, so that a screen without colour
// tells the same. Only the 16 colours of any terminal are used, and none where
// the background decides whether it can be read.
type theme struct {
	title, cursor, bar, marked, partial, critical, warn, info, key lipgloss.Style

	glyphs
}

// glyphs are the characters that a plain ASCII terminal draws differently.
type glyphs struct {
	barLeft, barRight, barFull string
	barParts                   []string // of one cell, by eighths; empty: none
	opened, closed, leaf       string
	mark, cover, part          string
	line, more, sep, lower     string
	up, down, left, right      string
	split                      string // between tree and details
}

var unicodeGlyphs = glyphs{
	barLeft: "▕", barRight: "▏", barFull: "█",
	barParts: []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"},
	opened:   "▾", closed: "▸", leaf: " ",
	mark: "✗", cover: "·", part: "~",
	line: "─", more: "…", sep: "·", lower: "≥",
	up: "↑", down: "↓", left: "←", right: "→",
	split: "│",
}

var asciiGlyphs = glyphs{
	barLeft: "[", barRight: "]", barFull: "#",
	opened: "-", closed: "+", leaf: " ",
	mark: "x", cover: ".", part: "~",
	line: "-", more: "~", sep: "-", lower: ">",
	up: "up", down: "dn", left: "<-", right: "->",
	split: "|",
}

func newTheme(ascii bool) theme {
	s := lipgloss.NewStyle()
	th := theme{
		title:    s.Bold(true),
		cursor:   s.Reverse(true),
		bar:      s.Foreground(lipgloss.Cyan),
		marked:   s.Bold(true).Foreground(lipgloss.Red),
		partial:  s.Foreground(lipgloss.Red),
		critical: s.Bold(true).Reverse(true).Foreground(lipgloss.Red),
		warn:     s.Bold(true).Foreground(lipgloss.Yellow),
		info:     s.Foreground(lipgloss.Cyan),
		key:      s.Bold(true),
		glyphs:   unicodeGlyphs,
	}
	if ascii {
		th.glyphs = asciiGlyphs
	}
	return th
}

// colorProfile decides between the 16 colours and none. Bubble Tea's own
// detection reads NO_COLOR as a boolean; by its definition any value counts.
func colorProfile(choice string, env func(string) string) colorprofile.Profile {
	switch choice {
	case "always":
		return colorprofile.ANSI
	case "never":
		return colorprofile.ASCII
	}
	term := env("TERM")
	if env("NO_COLOR") != "" || term == "" || term == "dumb" || strings.HasPrefix(term, "vt") {
		return colorprofile.ASCII
	}
	return colorprofile.ANSI
}

// needsASCII is true where the locale is not UTF-8, or where the terminal is
// known to lack the characters.
func needsASCII(env func(string) string) bool {
	if env("TERM") == "linux" || strings.HasPrefix(env("TERM"), "vt") {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env(name); v != "" {
			v = strings.ToLower(v)
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return true
}

func osEnv(name string) string { return os.Getenv(name) }

var stdout io.Writer = os.Stdout
