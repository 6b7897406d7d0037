package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/jinja"
)

// What the translated graphs call: the engine in package runtime/yamlgraph.

const (
	enginePath = schema.RuntimePath + "/yamlgraph"
	pyPath     = schema.DynamicPath + "/py"

	shellPath   = enginePath + "/shell"
	copilotPath = enginePath + "/copilot"
	searchPath  = enginePath + "/websearch"
)

var (
	dynType, textType, boolType = schema.DynamicType, schema.StringType, schema.BoolType

	texts     = schema.ListOf(textType)
	flowType  = schema.PointerTo(schema.OpaqueOf(enginePath, "Flow"))
	nodesType = schema.ListOf(dialect.NodeType)
	valueTool = dialect.ToolOf(schema.AnyType, schema.AnyType)
	argsType  = schema.PointerTo(schema.OpaqueOf(schema.ValuePath, "Args"))

	providerType = schema.OpaqueOf(schema.ModelPath, "Provider")
	atType       = schema.FuncOf(&schema.Signature{Params: []*schema.Type{textType}, Result: providerType})
	paramsType   = schema.OpaqueOf(schema.ModelPath, "Params", fieldAs("temperature", "Temperature", schema.OptOf(schema.FloatType, "")), fieldAs("max_tokens", "MaxTokens", schema.OptOf(schema.IntType, "")))
	speakersType = schema.OpaqueOf(enginePath, "Speakers", fieldAs("openai", "OpenAI", atType), fieldAs("anthropic", "Anthropic", atType), fieldAs("gemini", "Gemini", atType))
	modelType    = schema.PointerTo(schema.OpaqueOf(enginePath, "Model"))

	failType      = schema.OpaqueOf(enginePath, "Fail")
	policyType    = schema.OpaqueOf(enginePath, "Policy")
	wayType       = schema.OpaqueOf(enginePath, "Way", fieldOf("label", textType), fieldOf("to", textType))
	routerType    = schema.PointerTo(schema.OpaqueOf(enginePath, "Router", fieldOf("field", textType), fieldOf("routes", schema.ListOf(wayType)), fieldOf("other", textType)))
	candidateType = schema.OpaqueOf(enginePath, "Candidate", fieldOf("provider", textType), fieldOf("model", textType), fieldOf("use", modelType))
	questionType  = schema.PointerTo(schema.OpaqueOf(enginePath, "Question", fieldOf("model", modelType), fieldOf("key", textType), fieldOf("schema", dialect.AnswerType), fieldOf("skip", boolType), fieldAs("skip_set", "SkipSet", boolType),
		fieldOf("limit", dialect.GoInt), fieldOf("requires", texts), fieldAs("json", "JSON", boolType), fieldOf("copilot", boolType), fieldOf("fail", failType), fieldOf("retries", dialect.GoInt),
		fieldOf("fallback", modelType), fieldOf("race", schema.ListOf(candidateType)), fieldOf("router", routerType)))
	makesPrompt  = &schema.Type{Kind: schema.Opaque, Go: &schema.Go{Path: enginePath, Name: "Prompt"}, Func: &schema.Signature{Result: dialect.PromptType, Fails: true}}
	variableType = schema.OpaqueOf(enginePath, "Variable", fieldOf("name", textType), fieldOf("value", dynType))
	agentType    = schema.PointerTo(schema.OpaqueOf(enginePath, "Agent", fieldOf("model", modelType), fieldOf("key", textType), fieldAs("max_iterations", "MaxIterations", dialect.GoInt), fieldOf("results", textType), fieldOf("fail", failType)))

	ruleType   = schema.OpaqueOf(enginePath, "Rule", fieldOf("check", textType), fieldOf("message", textType), fieldOf("fail", failType), fieldOf("tries", dialect.GoInt), fieldOf("holds", onOutput))
	onOutput   = schema.FuncOf(&schema.Signature{Params: []*schema.Type{dynType}, Result: boolType})
	rulesType  = schema.OpaqueOf(enginePath, "Rules", fieldOf("limit", dialect.GoInt), fieldOf("before", schema.ListOf(ruleType)), fieldOf("after", schema.ListOf(ruleType)))
	gatherType = schema.OpaqueOf(enginePath, "Gather", fieldOf("into", textType), fieldOf("as", textType), fieldOf("key", textType), fieldAs("max_items", "MaxItems", dialect.GoInt), fieldOf("failures", textType),
		fieldOf("least", dialect.GoInt), fieldOf("share", schema.FloatType), fieldOf("strict", boolType), fieldOf("fail", boolType), fieldOf("flat", boolType))
	choosingType = schema.OpaqueOf(enginePath, "Choosing", fieldOf("key", textType), fieldOf("stops", boolType), fieldOf("parsed", textType), fieldOf("graphs", texts))

	onChoice = &schema.Type{Kind: schema.Opaque, Go: &schema.Go{Path: enginePath, Name: "Choice"}, Func: &schema.Signature{Params: []*schema.Type{dialect.RunType, textType, argsType}, Result: schema.AnyType, Fails: true}}
	onItem   = schema.FuncOf(&schema.Signature{Params: []*schema.Type{dialect.RunType, dynType}, Result: schema.AnyType, Fails: true})
	onFlow   = schema.FuncOf(&schema.Signature{Params: []*schema.Type{dialect.RunType, flowType, dynType}, Fails: true})
	onChild  = schema.FuncOf(&schema.Signature{Result: dynType, Fails: true})
	onStep   = schema.FuncOf(&schema.Signature{Params: []*schema.Type{dialect.RunType, flowType, dialect.NodeType}, Fails: true})
	onExits  = schema.FuncOf(&schema.Signature{Params: []*schema.Type{dialect.NodeType}, Result: nodesType})
)

