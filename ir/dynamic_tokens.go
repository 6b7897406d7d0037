package ir

import "github.com/flowgen-dev/flowgen/ir/source"

// Tokens is a graph whose nodes hand on tokens, as YAMLGraph's do: a node runs whenever one comes, so that it may run again.
type Tokens struct {
	Start []Ident // where the first ones go
	Limit int     // how many steps there are at most; 0: 25

	// Common are fields that every state has and that the file does not name: they are in the program when a function that
	// is given the state may use them.
	Common []*State
}

// A Token is what a node says about the tokens that it hands on, and about what it leaves in the state.
type Token struct {
	Key      Ident     // the state field of its result; an empty name: nothing holds it
	Exits    []*Exit   // in file order; with a condition on one of them the first that holds is taken, else all of them
	Values   []*Entry  // what a prompt is made of
	Requires []Ident   // state fields without which it does nothing
	OnError  TokenFail // what becomes of an error
	Again    bool      // it runs although its field has a value
	Resume   Ident     // the state field of a person's answer
	Payload  Value     // what a person is asked; nil: nothing is
	Sub      *SubGraph // of a node that is another graph
	Gather   *Gather   // of a map; nil: its results are gathered as they come
	Ask      *TokenAsk // of nodes that ask a model; nil: none
	Limit    int       // how often a node that asks nobody runs; 0: nothing bounds it
	Fresh    bool      // a person is asked anew, whatever Key holds
	Stops    bool      // of a tool_call: a failed call ends the run
	Parsed   Ident     // of a tool_call: the field of the mapping that a graph tool gives; an empty name: none

	Before, After, Final []*TokenRule // of a node, and of the end of a graph
}

// A SubGraph is which fields a node that is another graph hands on, and which it takes over.
type SubGraph struct {
	AllIn, AllOut bool // all fields that both graphs have
	In, Out       []FieldPair
}

// A FieldPair is a field of a graph and one of the graph that it runs.
type FieldPair struct {
	Parent, Child Ident
	Ref           *Reference // of In: the value that is handed on
}

// Gather is what becomes of the results of a map's items.
type Gather struct {
	Key      string  // the key of a node's update that is its result; an update without it is the result
	MaxItems int     // so many items of the list are looked at; 0: all
	Failures string  // the field that failures go to; empty: they stand among the results
	Least    int     // so many items have to do well
	Share    float64 // such a part of the items has to do well
	Strict   bool    // more items than MaxItems are an error
	Fail     bool    // the first failure ends the run
	Flat     bool    // results that are lists are added item by item
}

// TokenAsk is what a node asks a model, and what becomes of the answer.
type TokenAsk struct {
	Prompt *Rendering
	Values []*Entry // what the variables of the prompt stand for, by name
	Needs  []*Entry // of them, those without which there is no prompt
	Model  Ident    // of Workflow.Models

	Skips    bool // it does nothing when its field has a value; in a cycle only when that is written
	SkipsSet bool // skip_if_exists is written
	JSON     bool // the answer's text is searched for JSON
	Limit    int  // how often it runs; 0: nothing bounds it
	Fail     AskFail
	Retries  int   // AskRetry
	Fallback Ident // AskFallback: of Workflow.Models

	Routes []TokenRoute // of a router
	Route  string       // the key of the answer with the label; empty: tone, else intent
	Other  Ident        // where labels lead that are none of Routes; empty: where the first of them leads

	Agent *TokenAgent

	Copilot    bool             // the answer is kept as that of a program
	Candidates []TokenCandidate // of a race: who is asked until one answers; nil: Model
}

// A TokenCandidate is one of those that a race asks.
type TokenCandidate struct {
	Provider, Model string // as written
	Use             Ident  // of Workflow.Models
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
	To    Ident // an empty name is the end
}

// A TokenAgent is a model that calls tools.
type TokenAgent struct {
	Tools      []Ident // by their keys
	Iterations int
	Results    string // the field of what tools gave; empty: none
	Talks      bool   // the state has the field messages, which a conversation goes on with
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
	To   Ident
	When *Predicate // nil: always
	// Routed: a router decides whether the token goes here.
	Routed bool
	Spent  bool // taken in place of conditions when a node has reached its limit
	Span   source.Span
}

// A Calc is a calculation with two values, by the rules of Python. One whose left side is missing is null.
type Calc struct {
	Op          string // + - * /
	Left, Right Value
	Text        source.Text // of the value that it stands in
}

// Source is the place of the value.
func (c *Calc) Source() source.Span { return c.Text.Span }
