package prune

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/store"
)

// copiers is how many files are written at once.
const copiers = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Apply carries a plan out: data files, `_metadata`, proof, report. It may be
// called again after it was interrupted and goes on from what is there. Where
// ctx is cancelled or something fails, the destination has no `_metadata`, but
// the files that were finished and the marker. progress may be nil.
func Apply(ctx context.Context, p *Plan, ws model.WriteStore, progress func(Progress)) (*Result, error) {
	if p.work == nil {
		return nil, errors.New("a loaded plan is built again before it is applied")
	}
	if p.Destination == "" {
		return nil, refuse("no-destination", "", "the plan has no destination yet", "")
	}
	if err := checkDestination(p.work.snap.Dir, p.Destination); err != nil {
		return nil, err
	}
	if err := p.Seal(ctx); err != nil {
		return nil, err
	}
	d, err := openDestination(ctx, ws, p)
	if err != nil {
		return nil, err
	}
	a := &application{plan: p, work: p.work, ws: ws, dest: d, meter: newMeter(progress)}
	if err := a.checkRoom(ctx); err != nil {
		return nil, err
	}
	if err := d.begin(ctx, p); err != nil {
		return nil, err
	}
	return a.run(ctx)
}

// application is one run of Apply.
type application struct {
	plan  *Plan
	work  *work
	ws    model.WriteStore
	dest  *destination
	meter *meter
}

