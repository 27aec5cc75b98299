package prune

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"chkscope/decoder"
	"chkscope/model"
	"chkscope/model/failover"
)

// PlanSchema is the version of the plan file.
const PlanSchema = 1

// Plan is what will be written and why. It is made by Build, or read by Load
// and then made again from the source by Rebuild.
type Plan struct {
	Schema      int    `json:"schema"`
	Source      string `json:"source"`     // URI of `_metadata`
	SourceURI   string `json:"source_uri"` // --source-uri, "" where not given
	SourceBytes int64  `json:"source_bytes"`
	// MetadataVersion of the source and the copy.
	MetadataVersion int32 `json:"metadata_version"`
	// SourceSHA256 of `_metadata`, in hex; "" until Seal.
	SourceSHA256 string `json:"source_sha256"`
	Destination  string `json:"destination"`

	Drop         []string `json:"drop"`  // selectors as marked
	Where        string   `json:"where"` // "": all of what was marked
	TTL          int64    `json:"ttl_ms"`
	Now          int64    `json:"now_ms"`
	Asked        CopyKind `json:"asked_copy"`
	ChangelogOff bool     `json:"changelog_off"`
	AcceptLoss   bool     `json:"accept_loss"`
	KeepHeaders  bool     `json:"keep_headers"`
	VerifyCopies bool     `json:"verify_copies"`

	Copy       CopyKind `json:"copy"` // reference or full
	CopyReason string   `json:"copy_reason"`
	// Movable: the copy may be moved to another place.
	Movable bool `json:"movable"`
	// ClaimMode to restore with, and the sentence that says why.
	ClaimMode     string `json:"claim_mode"`
	ClaimSentence string `json:"claim_sentence"`

	Removed       []Removed        `json:"removed"`
	Operators     []OperatorChange `json:"operators"` // those that change
	MetadataBytes BeforeAfter      `json:"metadata_bytes"`
	Files         FileCounts       `json:"files"`
	Write         []PlannedFile    `json:"write"` // files of the copy beside `_metadata`
	Unneeded      Unneeded         `json:"unneeded"`

	// Object is the object of high availability that is pruned too; null: none.
	Object *ObjectPlan `json:"object"`

	Warnings []string `json:"warnings"`
	// Flink tells what Flink does at the restore, Losses what the person loses.
	Flink  []string `json:"flink"`
	Losses []string `json:"losses"`
	// Digest identifies the copy: the same source, removals, kind and files. ""
	// until Seal.
	Digest string `json:"digest"`

	targets []model.Target
	work    *work
}

// Removed is one thing that goes.
type Removed struct {
	Selector string `json:"selector"`
	Entries  *int64 `json:"entries"` // null: not known
	Bytes    struct {
		Metadata *int64 `json:"metadata"`
		Files    *int64 `json:"files"`
	} `json:"bytes"`
	// Because is why something goes that was not marked, else "".
	Because string `json:"because"`
	// Headers of the streams that held it: "dropped", "kept", or "" where there
	// are none.
	Headers string `json:"headers"`
}

// BeforeAfter is a number before and after.
type BeforeAfter struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// OperatorChange is an operator that is not the same afterwards.
type OperatorChange struct {
	ID       string      `json:"id"`
	Name     string      `json:"name"`
	Gone     bool        `json:"gone"`
	Metadata BeforeAfter `json:"metadata"` // bytes of its record
	Files    BeforeAfter `json:"files"`    // bytes of the files and segments it names; unrecorded lengths count 0
}

// FileCounts are the files of the copy. Parts of merged files count as files.
type FileCounts struct {
	Copied     int `json:"copied"`
	Rewritten  int `json:"rewritten"`
	Referenced int `json:"referenced"`
	Bytes      struct {
		Copied     int64 `json:"copied"`
		Rewritten  int64 `json:"rewritten"`
		Referenced int64 `json:"referenced"`
	} `json:"bytes"`
}

// PlannedFile is a file that the copy will have.
type PlannedFile struct {
	Name   string `json:"name"`
	From   string `json:"from"` // as Flink sees it
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"` // of the new file; -1 where the source does not record it
	Action string `json:"action"`
}

// Unneeded is the physical files that the source names and the copy does not
// need. Others may still need them.
type Unneeded struct {
	Count int      `json:"count"`
	Bytes int64    `json:"bytes"` // of those whose length is recorded
	Files []string `json:"files"` // at most unneededListed
}

const unneededListed = 1000

// Request gives back what the plan was built from.
func (p *Plan) Request() Request {
	return Request{
		Targets: p.targets, Where: p.Where, TTL: p.TTL, Now: p.Now, Copy: p.Asked, Destination: p.Destination, ChangelogOff: p.ChangelogOff,
		AcceptLoss: p.AcceptLoss, KeepHeaders: p.KeepHeaders, VerifyCopies: p.VerifyCopies, Object: p.objectSource(), Pointer: p.pointer(),
	}
}

func (p *Plan) objectSource() string {
	if p.Object == nil {
		return ""
	}
	return p.Object.Source
}

func (p *Plan) pointer() *failover.Pointer {
	if p.Object == nil || p.Object.Pointer == nil {
		return nil
	}
	return &p.Object.Pointer.Pointer
}

