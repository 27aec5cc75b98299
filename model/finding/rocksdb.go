package finding

import (
	"fmt"
	"strings"

	"chkscope/decoder/metadata"
	"chkscope/model"
)

// A healthy RocksDB of Flink has SSTs of 64 MB and a few hundred of them.
const (
	sstMany     = 2000
	sstSmall    = 300
	sstMeanSize = 1 << 20
)

var sstExplosion = Rule{
	ID:         "sst-explosion",
	Severities: "warn",
	When:       "one subtask has at least 2,000 SST files, or at least 300 that are smaller than 1 MiB on average",
	Why:        "the deployment message grows with every file, and recovery fails or crawls (FLINK-26050)",
	Thresholds: []Threshold{{"files", sstMany, "SST files of a subtask"}, {"small_files", sstSmall, "SST files of a subtask"}, {"mean", sstMeanSize, "bytes, below which small_files counts"}},
	Evidence:   []Key{{"files", "SST files of the subtask"}, {"bytes", "of them"}, {"mean", "bytes"}, {"subtask", "the one with most files"}, {"subtasks", "how many subtasks are over the threshold"}},
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for op := range r.s.Meta.Operators {
			if f, ok := r.ssts(op); ok {
				out = append(out, f)
			}
		}
		return out, nil
	},
}

func (r *run) ssts(op int) (Finding, bool) {
	o := &r.s.Meta.Operators[op]
	var most, bytes, over int64
	at := int32(-1)
	for k := range o.Subtasks {
		st := o.Subtasks[k].State
		if st == nil || st.ManagedKeyed == nil {
			continue
		}
		n, size := countSSTs(r.s, st.ManagedKeyed)
		if n < sstSmall || n < sstMany && size/n >= sstMeanSize {
			continue
		}
		over++
		if n > most {
			most, bytes, at = n, size, o.Subtasks[k].Index
		}
	}
	if over == 0 {
		return Finding{}, false
	}
	return Finding{
		Severity: Warn, Certainty: Proved, Target: model.OperatorTarget(o.ID),
		Evidence: Evidence{{"files", most}, {"bytes", bytes}, {"mean", bytes / most}, {"subtask", int64(at)}, {"subtasks", over}},
		Cause: fmt.Sprintf("Subtask %d of %s has %s SST files of %s on average.", at, r.operatorName(op),
			model.FormatCount(most), model.FormatSize(bytes/most)),
		Action: "Compaction does not keep up, or the memtables are too small: give RocksDB more managed memory or compaction threads. A canonical savepoint writes the state anew.",
	}, true
}

func countSSTs(s *model.Snapshot, k *metadata.KeyedHandle) (n, bytes int64) {
	if k.Changelog != nil {
		for i := range k.Changelog.Materialized {
			a, b := countSSTs(s, &k.Changelog.Materialized[i])
			n, bytes = n+a, bytes+b
		}
	}
	if k.Incr == nil {
		return n, bytes
	}
	for _, m := range []metadata.FileMap{k.Incr.Shared, k.Incr.Private} {
		// Entries were read once when decoding: errors cannot be new.
		_ = m.Each(s.Meta.In, func(_ int, f metadata.NamedStream) error {
			if strings.HasSuffix(f.Key, ".sst") {
				n++
				bytes += max(f.Stream.Size, 0)
			}
			return nil
		})
	}
	return n, bytes
}

var nativeClaimDefect = Rule{
	ID:         "native-claim-defect",
	Severities: "info",
	When:       "a native RocksDB savepoint: relative handles in the `shared` map of an incremental handle",
	Why:        "FLINK-39964, seen in 1.15 to 2.3: with CLAIM the job runs, but none of its next incremental checkpoints can be restored",
	Evidence:   []Key{{"handles", "incremental handles that have it"}, {"files", "relative files in `shared`"}},
	check: func(r *run) ([]Finding, error) {
		var out []Finding
		for op := range r.s.Meta.Operators {
			handles, files := map[*metadata.KeyedHandle]bool{}, int64(0)
			err := r.s.Meta.EachOperatorStream(op, func(u metadata.StreamUse) error {
				if u.Part == metadata.Shared && u.Stream.Type == metadata.TypeRelativeFile {
					handles[u.Keyed] = true
					files++
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			if files == 0 {
				continue
			}
			out = append(out, Finding{
				Severity: Info, Certainty: Proved, Target: model.OperatorTarget(r.s.Meta.Operators[op].ID),
				Evidence: Evidence{{"handles", int64(len(handles))}, {"files", files}},
				Cause: fmt.Sprintf("%s names its SST files by relative paths in `shared`, as native savepoints do: restored with CLAIM the job runs, but none of its next incremental checkpoints can be restored (FLINK-39964).",
					r.operatorName(op)),
				Action: "Restore it with NO_CLAIM, or make a copy with `chkscope copy`, which cures it.",
			})
		}
		return out, nil
	},
}
