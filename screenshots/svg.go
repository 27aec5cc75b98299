package main

import (
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"chkscope/screenshots/terminal"
)

// One cell in pixels, the frame around, and the colours of a dark terminal.
const (
	cellW, cellH = 9, 19
	frame        = 12
	foreground   = "#d4d4d4"
	background   = "#16161a"
)

// ansiColors are the 16 colours that a program can ask for by number.
var ansiColors = [16]string{
	"#3b3b44", "#f2777a", "#99cc99", "#e5c07b", "#6699cc", "#cc99cc", "#66cccc", "#d4d4d4",
	"#808089", "#ff8f92", "#b5e0b5", "#ffd866", "#87b5e5", "#e0b5e0", "#87e5e5", "#ffffff",
}

// drawSVG draws a screen, word by word, each at its place.
func drawSVG(s *terminal.Screen) string {
	var b strings.Builder
	w, h := s.Cols*cellW+2*frame, s.Rows*cellH+2*frame
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14.95">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", background)
	for y := range s.Rows {
		drawLine(&b, s, y)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// word is characters of one style without a blank between them.
type word struct {
	style string
	text  string
	at    int // pixels
	cells int
}

// flush writes the word at its place. textLength keeps the columns with a font
// of another width.
func (w *word) flush(b *strings.Builder, y int) {
	if w.cells > 0 {
		fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d"%s>%s</text>`+"\n", w.at, frame+y*cellH+14, w.cells*cellW, w.style, html.EscapeString(w.text))
	}
	*w = word{}
}

func drawLine(b *strings.Builder, s *terminal.Screen, y int) {
	var w word
	for x := 0; x < s.Cols; x++ {
		c := s.Cell(x, y)
		if c == nil || c.Width == 0 {
			continue
		}
		fg, bg := hex(c.Style.Fg, foreground), hex(c.Style.Bg, "")
		if c.Style.Attrs&uv.AttrReverse != 0 {
			if bg == "" {
				bg = background
			}
			fg, bg = bg, fg
		}
		px, py := frame+x*cellW, frame+y*cellH
		if bg != "" {
			fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s" shape-rendering="crispEdges"/>`+"\n", px, py, cellW*c.Width, cellH, bg)
		}
		if c.Content == "" || c.Content == " " || drawBlock(b, c.Content, px, py, fg) {
			w.flush(b, y)
			continue
		}
		style := styleOf(c.Style.Attrs, fg)
		if w.cells == 0 || style != w.style {
			w.flush(b, y)
			w.style, w.at = style, px
		}
		w.text += c.Content
		w.cells += c.Width
	}
	w.flush(b, y)
}

func styleOf(attrs uint8, fg string) string {
	style := fmt.Sprintf(` fill="%s"`, fg)
	if attrs&uv.AttrBold != 0 {
		style += ` font-weight="bold"`
	}
	if attrs&uv.AttrFaint != 0 {
		style += ` opacity="0.6"`
	}
	return style
}

// drawBlock draws lines and block elements as shapes, so that they join whatever
// the font.
func drawBlock(b *strings.Builder, s string, px, py int, fg string) bool {
	r := []rune(s)[0]
	rect := func(x, y, w, h float64) bool {
		fmt.Fprintf(b, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s" shape-rendering="crispEdges"/>`+"\n", float64(px)+x, float64(py)+y, w, h, fg)
		return true
	}
	switch {
	case r == '█':
		return rect(0, 2, cellW, cellH-4)
	case r >= '▉' && r <= '▏':
		return rect(0, 2, cellW*float64('▏'-r+1)/8, cellH-4)
	case r == '▕':
		return rect(cellW-1, 2, 1, cellH-4)
	case r == '─':
		return rect(0, cellH/2, cellW, 1)
	}
	return false
}

func hex(c color.Color, otherwise string) string {
	if c == nil {
		return otherwise
	}
	if basic, ok := c.(ansi.BasicColor); ok {
		return ansiColors[basic]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
