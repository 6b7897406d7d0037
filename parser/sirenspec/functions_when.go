package sirenspec

import (
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// What conditions call: Python's operators, functions and methods, on operands.

var (
	conditionType = schema.PointerTo(schema.OpaqueOf(enginePath, "Condition"))
	operandType   = schema.OpaqueOf(enginePath, "Operand")
	operandsType  = schema.ListOf(operandType)

	onCondition = schema.FuncOf(&schema.Signature{Params: []*schema.Type{conditionType}, Result: boolType})
	onLater     = schema.FuncOf(&schema.Signature{Result: operandType})
	onItem      = schema.FuncOf(&schema.Signature{Params: []*schema.Type{operandType}, Result: operandsType})
	onArguments = schema.FuncOf(&schema.Signature{Params: []*schema.Type{operandsType}, Result: operandType})
)

var (
	fnWhen  = function("When", expr.Func{Result: boolType, Pure: true}, onCondition)
	fnHolds = function("Holds", expr.Func{Result: boolType, Fails: true}, dialect.RunType, dialect.NodeType, onCondition)

	fnStr      = operand("Str", textType)
	fnInt      = operand("Int", intType)
	fnDigits   = operand("Digits", schema.StringType)
	fnFloat    = operand("Float", schema.FloatType)
	fnBool     = operand("Bool", boolType)
	fnNone     = operand("None")
	fnBucket   = operand("Bucket")
	fnNamed    = operand("Named", textType, operandType)
	fnArgument = operand("Argument", operandsType, dialect.GoInt)
	fnValues   = many("Values")
	fnTuple    = many("Tuple")

	fnUnknown    = valued("Unknown")
	fnAt         = method("At", expr.Func{Variadic: true, Result: operandType, Pure: true}, conditionType, dynType, textType)
	fnTrue       = method("True", expr.Func{Result: boolType, Pure: true}, conditionType, operandType)
	fnAnd        = valued("And", operandType, onLater)
	fnOrElse     = valued("Or", operandType, onLater)
	fnIf         = valued("If", boolType, onLater, onLater)
	fnArithmetic = valued("Arithmetic", textType, operandType, operandType)
	fnMethod     = method("Method", expr.Func{Variadic: true, Result: operandType, Pure: true}, conditionType, operandType, textType, operandType)
	fnLambda     = valued("Lambda", dialect.GoInt, onArguments)
	fnFunction   = valued("Function", textType)
	fnBind       = valued("Bind", textType, operandType)
	fnBound      = valued("Bound", textType)
	fnGenerator  = valued("Generator", operandType, onItem)
	fnSetLit     = method("Set", expr.Func{Variadic: true, Result: operandType, Pure: true}, conditionType, operandType)
	fnEachOf     = method("Each", expr.Func{Result: operandsType, Pure: true}, conditionType, operandType, onItem)
	fnListOf     = valued("ListOf", operandType, onItem)
	fnSetOf      = valued("SetOf", operandType, onItem)
	fnDictOf     = valued("DictOf", operandType, onItem)
	fnInvoke     = method("Invoke", expr.Func{Variadic: true, Result: operandType, Pure: true}, conditionType, operandType, operandType)
	fnFormat     = method("Format", expr.Func{Variadic: true, Result: operandType, Pure: true}, conditionType, operandType, operandType, operandType)

	// callTable are those whose arguments are the kids of a predicate, by its operator.
	callTable = map[string]*expr.Func{
		"call len": all("Len"), "call bool": all("ToBool"), "call str": all("ToStr"), "call int": all("ToInt"), "call float": all("ToFloat"), "call abs": all("Abs"),
		"call min": all("Min"), "call max": all("Max"), "dict": all("Dict"), "text": all("Join"),
		"minus": valued("Minus", operandType), "plus": valued("Plus", operandType), "invert": valued("Invert", operandType), "item": valued("Item", operandType, operandType),
		"part": valued("Part", operandType, operandType, operandType, operandType), "nth": valued("Nth", operandType, operandType, operandType), "star": valued("Star", operandType),
		"pairs": valued("Pairs", operandType), "format": fnFormat, "invoke": fnInvoke,
	}
	// testTable are comparisons, by operator.
	testTable = map[string]*expr.Func{
		"==": test("Equal"), "!=": test("NotEqual"), "<": test("Less"), "<=": test("LessOrEqual"), ">": test("Greater"), ">=": test("GreaterOrEqual"),
		"in": test("In"), "not in": test("In"), "is": test("Is"), "is not": test("Is"),
	}
)

// conditionFunctions are all of these.
func conditionFunctions() []*expr.Func {
	out := []*expr.Func{fnWhen, fnHolds, fnStr, fnInt, fnDigits, fnFloat, fnBool, fnNone, fnBucket, fnNamed, fnArgument, fnValues, fnTuple, fnUnknown, fnAt, fnTrue, fnAnd, fnOrElse, fnIf, fnArithmetic,
		fnMethod, fnLambda, fnFunction, fnBind, fnBound, fnGenerator, fnSetLit, fnEachOf, fnListOf, fnSetOf, fnDictOf}
	for _, m := range []map[string]*expr.Func{callTable, testTable} {
		for _, f := range m {
			out = append(out, f)
		}
	}
	return out
}

// operand is a function that makes a value.
func operand(name string, params ...*schema.Type) *expr.Func {
	return function(name, expr.Func{Result: operandType, Pure: true}, params...)
}

func many(name string) *expr.Func {
	return function(name, expr.Func{Variadic: true, Result: operandType, Pure: true}, operandType)
}

// valued is a method of a condition that gives a value.
func valued(name string, params ...*schema.Type) *expr.Func {
	return method(name, expr.Func{Result: operandType, Pure: true}, append([]*schema.Type{conditionType}, params...)...)
}

// all is a method of a condition that takes any number of values.
func all(name string) *expr.Func {
	return method(name, expr.Func{Variadic: true, Result: operandType, Pure: true}, conditionType, operandType)
}

func test(name string) *expr.Func {
	return method(name, expr.Func{Result: boolType, Pure: true}, conditionType, operandType, operandType)
}
