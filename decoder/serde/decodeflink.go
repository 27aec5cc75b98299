package serde

import "strconv"

// part is one field of a record of Flink's own classes.
type part struct {
	name string
	read func(*values) Value
}

func long(what string) part {
	return part{what, func(d *values) Value { return integer(d.i64(what)) }}
}

func int32Part(what string) part {
	return part{what, func(d *values) Value { return integer(int64(d.i32(what))) }}
}

func millis(what string) part {
	return part{what, func(d *values) Value { return Value{Form: Millis, N: d.i64(what)} }}
}

func ofType(name string, k *codec) part {
	return part{name, func(d *values) Value { return d.value(k) }}
}

// record reads parts one behind the other.
func (d *values) record(class string, parts ...part) Value {
	d.left.Values--
	v := Value{Form: Fields, Shape: &Shape{Type: class}}
	for i, p := range parts {
		e := p.read(d)
		v.Shape.Names = append(v.Shape.Names, p.name)
		v.Items = append(v.Items, e)
		if !d.ok() {
			if e.Form == Missing && i == 0 {
				return Value{}
			}
			d.at(p.name)
			break
		}
		// Only the last part may end the whole.
		d.whole = d.whole && i < len(parts)-2
	}
	return v
}

// other reads values of Flink's own classes that are rare in user state.
func (d *values) other(c *codec) Value {
	switch c.kind {
	case EventID:
		return d.eventID()
	case KafkaTxn:
		return d.record("KafkaTransactionState", part{"transactionalId", (*values).optionalUTF}, long("producerId"),
			part{"epoch", func(d *values) Value { return integer(d.big(2, "epoch")) }})
	case KafkaContext:
		return d.items(d.count("number of ids", 2), func(int) Value { return d.utf("transactional id") })
	case KafkaIDHint:
		return d.record("NextTransactionalIdHint", long("nextFreeTransactionalId"), int32Part("lastParallelism"))
	case Variant:
		return d.variantValue()
	case RawValue:
		return d.rawValue(c)
	case WindowKey:
		return d.record("WindowKey", long("window"), ofType("key", c.kids[0]))
	case BufferEntry:
		return d.record("BufferEntry", part{"joined", func(d *values) Value { return boolValue(d.bool("joined")) }}, ofType("element", c.kids[0]))
	case Lockable:
		return d.record("Lockable", int32Part("refCounter"), ofType("element", c.kids[0]))
	case NodeID:
		return d.nodeID(c)
	case SharedBufferEdge:
		return d.record("SharedBufferEdge", ofType("target", c.kids[0]), ofType("deweyNumber", c.kids[1]))
	case SharedBufferNode:
		n := d.count("number of edges", 4)
		return d.items(n, func(int) Value {
			return d.record("Lockable", int32Part("refCounter"), ofType("element", c.kids[0]))
		})
	case NFAState:
		return d.record("NFAState", part{"partialMatches", c.computations}, part{"completedMatches", c.computations})
	}
	return d.noLayout("no known layout for values of kind " + c.kind.String())
}

func (d *values) optionalUTF() Value {
	if !d.bool("id present") {
		return Value{Form: Null}
	}
	return d.utf("id")
}

func (d *values) eventID() Value {
	return d.record("EventId", int32Part("id"), millis("timestamp"))
}

// nodeID reads a NodeId: u8 1 and an event id and a page name, or u8 0.
func (d *values) nodeID(c *codec) Value {
	if !d.bool("node id present") {
		return d.checked(Value{Form: Null})
	}
	return d.record("NodeId", ofType("eventId", c.kids[0]), part{"pageName", func(d *values) Value { return d.flinkString(true) }})
}

// computations reads a queue of ComputationState of an NFAState.
func (c *codec) computations(d *values) Value {
	parts := []part{
		{"currentStateName", func(d *values) Value { return d.flinkString(true) }},
		ofType("previousBufferEntry", c.kids[1]), ofType("version", c.kids[0]), millis("startTimestamp"),
	}
	if c.mark {
		parts = append(parts, millis("previousTimestamp"))
	}
	parts = append(parts, part{"startEventId", func(d *values) Value {
		if !d.bool("start event present") {
			return Value{Form: Null}
		}
		return d.value(c.kids[2])
	}})
	return d.items(d.count("number of computation states", 1), func(int) Value { return d.record("ComputationState", parts...) })
}

// rawValue reads i32 n and n bytes, which are a value of the nested type.
func (d *values) rawValue(c *codec) Value {
	p := d.take(d.count("raw value length", 1), "raw value")
	if !d.ok() {
		return Value{}
	}
	return d.inside(p, c.kids[0])
}

// inside reads a value that fills p. What is wrong in it does not stop what
// follows.
func (d *values) inside(p []byte, k *codec) Value {
	in := values{buf: p, end: len(p), whole: true, left: d.left, depth: d.depth}
	v := in.value(k)
	d.left = in.left
	if in.ok() && in.off < in.end {
		return d.opaque(p, strconv.Itoa(in.end-in.off)+" bytes are left behind the value")
	}
	return v
}

// streamElement reads a tag and what StreamElementSerializer writes behind it.
func (d *values) streamElement(c *codec) Value {
	at := d.off
	switch tag := d.u8("tag of a stream element"); {
	case !d.ok():
		return Value{}
	case tag == 0:
		return d.record("StreamRecord", millis("timestamp"), ofType("value", c.kids[0]))
	case tag == 1:
		return d.record("StreamRecord", ofType("value", c.kids[0]))
	case tag == 2:
		return d.record("Watermark", millis("timestamp"))
	case tag == 3:
		return d.record("LatencyMarker", millis("markedTime"), long("operatorIdLower"), long("operatorIdUpper"), int32Part("subtaskIndex"))
	case tag == 4:
		return d.record("WatermarkStatus", int32Part("status"))
	case tag == 5:
		return d.record("RecordAttributes", part{"backlog", func(d *values) Value { return boolValue(d.bool("backlog")) }})
	case tag == 6:
		return d.record("InternalWatermark", int32Part("subpartitionIndex"), millis("timestamp"))
	default:
		d.fail(at, "tag of a stream element, 0 to 6", strconv.Itoa(int(tag)), nil)
		return Value{}
	}
}

// twoPhase reads a State of TwoPhaseCommitSinkFunction: the pending transaction
// (behind a flag from outer version 3 on), those to commit, and a context.
func (d *values) twoPhase(c *codec) Value {
	holder := func(d *values) Value {
		return d.record("TransactionHolder", ofType("handle", c.kids[0]), millis("transactionStartTime"))
	}
	return d.record("State",
		part{"pendingTransaction", func(d *values) Value {
			if c.mark && !d.bool("pending transaction present") {
				return Value{Form: Null}
			}
			return holder(d)
		}},
		part{"pendingCommitTransactions", func(d *values) Value {
			return d.items(d.count("number of transactions", 8), func(int) Value { return holder(d) })
		}},
		part{"context", func(d *values) Value {
			if !d.bool("context present") {
				return Value{Form: Null}
			}
			return d.value(c.kids[1])
		}})
}
