package conformance

// The rows of the matrix: a snapshot and what chkscope removes from it.

// group is a job, the snapshots it leaves, and the edits tried on them.
type group struct {
	name        string
	scenario    string
	options     string // of the job that makes the snapshots, and of the one that restores them
	making      string // of the maker alone
	first, last string // Flink versions that have it, "" where all
	uids        []string
	incident    bool   // made by two jobs: the old consumer's and the new source's
	part        bool   // in the part that CI runs too
	changelog   bool   // needs a claim mode other than NO_CLAIM
	broken      string // this version cannot restore the snapshot as it wrote it
	rows        []row
}

// row is one edit. A fact that matches gone must be empty or missing after it, every other one equal.
type row struct {
	snapshot string                  // checkpoint, canonical or native
	name     string                  // as in the design's table of edits
	drop     []string                // selectors; nothing is `chkscope copy`
	entry    string                  // in place of drop: a single entry, whose key is put into gone
	oneOf    []string                // in place of drop and gone: keyed states of enrich, of which the first goes that can; their order in a stream is another in each JVM
	flags    []string                // more of chkscope's flags
	gone     []string                // regular expressions
	released []string                // operator states that leave the header: gone from `restored` facts and from the copy
	ignore   []string                // prefixes of facts that the edit may change
	expect   func([]string) []string // what becomes of the unedited facts where gone does not say it
	copies   string                  // reference or full; "" leaves the choice to chkscope
	claim    string                  // "" is Flink's default: NO_CLAIM, before 1.15 LEGACY
	restore  string                  // more options of the restoring job
	refused  string                  // chkscope may refuse it with this reason
	fails    string                  // Flink does not restore it and says so; the row shows it
	moved    bool                    // the copy is moved before it is restored
	repairs  bool                    // of streams that are broken the edit is not refused: it writes them anew
	full     bool                    // not in the part that CI runs
	// The job at parallelism 3 leaves a source without a split, which ends it: before 1.15 no checkpoint is taken then.
	first string // first Flink version that has it
}

func drop(selectors ...string) []string { return selectors }

var basicUids = []string{"numbers", "numbers-throttle", "enrich", "buffering", "named", "rules-source", "rules-source-throttle", "with-rules"}

// Facts that belong to states.
var (
	unionFacts  = []string{`^union buffering(#\d+)? union-offsets`}
	enrichFacts = []string{`^(keyed|keys|timer) enrich`}
)

func keyedFacts(uid, state string) []string {
	return []string{`^keyed ` + uid + ` key=\S+ ` + state + `[=\[@]`, `^keys ` + uid + `#\d+ ` + state + `=`}
}

var eventTimers = drop("enrich/keyed/_timer_state%2Fevent_user-timers")

// dropUnion are the edits of a union list, from the half one to the whole.
var dropUnion = row{snapshot: "checkpoint", name: "op-full union-offsets", drop: drop("buffering/operator/union-offsets"), gone: unionFacts, released: drop("union-offsets")}

// with changes a row.
func (r row) with(change func(*row)) row {
	change(&r)
	return r
}

// claims gives a row once for each kind of copy and claim mode that the design recommends.
func claims(r row, reference bool) []row {
	var rows []row
	for _, claim := range []string{"NO_CLAIM", "CLAIM", "LEGACY"} {
		rows = append(rows, r.with(func(r *row) { r.copies, r.claim, r.full = "full", claim, claim == "LEGACY" }))
	}
	if reference {
		rows = append(rows, r.with(func(r *row) { r.copies, r.claim = "reference", "NO_CLAIM" }), r.with(func(r *row) { r.copies, r.claim, r.full = "reference", "LEGACY", true }))
	}
	return rows
}

// inFull leaves rows out of the part that CI runs.
func inFull(rows []row) []row {
	for i := range rows {
		rows[i].full = true
	}
	return rows
}

func join(rows ...[]row) []row {
	var all []row
	for _, r := range rows {
		all = append(all, r...)
	}
	return all
}

