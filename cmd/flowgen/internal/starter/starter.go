// Package starter writes new workflow projects: the files of a template, and what go.mod needs for them.
package starter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/internal/programs"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/templates"
)

// A Project is one to be written.
type Project struct {
	Dir    string // folder; need not exist
	Name   string // of the workflow, an id
	Module string // module path, for a project in no module yet

	Library bool // a package for the programs of a module that exists, and no program

	Schema []byte // the JSON Schema of workflows, for VS Code's settings; nil: none are written

	Raised string // what Write says of the go line of go.mod, when it had to raise it

	root string // folder of the go.mod that exists, "" if none does
}

// A Refusal says why nothing was written.
type Refusal struct{ What string }

func (r *Refusal) Error() string { return r.What }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// optional files are left out where the user has their own.
var optional = []string{".gitignore", "README.md", extensionsFile, schemaFile}

// What VS Code reads.
const (
	extensionsFile = ".vscode/extensions.json"
	schemaFile     = ".vscode/flowgen.schema.json"
)

// Workflow is the name of the workflow file on disk.
func (p *Project) Workflow() string { return filepath.Join(p.Dir, p.Name+".flowgen.yaml") }

// NewModule tells whether the project gets a go.mod of its own.
func (p *Project) NewModule() bool { return p.root == "" }

// Write writes the project and returns the names of the files it made or changed, in order. It never replaces a file:
// where one is in the way, nothing is written and the error is a *Refusal. go.mod and go.sum of an existing module only
// gain lines.
func (p *Project) Write(ctx context.Context) ([]string, error) {
	from, err := origin.Find()
	if err != nil {
		return nil, err
	}
	if err := p.locate(); err != nil {
		return nil, err
	}
	if strange := (*programs.GoError)(nil); errors.As(programs.CheckGo(p.Dir), &strange) {
		return nil, refuse("%v; %s", strange, strange.Help())
	}
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	if err := p.free(files); err != nil {
		return nil, err
	}
	var written []string
	for _, f := range files {
		if f.skip {
			continue
		}
		name := filepath.Join(p.Dir, f.name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return written, err
		}
		// Exclusive: a file that came up meanwhile stays.
		if err := create(name, f.text); err != nil {
			return written, err
		}
		written = append(written, name)
	}
	changed, err := p.requireFlowgen(ctx, from)
	return append(written, changed...), err
}

// locate finds the module that the folder is in, and checks that the folder can take a program.
func (p *Project) locate() error {
	abs, err := filepath.Abs(p.Dir)
	if err != nil {
		return err
	}
	if st, err := os.Stat(abs); err == nil && !st.IsDir() {
		return refuse("%s is a file", p.Dir)
	}
	for dir := abs; ; dir = filepath.Dir(dir) {
		if st, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && !st.IsDir() {
			p.root = dir
			break
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	if p.Library && p.root == "" {
		return refuse("--library adds a package to a Go module, and there is no go.mod here or above; make one with `go mod init`")
	}
	goFiles, err := filepath.Glob(filepath.Join(abs, "*.go"))
	if err != nil {
		return err
	}
	if len(goFiles) > 0 {
		return refuse("%s already holds Go files; name a new folder: flowgen init %s", p.Dir,
			filepath.ToSlash(filepath.Join(p.Dir, "demo")))
	}
	return nil
}

type file struct {
	name string // slash-separated, relative to the project
	text []byte
	skip bool
}

// files fills the template.
func (p *Project) files() ([]file, error) {
	abs, err := filepath.Abs(p.Dir)
	if err != nil {
		return nil, err
	}
	data := struct{ Name, Command, Package, Path, ToolFile string }{Name: p.Name, Command: filepath.Base(abs), Package: goname.Package(p.Name)}
	if p.Library {
		up, err := filepath.Rel(abs, p.root)
		if err != nil {
			return nil, err
		}
		below, err := filepath.Rel(p.root, abs)
		if err != nil {
			return nil, err
		}
		data.ToolFile, data.Path = filepath.ToSlash(filepath.Join(up, toolFile)), path.Join(p.modulePath(), filepath.ToSlash(below))
		if err := module.CheckImportPath(data.Path); err != nil {
			return nil, refuse("%v; name another folder", err)
		}
	}
	if !p.NewModule() && p.root == abs || p.NewModule() {
		data.Command = path.Base(p.modulePath())
	}
	if strings.ContainsFunc(data.Command, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return nil, refuse("%q cannot be the name of a program: it has characters that are not printable", data.Command)
	}
	var out []file
	from, top := templates.Starter, "starter"
	if p.Library {
		from, top = templates.Library, "library"
	}
	err = fs.WalkDir(from, top, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		t, err := template.New(name).Delims("[[", "]]").Option("missingkey=error").Parse(string(text))
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return err
		}
		as := strings.TrimSuffix(strings.TrimPrefix(name, top+"/"), ".tmpl")
		switch {
		case as == "gitignore":
			as = ".gitignore"
		case strings.HasPrefix(as, "name.") || strings.HasPrefix(as, "name_"):
			as = p.Name + strings.TrimPrefix(as, "name")
		}
		if p.Schema != nil && as == p.Name+".flowgen.yaml" {
			b = *bytes.NewBuffer(append([]byte("# yaml-language-server: $schema="+schemaFile+"\n"), b.Bytes()...))
		}
		out = append(out, file{name: as, text: b.Bytes()})
		return nil
	})
	if p.Schema != nil {
		out = append(out, file{name: extensionsFile, text: []byte("{\n  \"recommendations\": [\"flowgen-dev.flowgen\"]\n}\n")}, file{name: schemaFile, text: p.Schema})
	}
	return out, err
}

// modulePath is that of the module the project is in or gets.
func (p *Project) modulePath() string {
	if !p.NewModule() {
		if text, err := files.Read(filepath.Join(p.root, "go.mod"), files.Max); err == nil {
			return modfile.ModulePath(text)
		}
	}
	if p.Module != "" {
		return p.Module
	}
	return "example.com/" + strings.ReplaceAll(p.Name, "_", "-")
}

// free checks that no file is in the way.
func (p *Project) free(files []file) error {
	var taken []string
	for i := range files {
		f := &files[i]
		if _, err := os.Lstat(filepath.Join(p.Dir, f.name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if f.skip = slices.Contains(optional, f.name); !f.skip {
			taken = append(taken, filepath.ToSlash(filepath.Join(p.Dir, f.name)))
		}
	}
	if len(taken) > 0 {
		return refuse("not overwriting %s", strings.Join(taken, ", "))
	}
	return nil
}

func create(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
