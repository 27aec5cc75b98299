package ui

import (
	"testing"
)

func TestOpenIncident(t *testing.T) {
	x := newTester(t, incident(t), incidentDir, 80, 24)
	t.Log("\n" + x.text())
	x.press("f")
	t.Log("\n" + x.text())
	x.press("x tab")
	t.Log("\n" + x.text())
	x.press("esc w")
	t.Log("\n" + x.text())
}
