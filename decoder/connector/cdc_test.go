package connector

import (
	"encoding/hex"
	"strings"
	"testing"
)

var (
	nullBound = utf(strings.ToUpper(hex.EncodeToString([]byte{0xAC, 0xED, 0, 5, 0x70})))
	binlogAt  = join([]byte{1}, sized([]byte(`{"file":"b.1","pos":"4","gtids":null}`)))
	schemas   = join(be(1), utf("s.t"), sized([]byte(`{}`)))

	snapshotSplit = join(be(1), utf("`s`.`t`"), utf("s.t:0"), utf("ROW<`id` BIGINT NOT NULL>"), nullBound, nullBound, []byte{0}, be(0))
	binlogSplit   = join(be(2), utf("binlog-split"), utf(""), binlogAt, []byte{0},
		be(1), utf("s.t"), utf("s.t:0"), nullBound, nullBound, binlogAt, schemas, be(1))
	cdcState = join(be(4), be(3), be(1), utf("s.u"), be(1), sized(snapshotSplit), be(1), utf("s.t:0"), sized(snapshotSplit),
		be(1), utf("s.t:0"), binlogAt, be(2), be(1), utf("s.v"), []byte{1}, schemas, []byte{1}, utf("s.v"), nullBound, be(7), []byte{0})
	cdcCoordinatorV5 = join(be(1), versioned(5, cdcState))
)

func cdcSeeds() [][]byte {
	return [][]byte{cdcCoordinatorV5, sized(versioned(3, binlogSplit)), sized(versioned(4, join(binlogSplit, []byte{1}))), sized(versioned(4, snapshotSplit))}
}

func TestCDCEnumerator(t *testing.T) {
	d, err := DecodeCoordinator(cdcCoordinatorV5)
	if err != nil || d.Connector != "MySQL CDC enumerator" || !d.Value.Decoded() {
		t.Fatalf("%+v, %v", d, err)
	}
	if s := d.Value.Field("splitting"); s.Field("table").Text != "s.v" || s.Field("next_id").N != 7 {
		t.Errorf("splitting %s", s)
	}
	if got := d.Value.Field("assigner").Text; got != "NEWLY_ADDED_ASSIGNING" {
		t.Errorf("assigner %s", got)
	}
	if got := d.Value.Field("finished_offsets").Items[0].Field("at").String(); got != `{file="b.1", pos="4", gtids=null}` {
		t.Errorf("position %s", got)
	}
	for n := range cdcState {
		if d, err := DecodeCoordinator(join(be(1), versioned(5, cdcState[:n]))); err == nil && d.Connector != "source coordinator" {
			t.Errorf("cut to %d bytes: %s", n, d.Connector)
		}
	}
	if d, err := DecodeCoordinator(join(be(1), versioned(5, join(cdcState, []byte{0})))); err != nil || d.Value.Decoded() {
		t.Errorf("with a byte left: %s, %v", d.Connector, err)
	}
}

func TestCDCSplits(t *testing.T) {
	place := Place{State: "SourceReaderState"}
	for i, seed := range cdcSeeds()[1:] {
		d, ok, err := Element(place, seed)
		if !ok || err != nil || d.Connector != "MySQL CDC split" || !d.Value.Decoded() {
			t.Errorf("split %d: %+v, %v", i, d, err)
		}
	}
	for n := range binlogSplit {
		if d, _, err := Element(place, sized(versioned(3, binlogSplit[:n]))); err != nil || d.Connector != "source split" {
			t.Errorf("cut to %d bytes: %s, %v", n, d.Connector, err)
		}
	}
	if d, _, err := Element(place, sized(versioned(3, join(binlogSplit, []byte{0})))); err != nil || d.Value.Decoded() {
		t.Errorf("with a byte left: %s, %v", d.Connector, err)
	}
}
