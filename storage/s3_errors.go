package storage

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"unicode"

	"chkscope/model/store"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go"
)

// sentence makes of what S3, the SDK or the network said an Error that tells
// which of credentials, region, bucket, key, permission or connection it was,
// and what to try.
func (s *s3Store) sentence(op, uri string, err error) error {
	var done *Error
	if err == nil || errors.As(err, &done) {
		return err
	}
	e := &Error{Op: op, URI: uri, Err: s.hidden(err)}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && httpStatus(err) == 0 {
		e.Problem = "it was stopped"
		return e
	}
	at := parseS3(uri)
	switch code := errorCode(err); {
	case s.credentialsError(e, code, err):
	case s.placeError(e, at, code, httpStatus(err)):
	case s.writeError(e, code, httpStatus(err)):
	case code != "":
		e.Problem = "S3 answered " + code
	default:
		s.connectionError(e, err)
	}
	if m := s.message(err); m != "" {
		e.Problem += ": " + m
	}
	return e
}

// credentialsError: who asks, and when.
func (s *s3Store) credentialsError(e *Error, code string, err error) bool {
	const how = "log in again (aws sso login), or set AWS_PROFILE or --s3-profile"
	var noProfile config.SharedConfigProfileNotExistError
	switch {
	case s.sourceError(e, err):
	case errors.As(err, &noProfile):
		e.Problem, e.Hint = fmt.Sprintf("the profile %q is in neither of the AWS configuration files", noProfile.Profile), "aws configure list-profiles"
	case code == "InvalidAccessKeyId", code == "XAdminUserNotFound": // the latter is versitygw's
		e.Problem, e.Hint = "S3 does not know the access key of the credentials", "they may be for another account or another S3 store (--s3-endpoint); --s3-profile chooses others"
	case code == "SignatureDoesNotMatch":
		e.Problem, e.Hint = "the secret key does not fit the access key", "look at AWS_SECRET_ACCESS_KEY or the profile; a proxy that changes requests does this too"
	case code == "ExpiredToken", code == "ExpiredTokenException", code == "TokenRefreshRequired":
		e.Problem, e.Hint = "the credentials have expired", how
	case code == "InvalidToken", code == "InvalidClientTokenId", code == "UnrecognizedClientException":
		e.Problem, e.Hint = "the session token of the credentials is not valid", how
	case code == "RequestTimeTooSkewed", code == "RequestExpired":
		e.Problem, e.Hint = "the clock of this machine is too far from that of S3", "set the clock (timedatectl, ntp)"
	default:
		return false
	}
	e.Kind = store.ErrCannotAsk
	return true
}

// sourceError: where credentials come from. The SDK has no types of its own for
// this, and what STS or SSO answered looks like an answer of S3.
func (s *s3Store) sourceError(e *Error, err error) bool {
	text := err.Error()
	has := func(marks ...string) bool {
		return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(text, mark) })
	}
	if !has("get identity:", "get credentials:", "failed to refresh cached credentials", "failed to retrieve credentials", "static credentials are empty") {
		return false
	}
	login := "aws sso login"
	if s.o.Profile != "" {
		login += " --profile " + s.o.Profile
	}
	switch {
	case has("credential_process"):
		e.Problem, e.Hint = "the credential_process of the profile failed", "run the command by hand, it is in the AWS configuration file"
	case has("SSO"):
		e.Problem, e.Hint = "the SSO login has ended, was never made, or does not give this role", login
	case has("WebIdentity", "jwt"):
		e.Problem, e.Hint = "STS gave no credentials for the web identity", "look at AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE and whom the role trusts"
	case has("STS"):
		e.Problem, e.Hint = "STS gave no credentials for the role of the profile", "look at role_arn and source_profile, and whom the role trusts"
	case has("failed to load credentials"):
		e.Problem, e.Hint = "the container's role gave no credentials", "look at the role of the task or pod, and at AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI"
	default:
		e.Problem = "no usable credentials were found: none in the environment or a profile, and no role of the instance"
		e.Hint = "set AWS_PROFILE or --s3-profile, log in (" + login + "), or --s3-anonymous for a public bucket"
	}
	return true
}

