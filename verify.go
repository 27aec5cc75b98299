package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/failover"
	"chkscope/model/finding"
)

type verifyDocument struct {
	Schema         int             `json:"schema"`
	OK             bool            `json:"ok"`
	Complete       bool            `json:"complete"`
	Damage         *jsonDamage     `json:"damage"`
	Lossless       *bool           `json:"lossless"` // null where it could not be tried
	Problems       []verifyProblem `json:"problems"`
	FilesChecked   int64           `json:"files_checked"`
	FilesUnchecked []verifyUnasked `json:"files_unchecked"`
	BytesChecked   int64           `json:"bytes_checked"`
}

type verifyProblem struct {
	Rule     string           `json:"rule"`
	Severity string           `json:"severity"`
	Selector *string          `json:"selector"`
	File     *string          `json:"file"`
	Evidence finding.Evidence `json:"evidence"`
}

// verifyUnasked counts files that nobody could be asked about.
type verifyUnasked struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

func (p *program) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify URI",
		Short: "Can it be restored: files, lengths, structure, lossless re-encoding",
		Long: `verify decodes the whole structure, encodes it again and compares byte for byte,
and asks the storage for every file that is named: is it there, with the length
that is recorded? Problems are exit code 1. What could not be asked is counted
with its reason and is no problem. Contents of state files are not read.`,
		Args: exactly(1, "the URI of a checkpoint"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.verify(cmd.Context(), args[0]) },
	}
}

func (p *program) verify(ctx context.Context, uri string) error {
	s, err := p.open(ctx, uri)
	if err != nil {
		return p.notOpened(err, func(d *jsonDamage) any {
			return verifyDocument{Schema: schemaVersion, Damage: d, Problems: []verifyProblem{}, FilesUnchecked: []verifyUnasked{}}
		})
	}
	doc, err := p.verifySnapshot(ctx, s)
	if err == nil && p.flags.json {
		err = p.writeJSON(doc)
	} else if err == nil {
		err = p.writeVerify(s, doc)
	}
	if err != nil {
		s.Close()
		return err
	}
	for _, x := range doc.Problems {
		if x.Rule == "missing-file" {
			p.sayMap(ctx, s, *x.File)
			break
		}
	}
	if err := s.end(); err != nil {
		return err
	}
	if !doc.OK {
		return &coded{code: exitFindings}
	}
	return nil
}

func (p *program) verifySnapshot(ctx context.Context, s *snapshot) (*verifyDocument, error) {
	doc := &verifyDocument{Schema: schemaVersion, Complete: s.damage == nil, Damage: damageOf(s.damage), Problems: []verifyProblem{}}
	if s.damage == nil && s.Meta.Version > 1 {
		at, err := compareEncoded(s.Snapshot)
		if err != nil {
			return nil, err
		}
		same := at < 0
		doc.Lossless = &same
		if !same {
			doc.Problems = append(doc.Problems, verifyProblem{"lossless", "critical", nil, &s.URI, finding.Evidence{{Key: "offset", Value: at}}})
		}
	}
	if err := p.checkFiles(ctx, s, doc); err != nil {
		return nil, err
	}
	if err := p.compareMetadata(ctx, s, doc); err != nil {
		return nil, err
	}
	doc.OK = s.damage == nil && len(doc.Problems) == 0
	return doc, nil
}

// differencesShown is how many differences to `_metadata` are told one by one.
const differencesShown = 20

// compareMetadata compares an object with its `_metadata`.
func (p *program) compareMetadata(ctx context.Context, s *snapshot, doc *verifyDocument) error {
	if s.HA == nil || s.damage != nil {
		return nil
	}
	list, err := failover.CheckMetadata(ctx, s.Snapshot)
	for _, x := range list {
		if len(x.Differences) == 0 {
			p.say("%s", x.Cause)
		}
		file := failover.MetadataOf(s.Snapshot)
		for _, d := range x.Differences[:min(len(x.Differences), differencesShown)] {
			doc.Problems = append(doc.Problems, verifyProblem{x.Rule, "warn", stringOrNull(d.Selector), &file,
				finding.Evidence{{Key: "what", Value: d.What}, {Key: "object", Value: d.Object}, {Key: "metadata", Value: d.Metadata}}})
		}
		if n := len(x.Differences); n > differencesShown {
			p.say("%d more differences between the object and its _metadata", n-differencesShown)
		}
	}
	return err
}

