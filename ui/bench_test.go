package ui

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"chkscope/model"

	tea "charm.land/bubbletea/v2"
)

// million is a tree of more than 1,000,000 rows: 100 operators, 10 states each,
// 1,000 subtasks. It is made once.
var million = sync.OnceValue(func() func(testing.TB) *tester {
	var st model.WriteStore
	return func(t testing.TB) *tester {
		if st == nil {
			st = synthetic(t, wideCheckpoint(100, 10, 1000))
		}
		x := newTester(t, st, syntheticDir, 80, 24)
		for n := model.Root; int(n) < x.names.tree.Len(); n++ {
			if x.names.tree.Class(n) != model.ClassCell {
				x.tree.open.set(n)
			}
		}
		x.run(x.tree.rebuild())
		if n := x.tree.list.total(); n < 1_000_000 {
			t.Fatalf("%d rows", n)
		}
		return x
	}
})

// key is Update and View for one key; what the key starts runs elsewhere.
func (x *tester) key1(k tea.KeyPressMsg) tea.Cmd {
	_, cmd := x.Update(k)
	x.View()
	return cmd
}

func BenchmarkMillionRows(b *testing.B) {
	x := million()(b)
	for _, k := range []string{"down", "pgdown", "G", "g", "space", "u"} {
		b.Run(k, func(b *testing.B) {
			msg := keyMsg(k)
			for b.Loop() {
				x.key1(msg)
			}
		})
	}
	b.Run("close and open", func(b *testing.B) {
		x.press("g")
		for b.Loop() {
			x.key1(keyMsg("left"))
			x.key1(keyMsg("right"))
		}
	})
}

// BenchmarkMillionBuilds is the work beside the keys: what a person waits for
// after a sort or a filter, while the keys go on.
func BenchmarkMillionBuilds(b *testing.B) {
	x := million()(b)
	for name, change := range map[string]func(*spec){
		"size":    func(s *spec) { s.order = bySize },
		"reverse": func(s *spec) { s.reverse = true },
		"name":    func(s *spec) { s.order = byName },
		"filter":  func(s *spec) { s.filter = "state-7" },
		"subtask": func(s *spec) { s.turn = model.TurnSubtask },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := x.tree.spec.copy()
				change(&s)
				if (&builder{spec: &s, out: &list{}, stop: never}).build() == nil {
					b.Fatal("no rows")
				}
			}
		})
	}
}

// keyLimit is what a key may take on a million rows, in Update and View.
const keyLimit = 16 * time.Millisecond

// TestKeysNeverWait presses every kind of key on a million rows: none may take
// long, those neither that sort, filter or turn everything. On a busy machine a
// key may have to wait for others: the shortest of some tries counts, for each.
func TestKeysNeverWait(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a million rows")
	}
	shortest := map[string]time.Duration{}
	for range 6 {
		for name, took := range keyTimes(t) {
			if before, ok := shortest[name]; !ok || took < before {
				shortest[name] = took
			}
		}
		if len(slow(shortest)) == 0 {
			return
		}
	}
	t.Errorf("keys that took more than %v: %v", keyLimit, slow(shortest))
}

func slow(times map[string]time.Duration) (keys []string) {
	for name, took := range times {
		if took > keyLimit {
			keys = append(keys, fmt.Sprintf("%s %v", name, took))
		}
	}
	return keys
}

// keyTimes presses the keys, and tells for each, numbered, how long Update and
// View took.
func keyTimes(t *testing.T) map[string]time.Duration {
	x := million()(t)
	times := map[string]time.Duration{}
	var beside []tea.Cmd
	press := func(name string, k tea.KeyPressMsg) {
		start := time.Now()
		beside = append(beside, x.key1(k))
		times[fmt.Sprintf("%d %s", len(times), name)] = time.Since(start)
	}
	settle := func() {
		for _, cmd := range beside {
			x.run(cmd)
		}
		beside = nil
	}
	for _, k := range []string{"down", "down", "pgdown", "G", "up", "g", "s", "n", "down", "s", "s", "down", "m", "down", "t", "down", "%", "space", "u", "v", "down", "esc", "n", "f"} {
		press(k, keyMsg(k))
	}
	settle()
	press("/", keyMsg("/"))
	for _, r := range "state-7" {
		press("typed "+string(r), tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	settle()
	x.mustShow("100,000 matches")
	return times
}
