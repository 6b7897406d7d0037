package dialect

import (
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// The functions and types that dialects share. A dialect has a table of its own besides, which names all that its
// workflows can call: Language.Functions.

const (
	jsPath   = schema.DynamicPath + "/js"
	mcpPath  = schema.RuntimePath + "/mcptool"
	httpPath = schema.RuntimePath + "/httptool"
)

// Types of the runtime.
var (
	RunType     = schema.PointerTo(schema.OpaqueOf(schema.FlowPath, "Run"))
	NodeType    = schema.PointerTo(schema.OpaqueOf(schema.FlowPath, "Node"))
	ToolType    = schema.PointerTo(schema.OpaqueOf(schema.FlowPath, "Tool")) // of any input and output
	EffectsType = schema.OpaqueOf(schema.FlowPath, "Effects")
	SlotType    = schema.OpaqueOf(schema.DynamicPath, "Slot")
	EntryType   = schema.OpaqueOf(schema.DynamicPath, "Entry")

	ModelType  = schema.PointerTo(schema.OpaqueOf(schema.ModelPath, "Model"))
	AnswerType = schema.PointerTo(schema.OpaqueOf(schema.ModelPath, "Schema", &schema.Field{Name: "json", GoName: "JSON", Type: schema.BytesType}))
	PromptType = schema.OpaqueOf(schema.ModelPath, "Prompt", &schema.Field{Name: "system", Type: schema.StringType}, &schema.Field{Name: "text", Type: schema.StringType})
	FormatType = schema.OpaqueOf(schema.ModelPath, "Format", &schema.Field{Name: "schema", Type: AnswerType})

	ServerType = schema.PointerTo(schema.OpaqueOf(mcpPath, "Server"))
	ReachType  = schema.OpaqueOf(httpPath, "Option")

	GoInt = &schema.Type{Kind: schema.Int, Go: &schema.Go{Name: "int"}}
)

// ToolOf is the type of a tool of an input and an output.
func ToolOf(in, out *schema.Type) *schema.Type {
	t := schema.PointerTo(ToolType)
	t.Go.Args = []*schema.Type{in, out}
	return t
}

// Declare makes a Func of a package: f says what it is besides its name and parameters.
func Declare(path, name string, f expr.Func, params ...*schema.Type) *expr.Func {
	f.Path, f.Name, f.Params = path, name, params
	return &f
}

// Dynamic data.
var (
	At      = Declare(schema.DynamicPath, "At", expr.Func{Method: true, Variadic: true, Result: schema.DynamicType, Pure: true}, schema.DynamicType, schema.StringType)
	Value   = Declare(schema.DynamicPath, "Value", expr.Func{Method: true, Result: schema.AnyType, Pure: true}, schema.DynamicType)
	Put     = Declare(schema.DynamicPath, "Put", expr.Func{Result: EntryType, Pure: true}, schema.StringType, schema.DynamicType)
	Present = Declare(schema.DynamicPath, "Present", expr.Func{Method: true, Result: schema.BoolType, Pure: true}, schema.DynamicType)
)

// Absent is a value that is missing.
func Absent() *expr.Node { return expr.Struct(schema.DynamicType) }

// JavaScript's operators on dynamic data.
var (
	JSTrue   = js("True", schema.BoolType, schema.DynamicType)
	JSLength = js("Length", schema.DynamicType, schema.DynamicType)
	JSIndent = js("Indent", schema.StringType, schema.DynamicType)
	JSAt     = Declare(jsPath, "At", expr.Func{Variadic: true, Result: schema.DynamicType, Pure: true}, schema.DynamicType, schema.StringType)

	JSCompare = map[string]*expr.Func{
		"==": compare("Equal"), "!=": compare("NotEqual"), "<": compare("Less"), "<=": compare("LessOrEqual"), ">": compare("Greater"), ">=": compare("GreaterOrEqual"),
	}
)

func js(name string, result *schema.Type, params ...*schema.Type) *expr.Func {
	return Declare(jsPath, name, expr.Func{Result: result, Pure: true}, params...)
}

func compare(name string) *expr.Func {
	return js(name, schema.BoolType, schema.DynamicType, schema.DynamicType)
}

// Tools that dialects make.
var (
	MCPLocal    = Declare(mcpPath, "Local", expr.Func{Variadic: true, Result: ServerType, Pure: true}, schema.StringType, schema.ListOf(schema.StringType), schema.StringType)
	MCPRemote   = Declare(mcpPath, "Remote", expr.Func{Variadic: true, Result: ServerType, Pure: true}, schema.StringType, schema.StringType, ReachType)
	MCPResource = Declare(mcpPath, "Resource", expr.Func{Result: ToolOf(schema.EmptyType, schema.StringType), Pure: true}, schema.StringType, ServerType, schema.StringType)
	AllowHosts  = Declare(httpPath, "Allow", expr.Func{Variadic: true, Result: ReachType, Pure: true}, schema.StringType)
	Reads       = Declare(schema.FlowPath, "Reads", expr.Func{Const: true, Result: EffectsType, Pure: true})
	External    = Declare(schema.FlowPath, "External", expr.Func{Const: true, Result: EffectsType, Pure: true})
)

// Call is the call of a tool with an input and an output.
func Call(in, out *schema.Type) *expr.Func {
	return Declare(schema.FlowPath, "Call", expr.Func{Result: out, Fails: true}, RunType, NodeType, ToolOf(in, out), in)
}

// Ask is the question of a model whose answer has a type.
func Ask(out *schema.Type) *expr.Func {
	return Declare(schema.ModelPath, "Ask", expr.Func{TypeArgs: []*schema.Type{out}, Result: out, Fails: true}, RunType, NodeType, ModelType, PromptType, FormatType)
}

// Functions are all of these.
func Functions() []*expr.Func {
	all := []*expr.Func{At, Value, Present, JSTrue, JSLength, JSIndent, JSAt, MCPLocal, MCPRemote, MCPResource, AllowHosts, Reads, External,
		Call(schema.AnyType, schema.StringType), Ask(schema.StringType)}
	for _, f := range JSCompare {
		all = append(all, f)
	}
	return all
}
