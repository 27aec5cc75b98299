package prune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"chkscope/model"
)

// Result is a written and proved copy.
type Result struct {
	Plan       *Plan
	Proof      Proof
	Files      FileCounts // as written
	ReportFile string     // URI
}

// Document is what `prune` prints as JSON, and what the report file holds.
type Document struct {
	Schema        int         `json:"schema"`
	Written       bool        `json:"written"`
	Source        string      `json:"source"`
	Destination   string      `json:"destination"`
	Copy          CopyKind    `json:"copy"`
	CopyReason    string      `json:"copy_reason"`
	ClaimMode     string      `json:"claim_mode"`
	ClaimSentence string      `json:"claim_sentence"`
	Movable       bool        `json:"movable"`
	Removed       []Removed   `json:"removed"`
	MetadataBytes BeforeAfter `json:"metadata_bytes"`
	Files         FileCounts  `json:"files"`
	Unneeded      Unneeded    `json:"unneeded"`
	Object        *ObjectPlan `json:"object"` // null: none
	Proof         *Proof      `json:"proof"`  // null: not written
	ReportFile    *string     `json:"report_file"`
	Flink         []string    `json:"flink"`
	Losses        []string    `json:"losses"`
	Warnings      []string    `json:"warnings"`
	Next          []string    `json:"next"`
	PlanDigest    string      `json:"plan_digest"`
}

// Document is the plan as a document; r is nil where nothing was written
// (--dry-run).
func (p *Plan) Document(r *Result) *Document {
	d := &Document{
		Schema: 1, Source: p.Source, Destination: p.Destination, Copy: p.Copy, CopyReason: p.CopyReason, ClaimMode: p.ClaimMode,
		ClaimSentence: p.ClaimSentence, Movable: p.Movable, Removed: p.Removed, MetadataBytes: p.MetadataBytes, Files: p.Files,
		Unneeded: p.Unneeded, Object: p.Object, Flink: p.Flink, Losses: p.Losses, Warnings: p.Warnings, Next: p.NextSteps(), PlanDigest: p.Digest,
	}
	if r != nil {
		d.Written, d.Proof, d.Files = true, &r.Proof, r.Files
		d.Warnings = append(append([]string{}, p.Warnings...), r.Proof.Warnings...)
		if r.ReportFile != "" {
			d.ReportFile = &r.ReportFile
		}
	}
	return d
}

// reportSuffix makes the report's URI from the destination's.
const reportSuffix = ".chkscope-report.json"

// writeReport stores the document beside the copy's directory: Flink deletes
// that directory only when nothing else is in it. A report of another copy that
// was once there is kept.
func (a *application) writeReport(ctx context.Context, r *Result) (string, error) {
	for i := 1; ; i++ {
		uri := a.plan.Destination + reportSuffix
		if i > 1 {
			uri = fmt.Sprintf("%s.chkscope-report-%d.json", a.plan.Destination, i)
		}
		if err := a.removeOwnReport(ctx, uri); err != nil {
			return "", err
		}
		r.ReportFile = uri
		err := writeFile(ctx, a.ws, uri, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			e.SetEscapeHTML(false)
			return e.Encode(a.plan.Document(r))
		})
		if err == nil || !errors.Is(err, model.ErrExist) || i == 100 {
			return uri, err
		}
	}
}

// removeOwnReport removes the report of this very copy, left by a run that was
// killed after it.
func (a *application) removeOwnReport(ctx context.Context, uri string) error {
	o, err := a.ws.Open(ctx, uri)
	if errors.Is(err, model.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	b := make([]byte, min(o.Size(), jsonLimit))
	n, _ := o.ReadAt(b, 0)
	o.Close()
	var d Document
	if json.Unmarshal(b[:n], &d) != nil || d.PlanDigest != a.plan.Digest || !a.dest.resumed {
		return nil
	}
	return a.ws.Remove(ctx, uri)
}
