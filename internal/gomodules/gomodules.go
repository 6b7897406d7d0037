// Package gomodules reads files of the Go modules that a workflow's module requires: the versions of go.mod, from the module
// cache, the vendor folder, the folder of a replace line or of the workspace, whichever the go command would use. Nothing is
// fetched, nothing is run of a module, and nothing is written.
package gomodules

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/internal/programs"
)

// An Error says what keeps a file of a module from being used.
type Error struct{ Problem, Advice string }

func (e *Error) Error() string { return e.Problem }

// Help says what to do about it.
func (e *Error) Help() string { return e.Advice }

// Modules are those of the workflows in a folder. It is not safe for concurrent use.
type Modules struct {
	dir     string            // absolute; where the go command runs
	home    string            // of the module that dir is in; "" for none
	vendor  string            // the folder with vendor, where the go command reads from it; else ""
	asked   map[string]listed // what the go command said, by path
	modules map[string]*Module
	ready   bool
}

// In returns the modules that workflows in a folder can name files of.
func In(dir string) (*Modules, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &Modules{dir: dir, asked: map[string]listed{}, modules: map[string]*Module{}}, nil
}

// maxElements bounds the elements of an import path, each of which can be the end of a module's.
const maxElements = 20

// Find is the module of a file that is named by an import path, and the file's name there. The error is an *Error.
func (m *Modules) Find(file string) (found *Module, rel string, err error) {
	if strings.Contains(file, "@") {
		return nil, "", &Error{"the version of a module is in go.mod, not in the name of a file", "remove the `@` and the version"}
	}
	if err := module.CheckImportPath(path.Dir(file)); err != nil || module.CheckFilePath(file) != nil || strings.Count(file, "/") > maxElements || !strings.Contains(file, "/") {
		return nil, "", &Error{"this is not a path of a file in a Go module", "write it as in `go:github.com/acme/flows/shop.flowgen.yaml`"}
	}
	if err := m.prepare(); err != nil {
		return nil, "", err
	}
	if err := m.ask(file); err != nil {
		return nil, "", err
	}
	for at := path.Dir(file); at != "."; at = path.Dir(at) {
		l, ok := m.asked[at]
		if !ok || l.Error != nil && l.Version == "" && !l.Main {
			continue
		}
		if found = m.modules[at]; found == nil {
			if found, err = m.open(l); err != nil {
				return nil, "", err
			}
			m.modules[at] = found
		}
		return found, strings.TrimPrefix(file, at+"/"), nil
	}
	return nil, "", &Error{"no module of go.mod has this path", "run `go get " + guess(file) + "`, which adds the module to go.mod"}
}

// guess is the path that a module with a file probably has.
func guess(file string) string {
	dir := path.Dir(file)
	parts := strings.Split(dir, "/")
	if !slices.Contains([]string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"}, parts[0]) || len(parts) < 3 {
		return dir
	}
	n := 3
	if _, major, ok := module.SplitPathVersion(strings.Join(parts[:min(4, len(parts))], "/")); ok && major != "" {
		n = 4
	}
	return strings.Join(parts[:n], "/")
}

// prepare asks which module the folder is in.
func (m *Modules) prepare() error {
	if m.ready {
		return nil
	}
	out, err := programs.AskGo(m.dir, "env", "GOMOD", "GOWORK", "GOFLAGS")
	if err != nil {
		return failed(err)
	}
	lines := strings.Split(string(out), "\n")
	if len(lines) < 3 {
		return &Error{"the go command reports no module for the workflow", "run `go env GOMOD` in the folder of the workflow"}
	}
	mod, work, flags := strings.TrimSpace(lines[0]), strings.TrimSpace(lines[1]), lines[2]
	if mod == "" || mod == os.DevNull {
		return &Error{"the workflow is not in a Go module, whose go.mod would set the version", "run `go mod init` in the folder of the workflow or above it, then `go get` the module"}
	}
	m.home = filepath.Dir(mod)
	root := m.home
	if filepath.IsAbs(work) {
		root = filepath.Dir(work)
	}
	// As the go command decides it, which also compares vendor/modules.txt with go.mod.
	if strings.Contains(flags, "-mod=vendor") || !strings.Contains(flags, "-mod=") && files.Exists(filepath.Join(root, "vendor", "modules.txt")) {
		m.vendor = root
	}
	m.ready = true
	return nil
}

