package golden_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

// A testcase is one txtar file and what the compiler makes of it. Its files are those of a folder that does not exist,
// golden/native/<case>: the go command sees them through an overlay, and nothing is written.
type testcase struct {
	name    string
	file    string // the txtar
	archive *txtar.Archive
	changed bool            // by -update
	edited  bool            // its Go is not that of the corpus
	used    map[string]bool // files that the compiler or the go command has read

	workflow *ir.Workflow
	program  *check.Program // nil when there are errors
	list     []diag.Diagnostic
	ir       string
	diag     string
	code     string
	assets   []txtar.File // what the code embeds and the compiler made
	problems []string     // what is wrong with the compiler
}

const (
	suffix     = ".flowgen.yaml"
	casesPath  = "github.com/flowgen-dev/flowgen/golden/native"
	casesIndex = "native"
)

var cases struct {
	once sync.Once
	list []*testcase
	err  error

	skipped bool // a case needs an interpreter that is not installed
}

// corpus compiles all cases, once.
func corpus(t *testing.T) []*testcase {
	t.Helper()
	cases.once.Do(func() {
		files, err := filepath.Glob(casesIndex + "/*.txtar")
		if err != nil {
			cases.err = err
			return
		}
		only := strings.Split(os.Getenv("GOLDEN_CASE"), ",") // for the runs of internal/mutants: these cases alone
		for _, file := range files {
			if only[0] != "" && !slices.Contains(only, strings.TrimSuffix(filepath.Base(file), ".txtar")) {
				continue
			}
			archive, err := txtar.ParseFile(file)
			if err != nil {
				cases.err = err
				return
			}
			c := &testcase{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), file: file, archive: archive, used: map[string]bool{}}
			if c.lacks() != "" {
				cases.skipped = true
				continue
			}
			cases.list = append(cases.list, c)
		}
		warm(cases.list)
		compileAll(cases.list)
	})
	if cases.err != nil {
		t.Fatal(cases.err)
	}
	if len(cases.list) == 0 {
		t.Fatal("no cases")
	}
	return cases.list
}

// known is what the go command has said about the Go of the cases.
var known bind.Cache

// warm asks the go command about the Go of all cases at once: one by one takes most of the time of this package.
func warm(list []*testcase) {
	above := &ir.Workflow{File: source.NewFile(casesIndex+suffix, "")}
	overlay := map[string][]byte{}
	for _, c := range list {
		maps.Copy(overlay, c.sources())
		if root := c.root(); root != "" {
			if w := parser.Parse(c, c.name+"/"+root, &diag.Sink{}); w != nil {
				above.Flows = append(above.Flows, w)
			}
		}
		clear(c.used) // by what compiles the case
	}
	bind.Resolve(above, bind.Options{Dir: casesIndex, Overlay: overlay, Cache: &known}, &diag.Sink{})
}

// compileAll compiles cases, as many at once as there are processors.
func compileAll(list []*testcase) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, c := range list {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			c.compile()
		})
	}
	wg.Wait()
}

// compile is what cmd/flowgen does with a file.
func (c *testcase) compile() {
	root := c.root()
	if root == "" {
		c.problems = append(c.problems, "no workflow file")
		return
	}
	sink := &diag.Sink{}
	c.workflow = parser.Parse(c, c.name+"/"+root, sink)
	if c.workflow != nil {
		// The go command needs a folder that exists, so the case is bound as a sub-workflow of one there.
		above := &ir.Workflow{File: source.NewFile(casesIndex+suffix, ""), Flows: []*ir.Workflow{c.workflow}}
		bind.Resolve(above, bind.Options{Dir: casesIndex, Overlay: c.sources(), Seen: c.seen, Cache: c.cache()}, sink)
		c.program = check.Check(c.workflow, sink)
	}
	if sink.HasErrors() {
		c.program = nil
	}
	c.list = parser.SoundFixes(sink.List())
	c.plainNames()
	c.diag = render(c.list)
	if c.program == nil {
		if !sink.HasErrors() {
			c.problems = append(c.problems, "no program, and no error that says why")
		}
		return
	}
	c.ir = ir.Dump(c.workflow)
	c.generate()
}

