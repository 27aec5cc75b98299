package storage

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
)

// S3Options says how S3 is reached. The zero value is what the AWS CLI would do
// in the same environment: credentials from the environment, the profile, the
// SSO cache, web identity, a container's or an instance's role; region, endpoint
// and CA bundle (AWS_CA_BUNDLE) from the environment or the profile.
type S3Options struct {
	// Endpoint (--s3-endpoint) is the URL or host:port of another S3 store; plain
	// http where the host is this machine or where it says so. Tested with
	// versitygw and MinIO. Google Cloud Storage (https://storage.googleapis.com, HMAC keys) is
	// not tested: reading and listing use nothing that it documents differently; it
	// documents If-None-Match for reading only, so another writer of the same
	// destination at the same time may not be noticed there.
	Endpoint  string
	Region    string // --s3-region; "" asks the environment, then the bucket
	PathStyle bool   // --s3-path-style: bucket in the path and not in the host name
	Profile   string // --s3-profile
	Anonymous bool   // --s3-anonymous: requests are not signed

	// For what is written:
	SSE          string // --s3-sse: AES256, aws:kms, aws:kms:dsse
	SSEKMSKeyID  string // --s3-sse-kms-key-id; alone it means aws:kms
	StorageClass string // --s3-storage-class: STANDARD_IA, …
	ACL          string // --s3-acl: bucket-owner-full-control, …

	RequestPayer bool // --s3-request-payer: the requester pays

	Attempts int           // of one request, in all; 0 means 6
	Timeout  time.Duration // a connection on which nothing moves is given up; 0 means a minute
	PartSize int64         // of multipart uploads, at least 5 MiB; 0 means 8 MiB
	Parallel int           // parts of one file under way; 0 means 5
	Cache    CacheOptions  // of ranged reads
	Notify   func(string)  // told in a sentence when something is tried again; nil is not
}

func (o S3Options) withDefaults() S3Options {
	if o.Attempts == 0 {
		o.Attempts = 6
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.PartSize == 0 {
		o.PartSize = 8 << 20
	}
	o.PartSize = max(o.PartSize, minPart)
	if o.Parallel == 0 {
		o.Parallel = 5
	}
	if o.SSE == "" && o.SSEKMSKeyID != "" {
		o.SSE = string(types.ServerSideEncryptionAwsKms)
	}
	return o
}

// newS3 asks nobody before the first call.
func newS3(o S3Options, m *Meter) *s3Store {
	return &s3Store{o: o.withDefaults(), meter: m, wholeCopy: wholeCopy, copyPart: copyPart,
		clients: map[string]*s3.Client{}, regions: map[string]string{}}
}

// s3Store is S3 by aws-sdk-go-v2, one client a region, made when needed.
type s3Store struct {
	o     S3Options
	meter *Meter

	wholeCopy, copyPart int64 // see there

	mu          sync.Mutex
	config      *aws.Config
	credentials *rememberedCredentials // nil: anonymous
	clients     map[string]*s3.Client  // by region
	regions     map[string]string      // by bucket, where it was found out
	// unconditional: the server does not implement If-None-Match. Then what is
	// left is to look whether the object is there before it is written.
	unconditional bool
}

// client gives the client for bucket.
func (s *s3Store) client(ctx context.Context, bucket string) (*s3.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config == nil {
		if err := s.load(ctx); err != nil {
			return nil, err
		}
	}
	region := s.regions[bucket]
	if region == "" {
		region = s.config.Region
	}
	c := s.clients[region]
	if c == nil {
		c = s.newClient(region)
		s.clients[region] = c
	}
	return c, nil
}

// load reads the configuration as the AWS CLI does.
func (s *s3Store) load(ctx context.Context) error {
	// A CA bundle from the environment needs exactly this type of client.
	client := awshttp.NewBuildableClient().WithReadTimeout(0).WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 256
		t.DialContext = dialWatched(s.o.Timeout)
		t.DisableCompression = true
	})
	opts := []func(*config.LoadOptions) error{
		config.WithHTTPClient(client),
		config.WithLogger(logging.Nop{}), // else it writes over the screen
		config.WithRetryer(s.newRetryer),
	}
	if s.o.Profile != "" {
		opts = append(opts, config.WithSharedConfigProfile(s.o.Profile))
	}
	if s.o.Region != "" {
		opts = append(opts, config.WithRegion(s.o.Region))
	}
	if s.o.Anonymous {
		opts = append(opts, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	}
	cfg, err := config.LoadDefaultConfig(context.WithoutCancel(ctx), opts...)
	if err != nil {
		return err
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1" // S3 there tells the region of any bucket
	}
	s.config, s.credentials = &cfg, nil
	if !s.o.Anonymous {
		s.credentials = &rememberedCredentials{CredentialsProvider: cfg.Credentials}
		cfg.Credentials = s.credentials
	}
	return nil
}

func (s *s3Store) newClient(region string) *s3.Client {
	return s3.NewFromConfig(*s.config, func(o *s3.Options) {
		o.Region = region
		o.HTTPClient = &meteredClient{o.HTTPClient, s.meter}
		o.HTTPSignerV4 = &plainSigner{o.HTTPSignerV4}
		o.DisableLogOutputChecksumValidationSkipped = true
		// Checksums are sent by ourselves, in a header: other stores than AWS
		// refuse the trailing ones of the SDK.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		if s.o.Endpoint != "" {
			o.BaseEndpoint = aws.String(endpointURL(s.o.Endpoint))
		}
		o.UsePathStyle = o.UsePathStyle || s.o.PathStyle || o.BaseEndpoint != nil && needsPathStyle(*o.BaseEndpoint)
	})
}

