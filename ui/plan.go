package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"chkscope/model"
	"chkscope/model/prune"
	"chkscope/model/store"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// planning is the plan for the marks at hand and what a person chose for it.
type planning struct {
	copy                                 prune.CopyKind
	acceptLoss, changelogOff, keepHeader bool
	destination                          string // as typed or prefilled

	plan *prune.Plan // nil: to be made
	err  error       // why there is none
	// sources is why files that the plan copies cannot be; nil before they were asked for.
	sources error
	gen     uint64
	job     *job
}

// forget throws the plan away, after marks or choices have changed.
func (p *planning) forget() {
	p.gen++
	p.close()
	p.plan, p.err, p.sources = nil, nil, nil
}

// close gives the files back that the plan opened beside the source. What was
// opened for reading only has nothing to lose.
func (p *planning) close() {
	if p.plan != nil {
		p.plan.Close()
	}
}

// planMsg is a plan, or why there is none.
type planMsg struct {
	job  *job
	gen  uint64
	to   string // the destination that was chosen
	plan *prune.Plan
	err  error
	then func(*App) tea.Cmd
}

// buildPlan makes the plan and then goes on with then (may be nil).
func (a *App) buildPlan(then func(*App) tea.Cmd) tea.Cmd {
	p := &a.plan
	if p.job != nil {
		p.job.cancel()
		a.end(p.job)
	}
	p.forget()
	to, choose := p.destination, p.destination == ""
	if choose {
		to = a.destinationBeside()
	}
	j, ctx := a.begin("planning", "")
	p.job = j
	gen, s, t, st := p.gen, a.snap, a.names.tree, a.cfg.Store
	req := prune.Request{
		Targets: a.marks.set.Targets(), Copy: p.copy, AcceptLoss: p.acceptLoss, ChangelogOff: p.changelogOff, KeepHeaders: p.keepHeader,
		Pointer: a.pointer,
	}
	return func() tea.Msg {
		m := planMsg{job: j, gen: gen, to: to, then: then}
		if req.Destination, m.err = store.FromArgument(to); m.err != nil {
			return m
		}
		if choose {
			base := req.Destination
			req.Destination = prune.FreeDestination(ctx, st, base)
			m.to += strings.TrimPrefix(req.Destination, base) // "-2" where it is taken
		}
		m.plan, m.err = prune.Build(ctx, s, t, req)
		return m
	}
}

func (a *App) planned(m planMsg) tea.Cmd {
	a.end(m.job)
	fresh := planning{plan: m.plan}
	if a.plan.job != m.job {
		fresh.close()
		return nil // another one was begun after it
	}
	a.plan.job = nil
	switch {
	case errors.Is(m.err, context.Canceled):
	case m.gen != a.plan.gen: // the marks have changed meanwhile
		fresh.close()
		return a.buildPlan(m.then)
	default:
		a.plan.plan, a.plan.err, a.plan.destination = m.plan, m.err, m.to
	}
	var then tea.Cmd
	if m.then != nil {
		then = m.then(a)
	}
	return tea.Batch(then, a.checkSources())
}

// sourcesMsg tells whether the files that a plan copies are there.
type sourcesMsg struct {
	job *job
	gen uint64
	err error
}

// checkSources asks for the files that the plan copies, so that a missing one is
// told before anything is written.
func (a *App) checkSources() tea.Cmd {
	p, gen := a.plan.plan, a.plan.gen
	if p == nil || p.Files.Copied == 0 {
		return nil
	}
	j, ctx := a.begin("asking for the files to be copied", "")
	return func() tea.Msg { return sourcesMsg{j, gen, p.CheckSources(ctx)} }
}

func (a *App) sourcesChecked(m sourcesMsg) {
	a.end(m.job)
	if m.gen == a.plan.gen && !errors.Is(m.err, context.Canceled) {
		a.plan.sources = m.err
	}
}

// sourceWarnings say that the plan cannot be carried out as it is.
func (p *planning) sourceWarnings() []string {
	if p.sources == nil {
		return nil
	}
	return []string{"The copy would fail: " + reason(p.sources)}
}

