// Package testserver pins the S3 server that tests start, and measures package
// storage against the SDK's own transfer manager on it. It is a module of its
// own so that neither is a dependency of chkscope.
package testserver

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"net/http"

	"chkscope/decoder/metadata"
	"chkscope/decoder/metadata/metatest"
	"chkscope/model/store"
	"chkscope/storage"
	"chkscope/storage/storagetest"
)

const size = 256 << 20

// BenchmarkS3 downloads and uploads a file of 256 MiB, and opens an object,
// both ways, on the same server in one run.
func BenchmarkS3(b *testing.B) {
	server := storagetest.StartS3(b)
	b.Setenv("AWS_ACCESS_KEY_ID", server.AccessKey)
	b.Setenv("AWS_SECRET_ACCESS_KEY", server.Secret)
	b.Setenv("AWS_REGION", "us-east-1")
	ctx := context.Background()
	ours := storage.New(storage.Options{S3: storage.S3Options{Endpoint: server.Endpoint}})
	client := s3.New(s3.Options{Region: "us-east-1", BaseEndpoint: &server.Endpoint, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(server.AccessKey, server.Secret, ""),
		HTTPClient:  awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.MaxIdleConnsPerHost = 64 }),
		DisableLogOutputChecksumValidationSkipped: true})
	sdk := transfermanager.New(client)
	dir := b.TempDir()
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * 31 >> 3)
	}
	if err := os.WriteFile(src, data, 0o666); err != nil {
		b.Fatal(err)
	}
	// Both ways take turns, so that other work on the machine hits both.
	pair := func(name string, bytes int64, sdk, ours, after func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(2 * bytes)
			var took, used [2][]time.Duration
			for b.Loop() {
				for i, f := range []func() error{sdk, ours} {
					start, before := time.Now(), cpu()
					if err := f(); err != nil {
						b.Fatal(err)
					}
					took[i], used[i] = append(took[i], time.Since(start)), append(used[i], cpu()-before)
					b.StopTimer()
					if err := after(); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
			}
			for i, who := range []string{"sdk", "ours"} {
				b.ReportMetric(median(took[i]).Seconds()*1000, who+"-ms")
				b.ReportMetric(median(used[i]).Seconds()*1000, who+"-cpu-ms")
			}
			b.ReportMetric(float64(median(took[1]))/float64(median(took[0])), "ours/sdk")
		})
	}
	bucket := &server.Bucket
	remove := func() error {
		_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: aws.String("new")})
		return err
	}
	pair("upload", size, func() error {
		f, err := os.Open(src)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = sdk.UploadObject(ctx, &transfermanager.UploadObjectInput{Bucket: bucket, Key: aws.String("new"), Body: f})
		return err
	}, func() error {
		_, err := ours.Copy(ctx, src, 0, -1, "s3://bucket/new", nil)
		return err
	}, remove)
	if _, err := ours.Copy(ctx, src, 0, -1, "s3://bucket/f", nil); err != nil {
		b.Fatal(err)
	}
	pair("download", size, func() error {
		f, err := os.Create(dst)
		if err != nil {
			return err
		}
		_, err = sdk.DownloadObject(ctx, &transfermanager.DownloadObjectInput{Bucket: bucket, Key: aws.String("f"), WriterAt: f})
		if err == nil {
			err = f.Sync() // so is ours
		}
		f.Close()
		return err
	}, func() error {
		_, err := ours.Copy(ctx, "s3://bucket/f", 0, -1, dst, nil)
		return err
	}, func() error { return os.Remove(dst) })
	pair("open", 64<<10, func() error {
		out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("f"), Range: aws.String("bytes=0-65535")})
		if err != nil {
			return err
		}
		_, err = io.ReadAll(out.Body)
		out.Body.Close()
		return err
	}, func() error {
		o, err := ours.Open(store.WithBeginning(ctx, 64<<10), "s3://bucket/f")
		if err != nil {
			return err
		}
		_, err = io.ReadAll(io.NewSectionReader(o, 0, 64<<10))
		o.Close()
		return err
	}, func() error { return nil })
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// cpu is the time that this process has used, which tells the two ways apart
// where the machine is busy with other things.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFewRoundTrips decodes a _metadata of the founding incident's size: its
// shape (8 subtasks), and one of 128 subtasks. A request takes so long that what
// the machine does beside it counts little.
func BenchmarkFewRoundTrips(b *testing.B) {
	const latency = time.Second
	server := storagetest.StartS3(b)
	b.Setenv("AWS_ACCESS_KEY_ID", server.AccessKey)
	b.Setenv("AWS_SECRET_ACCESS_KEY", server.Secret)
	proxy := storagetest.StartProxy(b, server.Endpoint)
	const elements = 10 * 8 * 8 * 8 * 8 * 8 * 8 * 8
	few, many := metatest.Incident(elements), metatest.WideIncident(elements, 128)
	for name, c := range map[string]*metadata.Checkpoint{"8 subtasks": few, "128 subtasks": many} {
		f, err := os.Create(filepath.Join(server.Dir, name))
		if err != nil {
			b.Fatal(err)
		}
		n, err := metadata.Encode(f, c)
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
		b.Run(name, func(b *testing.B) {
			proxy.Inject(func(*http.Request) storagetest.Fault { return storagetest.Fault{Latency: latency} })
			m := &storage.Meter{}
			for b.Loop() {
				o, err := storage.New(storage.Options{Meter: m, S3: storage.S3Options{Endpoint: proxy.URL}}).Open(context.Background(), "s3://bucket/"+name)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := metadata.Decode(o); err != nil {
					b.Fatal(err)
				}
				o.Close()
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(latency), "round-trips")
			b.ReportMetric(float64(m.Totals().Read)/float64(b.N), "bytes-read")
			b.ReportMetric(float64(n), "bytes")
		})
	}
}
