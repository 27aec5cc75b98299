package serde

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// String is v on one line, for people: names where records have them, strings in
// quotes only inside of something. It is not cleaned for a terminal.
func (v Value) String() string {
	if v.Form == Text {
		return v.Text + v.more()
	}
	return string(v.appendText(nil))
}

// more tells how long a cut text is.
func (v Value) more() string {
	if !v.Cut {
		return ""
	}
	return "… (" + strconv.FormatInt(v.N, 10) + " bytes)"
}

func (v Value) appendText(b []byte) []byte {
	switch v.Form {
	case Missing:
		return append(b, '-')
	case Null:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, v.N != 0)
	case Integer:
		return strconv.AppendInt(b, v.N, 10)
	case Real32, Real64:
		return v.appendReal(b)
	case Number, Moment, EnumName:
		return append(b, v.Text...)
	case Text:
		return append(appendQuoted(b, v.Text), v.more()...)
	case Binary:
		return append(hex.AppendEncode(append(b, "0x"...), []byte(v.Text)), v.more()...)
	case Millis:
		return appendMillis(b, v.N)
	case Opaque:
		b = append(hex.AppendEncode(append(b, "0x"...), []byte(v.Text)), v.more()...)
		return append(append(append(b, " ("...), v.Why...), ')')
	case TTLValue:
		b = v.Items[0].appendText(b)
		return append(appendMillis(append(b, " (last access "...), v.N), ')')
	case TimerMark:
		b = appendMillis(b, v.N)
		for i, name := range timerParts {
			if i < len(v.Items) && v.Items[i].Form != Null {
				b = v.Items[i].appendText(append(append(append(b, ' '), name...), ' '))
			}
		}
		return b
	}
	return v.appendParts(b)
}

// appendParts writes lists, maps and records.
func (v Value) appendParts(b []byte) []byte {
	open, end, step := byte('['), byte(']'), 1
	switch {
	case v.Form == Pairs:
		open, end, step = '{', '}', 2
	case v.Form == Fields && v.Shape.Positional:
		b = append(b, v.Shape.Kind...)
		open, end = '(', ')'
	case v.Form == Fields:
		b = append(b, v.Shape.Kind...)
		if v.Shape.Subclass {
			b = append(b, v.Shape.Type[strings.LastIndexAny(v.Shape.Type, ".$")+1:]...)
		}
		open, end = '{', '}'
	}
	b = append(b, open)
	for i := 0; i < len(v.Items); i += step {
		if i > 0 {
			b = append(b, ", "...)
		}
		switch {
		case step == 2:
			b = append(v.Items[i].appendText(b), '=')
			b = v.Items[i+1].appendText(b)
		case v.Form == Fields && !v.Shape.Positional:
			b = append(append(b, v.Shape.Names[i]...), '=')
			b = v.Items[i].appendText(b)
		default:
			b = v.Items[i].appendText(b)
		}
	}
	if v.Cut {
		if len(v.Items) > 0 {
			b = append(b, ", "...)
		}
		b = append(b, "… ("...)
		b = append(strconv.AppendInt(b, v.N, 10), " in all)"...)
	}
	return append(b, end)
}

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// appendMillis writes milliseconds since 1970 as a time in UTC; those that stand
// for no time (the ends of the range) as the number.
func appendMillis(b []byte, ms int64) []byte {
	const year9999 = 253402300799999
	if ms < -62135596800000 || ms > year9999 {
		return strconv.AppendInt(b, ms, 10)
	}
	s := floorDiv(ms, 1000)
	return append(append(b, isoTime(s, (ms-s*1000)*1e6)...), 'Z')
}

// appendReal writes the shortest digits that give the same number, with a
// fraction, as Java does.
func (v Value) appendReal(b []byte) []byte {
	f, size := v.Real(), 64
	if v.Form == Real32 {
		size = 32
	}
	at := len(b)
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-3 || abs >= 1e7) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, f, format, -1, size)
	if format == 'f' && !strings.ContainsAny(string(b[at:]), ".IN") {
		b = append(b, ".0"...)
	}
	return b
}

