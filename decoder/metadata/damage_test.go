package metadata_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// build writes fields: int32, int64 and byte as they are, a string as writeUTF
// does, []byte raw.
func build(fields ...any) []byte {
	var b []byte
	for _, f := range fields {
		switch v := f.(type) {
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		case byte:
			b = append(b, v)
		case string:
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(v))), v...)
		case []byte:
			b = append(b, v...)
		default:
			panic("no such field")
		}
	}
	return b
}

var (
	id16    = make([]byte, 16)
	file    = build(byte(2), int64(9), "f")
	noState = build(0, 0, byte(0), byte(0), 0, 0)
)

// head is a file up to the operator count.
func head(version, operators int) []byte {
	return build(metadata.Magic, version, int64(1), 0, operators)
}

// oneSubtask is a V3 file of one operator with one subtask, up to its record.
func oneSubtask(record ...any) []byte {
	return append(append(head(3, 1), build(id16, 4, 128, byte(0), 1, 0)...), build(record...)...)
}

// keyed is oneSubtask with this managed keyed handle.
func keyed(handle ...any) []byte {
	return oneSubtask(0, 0, build(handle...), byte(0), 0, 0)
}

// TestDamage has a case for each check that Flink makes while loading.
func TestDamage(t *testing.T) {
	tests := []struct {
		name   string
		data   []byte
		offset int64
		path   string
		found  string
	}{
		{"checkpoint id", build(metadata.Magic, 3, int64(-1), 0, 0), 8, "header", "-1"},
		{"master count", build(metadata.Magic, 3, int64(1), -1, 0), 16, "header", "-1"},
		{"master count absurd", build(metadata.Magic, 3, int64(1), 1<<30, 0), 16, "header", "1073741824"},
		{"master magic", build(metadata.Magic, 3, int64(1), 1, 5, 10, 1, "", 0, 0, 0), 20, "header / master state 0", "00 00 00 05"},
		{"master length", build(metadata.Magic, 3, int64(1), 1, -0x3694E96A, 0, 1, "", 0, 0, 0), 24, "header / master state 0", "0"},
		{"master trailing", build(metadata.Magic, 3, int64(1), 1, -0x3694E96A, 11, 1, "", 0, byte(9), 0), 34, "header / master state 0", "end at 38"},
		{"operator count", head(3, -1), 20, "header", "-1"},
		{"operator count absurd", append(head(3, 0x7fffffff), noState...), 20, "header", "2147483647"},
		{"negative parallelism", append(head(3, 1), build(id16, -4, 128, byte(0), 0)...), 40, "operator 0", "-4 of 128"},
		{"parallelism above max", append(head(3, 1), build(id16, 129, 128, byte(0), 0)...), 40, "operator 0", "129 of 128"},
		{"coordinator type", append(head(3, 1), build(id16, 4, 128, file, 0)...), 48, "operator 0 / coordinator state", "2"},
		{"finished with coordinator", append(head(3, 1), build(id16, 4, 128, byte(1), "c", 0, -1)...), 56, "operator 0", "one"},
		{"subtask count absurd", append(head(3, 1), build(id16, 4, 128, byte(0), 1<<30)...), 49, "operator 0", "1073741824"},
		{"subtask index", append(head(3, 1), build(id16, 4, 128, byte(0), 1, 4, noState)...), 53, "operator 0 / subtask entry 0", "4"},
		{"finished index", append(head(3, 1), build(id16, 4, 128, byte(0), 1, -0x80000000)...), 53, "operator 0 / subtask entry 0", "2147483647"},
		{"V2 negative index", append(head(2, 1), build(id16, 4, 128, 1, 1, -1, int64(-1), 0, 0, 0, byte(0), byte(0))...), 56, "operator 0 / subtask entry 0", "-1"},
		{"operator handle null", oneSubtask(1, byte(0)), 61, "operator 0 / subtask 0 / managed operator state", "0"},
		{"operator handle type", oneSubtask(0, 1, byte(9)), 65, "operator 0 / subtask 0 / raw operator state", "9"},
		{"state count", oneSubtask(1, byte(4), -1), 62, "operator 0 / subtask 0 / managed operator state", "-1"},
		{"mode", oneSubtask(1, byte(4), 1, "s", byte(3), 0, file), 69, "operator 0 / subtask 0 / managed operator state / state 0", "3"},
		{"offset count", oneSubtask(1, byte(4), 1, "s", byte(0), 1<<29, file), 70, "operator 0 / subtask 0 / managed operator state / state 0", "536870912"},
		{"delegate null", oneSubtask(1, byte(4), 0, byte(0)), 66, "operator 0 / subtask 0 / managed operator state", "handle type 0 (none)"},
		{"delegate type", oneSubtask(1, byte(4), 0, byte(5)), 66, "operator 0 / subtask 0 / managed operator state", "5"},
		{"type 17 delegate", oneSubtask(1, byte(17), 0, "a", "b", byte(0), file), 73, "operator 0 / subtask 0 / managed operator state", "2"},
		{"file size", oneSubtask(1, byte(4), 0, byte(2), int64(-2), "f"), 67, "operator 0 / subtask 0 / managed operator state", "-2"},
		{"empty path", oneSubtask(1, byte(4), 0, byte(6), "", int64(0)), 67, "operator 0 / subtask 0 / managed operator state", "empty string"},
		{"scope", oneSubtask(1, byte(4), 0, byte(15), int64(0), int64(0), 2, "f", "id"), 83, "operator 0 / subtask 0 / managed operator state", "2"},
		{"inline length", oneSubtask(1, byte(4), 0, byte(1), "n", -5), 70, "operator 0 / subtask 0 / managed operator state", "-5"},
		{"modified UTF-8", oneSubtask(1, byte(4), 1, "s\xff", byte(0), 0, file), 69, "operator 0 / subtask 0 / managed operator state / state 0", "byte 0xff"},
		{"keyed type", keyed(byte(99)), 65, "operator 0 / subtask 0 / managed keyed state", "99"},
		{"key groups negative", keyed(byte(3), 0, -1), 66, "operator 0 / subtask 0 / managed keyed state", "-1 groups from 0"},
		{"key groups from below 0", keyed(byte(7), -1, 1, int64(0), file), 66, "operator 0 / subtask 0 / managed keyed state", "1 groups from -1"},
		{"key groups overflow", keyed(byte(7), 0x7fffffff, 1, int64(0), file), 66, "operator 0 / subtask 0 / managed keyed state", "1 groups from 2147483647"},
		{"key groups absurd", keyed(byte(7), 0, 0x7fffffff), 74, "operator 0 / subtask 0 / managed keyed state", "end after 9 bytes"},
		{"key groups null", keyed(byte(3), 0, 0, byte(0)), 74, "operator 0 / subtask 0 / managed keyed state", "handle type 0 (none)"},
		{"shared count", keyed(byte(5), int64(1), "b", 0, 1, byte(0), -1), 86, "operator 0 / subtask 0 / managed keyed state / shared", "-1"},
		{"shared type", keyed(byte(5), int64(1), "b", 0, 1, byte(0), 1, "k", byte(77), 0, 0), 93, "operator 0 / subtask 0 / managed keyed state / shared / file 0", "77"},
		{"changelog null increment", keyed(byte(8), 0, 1, int64(0), 0, 1, byte(0), int64(0), ""), 90, "operator 0 / subtask 0 / managed keyed state / non-materialized / element 0", "0"},
		{"changelog wrong increment", keyed(byte(8), 0, 1, int64(0), 0, 1, byte(3), 0, 0, file, int64(0), ""), 90, "operator 0 / subtask 0 / managed keyed state / non-materialized / element 0", "3"},
		{"change length", keyed(byte(9), 0, 1, int64(0), int64(0), 1, 5, -1, ""), 98, "operator 0 / subtask 0 / managed keyed state / change 0", "-1"},
		{"channel count", oneSubtask(0, 0, byte(0), byte(0), 1<<28, 0), 67, "operator 0 / subtask 0 / input channel state", "268435456"},
		{"nested key groups", keyed(byte(3), 0, 0, bytes.Repeat(build(byte(3), 0, 0), 20)), 146, "operator 0 / subtask 0 / managed keyed state", "more"},
		{"properties magic", append(head(4, 0), build(5)...), 24, "properties", "00 00 00 05"},
		{"properties cut", append(head(4, 0), 0xac, 0xed, 0, 5), 28, "properties", "end of file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := metadata.Decode(decoder.Bytes{Data: tt.data, Label: "bad"})
			var e *decoder.Error
			if !errors.As(err, &e) || c == nil || c.Damage != e {
				t.Fatalf("checkpoint %v, error %v", c, err)
			}
			if e.Offset != tt.offset || e.Path != tt.path || e.Found != tt.found || e.Expected == "" {
				t.Errorf("offset %d, path %q, found %q, expected %q", e.Offset, e.Path, e.Found, e.Expected)
			}
			metadata.CheckAccounts(t, tt.name, c)
		})
	}
}

