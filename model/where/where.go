// Package where is the language of conditions on entries (--where):
//
//	or ||   and &&   not !
//	== != < <= > >=   in   matches   contains   startsWith   endsWith
//	+ - * / %   a.b   a["b"]   a[0]   ( )   [1, 2]
//	"text" 'text'   12   1.5   true   false   null
//	len(x) lower(x) upper(x) text(x) hex(x) time("2024-05-01T00:00:00Z")
//
// It is a subset of the language of github.com/expr-lang/expr. That library
// itself would keep every method of every linked package in the binary (8 MB), as
// it finds methods by name.
//
// Fields of an entry are in Names. A field that does not apply is null, and so is
// a part that a value does not have. Comparing values of unlike kinds is false,
// != true; any value equals the text that is shown of it. Numbers compare with
// numbers of any kind, times are numbers (milliseconds since 1970).
//
// A condition on what could not be decoded has no answer: Eval gives an error
// that wraps ErrUndecided.
package where

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"chkscope/decoder/serde"
)

// Names are the fields that a condition may use.
var Names = []string{"key", "key_group", "namespace", "map_key", "value", "subtask", "entry", "bytes", "state",
	"last_access", "expires", "ttl_expired", "topic", "partition", "offset"}

// ErrUndecided is wrapped by errors of Eval: the condition is neither true nor
// false.
var ErrUndecided = errors.New("undecided")

// Fields gives the fields of an entry by name, Missing where one does not apply.
type Fields interface {
	Field(name string) serde.Value
}

// Expr is a condition.
type Expr struct {
	text string
	root node
	uses []string
}

// maxText bounds the length of a condition, maxDepth how deep it nests.
const (
	maxText  = 16 << 10
	maxDepth = 100
)

// Compile reads a condition. The error says where it stops being one.
func Compile(text string) (*Expr, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("a condition has at most %d bytes", maxText)
	}
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	root, err := p.expression(0)
	if err == nil && p.next().kind != end {
		err = p.fail("an operator or the end")
	}
	if err != nil {
		return nil, err
	}
	return &Expr{text, root, p.uses}, nil
}

// String is the text of the condition.
func (x *Expr) String() string { return x.text }

// Uses tells whether the condition names a field.
func (x *Expr) Uses(name string) bool { return slices.Contains(x.uses, name) }

// Eval tells whether the condition holds for an entry. An error wraps
// ErrUndecided.
func (x *Expr) Eval(f Fields) (bool, error) {
	v, err := x.root.eval(f)
	if err != nil {
		return false, err
	}
	return truth(v)
}

// Apply is Eval for an entry of which is not known whether it has what the
// condition asks for: where a field or part of a value is not there, applies is
// false and holds too. Of an "or" both sides count.
func (x *Expr) Apply(f Fields) (holds, applies bool, err error) {
	s := &strict{Fields: f}
	holds, err = x.Eval(s)
	if s.absent {
		return false, false, nil
	}
	return holds, true, err
}

// undecided is an error about an entry.
func undecided(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUndecided, fmt.Sprintf(format, args...))
}

// kind of a token.
type kind uint8

const (
	end kind = iota
	name
	number
	quoted
	symbol
)

type token struct {
	kind kind
	text string // of quoted: without quotes and escapes
	at   int
}

const symbols = "== != <= >= && || < > ! ( ) [ ] , . + - * / %"

func lex(s string) ([]token, error) {
	var out []token
	for i := 0; ; {
		for i < len(s) && strings.IndexByte(" \t\r\n", s[i]) >= 0 {
			i++
		}
		if i == len(s) {
			return append(out, token{end, "", i}), nil
		}
		t, n, err := one(s, i)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		i += n
	}
}

// one reads the token at i and gives its length.
func one(s string, i int) (token, int, error) {
	switch c := s[i]; {
	case c == '"' || c == '\'':
		text, n, err := unquote(s[i:])
		if err != nil {
			return token{}, 0, fmt.Errorf("column %d: %w", i+1, err)
		}
		return token{quoted, text, i}, n, nil
	case isDigit(c):
		n := 1
		for i+n < len(s) && (isDigit(s[i+n]) || isLetter(s[i+n]) || s[i+n] == '.' && i+n+1 < len(s) && isDigit(s[i+n+1]) ||
			(s[i+n] == '-' || s[i+n] == '+') && (s[i+n-1] == 'e' || s[i+n-1] == 'E') && !strings.HasPrefix(s[i:], "0x")) {
			n++
		}
		return token{number, s[i : i+n], i}, n, nil
	case isLetter(c):
		n := 1
		for i+n < len(s) && (isLetter(s[i+n]) || isDigit(s[i+n])) {
			n++
		}
		return token{name, s[i : i+n], i}, n, nil
	}
	for _, sym := range strings.Fields(symbols) {
		if strings.HasPrefix(s[i:], sym) {
			return token{symbol, sym, i}, len(sym), nil
		}
	}
	if s[i] == '=' {
		return token{}, 0, fmt.Errorf("column %d: = is no operator; to compare write ==", i+1)
	}
	return token{}, 0, fmt.Errorf("column %d: %q does not belong into a condition", i+1, s[i])
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c == '@' }

// unquote reads the quoted text at the start of s.
func unquote(s string) (string, int, error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return b.String(), i + 1, nil
		case s[i] == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '\\', '"', '\'':
				b.WriteByte(s[i])
			default: // of a pattern
				b.WriteByte('\\')
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return "", 0, errors.New("a text without its closing quote")
}
