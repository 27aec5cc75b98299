package connector

import (
	"errors"
	"fmt"

	"chkscope/decoder/serde"
)

// Coordinator is the coordinator state of a source.
type Coordinator struct {
	Version           int32 // of the coordinator
	EnumeratorVersion int32
	Enumerator        []byte
	// Behind is what follows the enumerator in version 0: registered readers and
	// assignments.
	Behind []byte
}

// ParseCoordinator opens the coordinator state of a FLIP-27 source.
func ParseCoordinator(data []byte) (*Coordinator, error) {
	r := &reader{buf: data}
	c := &Coordinator{Version: r.i32()}
	if r.err == nil && c.Version != 0 && c.Version != 1 {
		return nil, fmt.Errorf("%w: version %d of a source coordinator", errLayout, c.Version)
	}
	c.EnumeratorVersion, c.Enumerator = r.versioned()
	if c.Version == 0 && r.err == nil {
		c.Behind = r.take(r.left())
	}
	return c, r.done()
}

// Append writes the coordinator state as it is read.
func (c *Coordinator) Append(b []byte) []byte {
	w := writer{b}
	w.i32(c.Version)
	w.i32(c.EnumeratorVersion)
	w.i32(int32(len(c.Enumerator)))
	return append(append(w.b, c.Enumerator...), c.Behind...)
}

// DecodeCoordinator gives the coordinator state as a value. Where the source is
// not known, or its bytes fit several, the enumerator is its version and length.
func DecodeCoordinator(data []byte) (Decoded, error) {
	c, err := ParseCoordinator(data)
	if err != nil {
		return Decoded{}, err
	}
	d := Decoded{Connector: "source coordinator", Version: c.EnumeratorVersion, Experimental: c.Version == 0}
	for _, try := range []func(*Coordinator) (Decoded, error){fileCoordinator, cdcCoordinator, kafkaCoordinator, sequenceCoordinator} {
		if got, err := try(c); err == nil {
			got.Version, got.Experimental = c.EnumeratorVersion, d.Experimental
			return got, nil
		}
	}
	d.Value = fields("", "coordinator_version", c.Version, "enumerator_version", c.EnumeratorVersion,
		"enumerator", unknown(c.Enumerator, "the layout of this source's enumerator is not known"))
	return d, nil
}

func kafkaCoordinator(c *Coordinator) (Decoded, error) {
	e, err := ParseKafkaEnumerator(c.EnumeratorVersion, c.Enumerator)
	if err != nil {
		return Decoded{}, err
	}
	if len(e.Partitions) == 0 {
		return Decoded{}, errLayout // nothing in it tells whose it is
	}
	d := Decoded{Connector: "KafkaSource enumerator", Value: e.value()}
	for _, p := range e.Partitions {
		d.Kafka = append(d.Kafka, Partition{Topic: p.Topic, Partition: p.Partition.Partition})
	}
	return d, nil
}

func sequenceCoordinator(c *Coordinator) (Decoded, error) {
	r := &reader{buf: c.Enumerator}
	var list []serde.Value
	for range r.count(18) {
		v, err := sequenceSplit(r)
		if err != nil {
			return Decoded{}, err
		}
		list = append(list, v)
	}
	if err := r.done(); err != nil || len(list) == 0 {
		return Decoded{}, errors.Join(errLayout, err)
	}
	return Decoded{Connector: "NumberSequenceSource enumerator", Value: fields("", "splits", list)}, nil
}

// readerSplit is an element of SourceReaderState.
func readerSplit(data []byte) (Decoded, error) {
	body, err := byteArray(data)
	if err != nil {
		return Decoded{}, err
	}
	r := &reader{buf: body}
	version, split := r.versioned()
	if err := r.done(); err != nil {
		return Decoded{}, err
	}
	if version == 0 {
		if p, stopping, err := ParseKafkaSplit(split); err == nil {
			return Decoded{Connector: "KafkaSource split", Version: version, Value: kafkaSplitValue(p, stopping), Kafka: []Partition{p}}, nil
		}
	}
	if version == 1 {
		if v, err := wholeSequenceSplit(split); err == nil {
			return Decoded{Connector: "NumberSequenceSource split", Version: version, Value: v}, nil
		}
		if v, err := fileSplit(split); err == nil {
			return Decoded{Connector: "FileSource split", Version: version, Value: v}, nil
		}
	}
	if v, err := cdcSplit(version, split); err == nil {
		return Decoded{Connector: "MySQL CDC split", Version: version, Value: v}, nil
	}
	return Decoded{Connector: "source split", Version: version,
		Value: fields("", "version", version, "split", unknown(split, "the layout of this source's splits is not known"))}, nil
}

func wholeSequenceSplit(split []byte) (serde.Value, error) {
	r := &reader{buf: split}
	v, err := sequenceSplit(r)
	if err == nil {
		err = r.done()
	}
	return v, err
}

func sequenceSplit(r *reader) (serde.Value, error) {
	id, from, to := r.utf(), r.i64(), r.i64()
	if r.err == nil && id == "" {
		return serde.Value{}, errLayout
	}
	return fields("", "id", id, "from", from, "to", to), r.err
}
