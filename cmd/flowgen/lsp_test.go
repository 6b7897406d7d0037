package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// An editor is a client of `flowgen lsp` with a text of its own for each open file.
type editor struct {
	t         testing.TB
	dir       string
	conn      *jsonrpc2.Conn
	cmd       *exec.Cmd
	published chan published
	versions  map[string]int
	texts     map[string]string
	init      json.RawMessage
}

type published struct {
	URI         string
	Version     *int
	Diagnostics []struct {
		Code, Message string
		Severity      int
		Tags          []int
		Range         lspRange
	}
}

type lspRange struct{ Start, End lspPosition }

type lspPosition struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// object is JSON of requests.
type object = map[string]any

// edit starts `flowgen lsp`, the program, in a folder with files.
func edit(t testing.TB, files map[string]string) *editor {
	t.Helper()
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return editIn(t, dir)
}

func editIn(t testing.TB, dir string) *editor { return editAs(t, dir, nil) }

// editAs is editIn for a client with options of its own.
func editAs(t testing.TB, dir string, options object) *editor {
	return editFor(t, dir, options, object{})
}

// editFor is editAs for a client that can do more than the least.
func editFor(t testing.TB, dir string, options, capabilities object) *editor {
	t.Helper()
	e := &editor{t: t, dir: dir, published: make(chan published, 10000), versions: map[string]int{}, texts: map[string]string{}}
	e.cmd = exec.Command("flowgen", "lsp", "--stdio")
	e.cmd.Dir = t.TempDir() // the folder of the workspace is what initialize says
	e.cmd.Stderr = os.Stderr
	in, err := e.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.cmd.Process.Kill(); _ = e.cmd.Wait() })
	e.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(pipes{out, in}, jsonrpc2.VSCodeObjectCodec{}), e, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	t.Cleanup(func() { e.conn.Close() })
	e.init = e.ask("initialize", object{"rootUri": e.uri("."), "capabilities": capabilities, "initializationOptions": options})
	e.tell("initialized", object{})
	return e
}

type pipes struct {
	io.ReadCloser
	w io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p pipes) Close() error                { p.w.Close(); return p.ReadCloser.Close() }

// Handle implements jsonrpc2.Handler.
func (e *editor) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if req.Method != "textDocument/publishDiagnostics" {
		e.t.Errorf("the server says %s, which nobody asked for", req.Method)
		return
	}
	var p published
	if err := json.Unmarshal(*req.Params, &p); err != nil {
		e.t.Error(err)
	}
	e.published <- p
}

func (e *editor) uri(name string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(e.dir, filepath.FromSlash(name)))}).String()
}

func (e *editor) ask(method string, params any) json.RawMessage {
	e.t.Helper()
	out, err := e.try(method, params)
	if err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
	return out
}

func (e *editor) try(method string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var out json.RawMessage
	err := e.conn.Call(ctx, method, params, &out)
	return out, err
}

func (e *editor) tell(method string, params any) {
	e.t.Helper()
	if err := e.conn.Notify(context.Background(), method, params); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) open(name, text string) {
	e.versions[name], e.texts[name] = 1, text
	e.tell("textDocument/didOpen", object{"textDocument": object{"uri": e.uri(name), "languageId": "yaml", "version": 1, "text": text}})
}

// replace changes the first old in a file to text, as a person does who marks it and types.
func (e *editor) replace(name, old, text string) {
	e.t.Helper()
	before := e.texts[name]
	i := strings.Index(before, old)
	if i < 0 {
		e.t.Fatalf("%s has no %q", name, old)
	}
	e.versions[name]++
	e.texts[name] = before[:i] + text + before[i+len(old):]
	e.tell("textDocument/didChange", object{
		"textDocument":   object{"uri": e.uri(name), "version": e.versions[name]},
		"contentChanges": []object{{"range": object{"start": at(before, i), "end": at(before, i+len(old))}, "text": text}},
	})
}

// at is the position of an offset, for text without line breaks of other systems.
func at(text string, off int) lspPosition {
	lead := text[:off]
	line := strings.Count(lead, "\n")
	col := 0
	for _, r := range lead[strings.LastIndexByte(lead, '\n')+1:] {
		col++
		if r > 0xffff {
			col++
		}
	}
	return lspPosition{line, col}
}