// destinationBeside is where a copy goes if nobody says otherwise: beside the
// source, with "-pruned" behind its name.
func (a *App) destinationBeside() string {
	to := strings.TrimRight(a.cfg.Destination, "/")
	if to == "" {
		to = strings.TrimSuffix(a.snap.Dir, "/") + "-pruned"
	}
	if path, ok := store.LocalPath(to); ok {
		to = path
	}
	if clean(to) != to {
		return "" // a name that cannot be shown is not prefilled
	}
	return to
}

// planPage shows what is marked, before and after, and what it means.
type planPage struct{ page }

func (a *App) showPlan() tea.Cmd {
	if a.marks.set.Len() == 0 {
		a.say("nothing is marked: space marks a row, x the remedy of a finding")
		return nil
	}
	p := &planPage{}
	return tea.Batch(a.push(p), p.build(a))
}

func (p *planPage) build(a *App) tea.Cmd {
	if a.marks.set.Len() == 0 {
		a.drop(p)
		a.layout()
		return nil
	}
	if a.plan.plan != nil || a.plan.err != nil {
		return nil
	}
	return a.buildPlan(nil)
}

func (*planPage) at() place { return inPlan }

func (p *planPage) leave(a *App) bool {
	if a.plan.job != nil {
		a.plan.job.cancel()
	}
	return true
}

func (p *planPage) view(a *App, w, h int) ([]string, *tea.Cursor) {
	var body []string
	switch {
	case a.plan.err != nil:
		body = a.refusalLines(a.plan.err, w)
	case a.plan.plan == nil:
		body = []string{"", " Planning" + a.theme.more + " Esc goes back."}
	default:
		body = a.planLines(a.plan.plan, w)
	}
	body = append(body, "")
	body = append(body, a.choiceLines(w)...)
	return p.scrolled(a, "plan", "", body, w, h), nil
}

// textBuilder makes lines of a page.
type textBuilder struct {
	a     *App
	w     int
	lines []string
}

func (b *textBuilder) heading(s string) {
	if len(b.lines) > 0 {
		b.lines = append(b.lines, "")
	}
	b.lines = append(b.lines, " "+b.a.theme.title.Render(s))
}

// text wraps a sentence; sign stands before its first line.
func (b *textBuilder) text(sign, s string) {
	if b.a.cfg.ASCII {
		s = strings.ReplaceAll(s, "…", "...")
	}
	for i, l := range wrap(clean(s), b.w-4) {
		if i > 0 {
			sign = ""
		}
		b.lines = append(b.lines, " "+padRight(sign, 2)+" "+l)
	}
}

// list is a heading with sentences; nothing where there are none.
func (b *textBuilder) list(heading, sign string, sentences []string) {
	if len(sentences) == 0 {
		return
	}
	b.heading(heading)
	for _, s := range sentences {
		b.text(sign, s)
	}
}

// flagKeys are the keys of the plan that do what a flag of the command line does.
var flagKeys = map[string]string{"--accept-loss": "a", "--changelog-off": "o", "--keep-headers": "h", "--copy": "c"}

// refusalLines say why there is no plan and what would allow it.
func (a *App) refusalLines(err error, w int) []string {
	b := &textBuilder{a: a, w: w}
	var refusal *prune.Refusal
	if !errors.As(err, &refusal) {
		b.heading("There is no plan")
		b.text("!", err.Error())
		return b.lines
	}
	b.heading("Refused")
	for _, r := range refusal.Reasons {
		s := r.Sentence
		if r.Selector != "" {
			s = a.nameOf(r.Selector) + ": " + s
		}
		if name, _, _ := strings.Cut(r.Flag, " "); r.Flag != "" {
			if !strings.HasSuffix(s, ".") {
				s += "."
			}
			if key, ok := flagKeys[name]; ok {
				s += " The key " + key + " allows it (" + r.Flag + ")."
			} else {
				s += " " + r.Flag + " allows it."
			}
		}
		b.text("!", s)
	}
	return b.lines
}

