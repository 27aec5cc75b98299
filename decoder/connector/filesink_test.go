package connector

import (
	"encoding/binary"
	"testing"

	"chkscope/decoder/serde"
)

// be and le are numbers in bytes, versioned is SimpleVersionedSerialization.
func be(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }
func le(v int) []byte    { return binary.LittleEndian.AppendUint32(nil, uint32(v)) }
func be64(v int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(v))
}

func join(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func utf(s string) []byte {
	w := writer{}
	w.utf(s)
	return w.b
}

func sized(b []byte) []byte                     { return join(be(uint32(len(b))), b) }
func versioned(version uint32, b []byte) []byte { return join(be(version), sized(b)) }

var (
	localFile = join(le(localMagic), binary.LittleEndian.AppendUint64(nil, 99), le(2), le(3), []byte("/t/tp"))
	bucket    = versioned(1, join(le(4), []byte("even")))
	openV2    = versioned(2, join(be(inProgressMagic), []byte{1}, utf("/t"), versioned(1, localFile)))
	pendingV2 = join(be(pendingMagic), []byte{1}, utf("/t"), be64(99), versioned(1, localFile))
	pendingV1 = join(be(pendingMagic), versioned(1, localFile))

	bucketV1 = join(be(bucketMagic), bucket, utf("/b"), be64(7), []byte{1}, versioned(1, localFile),
		be(1), be(1), be64(3), be(1), sized(localFile))
	bucketV2 = join(be(bucketMagic), bucket, utf("/b"), be64(7), []byte{1}, openV2, be(2), be(1), be64(3), be(1), sized(pendingV2))
	bucketV3 = join(be(bucketMagic), bucket, utf("/b"), be64(7), []byte{1}, openV2)

	committableV1 = join(be(committableMagic), []byte{1}, versioned(1, pendingV1), []byte{0})
	committableV2 = join(be(committableMagic), utf("even"), []byte{1}, versioned(2, pendingV2), []byte{0, 1}, utf("/old"))

	request  = join(be(requestMagic), utf("even"), be(2), be(1), sized(committableV2), be(2), be(0))
	requests = join(be(requestsMagic), be(1), be64(3), be(1), be(1), sized(request))

	pendingSplits = join(be(1), versioned(1, join(le(pendingSplitsMagic), le(9), le(1), le(1), le(2), []byte("xy"), le(7), []byte("file:/a"))))

	fileSeeds = [][]byte{
		sized(versioned(1, bucketV1)), sized(versioned(2, bucketV2)), sized(versioned(3, bucketV3)), sized(versioned(1, committableV1)),
		sized(versioned(2, committableV2)), sized(versioned(1, requests)), pendingSplits,
	}
)

// TestFileSinkVersions: the versions that the corpus does not have, and what is
// cut short or has bytes left.
func TestFileSinkVersions(t *testing.T) {
	tests := []struct {
		name, state string
		data        []byte
		path        []string // of fields, or "0" into a list
		want        string
	}{
		{"bucket v1", "bucket-states", versioned(1, bucketV1), []string{"in_progress", "target"}, "/t"},
		{"bucket v1 pending", "bucket-states", versioned(1, bucketV1), []string{"pending", "0", "files", "0", "temporary"}, "/tp"},
		{"bucket v2", "bucket-states", versioned(2, bucketV2), []string{"in_progress", "recoverable", "temporary"}, "/tp"},
		{"bucket v2 pending", "bucket-states", versioned(2, bucketV2), []string{"pending", "0", "files", "0", "recoverable", "target"}, "/t"},
		{"bucket v3", "writer_raw_states", versioned(3, bucketV3), []string{"bucket"}, "even"},
		{"committable v1", "remaining_compact_commit_raw_state", versioned(1, committableV1), []string{"pending", "recoverable", "target"}, "/t"},
		{"committable v2", "remaining_compact_commit_raw_state", versioned(2, committableV2), []string{"compacted_to_clean_up"}, "/old"},
		{"requests", "remaining_requests_raw_state", versioned(1, requests), []string{"checkpoints", "0", "requests", "0", "to_compact", "0", "bucket"}, "even"},
	}
	for _, tt := range tests {
		d, ok, err := Element(Place{State: tt.state}, sized(tt.data))
		if !ok || err != nil {
			t.Errorf("%s: %v, %v", tt.name, ok, err)
			continue
		}
		v := d.Value
		for _, f := range tt.path {
			if f == "0" && len(v.Items) > 0 {
				v = v.Items[0]
			} else {
				v = v.Field(f)
			}
		}
		if v.Text != tt.want || !d.Value.Decoded() {
			t.Errorf("%s: %v is %q, want %q", tt.name, tt.path, v.Text, tt.want)
		}
		body := tt.data[8:]
		for n := range body {
			if d, _, err := Element(Place{State: tt.state}, sized(join(tt.data[:4], sized(body[:n])))); err == nil && d.Value.Decoded() {
				t.Errorf("%s: cut to %d bytes: %s", tt.name, n, d.Value)
			}
		}
		if d, _, err := Element(Place{State: tt.state}, sized(join(tt.data[:4], sized(join(body, []byte{0}))))); err == nil && d.Value.Decoded() {
			t.Errorf("%s: with a byte left: %s", tt.name, d.Value)
		}
	}
}

func TestFileEnumeratorOfOtherSplits(t *testing.T) {
	d, err := DecodeCoordinator(pendingSplits)
	if err != nil || d.Connector != "FileSource enumerator" {
		t.Fatalf("%+v, %v", d, err)
	}
	if p := d.Value.Field("pending").Items; len(p) != 1 || p[0].Form != serde.Opaque || p[0].N != 2 {
		t.Errorf("a split of version 9: %v", p)
	}
	if p := d.Value.Field("processed_paths").Items; len(p) != 1 || p[0].Text != "file:/a" {
		t.Errorf("%v", p)
	}
}
