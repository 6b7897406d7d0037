// Package origin tells where the running flowgen came from: a released version of its module or a source tree. The
// programs it builds take their runtime from the same place.
package origin

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"

	"github.com/flowgen-dev/flowgen/parser"
)

// Module is the module of the compiler, Command the package of this program, and Runtime the module of the code it generates
// for, and its first package.
const (
	Module  = "github.com/flowgen-dev/flowgen"
	Command = Module + "/cmd/flowgen"
	Runtime = Module + "/runtime"
)

// leaves are the modules of the runtime's packages with foreign libraries, below Runtime: one each, so that a program requires
// the libraries that it uses and no other. All of flowgen's modules have the same version.
var leaves = sync.OnceValue(func() []string {
	list := []string{"blob/s3", "cache/redis", "journal/postgres", "journal/sqlite", "jstool/embedded", "llm/anthropic", "llm/gemini", "llm/responses", "mcpserver", "mcptool", "otel", "sqltool/postgres", "sqltool/sqlite", "startool", "temporal", "wasmtool"}
	for _, l := range parser.Languages() {
		list = append(list, l.Modules...)
	}
	slices.Sort(list)
	return list
})

// moduleOf returns the module of a package of flowgen, "" for other packages.
func moduleOf(pkg string) string {
	below := func(module string) bool { return pkg == module || strings.HasPrefix(pkg, module+"/") }
	for _, leaf := range leaves() {
		if module := Runtime + "/" + leaf; below(module) {
			return module
		}
	}
	for _, module := range []string{Runtime, Module} {
		if below(module) {
			return module
		}
	}
	return ""
}

// Modules are the modules of flowgen that a program with these packages needs: theirs, and Runtime.
func Modules(packages ...string) []string {
	list := []string{Runtime}
	for _, pkg := range packages {
		if m := moduleOf(pkg); m != "" && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// SourceEnv names a source tree to use whatever the program knows of itself.
const SourceEnv = "FLOWGEN_SOURCE"

// An Origin is a version or a folder, never both.
type Origin struct {
	Version string // a version of the module that a proxy can serve
	Dir     string // a source tree, absolute
}

// Find returns the origin. It fails when flowgen was built from a source tree and left no trace of where that is.
func Find() (Origin, error) {
	if dir := os.Getenv(SourceEnv); dir != "" {
		dir, err := filepath.Abs(dir)
		if err == nil {
			err = isSource(dir)
		}
		if err != nil {
			return Origin{}, fmt.Errorf("%s: %w", SourceEnv, err)
		}
		return Origin{Dir: dir}, nil
	}
	if m := self(); m != nil && released(m) {
		return Origin{Version: m.Version}, nil
	}
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return Origin{}, fmt.Errorf("this flowgen was built from a source tree with -trimpath and does not know where that is: "+
			"set %s to its folder, or install a release with go install %s@latest", SourceEnv, Command)
	}
	// file is <dir>/cmd/flowgen/internal/origin/origin.go
	dir := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(filepath.FromSlash(file))))))
	if err := isSource(dir); err != nil {
		return Origin{}, fmt.Errorf("this flowgen was built from a source tree that is no longer there (%w): "+
			"set %s to its folder, or install flowgen again", err, SourceEnv)
	}
	return Origin{Dir: dir}, nil
}

// self is flowgen's module in this program: the main one, or a dependency when built as a tool of another module.
func self() *debug.Module {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	if info.Main.Path == Module {
		return &info.Main
	}
	for _, d := range info.Deps {
		if d.Path == Module {
			if d.Replace != nil {
				return d.Replace
			}
			return d
		}
	}
	return nil
}

// released tells a module that came through the module cache from a source tree, which has no checksum: since Go 1.24
// a checkout has a version, too.
func released(m *debug.Module) bool { return m.Path == Module && m.Version != "" && m.Sum != "" }

func isSource(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	if path := modfile.ModulePath(text); path != Module {
		return fmt.Errorf("%s is the module %q", dir, path)
	}
	return nil
}

// Version is what flowgen calls itself.
func Version() string {
	if m := self(); m != nil && released(m) {
		return "flowgen " + m.Version
	}
	commit, modified := built()
	if commit != "" {
		commit = " " + commit[:min(len(commit), 12)]
	}
	if modified {
		commit += "+changes"
	}
	return "flowgen (development" + commit + ")"
}

