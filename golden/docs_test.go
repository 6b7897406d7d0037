package golden_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/internal/offline"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	flowparser "github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/native"
)

// The pages whose blocks are run. diagnostics.md is generated, and its examples are those of TestDiagnosticsExamples.
const docsGlob = "../docs/*.md"

// The pages of dialects.
const dialectsGlob = "../docs/dialects/*.md"

// The guides. The folder of one is the module example.com/app, and their go commands are run, too.
const guidesGlob = "../docs/guides/*.md"

// The concepts.
const conceptsGlob = "../docs/concepts/*.md"

// What the info string behind ``` says about a block:
//
//	yaml                  a whole workflow without mistakes or warnings, saved as <name>.flowgen.yaml; its Go is compiled
//	yaml file=NAME        a file of that name; without `nodes:` it is a library and is checked through those that include it
//	yaml then=NAME        the next text of a file that the page has already; commands below see it
//	yaml fragment=FRAME   a part; testdata/docs.txtar has the frame, which it completes where the line `...` stands
//	yaml error=CODE       wrong: it reports CODE, as an error or a warning, and nothing else; fragment= may stand beside it
//	go file=NAME          a Go file of the page's module, example.com/app
//	go fragment=FRAME     a part; TestDocsGo completes and compiles it
//	console               commands behind `$ `, each followed by what it prints, if that is shown
//
// Of a console's commands those that start with flowgen or sed are run, one after the other, in a folder that holds the page's
// files; in guides those that start with go, cat or ./ as well. A line `...` stands for any lines. All other blocks are only read.
var infoForm = regexp.MustCompile("^(`{3,})([a-z]*)((?: [a-z]+=[^ ]+)*)$")

// A docBlock is one fenced block of a page.
type docBlock struct {
	lang  string
	attrs map[string]string
	text  string
	line  int // of the first line of its text
}

// A docPage is one Markdown file and the folder its blocks are tried in.
type docPage struct {
	name   string
	blocks []*docBlock
	dir    string
	guide  bool
	frames map[string]string

	flowgen func(t *testing.T) string // builds flowgen, once for all pages, and returns the folder of the program

	mu     sync.Mutex
	code   map[string][]byte // the Go of every right block, by the name of its package
	assets map[string][]byte // what it embeds, by package and name
}

func TestDocs(t *testing.T) {
	pages, err := filepath.Glob(docsGlob)
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	guides, err := filepath.Glob(guidesGlob)
	if err != nil {
		t.Fatal(err)
	}
	dialects, err := filepath.Glob(dialectsGlob)
	if err != nil {
		t.Fatal(err)
	}
	concepts, err := filepath.Glob(conceptsGlob)
	if err != nil {
		t.Fatal(err)
	}
	pages = append(slices.Concat(pages, guides, dialects, concepts), "../README.md")
	support, err := txtar.ParseFile("testdata/docs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	build := sync.OnceValues(func() ([]byte, error) {
		return exec.Command("go", "build", "-ldflags=-s", "-o", bin, "../cmd/flowgen").CombinedOutput()
	})
	for _, name := range pages {
		if filepath.Base(name) == "diagnostics.md" {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			p := openPage(t, name, support)
			p.flowgen = func(t *testing.T) string {
				if out, err := build(); err != nil {
					t.Fatalf("go build: %v\n%s", err, out)
				}
				return bin
			}
			t.Run("yaml", p.testYAML)
			t.Run("go", p.testGo)
			t.Run("console", p.testConsole)
		})
	}
}

// openPage reads a page and writes its files.
func openPage(t *testing.T, name string, support *txtar.Archive) *docPage {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &docPage{name: filepath.Base(name), dir: t.TempDir(), frames: map[string]string{}, code: map[string][]byte{}, assets: map[string][]byte{}}
	if p.blocks, err = docBlocks(string(text)); err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	files := map[string][]byte{}
	for _, f := range support.Files {
		if frame, ok := strings.CutPrefix(f.Name, "frame/"); ok {
			p.frames[frame] = string(f.Data)
		} else {
			name, data := binary(f)
			files[name] = data
		}
	}
	own := map[string]int{}
	for _, b := range p.blocks {
		file := b.file()
		if file == "" {
			continue
		}
		if first := own[file]; first != 0 {
			t.Errorf("%s:%d: the file %s stands in line %d already", p.name, b.line, file, first)
		}
		own[file] = b.line
		files[file] = []byte(b.text)
	}
	if p.guide = filepath.Base(filepath.Dir(name)) == "guides" || p.name == "start.md" || strings.HasPrefix(p.name, "from-"); p.guide {
		if own["go.mod"] == 0 {
			files["go.mod"], files["go.sum"] = offline.Module(t, "example.com/app")
		}
	}
	writeFiles(t, p.dir, files)
	return p
}

