// Package offline is for tests that run the go command without a network: what flowgen writes must build with the modules
// that flowgen's own modules require, and with nothing else.
package offline

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/modfile"
	mod "golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

// workspace are the folders of the modules of this repository's go.work, absolute.
func workspace() (dirs []string, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var text []byte
	for {
		if text, err = os.ReadFile(filepath.Join(dir, "go.work")); err == nil || !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	if err != nil {
		return nil, err
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return nil, err
	}
	for _, u := range work.Use {
		dirs = append(dirs, filepath.Join(dir, filepath.FromSlash(u.Path)))
	}
	return dirs, nil
}

// download fetches what each module of the repository requires into the user's module cache, once per process. On a new machine
// the go command has fetched only what this test links, in the versions of the workspace, which are the newest of all modules;
// without a network it works as long as all are there.
var download = sync.OnceValue(func() error {
	dirs, err := workspace()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		cmd := exec.Command("go", "mod", "download")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "PWD="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go mod download in %s: %w\n%s", dir, err, out)
		}
	}
	return nil
})

// Env returns the variables under which the go command works without a network, and with the caches of this machine
// whatever HOME is. The first call downloads what is missing; it needs the working directory to be in this repository.
func Env(t testing.TB) map[string]string {
	t.Helper()
	if err := download(); err != nil {
		t.Fatal(err)
	}
	names := []string{"GOCACHE", "GOMODCACHE", "GOROOT"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatalf("go env: %v", err)
	}
	env := map[string]string{"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw -ldflags=-s"} // nobody debugs what a test links
	for i, line := range strings.Split(strings.TrimRight(string(out), "\r\n"), "\n") {
		env[names[i]] = strings.TrimRight(line, "\r")
	}
	return env
}

// Module returns the go.mod and the go.sum of a module with this path that can import every package of flowgen, from this
// repository.
func Module(t testing.TB, path string) (mod, sum []byte) {
	t.Helper()
	u, err := union()
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse("go.mod", u.mod, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.AddModuleStmt(path); err != nil {
		t.Fatal(err)
	}
	if mod, err = f.Format(); err != nil {
		t.Fatal(err)
	}
	return mod, u.sum
}

// union is the module that requires what all modules of the repository require, once per process. Together they can select a version
// that none of them selects alone: one names the newest only through a module that another one lacks. So the go command settles
// the versions, and fetches those.
var union = sync.OnceValues(func() (u struct{ mod, sum []byte }, err error) {
	if err := download(); err != nil {
		return u, err
	}
	dir, err := os.MkdirTemp("", "union")
	if err != nil {
		return u, err
	}
	defer os.RemoveAll(dir)
	if u.mod, u.sum, err = module("example.com/union"); err != nil {
		return u, err
	}
	mod, sum := filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")
	if err := errors.Join(os.WriteFile(mod, u.mod, 0o666), os.WriteFile(sum, u.sum, 0o666)); err != nil {
		return u, err
	}
	cmd := exec.Command("go", "mod", "download")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "PWD="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return u, fmt.Errorf("go mod download of all modules together: %w\n%s", err, out)
	}
	if u.mod, err = os.ReadFile(mod); err != nil {
		return u, err
	}
	u.sum, err = os.ReadFile(sum)
	return u, err
})

func module(path string) (mod, sum []byte, err error) {
	dirs, err := workspace()
	if err != nil {
		return nil, nil, err
	}
	f := &modfile.File{}
	if err := errors.Join(f.AddModuleStmt(path), f.AddGoStmt("1.26.0")); err != nil {
		return nil, nil, err
	}
	versions := map[string]string{}
	need := func(path, version string) {
		if semver.Compare(version, cmp.Or(versions[path], "v0.0.0-0")) > 0 {
			versions[path] = version
		}
	}
	for _, dir := range dirs {
		if strings.Contains(filepath.ToSlash(dir), "/runtime/internal/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			return nil, nil, err
		}
		own, err := modfile.Parse("go.mod", text, nil)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range own.Require {
			need(r.Mod.Path, r.Mod.Version)
		}
		need(own.Module.Mod.Path, "v0.0.0")
		if err := f.AddReplace(own.Module.Mod.Path, "", filepath.ToSlash(dir), ""); err != nil {
			return nil, nil, err
		}
		sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		for line := range bytes.Lines(sums) {
			if !bytes.Contains(sum, line) {
				sum = append(sum, line...)
			}
		}
	}
	for path, version := range versions {
		if err := f.AddRequire(path, version); err != nil {
			return nil, nil, err
		}
	}
	f.SortBlocks()
	f.Cleanup()
	mod, err = f.Format()
	return mod, sum, err
}

// Publish puts a folder into a proxy of Go modules, a folder too, as a version of a module, path@version. It returns the variables under
// which the go command takes modules from there, and others from the module cache of this machine.
func Publish(proxy, dir, module, cache string) (env map[string]string, err error) {
	path, version, _ := strings.Cut(module, "@")
	at := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.MkdirAll(at, 0o777), os.WriteFile(filepath.Join(at, version+".mod"), text, 0o666),
		os.WriteFile(filepath.Join(at, version+".info"), fmt.Appendf(nil, `{"Version":%q}`, version), 0o666)); err != nil {
		return nil, err
	}
	archive, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		return nil, err
	}
	file := func(dir string) string { return (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String() }
	env = map[string]string{"GONOSUMDB": "*", "GOPROXY": file(proxy) + "," + file(filepath.Join(cache, "cache", "download"))}
	return env, errors.Join(zip.CreateFromDir(archive, mod.Version{Path: path, Version: version}, dir), archive.Close())
}
