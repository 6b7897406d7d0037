// Package toolchain brings Go to machines that have none: it downloads Go's own toolchain module into flowgen's cache folder.
package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// Version is the Go that Fetch downloads.
const Version = "go1.26.8"

// sums are the go.sum hashes of golang.org/toolchain, by system and processor. What has another hash is never unpacked.
var sums = map[string]string{
	"darwin-amd64": "h1:7/9KPPN8PckcA9s91hm2jmQMhzW4KyTJXHIs45L0C9M=",
	"darwin-arm64": "h1:dFjGhY6f8DTsY8/rLchUTDRRfjJP4pCrGCwxvHFT2Fg=",
	"linux-amd64":  "h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=",
	"linux-arm64":  "h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=",
}

const (
	publicProxy = "https://proxy.golang.org"
	maxZip      = 200 << 20 // bytes
	fetchTime   = 10 * time.Minute
)

// A Source is where a toolchain comes from and where it is kept.
type Source struct {
	Dir     string // folder that holds one folder per version
	Target  string // such as linux-amd64
	Sum     string // hash of the module's zip file
	Proxies string // as GOPROXY is written
}

// User is the source of Go for this machine, in the user's cache folder. Sum is empty where no toolchain is known.
func User() (Source, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Source{}, err
	}
	target := runtime.GOOS + "-" + runtime.GOARCH
	proxies := os.Getenv("GOPROXY")
	if proxies == "" {
		proxies = publicProxy
	}
	return Source{Dir: filepath.Join(dir, "flowgen", "toolchain"), Target: target, Sum: sums[target], Proxies: proxies}, nil
}

// Use lets this process find the Go that Fetch has downloaded, where PATH has no other.
func Use() {
	if _, err := exec.LookPath("go"); err == nil || !errors.Is(err, exec.ErrNotFound) {
		return
	}
	s, err := User()
	if err != nil || !s.Fetched() {
		return
	}
	path := filepath.Join(s.root(), "bin")
	if rest := os.Getenv("PATH"); rest != "" {
		path = rest + string(filepath.ListSeparator) + path
	}
	os.Setenv("PATH", path)
}

// Other is a go command that PATH has before the one of s, or empty.
func (s Source) Other() string {
	found, err := exec.LookPath("go")
	if err != nil || found == s.Go() {
		return ""
	}
	return found
}

// Fetched reports whether the toolchain is there.
func (s Source) Fetched() bool {
	info, err := os.Stat(s.Go())
	return err == nil && info.Mode().IsRegular()
}

// Go is the name of the go command.
func (s Source) Go() string { return filepath.Join(s.root(), "bin", "go") }

func (s Source) root() string { return filepath.Join(s.Dir, Version) }

// Fetch downloads the toolchain and holds it to its hash. It is there whole or not at all. A toolchain that is there already is
// kept.
func (s Source) Fetch(ctx context.Context) error {
	if s.Fetched() {
		return nil
	}
	if s.Sum == "" {
		return fmt.Errorf("no toolchain is known for %s: install Go from https://go.dev/dl", s.Target)
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(s.Dir, "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	name := filepath.Join(temp, "go.zip")
	if err := s.download(ctx, name); err != nil {
		return err
	}
	sum, err := dirhash.HashZip(name, dirhash.Hash1)
	if err != nil {
		return fmt.Errorf("what was downloaded is not a zip file: %w", err)
	}
	if sum != s.Sum {
		return fmt.Errorf("what was downloaded is not %s of %s: its hash is %s, not %s", Version, s.Target, sum, s.Sum)
	}
	root := filepath.Join(temp, "go")
	if err := zip.Unzip(root, module.Version{Path: "golang.org/toolchain", Version: s.version()}, name); err != nil {
		return err
	}
	if err := complete(root); err != nil {
		return err
	}
	if err := os.Rename(root, s.root()); err != nil && !s.Fetched() { // another process may have been faster
		return err
	}
	return nil
}

func (s Source) version() string { return "v0.0.1-" + Version + "." + s.Target }

// download tries the proxies in their order, as the go command does: after a comma where the file is not there, after a bar
// whatever happened.
func (s Source) download(ctx context.Context, name string) error {
	var failed error
	for rest := s.Proxies; rest != ""; {
		proxy, bar := rest, false
		if i := strings.IndexAny(rest, ",|"); i >= 0 {
			proxy, bar, rest = rest[:i], rest[i] == '|', rest[i+1:]
		} else {
			rest = ""
		}
		switch proxy = strings.TrimSpace(proxy); proxy {
		case "":
			continue
		case "off":
			return errors.Join(failed, errors.New("GOPROXY=off forbids downloads: install Go from https://go.dev/dl"))
		case "direct":
			proxy = publicProxy // the toolchain has no repository that could be asked
		}
		err := get(ctx, strings.TrimSuffix(proxy, "/")+"/golang.org/toolchain/@v/"+s.version()+".zip", name)
		if err == nil {
			return nil
		}
		failed = errors.Join(failed, err)
		if !bar && !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return failed
}

// get writes what address names, of at most maxZip bytes, into a file.
func get(ctx context.Context, address, name string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("GOPROXY has an entry that is not a URL")
	}
	var body io.ReadCloser
	switch u.Scheme {
	case "file":
		body, err = os.Open(filepath.FromSlash(u.Path))
	case "http", "https":
		ctx, cancel := context.WithTimeout(ctx, fetchTime)
		defer cancel()
		body, err = ask(ctx, u)
	default:
		return fmt.Errorf("GOPROXY: %s is neither an http nor a file URL", u.Redacted())
	}
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(body, maxZip+1))
	switch err = errors.Join(err, f.Close()); {
	case err != nil:
		return fmt.Errorf("%s: %w", u.Redacted(), err)
	case n > maxZip:
		return fmt.Errorf("%s: more than %d MB", u.Redacted(), maxZip>>20)
	}
	return nil
}

func ask(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err // the address may hold a password
		}
		return nil, fmt.Errorf("%s: %w", u.Redacted(), err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	resp.Body.Close()
	err = fmt.Errorf("%s: %s", u.Redacted(), resp.Status)
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone {
		err = fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	return nil, err
}

// complete makes a tree of Go from an unpacked module: zip files of modules cannot hold go.mod files and keep no permissions.
func complete(root string) error {
	return filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if entry.Name() == "_go.mod" {
			return os.Rename(name, filepath.Join(filepath.Dir(name), "go.mod"))
		}
		for _, dir := range []string{"bin", filepath.Join("pkg", "tool")} {
			if strings.HasPrefix(name, filepath.Join(root, dir)+string(filepath.Separator)) {
				return os.Chmod(name, 0o755)
			}
		}
		return nil
	})
}
