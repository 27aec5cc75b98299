package prune

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/store"
)

// work is what a plan is carried out with.
type work struct {
	snap     *model.Snapshot
	tree     *model.Tree
	removal  *removal
	out      *edited
	layout   *layout
	rewrites []*rewriteJob
	kept     []keptHeader
	// views are the streams that were looked at for rewriting, by their handles'
	// delegates: with the offsets of all handles, which tell where elements end.
	views  map[*metadata.StreamHandle]streamView
	traits features
	// object is the same removals in the object of high availability, or nil.
	object *objectWork
	opened []*model.Snapshot // by Build, for Plan.Close
	// flinkDir tells that it is known how Flink sees the source's directory.
	flinkDir bool
}

// Build makes the plan of a request. It reads what the removals need: headers
// of streams, elements where duplicates go. What cannot be done, or must not be
// done without a flag, is a *Refusal with all reasons. Of a completedCheckpoint
// object it prunes the `_metadata` and the object; the plan is to be closed.
func Build(ctx context.Context, s *model.Snapshot, t *model.Tree, req Request) (*Plan, error) {
	switch {
	case s.HA != nil:
		return buildFromObject(ctx, s, t, req)
	case req.Object != "":
		return buildWithObject(ctx, s, t, req)
	}
	return buildAlone(ctx, s, t, req, "")
}

// buildAlone makes the plan without the object. seen is how Flink sees the
// source's directory, where the user did not say; "" for unknown.
func buildAlone(ctx context.Context, s *model.Snapshot, t *model.Tree, req Request, seen string) (*Plan, error) {
	req.Destination = strings.TrimRight(req.Destination, "/")
	if err := checkSource(s, req); err != nil {
		return nil, err
	}
	condition, err := compileWhere(req)
	if err != nil {
		return nil, err
	}
	r, err := compileTargets(s.Meta, req.Targets, condition)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Schema: PlanSchema, Source: s.URI, MetadataVersion: s.Meta.Version, SourceURI: s.Options.SourceURI, SourceBytes: s.Meta.In.Size(),
		Destination: req.Destination, Drop: selectors(req.Targets), Where: req.Where, TTL: req.TTL, Now: req.Now, Asked: req.Copy, ChangelogOff: req.ChangelogOff,
		AcceptLoss: req.AcceptLoss, KeepHeaders: req.KeepHeaders, VerifyCopies: req.VerifyCopies, targets: req.Targets,
		Removed: []Removed{}, Operators: []OperatorChange{}, Write: []PlannedFile{}, Unneeded: Unneeded{Files: []string{}}, Warnings: []string{}, Flink: []string{}, Losses: []string{},
	}
	w := &work{snap: s, tree: t, removal: r, layout: newLayout(newLocator(s)), views: map[*metadata.StreamHandle]streamView{}}
	w.flinkDir = s.Options.SourceURI != "" || seen != ""
	if s.Options.SourceURI == "" && seen != "" {
		w.layout.locate.flink = seen
	}
	p.work = w
	if err := w.tie(ctx, p, req); err != nil {
		return nil, err
	}
	w.out = r.edit()
	if err := w.rewriteStreams(ctx, req.KeepHeaders); err != nil {
		return nil, err
	}
	if err := w.rewriteKeyedStreams(ctx); err != nil {
		return nil, err
	}
	if err := w.account(p); err != nil {
		return nil, err
	}
	if err := w.chooseCopy(p, req); err != nil {
		return nil, err
	}
	if err := w.place(ctx, p); err != nil {
		return nil, err
	}
	w.describe(p)
	return p, nil
}

func selectors(targets []model.Target) []string {
	out := []string{}
	for _, g := range targets {
		out = append(out, g.Selector())
	}
	return out
}

// checkSource refuses what cannot be pruned or copied at all.
func checkSource(s *model.Snapshot, req Request) error {
	if d := s.Damage(); d != nil {
		return fmt.Errorf("a damaged checkpoint is not pruned or copied; take an older one, or bring the whole file back: %w", d)
	}
	if s.Meta.Version < 2 {
		return refuse("version", "", fmt.Sprintf("metadata version %d is read only: no Flink since 1.11 restores it", s.Meta.Version), "")
	}
	for i := range s.Meta.Operators {
		for _, sub := range s.Meta.Operators[i].Subtasks {
			if sub.State != nil && len(sub.State.Legacy) > 0 {
				return refuse("legacy-handles", s.Meta.Operators[i].ID.String(), "it holds state of Flink before 1.2, which no Flink since 1.11 restores", "")
			}
		}
	}
	if req.Destination == "" {
		return nil
	}
	return checkDestination(s.Dir, req.Destination)
}

