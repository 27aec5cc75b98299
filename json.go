package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"chkscope/decoder"
	"chkscope/model"
)

// schemaVersion is the "schema" of every document. It only changes when a key
// changes its meaning; new keys do not change it.
const schemaVersion = 1

// number is a size or count; model.Unknown is null.
type number int64

func (n number) MarshalJSON() ([]byte, error) {
	if int64(n) == model.Unknown {
		return []byte("null"), nil
	}
	return json.Marshal(int64(n))
}

// text is a string of a file (modified UTF-8) as JSON. A surrogate without its
// partner, which Java strings may hold, is written as \uXXXX.
type text string

func (t text) MarshalJSON() ([]byte, error) {
	s := decoder.Text(string(t))
	var b strings.Builder
	start := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 && i+3 <= len(s) && s[i] == 0xED {
			writeString(&b, s[start:i])
			fmt.Fprintf(&b, `\u%04x`, uint32(s[i]&0x0F)<<12|uint32(s[i+1]&0x3F)<<6|uint32(s[i+2]&0x3F))
			i += 3
			start = i
			continue
		}
		i += n
	}
	writeString(&b, s[start:])
	return []byte(`"` + b.String() + `"`), nil
}

// writeString writes s escaped for JSON without its quotes.
func writeString(b *strings.Builder, s string) {
	var quoted strings.Builder
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // a string always encodes
	q := strings.TrimSuffix(quoted.String(), "\n")
	b.WriteString(q[1 : len(q)-1])
}

// orNull is nil for the empty string: a name that is absent.
func orNull(s string) *text {
	if s == "" {
		return nil
	}
	t := text(s)
	return &t
}

// list is never null.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// jsonSizes are the sizes of an operator or a state.
type jsonSizes struct {
	Inline      number `json:"inline"`
	Bookkeeping number `json:"bookkeeping"`
	Exclusive   number `json:"exclusive"`
	Shared      number `json:"shared"`
	Files       number `json:"files"`
}

func sizesOf(s model.Sizes) jsonSizes {
	return jsonSizes{number(s.Inline), number(s.Bookkeeping), number(s.Exclusive), number(s.Shared), number(s.Files)}
}

// jsonDamage is where decoding stopped.
type jsonDamage struct {
	Offset   int64  `json:"offset"`
	Path     string `json:"path"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

func damageOf(e *decoder.Error) *jsonDamage {
	if e == nil {
		return nil
	}
	return &jsonDamage{e.Offset, e.Path, e.Expected, e.Found}
}
