package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/internal/offline"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// places are one workflow for each kind of place in which text of several lines stands. TEXT is the text, as a quoted
// scalar; a file whose name is no workflow's is the text itself.
var places = []struct{ name, file, text, other string }{
	{"description", "x.flowgen.yaml", "description: TEXT\nnodes: {n: {let: {t: a}}}\n", ""},
	{"let", "x.flowgen.yaml", "nodes: {n: {let: {t: TEXT}}}\noutput: {t: $n.t}\n", ""},
	{"let in an expression", "x.flowgen.yaml", "input: {s: string}\nnodes: {n: {let: {t: 'x{{ input.s + STRING }}'}}}\noutput: {t: $n.t}\n", ""},
	{"template", "x.flowgen.yaml", "input: {s: string}\nnodes: {n: {let: {t: \"{{ input.s }}TEXT{{ input.s }}\"}}}\noutput: {t: $n.t}\n", ""},
	{"state", "x.flowgen.yaml", "state: {s: {type: string, init: TEXT}}\nnodes: {n: {let: {t: $state.s}, set: {s: TEXT}}}\noutput: {t: $n.t}\n", ""},
	{"default of an input", "x.flowgen.yaml", "input: {s: {type: string, default: TEXT, description: TEXT}}\nnodes: {n: {let: {t: $input.s}}}\noutput: {t: $n.t}\n", ""},
	{"prompt", "x.flowgen.yaml", "secrets: [OPENAI_API_KEY]\nnodes: {n: {llm: \"openai:gpt-4.1\", prompt: TEXT}}\noutput: {t: $n}\n", ""},
	{"system", "x.flowgen.yaml", "secrets: [OPENAI_API_KEY]\nnodes: {n: {llm: \"openai:gpt-4.1\", prompt: a, system: TEXT}}\noutput: {t: $n}\n", ""},
	{"prompt file", "x.flowgen.yaml", "secrets: [OPENAI_API_KEY]\nnodes: {n: {llm: \"openai:gpt-4.1\", prompt: {file: p.md}}}\noutput: {t: $n}\n", "p.md"},
	{"shell", "x.flowgen.yaml", "tools: {t: {shell: TEXT, out: string, effects: none}}\nnodes: {n: {tool: t}}\noutput: {t: $n}\n", ""},
	{"argv", "x.flowgen.yaml", "tools: {t: {command: [printf, TEXT], out: string, effects: none}}\nnodes: {n: {tool: t}}\noutput: {t: $n}\n", ""},
	{"stdin", "x.flowgen.yaml", "tools: {t: {command: [cat], stdin: TEXT, out: string, effects: none}}\nnodes: {n: {tool: t}}\noutput: {t: $n}\n", ""},
	{"env", "x.flowgen.yaml", "tools: {t: {command: [cat], env: {A: TEXT}, out: string, effects: none}}\nnodes: {n: {tool: t}}\noutput: {t: $n}\n", ""},
	{"HTTP body", "x.flowgen.yaml", "tools: {t: {http: {method: POST, url: \"https://example.com/\", body: TEXT}, out: string, effects: external}}\nnodes: {n: {tool: t}}\noutput: {t: $n}\n", ""},
	{"argument", "x.flowgen.yaml", "tools: {t: {command: [printf, \"{{ s }}\"], in: {s: string}, out: string, effects: none, description: TEXT}}\nnodes: {n: {tool: t, with: {s: TEXT}}}\noutput: {t: $n}\n", ""},
	{"question", "x.flowgen.yaml", "nodes: {n: {human: TEXT, timeout: 1h, on_timeout: skip}}\n", ""},
	{"case", "x.flowgen.yaml", "input: {s: string}\nnodes: {n: {let: {t: a}}, m: {let: {t: b}}}\nedges: [{from: n, when: 'input.s == STRING', to: m}]\n", ""},
	{"SirenSpec agent", "workflow.yaml", "version: \"0.1\"\ninput: {message: TEXT}\nagents: {a: {model: \"ollama:llama3.2\", system: TEXT}}\nnodes: {say: {agent: a, writes: output.x}}\n", ""},
	{"SirenSpec question", "workflow.yaml", "version: \"0.1\"\ninput: {message: a}\nnodes: {ask: {type: human, prompt: TEXT, timeout: 1, on_timeout: use_default, default_output: TEXT, writes: output.x}}\n", ""},
	{"SirenSpec body", "workflow.yaml", "version: \"0.1\"\ninput: {message: a}\nnodes: {get: {type: tool, tool: http, config: {url: \"https://example.com\", method: POST, body: TEXT}, output_key: hits}}\n", ""},
	{"YAMLGraph prompt", "graph.yaml", "name: g\ndefaults: {prompts_relative: true, prompts_dir: prompts, provider: anthropic}\nstate: {input: str, answer: str}\nnodes: {a: {type: llm, prompt: p, state_key: answer}}\nedges: [{from: START, to: a}, {from: a, to: END}]\n", "prompts/p.yaml"},
	{"YAMLGraph shell", "graph.yaml", "name: g\nstate: {out: str}\ntools: {t: {type: shell, command: TEXT, description: TEXT}}\nnodes: {a: {type: tool, tool: t, state_key: out}}\nedges: [{from: START, to: a}, {from: a, to: END}]\n", ""},
	{"Stargraph template", "graph.yaml", "graph: g\nnodes: [{id: a, kind: template, template: TEXT, out: report}]\n", ""},
	{"Stargraph instructions", "graph.yaml", "graph: g\nnodes: [{id: a, kind: reason, input: x, instructions: TEXT}]\n", ""},
	{"OpenExpertise prompt", "experience.yaml", "name: g\nversion: 0.1.0\nstate: {schema: {summary: {type: string}}}\ngraph: {nodes: [{id: a, kind: agent, model: gpt-4o-mini, prompt: p.md, writes: [summary], on_error: fail_run}], edges: []}\n", "p.md"},
}

