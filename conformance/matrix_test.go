package conformance

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestMatrix edits snapshots of every Flink version with chkscope and lets that Flink restore them. See row.
func TestMatrix(t *testing.T) {
	columns := versions
	switch extent {
	case "full":
	case "part":
		columns = []string{"1.13", "1.20", "2.3"}
	default:
		t.Skip("the matrix of Flink versions and edits runs with CHKSCOPE_CONFORMANCE=part (under 10 minutes) or full (under 40)")
	}
	results := table{}
	turns := make(chan struct{}, 2) // two groups at a time, each with a JVM of its own
	var adding sync.Mutex
	for _, minor := range columns {
		t.Run(minor, func(t *testing.T) {
			for _, g := range groups {
				if extent == "part" && !g.part || !g.has(minor) {
					continue
				}
				t.Run(g.name, func(t *testing.T) {
					t.Parallel()
					turns <- struct{}{}
					defer func() { <-turns }()
					g.run(t, minor, func(r row, c cell) {
						adding.Lock()
						defer adding.Unlock()
						results.add(minor, g, r, c)
					})
				})
			}
		})
	}
	if extent == "full" {
		results.write(t)
	}
}

// has says whether a version of Flink makes such snapshots.
func (g group) has(minor string) bool {
	return !before(minor, g.first) && (g.last == "" || !before(g.last, minor))
}

// has says whether a version of Flink has the row's claim mode and snapshot.
func (r row) has(minor string) bool {
	switch {
	case before(minor, r.first):
		return false
	case r.claim == "LEGACY":
		return before(minor, "2.0")
	}
	return r.claim == "" || !before(minor, "1.15")
}

// before compares minor versions; "" is before all.
func before(a, b string) bool {
	var a1, a2, b1, b2 int
	fmt.Sscanf(a, "%d.%d", &a1, &a2)
	fmt.Sscanf(b, "%d.%d", &b1, &b2)
	return a1 < b1 || a1 == b1 && a2 < b2
}

// bench is a group with its snapshots made by one Flink version.
type bench struct {
	group
	flink     *flink
	home      string            // everything that the job left
	snapshots map[string]string // by kind
	unedited  map[string]restored
	sound     map[string]string // in place of snapshots that this version cannot restore: what they should have been
}

// broken: this version cannot restore its own snapshots.
func (b *bench) broken() bool { return b.group.broken == b.flink.minor }

func (g group) run(t *testing.T, minor string, add func(row, cell)) {
	f := start(t, minor, "")
	b := &bench{group: g, flink: f, home: filepath.Join(t.TempDir(), "source"), unedited: map[string]restored{}}
	b.make(t)
	for _, r := range g.rows {
		if !r.has(minor) || extent == "part" && r.full {
			continue
		}
		// The name is in the names of directories, and Flink takes a comma as the end of one.
		t.Run(strings.NewReplacer(", ", "_", " ", "_").Replace(r.title()), func(t *testing.T) {
			c := cell{Result: "fails"}
			defer func() { add(r, c) }()
			if b.broken() {
				r.ignore = drop("keyed ", "keys ", "timer ", "source ") // of another run
				if !r.repairs {
					r.refused = "same offset|one offset for all elements"
				}
			}
			c = b.try(t, r)
			if c.Result != "ok" && !c.expected {
				t.Errorf("%s: %s", c.Result, c.Why)
			}
		})
	}
}

// title is the name of a row below its group's.
func (r row) title() string {
	s := r.snapshot + " " + r.name
	if r.copies == "full" || r.copies == "reference" {
		s += ", " + r.copies
	}
	if r.claim != "" {
		s += ", " + r.claim
	}
	return s
}

func (b *bench) make(t *testing.T) {
	t.Helper()
	if b.incident {
		b.makeIncident(t)
		return
	}
	wanted := slices.ContainsFunc(b.rows, func(r row) bool { return r.snapshot != "checkpoint" })
	s := b.flink.make(t, b.scenario, b.home, append(strings.Fields(b.making+" "+b.options), fmt.Sprint("savepoints=", wanted))...)
	b.snapshots = s.byKind()
	b.sound = b.snapshots
	if b.broken() {
		b.sound = b.flink.make(t, b.scenario, b.home+"-sound", append(strings.Fields(b.making+" "+b.options), "compression=false")...).byKind()
	}
}

