package prune

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"chkscope/model"
	"chkscope/model/store"
)

// markerStem begins the names of the marker, model.IncompleteName, and of its
// journals.
const markerStem = "_chkscope-incomplete"

// marker is the file that stands in a copy that is not finished and proved. It
// is written first and removed last.
type marker struct {
	Schema      int    `json:"schema"`
	About       string `json:"about"`
	Plan        string `json:"plan"` // digest
	Source      string `json:"source"`
	Destination string `json:"destination"`
}

const markerAbout = "This copy by chkscope is not finished or not proved yet. The same command, or the same plan, goes on with it. Do not restore from it; to give it up delete this directory."

// journal records files that were finished since the journal before it, with
// the sums taken while copying.
type journal struct {
	Plan  string         `json:"plan"`
	Files []finishedFile `json:"files"`
}

type finishedFile struct {
	Name  string `json:"name"`
	Size  int64  `json:"size"`
	CRC32 uint32 `json:"crc32c"`
	NoCRC bool   `json:"no_crc"` // the store copied and vouched for it
}

// destination is the copy's directory and what an earlier run left in it.
type destination struct {
	ws       model.WriteStore
	dir      string
	digest   string
	resumed  bool
	present  map[string]int64     // finished files by name, with their length
	sums     map[string]store.Sum // of files that journals tell of
	journals []string             // names
	temps    []string             // URIs
	beside   map[string]bool      // files that are there for high availability
	written  map[string]int64     // lengths of rewritten files
	metadata bool

	mu      sync.Mutex
	pending []finishedFile
	bytes   int64
}

// journalBytes and journalFiles are how much is copied between two journals.
const (
	journalBytes = 256 << 20
	journalFiles = 256
)

// FreeDestination gives the first of base, base-2, base-3, … that a copy can be
// written to: where nothing is, an empty directory, or the unfinished copy of some
// plan, which may be this one. Where the store cannot be asked it is base.
func FreeDestination(ctx context.Context, st model.Store, base string) string {
	for i := 1; i < 100; i++ {
		uri := base
		if i > 1 {
			uri = fmt.Sprintf("%s-%d", base, i)
		}
		list, err := st.List(ctx, uri)
		_, beside := st.Stat(ctx, uri+haSuffix)
		switch {
		case (errors.Is(err, model.ErrNotExist) || err == nil && len(list) == 0) && beside != nil:
			return uri
		case err == nil && slices.ContainsFunc(list, func(e model.Info) bool { return e.Name == model.IncompleteName }):
			return uri
		case err != nil && ctx.Err() != nil:
			return base
		}
	}
	return base
}

// openDestination looks at the directory. It must not exist, be empty, or hold
// the marker of the same plan; expected tells the names that the plan writes.
func openDestination(ctx context.Context, ws model.WriteStore, p *Plan) (*destination, error) {
	d := &destination{ws: ws, dir: p.Destination, digest: p.Digest, present: map[string]int64{}, sums: map[string]store.Sum{}, written: map[string]int64{}, beside: map[string]bool{}}
	foreignBeside, err := d.lookBeside(ctx, p)
	if err != nil {
		return nil, err
	}
	list, err := ws.List(ctx, d.dir)
	if err != nil && !errors.Is(err, model.ErrNotExist) {
		return nil, err
	}
	expected := map[string]bool{model.MetadataName: true}
	for _, f := range p.Write {
		expected[f.Name] = true
	}
	foreign := foreignBeside
	for _, e := range list {
		switch {
		case store.IsTemp(e.Name):
			d.temps = append(d.temps, e.URI)
		case e.Name == model.IncompleteName:
			d.resumed = true
		case strings.HasPrefix(e.Name, markerStem+"-"):
			d.journals = append(d.journals, e.Name)
		case expected[e.Name] && !e.Dir:
			d.present[e.Name] = e.Size
		default:
			foreign = append(foreign, e.Name)
		}
	}
	_, d.metadata = d.present[model.MetadataName]
	if err := d.check(ctx, foreign); err != nil {
		return nil, err
	}
	return d, d.readJournals(ctx)
}

// lookBeside looks at the directory for high availability; it gives what the plan
// does not write there.
func (d *destination) lookBeside(ctx context.Context, p *Plan) (foreign []string, err error) {
	if p.Object == nil {
		return nil, nil
	}
	list, err := d.ws.List(ctx, p.beside(""))
	if err != nil && !errors.Is(err, model.ErrNotExist) {
		return nil, err
	}
	expected := map[string]bool{p.Object.Name: true}
	for _, uri := range p.Object.Pointer.files() {
		expected[store.Base(uri)] = true
	}
	for _, e := range list {
		switch {
		case store.IsTemp(e.Name):
			d.temps = append(d.temps, e.URI)
		case expected[e.Name] && !e.Dir:
			d.beside[e.Name] = true
		default:
			foreign = append(foreign, e.URI)
		}
	}
	return foreign, nil
}

