package main

import (
	"context"
	"errors"
	"fmt"

	"chkscope/model"
	"chkscope/model/prune"
)

// Exit codes, as in the README.
const (
	exitOK          = 0
	exitFindings    = 1   // findings at or above --fail-on, problems of verify
	exitUsage       = 2   // wrong use, refused, declined, selector without a match
	exitFailed      = 3   // cannot be read, damaged, write or proof failed
	exitInterrupted = 130 // SIGINT, SIGTERM, SIGHUP
)

// coded is an error that says with which code the program ends. Without a
// message nothing is printed.
type coded struct {
	code int
	err  error
}

func (e *coded) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *coded) Unwrap() error { return e.err }

// usageError is wrong use: its sentence says what to type instead.
func usageError(format string, args ...any) error {
	return &coded{exitUsage, fmt.Errorf(format, args...)}
}

// failed is what could not be read or written.
func failed(err error) error { return &coded{exitFailed, err} }

// exitCode prints what is to be said about err, cleaned, and gives the code.
func (p *program) exitCode(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		p.say("interrupted")
		return exitInterrupted
	}
	if text := err.Error(); text != "" {
		p.say("%s", text)
	}
	var c *coded
	var noMatch *model.NoMatch
	var bad *model.BadSelector
	var refused *prune.Refusal
	switch {
	case errors.As(err, &c):
		return c.code
	case errors.As(err, &noMatch), errors.As(err, &bad), errors.As(err, &refused):
		return exitUsage
	}
	return exitFailed
}

// isNotFound: a definite answer that nothing is at the URI.
func isNotFound(err error) bool { return errors.Is(err, model.ErrNotExist) }
