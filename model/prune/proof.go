package prune

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/store"
)

// Proof is what reading the copy back showed.
type Proof struct {
	// Checked counts named states times subtasks (coordinator, master and in-flight
	// state too) that were compared or looked for; Equal those kept and equal up to
	// where their files are, Removed those that are gone as they should.
	Checked int `json:"checked"`
	Equal   int `json:"equal"`
	Removed int `json:"removed"`
	// EntriesRemoved counts the entries that are gone, as they should, out of states
	// that stay: those count as equal.
	EntriesRemoved int64 `json:"entries_removed"`
	// Unchecked counts files that could not be asked, or were missing at the source
	// already.
	Unchecked int  `json:"unchecked"`
	OK        bool `json:"ok"`
	// Object is the same of the object of high availability; null: none.
	Object *ObjectProof `json:"object"`
	// Warnings are about what is unchecked.
	Warnings []string `json:"-"`
}

// ProofError says where the copy is not what it should be.
type ProofError struct{ Problems []string }

func (e *ProofError) Error() string {
	s := "the copy is not equal to what was planned: " + e.Problems[0]
	if n := len(e.Problems) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s
}

// problemsKept is how many differences are told one by one.
const problemsKept = 20

// prover compares a written copy with its source and what was to go. It takes
// nothing from the edit but the names under which parts were copied.
type prover struct {
	ctx  context.Context
	app  *application
	src  *metadata.Checkpoint
	out  *metadata.Checkpoint
	r    *removal
	at   locator
	from map[string]part // parts by their file's name in the copy

	// object: a completedCheckpoint object is compared, whose relative handles name
	// the source's files.
	object bool

	proof    Proof
	problems []string
	count    int
	files    map[string]bool // that handles of the copy name, by URI
}

// prove reads `_metadata` back and compares. A difference is a *ProofError.
func (a *application) prove(ctx context.Context) (*Proof, error) {
	a.meter.begin("proof", len(a.plan.Write)+len(a.work.layout.refs)+1, a.plan.MetadataBytes.After)
	o, err := a.ws.Open(ctx, a.uri(model.MetadataName))
	if err != nil {
		return nil, err
	}
	defer o.Close()
	out, err := metadata.Decode(o)
	if err != nil {
		return nil, err
	}
	if out.Damage != nil {
		return nil, out.Damage
	}
	p := &prover{ctx: ctx, app: a, src: a.work.snap.Meta, out: out, r: a.work.removal, at: a.work.layout.locate,
		from: map[string]part{}, files: map[string]bool{}}
	for _, j := range a.work.layout.copies {
		p.from[j.name] = j.part
	}
	if err := p.checkpoint(); err != nil {
		return nil, err
	}
	if err := p.bytesAsPlanned(); err != nil {
		return nil, err
	}
	a.meter.file()
	if err := p.checkFiles(); err != nil {
		return nil, err
	}
	if p.count > 0 {
		return nil, &ProofError{p.problems}
	}
	p.proof.OK = true
	return &p.proof, nil
}

// bytesAsPlanned compares the whole of `_metadata` with what the planned
// structures encode to: a changed bit may also lie where no two fields of source
// and copy have to be equal, such as a new name or id.
func (p *prover) bytesAsPlanned() error {
	h := crc32.New(castagnoli)
	if _, err := metadata.Encode(h, p.app.work.out.Checkpoint); err != nil {
		return err
	}
	got, err := sumOf(p.ctx, p.app.ws, p.app.uri(model.MetadataName), 0, -1)
	if err != nil {
		return err
	}
	if got.CRC32 != h.Sum32() {
		p.wrong("`_metadata` as it was read back is not byte for byte what was planned")
	}
	return nil
}

// wrong notes a difference.
func (p *prover) wrong(format string, a ...any) {
	p.count++
	if len(p.problems) < problemsKept {
		p.problems = append(p.problems, fmt.Sprintf(format, a...))
	}
}

// node counts one compared node: equal where no difference was noted since
// before.
func (p *prover) node(before int) {
	p.proof.Checked++
	if p.count == before {
		p.proof.Equal++
	}
}

// gone counts one removed node.
func (p *prover) gone(present bool, what string) {
	p.proof.Checked++
	if present {
		p.wrong("%s is still there", what)
		return
	}
	p.proof.Removed++
}

