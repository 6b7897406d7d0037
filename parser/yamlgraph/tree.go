package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/jinja"
)

// A Tree is what a file says, before it is translated.
type Tree struct {
	*ir.Workflow // its sections besides those below

	Nodes    []*Node // in the order of the file
	Upstream bool    // --compat upstream: the engine's behaviour wins over the page's
	Seeds    *ir.Object
	Start    []ir.Ident // where the first tokens go
	Limit    int        // the most steps; 0: 25

	Choices map[string]Choice // of the models, by their names

	// Common are fields that every state has and that the file does not name: they are in the program when a function that
	// is given the state may use them.
	Common []*ir.State

	Notes []Note // for interrupt_output_mapping of the graphs that run it
}

// treeOf is what the file of a workflow says; nil when it is of another dialect.
func treeOf(wf *ir.Workflow) *Tree {
	t, _ := wf.Tree.(*Tree)
	return t
}

// node is the node of a name; nil when there is none, as for the end.
func (t *Tree) node(name string) *Node {
	i := slices.IndexFunc(t.Nodes, func(n *Node) bool { return n.ID.Name == name })
	if i < 0 {
		return nil
	}
	return t.Nodes[i]
}

// A Node is what a file says about a node: its call, and the tokens that it hands on.
type Node struct {
	ID      ir.Ident
	Span    source.Span
	Verb    any // *ir.LLM, *ir.Agent, *ir.Let, *ir.ToolCall, *ir.ToolChoice, *ir.Flow, *ir.Human or *Map; nil after a mistake
	Timeout *ir.Duration
	Retry   *ir.Retry
	Inline  bool // of a map: its id is made from its verb

	Reads, Writes []ir.Ident
	Times         int    // how often the node runs at most; 0: once
	Schema        string // JSON schema of a model's answer; empty: text
	AnswerAs      string // the tool whose arguments an answer that has a Schema is; empty: the provider's own way
	Token         *Token
}

// made is the node as one of a Block.
func (n *Node) made() *ir.Node {
	out := &ir.Node{ID: n.ID, Span: n.Span, Retry: n.Retry, Inline: n.Inline}
	out.BoundAttempts(n.Timeout)
	return out
}

// A Choice is a model: the environment of a run says what is empty.
type Choice struct{ Provider, Model string }

// A Map runs its node for every item of a list.
type Map struct {
	Over     ir.Value
	As       ir.Ident
	Do       *Node
	MaxItems int // 0: unbounded
	Parallel int // items at a time; 0: as many as usual
	Span     source.Span
}

// A Token is what a node says about the tokens that it hands on, and about what it leaves in the state.
type Token struct {
	Key      ir.Ident    // the state field of its result; an empty name: nothing holds it
	Exits    []*Exit     // in file order; with a condition on one of them the first that holds is taken, else all of them
	Values   []*ir.Entry // what a prompt is made of
	Requires []ir.Ident  // state fields without which it does nothing
	OnError  TokenFail   // what becomes of an error
	Again    bool        // it runs although its field has a value
	Resume   ir.Ident    // the state field of a user's answer
	Payload  ir.Value    // what a user is asked; nil: nothing is
	Sub      *SubGraph   // of a node that is another graph
	Gather   *Gather     // of a map; nil: its results are gathered as they come
	Ask      *TokenAsk   // of nodes that ask a model; nil: none
	Limit    int         // how often a node that asks nobody runs; 0: nothing bounds it
	Fresh    bool        // a user is asked anew, whatever Key holds
	Stops    bool        // of a tool_call: a failed call ends the run
	Parsed   ir.Ident    // of a tool_call: the field of the mapping that a graph tool returns; an empty name: none

	Before, After, Final []*TokenRule // of a node, and of the end of a graph
}

// A SubGraph is which fields a node that is another graph hands on, and which it takes over.
type SubGraph struct {
	AllIn, AllOut bool // all fields that both graphs have
	In, Out       []FieldPair
}

// A FieldPair is a field of a graph and one of the graph that it runs.
type FieldPair struct {
	Parent, Child ir.Ident
	Ref           *dialect.Reference // of In: the value that is handed on
	Kept          string             // of Out: the field of the other graph that stores the value of Child at the last interrupt; empty: none
	asked         bool               // of interrupt_output_mapping
}

// A Note is a field whose value is stored in another field at each interrupt.
type Note struct{ Field, As string }

