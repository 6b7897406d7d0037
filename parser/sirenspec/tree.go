package sirenspec

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"time"
)

// A Tree is what a file says, before it is translated.
type Tree struct {
	*ir.Workflow // its sections besides those below

	Nodes    []*Node // in the order of the file
	Order    []*Node // in which they run; nil after mistakes
	Upstream bool    // --compat upstream: what the engine does wins over what the pages say
	EnvFile  string  // a file with variables, next to the workflow; empty: none
	Memory   bool    // placeholders or writes name the memory
	Seeds    *ir.Object
	Budgets  []*Budget
}

// treeOf is what the file of a workflow says; nil when it is of another dialect.
func treeOf(wf *ir.Workflow) *Tree {
	t, _ := wf.Tree.(*Tree)
	return t
}

// A Node is what a file says about a node: what it does, what it sends, and where its result goes.
type Node struct {
	ID   ir.Ident
	Span source.Span
	Verb any // *ir.LLM, *Swarm, *Factory, *ir.Flow, *ir.Human, *ir.ToolCall or *ir.ToolChoice

	Args     *ir.Object       // constants and references; nil: none
	Routes   []*dialect.Route // that lead to the node, in file order
	Prompt   *dialect.Mixed
	System   *dialect.Mixed
	Attempts int  // of a tool, in total; 0 and 1: one
	Skips    bool // a tool that fails gives null; else the run ends

	OutputKey string       // of a tool: below working.<node>; of an agent of a swrm: its id
	Writes    []string     // path that an agent's text goes to besides, as in output.summary; nil: none
	Request   *Request     // of an http tool
	Store     *Store       // of the node that reads the memory
	Guards    []Guard      // of an agent, in order
	Counted   bool         // of a factory: Over is a number
	Limit     *ir.Duration // of a factory: for one instance
	Timeout   *ir.Duration
	Retry     *AgentRetry
	Failure   *AgentFailure // nil: the run ends
}

// made is the node as one of a Block.
func (n *Node) made(v ir.Verb) *ir.Node {
	out := &ir.Node{ID: n.ID, Span: n.Span, Verb: v}
	if _, asks := n.Verb.(*ir.LLM); asks {
		out.Retry = ClientRetry()
	}
	out.BoundAttempts(n.Timeout)
	return out
}

// ClientRetry is what the engine's clients of providers do within each attempt: after 429, 5xx, timeouts and failures of the network.
func ClientRetry() *ir.Retry {
	return &ir.Retry{Attempts: 3, Base: &ir.Duration{Value: 500 * time.Millisecond}, Cap: &ir.Duration{Value: 8 * time.Second}, Jitter: 0.25}
}

// A Swarm asks agents in parallel, each what its own prompt says, and may ask one more about what they said.
type Swarm struct {
	Nodes     []*Node // the agents in their order, and after them the synthesis
	Synthesis bool    // the last node is asked about the others
	Parallel  int     // agents at a time; 0: all
	Keep      bool    // an agent that fails says nothing; else the swarm fails with it
	Span      source.Span
}

// Agents are the nodes that are asked in parallel.
func (s *Swarm) Agents() []*Node {
	if s.Synthesis {
		return s.Nodes[:len(s.Nodes)-1]
	}
	return s.Nodes
}

// Last is the synthesis; nil: there is none.
func (s *Swarm) Last() *Node {
	if !s.Synthesis {
		return nil
	}
	return s.Nodes[len(s.Nodes)-1]
}

// A Factory makes an instance of an agent or a swarm for each item of a list.
type Factory struct {
	Over     ir.Value
	Do       *Node
	MaxItems int
	Parallel int
	Keep     bool // an instance that fails returns nothing; else the factory fails with it
	Span     source.Span
}

// AgentRetry says when an agent is asked again.
type AgentRetry struct {
	Attempts int     // in total, at least 1
	Backoff  string  // constant, linear or exponential
	Base     float64 // seconds before the second attempt
	Most     float64 // seconds between attempts
	Jitter   bool    // waits differ by up to 20 %
	On       []string
	Guards   bool // an answer that a guardrail refuses is asked for again
	Span     source.Span
}

// AgentFailure is what becomes of an agent whose attempts are spent.
type AgentFailure struct {
	Action  string   // abort, fallback, skip or use_default
	Node    ir.Ident // fallback: that runs instead; an empty name: none
	Default string   // use_default: the text in place of the answer
	Span    source.Span
}

// A Budget bounds the run of a workflow. It is looked at when a node has ended, but for tools.
type Budget struct {
	Tokens   int64   // 0: no bound
	USD      string  // a decimal; empty: no bound
	Seconds  float64 // 0: no bound
	Exceeded string  // abort, warn or skip_remaining
	Declared bool    // the run says how much of it was spent; else it is that of a guardrail
	Span     source.Span
}

// A Request is what an http tool sends.
type Request struct {
	Method  string
	URL     *dialect.Mixed
	Headers []Header
	Body    *dialect.Mixed // nil: none
	Seconds int64          // timeout
	Host    string         // that the URL names; empty when only a run knows it
	Env     []string       // environment variables that it sends
}

// A Header is a name with text that has references in it.
type Header struct {
	Key   ir.Ident
	Value *dialect.Mixed
}

// A Guard is a guardrail with what it takes.
type Guard struct {
	Name    string   // injection, length, pii or schema
	Most    int64    // length: characters of an answer
	Raise   bool     // length: a longer answer is refused, and else cut
	What    []string // pii: email, phone, ssn, credit_card
	Action  string   // pii: redact, block or flag
	Instead string   // pii: what stands for what is taken out
	Schema  string   // schema: its JSON
	Span    source.Span
}

// A Store keeps values from run to run, in files of a folder.
type Store struct {
	Path    string // relative to where the program runs
	Seconds int64  // how long a value is kept; 0: for ever
}
