package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/store"
	"chkscope/storage"
)

// namedFile is a physical file that handles name, with what they say of it.
type namedFile struct {
	uri      string
	selector string // of the first state that names it
	length   int64  // model.Unknown where no handle records it
	segments int64  // the end of the last segment in it
	names    int    // how many handles name it
}

// namedFiles lists every physical file once, in the order of the file.
func namedFiles(s *snapshot) ([]*namedFile, error) {
	type key struct {
		uri    string
		length int64
	}
	var files []*namedFile
	index := map[key]*namedFile{}
	err := s.Meta.EachStream(func(u metadata.StreamUse) error {
		l := s.Locate(u)
		if l.URI == "" {
			return nil
		}
		k := key{store.Canonical(l.URI), l.Len}
		if l.Segment {
			k.length = -2
		}
		f := index[k]
		if f == nil {
			f = &namedFile{uri: l.URI, selector: useSelector(s, u), length: l.Len}
			if l.Segment {
				f.length = model.Unknown
			}
			index[k] = f
			files = append(files, f)
		}
		f.names++
		if l.Segment {
			f.segments = max(f.segments, l.Off+l.Len)
		}
		return nil
	})
	return files, err
}

// useSelector names the state that a stream belongs to, in its subtask.
func useSelector(s *snapshot, u metadata.StreamUse) string {
	g := model.Target{Class: model.ClassCell, Op: s.Meta.Operators[u.Operator].ID, Whole: true, Subtask: u.Subtask, Entries: model.AllEntries}
	switch u.Place {
	case metadata.Coordinator:
		g.Class, g.Kind, g.Whole = model.ClassState, model.KindCoordinator, false
	case metadata.ManagedOperator:
		g.Kind = model.KindOperator
	case metadata.RawOperator, metadata.Legacy:
		g.Kind = model.KindRawOperator
	case metadata.ManagedKeyed:
		g.Kind = model.KindKeyed
	case metadata.RawKeyed:
		g.Kind = model.KindRawKeyed
	case metadata.InputChannels:
		g.Kind, g.Whole, g.Name = model.KindInFlight, false, "input"
	case metadata.OutputChannels:
		g.Kind, g.Whole, g.Name = model.KindInFlight, false, "output"
	}
	return g.Selector()
}

// checkFiles asks the storage for each file.
func (p *program) checkFiles(ctx context.Context, s *snapshot, doc *verifyDocument) error {
	files, err := namedFiles(s)
	var damage *decoder.Error
	if err != nil && !(s.damage != nil && errors.As(err, &damage)) {
		return err
	}
	bar := p.progress("asking for files", "files")
	defer bar.end()
	unasked := map[string]int{}
	for i, f := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		bar.at(int64(i), int64(len(files)))
		info, err := s.Store.Stat(ctx, f.uri)
		switch {
		case errors.Is(err, model.ErrNotExist) || err == nil && info.Dir:
			doc.Problems = append(doc.Problems, f.problem("missing-file", nil))
		case err != nil:
			unasked[reasonOf(err)]++
			continue
		default:
			doc.Problems = append(doc.Problems, f.lengthProblem(info.Size)...)
			doc.BytesChecked += info.Size
		}
		doc.FilesChecked++
	}
	doc.FilesUnchecked = []verifyUnasked{}
	for _, reason := range slices.Sorted(maps.Keys(unasked)) {
		doc.FilesUnchecked = append(doc.FilesUnchecked, verifyUnasked{reason, unasked[reason]})
	}
	return ctx.Err()
}

func (f *namedFile) problem(rule string, evidence map[string]any) verifyProblem {
	all := map[string]any{"recorded": number(f.length), "named": f.names}
	maps.Copy(all, evidence)
	return verifyProblem{rule, "critical", &f.selector, &f.uri, all}
}

// lengthProblem compares the length that is there with what handles record.
func (f *namedFile) lengthProblem(length int64) []verifyProblem {
	found := map[string]any{"found": length}
	switch {
	case length == 0 && (f.length > 0 || f.segments > 0):
		return []verifyProblem{f.problem("empty-file", found)}
	case f.length >= 0 && length != f.length:
		return []verifyProblem{f.problem("wrong-length", found)}
	case length < f.segments:
		found["segments_end"] = f.segments
		return []verifyProblem{f.problem("wrong-length", found)}
	}
	return nil
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

// evidenceText prints evidence as key=value, sorted by key.
func evidenceText(evidence map[string]any) string {
	var parts []string
	for _, k := range slices.SortedFunc(maps.Keys(evidence), cmp.Compare[string]) {
		v := evidence[k]
		if n, ok := v.(number); ok && int64(n) == model.Unknown {
			v = "unknown"
		}
		parts = append(parts, fmt.Sprintf("%s=%v", k, v))
	}
	return model.Clean(strings.Join(parts, " "))
}
