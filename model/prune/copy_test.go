package prune_test

import (
	"errors"
	"strings"
	"testing"

	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/prune"
	"chkscope/model/store"
)

// TestFullCopyOfEverySnapshot copies every real snapshot whose files are there
// and looks at the rules of a full copy.
func TestFullCopyOfEverySnapshot(t *testing.T) {
	copies, files, missing := 0, 0, 0
	eachSnapshot(t, func(name string, s *model.Snapshot, tree *model.Tree) {
		for _, off := range []bool{false, true} {
			req := prune.Request{Copy: prune.CopyFull, ChangelogOff: off, VerifyCopies: true}
			res, err := dropAnd(t, s, tree, req, func(p *prune.Plan, c *metadata.Checkpoint) { checkFull(t, name, p, c, off) })
			if errors.Is(err, model.ErrNotExist) {
				missing++
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			copies++
			files += res.Plan.Files.Copied
			if res.Proof.Equal != res.Proof.Checked || res.Proof.Unchecked > 0 {
				t.Errorf("%s: proof %+v", name, res.Proof)
			}
		}
	})
	t.Logf("%d full copies of %d files; of %d snapshots files are missing", copies, files, missing)
}

func checkFull(t *testing.T, name string, p *prune.Plan, c *metadata.Checkpoint, changelogOff bool) {
	err := c.EachStream(func(u metadata.StreamUse) error {
		h := u.Stream
		switch {
		case u.Changelog != nil && !changelogOff && p.Movable && h.Type != metadata.TypeByteStream:
			t.Errorf("%s: %s is not carried inside", name, u)
		case u.Part == metadata.Shared && (u.Changelog == nil || changelogOff):
			t.Errorf("%s: %s is left in shared", name, u)
		case h.Type == metadata.TypeByteStream, h.Type == metadata.TypeRelativeFile && (u.Changelog == nil || changelogOff):
		case h.Type == metadata.TypeFile && u.Changelog != nil && !changelogOff && store.Under(h.Name, p.Destination):
		default:
			t.Errorf("%s: %s has type %d, path %s", name, u, h.Type, h.Name)
		}
		if u.OperatorHandle != nil && u.OperatorHandle.Type == metadata.TypeFileMergingOperator {
			t.Errorf("%s: %s is still of merged files", name, u)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestChangelogFiles makes full copies whose changelog handles name the copy's
// files by absolute path.
func TestChangelogFiles(t *testing.T) {
	defer prune.NoCarry()()
	copies := 0
	eachSnapshot(t, func(name string, s *model.Snapshot, tree *model.Tree) {
		if !strings.Contains(name, "changelog-heap") && !strings.Contains(name, "changelog-rocks") {
			return
		}
		res, err := dropAnd(t, s, tree, prune.Request{Copy: prune.CopyFull}, func(p *prune.Plan, c *metadata.Checkpoint) {
			checkFull(t, name, p, c, false)
			if p.Movable || p.ClaimMode != "CLAIM" || !strings.Contains(p.ClaimSentence, "may not be moved") {
				t.Errorf("%s: movable %v, %s: %s", name, p.Movable, p.ClaimMode, p.ClaimSentence)
			}
		})
		if err != nil || res.Files.Copied == 0 || res.Proof.Equal != res.Proof.Checked {
			t.Errorf("%s: %v %+v", name, err, res)
		}
		copies++
	})
	if copies == 0 {
		t.Error("no snapshot with changelog")
	}
}

// TestReferenceCopyOfEverySnapshot makes reference copies without removals: all
// handles are absolute, nothing but `_metadata` is written.
func TestReferenceCopyOfEverySnapshot(t *testing.T) {
	eachSnapshot(t, func(name string, s *model.Snapshot, tree *model.Tree) {
		res, err := dropAnd(t, s, tree, prune.Request{Copy: prune.CopyReference, ChangelogOff: true}, func(p *prune.Plan, c *metadata.Checkpoint) {
			err := c.EachStream(func(u metadata.StreamUse) error {
				if u.Stream.Type == metadata.TypeRelativeFile {
					t.Errorf("%s: %s is relative", name, u)
				}
				return nil
			})
			if err != nil || len(p.Write) > 0 {
				t.Errorf("%s: %v, writes %v", name, err, p.Write)
			}
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if res.Proof.Equal != res.Proof.Checked {
			t.Errorf("%s: proof %+v", name, res.Proof)
		}
	})
}
