package main

import (
	"bytes"
	"encoding/json"
	"iter"
	"reflect"
	"strings"
)

// stream is a list of a document whose items are made while they are written,
// one at a time: a checkpoint may have a million operators. It may be asked for
// its items again. An error ends the document where it is.
type stream[T any] iter.Seq2[T, error]

func (s stream[T]) items() iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		if s == nil {
			return
		}
		for item, err := range s {
			if !yield(item, err) {
				return
			}
		}
	}
}

// streamed is a stream of whatever.
type streamed interface{ items() iter.Seq2[any, error] }

// writeJSON writes one document to stdout: as json.Encoder does with an indent of
// two blanks, but for streams, of which it holds one item at a time.
func (p *program) writeJSON(document any) error {
	j := newJSONWriter(p.output())
	if err := j.value(reflect.ValueOf(document), ""); err != nil {
		j.w.Flush()
		return err
	}
	j.w.WriteString("\n")
	return j.w.Flush()
}

// jsonWriter writes the parts of a document one after the other.
type jsonWriter struct {
	w     *output
	part  bytes.Buffer // what stands in memory as a whole
	enc   *json.Encoder
	holds map[reflect.Type]bool // whether a struct holds a stream
}

func newJSONWriter(w *output) *jsonWriter {
	j := &jsonWriter{w: w, holds: map[reflect.Type]bool{}}
	j.enc = json.NewEncoder(&j.part)
	j.enc.SetEscapeHTML(false)
	return j
}

// value writes v; its lines but the first begin with indent.
func (j *jsonWriter) value(v reflect.Value, indent string) error {
	if s, ok := v.Interface().(streamed); ok {
		return j.list(s.items(), indent)
	}
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if j.holdsStream(v.Type()) {
		return j.object(v, indent)
	}
	j.part.Reset()
	j.enc.SetIndent(indent, "  ")
	if err := j.enc.Encode(v.Interface()); err != nil {
		return err
	}
	_, err := j.w.WriteString(strings.TrimSuffix(j.part.String(), "\n"))
	return err
}

func (j *jsonWriter) list(items iter.Seq2[any, error], indent string) error {
	j.w.WriteString("[")
	before, after := "\n"+indent+"  ", "]"
	for item, err := range items {
		if err != nil {
			return err
		}
		j.w.WriteString(before)
		if err := j.value(reflect.ValueOf(item), indent+"  "); err != nil {
			return err
		}
		before, after = ",\n"+indent+"  ", "\n"+indent+"]"
	}
	_, err := j.w.WriteString(after)
	return err
}

func (j *jsonWriter) object(v reflect.Value, indent string) error {
	before := "{\n" + indent + "  "
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		j.w.WriteString(before + `"` + f.Tag.Get("json") + `": `)
		if err := j.value(v.Field(i), indent+"  "); err != nil {
			return err
		}
		before = ",\n" + indent + "  "
	}
	_, err := j.w.WriteString("\n" + indent + "}")
	return err
}

// holdsStream tells whether values of a type are written by their fields.
func (j *jsonWriter) holdsStream(typ reflect.Type) bool {
	if typ.Kind() != reflect.Struct {
		return false
	}
	holds, known := j.holds[typ]
	if known {
		return holds
	}
	j.holds[typ] = false // for a type that holds itself
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.IsExported() && (f.Type.Implements(reflect.TypeFor[streamed]()) || j.holdsStream(f.Type)) {
			j.holds[typ] = true
		}
	}
	return j.holds[typ]
}
