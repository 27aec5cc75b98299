package ha

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/javaobj"
	"chkscope/decoder/metadata"
)

// Where Flink keeps pointers and counters:
//
//	ZooKeeper   <root>/<cluster-id>/jobs/<job-id>/checkpoints/<id as %019d>, up to
//	            1.13 <root>/<cluster-id>/checkpoints/<job-id>/<%019d>: a Java object
//	            stream with a RetrievableStreamStateHandle. A lock below the node
//	            keeps it; without one it is to be deleted.
//	            .../<job-id>/checkpoint_id_counter: a big-endian i32
//	Kubernetes  ConfigMap <cluster-id>-<job-id>-config-map (1.12 to 1.14
//	            <cluster-id>-<job-id>-jobmanager-leader), key checkpointID-%019d: in
//	            Base64 a stream with a StateHandleWithDeleteMarker around the
//	            RetrievableStreamStateHandle (up to 1.14 without it); key counter:
//	            decimal digits
//
// RetrievableStreamStateHandle has one field, wrappedStreamStateHandle, a
// FileStateHandle; its size is not looked at when the object is read.

// Pointer is what ZooKeeper or Kubernetes holds for one stored object: a
// checkpoint or a job graph.
type Pointer struct {
	// Handle is the file that is pointed to.
	Handle metadata.StreamHandle
	// Marker is set for the form of Kubernetes from 1.15 on, which has
	// MarkedForDeletion.
	Marker, MarkedForDeletion bool
	// Base64 is set where the pointer was text.
	Base64 bool

	file javaobj.Node // the FileStateHandle
	s    *javaobj.Stream
}

// maxPointer is far more than any pointer needs; a ConfigMap has 1 MiB.
const maxPointer = 4 << 20

// ParsePointer reads a pointer: the bytes of a ZooKeeper node, or the Base64
// text of a ConfigMap. An error is a *decoder.Error with the offset in the object
// stream.
func ParsePointer(buf []byte) (*Pointer, error) {
	p := &Pointer{}
	if len(buf) > maxPointer {
		return nil, &decoder.Error{File: "pointer", Expected: fmt.Sprintf("at most %d bytes", maxPointer), Found: strconv.Itoa(len(buf))}
	}
	if text := bytes.TrimSpace(buf); bytes.HasPrefix(text, []byte("rO0")) { // AC ED 00
		raw, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(text), nil)))
		if err != nil {
			return nil, &decoder.Error{File: "pointer", Expected: "Base64 text", Found: err.Error(), Err: err}
		}
		buf, p.Base64 = raw, true
	}
	s, err := javaobj.Read(decoder.Bytes{Data: buf, Label: "pointer"}, decoder.Span{Len: int64(len(buf))}, 1)
	if err != nil {
		return nil, err
	}
	p.s = s
	n := s.Root()
	r := newReader(s)
	if n.Is(classMarked) {
		p.Marker, p.MarkedForDeletion = true, r.long(n, "markedForDeletion") != 0
		n = n.Field("inner")
	}
	if r.ok() && !n.Is(classPointer) {
		r.fail(n, "a "+classPointer, describe(n))
	}
	p.file = n.Field("wrappedStreamStateHandle")
	r.enter("wrapped handle", -1)
	if r.stream(n.Place("wrappedStreamStateHandle"), &p.Handle); r.ok() && p.Handle.Type != metadata.TypeFile {
		r.fail(p.file, "a FileStateHandle", describe(p.file))
	}
	if r.err != nil {
		return nil, r.err
	}
	return p, nil
}

// Encode gives the pointer to another file, in the form that p was read in.
func (p *Pointer) Encode(path string, size int64) ([]byte, error) {
	e := p.s.Edit()
	if path != p.Handle.Name {
		if err := e.Set(p.file.Field("filePath").Field("uri"), "string", e.NewString(encodePath(path))); err != nil {
			return nil, err
		}
	}
	if err := e.SetInt(p.file, "stateSize", size); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if _, err := e.WriteTo(&out); err != nil {
		return nil, err
	}
	if p.Base64 {
		return []byte(base64.StdEncoding.EncodeToString(out.Bytes())), nil
	}
	return out.Bytes(), nil
}

// ZooKeeperCounter reads the node checkpoint_id_counter: the id of the next
// checkpoint.
func ZooKeeperCounter(buf []byte) (int64, error) {
	if len(buf) != 4 {
		return 0, &decoder.Error{File: "checkpoint counter", Expected: "4 bytes", Found: strconv.Itoa(len(buf))}
	}
	return int64(int32(binary.BigEndian.Uint32(buf))), nil
}

// KubernetesCounter reads the ConfigMap's key "counter".
func KubernetesCounter(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, &decoder.Error{File: "checkpoint counter", Expected: "decimal digits", Found: strconv.Quote(text), Err: err}
	}
	return n, nil
}

// CheckpointOfName gives the checkpoint id in the name of a pointer: that of a
// ZooKeeper node (19 digits) or a key of a ConfigMap (checkpointID- and 19
// digits).
func CheckpointOfName(name string) (int64, bool) {
	digits := strings.TrimPrefix(name, "checkpointID-")
	if len(digits) != 19 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	id, err := strconv.ParseInt(digits, 10, 64)
	return id, err == nil
}