// cache is what is known of the case's Go, nil when an edit has made it another.
func (c *testcase) cache() *bind.Cache {
	if c.edited {
		return nil
	}
	return &known
}

func (c *testcase) options() codegen.Options {
	return codegen.Options{Package: c.pkg(), Path: c.path(), Name: strings.TrimSuffix(c.output(), ".go"), Embeddable: c.beside}
}

func (c *testcase) generate() {
	opts := c.options()
	text, err := codegen.Generate(c.program, opts)
	if err != nil {
		c.problems = append(c.problems, err.Error())
		return
	}
	c.code = string(text)
	for _, a := range codegen.Assets(c.program, opts) {
		c.assets = append(c.assets, txtar.File{Name: a.Name, Data: a.Data})
	}
	if again, err := codegen.Generate(c.program, opts); err != nil || !bytes.Equal(again, text) {
		c.problems = append(c.problems, "generated twice, the code differs")
	}
	if formatted, err := format.Source(text); err != nil || !bytes.Equal(formatted, text) {
		c.problems = append(c.problems, "the generated code is not what gofmt writes")
	}
}

// root is the workflow: the archive's first file.
func (c *testcase) root() string {
	for _, f := range c.archive.Files {
		if strings.HasSuffix(f.Name, suffix) {
			return f.Name
		}
	}
	return ""
}

func (c *testcase) output() string { return strings.TrimSuffix(c.root(), suffix) + "_flow.go" }

func (c *testcase) pkg() string  { return goname.Package(c.workflow.Name.Name) }
func (c *testcase) path() string { return casesPath + "/" + c.name }

