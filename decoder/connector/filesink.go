package connector

import (
	"encoding/binary"
	"fmt"
	"math"

	"chkscope/decoder"
	"chkscope/decoder/serde"
)

// Magic numbers of FileSink and StreamingFileSink.
const (
	bucketMagic       = 0x1E764B79
	committableMagic  = 0x1E765C80
	inProgressMagic   = 0xB3A4073D
	pendingMagic      = 0x2C853C89
	requestMagic      = 0x2FC61E19
	requestsMagic     = 0xA946BE83
	localMagic        = 0x1E744B57
	minBytesVersioned = 8
)

func (r *reader) magic(want uint32) {
	if got := uint32(r.i32()); r.err == nil && got != want {
		r.err = fmt.Errorf("%w: %08X is not the magic number %08X", errLayout, got, want)
	}
}

// optional reads a boolean and, where it is set, what f reads.
func (r *reader) optional(f func() serde.Value) serde.Value {
	if !r.bool() {
		return value(nil)
	}
	return f()
}

// bucketState is FileWriterBucketStateSerializer, version 1 to 3.
func bucketState(version int32, data []byte) (serde.Value, error) {
	if version < 1 || version > 3 {
		return serde.Value{}, fmt.Errorf("%w: version %d of a bucket", errLayout, version)
	}
	r := &reader{buf: data}
	r.magic(bucketMagic)
	id := r.bucketID()
	path, created := r.utf(), value(r.i64())
	if created.N == math.MaxInt64 {
		created = value(nil) // no file is open
	} else {
		created.Form = serde.Millis
	}
	open := r.optional(func() serde.Value {
		v, body := r.versioned()
		if version == 1 {
			return recoverable(v, body)
		}
		return r.inProgress(v, body)
	})
	pairs := []any{"bucket", id, "path", path, "open_since", created, "in_progress", open}
	if version < 3 {
		pairs = append(pairs, "pending", r.pendingFiles(version))
	}
	return fields("FileWriterBucketState", pairs...), r.done()
}

// bucketID is a versioned bucket id; SimpleVersionedStringSerializer's is a
// little-endian length and UTF-8. Other assigners have their own.
func (r *reader) bucketID() serde.Value {
	version, body := r.versioned()
	if version == 1 && len(body) >= 4 && int64(binary.LittleEndian.Uint32(body)) == int64(len(body)-4) {
		return value(decoder.Text(string(body[4:])))
	}
	return unknown(body, "the layout of this bucket id is not known")
}

// pendingFiles: i32 version, i32 n x (i64 checkpoint, i32 m x (i32 length, file)).
func (r *reader) pendingFiles(bucket int32) []serde.Value {
	version := r.i32()
	var checkpoints []serde.Value
	for range r.count(12) {
		checkpoint := r.i64()
		var files []serde.Value
		for range r.count(4) {
			body := r.take(r.count(1))
			if bucket == 1 {
				files = append(files, recoverable(version, body))
			} else {
				files = append(files, r.pending(version, body))
			}
		}
		checkpoints = append(checkpoints, fields("", "checkpoint", checkpoint, "files", files))
	}
	return checkpoints
}

// inProgress is OutputStreamBasedInProgressFileRecoverableSerializer: magic,
// since version 2 bool and utf path, then a versioned recoverable.
func (r *reader) inProgress(version int32, body []byte) serde.Value {
	return r.wrapped(version, body, inProgressMagic)
}

// pending is OutputStreamBasedPendingFileRecoverableSerializer: as inProgress,
// with i64 file size behind the path.
func (r *reader) pending(version int32, body []byte) serde.Value {
	return r.wrapped(version, body, pendingMagic)
}

// wrapped reads a file record. Another file system's or writer's is opaque: its
// length is known.
func (r *reader) wrapped(version int32, body []byte, magic uint32) serde.Value {
	if r.err != nil {
		return serde.Value{}
	}
	in := &reader{buf: body}
	in.magic(magic)
	var pairs []any
	if version == 2 {
		pairs = append(pairs, "path", in.optional(func() serde.Value { return value(in.utf()) }))
		if magic == pendingMagic {
			pairs = append(pairs, "size", in.i64())
		}
	}
	v, inner := in.versioned()
	if in.done() != nil || version < 1 || version > 2 {
		return unknown(body, "the layout of this writer's files is not known")
	}
	return fields("", append(pairs, "recoverable", recoverable(v, inner))...)
}

