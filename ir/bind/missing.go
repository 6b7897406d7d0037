package bind

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// firstLine is the part of a message of the go command that says what is wrong, without folders of this machine.
// What ends with a colon goes on in the next line.
func (r *resolver) firstLine(msg string) string {
	begun := ""
	for line := range strings.Lines(msg) {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(line, "err: ")
		if _, said, ok := strings.Cut(line, ": stderr: "); ok && strings.HasPrefix(line, "exit status") {
			line = said // as go/packages puts it
		}
		line = strings.TrimPrefix(line, "go: ")
		line, _, _ = strings.Cut(line, ". To specify the module path:") // a command follows, which is no reason
		if line == "" || strings.HasPrefix(line, "errors parsing ") || strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "exit status") || strings.HasPrefix(line, "downloading ") {
			continue
		}
		line = strings.ReplaceAll(line, r.opts.Dir+string(filepath.Separator), "")
		line = begun + strings.TrimSuffix(line, ": stderr:")
		if len(line) > 300 {
			return strings.ToValidUTF8(line[:300], "") + "..."
		}
		if !strings.HasSuffix(line, ":") {
			return line
		}
		begun = line + " "
	}
	if begun != "" {
		return strings.TrimRight(begun, ": ")
	}
	return "it failed without a message"
}

// missing reports that there is no package for f. p is what the go command made of it, or nil.
func (r *resolver) missing(f *ref, p *packages.Package) {
	var msg string
	if p != nil && len(p.Errors) > 0 {
		msg = p.Errors[0].Msg
	}
	d := diag.Diagnostic{Code: diag.GoPackage, Span: f.pathSpan()}
	rel, isFolder := relative(f.path)
	shown := quote(f.path)
	if f.path == "" {
		shown = quote(rel)
	}
	switch {
	case strings.Contains(msg, "no Go files in"):
		d.Message = shown + " holds no Go files"
	case strings.Contains(msg, "build constraints exclude all Go files"):
		d.Message = "build constraints exclude all Go files of " + shown
	case isFolder && (msg == "" && !r.hasFolder(f, rel) || strings.Contains(msg, "directory not found")):
		d.Message = "no folder " + shown + " next to " + f.file.Name
	case strings.Contains(msg, "is not in std"):
		d.Message = "package " + quote(f.path) + " is not in the standard library"
		d.Help = "write the import path with its module, or a path relative to this file, such as ./" + lastElement(f.path) + "." + f.name
	case r.inModule(f.path):
		d.Message = fmt.Sprintf("module %s has no package %s", quote(r.module), quote(f.path))
	case strings.Contains(msg, "no required module provides") && r.root != "":
		d.Message = "no module in go.mod provides package " + quote(f.path)
		d.Help = "run `go get " + f.path + "`"
	case strings.Contains(msg, "no required module provides"):
		d.Message = "package " + quote(f.path) + " needs a go.mod, and there is none in the folder of the workflow or above it"
		d.Help = "run `go mod init` in the folder of the workflow"
	case msg != "":
		d.Message = "package " + shown + " cannot be loaded: " + r.firstLine(msg)
		if m := proposal.FindStringSubmatch(msg); m != nil {
			d.Message = strings.TrimSuffix(d.Message, "; to add:")
			d.Help = "run " + quote(m[1])
		}
	default:
		d.Message, d.Help = "package "+shown+" cannot be loaded", "see what `go list` says in the folder of the workflow, perhaps to run `go mod tidy`"
	}
	if near := r.nearestPackage(f, isFolder); near != "" {
		d.Help = "replace with " + quote(near)
		if verbatim(d.Span, f.path) {
			d.Fixes = []diag.Fix{diag.Replace(d.Span, near)}
		}
	}
	r.fail(d)
}

// proposal is how the go command says what to do.
var proposal = regexp.MustCompile(`; to add(?: it)?:\n\s*(go [^\n]+)`)

// hasFolder reports whether the folder of f, rel, is there.
func (r *resolver) hasFolder(f *ref, rel string) bool {
	info, err := r.folders().Stat(filepath.Join(r.folderOf(f.file), filepath.FromSlash(rel)))
	return err == nil && info.IsDir()
}

func (r *resolver) inModule(p string) bool {
	return r.module != "" && (p == r.module || strings.HasPrefix(p, r.module+"/"))
}

