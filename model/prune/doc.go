// Package prune turns marks into a pruned copy: marks -> plan -> rewritten
// structures -> written copy -> proof.
//
//   - CheckMark refuses at once what can never be removed (check.go).
//   - Build resolves the marked targets against the source's structures
//     (removal.go), adds what belongs together and refuses what Flink would not
//     restore with a *Refusal (ties.go), edits a copy of the structures (edit.go),
//     rewrites state streams (stream.go, keyed.go), moves the handles to where the
//     copy will have its files (relocate.go) and counts it all up in a Plan.
//   - Plan.Save and Load are the plan file. A loaded plan is built again from the
//     source and must come out the same.
//   - Apply writes a marker (marker.go), the data files, `_metadata` (apply.go),
//     reads the copy back and compares it with the source (proof.go, proofcell.go,
//     proofkeyed.go), stores the report (document.go) and removes the marker.
//
// The source is read only. Until `_metadata` has its name Flink sees no
// checkpoint in the destination.
package prune
