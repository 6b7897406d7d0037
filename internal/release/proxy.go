package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	mod "golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

const module = "github.com/flowgen-dev/flowgen"

// A released is a module of the tree.
type released struct {
	path, dir string
}

// ordered are the modules of the go.work in a folder, each after those that it requires. Modules of tests, which are below
// internal folders, are not released.
func ordered(tree string) ([]released, error) {
	text, err := os.ReadFile(filepath.Join(tree, "go.work"))
	if err != nil {
		return nil, err
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return nil, err
	}
	var open, list []released
	needs := map[string][]string{}
	for _, u := range work.Use {
		if strings.Contains(u.Path, "/internal/") {
			continue
		}
		dir := filepath.Join(tree, filepath.FromSlash(u.Path))
		f, err := parsed(dir)
		if err != nil {
			return nil, err
		}
		path := f.Module.Mod.Path
		open = append(open, released{path, dir})
		for _, r := range f.Require {
			if ours(r.Mod.Path) {
				needs[path] = append(needs[path], r.Mod.Path)
			}
		}
	}
	for len(open) > 0 {
		i := slices.IndexFunc(open, func(m released) bool {
			return !slices.ContainsFunc(needs[m.path], func(need string) bool {
				return slices.ContainsFunc(open, func(o released) bool { return o.path == need })
			})
		})
		if i < 0 {
			return nil, fmt.Errorf("modules require each other in a cycle: %v", open)
		}
		list, open = append(list, open[i]), slices.Delete(open, i, i+1)
	}
	return list, nil
}

func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

func parsed(dir string) (*modfile.File, error) {
	name := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, text, nil)
}

// A proxy is a folder that the go command takes modules from.
type proxy struct {
	dir, version string
	sums         map[string]string // lines of go.sum, by module
}

// require makes a module require others of flowgen at the version: without replace lines, and with their sums.
func (p *proxy) require(m released) error {
	f, err := parsed(m.dir)
	if err != nil {
		return err
	}
	for _, r := range slices.Clone(f.Replace) {
		if !ours(r.Old.Path) {
			return fmt.Errorf("replaces %s, which a release cannot", r.Old.Path)
		}
		if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return err
		}
	}
	sums, err := os.ReadFile(filepath.Join(m.dir, "go.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines := strings.SplitAfter(string(sums), "\n")
	for _, r := range f.Require {
		if !ours(r.Mod.Path) {
			continue
		}
		own, ok := p.sums[r.Mod.Path]
		if !ok {
			return fmt.Errorf("requires %s, which is not released", r.Mod.Path)
		}
		if err := f.AddRequire(r.Mod.Path, p.version); err != nil {
			return err
		}
		lines = append(lines, strings.SplitAfter(own, "\n")...)
	}
	slices.Sort(lines)
	f.Cleanup()
	text, err := f.Format()
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(m.dir, "go.mod"), text, 0o644),
		os.WriteFile(filepath.Join(m.dir, "go.sum"), []byte(strings.Join(lines, "")), 0o644))
}

// publish puts the archive of a module into the proxy and remembers its sums.
func (p *proxy) publish(m released) error {
	at := filepath.Join(p.dir, filepath.FromSlash(m.path), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	name := func(end string) string { return filepath.Join(at, p.version+end) }
	text, err := os.ReadFile(filepath.Join(m.dir, "go.mod"))
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(name(".mod"), text, 0o644), os.WriteFile(name(".info"), fmt.Appendf(nil, `{"Version":%q}`, p.version), 0o644),
		os.WriteFile(filepath.Join(at, "list"), []byte(p.version+"\n"), 0o644)); err != nil {
		return err
	}
	archive, err := os.Create(name(".zip"))
	if err != nil {
		return err
	}
	if err := errors.Join(zip.CreateFromDir(archive, mod.Version{Path: m.path, Version: p.version}, m.dir), archive.Close()); err != nil {
		return err
	}
	sum, err := dirhash.HashZip(name(".zip"), dirhash.Hash1)
	if err != nil {
		return err
	}
	modSum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return os.Open(name(".mod")) })
	if err != nil {
		return err
	}
	p.sums[m.path] = fmt.Sprintf("%s %s %s\n%s %s/go.mod %s\n", m.path, p.version, sum, m.path, p.version, modSum)
	return nil
}

