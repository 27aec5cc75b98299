package serde

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// JavaHash is hashCode of the Java object that the serializer of t reads from
// raw, which is one whole value; false where the class of the object decides and
// is not known here. From it follows the key group of a key (KeyGroup).
func JavaHash(t *Snapshot, raw []byte) (int32, bool) {
	if t == nil || t.Opaque || strings.Contains(t.Class+t.SerializerClass, "ValueSerializer") {
		return 0, false // LongValue and the like have hashes of their own
	}
	if w, fixed := widths[t.Kind]; fixed && len(raw) != w {
		return 0, false
	}
	switch t.Kind {
	case Boolean:
		if raw[0] == 0 {
			return 1237, true
		}
		return 1231, true
	case Byte:
		return int32(int8(raw[0])), true
	case Short:
		return int32(int16(binary.BigEndian.Uint16(raw))), true
	case Char:
		return int32(binary.BigEndian.Uint16(raw)), true
	case Int, Float: // floatToIntBits, but for NaN, which is no key
		return int32(binary.BigEndian.Uint32(raw)), true
	case Long, Double, Date, SQLDate, SQLTime:
		return foldLong(binary.BigEndian.Uint64(raw)), true
	case Instant:
		return foldLong(binary.BigEndian.Uint64(raw)) + 51*int32(binary.BigEndian.Uint32(raw[8:])), true
	case LocalDate:
		year, month, day := int32(binary.BigEndian.Uint32(raw)), int32(raw[4]), int32(raw[5])
		return year&-0x800 ^ (year<<11 + month<<6 + day), true
	case TimeWindow:
		return 0, false // two classes of this layout
	case String:
		return hashString(raw)
	case UUID:
		return foldLong(binary.BigEndian.Uint64(raw) ^ binary.BigEndian.Uint64(raw[8:])), true
	case Tuple:
		return hashTuple(t, raw)
	case RowData, BinaryRowData:
		if len(raw) < 4 || int(binary.BigEndian.Uint32(raw)) != len(raw)-4 || len(raw)%4 != 0 {
			return 0, false
		}
		return hashWords(raw[4:]), true
	}
	return 0, false
}

func foldLong(v uint64) int32 { return int32(uint32(v ^ v>>32)) }

// hashString is String.hashCode over the UTF-16 units of a Flink string.
func hashString(raw []byte) (int32, bool) {
	h, first := int32(0), true
	for len(raw) > 0 {
		v, n := binary.Uvarint(raw)
		if n <= 0 || first && v == 0 {
			return 0, false
		}
		raw = raw[n:]
		if !first {
			h = 31*h + int32(uint16(v))
		}
		first = false
	}
	return h, !first
}

// hashTuple is hashCode of Flink's Java tuples.
func hashTuple(t *Snapshot, raw []byte) (int32, bool) {
	if !strings.HasPrefix(t.Type, "org.apache.flink.api.java.tuple.Tuple") {
		return 0, false
	}
	h := int32(0)
	for _, k := range t.Nested {
		n, err := Skip(k, raw)
		if err != nil {
			return 0, false
		}
		f, ok := JavaHash(k, raw[:n])
		if !ok {
			return 0, false
		}
		h, raw = 31*h+f, raw[n:]
	}
	return h, len(raw) == 0
}

// hashWords is BinaryRowData.hashCode: MurmurHash3 over little-endian words with
// seed 42 (MurmurHashUtils.hashBytesByWords).
func hashWords(b []byte) int32 {
	h := uint32(42)
	for i := 0; i+4 <= len(b); i += 4 {
		k := binary.LittleEndian.Uint32(b[i:]) * 0xcc9e2d51
		h ^= bits.RotateLeft32(k, 15) * 0x1b873593
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	return int32(mix(h ^ uint32(len(b))))
}

func mix(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// KeyGroup is the key group of a key with that hashCode
// (KeyGroupRangeAssignment.computeKeyGroupForKeyHash, MathUtils.murmurHash).
func KeyGroup(hash int32, maxParallelism int32) int32 {
	h := bits.RotateLeft32(uint32(hash)*0xcc9e2d51, 15) * 0x1b873593
	h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	n := int32(mix(h ^ 4))
	if n < 0 {
		n = max(-n, 0) // -n of the smallest is itself
	}
	return n % max(maxParallelism, 1)
}
