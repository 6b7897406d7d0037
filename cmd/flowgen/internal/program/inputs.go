package program

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/internal/files"
)

// An input is something an executable was made from. As long as all inputs of an executable are as they were, building
// again would give the same program.
type input struct {
	Path string `json:"path"`
	Kind kind   `json:"kind"`
	Sum  string `json:"sum"`
}

type kind string

const (
	content kind = "content" // the bytes of a file; Sum is "" when there is none
	sources kind = "sources" // the names of the files in a folder that can be part of a Go package
	names   kind = "names"   // the names of all files in a folder
)

// state is the present Sum of an input.
func (in input) state() (string, error) {
	if in.Kind != content {
		return namesIn(in.Path, in.Kind)
	}
	f, err := os.OpenFile(in.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not wait for a pipe
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return "", cmp.Or(err, error(&os.PathError{Op: "read", Path: in.Path, Err: files.ErrIrregular}))
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sourceEnds are the suffixes of files that the go command looks at.
var sourceEnds = []string{
	".go", ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx", ".f", ".F", ".for", ".f90", ".s", ".S", ".sx",
	".swig", ".swigcxx", ".syso",
}

// namesIn covers what adds to a Go package or takes from it: a new file, a removed one. Tests do not.
func namesIn(dir string, k kind) (string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, e := range entries {
		n := e.Name()
		if e.IsDir() || k == sources && (strings.HasSuffix(n, "_test.go") || !slices.Contains(sourceEnds, filepath.Ext(n))) {
			continue
		}
		_, _ = io.WriteString(h, n+"\x00") // a hash does not fail
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// identity is everything besides files that decides what is built: flowgen itself, the Go tools, and their settings.
func identity() (string, error) {
	id, err := origin.ID()
	if err != nil {
		return "", err
	}
	parts := []string{"1", id, runtime.GOOS, runtime.GOARCH, os.Getenv(origin.SourceEnv)}
	if goTool, err := exec.LookPath("go"); err == nil {
		if real, err := filepath.EvalSymlinks(goTool); err == nil {
			goTool = real
		}
		parts = append(parts, goTool)
		if st, err := os.Stat(goTool); err == nil {
			parts = append(parts, st.ModTime().UTC().Format(time.RFC3339Nano))
		}
	}
	if config, err := os.UserConfigDir(); err == nil { // go env -w
		if text, err := os.ReadFile(filepath.Join(config, "go", "env")); err == nil {
			parts = append(parts, string(text))
		}
	}
	var env []string
	for _, e := range os.Environ() {
		if strings.HasPrefix(e, "GO") || strings.HasPrefix(e, "CGO_") || strings.HasPrefix(e, "CC=") || strings.HasPrefix(e, "CXX=") {
			env = append(env, e)
		}
	}
	sort.Strings(env)
	return digest(append(parts, env...)...), nil
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = io.WriteString(h, p+"\x00") // a hash does not fail
	}
	return hex.EncodeToString(h.Sum(nil))
}

// listedPackage is what is asked of go list.
type listedPackage struct {
	ImportPath string
	Dir        string
	Standard   bool
	Module     *listedModule

	GoFiles, CgoFiles, CFiles, CXXFiles, MFiles, HFiles, FFiles, SFiles []string
	SwigFiles, SwigCXXFiles, SysoFiles, EmbedFiles                      []string

	EmbedPatterns []string
}

type listedModule struct {
	Main    bool
	Version string
	Replace *listedModule
}

// fixed tells packages that cannot change: those of Go itself, and versions of modules.
func (p *listedPackage) fixed() bool {
	if p.Standard {
		return true
	}
	m := p.Module
	if m == nil { // vendored
		return false
	}
	if m.Replace != nil {
		m = m.Replace
	}
	return !m.Main && m.Version != "" && !strings.Contains(filepath.ToSlash(p.Dir), "/vendor/")
}

// inputSet collects inputs, leaving out what is in the scratch folder: only flowgen itself wrote that.
type inputSet struct {
	scratch string
	set     map[input]bool
}

func (s *inputSet) add(k kind, name string) {
	if !within(s.scratch, name) {
		s.set[input{Path: name, Kind: k}] = true
	}
}

// inputs lists what the program in the workspace is made of.
func (w *workspace) inputs(ctx context.Context, src *Source) ([]input, error) {
	s := &inputSet{scratch: w.scratch, set: map[input]bool{}}
	for _, one := range src.all() {
		for _, name := range one.Inputs {
			full, err := filepath.Abs(name)
			if err != nil {
				return nil, err
			}
			s.add(content, full)
		}
		dir, err := filepath.Abs(filepath.Dir(one.File))
		if err != nil {
			return nil, err
		}
		s.add(sources, dir) // decide the package
		s.modules(dir)
	}
	if from, err := origin.Find(); err == nil && from.Dir != "" {
		for _, name := range from.ModFiles() {
			s.add(content, name)
		}
	}
	packages, err := w.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		if !p.fixed() && !within(w.scratch, p.Dir) {
			s.goPackage(p)
		}
	}
	return s.list()
}

// list returns the inputs with their present state, in a fixed order.
func (s *inputSet) list() ([]input, error) {
	out := make([]input, 0, len(s.set))
	for in := range s.set {
		var err error
		if in.Sum, err = in.state(); err != nil {
			return nil, err
		}
		out = append(out, in)
	}
	slices.SortFunc(out, func(a, b input) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(string(a.Kind), string(b.Kind)))
	})
	return out, nil
}

