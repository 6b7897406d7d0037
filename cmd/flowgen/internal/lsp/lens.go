package lsp

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/parser"
)

// Commands that a client has, if it names them in the `commands` of its initializationOptions: lenses use no others.
const (
	commandTerminal = "flowgen.terminal" // runs a command line in a terminal: {cwd, args}
	commandShow     = "flowgen.show"     // shows the answer of a command of the server beside: {command, arguments, title}
)

// Commands of the server, for workspace/executeCommand.
const (
	commandGenerated = "flowgen.generated" // the Go of a workflow: its URI
	commandGraph     = "flowgen.graph"     // its graph in Mermaid: its URI
	commandPlan      = "flowgen.plan"      // its plan: its URI
	commandManifest  = "flowgen.manifest"  // its manifest: its URI
)

// documents are what can be shown of a workflow, with their languages: the commands of the server, and the schemes of its read-only
// documents in LSP 3.18, where flowgen.plan:///flows/x.flowgen.yaml is the plan of that file.
var documents = map[string]string{commandGenerated: "go", commandGraph: "mermaid", commandPlan: "plaintext", commandManifest: "plaintext"}

func schemes() []string { return slices.Sorted(maps.Keys(documents)) }

type codeLens struct {
	Range   span     `json:"range"`
	Command *command `json:"command,omitempty"`
}

type command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Tooltip   string `json:"tooltip,omitempty"` // LSP 3.18
	Arguments []any  `json:"arguments,omitempty"`
}

// A commandLine is what is typed into a terminal.
type commandLine struct {
	Folder string   `json:"cwd"` // URI
	Args   []string `json:"args"`
}

type showing struct {
	Command   string   `json:"command"`
	Arguments []string `json:"arguments"`
	Title     string   `json:"title"`
}

// A Call is one of a recorded run.
type Call struct{ Key, Tool string }

// A Run is a recorded run of a workflow.
type Run struct {
	ID      string
	Folder  string // of the runs, as --runs takes it
	Outcome string
	Calls   []Call            // that are done
	Values  map[string]string // what calls gave, as JSON without secrets, by the paths of their nodes
}

