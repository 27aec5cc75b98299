package serde

import (
	"fmt"
	"strings"
)

// notation prints a type as the about.txt files of the corpus do.
func notation(s *Snapshot) string {
	if s == nil {
		return "-"
	}
	if s.Opaque {
		return "?" + s.Class
	}
	short := s.Type[strings.LastIndexByte(s.Type, '.')+1:]
	var in []string
	for _, n := range s.Nested {
		in = append(in, notation(n))
	}
	nested := "(" + strings.Join(in, ", ") + ")"
	switch s.Kind {
	case Boolean:
		return "bool"
	case Byte:
		return "i1"
	case Short:
		return "i2"
	case Int:
		return "i4"
	case Long:
		return "i8"
	case Float:
		return "f4"
	case Double:
		return "f8"
	case String:
		return "fstr"
	case ByteArray:
		return "arr:i1"
	case VoidByte:
		return "byte0"
	case List:
		return "list" + nested
	case Map:
		return "map" + nested
	case TTL:
		return "ttl" + nested
	case Timer:
		return "timer" + nested
	case Nullable:
		return "nullable" + nested
	case Tuple:
		return "tuple<" + short + ">" + nested
	case Kryo:
		return "kryo<" + short + ">"
	case Avro:
		return "avro<" + short + ">"
	case Enum:
		return "enum<" + short + ">['" + strings.Join(s.EnumType.Constants, "', '") + "']"
	case Pojo:
		var fields []string
		for _, f := range s.Pojo.Fields {
			fields = append(fields, f.Name+":"+notation(f.Type))
		}
		out := "pojo<" + short + ">{" + strings.Join(fields, ", ") + "}"
		if n := len(s.Pojo.Registered) + len(s.Pojo.NonRegistered); n > 0 {
			out += fmt.Sprintf("+%d", n)
		}
		return out
	}
	out := s.Kind.String()
	if s.Kind == Unknown {
		out += " " + s.Class + " " + s.Why
	}
	if len(s.Nested) > 0 {
		out += nested
	}
	return out
}
