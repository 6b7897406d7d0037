package flowgen_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/parser"
)

// A layer is a line of the list of imports in ARCHITECTURE.md.
type layer struct {
	patterns []string
	line     int
}

var (
	blockForm = regexp.MustCompile("(?ms)^```imports\n(.*?)^```$")
	named     = regexp.MustCompile("`((?:ir|parser|codegen|convert|runtime|cmd|golden|docs|internal|templates)(?:/[A-Za-z0-9_/*.-]+)?)`|\\]\\(([a-zA-Z0-9_/.-]+)\\)")
)

func architecture(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// layers reads the list.
func layers(t *testing.T, text string) []layer {
	t.Helper()
	m := blockForm.FindStringSubmatch(text)
	if m == nil {
		t.Fatal("ARCHITECTURE.md has no list of imports")
	}
	var all []layer
	for line := range strings.Lines(m[1]) {
		names, what, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if names == "" {
			continue
		}
		if strings.TrimSpace(what) == "" {
			t.Errorf("ARCHITECTURE.md does not say what %s is for", names)
		}
		l := layer{line: len(all)}
		for name := range strings.FieldsSeq(names) {
			l.patterns = append(l.patterns, dialects(name)...)
		}
		all = append(all, l)
	}
	return all
}

// dialects are the patterns of a name with DIALECT in it.
func dialects(name string) []string {
	if !strings.Contains(name, "DIALECT") {
		return []string{name}
	}
	var all []string
	for _, d := range parser.Languages() {
		all = append(all, strings.Replace(name, "DIALECT", d.Name, 1))
	}
	return all
}

// above says which line lists a package, and by which pattern: the most specific one.
func above(figure []layer, pkg string) (at int, pattern string) {
	at = -1
	for _, l := range figure {
		for _, p := range l.patterns {
			if covered([]string{p}, pkg) && len(p) > len(pattern) {
				at, pattern = l.line, p
			}
		}
	}
	return at, pattern
}

// TestArchitecture holds the list of imports in ARCHITECTURE.md to the source: every package is in it, imports lead down, and
// every pattern has packages.
func TestArchitecture(t *testing.T) {
	figure, used := layers(t, architecture(t)), map[string]bool{}
	for _, p := range list(t, "linux") {
		rel := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if covered(append([]string{"bench/...", "examples/..."}, testOnly...), rel) {
			continue
		}
		from, own := above(figure, rel)
		if from < 0 {
			t.Errorf("ARCHITECTURE.md does not list %s", rel)
			continue
		}
		used[own] = true
		for _, imp := range p.Imports {
			dep, mine := strings.CutPrefix(imp, module+"/")
			if !mine {
				continue
			}
			if to, pattern := above(figure, dep); to < from || to == from && pattern != own {
				t.Errorf("%s imports %s, which ARCHITECTURE.md does not list below it", rel, dep)
			}
		}
	}
	for _, l := range figure {
		for _, p := range l.patterns {
			if !used[p] {
				if name := path.Base(strings.TrimSuffix(p, "/...")); strings.HasPrefix(p, "convert/") || strings.HasPrefix(p, "runtime/") && isDialect(name) {
					continue // a dialect need not have one
				}
				t.Errorf("ARCHITECTURE.md lists %s, which has no packages", p)
			}
		}
	}
}

func isDialect(name string) bool {
	for _, d := range parser.Languages() {
		if d.Name == name {
			return true
		}
	}
	return false
}

// TestArchitecturePaths: every path that ARCHITECTURE.md names is there.
func TestArchitecturePaths(t *testing.T) {
	seen := 0
	for _, m := range named.FindAllStringSubmatch(architecture(t), -1) {
		var found []string
		for _, name := range dialects(m[1] + m[2]) {
			files, err := filepath.Glob(filepath.FromSlash(name))
			if err != nil {
				t.Error(name, err)
			}
			found = append(found, files...)
		}
		if seen++; len(found) == 0 {
			t.Errorf("ARCHITECTURE.md names %s, which is not there", m[1]+m[2])
		}
	}
	if seen < 50 {
		t.Errorf("only %d paths were found", seen)
	}
}
