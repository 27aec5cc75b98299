package serde_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"chkscope/decoder/serde"
)

// TestKryo decodes what Kryo 2.24 and 5.6 wrote (testdata/kryo.txt: version, name,
// bytes; class and object, references on, nothing registered).
func TestKryo(t *testing.T) {
	text, err := os.ReadFile("testdata/kryo.txt")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]*serde.Snapshot{"2": read(kryoSnap("java.lang.Object")), "5": kryo5()}
	var got strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		f := strings.Split(line, "\t")
		b, err := hex.DecodeString(f[2])
		if err != nil {
			t.Fatal(err)
		}
		v, left, err := serde.DecodeAll(types[f[0]], b, serde.DefaultLimits)
		if err != nil || left != 0 {
			t.Errorf("Kryo %s, %s: %d bytes left, %v", f[0], f[1], left, err)
		}
		if f[1] != "inside itself" && v.Decoded() {
			checkEnds(t, f[0]+" "+f[1], types[f[0]], b)
		}
		fmt.Fprintf(&got, "%s %s: %s\n", f[0], f[1], v)
	}
	golden(t, "testdata/kryo.golden", got.String())
}
