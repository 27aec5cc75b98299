package metadata

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"chkscope/decoder"
)

// javaStream writes the parts of an object stream, without references.
type javaStream struct{ strings.Builder }

func (s *javaStream) utf(v string) {
	s.WriteString(string(binary.BigEndian.AppendUint16(nil, uint16(len(v)))))
	s.WriteString(v)
}

// class writes a descriptor. A field is its type (L with the type's name behind
// it) and name, as in "Z forced", "Ljava/lang/String; name".
func (s *javaStream) class(name string, uid int64, flags byte, fields ...string) {
	s.WriteByte(0x72)
	s.utf(name)
	s.WriteString(string(binary.BigEndian.AppendUint64(nil, uint64(uid))))
	s.WriteByte(flags)
	s.WriteString(string(binary.BigEndian.AppendUint16(nil, uint16(len(fields)))))
	for _, f := range fields {
		sig, field, _ := strings.Cut(f, " ")
		s.WriteByte(sig[0])
		s.utf(field)
		if sig[0] == 'L' {
			s.str(sig)
		}
	}
	s.WriteByte(0x78)
}

func (s *javaStream) str(v string) {
	s.WriteByte(0x74)
	s.utf(v)
}

func (s *javaStream) enum(class, constant string) {
	s.WriteByte(0x7e)
	s.class(class, 0, 0x12)
	s.class("java.lang.Enum", 0, 0x12)
	s.WriteByte(0x70)
	s.str(constant)
}

// propertiesTail writes what Flink writes, but for the references.
func propertiesTail(flags string, snapshotType func(*javaStream)) []byte {
	s := &javaStream{}
	s.WriteString("\xac\xed\x00\x05\x73")
	s.class(checkpointPackage+"CheckpointProperties", 2, 2,
		"Z discardCancelled", "Z discardFailed", "Z discardFinished", "Z discardSubsumed", "Z discardSuspended", "Z forced", "Z unclaimed",
		"Lorg/apache/flink/runtime/checkpoint/SnapshotType; checkpointType")
	s.WriteByte(0x70)
	s.WriteString(flags)
	snapshotType(s)
	return []byte(s.String())
}

func checkpointType(name, sharing string) func(*javaStream) {
	return func(s *javaStream) {
		s.WriteByte(0x73)
		s.class(checkpointPackage+"CheckpointType", -2963844630364414662, 2, "Ljava/lang/String; name", "LX; sharingFilesStrategy")
		s.WriteByte(0x70)
		s.str(name)
		s.enum(checkpointPackage+"SnapshotType$SharingFilesStrategy", sharing)
	}
}

func savepointType(format, name, action string) func(*javaStream) {
	return func(s *javaStream) {
		s.WriteByte(0x73)
		s.class(checkpointPackage+"SavepointType", -6879297871714708296, 2, "LX; formatType", "Ljava/lang/String; name", "LX; postCheckpointAction")
		s.WriteByte(0x70)
		s.enum("org.apache.flink.core.execution.SavepointFormatType", format)
		s.str(name)
		s.enum(checkpointPackage+"SavepointType$PostCheckpointAction", action)
	}
}

func enumType(constant string) func(*javaStream) {
	return func(s *javaStream) { s.enum(checkpointPackage+"CheckpointType", constant) }
}

const none = "\x00\x00\x00\x00\x00\x00\x00"

