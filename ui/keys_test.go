package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestNoKeyTwice: in no place a key has two meanings.
func TestNoKeyTwice(t *testing.T) {
	for in := inTree; in <= inAsk; in <<= 1 {
		seen := map[string]string{}
		for i := range bindings {
			b := &bindings[i]
			if b.in&in == 0 {
				continue
			}
			for _, act := range b.acts {
				for k := range strings.FieldsSeq(act.keys) {
					if old, twice := seen[k]; twice {
						t.Errorf("place %d: %s is %q and %q", in, k, old, b.does)
					}
					seen[k] = b.does
				}
			}
		}
	}
}

// TestKeyNames: the table names keys as Bubble Tea does.
func TestKeyNames(t *testing.T) {
	for i := range bindings {
		for _, act := range bindings[i].acts {
			for k := range strings.FieldsSeq(act.keys) {
				if k == "mul" || k == "shift+tab" { // of the keypad and with a modifier
					continue
				}
				if got := tea.KeyPressMsg(keyMsg(k)).String(); got != k {
					t.Errorf("%q is %q in Bubble Tea", k, got)
				}
			}
		}
	}
}

// TestHelpHasAllKeys: every row of the table is in `?`, with every key it names.
func TestHelpHasAllKeys(t *testing.T) {
	x := openIncident(t, 120, 40)
	h := &helpPage{search: newField()}
	all := ""
	for _, g := range helpGroups {
		for _, l := range h.group(x.App, g.in, 400) {
			all += strip(l) + "\n"
		}
	}
	for i := range bindings {
		b := &bindings[i]
		if b.heading() == inDetails { // "back" needs no word
			continue
		}
		if !strings.Contains(all, b.does) {
			t.Errorf("? lacks %q", b.does)
		}
	}
}

// TestFooterIsOfTheTable: what the footer names works there.
func TestFooterIsOfTheTable(t *testing.T) {
	x := openIncident(t, 200, 50)
	for in := inTree; in <= inAsk; in <<= 1 {
		for i := range bindings {
			b := &bindings[i]
			if key, word, ok := strings.Cut(b.foot, " "); b.in&in != 0 && b.foot != "" && (!ok || !strings.Contains(strip(x.footer(in, 400)), key) || word == "") {
				t.Errorf("place %d: the footer lacks %q", in, b.foot)
			}
		}
	}
}
