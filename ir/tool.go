package ir

import (
	"path"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Tool is a declared tool: Agent Tools 3.3, with the permissions and replay policies of a ToolSpec. In and Out are what the
// declaration says; a binding that has a source of its own (Go) fills or narrows them.
type Tool struct {
	Name        Ident  // full name without version: "triage.diff", "acme.search"
	Version     string // "1"
	Key         Ident  // as declared
	Description string
	Effects     Effects
	EffectsSpan source.Span
	In          *schema.Type // struct; nil: not declared
	Out         *schema.Type // nil: not declared
	OutSpan     source.Span  // of its declaration
	Binding     Binding
	MaxOutput   int64     // bytes; 0 = default
	Approve     bool      // a user is asked before each call
	Timeout     *Duration // of one attempt; nil: DefaultTimeout, unless the node has one; Value UnboundedTime: none
	State       string    // "", active, deprecated, blocked
	Replay      string
	Permissions []string
	Sandbox     Ident // the tier asked for; empty: none; "native" when it says that there is none
	SandboxAt   Insertion
	Cache       string // none, ttl, forever
	CacheTTL    *Duration
	Rate        string
	Queue       string // of the workers that may make calls; empty: that of the workflow
	CostUSD     string
	Usage       *expr.Func // tells from an output what the call took; nil: the output does not say
	Category    string
	Tags        []string
	Auth        *Auth

	// Idempotency says that a repetition of a call can be told from a new one: by IdempotencyKey, text over the fields of
	// the input, or, when that is nil, by the call_id.
	Idempotency    bool
	IdempotencyKey *Template
	InDoubt        *Doubt // nil: fail
	Examples       []*Example

	Def  *Definition  // where a foreign function is defined; nil for other tools and until it is bound
	File *source.File // where it is declared: relative paths and commands start there
	Span source.Span
}

// An Insertion is where a key can be added to a declaration. The zero value is for languages without such a key.
type Insertion struct {
	At            source.Span // empty, before the first key
	Before, After string      // around the value
}

// FullName is name@version, by which envelopes and journals know the tool.
func (t *Tool) FullName() string { return t.Name.Name + "@" + t.Version }

// An Example is a call of a tool and what came back, checked against its schemas. ToolSpec: examples.
type Example struct {
	Description string
	In          Value           // an object; nil: no input
	Out         Value           // nil: not given
	InJSON      *schema.Default // the same as JSON
	OutJSON     *schema.Default
	Span        source.Span
}

// A Binding is what a tool runs as: exactly one of the types below.
type Binding interface{ binding() }

// GoTool is a Go function.
type GoTool struct{ Func *GoFunc }

// CommandTool is a process.
type CommandTool struct {
	Args   []*Template
	Shell  bool // Args[0] is a script for the shell, the rest its arguments
	Stdin  *Template
	Dir    *Template
	Env    []EnvVar
	Format Format
	Span   source.Span

	Inherit  bool // the command sees the entire environment
	Verbatim bool // text keeps its final line break
}

// EnvVar is one variable of a process: text, or the value of a secret.
type EnvVar struct {
	Name   Ident
	Value  *Template // nil when Secret is set
	Secret Ident     // the name of the secret
}

// Format is how a process's output becomes a value.
type Format uint8

// Text, a list of lines, strict JSON, or nothing.
const (
	FormatText Format = iota
	FormatLines
	FormatJSON
	FormatNone
)

// Param is a header or a parameter of a request: a Template; an Expr, which may be optional; or, as a parameter, several of them in
// a List, or an Expr that is one.
type Param struct {
	Name  Ident
	Value Value
	Join  string // what stands between the items of a list in one parameter; empty: the name is repeated
}

// HTTPTool is an HTTP request.
type HTTPTool struct {
	Method  string
	Base    Ident // the environment variable that URL goes on from; an empty name: URL is the whole
	URL     *Template
	Headers []Param
	Query   []Param
	Body    Value
	Span    source.Span

	HTMLText    bool // HTML comes as plain text
	RefuseExtra bool // fields of a response that out does not have are an error

	Document *OpenAPITool // the declaration that it was made of; nil: the request is written in the workflow

	Places   []*Template  // the fields in the URL, in its order; filled by check
	BodyType *schema.Type // of Body, nil for forms; filled by check
	Encoding BodyEncoding // filled by check
}

// OpenAPITool is an operation of an OpenAPI document. Bind makes an HTTPTool of it.
type OpenAPITool struct {
	Spec      Ident // the document's file
	Operation Ident // its operationId, or "GET /items"
	Base      Ident // the variable of the environment with the base URL; an empty name: the document says it
}

// Document is the file of the document, the same however it is written: spec.yaml for ./spec.yaml.
func (b *OpenAPITool) Document() string { return path.Clean(b.Spec.Name) }

// Ref is the operation with its document.
func (b *OpenAPITool) Ref() string { return b.Spec.Name + "#" + b.Operation.Name }

// SQLTool is a statement of SQL with bound parameters.
type SQLTool struct {
	DB      Ident       // the secret that holds the address of the database
	Engine  string      // sqlite or postgres
	Schema  Ident       // file or folder with the tables; an empty name: none
	Query   source.Text // as written, with {x} for the field x
	Rows    string      // many, one, or none when the statement returns no rows; bind fills what is not written
	RowsAt  source.Span
	MaxRows int64 // 0: the default

	// Filled by bind: what the engine is sent, and the fields that are bound to its parameters, in their order.
	Text   string
	Params []string

	Tables []*SQLTable // of the schema, filled by bind for those who write the statement; nil: they are not known
}

// SQLTable is a table or a view. A column that may be null is optional; one of no type holds anything.
type SQLTable struct {
	Name    string
	Columns []*schema.Field
}

// BodyEncoding is how a request's body is sent.
type BodyEncoding uint8

// Text as it is, JSON of a typed value, or the fields of a form.
const (
	BodyText BodyEncoding = iota
	BodyJSON
	BodyForm
)

// PythonTool is a Python function, "module:function".
type PythonTool struct {
	Ref  Ident
	Venv Ident // folder of its virtual environment, relative to the file's; empty: the active one

	// Free is for dialects whose engines import modules from their own working directory, with all variables of the
	// environment: the module is looked for there, next to the file and in the folders above it.
	Free bool
	Env  []string // environment variables that its arguments name
	Home string   // with Free: the folder, relative to the file's, that the module is in; empty: wherever it is

	Spare  *PythonModules // modules that stand in for those that are not installed; nil: none. A class has them
	Class  *PythonNode    // Ref is a class whose execute is called; nil: a function
	Filled *Expr          // a function that fills in the input right before the call; nil: none
}

// JSTool is a JavaScript or TypeScript module.
type JSTool struct {
	Path   Ident
	Engine string
	Bundle string // the module with all it imports, filled by bind
}

// MCPTool is a tool of an MCP server, "server/tool".
type MCPTool struct {
	Ref          Ident
	Server, Tool Ident // the parts of Ref; empty when it has no two

	// Filled by bind from flowgen.lock. Hash is empty for a tool that is not locked, and then Why says what is wrong, in
	// the words of a diagnostic with its help, the name that may be meant, and a place in the lock file.
	Hash, Parts string
	Result      MCPResult
	Open        bool // the result may have fields that its type does not have
	Why, Help   string
	Near        string
	Related     source.Span
	Reported    bool // the lock file itself is broken, which was said
}

// MCPResult is how the answer of a tool becomes a value.
type MCPResult uint8

// Its text, typed JSON, or a dynamic value.
const (
	MCPText MCPResult = iota
	MCPJSON
	MCPAny
)

// Slot is the word that stands for a Go function that is not named: `go: slot`.
const Slot = "slot"

// SlotTool is a function that the program brings which embeds the workflow: a method of the generated interface Slots.
type SlotTool struct {
	Name   Ident           // what it stands for, "pkg.module:Class" or the name of a tool: the method is named after its last part
	Config *schema.Default // what the method receives besides its input, as JSON; nil: nothing
	Told   *schema.Type    // of Config: one type for all tools of a name; nil: the method receives nothing
	Why    string          // why there is nothing else to run; empty: the file asks for a slot

	StandIn *string // the shell command that runs in place of it; nil: the program brings a function. "" fails when it is called
}

// StarlarkTool is a Starlark file.
type StarlarkTool struct {
	Path     Ident
	Function string // filled by bind
}

// WasmTool is a WebAssembly module that was compiled for WASI.
type WasmTool struct {
	Path   Ident // of the file
	Export Ident // the function that is called; an empty name: the module is a command, and its _start is
}

// Function is the name of the export that a call runs.
func (b *WasmTool) Function() string {
	if b.Export.Name == "" {
		return WasmCommand
	}
	return b.Export.Name
}

// Ref is the module and its export as the workflow names them.
func (b *WasmTool) Ref() string {
	if b.Export.Name == "" {
		return b.Path.Name
	}
	return b.Path.Name + "#" + b.Export.Name
}

// WasmCommand is the export that runs a module of WASI from its start to its end.
const WasmCommand = "_start"

func (*GoTool) binding()       {}
func (*CommandTool) binding()  {}
func (*HTTPTool) binding()     {}
func (*OpenAPITool) binding()  {}
func (*PythonTool) binding()   {}
func (*JSTool) binding()       {}
func (*MCPTool) binding()      {}
func (*StarlarkTool) binding() {}
func (*WasmTool) binding()     {}
func (*SQLTool) binding()      {}
func (*SlotTool) binding()     {}

// GoBinding is a Go function as go/packages found it.
type GoBinding struct {
	Path, Func string // import path and name
	Package    string // the package's own name
	Code       string // hash of the code, or its version; empty for the standard library and the runtime
	Doc        string
	Pos        string      // file:line:col, the file relative to the workflow's folder where it can be
	PosSpan    source.Span // the same with the file's text, for related snippets; may be zero

	Context  bool       // first parameter is a context.Context
	Params   []*GoParam // the others
	Struct   bool       // one parameter, a struct whose fields are the tool's input
	Variadic bool
	Out      *schema.Type // schema.EmptyType when there is none
	Err      bool         // the last result is an error
	In       *schema.Type // the tool's input: the struct, or one field per parameter
	Reducer  bool         // func(old, new T) T: usable as a merge rule

	Directives []Directive // what `//flowgen:tool` comments say, in their order
}

// A Directive is one `key=value` of a `//flowgen:tool` comment next to a Go function.
type Directive struct {
	Key, Value Ident
}

// GoParam is a parameter of a Go function.
type GoParam struct {
	Name string
	Type *schema.Type
}

// IsPython reports whether a tool is a Python function.
func IsPython(t *Tool) bool {
	_, python := t.Binding.(*PythonTool)
	return python
}
