package metadata

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
)

// String gives the 32 lower-case hex digits that Flink prints.
func (id OperatorID) String() string { return hex.EncodeToString(id[:]) }

// ParseOperatorID reads 32 hex digits.
func ParseOperatorID(s string) (OperatorID, error) {
	var id OperatorID
	if len(s) != 2*len(id) {
		return id, fmt.Errorf("operator id %q: expected 32 hex digits", s)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return id, fmt.Errorf("operator id %q: expected 32 hex digits", s)
	}
	return id, nil
}

// OperatorIDOf is the id that Flink gives an operator with this uid (as set by
// `uid(...)`, in plain UTF-8): StreamGraphHasherV2 hashes it with Guava's
// murmur3_128, which is MurmurHash3 x64 128 with seed 0, both halves little-endian.
func OperatorIDOf(uid string) OperatorID {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	var h1, h2 uint64
	b := []byte(uid)
	for ; len(b) >= 16; b = b[16:] {
		k1, k2 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		h1 ^= bits.RotateLeft64(k1*c1, 31) * c2
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= bits.RotateLeft64(k2*c2, 33) * c1
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], b)
	k1, k2 := binary.LittleEndian.Uint64(tail[:]), binary.LittleEndian.Uint64(tail[8:])
	h1 ^= bits.RotateLeft64(k1*c1, 31) * c2
	h2 ^= bits.RotateLeft64(k2*c2, 33) * c1
	h1 ^= uint64(len(uid))
	h2 ^= uint64(len(uid))
	h1 += h2
	h2 += h1
	h1, h2 = murmurMix(h1), murmurMix(h2)
	h1 += h2
	h2 += h1
	var id OperatorID
	binary.LittleEndian.PutUint64(id[:], h1)
	binary.LittleEndian.PutUint64(id[8:], h2)
	return id
}

func murmurMix(k uint64) uint64 {
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}