// nearestPackage guesses what package was meant: a folder of Go files of that name next to the file, or one whose name is
// like the last element of the path.
func (r *resolver) nearestPackage(f *ref, isFolder bool) string {
	var dir, prefix string
	switch {
	case isFolder:
		rel, _ := relative(f.path)
		parent := path.Dir(rel)
		dir = filepath.Join(r.folderOf(f.file), filepath.FromSlash(parent))
		if prefix = parent + "/"; !strings.HasPrefix(prefix, ".") {
			prefix = "./" + prefix
		}
	case r.inModule(f.path) && f.path != r.module:
		parent := path.Dir(f.path)
		dir = filepath.Join(r.root, filepath.FromSlash(strings.TrimPrefix(strings.TrimPrefix(parent, r.module), "/")))
		prefix = parent + "/"
	case r.root != "" && !strings.Contains(f.path, ".") && r.hasGo(filepath.Join(r.folderOf(f.file), filepath.FromSlash(f.path))):
		return "./" + f.path
	default:
		return ""
	}
	entries, err := r.folders().ReadDir(dir)
	if err != nil || len(entries) > 10_000 {
		return ""
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && r.hasGo(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	if near := diag.Nearest(path.Base(f.path), names); near != "" {
		return prefix + near
	}
	return ""
}

func (r *resolver) hasGo(dir string) bool {
	entries, err := r.folders().ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".go") })
}

// folders are those that are searched for packages: the project, and its repository, where other modules may be.
func (r *resolver) folders() files.Roots {
	roots := files.Project(filepath.Join(r.opts.Dir, "x"))
	if repository := files.Repository(r.opts.Dir); repository != "" {
		roots = append(roots, files.Root{Dir: repository})
	}
	return roots
}

// compileError is how the compiler spells a place and what is wrong there.
var compileError = regexp.MustCompile(`(?m)^(?:vet: )?([^\s:][^:\n]*\.go):(\d+)(?::(\d+))?: (.*)$`)

// broken reports the first error of a package that does not compile, or of a package it imports.
func (r *resolver) broken(f *ref, p *packages.Package) {
	bad, e := firstError(p, map[*packages.Package]bool{})
	if bad == nil {
		r.fail(diag.Diagnostic{Code: diag.GoCompile, Span: f.pathSpan(), Message: "package " + quote(p.PkgPath) + " does not compile"})
		return
	}
	if bad != p && r.reported[bad.PkgPath] {
		return
	}
	r.reported[bad.PkgPath] = true
	msg, span := e.Msg, source.Span{}
	place, line, col, text := splitError(e)
	if line > 0 {
		msg = text
		if !filepath.IsAbs(place) {
			place = filepath.Join(r.opts.Dir, place)
		}
		if g := r.files.open(place, bad.PkgPath); g != nil {
			span = g.span(line, col)
		}
	}
	r.fail(diag.Diagnostic{
		Code: diag.GoCompile, Span: f.pathSpan(),
		Message: "package " + quote(bad.PkgPath) + " does not compile: " + r.firstLine(msg),
		Related: []diag.Related{{Span: span, Message: "the first error is here"}},
	})
}

// firstError finds the first error of p, or else of the packages it imports, preferring errors with a place.
func firstError(p *packages.Package, seen map[*packages.Package]bool) (*packages.Package, packages.Error) {
	if seen[p] {
		return nil, packages.Error{}
	}
	seen[p] = true
	for _, e := range p.Errors {
		if _, line, _, _ := splitError(e); line > 0 {
			return p, e
		}
	}
	if len(p.Errors) > 0 {
		return p, p.Errors[0]
	}
	for _, path := range sortedKeys(p.Imports) {
		if bad, e := firstError(p.Imports[path], seen); bad != nil {
			return bad, e
		}
	}
	return nil, packages.Error{}
}

// splitError finds the place of an error, which the go command sometimes puts into the message. Line 0 is not a place;
// columns are in bytes.
func splitError(e packages.Error) (file string, line, col int, msg string) {
	text := e.Msg
	if e.Pos != "" && e.Pos != "-" {
		text = e.Pos + ": " + e.Msg
	}
	m := compileError.FindStringSubmatch(text)
	if m == nil {
		return "", 0, 0, e.Msg
	}
	fmt.Sscan(m[2], &line)
	col = 1
	if m[3] != "" {
		fmt.Sscan(m[3], &col)
	}
	return m[1], line, col, m[4]
}