// Tools.
var (
	optionType  = schema.OpaqueOf(schema.FlowPath, "ToolOption")
	infoType    = schema.PointerTo(schema.OpaqueOf(schema.FlowPath, "Info"))
	parseType   = schema.OpaqueOf(shellPath, "Parse")
	commandType = schema.OpaqueOf(shellPath, "Command", fieldOf("script", textType), fieldOf("parse", parseType), fieldOf("dir", textType), fieldOf("env", texts), fieldOf("codes", schema.ListOf(dialect.GoInt)))
	programType = schema.OpaqueOf(copilotPath, "Program", fieldOf("backend", textType), fieldOf("model", textType), fieldOf("before", texts), fieldOf("after", texts), fieldOf("continue", boolType), fieldOf("here", boolType))
	onGraph     = schema.FuncOf(&schema.Signature{Params: []*schema.Type{dialect.RunType, dynType}, Result: dynType, Fails: true})

	fnShell   = binds(shellPath, "Bind", textType, dialect.EffectsType, commandType)
	fnProgram = binds(copilotPath, "Bind", textType, dialect.EffectsType, programType)
	fnSearch  = binds(searchPath, "Bind", textType, dialect.GoInt)
	fnGraph   = binds(enginePath, "GraphTool", textType, dialect.EffectsType, infoType, onGraph)
	parses    = map[string]*expr.Func{"json": constant(shellPath, "JSON", parseType), "none": constant(shellPath, "None", parseType)}
)

// binds is a function that makes a tool, whose gates are its last arguments.
func binds(path, name string, params ...*schema.Type) *expr.Func {
	return declare(path, name, expr.Func{Variadic: true, Result: valueTool, Pure: true}, append(params, optionType)...)
}

var functions []*expr.Func

// declare adds a function to the table.
func declare(path, name string, f expr.Func, params ...*schema.Type) *expr.Func {
	out := dialect.Declare(path, name, f, params...)
	functions = append(functions, out)
	return out
}

func function(name string, f expr.Func, params ...*schema.Type) *expr.Func {
	return declare(enginePath, name, f, params...)
}

// onNode is a method of a flow that runs a node.
func onNode(name string, params ...*schema.Type) *expr.Func {
	return function(name, expr.Func{Method: true, Fails: true}, append([]*schema.Type{flowType, dialect.RunType, dialect.NodeType}, params...)...)
}

