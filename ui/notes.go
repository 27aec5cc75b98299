package ui

import (
	"errors"
	"fmt"
	"time"

	"chkscope/decoder"
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
	if len(l.log) >= maxNotes {
		l.log = append(l.log[:0], l.log[len(l.log)-maxNotes/2:]...)
	}
	l.log = append(l.log, n)
	l.current = &l.log[len(l.log)-1]
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
	a.notes.add(note{a.now(), l, clean(text)})
	if a.cfg.Log != nil {
		a.cfg.Log(text)
	}
}
