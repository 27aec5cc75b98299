package main

import (
	"context"
	"fmt"
	"strings"

	"chkscope/model"
	"chkscope/model/prune"
)

// planText is a plan in words: what goes, what is written, what it means.
func (p *program) planText(ctx context.Context, st model.WriteStore, d *prune.Document) string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s copy of %s\nto %s\n", p.strong(capital(d.Copy.String())), model.Clean(d.Source), model.Clean(d.Destination))
	fmt.Fprintf(w, "%s because %s.\n\n", capital(d.Copy.String()), model.Clean(d.CopyReason))
	p.removedText(w, d.Removed)
	rows := newTable("lrl")
	rows.row("_metadata", model.FormatSize(d.MetadataBytes.After), "before "+model.FormatSize(d.MetadataBytes.Before))
	if o := d.Object; o != nil {
		rows.row("object", model.FormatSize(o.Bytes.After), "before "+model.FormatSize(o.Bytes.Before)+": "+model.Clean(o.Source))
	}
	f := d.Files
	rows.row("files copied", model.FormatSize(f.Bytes.Copied), fileCount(f.Copied))
	rows.row("files rewritten", model.FormatSize(f.Bytes.Rewritten), fileCount(f.Rewritten))
	rows.row("files referenced", model.FormatSize(f.Bytes.Referenced), fileCount(f.Referenced))
	rows.row("no longer needed", model.FormatSize(d.Unneeded.Bytes), fileCount(d.Unneeded.Count))
	if free := st.Free(ctx, d.Destination); free >= 0 {
		rows.row("free there", model.FormatSize(free), "")
	}
	rows.write(w, "")
	fmt.Fprintf(w, "\nClaim mode %s. %s\n", p.strong(d.ClaimMode), model.Clean(d.ClaimSentence))
	sentences(w, "What Flink does", d.Flink)
	sentences(w, "What is lost", d.Losses)
	sentences(w, "Warnings", d.Warnings)
	return w.String()
}

func (p *program) removedText(w *strings.Builder, removed []prune.Removed) {
	if len(removed) == 0 {
		fmt.Fprintf(w, "Nothing is removed.\n\n")
		return
	}
	fmt.Fprintln(w, p.strong("What goes"))
	rows := newTable("rrrl")
	rows.row("ENTRIES", "_METADATA", "FILES", "SELECTOR")
	for _, r := range removed {
		rows.row(model.FormatCount(orUnknown(r.Entries)), model.FormatSize(orUnknown(r.Bytes.Metadata)), model.FormatSize(orUnknown(r.Bytes.Files)), r.Selector)
		if r.Headers != "" {
			rows.row("", "", "", "  header: "+r.Headers)
		}
		if r.Because != "" {
			rows.row("", "", "", "  because "+model.Clean(r.Because))
		}
	}
	rows.write(w, "  ")
	fmt.Fprintln(w)
}

// resultText is a written copy in words, with what to do next.
func (p *program) resultText(ctx context.Context, st model.WriteStore, d *prune.Document) string {
	w := &strings.Builder{}
	w.WriteString(p.planText(ctx, st, d))
	proof := "failed"
	if d.Proof.OK {
		proof = "passed"
	}
	entries := ""
	if n := d.Proof.EntriesRemoved; n > 0 {
		entries = fmt.Sprintf(" but for %s entries removed", model.FormatCount(n))
	}
	fmt.Fprintf(w, "\n%s: read back and compared, %s state cells checked, %s equal%s, %s removed, %s unchecked.\n", p.strong("Proof "+proof),
		model.FormatCount(int64(d.Proof.Checked)), model.FormatCount(int64(d.Proof.Equal)), entries, model.FormatCount(int64(d.Proof.Removed)), model.FormatCount(int64(d.Proof.Unchecked)))
	if n := int64(d.Proof.Unchecked); n > 0 {
		fmt.Fprintf(w, "Unchecked are files that the copy names and that were not found, or could not be asked for, from here (%s): where they are missing, Flink cannot restore the copy.\n", model.FormatCount(n))
	}
	if o := d.Proof.Object; o != nil {
		fmt.Fprintf(w, "The object too: %s state cells checked, %s equal, %s removed.\n",
			model.FormatCount(int64(o.Checked)), model.FormatCount(int64(o.Equal)), model.FormatCount(int64(o.Removed)))
	}
	if o := d.Object; o != nil && o.Kept != nil {
		fmt.Fprintf(w, "%s The old one is kept as %s\n", p.strong("The object was replaced."), model.Clean(*o.Kept))
	}
	if d.ReportFile != nil {
		fmt.Fprintf(w, "The report is in %s\n", model.Clean(*d.ReportFile))
	}
	sentences(w, "What to do next", d.Next)
	return w.String()
}

func sentences(w *strings.Builder, title string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for _, s := range list {
		fmt.Fprintf(w, "  - %s\n", model.Clean(s))
	}
}

func fileCount(n int) string {
	if n == 1 {
		return "1 file"
	}
	return model.FormatCount(int64(n)) + " files"
}

func orUnknown(n *int64) int64 {
	if n == nil {
		return model.Unknown
	}
	return *n
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