// listed is what `go list -m` says of a module.
type listed struct {
	Path, Version, Dir, Sum string
	Main                    bool
	Replace                 *struct{ Path, Version, Dir, Sum string }
	Error                   *struct{ Err string }
}

// ask has the go command say which of the paths above a file are modules, and where they are.
func (m *Modules) ask(file string) error {
	var paths []string
	for at := path.Dir(file); at != "."; at = path.Dir(at) {
		if _, done := m.asked[at]; !done && module.CheckImportPath(at) == nil {
			paths = append(paths, at)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	mode := "-mod=readonly"
	if m.vendor != "" {
		mode = "-mod=vendor"
	}
	out, err := programs.AskGo(m.dir, append([]string{"list", mode, "-m", "-e", "-json"}, paths...)...)
	if err != nil {
		return failed(err)
	}
	for _, p := range paths {
		m.asked[p] = listed{Error: &struct{ Err string }{}}
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return &Error{"the go command reports no folder for its modules", "run `go list -m all` in the folder of the workflow"}
		}
		if _, ours := m.asked[l.Path]; ours && (l.Version != "" || l.Main) {
			m.asked[l.Path] = l
		}
	}
}

// failed is the error of a go command that did not answer.
func failed(err error) error {
	var strange *programs.GoError
	var exit *exec.ExitError
	switch {
	case errors.As(err, &strange):
		return &Error{strange.Error(), strange.Help()}
	case errors.Is(err, exec.ErrNotFound):
		return &Error{"files of Go modules need the go command, which is not on the PATH", "install Go from https://go.dev/dl"}
	case errors.As(err, &exit):
		line, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		return &Error{"the go command cannot list the modules: " + cmp.Or(line, exit.Error()), "run `go list -m all` in the folder of the workflow"}
	}
	return &Error{"the go command cannot list the modules: " + err.Error(), "run `go list -m all` in the folder of the workflow"}
}

// open finds the files of a module.
func (m *Modules) open(l listed) (*Module, error) {
	out := &Module{ID: l.Path, Path: l.Path}
	version, dir, sum := l.Version, l.Dir, l.Sum
	if l.Version != "" {
		out.ID += "@" + l.Version
	}
	if l.Replace != nil {
		version, dir, sum = l.Replace.Version, cmp.Or(l.Replace.Dir, l.Dir), cmp.Or(l.Replace.Sum, l.Sum)
	}
	switch {
	case l.Main && filepath.Clean(dir) == m.home:
		return nil, &Error{"`" + l.Path + "` is the module of the workflow itself", "name the file relative to the folder of this one"}
	case m.vendor != "" && !l.Main: // go.sum is not consulted: what is in the project is reviewed with it
		out.in = files.Roots{{Dir: m.vendor, Hidden: true}}
		out.dir, out.vendored = filepath.Join(m.vendor, "vendor", filepath.FromSlash(l.Path)), true
	case dir == "":
		return nil, &Error{"module " + out.ID + " is not in the module cache, or go.sum has no hash of it", "run `go get " + out.ID + "`, or `go mod download`"}
	case version == "": // a folder, which has no hash
		out.in, out.dir = files.Roots{{Dir: dir, Hidden: true}}, dir
	case sum == "":
		return nil, &Error{"go.sum has no hash of module " + out.ID, "run `go get " + out.ID + "`"}
	default:
		out.in, out.dir = files.Roots{{Dir: dir, Hidden: true}}, dir
		name := cmp.Or(replacedBy(l), l.Path) + "@" + version
		if err := out.verify(name, sum); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// replacedBy is the path of the module that stands in for one.
func replacedBy(l listed) string {
	if l.Replace == nil {
		return ""
	}
	return l.Replace.Path
}

// tooMuch is the error of a module that is too large to compare with its hash.
func tooMuch(id string) error {
	return &Error{fmt.Sprintf("module %s has more than %d files, or more than %d MiB of them, which is too much to compare with go.sum", id, maxHashed, maxHashedBytes>>20),
		"put the workflows into a module of their own"}
}
