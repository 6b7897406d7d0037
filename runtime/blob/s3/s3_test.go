package s3

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/internal/vacant"
	"github.com/flowgen-dev/flowgen/runtime/stores"
)

var _ runtime.Blobs = (*Store)(nil)

const bucket = "results"

// server starts an S3 server of its own with a bucket, sets the keys in the environment and returns its address.
func server(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("versitygw")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("versitygw is missing: .ci/run installs it")
		}
		t.Skip("versitygw, a server of S3, is not installed: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0")
	}
	at := "127.0.0.1:" + vacant.Port(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/"+bucket, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--port", at, "--access", "AKIATEST", "--secret", "secret-of-the-test", "--region", "eu-central-1", "posix", "--nometa", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually.True(t, "versitygw answers", func() bool {
		resp, err := http.Get("http://" + at + "/")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil
	})
	return "http://" + at
}

func put(t *testing.T, s runtime.Blobs, tenant, text string) (string, error) {
	t.Helper()
	b, err := s.Create(t.Context(), tenant, "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	if _, err := io.Copy(b, strings.NewReader(text)); err != nil {
		return "", err
	}
	return b.Commit()
}

func read(t *testing.T, s *Store, tenant, address string) (string, error) {
	t.Helper()
	r, err := s.Read(t.Context(), tenant, address)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	return string(b), err
}

// Blobs come back as they were, each tenant its own, whichever way the store was opened.
func TestStore(t *testing.T) {
	endpoint := server(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	opened, release, err := stores.Blobs.Open("s3://" + bucket + "/some/runs?region=eu-central-1&endpoint=" + endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = release() }()
	s := opened.(*Store)
	large := strings.Repeat("0123456789abcdef", 1<<17) // 2 MiB
	one, err := put(t, s, "", large)
	if err != nil || !strings.HasPrefix(one, "s3://results/some/runs/shared/") {
		t.Fatal(one, err)
	}
	if got, err := read(t, s, "", one); err != nil || got != large {
		t.Errorf("%d bytes came back, %v", len(got), err)
	}
	again, err := put(t, s, "", large)
	if err != nil || again != one {
		t.Errorf("the same content is %s and %s, %v", one, again, err)
	}
	theirs, err := put(t, s, "Acme/..", large)
	if err != nil || theirs == one || strings.Contains(theirs, "..") {
		t.Errorf("of another tenant: %s, %v", theirs, err)
	}
	for _, tt := range []struct{ tenant, address string }{{"acme", one}, {"", theirs}, {"", "s3://other" + strings.TrimPrefix(one, "s3://results")},
		{"", one + "/"}, {"", "file:///etc/passwd"}, {"", ""}, {"", strings.Replace(one, "0", "1", 1)}} {
		if _, err := read(t, s, tt.tenant, tt.address); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q reads %s: %v", tt.tenant, tt.address, err)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	empty, err := put(t, s, "", "")
	if got, e := read(t, s, "", empty); err != nil || e != nil || got != "" {
		t.Errorf("an empty blob is %q, %v, %v", got, err, e)
	}
}

// What goes wrong is said in few words, without the keys, and an aborted blob leaves nothing.
func TestFailures(t *testing.T) {
	endpoint := server(t)
	at := func(address string) *Store {
		s, err := Open(address)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	good := "s3://" + bucket + "?region=eu-central-1&endpoint=" + endpoint
	b, err := at(good).Create(t.Context(), "", "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	b.Abort()
	if _, err := b.Commit(); err == nil {
		t.Error("an aborted blob is there")
	}
	if _, err := put(t, at("s3://missing?region=eu-central-1&endpoint="+endpoint), "", "x"); err == nil || err.Error() != "the bucket answers 404 NoSuchBucket" {
		t.Errorf("no bucket: %v", err)
	}
	if _, err := put(t, at("s3://"+bucket+"?region=eu-central-1&endpoint=http://127.0.0.1:1"), "", "x"); err == nil || !strings.HasPrefix(err.Error(), "the bucket cannot be reached: ") {
		t.Errorf("no server: %v", err)
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another-secret")
	if _, err := put(t, at(good), "", "x"); err == nil || err.Error() != "the bucket answers 403 SignatureDoesNotMatch" {
		t.Errorf("a wrong key: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b, err = at(good).Create(ctx, "", "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestOpen(t *testing.T) {
	for address, want := range map[string]string{
		"s3://":                          "cannot be read",
		"s3:///x":                        "cannot be read",
		"s3://key:secret-word@bucket":    "cannot be read",
		"s3://b?regio=x":                 `the parameter "regio"`,
		"s3://b?endpoint=ftp://x":        "not a URL such as",
		"s3://b?endpoint=http://x/y":     "not a URL such as",
		"s3://b?endpoint=localhost:9000": "not a URL such as",
	} {
		if _, err := Open(address); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: %v", address, err)
		}
	}
	t.Setenv("AWS_ENDPOINT_URL", "https://s3.example.com")
	s, err := Open("s3://b/p/")
	if err != nil || s.client.EndpointURL().Host != "s3.example.com" || s.prefix != "p" {
		t.Errorf("%+v, %v", s, err)
	}
	if got := New(&minio.Client{}, "b", "").url("a b"); got != "s3://b/a%20b" {
		t.Error(got)
	}
}
