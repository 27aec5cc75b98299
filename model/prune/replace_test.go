package prune_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/model/prune"
	"chkscope/model/store"
	"chkscope/storage"
)

// replaceStepper is a stepper that replaces too, as the disk does.
type replaceStepper struct {
	stepper
	disk *storage.Router
}

func (s *replaceStepper) CanReplace(uri string) error { return s.disk.CanReplace(uri) }

func (s *replaceStepper) Replace(ctx context.Context, by, uri string) error {
	if err := s.next(); err != nil {
		return err
	}
	if err := s.disk.Replace(ctx, by, uri); err != nil {
		return err
	}
	return s.next()
}

// writtenObject is a plan whose copy is written, with the old object's bytes.
func writtenObject(t *testing.T) (st *storage.Router, object string, plan *prune.Plan, old []byte) {
	t.Helper()
	st, object, _ = madeObjects(t)
	old = fileAt(t, store.FileURI(object))
	plan, err := planned(t, st, store.FileURI(object), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prune.Apply(context.Background(), plan, st, nil); err != nil {
		t.Fatal(err)
	}
	return st, object, plan, old
}

// TestReplaceInterrupted: stopped at any step the object is the old one or the new
// one, whole; the next run goes on and keeps the old one.
func TestReplaceInterrupted(t *testing.T) {
	stop := errors.New("stopped")
	for step, more := int64(1), true; more; step++ {
		st, object, plan, old := writtenObject(t)
		fresh := fileAt(t, plan.Object.URI)
		s := &replaceStepper{stepper{WriteStore: st, at: step, act: func() error { return stop }}, st}
		_, err := prune.ReplaceObject(context.Background(), plan, s)
		more = errors.Is(err, stop)
		if err != nil && !more {
			t.Fatalf("step %d: %v", step, err)
		}
		now := fileAt(t, store.FileURI(object))
		switch {
		case bytes.Equal(now, fresh): // done: the old one is beside it
			if kept, err := prune.KeptBeside(context.Background(), st, store.FileURI(object)); err != nil || len(kept) != 1 || !bytes.Equal(fileAt(t, kept[0]), old) {
				t.Errorf("step %d: kept %v, %v", step, kept, err)
			}
		case bytes.Equal(now, old):
			kept, err := prune.ReplaceObject(context.Background(), plan, st)
			if err != nil || !bytes.Equal(fileAt(t, kept), old) || !bytes.Equal(fileAt(t, store.FileURI(object)), fresh) {
				t.Errorf("after step %d: %v", step, err)
			}
		default:
			t.Errorf("step %d: the object is neither the old nor the new one", step)
		}
		if list, _ := filepath.Glob(object + ".chkscope-*"); len(list) != 1 {
			t.Errorf("step %d left %v", step, list)
		}
		if step > 40 {
			t.Fatal("no end")
		}
	}
}

// TestReplaceRefused: an object that was changed since, at the beginning or while
// the files beside it are made, is left alone; so is what lies there already.
func TestReplaceRefused(t *testing.T) {
	ctx := context.Background()
	st, object, plan, old := writtenObject(t)
	change := func() { os.WriteFile(object, append(old[:len(old):len(old)], 0), 0o644) }
	var refusal *prune.Refusal
	change()
	if _, err := prune.ReplaceObject(ctx, plan, st); !errors.As(err, &refusal) || refusal.Reasons[0].Rule != "object-changed" {
		t.Errorf("%v", err)
	}
	if list, _ := filepath.Glob(object + ".*"); len(list) > 0 {
		t.Errorf("left %v", list)
	}

	for step := int64(1); ; step++ { // the last copy is made, then somebody changes the object
		st, object, plan, old = writtenObject(t)
		s := &replaceStepper{stepper{WriteStore: st, at: step, act: func() error {
			if list, _ := filepath.Glob(object + ".chkscope-new-*"); len(list) == 1 {
				change()
			}
			return nil
		}}, st}
		_, err := prune.ReplaceObject(ctx, plan, s)
		if errors.As(err, &refusal) {
			break
		}
		if err != nil || step > 40 {
			t.Fatalf("%v at %d", err, step)
		}
	}
	if got := fileAt(t, store.FileURI(object)); !bytes.Equal(got[:len(old)], old) || len(got) != len(old)+1 {
		t.Error("an object that was changed was replaced")
	}

	st, object, plan, old = writtenObject(t)
	kept, err := prune.ReplaceObject(ctx, plan, st)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(strings.TrimPrefix(kept, "file:"), []byte("other"), 0o644), os.WriteFile(object, old, 0o644)); err != nil {
		t.Fatal(err)
	}
	if plan, err = planned(t, st, store.FileURI(object), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := prune.Apply(ctx, plan, st, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := prune.ReplaceObject(ctx, plan, st); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "does not hold what should stand there") {
		t.Errorf("%v", err)
	}
}