// diagnostics are those of the present text of an open file: its words, each with the text that it is under.
func (e *editor) diagnostics(name string) []string {
	e.t.Helper()
	patience := time.After(5 * time.Minute)
	for {
		select {
		case p := <-e.published:
			if p.URI != e.uri(name) || p.Version == nil || *p.Version != e.versions[name] {
				continue
			}
			out := []string{}
			for _, d := range p.Diagnostics {
				out = append(out, d.Code+" "+e.text(name, d.Range)+": "+d.Message)
			}
			return out
		case <-patience:
			e.t.Fatalf("no diagnostics of version %d of %s", e.versions[name], name)
		}
	}
}

// text is what a range covers of an open file.
func (e *editor) text(name string, r lspRange) string {
	text := e.texts[name]
	lo, hi := -1, -1
	for i := 0; i <= len(text); i++ {
		if at(text, i) == r.Start && lo < 0 {
			lo = i
		}
		if at(text, i) == r.End && hi < 0 {
			hi = i
		}
	}
	if lo < 0 || hi < lo {
		e.t.Errorf("%v is no range of %s", r, name)
		return ""
	}
	return text[lo:hi]
}

// on is the parameters of a request about the place of a word in a file: the n-th, from 0, and skip bytes into it.
func (e *editor) on(name, word string, n, skip int) object {
	e.t.Helper()
	text, off := e.texts[name], 0
	for ; n >= 0; n-- {
		i := strings.Index(text[off:], word)
		if i < 0 {
			e.t.Fatalf("%s has no %q", name, word)
		}
		off += i + len(word)
	}
	return object{"textDocument": object{"uri": e.uri(name)}, "position": at(text, off-len(word)+skip)}
}

const greet = `flowgen: 1
name: greet
input: {who: string, times: {type: int, default: 1}}
nodes:
  line: {let: {text: "Hello, {{ input.who }}! 😀", n: $input.times}}
  end_it: {let: "{{ line.text }} {{ line.n }}"}
output: {text: $end_it}
`

// TestLSPDiagnostics: an editor gets the diagnostics of what is in its buffer while it is typed, at the right columns behind
// characters of two UTF-16 units, and none when the mistake is gone.
func TestLSPDiagnostics(t *testing.T) {
	t.Parallel()
	e := edit(t, nil)
	e.open("greet.flowgen.yaml", greet)
	if got := e.diagnostics("greet.flowgen.yaml"); len(got) != 0 {
		t.Errorf("a right file: %q", got)
	}
	e.replace("greet.flowgen.yaml", "n: $input.times", "n: $input.tims")
	got := e.diagnostics("greet.flowgen.yaml")
	if len(got) == 0 || !strings.Contains(got[0], " tims: ") || !strings.Contains(got[0], "times") {
		t.Errorf("a misspelt field: %q", got)
	}
	e.replace("greet.flowgen.yaml", "tims", "times")
	if got := e.diagnostics("greet.flowgen.yaml"); len(got) != 0 {
		t.Errorf("mended: %q", got)
	}
	e.ask("shutdown", nil)
	e.tell("exit", nil)
	if err := e.cmd.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
}

// TestLSPPromptFile: a mistake in the buffer of a prompt file is shown there, under the workflow that uses it, whose file is not
// even open.
func TestLSPPromptFile(t *testing.T) {
	t.Parallel()
	flow := "flowgen: 1\nname: ask\ninput: {q: string}\nmodels: {m: {model: \"openai:gpt-4o-mini\", max_tokens: 10}}\nsecrets: [OPENAI_API_KEY]\n" +
		"nodes:\n  answer: {llm: m, prompt: {file: prompts/q.md}, with: {question: $input.q}}\noutput: {a: $answer}\n"
	e := edit(t, map[string]string{"ask.flowgen.yaml": flow, "prompts/q.md": "Say: {{ question }}\n"})
	e.open("prompts/q.md", "Say: {{ question }}\n")
	if got := e.diagnostics("prompts/q.md"); len(got) != 0 {
		t.Errorf("%q", got)
	}
	e.replace("prompts/q.md", "question", "questoin")
	if got := e.diagnostics("prompts/q.md"); len(got) != 1 || !strings.Contains(got[0], " questoin: ") {
		t.Errorf("%q", got)
	}
}

