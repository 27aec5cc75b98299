package storage

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chkscope/storage/storagetest"
)

// cloud plays the services that give credentials: instance metadata, a
// container's agent, STS and SSO. With refuse they say no.
type cloud struct {
	*httptest.Server
	key, secret string
	refuse      bool
}

func startCloud(t *testing.T, key, secret string) *cloud {
	c := &cloud{key: key, secret: secret}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	expires := time.Now().Add(time.Hour).UTC()
	text := expires.Format(time.RFC3339)
	switch p := r.URL.Path; {
	case c.refuse && p == "/":
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>User is not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>`)
	case c.refuse && p == "/federation/credentials":
		w.Header().Set("X-Amzn-ErrorType", "UnauthorizedException")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"message":"Session token not found or invalid"}`)
	case c.refuse:
		w.WriteHeader(http.StatusNotFound)
	case p == "/latest/api/token":
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "600")
		fmt.Fprint(w, "token")
	case p == "/latest/meta-data/iam/security-credentials/":
		fmt.Fprint(w, "role")
	case p == "/latest/meta-data/iam/security-credentials/role", p == "/agent":
		fmt.Fprintf(w, `{"Code":"Success","Type":"AWS-HMAC","AccessKeyId":%q,"SecretAccessKey":%q,"Token":"","Expiration":%q}`, c.key, c.secret, text)
	case p == "/federation/credentials":
		fmt.Fprintf(w, `{"roleCredentials":{"accessKeyId":%q,"secretAccessKey":%q,"sessionToken":"","expiration":%d}}`, c.key, c.secret, expires.UnixMilli())
	case p == "/":
		if err := r.ParseForm(); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		action := r.Form.Get("Action")
		fmt.Fprintf(w, `<%[1]sResponse><%[1]sResult><Credentials><AccessKeyId>%[2]s</AccessKeyId><SecretAccessKey>%[3]s</SecretAccessKey><SessionToken></SessionToken><Expiration>%[4]s</Expiration></Credentials></%[1]sResult></%[1]sResponse>`, action, c.key, c.secret, text)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// TestS3CredentialChain: credentials come from wherever the AWS CLI takes them,
// and where they do not come the sentence says from where not, and what to do.
func TestS3CredentialChain(t *testing.T) {
	server := storagetest.StartS3(t)
	cleanAWS(t)
	if err := putTo(New(Options{S3: S3Options{Endpoint: server.Endpoint, Anonymous: true}}), "s3://bucket/x", nil); err == nil {
		t.Fatal("the server takes requests without credentials")
	}
	cloud := startCloud(t, server.AccessKey, server.Secret)
	home := t.TempDir()
	config := filepath.Join(home, "config")
	write(t, config, `[profile static]
aws_access_key_id = `+server.AccessKey+`
aws_secret_access_key = `+server.Secret+`
[profile process]
credential_process = printf '{"Version":1,"AccessKeyId":"`+server.AccessKey+`","SecretAccessKey":"`+server.Secret+`"}'
[profile broken]
credential_process = false
[profile assumed]
role_arn = arn:aws:iam::1:role/r
source_profile = static
region = us-east-1
[profile sso]
sso_session = s
sso_account_id = 1
sso_role_name = r
region = us-east-1
[sso-session s]
sso_region = us-east-1
sso_start_url = https://example.invalid/start
`)
	// The name is the SHA-1 of the session's name.
	write(t, mkdir(t, filepath.Join(home, ".aws/sso/cache"))+"/a0f1490a20d0211c997b44bc357e1972deab8ae3.json",
		`{"accessToken":"t","expiresAt":"`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`"}`)
	write(t, filepath.Join(home, "token"), "jwt")
	web := map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": filepath.Join(home, "token"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/r", "AWS_REGION": "us-east-1"}
	for _, c := range []struct {
		name, profile string
		env           map[string]string
		refused       []string
	}{
		{"environment", "", map[string]string{"AWS_ACCESS_KEY_ID": server.AccessKey, "AWS_SECRET_ACCESS_KEY": server.Secret}, nil},
		{"profile", "static", nil, nil},
		{"process", "process", nil, nil},
		{"broken process", "broken", nil, []string{"the credential_process of the profile failed"}},
		{"instance", "", map[string]string{"AWS_EC2_METADATA_DISABLED": "false"}, []string{"no role of the instance", "--s3-profile"}},
		{"container", "", map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": cloud.URL + "/agent"}, []string{"the container's role", "AWS_CONTAINER_CREDENTIALS"}},
		{"web identity", "", web, []string{"STS gave no", "AWS_ROLE_ARN", "sts:AssumeRole"}},
		{"token file is missing", "", map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": filepath.Join(home, "no"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/r", "AWS_REGION": "us-east-1"}, []string{"AWS_WEB_IDENTITY_TOKEN_FILE"}},
		{"assumed role", "assumed", nil, []string{"STS gave no", "role_arn", "sts:AssumeRole"}},
		{"SSO", "sso", nil, []string{"SSO", "aws sso login --profile sso"}},
		{"SSO, never logged in", "sso", map[string]string{"HOME": t.TempDir()}, []string{"SSO", "aws sso login --profile sso"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for k, v := range map[string]string{"HOME": home, "AWS_CONFIG_FILE": config, "AWS_EC2_METADATA_SERVICE_ENDPOINT": cloud.URL,
				"AWS_ENDPOINT_URL_STS": cloud.URL, "AWS_ENDPOINT_URL_SSO": cloud.URL} {
				t.Setenv(k, v)
			}
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			try := func() error {
				r := New(Options{S3: S3Options{Endpoint: server.Endpoint, Profile: c.profile, Attempts: 1}})
				_, err := r.List(ctx, "s3://bucket/")
				return err
			}
			alone := strings.HasPrefix(c.name, "broken") || strings.Contains(c.name, "missing") || strings.Contains(c.name, "never")
			if cloud.refuse = false; !alone {
				if err := try(); err != nil {
					t.Fatal(err)
				}
			}
			if c.refused == nil {
				return
			}
			cloud.refuse = true
			err := try()
			if err == nil {
				t.Fatal("refused credentials were not missed")
			}
			for _, want := range c.refused {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: no %q in it", err, want)
				}
			}
		})
	}
}
