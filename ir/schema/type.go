// Package schema is flowgen's type lattice: what values a workflow can hold, when one may be where another is asked
// for, and how each is written in the native language.
package schema

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// Kind is the shape of a type.
type Kind uint8

// The kinds. Invalid is the poison type: it is where an earlier mistake was reported, fits everywhere, and is never
// reported again.
const (
	Invalid Kind = iota
	Any          // a dynamic value: value.Value in Go
	Null         // only the literal null
	Bool
	Int // 64 bits
	Float
	String
	Bytes
	Time
	Duration
	List   // Elem
	Map    // string keys, Elem
	Opt    // Elem or absent
	Enum   // one of Values
	Struct // Fields, in order
	Union  // one of Variants, by the field By; Fields are what all of them have: By

	Dynamic // a value whose type only a run knows; no text of a workflow can spell it
	Opaque  // a Go type of a runtime package, with the Fields that may be read; the same
)

// A Type is immutable once a declaration has been resolved; compare with Equal, not with ==.
type Type struct {
	Kind   Kind
	Elem   *Type
	Fields []*Field
	Values []string

	Variants []*Variant
	By       string // the field that says which of the Variants a value is

	// Decl is the declaration under `types:` that gave the type its name; nil for anonymous types and Go types.
	Decl *Decl

	// Go is how the type is written in Go when it is not the default for its kind: a type of the user's packages or of
	// the runtime, or a basic type such as int or float32.
	Go *Go

	Func *Signature // of an Opaque that is a function
	Open bool       // of a Struct: a field that it does not declare is absent, and no mistake; of Dynamic: Elem only describes what is written

	// Known says, for List, which optional fields of each item have a value, as a filter has proved: "url", "task.note". A
	// value with it is where one without is asked for, and not the other way round.
	Known []string

	// Why says, for Opt, why the value may be absent: "post may not have run here: only when plan.route is fix (12:5)".
	Why string
}

// A Variant is a struct that a Union can be. Its field By is an enum of one value: the Tag.
type Variant struct {
	Tag  string
	Type *Type
}

// A Decl is a named type of a workflow file.
type Decl struct {
	Name        string
	Description string
	Span        source.Span // of the name
	Type        *Type       // the declared type itself; its Decl points back here
}

// A Field is one field of a struct.
type Field struct {
	Name        string // as workflows and JSON spell it
	GoName      string // set for fields of Go types; else derived from Name
	Type        *Type
	Description string
	Span        source.Span // where it is declared; zero for Go types
	Default     *Default    // nil = none
	Omit        bool        // of an optional field: JSON leaves it out when it is absent, because null means something else
	Min, Max    *float64    // bounds of a number, or of a length
	Pattern     string      // RE2, for strings
}

// Required reports whether a value of the struct must have the field.
func (f *Field) Required() bool {
	return f.Default == nil && f.Type.Kind != Opt && f.Type.Kind != Dynamic
}

// A Default is a constant, converted from YAML to JSON by its own tag; check proves that it fits the field's type.
type Default struct {
	JSON string
	Span source.Span
}

// Go names a Go type.
type Go struct {
	Path    string  // import path; empty for predeclared types
	Package string  // the package's own name, when it is not the last element of Path
	Name    string  // type name: "SearchIn", "int"
	Args    []*Type // type arguments, for generic runtime types
	Ptr     bool    // values are passed as *T although they are not optional
}

// The types without parameters.
var (
	InvalidType  = &Type{Kind: Invalid}
	AnyType      = &Type{Kind: Any}
	NullType     = &Type{Kind: Null}
	BoolType     = &Type{Kind: Bool}
	IntType      = &Type{Kind: Int}
	FloatType    = &Type{Kind: Float}
	StringType   = &Type{Kind: String}
	BytesType    = &Type{Kind: Bytes}
	TimeType     = &Type{Kind: Time}
	DurationType = &Type{Kind: Duration}
	EmptyType    = &Type{Kind: Struct} // the result of a tool that returns nothing
)

// RuntimePath is the import path of the runtime, whose types some results have.
const RuntimePath = "github.com/flowgen-dev/flowgen/runtime"

// FlowPath is that of the package that generated code calls.
const FlowPath = RuntimePath + "/flow"

// ToolPath is that of the package for functions that are tools.
const ToolPath = RuntimePath + "/tool"

// CorePath is that of the package whose types the others are aliases of.
const CorePath = RuntimePath + "/core"

// ValuePath is that of the package of dynamic values and of the errors of tools.
const ValuePath = RuntimePath + "/value"

