package prune

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"chkscope/model"
	"chkscope/model/failover"
	"chkscope/model/store"
)

// The object that Flink recovers from is replaced only where that is asked for,
// after the copy was proved. Flink never lists the directory of its objects, it
// follows pointers: what lies beside an object it does not take for one. The steps,
// each of which may be the last before a kill:
//
//	OBJECT.chkscope-old-<sum>   a copy of the old object, read back
//	OBJECT.chkscope-new-<sum>   the new one, read back, on the same file system
//	the rename of the latter to OBJECT, if that is still the old object
//
// <sum> begins the SHA-256 of the old and the new one, so the same command finds
// what is there already and goes on.

const (
	oldMark = failover.KeptMark + "old-"
	newMark = failover.KeptMark + "new-"
)

// Replacer is a store that can put a file in the place of another.
type Replacer interface {
	model.WriteStore
	// CanReplace tells why it cannot, nil where it can.
	CanReplace(uri string) error
	// Replace renames by to uri in one step, whatever has that name.
	Replace(ctx context.Context, by, uri string) error
}

// Finished gives the report of this very plan where the destination holds its
// copy, proved, so that only the replacement is left to do; else nil.
func (p *Plan) Finished(ctx context.Context, ws model.WriteStore) (*Document, error) {
	if err := p.Seal(ctx); err != nil {
		return nil, err
	}
	for uri, want := range map[string]bool{
		store.Join(p.Destination, model.MetadataName): true, p.Object.URI: true, store.Join(p.Destination, model.IncompleteName): false,
	} {
		_, err := ws.Stat(ctx, uri)
		if err != nil && !errors.Is(err, model.ErrNotExist) || want != (err == nil) {
			return nil, nil // writing tells what is wrong
		}
	}
	d := destination{ws: ws, dir: store.Parent(p.Destination)}
	report := &Document{}
	err := d.readJSON(ctx, store.Base(p.Destination)+reportSuffix, report)
	if err != nil || report.Proof == nil || report.PlanDigest != p.Digest {
		return nil, nil
	}
	report.ReportFile = nil
	return report, nil
}

// ReplaceObject puts the new object of a copy that was written and proved in the
// place of the old one, and gives the URI under which the old one is kept. It
// refuses where the object is not the one any more that the plan was made of.
func ReplaceObject(ctx context.Context, p *Plan, ws Replacer) (kept string, err error) {
	o := p.Object
	if o == nil {
		return "", refuse("no-object", "", "there is no object to be replaced: give it as URI, or with --ha", "")
	}
	if err := errors.Join(ws.CanReplace(o.Source), p.Seal(ctx)); err != nil {
		return "", err
	}
	r := &replacement{ctx: ctx, ws: ws, object: o.Source}
	if err := r.wants(o.Source, o.SourceSHA256, errObjectChanged); err != nil {
		return "", err
	}
	a := &application{plan: p, work: p.work, ws: ws, meter: newMeter(nil)}
	if _, err := a.proveObject(ctx, nil); err != nil {
		return "", err
	}
	sum, err := r.sum(o.URI)
	if err != nil {
		return "", err
	}
	if s, ok := ws.(store.Sweeper); ok { // what a kill left half-written
		if _, err := s.Sweep(ctx, store.Parent(o.Source)); err != nil {
			return "", err
		}
	}
	kept = r.beside(oldMark, o.SourceSHA256)
	if err := r.have(kept, o.Source, o.SourceSHA256); err != nil {
		return "", err
	}
	fresh := r.beside(newMark, sum)
	if err := r.have(fresh, o.URI, sum); err != nil {
		return "", err
	}
	if err := r.wants(o.Source, o.SourceSHA256, errObjectChanged); err != nil {
		return "", errors.Join(err, ws.Remove(ctx, fresh))
	}
	if err := ws.Replace(ctx, fresh, o.Source); err != nil {
		return "", err
	}
	o.Kept = &kept
	return kept, r.wants(o.Source, sum, errors.New("it is not what was put there"))
}

var errObjectChanged = errors.New("it is not the object any more that was read: Flink, or somebody, has changed it; make the plan again")

// replacement makes and checks files beside an object.
type replacement struct {
	ctx    context.Context
	ws     model.WriteStore
	object string
}

func (r *replacement) beside(mark, sum string) string { return r.object + mark + sum[:12] }

// sum is the SHA-256 of a file.
func (r *replacement) sum(uri string) (string, error) {
	in, err := r.ws.Open(r.ctx, uri)
	if err != nil {
		return "", err
	}
	defer in.Close()
	return hashInput(r.ctx, in)
}

// wants refuses a file that has not the sum.
func (r *replacement) wants(uri, sum string, why error) error {
	got, err := r.sum(uri)
	if err == nil && got != sum {
		return refuse("object-changed", "", fmt.Sprintf("%s: %v", uri, why), "")
	}
	return err
}

// have makes uri a copy of from, or finds it there, and reads it back.
func (r *replacement) have(uri, from, sum string) error {
	_, err := r.ws.Copy(r.ctx, from, 0, -1, uri, func(int64) {})
	if err != nil && !errors.Is(err, model.ErrExist) {
		return err
	}
	return r.wants(uri, sum, errors.New("it does not hold what should stand there; take it away"))
}

// KeptBeside gives the old objects that replacements by chkscope left beside an
// object.
func KeptBeside(ctx context.Context, st model.Store, object string) ([]string, error) {
	list, err := st.List(ctx, store.Parent(object))
	if err != nil {
		return nil, err
	}
	var kept []string
	for _, e := range list {
		if strings.HasPrefix(e.Name, store.Base(object)+oldMark) {
			kept = append(kept, e.URI)
		}
	}
	return kept, nil
}
