package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/decoder/metadata"
	"chkscope/model/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// result is what one run of the program did.
type result struct {
	code        int
	out, errOut string
}

// session is how the program is run: a terminal or not, its environment, what
// is typed.
type session struct {
	env map[string]string
	tty bool
	in  string
}

func (x session) run(args ...string) result {
	var out, errOut bytes.Buffer
	p := &program{
		in: strings.NewReader(x.in), out: &out, err: &errOut, inTerm: x.tty, outTerm: x.tty, errTerm: x.tty,
		getenv: func(name string) string { return x.env[name] },
	}
	code := p.run(context.Background(), args)
	return result{code, out.String(), errOut.String()}
}

func run(args ...string) result { return session{}.run(args...) }

// wantCode fails where the exit code is another one.
func (r result) wantCode(t *testing.T, code int) result {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", r.code, code, r.out, r.errOut)
	}
	return r
}

func (r result) wantErr(t *testing.T, part string) result {
	t.Helper()
	if !strings.Contains(r.errOut, part) {
		t.Fatalf("stderr %q does not hold %q", r.errOut, part)
	}
	return r
}

// decode reads stdout as one JSON document and nothing else.
func (r result) decode(t *testing.T) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(r.out))
	doc := map[string]any{}
	if err := dec.Decode(&doc); err != nil {
		t.Fatalf("stdout is no JSON document: %v\n%s", err, r.out)
	}
	if dec.More() {
		t.Fatalf("stdout holds more than one document:\n%s", r.out)
	}
	return doc
}

// hostile is a state name that would set the terminal's title and colours.
const hostile = "evil\x1b]0;title\x07\x1b[31m"

// smallCheckpoint writes a checkpoint made by our own encoder: a union list and
// a split list in two subtasks, one with a hostile name, and coordinator state.
func smallCheckpoint(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "chk-7")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	stream := bytes.Repeat([]byte("0123456789abcdef"), 4)
	state := func(name string, mode byte, offsets ...int64) metadata.OperatorState {
		return metadata.OperatorState{Name: name, Mode: mode, Offsets: metadata.NewOffsets(offsets)}
	}
	subtask := func(i int32, file string) metadata.Subtask {
		writeFile(t, filepath.Join(dir, file), stream)
		return metadata.Subtask{Index: i, State: &metadata.SubtaskState{
			ManagedOperatorPresence: 1,
			ManagedOperator: &metadata.OperatorHandle{
				Type:     metadata.TypePartitionable,
				States:   []metadata.OperatorState{state("offsets", metadata.ModeUnion, 0, 16), state(hostile, metadata.ModeSplit, 32, 48)},
				Delegate: metadata.StreamHandle{Type: metadata.TypeRelativeFile, Name: file, Size: int64(len(stream))},
			},
		}}
	}
	c := &metadata.Checkpoint{Version: 3, ID: 7, Operators: []metadata.Operator{{
		ID: metadata.OperatorIDOf("orders"), Parallelism: 2, MaxParallelism: 128, SubtaskCount: 2,
		Coordinator: &metadata.StreamHandle{Type: metadata.TypeByteStream, Name: "coordinator", Data: metadata.Blob{New: []byte("splits")}},
		Subtasks:    []metadata.Subtask{subtask(0, "state-0"), subtask(1, "state-1")},
	}}}
	var b bytes.Buffer
	if _, err := metadata.Encode(&b, c); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "_metadata"), b.Bytes())
	return dir
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestUsage(t *testing.T) {
	dir := smallCheckpoint(t)
	tests := []struct {
		name string
		args []string
		err  string
	}{
		{"unknown command", []string{"reprot", dir}, `did you mean "chkscope report`},
		{"two URIs", []string{dir, dir}, `type "chkscope help"`},
		{"no URI for report", []string{"report"}, `type "chkscope report URI"`},
		{"unknown flag", []string{"report", "--nope", dir}, `type "chkscope report --help"`},
		{"unknown flag of no command", []string{"--nope"}, "chkscope: unknown flag: --nope; type"},
		{"bad fail-on", []string{"report", "--fail-on", "much", dir}, "info, warn, critical or never"},
		{"bad lens", []string{"ls", "--lens", "wide", dir}, "metadata, state or files"},
		{"bad sort", []string{"ls", "--sort", "age", dir}, "size, name or count"},
		{"bad depth", []string{"ls", "--depth", "0", dir}, "--depth 0"},
		{"bad colour", []string{"report", "--color", "pink", dir}, "auto, always or never"},
		{"bad map", []string{"report", "--map", "nowhere", dir}, "--map FROM=TO"},
		{"bad limit", []string{"ls", "--limit", "-1", dir}, "--limit -1"},
		{"bad limit of export", []string{"export", "--limit", "-1", dir, "*"}, "--limit -1"},
		{"bad frame size", []string{"report", "--framesize", "0", dir}, "--framesize 0"},
		{"no number", []string{"report", "--framesize", "ten", dir}, "type a whole number"},
		{"a number too large", []string{"report", "--framesize", "99999999999999999999", dir}, "too large"},
		{"no uid file", []string{"report", "--uids", filepath.Join(dir, "none"), dir}, "--uids"},
		{"no job graph", []string{"report", "--job-graph", filepath.Join(dir, "state-0"), dir}, "--job-graph"},
		{"selector without a match", []string{"show", dir, "orders/operator/nothing"}, "matches nothing"},
		{"selector that cannot be read", []string{"show", dir, "orders/operator/x/y/z/0"}, "selector"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := run(append(test.args, "--uid", "orders")...).wantCode(t, exitUsage).wantErr(t, test.err)
			if r.out != "" {
				t.Errorf("stdout of wrong use: %q", r.out)
			}
			if strings.HasPrefix(r.errOut, "chkscope: chkscope: ") {
				t.Errorf("said twice: %s", r.errOut)
			}
		})
	}
}

