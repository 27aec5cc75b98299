package failover

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"chkscope/model"
	"chkscope/model/store"
)

// Rules about what Flink restores from.
const (
	RuleDangling  = "ha-dangling"
	RuleStale     = "ha-stale"
	RuleOversized = "ha-oversized"
)

// ConfigMapLimit is the most that Kubernetes stores in a ConfigMap, in bytes;
// ConfigMapWarn is from where on it is told.
const (
	ConfigMapLimit = 1 << 20
	ConfigMapWarn  = ConfigMapLimit * 8 / 10
)

// Problem is what is wrong with an entry, an object or a ConfigMap.
type Problem struct {
	Rule     string
	Critical bool   // else it is a warning
	Where    string // the entry, object or ConfigMap
	Cause    string // one sentence, text not cleaned
	Action   string
	// Differences to `_metadata`, with ha-stale.
	Differences []Difference
	state       string // the word of State, where it is not that the two differ
}

// State is what Check found about an entry or an object, in a word (agrees,
// dangling, differs, or its `_metadata` is missing or unread), and why.
func State(problems []Problem, where string) (word, cause string) {
	for _, p := range problems {
		if p.Where != where {
			continue
		}
		if p.Rule == RuleDangling {
			return "dangling", p.Cause
		}
		if word == "" {
			word, cause = cmp.Or(p.state, "differs"), p.Cause
		}
	}
	if word == "" {
		word = "agrees"
	}
	return word, cause
}