// keyedDrops are named keyed states that leave a stream, header included.
func keyedDrops(snapshot string) []row {
	rows := []row{{snapshot: snapshot, name: "keyed-drop event timers", drop: eventTimers, gone: []string{"^timer enrich event"}}}
	for _, state := range []string{"aggregate", "opaque", "order", "per-product", "session-ttl"} {
		rows = append(rows, row{snapshot: snapshot, name: "keyed-drop " + state, drop: drop("enrich/keyed/" + state), gone: keyedFacts("enrich", state), full: state != "order"})
	}
	return append(rows, row{snapshot: snapshot, name: "keyed-drop spaced", drop: drop("named/keyed/spaced"), gone: keyedFacts("named", "spaced")},
		row{snapshot: snapshot, name: "keyed-drop merged-list", drop: drop("named/keyed/merged-list"), gone: keyedFacts("named", "merged-list"), full: true})
}

// noLengths is why a state beside values that Kryo wrote may not leave a heap snapshot.
const noLengths = "heap snapshot records no lengths"

// whereRows take out single entries of a canonical stream by a condition.
func whereRows() []row {
	return []row{
		{snapshot: "canonical", name: "where on values of order", drop: drop("enrich/keyed/order"), flags: where("value.id % 2 == 1 and value.amount > 0"), gone: []string{`^keyed enrich key=\d+ order=(\d*[13579]\||null$)`}, ignore: keyCounts("order")},
		{snapshot: "canonical", name: "where on map keys of per-product", drop: drop("enrich/keyed/per-product"), flags: where(`map_key == "product-3"`), gone: []string{`^keyed enrich key=\d+ per-product\[product-3\]`}},
		{snapshot: "canonical", name: "where on event timers", drop: eventTimers, flags: where("value < 4102444800050"), gone: []string{`^timer enrich event key=\d+ at=41024448000[0-4]\d$`}},
	}
}

func where(condition string) []string { return drop("--where", condition) }

// entryRows take out single entries of keyed state, in canonical streams and in heap snapshots.
func entryRows(snapshot string) []row {
	return []row{
		{snapshot: snapshot, name: "where on a key of all states", drop: drop("named/keyed"), flags: where(`key == "name-2"`), gone: []string{`^keyed named key=name-2 `}},
		{snapshot: snapshot, name: "entry of merged-list", entry: "named/keyed/merged-list/1/1", gone: []string{`^keyed named key=%s merged-list=`}},
	}
}

// keyCounts are facts that change with single entries; the entries have facts of their own.
func keyCounts(state string) []string {
	return drop("keys enrich#0 "+state+"=", "keys enrich#1 "+state+"=")
}

