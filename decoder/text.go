package decoder

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text gives Java modified UTF-8 as a Go string for display and comparison.
//
// Modified UTF-8 writes UTF-16 code units: NUL as C0 80, a supplementary
// character as a surrogate pair of 3 bytes each. An unpaired surrogate keeps its
// three bytes, so that ModifiedUTF8 gives it back (such a string is not valid
// UTF-8). Bytes that Java refuses appear as \xNN.
func Text(raw string) string {
	if plainASCII(raw) {
		return raw
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		u, n := codeUnit(raw[i:])
		if n == 0 {
			fmt.Fprintf(&b, `\x%02x`, raw[i])
			i++
			continue
		}
		i += n
		if !utf16.IsSurrogate(rune(u)) {
			b.WriteRune(rune(u))
			continue
		}
		low, m := codeUnit(raw[i:])
		if r := utf16.DecodeRune(rune(u), rune(low)); m > 0 && r != utf8.RuneError {
			b.WriteRune(r)
			i += m
			continue
		}
		b.Write(appendUnit(nil, u))
	}
	return b.String()
}

// ModifiedUTF8 encodes a Go string as Java's writeUTF does, without the length.
// The three-byte form of a surrogate that Text leaves is taken over as it is;
// any other byte that is not UTF-8 becomes U+FFFD.
func ModifiedUTF8(s string) string {
	if plainASCII(s) {
		return s
	}
	var b []byte
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			if u, m := codeUnit(s[i:]); m == 3 && utf16.IsSurrogate(rune(u)) {
				b, i = append(b, s[i:i+3]...), i+3
				continue
			}
		}
		i += n
		if r > 0xFFFF {
			high, low := utf16.EncodeRune(r)
			b = appendUnit(appendUnit(b, uint16(high)), uint16(low))
			continue
		}
		b = appendUnit(b, uint16(r))
	}
	return string(b)
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] == 0 || s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// codeUnit decodes one UTF-16 code unit by the rules of DataInput.readUTF, which
// accept forms longer than necessary; n is 0 where it would throw.
func codeUnit(s string) (u uint16, n int) {
	if s == "" {
		return 0, 0
	}
	cont := func(i int) bool { return i < len(s) && s[i]&0xC0 == 0x80 }
	switch c := s[0]; {
	case c < 0x80:
		return uint16(c), 1
	case c&0xE0 == 0xC0 && cont(1):
		return uint16(c&0x1F)<<6 | uint16(s[1]&0x3F), 2
	case c&0xF0 == 0xE0 && cont(1) && cont(2):
		return uint16(c&0x0F)<<12 | uint16(s[1]&0x3F)<<6 | uint16(s[2]&0x3F), 3
	}
	return 0, 0
}

func appendUnit(b []byte, u uint16) []byte {
	switch {
	case u != 0 && u < 0x80:
		return append(b, byte(u))
	case u < 0x800:
		return append(b, 0xC0|byte(u>>6), 0x80|byte(u&0x3F))
	}
	return append(b, 0xE0|byte(u>>12), 0x80|byte(u>>6&0x3F), 0x80|byte(u&0x3F))
}

// malformedUTF is the index of the first byte that DataInput.readUTF refuses,
// -1 where there is none.
func malformedUTF(b []byte) int {
	for i := 0; i < len(b); {
		if b[i] < 0x80 {
			i++
			continue
		}
		_, n := codeUnit(string(b[i:min(i+3, len(b))]))
		if n == 0 {
			return i
		}
		i += n
	}
	return -1
}
