package prune_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"chkscope/model"
	"chkscope/model/prune"
	"chkscope/model/store"
	"chkscope/storage"
)

// stepper is a store that does something at its n-th step: every beginning and
// end of a write, every piece written, every removal is a step.
type stepper struct {
	model.WriteStore
	at   int64
	act  func() error
	step atomic.Int64
}

func (s *stepper) next() error {
	if s.step.Add(1) == s.at {
		return s.act()
	}
	return nil
}

func (s *stepper) Create(ctx context.Context, uri string) (model.Writer, error) {
	if err := s.next(); err != nil {
		return nil, err
	}
	w, err := s.WriteStore.Create(ctx, uri)
	return &stepWriter{w, s}, err
}

type stepWriter struct {
	model.Writer
	s *stepper
}

func (w *stepWriter) Write(p []byte) (int, error) {
	if err := w.s.next(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

func (w *stepWriter) Commit() error {
	if err := w.s.next(); err != nil {
		w.Abort()
		return err
	}
	if err := w.Writer.Commit(); err != nil {
		return err
	}
	return w.s.next()
}

func (s *stepper) Copy(ctx context.Context, src string, off, length int64, dst string, progress func(int64)) (model.Sum, error) {
	if err := s.next(); err != nil {
		return model.Sum{}, err
	}
	// A kill in the middle of a copy is between its first progress and its end.
	sum, err := s.WriteStore.Copy(ctx, src, off, length, dst, func(n int64) {
		s.next()
		progress(n)
	})
	if err != nil {
		return sum, err
	}
	return sum, s.next()
}

func (s *stepper) Remove(ctx context.Context, uri string) error {
	if err := s.next(); err != nil {
		return err
	}
	if err := s.WriteStore.Remove(ctx, uri); err != nil {
		return err
	}
	return s.next()
}

// task is a removal and copy that the tests interrupt.
type task struct {
	fixture string
	copy    prune.CopyKind
	state   string
	where   string
}

var tasks = []task{
	{"incident/gen-3-files", prune.CopyFull, "topic-partition-offset-states", ""},
	{"incident/gen-3-files", prune.CopyReference, "topic-partition-offset-states", ""},
	{"v4-rocks-incremental", prune.CopyFull, "", ""},
	{"v4-canonical-savepoint", prune.CopyFull, "order", ""},
}

// entryTasks take single entries out.
var entryTasks = []task{
	{"incident/gen-3-files", prune.CopyFull, "SourceReaderState", `topic == "payments"`},
	{"v4-heap-checkpoint", prune.CopyFull, "rules", `key == "rule-1"`},
	{"v4-heap-checkpoint", prune.CopyFull, "ttl-map", `map_key == "k0"`},
}

// plan builds the plan of a task into dest.
func (k task) plan(t testing.TB, dest string) *prune.Plan {
	s, tree := open(t, fixture(t, k.fixture))
	var targets []model.Target
	if k.state != "" {
		for _, g := range append(operatorStates(s), keyedTargets(t, s)...) {
			if g.Name == k.state {
				targets = append(targets, g)
			}
		}
		if len(targets) == 0 {
			t.Fatalf("%s has no state %s", k.fixture, k.state)
		}
	}
	p, err := prune.Build(context.Background(), s, tree, prune.Request{Targets: targets, Where: k.where, Copy: k.copy, Destination: store.FileURI(dest)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func keyedTargets(t testing.TB, s *model.Snapshot) []model.Target {
	tree, err := s.ReadHeaders(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []model.Target
	for n := range model.Node(tree.Len()) {
		if tree.Kind(n) == model.KindKeyed && tree.Class(n) == model.ClassState {
			out = append(out, tree.Target(n, s.Meta.Operators))
		}
	}
	return out
}

// digestTree sums all files below dir, with their names.
func digestTree(t testing.TB, dir string) string {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		fmt.Fprintf(h, "%s %d\n", p, len(b))
		h.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// checkInterrupted looks at what an interruption left: no `_metadata` without
// its data and the marker.
func checkInterrupted(t *testing.T, dest string, p *prune.Plan) {
	t.Helper()
	if !exists(filepath.Join(dest, "_metadata")) {
		return
	}
	if !exists(filepath.Join(dest, model.IncompleteName)) {
		if list, _ := os.ReadDir(dest); len(list) != len(p.Write)+1 {
			t.Errorf("_metadata without marker among %d files, %d were planned", len(list), len(p.Write)+1)
		}
	}
	for _, f := range p.Write {
		if !exists(filepath.Join(dest, f.Name)) {
			t.Errorf("_metadata is there, %s is not", f.Name)
		}
	}
}

// checkFinished looks at a copy that was carried to its end.
func checkFinished(t *testing.T, dest string, p *prune.Plan) {
	t.Helper()
	list, err := os.ReadDir(dest)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"_metadata": true}
	for _, f := range p.Write {
		want[f.Name] = true
	}
	for _, e := range list {
		if !want[e.Name()] {
			t.Errorf("%s is left in the copy", e.Name())
		}
		delete(want, e.Name())
	}
	for name := range want {
		t.Errorf("%s is missing in the copy", name)
	}
	b, err := os.ReadFile(dest + ".chkscope-report.json")
	var d prune.Document
	if err != nil || json.Unmarshal(b, &d) != nil || !d.Written || d.Proof == nil || !d.Proof.OK {
		t.Errorf("report %s: %v", b, err)
	}
}

// TestFailAtEveryStep lets the store fail at each step of a write, and then the
// same plan goes on. What is cancelled or fails leaves no `_metadata` but after
// the proof.
func TestFailAtEveryStep(t *testing.T) {
	for _, k := range tasks {
		t.Run(fmt.Sprintf("%s-%s", k.fixture, k.copy), func(t *testing.T) {
			before := digestTree(t, filepath.Dir(fixture(t, k.fixture)))
			steps := 0
			for n := int64(1); ; n += stride(n) {
				dest := filepath.Join(scratch(t), "copy")
				ctx, cancel := context.WithCancel(context.Background())
				full := errors.New("no space left on device")
				s := &stepper{WriteStore: k.store(t), at: n, act: func() error {
					if n%2 == 0 {
						cancel()
						return nil // the next use of the context tells
					}
					return full
				}}
				p := k.plan(t, dest)
				_, err := prune.Apply(ctx, p, s, nil)
				cancel()
				if s.step.Load() < n {
					if err != nil {
						t.Fatal(err)
					}
					break
				}
				steps++
				checkInterrupted(t, dest, p)
				if errors.Is(err, context.Canceled) && exists(filepath.Join(dest, "_metadata")) {
					t.Errorf("step %d: cancelled, and _metadata is there", n)
				}
				if err != nil && !errors.Is(err, full) && !errors.Is(err, context.Canceled) {
					t.Fatalf("step %d: %v", n, err)
				}
				if err != nil {
					if _, err := prune.Apply(context.Background(), k.plan(t, dest), k.store(t), nil); err != nil && !finishedAlready(err) {
						t.Fatalf("step %d, gone on: %v", n, err)
					}
				}
				checkFinished(t, dest, p)
			}
			if steps < 20 {
				t.Errorf("only %d steps", steps)
			}
			if after := digestTree(t, filepath.Dir(fixture(t, k.fixture))); after != before {
				t.Error("the source was changed")
			}
		})
	}
}

// stride goes through the first steps one by one, then leaves some out: many
// files are written alike.
func stride(n int64) int64 {
	if n < 40 {
		return 1
	}
	return 7
}

// store is what the task's snapshot is read through.
func (k task) store(t testing.TB) model.WriteStore { return corpusStore(fixture(t, k.fixture)) }

// finishedAlready: the failing step was the removal of the marker or later.
func finishedAlready(err error) bool {
	var r *prune.Refusal
	return errors.As(err, &r) && r.Reasons[0].Rule == "destination-not-empty"
}

// TestKillAtEveryStep really kills a process at each step of a write.
func TestKillAtEveryStep(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGKILL")
	}
	if n := os.Getenv("CHKSCOPE_TEST_KILL_AT"); n != "" {
		killedChild(t, n)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range tasks {
		t.Run(fmt.Sprintf("%s-%s", k.fixture, k.copy), func(t *testing.T) {
			before := digestTree(t, filepath.Dir(fixture(t, k.fixture)))
			dest := filepath.Join(scratch(t), "copy")
			p := k.plan(t, dest)
			kills := 0
			// Steps are killed one by one in a fresh destination, then in one that
			// is killed again and again as it goes on.
			for n, again := int64(1), false; ; n += stride(n) {
				if !again {
					os.RemoveAll(dest)
					os.Remove(dest + ".chkscope-report.json")
				}
				cmd := exec.Command(exe, "-test.run=^TestKillAtEveryStep$")
				cmd.Env = append(os.Environ(), "CHKSCOPE_TEST_KILL_AT="+strconv.FormatInt(n, 10), "CHKSCOPE_TEST_TASK="+strconv.Itoa(i), "CHKSCOPE_TEST_DEST="+dest)
				out, err := cmd.CombinedOutput()
				if err == nil && !again {
					again, n = true, 3
					os.RemoveAll(dest)
					os.Remove(dest + ".chkscope-report.json")
					continue
				}
				if err == nil {
					break
				}
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					if strings.Contains(string(out), "destination-not-empty") || strings.Contains(string(out), "not empty") {
						break // killed behind the last step
					}
					t.Fatalf("%v\n%s", err, out)
				}
				kills++
				checkInterrupted(t, dest, p)
				if !again {
					if _, err := prune.Apply(context.Background(), k.plan(t, dest), k.store(t), nil); err != nil && !finishedAlready(err) {
						t.Fatalf("step %d, gone on: %v", n, err)
					}
					checkFinished(t, dest, p)
				}
			}
			checkFinished(t, dest, p)
			if after := digestTree(t, filepath.Dir(fixture(t, k.fixture))); after != before {
				t.Error("the source was changed")
			}
			t.Logf("%d kills", kills)
		})
	}
}

func killedChild(t *testing.T, at string) {
	n, _ := strconv.ParseInt(at, 10, 64)
	i, _ := strconv.Atoi(os.Getenv("CHKSCOPE_TEST_TASK"))
	k := tasks[i]
	s := &stepper{WriteStore: k.store(t), at: n, act: func() error {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}}
	if _, err := prune.Apply(context.Background(), k.plan(t, os.Getenv("CHKSCOPE_TEST_DEST")), s, nil); err != nil {
		t.Fatal(err)
	}
}

// TestDestinations: where a copy must not go.
func TestDestinations(t *testing.T) {
	src := fixture(t, "incident/gen-3-files")
	s, tree := open(t, src)
	base := scratch(t)
	file := filepath.Join(base, "file")
	full := filepath.Join(base, "full")
	link := filepath.Join(base, "link")
	for _, err := range []error{os.WriteFile(file, nil, 0o666), os.MkdirAll(filepath.Join(full, "x"), 0o777), os.Symlink(filepath.Dir(src), link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	apply := func(dest string) error {
		p, err := prune.Build(context.Background(), s, tree, prune.Request{Copy: prune.CopyFull, Destination: store.FileURI(dest)})
		if err != nil {
			return err
		}
		_, err = prune.Apply(context.Background(), p, storage.New(storage.Options{}), nil)
		return err
	}
	for _, c := range []struct{ dest, rule string }{
		{filepath.Join(filepath.Dir(src), "copy"), "destination-inside"},
		{filepath.Dir(src), "destination-inside"},
		{filepath.Dir(filepath.Dir(src)), "destination-inside"},
		{filepath.Join(link, "copy"), "destination-inside"},
		{full, "destination-not-empty"},
	} {
		checkRule(t, c.dest, apply(c.dest), c.rule)
	}
	if err := apply(filepath.Join(file, "copy")); err == nil {
		t.Error("a file was taken for a directory")
	}
	p := task{"incident/gen-3-files", prune.CopyFull, "", ""}.plan(t, filepath.Join(base, "read-only"))
	if _, err := prune.Apply(context.Background(), p, storage.New(storage.Options{ReadOnly: true}), nil); !errors.Is(err, model.ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
}

// TestOtherPlan: an unfinished copy is gone on with by its own plan only.
func TestOtherPlan(t *testing.T) {
	dest := filepath.Join(scratch(t), "copy")
	s := &stepper{WriteStore: tasks[0].store(t), at: 12, act: func() error { return errors.New("stop") }}
	if _, err := prune.Apply(context.Background(), tasks[0].plan(t, dest), s, nil); err == nil {
		t.Fatal("it did not stop")
	}
	_, err := prune.Apply(context.Background(), task{"incident/gen-3-files", prune.CopyFull, "", ""}.plan(t, dest), tasks[0].store(t), nil)
	checkRule(t, "another plan", err, "other-plan")
	if err := os.WriteFile(filepath.Join(dest, "foreign"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = prune.Apply(context.Background(), tasks[0].plan(t, dest), tasks[0].store(t), nil)
	checkRule(t, "a foreign file", err, "destination-not-empty")
	os.Remove(filepath.Join(dest, "foreign"))
	if _, err := prune.Apply(context.Background(), tasks[0].plan(t, dest), tasks[0].store(t), nil); err != nil {
		t.Fatal(err)
	}
	checkFinished(t, dest, tasks[0].plan(t, dest))
}

// TestFullDisk writes to a disk that is too small.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small file system can be mounted here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
	k := tasks[2]
	dest := filepath.Join(dir, "copy")
	if _, err := prune.Apply(context.Background(), k.plan(t, dest), k.store(t), nil); err == nil || !strings.Contains(err.Error(), "free") || exists(dest) {
		t.Errorf("free space was not looked at: %v", err)
	}
	if _, err := prune.Apply(context.Background(), k.plan(t, dest), blind{k.store(t)}, nil); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
	if exists(filepath.Join(dest, "_metadata")) {
		t.Error("_metadata is there")
	}
	if out, err := exec.Command("mount", "-o", "remount,size=64m", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := k.plan(t, dest)
	if _, err := prune.Apply(context.Background(), p, k.store(t), nil); err != nil {
		t.Fatal(err)
	}
	checkFinished(t, dest, p)
}

// blind does not know how much is free.
type blind struct{ model.WriteStore }

func (blind) Free(context.Context, string) int64 { return -1 }
