package serde_test

import (
	"bytes"
	"testing"

	"chkscope/decoder/internal/realfiles"
	"chkscope/decoder/keyed"
	"chkscope/decoder/serde"
)

// TestEncodeText writes the keys of real streams from their text: the bytes are
// those of Flink.
func TestEncodeText(t *testing.T) {
	same, not := map[string]int{}, map[string]int{}
	eachKeyed(t, nil, func(s *realfiles.Snapshot, st *keyed.Stream) {
		var types []keyed.Types
		for id := range st.Header.States {
			types = append(types, st.Header.Types(id, st.Layout, 128))
		}
		if st.Header.Key == nil {
			return
		}
		kind := st.Header.Key.Kind.String()
		for i := range st.Groups() {
			st.Walk(i, 1<<20, func(e keyed.Entry) error {
				p := types[e.State].Split(e)
				if p.Why != "" || types[e.State].Queue {
					return nil
				}
				v, _, err := serde.DecodeAll(st.Header.Key, p.Key, serde.DefaultLimits)
				if err != nil {
					return nil
				}
				b, ok := serde.EncodeText(st.Header.Key, v.String())
				switch {
				case !ok:
					not[kind]++
				case !bytes.Equal(b, p.Key):
					t.Errorf("%s: %s: %x, not %x", s.Name, v, b, p.Key)
				default:
					same[kind]++
				}
				return nil
			})
		}
	})
	t.Log(same, "not written:", not)
	for _, kind := range []string{"Long", "String", "Tuple", "RowData"} {
		if same[kind] < 50 {
			t.Errorf("%s: %d keys", kind, same[kind])
		}
	}
}

func TestEncodeTextRefuses(t *testing.T) {
	for _, c := range []struct {
		kind serde.Kind
		text string
	}{{serde.Long, "x"}, {serde.Long, ""}, {serde.Int, "3000000000"}, {serde.Byte, "200"}, {serde.Boolean, "7"}, {serde.Char, "ab"}, {serde.UUID, "12"},
		{serde.Enum, "A"}, {serde.Tuple, "(1)"}, {serde.Tuple, "1"}, {serde.RowData, "(1)"}, {serde.Kryo, "a"}, {serde.Unknown, "a"}} {
		if b, ok := serde.EncodeText(&serde.Snapshot{Kind: c.kind}, c.text); ok {
			t.Errorf("%s %q: %x", c.kind, c.text, b)
		}
	}
}
