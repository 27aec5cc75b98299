package ui

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chkscope/decoder"
	"chkscope/decoder/metadata"
	"chkscope/model"
	"chkscope/model/store"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "write the goldens anew")

// memStore is a store in memory.
type memStore struct {
	mu    sync.Mutex
	files map[string][]byte
}

var testTime = time.Date(2026, 3, 4, 3, 12, 0, 0, time.UTC)

type memObject struct{ decoder.Bytes }

func (memObject) Close() error { return nil }

func (m *memStore) get(uri string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.files[uri]
	return b, ok
}

func (m *memStore) Open(_ context.Context, uri string) (model.Object, error) {
	b, ok := m.get(uri)
	if !ok {
		return nil, fmt.Errorf("%s: %w", uri, model.ErrNotExist)
	}
	return memObject{decoder.Bytes{Data: b, Label: uri}}, nil
}

func (m *memStore) Stat(_ context.Context, uri string) (model.Info, error) {
	if b, ok := m.get(uri); ok {
		return model.Info{Name: store.Base(uri), URI: uri, Size: int64(len(b)), Modified: testTime}, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.files {
		if strings.HasPrefix(name, strings.TrimSuffix(uri, "/")+"/") {
			return model.Info{Name: store.Base(uri), URI: uri, Dir: true, Modified: testTime}, nil
		}
	}
	return model.Info{}, fmt.Errorf("%s: %w", uri, model.ErrNotExist)
}

func (m *memStore) List(_ context.Context, uri string) ([]model.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	base := strings.TrimSuffix(uri, "/") + "/"
	seen := map[string]model.Info{}
	for name, b := range m.files {
		rest, ok := strings.CutPrefix(name, base)
		if !ok {
			continue
		}
		first, _, below := strings.Cut(rest, "/")
		seen[first] = model.Info{Name: first, URI: base + first, Size: int64(len(b)), Dir: below, Modified: testTime}
	}
	var out []model.Info
	for _, i := range seen {
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b model.Info) int { return strings.Compare(a.Name, b.Name) })
	if out == nil {
		return nil, fmt.Errorf("%s: %w", uri, model.ErrNotExist)
	}
	return out, nil
}

type memWriter struct {
	bytes.Buffer
	m   *memStore
	uri string
}

func (m *memStore) Create(_ context.Context, uri string) (model.Writer, error) {
	if _, there := m.get(uri); there {
		return nil, model.ErrExist
	}
	return &memWriter{m: m, uri: uri}, nil
}

func (w *memWriter) Commit() error {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	w.m.files[w.uri] = w.Bytes()
	return nil
}

func (w *memWriter) Abort() error { return nil }

func (m *memStore) Copy(ctx context.Context, src string, off, length int64, dst string, _ func(int64)) (model.Sum, error) {
	b, ok := m.get(src)
	if !ok {
		return model.Sum{}, model.ErrNotExist
	}
	b = b[off:]
	if length >= 0 {
		b = b[:length]
	}
	w, err := m.Create(ctx, dst)
	if err != nil {
		return model.Sum{}, err
	}
	w.Write(b)
	return model.Sum{Size: int64(len(b)), CRC32: crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))}, w.Commit()
}

func (m *memStore) Remove(_ context.Context, uri string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, uri)
	return nil
}

func (m *memStore) Free(context.Context, string) int64 { return -1 }

// load puts a directory of the disk into the store as dir.
func (m *memStore) load(t testing.TB, from, dir string) {
	t.Helper()
	err := filepath.Walk(from, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(from, path)
		m.files[dir+"/"+filepath.ToSlash(rel)] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

const incidentDir = "file:/flink/checkpoints/5e2515d36048db6c91c3dbde4f3a5449/chk-9"

// incident is a store with a real checkpoint of the incident in it.
func incident(t testing.TB) *memStore {
	m := &memStore{files: map[string][]byte{}}
	m.load(t, "../conformance/testdata/incident/gen-3-files/checkpoint", incidentDir)
	return m
}

// tester drives an App without a terminal: it runs commands at once, one after
// the other, and holds timers back.
type tester struct {
	testing.TB
	*App
	clock  time.Time
	timers []tea.Msg
	copied string
}

func newTester(t testing.TB, st model.WriteStore, uri string, w, h int, change ...func(*Config)) *tester {
	t.Helper()
	cfg := Config{Store: st, URI: uri, StateDir: t.TempDir(), Getenv: func(string) string { return "" }}
	cfg.Options.UIDs = []string{"kafka-source", "count", "kafka-sink"}
	for _, f := range change {
		f(&cfg)
	}
	x := &tester{TB: t, App: newApp(t.Context(), cfg), clock: testTime}
	x.now = func() time.Time { return x.clock }
	x.later = func(_ time.Duration, m tea.Msg) tea.Cmd {
		x.timers = append(x.timers, m)
		return nil
	}
	x.send(tea.WindowSizeMsg{Width: w, Height: h})
	x.run(x.Init())
	return x
}

func (x *tester) send(m tea.Msg) {
	_, cmd := x.Update(m)
	x.run(cmd)
}

// run carries a command out and everything that follows from it.
func (x *tester) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch m := cmd().(type) {
	case nil, tea.QuitMsg:
	case tea.BatchMsg:
		for _, c := range m {
			x.run(c)
		}
	default:
		if v := reflect.ValueOf(m); v.Kind() == reflect.String && strings.Contains(v.Type().String(), "setClipboard") {
			x.copied = v.String()
			return
		}
		x.send(m)
	}
}

// fire lets the timers go off that were asked for.
func (x *tester) fire() {
	timers := x.timers
	x.timers = nil
	for _, m := range timers {
		x.send(m)
	}
}

// later moves the clock.
func (x *tester) wait(d time.Duration) { x.clock = x.clock.Add(d) }

var namedKeys = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace, "backspace": tea.KeyBackspace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
}