func TestRefused(t *testing.T) {
	tests := []struct {
		name    string
		data    []byte
		version bool
	}{
		{"empty", nil, false},
		{"magic", build(0x12345678, 3, int64(0), 0, 0), false},
		{"cut magic", []byte{0x49, 0x60}, false},
		{"version 0", build(metadata.Magic, 0), true},
		{"version 7", build(metadata.Magic, 7, int64(0), 0, 0), true},
		{"version -1", build(metadata.Magic, -1), true},
	}
	for _, tt := range tests {
		c, err := metadata.Decode(decoder.Bytes{Data: tt.data, Label: "bad"})
		if c != nil || err == nil || errors.Is(err, decoder.ErrVersion) != tt.version {
			t.Errorf("%s: %v, %v", tt.name, c, err)
		}
	}
}

// TestLenient has what Flink accepts and what has to survive a copy.
func TestLenient(t *testing.T) {
	tests := map[string][]byte{
		"duplicate subtask":      append(head(3, 1), build(id16, 4, 128, byte(0), 2, 1, noState, 1, noState)...),
		"negative V2 count":      append(head(2, 1), build(id16, 4, 128, 1, -5)...),
		"finished below -1":      append(head(3, 1), build(id16, 4, 128, byte(0), -9)...),
		"presence above 1":       oneSubtask(-3, byte(4), 0, file, 0, byte(0), byte(0), 0, 0),
		"no key groups, start":   keyed(byte(7), -17, 0, file),
		"null meta":              keyed(byte(5), int64(1), "", 0, 1, byte(0), 0, 0),
		"null shared in V3":      keyed(byte(5), int64(1), "", 0, 1, byte(0), 1, "k", byte(0), 0),
		"null channel delegate":  oneSubtask(0, 0, byte(0), byte(0), 1, 0, 0, 0, 0, int64(0), byte(0), 0),
		"null materialized":      keyed(byte(8), 0, 1, int64(0), 1, byte(0), 0, int64(0), ""),
		"duplicate state name":   oneSubtask(1, byte(4), 2, "s", byte(0), 0, "s", byte(1), 0, file, 0, byte(0), byte(0), 0, 0),
		"duplicate operator":     append(head(3, 2), build(id16, 0, 0, byte(0), 0, id16, 0, 0, byte(0), 0)...),
		"long form of a letter":  oneSubtask(1, byte(4), 1, "\xc1\x81", byte(0), 0, file, 0, byte(0), byte(0), 0, 0),
		"name of 65535 bytes":    oneSubtask(1, byte(4), 1, strings.Repeat("x", 65535), byte(0), 0, file, 0, byte(0), byte(0), 0, 0),
		"bytes after properties": append(head(4, 0), 0xac, 0xed, 0, 5, 0x70, 1, 2, 3),
		"trailing bytes":         append(head(2, 0), 1, 2, 3),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			metadata.CheckRoundTrip(t, name, decode(t, data), data)
		})
	}
}

