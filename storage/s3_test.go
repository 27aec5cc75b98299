package storage

import (
	"testing"

	"chkscope/storage/storagetest"
)

// useServer starts a server and makes its credentials those of the environment.
func useServer(t testing.TB) *storagetest.S3Server {
	t.Helper()
	return credentialsOf(t, storagetest.StartS3(t))
}

func credentialsOf(t testing.TB, s *storagetest.S3Server) *storagetest.S3Server {
	cleanAWS(t)
	setenv(t, "AWS_ACCESS_KEY_ID", s.AccessKey)
	setenv(t, "AWS_SECRET_ACCESS_KEY", s.Secret)
	return s
}

// cleanAWS hides the configuration of who runs the test.
func cleanAWS(t testing.TB) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_CA_BUNDLE"} {
		setenv(t, name, "")
	}
	setenv(t, "AWS_CONFIG_FILE", "/dev/null")
	setenv(t, "AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	setenv(t, "AWS_EC2_METADATA_DISABLED", "true")
}

func setenv(t testing.TB, k, v string) {
	switch t := t.(type) {
	case *testing.T:
		t.Setenv(k, v)
	case *testing.B:
		t.Setenv(k, v)
	}
}

func TestS3(t *testing.T) { suite(t, useServer(t)) }

// TestS3MinIO is the same against another server.
func TestS3MinIO(t *testing.T) { suite(t, credentialsOf(t, storagetest.StartMinIO(t))) }

func suite(t *testing.T, s *storagetest.S3Server) {
	t.Run("plain", func(t *testing.T) {
		storagetest.Run(t, newS3(S3Options{Endpoint: s.Endpoint}, nil), "s3://bucket/plain")
	})
	t.Run("router", func(t *testing.T) {
		var m Meter
		storagetest.Run(t, New(Options{S3: S3Options{Endpoint: s.Endpoint}, Meter: &m}), "s3a://bucket/router")
		if n := m.Totals(); n.Requests == 0 || n.Read == 0 || n.Written == 0 {
			t.Errorf("counted: %+v", n)
		}
	})
}