var heapRows = join([]row{
	dropUnion,
	dropUnion.with(func(r *row) { r.name, r.flags, r.released = "op-map union-offsets", drop("--keep-headers"), nil }),
	{snapshot: "checkpoint", full: true, name: "op-full pending-orders", drop: drop("buffering/operator/pending-orders"), gone: []string{`^list buffering#\d+ pending-orders`}, released: drop("pending-orders")},
	{snapshot: "checkpoint", full: true, name: "op-map buffered-elements", drop: drop("buffering/operator/buffered-elements"), flags: drop("--keep-headers"), gone: []string{`^list buffering#\d+ buffered-elements`}},
	{snapshot: "checkpoint", name: "op-full rules", drop: drop("with-rules/operator/rules"), gone: []string{`^broadcast with-rules#\d+ rules`}, released: drop("rules")},
	{snapshot: "checkpoint", full: true, name: "op-map limits", drop: drop("with-rules/operator/limits"), flags: drop("--keep-headers"), gone: []string{`^broadcast with-rules#\d+ limits`}},
	{snapshot: "checkpoint", name: "op-null buffering", drop: drop("buffering/operator"), gone: []string{`^(list|union) buffering`}, released: drop("union-offsets", "pending-orders", "buffered-elements")},
	{snapshot: "checkpoint", name: "elements buffered-elements 2", drop: drop("buffering/operator/buffered-elements/*/2"), gone: []string{`^list buffering#\d+ buffered-elements=\(subtask-\d+-element-2,`}},
	{snapshot: "checkpoint", name: "elements buffered-elements, subtask 0", drop: drop("buffering/operator/buffered-elements/0"), expect: withoutSubtask},
	{snapshot: "checkpoint", name: "union-offsets, subtask 1", drop: drop("buffering/operator/union-offsets/1"), expect: withoutUnionOfSubtask1},
	{snapshot: "checkpoint", name: "operator buffering", drop: drop("buffering"), gone: []string{`^(list|union) buffering`}, released: drop("union-offsets", "pending-orders", "buffered-elements")},
	{snapshot: "checkpoint", name: "operator enrich", drop: drop("enrich"), gone: enrichFacts},
	{snapshot: "checkpoint", name: "operator with-rules", drop: drop("with-rules"), gone: []string{"^broadcast with-rules"}, released: drop("rules", "limits")},
	{snapshot: "checkpoint", full: true, name: "keyed-null enrich", drop: drop("enrich/keyed"), gone: enrichFacts},
	{snapshot: "checkpoint", name: "coordinator numbers", drop: drop("numbers/coordinator"), flags: drop("--accept-loss"), ignore: drop("source numbers")},
	{snapshot: "checkpoint", name: "coordinator and reader state of numbers", drop: drop("numbers/coordinator", "numbers/operator/SourceReaderState"), flags: drop("--accept-loss"), ignore: drop("source numbers")},
	{snapshot: "checkpoint", name: "keyed-drop ttl-list", drop: drop("named/keyed/ttl-list"), gone: keyedFacts("named", "ttl-list"), released: drop("ttl-list")},
	{snapshot: "checkpoint", full: true, name: "keyed-drop null-map", drop: drop("named/keyed/null-map"), gone: keyedFacts("named", "null-map"), released: drop("null-map")},
	{snapshot: "checkpoint", full: true, name: "keyed-drop spaced", drop: drop("named/keyed/spaced"), gone: keyedFacts("named", "spaced"), released: drop("spaced")},
	{snapshot: "checkpoint", name: "keyed-cut a state in front of opaque", oneOf: drop("recent-products", "session-ttl", "per-product", "address", "sum", "tuple", "blob", "level", "last-amount", "aggregate", "click-avro", "history", "order"), refused: noLengths},
	{snapshot: "checkpoint", name: "keyed-drop order", drop: drop("enrich/keyed/order"), gone: keyedFacts("enrich", "order")},
	{snapshot: "checkpoint", full: true, name: "keyed-drop opaque", drop: drop("enrich/keyed/opaque"), gone: keyedFacts("enrich", "opaque")},
	{snapshot: "checkpoint", full: true, name: "where on keys of opaque", drop: drop("enrich/keyed/opaque"), flags: where("key == 5 or key == 3"), gone: []string{`^keyed enrich key=[35] opaque=`}, ignore: keyCounts("opaque")},
	{snapshot: "checkpoint", name: "where on buffered-elements", drop: drop("buffering/operator/buffered-elements"), flags: where("value.f1 == 2"), gone: []string{`^list buffering#\d+ buffered-elements=\(subtask-\d+-element-2,`}},
	{snapshot: "checkpoint", full: true, name: "where on union-offsets", drop: drop("buffering/operator/union-offsets"), flags: where(`value.f0 == "orders-3"`), expect: withoutOrders3},
	{snapshot: "checkpoint", name: "where on entries of limits", drop: drop("with-rules/operator/limits"), flags: where(`map_key == "limit-3"`), gone: []string{`^broadcast with-rules#\d+ limits\[limit-3\]=`}},
	{snapshot: "checkpoint", full: true, name: "entry of rules", entry: "with-rules/operator/rules/0/2", gone: []string{`^broadcast with-rules#\d+ rules\[%s\]=`}},
	{snapshot: "checkpoint", name: "where on namespaces of spaced", drop: drop("named/keyed/spaced"), flags: where(`namespace == "space-a" and key != "name-0"`), gone: []string{`^keyed named key=name-[1-6] spaced@space-a=`}},
	{snapshot: "checkpoint", full: true, name: "where on keys of ttl-map", drop: drop("named/keyed/ttl-map"), flags: where(`key == "name-2"`), gone: []string{`^keyed named key=name-2 ttl-map\[`}},
	{snapshot: "checkpoint", full: true, name: "where on map keys of ttl-map", drop: drop("named/keyed/ttl-map"), flags: where(`map_key == "k1"`), gone: []string{`^keyed named key=\S+ ttl-map\[k1\]=`}},
	{snapshot: "canonical", name: "where enrich key", drop: drop("enrich/keyed"), flags: drop("--where", `key == 3 and not (state contains "timer")`), gone: []string{`^keyed enrich key=3 `}, ignore: drop("keys enrich")},
	{snapshot: "checkpoint", name: "copy", copies: "full"},
	{snapshot: "native", name: "op-full union-offsets", drop: dropUnion.drop, gone: unionFacts, released: drop("union-offsets"), first: "1.15"},
	{snapshot: "canonical", name: "op-full union-offsets", drop: dropUnion.drop, gone: unionFacts, released: drop("union-offsets")},
	{snapshot: "checkpoint", name: "op-full union-offsets, parallelism 3", drop: dropUnion.drop, gone: unionFacts, released: drop("union-offsets"), restore: "parallelism=3", first: "1.15"},
	{snapshot: "canonical", name: "keyed-drop order, parallelism 3", drop: drop("enrich/keyed/order"), gone: keyedFacts("enrich", "order"), restore: "parallelism=3", first: "1.15"},
	{snapshot: "checkpoint", full: true, name: "elements buffered-elements 2, parallelism 3", drop: drop("buffering/operator/buffered-elements/*/2"), gone: []string{`^list buffering#\d+ buffered-elements=\(subtask-\d+-element-2,`}, restore: "parallelism=3", first: "1.15"},
	{snapshot: "checkpoint", name: "op-full union-offsets, job without it", drop: dropUnion.drop, gone: unionFacts, released: drop("union-offsets"), restore: "without=union-offsets"},
}, entryRows("checkpoint"), keyedDrops("canonical"), whereRows(), entryRows("canonical"), claims(dropUnion, true), claims(row{snapshot: "canonical", name: "keyed-drop order", drop: drop("enrich/keyed/order"), gone: keyedFacts("enrich", "order")}, false))

