package finding

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"chkscope/conformance/corpus"
	"chkscope/decoder/metadata"
	"chkscope/model"
)

// TestRestoreSizes compares the predicted message with what Flink's own classes
// measured for every operator at the same parallelism.
func TestRestoreSizes(t *testing.T) {
	line := regexp.MustCompile(`^restore-bytes ([0-9a-f]{32}) (\d+)->(\d+) min=(\d+) max=(\d+) `)
	compared := 0
	err := filepath.WalkDir(filepath.Join(corpus.Dir(t), "incident"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "facts.txt" {
			return err
		}
		dir := filepath.Join(filepath.Dir(p), "checkpoint")
		if _, err := os.Stat(filepath.Join(dir, model.MetadataName)); err != nil {
			return nil // compressed, or several checkpoints
		}
		s, tree := open(t, dir, model.Options{SourceURI: "file:/tmp/flink/gen/checkpoints/0123456789abcdef0123456789abcdef/chk-1"})
		sizes := (&run{s: s, t: tree}).restoreSizes()
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		for sc := bufio.NewScanner(f); sc.Scan(); {
			m := line.FindStringSubmatch(sc.Text())
			if m == nil || m[2] != m[3] {
				continue
			}
			id, err := metadata.ParseOperatorID(m[1])
			if err != nil {
				return err
			}
			measured, _ := strconv.ParseInt(m[5], 10, 64)
			for op := range s.Meta.Operators {
				if s.Meta.Operators[op].ID != id || fmt.Sprint(s.Meta.Operators[op].Parallelism) != m[2] {
					continue
				}
				if len((&run{s: s, t: tree}).states(op, model.KindInFlight)) > 0 {
					continue // what was measured leaves channel state out
				}
				compared++
				got, want := baseMessage+sizes[op].restore, baseMessage+measured
				if diff := float64(got-want) / float64(want); diff > 0.02 || diff < -0.02 {
					t.Errorf("%s: operator %s: predicted %d bytes, measured %d (%+.1f %%)", filepath.Base(filepath.Dir(p)), m[1], got, want, diff*100)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
	t.Logf("%d operators compared", compared)
}
