package ir

import (
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Node is one step. Its result is read by its id.
type Node struct {
	ID      Ident
	Verb    Verb
	When    *Expr // when this is false the node has no result, and what comes after it goes on; nil: always
	Set     []*Set
	Join    Join
	Retry   *Retry
	Timeout *Duration
	Catch   []*Catch
	OnError *OnError
	InDoubt *Doubt      // nil: what the tool says
	Undo    *Node       // a ToolCall that undoes the node when the run fails later; nil: nothing does
	Span    source.Span // the entire entry
	Inline  bool        // the single node of a `do:`; its id is made from its verb

	// Result is the type of the node's value when it ran and did not fail. Set by check.
	Result *schema.Type
}

// UndoSuffix ends the id of a node that undoes another one.
const UndoSuffix = ".undo"

// ApproveID is the id of the question whether a call may be made, in a scope of the call's own.
const ApproveID = "approve"

// ToolCall calls a declared tool.
type ToolCall struct {
	Name Ident // as written: "search", "acme.search", "acme.search@2"
	With *With
	Tool *Tool // resolved by check
}

// Let computes values; it has no effect. Its result is the struct of Fields or, when that is set, Value itself.
type Let struct {
	Fields []*Entry
	Value  Value
}

// Map runs its body for every item of a list.
type Map struct {
	Over                       Value // an expression
	As                         Ident
	Index                      *Ident
	Parallel                   int // 0 = default
	MaxItems                   int // 0 = unbounded, written as such
	OnItemError                ItemError
	ItemDefault                Value // ItemDefault: in place of the result of an item that failed
	ParallelSpan, MaxItemsSpan source.Span
	Do                         Body
	Span                       source.Span
}

// ItemError is what a failed item does to a map.
type ItemError uint8

// Fail the map, keep the error in the item's place, drop the item and list the failure, or put a value in its place.
const (
	ItemFail ItemError = iota
	ItemKeep
	ItemDrop
	ItemDefault
)

// Loop repeats its body until a condition holds.
type Loop struct {
	Until   *Expr     // nil: until max or timeout, which is then no error
	Max     int       // 0 = unbounded, written as such
	Every   *Duration // between the beginnings of rounds; nil: at once
	Timeout *Duration // no round begins later than that; nil: none
	GoOn    bool      // on_max: go_on
	Do      Body
	Span    source.Span
}

// Wait lets time pass.
type Wait struct {
	For   *Duration // nil: Value says it
	Value Value     // a duration
}

// Parse reads a value of a type out of dynamic data or JSON text; it has no effect, and fails where the data does not fit.
type Parse struct {
	Value Value
	Out   *schema.Type // nil: not written, which was said
}

// Flow runs another workflow.
type Flow struct {
	Path Ident // as written
	With *With
	Flow *Workflow // resolved by the parser
}

// GoCall calls a pure Go function.
type GoCall struct {
	Func *GoFunc
	With *With
}

// GoFunc is a reference to a Go function, "import/path.Func", and what bind found.
type GoFunc struct {
	Ref  Ident
	Bind *GoBinding // nil until bound
}

// LLM is one model call.
type LLM struct {
	Model    Ident
	System   *Template
	Prompt   *Prompt
	With     *With
	Media    Value // a list of images and files; nil: none
	Messages Value // a list of messages that came before the prompt; nil: none
	Out      *schema.Type
	Reask    int
	Span     source.Span
}

// Agent is the loop of Agent Tools 2.
type Agent struct {
	Agent    Ident
	Model    Ident
	System   *Prompt
	Prompt   *Prompt
	With     *With
	Messages Value // a list of messages that came before the prompt; nil: none
	Out      *schema.Type
	Reask    int
	Tools    []*AgentTool
	PerCall  *Duration // of each call of a tool; nil: as the tool says
	Policy   *Policy
	Pins     []*Pin
	Approve  []Effects // of calls that a user is asked for; nil: not written
	Span     source.Span
}

// AgentTool is a tool that the model of an agent can call.
type AgentTool struct {
	Tool  Ident
	As    Ident // what the model calls it: the name of Tool unless written
	With  *With // fixed arguments, which the model neither sees nor chooses; nil: none
	Named bool  // As is written
}

// AgentTools are the tools of these names.
func AgentTools(names ...Ident) []*AgentTool {
	var out []*AgentTool
	for _, id := range names {
		out = append(out, &AgentTool{Tool: id, As: id})
	}
	return out
}

// Pin is a pinned handle, Agent Tools 4.2.
type Pin struct {
	Name      Ident
	Tool      Ident
	Strategy  string // latest, first_success, by_call_id
	CallID    Value
	OnMissing string // null, error, stale_last_success, default
	Default   Value  // of default: in place of what is missing
}

// Fail ends the run, or the body it is in, with an error.
type Fail struct {
	Message *Template
	Code    string // of the error
	Cause   Value  // the error that led here; nil: none
}

// Human asks a user.
type Human struct {
	Prompt    *Template
	Out       *schema.Type
	Timeout   *Duration
	OnTimeout *OnError
	Span      source.Span
}

// ToolChoice calls a tool chosen at run time out of a declared set.
type ToolChoice struct {
	Tool    Value
	Args    Value
	ID      Value
	Allow   []Ident
	Open    bool      // `allow` is not written: the tools that the file declares
	AllowAt Insertion // of `allow`, when it is not written
	Out     *schema.Type
	Span    source.Span
}

// With is the arguments of a call, in file order.
type With struct {
	Entries []*Entry
	Span    source.Span
}

// An Entry is a named value.
type Entry struct {
	Key   Ident
	Value Value
}

// Set writes a state field after the node succeeded.
type Set struct {
	Field Ident
	Value Value
}

// Join says when a node with several incoming edges runs.
type Join uint8

// JoinAny: all incoming edges decided and one active. JoinAll: every one active.
const (
	JoinAny Join = iota
	JoinAll
)

// Retry of a node; nil fields were not written.
type Retry struct {
	Attempts int // total number; 0: not written, and only Timeout is
	Codes    []Ident
	Constant bool // backoff: constant; else exponential
	Base     *Duration
	Cap      *Duration
	Jitter   float64
	Timeout  *Duration // of one attempt
	Span     source.Span
}

// BoundAttempts bounds each attempt of n.
func (n *Node) BoundAttempts(d *Duration) {
	if d == nil {
		return
	}
	r := Retry{Span: d.Span}
	if n.Retry != nil {
		r = *n.Retry
	}
	r.Timeout = d
	n.Retry = &r
}

// Catch hands errors of one code, or of any, to a node or to the end.
type Catch struct {
	Code   Ident // a code or "any"
	Target Ident // node id or "end"
}

// OnError is what happens when retries are spent and no catch matched.
type OnError struct {
	Kind    OnErrorKind
	Default Value // OnErrorDefault
	Span    source.Span
}

// OnErrorKind: fail (default), skip, or a default value.
type OnErrorKind uint8

// What a spent error does.
const (
	OnErrorFail OnErrorKind = iota
	OnErrorSkip
	OnErrorDefault
)

// An Edge leads from a node to others.
//
//	plain:  To has one or more targets, When is nil or the condition
//	switch: Switch is the value, Cases and Default the targets
//	back:   Max is set (or Unbounded), To is the header of a loop
type Edge struct {
	From      Ident
	To        []Ident
	When      *Expr
	Switch    *Expr
	Cases     []*Case
	Default   []Ident // nil: none
	Back      bool
	Max       int // 0 = unbounded
	Exhausted *Ident
	Span      source.Span
}

// A Case of a switch.
type Case struct {
	Value Value // a scalar
	To    []Ident
}

// A Value is what is in the YAML where data is asked for.
type Value interface{ Source() source.Span }

// Expr is `$...`: a typed value.
type Expr struct {
	Text source.Text // the expression, without the `$`
	Node *expr.Node
}

// Template is text with `{{ }}` inside.
type Template struct {
	Text source.Text
	Tmpl *expr.Template
}

// Scalar is a literal.
type Scalar struct {
	Text source.Text
	Tag  string // !!str !!int !!float !!bool !!null
}

// List is a sequence of values.
type List struct {
	Items []Value
	Span  source.Span
}

// Object is a mapping of values.
type Object struct {
	Entries []*Entry
	Span    source.Span
}

// Source is the place of the value.
func (e *Expr) Source() source.Span { return e.Text.Span }

// Source is the place of the value.
func (t *Template) Source() source.Span { return t.Text.Span }

// Source is the place of the value.
func (s *Scalar) Source() source.Span { return s.Text.Span }

// Source is the place of the value.
func (l *List) Source() source.Span { return l.Span }

// Source is the place of the value.
func (o *Object) Source() source.Span { return o.Span }