var rocksRows = join([]row{
	dropUnion,
	{snapshot: "checkpoint", name: "operator enrich", drop: drop("enrich"), gone: enrichFacts},
	{snapshot: "checkpoint", name: "keyed-null enrich", drop: drop("enrich/keyed"), gone: enrichFacts},
	{snapshot: "checkpoint", name: "rocks-drop order", drop: drop("enrich/keyed/order"), gone: keyedFacts("enrich", "order"), refused: "RocksDB"},
	{snapshot: "native", name: "copy", copies: "full", claim: "CLAIM", first: "1.15"},
	{snapshot: "native", name: "as Flink wrote it", copies: "none", claim: "CLAIM", first: "1.15", fails: "own checkpoint: .*FileNotFoundException"},
	{snapshot: "checkpoint", name: "copy, parallelism 3", copies: "full", restore: "parallelism=3", first: "1.15"},
	{snapshot: "checkpoint", name: "copy, moved", copies: "full", moved: true},
}, keyedDrops("canonical"), inFull(whereRows()), inFull(entryRows("canonical")), claims(row{snapshot: "checkpoint", name: "copy"}, false), inFull(claims(dropUnion, true)))

// plainRows are named states of a heap checkpoint whose values all have known ends.
func plainRows() []row {
	dropSum := row{snapshot: "checkpoint", name: "keyed-drop sum", drop: drop("enrich/keyed/sum"), gone: keyedFacts("enrich", "sum"), released: drop("sum")}
	rows := []row{
		{snapshot: "checkpoint", name: "keyed-drop processing timers", drop: drop("enrich/keyed/_timer_state%2Fprocessing_user-timers"), gone: []string{"^timer enrich processing"}, released: drop("_timer_state/processing_user-timers")},
		dropSum,
		dropSum.with(func(r *row) { r.name, r.restore = "keyed-drop sum, job without it", "without=opaque,order,history,sum" }),
		{snapshot: "checkpoint", name: "where on map keys of per-product", drop: drop("enrich/keyed/per-product"), flags: where(`map_key == "product-3"`), gone: []string{`^keyed enrich key=\d+ per-product\[product-3\]`}},
		{snapshot: "checkpoint", name: "where on per-product", drop: drop("enrich/keyed/per-product"), flags: where("key in [3, 7]"), gone: []string{`^keyed enrich key=(3|7) per-product\[`}, ignore: keyCounts("per-product")},
		{snapshot: "checkpoint", name: "where on event timers", drop: eventTimers, flags: where("key == 7"), gone: []string{`^timer enrich event key=7 `}},
		{snapshot: "checkpoint", name: "where on session-ttl", drop: drop("enrich/keyed/session-ttl"), flags: where(`value matches "-29[0-4]$"`), gone: []string{`^keyed enrich key=\d+ session-ttl=(session-29[0-4]|null)$`}, ignore: keyCounts("session-ttl")},
	}
	for _, state := range []string{"address", "aggregate", "per-product", "recent-products", "session-ttl"} {
		rows = append(rows, row{snapshot: "checkpoint", name: "keyed-drop " + state, drop: drop("enrich/keyed/" + state), gone: keyedFacts("enrich", state), released: drop(state)})
	}
	return rows
}

