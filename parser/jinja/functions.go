package jinja

import (
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// What translated templates call: package runtime/dynamic/jinja.

const (
	enginePath = schema.DynamicPath + "/jinja"
	pyPath     = schema.DynamicPath + "/py"
)

// TextType is the text that grows.
var TextType = schema.OpaqueOf(enginePath, "Text")

var (
	self     = schema.PointerTo(TextType)
	loopType = schema.OpaqueOf(enginePath, "Loop", &schema.Field{Name: "item", Type: schema.DynamicType})
	pairType = schema.OpaqueOf(enginePath, "Pair", &schema.Field{Name: "key", Type: schema.DynamicType}, &schema.Field{Name: "value", Type: schema.DynamicType})

	dyn, text, truth = schema.DynamicType, schema.StringType, schema.BoolType
	fields           = schema.ListOf(dyn)

	lazy    = schema.FuncOf(&schema.Signature{Result: dyn})
	onItem  = schema.FuncOf(&schema.Signature{Params: []*schema.Type{dyn}, Result: truth})
	onInner = schema.FuncOf(&schema.Signature{Params: []*schema.Type{self}})
)

// Table has every function that is called. What only notes that the text has failed counts as pure: it may be in conditions.
var Table []*expr.Func

func declare(path, name string, f expr.Func, params ...*schema.Type) *expr.Func {
	f.Path, f.Name, f.Params = path, name, params
	Table = append(Table, &f)
	return &f
}

// function is a function of values.
func function(name string, result *schema.Type, params ...*schema.Type) *expr.Func {
	return declare(enginePath, name, expr.Func{Result: result, Pure: true}, params...)
}

// method is a function of values whose mistakes the text keeps.
func method(name string, result *schema.Type, params ...*schema.Type) *expr.Func {
	return declare(enginePath, name, expr.Func{Method: true, Result: result, Pure: true}, append([]*schema.Type{self}, params...)...)
}

// many is a method whose last parameter takes any number of values.
func many(name string, params ...*schema.Type) *expr.Func {
	f := method(name, dyn, params...)
	f.Variadic = true
	return f
}

// grows is a method that adds to the text.
func grows(name string, params ...*schema.Type) *expr.Func {
	f := method(name, nil, params...)
	f.Pure = false
	return f
}

var (
	fnAdd  = grows("Add", text)
	fnShow = grows("Show", dyn)
	fnPut  = grows("Put", dyn, text)
	fnKeep = grows("Keep", dyn, text)

	// FnDone ends a text function that makes one text; see Lower.
	FnDone = declare(enginePath, "Done", expr.Func{Result: text, Fails: true, Pure: true}, self)

	fnInner = method("Inner", dyn, onInner)
	fnItems = method("Items", fields, dyn)
	fnWhere = method("Where", fields, fields, onItem)
	fnPair  = method("Pair", pairType, dyn)
	fnLoops = function("Loops", schema.ListOf(loopType), fields)

	fnUndefined = declare(enginePath, "Undefined", expr.Func{Const: true, Result: dyn, Pure: true})
	fnTrue      = declare(pyPath, "True", expr.Func{Result: truth, Pure: true}, dyn)
	fnPresent   = declare(schema.DynamicPath, "Present", expr.Func{Method: true, Result: truth, Pure: true}, dyn)

	fnDefault = function("Default", dyn, dyn, dyn, dyn)
	fnEqual   = function("Equal", truth, dyn, dyn)
	fnIf      = function("If", dyn, truth, lazy, lazy)
	fnAnd     = function("And", dyn, dyn, lazy)
	fnOr      = function("Or", dyn, dyn, lazy)

	fnAttr     = method("Attr", dyn, dyn, text)
	fnItem     = method("Item", dyn, dyn, dyn)
	fnSlice    = method("Slice", dyn, dyn, dyn, dyn, dyn)
	fnJoin     = method("Join", dyn, dyn, dyn, dyn)
	fnLength   = method("Length", dyn, dyn)
	fnJSON     = method("JSON", dyn, dyn, dyn)
	fnNegative = method("Negative", dyn, dyn)
	fnFilter   = many("Filter", text, dyn, dyn)
	fnMethod   = many("Method", dyn, text, dyn)
	fnIn       = method("In", truth, dyn, dyn)
	fnDivides  = method("Divisible", truth, dyn, dyn)
	fnIs       = method("Is", truth, dyn, text)

	fnCalls = map[string]*expr.Func{"range": many("Range", dyn)}

	fnArithmetic = map[string]*expr.Func{
		"+": method("Plus", dyn, dyn, dyn), "-": method("Minus", dyn, dyn, dyn), "*": method("Times", dyn, dyn, dyn), "/": method("Divide", dyn, dyn, dyn), "//": method("FloorDivide", dyn, dyn, dyn),
		"%": method("Modulo", dyn, dyn, dyn), "**": method("Power", dyn, dyn, dyn), "~": method("Concat", dyn, dyn, dyn),
	}
	fnLess, fnAtMost, fnMore, fnAtLeast = method("Less", truth, dyn, dyn), method("LessOrEqual", truth, dyn, dyn), method("Greater", truth, dyn, dyn), method("GreaterOrEqual", truth, dyn, dyn)

	fnOrder = map[string]*expr.Func{"<": fnLess, "<=": fnAtMost, ">": fnMore, ">=": fnAtLeast, "lt": fnLess, "le": fnAtMost, "gt": fnMore, "ge": fnAtLeast}
	fnLoop  = map[string]*expr.Func{
		"index": ofLoop("Index"), "index0": ofLoop("Index0"), "revindex": ofLoop("Revindex"), "revindex0": ofLoop("Revindex0"), "first": ofLoop("First"), "last": ofLoop("Last"),
		"length": ofLoop("Length"), "previtem": ofLoop("Previtem"), "nextitem": ofLoop("Nextitem"), "cycle": cycle(),
	}
)

func ofLoop(name string) *expr.Func {
	return declare(enginePath, name, expr.Func{Method: true, Result: dyn, Pure: true}, loopType)
}

func cycle() *expr.Func {
	return declare(enginePath, "Cycle", expr.Func{Method: true, Variadic: true, Result: dyn, Pure: true}, loopType, dyn)
}