// modules adds what says which module, and which workspace, a folder belongs to. A file that is not there is an input,
// too: one that appears later changes the answer.
func (s *inputSet) modules(dir string) {
	for d, inModule := dir, true; ; d = filepath.Dir(d) {
		if inModule {
			s.add(content, filepath.Join(d, "go.mod"))
			s.add(content, filepath.Join(d, "go.sum"))
			s.add(content, filepath.Join(d, "vendor", "modules.txt"))
			_, err := os.Stat(filepath.Join(d, "go.mod"))
			inModule = err != nil
		}
		s.add(content, filepath.Join(d, "go.work"))
		if filepath.Dir(d) == d {
			break
		}
	}
	if work := os.Getenv("GOWORK"); filepath.IsAbs(work) {
		s.add(content, work)
	}
}

// goPackage adds the files of a package and what could become part of it.
func (s *inputSet) goPackage(p *listedPackage) {
	s.add(sources, p.Dir)
	for _, list := range [][]string{
		p.GoFiles, p.CgoFiles, p.CFiles, p.CXXFiles, p.MFiles, p.HFiles, p.FFiles, p.SFiles, p.SwigFiles, p.SwigCXXFiles,
		p.SysoFiles, p.EmbedFiles,
	} {
		for _, f := range list {
			if !filepath.IsAbs(f) {
				f = filepath.Join(p.Dir, f)
			}
			s.add(content, f)
		}
	}
	if len(p.EmbedPatterns) > 0 { // which may match a new file
		s.add(names, p.Dir)
		for _, f := range p.EmbedFiles {
			s.add(names, filepath.Dir(filepath.Join(p.Dir, f)))
		}
	}
}

func (w *workspace) list(ctx context.Context) ([]*listedPackage, error) {
	args := append([]string{"list", "-deps", "-json=ImportPath,Dir,Standard,Module,GoFiles,CgoFiles,CFiles,CXXFiles,MFiles,HFiles," +
		"FFiles,SFiles,SwigFiles,SwigCXXFiles,SysoFiles,EmbedFiles,EmbedPatterns"}, w.flags...)
	text, err := w.output(ctx, append(args, w.pattern)...)
	if err != nil {
		return nil, err
	}
	var out []*listedPackage
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		p := &listedPackage{}
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
}

// changedSince tells whether an input was written after a time: then it is not sure that the build saw what is there now.
func changedSince(list []input, start time.Time) bool {
	for _, in := range list {
		if st, err := os.Stat(in.Path); err == nil && !st.ModTime().Before(start) {
			return true
		}
	}
	return false
}

func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