// forstRows are those of Flink 2's own fork of RocksDB; it takes no canonical savepoints.
var forstRows = join([]row{
	dropUnion,
	{snapshot: "checkpoint", name: "operator enrich", drop: drop("enrich"), gone: enrichFacts},
	{snapshot: "checkpoint", name: "keyed-null enrich", drop: drop("enrich/keyed"), gone: enrichFacts},
	{snapshot: "checkpoint", name: "copy, moved", copies: "full", moved: true},
}, claims(row{snapshot: "checkpoint", name: "copy"}, true))

var groups = []group{
	{name: "heap", scenario: "basic", making: "upTo=300", options: "keys=12", uids: basicUids, part: true, rows: heapRows},
	{name: "rocks", scenario: "basic", making: "upTo=500 throttle=4000 retained=4 checkpoints=5", options: "keys=12 backend=rocksdb incremental=true", uids: basicUids, part: true, rows: rocksRows},
	{name: "heap-plain", scenario: "basic", making: "upTo=300 checkpoints=2", options: "keys=12 without=opaque,order,history", uids: basicUids, rows: plainRows()},
	{name: "duplicates", scenario: "basic", making: "upTo=100 checkpoints=1 repeat=3", options: "keys=12", uids: basicUids, rows: []row{
		{snapshot: "checkpoint", name: "dedupe union-offsets", drop: drop("buffering/operator/union-offsets/*/duplicates"), expect: dedupedOffsets},
		{snapshot: "checkpoint", name: "dedupe union-offsets, parallelism 3", drop: drop("buffering/operator/union-offsets/*/duplicates"), expect: dedupedOffsets, restore: "parallelism=3", first: "1.15"},
	}},
	{name: "heap-inline", scenario: "basic", making: "upTo=300 threshold=20480 checkpoints=2", options: "keys=12", uids: basicUids, rows: []row{
		dropUnion,
		{snapshot: "checkpoint", name: "op-full rules", drop: drop("with-rules/operator/rules"), gone: []string{`^broadcast with-rules#\d+ rules`}, released: drop("rules")},
		{snapshot: "checkpoint", name: "operator buffering", drop: drop("buffering"), gone: []string{`^(list|union) buffering`}, released: drop("union-offsets", "pending-orders", "buffered-elements")},
		{snapshot: "canonical", name: "keyed-drop null-map", drop: drop("named/keyed/null-map"), gone: keyedFacts("named", "null-map")},
	}},
	{name: "heap-snappy", scenario: "basic", making: "upTo=300 checkpoints=3", options: "keys=12 compression=true", uids: basicUids, broken: "1.18", rows: []row{
		dropUnion.with(func(r *row) { r.repairs = true }),
		dropUnion.with(func(r *row) { r.name, r.flags, r.released = "op-map union-offsets", drop("--keep-headers"), nil }),
		{snapshot: "checkpoint", name: "op-full rules", drop: drop("with-rules/operator/rules"), gone: []string{`^broadcast with-rules#\d+ rules`}, released: drop("rules"), repairs: true},
		{snapshot: "checkpoint", name: "elements buffered-elements 2", drop: drop("buffering/operator/buffered-elements/*/2"), gone: []string{`^list buffering#\d+ buffered-elements=\(subtask-\d+-element-2,`}},
		{snapshot: "canonical", name: "keyed-drop order", drop: drop("enrich/keyed/order"), gone: keyedFacts("enrich", "order"), repairs: true},
		{snapshot: "canonical", name: "keyed-drop merged-list", drop: drop("named/keyed/merged-list"), gone: keyedFacts("named", "merged-list"), repairs: true},
		dropUnion.with(func(r *row) { r.snapshot, r.repairs = "canonical", true }),
		{snapshot: "checkpoint", name: "copy", copies: "full", repairs: true},
		{snapshot: "canonical", name: "copy", copies: "full", repairs: true},
	}},
	{name: "rocks-full", scenario: "basic", making: "upTo=300 checkpoints=2", options: "keys=12 backend=rocksdb incremental=false", uids: basicUids, rows: []row{
		{snapshot: "checkpoint", name: "keyed-drop order", drop: drop("enrich/keyed/order"), gone: keyedFacts("enrich", "order"), refused: "RocksDB"},
		{snapshot: "checkpoint", name: "keyed-drop event timers", drop: eventTimers, gone: []string{"^timer enrich event"}, refused: "RocksDB"},
	}},
	{name: "rocks-heaptimers", scenario: "basic", making: "upTo=300 checkpoints=3", options: "keys=12 backend=rocksdb incremental=true timers=heap", uids: basicUids, rows: []row{
		{snapshot: "checkpoint", name: "raw-keyed enrich", drop: drop("enrich/raw-keyed"), gone: []string{"^timer enrich"}},
		{snapshot: "checkpoint", name: "keyed-null enrich, its timers with it", drop: drop("enrich/keyed"), gone: enrichFacts},
		{snapshot: "checkpoint", name: "copy", copies: "full", claim: "CLAIM", first: "1.15"},
	}},
	{name: "forst", scenario: "basic", making: "upTo=300 checkpoints=4 savepoints=false", options: "keys=12 backend=forst incremental=true", first: "2.3", uids: basicUids, rows: forstRows},
	{name: "rocks-maxpar300", scenario: "basic", making: "upTo=300 checkpoints=2", options: "keys=12 backend=rocksdb incremental=true maxParallelism=300", uids: basicUids, rows: []row{
		{snapshot: "canonical", name: "keyed-drop order", drop: drop("enrich/keyed/order"), gone: keyedFacts("enrich", "order")},
		{snapshot: "canonical", name: "keyed-drop merged-list", drop: drop("named/keyed/merged-list"), gone: keyedFacts("named", "merged-list")},
	}},
	{name: "unaligned", scenario: "unaligned", making: "checkpoints=3 slow=8000", options: "keys=12 unaligned=true", uids: drop("numbers", "slow", "enrich"), part: true, rows: join([]row{
		{snapshot: "checkpoint", name: "channels", drop: drop("*/in-flight"), gone: []string{"^inflight "}},
		{snapshot: "checkpoint", name: "keyed-null enrich", drop: drop("enrich/keyed"), gone: enrichFacts},
		{snapshot: "checkpoint", name: "coordinator numbers", drop: drop("numbers/coordinator"), flags: drop("--accept-loss"), ignore: drop("source numbers")},
	}, claims(row{snapshot: "checkpoint", name: "copy"}, false))},
	{name: "finished", scenario: "basic", making: "upTo=300 checkpoints=4", options: "keys=12 finish=true", first: "1.15", uids: basicUids, rows: []row{
		dropUnion,
		{snapshot: "checkpoint", name: "op-full rules", drop: drop("with-rules/operator/rules"), gone: []string{`^broadcast with-rules#\d+ rules`}, released: drop("rules")},
		{snapshot: "checkpoint", name: "operator rules-source (finished)", drop: drop("rules-source"), refused: "finished"},
	}},
	{name: "multi", scenario: "multi", making: "upTo=300 checkpoints=2", options: "keys=12", uids: drop("step-1", "step-2", "step-4", "step-5", "step-6", "step-8", "enrich-a", "enrich-b"), rows: []row{
		{snapshot: "checkpoint", name: "op-full step-6-state", drop: drop("step-6/operator/step-6-state"), gone: []string{"^union step-6#"}, released: drop("step-6-state")},
		{snapshot: "checkpoint", name: "operator enrich-a", drop: drop("enrich-a"), gone: []string{"^(keyed|keys|timer) enrich-a"}},
		{snapshot: "checkpoint", name: "operator step-2", drop: drop("step-2"), gone: []string{"^list step-2#"}, released: drop("step-2-state")},
		{snapshot: "checkpoint", name: "op-full of an operator without uid", drop: drop("*/operator/step-3-state"), gone: []string{"^union step-3#"}, released: drop("step-3-state")},
	}},
	{name: "changelog-heap", scenario: "basic", making: "upTo=300 checkpoints=5", options: "keys=12 changelog=true", first: "1.15", uids: basicUids, changelog: true, rows: changelogRows},
	{name: "changelog-rocks", scenario: "basic", making: "upTo=300 checkpoints=5", options: "keys=12 changelog=true backend=rocksdb incremental=true", first: "1.15", uids: basicUids, changelog: true, rows: changelogRows},
	{name: "changelog-large", scenario: "basic", making: "upTo=6000 throttle=100 checkpoints=5 materialize=1h", options: "keys=12 changelog=true", first: "1.15", uids: basicUids, changelog: true, rows: []row{
		// Too much for _metadata: the copy's files are named by absolute paths.
		{snapshot: "checkpoint", name: "copy", copies: "full", claim: "CLAIM"},
	}},
	{name: "filemerging-heap", scenario: "basic", making: "upTo=300 checkpoints=3", options: "keys=12 filemerging=true", first: "1.20", uids: basicUids, part: true, rows: mergedRows},
	{name: "filemerging-rocks", scenario: "basic", making: "upTo=300 checkpoints=4", options: "keys=12 filemerging=true backend=rocksdb incremental=true", first: "1.20", uids: basicUids, rows: mergedRows},
	{name: "legacy", scenario: "legacy", making: "checkpoints=1", options: "parallelism=3", last: "1.20", uids: drop("ticks", "orders-source"), rows: []row{
		// No other state is in the stream: with its last name gone from the map the handle goes too, and the header with it.
		{snapshot: "checkpoint", name: "op-map " + legacyList, drop: drop("orders-source/operator/" + legacyList), flags: drop("--keep-headers"), gone: []string{"^union orders-source"}, released: drop(legacyList)},
		{snapshot: "checkpoint", name: "op-full " + legacyList, drop: drop("orders-source/operator/" + legacyList), gone: []string{"^union orders-source"}, released: drop(legacyList)},
	}},
	// A real broker: only Flink 1.15 has one here.
	{name: "kafka", scenario: "kafka", making: "checkpoints=5", options: "keys=12", first: "1.15", last: "1.15", uids: drop("orders-source", "enrich"), rows: []row{
		{snapshot: "checkpoint", name: "where on a topic of a source, job without it", drop: drop("orders-source"), flags: where(`topic == "payments"`), gone: []string{"^source orders-source payments-"}, restore: "topics=orders"},
		// What the job still subscribes to comes back as new, and is read from its start.
		{snapshot: "checkpoint", name: "where on a topic of a source", drop: drop("orders-source"), flags: where(`topic == "payments"`), expect: func(facts []string) []string { return fromStart(facts, "payments-") }},
		{snapshot: "checkpoint", name: "where on a partition of a source", drop: drop("orders-source/coordinator"), flags: where(`topic == "orders" and partition == 2`), expect: func(facts []string) []string { return fromStart(facts, "orders-2 ") }},
	}},
	{name: "incident", scenario: "legacy", options: "parallelism=3 ignore=true", last: "1.20", incident: true, uids: drop("orders-source", "enrich"), part: true, rows: []row{
		{snapshot: "checkpoint", name: "dedupe " + legacyList, drop: drop("orders-source/operator/" + legacyList + "/*/duplicates"), expect: deduped},
		{snapshot: "checkpoint", name: "where on the topic of " + legacyList, drop: drop("orders-source/operator/" + legacyList), flags: where(`topic == "refunds"`), expect: withoutRefunds},
		{snapshot: "checkpoint", name: "op-full " + legacyList, drop: drop("orders-source/operator/" + legacyList), gone: []string{"^union orders-source"}, released: drop(legacyList)},
		{snapshot: "checkpoint", name: "op-map " + legacyList, drop: drop("orders-source/operator/" + legacyList), flags: drop("--keep-headers"), gone: []string{"^union orders-source"}},
		{snapshot: "checkpoint", name: "coordinator orders-source", drop: drop("orders-source/coordinator"), flags: drop("--accept-loss")},
	}},
}