func (s snapshots) byKind() map[string]string {
	return map[string]string{"checkpoint": s.checkpoints[len(s.checkpoints)-1], "canonical": s.canonical, "native": s.native}
}

// makeIncident lets the old consumer leave its union list, and the new source multiply it in two restores.
func (b *bench) makeIncident(t *testing.T) {
	t.Helper()
	s := b.flink.make(t, "legacy", filepath.Join(b.home, "0"), "parallelism=3", "checkpoints=1", "savepoints=false")
	for _, dir := range []string{"1", "2"} {
		from := s.checkpoints[len(s.checkpoints)-1]
		s = b.flink.make(t, "migrated", filepath.Join(b.home, dir), "parallelism=3", "upTo=100", "keys=12", "checkpoints=2", "savepoints=false", "ignore=true", "from="+from)
	}
	b.snapshots = s.byKind()
	b.sound = b.snapshots
}

// reference is what Flink reads from the unedited snapshot.
func (b *bench) reference(t *testing.T, r row) restored {
	t.Helper()
	options := b.restoreOptions(r)
	key := r.snapshot + " " + strings.Join(options, " ")
	if _, known := b.unedited[key]; !known {
		u, err := b.flink.restore(b.scenario, b.sound[r.snapshot], t.TempDir(), options...)
		if err != nil {
			t.Fatalf("the unedited snapshot: %v", err)
		}
		b.unedited[key] = u
	}
	return b.unedited[key]
}

// restoreOptions are those of the restoring job but for the claim mode, except where the default does not work.
func (b *bench) restoreOptions(r row) []string {
	options := strings.Fields(b.options + " " + r.restore)
	if b.broken() {
		options = append(options, "compression=false")
	}
	if b.changelog && r.claim == "" {
		return append(options, "claim="+map[bool]string{true: "LEGACY", false: "CLAIM"}[before(b.flink.minor, "2.0")], "retained=99")
	}
	if b.changelog && r.claim == "NO_CLAIM" {
		return append(options, "claim=NO_CLAIM")
	}
	if b.changelog {
		return append(options, "claim="+r.claim, "retained=99")
	}
	return options
}

// cell is one place of the table.
type cell struct {
	Result   string // ok, refused, fails
	Why      string `json:",omitempty"`
	expected bool   // not ok, and known to be so
}

func (r row) refusal(why string) cell {
	return cell{"refused", clean(why), r.refused != "" && regexp.MustCompile(r.refused).MatchString(why)}
}

func (r row) failure(format string, args ...any) cell {
	why := fmt.Sprintf(format, args...)
	return cell{"fails", clean(why), r.fails != "" && regexp.MustCompile(r.fails).MatchString(why)}
}

// try edits, restores, compares, and restores the restored job's own checkpoint.
func (b *bench) try(t *testing.T, r row) cell {
	r = b.chosen(t, r)
	want := b.reference(t, r)
	source := files(t, b.home)
	copied, kind, refused := b.edit(t, r)
	if refused != nil {
		return *refused
	}
	if left := b.stillNamed(t, r, copied); left != "" {
		return r.failure("Flink's loader still sees %s in the copy", left)
	}
	options := b.restoreOptions(r)
	if r.claim != "" {
		options = append(options, "claim="+r.claim, "retained=1", "after=3")
	}
	defer b.unhide(t)
	switch {
	case kind == "full":
		b.hide(t)
	case kind == "reference" && (r.claim == "NO_CLAIM" || r.claim == "" && !b.changelog && !before(b.flink.minor, "1.15")):
		options = append(options, "hide="+b.home)
	}
	got, err := b.flink.restore(b.scenario, copied, t.TempDir(), options...)
	if err != nil {
		return r.failure("%v", err)
	}
	if d := r.compare(want.facts, got.facts); d != nil {
		return r.failure("facts differ: %s", strings.Join(d, "; "))
	}
	again, err := b.flink.restore(b.scenario, got.checkpoint, t.TempDir(), b.restoreOptions(r)...)
	if err != nil {
		return r.failure("own checkpoint: %v", err)
	}
	changing := []string{}
	if r.released != nil {
		changing = append(changing, "restored ") // the job registers the name again
	}
	if d := diff(without(lasting(got.facts), changing...), without(lasting(again.facts), changing...)); d != nil {
		return r.failure("own checkpoint differs: %s", strings.Join(d, "; "))
	}
	if n := r.comesBack(b.flink.names(t, got.checkpoint)); n != "" {
		return r.failure("%s comes back in the job's own checkpoint", n)
	}
	b.unhide(t)
	if d := diff(source, files(t, b.home)); d != nil {
		return r.failure("the source changed: %s", strings.Join(d, "; "))
	}
	return cell{Result: "ok"}
}