// placeError: where it is, and whether one may.
func (s *s3Store) placeError(e *Error, at s3Place, code string, status int) bool {
	writing := e.Op == "write" || e.Op == "create" || e.Op == "copy" || e.Op == "remove"
	switch {
	case code == "NoSuchBucket":
		e.Kind, e.Problem = store.ErrNotExist, fmt.Sprintf("the bucket %q does not exist", at.bucket)
		e.Hint = "look at its name; a bucket of another S3 store needs --s3-endpoint"
	case code == "InvalidBucketName":
		e.Problem = fmt.Sprintf("%q is not a name that a bucket can have", at.bucket)
	case code == "NoSuchKey", code == "NotFound", status == http.StatusNotFound && code == "":
		e.Kind, e.Problem = store.ErrNotExist, "it does not exist"
	case code == "PermanentRedirect", code == "AuthorizationHeaderMalformed", code == "IllegalLocationConstraintException",
		status == http.StatusMovedPermanently, code == "TemporaryRedirect":
		e.Kind, e.Problem, e.Hint = store.ErrCannotAsk, fmt.Sprintf("the bucket %q is in another region", at.bucket), "name it with --s3-region"
	case strings.HasPrefix(strings.ToLower(code), "kms"): // KMS.DisabledException; MinIO: kms:KeyNotFound
		e.Kind, e.Problem, e.Hint = store.ErrCannotAsk, "its KMS key cannot be used ("+code+")", "the key must be enabled and the identity allowed to use it"
	case code == "InvalidObjectState":
		e.Kind, e.Problem, e.Hint = store.ErrCannotAsk, "it is archived (Glacier)", "restore it first: aws s3api restore-object"
	case status == http.StatusForbidden, code == "AccessDenied", code == "Forbidden", status == http.StatusUnauthorized:
		e.Kind, e.Problem = store.ErrCannotAsk, "access denied"
		switch {
		case s.o.Anonymous:
			e.Hint = "the bucket is not public: drop --s3-anonymous"
		case e.Op == "copy":
			e.Hint = "the identity needs s3:GetObject of the source and s3:PutObject of the destination and, with KMS, kms:Decrypt and kms:GenerateDataKey"
		case writing:
			e.Hint = "the identity needs s3:PutObject, s3:AbortMultipartUpload and, with KMS, kms:GenerateDataKey; --s3-acl bucket-owner-full-control is asked for by some buckets"
		case e.Op == "list":
			e.Hint = "the identity needs s3:ListBucket; --s3-profile chooses another, --s3-request-payer is for buckets that make the requester pay"
		default:
			e.Hint = "the identity needs s3:GetObject and, with KMS, kms:Decrypt; without s3:ListBucket S3 says this of a missing key too; --s3-profile chooses another identity, --s3-request-payer is for buckets that make the requester pay"
		}
	default:
		return false
	}
	return true
}

// writeError: preconditions, room and rates.
func (s *s3Store) writeError(e *Error, code string, status int) bool {
	reading := e.Op == "read" || e.Op == "open"
	switch {
	case status == http.StatusPreconditionFailed && reading:
		e.Kind, e.Problem, e.Hint = store.ErrChanged, "it was replaced while it was read", "open it again"
	case status == http.StatusPreconditionFailed, code == "ConditionalRequestConflict":
		e.Kind, e.Problem, e.Hint = store.ErrExist, "it exists already", "nothing is ever replaced: choose another destination"
	case code == "QuotaExceeded", code == "XMinioStorageFull", code == "InsufficientStorage", status == http.StatusInsufficientStorage:
		e.Problem, e.Hint = "no space is left in the store", "make room and run the same command again, it goes on where it stopped"
	case code == "BadDigest", code == "InvalidDigest", code == "XAmzContentChecksumMismatch":
		e.Problem, e.Hint = "the bytes were damaged on their way", "run the same command again"
	case code == "SlowDown", code == "ServiceUnavailable", code == "RequestLimitExceeded", status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		e.Problem = fmt.Sprintf("S3 asked to slow down each of %d times", s.o.Attempts)
		e.Hint = "run the same command again later, it goes on where it stopped"
	case status >= 500:
		e.Problem = fmt.Sprintf("S3 failed each of %d times (%d %s)", s.o.Attempts, status, code)
		e.Hint = "run the same command again later"
	default:
		return false
	}
	return true
}

