package main

import (
	"io"
	"strings"
	"testing"

	"chkscope/decoder/metadata"
)

// TestDemo: the rules of the incident fire on it and it ends with 0.
func TestDemo(t *testing.T) {
	doc := run("demo", "--json").wantCode(t, exitOK).decode(t)
	fired := map[string]bool{}
	for _, f := range doc["findings"].([]any) {
		fired[f.(map[string]any)["rule"].(string)] = true
	}
	for _, rule := range []string{"deployment-over-framesize", "legacy-state"} {
		if !fired[rule] {
			t.Errorf("%s does not fire on the demo: %v", rule, fired)
		}
	}
	if r := run("demo").wantCode(t, exitOK); !strings.HasPrefix(r.out, "A real checkpoint") {
		t.Errorf("the first line does not say what it is: %.100q", r.out)
	}
}

// TestDemoIsConsistent: every offset of the grown list points at the beginning
// of an element, and the lengths are those that are recorded.
func TestDemoIsConsistent(t *testing.T) {
	files, err := growDemo()
	if err != nil {
		t.Fatal(err)
	}
	c, err := metadata.Decode(files["_metadata"])
	if err != nil {
		t.Fatal(err)
	}
	subtasks := 0
	err = c.EachStream(func(u metadata.StreamUse) error {
		if u.Stream.Type == metadata.TypeRelativeFile {
			if f := files[u.Stream.Name]; f == nil || f.Size() != u.Stream.Size {
				t.Errorf("%v: %s is missing or has another length than %d", u, u.Stream.Name, u.Stream.Size)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Operators[0].Subtasks {
		left := leftoverOf(s.State)
		if left == nil {
			t.Fatal("the first operator has no leftover list")
		}
		subtasks++
		file := files[s.State.ManagedOperator.Delegate.Name]
		period := left.Offsets.Len() / demoRepeat
		for _, i := range []int64{0, 1, period - 1, period, 12345*period + 7, left.Offsets.Len() - 1} {
			if got, want := element(t, c, left.Offsets, file, i), element(t, c, left.Offsets, file, i%period); got != want {
				t.Fatalf("element %d is %x, element %d is %x", i, got, i%period, want)
			}
		}
	}
	if subtasks != demoSubtasks {
		t.Errorf("%d subtasks, want %d", subtasks, demoSubtasks)
	}
}

func element(t *testing.T, c *metadata.Checkpoint, o metadata.Offsets, f *demoFile, i int64) string {
	t.Helper()
	at, err := o.At(c.In, i)
	if err != nil {
		t.Fatal(err)
	}
	end := f.Size()
	if i+1 < o.Len() {
		if end, err = o.At(c.In, i+1); err != nil {
			t.Fatal(err)
		}
	}
	if end <= at || end-at > 100 {
		t.Fatalf("element %d goes from %d to %d", i, at, end)
	}
	b := make([]byte, end-at)
	if _, err := f.ReadAt(b, at); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return string(b)
}

// TestDemoFileReads: any piece of a file is the same however it is read.
func TestDemoFileReads(t *testing.T) {
	f := &demoFile{"x", []demoPiece{literal("head"), repeated{[]byte("abc"), 5}, offsetArray{[]int64{4, 7}, 10, 3}}}
	whole := make([]byte, f.Size())
	if n, err := f.ReadAt(whole, 0); n != len(whole) || err != nil {
		t.Fatalf("read %d of %d: %v", n, len(whole), err)
	}
	if string(whole[:19]) != "headabcabcabcabcabc" || whole[19+7] != 4 || whole[19+15] != 7 || whole[19+23] != 14 || whole[19+47] != 27 {
		t.Fatalf("contents: %q", whole)
	}
	for off := range int64(len(whole)) {
		for n := 1; off+int64(n) <= int64(len(whole)); n += 5 {
			p := make([]byte, n)
			if _, err := f.ReadAt(p, off); err != nil || string(p) != string(whole[off:off+int64(n)]) {
				t.Fatalf("%d bytes at %d: %q, %v", n, off, p, err)
			}
		}
	}
	if n, err := f.ReadAt(make([]byte, 10), f.Size()-3); n != 3 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
}