// chosen settles which state of oneOf goes, and what the key of an entry is.
func (b *bench) chosen(t *testing.T, r row) row {
	t.Helper()
	if r.entry != "" {
		r.drop, r.gone = drop(r.entry), drop(fmt.Sprintf(r.gone[0], b.keyOf(t, r)))
	}
	for _, state := range r.oneOf {
		r.drop, r.gone = drop("enrich/keyed/"+state), keyedFacts("enrich", state)
		if o := chkscope(t, append(b.arguments(r), "--to", filepath.Join(t.TempDir(), "copy"), "--dry-run")...); o.code == 0 {
			break
		}
	}
	return r
}

// keyOf is the key of a row's entry, as `chkscope export` tells it: of the map in broadcast state, else of keyed state.
func (b *bench) keyOf(t *testing.T, r row) string {
	t.Helper()
	args := append([]string{"export"}, b.arguments(r)[1:]...)
	o := chkscope(t, slices.Insert(args, 2, r.entry)...)
	var entry struct {
		Key    any
		MapKey any `json:"map_key"`
	}
	if err := json.Unmarshal([]byte(o.stdout), &entry); err != nil {
		t.Fatalf("export %s: %v\n%s%s", r.entry, err, o.stdout, o.stderr)
	}
	if entry.MapKey != nil {
		return fmt.Sprint(entry.MapKey)
	}
	return fmt.Sprint(entry.Key)
}

// arguments are those of chkscope but for the copy's kind and place.
func (b *bench) arguments(r row) []string {
	args := []string{"copy", b.snapshots[r.snapshot]}
	if r.drop != nil {
		args[0] = "prune"
	}
	return append(args, r.selects(b.uids)...)
}

// selects are the flags that tell chkscope what goes, and the uids by which it is named.
func (r row) selects(uids []string) (flags []string) {
	for _, s := range r.drop {
		flags = append(flags, "--drop", s)
	}
	for _, u := range uids {
		flags = append(flags, "--uid", u)
	}
	return flags
}

