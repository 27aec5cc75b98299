package connector

import (
	"fmt"

	"chkscope/decoder"
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

const pendingSplitsMagic = 0xDEADBEEF

// fileCoordinator is PendingSplitsCheckpointSerializer, version 1. All numbers
// are little-endian: u32 magic, i32 split version, i32 n, i32 m, n x (i32
// length, split), m x (i32 length, UTF-8 path that was already enumerated).
func fileCoordinator(c *Coordinator) (Decoded, error) {
	r := &reader{buf: c.Enumerator}
	if magic := uint32(r.i32le()); c.EnumeratorVersion != 1 || magic != pendingSplitsMagic {
		return Decoded{}, errLayout
	}
	splitVersion, splits, paths := r.i32le(), r.i32le(), r.i32le()
	if splits < 0 || paths < 0 || int64(splits)+int64(paths) > int64(r.left())/4 {
		return Decoded{}, fmt.Errorf("%w: %d splits and %d paths cannot fit", errLayout, splits, paths)
	}
	var pending, processed []serde.Value
	for i := int32(0); i < splits && r.err == nil; i++ {
		pending = append(pending, pendingSplit(splitVersion, r.take(int(r.i32le()))))
	}
	for i := int32(0); i < paths && r.err == nil; i++ {
		processed = append(processed, value(decoder.Text(string(r.take(int(r.i32le()))))))
	}
	return Decoded{Connector: "FileSource enumerator", Value: fields("PendingSplitsCheckpoint", "pending", pending, "processed_paths", processed)}, r.done()
}

func pendingSplit(version int32, data []byte) serde.Value {
	if version == 1 {
		if v, err := fileSplit(data); err == nil {
			return v
		}
	}
	return unknown(data, "the layout of this source's splits is not known")
}