func (p *prover) checkpoint() error {
	src, out := p.src, p.out
	// The version of an object is a guess from the classes in it.
	if src.Version != out.Version && !p.object || src.ID != out.ID {
		p.wrong("version %d and checkpoint id %d became %d and %d", src.Version, src.ID, out.Version, out.ID)
	}
	for _, s := range p.tails() {
		if err := p.equalBytes(s.what, src.In, s.src, out.In, s.out); err != nil {
			return err
		}
	}
	if err := p.masters(); err != nil {
		return err
	}
	k := 0
	for i := range src.Operators {
		if p.r.operators[i] {
			p.goneOperator(&src.Operators[i])
			continue
		}
		if k == len(out.Operators) || out.Operators[k].ID != src.Operators[i].ID {
			p.wrong("operator %s is missing", src.Operators[i].ID)
			return nil
		}
		if err := p.operator(i, k); err != nil {
			return err
		}
		k++
	}
	if k < len(out.Operators) {
		p.wrong("operator %s is too much", out.Operators[k].ID)
	}
	return nil
}

// tail is bytes that are the same in the copy.
type tail struct {
	what     string
	src, out decoder.Span
}

// tails are the bytes behind the operators. Those of an object hold numbers of
// what comes before; objectFields compares what they mean.
func (p *prover) tails() []tail {
	if p.object {
		return nil
	}
	return []tail{{"properties", p.src.Properties, p.out.Properties}, {"trailing bytes", p.src.Trailing, p.out.Trailing}}
}

func (p *prover) masters() error {
	k := 0
	for i := range p.src.Masters {
		a := &p.src.Masters[i]
		if p.r.masters[i] {
			p.gone(len(p.out.Masters)-k > len(p.src.Masters)-i-1, "master state "+decoder.Text(a.Name))
			continue
		}
		if k == len(p.out.Masters) {
			p.wrong("master state %s is missing", decoder.Text(a.Name))
			return nil
		}
		before, b := p.count, &p.out.Masters[k]
		if a.Name != b.Name || a.Version != b.Version {
			p.wrong("master state %s became %s", decoder.Text(a.Name), decoder.Text(b.Name))
		}
		if err := p.equalBytes("master state "+decoder.Text(a.Name), p.src.In, a.Payload.Span, p.out.In, b.Payload.Span); err != nil {
			return err
		}
		p.node(before)
		k++
	}
	return nil
}

// goneOperator counts the nodes of an operator that went.
func (p *prover) goneOperator(op *metadata.Operator) {
	present := false
	for i := range p.out.Operators {
		present = present || p.out.Operators[i].ID == op.ID
	}
	before := p.proof.Checked
	if op.Coordinator != nil {
		p.gone(present, "operator "+op.ID.String())
	}
	for i := range op.Subtasks {
		p.goneSubtask(op, op.Subtasks[i].State, present)
	}
	if p.proof.Checked == before {
		p.gone(present, "operator "+op.ID.String()) // it has no state
	}
}

func (p *prover) goneSubtask(op *metadata.Operator, s *metadata.SubtaskState, present bool) {
	if s == nil {
		return
	}
	for range max(nodesOf(s), 1) {
		p.gone(present, "operator "+op.ID.String())
	}
}

// nodesOf is the number of nodes of a subtask's record.
func nodesOf(s *metadata.SubtaskState) int {
	n := 0
	for _, h := range []*metadata.OperatorHandle{s.ManagedOperator, s.RawOperator} {
		if h != nil {
			n += len(h.States)
		}
	}
	for _, h := range []*metadata.KeyedHandle{s.ManagedKeyed, s.RawKeyed} {
		if h != nil {
			n++
		}
	}
	if s.Input.Len() > 0 {
		n++
	}
	if s.Output.Len() > 0 {
		n++
	}
	return n
}

func (p *prover) operator(i, k int) error {
	a, b := &p.src.Operators[i], &p.out.Operators[k]
	if a.Name != b.Name || a.UID != b.UID || a.Parallelism != b.Parallelism || a.MaxParallelism != b.MaxParallelism ||
		a.ChainLength != b.ChainLength || (a.SubtaskCount < 0) != (b.SubtaskCount < 0) {
		p.wrong("operator %s: its name, uid or parallelism differs", a.ID)
	}
	if err := p.coordinator(i, a, b); err != nil {
		return err
	}
	n := 0
	for s := range a.Subtasks {
		x := &a.Subtasks[s]
		if p.r.subtasks[place{i, s}] {
			present := slices.ContainsFunc(b.Subtasks, func(t metadata.Subtask) bool { return t.Index == x.Index })
			p.goneSubtask(a, x.State, present)
			continue
		}
		if n == len(b.Subtasks) || b.Subtasks[n].Index != x.Index || b.Subtasks[n].Finished != x.Finished {
			p.wrong("operator %s: subtask %d is missing or differs", a.ID, x.Index)
			return nil
		}
		if !x.Finished {
			c := cell{p: p, at: place{i, s}, where: fmt.Sprintf("operator %s, subtask %d", a.ID, x.Index)}
			if err := c.compare(x.State, b.Subtasks[n].State); err != nil {
				return err
			}
		}
		n++
	}
	if n < len(b.Subtasks) {
		p.wrong("operator %s: subtask %d is too much", a.ID, b.Subtasks[n].Index)
	}
	return p.ctx.Err()
}

