package bind

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/internal/programs"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// mode asks for types from export data. The dependencies' syntax is never wanted: with NeedDeps one package that
// imports net/http takes ten times as long. A package that does not compile has no export data; go/packages then checks
// its source and tolerates the errors, which is what lets a function be found next to generated code that is stale.
const mode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedModule

// goTime is how long the go command may take to load packages. A computer that compiles hundreds of packages of other modules for
// the first time takes minutes; a package that never ends is one of a stranger.
const goTime = 20 * time.Minute

// Loading is the message of the diagnostic about Go packages that an Options with Later did not load.
const Loading = "the Go packages are not loaded yet"

var errLater = errors.New(Loading)

type loader struct {
	opts   Options
	root   string // folder of the go.mod or go.work that Dir belongs to; "" = none
	module string // path of that go.mod's module; "" for a go.work

	byPattern map[string]*packages.Package
	own       []string // folders of the go command, once they are needed
	calls     int      // of packages.Load
}

// findModule looks for the module Dir belongs to.
func (l *loader) findModule() {
	for dir := l.opts.Dir; ; dir = filepath.Dir(dir) {
		if b, err := l.read(filepath.Join(dir, "go.mod")); err == nil {
			l.root, l.module = dir, modulePath(b)
			return
		}
		if files.Exists(filepath.Join(dir, "go.work")) {
			l.root = dir
			return
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// modulePath is what the module line of a go.mod says; "" when there is none.
func modulePath(mod []byte) string {
	for line := range strings.Lines(string(mod)) {
		line, _, _ = strings.Cut(line, "//")
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "module" {
			return strings.Trim(fields[1], "\"`")
		}
	}
	return ""
}

// read reads a go.mod or a Go file of at most 8 MiB, which is more than any a user wrote. A //line comment can name any
// file as the place of a declaration, and a Go file can be a link: what is read is in the project, in a package that the go
// command has found, or in one of the go command's own folders.
func (l *loader) read(name string) ([]byte, error) {
	if b, ok := l.opts.Overlay[name]; ok {
		return b, nil
	}
	roots := files.Project(filepath.Join(l.opts.Dir, "x"))
	switch {
	case roots.Hold(name):
	case filepath.Base(name) == "go.mod": // of the module that the project is in
		roots = files.Roots{{Dir: filepath.Dir(name), Hidden: true}}
	case filepath.Ext(name) != ".go":
		return nil, files.ErrOutside
	default:
		roots = l.packages()
	}
	return roots.ReadFile(name, 8<<20)
}

// packages are the folders outside of the project that have Go files of packages: of those that were loaded and of their
// modules, and those of the go command.
func (l *loader) packages() (roots files.Roots) {
	if l.own == nil {
		l.own, _ = programs.GoFolders(l.opts.Dir) // without them there are no descriptions
	}
	for _, dir := range l.own {
		roots = append(roots, files.Root{Dir: dir, Hidden: true})
	}
	for _, p := range l.byPattern {
		if p != nil && p.Dir != "" {
			roots = append(roots, files.Root{Dir: p.Dir, Hidden: true})
		}
		if p != nil && p.Module != nil && p.Module.Dir != "" {
			roots = append(roots, files.Root{Dir: p.Module.Dir, Hidden: true})
		}
	}
	return roots
}

// query runs the go command for patterns that were not asked for before.
func (l *loader) query(patterns []string) error {
	patterns = slices.DeleteFunc(patterns, func(p string) bool { _, known := l.byPattern[p]; return known })
	slices.Sort(patterns)
	patterns = slices.Compact(patterns)
	if len(patterns) == 0 {
		return nil
	}
	var unknown []string
	for _, p := range patterns {
		switch known, ok := l.opts.Cache.get(l.opts, p); {
		case !ok:
			unknown = append(unknown, p)
		case known.err != nil:
			return known.err
		default:
			l.byPattern[p] = known.pkg
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	if l.opts.Later {
		return errLater
	}
	err := l.ask(unknown)
	if err != nil { // remembered, or a caller that loads in the background would do so again and again
		for _, p := range unknown {
			l.opts.Cache.put(l.opts, p, loaded{err: err})
		}
	}
	return err
}

// ask runs the go command.
func (l *loader) ask(unknown []string) error {
	if err := programs.CheckGo(l.opts.Dir); err != nil {
		return err
	}
	env := l.opts.Env
	if env == nil {
		env = os.Environ()
	}
	l.calls++
	var pkgs []*packages.Package
	err := programs.Within(cmp.Or(l.opts.Within, goTime), func(ctx context.Context) (err error) {
		pkgs, err = packages.Load(&packages.Config{
			Context:    ctx,
			Mode:       mode,
			Dir:        l.opts.Dir,
			Env:        programs.GoEnvironment(env, l.opts.Dir),
			Overlay:    goOnly(l.opts.Overlay),
			Tests:      l.opts.Tests,
			BuildFlags: programs.GoFlags,
		}, unknown...)
		return err
	})
	if err != nil {
		return err
	}
	// With Tests a package comes twice; the one compiled with its test files, whose ID is longer, is last and wins.
	slices.SortStableFunc(pkgs, func(a, b *packages.Package) int { return cmp.Compare(len(a.ID), len(b.ID)) })
	for _, p := range unknown {
		l.byPattern[p] = nil
		for _, pkg := range pkgs {
			if l.matches(p, pkg) {
				l.byPattern[p] = pkg
			}
		}
		l.opts.Cache.put(l.opts, p, loaded{pkg: l.byPattern[p]})
	}
	return nil
}

// matches reports whether pkg is what the pattern asked for: packages found by folder have their import path.
// goOnly is what the go command has to know of an overlay: with one, go/packages checks the source of all dependencies in the
// place of reading their export data, which takes several times the time and the memory. So texts of other files, and those that
// are on the disk as they are in the editor, are left out.
func goOnly(overlay map[string][]byte) map[string][]byte {
	var out map[string][]byte
	for name, text := range overlay {
		switch base := filepath.Base(name); {
		case filepath.Ext(name) == ".go", base == "go.mod", base == "go.sum", base == "go.work":
		default:
			continue
		}
		if saved, err := (files.Roots{{Dir: filepath.Dir(name), Hidden: true}}).ReadFile(name, len(text)+1); err == nil && bytes.Equal(saved, text) {
			continue
		}
		if out == nil {
			out = map[string][]byte{}
		}
		out[name] = text
	}
	return out
}

func (l *loader) matches(pattern string, pkg *packages.Package) bool {
	if pkg.PkgPath == pattern {
		return true
	}
	if _, ok := relative(pattern); !ok || pkg.Dir == "" || strings.HasSuffix(pkg.PkgPath, "_test") || strings.HasSuffix(pkg.ID, ".test") {
		return false
	}
	return sameFolder(pkg.Dir, filepath.Join(l.opts.Dir, filepath.FromSlash(pattern)))
}

func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// load loads what refs need in one call. It reports false when the go command itself failed.
func (r *resolver) load(refs []*ref) bool {
	if len(refs) == 0 {
		return false
	}
	var patterns []string
	for _, f := range refs {
		patterns = append(patterns, f.pattern)
		if f.owner != "" {
			patterns = append(patterns, f.owner)
		}
	}
	err := r.query(patterns)
	if err == nil {
		return true
	}
	d := diag.Diagnostic{
		Code: diag.GoPackage, Span: refs[0].span(),
		Message: "the go command cannot load Go packages: " + r.firstLine(err.Error()),
	}
	if errors.Is(err, errLater) {
		d.Message = Loading
	}
	var strange *programs.GoError
	if errors.Is(err, context.DeadlineExceeded) {
		d.Message = fmt.Sprintf("the go command loads Go packages for more than %v", cmp.Or(r.opts.Within, goTime))
		d.Help = "run `go build` on the packages to find the one that takes so long"
	}
	if errors.As(err, &strange) {
		d.Message, d.Help = strange.Error(), strange.Help()
	}
	if strings.Contains(err.Error(), " requires go >= ") {
		d.Help = "install a newer Go; the compiler does not switch to another one by itself"
	}
	if strings.Contains(err.Error(), "go command required, not found") {
		d.Message, d.Help = "Go functions need the go command, which is not on the PATH", "install Go from https://go.dev/dl"
	}
	r.fail(d)
	return false
}

// pkg is the package of a reference; what keeps it from being used is reported once per package.
func (r *resolver) pkg(f *ref) (*packages.Package, bool) {
	p := r.byPattern[f.pattern]
	if p == nil || p.Name == "" || p.Types == nil {
		if o := r.byPattern[f.owner]; f.owner != "" && o != nil && o.Name != "" {
			r.method(f, o)
			return nil, false
		}
		if !r.reported[f.pattern] {
			r.reported[f.pattern] = true
			r.missing(f, p)
		}
		return nil, false
	}
	if why, help := r.notImportable(p); why != "" {
		r.fail(diag.Diagnostic{Code: diag.GoImport, Span: f.pathSpan(), Message: why, Help: help})
		return nil, false
	}
	// The package the generated file will be part of may be waiting for that very file.
	if p.IllTyped && !sameFolder(p.Dir, r.opts.Dir) && !r.reported[p.PkgPath] {
		r.reported[p.PkgPath] = true
		r.broken(f, p)
	}
	return p, true
}

// notImportable says why generated code cannot import p, or "".
func (r *resolver) notImportable(p *packages.Package) (why, help string) {
	here := sameFolder(p.Dir, r.opts.Dir)
	if p.Name == "main" && !here {
		return quote(p.PkgPath) + " is a command (package main), which cannot be imported", "move the function to a package of its own"
	}
	i := strings.LastIndex("/"+p.PkgPath+"/", "/internal/")
	if i < 0 {
		return "", ""
	}
	why, help = quote(p.PkgPath)+" is internal to "+quote(p.PkgPath[:max(i-1, 0)])+" and cannot be imported here", "name a function of a package that is not internal"
	if i == 0 || p.Module == nil {
		return quote(p.PkgPath) + " is internal to the standard library", help
	}
	// The parent of internal must be an ancestor of the folder the code is generated into.
	parent := p.Dir
	for range strings.Count(p.PkgPath[i-1:], "/") {
		parent = filepath.Dir(parent)
	}
	if rel, err := filepath.Rel(parent, r.opts.Dir); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", ""
	}
	return why, help
}
