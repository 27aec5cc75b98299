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
	return t.writeEach(w, indent, func(row func(...string)) {
		for _, r := range t.rows {
			row(r...)
		}
	})
}

// writeEach is write for rows that need not be in memory together: each gives
// them, and is called twice, for the widths and for the lines. A line is one write.
func (t *table) writeEach(w io.Writer, indent string, each func(row func(cells ...string))) error {
	width := make([]int, len(t.right))
	each(func(cells ...string) {
		for i, cell := range cells {
			width[i] = max(width[i], ansi.StringWidth(cell))
		}
	})
	var err error
	each(func(cells ...string) {
		if err == nil {
			_, err = io.WriteString(w, t.line(indent, cells, width))
		}
	})
	return err
}

func (t *table) line(indent string, cells []string, width []int) string {
	var line strings.Builder
	line.WriteString(indent)
	for i, cell := range cells {
		pad := strings.Repeat(" ", width[i]-ansi.StringWidth(cell))
		if t.right[i] {
			line.WriteString(pad + cell)
		} else {
			line.WriteString(cell + pad)
		}
		if i < len(cells)-1 {
			line.WriteString("  ")
		}
	}
	return strings.TrimRight(line.String(), " ") + "\n"
}