// repeated is an input of many equal records between a head and a tail, which
// takes no memory of its own.
type repeated struct {
	head, unit []byte
	n          int64
}

func (r repeated) Name() string { return "repeated" }
func (r repeated) Size() int64  { return int64(len(r.head)) + r.n*int64(len(r.unit)) }

func (r repeated) ReadAt(p []byte, off int64) (int, error) {
	for i := 0; i < len(p); {
		at := off + int64(i)
		if at < int64(len(r.head)) {
			i += copy(p[i:], r.head[at:])
			continue
		}
		i += copy(p[i:], r.unit[(at-int64(len(r.head)))%int64(len(r.unit)):])
	}
	return len(p), nil
}

// TestMemoryBound decodes files whose small records become large structures.
func TestMemoryBound(t *testing.T) {
	const n = 8 << 20
	tests := []struct {
		name string
		in   repeated
		fits bool
	}{
		{"finished marks", repeated{append(head(3, 1), build(id16, 1, 128, byte(0), n)...), build(-1), n}, false},
		{"subtasks", repeated{append(head(3, 1), build(id16, 1, 128, byte(0), n)...), build(0, noState), n}, false},
		{"states", repeated{oneSubtask(1, byte(4), n), build("", byte(0), 0), n}, false},
		{"increments", repeated{keyedHead(byte(13), 0, 1, n), build(int64(0), byte(0)), n}, false},
		// Stepped over: no memory for the elements.
		{"files", repeated{keyedHead(byte(5), int64(1), "", 0, 1, byte(0), n), build("", byte(16)), n}, true},
		{"changes", repeated{keyedHead(byte(9), 0, 1, int64(0), int64(0), n), build(0, 0), n}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			c, err := metadata.Decode(tt.in)
			runtime.ReadMemStats(&after)
			runtime.KeepAlive(c)
			took := int64(after.TotalAlloc - before.TotalAlloc)
			t.Logf("file %d MB, %d MB taken, %v", tt.in.Size()>>20, took>>20, err)
			if limit := tt.in.Size() + 130<<20; took > limit {
				t.Errorf("%d bytes taken, the limit is %d", took, limit)
			}
			if tt.fits && took > 1<<20 {
				t.Errorf("%d bytes taken for what is stepped over", took)
			}
			if got := strings.Contains(err.Error(), "of memory"); got == tt.fits {
				t.Errorf("error %v", err)
			}
		})
	}
}

// keyedHead is a V3 file up to the managed keyed handle of its only subtask.
func keyedHead(handle ...any) []byte { return oneSubtask(0, 0, build(handle...)) }
