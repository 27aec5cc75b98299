package model

import (
	"sync"

	"chkscope/decoder"
	"chkscope/decoder/ha"
	"chkscope/decoder/metadata"
)

// Options are what a user says about a snapshot.
type Options struct {
	// FrameSize is the RPC frame size that restores are measured against, in bytes.
	FrameSize int64
	// SourceURI is how Flink sees the directory of the source; "" where that is
	// how it was opened here.
	SourceURI string
	// UIDs are candidates for operator uids (--uid, --uids).
	UIDs []string
	// OperatorNames by operator id, from a job graph (--job-graph).
	OperatorNames map[metadata.OperatorID]string
	// ReadAtMost is how many bytes of one union list rules read that nobody asked
	// for, of a store that is far away; 0 is all of them.
	ReadAtMost int64
	// Choose: a parent directory with several checkpoints gives *Several in place of
	// the newest.
	Choose bool
	// Looked is told how many of the directories below a parent have been looked
	// into, of how many that are known so far; nil is not told. Calls come from
	// several goroutines, never two at a time.
	Looked func(done, all int)
}

// DefaultFrameSize is akka.framesize and pekko.framesize where nobody sets it.
const DefaultFrameSize = 10485760

// Snapshot is an opened checkpoint or savepoint. Its methods may be called from
// several goroutines.
type Snapshot struct {
	// URI of `_metadata` itself and Dir, the directory it is in: relative handles
	// are found there.
	URI, Dir string
	// Chosen tells why this one was opened where a parent directory was given:
	// one sentence, else "".
	Chosen  string
	Options Options
	Store   Store
	Meta    *metadata.Checkpoint
	// Properties of V4 and later; not Present before.
	Properties metadata.Properties
	// HA is set where a completedCheckpoint object was opened: Meta is then HA.Meta,
	// URI that of the object, and Dir the checkpoint's directory that it names.
	HA *ha.Checkpoint

	object Object // nil: made in memory
	opened *Tree  // that of Open, until ReadHeaders makes another; under known.mu

	uidsOnce sync.Once
	uids     map[metadata.OperatorID]string

	known knowledge

	// The bounds of the handle that was asked for last: its cells are often asked
	// for one after the other.
	boundsMu sync.Mutex
	boundsOf *metadata.OperatorHandle
	bounded  bounds
}

// OperatorDetail is what is known of an operator beside its sizes.
type OperatorDetail struct {
	// StreamHeader is the bytes of operator-state streams that belong to no
	// element: headers and dead bytes; Unknown where extents are not known.
	StreamHeader int64
	// HeaderOnly lists names that stand in stream headers but not in the offsets
	// map, sorted; empty before headers were read.
	HeaderOnly []string
	// ChangelogBytes is the in-memory changelog inside the bookkeeping.
	ChangelogBytes int64
	// KeyedHandles counts managed keyed handles by type byte.
	KeyedHandles map[byte]int
	// AlsoIn names other operators (by index) that name files of this one.
	AlsoIn []int
}

// Close gives the file back.
func (s *Snapshot) Close() error {
	if s.object == nil { // made in memory
		return nil
	}
	return s.object.Close()
}

// Damage is where decoding stopped early, or nil.
func (s *Snapshot) Damage() *decoder.Error { return s.Meta.Damage }

// Kryo5 tells that Kryo wrote its values in version 5: Flink 2.x did, which
// writes metadata version 5 and later.
func (s *Snapshot) Kryo5() bool { return s.Meta.Version >= 5 }