// connectionError: the way there.
func (s *s3Store) connectionError(e *Error, err error) {
	e.Kind = store.ErrCannotAsk
	var (
		dns     *net.DNSError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		timeout net.Error
	)
	switch {
	case errors.As(err, &dns):
		e.Problem, e.Hint = fmt.Sprintf("the host %s is not found", dns.Name), "look at --s3-endpoint and --s3-region; a store without bucket names in its host names needs --s3-path-style"
	case errors.As(err, &unknown):
		e.Problem, e.Hint = "the certificate is signed by an authority that is not known here", "name the authority's file in AWS_CA_BUNDLE"
	case errors.As(err, &host), errors.As(err, &cert):
		e.Problem, e.Hint = "the certificate is not valid for this host", "look at --s3-endpoint; --s3-path-style keeps the bucket out of the host name"
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		e.Problem, e.Hint = "the endpoint does not speak TLS", "write it as http://…"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Problem, e.Hint = "nothing answers at the endpoint", "look at --s3-endpoint and whether the store runs"
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Problem, e.Hint = fmt.Sprintf("no answer in time, tried %d times", s.o.Attempts), "look at the network, a proxy (HTTPS_PROXY) or the endpoint"
	case isCut(err):
		e.Problem, e.Hint = fmt.Sprintf("the connection was cut each of %d times", s.o.Attempts), "look at the network or a proxy in between"
	default:
		e.Problem = "the request failed: " + s.scrub(lastPart(err))
	}
}

// isCut: the other side, or what is in between, ended the connection.
func isCut(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}

// passingProblem says why something is tried again.
func passingProblem(err error) string {
	var timeout net.Error
	switch code, status := errorCode(err), httpStatus(err); {
	case code == "SlowDown" || status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests:
		return "S3 asks to slow down"
	case code == "RequestTimeTooSkewed":
		return "the clock of this machine is off"
	case status >= 500:
		return fmt.Sprintf("S3 answers %d", status)
	case errors.As(err, &timeout) && timeout.Timeout():
		return "S3 does not answer in time"
	case status == 0:
		return "the connection to S3 was cut"
	}
	return fmt.Sprintf("S3 answers %d", httpStatus(err))
}

// message is what S3 itself said, cleaned and cut.
func (s *s3Store) message(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorMessage() == api.ErrorCode() || api.ErrorMessage() == "UnknownError" { // the SDK's word for none
		return ""
	}
	return s.scrub(api.ErrorMessage())
}

// lastPart is the text of the innermost error that still names a file.
func lastPart(err error) string {
	var file *fs.PathError
	if errors.As(err, &file) {
		return file.Error()
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

// scrub makes one short line without secrets of text from elsewhere.
func (s *s3Store) scrub(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	for _, secret := range s.secrets() {
		text = strings.ReplaceAll(text, secret, "…")
	}
	if r := []rune(text); len(r) > 300 {
		text = string(r[:300]) + "…"
	}
	return strings.TrimSpace(text)
}

// rememberedCredentials knows what must not be shown, of the credentials that
// were used last.
type rememberedCredentials struct {
	aws.CredentialsProvider
	last atomic.Pointer[aws.Credentials]
}

func (r *rememberedCredentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := r.CredentialsProvider.Retrieve(ctx)
	if err == nil {
		r.last.Store(&c)
	}
	return c, err
}

func (s *s3Store) secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.credentials == nil {
		return nil
	}
	c := s.credentials.last.Load()
	if c == nil {
		return nil
	}
	return slices.DeleteFunc([]string{c.SecretAccessKey, c.SessionToken, c.AccessKeyID}, func(s string) bool { return len(s) < 8 })
}

// hidden keeps err for errors.Is and errors.As but not its text, which may
// quote requests.
func (s *s3Store) hidden(err error) error { return hiddenError{err, s.scrub(err.Error())} }

type hiddenError struct {
	error
	text string
}

func (h hiddenError) Error() string { return h.text }
func (h hiddenError) Unwrap() error { return h.error }
