// Package s3 keeps what is too large for the output of a tool in a bucket of S3 or of a service that speaks its protocol:
//
//	store, err := s3.Open("s3://my-bucket/flowgen?region=eu-central-1")
//	w, err := inbox.New(runtime.WithBlobs(store))
//
// A blob is named by the SHA-256 of its content, in a folder of its tenant, as in package blob. It is written to a temporary file
// first, because its name is known when it ends. The bucket must exist. Nothing is removed: that is for the lifecycle rules of the
// bucket.
//
// A program that links this package takes such URLs in --blobs and FLOWGEN_BLOBS.
package s3

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/blob"
	"github.com/flowgen-dev/flowgen/runtime/stores"
)

// Timeout bounds one upload. A context that ends earlier does so, too.
const Timeout = 5 * time.Minute

func init() {
	stores.Blobs.Register("s3", func(address string) (runtime.Blobs, func() error, error) {
		s, err := Open(address)
		if err != nil {
			return nil, nil, err
		}
		return s, func() error { return nil }, nil
	})
}

// Store is a runtime.Blobs in a bucket. It is safe for concurrent use.
type Store struct {
	client         *minio.Client
	bucket, prefix string
}

// Open makes a store of a URL: s3://BUCKET/PREFIX, with the parameters endpoint (a URL; AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL are
// the defaults, then Amazon's) and region (AWS_REGION, AWS_DEFAULT_REGION). Keys come from AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, from the file of shared credentials, or from the role of the container. Open does not
// connect.
func Open(address string) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.Fragment != "" || u.User != nil {
		return nil, errors.New("the URL of the bucket cannot be read: write s3://bucket/prefix, and keys into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	q := u.Query()
	for name := range q {
		if !slices.Contains([]string{"endpoint", "region"}, name) {
			return nil, fmt.Errorf("the URL of the bucket has the parameter %q: there are endpoint and region", name)
		}
	}
	endpoint := first(q.Get("endpoint"), os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	e, err := url.Parse(endpoint)
	if err != nil || e.Scheme != "https" && e.Scheme != "http" || e.Host == "" || strings.Trim(e.Path, "/") != "" || e.User != nil {
		return nil, errors.New("the endpoint of the bucket is not a URL such as https://s3.example.com")
	}
	client, err := minio.New(e.Host, &minio.Options{Creds: keys(), Secure: e.Scheme == "https",
		Region: first(q.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))})
	if err != nil {
		return nil, fmt.Errorf("the endpoint of the bucket cannot be used: %w", err)
	}
	return New(client, u.Host, strings.Trim(u.Path, "/")), nil
}

// keys looks for credentials. The machine's role is asked for only where the environment says that there is one: elsewhere a
// question to the network would wait.
func keys() *credentials.Credentials {
	chain := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	for _, name := range []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		if os.Getenv(name) != "" {
			chain = append(chain, &credentials.IAM{Client: &http.Client{Timeout: 10 * time.Second}})
			break
		}
	}
	return credentials.NewChainCredentials(chain)
}

// New makes a store of a client. prefix begins the names of all objects and may be empty.
func New(client *minio.Client, bucket, prefix string) *Store {
	return &Store{client: client, bucket: bucket, prefix: prefix}
}

func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// Create implements runtime.Blobs.
func (s *Store) Create(ctx context.Context, tenant, mediaType string) (runtime.Blob, error) {
	f, err := os.CreateTemp("", "flowgen-blob-*")
	if err != nil {
		return nil, err
	}
	return &writing{ctx: ctx, store: s, folder: path.Join(s.prefix, blob.Folder(tenant)), kind: mediaType, file: f, sum: sha256.New()}, nil
}

// Read opens a blob of a tenant by the URL that Commit returned. It is fs.ErrNotExist for anything else.
func (s *Store) Read(ctx context.Context, tenant, blobURL string) (io.ReadCloser, error) {
	name := path.Join(s.prefix, blob.Folder(tenant), path.Base(blobURL))
	if blobURL != s.url(name) || len(path.Base(name)) != hex.EncodedLen(sha256.Size) {
		return nil, fs.ErrNotExist
	}
	o, err := s.client.GetObject(ctx, s.bucket, name, minio.GetObjectOptions{})
	if err != nil {
		return nil, failed(err)
	}
	if _, err := o.Stat(); err != nil { // GetObject asks nothing yet
		_ = o.Close()
		return nil, failed(err)
	}
	return o, nil
}

func (s *Store) url(name string) string {
	return (&url.URL{Scheme: "s3", Host: s.bucket, Path: "/" + name}).String()
}

// failed says what a service refuses in few words: its answers repeat what was asked, keys included.
func failed(err error) error {
	switch r := minio.ToErrorResponse(err); {
	case r.Code == "NoSuchKey":
		return fs.ErrNotExist
	case r.Code != "" && r.StatusCode != 0:
		return fmt.Errorf("the bucket answers %d %s", r.StatusCode, r.Code)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	}
	var u *url.Error
	if errors.As(err, &u) {
		return fmt.Errorf("the bucket cannot be reached: %w", u.Err)
	}
	return errors.New("the bucket cannot be used: no keys, or an answer that is none of S3")
}

// writing is a blob that is being written.
type writing struct {
	ctx          context.Context
	store        *Store
	folder, kind string
	file         *os.File
	sum          hash.Hash
	size         int64
	ended        bool
}

// Write implements io.Writer.
func (w *writing) Write(p []byte) (int, error) {
	w.size += int64(len(p))
	w.sum.Write(p)
	return w.file.Write(p)
}

// Commit implements runtime.Blob.
func (w *writing) Commit() (string, error) {
	if w.ended {
		return "", errors.New("the blob is ended")
	}
	defer w.Abort()
	if _, err := w.file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(w.ctx, Timeout)
	defer cancel()
	name := path.Join(w.folder, hex.EncodeToString(w.sum.Sum(nil)))
	if _, err := w.store.client.PutObject(ctx, w.store.bucket, name, w.file, w.size, minio.PutObjectOptions{ContentType: w.kind}); err != nil {
		return "", failed(err)
	}
	return w.store.url(name), nil
}

// Abort implements runtime.Blob.
func (w *writing) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	_ = w.file.Close() // it goes anyway
	_ = os.Remove(w.file.Name())
}
