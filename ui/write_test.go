package ui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chkscope/model"

	tea "charm.land/bubbletea/v2"
)

func TestWriteDialog(t *testing.T) {
	x := openIncident(t, 80, 24)
	x.press("w")
	x.mustShow("nothing is marked")
	x.press("f x w")
	x.mustShow("word:", "without kafka-source /", "(768 entries, 6.1 KiB of _metadata)")
	x.typeIn("write") // typed before it could be read
	x.press("enter")
	x.mustShow("word:\n")
	x.confirmWith("writ")
	x.mustShow("Type the word write")
	x.press("esc")
	x.mustNotShow("word:")
	if _, there := x.cfg.Store.(*memStore).get(incidentDir + "-pruned/_metadata"); there {
		t.Fatal("Esc wrote a copy")
	}
	x.press("w")
	x.wait(time.Second)
	x.press("up")
	for range 7 { // "-pruned"
		x.press("backspace")
	}
	x.typeIn("-elsewhere")
	x.press("down")
	x.mustShow("chk-9-elsewhere")
	x.confirm()
	x.mustShow("written and proved", "Proof: read back", "What to do next")
	if _, there := x.cfg.Store.(*memStore).get(incidentDir + "-elsewhere/_metadata"); !there {
		t.Fatal("no copy")
	}
	x.press("p esc q") // what is written need not be asked for
	if !x.leaving || len(x.printout) == 0 {
		t.Errorf("leaving %v, %d lines to print", x.leaving, len(x.printout))
	}
}

// TestDestinationIsFree: the dialog is prefilled with a place where nothing is.
func TestDestinationIsFree(t *testing.T) {
	st := incident(t)
	st.files[incidentDir+"-pruned/notes.txt"] = []byte("mine")
	st.files[incidentDir+"-pruned-2/_metadata"] = nil
	x := newTester(t, st, incidentDir, 100, 24)
	x.press("f x w")
	x.mustShow("chk-9-pruned-3")
	x.confirm()
	x.mustShow("written and proved", "chk-9-pruned-3")
	if _, there := st.get(incidentDir + "-pruned-3/_metadata"); !there {
		t.Fatal("no copy")
	}
	x.press("esc f f x w") // the next copy goes elsewhere
	x.mustShow("chk-9-pruned-4")

	st.files[incidentDir+"-pruned-2/_chkscope-incomplete.json"] = nil // goes on with what was begun
	x = newTester(t, st, incidentDir, 100, 24)
	x.press("f x w")
	x.mustShow("chk-9-pruned-2")
}

// TestPlanMissesSource: the plan and the dialog say that a file to be copied is
// not there.
func TestPlanMissesSource(t *testing.T) {
	st := incident(t)
	for name := range st.files {
		if !strings.HasSuffix(name, "/_metadata") {
			delete(st.files, name)
		}
	}
	x := newTester(t, st, incidentDir, 100, 40)
	x.press("f space tab")
	if x.plan.plan == nil || x.plan.plan.Files.Copied == 0 {
		t.Fatalf("no plan that copies: %v", x.plan.err)
	}
	x.mustShow("The copy would fail", "cannot be")
	x.press("w")
	x.mustShow("The copy would fail")
}

func (x *tester) confirmWith(word string) {
	x.wait(time.Second)
	x.typeIn(word)
	x.press("enter")
}

func TestWriteToBadPlace(t *testing.T) {
	x := openIncident(t, 80, 24)
	x.press("f x w")
	x.wait(time.Second)
	x.press("up")
	x.typeIn("/../chk-9/inside")
	x.press("down")
	x.confirmWith(confirmWord)
	x.mustNotShow("written and proved")
}

func TestPlanChoices(t *testing.T) {
	x := openIncident(t, 80, 40)
	x.press("/")
	x.typeIn("coordinator")
	x.press("enter space tab")
	x.mustShow("Refused", "The key a allows it (--accept-loss)")
	x.press("a")
	x.mustShow("What you lose", "accept the losses named above: yes")
	x.press("c")
	x.mustShow("A reference copy of", "copy: reference")
	dir := t.TempDir()
	t.Chdir(dir)
	x.press("s")
	x.mustShow("chk-9-plan.json")
	x.press("enter")
	x.mustShow("saved chk-9-plan.json; chkscope prune --plan")
	if b, err := os.ReadFile(filepath.Join(dir, "chk-9-plan.json")); err != nil || !strings.Contains(string(b), `"accept_loss": true`) {
		t.Errorf("%v %s", err, b)
	}
	x.press("s enter")
	x.mustShow("the plan was not saved")
	x.press("u")
	x.mustShow("lens:") // nothing is marked any more
}

func TestReadOnly(t *testing.T) {
	x := openReadOnly(t, 80, 24)
	x.mustNotShow("w write")
	x.press("f x w")
	x.mustNotShow("word:")
	x.press("tab")
	x.mustShow("plan")
	x.mustNotShow("s save", "w write")
	x.press("s")
	x.mustNotShow("file:")
	x.press("?")
	x.typeIn("pruned copy")
	x.mustShow("No key does that")
	for i := range bindings {
		if b := &bindings[i]; b.writes {
			for _, act := range b.acts {
				for k := range strings.FieldsSeq(act.keys) {
					if findBinding(b.in&-b.in, k, true) != nil {
						t.Errorf("%s still does something in read-only mode", k)
					}
				}
			}
		}
	}
	x = openReadOnly(t, 80, 24)
	x.press("f x w")
	x.mustShow("w would write; --read-only lets no key do that")
}

// blockedStore holds a copy's first file back until its context ends.
type blockedStore struct {
	*memStore
	started chan struct{}
}

func (b blockedStore) Create(ctx context.Context, uri string) (model.Writer, error) {
	if strings.Contains(uri, "_chkscope-incomplete") {
		return b.memStore.Create(ctx, uri)
	}
	select {
	case b.started <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestCancelWrite(t *testing.T) {
	for _, how := range []string{"ctrl+c", "hangup"} {
		t.Run(how, func(t *testing.T) {
			st := blockedStore{incident(t), make(chan struct{}, 1)}
			x := newTester(t, st, incidentDir, 80, 24)
			x.press("f x w")
			x.wait(time.Second)
			x.typeIn(confirmWord)
			_, cmd := x.Update(keyMsg("enter"))
			done := make(chan tea.Msg, 8)
			var run func(tea.Cmd)
			run = func(c tea.Cmd) {
				switch m := c().(type) {
				case tea.BatchMsg:
					for _, c := range m {
						go run(c)
					}
				case nil:
				default:
					done <- m
				}
			}
			go run(cmd)
			<-st.started
			x.mustShow("ctrl+c cancel")
			x.press("esc q") // neither leaves
			x.mustShow("writing")
			if how == "hangup" {
				x.send(hangupMsg{})
			} else {
				x.press("ctrl+c")
			}
			for x.writer.job != nil {
				x.send(<-done)
			}
			if _, there := st.get(incidentDir + "-pruned/_metadata"); there {
				t.Error("a cancelled write left _metadata")
			}
			if x.leaving != (how == "hangup") {
				t.Errorf("leaving: %v", x.leaving)
			}
			x.mustShow("the write was cancelled")
		})
	}
}
