package connector

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
	"chkscope/decoder/serde"
)

// cdcReader reads what MySQL CDC writes. Other CDC connectors have much the same
// layout: only a binlog position tells that it is MySQL's.
type cdcReader struct {
	*reader
	binlog bool // a binlog position was read
}

// cdcAssigner are states of the assigner (AssignerStatus).
var cdcAssigner = [...]string{"INITIAL_ASSIGNING", "INITIAL_ASSIGNING_FINISHED", "NEWLY_ADDED_ASSIGNING",
	"NEWLY_ADDED_ASSIGNING_SNAPSHOT_FINISHED", "NEWLY_ADDED_ASSIGNING_FINISHED"}

// cdcCoordinator is PendingSplitsStateSerializer of MySQL CDC, versions 3 to 5:
// i32 split version, i32 kind: 1 snapshot, 2 binlog (bool assigned), 3 both.
func cdcCoordinator(c *Coordinator) (Decoded, error) {
	if c.EnumeratorVersion < 3 || c.EnumeratorVersion > 5 {
		return Decoded{}, errLayout
	}
	r := cdcReader{reader: &reader{buf: c.Enumerator}}
	split, kind := r.i32(), r.i32()
	if r.err == nil && (split < 2 || split > 4 || kind < 1 || kind > 3) {
		return Decoded{}, fmt.Errorf("%w: split version %d, kind %d", errLayout, split, kind)
	}
	var pairs []any
	if kind != 2 {
		pairs = r.snapshotState(c.EnumeratorVersion, split)
	}
	if kind != 1 {
		pairs = append(pairs, "binlog_split_assigned", r.bool())
	}
	if err := r.done(); err != nil {
		return Decoded{}, err
	}
	if !r.binlog {
		return Decoded{}, fmt.Errorf("%w: no binlog position tells that it is MySQL's", errLayout)
	}
	return Decoded{Connector: "MySQL CDC enumerator", Value: fields("PendingSplitsState", pairs...)}, nil
}

// snapshotState: tables done, remaining splits, assigned splits by id, offsets
// of finished splits by id, i32 state of the assigner, remaining tables, bool
// case-sensitive, since version 4 table schemas, version 5 bool and the table
// that is being split (utf table, utf start of the next chunk, i32 its id).
func (r *cdcReader) snapshotState(version, split int32) []any {
	done := r.texts()
	var remaining, assigned, finished []serde.Value
	for range r.count(4) {
		remaining = append(remaining, r.nested(split))
	}
	for range r.count(6) {
		r.utf() // the id, which the split has too
		assigned = append(assigned, r.nested(split))
	}
	for range r.count(3) {
		finished = append(finished, fields("", "split", r.utf(), "at", r.position()))
	}
	status := r.i32()
	if r.err == nil && (status < 0 || int(status) >= len(cdcAssigner)) {
		r.err = fmt.Errorf("%w: assigner status %d", errLayout, status)
	}
	if r.err != nil {
		return nil
	}
	pairs := []any{"tables_done", done, "assigner", cdcAssigner[status], "remaining_splits", remaining, "assigned_splits", assigned,
		"finished_offsets", finished, "remaining_tables", r.texts(), "case_sensitive", r.bool()}
	if version >= 4 {
		pairs = append(pairs, "schemas", r.schemas())
	}
	if version >= 5 && r.bool() {
		pairs = append(pairs, "splitting", fields("", "table", r.utf(), "next_from", r.bound(), "next_id", r.i32()))
	}
	return pairs
}

func (r *cdcReader) texts() []serde.Value {
	var list []serde.Value
	for range r.count(2) {
		list = append(list, value(r.utf()))
	}
	return list
}

// nested is a split with an i32 length in front.
func (r *cdcReader) nested(version int32) serde.Value {
	in := cdcReader{reader: &reader{buf: r.take(r.count(1))}}
	if r.err != nil {
		return serde.Value{}
	}
	v, err := in.split(version)
	if r.binlog = r.binlog || in.binlog; err != nil {
		r.err = err
	}
	return v
}

