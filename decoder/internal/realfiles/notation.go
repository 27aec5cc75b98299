package realfiles

import (
	"fmt"
	"strings"

	"chkscope/decoder/serde"
)

var short = map[serde.Kind]string{serde.Boolean: "bool", serde.Byte: "i1", serde.Short: "i2", serde.Int: "i4", serde.Long: "i8",
	serde.Float: "f4", serde.Double: "f8", serde.String: "fstr", serde.ByteArray: "arr:i1", serde.VoidByte: "byte0",
	serde.List: "list", serde.Map: "map", serde.TTL: "ttl", serde.Timer: "timer", serde.Nullable: "nullable",
	serde.Tuple: "tuple", serde.Kryo: "kryo", serde.Avro: "avro", serde.Enum: "enum", serde.Pojo: "pojo"}

// Notation prints a type as the about.txt files do.
func Notation(s *serde.Snapshot) string {
	if s == nil {
		return "-"
	}
	if s.Opaque {
		return "?" + s.Class
	}
	out := short[s.Kind]
	if out == "" {
		out = s.Kind.String()
	}
	switch class := s.Type[strings.LastIndexByte(s.Type, '.')+1:]; s.Kind {
	case serde.Unknown:
		out += " " + s.Class + " " + s.Why
	case serde.Tuple, serde.Kryo, serde.Avro, serde.Enum, serde.Pojo:
		out += "<" + class + ">"
	}
	if s.EnumType != nil {
		out += "['" + strings.Join(s.EnumType.Constants, "', '") + "']"
	}
	if s.Pojo != nil {
		var fields []string
		for _, f := range s.Pojo.Fields {
			fields = append(fields, f.Name+":"+Notation(f.Type))
		}
		out += "{" + strings.Join(fields, ", ") + "}"
		for _, c := range append(s.Pojo.Registered, s.Pojo.NonRegistered...) {
			out += fmt.Sprintf(" | %s %s", c.Class, Notation(c.Type))
		}
	}
	if len(s.Nested) > 0 {
		var in []string
		for _, n := range s.Nested {
			in = append(in, Notation(n))
		}
		out += "(" + strings.Join(in, ", ") + ")"
	}
	return out
}
