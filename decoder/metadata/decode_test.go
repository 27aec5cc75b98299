package metadata_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/decoder/metadata/metatest"
)

var update = flag.Bool("update", false, "write testdata again")

// unhex reads hex digits; white space is ignored.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func encode(t testing.TB, c *metadata.Checkpoint) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := metadata.Encode(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t testing.TB, b []byte) *metadata.Checkpoint {
	t.Helper()
	c, err := metadata.Decode(decoder.Bytes{Data: b, Label: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Vectors that Flink 2.1 reads and writes again identically.
const (
	vectorHead = "00000000 00000001 00000000 00000001"
	vectorBody = `000102030405060708090a0b0c0d0e0f 00000002 00000080
		00 00000002
		00000000 00000001 04 00000001 000173 00 00000001
		0000000000000005 06 000166 0000000000000009
		00000000 00 00 00000000 00000000
		fffffffe`
	vectorV3 = "4960672d 00000003" + vectorHead + vectorBody
	vectorV5 = "4960672d 00000005" + vectorHead + "00016e 000175" + vectorBody + "aced0005 70"

	// Version 1 as Flink 1.2 wrote it: one job vertex of two chained operators,
	// one subtask with a legacy handle, operator state at the second position
	// and key groups.
	vectorV1 = `4960672d 00000001 0000000000000009 00000001
		000102030405060708090a0b0c0d0e0f 00000002 00000080 00000002 00000001
		00000001 ffffffffffffffff
		00000001 01 000161 00000002 abcd
		00000002 00 04 00000001 000173 01 00000001 0000000000000005 02 0000000000000009 000166
		00000000
		03 00000040 00000001 0000000000000007 02 0000000000000003 000167
		00`
	// Version 2 with legacy state, one null element in it, and a raw count.
	vectorV2Legacy = `4960672d 00000002 0000000000000002 00000000 00000001
		000102030405060708090a0b0c0d0e0f 00000001 00000080 00000001 00000001
		00000000 0000000000000005 00000002 00 02 0000000000000009 000166
		00000000 00000000 00 00`
	// Version 3 with the channel handles of Flink 1.11, which have no subtask index.
	vectorV3Channels111 = `4960672d 00000003 0000000000000002 00000000 00000001
		000102030405060708090a0b0c0d0e0f 00000001 00000080 00 00000001
		00000000 00000000 00000000 00 00
		00000002
		00000000 00000001 00000001 0000000000000004 0000000000000050 06 000166 0000000000000059
		00000000 00000002 00000001 0000000000000004 0000000000000050 06 000166 0000000000000059
		00000000`
	// Version 3 with an inline changelog of Flink 1.14: no checkpointed size, no ids.
	vectorV3Changelog114 = `4960672d 00000003 0000000000000002 00000000 00000001
		000102030405060708090a0b0c0d0e0f 00000001 00000080 00 00000001
		00000000 00000000 00000000
		08 00000000 00000080 00000000 00000002
		09 00000000 00000080 0000000000000001 0000000000000002 00000001 00000004 00000002 abcd
		0a 00000000 00000080 00000001 0000000000000008 02 0000000000000009 000166 0000000000000009
		00 00000000 00000000`
)

func TestVectors(t *testing.T) {
	tests := []struct {
		name, hex string
		size      int // of Flink's own vectors
		check     func(c *metadata.Checkpoint) bool
	}{
		{"V3", vectorV3, 112, func(c *metadata.Checkpoint) bool {
			op := c.Operators[0]
			s := op.Subtasks[0].State.ManagedOperator
			at, err := s.States[0].Offsets.At(c.In, 0)
			return c.ID == 1 && op.ID.String() == "000102030405060708090a0b0c0d0e0f" && op.Parallelism == 2 && op.MaxParallelism == 128 &&
				err == nil && at == 5 && s.States[0].Name == "s" && s.Delegate.Name == "f" && s.Delegate.Size == 9 &&
				op.Subtasks[1].Finished && op.Subtasks[1].Index == 1
		}},
		{"V5", vectorV5, 123, func(c *metadata.Checkpoint) bool {
			return c.Operators[0].Name == "n" && c.Operators[0].UID == "u" && c.Properties.Len == 5
		}},
		{"smallest V2", "4960672d 00000002 0000000000000000 00000000 00000000", 24, nil},
		{"smallest V3", "4960672d 00000003 0000000000000000 00000000 00000000", 24, nil},
		{"smallest V4", "4960672d 00000004 0000000000000000 00000000 00000000 aced000570", 29, nil},
		{"smallest V6", "4960672d 00000006 0000000000000000 00000000 00000000 aced000570", 29, nil},
		{"V1", vectorV1, 0, func(c *metadata.Checkpoint) bool {
			s := c.Operators[0].Subtasks[0].State
			return c.ID == 9 && c.Operators[0].ChainLength == 2 && s.Legacy[0].InlineBytes() == 2 && s.Chain.Managed[0] == nil &&
				s.Chain.Managed[1].States[0].Name == "s" && len(s.Chain.Raw) == 0 && s.ManagedKeyed.Start == 64 && s.RawKeyed == nil
		}},
		{"V2 legacy state", vectorV2Legacy, 0, func(c *metadata.Checkpoint) bool {
			s := c.Operators[0].Subtasks[0].State
			return s.Duration == 5 && len(s.Legacy) == 2 && s.Legacy[0].Type == 0 && s.Legacy[1].Name == "f"
		}},
		{"V3 channels of 1.11", vectorV3Channels111, 0, func(c *metadata.Checkpoint) bool {
			return c.Legacy111 && !c.Legacy114 && c.Operators[0].Subtasks[0].State.Input.Count == 2
		}},
		{"V3 changelog of 1.14", vectorV3Changelog114, 0, func(c *metadata.Checkpoint) bool {
			k := c.Operators[0].Subtasks[0].State.ManagedKeyed
			return c.Legacy114 && k.Changelog.NonMaterialized[0].Inline.Changes.Bytes() == 2 && k.Changelog.NonMaterialized[1].Files.Increments[0].Offset == 8
		}},
		{"V3 trailing bytes", vectorV3 + "010203", 0, func(c *metadata.Checkpoint) bool { return c.Trailing.Len == 3 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := unhex(t, tt.hex)
			if tt.size > 0 && len(data) != tt.size {
				t.Errorf("vector of %d bytes, want %d", len(data), tt.size)
			}
			c := decode(t, data)
			if tt.check != nil && !tt.check(c) {
				t.Errorf("decoded wrongly: %+v", c)
			}
			if got := encode(t, c); !bytes.Equal(got, data) {
				t.Errorf("encoded differently:\n% x\n% x", got, data)
			}
		})
	}
}

// fixtures are small files that hold every structure, by our own encoder, and
// the vectors.
func fixtures(t testing.TB) map[string][]byte {
	m := map[string][]byte{
		"vector-v1": unhex(t, vectorV1), "vector-v2-legacy": unhex(t, vectorV2Legacy),
		"vector-v3": unhex(t, vectorV3), "vector-v5": unhex(t, vectorV5),
		"vector-v3-111": unhex(t, vectorV3Channels111), "vector-v3-114": unhex(t, vectorV3Changelog114),
	}
	for v := int32(2); v <= 6; v++ {
		m[fmt.Sprintf("all-v%d", v)] = encode(t, metatest.All(v))
	}
	return m
}

func TestFixtures(t *testing.T) {
	for name, data := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".metadata")
			if *update {
				if err := os.WriteFile(file, data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(golden, data) {
				t.Error("the encoder writes other bytes than those in testdata")
			}
			c := decode(t, golden)
			metadata.CheckRoundTrip(t, name, c, golden)
			metadata.CheckAccounts(t, name, c)
		})
	}
}