// split is MySqlSplitSerializer, versions 2 to 4: i32 kind, then of a snapshot
// split utf table, utf id, utf key type, bounds, position where it ended,
// schemas; of the binlog split utf id, utf "", positions where it begins and
// ends, finished splits, schemas, since version 3 i32 number of finished splits,
// version 4 bool suspended, which old writers leave out.
func (r *cdcReader) split(version int32) (serde.Value, error) {
	switch kind := r.i32(); {
	case r.err != nil:
		return serde.Value{}, r.err
	case kind == 1:
		v := fields("MySqlSnapshotSplit", "table", r.utf(), "id", r.utf(), "key_type", r.utf(), "from", r.bound(), "to", r.bound(),
			"high_watermark", r.position(), "schemas", r.schemas())
		return v, r.done()
	case kind != 2:
		return serde.Value{}, fmt.Errorf("%w: kind %d of a split", errLayout, kind)
	}
	id := r.utf()
	r.utf()
	pairs := []any{"id", id, "from", r.position(), "to", r.position()}
	var finished []serde.Value
	for range r.count(9) {
		finished = append(finished, fields("", "table", r.utf(), "id", r.utf(), "from", r.bound(), "to", r.bound(), "high_watermark", r.position()))
	}
	pairs = append(pairs, "finished_splits", finished, "schemas", r.schemas())
	if version >= 3 {
		pairs = append(pairs, "finished_in_all", r.i32())
	}
	if version >= 4 && r.left() > 0 {
		pairs = append(pairs, "suspended", r.bool())
	}
	return fields("MySqlBinlogSplit", pairs...), r.done()
}

// schemas: i32 n x (utf table, i32 length, JSON).
func (r *cdcReader) schemas() []serde.Value {
	var list []serde.Value
	for range r.count(6) {
		table := r.utf()
		list = append(list, fields("", "table", table, "schema", decoder.Text(string(r.take(r.count(1))))))
	}
	return list
}

// position: bool and, if set, i32 length and a flat JSON object.
func (r *cdcReader) position() serde.Value {
	if !r.bool() {
		return value(nil)
	}
	data := r.take(r.count(1))
	if r.err != nil {
		return serde.Value{}
	}
	v, err := flatJSON(data)
	if err != nil {
		r.err = fmt.Errorf("%w: a position: %w", errLayout, err)
		return serde.Value{}
	}
	r.binlog = r.binlog || v.Field("file").Form == serde.Text || v.Field("kind").Form == serde.Text
	return v
}

// flatJSON reads an object of strings in its order.
func flatJSON(data []byte) (serde.Value, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return serde.Value{}, errLayout
	}
	var pairs []any
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return serde.Value{}, err
		}
		item, err := d.Token()
		if err != nil {
			return serde.Value{}, err
		}
		name, _ := key.(string)
		switch item := item.(type) {
		case string:
			pairs = append(pairs, decoder.Text(name), decoder.Text(item))
		case nil:
			pairs = append(pairs, decoder.Text(name), nil)
		default:
			return serde.Value{}, errLayout
		}
	}
	if _, err := d.Token(); err != nil || d.InputOffset() != int64(len(data)) {
		return serde.Value{}, errLayout
	}
	return fields("", pairs...), nil
}

// bound is a row of keys, an Object[] as a Java stream in hexadecimal digits.
func (r *cdcReader) bound() serde.Value {
	text := r.utf()
	if r.err != nil {
		return serde.Value{}
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		r.err = fmt.Errorf("%w: a bound: %w", errLayout, err)
		return serde.Value{}
	}
	s, n, err := javaobj.Parse(raw)
	if err != nil || n != len(raw) {
		return unknown(raw, "not one Java object")
	}
	root := s.Root()
	if root.IsNull() {
		return value(nil)
	}
	if root.Kind() != javaobj.Array || !root.Is("[Ljava.lang.Object;") {
		return unknown(raw, "not a row of keys")
	}
	var list []serde.Value
	for i := range root.Len() {
		list = append(list, boundKey(root.Elem(i), raw))
	}
	return value(list)
}

func boundKey(n javaobj.Node, raw []byte) serde.Value {
	if n.IsNull() {
		return value(nil)
	}
	if n.Kind() == javaobj.String {
		text, _ := n.Text()
		return value(decoder.Text(text))
	}
	switch {
	case n.Is("java.lang.Long"), n.Is("java.lang.Integer"), n.Is("java.lang.Short"), n.Is("java.lang.Byte"):
		if v, ok := n.Int("value"); ok {
			return value(v)
		}
	}
	span := n.Span()
	return unknown(raw[span.Off:span.End()], "a key of another class")
}

// cdcSplit is a whole split.
func cdcSplit(version int32, data []byte) (serde.Value, error) {
	if version < 2 || version > 4 {
		return serde.Value{}, errLayout
	}
	r := cdcReader{reader: &reader{buf: data}}
	v, err := r.split(version)
	if err == nil && !r.binlog && v.Shape.Type != "MySqlSnapshotSplit" {
		err = fmt.Errorf("%w: no binlog position tells that it is MySQL's", errLayout)
	}
	return v, err
}