func (p *prover) coordinator(i int, a, b *metadata.Operator) error {
	what := "coordinator state of " + a.ID.String()
	switch {
	case p.r.coordinators[i]:
		p.gone(b.Coordinator != nil, what)
	case a.Coordinator == nil && b.Coordinator == nil:
	case a.Coordinator == nil || b.Coordinator == nil:
		p.wrong("%s is missing or too much", what)
	default:
		before := p.count
		same, err := false, error(nil)
		if k := p.r.kafka[i]; k != nil && k.enumerator > 0 {
			if same, err = p.sameKafka(k, a.Coordinator, b.Coordinator); same {
				p.proof.EntriesRemoved += k.enumerator
			}
		} else {
			same, err = p.sameStream(a.Coordinator, b.Coordinator)
		}
		if err != nil {
			return err
		}
		if !same {
			p.wrong("%s differs", what)
		}
		p.node(before)
	}
	return nil
}

// sameStream tells whether the copy's handle b holds or names the same bytes as
// the source's a, without reading files: inline data is compared, a part that
// was copied is known by its name, another one by where it is.
func (p *prover) sameStream(a, b *metadata.StreamHandle) (bool, error) {
	switch {
	case a.Type == metadata.TypeKeyGroups && a.Keyed != nil:
		if b.Type != a.Type || b.Keyed == nil || a.Keyed.Start != b.Keyed.Start || a.Keyed.Number != b.Keyed.Number {
			return false, nil
		}
		if same, err := p.sameOffsets(a.Keyed.Offsets, b.Keyed.Offsets); !same || err != nil {
			return false, err
		}
		return p.sameStream(&a.Keyed.Stream, &b.Keyed.Stream)
	case a.Type == metadata.TypeByteStream:
		if b.Type != a.Type || a.Name != b.Name || a.Data.Len() != b.Data.Len() {
			return false, nil
		}
		return sameSpans(p.src.In, a.Data.Span, p.out.In, b.Data.Span)
	}
	pa, ok := p.at.part(a)
	if !ok {
		return a.Type == b.Type, nil
	}
	if b.Type == metadata.TypeByteStream {
		return p.sameContents(a, b)
	}
	if a.Size != b.Size {
		return false, nil
	}
	if name, ok := p.nameInCopy(b); ok {
		copied, known := p.from[name]
		return known && copied.key == pa.key, nil
	}
	pb, ok := p.at.part(b)
	return ok && (p.object || b.Type != metadata.TypeRelativeFile) && pb.key == pa.key, nil
}

// sameContents compares a file of the source with the inline data that took its
// place.
func (p *prover) sameContents(a, b *metadata.StreamHandle) (bool, error) {
	in, err := p.app.work.openSource(p.ctx, a)
	if err != nil {
		return false, err
	}
	defer in.Close()
	return sameSpans(in, decoder.Span{Len: in.Size()}, p.out.In, b.Data.Span)
}

// nameInCopy is the name of the file of the copy that a handle names.
func (p *prover) nameInCopy(h *metadata.StreamHandle) (string, bool) {
	switch h.Type {
	case metadata.TypeRelativeFile:
		return h.Name, !p.object
	case metadata.TypeFile:
		return store.Rel(absoluteDir(p.app.plan.Destination), h.Name)
	}
	return "", false
}

// sameOffsets compares arrays of the source and of the copy.
func (p *prover) sameOffsets(a, b metadata.Offsets) (bool, error) {
	if a.Len() != b.Len() {
		return false, nil
	}
	if !a.Edited() {
		return sameSpans(p.src.In, a.Span, p.out.In, b.Span)
	}
	x, y := make([]int64, 32<<10), make([]int64, 32<<10)
	for i := int64(0); i < a.Len(); {
		n, err := a.Read(p.src.In, i, x)
		if err != nil {
			return false, err
		}
		if _, err := b.Read(p.out.In, i, y[:n]); err != nil {
			return false, err
		}
		if !slices.Equal(x[:n], y[:n]) {
			return false, nil
		}
		i += int64(n)
	}
	return true, nil
}

