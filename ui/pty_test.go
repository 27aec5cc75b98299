package ui

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// console is a real pseudo-terminal with an emulator behind it.
type console struct {
	testing.TB
	f    *os.File
	term *vt.Emulator

	mu    sync.Mutex // of what follows, and of term
	bytes []byte     // everything that was written to the terminal
	last  time.Time
}

func newConsole(t testing.TB, f *os.File, w, h int) *console {
	c := &console{TB: t, f: f, term: vt.NewEmulator(w, h), last: time.Now()}
	go io.Copy(f, c.term) // the terminal's answers
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := f.Read(buf)
			c.mu.Lock()
			c.bytes = append(c.bytes, buf[:n]...)
			c.last = time.Now()
			c.term.Write(buf[:n])
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return c
}

// since is what was written behind the first from bytes.
func (c *console) since(from int) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.bytes[from:])
}

// start runs a program in a terminal of its own.
func start(t testing.TB, w, h int, env []string, argv ...string) (*console, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append([]string{"TERM=xterm-256color", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "SSH_TTY=/dev/pts/9"}, env...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		f.Close()
	})
	return newConsole(t, f, w, h), cmd
}

// written is the number of bytes that the program has written.
func (c *console) written() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.bytes)
}

// settle waits until nothing was written for a while.
func (c *console) settle(quiet time.Duration) {
	for {
		c.mu.Lock()
		since := time.Since(c.last)
		c.mu.Unlock()
		if since > quiet {
			return
		}
		time.Sleep(quiet / 8)
	}
}

// text is what the terminal shows.
func (c *console) text() string {
	c.mu.Lock()
	lines := strings.Split(c.term.String(), "\n")
	c.mu.Unlock()
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// wait waits until the terminal shows all parts.
func (c *console) wait(parts ...string) {
	c.Helper()
	missing := ""
	c.until(func() bool {
		s := c.text()
		for _, p := range parts {
			if !strings.Contains(s, p) {
				missing = p
				return false
			}
		}
		return true
	}, func() string { return fmt.Sprintf("the terminal does not show %q", missing) })
}

// until waits until done; what says what was waited for in vain.
func (c *console) until(done func() bool, what func() string) {
	c.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			c.Fatalf("%s:\n%s", what(), c.text())
		}
	}
}

// row is the number of the row under the cursor, as the status line says, and -1
// where it says none.
func (c *console) row() int {
	m := rowNumber.FindStringSubmatch(c.text())
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
	return n
}

var rowNumber = regexp.MustCompile(`row ([\d,]+)/`)

// waitRow waits until the cursor is on a row.
func (c *console) waitRow(n int) {
	c.Helper()
	c.until(func() bool { return c.row() == n }, func() string { return fmt.Sprintf("the cursor is not on row %d", n) })
}

// rawKeys are the bytes of keys. Esc is written as terminals do that tell keys
// apart: a lone 0x1b is alt and the next key where the program is slow to read.
var rawKeys = map[string]string{
	"enter": "\r", "esc": "\x1b[27u", "tab": "\t", "space": " ", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	"pgup": "\x1b[5~", "pgdown": "\x1b[6~", "ctrl+c": "\x03", "ctrl+u": "\x15",
}

// press sends keys, separated by spaces.
func (c *console) press(keys string) {
	for k := range strings.FieldsSeq(keys) {
		if raw, ok := rawKeys[k]; ok {
			k = raw
		}
		io.WriteString(c.f, k)
	}
}

// end waits until the program has ended of itself.
func (c *console) end(cmd *exec.Cmd) error {
	c.Helper()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		c.Fatalf("the program does not end:\n%s", c.text())
		return nil
	}
}

func (c *console) typeIn(s string) { io.WriteString(c.f, s) }

