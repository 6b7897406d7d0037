// Package ir is the typed workflow that every dialect is lowered to and that the checker and the code generator read:
// plain structs, in file order, each with the place it came from.
//
// A parser fills what is in the file; ir/bind fills what the tools' sources say; ir/check fills the types of
// expressions and proves the rest. Only ir/check can make a *check.Program, which is what codegen accepts.
package ir

import (
	"time"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// An Ident is a name as written, with its place.
type Ident struct {
	Name string
	Span source.Span
}

// A Workflow is one workflow file with everything it includes.
type Workflow struct {
	File        *source.File
	Public      bool // in a public dialect: where two names meet in Go, one of them gives way
	Library     bool // a file for `include`, read by itself: it has no nodes, and the secrets it names belong to the workflows that include it
	Name        Ident
	Description string
	Types       []*schema.Decl // declared here and included, in order
	Input       []*schema.Field
	State       []*State
	Groups      []string // of the fields of an open state, in order; each is there, also without fields
	Output      []*Output
	Secrets     []*Secret
	Tools       []*Tool // declared here and included, in order; `name@version` is unique
	Models      []*Model
	Providers   []Ident // of models, which the program that embeds the workflow brings
	Servers     []*Server
	Agents      []*AgentDecl
	Policy      *Policy
	Defaults    Defaults
	Body        Body
	Origin      string         // the dialect that it was translated from, for people to read; empty: native
	Outcome     Outcome        // what becomes of the output besides
	Tree        any            // what the file said before it was translated, as its reader has it, for convert; nil: the same
	Casts       bool           // values are held to the types of arguments when the workflow runs: any stands for all, text for an enum, an int for a float
	Includes    []*source.File // files that were read on the way: includes, prompts; for staleness and caching
	Lock        *source.File   // flowgen.lock next to the file; nil when there is none, or no tool of a server that asks for it
	GoTypes     []*GoType      // `go:import/path.Type` references in declarations; bind completes their types in place
	TypeUses    []TypeUse      // names of declared types where others are written with them
	FileUses    []FileUse      // names of files that Includes has, where no node or tool has them
	Load        []*Expr        // calls that the program makes before it looks for secrets and tools
	Provided    *Provided      // what the runtime has for workflows in any language
	ShortKeys   bool           // keys of models may be shorter than what can be kept secret, as in the dialect's engine
	Claims      []Ident        // permissions that the file claims besides those of the tools that it calls
	Flows       []*Workflow    // sub-workflows reached by flow nodes, each file once, in order of first use

	// Settle is what the reader of a dialect does once the tools are bound: it reports, and translates its tree to Body. Check
	// calls it, those of sub-workflows first. nil: nothing is left to do.
	Settle func(sink *diag.Sink)
}

// Outcome is what becomes of the output of a workflow besides being returned.
type Outcome struct {
	Always bool // it is made also of a run that fails, and can read `error`
	Status bool // its field "status" decides about the exit code of the program
}

// A Body is a set of nodes with their order: a workflow, the inside of a loop, or of one map item.
type Body struct {
	Nodes        []*Node
	Edges        []*Edge
	Block        Block       // the order, where a translator knows it: Edges then only describe it
	EdgesWritten bool        // false: data references give the order
	EdgesSpan    source.Span // where they are written
	Result       Value       // what a loop or map body yields; nil when the body is a single inline node, whose result it is
	Span         source.Span
}

// GoType is a use of a Go type in a declaration. Until bind has run, Type is the poison type with Go.Path and Go.Name set.
type GoType struct {
	Ref  Ident
	Type *schema.Type
}

// A TypeUse is the name of a declared type in another type.
type TypeUse struct {
	At   source.Span
	Decl *schema.Decl
}

// A FileUse is the name of a file that was read.
type FileUse struct {
	At   source.Span
	File *source.File
}

// State is one field of the workflow's state.
type State struct {
	Name  Ident
	Type  *schema.Type
	Init  *schema.Default // nil: the zero state of its type, see check
	Merge Merge
	Group string // of an open field: one of Workflow.Groups, as state.Group.Name; empty: state.Name
	Open  bool   // Type is what functions of a dialect hold writes to: the value itself is dynamic, and absent until it is written
	Loose bool   // of an open field: Type only describes what is written to it
	Given bool   // of an open field: it begins as the input of its name
	Span  source.Span

	GoName string // set by check where it cannot be made from Name
}

// Path is the field as expressions read it, without `state.`.
func (s *State) Path() string {
	if s.Group != "" {
		return s.Group + "." + s.Name.Name
	}
	return s.Name.Name
}

// StateField is the state field of a path; nil when there is none.
func (w *Workflow) StateField(name string) *State {
	for _, s := range w.State {
		if s.Path() == name {
			return s
		}
	}
	return nil
}

// Merge says what `set:` does to a state field that has a value.
type Merge struct {
	Kind    MergeKind
	Reducer *GoFunc // MergeReducer
	Span    source.Span
}

// MergeKind is the rule of a state field.
type MergeKind uint8

// The rules: the last write wins (default), lists grow, a second write is an error, or a Go function decides.
const (
	MergeLast MergeKind = iota
	MergeAppend
	MergeSetOnce
	MergeReducer
	MergeSum // of an open field: what is written is added to it
)

// Output is one field of the workflow's result.
type Output struct {
	Name        Ident
	Type        *schema.Type // nil: inferred from Value
	Description string
	Omit        bool // it is left out of JSON where it has no value
	Value       Value
	Span        source.Span
}

// Secret is a named secret and the scopes it may come from, in order.
type Secret struct {
	Name Ident
	From []string // user, workspace, org
}

// Server is an MCP server.
type Server struct {
	Name    Ident
	Command []string
	Env     []EnvVar
	URL     string
	Auth    *Auth
	Span    source.Span
}

// Auth is how a tool or a server authenticates; the value is the name of a secret.
type Auth struct {
	Kind   string // bearer, basic, header
	Secret Ident
	Header string
}

// AgentDecl is an agent under `agents:`.
type AgentDecl struct {
	Name  Ident
	Agent Agent
	Span  source.Span
}

// Unbounded is the MaxIterations or MaxToolCalls of an agent that says so.
const Unbounded = -1

// Policy bounds what a run may do; absent bounds have the defaults of Agent Tools 6.1.
type Policy struct {
	MaxIterations, MaxToolCalls, MaxTokens *int64
	MaxCostUSD                             string
	MaxTime                                *Duration // of the work of a run; nil: none
	NoModels                               bool      // asks: deny
	Effects                                []Effects
	Grants                                 []string
	NetAllow                               []string
	EnvironmentProxy                       bool // net: {proxy: environment}
	SandboxMin                             string
	SandboxSpan                            source.Span
	Span                                   source.Span
}

// Defaults apply to every node that does not say otherwise.
type Defaults struct {
	Timeout *Duration
	OnError *OnError
	Retry   *Retry
	Journal *Journaling // nil: as whoever runs the workflow says
}

// Journaling says how runs are recorded.
type Journaling struct {
	Dir  string // slash-separated, below the working directory; empty: not written
	Sync string // off, buffered, effect; empty: not written
	Span source.Span
}

// Doubt says what a resumed run does with a call that had begun and has no result.
type Doubt struct {
	Policy string          // fail, retry_with_key, ask, assume_done
	Value  Value           // the result of assume_done, a constant; nil: none is written
	JSON   *schema.Default // the same as JSON
	Span   source.Span
}

// A Duration with its place.
type Duration struct {
	Value time.Duration
	Span  source.Span
}

const (
	// DefaultTimeout bounds one attempt of a call for which nothing is written, as at run time.
	DefaultTimeout = 5 * time.Minute
	// UnboundedTime is the Value of a Duration that is written as `unbounded`.
	UnboundedTime time.Duration = -1
)

// Effects is what calling a tool does to the world.
type Effects uint8

// From harmless to irrevocable. Reads is also what Agent Tools calls 'reads'; its 'writes' is Writes or External.
const (
	EffectsUnset Effects = iota
	EffectsNone
	EffectsReads
	EffectsWrites
	EffectsExternal
	EffectsAsks // of models: allowed unless a policy says `asks: deny`. No tool has it
)

func (e Effects) String() string {
	return [...]string{"", "none", "reads", "writes", "external", "asks"}[e]
}
