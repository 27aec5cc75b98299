package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"chkscope/model"
	"chkscope/model/store"
	"chkscope/storage"
)

// say writes lines for a person to stderr and to the log; text from files is
// cleaned. While the explorer is on the screen it only goes to the log.
func (p *program) say(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		line = model.Clean(withoutSecrets(strings.TrimSuffix(line, "\n")))
		if !p.quiet {
			p.bar.Load().aside(func() { fmt.Fprintf(p.err, "chkscope: %s\n", line) })
		}
		p.log.line(line)
	}
}

var s3URI = regexp.MustCompile(`s3[an]?://[^\s"']+`)

// withoutSecrets takes the user and password out of every S3 URI of a text.
func withoutSecrets(text string) string {
	if !strings.Contains(text, "://") { // spares the search in the many small pieces of a document
		return text
	}
	return s3URI.ReplaceAllStringFunc(text, store.Redact)
}

// write writes text to stdout.
func (p *program) write(text string) error {
	_, err := io.WriteString(p.out, withoutSecrets(text))
	return err
}

// output is stdout, buffered: Flush ends it, and gives the first error.
func (p *program) output() *output { return &output{bufio.NewWriterSize(p.out, 64<<10)} }

// output takes the user and password out of every S3 URI. One Write or WriteString
// holds each URI whole.
type output struct{ buf *bufio.Writer }

func (o *output) WriteString(text string) (int, error) {
	return o.buf.WriteString(withoutSecrets(text))
}
func (o *output) Write(text []byte) (int, error) {
	_, err := o.WriteString(string(text))
	return len(text), err
}
func (o *output) Flush() error { return o.buf.Flush() }

// note is say for a whole sentence.
func (p *program) note(sentence string) { p.say("%s", sentence) }

// notices is how many sentences of a storage may wait for the explorer; what does
// not fit is in the log only.
const notices = 256

// storeNote takes a sentence of a storage, to the explorer where it is on the
// screen. It does not wait.
func (p *program) storeNote(sentence string) {
	p.note(sentence)
	select {
	case p.toExplorer <- model.Clean(withoutSecrets(sentence)):
	default:
	}
}

// logFile is the file of --log. A nil one takes nothing.
type logFile struct {
	mu   sync.Mutex
	file *os.File
}

// openLog opens the file of --log.
func (p *program) openLog() error {
	if p.flags.log == "" {
		return nil
	}
	file, err := os.OpenFile(p.flags.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return usageError("--log: %v", err)
	}
	p.log = &logFile{file: file}
	return nil
}

func (l *logFile) line(text string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// The log is a help; that it cannot be written must not end the work.
	fmt.Fprintf(l.file, "%s %s\n", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), text)
}

// request logs one request to a storage; its URI holds no secrets.
func (l *logFile) request(r storage.Request) {
	text := r.Op + " " + r.URI
	if r.Range != "" {
		text += " " + r.Range
	}
	if r.Status != 0 {
		text += fmt.Sprintf(" status %d", r.Status)
	}
	text += fmt.Sprintf(" read %d written %d in %v", r.Read, r.Written, r.Took.Round(time.Microsecond))
	if r.Err != nil {
		text += ": " + r.Err.Error()
	}
	l.line(model.Clean(text))
}

// totals logs what was asked of storages in all.
func (l *logFile) totals(t storage.Totals) {
	l.line(fmt.Sprintf("in all %d requests (%d failed), read %d written %d bytes", t.Requests, t.Failed, t.Read, t.Written))
}

func (l *logFile) close() {
	if l != nil {
		l.file.Close()
	}
}