// ReadFile implements parser.Files.
func (c *testcase) ReadFile(name string) ([]byte, error) {
	rest, ok := strings.CutPrefix(name, c.name+"/")
	if f := c.find(rest); ok && f != nil && !strings.HasPrefix(rest, "want/") {
		c.used[rest] = true
		return f.Data, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// FindModule implements parser.Modules: the files of modules/PATH@VERSION/ are those of a module.
func (c *testcase) FindModule(file string) (module, rel string, err error) {
	for _, f := range c.archive.Files {
		id, ok := strings.CutPrefix(f.Name, "modules/")
		path, rest, versioned := strings.Cut(id, "@")
		if !ok || !versioned || !strings.HasPrefix(file, path+"/") {
			continue
		}
		version, _, _ := strings.Cut(rest, "/")
		return path + "@" + version, strings.TrimPrefix(file, path+"/"), nil
	}
	return "", "", errors.New("no module of go.mod has this path")
}

// ReadModule implements parser.Modules.
func (c *testcase) ReadModule(module, rel string) ([]byte, error) {
	return c.ReadFile(c.name + "/modules/" + module + "/" + rel)
}

// goFiles are the case's own Go files by absolute name.
func (c *testcase) goFiles() map[string][]byte {
	files := map[string][]byte{}
	for _, f := range c.archive.Files {
		if strings.HasSuffix(f.Name, ".go") && !strings.HasPrefix(f.Name, "want/") {
			c.used[f.Name] = true
			files[c.virtual(f.Name)] = f.Data
		}
	}
	return files
}

// binary is a file that is not text, which a case has as x.hex: hexadecimal, with comments that begin with ;.
func binary(f txtar.File) (name string, data []byte) {
	name, hexadecimal := strings.CutSuffix(f.Name, ".hex")
	if !hexadecimal {
		return f.Name, f.Data
	}
	for line := range strings.Lines(string(f.Data)) {
		digits, _, _ := strings.Cut(line, ";")
		b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
		if err != nil {
			panic(f.Name + ": " + err.Error())
		}
		data = append(data, b...)
	}
	return name, data
}

// sources are all files of the case that are not workflows, by absolute name. Other languages than Go count as used when
// the compiler has read them.
func (c *testcase) sources() map[string][]byte {
	files := c.goFiles()
	for _, f := range c.archive.Files {
		if !strings.HasSuffix(f.Name, suffix) && !strings.HasPrefix(f.Name, "want/") {
			name, data := binary(f)
			files[c.virtual(name)] = data
		}
	}
	return files
}

// made is what the go command needs besides the case's own Go: the generated file and all that it embeds.
func (c *testcase) made() map[string][]byte {
	files := c.sources()
	files[c.virtual(c.output())] = []byte(c.code)
	for _, a := range c.assets {
		files[c.virtual(a.Name)] = a.Data
	}
	return files
}

func (c *testcase) seen(name string) {
	if rel, ok := c.beside(name); ok {
		c.used[rel] = true
	}
}

// beside is the name of a file in the case.
func (c *testcase) beside(name string) (string, bool) {
	rel, err := filepath.Rel(c.virtual("."), name)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// lacks is the interpreter that the case needs and that is not installed, "" when it can be tried.
func (c *testcase) lacks() string {
	for _, f := range c.archive.Files {
		for end, program := range map[string]string{".py": "python3", ".mjs": "node", ".ts": "node"} {
			if _, err := exec.LookPath(program); path.Ext(f.Name) == end && err != nil && os.Getenv("CI") == "" {
				return program
			}
		}
	}
	return ""
}

// virtual is where a file of the case would be on disk.
func (c *testcase) virtual(name string) string {
	abs, err := filepath.Abs(filepath.Join(casesIndex, c.name, filepath.FromSlash(name)))
	if err != nil {
		panic(err)
	}
	return abs
}

// plainNames takes the folder out of all names of files, so that a case reads as if it were compiled in its folder.
func (c *testcase) plainNames() {
	folder := regexp.MustCompile(`(^|[^\w/])` + regexp.QuoteMeta(c.name) + `/`)
	plain := func(text string) string { return folder.ReplaceAllString(text, "$1") }
	file := func(f *source.File) {
		if f != nil {
			f.Name = strings.TrimPrefix(f.Name, c.name+"/")
		}
	}
	var workflow func(w *ir.Workflow)
	workflow = func(w *ir.Workflow) {
		if w == nil {
			return
		}
		file(w.File)
		for _, f := range w.Includes {
			file(f)
		}
		for _, f := range w.Flows {
			workflow(f)
		}
	}
	workflow(c.workflow)
	for i := range c.list {
		d := &c.list[i]
		d.Message, d.Help = plain(d.Message), plain(d.Help)
		file(d.Span.File)
		for _, r := range d.Related {
			file(r.Span.File)
		}
	}
}

func isYAML(name string) bool { return path.Ext(name) == ".yaml" }

func (c *testcase) find(name string) *txtar.File {
	for i := range c.archive.Files {
		if c.archive.Files[i].Name == name {
			return &c.archive.Files[i]
		}
	}
	return nil
}

func (c *testcase) comment() string { return string(c.archive.Comment) }

func (c *testcase) has(section string) bool { return c.find(section) != nil }

func (c *testcase) section(name string) string {
	if f := c.find(name); f != nil {
		return string(f.Data)
	}
	return ""
}

// replace sets a section, or removes it when it is empty. Sections stay in the order of the compiler.
func (c *testcase) replace(section, text string) {
	c.changed = true
	var files []txtar.File
	for _, f := range c.archive.Files {
		if f.Name != section {
			files = append(files, f)
		}
	}
	if text != "" {
		at := len(files)
		for at > 0 && rank(files[at-1].Name) > rank(section) {
			at--
		}
		files = append(files[:at:at], append([]txtar.File{{Name: section, Data: []byte(text)}}, files[at:]...)...)
	}
	c.archive.Files = files
}

func rank(section string) int {
	switch {
	case section == "want/ir":
		return 1
	case section == "want/diag":
		return 2
	case section == "want/run.json":
		return 5
	case strings.HasPrefix(section, "want/") && !strings.HasSuffix(section, "_flow.go"):
		return 4
	case strings.HasPrefix(section, "want/"):
		return 3
	}
	return 0
}

// save writes the case when -update has changed it.
func (c *testcase) save(t *testing.T) {
	t.Helper()
	if !c.changed {
		return
	}
	c.changed = false
	if err := os.WriteFile(c.file, txtar.Format(c.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
