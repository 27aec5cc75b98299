package serde

import (
	"encoding/binary"
	"strconv"

	"chkscope/decoder"
)

// Skip finds the end of the value of type t at the start of buf, which may go on
// behind it. It makes no garbage. Errors are those of Decode.
func Skip(t *Snapshot, buf []byte) (int, error) {
	c := codecOf(t)
	if n := c.skip(buf, 0); n >= 0 {
		return n, nil
	}
	// What is wrong the decoder tells.
	d := values{buf: buf, end: len(buf)}
	if d.value(c); d.err != nil {
		return d.off, d.err
	}
	return 0, &decoder.Error{File: "value", Expected: "the end of the value", Found: strconv.Itoa(len(buf)) + " bytes"}
}

// Width is the number of bytes that every value of type t takes, -1 where it
// differs or cannot be told.
func Width(t *Snapshot) int { return codecOf(t).width }

// Unreadable tells why the values of type t, or of a part of it, cannot be read;
// "" where they can.
func Unreadable(t *Snapshot) string { return codecOf(t).unreadable() }

func (c *codec) unreadable() string {
	if c.kind == Unknown {
		return c.why
	}
	for i, k := range c.kids {
		if why := k.unreadable(); why != "" {
			if c.shape != nil && i < len(c.shape.Names) {
				return c.shape.Names[i] + ": " + why
			}
			return why
		}
	}
	return ""
}

const noEnd = -1 // of a value that is damaged or has no known layout

// stepOver gives off+n, or noEnd where that is behind the end.
func stepOver(b []byte, off, n int) int {
	if off < 0 || n < 0 || n > len(b)-off {
		return noEnd
	}
	return off + n
}

// number is the i32 at off, -1 where there is none or it is negative.
func number(b []byte, off int) int {
	if off < 0 || len(b)-off < 4 {
		return -1
	}
	return int(int32(binary.BigEndian.Uint32(b[off:])))
}

// skip gives the offset behind the value at off, or noEnd.
func (c *codec) skip(b []byte, off int) int {
	if c.width >= 0 {
		return stepOver(b, off, c.width)
	}
	switch c.kind {
	case String:
		return skipString(b, off, true)
	case StringValue:
		return skipString(b, off, false)
	case ByteArray, Bitmap, BooleanArray, StringData, RowData, BinaryRowData, RawValue, ArrayData, MapData:
		return skipCounted(b, off, 1)
	case CharArray, ShortArray:
		return skipCounted(b, off, 2)
	case FloatArray, IntArray, DeweyNumber:
		return skipCounted(b, off, 4)
	case DoubleArray, LongArray:
		return skipCounted(b, off, 8)
	case List:
		return c.skipList(b, off)
	case Map, SortedMap:
		return c.skipMap(b, off)
	case DecimalData:
		return skipCounted(b, off, 1)
	case Tuple, TTL, Timer:
		return c.skipParts(b, off)
	case Pojo:
		return c.skipPojo(b, off)
	case Row:
		return c.skipRow(b, off)
	case Option, Nullable:
		return c.skipOptional(b, off)
	case Set, GenericArray, Traversable:
		return c.skipFlagged(b, off)
	case Avro:
		return c.avro.skip(b, off, 0)
	case Unknown:
		return noEnd
	case Kryo:
		if end := c.kryo.skipPartition(b, off); end != noEnd {
			return end
		}
	}
	d := values{buf: b, off: off, end: len(b)}
	if d.value(c); !d.ok() {
		return noEnd
	}
	return d.off
}

func skipCounted(b []byte, off, each int) int {
	n := number(b, off)
	if n < 0 {
		return noEnd
	}
	return stepOver(b, off+4, n*each)
}

// skipString steps over a varint length and as many characters.
func skipString(b []byte, off int, nullable bool) int {
	if off < 0 || off >= len(b) {
		return noEnd
	}
	n := int(b[off])
	off++
	for shift := 7; b[off-1] >= 0x80; shift += 7 {
		if off >= len(b) || shift > 28 {
			return noEnd
		}
		n = n&(1<<shift-1) | int(b[off])<<shift
		off++
	}
	if nullable {
		n--
	}
	if n > len(b)-off {
		return noEnd
	}
	for n >= 8 && binary.LittleEndian.Uint64(b[off:])&0x8080808080808080 == 0 {
		off, n = off+8, n-8
	}
	for ; n > 0; n-- {
		for {
			if off >= len(b) {
				return noEnd
			}
			off++
			if b[off-1] < 0x80 {
				break
			}
		}
	}
	return off
}

// flag is the bool at off, 2 where there is none.
func flag(b []byte, off int) byte {
	if off < 0 || off >= len(b) || b[off] > 1 {
		return 2
	}
	return b[off]
}

