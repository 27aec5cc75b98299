package metadata

import (
	"fmt"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
)

// What a snapshot is, as Properties.Kind.
const (
	KindCheckpoint         = "checkpoint"
	KindFullCheckpoint     = "full-checkpoint"
	KindSavepointCanonical = "savepoint-canonical"
	KindSavepointNative    = "savepoint-native"
)

// Properties is Flink's CheckpointProperties: how a snapshot was asked for. They
// end `_metadata` from V4 (Flink 1.16) on, and stand in every
// CompletedCheckpoint object.
//
// The Java object stream holds null, or a CheckpointProperties object (UID 2)
// with the fields discardCancelled, discardFailed, discardFinished,
// discardSubsumed, discardSuspended, forced, unclaimed (1.15 and later) and
// checkpointType: a CheckpointType object (name, sharingFilesStrategy) or a
// SavepointType object (formatType, name, postCheckpointAction); up to 1.14 a
// constant of the enum CheckpointType.
type Properties struct {
	// Present is false where the stream holds null, as the State Processor API
	// may write it.
	Present bool
	// Kind is one of the Kind constants, "" where the type is none that is known.
	Kind string
	// Name as Flink prints it: Checkpoint, Full Checkpoint, Savepoint, Suspend
	// Savepoint, Terminate Savepoint; up to 1.14 the enum constant.
	Name string
	// Sharing is the SharingFilesStrategy of a checkpoint: FORWARD_BACKWARD,
	// FORWARD. Flink implies NO_SHARING for a savepoint.
	Sharing string
	// PostAction is the PostCheckpointAction of a savepoint: NONE, SUSPEND,
	// TERMINATE; "" for a checkpoint.
	PostAction string
	// Forced: limits on concurrent checkpoints did not hold for it. Unclaimed:
	// the job was restored in NO_CLAIM mode from it.
	Forced, Unclaimed bool
	// Discard tells when Flink deletes the snapshot, as configured when it was
	// taken.
	Discard Discard
	// Len is the number of bytes that the stream takes. Flink ignores what
	// follows it.
	Len int64
}

// Discard has the conditions under which Flink deletes a checkpoint.
type Discard struct{ Subsumed, Finished, Cancelled, Failed, Suspended bool }

const checkpointPackage = "org.apache.flink.runtime.checkpoint."

// ParseProperties reads the properties at the end of a V4 file. An error is a
// *decoder.Error with the offset in buf: the stream is cut, is none, or holds
// something else.
func ParseProperties(buf []byte) (Properties, error) {
	return ReadProperties(decoder.Bytes{Data: buf, Label: "properties"}, decoder.Span{Len: int64(len(buf))})
}

// ReadProperties is ParseProperties for Checkpoint.Properties in the file;
// offsets of errors are those in the file.
func ReadProperties(in decoder.Input, span decoder.Span) (Properties, error) {
	s, err := javaobj.Read(in, span, 1)
	if err != nil {
		return Properties{}, inProperties(s.Damage)
	}
	p, err := PropertiesOf(s.Root())
	p.Len = s.Span.Len
	return p, err
}

// inProperties says in an error's path where the object stream stands.
func inProperties(e *decoder.Error) *decoder.Error {
	named := *e
	named.Path = "properties"
	if e.Path != "" {
		named.Path += " / " + e.Path
	}
	return &named
}

// PropertiesOf reads a CheckpointProperties object, or null.
func PropertiesOf(n javaobj.Node) (Properties, error) {
	if n.Kind() == javaobj.Null {
		return Properties{}, nil
	}
	if !n.Is(checkpointPackage + "CheckpointProperties") {
		return Properties{}, notProperties(n, "", "CheckpointProperties or null")
	}
	p := Properties{Present: true}
	flags := []struct {
		field string
		to    *bool
		since bool // not in every version
	}{
		{"discardSubsumed", &p.Discard.Subsumed, false},
		{"discardFinished", &p.Discard.Finished, false},
		{"discardCancelled", &p.Discard.Cancelled, false},
		{"discardFailed", &p.Discard.Failed, false},
		{"discardSuspended", &p.Discard.Suspended, false},
		{"forced", &p.Forced, false},
		{"unclaimed", &p.Unclaimed, true},
	}
	for _, f := range flags {
		v, ok := n.Int(f.field)
		if !ok && !f.since {
			return Properties{}, notProperties(n, "", "a field "+f.field)
		}
		*f.to = v != 0
	}
	return p, p.setType(n.Field("checkpointType"))
}

// setType reads the snapshot's type.
func (p *Properties) setType(t javaobj.Node) error {
	if t.Kind() == javaobj.Enum && t.Is(checkpointPackage+"CheckpointType") { // up to 1.14
		p.Name, _ = t.Text()
		p.Kind = KindSavepointCanonical
		switch p.Name {
		case "CHECKPOINT":
			p.Kind = KindCheckpoint
		case "SAVEPOINT":
			p.PostAction = "NONE"
		case "SYNC_SAVEPOINT", "SAVEPOINT_SUSPEND":
			p.PostAction = "SUSPEND"
		case "SAVEPOINT_TERMINATE":
			p.PostAction = "TERMINATE"
		default:
			p.Kind = ""
		}
		return nil
	}
	if t.Kind() != javaobj.Object {
		return notProperties(t, "checkpointType", "a CheckpointType or SavepointType")
	}
	p.Name, _ = t.Field("name").Text()
	p.Sharing, _ = t.Field("sharingFilesStrategy").Text()
	p.PostAction, _ = t.Field("postCheckpointAction").Text()
	format, _ := t.Field("formatType").Text()
	switch {
	case t.Is(checkpointPackage+"CheckpointType") && p.Sharing == "FORWARD_BACKWARD":
		p.Kind = KindCheckpoint
	case t.Is(checkpointPackage+"CheckpointType") && p.Sharing == "FORWARD":
		p.Kind = KindFullCheckpoint
	case t.Is(checkpointPackage+"SavepointType") && format == "CANONICAL":
		p.Kind = KindSavepointCanonical
	case t.Is(checkpointPackage+"SavepointType") && format == "NATIVE":
		p.Kind = KindSavepointNative
	}
	return nil
}

func notProperties(n javaobj.Node, field, expected string) error {
	found := n.Kind().String()
	if c := n.Class(); c != nil {
		found = fmt.Sprintf("%s of class %s", found, c.Name)
	}
	path := "properties"
	if field != "" {
		path += " / " + field
	}
	return &decoder.Error{File: n.File(), Offset: n.Span().Off, Path: path, Expected: expected, Found: found}
}
