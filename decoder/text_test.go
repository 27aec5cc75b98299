package decoder

import (
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	tests := []struct{ raw, text string }{
		{"", ""},
		{"plain-1_$", "plain-1_$"},
		{"\xc0\x80", "\x00"},
		{"z\xc3\xbcrich", "zürich"},
		{"\xe2\x82\xac", "€"},
		{"a\xed\xa0\xbd\xed\xb8\x80b", "a😀b"},
		{"\xed\xa0\xbd", "\xed\xa0\xbd"},                          // high surrogate alone
		{"\xed\xb8\x80x", "\xed\xb8\x80x"},                        // low surrogate alone
		{"\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80", "\xed\xa0\xbd😀"}, // high, then a pair
	}
	for _, tt := range tests {
		if got := Text(tt.raw); got != tt.text {
			t.Errorf("Text(%q) = %q, want %q", tt.raw, got, tt.text)
		}
		if got := ModifiedUTF8(tt.text); got != tt.raw {
			t.Errorf("ModifiedUTF8(%q) = %q, want %q", tt.text, got, tt.raw)
		}
		if i := malformedUTF([]byte(tt.raw)); i >= 0 {
			t.Errorf("%q: malformed at %d", tt.raw, i)
		}
	}
}

func TestTextMalformed(t *testing.T) {
	tests := []struct {
		raw, text string
		at        int
	}{
		{"a\xff", `a\xff`, 1},
		{"\x80", `\x80`, 0},
		{"\xc3", `\xc3`, 0},
		{"\xe2\x82", `\xe2\x82`, 0},
		{"ok\xf0\x9f\x98\x80", `ok\xf0\x9f\x98\x80`, 2}, // four bytes never occur
		{"\xc1\x81", "A", -1},                           // longer than necessary: Java reads it
	}
	for _, tt := range tests {
		if got := Text(tt.raw); got != tt.text {
			t.Errorf("Text(%q) = %q, want %q", tt.raw, got, tt.text)
		}
		if at := malformedUTF([]byte(tt.raw)); at != tt.at {
			t.Errorf("malformedUTF(%q) = %d, want %d", tt.raw, at, tt.at)
		}
	}
	if got := ModifiedUTF8("a\xffb"); got != "a\xef\xbf\xbdb" {
		t.Errorf("%q", got)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a", "\x00é😀", "\xed\xa0\xbd", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if utf8.ValidString(s) {
			raw := ModifiedUTF8(s)
			if malformedUTF([]byte(raw)) >= 0 || Text(raw) != s {
				t.Errorf("%q: %q, back %q", s, raw, Text(raw))
			}
		}
		Text(s)
	})
}
