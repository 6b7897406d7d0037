package openexpertise

import (
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// What the translated workflows call: the engine in package runtime/openexpertise.

const (
	enginePath = schema.RuntimePath + "/openexpertise"
	sqlitePath = enginePath + "/sqlite"
	webPath    = enginePath + "/web"
)

var (
	flowType    = schema.PointerTo(schema.OpaqueOf(enginePath, "Flow"))
	policyType  = schema.OpaqueOf(enginePath, "Policy")
	endedType   = schema.OpaqueOf(enginePath, "Ended", &schema.Field{Name: "edge", Type: schema.DynamicType})
	errorType   = &schema.Type{Kind: schema.Opaque, Go: &schema.Go{Name: "error"}}
	statusType  = &schema.Type{Kind: schema.Enum, Values: []string{"success", "partial", "failed"}}
	requestType = schema.OpaqueOf(webPath, "Request", &schema.Field{Name: "method", Type: schema.StringType}, &schema.Field{Name: "url", GoName: "URL", Type: schema.StringType},
		&schema.Field{Name: "body", Type: schema.StringType}, &schema.Field{Name: "json", GoName: "JSON", Type: schema.BoolType})

	dyn, text = schema.DynamicType, schema.StringType

	valueTool, rowsTool, textTool = dialect.ToolOf(schema.AnyType, schema.AnyType), dialect.ToolOf(schema.EmptyType, schema.AnyType), dialect.ToolOf(schema.EmptyType, text)

	onItem  = schema.FuncOf(&schema.Signature{Params: []*schema.Type{dialect.RunType, flowType, dyn, schema.IntType}, Result: endedType, Fails: true})
	onText  = schema.FuncOf(&schema.Signature{Params: []*schema.Type{text}, Result: schema.AnyType, Fails: true})
	asText  = schema.FuncOf(&schema.Signature{Result: text, Fails: true})
	asValue = schema.FuncOf(&schema.Signature{Result: schema.AnyType, Fails: true})
	asChild = schema.FuncOf(&schema.Signature{Result: dyn, Fails: true})
)

var (
	fnNew   = function("New", expr.Func{Variadic: true, Result: flowType}, dialect.SlotType)
	fnLoose = method("Loose", expr.Func{Result: flowType, Pure: true}, flowType)
	fnAside = method("Aside", expr.Func{Result: flowType, Pure: true}, flowType)
	fnItems = method("Items", expr.Func{Result: schema.ListOf(schema.AnyType), Fails: true}, flowType, dialect.RunType, dialect.NodeType, dyn)
	fnJoin  = method("Join", expr.Func{Variadic: true, Fails: true}, flowType, dialect.RunType, schema.PointerTo(endedType))

	fnTool     = node("Tool", valueTool, policyType, dyn)
	fnDataset  = node("Dataset", rowsTool, policyType, text)
	fnResponse = node("Response", textTool, policyType, text, onText)
	fnEach     = node("Each", policyType, dyn, onItem)
	fnText     = node("Text", policyType, text, asText)
	fnValues   = node("Values", policyType, schema.BytesType, asValue)
	fnChild    = node("Child", policyType, asChild)
	fnBound    = function("Bound", expr.Func{Variadic: true, Result: endedType, Fails: true}, flowType, dialect.RunType, dialect.NodeType, dialect.ToolType, policyType, dialect.EntryType)

	fnOK            = method("OK", expr.Func{Result: schema.BoolType, Pure: true}, endedType)
	fnStatus        = method("Status", expr.Func{Result: statusType, Pure: true}, flowType, errorType)
	fnStatusOfWaves = method("StatusOfWaves", expr.Func{Result: statusType, Pure: true}, flowType, errorType, dialect.GoInt)

	fnFail  = function("Fail", expr.Func{Const: true, Result: policyType, Pure: true})
	fnSkip  = function("Skip", expr.Func{Const: true, Result: policyType, Pure: true})
	fnRetry = function("Retry", expr.Func{Result: policyType, Pure: true}, dialect.GoInt, schema.DurationType, schema.BoolType)

	fnFill    = function("Fill", expr.Func{Result: text, Pure: true}, dyn, text)
	fnOr      = function("Or", expr.Func{Result: dyn, Pure: true}, dyn, dyn)
	fnLength  = function("Length", expr.Func{Result: dyn, Pure: true}, dyn)
	fnUnwrap  = function("Unwrap", expr.Func{Result: schema.AnyType, Fails: true, Pure: true}, text)
	fnArray   = function("Array", expr.Func{Result: schema.AnyType, Fails: true, Pure: true}, text)
	fnWrapped = function("Wrapped", expr.Func{Result: schema.AnyType, Fails: true, Pure: true}, text)

	fnFile  = function("File", expr.Func{Result: rowsTool, Pure: true}, text, text, text)
	fnRows  = dialect.Declare(sqlitePath, "Rows", expr.Func{Result: rowsTool, Pure: true}, text, text, text)
	fnFetch = dialect.Declare(webPath, "Fetch", expr.Func{Result: textTool, Pure: true}, text, dialect.EffectsType, requestType)
)

// metrics is not a function that workflows call, but one that their tools name.
var metrics = &expr.Func{Path: enginePath, Name: "Metrics"}

// functions are all of these.
var functions = []*expr.Func{fnNew, fnLoose, fnAside, fnItems, fnJoin, fnTool, fnDataset, fnResponse, fnEach, fnText, fnValues, fnChild, fnBound, fnOK, fnStatus, fnStatusOfWaves,
	fnFail, fnSkip, fnRetry, fnFill, fnOr, fnLength, fnUnwrap, fnArray, fnWrapped, fnFile, fnRows, fnFetch}

func function(name string, f expr.Func, params ...*schema.Type) *expr.Func {
	return dialect.Declare(enginePath, name, f, params...)
}

func method(name string, f expr.Func, params ...*schema.Type) *expr.Func {
	f.Method = true
	return function(name, f, params...)
}

// node is a method that runs a node.
func node(name string, params ...*schema.Type) *expr.Func {
	return method(name, expr.Func{Result: endedType, Fails: true}, append([]*schema.Type{flowType, dialect.RunType, dialect.NodeType}, params...)...)
}
