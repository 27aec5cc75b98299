package model

import "strings"

// ShellWord writes s, cleaned, as one word for a POSIX shell. Names and paths
// come from files: nothing in one may end the quotes of a line that a person
// copies.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=:,./@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return ShellQuoted(s)
}

// ShellQuoted is ShellWord that quotes always.
func ShellQuoted(s string) string {
	return "'" + strings.ReplaceAll(Clean(s), "'", `'\''`) + "'"
}
