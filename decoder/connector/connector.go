package connector

import (
	"chkscope/decoder/serde"
)

// Place is where an element stands: what tells whose it may be. Whose it is its
// bytes must bear out to the last one. What follows them is not looked at, nor
// does Flink: where a neighbour was removed only its offset is gone, and its bytes
// are still there.
type Place struct {
	State string // name of the state
}

// Decoded is a value that a connector wrote.
type Decoded struct {
	Connector string // who wrote it, e.g. "KafkaSource split"
	Version   int32  // of its serializer; -1 where it has none
	Value     serde.Value
	// Kafka is set for what names Kafka partitions.
	Kafka []Partition
	// Experimental: no real bytes of this form were at hand to test with.
	Experimental bool
}

// Element decodes an element of an operator state. ok is false where the state
// is not known as a connector's; an error tells that it should be but its bytes
// are not as expected.
func Element(p Place, data []byte) (d Decoded, ok bool, err error) {
	switch p.State {
	case consumerState:
		d, err = kafkaConsumer(data)
	case "next-transactional-id-hint", "next-transactional-id-hint-v2":
		d, err = nextTransactionalID(data)
	case "SourceReaderState":
		d, err = readerSplit(data)
	case "writer_raw_states":
		d, err = writerState(data)
	case "streaming_committer_raw_states":
		d, err = committerState(data)
	case "bucket-states":
		d, err = bucketElement(data)
	case "remaining_compact_commit_raw_state":
		d, err = compactCommittable(data)
	case "remaining_requests_raw_state":
		d, err = compactRequests(data)
	default:
		return Decoded{}, false, nil
	}
	return d, true, err
}

// byteArray opens the byte array (i32 length) that an element consists of.
func byteArray(data []byte) ([]byte, error) {
	r := &reader{buf: data}
	p := r.take(r.count(1))
	return p, r.err
}

func fields(typ string, pairs ...any) serde.Value {
	v := serde.Value{Form: serde.Fields, Shape: &serde.Shape{Type: typ}}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Shape.Names = append(v.Shape.Names, pairs[i].(string))
		v.Items = append(v.Items, value(pairs[i+1]))
	}
	v.N = int64(len(v.Items))
	return v
}

func value(a any) serde.Value {
	switch x := a.(type) {
	case serde.Value:
		return x
	case string:
		return serde.Value{Form: serde.Text, Text: x, N: int64(len(x))}
	case int64:
		return serde.Value{Form: serde.Integer, N: x}
	case int32:
		return serde.Value{Form: serde.Integer, N: int64(x)}
	case int16:
		return serde.Value{Form: serde.Integer, N: int64(x)}
	case int:
		return serde.Value{Form: serde.Integer, N: int64(x)}
	case bool:
		v := serde.Value{Form: serde.Bool}
		if x {
			v.N = 1
		}
		return v
	case []serde.Value:
		return serde.Value{Form: serde.Sequence, Items: x, N: int64(len(x))}
	}
	return serde.Value{Form: serde.Null}
}

// unknown is bytes whose layout is not known, with their length and the reason.
func unknown(data []byte, why string) serde.Value {
	return serde.Value{Form: serde.Opaque, Text: string(data[:min(len(data), maxOpaque)]), N: int64(len(data)), Cut: len(data) > maxOpaque, Why: why}
}

const maxOpaque = 4096