// MarshalJSON gives v as JSON:
//
//	null, Bool, numbers     as they are (a Real that is no number as a string)
//	Text, Moment, EnumName  string
//	Binary                  {"hex": …}
//	Millis                  milliseconds since 1970, a number
//	Sequence                array
//	Pairs                   object where all keys are texts, numbers, booleans or
//	                        enum constants, else an array of {"key", "value"}
//	Fields                  object in the order of the fields; before them "@kind"
//	                        of a row that is no +I, "@class" of a subclass
//	TTLValue                {"value", "last_access"}
//	TimerMark               {"time", "key", "namespace"}
//	Opaque                  {"hex", "why"}
//
// What is cut is {"cut": …, "length": the full length}, with what there is of it
// in the form above; an object with "hex" has the "length" in it.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// AppendJSON appends v as JSON, see MarshalJSON.
func (v Value) AppendJSON(b []byte) []byte {
	if !v.Cut || v.Form == Binary || v.Form == Opaque {
		return v.appendJSON(b)
	}
	b = v.appendJSON(append(b, `{"cut":`...))
	return append(strconv.AppendInt(append(b, `,"length":`...), v.N, 10), '}')
}

func (v Value) appendJSON(b []byte) []byte {
	switch v.Form {
	case Missing, Null:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, v.N != 0)
	case Integer, Millis:
		return strconv.AppendInt(b, v.N, 10)
	case Real32, Real64:
		if f := v.Real(); math.IsNaN(f) || math.IsInf(f, 0) {
			return append(v.appendReal(append(b, '"')), '"')
		}
		return v.appendReal(b)
	case Number:
		return append(b, v.Text...)
	case Text, Moment, EnumName:
		return appendJSONString(b, v.Text)
	case Binary:
		b = append(hex.AppendEncode(append(b, `{"hex":"`...), []byte(v.Text)), '"')
		return append(v.appendLength(b), '}')
	case Opaque:
		b = hex.AppendEncode(append(b, `{"hex":"`...), []byte(v.Text))
		b = appendJSONString(append(b, `","why":`...), v.Why)
		return append(v.appendLength(b), '}')
	case TTLValue:
		b = v.Items[0].AppendJSON(append(b, `{"value":`...))
		return append(strconv.AppendInt(append(b, `,"last_access":`...), v.N, 10), '}')
	case TimerMark:
		b = strconv.AppendInt(append(b, `{"time":`...), v.N, 10)
		for i, e := range v.Items {
			b = append(append(append(b, `,"`...), timerParts[i]...), `":`...)
			b = e.AppendJSON(b)
		}
		return append(b, '}')
	case Pairs:
		return v.appendJSONPairs(b)
	case Fields:
		return v.appendJSONFields(b)
	}
	b = append(b, '[')
	for i, e := range v.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.AppendJSON(b)
	}
	return append(b, ']')
}

func (v Value) appendLength(b []byte) []byte {
	if !v.Cut {
		return b
	}
	return strconv.AppendInt(append(b, `,"length":`...), v.N, 10)
}

func (v Value) appendJSONFields(b []byte) []byte {
	b = append(b, '{')
	comma := func() {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
	}
	if v.Shape.Kind != "" {
		b = append(append(append(b, `"@kind":"`...), v.Shape.Kind...), '"')
	}
	if v.Shape.Subclass {
		comma()
		b = appendJSONString(append(b, `"@class":`...), v.Shape.Type)
	}
	for i, e := range v.Items {
		comma()
		b = append(appendJSONString(b, v.Shape.Names[i]), ':')
		b = e.AppendJSON(b)
	}
	return append(b, '}')
}

// plainKeys says whether the keys of a map can be those of a JSON object.
func (v Value) plainKeys() bool {
	for i := 0; i < len(v.Items); i += 2 {
		switch k := v.Items[i]; k.Form {
		case Text, Integer, Bool, EnumName:
			if k.Cut {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (v Value) appendJSONPairs(b []byte) []byte {
	plain := v.plainKeys()
	open, end := byte('['), byte(']')
	if plain {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i := 0; i+1 < len(v.Items); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		key, value := v.Items[i], v.Items[i+1]
		if plain {
			b = append(appendJSONString(b, key.String()), ':')
			b = value.AppendJSON(b)
			continue
		}
		b = key.AppendJSON(append(b, `{"key":`...))
		b = append(value.AppendJSON(append(b, `,"value":`...)), '}')
	}
	return append(b, end)
}

const hexDigits = "0123456789abcdef"

// appendJSONString appends s in quotes. A surrogate without its partner is
// written as \uXXXX, as JSON and Java allow.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
			i++
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			i++
		case c < utf8.RuneSelf:
			b = append(b, c)
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			switch {
			case n > 1:
				b = append(b, s[i:i+n]...)
			case c == 0xED && i+3 <= len(s):
				u := uint16(c&0x0F)<<12 | uint16(s[i+1]&0x3F)<<6 | uint16(s[i+2]&0x3F)
				b = append(b, '\\', 'u', hexDigits[u>>12], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
				n = 3
			default:
				b = utf8.AppendRune(b, r)
			}
			i += n
		}
	}
	return append(b, '"')
}