func (p *prover) equalBytes(what string, a decoder.Input, as decoder.Span, b decoder.Input, bs decoder.Span) error {
	same, err := sameSpans(a, as, b, bs)
	if err == nil && !same {
		p.wrong("%s differs", what)
	}
	return err
}

// compareChunk is how much is read of each side at once.
const compareChunk = 256 << 10

// sameSpans compares bytes of two inputs.
func sameSpans(a decoder.Input, as decoder.Span, b decoder.Input, bs decoder.Span) (bool, error) {
	if as.Len != bs.Len {
		return false, nil
	}
	x, y := make([]byte, min(as.Len, compareChunk)), make([]byte, min(as.Len, compareChunk))
	for done := int64(0); done < as.Len; {
		n := min(as.Len-done, compareChunk)
		if k, err := a.ReadAt(x[:n], as.Off+done); int64(k) < n {
			return false, shortRead(a, err)
		}
		if k, err := b.ReadAt(y[:n], bs.Off+done); int64(k) < n {
			return false, shortRead(b, err)
		}
		if string(x[:n]) != string(y[:n]) {
			return false, nil
		}
		done += n
	}
	return true, nil
}

func shortRead(in decoder.Input, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s: %w", in.Name(), err)
}

// checkFiles looks at every file that the copy names: those of its own by
// length (and sum, where asked for), those it refers to by existence and length.
func (p *prover) checkFiles() error {
	a := p.app
	if err := each(p.ctx, a.plan.Write, p.ownFile); err != nil {
		return err
	}
	return p.referenced(a.work.layout.refs)
}

func (p *prover) ownFile(ctx context.Context, f PlannedFile) error {
	defer p.app.meter.file()
	uri := p.app.uri(f.Name)
	info, err := p.app.ws.Stat(ctx, uri)
	if err != nil {
		return err
	}
	sum, copied := p.app.dest.sum(f.Name)
	if want := p.app.dest.length(f.Name); info.Size != want {
		return &ProofError{[]string{fmt.Sprintf("%s has %d bytes, not %d", uri, info.Size, want)}}
	}
	if !copied || sum.NoCRC || !p.app.plan.VerifyCopies {
		return nil
	}
	got, err := sumOf(ctx, p.app.ws, uri, 0, -1)
	if err == nil && got != sum {
		err = &ProofError{[]string{fmt.Sprintf("%s reads back with another checksum than was copied", uri)}}
	}
	return err
}

// referenced asks for files that stay where they are, each physical file once.
func (p *prover) referenced(refs []part) error {
	ends := map[string]part{} // by read URI: the longest need
	for _, r := range refs {
		e := ends[r.read]
		if r.segment {
			r.size += r.off
		}
		if e.read == "" || r.size > e.size {
			ends[r.read] = r
		}
	}
	uris := slices.Sorted(maps.Keys(ends))
	var missing, unasked []string
	results := make([]error, len(uris))
	index := make([]int, len(uris))
	for i := range index {
		index[i] = i
	}
	err := each(p.ctx, index, func(ctx context.Context, i int) error {
		info, err := p.app.work.snap.Store.Stat(ctx, uris[i])
		if e := ends[uris[i]]; err == nil && (e.segment && info.Size < e.size || !e.segment && !e.fits(info.Size)) {
			err = fmt.Errorf("%s has %d bytes, %d are recorded", store.Redact(uris[i]), info.Size, e.size)
		}
		results[i] = err
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for i, err := range results {
		switch {
		case err == nil:
		case errors.Is(err, model.ErrCannotAsk):
			unasked = append(unasked, uris[i])
		default:
			missing = append(missing, err.Error())
		}
	}
	p.proof.Unchecked = len(missing) + len(unasked)
	if len(missing) > 0 {
		p.proof.Warnings = append(p.proof.Warnings, fmt.Sprintf("%d files are missing or of another length at the source already, first: %s", len(missing), missing[0]))
	}
	if len(unasked) > 0 {
		p.proof.Warnings = append(p.proof.Warnings, fmt.Sprintf("%d files could not be asked for, first: %s", len(unasked), store.Redact(unasked[0])))
	}
	return nil
}