func TestWithoutURI(t *testing.T) {
	t.Chdir(t.TempDir())
	run().wantCode(t, exitUsage).wantErr(t, "chkscope demo")
	t.Chdir(smallCheckpoint(t))
	run("--fail-on", "never").wantCode(t, exitOK)
}

func TestCannotBeRead(t *testing.T) {
	run("report", filepath.Join(t.TempDir(), "none")).wantCode(t, exitFailed).wantErr(t, "does not exist")
	run("report", "hdfs://cluster/chk-1").wantCode(t, exitFailed).wantErr(t, "--map FROM=TO")
	run("report", t.TempDir()).wantCode(t, exitFailed).wantErr(t, "holds no _metadata")
}

// TestDamaged cuts the file at several places: the document is there in part,
// one sentence is on stderr, the exit code is 3.
func TestDamaged(t *testing.T) {
	dir := smallCheckpoint(t)
	path := filepath.Join(dir, "_metadata")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 3, 7, 20, 40, len(whole) / 2, len(whole) - 1} {
		writeFile(t, path, whole[:cut])
		for _, args := range [][]string{{"report"}, {"ls"}, {"verify"}} {
			r := run(args[0], "--json", dir).wantCode(t, exitFailed)
			if n := strings.Count(r.errOut, "\n"); n != 1 {
				t.Errorf("%s cut at %d: %d lines on stderr, want one: %q", args[0], cut, n, r.errOut)
			}
			doc := r.decode(t)
			if c, ok := doc["checkpoint"].(map[string]any); ok {
				doc = c
			}
			if doc["complete"] != false || doc["damage"] == nil {
				t.Errorf("%s cut at %d: complete %v, damage %v", args[0], cut, doc["complete"], doc["damage"])
			}
			run(args[0], dir).wantCode(t, exitFailed)
		}
	}
}

func TestUnknownVersion(t *testing.T) {
	dir := smallCheckpoint(t)
	path := filepath.Join(dir, "_metadata")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[7] = 99
	writeFile(t, path, data)
	r := run("report", "--json", dir).wantCode(t, exitFailed).wantErr(t, "99")
	if ops, _ := r.decode(t)["operators"].([]any); ops == nil || len(ops) != 0 {
		t.Errorf("operators of an unknown version: %v, want an empty list", ops)
	}
}

// TestNoEscapes: text from the file never brings an escape sequence, and there
// is none of ours where stdout is not a terminal, whatever --color says.
func TestNoEscapes(t *testing.T) {
	dir := smallCheckpoint(t)
	commands := [][]string{{"report"}, {"ls", "--depth", "3"}, {"verify"}, {"show", dir, "*/operator/*"}, {"show", dir, "*"}}
	for _, args := range commands {
		if len(args) == 1 || args[0] == "ls" {
			args = append(args, dir)
		}
		for _, color := range []string{"auto", "always"} {
			r := run(append(args, "--color", color)...)
			if strings.ContainsAny(r.out+r.errOut, "\x1b\x07") {
				t.Errorf("%v --color %s: escape sequence in %q", args, color, r.out)
			}
		}
		r := session{tty: true, env: map[string]string{"NO_COLOR": "0"}}.run(args...)
		if strings.ContainsAny(r.out, "\x1b\x07") {
			t.Errorf("%v with NO_COLOR: escape sequence in %q", args, r.out)
		}
	}
	if r := (session{tty: true}).run("report", "--color", "always", dir); !strings.Contains(r.out, "\x1b[1m") || strings.Contains(r.out, "\x1b]0;") {
		t.Errorf("on a terminal: %q", r.out)
	}
}

func TestEnvironment(t *testing.T) {
	dir := smallCheckpoint(t)
	uid := func(r result) any {
		return r.wantCode(t, exitOK).decode(t)["operators"].([]any)[0].(map[string]any)["uid"]
	}
	env := session{env: map[string]string{"CHKSCOPE_UID": "payments\norders", "CHKSCOPE_JSON": "true"}}
	if got := uid(env.run("report", "--fail-on", "never", dir)); got != "orders" {
		t.Errorf("uid from the environment: %v", got)
	}
	if got := uid(env.run("report", "--fail-on", "never", "--uid", "other", dir)); got != nil {
		t.Errorf("the flag does not come before the environment: %v", got)
	}
	session{env: map[string]string{"CHKSCOPE_FRAMESIZE": "ten"}}.run("report", dir).wantCode(t, exitUsage).wantErr(t, `CHKSCOPE_FRAMESIZE="ten": type a whole number`)
	run("report", "--fail-on", "never", "--uid", "other", dir).wantErr(t, `no operator has the uid "other"`)
}

