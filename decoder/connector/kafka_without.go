package connector

// Without gives the enumerator without the partitions that gone holds for, and
// how many these are. All else stays: the version, the status of each partition
// left and whether the first discovery is over. Append writes it; e is not
// changed.
//
// Removed here alone, a partition is discovered again and read twice, and
// removed from the readers alone it is never read again: the splits in
// SourceReaderState have to go with it.
func (e *KafkaEnumerator) Without(gone func(Partition) bool) (*KafkaEnumerator, int) {
	left := *e
	left.Partitions = nil
	for _, p := range e.Partitions {
		if !gone(p.Partition) {
			left.Partitions = append(left.Partitions, p)
		}
	}
	return &left, len(e.Partitions) - len(left.Partitions)
}

// WithoutKafka rewrites the coordinator state of a KafkaSource without the
// partitions that gone holds for. It fails where the state is not a KafkaSource's
// of a known version, or would not be written back as it was read.
func (c *Coordinator) WithoutKafka(gone func(Partition) bool) (*Coordinator, int, error) {
	e, err := ParseKafkaEnumerator(c.EnumeratorVersion, c.Enumerator)
	if err != nil {
		return nil, 0, err
	}
	if string(e.Append(nil)) != string(c.Enumerator) {
		return nil, 0, errLayout
	}
	left, n := e.Without(gone)
	out := *c
	out.Enumerator = left.Append(nil)
	return &out, n, nil
}
