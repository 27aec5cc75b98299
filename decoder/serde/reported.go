package serde

import "strings"

// LengthUnknown is what ReportedLength gives where it cannot be told.
const LengthUnknown = -2

// sqlWindows are the windows of SQL; those of DataStream report a length of 0.
const sqlWindows = "org.apache.flink.table.runtime.operators.window."

// ReportedLength is what TypeSerializer.getLength of the serializer of t gives:
// -1 where the length differs, else a number that is not always the real width
// (Width). It decides how composite keys are laid out. It is LengthUnknown for
// serializers that are not known.
func ReportedLength(t *Snapshot) int {
	if t == nil || t.Opaque {
		return LengthUnknown
	}
	switch t.Kind {
	case Boolean, Byte, Short, Int, Long, Float, Double, Char, Date, SQLDate, SQLTime, SQLTimestamp, Instant, LocalDate, LocalTime, LocalDateTime,
		EventID, Enum, NullValue, TimestampData, UUID, SortedLong:
		return codecOf(t).width
	case VoidByte:
		if strings.Contains(t.Class+t.SerializerClass, ".VoidNamespaceSerializer") || strings.Contains(t.Class+t.SerializerClass, pkgStream+"api.windowing.windows.GlobalWindow") {
			return 0
		}
		return 1
	case TimeWindow, CountWindow:
		if strings.Contains(t.Class+t.SerializerClass, sqlWindows) {
			return codecOf(t).width
		}
		return 0
	case Tuple:
		return sumReported(t.Nested)
	case Nullable:
		if t.Size > 0 {
			return 1 + int(t.Size)
		}
		return -1
	case External:
		if len(t.Nested) == 1 {
			return ReportedLength(t.Nested[0])
		}
		return LengthUnknown
	case TTL, TTLAware, Timer, Unknown, UserValue, BeamCoder, PulsarSchema:
		return LengthUnknown
	}
	return -1
}

// sumReported is TupleSerializerBase.getLength: -1 where a field reports 0 too.
func sumReported(kids []*Snapshot) int {
	sum := 0
	for _, k := range kids {
		n := ReportedLength(k)
		if n == LengthUnknown {
			return LengthUnknown
		}
		if n <= 0 {
			return -1
		}
		sum += n
	}
	return sum
}