// Ours tells whether path is that of a package of the runtime whose types the compiler knows.
func Ours(path string) bool {
	return path == RuntimePath || path == FlowPath || path == ToolPath || path == ValuePath
}

// ErrorCodes are the nine codes of Agent Tools 3.4, in its order.
var ErrorCodes = []string{
	"VALIDATION_ERROR", "TIMEOUT", "RATE_LIMIT", "POLICY_DENIED", "AUTH_REQUIRED",
	"PROVIDER_ERROR", "NETWORK_ERROR", "SANDBOX_ERROR", "UNKNOWN",
}

// ErrorType is the type of `node.error`: Agent Tools 3.4.
var ErrorType = &Type{
	Kind: Struct,
	Go:   &Go{Path: ValuePath, Name: "ToolError"},
	Fields: []*Field{
		{Name: "code", GoName: "Code", Type: &Type{Kind: Enum, Values: ErrorCodes, Go: &Go{Path: ValuePath, Name: "Code"}}},
		{Name: "message", GoName: "Message", Type: StringType},
		{Name: "details", GoName: "Details", Type: AnyType},
		{Name: "retry_after_s", GoName: "RetryAfterS", Type: OptOf(FloatType, "the error suggests no wait")},
	},
}

// ListOf is list<t>.
func ListOf(t *Type) *Type { return &Type{Kind: List, Elem: t} }

// MapOf is map<t>.
func MapOf(t *Type) *Type { return &Type{Kind: Map, Elem: t} }

// OptOf is opt<t>; a nested optional is the same as a single one.
func OptOf(t *Type, why string) *Type {
	if t.Kind == Opt || t.Kind == Invalid {
		return t
	}
	return &Type{Kind: Opt, Elem: t, Why: why}
}

// EnumOf is enum<values...>.
func EnumOf(values ...string) *Type { return &Type{Kind: Enum, Values: values} }

// ItemOf is the result of one item of a map with `on_item_error: keep`.
func ItemOf(t *Type) *Type {
	return &Type{
		Kind: Struct,
		Go:   &Go{Path: FlowPath, Name: "Item", Args: []*Type{t}},
		Fields: []*Field{
			{Name: "value", GoName: "Value", Type: OptOf(t, "the item may have failed")},
			{Name: "error", GoName: "Error", Type: OptOf(ErrorType, "the item may have succeeded")},
		},
	}
}

// FailureType is one entry of `.failures` of a map with `on_item_error: skip`.
var FailureType = &Type{
	Kind: Struct,
	Go:   &Go{Path: FlowPath, Name: "Failure"},
	Fields: []*Field{
		{Name: "index", GoName: "Index", Type: &Type{Kind: Int, Go: &Go{Name: "int"}}},
		{Name: "error", GoName: "Error", Type: OptOf(ErrorType, "")},
	},
}

// ModelPath is the import path of what programs ask models with.
const ModelPath = RuntimePath + "/llm"

// MediaType is `media`: an image or a file that a model is shown.
var MediaType = &Type{
	Kind: Struct,
	Go:   &Go{Path: ModelPath, Name: "Media"},
	Fields: []*Field{
		{Name: "type", GoName: "Type", Type: StringType, Description: "such as image/png or application/pdf"},
		{Name: "name", GoName: "Name", Type: StringType, Default: &Default{JSON: `""`}, Description: "what the file is called"},
		{Name: "data", GoName: "Data", Type: BytesType, Default: &Default{JSON: `""`}, Description: "the content"},
		{Name: "url", GoName: "URL", Type: StringType, Default: &Default{JSON: `""`}, Description: "where it is, instead of the content"},
	},
}

// MessageType is `Message`: one message of a conversation, as texts go to and come from a model.
var MessageType = &Type{
	Kind: Struct,
	Go:   &Go{Path: ModelPath, Name: "Said"},
	Fields: []*Field{
		{Name: "role", GoName: "Role", Type: EnumOf("user", "assistant"), Description: "who said it"},
		{Name: "text", GoName: "Text", Type: StringType, Description: "what was said"},
	},
}

// AgentPath is the import path of what runs agents.
const AgentPath = RuntimePath + "/agent"

