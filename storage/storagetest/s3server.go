package storagetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// S3Server is a running S3 server: versitygw on a directory, of the version in
// storage/testserver/go.mod.
type S3Server struct {
	Endpoint          string // http://127.0.0.1:PORT
	AccessKey, Secret string
	Bucket            string // an empty bucket
	Dir               string // the bucket's files
}

// StartS3 starts a server for the time of the test, or skips the test where it
// cannot be built (no network and nothing cached).
func StartS3(t testing.TB) *S3Server {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no S3 test server")
	}
	binary, err := buildServer()
	if err != nil {
		t.Skipf("the S3 test server cannot be built (go -C storage/testserver build github.com/versity/versitygw/cmd/versitygw): %v", err)
	}
	root := t.TempDir()
	s := &S3Server{AccessKey: "test", Secret: "testtest-secret", Bucket: "bucket", Dir: filepath.Join(root, "bucket")}
	if err := os.Mkdir(s.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	addr := freeAddress(t)
	cmd := exec.Command(binary, "--quiet", "--keep-alive", "--port", addr, "posix", root)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY_ID="+s.AccessKey, "ROOT_SECRET_ACCESS_KEY="+s.Secret)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		log.Close()
	})
	s.Endpoint = "http://" + addr
	for range 100 {
		if resp, err := http.Get(s.Endpoint); err == nil {
			resp.Body.Close()
			return s
		}
		time.Sleep(50 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	t.Fatalf("the S3 test server does not answer: %s", text)
	return nil
}

func freeAddress(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// buildServer builds the server once and keeps it in the user's cache.
var buildServer = sync.OnceValues(func() (string, error) {
	module, err := serverModule()
	if err != nil {
		return "", err
	}
	pin, err := os.ReadFile(filepath.Join(module, "go.mod"))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "chkscope-test", fmt.Sprintf("%x", sha256.Sum256(pin))[:16])
	binary := filepath.Join(dir, "versitygw")
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	fmt.Fprintln(os.Stderr, "building the S3 test server, once; this takes some minutes (-short does without)")
	fresh := fmt.Sprintf("%s.%d", binary, os.Getpid())
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "build", "-o", fresh, "github.com/versity/versitygw/cmd/versitygw")
	build.Dir = module
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %.500s", err, out)
	}
	return binary, os.Rename(fresh, binary)
})

// serverModule looks for storage/testserver upwards of the working directory,
// which in tests is that of the package.
func serverModule() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		module := filepath.Join(dir, "storage", "testserver")
		if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
			return module, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("storage/testserver is not found")
		}
		dir = up
	}
}
