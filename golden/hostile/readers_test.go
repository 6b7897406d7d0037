package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	goparser "go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/directive"

	"github.com/flowgen-dev/flowgen/codegen"
)

// readers is what programs that read Go files other than the compiler see in the bytes of a generated file: the package go/build
// finds, what vet says of directives. problem says what nobody may see in any generated file.
func readers(code []byte, assets []codegen.Asset) (seen, problem string) {
	if problem = readBytes(code); problem != "" {
		return "", problem
	}
	fset := token.NewFileSet()
	f, err := goparser.ParseFile(fset, "p.go", code, goparser.ParseComments|goparser.SkipObjectResolution)
	if err != nil {
		return "", err.Error()
	}
	if problem = readLines(code, fset, f, assets); problem != "" {
		return "", problem
	}
	if problem = readVet(code, fset, f); problem != "" {
		return "", problem
	}
	if problem = readAssets(assets); problem != "" {
		return "", problem
	}
	return readBuild(code)
}

// readBytes: no character ends a line for some readers only, or hides or moves text.
func readBytes(code []byte) string {
	for i, r := range string(code) {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) || r == unicode.ReplacementChar && !bytes.HasPrefix(code[i:], []byte("\uFFFD")) {
			return fmt.Sprintf("the character %q is in the file", r)
		}
	}
	return ""
}

// lineMarks are what lines begin with that readers act on.
var lineMarks = []string{"//", "/*", "<<<<<<<", "|||||||", "=======", ">>>>>>>", "#!", "#cgo", "#include", "#define", "#line", "#pragma"}

// editorModes are what editors obey in a line of any file: Vim, Emacs and Kate.
var editorModes = regexp.MustCompile(`(^|[ \t])(vi|[vV]im[<=>]?[0-9]*|ex):|-\*-|\bkate(-mimetype|-wildcard)?(\(.*\))?:|Local Variables:`)

// readLines looks at a file as programs do that know lines and no syntax: what looks like a comment is one, and a comment
// is no directive but those that embed the program's files.
func readLines(code []byte, fset *token.FileSet, f *ast.File, assets []codegen.Asset) string {
	comments := map[int]string{} // by line
	for _, g := range f.Comments {
		for _, c := range g.List {
			comments[fset.Position(c.Pos()).Line] = c.Text
		}
	}
	n := 0
	for line := range strings.Lines(string(code)) {
		n++
		line = strings.Trim(line, " \t\n")
		for _, mark := range lineMarks {
			if strings.HasPrefix(line, mark) && comments[n] != line {
				return fmt.Sprintf("line %d is no comment and looks like %q", n, line)
			}
		}
		if strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") {
			return fmt.Sprintf("line %d is a file of an archive: %q", n, line)
		}
		if mode := editorModes.FindString(line); mode != "" {
			return fmt.Sprintf("line %d has the mode line %q: %q", n, mode, line)
		}
		if constraint.IsGoBuild(line) || constraint.IsPlusBuild(line) {
			return fmt.Sprintf("line %d is a constraint: %q", n, line)
		}
	}
	for n, text := range comments {
		names, embeds := strings.CutPrefix(text, "//go:embed ")
		switch {
		case text == "//" || strings.HasPrefix(text, "// ") || strings.HasPrefix(text, "//\t"):
			if directive := commentDirective.FindString(strings.TrimLeft(text[2:], " \t")); directive != "" {
				return fmt.Sprintf("line %d is the comment %q", n, text)
			}
		case !embeds:
			return fmt.Sprintf("line %d is the directive %q", n, text)
		default:
			for _, name := range strings.Fields(names) {
				if !slices.ContainsFunc(assets, func(a codegen.Asset) bool { return a.Name == name }) {
					return fmt.Sprintf("line %d embeds %s, which is no file of the program", n, name)
				}
			}
		}
	}
	return ""
}

