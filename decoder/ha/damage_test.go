package ha

import (
	"bytes"
	"errors"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
	"chkscope/decoder/metadata"
)

func TestTruncatedEverywhere(t *testing.T) {
	for k, f := range fixtures {
		b := fixture(t, f.object)
		whole := decode(t, f.object, b)
		most, step := 0, 1
		if k > 0 { // the others hold little else
			step = 31
		}
		for i := 0; i < len(b); i += step {
			c, err := Decode(decoder.Bytes{Data: b[:i:i], Label: f.object})
			var e *decoder.Error
			if !errors.As(err, &e) || e.Offset > int64(i) {
				t.Fatalf("%s cut at %d: %v", f.object, i, err)
			}
			if c == nil {
				continue
			}
			if c.Meta.Damage == nil || c.Meta.Unread().End() != int64(i) {
				t.Fatalf("%s cut at %d: unread %v", f.object, i, c.Meta.Unread())
			}
			if len(c.Meta.Operators) < most {
				t.Fatalf("%s cut at %d: %d operators, of less there were %d", f.object, i, len(c.Meta.Operators), most)
			}
			most = len(c.Meta.Operators)
			if _, err := c.Encode(new(bytes.Buffer), c.Meta, ""); err == nil {
				t.Fatal("a damaged object was written")
			}
		}
		if most != len(whole.Meta.Operators) {
			t.Errorf("%s: at most %d operators of %d", f.object, most, len(whole.Meta.Operators))
		}
	}
}

func TestFlippedBits(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for _, f := range fixtures {
		orig := fixture(t, f.object)
		for range 400 {
			b := bytes.Clone(orig)
			for range 1 + rng.Intn(3) {
				b[rng.Intn(len(b))] ^= 1 << rng.Intn(8)
			}
			checkBytes(t, b)
		}
	}
}

// checkBytes decodes any bytes: no panic, and what is decoded whole is written
// as it was.
func checkBytes(t *testing.T, b []byte) {
	c, err := Decode(decoder.Bytes{Data: b})
	if err != nil {
		var e *decoder.Error
		if !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(b)) {
			t.Fatalf("error %v", err)
		}
		if c != nil {
			// The partial structures can be walked.
			_ = c.Meta.EachStream(func(metadata.StreamUse) error { return nil })
		}
		return
	}
	var out bytes.Buffer
	if _, err := c.Encode(&out, c.Meta, ""); err != nil {
		if strings.Contains(err.Error(), "shared") || strings.Contains(err.Error(), "twice") {
			return
		}
		t.Fatalf("without edits: %v", err)
	}
	if !bytes.Equal(out.Bytes(), b[:c.stream.Span.Len]) {
		t.Fatal("written without edits it differs")
	}
	edited := clone(c.Meta)
	eachState(edited, func(s *metadata.SubtaskState) { s.ManagedOperator = nil })
	out.Reset()
	if _, err := c.Encode(&out, edited, ""); err != nil {
		return
	}
	if _, err := Decode(decoder.Bytes{Data: out.Bytes()}); err != nil {
		t.Fatalf("edited it is not read: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, x := range fixtures {
		f.Add(fixture(f, x.object))
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkBytes(t, b) })
}

