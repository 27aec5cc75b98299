package serde

import (
	"encoding/json"
	"fmt"

	"strconv"
	"strings"

	"chkscope/decoder"
)

// Avro values stand in Flink's own encoding (DataOutputEncoder), not in Avro's
// binary one:
//
//	int i32, long i64, float, double, boolean u8; string, bytes i32 length and
//	bytes; enum i32 index; fixed its bytes; record its fields; union i32 index
//	and the value; array and map blocks of varint count and elements (of a map
//	string and value), up to a count 0

// avroType is a schema.
type avroType struct {
	kind    string // as in a schema: "int", "record", …
	shape   *Shape // of a record
	kids    []*avroType
	symbols []string // of an enum
	// Of a record, by field: the default value as JSON, "" for none; other names.
	defaults     []string
	fieldAliases [][]string
	aliases      []string // of a named type
	enumDefault  bool
	size         int // of a fixed
	scale        int
	logical      string
	width        int // of every value, -1 where it differs
	runs         []avroRun
}

// avroRun is for skipping records: bytes of a fixed width, then a kid.
type avroRun struct {
	before int
	kid    *avroType
}

var avroWidths = map[string]int{"null": 0, "boolean": 1, "int": 4, "long": 8, "float": 4, "double": 8, "string": -1, "bytes": -1}

// avroParser reads a schema.
type avroParser struct {
	named map[string]*avroType
	count int
}

// parseAvro reads a schema as JSON.
func parseAvro(schema string) (*avroType, error) {
	var v any
	if err := json.Unmarshal([]byte(schema), &v); err != nil {
		return nil, err
	}
	p := &avroParser{named: map[string]*avroType{}}
	t, err := p.parse(v, "", 0)
	if err != nil {
		return nil, err
	}
	t.measure(map[*avroType]bool{})
	return t, nil
}

func (p *avroParser) parse(v any, namespace string, depth int) (*avroType, error) {
	if p.count++; p.count > maxCodecs || depth > maxDepth {
		return nil, fmt.Errorf("an Avro schema of more than %d levels or %d types", maxDepth, maxCodecs)
	}
	switch v := v.(type) {
	case string:
		return p.byName(v, namespace)
	case []any:
		t := &avroType{kind: "union"}
		return t, p.add(t, v, namespace, depth)
	case map[string]any:
		return p.complex(v, namespace, depth)
	}
	return nil, fmt.Errorf("%v is no Avro type", v)
}

func (p *avroParser) byName(name, namespace string) (*avroType, error) {
	if w, ok := avroWidths[name]; ok {
		return &avroType{kind: name, width: w}, nil
	}
	if t := p.named[name]; t != nil {
		return t, nil
	}
	if t := p.named[namespace+"."+name]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("no Avro type is called %q", name)
}

func (p *avroParser) add(t *avroType, kids []any, namespace string, depth int) error {
	for _, k := range kids {
		kid, err := p.parse(k, namespace, depth+1)
		if err != nil {
			return err
		}
		t.kids = append(t.kids, kid)
	}
	return nil
}

