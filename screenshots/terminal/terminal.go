// Package terminal runs a program in a pseudo-terminal, types keys at it and
// knows what its screen shows. The pictures and the end-to-end test are made
// with it.
package terminal

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Screen is a program in a pseudo-terminal.
type Screen struct {
	Cols, Rows int

	cmd  *exec.Cmd
	tty  *os.File
	emu  *vt.SafeEmulator
	done chan struct{} // closed when the program has ended and its output is drawn

	mu    sync.Mutex
	raw   []byte
	drawn time.Time // when something was written last
}

// Start runs argv in a terminal of the given size. env is added to a small
// environment: TERM, LANG, PATH, HOME.
func Start(cols, rows int, env []string, argv ...string) (*Screen, error) {
	s := &Screen{Cols: cols, Rows: rows, cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{}), drawn: time.Now()}
	s.cmd.Env = append([]string{"TERM=xterm-256color", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	tty, err := pty.StartWithSize(s.cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		return nil, err
	}
	s.tty, s.emu = tty, vt.NewSafeEmulator(cols, rows)
	go io.Copy(tty, s.emu) // the terminal's answers to the program's questions
	go s.draw()
	return s, nil
}

func (s *Screen) draw() {
	defer close(s.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.tty.Read(buf)
		s.emu.Write(buf[:n])
		s.mu.Lock()
		s.raw = append(s.raw, buf[:n]...)
		s.drawn = time.Now()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// named are the keys that are not the character they send.
var named = map[string]string{
	"space": " ", "enter": "\r", "esc": "\x1b[27u", "tab": "\t", "backspace": "\x7f", "ctrl+c": "\x03", "ctrl+r": "\x12",
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	"pgup": "\x1b[5~", "pgdn": "\x1b[6~", "home": "\x1b[H", "end": "\x1b[F",
}

// Type types keys: names such as "down" and "enter", or text as it is.
func (s *Screen) Type(keys ...string) error {
	for _, k := range keys {
		if seq, ok := named[k]; ok {
			k = seq
		}
		if _, err := io.WriteString(s.tty, k); err != nil {
			return err
		}
	}
	return nil
}

// Settle waits until nothing was drawn for a while from now on, at most 20 times
// as long.
func (s *Screen) Settle(quiet time.Duration) {
	begun := time.Now()
	for time.Since(begun) < 20*quiet {
		s.mu.Lock()
		last := s.drawn
		s.mu.Unlock()
		if last.Before(begun) {
			last = begun
		}
		if time.Since(last) >= quiet {
			return
		}
		time.Sleep(quiet / 10)
	}
}

// WaitFor waits until the screen shows a text.
func (s *Screen) WaitFor(text string, atMost time.Duration) error {
	for end := time.Now().Add(atMost); ; time.Sleep(20 * time.Millisecond) {
		if strings.Contains(s.Text(), text) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%q is not on the screen after %v:\n%s", text, atMost, s.Text())
		}
	}
}

// Text is the screen as text, without blanks at the ends of lines.
func (s *Screen) Text() string {
	var b strings.Builder
	for y := range s.Rows {
		var line strings.Builder
		for x := 0; x < s.Cols; x++ {
			c := s.emu.CellAt(x, y)
			switch {
			case c == nil || c.Content == "":
				line.WriteByte(' ')
			default:
				line.WriteString(c.Content)
				x += max(c.Width-1, 0)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// Cell is the cell at a place, or nil.
func (s *Screen) Cell(x, y int) *uv.Cell { return s.emu.CellAt(x, y) }

// Raw is everything that the program has written so far.
func (s *Screen) Raw() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.raw)
}

// Wait waits for the program's end and gives its exit code.
func (s *Screen) Wait(atMost time.Duration) (int, error) {
	select {
	case <-s.done:
	case <-time.After(atMost):
		return -1, fmt.Errorf("still running after %v:\n%s", atMost, s.Text())
	}
	s.cmd.Wait()
	s.tty.Close()
	return s.cmd.ProcessState.ExitCode(), nil
}

// Close ends the program, whatever it does.
func (s *Screen) Close() {
	s.cmd.Process.Kill()
	s.Wait(5 * time.Second)
}