// compareEncoded encodes the structures and compares with the file they came
// from, without keeping either in memory. It gives the offset of the first
// difference, -1 where there is none.
func compareEncoded(s *model.Snapshot) (int64, error) {
	m := s.Meta
	c := &comparer{in: m.In}
	n, err := encodeAgain(c, s)
	if c.differs {
		return c.at, nil
	}
	if err != nil {
		return 0, err
	}
	if n != m.In.Size() {
		return min(n, m.In.Size()), nil
	}
	return -1, nil
}

// encodeAgain writes the structures in the form that they were read in. Bytes
// behind a completedCheckpoint object belong to nothing.
func encodeAgain(w io.Writer, s *model.Snapshot) (int64, error) {
	if s.HA == nil {
		return metadata.Encode(w, s.Meta)
	}
	n, err := s.HA.Encode(w, s.Meta, s.Dir)
	return n + s.Meta.Trailing.Len, err
}

// comparer is a writer that compares what is written with what is read.
type comparer struct {
	in      io.ReaderAt
	at      int64
	buf     []byte
	differs bool
}

func (c *comparer) Write(p []byte) (int, error) {
	if cap(c.buf) < len(p) {
		c.buf = make([]byte, len(p))
	}
	have := c.buf[:len(p)]
	n, err := c.in.ReadAt(have, c.at)
	for i := range p {
		if i >= n || p[i] != have[i] {
			c.at += int64(i)
			if i >= n && err != io.EOF {
				return i, err
			}
			c.differs = true
			return i, io.ErrShortWrite
		}
	}
	c.at += int64(len(p))
	return len(p), nil
}

func (p *program) writeVerify(s *snapshot, doc *verifyDocument) error {
	w := &strings.Builder{}
	answer := "can be restored, as far as files, lengths and structure tell"
	if !doc.OK {
		answer = "has problems"
	}
	fmt.Fprintf(w, "%s %s\n\n", p.strong(model.Clean(s.URI)), answer)
	rows := newTable("ll")
	rows.row("structure", structureText(s))
	switch {
	case doc.Lossless == nil && s.damage == nil:
		rows.row("encoding", "version 1 is only read, so it is not encoded again")
	case doc.Lossless == nil:
		rows.row("encoding", "not tried")
	case *doc.Lossless:
		rows.row("encoding", "encoded again it is byte for byte the same")
	default:
		rows.row("encoding", "encoded again it differs: chkscope does not understand all of it and will not prune it")
	}
	rows.row("files", fmt.Sprintf("%s checked, %s", model.FormatCount(doc.FilesChecked), model.FormatSize(doc.BytesChecked)))
	for _, u := range doc.FilesUnchecked {
		rows.row("", fmt.Sprintf("%s not checked: %s", model.FormatCount(int64(u.Count)), model.Clean(u.Reason)))
	}
	rows.write(w, "")
	head := ""
	for _, x := range doc.Problems {
		h := p.severity(x.Severity) + "  " + p.strong(x.Rule)
		if x.Selector != nil {
			h += "  " + *x.Selector
		}
		if h != head {
			fmt.Fprintf(w, "\n%s\n", h)
			head = h
		}
		if x.File != nil {
			fmt.Fprintf(w, "    %s\n", model.Clean(*x.File))
		}
		fmt.Fprintf(w, "      %s\n", problemText(x))
	}
	return p.write(w.String())
}

func structureText(s *snapshot) string {
	if s.damage != nil {
		return model.Clean(fmt.Sprintf("damaged at offset %d, %s: expected %s, found %s", s.damage.Offset, s.damage.Path, s.damage.Expected, s.damage.Found))
	}
	form := fmt.Sprintf("version %d", s.Meta.Version)
	if s.HA != nil {
		form = "a completedCheckpoint object"
	}
	return fmt.Sprintf("complete: %s, %d operators, %s bytes", form, len(s.Meta.Operators), model.FormatCount(s.Meta.In.Size()))
}
