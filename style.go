package main

import (
	"chkscope/decoder"
	"chkscope/model"
)

// coloured: may text on stdout hold escape sequences? Only on a terminal, so
// that what is piped or saved is plain, whatever --color says.
func (p *program) coloured() bool {
	if !p.outTerm || p.flags.color == "never" {
		return false
	}
	return p.flags.color == "always" || p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb"
}

func (p *program) style(sgr, s string) string {
	if !p.coloured() {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[m"
}

func (p *program) strong(s string) string { return p.style("1", s) }

// severity is the mark and the word, coloured where that is allowed: the mark
// tells it without colour.
func (p *program) severity(word string) string {
	switch word {
	case "critical":
		return p.style("1;31", "!! critical")
	case "warn":
		return p.style("33", "!  warn    ")
	}
	return p.style("36", "i  info    ")
}

// cleanName is a name of the file as text for a terminal.
func cleanName(raw string) string { return model.Clean(decoder.Text(raw)) }
