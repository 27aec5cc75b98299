// Package prune turns marks into a pruned copy: marks -> plan -> rewritten
// structures -> written copy -> proof.
//
//   - Build resolves the marked targets against the source's structures, adds
//     what belongs together (ties.go), refuses what Flink would not restore
//     (a *Refusal), edits a copy of the structures (edit.go), rewrites state
//     streams (stream.go, keyed.go), moves the handles to where the copy will have
//     its files (reference.go, full.go) and counts it all up in a Plan.
//   - Plan.Save and Load are the plan file. A loaded plan is built again from the
//     source and must come out the same.
//   - Apply writes the data files, then `_metadata`, reads the copy back, compares
//     it with the source (proof.go), stores the report and gives the Document.
//
// The source is read only. Until `_metadata` has its name Flink sees no
// checkpoint in the destination.
package prune
