package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"chkscope/decoder"
	"chkscope/model"
	"chkscope/model/finding"
	"chkscope/model/store"
	"chkscope/storage"
)

// checkFiles asks the storage for each file.
func (p *program) checkFiles(ctx context.Context, s *snapshot, doc *verifyDocument) error {
	files, err := s.FileUses()
	var damage *decoder.Error
	if err != nil && !(s.damage != nil && errors.As(err, &damage)) {
		return err
	}
	bar := p.progress("asking for files", "files")
	defer bar.end()
	unasked, done := map[string]int{}, int64(0)
	problems := make([][]verifyProblem, len(files)) // in the order of the file
	err = statAll(ctx, s.Store, files, func(i int, info model.Info, err error) {
		done++
		bar.at(done, int64(len(files)))
		switch {
		case errors.Is(err, model.ErrNotExist) || err == nil && info.Dir:
			problems[i] = []verifyProblem{fileProblem(s, files[i], "missing-file", model.Unknown)}
		case err != nil:
			unasked[reasonOf(err)]++
			return
		default:
			problems[i] = lengthProblem(s, files[i], info.Size)
			doc.BytesChecked += info.Size
		}
		doc.FilesChecked++
	})
	if err != nil {
		return err
	}
	doc.Problems = append(doc.Problems, slices.Concat(problems...)...)
	doc.FilesUnchecked = []verifyUnasked{}
	for _, reason := range slices.Sorted(maps.Keys(unasked)) {
		doc.FilesUnchecked = append(doc.FilesUnchecked, verifyUnasked{reason, unasked[reason]})
	}
	return ctx.Err()
}

// statAll asks for all files: at once where the storage can, else one by one.
func statAll(ctx context.Context, st model.Store, files []model.FileUse, each func(int, model.Info, error)) error {
	if many, ok := st.(store.BulkStater); ok {
		uris := make([]string, len(files))
		for i, f := range files {
			uris[i] = f.URI
		}
		return many.StatAll(ctx, uris, each)
	}
	for i, f := range files {
		info, err := st.Stat(ctx, f.URI)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		each(i, info, err)
	}
	return nil
}

// lengthProblem compares the length that is there with what handles record.
func lengthProblem(s *snapshot, f model.FileUse, length int64) []verifyProblem {
	switch {
	case length == 0 && f.Need > 0:
		return []verifyProblem{fileProblem(s, f, "empty-file", length)}
	case f.Exact && length != f.Need, !f.Exact && length < f.Need:
		return []verifyProblem{fileProblem(s, f, "wrong-length", length)}
	}
	return nil
}

// fileProblem names the first operator that needs the file; found is
// model.Unknown where it is not there.
func fileProblem(s *snapshot, f model.FileUse, rule string, found int64) verifyProblem {
	selector := model.OperatorTarget(s.Meta.Operators[f.Operators[0]].ID).Selector()
	return verifyProblem{rule, finding.Critical.String(), &selector, &f.URI, finding.Evidence{
		{Key: "recorded", Value: number(f.Need)}, {Key: "at_least", Value: !f.Exact}, {Key: "found", Value: number(found)}, {Key: "operators", Value: len(f.Operators)},
	}}
}

// reasonOf is why a storage could not be asked, without the path: files are
// counted by it.
func reasonOf(err error) string {
	var e *storage.Error
	if errors.As(err, &e) {
		return e.Problem
	}
	return err.Error()
}

// evidenceText prints evidence as key=value.
func evidenceText(evidence finding.Evidence) string {
	var parts []string
	for _, v := range evidence {
		if n, ok := v.Value.(number); ok && int64(n) == model.Unknown {
			v.Value = "unknown"
		}
		parts = append(parts, fmt.Sprintf("%s=%v", v.Key, v.Value))
	}
	return model.Clean(strings.Join(parts, " "))
}
