// Package studio is a local page over the workflows and recorded runs of a folder: `flowgen studio`. It reads what the compiler and the
// journals say, and runs nothing itself: acts start the same program as the command line.
package studio

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// Options are what a page is over.
type Options struct {
	Root     string // of the project, as the page shows it
	Version  string // of flowgen
	Project  Project
	Runs     *runs.Folder
	Server   *Remote   // whose runs are shown, too; nil: there is none
	Temporal *Temporal // whose runs are shown, too; nil: there is none

	Hosts  []string // names besides those of this machine that requests may have, as HOST or HOST:PORT
	Secure bool     // pages reach it with https

	ReadOnly bool // nothing can be changed or started
	NoRun    bool // nothing can be started; edits and answers go

	// Command returns a command of this flowgen with arguments, in the folder of the project. It is started, and not waited for.
	Command func(args ...string) *exec.Cmd
}

// A Project is what the compiler says of the files of a folder. Its methods can be called at the same time.
type Project interface {
	Files() ([]string, error)
	// Mark is another text when a file of Files has changed, or one that Workflow has read or looked for: a prompt, for example.
	Mark() (string, error)
	// Workflow compiles a file of Files; a file that is none of them is an error.
	Workflow(file string) (*Workflow, error)
	// Propose returns the edit that an operation makes, and writes nothing. A refused operation is an error in the compiler's words.
	Propose(op Operation) (*Edit, error)
	// Apply makes the edit that Propose has returned, if it still is the same. It is ErrStale otherwise, with the edit as it is now.
	Apply(op Operation, diff string) (*Edit, error)
	// Cases lists the files with test cases.
	Cases() ([]CaseFile, error)
	// Node returns what a node of a file says. The node is named by its path.
	Node(file, path string) (*NodeText, error)
	// Overlay returns the texts that files would have after an operation of kind EditNode, and writes nothing.
	Overlay(op Operation) (map[string]string, error)
}

// A CaseFile has test cases of a workflow.
type CaseFile struct {
	File     string   `json:"file"`
	Workflow string   `json:"workflow"` // its file
	Cases    []string `json:"cases"`
	Problem  string   `json:"problem,omitempty"` // why it cannot be read
}

// EditNode is the kind of an Operation that replaces the prompt, the tool, the arguments or the tools of a node.
const EditNode = "node"

// A NodeText is what a node says in its file, as far as it can be edited.
type NodeText struct {
	Prompt string   `json:"prompt,omitempty"`
	Tool   string   `json:"tool,omitempty"`
	With   string   `json:"with,omitempty"` // in YAML
	Tools  []string `json:"tools"`          // of the workflow

	AgentTools string `json:"agent_tools,omitempty"` // what an agent can call, in YAML
}

// ErrStale is the error of an edit whose file has changed since it was shown.
var ErrStale = errors.New("the file has changed since the edit was shown")

// A Workflow is what the compiler says of a file.
type Workflow struct {
	File        string
	Name        string
	Description string
	Dialect     string // empty: flowgen's own language
	Source      string
	Diagnostics json.RawMessage  // as `check --format json`
	Errors      int              // among them
	Warnings    int              // among them
	Info        *flow.Info       // nil where it has errors
	Hash        string           // of the workflow, as runs have it
	Plan        string           // as `plan` prints it
	AtMost      json.RawMessage  // the worst case, of the plan
	Manifest    string           // as `manifest` prints it
	Go          string           // the generated file
	Input       json.RawMessage  // JSON Schema of its input
	Places      map[string]Place // of nodes, by their paths
	Agents      []Agent
	Secrets     []UsedSecret // of all its tools and models; none while it has errors
	OwnMain     bool         // runs are started by the program in its folder
}

// A UsedSecret is a secret with the tools and models that send it.
type UsedSecret struct {
	Secret
	Users []string `json:"users"` // names
}

// A Place is where a node is written, in lines from 1.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
	End  int    `json:"end"` // its last line
}

// An Agent is a node with a model that calls tools.
type Agent struct {
	Node   string      `json:"node"` // its path
	Name   string      `json:"name"`
	Model  string      `json:"model"`
	Tools  []AgentTool `json:"tools"`
	Pins   []Pin       `json:"pins"`
	Policy []string    `json:"policy"` // in words
	Limits []Limit     `json:"limits"` // that can be edited
}