// build holds every module to what its go.mod and go.sum say, and installs flowgen as users do: from the proxy, and other modules
// from the cache of this machine.
func (p *proxy) build(ctx context.Context, temp string, modules []released) error {
	cache, err := run(ctx, ".", nil, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	upstream, err := run(ctx, ".", nil, "go", "env", "GOPROXY")
	if err != nil {
		return err
	}
	file := func(dir string) string { return "file://" + filepath.ToSlash(dir) }
	env := []string{
		"GOWORK=off", "GOBIN=" + filepath.Join(temp, "bin"), "GOMODCACHE=" + filepath.Join(temp, "cache"), "GONOSUMDB=" + module + "," + module + "/*",
		"GOPROXY=" + strings.Join([]string{file(p.dir), file(filepath.Join(cache, "cache", "download")), upstream}, ","), "GOFLAGS=-mod=readonly -modcacherw",
	}
	for _, m := range modules {
		if _, err := run(ctx, m.dir, env, "go", "list", "-deps", "./..."); err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
	}
	root := modules[slices.IndexFunc(modules, func(m released) bool { return m.path == module })]
	if _, err := run(ctx, root.dir, env, "go", "build", "-o", filepath.Join(temp, "bin", "flowgen-built"), "./cmd/flowgen"); err != nil {
		return err
	}
	if _, err := run(ctx, temp, append(env, "GOFLAGS=-modcacherw"), "go", "install", module+"/cmd/flowgen@"+p.version); err != nil {
		return err
	}
	// A released flowgen makes a project that requires the version.
	project := filepath.Join(temp, "project")
	env = append(env, "GOFLAGS=-modcacherw", "FLOWGEN_SOURCE=")
	if out, err := run(ctx, temp, env, filepath.Join(temp, "bin", "flowgen"), "init", project); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(project, "go.mod"))
	if err != nil {
		return err
	}
	if want := module + "/runtime " + p.version; !strings.Contains(string(text), want) || strings.Contains(string(text), "replace") {
		return fmt.Errorf("the go.mod of a new project does not require %s:\n%s", want, text)
	}
	out, err := run(ctx, project, env, "go", "run", ".")
	if err != nil {
		return err
	}
	if !strings.Contains(out, "urgency") {
		return fmt.Errorf("a new project answers %s", out)
	}
	env = append(env, "PATH="+filepath.Join(temp, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"), "XDG_CACHE_HOME="+filepath.Join(temp, "user"))
	readme := filepath.Join(root.dir, "README.md")
	if err := tour(ctx, readme, filepath.Join(temp, "tour"), env); err != nil {
		return err
	}
	return alone(ctx, readme, temp, env)
}

// alone follows the tour with the programs that it names and flowgen, which downloads Go.
func alone(ctx context.Context, readme, temp string, env []string) error {
	bin := filepath.Join(temp, "alone", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	flowgen := filepath.Join(temp, "bin", "flowgen")
	if err := os.Symlink(flowgen, filepath.Join(bin, "flowgen")); err != nil {
		return err
	}
	for _, name := range []string{"sh", "sed", "sort"} {
		exe, err := exec.LookPath(name)
		if err != nil {
			return err
		}
		if err := os.Symlink(exe, filepath.Join(bin, name)); err != nil {
			return err
		}
	}
	env = append(env, "PATH="+bin, "XDG_CACHE_HOME="+filepath.Join(temp, "alone", "cache"))
	out, err := run(ctx, temp, env, flowgen, "toolchain")
	if err != nil {
		return err
	}
	env = append(env, "PATH="+bin+string(os.PathListSeparator)+filepath.Dir(strings.TrimSpace(out)))
	return tour(ctx, readme, filepath.Join(temp, "alone", "tour"), env)
}