func TestParseProperties(t *testing.T) {
	for _, c := range []struct {
		name string
		buf  []byte
		want Properties
	}{
		{"null", []byte("\xac\xed\x00\x05\x70"), Properties{}},
		{"checkpoint", propertiesTail("\x01\x01\x01\x01\x01\x00\x00", checkpointType("Checkpoint", "FORWARD_BACKWARD")),
			Properties{Present: true, Kind: KindCheckpoint, Name: "Checkpoint", Sharing: "FORWARD_BACKWARD", Discard: Discard{true, true, true, true, true}}},
		{"full", propertiesTail("\x00\x00\x00\x01\x00\x00\x01", checkpointType("Full Checkpoint", "FORWARD")),
			Properties{Present: true, Kind: KindFullCheckpoint, Name: "Full Checkpoint", Sharing: "FORWARD", Discard: Discard{Subsumed: true}, Unclaimed: true}},
		{"canonical", propertiesTail("\x00\x00\x00\x00\x00\x01\x00", savepointType("CANONICAL", "Savepoint", "NONE")),
			Properties{Present: true, Kind: KindSavepointCanonical, Name: "Savepoint", PostAction: "NONE", Forced: true}},
		{"native", propertiesTail(none, savepointType("NATIVE", "Terminate Savepoint", "TERMINATE")),
			Properties{Present: true, Kind: KindSavepointNative, Name: "Terminate Savepoint", PostAction: "TERMINATE"}},
		{"enum of 1.14", propertiesTail(none, enumType("SAVEPOINT_SUSPEND")),
			Properties{Present: true, Kind: KindSavepointCanonical, Name: "SAVEPOINT_SUSPEND", PostAction: "SUSPEND"}},
		{"enum, checkpoint", propertiesTail(none, enumType("CHECKPOINT")), Properties{Present: true, Kind: KindCheckpoint, Name: "CHECKPOINT"}},
		{"a strategy to come", propertiesTail(none, checkpointType("Checkpoint", "OTHER")), Properties{Present: true, Name: "Checkpoint", Sharing: "OTHER"}},
	} {
		got, err := ParseProperties(append(c.buf[:len(c.buf):len(c.buf)], "more"...))
		c.want.Len = int64(len(c.buf))
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

func TestParsePropertiesErrors(t *testing.T) {
	whole := propertiesTail(none, savepointType("CANONICAL", "Savepoint", "NONE"))
	for i := range whole {
		_, err := ParseProperties(whole[:i])
		var e *decoder.Error
		if !errors.As(err, &e) || e.Offset > int64(i) || !strings.HasPrefix(e.Path, "properties") {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	string5 := "\xac\xed\x00\x05\x74\x00\x01x"
	noType := propertiesTail(none, func(s *javaStream) { s.WriteByte(0x70) })
	for name, buf := range map[string]string{"garbage": "\xac\xed\x00\x05garbage", "a string": string5, "no type": string(noType)} {
		var e *decoder.Error
		if _, err := ParseProperties([]byte(buf)); !errors.As(err, &e) || e.Offset > int64(len(buf)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPropertiesOfCorpus(t *testing.T) {
	kinds := map[string]int{}
	corpusFiles(t, func(name string, data []byte) {
		c, err := Decode(decoder.Bytes{Data: data, Label: name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if c.Version < 4 {
			return
		}
		p, err := ReadProperties(c.In, c.Properties)
		if err != nil || p.Len != c.Properties.Len {
			t.Errorf("%s: %d of %d bytes, %v", name, p.Len, c.Properties.Len, err)
			return
		}
		want := ""
		switch {
		case strings.Contains(name, "savepoint-native") || strings.Contains(name, "-native/"):
			want = KindSavepointNative
		case strings.Contains(name, "-canonical/") || strings.HasSuffix(name, "-savepoint/_metadata"):
			want = KindSavepointCanonical
		case strings.Contains(name, "/chk-"):
			want = KindCheckpoint
		}
		if want != "" && p.Kind != want && !(want == KindCheckpoint && p.Kind == KindFullCheckpoint) {
			t.Errorf("%s: %q, want %q", name, p.Kind, want)
		}
		kinds[p.Kind]++
	})
	t.Log(kinds)
	for _, k := range []string{KindCheckpoint, KindFullCheckpoint, KindSavepointCanonical, KindSavepointNative} {
		if kinds[k] == 0 {
			t.Errorf("no file with %q", k)
		}
	}
}

func FuzzParseProperties(f *testing.F) {
	f.Add(propertiesTail(none, savepointType("CANONICAL", "Savepoint", "NONE")))
	f.Add(propertiesTail(none, checkpointType("Checkpoint", "FORWARD_BACKWARD")))
	f.Add(propertiesTail(none, enumType("CHECKPOINT")))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParseProperties(b)
		if err == nil && (p.Len < 5 || p.Len > int64(len(b))) {
			t.Fatalf("%d of %d bytes", p.Len, len(b))
		}
	})
}