// Gather is what becomes of the results of a map's items.
type Gather struct {
	Key      string  // the key of a node's update that is its result; an update without it is the result
	MaxItems int     // so many items of the list are looked at; 0: all
	Failures string  // the field that failures go to; empty: they are among the results
	Least    int     // so many items have to do well
	Share    float64 // such a part of the items has to do well
	Strict   bool    // more items than MaxItems are an error
	Fail     bool    // the first failure ends the run
	Flat     bool    // results that are lists are added item by item
}

// TokenAsk is what a node asks a model, and what becomes of the answer.
type TokenAsk struct {
	Prompt *Rendering
	Values []*ir.Entry // what the variables of the prompt stand for, by name
	Needs  []*ir.Entry // of them, those without which there is no prompt
	Model  ir.Ident    // of Workflow.Models

	Skips    bool // it does nothing when its field has a value; in a cycle only when that is written
	SkipsSet bool // skip_if_exists is written
	JSON     bool // the answer's text is searched for JSON
	Limit    int  // how often it runs; 0: nothing bounds it
	Fail     AskFail
	Retries  int      // AskRetry
	Fallback ir.Ident // AskFallback: of Workflow.Models

	Routes []TokenRoute // of a router
	Route  string       // the key of the answer with the label; empty: tone, else intent
	Other  ir.Ident     // where labels lead that are none of Routes; empty: where the first of them leads

	Agent *TokenAgent

	Copilot    bool             // the answer is kept as that of a program
	Candidates []TokenCandidate // of a race: who is asked until one answers; nil: Model
}

// A TokenCandidate is one of those that a race asks.
type TokenCandidate struct {
	Provider, Model string   // as written
	Use             ir.Ident // of Workflow.Models
}

// AskFail is what becomes of a question that fails.
type AskFail uint8

// The error goes into the state, and the run goes on; it goes nowhere; the run ends; the question is asked again; another
// model is asked.
const (
	AskKeep AskFail = iota
	AskSkip
	AskRaise
	AskRetry
	AskFallback
)

// A TokenRoute is where a label of a router leads.
type TokenRoute struct {
	Label string
	To    ir.Ident // an empty name is the end
}

// A TokenAgent is a model that calls tools.
type TokenAgent struct {
	Tools      []ir.Ident // by their keys
	Iterations int
	Results    string // the field of what tools gave; empty: none
}

// TokenFail is what becomes of an error of a node.
type TokenFail uint8

// The run ends; or the error goes into the state, and the node's field becomes null or stays.
const (
	TokenRaise TokenFail = iota
	TokenNull
	TokenKeep
)

// An Exit is an edge that leaves a node. An empty name of To is the end.
type Exit struct {
	To   ir.Ident
	When *dialect.Predicate // nil: always
	// Routed: a router decides whether the token goes here.
	Routed bool
	Spent  bool // taken in place of conditions when a node has reached its limit
	Span   source.Span
}

// A Calc is a calculation with two values, by the rules of Python. One whose left side is missing is null.
type Calc struct {
	Op          string // + - * /
	Left, Right ir.Value
	Text        source.Text // of the value that it is in
}

// Source is the place of the value.
func (c *Calc) Source() source.Span { return c.Text.Span }

// Parts are the values that it is made of.
func (c *Calc) Parts() []ir.Value { return []ir.Value{c.Left, c.Right} }

// A TokenRule is a condition that has to hold before or after a node, or at the end of a graph. Its
// references are to the state, or to the output of the node.
type TokenRule struct {
	Check   source.Text // as written
	When    *dialect.Predicate
	Fail    RuleFail
	Message string // empty: one that names Check
	Tries   int    // RuleRetry: how often the node runs again
}

// RuleFail is what becomes of a rule that does not hold.
type RuleFail uint8

// It is noted and the run goes on, the run or the node ends, the node does nothing, the node runs again.
const (
	RuleWarn RuleFail = iota
	RuleHalt
	RuleSkip
	RuleRetry
)

// A Rendering is a prompt that is a template: what a model receives, made of variables when the node
// runs. Nodes that name the same file with the same variables share one.
type Rendering struct {
	File   ir.Ident // as the node names it
	System *PromptTemplate
	User   *PromptTemplate
	Text   *ir.TextFunc // that makes it
}

// A PromptTemplate is one text of a Rendering.
type PromptTemplate struct {
	Text source.Text
	Body []jinja.PromptNode
}