func (c *codec) skipList(b []byte, off int) int {
	k := c.kids[0]
	n := number(b, off)
	off += 4
	if n < 0 {
		return noEnd
	}
	if c.mark {
		at := off
		if off = stepOver(b, off, (n+7)/8); off < 0 {
			return noEnd
		}
		mask := b[at:off]
		for i := 0; i < n && off >= 0; i++ {
			if !maskBit(mask, i) {
				off = k.skip(b, off)
			}
		}
		return off
	}
	if k.width >= 0 {
		return stepOver(b, off, n*k.width)
	}
	for ; n > 0 && off >= 0; n-- {
		off = k.skip(b, off)
	}
	return off
}

func (c *codec) skipMap(b []byte, off int) int {
	n := number(b, off)
	if n < 0 {
		return noEnd
	}
	off += 4
	for ; n > 0; n-- {
		if off = c.kids[0].skip(b, off); off < 0 {
			return noEnd
		}
		switch flag(b, off) {
		case 0:
			if off = c.kids[1].skip(b, off+1); off < 0 {
				return noEnd
			}
		case 1:
			off++
		default:
			return noEnd
		}
	}
	return off
}

func (c *codec) skipParts(b []byte, off int) int {
	if c.kind == Timer {
		off = stepOver(b, off, 8)
	}
	for i := 0; i < len(c.runs) && off >= 0; i++ {
		off = stepOver(b, off, c.runs[i].before)
		if k := c.runs[i].kid; k != nil && off >= 0 {
			off = k.skip(b, off)
		}
	}
	return off
}

func (c *codec) skipPojo(b []byte, off int) int {
	if off < 0 || off >= len(b) {
		return noEnd
	}
	flags := b[off]
	off++
	switch {
	case flags&pojoNull != 0:
		return off
	case flags&pojoUnknownType != 0:
		if len(b)-off < 2 {
			return noEnd
		}
		at := off + 2
		if off = stepOver(b, at, int(binary.BigEndian.Uint16(b[off:]))); off < 0 {
			return noEnd
		}
		if k := c.pojo.others[string(b[at:off])]; k != nil {
			return k.skip(b, off)
		}
		return noEnd
	case flags&pojoRegistered != 0:
		if off >= len(b) || int(b[off]) >= len(c.pojo.registered) {
			return noEnd
		}
		return c.pojo.registered[b[off]].skip(b, off+1)
	case flags&pojoPlain == 0:
		return noEnd
	}
	for _, k := range c.kids {
		switch flag(b, off) {
		case 0:
			if off = k.skip(b, off+1); off < 0 {
				return noEnd
			}
		case 1:
			off++
		default:
			return noEnd
		}
	}
	return off
}

func (c *codec) skipRow(b []byte, off int) int {
	kindBits := 0
	if c.mark {
		kindBits = 2
	}
	at := off
	if off = stepOver(b, off, (len(c.kids)+kindBits+7)/8); off < 0 {
		return noEnd
	}
	mask := b[at:off]
	for i, k := range c.kids {
		if maskBit(mask, i+kindBits) {
			continue
		}
		if off = k.skip(b, off); off < 0 {
			return noEnd
		}
	}
	return off
}

func (c *codec) skipOptional(b []byte, off int) int {
	switch flag(b, off) {
	case 2:
		return noEnd
	case 1:
		if c.kind == Nullable {
			return stepOver(b, off+1, c.size)
		}
		return c.kids[0].skip(b, off+1)
	}
	if c.kind == Nullable {
		return c.kids[0].skip(b, off+1)
	}
	return off + 1
}

func (c *codec) skipFlagged(b []byte, off int) int {
	n := number(b, off)
	if n < 0 {
		return noEnd
	}
	null := byte(0)
	if c.kind == Set {
		null = 1
	}
	off += 4
	for ; n > 0 && off >= 0; n-- {
		switch f := flag(b, off); f {
		case 2:
			return noEnd
		case null:
			off++
		default:
			off = c.kids[0].skip(b, off+1)
		}
	}
	return off
}

// skipPartition steps over a KafkaTopicPartition that stands alone.
func (k *kryoCodec) skipPartition(b []byte, off int) int {
	const tag85, tag10 = firstRegistered + 2, firstScala + 2
	if !k.kafka || len(b)-off < 2 || b[off] != tag85 && b[off] != tag10 || b[off+1] != 1 {
		return noEnd
	}
	off += 2
	for n := 0; n < 2; n++ { // hash, partition
		for start := off; ; off++ {
			if off >= len(b) || off-start > 4 {
				return noEnd
			}
			if b[off] < 0x80 {
				off++
				break
			}
		}
	}
	if off+1 >= len(b) || b[off] != 1 || b[off+1] >= 0x80 {
		return noEnd
	}
	for off++; off < len(b); off++ {
		if b[off] >= 0x80 {
			return off + 1
		}
	}
	return noEnd
}