func checkDestination(source, dest string) error {
	source, dest = realDir(source), realDir(dest)
	if store.Under(dest, source) {
		return refuse("destination-inside", "", fmt.Sprintf("the destination %s lies in the source %s, which is never written to", dest, source), "")
	}
	if store.Under(source, dest) {
		return refuse("destination-inside", "", fmt.Sprintf("the source %s lies in the destination %s", source, dest), "")
	}
	return nil
}

// realDir follows links of the part of a local path that exists.
func realDir(uri string) string {
	p, ok := store.LocalPath(uri)
	if !ok {
		return uri
	}
	for dir, rest := p, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return store.FileURI(filepath.Join(real, rest))
		}
		if dir == filepath.Dir(dir) {
			return store.FileURI(p)
		}
	}
}

// chooseCopy decides between full and reference and refuses what cannot be.
func (w *work) chooseCopy(p *Plan, req Request) error {
	f, err := w.features()
	if err != nil {
		return err
	}
	w.traits = f
	p.Copy = req.Copy
	switch {
	case req.Copy != CopyAuto:
		p.CopyReason = "asked for"
	case f.changelog:
		p.Copy, p.CopyReason = CopyFull, "it has changelog handles, of which a reference copy would cost the source its files"
	case f.shared > 0:
		p.Copy, p.CopyReason = CopyReference, fmt.Sprintf("%d of its files are shared with other checkpoints or lie in another directory", f.shared)
	default:
		p.Copy, p.CopyReason = CopyFull, "none of its files is shared with other checkpoints"
	}
	if p.Copy != CopyReference {
		return nil
	}
	if f.changelog && !req.ChangelogOff {
		return refuse("changelog-reference", "", "a reference copy of a checkpoint with changelog can only be restored by a job that has changelog switched off (1.18 and later, NO_CLAIM); a job with changelog needs CLAIM or LEGACY, which cost the source its files", "--changelog-off, or a full copy,")
	}
	if f.foreignScheme != "" && !w.flinkDir && store.Scheme(w.snap.Dir) == "file" {
		return refuse("source-uri", "", fmt.Sprintf("its handles name %s, so Flink sees this directory under another URI than %s; say which", store.Redact(f.foreignScheme), w.snap.Dir), "--source-uri URI, or a full copy,")
	}
	return nil
}

// features are what decides about the kind of copy and the claim mode; of what
// stays, not of the source.
type features struct {
	shared        int // handles of shared or foreign files
	changelog     bool
	incremental   bool // incremental handles with files
	foreignScheme string
}

func (w *work) features() (f features, err error) {
	l := w.layout.locate
	err = w.out.EachStream(func(u metadata.StreamUse) error {
		f.changelog = f.changelog || u.Changelog != nil
		f.incremental = f.incremental || u.Part == metadata.Shared
		p, ok := l.use(u)
		if !ok || w.layout.fresh[u.Stream] {
			return nil
		}
		if u.Stream.Type != metadata.TypeRelativeFile && store.Scheme(p.flink) != "file" {
			f.foreignScheme = p.flink
		}
		if isShared(l, u, p) {
			f.shared++
		}
		return nil
	})
	return f, err
}

// isShared: CLI.md, "exclusive / shared".
func isShared(l locator, u metadata.StreamUse, p part) bool {
	switch u.Stream.Type {
	case metadata.TypeRelativeFile:
		return false
	case metadata.TypeSegment:
		return u.Stream.Seg.Scope == 1
	}
	return u.Part == metadata.Shared || u.Part == metadata.LogStream || !store.Under(p.flink, l.flink)
}

