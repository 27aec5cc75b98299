package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chkscope/storage/storagetest"
)

// s3Session starts an S3 server that holds incidentFiles at s3://bucket/in, and
// a proxy before it. Every flag is given, so that no configuration of who runs
// the test counts.
func s3Session(t *testing.T) (*storagetest.S3Server, *storagetest.Proxy, func(args ...string) result) {
	server := storagetest.StartS3(t)
	proxy := storagetest.StartProxy(t, server.Endpoint)
	for k, v := range s3Environment(server) {
		t.Setenv(k, v)
	}
	if err := os.CopyFS(filepath.Join(server.Dir, "in"), os.DirFS(incidentFiles)); err != nil {
		t.Fatal(err)
	}
	return server, proxy, func(args ...string) result {
		return run(append(args, "--s3-endpoint", proxy.URL, "--s3-region", "us-east-1")...)
	}
}

// s3Environment is that of who may use the server.
func s3Environment(server *storagetest.S3Server) map[string]string {
	return map[string]string{"AWS_ACCESS_KEY_ID": server.AccessKey, "AWS_SECRET_ACCESS_KEY": server.Secret,
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_PROFILE": "", "AWS_SESSION_TOKEN": ""}
}

// TestS3Prune: S3 to S3, S3 to local and back, each read as the local one is.
func TestS3Prune(t *testing.T) {
	server, _, s3 := s3Session(t)
	const drop = "kafka-source/operator/topic-partition-offset-states"
	want := run("report", incidentFiles, "--json", "--fail-on", "never").wantCode(t, exitOK).decode(t)
	got := s3("report", "s3://bucket/in", "--json", "--fail-on", "never").wantCode(t, exitOK).decode(t)
	for _, part := range []string{"totals", "operators"} {
		if a, b := encoded(t, want[part]), encoded(t, got[part]); a != b {
			t.Errorf("%s differ: %s\n%s", part, a, b)
		}
	}
	local := filepath.Join(t.TempDir(), "local")
	for _, c := range [][2]string{{"s3a://bucket/in", "s3a://bucket/out"}, {"s3://bucket/out", local}, {local, "s3://bucket/back"}} {
		args := []string{"copy", c[0], "--to", c[1], "--copy", "full", "--yes"}
		if c[0] == "s3a://bucket/in" {
			args = []string{"prune", c[0], "--drop", drop, "--uid", "kafka-source", "--to", c[1], "--copy", "full", "--yes"}
		}
		s3(args...).wantCode(t, exitOK)
		s3("verify", c[1]).wantCode(t, exitOK)
	}
	a, err := os.ReadFile(filepath.Join(server.Dir, "out", "_metadata"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(server.Dir, "back", "_metadata")); err != nil || string(a) != string(b) {
		t.Errorf("three copies later _metadata is another one: %v", err)
	}
	s3("copy", "s3://bucket/in", "--to", "s3://bucket/out", "--copy", "full", "--yes").wantCode(t, exitUsage).wantErr(t, "not empty")
	s3("report", "s3://bucket", "--fail-on", "never").wantCode(t, exitOK).wantErr(t, "s3://bucket/ is a parent directory with 3 complete checkpoints")
	s3("report", "s3://bucket/in/_metadata", "--fail-on", "never").wantCode(t, exitOK)
	s3("report", "s3://bucket/nothing").wantCode(t, exitFailed).wantErr(t, "s3://bucket/nothing")
	s3("report", "s3://elsewhere/in").wantCode(t, exitFailed).wantErr(t, `bucket "elsewhere" does not exist`)
}

// TestS3PruneGoesOn: when the store refuses at any step of a write nothing is
// there that Flink would take for a checkpoint, and the same command goes on.
func TestS3PruneGoesOn(t *testing.T) {
	server, proxy, s3 := s3Session(t)
	args := []string{"copy", "s3://bucket/in", "--to", "s3://bucket/out", "--copy", "full", "--yes"}
	metadata := filepath.Join(server.Dir, "out", "_metadata")
	for refused := 0; ; refused++ {
		left := refused
		proxy.Inject(func(r *http.Request) storagetest.Fault {
			if r.Method != http.MethodPut && r.Method != http.MethodPost {
				return storagetest.Fault{}
			}
			if left--; left < 0 {
				return storagetest.Fault{Status: http.StatusForbidden, Code: "AccessDenied"}
			}
			return storagetest.Fault{}
		})
		r := s3(args...)
		_, there := os.Stat(metadata)
		t.Logf("after %d writes: exit %d, _metadata is there: %v: %s", refused, r.code, there == nil, strings.TrimSpace(r.errOut))
		if r.code == exitOK {
			if refused < 3 {
				t.Errorf("a copy with %d writes", refused)
			}
			break
		}
		r.wantCode(t, exitFailed).wantErr(t, "access denied")
		if there == nil && !strings.Contains(r.errOut, "report") {
			t.Fatalf("after %d writes _metadata is there: %s", refused, r.errOut)
		}
	}
	proxy.Inject(nil)
	s3("verify", "s3://bucket/out").wantCode(t, exitOK)
	if names, err := filepath.Glob(filepath.Join(server.Dir, "out", "_chkscope*")); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
