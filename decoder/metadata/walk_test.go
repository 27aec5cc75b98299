package metadata_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/metadata/metatest"
)

// TestEachStream lists every stream of the file that holds everything.
func TestEachStream(t *testing.T) {
	c := decode(t, encode(t, metatest.All(6)))
	var got []string
	err := c.EachStream(func(u metadata.StreamUse) error {
		got = append(got, fmt.Sprintf("%s: type %d held %v", u, u.Stream.Type, u.Held))
		if (u.Place == metadata.ManagedKeyed || u.Place == metadata.RawKeyed) != (u.Keyed != nil) ||
			(u.Place == metadata.InputChannels || u.Place == metadata.OutputChannels) != (u.Channel != nil) ||
			(u.Place == metadata.ManagedOperator || u.Place == metadata.RawOperator) != (u.OperatorHandle != nil) {
			t.Errorf("%s: not with the handle around it", u)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	incremental := func(prefix string) []string {
		return []string{
			prefix + " / meta: type 1 held true",
			prefix + " / shared 000001.sst: type 15 held false",
			prefix + " / shared 000002.sst: type 6 held false",
			prefix + " / private CURRENT: type 1 held false",
			prefix + " / private MANIFEST-4: type 6 held false",
		}
	}
	want := []string{
		"operator 0 / coordinator state: type 1 held true",
		"operator 0 / subtask 0 / managed operator state / delegate: type 2 held true",
		"operator 0 / subtask 0 / raw operator state / delegate: type 1 held true",
		"operator 0 / subtask 0 / managed keyed state / delegate: type 6 held true",
		"operator 0 / subtask 0 / raw keyed state / delegate: type 6 held true",
		"operator 0 / subtask 3 / managed operator state / delegate: type 15 held true",
		"operator 0 / subtask 3 / managed keyed state / delegate: type 6 held true",
	}
	want = append(want, incremental("operator 1 / subtask 0 / managed keyed state")...)
	want = append(want, incremental("operator 1 / subtask 1 / managed keyed state")...)
	for _, s := range []string{"2", "3"} {
		want = append(want, incremental("operator 1 / subtask "+s+" / managed keyed state / materialized")...)
		want = append(want, "operator 1 / subtask "+s+" / managed keyed state / non-materialized / increment 0: type 6 held true")
	}
	for i := range 3 {
		want = append(want, fmt.Sprintf("operator 2 / subtask 2 / input channel state / delegate %d: type 6 held false", i))
	}
	for i := range 2 {
		want = append(want, fmt.Sprintf("operator 2 / subtask 2 / result subpartition state / delegate %d: type 6 held false", i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	stop, n := errors.New("stop"), 0
	err = c.EachStream(func(metadata.StreamUse) error {
		if n++; n == 9 {
			return stop
		}
		return nil
	})
	if err != stop || n != 9 {
		t.Errorf("stopped after %d with %v", n, err)
	}
}

// TestEachStreamLegacy visits the places that only old files have.
func TestEachStreamLegacy(t *testing.T) {
	var got []string
	for _, v := range []string{vectorV1, vectorV2Legacy} {
		err := decode(t, unhex(t, v)).EachStream(func(u metadata.StreamUse) error {
			got = append(got, u.String())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"operator 0 / subtask 1 / legacy state / 0",
		"operator 0 / subtask 1 / managed operator state / delegate 1",
		"operator 0 / subtask 1 / managed keyed state / delegate",
		"operator 0 / subtask 0 / legacy state / 1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestEditStreams makes every relative path absolute, in lists that are decoded
// on demand too, and nothing else changes.
func TestEditStreams(t *testing.T) {
	for v := int32(2); v <= 6; v++ {
		c := decode(t, encode(t, metatest.All(v)))
		relative := 0
		err := c.EditStreams(func(u metadata.StreamUse) (bool, error) {
			if u.Stream.Type != metadata.TypeRelativeFile {
				return false, nil
			}
			relative++
			*u.Stream = metadata.StreamHandle{Type: metadata.TypeFile, Size: u.Stream.Size, Name: "file:/base/" + u.Stream.Name}
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		edited := decode(t, encode(t, c))
		var before, after []string
		list := func(c *metadata.Checkpoint, to *[]string) {
			if err := c.EachStream(func(u metadata.StreamUse) error {
				*to = append(*to, fmt.Sprint(u, " ", strings.TrimPrefix(u.Stream.Name, "file:/base/"), " ", u.Stream.Size))
				if u.Stream.Type == metadata.TypeRelativeFile && c == edited {
					t.Errorf("V%d: %s is relative still", v, u)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		list(decode(t, encode(t, metatest.All(v))), &before)
		list(edited, &after)
		if relative == 0 || !slices.Equal(before, after) {
			t.Errorf("V%d: %d edited\n%s\n%s", v, relative, strings.Join(before, "\n"), strings.Join(after, "\n"))
		}
	}
}

// TestLists decodes the lists that are stepped over when the file is opened.
func TestLists(t *testing.T) {
	c := decode(t, encode(t, metatest.All(6)))
	incr := c.Operators[1].Subtasks[1].State.ManagedKeyed.Incr
	files, err := incr.Shared.Load(c.In)
	if err != nil || len(files) != 2 || incr.Shared.Len() != 2 || files[0].Key != "000001.sst" || files[0].Stream.Seg.LogicalID != "c0ffee" || files[1].Stream.Keyed.Stream.Name != "groups" {
		t.Errorf("shared: %+v, %v", files, err)
	}
	log := c.Operators[1].Subtasks[2].State.ManagedKeyed.Changelog.NonMaterialized[0].Inline.Changes
	var changes []string
	err = log.Each(c.In, func(g int32, s decoder.Span) error {
		b, err := decoder.ReadSpan(c.In, s, 100)
		changes = append(changes, fmt.Sprintf("%d %s", g, b))
		return err
	})
	if err != nil || !slices.Equal(changes, []string{"4 put", "-1 meta"}) || log.Bytes() != 7 {
		t.Errorf("changes %q, %d bytes, %v", changes, log.Bytes(), err)
	}
	flight := c.Operators[2].Subtasks[1].State
	in, err := flight.Input.Load(c)
	if err != nil || len(in) != 3 || in[1].Kind != metadata.ChannelInput || in[1].B != 1 || in[1].Size != 80 || in[1].Offsets.Len() != 2 {
		t.Errorf("input: %+v, %v", in, err)
	}
	out, err := flight.Output.Load(c)
	if err != nil || len(out) != 2 || out[0].Kind != metadata.ChannelOutput || out[1].Kind != metadata.ChannelMergedOutput || !flight.Output.Output {
		t.Errorf("output: %+v, %v", out, err)
	}
	var packed []string
	err = in[2].EachPacked(c.In, func(a, b int32, size int64, o metadata.Offsets) error {
		at, err := o.First(c.In)
		packed = append(packed, fmt.Sprint(a, b, size, o.Len(), at))
		return err
	})
	if err != nil || !slices.Equal(packed, []string{"0 0 80 1 4", "0 1 80 1 5"}) {
		t.Errorf("packed %q, %v", packed, err)
	}
}

// TestChannelsBelowV6 has kinds that are not written, and no subtask index in
// the layout of 1.11.
func TestChannelsBelowV6(t *testing.T) {
	c := decode(t, encode(t, metatest.All(3)))
	out, err := c.Operators[2].Subtasks[1].State.Output.Load(c)
	if err != nil || len(out) != 1 || out[0].Kind != metadata.ChannelOutput || out[0].Subtask != 2 {
		t.Errorf("%+v, %v", out, err)
	}
	c = decode(t, unhex(t, vectorV3Channels111))
	in, err := c.Operators[0].Subtasks[0].State.Input.Load(c)
	if err != nil || len(in) != 2 || in[0].A != 0 || in[0].B != 1 || in[1].B != 2 || in[1].Delegate.Name != "f" {
		t.Errorf("%+v, %v", in, err)
	}
}

// TestEncodeRefuses has structures that cannot be written.
func TestEncodeRefuses(t *testing.T) {
	tests := map[string]func(c *metadata.Checkpoint){
		"long name":           func(c *metadata.Checkpoint) { c.Operators[0].UID = strings.Repeat("x", 65536) },
		"unknown stream type": func(c *metadata.Checkpoint) { c.Operators[0].Coordinator.Type = 77 },
		"unknown keyed type":  func(c *metadata.Checkpoint) { c.Operators[0].Subtasks[0].State.ManagedKeyed.Type = 77 },
		"body of another type": func(c *metadata.Checkpoint) {
			c.Operators[0].Subtasks[0].State.ManagedKeyed.Type = metadata.TypeIncremental
		},
		"too few offsets":         func(c *metadata.Checkpoint) { c.Operators[0].Subtasks[0].State.ManagedKeyed.Groups.Number = 3 },
		"finished with entries":   func(c *metadata.Checkpoint) { c.Operators[0].SubtaskCount = -1 },
		"neither state nor mark":  func(c *metadata.Checkpoint) { c.Operators[0].Subtasks[0].State = nil },
		"channel in wrong list":   func(c *metadata.Checkpoint) { wrongChannel(c, metadata.ChannelOutput) },
		"unknown channel kind":    func(c *metadata.Checkpoint) { wrongChannel(c, 9) },
		"segment without place":   func(c *metadata.Checkpoint) { c.Operators[0].Subtasks[1].State.ManagedOperator.Delegate.Seg = nil },
		"operator handle of type": func(c *metadata.Checkpoint) { c.Operators[0].Subtasks[0].State.ManagedOperator.Type = 5 },
	}
	for name, edit := range tests {
		c := decode(t, encode(t, metatest.All(6)))
		edit(c)
		if _, err := metadata.Encode(&strings.Builder{}, c); err == nil {
			t.Errorf("%s: encoded", name)
		}
		if _, err := metadata.EncodedSize(c); err == nil {
			t.Errorf("%s: sized", name)
		}
	}
}

func wrongChannel(c *metadata.Checkpoint, kind byte) {
	c.Operators[2].Subtasks[1].State.Input.New = []metadata.ChannelHandle{{Kind: kind}}
}

// failing takes n bytes.
type failing struct{ n int }

var errFull = errors.New("disk full")

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.n {
		return f.n, errFull
	}
	f.n -= len(p)
	return len(p), nil
}

func TestEncodeToFullDisk(t *testing.T) {
	c := metatest.Incident(200_000)
	size, err := metadata.EncodedSize(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, 1, 300_000, int(size) - 1} {
		n, err := metadata.Encode(&failing{room}, c)
		if !errors.Is(err, errFull) || n != int64(room) {
			t.Errorf("room for %d: %d bytes, %v", room, n, err)
		}
	}
	if n, err := metadata.Encode(&failing{int(size)}, c); err != nil || n != size {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestEncodeWithoutInput writes a checkpoint made from fields alone, and refuses
// one whose fields point to a file that it does not have.
func TestEncodeWithoutInput(t *testing.T) {
	c := &metadata.Checkpoint{Version: 3, ID: 1, Operators: []metadata.Operator{{Parallelism: 1, MaxParallelism: 1}}}
	if got := decode(t, encode(t, c)); got.ID != 1 || len(got.Operators) != 1 {
		t.Errorf("%+v", got)
	}
	c.Trailing.Len = 3
	if _, err := metadata.Encode(&strings.Builder{}, c); err == nil {
		t.Error("bytes of no file encoded")
	}
}
