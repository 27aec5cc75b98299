package ui

import (
	"context"
	"sync"
	"time"

	"chkscope/model"
	"chkscope/model/failover"
	"chkscope/model/finding"

	tea "charm.land/bubbletea/v2"
)

// App is the one tea.Model. Everything below it is a plain struct with methods.
// Nothing in Update or View reads or writes a file: what takes time is a tea.Cmd
// whose end is a message.
type App struct {
	cfg   Config
	ctx   context.Context // ends with the program
	now   func() time.Time
	later func(time.Duration, tea.Msg) tea.Cmd // a timer
	theme theme
	w, h  int

	snap *model.Snapshot // nil: not open yet
	// pointer led to the object that is open; nil where it was named itself.
	pointer *failover.Pointer
	names   *names
	tree    treeView
	pages   pages
	turned  turned
	moved   bool // a key was pressed: where the cursor is is a person's choice

	found findings
	marks *marking

	notes   notes
	jobs    []*job
	ticking bool
	aging   time.Time

	prompt *prompt   // a line of input at the bottom
	over   []overlay // what lies over the tree, the innermost last

	plan    planning
	writer  writing
	session session
	done    sync.WaitGroup // writes that run
	details detailCache

	openErr  error // why nothing could be opened
	leaving  bool
	printout []string // to be printed after the screen is gone
}

func newApp(ctx context.Context, cfg Config) *App {
	return &App{
		cfg:   cfg,
		ctx:   ctx,
		now:   time.Now,
		later: after,
		theme: newTheme(cfg.ASCII),
		marks: newMarking(),
		tree:  treeView{list: &list{}, anchor: -1, height: 1},
	}
}

// Init begins to open what was named.
func (a *App) Init() tea.Cmd {
	if a.snap != nil {
		return nil
	}
	return tea.Batch(a.open(a.cfg.URI), a.nextNotices(), a.tick())
}

// Update takes one message in.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := a.handle(msg)
	if a.leaving {
		return a, tea.Quit
	}
	cmd = tea.Batch(cmd, a.sync())
	a.layout() // the number of rows may be another one now
	return a, tea.Batch(cmd, a.wantPages(), a.wantDetails(), a.tick(), a.ageTick())
}

func (a *App) handle(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		a.w, a.h = m.Width, m.Height
		a.layout()
	case tea.KeyPressMsg:
		return a.key(m)
	case tea.PasteMsg:
		return a.paste(m)
	case tickMsg:
		a.ticking = false
	case ageMsg:
		if a.aging.Equal(m.of) {
			a.aging = time.Time{}
		}
	case hangupMsg:
		return a.hangup()
	case builtMsg:
		return a.tree.built(m)
	case openedMsg:
		return a.opened(m)
	case pointedMsg:
		return a.pointedChecked(m)
	case noticesMsg:
		return a.noticed(m)
	case headersMsg:
		return a.headersRead(m)
	case findingsMsg:
		return a.findingsMade(m)
	case checkedMsg:
		return a.checked(m)
	case countedMsg:
		return a.counted(m)
	case groupsMsg:
		return a.groupsCame(m)
	case foundKeyMsg:
		return a.foundKey(m)
	case detailsMsg:
		a.details.take(m)
	case pageMsg:
		a.pages.take(m)
	case marksViewMsg:
		a.marks.taken(m)
	case saveDueMsg:
		return a.saveDue(m)
	case savedMsg:
		a.saved(m)
	case savedMarksMsg:
		return a.offerMarks(m)
	case sourcesMsg:
		a.sourcesChecked(m)
	case planMsg:
		return a.planned(m)
	case planSavedMsg:
		a.planSaved(m)
	case writtenMsg:
		return a.written(m)
	}
	return nil
}

// place is where a key goes.
func (a *App) place() place {
	if o := a.top(); o != nil {
		return o.at()
	}
	return inTree
}

// top is the overlay that has the keys, or nil.
func (a *App) top() overlay {
	if len(a.over) == 0 {
		return nil
	}
	return a.over[len(a.over)-1]
}

func (a *App) push(o overlay) tea.Cmd {
	a.over = append(a.over, o)
	a.layout()
	return nil
}

func (a *App) pop() {
	a.over = a.over[:len(a.over)-1]
	a.layout()
}