// docBlocks finds the fenced blocks of a page. An info string that the convention does not know is a mistake.
func docBlocks(text string) ([]*docBlock, error) {
	var list []*docBlock
	var open *docBlock
	fence := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case open != nil && line == fence:
			list = append(list, open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(line, "```"):
			m := infoForm.FindStringSubmatch(line)
			if m == nil {
				return nil, fmt.Errorf("line %d: %q is not the start of a block", i+1, line)
			}
			fence = m[1]
			open = &docBlock{lang: m[2], attrs: map[string]string{}, line: i + 2}
			for _, field := range strings.Fields(m[3]) {
				key, value, _ := strings.Cut(field, "=")
				if !slices.Contains([]string{"file", "then", "fragment", "error"}, key) {
					return nil, fmt.Errorf("line %d: a block has no attribute %q", i+1, key)
				}
				open.attrs[key] = value
			}
		}
	}
	if open != nil {
		return nil, fmt.Errorf("the block of line %d is not closed", open.line)
	}
	return list, nil
}

var (
	nameLine  = regexp.MustCompile(`(?m)^name: ([a-z0-9_]+)`)
	nodesLine = regexp.MustCompile(`(?m)^nodes:`)
)

// file is the name under which a block is saved; "" when it is not.
func (b *docBlock) file() string {
	switch {
	case b.attrs["file"] != "":
		return b.attrs["file"]
	case b.attrs["then"] != "" || b.lang != "yaml" || b.attrs["fragment"] != "" || b.attrs["error"] != "":
		return ""
	}
	if m := nameLine.FindStringSubmatch(b.text); m != nil {
		return m[1] + suffix
	}
	return ""
}

// overlay is the page's folder with one more file.
type overlay struct{ name, text string }

func (o overlay) ReadFile(name string) ([]byte, error) {
	if name == o.name {
		return []byte(o.text), nil
	}
	return os.ReadFile(filepath.FromSlash(name))
}

// FindModule implements parser.Modules: the files of modules/PATH@VERSION/ are those of a module.
func (o overlay) FindModule(file string) (module, rel string, err error) {
	for at := path.Dir(file); at != "."; at = path.Dir(at) {
		home := path.Join(path.Dir(o.name), "modules") + "/"
		if found, _ := filepath.Glob(filepath.FromSlash(home + at + "@*")); len(found) == 1 {
			return strings.TrimPrefix(filepath.ToSlash(found[0]), home), strings.TrimPrefix(file, at+"/"), nil
		}
	}
	return "", "", errors.New("no module of go.mod has this path")
}

// ReadModule implements parser.Modules.
func (o overlay) ReadModule(module, rel string) ([]byte, error) {
	return o.ReadFile(path.Join(path.Dir(o.name), "modules", module, rel))
}

func (p *docPage) testYAML(t *testing.T) {
	for _, b := range p.blocks {
		if b.lang != "yaml" || b.attrs["fragment"] == "" && b.attrs["error"] == "" && !nodesLine.MatchString(b.text) {
			continue
		}
		t.Run(fmt.Sprintf("line %d", b.line), func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("python3"); err != nil && os.Getenv("CI") == "" && strings.Contains(b.text, "python:") {
				t.Skip("no python3")
			}
			p.testBlock(t, b)
		})
	}
}

func (p *docPage) testBlock(t *testing.T, b *docBlock) {
	text, file := b.text, cmp.Or(b.file(), b.attrs["then"])
	if file == "" {
		file = "block" + suffix
	}
	if name := b.attrs["fragment"]; name != "" {
		frame, ok := p.frames[name]
		if !ok {
			t.Fatalf("there is no frame %q", name)
		}
		text = complete(t, frame, text)
	}
	list, program := p.compile(path.Join(filepath.ToSlash(p.dir), file), text)
	list = slices.DeleteFunc(list, func(d diag.Diagnostic) bool { // a part does not use everything
		return b.attrs["fragment"] != "" && d.Code == diag.Unused && b.attrs["error"] != string(d.Code)
	})
	want := b.attrs["error"]
	if want == "" && len(list) == 0 {
		p.generate(t, fmt.Sprintf("line%d", b.line), program)
		return
	}
	if want != "" && len(list) == 1 && string(list[0].Code) == want {
		return
	}
	var out bytes.Buffer
	_ = diag.Text(&out, list, diag.TextOptions{})
	if want == "" {
		want = "nothing"
	}
	t.Errorf("%s:%d should report %s, and does report:\n%s\nthe whole is\n%s", p.name, b.line, want, out.String(), text)
}