func TestNotAnObject(t *testing.T) {
	for name, b := range map[string][]byte{"a pointer": fixture(t, "zookeeper.pointer"), "a string": []byte("\xac\xed\x00\x05\x74\x00\x01x"), "null": []byte("\xac\xed\x00\x05\x70")} {
		c, err := Decode(decoder.Bytes{Data: b})
		if c != nil || !errors.Is(err, ErrNotObject) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c, err := Decode(decoder.Bytes{Data: []byte("hello")}); c != nil || err == nil || errors.Is(err, ErrNotObject) {
		t.Errorf("no stream: %v", err)
	}
	if !IsObjectStream(decoder.Bytes{Data: fixture(t, "flink-1.13.object")}) || IsObjectStream(decoder.Bytes{Data: []byte{0xac, 0xed}}) || IsObjectStream(decoder.Bytes{Data: []byte("_metadata")}) {
		t.Error("IsObjectStream is wrong")
	}
}

// changed gives the object with an edit of its graph.
func changed(t *testing.T, name string, edit func(s *javaobj.Stream, e *javaobj.Edit) error) []byte {
	t.Helper()
	c := decode(t, name, fixture(t, name))
	e := c.stream.Edit()
	if err := edit(c.stream, e); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := e.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// all gives the objects of a class, named without its package.
func all(s *javaobj.Stream, class string) (list []javaobj.Node) {
	for n := range s.Nodes() {
		if n.Kind() == javaobj.Object && n.Class().ShortName() == class {
			list = append(list, n)
		}
	}
	return list
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, path, expected, found string
		edit                        func(s *javaobj.Stream, e *javaobj.Edit) error
	}{
		{"negative parallelism", "operator 0", "parallelism between", "-1 of 128", func(s *javaobj.Stream, e *javaobj.Edit) error {
			return e.SetInt(all(s, "OperatorState")[0], "parallelism", -1)
		}},
		{"subtask index", "subtask entry 1", "below the parallelism", "9", func(s *javaobj.Stream, e *javaobj.Edit) error {
			return e.SetInt(all(s, "Integer")[1], "value", 9)
		}},
		{"handle of another kind", "managed operator state / handle 0", "a org.apache.flink.runtime.state.OperatorStreamStateHandle", "KeyedStateHandle", func(s *javaobj.Stream, e *javaobj.Edit) error {
			for _, n := range all(s, "OperatorSubtaskState") {
				if err := e.Set(n, managedOperator, n.Field(managedKeyed)); err != nil {
					return err
				}
			}
			return nil
		}},
		{"two handles", "managed operator state / handle 1", "one handle", "a second one", func(s *javaobj.Stream, e *javaobj.Edit) error {
			channels := all(s, "InputChannelStateHandle")
			for _, n := range all(s, "OperatorSubtaskState") {
				if element(n, inputChannels) == channels[0] {
					h := all(s, "OperatorStreamStateHandle")[0]
					if err := e.Set(n, managedOperator, n.Field(inputChannels)); err != nil {
						return err
					}
					if err := e.Set(n, inputChannels, e.Null()); err != nil {
						return err
					}
					return e.SetElements(n.Field(inputChannels).Field("stateObjects"), []javaobj.Node{h, h})
				}
			}
			return errors.New("no channels")
		}},
		{"no delegate", "delegate", "a delegate", "null", func(s *javaobj.Stream, e *javaobj.Edit) error {
			return e.Set(all(s, "OperatorStreamStateHandle")[0], "delegateStateHandle", e.Null())
		}},
		{"stream of an unknown kind", "delegate", "a stream handle that is known", "MasterState", func(s *javaobj.Stream, e *javaobj.Edit) error {
			return e.Set(all(s, "OperatorStreamStateHandle")[0], "delegateStateHandle", all(s, "MasterState")[0])
		}},
		{"handle inside itself", "", "at most 8 handles", "more", func(s *javaobj.Stream, e *javaobj.Edit) error {
			n := all(s, "KeyGroupsStateHandle")[0]
			return e.Set(n, "stateHandle", n)
		}},
		{"range of key groups", "managed keyed state", "a range of key groups", "-5 to", func(s *javaobj.Stream, e *javaobj.Edit) error {
			return e.SetInt(all(s, "KeyGroupRange")[0], "startKeyGroup", -5)
		}},
		{"offsets of key groups", "managed keyed state", "2 offsets", "1", func(s *javaobj.Stream, e *javaobj.Edit) error {
			return e.SetContent(all(s, "KeyGroupRangeOffsets")[0].Field("offsets"), javaobj.BytesContent(make([]byte, 8)))
		}},
	} {
		b := changed(t, "flink-1.15.object", c.edit)
		got, err := Decode(decoder.Bytes{Data: b})
		var d *decoder.Error
		if !errors.As(err, &d) || !strings.Contains(d.Path, c.path) || !strings.Contains(d.Expected, c.expected) || !strings.Contains(d.Found, c.found) || d.Offset <= 0 {
			t.Errorf("%s: %v", c.name, err)
		}
		if got == nil || got.Meta.Damage != d {
			t.Errorf("%s: nothing of it is shown", c.name)
		}
	}
}

// TestSharedBytes: what several handles share counts once.
func TestSharedBytes(t *testing.T) {
	b := changed(t, "flink-2.3.object", func(s *javaobj.Stream, e *javaobj.Edit) error {
		bytes := all(s, "ByteStreamStateHandle")[0]
		for _, class := range []string{"InputChannelStateHandle", "ResultSubpartitionStateHandle", "MergedInputChannelStateHandle"} {
			for _, n := range all(s, class) {
				if err := e.Set(n, "delegate", bytes); err != nil {
					return err
				}
			}
		}
		return nil
	})
	c := decode(t, "shared", b)
	accounted(t, "shared", c.Meta)
	handles, counted := map[decoder.Span]int{}, map[decoder.Span]int64{}
	err := c.Meta.EachStream(func(u metadata.StreamUse) error {
		if u.Stream.Type == metadata.TypeByteStream {
			span := u.Stream.Data.Span
			handles[span]++
			counted[span] += u.Stream.InlineBytes()
			data, err := u.Stream.Data.Read(c.Meta.In, 1000)
			if err != nil || int64(len(data)) != u.Stream.Size {
				t.Errorf("%d bytes, %v", len(data), err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for span, n := range counted {
		if most = max(most, handles[span]); n != span.Len {
			t.Errorf("%d bytes of %d handles count as %d", span.Len, handles[span], n)
		}
	}
	if most < 5 {
		t.Errorf("at most %d handles share bytes", most)
	}
	checkEdits(t, "shared", b, nil)
}

// TestSharedHandles: a handle that two subtasks share cannot be changed in one.
func TestSharedHandles(t *testing.T) {
	b := changed(t, "flink-1.15.object", func(s *javaobj.Stream, e *javaobj.Edit) error {
		states := all(s, "OperatorSubtaskState")
		states = slices.DeleteFunc(states, func(n javaobj.Node) bool { return element(n, managedOperator).IsNull() })
		return e.Set(states[1], managedOperator, states[0].Field(managedOperator))
	})
	c := decode(t, "shared", b)
	handles := []*metadata.OperatorHandle{}
	edited := clone(c.Meta)
	eachState(edited, func(s *metadata.SubtaskState) {
		if s.ManagedOperator != nil {
			handles = append(handles, s.ManagedOperator)
		}
	})
	if len(handles) != 2 {
		t.Fatalf("%d handles", len(handles))
	}
	handles[1].States = handles[1].States[1:]
	if _, err := c.Encode(new(bytes.Buffer), edited, ""); err == nil || !strings.Contains(err.Error(), "shared") {
		t.Errorf("a change of one of two: %v", err)
	}
}

// TestFixedSize: lists of java.util.Collections are replaced where they grow.
func TestFixedSize(t *testing.T) {
	b := changed(t, "flink-1.20.object", func(s *javaobj.Stream, e *javaobj.Edit) error {
		var empty javaobj.Node
		for _, n := range all(s, "Collections$EmptyList") {
			empty = n
		}
		for _, n := range all(s, "IncrementalRemoteKeyedStateHandle") {
			if err := e.Set(n, "privateState", empty); err != nil {
				return err
			}
		}
		return nil
	})
	c := decode(t, "fixed size", b)
	eachKeyed(c.Meta, func(k *metadata.KeyedHandle) {
		if k.Incr != nil && k.Incr.Private.Count != 0 {
			t.Fatalf("%d private files", k.Incr.Private.Count)
		}
	})
	checkEdits(t, "fixed size", b, nil)
}

func TestBudget(t *testing.T) {
	defer func(n int64) { budgetBase = n }(budgetBase)
	b := fixture(t, "flink-1.15.object")
	budgetBase = -3*int64(len(b)) + 20*elementBytes
	c, err := Decode(decoder.Bytes{Data: b})
	if err == nil || !strings.Contains(err.Error(), "memory") || c == nil {
		t.Errorf("with little memory: %v", err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	c := decode(t, "flink-1.20.object", fixture(t, "flink-1.20.object"))
	for _, r := range []struct {
		name, err string
		edit      func(m *metadata.Checkpoint)
	}{
		{"another checkpoint", "not those of this object", func(m *metadata.Checkpoint) { m.ID++ }},
		{"an operator more", "is there twice", func(m *metadata.Checkpoint) { m.Operators = append(m.Operators, m.Operators[0]) }},
		{"another operator", "is not in the object", func(m *metadata.Checkpoint) { m.Operators[0].ID[0]++ }},
		{"parallelism", "differ", func(m *metadata.Checkpoint) { m.Operators[0].Parallelism++ }},
		{"a subtask twice", "is there twice", func(m *metadata.Checkpoint) {
			for i := range m.Operators {
				for k := range m.Operators[i].Subtasks {
					m.Operators[i].Subtasks[k].Index = 0
				}
			}
		}},
		{"another subtask", "is not in the object", func(m *metadata.Checkpoint) {
			for i := range m.Operators {
				for k := range m.Operators[i].Subtasks {
					m.Operators[i].Subtasks[k].Index += 10
				}
			}
		}},
		{"finished", "finished mark", func(m *metadata.Checkpoint) {
			for i := range m.Operators {
				for k := range m.Operators[i].Subtasks {
					m.Operators[i].Subtasks[k].Finished = true
				}
			}
		}},
		{"another state", "is not in the object", func(m *metadata.Checkpoint) {
			eachOperatorHandle(m, func(h **metadata.OperatorHandle) { (*h).States[0].Name = "other" })
		}},
		{"mode", "mode", func(m *metadata.Checkpoint) {
			eachOperatorHandle(m, func(h **metadata.OperatorHandle) { (*h).States[0].Mode = 2 })
		}},
		{"kind of keyed handle", "type or key groups", func(m *metadata.Checkpoint) {
			eachKeyed(m, func(k *metadata.KeyedHandle) { k.Type = metadata.TypeSavepoint })
		}},
		{"half of the in-flight data", "go together", func(m *metadata.Checkpoint) {
			eachState(m, func(s *metadata.SubtaskState) {
				if len(s.Input.New) > 1 {
					s.Input.New = s.Input.New[:1]
				}
			})
		}},
		{"a segment", "cannot be made", func(m *metadata.Checkpoint) {
			eachOperatorHandle(m, func(h **metadata.OperatorHandle) {
				(*h).Delegate = metadata.StreamHandle{Type: metadata.TypeSegment, Name: "x", Seg: &metadata.Segment{}}
			})
		}},
		{"a new file without a directory", "directory", func(m *metadata.Checkpoint) {
			eachOperatorHandle(m, func(h **metadata.OperatorHandle) {
				(*h).Delegate = metadata.StreamHandle{Type: metadata.TypeRelativeFile, Name: "x"}
			})
		}},
		{"a log that is shorter", "has 2 handles and not 1", func(m *metadata.Checkpoint) {
			eachKeyed(m, func(k *metadata.KeyedHandle) {
				if k.Changelog != nil {
					k.Changelog.NonMaterialized = k.Changelog.NonMaterialized[:1]
				}
			})
		}},
	} {
		edited := clone(c.Meta)
		r.edit(edited)
		if _, err := c.Encode(new(bytes.Buffer), edited, ""); err == nil || !strings.Contains(err.Error(), r.err) {
			t.Errorf("%s: %v", r.name, err)
		}
	}
	if _, err := metadata.Encode(new(bytes.Buffer), c.Meta); err == nil {
		t.Error("an object was written as _metadata")
	}
}
