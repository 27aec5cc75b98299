package connector

import (
	"chkscope/decoder/serde"
)

// fileSplit is FileSourceSplitSerializer, version 1: utf id, Path (bool, then
// nullable strings scheme, user info, host, i32 port, path, query,
// fragment), i64 offset, length, modification time, file size, i32 n x utf
// host, bool and, if set, i64 reader offset and i64 records after it.
func fileSplit(split []byte) (serde.Value, error) {
	r := &reader{buf: split}
	id := r.utf()
	path := r.flinkPath()
	offset, length, modified, size := r.i64(), r.i64(), r.i64(), r.i64()
	var hosts []serde.Value
	for range r.count(2) {
		hosts = append(hosts, value(r.utf()))
	}
	position := value(nil)
	if r.bool() {
		position = fields("", "offset", r.i64(), "records_after_offset", r.i64())
	}
	if err := r.done(); err != nil {
		return serde.Value{}, err
	}
	return fields("FileSourceSplit", "id", id, "path", path, "offset", offset, "length", length, "modified", modified,
		"file_size", size, "hosts", hosts, "reader_position", position), nil
}

// flinkPath reads a Path as its own write method has it.
func (r *reader) flinkPath() string {
	if !r.bool() {
		return ""
	}
	scheme, _ := r.flinkString()
	_, _ = r.flinkString() // user info
	host, _ := r.flinkString()
	r.i32() // port
	path, _ := r.flinkString()
	_, _ = r.flinkString() // query
	_, _ = r.flinkString() // fragment
	switch {
	case scheme == "":
		return path
	case host == "":
		return scheme + ":" + path
	}
	return scheme + "://" + host + path
}

// flinkString is StringUtils.writeNullableString: bool, then varint of length + 1
// and one varint a UTF-16 unit. Units above the BMP stay pairs of surrogates.
func (r *reader) flinkString() (s string, ok bool) {
	if !r.bool() {
		return "", false
	}
	n := int(r.varint())
	if n == 0 || r.err != nil {
		return "", false
	}
	if n-1 > r.left() {
		r.take(r.left() + 1)
		return "", false
	}
	units := make([]rune, 0, n-1)
	for range n - 1 {
		units = append(units, rune(r.varint()))
	}
	return string(units), true
}