// explore runs the explorer of this package itself in a terminal, until it is
// quit.
func explore(t testing.TB, w, h int, cfg Config) *console {
	t.Helper()
	f, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	if err := pty.Setsize(f, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		t.Fatal(err)
	}
	cfg.In, cfg.Out = tty, tty
	env := map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8"}
	cfg.Getenv = func(s string) string { return env[s] }
	if cfg.StateDir == "" {
		cfg.StateDir = "-"
	}
	c := newConsole(t, f, w, h)
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), cfg) }()
	t.Cleanup(func() {
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("the explorer does not end")
		}
		tty.Close()
		f.Close()
	})
	return c
}

// TestEscAlone: the byte 0x1b, with nothing behind it, is the key Esc.
func TestEscAlone(t *testing.T) {
	c := explore(t, 80, 24, Config{Store: incident(t), URI: incidentDir})
	c.wait("topic-partition-offset-states", "w write")
	c.press("?")
	c.wait("type to search:")
	c.typeIn("\x1b")
	c.wait("topic-partition-offset-states", "w write")
}

// wireLimit is what a cursor key may write at 80x24.
const wireLimit = 300

// TestBytesPerKey counts what a cursor key writes to a line that may be slow.
func TestBytesPerKey(t *testing.T) {
	t.Setenv("SSH_TTY", "/dev/pts/9")
	c := explore(t, 80, 24, Config{Store: incident(t), URI: incidentDir})
	c.wait("topic-partition-offset-states", "f goes to the next") // all has been read
	// That a key was drawn is known by the row that the status line tells. On a busy
	// machine something from before may be drawn while it is waited for: the least of
	// some tries counts.
	perKey := func(what string, first, n int) {
		least := 0
		for range 3 {
			c.press("g")
			c.waitRow(1)
			for row := 2; row <= first; row++ {
				c.press("down")
				c.waitRow(row)
			}
			c.settle(300 * time.Millisecond)
			from := c.written()
			for row := first + 1; row <= first+n; row++ {
				c.press("down")
				c.waitRow(row)
				c.settle(80 * time.Millisecond)
			}
			if got := (c.written() - from) / n; least == 0 || got < least {
				least = got
			}
			if least <= wireLimit {
				break
			}
		}
		t.Logf("%s: %d bytes a key", what, least)
		if least > wireLimit {
			t.Errorf("%s: %d bytes a key, more than %d\n%s", what, least, wireLimit, c.text())
		}
	}
	perKey("states", 2, 5) // the text of a finding comes and goes on row 2
	c.press("g down right")
	c.wait("subtask 3")
	perKey("subtasks", 2, 9)
	c.press("g down down right")
	c.wait("/203") // with 192 elements
	perKey("elements", 3, 40)
	// On a busy machine the last keys may still be drawn in the first window.
	var moved []byte
	for range 3 {
		from := c.written()
		time.Sleep(2 * time.Second)
		if moved = c.since(from); len(moved) == 0 {
			break
		}
	}
	if len(moved) > 0 {
		t.Errorf("%d bytes were written while nobody did anything: %q", len(moved), moved)
	}
	c.press("q")
}

// TestNamesDoNotReachTheTerminal shows a checkpoint whose names hold escape
// sequences, on all screens that there are: none may come out as it is.
func TestNamesDoNotReachTheTerminal(t *testing.T) {
	x := openHostile(t, 80, 24)
	c := explore(t, 80, 24, Config{Store: x.cfg.Store, URI: syntheticDir})
	c.wait("x1b]0;owned", "w write")
	for _, keys := range []string{"space", "right right i", "esc", "f f ! j", "esc", "tab", "esc", "y E", "esc", "t G right", "/ o w", "enter", "*", "w", "esc", "z m m"} {
		c.press(keys)
		c.settle(100 * time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, evil := range []string{"\x1b]0;owned", "\x1b[2J\x1b[2J", "\u202e", "\u200b"} {
		if strings.Contains(string(c.bytes), evil) {
			t.Errorf("%q reached the terminal", evil)
		}
	}
}