func (a *application) run(ctx context.Context) (*Result, error) {
	if err := a.writeData(ctx); err != nil {
		// What was finished need not be copied again.
		return nil, errors.Join(err, a.dest.flush(context.WithoutCancel(ctx)))
	}
	if err := a.dest.flush(ctx); err != nil {
		return nil, err
	}
	if err := a.writeObject(ctx); err != nil {
		return nil, err
	}
	if err := a.writeMetadata(ctx); err != nil {
		return nil, err
	}
	proof, err := a.prove(ctx)
	if err == nil {
		proof.Object, err = a.proveObject(ctx, proof)
	}
	if err != nil {
		return nil, errors.Join(err, a.takeBack(ctx))
	}
	// It is proved: what is left takes no time, and a cancel comes too late.
	ctx = context.WithoutCancel(ctx)
	r := &Result{Plan: a.plan, Proof: *proof, Files: a.fileCounts()}
	if r.ReportFile, err = a.writeReport(ctx, r); err != nil {
		return nil, err
	}
	if err := a.dest.end(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// fileCounts is the plan's, with the lengths that were written.
func (a *application) fileCounts() FileCounts {
	f := a.plan.Files
	f.Bytes.Copied, f.Bytes.Rewritten = 0, 0
	for _, w := range a.plan.Write {
		if n := a.dest.length(w.Name); w.Action == "copy" {
			f.Bytes.Copied += n
		} else {
			f.Bytes.Rewritten += n
		}
	}
	return f
}

// takeBack removes a `_metadata` that is not proved, so that Flink does not take
// the directory for a checkpoint, and an object, so that nobody does.
func (a *application) takeBack(ctx context.Context) error {
	uris := []string{a.uri(model.MetadataName)}
	if o := a.plan.Object; o != nil {
		uris = append(uris, o.URI)
	}
	var all error
	for _, uri := range uris {
		if err := a.ws.Remove(context.WithoutCancel(ctx), uri); !errors.Is(err, model.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

func (a *application) uri(name string) string { return store.Join(a.plan.Destination, "./"+name) }

// checkRoom refuses a copy that cannot fit, and one whose source files are not
// there, before anything is written.
func (a *application) checkRoom(ctx context.Context) error {
	need := a.plan.MetadataBytes.After
	if o := a.plan.Object; o != nil {
		need += o.Bytes.After
	}
	bytes, err := a.work.checkSources(ctx, func(name string) bool { _, there := a.dest.present[name]; return there })
	if err != nil {
		return err
	}
	need += bytes
	for _, j := range a.work.rewrites {
		if _, there := a.dest.present[j.name]; !there {
			need += j.atMost()
		}
	}
	if free := a.ws.Free(ctx, a.plan.Destination); free >= 0 && free < need {
		return fmt.Errorf("the copy needs %d bytes at %s, %d are free", need, a.plan.Destination, free)
	}
	return nil
}

// CheckSources asks for every file that a write would copy: an error where one
// is not there or has another length, as Apply would refuse it.
func (p *Plan) CheckSources(ctx context.Context) error {
	_, err := p.work.checkSources(ctx, func(string) bool { return false })
	return err
}

// checkSources gives the bytes of the files to be copied, but for those there
// already.
func (w *work) checkSources(ctx context.Context, there func(name string) bool) (need int64, err error) {
	var missing []error
	var mu sync.Mutex
	err = each(ctx, w.layout.copies, func(ctx context.Context, j *copyJob) error {
		if there(j.name) {
			return nil
		}
		size := j.size
		info, err := w.snap.Store.Stat(ctx, j.read)
		if err == nil && !j.segment {
			if !j.fits(info.Size) {
				err = fmt.Errorf("%s has %d bytes, `_metadata` says %d", store.Redact(j.read), info.Size, size)
			}
			size = info.Size
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			missing = append(missing, err)
		}
		need += max(size, 0)
		return ctx.Err()
	})
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%d of the files to be copied cannot be: %w", len(missing), missing[0])
	}
	return need, err
}

// writeData writes all files beside `_metadata`.
func (a *application) writeData(ctx context.Context) error {
	a.meter.begin("files", len(a.work.rewrites)+len(a.work.layout.copies), a.plan.Files.Bytes.Copied+a.plan.Files.Bytes.Rewritten)
	if err := each(ctx, a.work.rewrites, a.rewrite); err != nil {
		return err
	}
	return each(ctx, a.work.layout.copies, a.copy)
}

func (a *application) rewrite(ctx context.Context, j *rewriteJob) error {
	defer a.meter.file()
	if size, there := a.dest.present[j.name]; there {
		n, err := j.write(ctx, &counter{w: io.Discard, meter: a.meter})
		if err == nil && n != size {
			err = fmt.Errorf("%s is there with %d bytes, not %d: something else wrote it", a.uri(j.name), size, n)
		}
		a.dest.wrote(j.name, n)
		return err
	}
	return writeFile(ctx, a.ws, a.uri(j.name), func(w io.Writer) error {
		n, err := j.write(ctx, &counter{w: w, meter: a.meter})
		if err == nil && j.size >= 0 && n != j.size {
			err = fmt.Errorf("%s: %d bytes were written, %d were planned: its source was changed", a.uri(j.name), n, j.size)
		}
		a.dest.wrote(j.name, n)
		return err
	})
}

// counter meters what is written.
type counter struct {
	w     io.Writer
	meter *meter
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.meter.add(int64(n))
	return n, err
}

func (a *application) copy(ctx context.Context, j *copyJob) error {
	defer a.meter.file()
	if size, there := a.dest.present[j.name]; there {
		return a.keep(ctx, j, size)
	}
	length := int64(-1)
	if j.segment {
		length = j.size
	}
	last := int64(0)
	sum, err := a.ws.Copy(ctx, j.read, j.off, length, a.uri(j.name), func(n int64) {
		a.meter.add(n - last)
		last = n
	})
	if err != nil {
		return err
	}
	a.meter.add(sum.Size - last)
	if !j.segment && !j.fits(sum.Size) {
		return fmt.Errorf("%s: %d bytes were copied, `_metadata` says %d", store.Redact(j.read), sum.Size, j.size)
	}
	return a.dest.finished(ctx, j.name, sum)
}

// keep takes a file of an earlier run over: as its sum was recorded, or, where
// it was not any more, after reading both.
func (a *application) keep(ctx context.Context, j *copyJob, size int64) error {
	a.meter.add(size)
	if _, known := a.dest.sum(j.name); known {
		return nil
	}
	length := int64(-1)
	if j.segment {
		length = j.size
	}
	want, err := sumOf(ctx, a.work.snap.Store, j.read, j.off, length)
	if err != nil {
		return err
	}
	got, err := sumOf(ctx, a.ws, a.uri(j.name), 0, -1)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s is there and differs from %s: something else wrote it", a.uri(j.name), store.Redact(j.read))
	}
	return a.dest.finished(ctx, j.name, want)
}

// sumOf reads length bytes from off on (-1: up to the end) and sums them.
func sumOf(ctx context.Context, st model.Store, uri string, off, length int64) (store.Sum, error) {
	o, err := st.Open(ctx, uri)
	if err != nil {
		return store.Sum{}, err
	}
	defer o.Close()
	if length < 0 {
		length = o.Size() - off
	}
	h := crc32.New(castagnoli)
	n, err := io.CopyBuffer(h, io.NewSectionReader(o, off, length), make([]byte, 1<<20))
	if err != nil {
		return store.Sum{}, err
	}
	return store.Sum{Size: n, CRC32: h.Sum32()}, ctx.Err()
}

// writeMetadata writes `_metadata`, or, where an earlier run has done so, takes
// it over: the proof reads it in any case.
func (a *application) writeMetadata(ctx context.Context) error {
	a.meter.begin("_metadata", 1, a.plan.MetadataBytes.After)
	defer a.meter.file()
	if a.dest.metadata {
		return nil
	}
	return writeFile(ctx, a.ws, a.uri(model.MetadataName), func(w io.Writer) error {
		_, err := metadata.Encode(&counter{w: w, meter: a.meter}, a.work.out.Checkpoint)
		return err
	})
}

// each calls f for the items, several at once; the first error stops the rest.
func each[T any](ctx context.Context, items []T, f func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan T)
	var wg sync.WaitGroup
	for range min(copiers, len(items)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for item := range next {
				if err := f(ctx, item); err != nil {
					cancel(err)
					return
				}
			}
		}()
	}
	for _, item := range items {
		select {
		case next <- item:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}
