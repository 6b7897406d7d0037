package sirenspec

import (
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// What the translated workflows call: the engine in package runtime/sirenspec. The functions of conditions are in
// functions_when.go.

const enginePath = schema.RuntimePath + "/sirenspec"

var (
	dynType, textType, boolType, intType = schema.DynamicType, schema.StringType, schema.BoolType, schema.IntType

	texts        = schema.ListOf(textType)
	flowType     = schema.PointerTo(schema.OpaqueOf(enginePath, "Flow"))
	errorType    = &schema.Type{Kind: schema.Opaque, Go: &schema.Go{Name: "error"}}
	statusType   = &schema.Type{Kind: schema.Enum, Values: []string{"success", "failed"}}
	policyType   = schema.OpaqueOf(enginePath, "Policy", fieldOf("retries", dialect.GoInt), fieldOf("skip", boolType))
	partType     = schema.OpaqueOf(enginePath, "Part")
	templateType = listNamed("Template", partType)
	contentType  = schema.OpaqueOf(enginePath, "Content")
	argType      = schema.OpaqueOf(enginePath, "Arg", fieldOf("name", textType), fieldOf("value", contentType))
	headerType   = schema.OpaqueOf(enginePath, "Header", fieldOf("name", textType), fieldOf("value", templateType))
	requestType  = schema.OpaqueOf(enginePath, "Request", fieldOf("method", textType), fieldAs("url", "URL", templateType), fieldOf("headers", schema.ListOf(headerType)), fieldOf("body", templateType), fieldOf("timeout", intType))

	guardType   = &schema.Type{Kind: schema.Opaque, Go: &schema.Go{Path: enginePath, Name: "Guard"}, Func: &schema.Signature{Params: []*schema.Type{textType, boolType}, Result: textType, Fails: true}}
	actionType  = schema.OpaqueOf(enginePath, "Action")
	piiType     = schema.OpaqueOf(enginePath, "PII", fieldOf("entities", texts), fieldOf("action", actionType), fieldOf("instead", textType))
	backoffType = schema.OpaqueOf(enginePath, "Backoff")
	retryType   = schema.OpaqueOf(enginePath, "Retry", fieldOf("attempts", dialect.GoInt), fieldOf("backoff", backoffType), fieldOf("base", schema.DurationType), fieldOf("most", schema.DurationType),
		fieldOf("jitter", boolType), fieldOf("on", texts), fieldOf("guards", boolType))
	promptType = schema.OpaqueOf(enginePath, "Prompt", fieldOf("system", templateType), fieldOf("guards", schema.ListOf(guardType)), fieldOf("retry", retryType))
	answerType = schema.OpaqueOf(enginePath, "Answer", fieldOf("text", textType), fieldAs("ok", "OK", boolType))

	voiceType = schema.OpaqueOf(enginePath, "Voice", fieldAs("id", "ID", textType), fieldOf("node", dialect.NodeType), fieldOf("model", dialect.ModelType), fieldOf("prompt", templateType),
		fieldOf("guards", schema.ListOf(guardType)))
	voicesType = schema.OpaqueOf(enginePath, "Voices", fieldOf("agents", schema.ListOf(voiceType)), fieldOf("side", dialect.GoInt), fieldOf("keep", boolType), fieldOf("flow", flowType),
		fieldOf("last", schema.FuncOf(&schema.Signature{Result: voiceType})))
	instanceType = schema.OpaqueOf(enginePath, "Instance", fieldOf("item", dynType), fieldOf("index", dynType), fieldOf("total", dynType), fieldOf("inputs", dynType))
	itemsType    = schema.OpaqueOf(enginePath, "Items")
	factoryType  = schema.OpaqueOf(enginePath, "FactorySpec", fieldOf("items", itemsType), fieldOf("keep", boolType), fieldOf("flow", flowType), fieldOf("limit", schema.DurationType),
		fieldOf("inputs", schema.FuncOf(&schema.Signature{Params: []*schema.Type{instanceType}, Result: schema.ListOf(argType)})),
		fieldOf("make", schema.FuncOf(&schema.Signature{Params: []*schema.Type{dialect.RunType, instanceType}, Result: dynType, Fails: true})))

	exceededType = schema.OpaqueOf(enginePath, "Exceeded")
	budgetType   = schema.OpaqueOf(enginePath, "Budget", fieldOf("tokens", intType), fieldAs("usd", "USD", intType), fieldOf("duration", schema.DurationType), fieldOf("exceeded", exceededType), fieldOf("declared", boolType))

	// What the tools of the engine take: nothing is known of it where a stand-in answers for them.
	callType         = &schema.Type{Kind: schema.Any, Go: &schema.Go{Path: enginePath, Name: "Call"}}
	recollectionType = &schema.Type{Kind: schema.Any, Go: &schema.Go{Path: enginePath, Name: "Recollection"}}

	valueTool, requestTool, memoryTool = dialect.ToolOf(schema.AnyType, schema.AnyType), dialect.ToolOf(callType, schema.AnyType), dialect.ToolOf(recollectionType, schema.AnyType)

	onChoice = schema.FuncOf(&schema.Signature{Params: []*schema.Type{dialect.RunType, textType, schema.PointerTo(schema.OpaqueOf(schema.ValuePath, "Args"))}, Result: schema.AnyType, Fails: true})
	onChild  = schema.FuncOf(&schema.Signature{Params: []*schema.Type{dialect.RunType, dynType}, Result: dynType, Fails: true})
)

var (
	fnNew     = function("New", expr.Func{Result: flowType, Pure: true}, textType)
	fnInner   = function("Inner", expr.Func{Result: flowType, Pure: true}, dialect.RunType)
	fnMessage = method("Message", expr.Func{Result: textType, Pure: true}, flowType)
	fnStatus  = function("Status", expr.Func{Result: statusType, Pure: true}, errorType)
	fnFailure = function("Failure", expr.Func{Result: dynType, Pure: true}, errorType)
	fnLoadEnv = function("LoadEnv", expr.Func{Fails: true}, textType)
	fnText    = function("Text", expr.Func{Result: textType, Pure: true}, schema.AnyType)

	fnSet   = function("Set", expr.Func{Variadic: true}, schema.PointerTo(dynType), dynType, textType)
	fnWrote = method("Wrote", expr.Func{Variadic: true}, flowType, schema.PointerTo(dynType), textType, textType)
	fnGave  = method("Gave", expr.Func{Variadic: true}, flowType, schema.PointerTo(dynType), dynType, textType)

	fnAsk      = method("Ask", expr.Func{Result: textType, Fails: true}, flowType, dialect.RunType, dialect.NodeType, dialect.ModelType, promptType)
	fnAttempt  = method("Attempt", expr.Func{Result: answerType, Fails: true}, flowType, dialect.RunType, dialect.NodeType, dialect.ModelType, promptType)
	fnPython   = method("Python", expr.Func{Variadic: true, Result: dynType, Fails: true}, flowType, dialect.RunType, dialect.NodeType, valueTool, policyType, textType, argType)
	fnHTTP     = method("HTTP", expr.Func{Result: dynType, Fails: true}, flowType, dialect.RunType, dialect.NodeType, requestTool, policyType, requestType)
	fnChoose   = method("Choose", expr.Func{Variadic: true, Result: dynType, Fails: true}, flowType, dialect.RunType, dialect.NodeType, onChoice, policyType, templateType, argType)
	fnChild    = method("Child", expr.Func{Variadic: true, Result: dynType, Fails: true}, flowType, dialect.RunType, dialect.NodeType, onChild, argType)
	fnPerson   = function("Person", expr.Func{Result: textType, Fails: true}, dialect.RunType, dialect.NodeType, templateType)
	fnPersonOr = function("PersonOr", expr.Func{Result: textType, Fails: true}, dialect.RunType, dialect.NodeType, templateType, textType)
	fnSwarm    = function("Swarm", expr.Func{Result: dynType, Fails: true}, dialect.RunType, dialect.NodeType, schema.PointerTo(dynType), voicesType)
	fnFactory  = function("Factory", expr.Func{Result: dynType, Fails: true}, dialect.RunType, dialect.NodeType, schema.PointerTo(dynType), factoryType)

	fnInstanceAsk   = method("Ask", expr.Func{Result: dynType, Fails: true}, instanceType, dialect.RunType, dialect.NodeType, dialect.ModelType, promptType)
	fnInstanceSwarm = method("Swarm", expr.Func{Result: dynType, Fails: true}, instanceType, dialect.RunType, dialect.NodeType, schema.PointerTo(dynType), voicesType)
	fnInstanceGiven = method("Given", expr.Func{Result: partType, Pure: true}, instanceType, textType)

	fnConstant     = function("Constant", expr.Func{Result: itemsType, Pure: true}, dynType)
	fnEach         = function("Each", expr.Func{Result: itemsType, Pure: true}, textType, partType)
	fnEachUpstream = function("EachUpstream", expr.Func{Result: itemsType, Pure: true}, textType, partType)
	fnParsed       = function("Parsed", expr.Func{Result: itemsType, Pure: true}, textType, templateType)
	fnTimes        = function("Times", expr.Func{Result: itemsType, Pure: true}, textType, templateType)
	fnCount        = function("Count", expr.Func{Result: itemsType, Pure: true}, intType)

	fnLimit   = method("Limit", expr.Func{Variadic: true}, flowType, dialect.RunType, budgetType)
	fnWithin  = method("Within", expr.Func{Fails: true}, flowType, dialect.RunType, dialect.NodeType)
	fnOver    = method("Over", expr.Func{Result: boolType, Pure: true}, flowType)
	fnTotals  = method("Totals", expr.Func{Result: dynType, Pure: true}, flowType)
	fnSpent   = method("Spent", expr.Func{Result: dynType, Pure: true}, flowType)
	cWarn     = constant("Warn", exceededType)
	cSkipRest = constant("SkipRemaining", exceededType)

	fnRecall   = function("Recall", expr.Func{Result: dynType, Fails: true}, dialect.RunType, dialect.NodeType, memoryTool)
	fnRemember = function("Remember", expr.Func{Fails: true}, dialect.RunType, dialect.NodeType, memoryTool, dynType, textType)
	fnMemory   = function("Memory", expr.Func{Result: memoryTool, Pure: true}, textType, textType, intType)
	fnRequest  = function("HTTP", expr.Func{Result: requestTool, Pure: true}, textType, dialect.EffectsType, textType)

	fnLit    = function("Lit", expr.Func{Result: partType, Pure: true}, textType)
	fnRef    = function("Ref", expr.Func{Result: partType, Pure: true}, textType, dynType)
	fnGiven  = function("Given", expr.Func{Result: partType, Pure: true}, textType, dynType)
	fnAs     = method("As", expr.Func{Result: partType, Pure: true}, partType, textType)
	fnOr     = method("Or", expr.Func{Result: partType, Pure: true}, partType, textType)
	fnOrJSON = method("OrJSON", expr.Func{Result: partType, Pure: true}, partType, textType)
	fnEnv    = function("Env", expr.Func{Result: partType, Pure: true, Env: true}, textType)
	fnEnvOr  = function("EnvOr", expr.Func{Result: partType, Pure: true, Env: true}, textType, textType)

	fnConst  = function("Const", expr.Func{Result: contentType, Pure: true}, dynType)
	fnFilled = function("Filled", expr.Func{Variadic: true, Result: contentType, Pure: true}, partType)
	fnList   = function("List", expr.Func{Variadic: true, Result: contentType, Pure: true}, contentType)
	fnMap    = function("Map", expr.Func{Variadic: true, Result: contentType, Pure: true}, argType)

	cEnvironment = constant("Environment", schema.FuncOf(&schema.Signature{Params: []*schema.Type{schema.AnyType}, Result: schema.AnyType, Fails: true}))

	cInjection     = constant("Injection", schema.FuncOf(guardType.Func))
	fnLength       = function("Length", expr.Func{Result: guardType, Pure: true}, dialect.GoInt)
	fnLengthOrFail = function("LengthOrFail", expr.Func{Result: guardType, Pure: true}, dialect.GoInt)
	fnSchema       = function("Schema", expr.Func{Result: guardType, Pure: true}, textType)
	fnGuard        = method("Guard", expr.Func{Result: guardType, Pure: true}, piiType)
	cBlock         = constant("Block", actionType)
	cFlag          = constant("Flag", actionType)
	cLinear        = constant("Linear", backoffType)
	cExponential   = constant("Exponential", backoffType)
)

// functionTable are all of these.
var functionTable = append([]*expr.Func{fnNew, fnInner, fnMessage, fnStatus, fnFailure, fnLoadEnv, fnText, fnSet, fnWrote, fnGave, fnAsk, fnAttempt, fnPython, fnHTTP, fnChoose, fnChild, fnPerson, fnPersonOr,
	fnSwarm, fnFactory, fnInstanceAsk, fnInstanceSwarm, fnInstanceGiven, fnConstant, fnEach, fnEachUpstream, fnParsed, fnTimes, fnCount, fnLimit, fnWithin, fnOver, fnTotals, fnSpent, cWarn, cSkipRest,
	fnRecall, fnRemember, fnMemory, fnRequest, fnLit, fnRef, fnGiven, fnAs, fnOr, fnOrJSON, fnEnv, fnEnvOr, fnConst, fnFilled, fnList, fnMap,
	cEnvironment, cInjection, fnLength, fnLengthOrFail, fnSchema, fnGuard, cBlock, cFlag, cLinear, cExponential}, conditionFunctions()...)

func function(name string, f expr.Func, params ...*schema.Type) *expr.Func {
	return dialect.Declare(enginePath, name, f, params...)
}

func method(name string, f expr.Func, params ...*schema.Type) *expr.Func {
	f.Method = true
	return function(name, f, params...)
}

func constant(name string, t *schema.Type) *expr.Func {
	return function(name, expr.Func{Const: true, Result: t, Pure: true})
}

func fieldOf(name string, t *schema.Type) *schema.Field { return &schema.Field{Name: name, Type: t} }

// fieldAs is a field whose name in Go is not made of its own.
func fieldAs(name, goName string, t *schema.Type) *schema.Field {
	return &schema.Field{Name: name, GoName: goName, Type: t}
}

// listNamed is a list that has a type of its own in Go.
func listNamed(name string, elem *schema.Type) *schema.Type {
	t := *schema.ListOf(elem)
	t.Go = &schema.Go{Path: enginePath, Name: name}
	return &t
}