func (p *docPage) compile(name, text string) (list []diag.Diagnostic, program *check.Program) {
	sink := &diag.Sink{}
	if wf := flowparser.Parse(overlay{name, text}, name, sink); wf != nil {
		bind.Resolve(wf, bind.Options{Dir: filepath.Dir(filepath.FromSlash(name))}, sink)
		program = check.Check(wf, sink)
	}
	return sink.List(), program
}

// generate keeps the Go of a block for testGo.
func (p *docPage) generate(t *testing.T, pkg string, program *check.Program) {
	t.Helper()
	opts := codegen.Options{Package: pkg, Path: "example.com/app/" + pkg}
	code, err := codegen.Generate(program, opts)
	if err != nil {
		t.Error(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range codegen.Assets(program, opts) {
		p.assets[pkg+"/"+a.Name] = a.Data
	}
	p.code[pkg] = code
}

// testGo compiles what was generated from the blocks of a page, beside the page's own Go, against this module.
func (p *docPage) testGo(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	if len(p.code) == 0 {
		return
	}
	mod, sum := offline.Module(t, "example.com/app")
	files := map[string][]byte{"go.mod": mod, "go.sum": sum}
	maps.Copy(files, p.assets)
	for pkg, code := range p.code {
		files[pkg+"/flow.go"] = code
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "tools"), os.DirFS(filepath.Join(p.dir, "tools"))); err != nil {
		t.Fatal(err)
	}
	for _, b := range p.blocks { // but for files that import what only the page's own commands generate
		if file := b.file(); b.lang == "go" && path.Dir(file) != "." && !strings.HasSuffix(file, "_test.go") && !strings.Contains(b.text, `"example.com/app`) {
			files[file] = []byte(b.text)
		}
	}
	writeFiles(t, dir, files)
	cmd := exec.Command("go", "build", "-mod=mod", "-trimpath", "./...") // else the name of the folder is part of the keys of Go's build cache
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	for name, value := range offline.Env(t) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the Go of %s does not compile (its packages are named after the lines): %v\n%s", p.name, err, out)
	}
}

func writeFiles(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for file, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o777), os.WriteFile(full, text, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
}

// complete puts a fragment in the place of the line `...` of a frame, indented as that line is.
func complete(t *testing.T, frame, fragment string) string {
	t.Helper()
	at := regexp.MustCompile(`(?m)^( *)\.\.\.\n`).FindStringSubmatchIndex(frame)
	if at == nil {
		t.Fatalf("the frame has no line `...`:\n%s", frame)
	}
	var b strings.Builder
	b.WriteString(frame[:at[0]])
	for line := range strings.Lines(fragment) {
		if line != "\n" {
			b.WriteString(frame[at[2]:at[3]])
		}
		b.WriteString(line)
	}
	b.WriteString(frame[at[1]:])
	return b.String()
}

// A docCommand is one command of a console block and what it prints, or the next text of a file.
type docCommand struct {
	line  int
	text  string
	shown string
	file  string // the text is that of this file, and nothing is run
}

func (b *docBlock) commands() []docCommand {
	var list []docCommand
	for i, line := range strings.Split(strings.TrimRight(b.text, "\n"), "\n") {
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			list = append(list, docCommand{line: b.line + i, text: text})
		} else if len(list) > 0 {
			list[len(list)-1].shown += line + "\n"
		}
	}
	return list
}

// testConsole runs the flowgen commands of a page in the order of the page: the next one may need what one has made.
func (p *docPage) testConsole(t *testing.T) {
	if testing.Short() {
		t.Skip("builds flowgen and runs it")
	}
	var list []docCommand
	for _, b := range p.blocks {
		if b.lang == "console" {
			list = append(list, b.commands()...)
		}
		if b.attrs["then"] != "" {
			list = append(list, docCommand{line: b.line, file: b.attrs["then"], text: b.text})
		}
	}
	list = slices.DeleteFunc(list, func(c docCommand) bool { return c.file == "" && !p.runs(c.text) })
	if len(list) == 0 {
		return
	}
	env := docsEnv(t, p.flowgen(t))
	if p.guide {
		env = append(env, "GOFLAGS=-mod=mod", "GOWORK=off")
	}
	for _, c := range list {
		if c.file != "" {
			writeFiles(t, p.dir, map[string][]byte{c.file: []byte(c.text)})
			continue
		}
		cmd := exec.Command("sh", "-c", c.text)
		cmd.Dir, cmd.Env, cmd.WaitDelay = p.dir, env, time.Minute
		out, err := cmd.CombinedOutput()
		out = building.ReplaceAll(out, nil)
		if err != nil && (c.shown == "" || strings.HasPrefix(c.text, "go ")) {
			t.Errorf("%s:%d: %s: %v\n%s", p.name, c.line, c.text, err, out)
		}
		if c.shown == "" {
			continue
		}
		if !printsAs(string(out), c.shown) {
			t.Errorf("%s:%d: %s\nprints\n%s\nand the page shows\n%s", p.name, c.line, c.text, out, c.shown)
		}
	}
}

