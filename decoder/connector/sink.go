package connector

import (
	"fmt"

	"chkscope/decoder/serde"
)

// writerState is an element of writer_raw_states. KafkaSink's and FileSink's are
// told from others by their layout.
func writerState(data []byte) (Decoded, error) {
	body, err := byteArray(data)
	if err != nil {
		return Decoded{}, err
	}
	r := &reader{buf: body}
	version, state := r.versioned()
	if err := r.done(); err != nil {
		return Decoded{}, err
	}
	if v, err := kafkaWriterState(version, state); err == nil {
		return Decoded{Connector: "KafkaSink writer", Version: version, Value: v}, nil
	}
	if v, err := bucketState(version, state); err == nil {
		return Decoded{Connector: "FileSink writer", Version: version, Value: v}, nil
	}
	return Decoded{Connector: "sink writer", Version: version,
		Value: fields("", "version", version, "state", unknown(state, "the layout of this sink's writer state is not known"))}, nil
}

var ownership = map[int32]string{0: "by subtask id", 1: "explicit"}

func kafkaWriterState(version int32, state []byte) (serde.Value, error) {
	r := &reader{buf: state}
	prefix := r.utf()
	if version == 1 {
		return fields("KafkaWriterState", "transactional_id_prefix", prefix), r.done()
	}
	if version != 2 {
		return serde.Value{}, errLayout
	}
	subtask, total, owner := r.i32(), r.i32(), r.i32()
	var list []serde.Value
	for range r.count(10) {
		list = append(list, fields("", "transactional_id", r.utf(), "checkpoint", r.i64()))
	}
	word, ok := ownership[owner]
	if !ok && r.err == nil {
		return serde.Value{}, fmt.Errorf("%w: transaction ownership %d", errLayout, owner)
	}
	return fields("KafkaWriterState", "transactional_id_prefix", prefix, "owned_subtask", subtask, "of", total,
		"ownership", word, "precommitted", list), r.done()
}

const committerMagic = -0x46e0dad4 // B9 1F 25 2C

// committerState is an element of streaming_committer_raw_states.
func committerState(data []byte) (Decoded, error) {
	body, err := byteArray(data)
	if err != nil {
		return Decoded{}, err
	}
	r := &reader{buf: body}
	version, state := r.versioned()
	if err := r.done(); err != nil {
		return Decoded{}, err
	}
	d := Decoded{Connector: "sink committer", Version: version}
	r = &reader{buf: state}
	if r.i32() != committerMagic {
		return Decoded{}, fmt.Errorf("%w: no committer state", errLayout)
	}
	switch version {
	case 1:
		d.Value, err = committerV1(r)
	case 2:
		d.Value, err = committerV2(r)
	default:
		err = fmt.Errorf("%w: version %d of committer state", errLayout, version)
	}
	if err != nil {
		return Decoded{}, err
	}
	return d, nil
}

func committerV1(r *reader) (serde.Value, error) {
	version := r.i32()
	var list []serde.Value
	for range r.count(4) {
		list = append(list, committable(version, r.take(r.count(1))))
	}
	return fields("", "committables", list), r.done()
}

// committable is KafkaSink's or FileSink's where it has that layout.
func committable(version int32, data []byte) serde.Value {
	r := &reader{buf: data}
	if version == 1 {
		epoch, producer, id := r.i16(), r.i64(), r.utf()
		if r.done() == nil && id != "" {
			return fields("KafkaCommittable", "producer_id", producer, "epoch", epoch, "transactional_id", id)
		}
	}
	if v, err := fileCommittable(version, data); err == nil {
		return v
	}
	return fields("", "version", version, "committable", unknown(data, "the layout of this sink's committables is not known"))
}

// list reads a versioned list: i32 version, i32 count, count x (i32 length, bytes).
func (r *reader) list(f func(version int32, data []byte) error) error {
	version := r.i32()
	for range r.count(4) {
		data := r.take(r.count(1))
		if r.err != nil {
			return r.err
		}
		if err := f(version, data); err != nil {
			return err
		}
	}
	return r.err
}

var requestStates = [...]string{"received", "retry", "failed", "committed"}

// committerV2 is CommittableCollectorSerializer of the unified sinks.
func committerV2(r *reader) (serde.Value, error) {
	var checkpoints []serde.Value
	err := r.list(func(version int32, data []byte) error {
		v, err := checkpointCommittables(version, data)
		checkpoints = append(checkpoints, v)
		return err
	})
	if err == nil {
		err = r.done()
	}
	return fields("CommittableCollector", "checkpoints", checkpoints), err
}

// checkpointCommittables: i64 checkpoint, up to Flink 1.20 and in 2.0 i32 number
// of subtasks, then the list of subtasks. No version tells the two apart: the
// one that fits to the last byte is it.
func checkpointCommittables(_ int32, data []byte) (v serde.Value, err error) {
	for _, counted := range []bool{true, false} {
		r := &reader{buf: data}
		pairs := []any{"checkpoint", r.i64()}
		if counted {
			pairs = append(pairs, "of_subtasks", r.i32())
		}
		var subtasks []serde.Value
		err = r.list(func(version int32, data []byte) error {
			v, err := subtaskCommittables(version, data)
			subtasks = append(subtasks, v)
			return err
		})
		if err == nil {
			err = r.done()
		}
		if err == nil {
			return fields("", append(pairs, "subtasks", subtasks)...), nil
		}
	}
	return v, err
}

// subtaskCommittables: i32 subtask (version 1), the list of requests, i32
// numbers of committables, drained (version 0) and failed.
func subtaskCommittables(version int32, data []byte) (serde.Value, error) {
	r := &reader{buf: data}
	var pairs []any
	if version > 0 {
		pairs = append(pairs, "subtask", r.i32())
	}
	var requests []serde.Value
	err := r.list(func(_ int32, data []byte) error {
		v, err := commitRequest(data)
		requests = append(requests, v)
		return err
	})
	if err != nil {
		return serde.Value{}, err
	}
	pairs = append(pairs, "requests", requests, "expected", r.i32())
	if version == 0 || r.left() == 8 {
		pairs = append(pairs, "drained", r.i32())
	}
	pairs = append(pairs, "failed", r.i32())
	return fields("", pairs...), r.done()
}

func commitRequest(data []byte) (serde.Value, error) {
	r := &reader{buf: data}
	version, body := r.versioned()
	retries, state := r.i32(), r.i32()
	if err := r.done(); err != nil {
		return serde.Value{}, err
	}
	word := fmt.Sprint(state)
	if state >= 0 && int(state) < len(requestStates) {
		word = requestStates[state]
	}
	return fields("", "committable", committable(version, body), "retries", retries, "state", word), nil
}
