package connector

import (
	"encoding/binary"
	"reflect"
	"testing"
)

// TestDecoder decodes elements one after the other in the same memory: each is
// what it is alone.
func TestDecoder(t *testing.T) {
	element := func(topic string, partition byte, offset int64) []byte {
		b := append([]byte{kryoTopicPartition, kryoNew, 9, 2 * partition, kryoNew}, topic...)
		b[len(b)-1] |= 0x80
		return binary.BigEndian.AppendUint64(b, uint64(offset))
	}
	hint := append(make([]byte, 7), 5, 0, 0, 0, 4)
	var x Decoder
	for i, c := range []struct {
		state string
		data  []byte
	}{
		{consumerState, element("orders", 1, 7)}, {consumerState, element("payments", 2, 8)}, {consumerState, element("orders", 3, -915623761773)},
		{consumerState, element("orders", 1, 9)}, {consumerState, []byte{1, 2, 3}}, {consumerState, element("orders", 4, 0)},
		{"next-transactional-id-hint-v2", hint}, {consumerState, element("orders", 5, 1)}, {"unknown", hint},
	} {
		want, wantOK, wantErr := Element(Place{State: c.state}, c.data)
		got, ok, err := x.Element(Place{State: c.state}, c.data)
		if ok != wantOK || (err == nil) != (wantErr == nil) {
			t.Errorf("%d: %v, %v, not %v, %v", i, ok, err, wantOK, wantErr)
		}
		if err == nil && (!reflect.DeepEqual(*got, want) || got.Value.String() != want.Value.String()) {
			t.Errorf("%d: %+v, not %+v", i, *got, want)
		}
	}
}