// readVet is what vet says of constraints and directives.
func readVet(code []byte, fset *token.FileSet, f *ast.File) (problem string) {
	for _, a := range []*analysis.Analyzer{buildtag.Analyzer, directive.Analyzer} {
		pass := &analysis.Pass{Analyzer: a, Fset: fset, Files: []*ast.File{f}, Report: func(d analysis.Diagnostic) {
			problem = fmt.Sprintf("vet says %s: %s", fset.Position(d.Pos), d.Message)
		}, ReadFile: func(string) ([]byte, error) { return code, nil }}
		if _, err := a.Run(pass); err != nil {
			return err.Error()
		}
	}
	return problem
}

// readAssets: what is written next to the Go is data for the go command, for git and for editors.
func readAssets(assets []codegen.Asset) string {
	for _, a := range assets {
		if strings.HasPrefix(path.Base(a.Name), ".") || path.IsAbs(a.Name) || path.Clean(a.Name) != a.Name || strings.HasPrefix(a.Name, "../") {
			return "the asset " + a.Name
		}
		switch path.Ext(a.Name) {
		case ".mjs", ".star", ".py", ".pyi", ".json", ".txt", ".toml", ".wasm":
		default:
			return "the asset " + a.Name
		}
	}
	return ""
}

// readBuild is what go/build reads out of a folder with the file.
func readBuild(code []byte) (seen, problem string) {
	ctx := build.Default
	ctx.JoinPath = path.Join
	ctx.IsDir = func(name string) bool { return name == "/p" }
	ctx.HasSubdir = func(string, string) (string, bool) { return "", false }
	ctx.ReadDir = func(string) ([]fs.FileInfo, error) {
		info, err := fs.Stat(fstest.MapFS{"p.go": &fstest.MapFile{Data: code, ModTime: time.Unix(0, 0)}}, "p.go")
		return []fs.FileInfo{info}, err
	}
	ctx.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(code)), nil }
	pkg, err := ctx.ImportDir("/p", 0)
	if err != nil {
		return "", "go/build: " + err.Error()
	}
	text, err := json.Marshal(map[string]any{
		"files": pkg.GoFiles, "ignored": pkg.IgnoredGoFiles, "invalid": pkg.InvalidGoFiles, "cgo": pkg.CgoFiles, "tests": append(pkg.TestGoFiles, pkg.XTestGoFiles...),
		"flags": slices.Concat(pkg.CgoCFLAGS, pkg.CgoLDFLAGS, pkg.CgoPkgConfig), "tags": pkg.AllTags, "imports": pkg.Imports, "embeds": len(pkg.EmbedPatterns),
		"directives": pkg.Directives, "comment": pkg.ImportComment,
	})
	if err != nil || len(pkg.GoFiles) != 1 {
		return "", fmt.Sprintf("go/build: %s, %v", text, err)
	}
	return string(text), ""
}

// TestReaders: each of the readers finds what it is there for.
func TestReaders(t *testing.T) {
	for _, c := range []struct{ code, problem string }{
		{"package p\n\nconst x = `a\n//go:generate x\n`\n", "looks like"},
		{"package p\n\nconst x = `a\n  \t/* x\n`\n", "looks like"},
		{"package p\n\nconst x = `a\n=======\n`\n", "looks like"},
		{"package p\n\nconst x = `a\n-- x.go --\n`\n", "archive"},
		{"package p\n\nconst x = `a\r\n`\n", "character"},
		{"\ufeffpackage p\n", "character"},
		{"package p\n\nconst x = `a\u2028`\n", "character"},
		{"package p\n\n//go:generate x\n", "directive"},
		{"package p\n\n//line x.go:1\n", "directive"},
		{"package p\n\n//nolint:all\n", "directive"},
		{"package p\n\n// nolint:all\n", "comment"},
		{"package p\n\n//go:embed x\nvar x string\n", "embeds"},
		{"//go:build ignore\n\npackage p\n", "constraint"},
		{"package p\n\ntype x struct {\n\tx int // +build ignore\n}\n", "comment"},
		{"package p\n\nconst x = `a\nsee vim: set x:\n`\n", "mode line"},
		{"package p\n\n// a ex:x\n", "mode line"},
		{"package p\n\nconst x = \"x -*- mode: y -*-\"\n", "mode line"},
		{"package p\n\n// Local Variables: x\n", "mode line"},
		{"package p\n\n// index: x, movi: y, kate:\n", "mode line"},
		{"package documentation\n", "go/build"},
		{"package p\n\n// x\nconst x = \"//go:generate x\\n\" +\n\t\"//go:build y\\n\"\n", ""},
	} {
		if _, problem := readers([]byte(c.code), nil); !strings.Contains(problem, c.problem) || c.problem == "" && problem != "" {
			t.Errorf("%q: %q, not %q", c.code, problem, c.problem)
		}
	}
	if _, problem := readers([]byte("package p\n"), []codegen.Asset{{Name: "p_flow.go"}}); problem == "" {
		t.Error("Go as an asset is not seen")
	}
	plain, _ := readers([]byte("package p\n\nimport \"os\"\n"), nil)
	cgo, _ := readers([]byte("package p\n\nimport \"C\"\n"), nil)
	if plain == cgo || plain == "" {
		t.Errorf("an import is not seen: %s, %s", plain, cgo)
	}
}

