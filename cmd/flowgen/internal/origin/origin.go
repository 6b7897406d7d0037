// Package origin tells where the running flowgen came from: a released version of its module or a source tree. The
// programs it builds take their runtime from the same place.
package origin

import (
	"bytes"
	"errors"
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/modfile"
)

// Module is flowgen's module path, Command the package of this program, and Runtime that of the code it generates for.
const (
	Module  = "github.com/flowgen-dev/flowgen"
	Command = Module + "/cmd/flowgen"
	Runtime = Module + "/runtime"
)

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
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "flowgen (development)"
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && info.Main.Path == Module:
			revision = " " + s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true" && info.Main.Path == Module:
			dirty = "+changes"
		}
	}
	return "flowgen (development" + revision + dirty + ")"
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

// Sums is the content of flowgen's own go.sum, which has every checksum that programs built with its runtime need; it is
// empty for a release, where the go command knows them from the module cache.
func (o Origin) Sums() ([]byte, error) {
	if o.Dir == "" {
		return nil, nil
	}
	sums, err := os.ReadFile(filepath.Join(o.Dir, "go.sum"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return sums, err
}

// Require adds flowgen to a go.mod: as a requirement, and where it comes from a source tree with a replacement. What
// already stands there for flowgen stays. It reports whether anything changed.
func (o Origin) Require(mod *modfile.File) (bool, error) {
	for _, r := range mod.Require {
		if r.Mod.Path == Module {
			return false, nil
		}
	}
	version := o.Version
	if version == "" {
		version = "v0.0.0"
	}
	if err := mod.AddRequire(Module, version); err != nil {
		return false, err
	}
	if o.Dir == "" {
		return true, nil
	}
	for _, r := range mod.Replace {
		if r.Old.Path == Module {
			return true, nil
		}
	}
	return true, mod.AddReplace(Module, "", o.Dir, "")
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
// that built flowgen, or for a source tree the one in its go.mod.
func (o Origin) GoVersion() string {
	if o.Dir != "" {
		if text, err := os.ReadFile(filepath.Join(o.Dir, "go.mod")); err == nil {
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