// place moves the handles to where the copy has its files and lists them.
func (w *work) place(ctx context.Context, p *Plan) error {
	l := w.layout
	for _, j := range w.rewrites {
		p.Write = append(p.Write, PlannedFile{Name: j.name, From: store.Redact(j.part.flink), Offset: j.part.off, Size: j.size, Action: "rewrite"})
		p.Files.Rewritten++
		p.Files.Bytes.Rewritten += j.atMost()
	}
	p.Movable = p.Copy == CopyFull
	if p.Copy == CopyReference {
		if err := l.reference(w.out); err != nil {
			return err
		}
	} else {
		if w.traits.changelog && !p.ChangelogOff {
			if l.carried = w.carry(ctx); l.carried == nil {
				l.absolute, p.Movable = absoluteDir(p.Destination), false
			}
		}
		if err := l.full(w.out); err != nil {
			return err
		}
	}
	for _, j := range l.copies {
		p.Write = append(p.Write, PlannedFile{Name: j.name, From: store.Redact(j.flink), Offset: j.off, Size: j.size, Action: "copy"})
		p.Files.Copied++
		p.Files.Bytes.Copied += max(j.size, 0)
	}
	for _, r := range l.refs {
		p.Files.Referenced++
		p.Files.Bytes.Referenced += max(r.size, 0)
	}
	n, err := metadata.EncodedSize(w.out.Checkpoint)
	p.MetadataBytes = BeforeAfter{w.snap.Meta.In.Size(), n}
	return err
}

// absoluteDir is a destination as Flink prints it.
func absoluteDir(uri string) string {
	if uri == "" {
		return "destination:/" // not chosen yet
	}
	if p, ok := store.LocalPath(uri); ok {
		return store.FileURI(p)
	}
	return uri
}

// account fills what goes, by operator and by file. Handles still name the
// source's files, or are fresh.
func (w *work) account(p *Plan) error {
	before, err := usage(w.layout.locate, w.snap.Meta, nil)
	if err != nil {
		return err
	}
	after, err := usage(w.layout.locate, w.out.Checkpoint, w.layout.fresh)
	if err != nil {
		return err
	}
	for key, size := range before.physical {
		if _, ok := after.physical[key]; !ok {
			p.Unneeded.Count++
			p.Unneeded.Bytes += max(size, 0)
			p.Unneeded.Files = append(p.Unneeded.Files, store.Redact(key))
		}
	}
	slices.Sort(p.Unneeded.Files)
	p.Unneeded.Files = p.Unneeded.Files[:min(len(p.Unneeded.Files), unneededListed)]
	return w.operatorChanges(p, before, after)
}

func (w *work) operatorChanges(p *Plan, before, after fileUsage) error {
	at := map[int]int{} // index in the source -> in out
	for i, f := range w.out.from {
		at[f.op] = i
	}
	for i := range w.snap.Meta.Operators {
		op := &w.snap.Meta.Operators[i]
		c := OperatorChange{ID: op.ID.String(), Metadata: BeforeAfter{Before: op.Span.Len}, Files: BeforeAfter{Before: before.operators[i]}}
		name, _ := w.snap.OperatorName(i)
		c.Name = name
		k, stays := at[i]
		c.Gone = !stays
		if stays {
			n, err := w.out.EncodedOperatorSize(k)
			if err != nil {
				return err
			}
			c.Metadata.After, c.Files.After = n, after.operators[k]
			if c.Metadata.After == c.Metadata.Before && c.Files.After == c.Files.Before {
				continue
			}
		}
		p.Operators = append(p.Operators, c)
	}
	return nil
}

// fileUsage is the lengths of files: by physical file, and by operator.
type fileUsage struct {
	physical  map[string]int64 // canonical URI; -1: not recorded, or segments only
	operators []int64
}

func usage(l locator, cp *metadata.Checkpoint, fresh map[*metadata.StreamHandle]bool) (fileUsage, error) {
	u := fileUsage{map[string]int64{}, make([]int64, len(cp.Operators))}
	for i := range cp.Operators {
		seen := map[string]bool{}
		err := cp.EachOperatorStream(i, func(s metadata.StreamUse) error {
			p, ok := l.part(s.Stream)
			if !ok {
				return nil
			}
			if fresh[s.Stream] {
				p.key = "\x00fresh\x00" + s.Stream.Name
			} else {
				u.note(p)
			}
			if !seen[p.key] {
				seen[p.key] = true
				u.operators[i] += max(p.size, 0)
			}
			return nil
		})
		if err != nil {
			return u, err
		}
	}
	return u, nil
}

func (u *fileUsage) note(p part) {
	key := store.Canonical(p.flink)
	size := p.size
	if p.segment {
		size = -1
	}
	if known, ok := u.physical[key]; !ok || size > known {
		u.physical[key] = size
	}
}
