package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"chkscope/model"

	tea "charm.land/bubbletea/v2"
)

// job is work that runs beside the keys: it counts, the screen looks.
type job struct {
	what      string                  // "reading stream headers"
	unit      string                  // "" bytes, else what is counted
	part      atomic.Pointer[jobPart] // what it is at now, where that is not what and unit
	done, all atomic.Int64
	started   time.Time
	cancel    context.CancelFunc
	// keep: Esc does not end it (a write has a key of its own).
	keep bool
	// lasting: its context goes on after it, for what it opened.
	lasting bool
	// finds: more findings may come when it ends.
	finds bool
	// cancelled by Esc: what it brings yet is not wanted.
	cancelled bool
}

type jobPart struct{ what, unit string }

// turn goes on to another part of the work.
func (j *job) turn(what, unit string) {
	if p := j.part.Load(); p != nil && p.what == what {
		return
	}
	j.progress(0, 0)
	j.part.Store(&jobPart{what, unit})
}

// progress is the function that the work calls.
func (j *job) progress(done, all int64) {
	j.done.Store(done)
	j.all.Store(all)
}

// begin registers a job; its context ends with the program or with Esc.
func (a *App) begin(what, unit string) (*job, context.Context) {
	ctx, cancel := context.WithCancel(a.ctx)
	j := &job{what: what, unit: unit, started: a.now(), cancel: cancel}
	a.jobs = append(a.jobs, j)
	return j, ctx
}

// end takes a job from the list, when its message has come.
func (a *App) end(j *job) {
	if !j.lasting {
		j.cancel()
	}
	a.jobs = slices.DeleteFunc(a.jobs, func(k *job) bool { return k == j })
}

// running is the job that the status line tells of: the newest.
func (a *App) running() *job {
	if len(a.jobs) == 0 {
		return nil
	}
	return a.jobs[len(a.jobs)-1]
}

// cancelJob ends the newest job that Esc may end: one that a person waits for,
// or the search for findings, which goes on by itself.
func (a *App) cancelJob(finds bool) bool {
	for _, j := range slices.Backward(a.jobs) {
		if !j.keep && j.finds == finds {
			j.cancelled = true
			j.cancel()
			a.end(j)
			a.say("%s: cancelled", j.what)
			return true
		}
	}
	return false
}

// describe tells how far a job is: bytes, of how many, rate and time left.
func (j *job) describe(now time.Time, sep string) string {
	done, all := j.done.Load(), j.all.Load()
	what, unit := j.what, j.unit
	if p := j.part.Load(); p != nil {
		what, unit = p.what, p.unit
	}
	parts := []string{what}
	amount := func(n int64) string {
		if unit == "" {
			return model.FormatSize(n)
		}
		return model.FormatCount(n)
	}
	if done > 0 || all > 0 {
		s := amount(done)
		if all > 0 {
			s += " of " + amount(all)
		}
		if unit != "" {
			s += " " + unit
		}
		parts = append(parts, s)
	}
	if spent := now.Sub(j.started).Seconds(); spent >= 1 && done > 0 && unit == "" {
		rate := float64(done) / spent
		parts = append(parts, model.FormatSize(int64(rate))+"/s")
		if all > done && rate > 0 {
			left := time.Duration(float64(all-done) / rate * float64(time.Second))
			parts = append(parts, timeLeft(left))
		}
	}
	return strings.Join(parts, " "+sep+" ")
}

func timeLeft(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s left", int(d.Seconds())+1)
	case d < time.Hour:
		return fmt.Sprintf("%d min left", int(d.Minutes())+1)
	}
	return fmt.Sprintf("%d h %d min left", int(d.Hours()), int(d.Minutes())%60)
}

// Ticks come only while there is something to look at: ten a second beside a
// job, one a minute for the age of an error.
type (
	tickMsg struct{}
	ageMsg  struct{ of time.Time }
)

const (
	tickEvery = 100 * time.Millisecond
	ageEvery  = time.Minute
)

// tick asks for the next tick where none is on its way.
func (a *App) tick() tea.Cmd {
	if a.ticking || len(a.jobs) == 0 && !a.tree.building {
		return nil
	}
	a.ticking = true
	return a.later(tickEvery, tickMsg{})
}

// ageTick asks for one redraw a minute while an error stands on the status line.
func (a *App) ageTick() tea.Cmd {
	n := a.notes.current
	if n == nil || n.level != levelError || a.aging.Equal(n.at) {
		return nil
	}
	a.aging = n.at
	return a.later(ageEvery, ageMsg{n.at})
}

// after is a command whose message comes after a while.
func after(d time.Duration, m tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return m })
}