// drop takes one overlay away, wherever it lies.
func (a *App) drop(o overlay) {
	for i, p := range a.over {
		if p == o {
			a.over = append(a.over[:i:i], a.over[i+1:]...)
			return
		}
	}
}

// key is one key press: first whoever takes text, then the table.
func (a *App) key(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		return a.interrupt()
	}
	if k.String() == "ctrl+z" { // whatever is on the screen
		return a.suspend()
	}
	if a.w < minWidth || a.h < minHeight {
		return nil
	}
	a.notes.keyPressed()
	a.moved = a.moved || a.snap != nil
	if a.prompt != nil && a.top() == nil {
		return a.prompt.key(a, k)
	}
	if o := a.top(); o != nil {
		if cmd, taken := o.key(a, k); taken {
			return cmd
		}
	}
	if b := findBinding(a.place(), k.String(), a.cfg.ReadOnly); b != nil {
		if a.snap == nil && a.place() == inTree && !worksUnopened[k.String()] {
			return nil
		}
		return b(a)
	}
	if a.cfg.ReadOnly && findBinding(a.place(), k.String(), false) != nil {
		a.say("%s would write; --read-only lets no key do that", k.String())
	}
	return nil
}

// worksUnopened are the keys of the tree that work before there is one.
var worksUnopened = map[string]bool{"q": true, "esc": true, "E": true, "?": true, "ctrl+l": true, "ctrl+z": true}

// paste gives pasted text to a field that has the focus, and to nothing else.
func (a *App) paste(m tea.PasteMsg) tea.Cmd {
	if o := a.top(); o != nil {
		o.paste(a, m)
		return nil
	}
	if a.prompt != nil {
		return a.prompt.paste(a, m)
	}
	return nil
}

// openedMsg is the end of opening: a snapshot, perhaps partial (then err is why),
// or nothing.
type openedMsg struct {
	job      *job
	uri      string
	snap     *model.Snapshot
	names    *names
	findings []finding.Finding
	pointer  *failover.Pointer // that led to it, nil for none
	pointed  *failover.Listing // uri is what points to checkpoints
	err      error
}

// show takes a snapshot in.
func (a *App) show(s *model.Snapshot, n *names, found []finding.Finding) tea.Cmd {
	height := a.tree.height
	a.snap, a.names, a.moved = s, n, false
	a.tree = newTreeView(n)
	a.tree.height = height
	a.pages = pages{}
	a.found.set(n, found)
	cmd := tea.Batch(a.settle(), a.marks.look(n))
	a.layout()
	return cmd
}

// settle chooses lens and row for a person who has not chosen yet. What is
// learnt after opening may change them until the first key.
func (a *App) settle() tea.Cmd {
	if a.moved {
		return nil
	}
	a.tree.lens = OpeningLens(a.snap, a.found.list)
	return tea.Batch(a.tree.rebuild(), a.toLargest())
}

// OpeningLens is metadata where `_metadata` is large or a critical finding is
// about it, else state (DESIGN.md, section 3).
func OpeningLens(s *model.Snapshot, found []finding.Finding) model.Lens {
	if s.Meta.In.Size() > 10<<20 {
		return model.LensMetadata
	}
	for i := range found {
		if found[i].Severity == finding.Critical && aboutMetadata(&found[i]) {
			return model.LensMetadata
		}
	}
	return model.LensState
}

// toLargest opens the way to the largest named state and puts the cursor there.
func (a *App) toLargest() tea.Cmd {
	t := a.names.tree
	best, size := model.None, int64(-1)
	for n := model.Root; int(n) < t.Len(); n++ {
		if c := t.Class(n); c == model.ClassState || c == model.ClassMaster {
			if w := a.tree.weight(n); w > size {
				best, size = n, w
			}
		}
	}
	if best == model.None {
		return nil
	}
	return a.tree.reveal(row{best, -1})
}

// sync follows the rows: where they are those of another tree, findings and
// marks are laid over it.
func (a *App) sync() tea.Cmd {
	if a.snap == nil || a.tree.shown.names == a.names {
		return nil
	}
	old := a.names
	a.names = a.tree.shown.names
	for _, o := range a.over {
		if d, ok := o.(*detailPage); ok {
			d.row.node = a.names.same(old, d.row.node)
		}
	}
	a.pages = pages{}
	a.found.place(a.names)
	return tea.Batch(a.settle(), a.marks.look(a.names))
}