// endpointURL completes an endpoint without a scheme.
func endpointURL(endpoint string) string {
	if strings.Contains(endpoint, "://") {
		return endpoint
	}
	if u, err := url.Parse("http://" + endpoint); err == nil && isLoopback(u.Hostname()) {
		return "http://" + endpoint
	}
	return "https://" + endpoint
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// needsPathStyle: a bucket cannot be put before an address or a single name.
func needsPathStyle(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && (net.ParseIP(u.Hostname()) != nil || !strings.Contains(u.Hostname(), ".") || isLoopback(u.Hostname()))
}

// newRetryer bounds attempts by number alone: the SDK's budget of tokens over
// all requests would let parallel ones fail at their first SlowDown.
func (s *s3Store) newRetryer() aws.Retryer {
	return &tellingRetryer{retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = s.o.Attempts
		o.MaxBackoff = 10 * time.Second
		o.RateLimiter = ratelimit.None
	}), s.o.Notify}
}

// tellingRetryer says that it tries again.
type tellingRetryer struct {
	*retry.Standard
	notify func(string)
}

func (r *tellingRetryer) RetryDelay(attempt int, err error) (time.Duration, error) {
	if r.notify != nil {
		r.notify(passingProblem(err) + ": trying again")
	}
	return r.Standard.RetryDelay(attempt, err)
}

// plainSigner leaves Accept-Encoding unsigned, as the AWS CLI does: Google's
// servers and other proxies change it on the way, and the signature with it.
type plainSigner struct{ s3.HTTPSignerV4 }

func (p *plainSigner) SignHTTP(ctx context.Context, c aws.Credentials, r *http.Request, hash, service, region string, at time.Time, opts ...func(*v4.SignerOptions)) error {
	r.Header.Del("Accept-Encoding")
	return p.HTTPSignerV4.SignHTTP(ctx, c, r, hash, service, region, at, opts...)
}

// do runs one call of the SDK. A bucket in another region and credentials that
// have expired are put right once; what fails then becomes a sentence.
func (s *s3Store) do(ctx context.Context, op, uri string, f func(context.Context, *s3.Client) error) error {
	at := parseS3(uri)
	if at.bucket == "" {
		return &Error{Op: op, URI: uri, Problem: "it names no bucket", Hint: "s3://BUCKET/PATH"}
	}
	ctx = context.WithValue(ctx, callKey{}, &call{op, uri})
	for attempt := 1; ; attempt++ {
		c, err := s.client(ctx, at.bucket)
		if err == nil {
			err = f(ctx, c)
		}
		if err == nil || attempt > 2 || !s.repair(ctx, at.bucket, c, err) {
			return s.sentence(op, uri, err)
		}
	}
}

// repair reports whether the call is worth another go with what it has changed.
func (s *s3Store) repair(ctx context.Context, bucket string, c *s3.Client, err error) bool {
	if c == nil || ctx.Err() != nil {
		return false
	}
	if region := s.otherRegion(ctx, bucket, c, err); region != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.regions[bucket] == region {
			return false
		}
		s.regions[bucket] = region
		return true
	}
	switch errorCode(err) {
	case "NotImplemented":
		s.mu.Lock()
		defer s.mu.Unlock()
		again := !s.unconditional
		s.unconditional = true
		return again
	case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired":
		// A file or a cache may hold newer ones meanwhile.
		s.mu.Lock()
		defer s.mu.Unlock()
		s.config, s.clients = nil, map[string]*s3.Client{}
		return true
	}
	return false
}

var expectingRegion = regexp.MustCompile(`expecting '([a-z0-9-]+)'`)

// otherRegion is the region of the bucket, where err says that it is another
// one than that of c.
func (s *s3Store) otherRegion(ctx context.Context, bucket string, c *s3.Client, err error) string {
	code, status := errorCode(err), httpStatus(err)
	wrong := status == http.StatusMovedPermanently || status == http.StatusTemporaryRedirect ||
		code == "AuthorizationHeaderMalformed" || code == "IllegalLocationConstraintException"
	if !wrong && status != http.StatusBadRequest && status != http.StatusForbidden {
		return ""
	}
	here := c.Options().Region
	if r := regionHeader(err); r != "" && r != here {
		return r
	}
	if !wrong {
		return ""
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		if m := expectingRegion.FindStringSubmatch(api.ErrorMessage()); m != nil && m[1] != here {
			return m[1]
		}
	}
	head, headErr := c.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &bucket})
	if r := regionHeader(headErr); r != "" && r != here {
		return r
	}
	if headErr == nil && aws.ToString(head.BucketRegion) != here {
		return aws.ToString(head.BucketRegion)
	}
	return ""
}

func regionHeader(err error) string {
	var re *awshttp.ResponseError
	if errors.As(err, &re) && re.Response != nil && re.Response.Response != nil {
		return re.Response.Header.Get("X-Amz-Bucket-Region")
	}
	return ""
}

func httpStatus(err error) int {
	var re *awshttp.ResponseError
	if errors.As(err, &re) {
		return re.HTTPStatusCode()
	}
	return 0
}

// errorCode is S3's code for err, "" where the answer did not come from S3.
func errorCode(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
