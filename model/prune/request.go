package prune

import (
	"fmt"
	"strings"

	"chkscope/model"
	"chkscope/model/failover"
)

// CopyKind is how a copy stands to the source's files.
type CopyKind uint8

const (
	// CopyAuto is full where no file is shared or foreign or where there are
	// changelog handles, else reference.
	CopyAuto CopyKind = iota
	// CopyReference is a new `_metadata` that names the old files by absolute path,
	// and the files that had to change.
	CopyReference
	// CopyFull has every file it needs, by relative path.
	CopyFull
)

// String is the word of --copy and of the plan.
func (k CopyKind) String() string { return [...]string{"auto", "reference", "full"}[k] }

// ParseCopyKind reads the word of --copy; "" is auto.
func ParseCopyKind(s string) (CopyKind, error) {
	switch s {
	case "", "auto":
		return CopyAuto, nil
	case "reference":
		return CopyReference, nil
	case "full":
		return CopyFull, nil
	}
	return 0, fmt.Errorf("a copy is full or reference, not %q", s)
}

// MarshalText and UnmarshalText are for the plan file.
func (k CopyKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (k *CopyKind) UnmarshalText(b []byte) (err error) {
	*k, err = ParseCopyKind(string(b))
	return err
}

// Request is what a person wants. Without targets it is a copy.
type Request struct {
	Targets []model.Target
	// Where is a condition (model/where): of the targets only those entries go for
	// which it holds. TTL is how long state lives, for conditions that ask, Now when
	// that is asked; both in milliseconds.
	Where    string
	TTL, Now int64
	Copy     CopyKind
	// Destination is the URI of the copy's directory.
	Destination string
	// ChangelogOff: the job that restores has changelog switched off.
	ChangelogOff bool
	// AcceptLoss allows removals after which data is lost or read twice.
	AcceptLoss bool
	// KeepHeaders leaves state files alone: a dropped name stays in the headers of
	// streams, empty.
	KeepHeaders bool
	// VerifyCopies reads copied files again.
	VerifyCopies bool
	// Object is the URI of the completedCheckpoint object of the same checkpoint,
	// from which the same goes; "" for none.
	Object string
	// Pointer is what leads Flink to Object, to be written anew; nil for none.
	Pointer *failover.Pointer
}

// Reason is why a request is refused.
type Reason struct {
	Rule     string // a word for programs, e.g. broadcast-in-part
	Selector string // "" where it is about the whole copy
	Sentence string
	Flag     string // the flag that would allow it, "" where none does
}

// Refusal is a request that would lose data, that Flink would not restore, or
// that cannot be done. It holds every reason that was found.
type Refusal struct{ Reasons []Reason }

func (r *Refusal) Error() string {
	var lines []string
	for _, e := range r.Reasons {
		line := e.Sentence
		if e.Selector != "" {
			line = e.Selector + ": " + line
		}
		if e.Flag != "" {
			line += " (" + e.Flag + " allows it)"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func refuse(rule, selector, sentence, flag string) *Refusal {
	return &Refusal{[]Reason{{rule, selector, sentence, flag}}}
}

// refusals collects reasons; no reason is given twice.
type refusals struct {
	list []Reason
	seen map[Reason]bool
}

func (r *refusals) add(rule, selector, sentence, flag string) {
	e := Reason{rule, selector, sentence, flag}
	if r.seen[e] {
		return
	}
	if r.seen == nil {
		r.seen = map[Reason]bool{}
	}
	r.seen[e] = true
	r.list = append(r.list, e)
}

func (r *refusals) err() error {
	if len(r.list) == 0 {
		return nil
	}
	return &Refusal{r.list}
}
