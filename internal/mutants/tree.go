//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"
)

//go:embed helpers.tmpl
var helpers string

// A tree is a copy of the module with every mutant of every target in it. MUTANT chooses the one that is active, so that
// a package is compiled and linked once for all of its mutants. It is a copy, not an overlay: tests that build programs
// build them with the mutants.
type tree struct {
	dir     string
	mutants map[string][]mutant // by package
	code    map[string]string   // by file: its sum

	most time.Duration  // units that cost more are left out; 0 for none
	skip *regexp.Regexp // units that are left out, nil for none
}

// grow copies the files that git knows or could know and writes the instrumented ones over them. What has not changed
// keeps its time, for the build cache.
func grow(dir string, targets []target) (*tree, error) {
	t := &tree{dir: dir, mutants: map[string][]mutant{}, code: map[string]string{}}
	files := map[string][]byte{}
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	for _, name := range strings.Split(strings.TrimRight(string(out), "\x00"), "\x00") {
		if text, err := os.ReadFile(name); err == nil {
			files[name] = text
		}
	}
	var patterns []string
	for _, one := range targets {
		patterns = append(patterns, "./"+one.pkg)
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		pkg := strings.TrimPrefix(p.PkgPath, "github.com/flowgen-dev/flowgen/")
		at := slices.IndexFunc(targets, func(t target) bool { return t.pkg == pkg })
		t.plant(p, targets[at], files)
	}
	for name, text := range files {
		to := filepath.Join(dir, name)
		if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, text) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, err
		}
		mode := os.FileMode(0o644)
		if info, err := os.Stat(name); err == nil {
			mode = info.Mode().Perm()
		}
		if err := os.WriteFile(to, text, mode); err != nil {
			return nil, err
		}
	}
	return t, t.prune(files)
}

// plant instruments the files of a package.
func (t *tree) plant(p *packages.Package, of target, files map[string][]byte) {
	next := 1
	for i, f := range p.Syntax {
		base := filepath.Base(p.GoFiles[i])
		if !slices.ContainsFunc(of.files, func(glob string) bool { ok, _ := path.Match(glob, base); return ok }) {
			continue
		}
		name := of.pkg + "/" + base
		t.code[name] = fmt.Sprintf("%x", sha256.Sum256(files[name]))[:16]
		file := p.Fset.File(f.FileStart)
		s := &source{file: name, text: files[name], info: p.TypesInfo, base: file.Base(), next: next, lines: func(at token.Pos) int { return file.Line(at) }}
		// Processes that start with an environment of their own are to know the mutant too.
		files[name] = bytes.ReplaceAll(s.instrument(f), []byte(`[]string{"GOMAXPROCS=1"`), []byte(`[]string{"MUTANT=" + os.Getenv("MUTANT"), "MUTANTS_SEEN=" + os.Getenv("MUTANTS_SEEN"), "GOMAXPROCS=1"`))
		next = s.next
		t.mutants[of.pkg] = append(t.mutants[of.pkg], s.mutants...)
	}
	text := strings.NewReplacer("PACKAGE", p.Name, "PATH", of.pkg, "COUNT", fmt.Sprint(next)).Replace(helpers)
	files[of.pkg+"/mutants_helpers.go"] = []byte(text)
}

// prune removes what the module has no longer.
func (t *tree) prune(files map[string][]byte) error {
	return filepath.WalkDir(t.dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if rel, _ := filepath.Rel(t.dir, name); files[filepath.ToSlash(rel)] == nil && !strings.Contains(rel, "__pycache__") {
			return os.Remove(name)
		}
		return nil
	})
}
