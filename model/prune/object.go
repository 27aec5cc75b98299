package prune

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"chkscope/decoder"
	"chkscope/decoder/ha"
	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/failover"
	"chkscope/model/store"
)

// After a failure Flink restores from a completedCheckpoint object, which holds
// the checkpoint once more, and never from `_metadata`. Where a request names
// that object the same removals are made in both. The object of the copy is for
// the place of the old one: what was not changed it names where it is, also in a
// full copy, and changed files by absolute path in the copy's directory.
//
// It lies beside the copy and not in it: Flink deletes the directory of a
// checkpoint that it owns (CLAIM) only when nothing but its own files is in it
// (FsCompletedCheckpointStorageLocation deletes non-recursively).

// haSuffix makes of the destination the directory for what high availability
// needs.
const haSuffix = ".ha"

// ObjectPlan is the part of a plan about the object.
type ObjectPlan struct {
	Source       string `json:"source"`        // its URI
	SourceSHA256 string `json:"source_sha256"` // in hex; "" until Seal
	Name         string `json:"name"`          // of the new one
	// URI of the new one, "" where there is no destination yet.
	URI        string      `json:"uri"`
	Checkpoint int64       `json:"checkpoint"` // its number
	Bytes      BeforeAfter `json:"bytes"`
	// Pointer is the new pointer to the new object; null: none was asked for.
	Pointer *PointerPlan `json:"pointer"`
	// Kept is where the old object is after it was replaced; null: it was not.
	Kept *string `json:"kept"`
}

// ObjectProof is what reading the new object back showed; it counts as Proof.
type ObjectProof struct {
	Checked int `json:"checked"`
	Equal   int `json:"equal"`
	Removed int `json:"removed"`
}

// objectWork is what is needed to write the object.
type objectWork struct {
	*work
	names map[string]string // of changed files: the name in the copy by that of the object's work
}

// Close gives files back that Build opened beside the source.
func (p *Plan) Close() error {
	if p.work == nil {
		return nil
	}
	var first error
	for _, s := range p.work.opened {
		if err := s.Close(); err != nil && first == nil {
			first = err
		}
	}
	p.work.opened = nil
	return first
}

// buildFromObject makes the plan where the object was opened: its `_metadata` is
// the source, and the object goes along. Where that is lost or damaged, the source
// is the one that Flink would have written with the object.
func buildFromObject(ctx context.Context, object *model.Snapshot, ot *model.Tree, req Request) (*Plan, error) {
	if d := object.Damage(); d != nil {
		return nil, fmt.Errorf("a damaged object is not pruned: %w", d)
	}
	s, t, err := openWhole(ctx, object, failover.MetadataOf(object))
	var damage *decoder.Error
	if errors.Is(err, model.ErrNotExist) || errors.As(err, &damage) {
		return buildWithoutMetadata(ctx, object, ot, req, err)
	}
	if err != nil {
		return nil, refuse("object-without-metadata", "", fmt.Sprintf("the object is pruned together with its _metadata, which cannot be opened: %v (found elsewhere: --map FROM=TO)", err), "")
	}
	p, err := buildBoth(ctx, s, t, object, ot, req)
	if err != nil {
		s.Close()
		return nil, err
	}
	p.work.opened = append(p.work.opened, s)
	return p, nil
}