func (d *destination) check(ctx context.Context, foreign []string) error {
	if !d.resumed {
		if len(d.present)+len(foreign)+len(d.journals)+len(d.beside) > 0 {
			what := d.dir
			if len(d.present)+len(d.journals) == 0 && len(d.beside) > 0 {
				what += haSuffix
			}
			return refuse("destination-not-empty", "", fmt.Sprintf("%s is there already and not empty; give a destination that does not exist", what), "")
		}
		return nil
	}
	var m marker
	if err := d.readJSON(ctx, model.IncompleteName, &m); err != nil {
		return err
	}
	if m.Plan != d.digest {
		return refuse("other-plan", "", fmt.Sprintf("%s holds the unfinished copy of another plan (of %s); give another destination, or delete that directory", d.dir, store.Redact(m.Source)), "")
	}
	if len(foreign) > 0 {
		return refuse("destination-not-empty", "", fmt.Sprintf("%s holds an unfinished copy of this plan and also %s, which is not of it", d.dir, foreign[0]), "")
	}
	return nil
}

// jsonLimit bounds the marker and each journal.
const jsonLimit = 64 << 20

func (d *destination) readJSON(ctx context.Context, name string, v any) error {
	uri := store.Join(d.dir, "./"+name)
	o, err := d.ws.Open(ctx, uri)
	if err != nil {
		return err
	}
	defer o.Close()
	if o.Size() > jsonLimit {
		return fmt.Errorf("%s: %d bytes is more than such a file has", uri, o.Size())
	}
	b := make([]byte, o.Size())
	if n, err := o.ReadAt(b, 0); n < len(b) {
		return fmt.Errorf("%s: %w", uri, err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", uri, err)
	}
	return nil
}

func (d *destination) readJournals(ctx context.Context) error {
	for _, name := range d.journals {
		var j journal
		if err := d.readJSON(ctx, name, &j); err != nil {
			return err
		}
		if j.Plan != d.digest {
			continue
		}
		for _, f := range j.Files {
			if d.present[f.Name] == f.Size {
				d.sums[f.Name] = store.Sum{Size: f.Size, CRC32: f.CRC32, NoCRC: f.NoCRC}
			}
		}
	}
	return nil
}

// begin writes the marker and removes what a kill left half-written.
func (d *destination) begin(ctx context.Context, p *Plan) error {
	for _, name := range d.temps {
		if err := d.ws.Remove(ctx, name); err != nil && !errors.Is(err, model.ErrNotExist) {
			return err
		}
	}
	if d.resumed {
		if s, ok := d.ws.(store.Sweeper); ok {
			_, err := s.Sweep(ctx, d.dir) // uploads that no listing shows
			return err
		}
		return nil
	}
	return d.writeJSON(ctx, model.IncompleteName, marker{1, markerAbout, p.Digest, p.Source, p.Destination})
}

func (d *destination) writeJSON(ctx context.Context, name string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return writeFile(ctx, d.ws, store.Join(d.dir, "./"+name), func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}

// writeFile makes one whole file.
func writeFile(ctx context.Context, ws model.WriteStore, uri string, f func(io.Writer) error) error {
	w, err := ws.Create(ctx, uri)
	if err != nil {
		return err
	}
	if err := f(w); err != nil {
		w.Abort()
		return err
	}
	return w.Commit()
}

// finished notes a copied file; now and then it writes a journal.
func (d *destination) finished(ctx context.Context, name string, sum store.Sum) error {
	d.mu.Lock()
	d.sums[name] = sum
	d.pending = append(d.pending, finishedFile{name, sum.Size, sum.CRC32, sum.NoCRC})
	d.bytes += sum.Size
	full := d.bytes >= journalBytes || len(d.pending) >= journalFiles
	d.mu.Unlock()
	if !full {
		return nil
	}
	return d.flush(ctx)
}

// wrote notes the length of a rewritten file.
func (d *destination) wrote(name string, n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written[name] = n
}

// length is what a file of the copy must have, as it was written or taken over.
func (d *destination) length(name string) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.sums[name]; ok {
		return s.Size
	}
	return d.written[name]
}

// sum is the sum of a copied file, taken while copying.
func (d *destination) sum(name string) (store.Sum, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.sums[name]
	return s, ok
}

// flush writes what is noted into a journal.
func (d *destination) flush(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) == 0 {
		return nil
	}
	n := len(d.journals) + 1
	name := fmt.Sprintf("%s-%d.json", markerStem, n)
	for slices.Contains(d.journals, name) {
		n++
		name = fmt.Sprintf("%s-%d.json", markerStem, n)
	}
	if err := d.writeJSON(ctx, name, journal{d.digest, d.pending}); err != nil {
		return err
	}
	d.journals = append(d.journals, name)
	d.pending, d.bytes = nil, 0
	return nil
}

// end removes the journals and then the marker.
func (d *destination) end(ctx context.Context) error {
	for _, name := range append(slices.Clone(d.journals), model.IncompleteName) {
		if err := d.ws.Remove(ctx, store.Join(d.dir, "./"+name)); err != nil && !errors.Is(err, model.ErrNotExist) {
			return err
		}
	}
	return nil
}