func method(name string, f expr.Func, params ...*schema.Type) *expr.Func {
	f.Method = true
	return function(name, f, append([]*schema.Type{flowType}, params...)...)
}

func constant(path, name string, t *schema.Type) *expr.Func {
	return declare(path, name, expr.Func{Const: true, Result: t, Pure: true})
}

// pure is a function that changes nothing.
func pure(path, name string, result *schema.Type, params ...*schema.Type) *expr.Func {
	return declare(path, name, expr.Func{Result: result, Pure: true}, params...)
}

// calculates is a method of a flow that calculates: it keeps an error for the node that the value is an argument of.
func calculates(name string) *expr.Func {
	return method(name, expr.Func{Result: dynType, Pure: true}, dynType, dynType)
}

func fieldOf(name string, t *schema.Type) *schema.Field { return &schema.Field{Name: name, Type: t} }

// fieldAs is a field whose name in Go is not made of its own.
func fieldAs(name, goName string, t *schema.Type) *schema.Field {
	return &schema.Field{Name: name, GoName: goName, Type: t}
}

var (
	fnNew     = function("New", expr.Func{Variadic: true, Result: flowType, Pure: true}, dialect.SlotType)
	fnBound   = method("Bound", expr.Func{}, dialect.GoInt)
	fnStep    = function("Step", expr.Func{Method: true, Fails: true, Bounds: true}, flowType, dialect.RunType, dialect.NodeType)
	fnAside   = method("Aside", expr.Func{Result: flowType, Pure: true})
	fnJoin    = method("Join", expr.Func{Variadic: true}, flowType)
	fnEnd     = constant(enginePath, "End", textType)
	fnRoute   = method("Route", expr.Func{Variadic: true, Result: textType, Pure: true}, textType)
	fnStops   = method("StopAtEmpty", expr.Func{})
	fnNote    = method("Note", expr.Func{}, textType, textType)
	fnHalted  = method("Halted", expr.Func{Result: boolType, Pure: true})
	fnLimited = method("Limited", expr.Func{Result: boolType, Pure: true})
	fnTo      = function("To", expr.Func{Variadic: true, Result: nodesType, Pure: true}, dialect.NodeType)
	fnSteps   = method("Steps", expr.Func{Fails: true}, dialect.RunType, nodesType, onStep, onExits)
	fnLoadEnv = function("LoadEnv", expr.Func{Fails: true})

	fnSet             = method("Set", expr.Func{Variadic: true}, dialect.NodeType, dialect.EntryType)
	fnVerify          = function("Verify", expr.Func{Method: true, Variadic: true, Fails: true}, flowType, dialect.RunType, dialect.NodeType, ruleType)
	fnAsk             = onNode("Ask", questionType, makesPrompt)
	fnAgent           = onNode("Agent", agentType, makesPrompt)
	fnTool            = onNode("Tool", valueTool, textType, policyType, dynType)
	fnPython          = onNode("Python", valueTool, textType, policyType, dynType)
	fnCopilot         = onNode("Copilot", valueTool, textType, dynType, makesPrompt)
	fnBoundTool       = function("Bound", expr.Func{Fails: true}, flowType, dialect.RunType, dialect.NodeType, dialect.ToolType, textType, policyType, dynType)
	fnChoosing        = onNode("Choose", choosingType, dynType, dynType, dynType, onChoice)
	fnToolCall        = onNode("ToolCall", textType, dynType, dynType, dynType, onChoice)
	fnToolCallLoose   = onNode("ToolCallUpstream", textType, dynType, dynType, dynType, onChoice)
	fnChoose          = function("Choose", expr.Func{Result: schema.AnyType, Fails: true}, dialect.RunType, dialect.NodeType, dynType, dynType, dynType, onChoice)
	fnChooseLoose     = function("ChooseUpstream", expr.Func{Result: schema.AnyType, Fails: true}, dialect.RunType, dialect.NodeType, dynType, dynType, dynType, onChoice)
	fnMap             = function("Map", expr.Func{Method: true, Fails: true}, flowType, dialect.RunType, dialect.NodeType, textType, dynType, onItem)
	fnMapNode         = function("MapNode", expr.Func{Method: true, Fails: true}, flowType, dialect.RunType, dialect.NodeType, gatherType, dynType, onFlow)
	fnChild           = method("Child", expr.Func{Fails: true}, dialect.NodeType, onChild)
	fnGrown           = pure(enginePath, "Grown", dynType, dynType, dynType)
	fnInterrupt       = onNode("Interrupt", textType, textType, dynType, dynType)
	fnInterruptPrompt = onNode("InterruptPrompt", textType, textType, dynType, modelType, makesPrompt)
	fnRunIn           = declare(schema.FlowPath, "In", expr.Func{Method: true, Result: dialect.RunType, Pure: true}, dialect.RunType, dialect.NodeType)
	fnState           = method("State", expr.Func{Result: dynType, Pure: true}, dynType)

	fnWith   = method("With", expr.Func{Result: flowType, Pure: true}, rulesType)
	fnIn     = pure(enginePath, "In", boolType, dynType, dynType)
	fnNotIn  = pure(enginePath, "NotIn", boolType, dynType, dynType)
	fnIsFile = function("FileExists", expr.Func{Result: dynType}, dialect.RunType, dialect.NodeType, dynType)
	fnIsDir  = function("DirExists", expr.Func{Result: dynType}, dialect.RunType, dialect.NodeType, dynType)
	filters  = map[string]*expr.Func{"length": pure(enginePath, "Length", dynType, dynType), "type": pure(enginePath, "TypeName", dynType, dynType), "keys": pure(enginePath, "Keys", dynType, dynType)}
	compares = map[string]*expr.Func{
		"==": pure(pyPath, "Equal", boolType, dynType, dynType), "!=": pure(pyPath, "NotEqual", boolType, dynType, dynType), "<": pure(pyPath, "Less", boolType, dynType, dynType),
		"<=": pure(pyPath, "LessOrEqual", boolType, dynType, dynType), ">": pure(pyPath, "Greater", boolType, dynType, dynType), ">=": pure(pyPath, "GreaterOrEqual", boolType, dynType, dynType),
	}
	fnTrue = pure(pyPath, "True", boolType, dynType)

	calculations = map[string]*expr.Func{"+": calculates("Add"), "-": calculates("Sub"), "*": calculates("Mul"), "/": calculates("Div")}
	fnFill       = pure(enginePath, "Fill", textType, dynType, textType)
	fnOrNull     = declare(schema.DynamicPath, "OrNull", expr.Func{Method: true, Result: dynType, Pure: true}, dynType)
	fnNonNull    = declare(schema.DynamicPath, "NonNull", expr.Func{Method: true, Result: dynType, Pure: true}, dynType)
	fnEntries    = declare(schema.DynamicPath, "With", expr.Func{Method: true, Variadic: true, Result: dynType, Pure: true}, dynType, dialect.EntryType)
	fnUndefined  = constant(schema.DynamicPath+"/jinja", "Undefined", dynType)

	fnNewPrompt = declare(enginePath, "NewPrompt", expr.Func{Result: dialect.PromptType, Fails: true, Pure: true}, schema.PointerTo(jinja.TextType), schema.PointerTo(jinja.TextType))
	fnNeeds     = function("Needs", expr.Func{Variadic: true, Result: makesPrompt, Pure: true}, textType, makesPrompt, variableType)
	fnNewModel  = pure(enginePath, "NewModel", modelType, textType, textType, paramsType, speakersType)
	speaks      = map[string]*expr.Func{
		"openai": constant(schema.ModelPath+"/openai", "At", atType), "anthropic": constant(schema.ModelPath+"/anthropic", "At", atType), "gemini": constant(schema.ModelPath+"/gemini", "At", atType),
	}

	fails    = map[string]*expr.Func{"skip": constant(enginePath, "Skip", failType), "stop": constant(enginePath, "Stop", failType), "retry": constant(enginePath, "Retry", failType), "fallback": constant(enginePath, "Fallback", failType)}
	policies = map[bool]*expr.Func{true: constant(enginePath, "Null", policyType), false: constant(enginePath, "Raise", policyType)}
)
