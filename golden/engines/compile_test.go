package engines_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// A document is a workflow with its files and the inputs of its runs.
type document struct {
	dialect.Language
	name, dir string // dir holds its files
	compat    string
	inputs    []json.RawMessage
	answers   map[string]string
	parallel  bool // requests have no order

	refused string // what flowgen says about it when it does not compile
	code    string
	assets  []codegen.Asset
}

// id is how tables name the document.
func (d *document) id() string { return d.Language.Name + "/" + d.name }

// providers are replaced with the one whose wire format the scripted model speaks.
var providers = regexp.MustCompile(`\b(anthropic|mistral|ollama)\b`)

// concurrent tells files with nodes whose requests have no order.
var concurrent = regexp.MustCompile(`\btype"?: "?(map|swrm|factory|race|parallel)\b|\bcandidates"?:|\bconcurrency"?: [2-9]`)

// unpack writes a case's files below dir.
func unpack(t *testing.T, dir string, l dialect.Language, name string, archive *txtar.Archive) *document {
	t.Helper()
	d := &document{Language: l, name: name, dir: filepath.Join(dir, l.Name, name)}
	if strings.HasPrefix(string(archive.Comment), "compat: upstream\n") {
		d.compat = parser.Upstream
	}
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, "want/") || path.Ext(f.Name) == ".go" {
			continue
		}
		text := f.Data
		if path.Ext(f.Name) == ".yaml" {
			text = providers.ReplaceAll(text, []byte("openai"))
			d.parallel = d.parallel || concurrent.Match(text)
		}
		switch f.Name {
		case "inputs.jsonl":
			for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
				d.inputs = append(d.inputs, json.RawMessage(line))
			}
			continue
		case "answers.json":
			if err := json.Unmarshal(text, &d.answers); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(d.dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(f.Name, "bin/") {
			mode = 0o755
		}
		if err := os.WriteFile(file, text, mode); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// disk is parser.Files and parser.Lister over the files below a folder, by absolute names.
type disk struct{}

func (disk) ReadFile(name string) ([]byte, error)       { return os.ReadFile(filepath.FromSlash(name)) }
func (disk) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(filepath.FromSlash(name)) }

// compile makes the Go of a document, as flowgen does in its folder.
func (d *document) compile(t *testing.T) {
	t.Helper()
	t.Chdir(d.dir)
	sink := &diag.Sink{}
	python := bind.Python(bind.Options{})
	defer python.Close()
	wf := parser.ParseAs(disk{}, d.Root, parser.Options{Dialect: d.Language.Name, Compat: d.compat, Python: python}, sink)
	var program *check.Program
	if wf != nil {
		bind.Resolve(wf, bind.Options{Dir: ".", Above: []string{d.dir}}, sink)
		program = check.Check(wf, sink)
	}
	if sink.HasErrors() || program == nil {
		for _, found := range sink.List() {
			if found.Severity == diag.Error {
				d.refused = fmt.Sprintf("%s %s", found.Code, found.Message)
				break
			}
		}
		return
	}
	if len(d.inputs) == 0 {
		d.inputs = []json.RawMessage{json.RawMessage("{}")}
		for _, f := range program.Input.Fields {
			if f.Name == "message" && f.Default == nil {
				d.inputs[0] = json.RawMessage(`{"message": "hello"}`)
			} else if f.Name == "message" {
				d.inputs[0] = json.RawMessage(`{"message": ` + f.Default.JSON + `}`)
			}
		}
	}
	opts := codegen.Options{Package: goname.Package(wf.Name.Name), Path: d.importPath(), Name: "flow"}
	text, err := codegen.Generate(program, opts)
	if err != nil {
		t.Fatalf("%s: %v", d.id(), err)
	}
	if d.assets = codegen.Assets(program, opts); strings.Contains(string(text), "func New(slots Slots,") {
		d.refused = "a program fills the slots of its New"
		return
	}
	d.code = string(text)
}

func (d *document) importPath() string {
	return "github.com/flowgen-dev/flowgen/golden/engines/cases/" + d.id()
}

// head is what the program of all documents has besides them: answers.json in its folder has what people say, by question.
const head = `
	"context"
	"encoding/json"
	"os"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/cli"
)

func answering[W any](start func(...runtime.Option) (W, error)) func(...runtime.Option) (W, error) {
	text, err := os.ReadFile("answers.json")
	if err != nil {
		return start
	}
	byQuestion := map[string]string{}
	if err := json.Unmarshal(text, &byQuestion); err != nil {
		panic(err)
	}
	return func(options ...runtime.Option) (W, error) {
		return start(append(options, runtime.WithHuman(func(_ context.Context, q runtime.Question) (string, error) {
			if answer, ok := byQuestion[q.Text]; ok {
				return answer, nil
			}
			return "", runtime.Nobody("there is no answer to " + q.Text)
		}))...)
	}
}

func main() {
	name := os.Args[1]
	os.Args = append(os.Args[:1], os.Args[2:]...)
`

// link builds one program of all documents that compile. Its sources exist only for the go command.
func link(t *testing.T, documents []*document) string {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	add := func(name string, text []byte) {
		file := filepath.Join(dir, fmt.Sprint(len(replace))+path.Ext(name))
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(home, filepath.FromSlash(name))] = file
	}
	var imports, mains strings.Builder
	for i, d := range documents {
		if d.code == "" {
			continue
		}
		add("cases/"+d.id()+"/flow.go", []byte(d.code))
		for _, a := range d.assets {
			add("cases/"+d.id()+"/"+a.Name, a.Data)
		}
		fmt.Fprintf(&imports, "\tc%d %q\n", i, d.importPath())
		fmt.Fprintf(&mains, "\tcase %q:\n\t\tcli.Main(c%d.Info, answering(c%d.New))\n", d.id(), i, i)
	}
	add("cases/main.go", []byte("package main\n\nimport (\n"+imports.String()+head+"\tswitch name {\n"+mains.String()+"\t}\n}\n"))
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	config, exe := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program.exe")
	if err := os.WriteFile(config, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", config, "-o", exe, "./cases")
	cmd.Dir = home
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the cases do not link: %v\n%s", err, out)
	}
	return exe
}

// run is one run of the program that flowgen made.
func (d *document) run(t *testing.T, exe string, input json.RawMessage, env map[string]string) *result {
	t.Helper()
	if d.code == "" {
		return &result{Exit: 2, Error: d.refused, refused: true}
	}
	in := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(in, input, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, d.id(), "--input-json", in)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), "FLOWGEN_RUNS=off")
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	r := &result{Exit: cmd.ProcessState.ExitCode(), Error: stderr.String()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &r.Output); err != nil && r.Exit == 0 {
		t.Fatalf("%s: %v in %s", d.id(), err, out)
	}
	return r
}