func keyMsg(name string) tea.KeyPressMsg {
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: []rune(rest)[0], Mod: tea.ModCtrl}
	}
	if code, ok := namedKeys[name]; ok {
		k := tea.KeyPressMsg{Code: code}
		if name == "space" {
			k.Text = " "
		}
		return k
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// press types keys, separated by spaces.
func (x *tester) press(keys string) {
	x.Helper()
	for k := range strings.FieldsSeq(keys) {
		x.send(keyMsg(k))
	}
}

// typeIn types text letter by letter.
func (x *tester) typeIn(s string) {
	for _, r := range s {
		k := tea.KeyPressMsg{Code: r, Text: string(r)}
		x.send(k)
	}
}

// text is the screen without escape sequences.
func (x *tester) text() string {
	lines, _ := x.screen()
	for i := range lines {
		lines[i] = strings.TrimRight(strip(lines[i]), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// strip takes escape sequences away.
func strip(s string) string { return ansi.Strip(s) }

func (x *tester) mustShow(parts ...string) {
	x.Helper()
	s := x.text()
	for _, p := range parts {
		if !strings.Contains(s, p) {
			x.Fatalf("the screen lacks %q:\n%s", p, s)
		}
	}
}

func (x *tester) mustNotShow(parts ...string) {
	x.Helper()
	s := x.text()
	for _, p := range parts {
		if strings.Contains(s, p) {
			x.Fatalf("the screen shows %q:\n%s", p, s)
		}
	}
}

// cursorRow is the line under the cursor, without what stands before the name.
func (x *tester) here() string {
	r := x.tree.here()
	if r.node == model.None {
		return ""
	}
	s := x.names.label(r.node, x.tree.turn)
	if r.elem >= 0 {
		s += fmt.Sprintf(" #%d", r.elem)
	}
	return s
}

// synthetic encodes structures into a store.
func synthetic(t testing.TB, c *metadata.Checkpoint) *memStore {
	t.Helper()
	var b bytes.Buffer
	if _, err := metadata.Encode(&b, c); err != nil {
		t.Fatal(err)
	}
	return &memStore{files: map[string][]byte{syntheticDir + "/_metadata": b.Bytes()}}
}

const syntheticDir = "s3://ckpt/4a3b0c/chk-1042"

// wideCheckpoint has operators x states x subtasks cells, with sizes that differ.
func wideCheckpoint(operators, states, subtasks int) *metadata.Checkpoint {
	c := &metadata.Checkpoint{Version: 3, ID: 1042}
	for o := range operators {
		op := metadata.Operator{ID: metadata.OperatorIDOf(fmt.Sprintf("op-%d", o)), Parallelism: int32(subtasks), MaxParallelism: 4096, SubtaskCount: int32(subtasks)}
		for k := range subtasks {
			h := &metadata.OperatorHandle{Type: metadata.TypePartitionable}
			off := int64(0)
			for s := range states {
				n := 1 + (o*7+s*13+k*29)%3
				offs := make([]int64, n)
				for i := range offs {
					offs[i] = off
					off += int64(8 + (k+s)%5)
				}
				h.States = append(h.States, metadata.OperatorState{Name: fmt.Sprintf("state-%d", s), Mode: byte(s % 3), Offsets: metadata.NewOffsets(offs)})
			}
			h.Delegate = metadata.StreamHandle{Type: metadata.TypeRelativeFile, Name: fmt.Sprintf("f-%d-%d", o, k), Size: off}
			op.Subtasks = append(op.Subtasks, metadata.Subtask{Index: int32(k), State: &metadata.SubtaskState{ManagedOperator: h, ManagedOperatorPresence: 1}})
		}
		c.Operators = append(c.Operators, op)
	}
	return c
}