// recoverable is LocalRecoverableSerializer, all little-endian: u32 magic, i64
// offset, i32 and i32 lengths, target and temporary path.
func recoverable(version int32, body []byte) serde.Value {
	if version == 1 && len(body) >= 20 && binary.LittleEndian.Uint32(body) == localMagic {
		offset := int64(binary.LittleEndian.Uint64(body[4:]))
		target, temp := int64(binary.LittleEndian.Uint32(body[12:])), int64(binary.LittleEndian.Uint32(body[16:]))
		if rest := body[20:]; target+temp == int64(len(rest)) {
			return fields("LocalRecoverable", "target", decoder.Text(string(rest[:target])), "temporary", decoder.Text(string(rest[target:])), "offset", offset)
		}
	}
	return unknown(body, "the layout of this file system's recoverable is not known")
}

// fileCommittable is FileSinkCommittableSerializer: magic, since version 2 utf
// bucket, bool and versioned pending file, bool and versioned file to clean up,
// since version 2 bool and utf path of a compacted file to clean up.
func fileCommittable(version int32, data []byte) (serde.Value, error) {
	if version != 1 && version != 2 {
		return serde.Value{}, fmt.Errorf("%w: version %d of a committable", errLayout, version)
	}
	r := &reader{buf: data}
	r.magic(committableMagic)
	var pairs []any
	if version == 2 {
		pairs = append(pairs, "bucket", r.utf())
	}
	pairs = append(pairs,
		"pending", r.optional(func() serde.Value { return r.pending(r.versioned()) }),
		"in_progress_to_clean_up", r.optional(func() serde.Value { return r.inProgress(r.versioned()) }))
	if version == 2 {
		pairs = append(pairs, "compacted_to_clean_up", r.optional(func() serde.Value { return value(r.utf()) }))
	}
	return fields("FileSinkCommittable", pairs...), r.done()
}

// envelope opens a versioned value in a byte array.
func envelope(data []byte) (version int32, body []byte, err error) {
	if data, err = byteArray(data); err != nil {
		return 0, nil, err
	}
	r := &reader{buf: data}
	version, body = r.versioned()
	return version, body, r.done()
}

// bucketElement is an element of bucket-states.
func bucketElement(data []byte) (Decoded, error) {
	version, body, err := envelope(data)
	if err != nil {
		return Decoded{}, err
	}
	v, err := bucketState(version, body)
	return Decoded{Connector: "StreamingFileSink bucket", Version: version, Value: v}, err
}

// compactCommittable is an element of remaining_compact_commit_raw_state.
func compactCommittable(data []byte) (Decoded, error) {
	version, body, err := envelope(data)
	if err != nil {
		return Decoded{}, err
	}
	v, err := fileCommittable(version, body)
	return Decoded{Connector: "FileSink compaction", Version: version, Value: v, Experimental: true}, err
}

// compactRequests is an element of remaining_requests_raw_state
// (CompactorOperator.RemainingRequestsSerializer): magic, i32 n x (i64
// checkpoint, versioned list of requests).
func compactRequests(data []byte) (Decoded, error) {
	version, body, err := envelope(data)
	if err != nil {
		return Decoded{}, err
	}
	r := &reader{buf: body}
	r.magic(requestsMagic)
	var list []serde.Value
	for range r.count(8 + minBytesVersioned) {
		checkpoint := r.i64()
		var requests []serde.Value
		err := r.list(func(_ int32, data []byte) error {
			v, err := compactRequest(data)
			requests = append(requests, v)
			return err
		})
		if err != nil {
			return Decoded{}, err
		}
		list = append(list, fields("", "checkpoint", checkpoint, "requests", requests))
	}
	return Decoded{Connector: "FileSink compaction", Version: version, Value: fields("", "checkpoints", list), Experimental: true}, r.done()
}

// compactRequest is CompactorRequestSerializer: magic, utf bucket, versioned
// lists of committables to compact and to pass on.
func compactRequest(data []byte) (serde.Value, error) {
	r := &reader{buf: data}
	r.magic(requestMagic)
	bucket := r.utf()
	var lists [2][]serde.Value
	for i := range lists {
		err := r.list(func(version int32, data []byte) error {
			v, err := fileCommittable(version, data)
			lists[i] = append(lists[i], v)
			return err
		})
		if err != nil {
			return serde.Value{}, err
		}
	}
	return fields("CompactorRequest", "bucket", bucket, "to_compact", lists[0], "to_pass_on", lists[1]), r.done()
}