// Facts are what `flowgen version --json` prints.
type Facts struct {
	Version  string `json:"version"` // such as v0.1.0; "development" when flowgen was built from a source tree
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the source tree had changes that are not in the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// About returns the facts about the running flowgen.
func About() Facts {
	f := Facts{Version: "development", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if m := self(); m != nil && released(m) {
		f.Version = m.Version
	}
	f.Commit, f.Modified = built()
	return f
}

// built returns the commit that the running flowgen was built from, and whether the tree had changes, as far as Go recorded it.
func built() (commit string, modified bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != Module {
		return "", false
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	return commit, modified
}

// ID identifies this very build: two programs with the same ID compile alike. It is the Go build ID, which depends on
// the program's content alone, or else the state of the executable file.
func ID() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(exe)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, _ := f.ReadAt(head, 0)
	if id, ok := buildID(head[:n]); ok {
		return id, nil
	}
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %d %d", exe, st.Size(), st.ModTime().UnixNano()), nil
}

// buildID finds the line that the linker puts at the start of the text segment.
func buildID(head []byte) (string, bool) {
	_, rest, ok := bytes.Cut(head, []byte("\xff Go build ID: \""))
	if !ok {
		return "", false
	}
	id, _, ok := bytes.Cut(rest, []byte("\"\n \xff"))
	return string(id), ok && len(id) > 0
}

// requirements are the modules of flowgen that packages need: those of the packages, and Runtime. In a source tree those that
// these require follow.
func (o Origin) requirements(packages []string) (direct, indirect []string, err error) {
	direct = Modules(packages...)
	all := slices.Clone(direct)
	for i := 0; i < len(all) && o.Dir != ""; i++ {
		text, err := os.ReadFile(filepath.Join(o.folder(all[i]), "go.mod"))
		if err != nil {
			return nil, nil, err
		}
		mod, err := modfile.ParseLax("go.mod", text, nil)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range mod.Require {
			if moduleOf(r.Mod.Path) == r.Mod.Path && !slices.Contains(all, r.Mod.Path) {
				all = append(all, r.Mod.Path)
			}
		}
	}
	return direct, all[len(direct):], nil
}

// folder is where a module of flowgen is in the source tree.
func (o Origin) folder(module string) string {
	return filepath.Join(o.Dir, filepath.FromSlash(strings.TrimPrefix(strings.TrimPrefix(module, Module), "/")))
}

// ModFiles are the go.mod files of a source tree.
func (o Origin) ModFiles() []string {
	names := []string{filepath.Join(o.Dir, "go.mod"), filepath.Join(o.folder(Runtime), "go.mod")}
	for _, leaf := range leaves() {
		names = append(names, filepath.Join(o.folder(Runtime+"/"+leaf), "go.mod"))
	}
	return names
}

// Sums are the checksums that programs with these packages of flowgen need: those of the go.sum files of their modules. They are
// empty for a release, where the go command knows them from the module cache.
func (o Origin) Sums(packages ...string) ([]byte, error) {
	if o.Dir == "" {
		return nil, nil
	}
	direct, indirect, err := o.requirements(packages)
	if err != nil {
		return nil, err
	}
	var sums []byte
	for _, m := range append(direct, indirect...) {
		more, err := os.ReadFile(filepath.Join(o.folder(m), "go.sum"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		sums = MergeSums(sums, more)
	}
	return sums, nil
}

// Require adds to a go.mod what packages of flowgen need: requirements of their modules, and where flowgen comes from a source
// tree a replacement of each. What is already there for a module stays. It reports whether anything changed.
func (o Origin) Require(mod *modfile.File, packages ...string) (changed bool, err error) {
	direct, indirect, err := o.requirements(packages)
	if err != nil {
		return false, err
	}
	required := map[string]bool{}
	for _, r := range mod.Require {
		required[r.Mod.Path] = true
	}
	replaced := map[string]bool{}
	for _, r := range mod.Replace {
		replaced[r.Old.Path] = true
	}
	for _, m := range direct {
		if required[m] {
			continue
		}
		changed = true
		if err := mod.AddRequire(m, cmp.Or(o.Version, "v0.0.0")); err != nil {
			return false, err
		}
	}
	if o.Dir == "" || !changed {
		return changed, nil
	}
	for _, m := range append(direct, indirect...) {
		if required[m] || replaced[m] {
			continue
		}
		if err := mod.AddReplace(m, "", o.folder(m), ""); err != nil {
			return false, err
		}
	}
	return true, nil
}

// MergeSums adds to a go.sum the lines it lacks.
func MergeSums(sums, more []byte) []byte {
	have := map[string]bool{}
	for line := range bytes.Lines(sums) {
		have[string(bytes.TrimSpace(line))] = true
	}
	out := bytes.Clone(sums)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	for line := range bytes.Lines(more) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !have[string(line)] {
			out = append(append(out, line...), '\n')
		}
	}
	return out
}

// GoVersion is the least version of Go that modules with flowgen's runtime can name: the language version of the Go
// that built flowgen, or for a source tree the one in the go.mod of the runtime.
func (o Origin) GoVersion() string {
	if o.Dir != "" {
		if text, err := os.ReadFile(filepath.Join(o.folder(Runtime), "go.mod")); err == nil {
			if mod, err := modfile.ParseLax("go.mod", text, nil); err == nil && mod.Go != nil {
				return mod.Go.Version
			}
		}
	}
	return strings.TrimPrefix(version.Lang(runtime.Version()), "go")
}

// Newer tells whether flowgen needs a newer Go than a go.mod names.
func (o Origin) Newer(mod *modfile.File) bool {
	return mod.Go == nil || version.Compare("go"+mod.Go.Version, "go"+o.GoVersion()) < 0
}
