package connector

import (
	"encoding/binary"

	"chkscope/decoder"
)

// writer appends big-endian fields.
type writer struct{ b []byte }

func (w *writer) i32(v int32) { w.b = binary.BigEndian.AppendUint32(w.b, uint32(v)) }
func (w *writer) i64(v int64) { w.b = binary.BigEndian.AppendUint64(w.b, uint64(v)) }

func (w *writer) utf(s string) {
	raw := decoder.ModifiedUTF8(s)
	w.b = append(binary.BigEndian.AppendUint16(w.b, uint16(len(raw))), raw...)
}

func (w *writer) bool(v bool) {
	if v {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}
