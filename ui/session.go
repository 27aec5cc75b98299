package ui

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chkscope/decoder/metadata"
	"chkscope/model"

	tea "charm.land/bubbletea/v2"
)

// savedMarks is the file of a checkpoint's marks, so that a dropped connection
// loses nothing.
type savedMarks struct {
	Schema      int       `json:"schema"`
	URI         string    `json:"uri"`
	Length      int64     `json:"length"`
	Digest      string    `json:"digest"`
	Saved       time.Time `json:"saved"`
	Destination string    `json:"destination"`
	Marks       []string  `json:"marks"`
}

// marksLimit is the most that a file of marks may have, in bytes.
const marksLimit = 64 << 20

// session is where the marks of the open checkpoint are kept.
type session struct {
	file   string // "": nowhere
	key    savedMarks
	gen    uint64
	stored bool // the file holds marks
	dirty  bool
}

// stateDir is where marks are kept: XDG_STATE_HOME/chkscope.
func stateDir(env func(string) string) string {
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "chkscope")
	}
	if home := env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "chkscope")
	}
	return ""
}

// structureDigest identifies a checkpoint by its structures; contents of arrays
// and blobs are not read.
func structureDigest(m *metadata.Checkpoint) string {
	h := sha256.New()
	num := func(n ...int64) {
		for _, v := range n {
			binary.Write(h, binary.BigEndian, v)
		}
	}
	str := func(s string) { num(int64(len(s))); io.WriteString(h, s) }
	num(int64(m.Version), m.ID, m.In.Size(), m.Header.Len, int64(len(m.Operators)))
	for i := range m.Operators {
		o := &m.Operators[i]
		h.Write(o.ID[:])
		num(int64(o.Parallelism), int64(o.MaxParallelism), int64(o.SubtaskCount), o.Span.Off, o.Span.Len)
		for k := range o.Subtasks {
			s := &o.Subtasks[k]
			num(int64(s.Index), s.Span.Off, s.Span.Len)
			if s.State == nil || s.State.ManagedOperator == nil {
				continue
			}
			str(s.State.ManagedOperator.Delegate.Name)
			for j := range s.State.ManagedOperator.States {
				st := &s.State.ManagedOperator.States[j]
				str(st.Name)
				num(int64(st.Mode), st.Offsets.Len())
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// savedMarksMsg brings the marks that an earlier run left.
type savedMarksMsg struct {
	session session
	found   *savedMarks
	targets []model.Target
	err     error
}

// loadMarks looks for marks of this very checkpoint.
func (a *App) loadMarks() tea.Cmd {
	dir := a.cfg.StateDir
	if dir == "" {
		return nil
	}
	s := a.snap
	return func() tea.Msg {
		key := savedMarks{Schema: 1, URI: s.URI, Length: s.Meta.In.Size(), Digest: structureDigest(s.Meta)}
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s", key.URI, key.Length, key.Digest))
		m := savedMarksMsg{session: session{file: filepath.Join(dir, "marks-"+hex.EncodeToString(sum[:16])+".json"), key: key}}
		m.found, m.targets, m.err = readMarks(m.session.file, key)
		m.session.stored = m.found != nil
		return m
	}
}

func readMarks(file string, key savedMarks) (*savedMarks, []model.Target, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	m := &savedMarks{}
	if err := json.NewDecoder(io.LimitReader(f, marksLimit)).Decode(m); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	if m.URI != key.URI || m.Length != key.Length || m.Digest != key.Digest {
		return nil, nil, nil
	}
	var targets []model.Target
	for _, sel := range m.Marks {
		g, err := model.ParseTarget(sel)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		targets = append(targets, g)
	}
	if len(targets) == 0 {
		return nil, nil, nil
	}
	return m, targets, nil
}

// offerMarks asks whether the marks of an earlier run shall be taken.
func (a *App) offerMarks(m savedMarksMsg) tea.Cmd {
	var cmd tea.Cmd
	dirty := a.session.dirty
	a.session = m.session
	if dirty { // marked before this came
		cmd = a.saveSoon()
	}
	if m.err != nil {
		a.fail("saved marks cannot be read: %v", m.err)
		return cmd
	}
	if m.found == nil || a.marks.set.Len() > 0 {
		return cmd
	}
	var what []string
	for _, sel := range m.found.Marks[:min(3, len(m.found.Marks))] {
		what = append(what, a.nameOf(sel))
	}
	text := fmt.Sprintf("%s saved for this checkpoint on %s: %s", plural(int64(len(m.targets)), "mark"), when(m.found.Saved), strings.Join(what, "; "))
	if more := len(m.found.Marks) - len(what); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	a.push(newAsk(clean(text)+".",
		option{"enter", "take them", func(a *App) tea.Cmd {
			a.plan.destination = m.found.Destination
			a.marks.set.Add(m.targets...)
			a.say("%s taken over; u takes them back", plural(int64(len(m.targets)), "mark"))
			return a.marksChanged()
		}},
		option{"esc", "start without them", nil},
	))
	return cmd
}

// saveDueMsg comes a little after a change of marks, so that a run of changes
// is saved once.
type saveDueMsg struct{ gen uint64 }

type savedMsg struct {
	gen uint64
	err error
}

const saveAfter = 300 * time.Millisecond

func (a *App) saveSoon() tea.Cmd {
	a.session.gen++
	a.session.dirty = true
	return a.later(saveAfter, saveDueMsg{a.session.gen})
}

func (a *App) saveDue(m saveDueMsg) tea.Cmd {
	if m.gen != a.session.gen || a.session.file == "" {
		return nil
	}
	write, gen := a.saver(), m.gen
	return func() tea.Msg { return savedMsg{gen, write()} }
}

func (a *App) saved(m savedMsg) {
	if m.err != nil {
		a.fail("the marks are not saved: %v", m.err)
		return
	}
	if m.gen == a.session.gen {
		a.session.dirty = false
	}
}

// saver gives the function that stores the marks as they are now.
func (a *App) saver() func() error {
	file, doc := a.session.file, a.session.key
	doc.Saved, doc.Destination, doc.Marks = a.now().UTC(), a.plan.destination, []string{}
	for _, g := range a.marks.set.Targets() {
		doc.Marks = append(doc.Marks, g.Selector())
	}
	if file == "" {
		return func() error { return nil }
	}
	return func() error {
		if len(doc.Marks) == 0 {
			err := os.Remove(file)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		return writeMarks(file, doc)
	}
}

// writeMarks replaces the file as one step.
func writeMarks(file string, doc savedMarks) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), "marks-*.tmp")
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(b, '\n'))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