type lspLocation struct {
	URI   string
	Range lspRange
}

func answer[T any](t testing.TB, raw json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// places are locations as file:line:column and the text there, of files that are open or on the disk.
func (e *editor) places(list []lspLocation) []string {
	e.t.Helper()
	var out []string
	for _, l := range list {
		name := strings.TrimPrefix(l.URI, e.uri(".")+"/")
		if _, open := e.texts[name]; !open {
			text, err := os.ReadFile(filepath.Join(e.dir, filepath.FromSlash(name)))
			if err != nil {
				e.t.Fatal(err)
			}
			e.texts[name] = string(text)
			defer delete(e.texts, name)
		}
		out = append(out, name+":"+strconv.Itoa(l.Range.Start.Line+1)+" "+e.text(name, l.Range))
	}
	return out
}

// openDisk opens a file of the workspace.
func (e *editor) openDisk(name string) {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join(e.dir, filepath.FromSlash(name)))
	if err != nil {
		e.t.Fatal(err)
	}
	e.open(name, string(text))
}

// TestLSPTriage: in examples/triage a person jumps from a node to its tool and from there into Go, finds a node in its tests, and
// renames it in every file that names it.
func TestLSPTriage(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join("..", "..", "examples", "triage"))
	if err != nil {
		t.Fatal(err)
	}
	e := editIn(t, dir)
	const flow = "triage.flowgen.yaml"
	e.openDisk(flow)
	for got := e.diagnostics(flow); len(got) > 0; got = e.diagnostics(flow) {
		t.Errorf("%q", got)
	}
	definition := func(word string, n, skip int) []string {
		return e.places(answer[[]lspLocation](t, e.ask("textDocument/definition", e.on(flow, word, n, skip))))
	}
	for _, c := range []struct {
		word    string
		n, skip int
		want    string
	}{
		{"tool: parse", 0, 6, flow + ":18 parse"},
		{"$fetch", 0, 2, flow + ":39 fetch"},
		{"scan -> plan", 0, 0, flow + ":40 scan"},
		{"switch: plan.route", 0, 13, flow + ":45 route"},
		{"list<Finding>", 0, 6, flow + ":5 Finding"},
		{"$state.findings", 0, 8, flow + ":10 findings"},
		{"review.response", 0, 0, flow + ":47 review"},
		{"llm: fast", 0, 5, flow + ":12 fast"},
		{"agent: reviewer", 0, 9, flow + ":32 reviewer"},
	} {
		if got := definition(c.word, c.n, c.skip); len(got) != 1 || got[0] != c.want {
			t.Errorf("definition of %q: %q, want %q", c.word, got, c.want)
		}
	}
	// Go packages are loaded in the background; the diagnostics of the text are said again when they are there.
	e.replace(flow, "name: triage", "name: triagf")
	e.diagnostics(flow)
	got := definition("./source.Parse", 0, 3)
	for range 1000 {
		if len(got) > 0 {
			break
		}
		e.replace(flow, "name: triag", "name: triag")
		e.diagnostics(flow)
		got = definition("./source.Parse", 0, 3)
	}
	if len(got) != 1 || !strings.HasPrefix(got[0], "source/") || !strings.HasSuffix(got[0], " Parse") {
		t.Errorf("the Go of parse: %q", got)
	}
	e.replace(flow, "name: triagf", "name: triage")
	p := e.on(flow, "$fetch", 0, 1)
	p["newName"] = "download"
	edit := answer[struct {
		Changes map[string][]struct{ NewText string }
	}](t, e.ask("textDocument/rename", p))
	if n := len(edit.Changes[e.uri(flow)]); n < 4 {
		t.Errorf("rename of fetch: %d edits", n)
	}
	if len(edit.Changes[e.uri("triage.test.yaml")]) == 0 {
		t.Errorf("the test is not edited: %v", edit)
	}
	p["newName"] = "scan"
	if _, err := e.try("textDocument/rename", p); err == nil || !strings.Contains(err.Error(), "fetch cannot become scan") {
		t.Errorf("rename to the name of another node: %v", err)
	}
}