// Check asks for every target, decodes it and compares it with its `_metadata`.
// What has no pointer is looked at by itself.
func (l *Listing) Check(ctx context.Context, st model.Store, opt model.Options) ([]Problem, error) {
	out := l.sizes()
	newest := model.Unknown
	for _, e := range l.Entries {
		switch {
		case e.Err != nil:
			out = append(out, Problem{Rule: RuleDangling, Critical: true, Where: e.Where,
				Cause:  "The pointer cannot be read: " + e.Err.Error() + ".",
				Action: "Flink skips it with a warning and takes an older checkpoint, or none. Take the pointer from a backup."})
			continue
		case e.JobGraph:
			if l.graphs[store.Base(e.Target)] {
				continue
			}
			p, err := missing(ctx, st, e)
			if err != nil {
				return nil, err
			}
			out = append(out, p...)
			continue
		}
		if !e.Marked {
			newest = max(newest, e.Checkpoint)
		}
		list, err := checkObject(ctx, st, e.Where, l.Found(e), e.Checkpoint, opt)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	for _, o := range l.Objects {
		if o.Pointed || o.Kept {
			continue
		}
		list, err := checkObject(ctx, st, o.URI, o.URI, model.Unknown, opt)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	if l.Counter != model.Unknown && newest != model.Unknown && l.Counter <= newest {
		out = append(out, Problem{Rule: RuleStale, Where: "counter", Cause: fmt.Sprintf("The counter says that the next checkpoint is %d, but checkpoint %d is there already.", l.Counter, newest),
			Action: "Set the counter above it: Flink would write a checkpoint of the same number again."})
	}
	return out, nil
}

// Found is where the target of an entry is looked for: an object of that name
// that was listed along, else where Flink sees it.
func (l *Listing) Found(e Entry) string {
	for _, o := range l.Objects {
		if store.Base(o.URI) == store.Base(e.Target) {
			return o.URI
		}
	}
	return e.Target
}

func (l *Listing) sizes() (out []Problem) {
	for name, n := range l.ConfigMaps {
		if n >= ConfigMapWarn {
			out = append(out, Problem{Rule: RuleOversized, Where: name,
				Cause:  fmt.Sprintf("The ConfigMap has %s of the %s that Kubernetes stores.", model.FormatSize(n), model.FormatSize(ConfigMapLimit)),
				Action: "Keep fewer checkpoints (state.checkpoints.num-retained): when it is full no checkpoint completes."})
		}
	}
	return out
}

// missing tells of a job graph that is not there; its contents are not read.
func missing(ctx context.Context, st model.Store, e Entry) ([]Problem, error) {
	_, err := st.Stat(ctx, e.Target)
	if !errors.Is(err, model.ErrNotExist) {
		return nil, ctx.Err()
	}
	return []Problem{{Rule: RuleDangling, Critical: true, Where: e.Where, Cause: fmt.Sprintf("The job graph %s is not there: the job is not recovered.", e.Target),
		Action: "Bring the file back, or remove the entry and submit the job again (found elsewhere: --map FROM=TO)."}}, nil
}

// checkObject opens an object. id is what the pointer says, or Unknown.
func checkObject(ctx context.Context, st model.Store, where, uri string, id int64, opt model.Options) ([]Problem, error) {
	s, _, err := model.Open(ctx, st, uri, opt)
	if s != nil {
		defer s.Close()
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, model.ErrCannotAsk):
		return []Problem{{Rule: RuleDangling, Where: where, Cause: fmt.Sprintf("%s could not be asked for: %v.", uri, err), Action: "Give chkscope access, or say where it is found with --map FROM=TO."}}, nil
	case errors.Is(err, model.ErrNotExist):
		return []Problem{{Rule: RuleDangling, Critical: true, Where: where, Cause: fmt.Sprintf("The object %s is not there: the JobManager does not start.", uri),
			Action: "Bring the file back, or remove the entry where an older one is good (found elsewhere: --map FROM=TO)."}}, nil
	case err != nil:
		return []Problem{{Rule: RuleDangling, Critical: true, Where: where, Cause: fmt.Sprintf("The object %s cannot be read: %v.", uri, err),
			Action: "Flink does not start with it (1.14 and later): put a backup there, or remove the entry."}}, nil
	case s.HA == nil:
		return []Problem{{Rule: RuleDangling, Critical: true, Where: where, Cause: fmt.Sprintf("%s is no completedCheckpoint object.", uri), Action: "Put the right file there."}}, nil
	}
	var out []Problem
	if id != model.Unknown && id != s.Meta.ID {
		out = append(out, Problem{Rule: RuleStale, Critical: true, Where: where, Cause: fmt.Sprintf("The entry is for checkpoint %d, its object holds checkpoint %d.", id, s.Meta.ID),
			Action: "Put the object of that checkpoint there."})
	}
	more, err := CheckMetadata(ctx, s)
	for i := range more {
		more[i].Where = where
	}
	return append(out, more...), err
}

// CheckMetadata compares an opened object with the `_metadata` that it names.
func CheckMetadata(ctx context.Context, object *model.Snapshot) ([]Problem, error) {
	uri := MetadataOf(object)
	m, _, err := model.Open(ctx, object.Store, uri, object.Options)
	if m != nil {
		defer m.Close()
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, model.ErrCannotAsk):
		return []Problem{{Rule: RuleStale, Where: object.URI, state: "unread", Cause: fmt.Sprintf("It could not be compared with its _metadata: %v.", err),
			Action: "Give chkscope access, or say where it is found with --map FROM=TO."}}, nil
	case errors.Is(err, model.ErrNotExist):
		return []Problem{{Rule: RuleStale, Where: object.URI, state: "missing", Cause: fmt.Sprintf("Its _metadata, %s, is not there.", uri),
			Action: "Flink recovers without it, but nobody can restore this checkpoint from its path (found elsewhere: --map FROM=TO)."}}, nil
	case err != nil:
		return []Problem{{Rule: RuleStale, Where: object.URI, state: "unread", Cause: fmt.Sprintf("Its _metadata cannot be read: %v.", err), Action: "Nobody can restore this checkpoint from its path."}}, nil
	}
	list, err := Compare(ctx, object, m)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return []Problem{{Rule: RuleStale, Where: object.URI, Differences: list,
		Cause:  fmt.Sprintf("The object and its _metadata do not hold the same; %s, first: %s.", model.FormatPlural(int64(len(list)), "difference"), list[0]),
		Action: "After a failure Flink restores what the object has, from a path what _metadata has: change both or none."}}, nil
}

// MetadataOf is the URI of the `_metadata` that an object names.
func MetadataOf(object *model.Snapshot) string {
	if h := &object.HA.MetadataHandle; h.Name != "" && store.Base(h.Name) != h.Name {
		return h.Name
	}
	return store.Join(object.Dir, model.MetadataName)
}