// lenses are what can be done with a workflow or a test case, and in files of functions the workflows that call them.
func (s *server) lenses(params *json.RawMessage) (any, error) {
	c, _, err := s.at(params)
	out := []codeLens{}
	if err != nil || c.doc == nil {
		return out, err
	}
	if !isOurs(c.name) {
		return s.usedBy(c), nil
	}
	for _, r := range c.roots {
		if r.index == nil || r.result == nil || r.result.Workflow == nil {
			continue
		}
		for _, n := range r.index.Names {
			if n.At.File == nil || nameOfFile(n.At.File.Name) != c.name || n.At.File.Text != c.doc.text.s {
				continue
			}
			switch {
			case n.Kind == index.Flow && r.name == c.name:
				out = append(out, s.ofWorkflow(r, n)...)
			case n.Kind == index.Case:
				out = append(out, s.terminal(n, "run this case", "test", "--run", path.Base(c.name)+":"+n.Text, r.name)...)
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out, nil
}

func (s *server) ofWorkflow(r *root, n *index.Name) []codeLens {
	out := s.terminal(n, "run", "run", r.name)
	if len(r.result.Cases) > 0 {
		out = append(out, s.terminal(n, "test", "test", r.name)...)
	}
	if run := s.lastRun(r); run != nil {
		out = append(out, s.terminal(n, "last run: "+run.Outcome, "inspect", run.ID, "--runs", run.Folder)...)
		out = append(out, s.terminal(n, "replay", "replay", "--runs", run.Folder, r.name, run.ID)...)
	}
	if s.offers[commandShow] {
		for _, what := range []struct{ title, command string }{{"generated Go", commandGenerated}, {"graph", commandGraph}, {"plan", commandPlan}, {"manifest", commandManifest}} {
			show := showing{what.command, []string{s.ws.uri(r.name)}, what.title}
			out = append(out, codeLens{s.ws.span(n.At), &command{Title: what.title, Command: commandShow, Arguments: []any{show}}})
		}
	}
	return out
}

// terminal is a lens that runs flowgen in a terminal, where the client has one.
func (s *server) terminal(n *index.Name, title string, args ...string) []codeLens {
	if !s.offers[commandTerminal] {
		return nil
	}
	line := commandLine{s.ws.uri("."), append([]string{"flowgen"}, args...)}
	run := &command{Title: title, Command: commandTerminal, Arguments: []any{line}}
	if s.newer {
		run.Tooltip = strings.Join(line.Args, " ")
	}
	return []codeLens{{s.ws.span(n.At), run}}
}

func (s *server) lastRun(r *root) *Run {
	if s.opts.LastRun == nil || r.result == nil || r.result.Workflow == nil {
		return nil
	}
	return s.opts.LastRun(r.name, r.result.Workflow.Name.Name)
}

// usedBy names, over each function of a file, the places of workflows that call it.
func (s *server) usedBy(c cursor) []codeLens {
	out := []codeLens{}
	s.ws.settle()
	seen := map[string]bool{}
	for _, r := range sortedRoots(s.ws.roots) {
		if r.index == nil {
			continue
		}
		for _, ref := range r.index.Refs {
			if !ref.Declares || ref.Name.Kind != index.Function || nameOfFile(ref.At.File.Name) != c.name || seen[ref.Name.Key()] || !c.current(ref.At) {
				continue
			}
			seen[ref.Name.Key()] = true
			var users []string
			for _, use := range s.ws.everywhere(ref.Name.Key()) {
				if !use.Declares {
					users = append(users, fmt.Sprintf("%s:%d", path.Base(use.At.File.Name), use.At.Start().Line))
				}
			}
			if len(users) > 0 {
				out = append(out, codeLens{s.ws.span(ref.At), &command{Title: "used by " + strings.Join(users, ", ")}})
			}
		}
	}
	return out
}

type commandParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

// A shown is a document that a command has made.
type shown struct {
	Language string     `json:"languageId"`
	Text     string     `json:"text"`
	Lines    []linePair `json:"lines"` // which lines of the workflow are which of the text, in the order of the text
}

type linePair struct {
	Workflow int `json:"workflow"`
	Shown    int `json:"shown"`
}

// execute makes what a command shows, of the texts in the buffers. It writes nothing.
func (s *server) execute(params *json.RawMessage) (any, error) {
	p, err := decode[commandParams](params)
	if err != nil {
		return nil, err
	}
	var uri string
	if len(p.Arguments) > 0 {
		_ = json.Unmarshal(p.Arguments[0], &uri)
	}
	text, err := s.document(p.Command, uri)
	if err != nil {
		return nil, err
	}
	language := documents[p.Command]
	out := shown{language, text, []linePair{}}
	if language == "go" {
		out.Lines = linesOf(path.Base(nameOf(uri)), text)
	}
	return out, nil
}

// document makes a document about the workflow of a URI. It runs and writes nothing.
func (s *server) document(what, uri string) (string, error) {
	make := s.opts.Shown[what]
	if make == nil {
		return "", refusal{codeInvalidParams, "unknown command " + what}
	}
	name := nameOf(uri)
	if !isYAML(name) {
		return "", refusal{codeInvalidParams, what + " takes the URI of a workflow"}
	}
	if s.ws.roots[name] == nil && s.ws.docs[name] == nil { // only what the server has seen anyway
		s.ws.settle()
		if s.ws.roots[name] == nil {
			return "", refusal{codeInvalidParams, name + " is not a workflow of this workspace"}
		}
	}
	in := s.ws.inputs()
	in.Later = false
	text, err := make(name, in)
	if err != nil {
		return "", refusal{codeRefused, err.Error()}
	}
	return text, nil
}

// content is a read-only document of LSP 3.18.
func (s *server) content(params *json.RawMessage) (any, error) {
	p, err := decode[struct {
		URI string `json:"uri"`
	}](params)
	if err != nil {
		return nil, err
	}
	scheme, rest, _ := strings.Cut(p.URI, ":")
	text, err := s.document(scheme, "file:"+rest)
	if err != nil {
		return nil, err
	}
	return map[string]string{"text": text}, nil
}

// linesOf pairs lines of a workflow with those of its Go that name them: what nodes are, and after that where each is called.
func linesOf(file, text string) []linePair {
	out := []linePair{}
	lines := map[string]int{} // of nodes by the names of their variables
	n := 0
	for line := range strings.Lines(text) {
		n++
		if i := strings.Index(line, `Pos: "`+file+":"); i >= 0 {
			rest := line[i+len(`Pos: "`+file+":"):]
			at := 0
			for _, c := range []byte(rest) {
				if c < '0' || c > '9' {
					break
				}
				at = at*10 + int(c-'0')
			}
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			lines[name] = at - 1
			continue
		}
		if i := strings.Index(line, "&"); i >= 0 && len(lines) > 0 {
			rest := line[i+1:]
			end := strings.IndexFunc(rest, func(r rune) bool {
				return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
			})
			if end < 0 {
				end = len(rest)
			}
			if at, ok := lines[rest[:end]]; ok && !strings.HasPrefix(strings.TrimSpace(line), "&") {
				out = append(out, linePair{at, n - 1})
			}
		}
	}
	return out
}

// isOurs reports whether a file is of a workflow, and not of functions that it calls, for which other servers are there.
func isOurs(name string) bool {
	return !slices.Contains([]string{".go", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".star"}, path.Ext(name)) || strings.HasSuffix(name, parser.WorkflowSuffix)
}
