// Command screenshots makes the README's pictures: it builds chkscope, drives it
// in a pseudo-terminal through the walk of the README and draws what the screen
// shows as SVG.
//
//	go run ./screenshots -work /data    renew screenshots/*.svg
//	go run ./screenshots -o DIR         write them elsewhere
//
// rsvg-convert (Debian: librsvg2-bin) turns an SVG into a PNG to look at.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"chkscope/screenshots/terminal"
)

// scene is one run of the program. Its steps are keys; "wait TEXT" waits until
// the screen shows the text, "type TEXT" types it, "shot NAME" draws the screen.
type scene struct {
	cols, rows int
	args       []string
	steps      []string
}

// scenes is the walk of the README. Copies go to the working directory of the
// program, which is an empty one.
var scenes = []scene{
	{80, 24, []string{"demo"}, []string{
		"wait 3 critical", "shot open",
		"i", "wait details", "shot details", "esc", "wait row",
		"x", "wait marked 1", "shot marked",
		"tab", "wait Claim", "shot plan", "tab",
		"w", "wait word:", "shot dialog",
		"type write", "enter", "wait roof", "shot written",
		"esc", "q",
	}},
	{80, 24, []string{"chk-16-pruned"}, []string{"wait row", "shot pruned", "q"}},
	{100, 18, []string{"demo"}, []string{"wait 3 critical", "!", "shot findings", "esc", "q"}},
}

const (
	settle  = 300 * time.Millisecond // quiet time that counts as drawn
	patient = 60 * time.Second
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", "screenshots", "directory to write to")
	work := flag.String("work", "", "directory that chkscope runs in, made and removed again: its path is seen in the pictures")
	flag.Parse()
	if err := play(*out, *work); err != nil {
		log.Fatal(err)
	}
}

func play(out, work string) error {
	dir, err := os.MkdirTemp("", "chkscope-screenshots-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "chkscope")
	if text, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, text)
	}
	if work == "" {
		work = filepath.Join(dir, "work")
	}
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, s := range scenes {
		if err := s.play(binary, work, out); err != nil {
			return fmt.Errorf("chkscope %s: %w", strings.Join(s.args, " "), err)
		}
	}
	return nil
}

func (s scene) play(binary, work, out string) error {
	// The shell changes into the directory, so that paths are short in pictures.
	argv := append([]string{"/bin/sh", "-c", `cd "$1" && shift && exec "$@"`, "sh", work, binary}, s.args...)
	screen, err := terminal.Start(s.cols, s.rows, []string{"XDG_STATE_HOME=" + filepath.Join(work, "state")}, argv...)
	if err != nil {
		return err
	}
	defer screen.Close()
	for _, step := range s.steps {
		word, rest, _ := strings.Cut(step, " ")
		switch {
		case rest == "":
			err = screen.Type(step)
		case word == "wait":
			err = screen.WaitFor(rest, patient)
		case word == "type":
			err = screen.Type(rest)
		case word == "shot":
			file := filepath.Join(out, rest+".svg")
			fmt.Println(file)
			err = os.WriteFile(file, []byte(drawSVG(screen)), 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
		screen.Settle(settle)
	}
	return nil
}
