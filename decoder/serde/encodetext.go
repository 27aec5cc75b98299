package serde

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// EncodeText gives the bytes of the value of type t that Value.String prints as
// text: to look for a key by what is read of it. It knows booleans, numbers,
// strings, UUIDs and enum constants, and tuples and SQL rows of those; false for
// other types and for text that is no such value.
func EncodeText(t *Snapshot, text string) ([]byte, bool) {
	if t == nil || t.Opaque {
		return nil, false
	}
	switch t.Kind {
	case String:
		return appendFlinkString(nil, text), true
	case StringData:
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...), true
	case Char:
		u := utf16.Encode([]rune(text))
		if len(u) != 1 {
			return nil, false
		}
		return binary.BigEndian.AppendUint16(nil, u[0]), true
	case Tuple:
		return encodeTuple(t, text)
	case RowData:
		return encodeRow(t, text)
	}
	return encodeFixed(t, text)
}

var integerBits = map[Kind]int{Byte: 8, Short: 16, Int: 32, Long: 64}

func encodeFixed(t *Snapshot, text string) ([]byte, bool) {
	switch t.Kind {
	case Byte, Short, Int, Long:
		bits := integerBits[t.Kind]
		n, err := strconv.ParseInt(text, 10, bits)
		return binary.BigEndian.AppendUint64(nil, uint64(n))[8-bits/8:], err == nil
	case Boolean:
		b, err := strconv.ParseBool(text)
		if b {
			return []byte{1}, err == nil
		}
		return []byte{0}, err == nil
	case Double:
		f, err := strconv.ParseFloat(text, 64)
		return binary.BigEndian.AppendUint64(nil, math.Float64bits(f)), err == nil
	case Float:
		f, err := strconv.ParseFloat(text, 32)
		return binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(f))), err == nil
	case UUID:
		b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		return b, err == nil && len(b) == 16
	case Enum:
		if t.EnumType == nil || t.EnumType.IDs != nil {
			return nil, false
		}
		for i, c := range t.EnumType.Constants {
			if c == text {
				return binary.BigEndian.AppendUint32(nil, uint32(i)), true
			}
		}
	}
	return nil, false
}

// appendFlinkString is StringValue.writeString.
func appendFlinkString(b []byte, s string) []byte {
	u := utf16Units(s)
	b = binary.AppendUvarint(b, uint64(len(u))+1)
	for _, c := range u {
		b = binary.AppendUvarint(b, uint64(c))
	}
	return b
}

// utf16Units are the units of a text in the form of decoder.Text.
func utf16Units(s string) []uint16 {
	var u []uint16
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 && i+3 <= len(s) && s[i] == 0xED { // a surrogate without its partner
			r, n = rune(s[i]&0x0F)<<12|rune(s[i+1]&0x3F)<<6|rune(s[i+2]&0x3F), 3
			u = append(u, uint16(r))
		} else {
			u = utf16.AppendRune(u, r)
		}
		i += n
	}
	return u
}

// textPart is a part of the text of a tuple or row.
type textPart struct {
	text   string
	quoted bool
}

// textParts takes "(1, "a", null)" apart.
func textParts(s string) ([]textPart, bool) {
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != '(' || s[len(s)-1] != ')' {
		return nil, false
	}
	var out []textPart
	for s = strings.TrimSpace(s[1 : len(s)-1]); s != ""; {
		var p textPart
		if s[0] == '"' {
			end := 1
			for end < len(s) && s[end] != '"' {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(s) {
				return nil, false
			}
			q, err := strconv.Unquote(s[:end+1])
			if err != nil {
				return nil, false
			}
			p, s = textPart{q, true}, s[end+1:]
		} else {
			end := strings.IndexByte(s+",", ',')
			p, s = textPart{strings.TrimSpace(s[:end]), false}, s[end:]
		}
		out = append(out, p)
		if s = strings.TrimSpace(s); s == "" {
			break
		}
		if s[0] != ',' {
			return nil, false
		}
		s = strings.TrimSpace(s[1:])
	}
	return out, true
}

func encodeTuple(t *Snapshot, text string) ([]byte, bool) {
	parts, ok := textParts(text)
	if !ok || len(parts) != len(t.Nested) {
		return nil, false
	}
	var b []byte
	for i, k := range t.Nested {
		if k == nil || k.Kind == Tuple || k.Kind == RowData {
			return nil, false
		}
		p, ok := EncodeText(k, parts[i].text)
		if !ok {
			return nil, false
		}
		b = append(b, p...)
	}
	return b, true
}

// encodeRow writes a row as BinaryRowWriter does.
func encodeRow(t *Snapshot, text string) ([]byte, bool) {
	c := codecOf(t)
	parts, ok := textParts(text)
	if !ok || c.kind != RowData || c.sql == nil || len(parts) != len(c.sql.Kids) {
		return nil, false
	}
	head := (len(parts) + 63 + 8) / 64 * 8
	row := make([]byte, head+8*len(parts))
	for i, p := range parts {
		if p.text == "null" && !p.quoted {
			row[(i+8)/8] |= 1 << (i % 8)
			continue
		}
		at := head + 8*i
		switch root := c.sql.Kids[i].Root; root {
		case "TINYINT", "SMALLINT", "INTEGER", "BIGINT":
			n, err := strconv.ParseInt(p.text, 10, map[string]int{"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}[root])
			if err != nil {
				return nil, false
			}
			width := map[string]int{"TINYINT": 1, "SMALLINT": 2, "INTEGER": 4, "BIGINT": 8}[root]
			copy(row[at:at+width], binary.LittleEndian.AppendUint64(nil, uint64(n)))
		case "BOOLEAN":
			if p.text != "true" && p.text != "false" {
				return nil, false
			}
			if p.text == "true" {
				row[at] = 1
			}
		case "CHAR", "VARCHAR":
			row = appendRowText(row, at, p.text)
		default:
			return nil, false
		}
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(row))), row...), true
}

// appendRowText writes a string into the field at at, up to 7 bytes in place.
func appendRowText(row []byte, at int, s string) []byte {
	if len(s) <= 7 {
		copy(row[at:], s)
		row[at+7] = 0x80 | byte(len(s))
		return row
	}
	binary.LittleEndian.PutUint64(row[at:], uint64(len(row))<<32|uint64(len(s)))
	row = append(row, s...)
	for len(row)%8 != 0 {
		row = append(row, 0)
	}
	return row
}