func buildWithoutMetadata(ctx context.Context, object *model.Snapshot, ot *model.Tree, req Request, why error) (*Plan, error) {
	s, t, err := object.AsMetadata()
	if err == nil {
		t, err = s.ReadHeaders(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	p, err := buildAlone(ctx, s, t, req, object.HA.ExternalPointer)
	if err != nil {
		return nil, err
	}
	p.Warnings = append(p.Warnings, fmt.Sprintf("The _metadata of this checkpoint cannot be used (%v). That of the copy is made of the object: it is what Flink would have written with it.", why))
	return p, p.addObject(ctx, object, ot, req)
}

// openWhole opens a snapshot as another one was opened, with the names that stand
// only in stream headers.
func openWhole(ctx context.Context, like *model.Snapshot, uri string) (*model.Snapshot, *model.Tree, error) {
	s, t, err := model.Open(ctx, like.Store, uri, like.Options)
	if err == nil {
		t, err = s.ReadHeaders(ctx, nil)
	}
	if err != nil && s != nil {
		s.Close()
	}
	return s, t, err
}

// buildWithObject makes the plan where the request names the object.
func buildWithObject(ctx context.Context, s *model.Snapshot, t *model.Tree, req Request) (*Plan, error) {
	object, ot, err := model.Open(ctx, s.Store, req.Object, s.Options)
	if err != nil {
		if object != nil {
			object.Close()
		}
		return nil, fmt.Errorf("the object of high availability: %w", err)
	}
	if object.HA == nil {
		object.Close()
		return nil, refuse("not-an-object", "", fmt.Sprintf("%s is no completedCheckpoint object", req.Object), "")
	}
	object.Dir = s.Dir // the files of the checkpoint are where those of the source are
	p, err := buildBoth(ctx, s, t, object, ot, req)
	if err != nil {
		object.Close()
		return nil, err
	}
	p.work.opened = append(p.work.opened, object)
	return p, nil
}

// buildBoth makes the plan of the copy and adds the object.
func buildBoth(ctx context.Context, s *model.Snapshot, t *model.Tree, object *model.Snapshot, ot *model.Tree, req Request) (*Plan, error) {
	list, err := failover.Compare(ctx, object, s)
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		return nil, refuse("ha-stale", list[0].Selector, fmt.Sprintf("the object %s and %s do not hold the same (%s, first: %s): the same removals in both would not give the same state", object.URI, s.URI, model.FormatPlural(int64(len(list)), "difference"), list[0]), "")
	}
	req.Object = object.URI
	p, err := buildAlone(ctx, s, t, req, object.HA.ExternalPointer)
	if err != nil {
		return nil, err
	}
	return p, p.addObject(ctx, object, ot, req)
}

// addObject plans the removals of the copy in the object.
func (p *Plan) addObject(ctx context.Context, object *model.Snapshot, tree *model.Tree, req Request) error {
	copied := p.work
	condition, err := compileWhere(req)
	if err != nil {
		return err
	}
	r, err := compileTargets(object.Meta, req.Targets, condition)
	if err != nil {
		return err
	}
	w := &work{snap: object, tree: tree, removal: r, layout: newLayout(copied.layout.locate), views: map[*metadata.StreamHandle]streamView{}}
	if err := w.tie(ctx, &Plan{}, req); err != nil {
		return err
	}
	w.out = r.edit()
	if err := w.rewriteStreams(ctx, req.KeepHeaders); err != nil {
		return err
	}
	if err := w.rewriteKeyedStreams(ctx); err != nil {
		return err
	}
	o := &objectWork{w, map[string]string{}}
	if err := o.adoptNames(copied.rewrites); err != nil {
		return err
	}
	n, err := object.HA.EncodedSize(w.out.Checkpoint, absoluteDir(p.Destination))
	if err != nil {
		return fmt.Errorf("the object cannot be written without what goes: %w", err)
	}
	p.Object = &ObjectPlan{Source: object.URI, Name: objectName(object.URI), Checkpoint: object.Meta.ID, Bytes: BeforeAfter{object.Meta.In.Size(), n}}
	p.Object.URI = p.beside(p.Object.Name)
	copied.object = o
	if err := p.checkObjectDestination(); err != nil {
		return err
	}
	if err := p.addPointer(req.Pointer); err != nil {
		return err
	}
	p.Warnings = append(p.Warnings, fmt.Sprintf("The new object names the %d changed files in the copy's directory. When Flink drops that checkpoint later it deletes them, and the copy's _metadata is then no longer complete.", len(w.rewrites)))
	if len(w.rewrites) == 0 {
		p.Warnings = p.Warnings[:len(p.Warnings)-1]
	}
	return nil
}

// beside gives the URI of a file for high availability, "" without a destination.
func (p *Plan) beside(name string) string {
	if p.Destination == "" {
		return ""
	}
	return store.Join(p.Destination+haSuffix, "./"+name)
}

// checkObjectDestination refuses a copy among the objects.
func (p *Plan) checkObjectDestination() error {
	dir := realDir(store.Parent(p.Object.Source))
	if p.Destination == "" || !store.Under(realDir(p.Destination), dir) {
		return nil
	}
	return refuse("destination-inside", "", fmt.Sprintf("the destination %s lies in %s, where Flink keeps its objects", p.Destination, dir), "")
}

// objectName is the name of the object's file.
func objectName(uri string) string {
	name, _, _ := strings.Cut(store.Base(uri), failover.KeptMark)
	if !strings.HasPrefix(name, "completedCheckpoint") {
		name = "completedCheckpoint-" + name
	}
	return name
}

// adoptNames gives the handles of changed files the names that the files have in
// the copy. Both works change the same files, but perhaps in another order.
func (o *objectWork) adoptNames(jobs []*rewriteJob) error {
	of := map[string]string{}
	for _, j := range jobs {
		of[j.part.key] = j.name
	}
	for _, j := range o.rewrites {
		name, ok := of[j.part.key]
		if !ok {
			return fmt.Errorf("%s would change for the object and not for _metadata", store.Redact(j.part.flink))
		}
		o.names[j.name] = name
	}
	if len(jobs) != len(o.rewrites) {
		return fmt.Errorf("%d files would change for the object, and %d for _metadata", len(o.rewrites), len(jobs))
	}
	for h := range o.layout.fresh {
		h.Name = o.names[h.Name]
	}
	return nil
}

// writeObject writes the object. Offsets in changed files are known when they are
// written, so they are made again first, to nowhere.
func (a *application) writeObject(ctx context.Context) error {
	o := a.work.object
	if o == nil {
		return nil
	}
	a.meter.begin("object", 1, a.plan.Object.Bytes.After)
	defer a.meter.file()
	err := each(ctx, o.rewrites, func(ctx context.Context, j *rewriteJob) error {
		name := o.names[j.name]
		n, err := j.write(ctx, io.Discard)
		if err == nil && n != a.dest.length(name) {
			err = fmt.Errorf("%s has %d bytes, the object would say %d", a.uri(name), a.dest.length(name), n)
		}
		return err
	})
	if err != nil {
		return err
	}
	if !a.dest.beside[a.plan.Object.Name] { // else the proof reads it
		err = writeFile(ctx, a.ws, a.plan.Object.URI, func(w io.Writer) error {
			_, err := o.snap.HA.Encode(&counter{w: w, meter: a.meter}, o.out.Checkpoint, absoluteDir(a.plan.Destination))
			return err
		})
	}
	if err != nil {
		return err
	}
	return a.writePointers(ctx)
}

// proveObject reads the object back and compares it with its source. What went
// from `_metadata` (whole, where not nil), and no more, must have gone from it.
func (a *application) proveObject(ctx context.Context, whole *Proof) (*ObjectProof, error) {
	o := a.work.object
	if o == nil {
		return nil, nil
	}
	in, err := a.ws.Open(ctx, a.plan.Object.URI)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, err := ha.Decode(in)
	if err != nil {
		return nil, err
	}
	app := *a
	app.work = o.work
	p := &prover{ctx: ctx, app: &app, src: o.snap.Meta, out: out.Meta, r: o.removal, at: o.layout.locate, from: map[string]part{}, files: map[string]bool{}, object: true}
	p.objectFields(o.snap.HA, out)
	if err := p.checkpoint(); err != nil {
		return nil, err
	}
	if whole != nil && (whole.Checked != p.proof.Checked || whole.Equal != p.proof.Equal || whole.Removed != p.proof.Removed) {
		p.wrong("of _metadata %d state cells of %d are gone, of the object %d of %d", whole.Removed, whole.Checked, p.proof.Removed, p.proof.Checked)
	}
	if p.count > 0 {
		return nil, &ProofError{p.problems}
	}
	return &ObjectProof{p.proof.Checked, p.proof.Equal, p.proof.Removed}, nil
}

// objectFields compares what an object has beside the structures.
func (p *prover) objectFields(a, b *ha.Checkpoint) {
	for _, f := range []struct {
		what string
		same bool
	}{
		{"job id", a.JobID == b.JobID},
		{"times", a.Timestamp == b.Timestamp && a.CompletionTimestamp == b.CompletionTimestamp},
		{"external pointer", a.ExternalPointer == b.ExternalPointer},
		{"metadata handle", a.MetadataHandle.Type == b.MetadataHandle.Type && a.MetadataHandle.Name == b.MetadataHandle.Name && a.MetadataHandle.Size == b.MetadataHandle.Size},
		{"properties", a.Properties == b.Properties && a.Restored == b.Restored},
	} {
		if !f.same {
			p.wrong("the object's %s differs", f.what)
		}
	}
}