// A Limit is a key of a policy, with what is written there; empty: nothing.
type Limit struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An AgentTool is a tool that an agent can have.
type AgentTool struct {
	Name        string   `json:"name"`
	FullName    string   `json:"full_name"` // with its version
	Description string   `json:"description,omitempty"`
	Version     string   `json:"version"`
	Category    string   `json:"category,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Effects     string   `json:"effects"`
	Deprecated  string   `json:"deprecated,omitempty"` // why
	On          bool     `json:"on"`                   // the agent can call it
	Secrets     []Secret `json:"secrets,omitempty"`
}

// A Secret is one that a tool needs, and who has it; never what it is.
type Secret struct {
	Name  string `json:"name"`
	Owner string `json:"owner"` // user, workspace, organisation, or missing
}

// A Pin is a result of an agent's tool that other nodes can read.
type Pin struct {
	Name      string   `json:"name"`
	Tool      string   `json:"tool"`
	Strategy  string   `json:"strategy"`
	OnMissing string   `json:"on_missing"`
	Readers   []string `json:"readers"` // places, as FILE:LINE:COLUMN
}

// An Operation is an edit of a workflow file that somebody wants.
type Operation struct {
	Kind     string `json:"kind"` // case, fix, pin, pin.set, pin.rename, pin.remove, policy, tool.on, tool.off, tool.version, materialize, node or undo
	File     string `json:"file"`
	Node     string `json:"node,omitempty"` // of an agent
	Tool     string `json:"tool,omitempty"`
	Name     string `json:"name,omitempty"` // of what is new
	Strategy string `json:"strategy,omitempty"`
	Missing  string `json:"on_missing,omitempty"`
	Run      string `json:"run,omitempty"`
	Call     string `json:"call,omitempty"`
	Prompt   string `json:"prompt,omitempty"`
	With     string `json:"with,omitempty"`

	AgentTools string `json:"agent_tools,omitempty"`
	Pin        string `json:"pin,omitempty"`   // of an agent, as NODE.PIN in place of Call; its name where pins are edited
	Value      string `json:"value,omitempty"` // of the limit Name of a policy; empty: there is none
}

// An Edit is what an Operation changes.
type Edit struct {
	Diff  string `json:"diff"`  // as `diff -u`
	Notes string `json:"notes"` // what check says of it besides

	Undo string `json:"undo,omitempty"` // of an edit that was written: the Name of an Operation of kind undo, which restores the files

	Info *flow.Info `json:"-"` // the workflow with the edit, where that is of interest
	Node string     `json:"-"` // the path of a new node
}

// Server answers requests of the page.
type Server struct {
	opts  Options
	token string
	hosts map[string]bool // as requests may name this server
	mux   *http.ServeMux

	projectMark, runsMark mark
	ahead                 sync.WaitGroup // reads what is asked for next

	copies copies // of runs on Temporal
	copied string // name of the run of a copy
	away   string // program that has read the run of a copy; empty: the runs are those of the folder

	mu      sync.Mutex // guards the following
	summary map[string]known
	used    map[string]used
	readOf  int    // how many runs there were when they were read ahead
	code    string // for one page, in place of the token; empty: none
	until   time.Time
	edits   map[string]Operation
	diffs   map[string]string
	order   []string // ids of edits, the oldest first
	started map[string]*started
	turns   map[string]*turn
	tested  *tested // nil: no cases were run

	stopped context.Context
	stop    context.CancelFunc
}

// New returns a server that answers requests for the given port of this machine.
func New(o Options, port string) *Server {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	s := &Server{opts: o, token: hex.EncodeToString(random), hosts: map[string]bool{}, summary: map[string]known{}, used: map[string]used{},
		edits: map[string]Operation{}, diffs: map[string]string{}, started: map[string]*started{}, turns: map[string]*turn{}}
	s.projectMark.look, s.runsMark.look = s.lookAtProject, s.lookAtRuns
	s.stopped, s.stop = context.WithCancel(context.Background())
	for _, host := range []string{"127.0.0.1", "localhost", "::1"} {
		s.hosts[net.JoinHostPort(host, port)] = true
	}
	for _, host := range o.Hosts {
		s.hosts[host] = true
	}
	s.routes()
	return s
}

// Token is what requests for data have to carry.
func (s *Server) Token() string { return s.token }

// Close ends the streams of events.
func (s *Server) Close() { s.stop() }

func (s *Server) routes() {
	s.mux = http.NewServeMux()
	get := func(path string, h handler) {
		s.mux.Handle("GET /api/v1/"+path, answer(h))
	}
	get("project", s.project)
	get("workflow", s.workflow)
	get("node", s.node)
	get("runs", s.list)
	get("runs/{id}", s.either(s.copyOf(func(s *Server) handler { return s.run }), s.serverRun))
	get("runs/{id}/calls", s.either(s.copyOf(func(s *Server) handler { return s.calls }), nil))
	get("runs/{id}/calls/{n}", s.either(s.copyOf(func(s *Server) handler { return s.call }), s.serverCall))
	get("runs/{id}/graph", s.either(s.graphOfRun, s.serverGraph))
	get("runs/{id}/agents", s.either(s.copyOf(func(s *Server) handler { return s.agentsSpent }), nil))
	get("runs/{id}/report", s.either(s.copyOf(func(s *Server) handler { return s.report }), nil))
	get("diff/{a}/{b}", s.diff)
	get("inbox", s.inbox)
	get("tests", s.tests)
	get("graph", s.graph)
	get("runs/{id}/calls/{n}/attachments/{k}", s.either(s.copyOf(func(s *Server) handler { return s.attachment }), nil))
	get("usage", s.usage)
	s.mux.HandleFunc("GET /api/v1/runs/{id}/calls/{n}/{what}", s.value)
	s.mux.HandleFunc("GET /api/v1/events", s.events)
	if s.opts.ReadOnly { // what changes something has no address then
		return
	}
	post := func(path string, h handler) {
		s.mux.Handle("POST /api/v1/"+path, answer(h))
	}
	post("runs/{id}/answers", s.either(s.answer, s.serverAnswer))
	post("edits", s.propose)
	post("edits/{id}/apply", s.apply)
	if s.opts.NoRun {
		return
	}
	post("runs", s.begin)
	post("tests", s.test)
	post("runs/{id}/resume", s.either(s.resume, s.serverResume))
	post("runs/{id}/cancel", s.either(s.cancel, s.serverCancel))
	post("runs/{id}/rerun", s.either(s.rerun, nil))
}

// Serve answers requests on a listener until the context ends.
func (s *Server) Serve(ctx context.Context, l ...net.Listener) error {
	h := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	failed := make(chan error, len(l))
	s.ahead.Go(s.readAhead)
	defer s.ahead.Wait()
	for _, one := range l {
		go func() { failed <- h.Serve(one) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.mu.Lock() // no handler begins to read ahead any more
	s.Close()
	s.mu.Unlock()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	_ = h.Shutdown(end)
	return err
}
