package main

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// table is text in columns, as wide as its longest cell: nothing is cut.
type table struct {
	right []bool // by column: aligned to the right
	rows  [][]string
}

// newTable takes one letter a column: l aligns to the left, r to the right.
func newTable(columns string) *table {
	t := &table{}
	for _, c := range columns {
		t.right = append(t.right, c == 'r')
	}
	return t
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// write prints the rows with two blanks between columns and none at the end of
// a line. Each line begins with indent.
func (t *table) write(w io.Writer, indent string) error {
	width := make([]int, len(t.right))
	for _, r := range t.rows {
		for i, cell := range r {
			width[i] = max(width[i], ansi.StringWidth(cell))
		}
	}
	var b strings.Builder
	for _, r := range t.rows {
		var line strings.Builder
		line.WriteString(indent)
		for i, cell := range r {
			pad := strings.Repeat(" ", width[i]-ansi.StringWidth(cell))
			if t.right[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
			if i < len(r)-1 {
				line.WriteString("  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