// runs reports whether a command of the page is run.
func (p *docPage) runs(command string) bool {
	for _, start := range []string{"flowgen ", "sed ", "go ", "cat ", "./", "SHOP_DB=", "python3 "} {
		if strings.HasPrefix(command, start) {
			return p.guide || start == "flowgen " || start == "sed "
		}
	}
	return false
}

// building is what is said of a build that compiles much: it does on a new machine.
var building = regexp.MustCompile(`(?m)^flowgen: (compiling|compiled|downloading) .*\n`)

// summary is the last line of diagnostics, which a page may leave out.
var summary = regexp.MustCompile(`\n\n[0-9]+ (error|warning)s?[^\n]*\n*\z`)

// printsAs compares a command's output with what a page shows of it.
func printsAs(out, shown string) bool {
	if !summary.MatchString(shown) {
		out = summary.ReplaceAllString(out, "\n")
	}
	var form strings.Builder
	form.WriteString(`\A`)
	for _, line := range strings.Split(strings.TrimSpace(shown), "\n") {
		if strings.TrimSpace(line) == "..." {
			form.WriteString(`(?:.*\n)*?`)
			continue
		}
		form.WriteString(regexp.QuoteMeta(strings.TrimRight(line, " ")) + ` *\n`)
	}
	form.WriteString(`\z`)
	return regexp.MustCompile(form.String()).MatchString(strings.Trim(out, "\n") + "\n")
}

// docsEnv returns an environment in which the programs in bin are found and that leaves the user's folders alone. The go
// command works offline.
func docsEnv(t *testing.T, bin string) []string {
	t.Helper()
	home := t.TempDir()
	// The go command would start a process that it does not wait for, and that writes into the user's folder.
	writeFiles(t, home, map[string][]byte{"go/telemetry/mode": []byte("off")})
	env := []string{"NO_COLOR=1"}
	for name, value := range offline.Env(t) {
		env = append(env, name+"="+value)
	}
	return append(os.Environ(), append(env, "HOME="+home, "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home,
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))...)
}

func TestDocOutput(t *testing.T) {
	for _, tt := range []struct {
		out, shown string
		want       bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a \nb", "a\nb\n\n", true},
		{"a\nc\n", "a\nb\n", false},
		{"a\nb\nc\n", "a\nb\n", false},
		{"a\nb\nc\nd\n", "a\n...\nd\n", true},
		{"a.c\n", "a.c\n", true},
		{"abc\n", "a.c\n", false},
		{"x\n\n1 error, 1 can be fixed by `flowgen check --fix`\n", "x\n", true},
		{"x\n\n2 errors\n", "x\n\n1 error\n", false},
	} {
		if got := printsAs(tt.out, tt.shown); got != tt.want {
			t.Errorf("%q as %q: %v", tt.out, tt.shown, got)
		}
	}
}

// TestLanguageIsComplete holds the reference to the language: whatever can be written is in it.
func TestLanguageIsComplete(t *testing.T) {
	page, err := os.ReadFile("../docs/language.md")
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatal("there is no reference")
	} else if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	word := func(s string) bool {
		return regexp.MustCompile(`(^|[^A-Za-z0-9_])` + regexp.QuoteMeta(s) + `($|[^A-Za-z0-9_])`).MatchString(text)
	}
	for _, s := range native.Shapes() {
		for _, k := range s.Keys {
			if !regexp.MustCompile("`[^`\n]*\\b" + k.Name + "\\b[^`\n]*`").MatchString(text) {
				t.Errorf("the key `%s` of %s is not explained", k.Name, s.What)
			}
			for _, w := range formWords(k.Value) {
				if !word(w) {
					t.Errorf("the word %q of `%s` is not in the reference", w, k.Name)
				}
			}
		}
	}
	for _, c := range schema.ErrorCodes {
		if !strings.Contains(text, "| `"+c+"` |") {
			t.Errorf("the error code %s is not in the table", c)
		}
	}
	for _, f := range []string{"size", "contains", "startsWith", "endsWith", "matches", "exists", "all", "map", "filter", "default", "first"} {
		if !regexp.MustCompile("(?m)^\\| `[^|]*\\b" + f + `\(`).MatchString(text) {
			t.Errorf("the function %s is not in a table", f)
		}
	}
}

// formWords are the words that can stand as a value.
func formWords(f native.Form) []string {
	words := f.Words
	if f.Elem != nil {
		words = append(words[:len(words):len(words)], formWords(*f.Elem)...)
	}
	for _, x := range f.Any {
		words = append(words[:len(words):len(words)], formWords(x)...)
	}
	return words
}