// A sighting is a generated program, and the harmless one that it is held to, as the real tools will see them.
type sighting struct {
	what           string
	code, harmless []byte
	assets, others []codegen.Asset
}

// look runs the real tools over programs: go generate finds nothing to run and starts nothing, go list sees in each what it
// sees in the harmless one, gofmt changes none. The first vets of them that import nothing of a project are vetted.
func look(t *testing.T, list []sighting, vets int) (vetted int) {
	t.Helper()
	w := newWorkbench(t)
	name := func(kind string, i int) string { return kind + hex(rune(i), 6) }
	put := func(dir string, code []byte, assets []codegen.Asset) {
		w.add(t, dir, "p_flow.go", code)
		for _, a := range assets {
			w.add(t, dir, a.Name, a.Data)
		}
	}
	var patterns []string
	for i, s := range list {
		put(name("h", i), s.code, s.assets)
		put(name("b", i), s.harmless, s.others)
		if len(patterns) < 2*vets && !bytes.Contains(s.code, []byte(module+"/golden/")) && !bytes.Contains(s.code, []byte(module+"/examples/")) {
			patterns = append(patterns, "./"+name("h", i), "./"+name("b", i))
		}
	}
	w.add(t, "control", "x.go", []byte("package x\n\n//go:generate sentinel control\n"))
	at := func(text string) string { // names folders by what is in them
		for i, s := range list {
			if strings.Contains(text, name("h", i)) {
				return text + "\n" + s.what
			}
		}
		return text
	}
	if got := strings.TrimSpace(w.run(t, "generate", "-n", "./...")); got != "sentinel control" {
		t.Errorf("go generate would run:\n%s", at(got))
	}
	w.run(t, "generate", "-x", "./...")
	if got := w.started(t); got != "control" {
		t.Errorf("go generate started the sentinel: %s", at(got))
	}
	if got := w.gofmt(t); got != "" {
		t.Errorf("gofmt would change:\n%s", at(got))
	}
	seen := w.list(t)
	for i, s := range list {
		h, b := seen[name("h", i)], seen[name("b", i)]
		if h == "" || h != b {
			t.Errorf("%s\ngo list sees %s\nand in the harmless program %s", s.what, h, b)
		}
	}
	if len(patterns) > 0 {
		if got := w.vet(t, patterns); got != "" {
			t.Errorf("go vet says:\n%s", at(got))
		}
	}
	return len(patterns) / 2
}

// list is what go list says of each package, by its folder, without the names of things.
func (w *workbench) list(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	dec := json.NewDecoder(strings.NewReader(w.run(t, "list", "-find", "-e", "-json", "./...")))
	for {
		var p map[string]any
		if err := dec.Decode(&p); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		dir := path.Base(fmt.Sprint(p["Dir"]))
		maps.DeleteFunc(p, func(key string, _ any) bool {
			return slices.Contains([]string{"Dir", "ImportPath", "Doc", "Name", "Root", "Module", "Match"}, key)
		})
		for _, key := range []string{"EmbedPatterns", "EmbedFiles"} {
			if list, ok := p[key].([]any); ok {
				p[key] = len(list)
			}
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		out[dir] = string(text)
	}
}
