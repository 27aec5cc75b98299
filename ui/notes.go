package ui

import (
	"errors"
	"fmt"
	"time"

	"chkscope/decoder"

	tea "charm.land/bubbletea/v2"
)

// level is how much a note matters.
type level uint8

const (
	levelInfo level = iota
	levelError
)

// note is something that was said on the status line.
type note struct {
	at    time.Time
	level level
	text  string // clean
	// passing: a storage says it, such as that a request is tried again. Several of
	// the same kind are one note.
	passing bool
	times   int
}

// said is the text with how often it was said.
func (n *note) said() string {
	if n.times > 1 {
		return fmt.Sprintf("%s (%d times)", n.text, n.times)
	}
	return n.text
}

// notes is what the status line says and the log keeps. A notice goes when the
// next key is pressed; an error stays, with its age, until something else is
// said or Esc takes it away.
type notes struct {
	log     []note
	current *note
}

const maxNotes = 1000

func (l *notes) add(n note) {
	if n.passing && l.current != nil && l.current.level == levelError {
		shown := *l.current // what passes does not hide what does not
		defer func() { l.current = &shown }()
	}
	if len(l.log) >= maxNotes {
		l.log = append(l.log[:0], l.log[len(l.log)-maxNotes/2:]...)
	}
	l.log = append(l.log, n)
	l.current = &l.log[len(l.log)-1]
}

// again counts a passing note that was said just before.
func (l *notes) again(text string, at time.Time) bool {
	if len(l.log) == 0 {
		return false
	}
	last := &l.log[len(l.log)-1]
	if !last.passing || last.text != text {
		return false
	}
	last.times, last.at = last.times+1, at
	if l.current == nil {
		l.current = last
	}
	return true
}

// keyPressed takes a notice away.
func (l *notes) keyPressed() {
	if l.current != nil && l.current.level == levelInfo {
		l.current = nil
	}
}

// age is "" within the first minute, so that nothing moves while nobody does
// anything.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return ""
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h ago", int(d.Hours()))
}

// reason is an error as the status line has room for it: what was wrong before
// where it was.
func reason(err error) string {
	var d *decoder.Error
	if !errors.As(err, &d) {
		return err.Error()
	}
	s := fmt.Sprintf("expected %s, found %s (offset %d", d.Expected, d.Found, d.Offset)
	if d.Path != "" {
		s += ", " + d.Path
	}
	return s + ", " + d.File + ")"
}

// say puts a notice on the status line and into the log.
func (a *App) say(format string, args ...any) { a.note(levelInfo, fmt.Sprintf(format, args...)) }

// fail puts an error there.
func (a *App) fail(format string, args ...any) { a.note(levelError, fmt.Sprintf(format, args...)) }

func (a *App) note(l level, text string) {
	a.notes.add(note{at: a.now(), level: l, text: clean(text)})
	if a.cfg.Log != nil {
		a.cfg.Log(text)
	}
}

// noticesMsg brings what a storage said, the oldest first.
type noticesMsg []string

// mostNotices is how many sentences of a storage one message brings: requests
// that fail together say the same.
const mostNotices = 100

// nextNotices waits for what a storage has to say.
func (a *App) nextNotices() tea.Cmd {
	from, ctx := a.cfg.Notices, a.ctx
	if from == nil {
		return nil
	}
	return func() tea.Msg {
		var m noticesMsg
		select {
		case text := <-from:
			m = append(m, text)
		case <-ctx.Done():
			return nil
		}
		for len(m) < mostNotices {
			select {
			case text := <-from:
				m = append(m, text)
			default:
				return m
			}
		}
		return m
	}
}

func (a *App) noticed(m noticesMsg) tea.Cmd {
	for _, text := range m {
		if text = clean(text); !a.notes.again(text, a.now()) {
			a.notes.add(note{at: a.now(), text: text, passing: true, times: 1})
		}
	}
	return a.nextNotices()
}