// nameOf says what a selector names, in the words of the tree.
func (a *App) nameOf(selector string) string {
	g, err := model.ParseTarget(selector)
	if err != nil {
		return selector
	}
	n := a.snap.Find(a.names.tree, g)
	if n == model.None {
		return selector
	}
	s := a.names.full(n)
	switch {
	case g.Entries == model.Duplicates:
		s += " / duplicates"
	case g.Entries.First >= 0 && g.Entries.First == g.Entries.Last:
		s += fmt.Sprintf(" / entry %d", g.Entries.First)
	case g.Entries.First >= 0:
		s += fmt.Sprintf(" / entries %d to %d", g.Entries.First, g.Entries.Last)
	}
	return s
}

// planLines is a plan in words.
func (a *App) planLines(p *prune.Plan, w int) []string {
	b := &textBuilder{a: a, w: w}
	arrow := " " + a.theme.right + " "
	b.heading(fmt.Sprintf("A %s copy of %s", p.Copy, clean(store.Base(a.snap.Dir))))
	b.text("", "to "+shownURI(p.Destination))
	b.text("", p.CopyReason)
	b.text("", fmt.Sprintf("_metadata %s%s%s", model.FormatSize(p.MetadataBytes.Before), arrow, model.FormatSize(p.MetadataBytes.After)))
	if o := p.Object; o != nil {
		b.text("", fmt.Sprintf("%s %s%s%s: the object of high availability, for the old one's place", o.Name, model.FormatSize(o.Bytes.Before), arrow, model.FormatSize(o.Bytes.After)))
	}
	b.text("", filesText(p.Files))
	b.heading("Will be gone")
	for i := range p.Removed {
		b.text(a.theme.mark, a.removedText(&p.Removed[i]))
	}
	b.list("What you lose", "!", p.Losses)
	b.list("Warnings", "!", append(a.plan.sourceWarnings(), p.Warnings...))
	b.list("What Flink does", "", p.Flink)
	b.list("Claim mode", "", []string{p.ClaimMode + ": " + p.ClaimSentence})
	if len(p.Operators) > 0 {
		b.heading("Operators that change")
		for _, o := range p.Operators {
			name := o.Name
			if name == "" {
				name = o.ID
			}
			if o.Gone {
				name += " (gone)"
			}
			s := fmt.Sprintf("%s: _metadata %s%s%s", name, model.FormatSize(o.Metadata.Before), arrow, model.FormatSize(o.Metadata.After))
			if o.Files.Before != o.Files.After {
				s += fmt.Sprintf(", files %s%s%s", model.FormatSize(o.Files.Before), arrow, model.FormatSize(o.Files.After))
			}
			b.text("", s)
		}
	}
	if p.Unneeded.Count > 0 {
		b.heading("Files that the copy does not need")
		b.text("", fmt.Sprintf("%s of the source, %s; others may still need them", plural(int64(p.Unneeded.Count), "file"), model.FormatSize(p.Unneeded.Bytes)))
	}
	return b.lines
}

func filesText(f prune.FileCounts) string {
	var parts []string
	add := func(n int, bytes int64, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", plural(int64(n), "file"), what, model.FormatSize(bytes)))
		}
	}
	add(f.Copied, f.Bytes.Copied, "copied")
	add(f.Rewritten, f.Bytes.Rewritten, "rewritten")
	add(f.Referenced, f.Bytes.Referenced, "referenced where they are")
	if len(parts) == 0 {
		return "no files beside _metadata"
	}
	return strings.Join(parts, ", ")
}

func (a *App) removedText(r *prune.Removed) string {
	parts := []string{a.nameOf(r.Selector)}
	if r.Entries != nil {
		parts = append(parts, plural(*r.Entries, "entry"))
	}
	if r.Bytes.Metadata != nil {
		parts = append(parts, model.FormatSize(*r.Bytes.Metadata)+" of _metadata")
	}
	if r.Bytes.Files != nil && *r.Bytes.Files > 0 {
		parts = append(parts, model.FormatSize(*r.Bytes.Files)+" in files")
	}
	if r.Headers == "kept" {
		parts = append(parts, "its name stays in stream headers")
	}
	if r.Because != "" {
		parts = append(parts, r.Because)
	}
	return strings.Join(parts, ", ")
}