// Seal computes the digests, which read the whole source `_metadata`.
func (p *Plan) Seal(ctx context.Context) error {
	if p.Digest != "" {
		return nil
	}
	sum, err := hashInput(ctx, p.work.snap.Meta.In)
	if err != nil {
		return err
	}
	p.SourceSHA256 = sum
	if err := p.sealObject(ctx); err != nil {
		return err
	}
	p.Digest = p.digest()
	return nil
}

func (p *Plan) sealObject(ctx context.Context) (err error) {
	if p.Object != nil {
		p.Object.SourceSHA256, err = hashInput(ctx, p.work.object.snap.Meta.In)
	}
	return err
}

// digest is over what decides the copy's bytes, not over sentences.
func (p *Plan) digest() string {
	drop := slices.Clone(p.Drop)
	slices.Sort(drop)
	h := sha256.New()
	fmt.Fprintf(h, "chkscope plan %d\x00%s\x00%s\x00%s\x00%s\x00%v\x00%v\x00%s\x00", p.Schema, p.SourceSHA256, p.SourceURI,
		p.Destination, p.Copy, p.ChangelogOff, p.KeepHeaders, strings.Join(drop, "\x00"))
	if p.Where != "" {
		fmt.Fprintf(h, "where\x00%s\x00%d\x00%d\x00", p.Where, p.TTL, p.Now)
	}
	for _, f := range p.Write {
		fmt.Fprintf(h, "%s\x00%s\x00%d\x00%d\x00%s\x00", f.Name, f.From, f.Offset, f.Size, f.Action)
	}
	fmt.Fprintf(h, "%d", p.MetadataBytes.After)
	if o := p.Object; o != nil {
		fmt.Fprintf(h, "\x00%s\x00%s\x00%s\x00%d", o.Source, o.SourceSHA256, o.Name, o.Bytes.After)
		if o.Pointer != nil {
			fmt.Fprintf(h, "\x00%s\x00%x", o.Pointer.Where, o.Pointer.Payload)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func hashInput(ctx context.Context, in decoder.Input) (string, error) {
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for off := int64(0); off < in.Size(); {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := in.ReadAt(buf[:min(int64(len(buf)), in.Size()-off)], off)
		h.Write(buf[:n])
		off += int64(n)
		if err != nil && err != io.EOF || n == 0 {
			return "", fmt.Errorf("%s: offset %d: %w", in.Name(), off, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Save writes the plan file.
func (p *Plan) Save(ctx context.Context, w io.Writer) error {
	if err := p.Seal(ctx); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(p)
}

// planLimit is the most that a plan file may have, in bytes.
const planLimit = 256 << 20

// Load reads a plan file. The plan can be shown; Rebuild makes it ready to be
// applied.
func Load(r io.Reader) (*Plan, error) {
	p := &Plan{}
	d := json.NewDecoder(io.LimitReader(r, planLimit))
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("not a plan file: %w", err)
	}
	if p.Schema != PlanSchema {
		return nil, fmt.Errorf("a plan of schema %d; this chkscope reads schema %d", p.Schema, PlanSchema)
	}
	if p.Source == "" || len(p.SourceSHA256) != 64 || p.Digest == "" {
		return nil, fmt.Errorf("not a plan file: source, source_sha256 or digest is missing")
	}
	return p, nil
}

// checkSum compares a source with what it was when the plan was saved.
func (p *Plan) checkSum(ctx context.Context, s *model.Snapshot) error {
	sum, err := hashInput(ctx, s.Meta.In)
	if err == nil && sum != p.SourceSHA256 {
		err = refuse("source-changed", "", fmt.Sprintf("%s is not the file that the plan was made for: its SHA-256 is %s, the plan has %s; make the plan again", s.URI, sum, p.SourceSHA256), "")
	}
	return err
}

// Rebuild makes a loaded plan again from its source, which must have the same
// bytes as when the plan was saved. destination, where not "", takes the place
// of the plan's.
func Rebuild(ctx context.Context, s *model.Snapshot, t *model.Tree, p *Plan, destination string) (*Plan, error) {
	if s.HA == nil {
		if err := p.checkSum(ctx, s); err != nil {
			return nil, err
		}
	}
	req := p.Request()
	for _, sel := range p.Drop {
		g, err := model.ParseTarget(sel)
		if err != nil {
			return nil, fmt.Errorf("the plan's drop list: %w", err)
		}
		req.Targets = append(req.Targets, g)
	}
	if destination != "" {
		req.Destination = destination
	}
	n, err := Build(ctx, s, t, req)
	if err != nil {
		return nil, err
	}
	if s.HA != nil { // the `_metadata` is made of the object
		err = p.checkSum(ctx, n.work.snap)
	}
	if err == nil {
		n.SourceSHA256 = p.SourceSHA256
		err = n.sealObject(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	n.Digest = n.digest()
	if req.Destination == p.Destination && n.Digest != p.Digest {
		n.Close()
		return nil, refuse("plan-changed", "", "the plan does not come out the same any more: state files that the removal reads were changed, or another chkscope made it; make the plan again", "")
	}
	return n, nil
}