// EnvelopeType is the receipt of a call: Agent Tools 3.2.
var EnvelopeType = &Type{
	Kind: Struct,
	Go:   &Go{Path: AgentPath, Name: "Envelope"},
	Fields: []*Field{
		{Name: "call_id", GoName: "CallID", Type: StringType},
		{Name: "tool", GoName: "Tool", Type: StringType},
		{Name: "name", GoName: "Name", Type: StringType},
		{Name: "version", GoName: "Version", Type: StringType},
		{Name: "input", GoName: "Input", Type: AnyType},
		{Name: "output", GoName: "Output", Type: AnyType},
		{Name: "error", GoName: "Error", Type: OptOf(ErrorType, "the call may have succeeded")},
		{Name: "t_start", GoName: "TStart", Type: TimeType},
		{Name: "t_end", GoName: "TEnd", Type: TimeType},
		{Name: "cached", GoName: "Cached", Type: BoolType},
		{Name: "truncated", GoName: "Truncated", Type: BoolType},
		{Name: "attachments", GoName: "Attachments", Type: ListOf(&Type{
			Kind: Struct,
			Go:   &Go{Path: ToolPath, Name: "Attachment"},
			Fields: []*Field{
				{Name: "kind", GoName: "Kind", Type: StringType},
				{Name: "url", GoName: "URL", Type: StringType},
				{Name: "content_type", GoName: "ContentType", Type: StringType},
				{Name: "bytes", GoName: "Bytes", Type: IntType},
			},
		})},
	},
}

// AgentType is what an agent node returns: Agent Tools 3.1.
var AgentType = &Type{
	Kind: Struct,
	Go:   &Go{Path: AgentPath, Name: "Outputs"},
	Fields: []*Field{
		{Name: "response", GoName: "Response", Type: StringType},
		{Name: "tools_by_id", GoName: "ToolsByID", Type: MapOf(EnvelopeType)},
		{Name: "tool_order", GoName: "ToolOrder", Type: ListOf(StringType)},
		{Name: "last_tool", GoName: "LastTool", Type: OptOf(EnvelopeType, "no call may have succeeded")},
		{Name: "traces_url", GoName: "TracesURL", Type: OptOf(StringType, "the run may not be traced")},
	},
}

// Field returns the field with that name, or nil.
func (t *Type) Field(name string) *Field {
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// FieldNames lists the names in declaration order.
func (t *Type) FieldNames() []string {
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = f.Name
	}
	return names
}

// Leaf is what lists, maps and optionals of t hold at last; t itself, when it is none of them.
func (t *Type) Leaf() *Type {
	for t.Kind == Opt || t.Kind == List || t.Kind == Map {
		t = t.Elem
	}
	return t
}

// Present is the type without its optionality.
func (t *Type) Present() *Type {
	if t.Kind == Opt {
		return t.Elem
	}
	return t
}

var kindNames = [...]string{
	Invalid: "unknown", Any: "any", Null: "null", Bool: "bool", Int: "int", Float: "float", String: "string",
	Bytes: "bytes", Time: "time", Duration: "duration", List: "list", Map: "map", Opt: "opt", Enum: "enum", Struct: "struct", Union: "oneof",
	Dynamic: "a value whose type only a run knows", Opaque: "a value of a runtime package",
}

func (k Kind) String() string { return kindNames[k] }

// String is the type as the native language spells it; anonymous structs show their fields.
func (t *Type) String() string {
	if t == nil {
		return "nothing"
	}
	switch {
	case t.Decl != nil:
		return t.Decl.Name
	case t.Kind == Opaque:
		return opaqueName(t)
	case t.Kind == Dynamic && t.Elem != nil: // what is written is held to
		return t.Elem.String()
	case t.Go != nil && t.Go.Path == ValuePath && t.Go.Name == "ToolError":
		return "Error"
	case t.Go != nil && t.Go.Path == ModelPath && t.Go.Name == MediaType.Go.Name:
		return "media"
	case t.Go != nil && t.Go.Path == ModelPath:
		return "Message"
	case t.Go != nil && t.Go.Path != "" && !Ours(t.Go.Path) && t.Kind == Struct:
		return t.Go.Path[strings.LastIndexByte(t.Go.Path, '/')+1:] + "." + t.Go.Name
	}
	switch t.Kind {
	case List, Map, Opt:
		return t.Kind.String() + "<" + t.Elem.String() + ">"
	case Enum:
		return "enum<" + strings.Join(t.Values, "|") + ">"
	case Union:
		list := make([]string, len(t.Variants))
		for i, v := range t.Variants {
			list[i] = v.Tag + ": " + v.Type.String()
		}
		return "{oneof: {" + strings.Join(list, ", ") + "}, by: " + t.By + "}"
	case Struct:
		var b strings.Builder
		b.WriteByte('{')
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(f.Name + ": " + f.Type.String())
		}
		b.WriteByte('}')
		return b.String()
	}
	return t.Kind.String()
}