var changelogRows = []row{
	dropUnion,
	{snapshot: "checkpoint", name: "keyed-null enrich", drop: drop("enrich/keyed"), gone: enrichFacts},
	{snapshot: "checkpoint", name: "operator enrich", drop: drop("enrich"), gone: enrichFacts},
	{snapshot: "checkpoint", name: "copy", copies: "full", claim: "CLAIM", first: "1.15"},
	{snapshot: "checkpoint", name: "copy, moved", copies: "full", moved: true, claim: "CLAIM", first: "1.15"}, // small: all of it is in _metadata
	{snapshot: "checkpoint", name: "copy", copies: "full", claim: "LEGACY"},
	{snapshot: "checkpoint", name: "copy --changelog-off", copies: "full", flags: drop("--changelog-off"), claim: "NO_CLAIM", restore: "changelog=false", first: "1.18"},
}

var mergedRows = join([]row{
	dropUnion,
	dropUnion.with(func(r *row) { r.name, r.flags, r.released = "op-map union-offsets", drop("--keep-headers"), nil }),
	{snapshot: "checkpoint", name: "op-full rules", drop: drop("with-rules/operator/rules"), gone: []string{`^broadcast with-rules#\d+ rules`}, released: drop("rules")},
	{snapshot: "checkpoint", name: "operator buffering", drop: drop("buffering"), gone: []string{`^(list|union) buffering`}, released: drop("union-offsets", "pending-orders", "buffered-elements")},
	{snapshot: "checkpoint", name: "copy, job without file merging", copies: "full", restore: "filemerging=false"},
	{snapshot: "checkpoint", name: "copy, moved", copies: "full", moved: true},
}, claims(row{snapshot: "checkpoint", name: "copy"}, false), []row{dropUnion.with(func(r *row) { r.copies, r.claim = "reference", "NO_CLAIM" })})
