package metadata_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand"
	"slices"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
)

// spanOffsets gives values as a span of an input, behind some other bytes.
func spanOffsets(values []int64) (decoder.Input, metadata.Offsets) {
	b := []byte("before")
	for _, v := range values {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	return decoder.Bytes{Data: b, Label: "offsets"}, metadata.Offsets{Span: decoder.Span{Off: 6, Len: int64(8 * len(values))}}
}

// all reads the array in three ways, which must agree.
func all(t *testing.T, in decoder.Input, o metadata.Offsets) []int64 {
	t.Helper()
	got := []int64{}
	if err := o.Each(in, func(i, v int64) error {
		if i != int64(len(got)) {
			t.Errorf("element %d given as %d", len(got), i)
		}
		got = append(got, v)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if int64(len(got)) != o.Len() {
		t.Fatalf("Len %d, Each gave %d", o.Len(), len(got))
	}
	for i := range got {
		if v, err := o.At(in, int64(i)); err != nil || v != got[i] {
			t.Fatalf("At(%d) = %d, %v, want %d", i, v, err, got[i])
		}
		page := make([]int64, 3)
		n, err := o.Read(in, int64(i), page)
		if err != nil || !slices.Equal(page[:n], got[i:min(i+3, len(got))]) {
			t.Fatalf("Read(%d) = %v, %v", i, page[:n], err)
		}
	}
	return got
}

func TestOffsets(t *testing.T) {
	values := []int64{10, 20, 30, 40, 50, 60, 70, 80}
	R := func(first, last int64) metadata.Range { return metadata.Range{First: first, Last: last} }
	tests := []struct {
		name string
		edit func(o metadata.Offsets) metadata.Offsets
		want []int64
	}{
		{"as it is", func(o metadata.Offsets) metadata.Offsets { return o }, values},
		{"nothing dropped", func(o metadata.Offsets) metadata.Offsets { return o.Without(nil) }, values},
		{"first and last", func(o metadata.Offsets) metadata.Offsets { return o.Without([]metadata.Range{R(7, 7), R(0, 0)}) }, []int64{20, 30, 40, 50, 60, 70}},
		{"overlapping and outside", func(o metadata.Offsets) metadata.Offsets {
			return o.Without([]metadata.Range{R(2, 4), R(3, 5), R(7, 99), R(50, 60), R(-5, 0)})
		}, []int64{20, 70}},
		{"all", func(o metadata.Offsets) metadata.Offsets { return o.Without([]metadata.Range{R(0, 7)}) }, []int64{}},
		{"dropped twice", func(o metadata.Offsets) metadata.Offsets {
			return o.Without([]metadata.Range{R(1, 1)}).Without([]metadata.Range{R(1, 1), R(5, 5)})
		}, []int64{10, 40, 50, 60, 80}},
		{"all moved", func(o metadata.Offsets) metadata.Offsets { return o.Shifted([]metadata.Shift{{First: 0, Delta: -4}}) }, []int64{6, 16, 26, 36, 46, 56, 66, 76}},
		{"dropped and moved", func(o metadata.Offsets) metadata.Offsets {
			return o.Without([]metadata.Range{R(2, 3)}).Shifted([]metadata.Shift{{First: 2, Delta: -20}, {First: 4, Delta: 5}})
		}, []int64{10, 20, 30, 40, 75, 85}},
		{"moved, dropped, moved", func(o metadata.Offsets) metadata.Offsets {
			o = o.Shifted([]metadata.Shift{{First: 4, Delta: 1}}).Without([]metadata.Range{R(3, 4)})
			return o.Shifted([]metadata.Shift{{First: 3, Delta: 1}, {First: 99, Delta: 7}})
		}, []int64{10, 20, 30, 62, 72, 82}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, o := spanOffsets(values)
			if got := all(t, in, tt.edit(o)); !slices.Equal(got, tt.want) {
				t.Errorf("of a span: %v, want %v", got, tt.want)
			}
			if got := all(t, nil, tt.edit(metadata.NewOffsets(values))); !slices.Equal(got, tt.want) {
				t.Errorf("of literal values: %v, want %v", got, tt.want)
			}
		})
	}
}

// TestOffsetsRandom compares chains of edits with the same edits of a slice.
func TestOffsetsRandom(t *testing.T) {
	rnd := rand.New(rand.NewSource(3))
	for range 200 {
		values := make([]int64, rnd.Intn(60))
		for i := range values {
			values[i] = rnd.Int63n(1000)
		}
		in, o := spanOffsets(values)
		want := slices.Clone(values)
		for range rnd.Intn(5) {
			n := int64(len(want))
			if n > 0 && rnd.Intn(2) == 0 {
				r := metadata.Range{First: rnd.Int63n(n)}
				r.Last = r.First + rnd.Int63n(5)
				o = o.Without([]metadata.Range{r})
				want = slices.Delete(want, int(r.First), int(min(r.Last+1, n)))
				continue
			}
			s := []metadata.Shift{{First: rnd.Int63n(n + 1), Delta: rnd.Int63n(9) - 4}}
			s = append(s, metadata.Shift{First: s[0].First + rnd.Int63n(4), Delta: rnd.Int63n(9)})
			o = o.Shifted(s)
			for i := range want {
				if int64(i) >= s[1].First {
					want[i] += s[1].Delta
				} else if int64(i) >= s[0].First {
					want[i] += s[0].Delta
				}
			}
		}
		if got := all(t, in, o); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

func TestOffsetsErrors(t *testing.T) {
	in, o := spanOffsets([]int64{1, 2})
	for _, i := range []int64{-1, 2, 3} {
		if _, err := o.At(in, i); err == nil {
			t.Errorf("At(%d): no error", i)
		}
	}
	if _, err := metadata.NewOffsets(nil).Last(nil); err == nil {
		t.Error("Last of nothing: no error")
	}
	o.Span.Len = 80 // as where the file was cut after it was opened
	var e *decoder.Error
	if err := o.Each(in, func(i, v int64) error { return nil }); !errors.As(err, &e) || e.Offset != 22 {
		t.Errorf("%v", err)
	}
	stop := errors.New("stop")
	if err := o.Each(in, func(i, v int64) error { return stop }); err == nil {
		t.Error("no error")
	}
}

// TestEncodeEdited drops and moves elements of a union list in a decoded file.
func TestEncodeEdited(t *testing.T) {
	c := decode(t, unhex(t, vectorV3))
	s := &c.Operators[0].Subtasks[0].State.ManagedOperator.States[0]
	s.Offsets = metadata.NewOffsets([]int64{1, 2, 3, 4}).Without([]metadata.Range{{First: 1, Last: 2}}).Shifted([]metadata.Shift{{First: 1, Delta: -2}})
	c.Operators[0].Subtasks = c.Operators[0].Subtasks[:1]
	out := encode(t, c)
	if n, err := metadata.EncodedSize(c); err != nil || n != int64(len(out)) {
		t.Errorf("EncodedSize %d, %v, want %d", n, err, len(out))
	}
	want := bytes.Replace(unhex(t, vectorV3), unhex(t, "00000001 0000000000000005"), unhex(t, "00000002 0000000000000001 0000000000000002"), 1)
	want = bytes.Replace(want[:len(want)-4], unhex(t, "00 00000002 00000000"), unhex(t, "00 00000001 00000000"), 1)
	if !bytes.Equal(out, want) {
		t.Errorf("% x\n% x", out, want)
	}
}
