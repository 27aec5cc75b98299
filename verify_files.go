package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

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
	uris := make([]string, len(files))
	for i, f := range files {
		uris[i] = f.URI
	}
	err = store.StatAll(ctx, s.Store, uris, func(i int, info model.Info, err error) {
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

// problemText is the evidence of a problem in words.
func problemText(x verifyProblem) string {
	recorded, ok := x.Evidence.Get("recorded").(number)
	if !ok {
		at, _ := x.Evidence.Get("offset").(int64)
		return fmt.Sprintf("the first difference is at offset %s", model.FormatCount(at))
	}
	least, _ := x.Evidence.Get("at_least").(bool)
	text := model.FormatCount(int64(recorded)) + " bytes are recorded"
	switch {
	case int64(recorded) == model.Unknown:
		text = "its length is not recorded"
	case least:
		text = "at least " + text
	}
	if found, _ := x.Evidence.Get("found").(number); int64(found) == model.Unknown {
		text += "; it is not there"
	} else {
		text += "; it has " + model.FormatCount(int64(found))
	}
	if n, _ := x.Evidence.Get("operators").(int); n > 1 {
		text += fmt.Sprintf("; %d operators need it", n)
	}
	return text
}