// edit lets chkscope write the copy. It gives its path and kind, or why it was refused.
func (b *bench) edit(t *testing.T, r row) (string, string, *cell) {
	t.Helper()
	if r.copies == "none" {
		to := filepath.Join(t.TempDir(), "moved")
		copyTree(t, b.snapshots[r.snapshot], to)
		return to, "", nil
	}
	to := filepath.Join(t.TempDir(), "copy")
	args := b.arguments(r)
	if r.copies != "" {
		args = append(args, "--copy", r.copies)
	}
	o := chkscope(t, append(append(args, r.flags...), "--to", to, "--yes", "--json")...)
	switch o.code {
	case 0:
	case 2:
		c := r.refusal(strings.TrimSpace(o.stderr))
		return "", "", &c
	default:
		c := r.failure("chkscope %s: exit %d: %s", args[0], o.code, strings.TrimSpace(o.stderr))
		return "", "", &c
	}
	var document struct {
		Copy    string
		Written bool
		Proof   struct{ OK bool }
	}
	if err := json.Unmarshal([]byte(o.stdout), &document); err != nil || !document.Written || !document.Proof.OK {
		t.Fatalf("chkscope %s: %v\n%s", args[0], err, o.stdout)
	}
	if r.copies != "" && r.copies != document.Copy {
		t.Fatalf("asked for a %s copy, got a %s one", r.copies, document.Copy)
	}
	if r.moved {
		from := to
		to = filepath.Join(t.TempDir(), "moved")
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	return to, document.Copy, nil
}

// stillNamed gives a released name that Flink's own loader or header readers see in the copy.
func (b *bench) stillNamed(t *testing.T, r row, copied string) string {
	t.Helper()
	if r.released == nil {
		return ""
	}
	for _, line := range b.flink.names(t, copied) {
		for _, name := range r.released {
			if slices.Contains(strings.Fields(line), name) {
				return line
			}
		}
	}
	return ""
}

// comesBack gives a line on a released name that the restoring job did not register but that its checkpoint holds.
func (r row) comesBack(names []string) string {
	for _, n := range r.released {
		for _, line := range names {
			if strings.Contains(r.restore, "without="+n) && slices.Contains(strings.Fields(line), n) {
				return line
			}
		}
	}
	return ""
}

// hide renames the source away, unhide brings it back; Flink may have renamed it too, by the option hide.
func (b *bench) hide(t *testing.T) {
	t.Helper()
	if err := os.Rename(b.home, b.home+".hidden"); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) unhide(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(b.home + ".hidden"); err != nil {
		return
	}
	if err := os.Rename(b.home+".hidden", b.home); err != nil {
		t.Fatal(err)
	}
}

// files lists a tree with lengths.
func files(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		i, err := d.Info()
		all = append(all, fmt.Sprintf("%s %d", p, i.Size()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	emptyFact    = regexp.MustCompile(`=(null|0|\[\])$`)
	restoredFact = regexp.MustCompile(`^(restored \S+ \S+ names )\[(.*)\]$`)
)

// compare gives what is not as it should be after the edit.
func (r row) compare(unedited, got []string) []string {
	want := unedited
	if r.expect != nil {
		want = r.expect(unedited)
	}
	return diff(r.judged(want, false), r.judged(got, true))
}

// judged leaves out what the edit removes, of the edited facts only what is empty, and what it may change.
func (r row) judged(facts []string, edited bool) []string {
	var kept []string
	for _, f := range without(facts, append(r.ignore, "…")...) {
		gone := slices.ContainsFunc(r.gone, func(p string) bool { return regexp.MustCompile(p).MatchString(f) })
		if gone && (!edited || emptyFact.MatchString(f)) {
			continue
		}
		if m := restoredFact.FindStringSubmatch(f); m != nil && !edited {
			names := slices.DeleteFunc(strings.Split(m[2], ", "), func(n string) bool { return slices.Contains(r.released, n) })
			f = m[1] + "[" + strings.Join(names, ", ") + "]"
		}
		kept = append(kept, f)
	}
	return kept
}

// withoutSubtask: the elements of the dropped subtask are gone, wherever Flink puts the others.
func withoutSubtask(facts []string) []string {
	return slices.DeleteFunc(slices.Clone(facts), func(f string) bool { return strings.Contains(f, "buffered-elements=(subtask-0-") })
}

// withoutUnionOfSubtask1: every subtask gets what is left, the elements with even numbers.
func withoutUnionOfSubtask1(facts []string) []string {
	odd := regexp.MustCompile(`^union buffering union-offsets=\(orders-\d*[13579],`)
	var kept []string
	for _, f := range facts {
		if !odd.MatchString(f) {
			kept = append(kept, recount(f, 7, 4))
		}
	}
	return kept
}

// deduped: 72 elements of 8 partitions become the 8 different ones.
func deduped(facts []string) []string { return once(facts, 72, 8) }

// dedupedOffsets: 21 elements become the 7 different ones.
func dedupedOffsets(facts []string) []string { return once(facts, 21, 7) }

// once leaves each element of union lists once, and says so in their counts.
func once(facts []string, before, after int) []string {
	var kept []string
	for _, f := range facts {
		if !strings.HasPrefix(f, "union ") || !slices.Contains(kept, f) {
			kept = append(kept, recount(f, before, after))
		}
	}
	return kept
}

// withoutOrders3: one element of 7 goes.
func withoutOrders3(facts []string) []string {
	return withoutElements(facts, "union buffering union-offsets=(orders-3,", 7, 6)
}

// fromStart: partitions are read from their first offset.
func fromStart(facts []string, partitions string) []string {
	first := regexp.MustCompile("^(source orders-source " + partitions + ".*first=)\\d+$")
	var all []string
	for _, f := range facts {
		all = append(all, first.ReplaceAllString(f, "${1}0"))
	}
	return all
}

// withoutRefunds: of the 72 elements those of 2 of the 8 partitions go.
func withoutRefunds(facts []string) []string {
	return withoutElements(facts, "union orders-source "+legacyList+"=(KafkaTopicPartition{topic='refunds'", 72, 54)
}

func withoutElements(facts []string, prefix string, before, after int) []string {
	var kept []string
	for _, f := range without(facts, prefix) {
		kept = append(kept, recount(f, before, after))
	}
	return kept
}

func recount(fact string, before, after int) string {
	if strings.HasPrefix(fact, "union ") {
		return strings.Replace(fact, fmt.Sprint(" count=", before), fmt.Sprint(" count=", after), 1)
	}
	return fact
}