// choiceLines are what can be chosen in the plan, with the keys that do it.
func (a *App) choiceLines(w int) []string {
	b := &textBuilder{a: a, w: w}
	b.heading("Choices")
	onOff := map[bool]string{true: "yes", false: "no"}
	b.text("c", "copy: "+map[prune.CopyKind]string{prune.CopyAuto: "chosen by chkscope", prune.CopyReference: "reference", prune.CopyFull: "full"}[a.plan.copy])
	b.text("a", "accept the losses named above: "+onOff[a.plan.acceptLoss])
	b.text("o", "the job that restores has changelog switched off: "+onOff[a.plan.changelogOff])
	b.text("h", "change no state file, empty names stay: "+onOff[a.plan.keepHeader])
	return b.lines
}

// choice changes something that the plan depends on and plans again.
func (a *App) choice(change func(p *planning)) tea.Cmd {
	change(&a.plan)
	return a.buildPlan(nil)
}

func (a *App) cycleCopy() tea.Cmd {
	return a.choice(func(p *planning) { p.copy = (p.copy + 1) % 3 })
}

func (a *App) toggleAcceptLoss() tea.Cmd {
	return a.choice(func(p *planning) { p.acceptLoss = !p.acceptLoss })
}

func (a *App) toggleChangelogOff() tea.Cmd {
	return a.choice(func(p *planning) { p.changelogOff = !p.changelogOff })
}

func (a *App) toggleKeepHeaders() tea.Cmd {
	return a.choice(func(p *planning) { p.keepHeader = !p.keepHeader })
}

// saveDialog asks for the name of a plan file.
type saveDialog struct {
	page
	field textinput.Model
}

func (a *App) askSavePlan() tea.Cmd {
	if a.plan.plan == nil {
		a.say("there is no plan to save")
		return nil
	}
	d := &saveDialog{field: newField()}
	if name := store.Base(a.snap.Dir); clean(name) == name {
		d.field.SetValue(name + "-plan.json")
	}
	d.field.Focus()
	return a.push(d)
}

func (*saveDialog) at() place  { return inAsk }
func (*saveDialog) band() bool { return true }

func (d *saveDialog) view(a *App, w, h int) ([]string, *tea.Cursor) {
	const label = " file: "
	lines := []string{a.rule("save the plan", "", w), "", label + draw(&d.field, w-len(label)-1), "", " " + a.theme.key.Render("Enter") + " save   " + a.theme.key.Render("Esc") + " leave it", a.rule("", "", w)}
	return lines, tea.NewCursor(len(label)+cursorIn(&d.field), 2)
}

func (d *saveDialog) paste(_ *App, m tea.PasteMsg) { d.field, _ = d.field.Update(m) }

func (d *saveDialog) key(a *App, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch k.String() {
	case "esc", "ctrl+l":
		return nil, false
	case "enter":
		if strings.TrimSpace(d.field.Value()) == "" {
			return nil, true
		}
		a.drop(d)
		return a.savePlan(d.field.Value()), true
	}
	d.field, _ = d.field.Update(k)
	return nil, true
}

// planSavedMsg is the end of saving a plan file.
type planSavedMsg struct {
	job  *job
	path string
	err  error
}

func (a *App) savePlan(path string) tea.Cmd {
	p := a.plan.plan
	if p == nil {
		a.say("the plan has changed meanwhile")
		return nil
	}
	j, ctx := a.begin("saving the plan", "")
	return func() tea.Msg {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			err = errors.Join(p.Save(ctx, f), f.Close())
		}
		return planSavedMsg{j, path, err}
	}
}

func (a *App) planSaved(m planSavedMsg) {
	a.end(m.job)
	if m.err != nil {
		a.fail("the plan was not saved: %v", m.err)
		return
	}
	a.say("saved %s; chkscope prune --plan %s --to URI applies it", m.path, m.path)
}