// complex reads a type that is a JSON object.
func (p *avroParser) complex(v map[string]any, namespace string, depth int) (*avroType, error) {
	kind, ok := v["type"].(string)
	if !ok {
		return p.parse(v["type"], namespace, depth+1)
	}
	t := &avroType{kind: kind, size: avroInt(v["size"]), scale: avroInt(v["scale"])}
	t.logical, _ = v["logicalType"].(string)
	switch kind {
	case "array":
		return t, p.add(t, []any{v["items"]}, namespace, depth)
	case "map":
		return t, p.add(t, []any{v["values"]}, namespace, depth)
	case "record", "error", "enum", "fixed":
		namespace = p.name(t, v, namespace)
	default:
		w, basic := avroWidths[kind]
		if !basic {
			return p.byName(kind, namespace)
		}
		t.width = w
		return t, nil
	}
	t.symbols, t.aliases = avroNames(v["symbols"]), avroNames(v["aliases"])
	_, t.enumDefault = v["default"]
	if kind == "enum" || kind == "fixed" {
		return t, nil
	}
	t.kind = "record"
	fields, _ := v["fields"].([]any)
	for _, f := range fields {
		field, _ := f.(map[string]any)
		name, _ := field["name"].(string)
		t.shape.Names = append(t.shape.Names, name)
		t.fieldAliases = append(t.fieldAliases, avroNames(field["aliases"]))
		byDefault := ""
		if v, ok := field["default"]; ok {
			b, _ := json.Marshal(v) // it was JSON before
			byDefault = string(b)
		}
		t.defaults = append(t.defaults, byDefault)
		if err := p.add(t, []any{field["type"]}, namespace, depth); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// name notes the full name of a type and gives the namespace of what is in it.
func (p *avroParser) name(t *avroType, v map[string]any, namespace string) string {
	name, _ := v["name"].(string)
	if ns, ok := v["namespace"].(string); ok {
		namespace = ns
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		namespace, name = name[:i], name[i+1:]
	}
	full := name
	if namespace != "" {
		full = namespace + "." + name
	}
	t.shape = &Shape{Type: full}
	p.named[full] = t
	return namespace
}

// avroNames is an array of strings.
func avroNames(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		name, _ := e.(string)
		out = append(out, name)
	}
	return out
}

func avroInt(v any) int {
	f, _ := v.(float64)
	return int(min(max(f, 0), maxWidth))
}

// measure finds the width of t and what is in it. A type inside of itself has
// none.
func (t *avroType) measure(open map[*avroType]bool) {
	if open[t] {
		return
	}
	open[t] = true
	if t.kind != "record" {
		if w, basic := avroWidths[t.kind]; basic {
			t.width = w
		} else {
			t.width = map[string]int{"enum": 4, "fixed": t.size, "union": -1, "array": -1, "map": -1}[t.kind]
		}
		for _, k := range t.kids {
			k.measure(open)
		}
		return
	}
	t.width = -1 // while it is open
	sum, before := 0, 0
	for _, k := range t.kids {
		k.measure(open)
		if k.width >= 0 && sum < maxWidth {
			before += k.width
		} else {
			t.runs = append(t.runs, avroRun{before, k})
			before, sum = 0, -1
		}
		if sum >= 0 {
			sum += k.width
		}
	}
	t.runs = append(t.runs, avroRun{before: before})
	t.width = sum
}

// skip gives the offset behind the value at off, or noEnd.
func (t *avroType) skip(b []byte, off, depth int) int {
	if t.width >= 0 {
		return stepOver(b, off, t.width)
	}
	if depth > maxValueDepth {
		return noEnd
	}
	switch t.kind {
	case "string", "bytes":
		return skipCounted(b, off, 1)
	case "union":
		if n := number(b, off); n >= 0 && n < len(t.kids) {
			return t.kids[n].skip(b, off+4, depth+1)
		}
		return noEnd
	case "record":
		for _, r := range t.runs {
			if off = stepOver(b, off, r.before); off >= 0 && r.kid != nil {
				off = r.kid.skip(b, off, depth+1)
			}
			if off < 0 {
				return noEnd
			}
		}
		return off
	}
	for { // blocks of an array or map
		n, at := avroCount(b, off)
		if off = at; n <= 0 || off < 0 {
			return off
		}
		for ; n > 0; n-- {
			at := off
			if t.kind == "map" {
				off = skipCounted(b, off, 1)
			}
			if off < 0 {
				return noEnd
			}
			if off = t.kids[0].skip(b, off, depth+1); off == at {
				break // elements without bytes
			} else if off < 0 {
				return noEnd
			}
		}
	}
}

// avroCount reads a varint and gives the offset behind it, or noEnd.
func avroCount(b []byte, off int) (int64, int) {
	var v int64
	for shift := 0; shift < 63 && off >= 0 && off < len(b); shift += 7 {
		c := b[off]
		off++
		if v |= int64(c&0x7f) << shift; c < 0x80 {
			return v, off
		}
	}
	return 0, noEnd
}

// avro reads a value.
func (d *values) avro(t *avroType) Value {
	if d.depth++; d.depth > maxValueDepth {
		d.fail(d.off, fmt.Sprintf("at most %d values in one another", maxValueDepth), "more", nil)
		return Value{}
	}
	defer func() { d.depth-- }()
	d.left.Values--
	switch t.kind {
	case "record":
		return d.avroRecord(t)
	case "array":
		return d.avroBlocks(t, Value{Form: Sequence})
	case "map":
		return d.avroBlocks(t, Value{Form: Pairs})
	case "union":
		at := d.off
		n := d.i32("union index")
		if d.ok() && (n < 0 || int(n) >= len(t.kids)) {
			d.fail(at, fmt.Sprintf("union index below %d", len(t.kids)), strconv.Itoa(int(n)), nil)
		}
		if !d.ok() {
			return Value{}
		}
		return d.avro(t.kids[n])
	}
	return d.checked(d.avroBasic(t))
}

func (d *values) avroRecord(t *avroType) Value {
	v := Value{Form: Fields, Shape: t.shape}
	if t.width == 0 {
		return v // many empty records in one another are not walked
	}
	for i, k := range t.kids {
		v.Items = append(v.Items, d.avro(k))
		if !d.ok() {
			d.at(t.shape.Names[i])
			break
		}
	}
	return v
}

// avroBlocks reads the blocks of an array or map.
func (d *values) avroBlocks(t *avroType, v Value) Value {
	k := t.kids[0]
	for d.ok() {
		n := int64(d.varint("block count"))
		if n == 0 || !d.ok() {
			break
		}
		if v.N += n; n < 0 || v.N < 0 {
			d.fail(d.off, "block count", strconv.FormatInt(n, 10), nil)
		}
		for i := int64(0); i < n && d.ok(); i++ {
			v.Cut = v.Cut || d.left.Values <= 0
			at := d.off
			var e [2]Value
			if v.Form == Pairs {
				e[0] = d.utf8String("map key", d.count("map key length", 1))
			}
			if v.Cut {
				if end := k.skip(d.buf[:d.end], d.off, d.depth); end >= 0 {
					d.off = end
				} else {
					d.avro(k) // which tells what is wrong
				}
			} else if e[1] = d.avro(k); v.Form == Pairs {
				v.Items = append(v.Items, e[0], e[1])
			} else {
				v.Items = append(v.Items, e[1])
			}
			if !d.ok() {
				d.at("element " + strconv.FormatInt(i, 10))
			} else if d.off == at {
				v.Cut = true // elements without bytes are all alike
				break
			}
		}
	}
	return v
}

// avroBasic reads what has no parts.
func (d *values) avroBasic(t *avroType) Value {
	switch t.kind {
	case "null":
		return nullValue
	case "boolean":
		return boolValue(d.bool("boolean"))
	case "int":
		return avroTime(t.logical, d.big(4, "int"))
	case "long":
		return avroTime(t.logical, d.big(8, "long"))
	case "float":
		return Value{Form: Real32, N: int64(uint32(d.big(4, "float")))}
	case "double":
		return Value{Form: Real64, N: d.big(8, "double")}
	case "string":
		return d.utf8String("string", d.count("string length", 1))
	case "bytes":
		return d.avroBytes(t, d.take(d.count("bytes length", 1), "bytes"))
	case "fixed":
		return d.avroBytes(t, d.take(t.size, "fixed"))
	case "enum":
		at := d.off
		n := d.i32("enum index")
		if d.ok() && (n < 0 || int(n) >= len(t.symbols)) {
			d.fail(at, fmt.Sprintf("enum index below %d", len(t.symbols)), strconv.Itoa(int(n)), nil)
			return Value{}
		}
		if !d.ok() {
			return Value{}
		}
		return Value{Form: EnumName, Text: t.symbols[n], N: int64(n)}
	}
	return Value{}
}

func (d *values) avroBytes(t *avroType, p []byte) Value {
	if t.logical == "decimal" && len(p) > 0 && len(p) <= maxDigitBytes {
		return numberValue(twosComplement(p), t.scale)
	}
	return d.bytes(p)
}

// avroTime gives the logical types of int and long.
func avroTime(logical string, n int64) Value {
	perSecond := map[string]int64{"timestamp-millis": 1e3, "timestamp-micros": 1e6, "timestamp-nanos": 1e9,
		"local-timestamp-millis": 1e3, "local-timestamp-micros": 1e6, "local-timestamp-nanos": 1e9,
		"time-millis": 1e3, "time-micros": 1e6}[logical]
	switch {
	case logical == "date":
		return dateValue(n)
	case perSecond == 0:
		return integer(n)
	}
	s := floorDiv(n, perSecond)
	nanos := (n - s*perSecond) * (1e9 / perSecond)
	switch {
	case strings.HasPrefix(logical, "time-"):
		return clockValue(s, nanos)
	case strings.HasPrefix(logical, "local-"):
		return Value{Form: Moment, Text: isoTime(s, nanos)}
	}
	return nanoMoment(s*1000+nanos/1e6, s, nanos)
}

// dateValue is days since 1970.
func dateValue(days int64) Value {
	text := isoTime(days*86400, 0)
	if i := strings.IndexByte(text, 'T'); i >= 0 {
		text = text[:i]
	}
	return Value{Form: Moment, Text: text}
}

// clockValue is a time of day.
func clockValue(s, nanos int64) Value {
	return Value{Form: Moment, Text: fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60) + fraction(nanos)}
}

// prepareAvro reads the schema of a codec.
func (c *codec) prepareAvro() {
	t, err := parseAvro(decoder.Text(c.t.Schema))
	if err != nil {
		c.kind, c.why = Unknown, "its Avro schema cannot be read: "+err.Error()
		return
	}
	c.avro = t
	c.width = t.width
}