// TestGenerateRunsNothing: the real go generate finds nothing to run in what workflows with directives in their texts
// become. It runs nothing but the program of a file that is there to show that it would.
func TestGenerateRunsNothing(t *testing.T) {
	w := newWorkbench(t)
	for i, place := range places {
		if d, _, _ := strings.Cut(strings.ToLower(place.name), " "); !strings.HasSuffix(place.file, suffix) && !slices.Contains(parser.Dialects(), d) {
			continue
		}
		for j, text := range []string{
			"first\n//go:generate sentinel " + place.name + "\nthird\nlast\n",
			"//go:generate sentinel " + place.name,
			"first\r\n//go:generate\tsentinel " + place.name + "\r\n\r\nlast\n\n//go:generate -command x sentinel\n//go:generate x\n",
		} {
			files := memory{}
			yaml := place.text
			if strings.HasSuffix(place.file, suffix) {
				yaml = "flowgen: 1\nname: x\n" + yaml
			}
			quoted := yamlQuoted(text)
			yaml = strings.ReplaceAll(yaml, "\"{{ input.s }}TEXT{{ input.s }}\"", "\"{{ input.s }}"+quoted[1:len(quoted)-1]+"{{ input.s }}\"")
			yaml = strings.ReplaceAll(yaml, "STRING", `"`+strings.ReplaceAll(escaped(text), "'", "''")+`"`)
			files[place.file] = strings.ReplaceAll(yaml, "TEXT", quoted)
			switch {
			case strings.HasSuffix(place.other, ".yaml"):
				files[place.other] = "system: " + quoted + "\nuser: " + quoted + "\n"
			case place.other != "":
				files[place.other] = text
			}
			code := compiled(t, place.name, files, place.file)
			if !strings.Contains(string(code), "go:generate") {
				t.Errorf("%s: the text is not in the code", place.name)
			}
			w.add(t, dirName(i*10+j), "x_flow.go", code)
		}
	}
	w.add(t, "control", "x.go", []byte("package x\n\n//go:generate sentinel control\n"))
	out := w.run(t, "generate", "-n", "./...")
	if got := strings.TrimSpace(out); got != "sentinel control" {
		t.Errorf("go generate would run:\n%s", got)
	}
	w.run(t, "generate", "./...")
	if got := w.started(t); got != "control" {
		t.Errorf("go generate started the sentinel for: %s", got)
	}
}

func dirName(n int) string { return "p" + hex(rune(n), 6) }

// compiled is the Go of a workflow without tools in Go.
func compiled(t *testing.T, what string, files memory, main string) []byte {
	t.Helper()
	sink := &diag.Sink{}
	wf := parser.ParseAs(files, main, parser.Options{}, sink)
	var program *check.Program
	if wf != nil {
		bind.Resolve(&ir.Workflow{File: wf.File, Flows: []*ir.Workflow{wf}}, bind.Options{Dir: goldens}, sink)
		program = check.Check(wf, sink)
	}
	if sink.HasErrors() || program == nil {
		for _, d := range sink.List() {
			t.Logf("%s: %s %s", what, d.Code, d.Message)
		}
		t.Errorf("%s: not compiled:\n%s", what, files[main])
		return nil
	}
	code, err := codegen.Generate(program, codegen.Options{Package: "x", Name: "x_flow"})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return code
}

// A workbench is a module in which the go command looks at generated code. Every program that a directive could start is a
// sentinel, which writes its arguments down and does nothing else.
type workbench struct {
	dir, bin, log string
	env           []string
}

func newWorkbench(t *testing.T) *workbench {
	t.Helper()
	w := &workbench{dir: t.TempDir(), bin: t.TempDir()}
	w.log = filepath.Join(w.bin, "started.log")
	script := "#!/bin/sh\necho \"$@\" >>'" + w.log + "'\n"
	for _, name := range []string{"sentinel", "sh", "bash", "touch", "rm", "curl", "stringer", "gcc", "cc", "clang", "protoc", "python3", "node"} {
		if err := os.WriteFile(filepath.Join(w.bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mod, sum := offline.Module(t, "example.com/hostile")
	for name, text := range map[string][]byte{"go.mod": mod, "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(w.dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.env = append(os.Environ(), "GOWORK=off")
	for name, value := range offline.Env(t) {
		w.env = append(w.env, name+"="+value)
	}
	w.env = append(w.env, "GOFLAGS=-mod=mod")
	return w
}

func (w *workbench) add(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	file := filepath.Join(w.dir, filepath.FromSlash(dir), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs the go command with nothing but sentinels in PATH, and returns all that it says.
func (w *workbench) run(t *testing.T, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = w.dir, append(w.env, "PATH="+w.bin)
	out, _ := cmd.CombinedOutput()
	var said strings.Builder
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "go: finding module for package ") { // of the tools that a case has
			said.WriteString(line)
		}
	}
	return said.String()
}

// started is what the sentinels were started with.
func (w *workbench) started(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(w.log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// gofmt lists the files that it would change.
func (w *workbench) gofmt(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("gofmt", "-l", w.dir).CombinedOutput()
	if err != nil {
		t.Errorf("gofmt: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// vet vets packages, with the programs that compiling what they import may need.
func (w *workbench) vet(t *testing.T, patterns []string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"vet"}, patterns...)...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		return err.Error()
	}
	return strings.TrimSpace(string(out))
}
