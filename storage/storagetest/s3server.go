package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
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

// S3Server is a running S3 server.
type S3Server struct {
	Endpoint          string // http://127.0.0.1:PORT
	AccessKey, Secret string
	Bucket            string // an empty bucket
	// Dir is the bucket's directory. That of versitygw holds the objects as files.
	Dir string
}

// product is an S3 server that tests start. Its version is pinned in a module of
// its own, so that nobody who builds chkscope gets it.
type product struct {
	name, pkg string
	module    string // below storage/testserver
	args      func(root, address string) []string
	env       func(*S3Server) []string

	once sync.Once
	path string // of the binary
	err  error
}

var versitygw = &product{
	name: "versitygw", pkg: "github.com/versity/versitygw/cmd/versitygw", module: ".",
	args: func(root, address string) []string {
		return []string{"--quiet", "--keep-alive", "--port", address, "posix", root}
	},
	env: func(s *S3Server) []string {
		return []string{"ROOT_ACCESS_KEY_ID=" + s.AccessKey, "ROOT_SECRET_ACCESS_KEY=" + s.Secret}
	},
}

// minio keeps its own format on the disk. It has one KMS key, of the test's own.
var minio = &product{
	name: "minio", pkg: "github.com/minio/minio", module: "minio",
	args: func(root, address string) []string {
		return []string{"server", "--quiet", "--address", address, root}
	},
	env: func(s *S3Server) []string {
		return []string{"MINIO_ROOT_USER=" + s.AccessKey, "MINIO_ROOT_PASSWORD=" + s.Secret, "MINIO_BROWSER=off", "MINIO_UPDATE=off", "MINIO_CI_CD=on",
			"MINIO_KMS_SECRET_KEY=test-key:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))}
	},
}

// AllServers is the environment variable that asks for the second server too: to
// build it takes minutes more.
const AllServers = "CHKSCOPE_S3_SERVERS"

// StartS3 starts versitygw for the time of the test, or skips the test where it
// cannot be built (no network and nothing cached).
func StartS3(t testing.TB) *S3Server {
	t.Helper()
	return versitygw.start(t)
}

// StartMinIO starts MinIO in the same way, but only where AllServers is "all" or
// it was built before.
func StartMinIO(t testing.TB) *S3Server {
	t.Helper()
	if _, err := os.Stat(minio.binary()); err != nil && os.Getenv(AllServers) != "all" {
		t.Skipf("MinIO, the second S3 server, is tested with %s=all, which builds it once, or where that was done", AllServers)
	}
	return minio.start(t)
}

func (p *product) start(t testing.TB) *S3Server {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no S3 test server")
	}
	p.once.Do(func() { p.path, p.err = p.build() })
	if p.err != nil {
		t.Skipf("the S3 test server cannot be built (%s in storage/testserver/%s): %v", p.pkg, p.module, p.err)
	}
	root := t.TempDir()
	s := &S3Server{AccessKey: "test", Secret: "testtest-secret", Bucket: "bucket", Dir: filepath.Join(root, "bucket")}
	if err := os.Mkdir(s.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	cmd := exec.Command(p.path, p.args(root, address)...)
	cmd.Env = append(os.Environ(), p.env(s)...)
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
	s.Endpoint = "http://" + address
	for range 600 {
		if resp, err := http.Get(s.Endpoint); err == nil {
			resp.Body.Close()
			if resp.StatusCode < 500 {
				return s
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	t.Fatalf("%s does not answer: %s", p.name, text)
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

// binary is where the server of the pinned version is kept, in the user's cache;
// "" where that cannot be known.
func (p *product) binary() string {
	module, err := serverModules()
	if err != nil {
		return ""
	}
	pin, err := os.ReadFile(filepath.Join(module, p.module, "go.mod"))
	if err != nil {
		return ""
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "chkscope-test", fmt.Sprintf("%x", sha256.Sum256(pin))[:16], p.name)
}

// build builds the server once and keeps it.
func (p *product) build() (string, error) {
	module, err := serverModules()
	if err != nil {
		return "", err
	}
	binary := p.binary()
	if binary == "" {
		return "", errors.New("there is no cache directory")
	}
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	if err := os.MkdirAll(filepath.Dir(binary), 0o777); err != nil {
		return "", err
	}
	fmt.Fprintf(os.Stderr, "building the S3 test server %s, once; this takes some minutes (-short does without)\n", p.name)
	fresh := fmt.Sprintf("%s.%d", binary, os.Getpid())
	patience := 8 * time.Minute // go test gives a package ten
	if os.Getenv(AllServers) == "all" {
		patience = 25 * time.Minute // with -timeout 30m
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "build", "-o", fresh, p.pkg)
	build.Dir = filepath.Join(module, p.module)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %.500s", err, out)
	}
	return binary, os.Rename(fresh, binary)
}

// serverModules looks for storage/testserver upwards of the working directory,
// which in tests is that of the package.
func serverModules() (string, error) {
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