func TestParentDirectory(t *testing.T) {
	dir := smallCheckpoint(t)
	parent := filepath.Dir(dir)
	if err := os.Mkdir(filepath.Join(parent, "chk-8"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := run("report", "--json", "--fail-on", "never", parent).wantCode(t, exitOK).wantErr(t, "chk-7")
	if uri := r.decode(t)["checkpoint"].(map[string]any)["uri"]; uri != store.FileURI(filepath.Join(dir, "_metadata")) {
		t.Errorf("opened %v", uri)
	}
}

// TestVerifyFiles: what is gone, empty or of another length is a problem.
func TestVerifyFiles(t *testing.T) {
	tests := []struct {
		rule string
		harm func(path string) error
	}{
		{"missing-file", os.Remove},
		{"empty-file", func(p string) error { return os.Truncate(p, 0) }},
		{"wrong-length", func(p string) error { return os.Truncate(p, 63) }},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			dir := smallCheckpoint(t)
			if doc := run("verify", "--json", dir).wantCode(t, exitOK).decode(t); doc["ok"] != true || doc["lossless"] != true || doc["files_checked"] != 2.0 || doc["bytes_checked"] != 128.0 {
				t.Fatalf("a sound checkpoint: %v", doc)
			}
			if err := test.harm(filepath.Join(dir, "state-1")); err != nil {
				t.Fatal(err)
			}
			doc := run("verify", "--json", dir).wantCode(t, exitFindings).decode(t)
			problems := doc["problems"].([]any)
			if len(problems) != 1 || problems[0].(map[string]any)["rule"] != test.rule {
				t.Errorf("problems: %v", problems)
			}
			run("verify", dir).wantCode(t, exitFindings)
		})
	}
}

func TestMapIsFollowed(t *testing.T) {
	dir := smallCheckpoint(t)
	r := run("verify", "--json", "--map", "s3://bucket/job="+filepath.Dir(dir), "s3://bucket/job/chk-7").wantCode(t, exitOK)
	if doc := r.decode(t); doc["files_checked"] != 2.0 {
		t.Errorf("mapped: %v", doc)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errOut bytes.Buffer
	p := &program{out: &out, err: &errOut, getenv: os.Getenv}
	if code := p.run(ctx, []string{"verify", smallCheckpoint(t)}); code != exitInterrupted {
		t.Errorf("exit code %d, want %d: %s", code, exitInterrupted, errOut.String())
	}
}

// TestLogAndSecrets: --log takes notices and requests; a secret in a URI is in
// none of the outputs.
func TestLogAndSecrets(t *testing.T) {
	dir := smallCheckpoint(t)
	log := filepath.Join(t.TempDir(), "log")
	uri := "s3n://KEY:SECRET@bucket/job/chk-7"
	r := run("verify", "--log", log, "--uid", "other", "--map", "s3n://bucket/job="+filepath.Dir(dir), uri)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	r.wantCode(t, exitOK)
	if !strings.Contains(string(text), `no operator has the uid "other"`) {
		t.Errorf("the notice is not in the log: %s", text)
	}
	for _, args := range [][]string{{"report"}, {"report", "--json"}, {"verify", "--json"}, {"show", "--json"}} {
		args = append(args, "--map", "s3n://bucket/job="+filepath.Dir(dir), uri)
		if args[0] == "show" {
			args = append(args, "*")
		}
		more := run(args...)
		r.out, r.errOut = r.out+more.out, r.errOut+more.errOut
	}
	if all := r.out + r.errOut + string(text); strings.Contains(all, "SECRET") {
		t.Errorf("the secret was printed:\n%s", all)
	}
	run("report", "--log", filepath.Join(dir, "none", "log"), dir).wantCode(t, exitUsage)
}

// TestMapHint: a checkpoint whose absolute paths name another place is told how
// to be read.
func TestMapHint(t *testing.T) {
	dir, _ := fixture(t, "v4-rocks-incremental")
	for _, command := range []string{"report", "verify"} {
		r := run(command, dir).wantCode(t, exitFindings).wantErr(t, "--map 'file:/flink/v4-rocks-incremental=")
		_, rest, _ := strings.Cut(r.errOut, "--map '")
		hint, _, _ := strings.Cut(rest, "'")
		run(command, dir, "--map", hint).wantCode(t, exitOK)
	}
}

// TestFrameSize: the frame size may be pasted as Flink writes it.
func TestFrameSize(t *testing.T) {
	dir, flags := fixture(t, "v4-heap-checkpoint")
	for _, size := range []string{"1", "1b"} {
		run(append([]string{"report", dir, "--framesize", size}, flags...)...).wantCode(t, exitFindings).wantOut(t, "deployment-over-framesize")
	}
}