// TestTruncation cuts small files everywhere: an error with place, and the tree
// up to the cut.
func TestTruncation(t *testing.T) {
	for name, data := range fixtures(t) {
		whole := decode(t, data)
		for n := range len(data) {
			c, err := metadata.Decode(decoder.Bytes{Data: data[:n], Label: "cut"})
			var e *decoder.Error
			if !errors.As(err, &e) {
				t.Fatalf("%s cut to %d bytes: error %v", name, n, err)
			}
			if e.Offset > int64(n) || e.File != "cut" || e.Path == "" || e.Expected == "" || e.Found == "" {
				t.Errorf("%s cut to %d bytes: %+v", name, n, e)
			}
			if c == nil {
				if n >= 8 {
					t.Errorf("%s cut to %d bytes: nothing to show", name, n)
				}
				continue
			}
			metadata.CheckAccounts(t, name, c)
			if c.Damage == nil {
				t.Errorf("%s cut to %d bytes: no damage", name, n)
			}
			checkPartial(t, fmt.Sprintf("%s cut to %d bytes", name, n), whole, c, int64(n))
			if _, err := metadata.Encode(io.Discard, c); err == nil {
				t.Errorf("%s cut to %d bytes: encoded", name, n)
			}
		}
	}
}

// checkPartial asserts that all operators that end before the cut are there,
// and all subtasks of the cut one.
func checkPartial(t *testing.T, name string, whole, part *metadata.Checkpoint, n int64) {
	t.Helper()
	if whole.Legacy111 || whole.Legacy114 {
		return // a cut file cannot be told from damage in the standard layout
	}
	for i, op := range whole.Operators {
		if op.Span.End() <= n && (len(part.Operators) <= i || part.Operators[i].Span != op.Span) {
			t.Fatalf("%s: operator %d is missing", name, i)
		}
		for k, s := range op.Subtasks {
			if s.Span.End() <= n && (len(part.Operators) <= i || len(part.Operators[i].Subtasks) <= k || part.Operators[i].Subtasks[k].Span != s.Span) {
				t.Fatalf("%s: operator %d, entry %d is missing", name, i, k)
			}
		}
	}
}

// TestFlippedBits flips bits of the small files, of the larger ones every third:
// no panic, and what decodes encodes to the same bytes.
func TestFlippedBits(t *testing.T) {
	for name, data := range fixtures(t) {
		step := 1
		if len(data) > 1000 {
			step = 3
		}
		for i := 0; i < len(data)*8; i += step {
			b := bytes.Clone(data)
			b[i/8] ^= 1 << (i % 8)
			c, err := metadata.Decode(decoder.Bytes{Data: b, Label: "flipped"})
			if c == nil {
				continue
			}
			metadata.CheckAccounts(t, name, c)
			if err == nil {
				metadata.CheckRoundTrip(t, fmt.Sprintf("%s, bit %d", name, i), c, b)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, data := range fixtures(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := metadata.Decode(decoder.Bytes{Data: data, Label: "fuzz"})
		if c == nil {
			if err == nil {
				t.Fatal("neither checkpoint nor error")
			}
			return
		}
		metadata.CheckAccounts(t, "fuzz", c)
		if err == nil {
			metadata.CheckRoundTrip(t, "fuzz", c, data)
		}
	})
}
