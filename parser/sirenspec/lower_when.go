package sirenspec

import (
	gotoken "go/token"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// raises reports whether a condition can raise an exception that the engine does not catch.
func raises(c *dialect.Predicate) bool {
	switch c.Op {
	case "item", "part", "nth", "format", "invoke", "<<", ">>", "*", "/", "//", "%", "**", "call int", "call float", "call min", "call max", "method index", "method rindex", "method split", "method rsplit", "method partition", "method rpartition", "method center", "method ljust", "method rjust", "method format":
		return true
	}
	for _, k := range c.Kids {
		if raises(k) {
			return true
		}
	}
	return false
}

// when is a condition that no exception leaves.
func (l *lowering) when(c *dialect.Predicate) *expr.Node {
	if c.Op == "const" && c.Lit.Tag == "!!bool" {
		return expr.Const(c.Lit.Text.Value == "true")
	}
	return expr.Invoke(fnWhen, l.condition(c))
}

func (l *lowering) condition(c *dialect.Predicate) *expr.Node { return expr.Fn(l.holds(c), "c") }

// asked is a call of a method of the condition.
func asked(f *expr.Func, args ...*expr.Node) *expr.Node {
	return expr.Invoke(f, append([]*expr.Node{expr.Read("c")}, args...)...)
}

// holds is a part of a condition that is asked whether it holds.
func (l *lowering) holds(c *dialect.Predicate) *expr.Node {
	switch c.Op {
	case "&&", "||":
		return &expr.Node{Op: expr.Binary, Text: c.Op, Kids: []*expr.Node{l.holds(c.Kids[0]), l.holds(c.Kids[1])}}
	case "not":
		return expr.Not(l.holds(c.Kids[0]))
	case "call bool":
		if len(c.Kids) == 1 && c.Kids[0].Op != "star" && c.Kids[0].Op != "named" {
			return l.holds(c.Kids[0])
		}
	case "const":
		if c.Lit.Tag == "!!bool" {
			return expr.Const(c.Lit.Text.Value == "true")
		}
	}
	f := testTable[c.Op]
	if f == nil {
		return asked(fnTrue, l.operand(c))
	}
	out := asked(f, l.operand(c.Kids[0]), l.operand(c.Kids[1]))
	if strings.Contains(c.Op, "not") {
		return expr.Not(out)
	}
	return out
}

// operand is a part of a condition as a value.
func (l *lowering) operand(c *dialect.Predicate) *expr.Node {
	if f := callTable[c.Op]; f != nil {
		return asked(f, l.operands(c.Kids)...)
	}
	switch c.Op {
	case "const":
		return l.pythonConstant(c.Lit)
	case "ref":
		f, path := l.place(c.Ref.Root, c.Ref.Path)
		if f == nil {
			return asked(fnUnknown)
		}
		return asked(fnAt, append([]*expr.Node{f}, words(path)...)...)
	case "bucket":
		return expr.Invoke(fnBucket)
	case "unknown":
		return asked(fnUnknown)
	case "list":
		return expr.Invoke(fnValues, l.operands(c.Kids)...)
	case "set":
		return asked(fnSetLit, l.operands(c.Kids)...)
	case "list of":
		return l.made(fnListOf, c.Kids[0])
	case "set of":
		return l.made(fnSetOf, c.Kids[0])
	case "dict of":
		return l.made(fnDictOf, c.Kids[0])
	case "generator":
		return l.made(fnGenerator, c.Kids[0])
	case "tuple":
		return expr.Invoke(fnTuple, l.operands(c.Kids)...)
	case "local":
		return expr.Read(itemName(c.Lit.Text.Value))
	case "argument":
		return expr.Invoke(fnArgument, expr.Read(c.Kids[0].Lit.Text.Value), number(c.Kids[1].Lit.Text.Value))
	case "lambda":
		return asked(fnLambda, number(c.Kids[1].Lit.Text.Value), expr.Fn(l.operand(c.Kids[0]), c.Lit.Text.Value))
	case "function":
		return asked(fnFunction, expr.Const(c.Lit.Text.Value))
	case "named":
		return expr.Invoke(fnNamed, expr.Const(c.Lit.Text.Value), l.operand(c.Kids[0]))
	case "bind":
		return asked(fnBind, expr.Const(c.Lit.Text.Value), l.operand(c.Kids[0]))
	case "bound":
		return asked(fnBound, expr.Const(c.Lit.Text.Value))
	case "&&":
		return asked(fnAnd, l.operand(c.Kids[0]), l.later(c.Kids[1]))
	case "||":
		return asked(fnOrElse, l.operand(c.Kids[0]), l.later(c.Kids[1]))
	case "if":
		return asked(fnIf, l.holds(c.Kids[1]), l.later(c.Kids[0]), l.later(c.Kids[2]))
	case "+", "-", "*", "/", "//", "%", "**", "|", "&", "^", "<<", ">>":
		return asked(fnArithmetic, append([]*expr.Node{expr.Const(c.Op)}, l.operands(c.Kids)...)...)
	}
	if name, ok := strings.CutPrefix(c.Op, "method "); ok {
		args := l.operands(c.Kids)
		return asked(fnMethod, append([]*expr.Node{args[0], expr.Const(name)}, args[1:]...)...)
	}
	return expr.Invoke(fnBool, l.holds(c))
}

// made calls a method with a list and what a comprehension makes of each of its values.
func (l *lowering) made(f *expr.Func, c *dialect.Predicate) *expr.Node {
	var values *expr.Node
	if c.Kids[1].Op == "each" {
		values = l.made(fnEachOf, c.Kids[1])
	} else {
		values = &expr.Node{Op: expr.ListLit, Kids: []*expr.Node{l.operand(c.Kids[1])}}
	}
	var each *expr.Node
	if name := itemName(c.Lit.Text.Value); len(c.Kids) == 2 {
		each = expr.Fn(values, name)
	} else {
		var do ir.Block
		for _, cond := range c.Kids[2:] {
			do = append(do, &ir.IfStmt{Cond: as(expr.Not(l.holds(cond))), Then: ir.Block{&ir.ReturnStmt{Value: as(&expr.Node{Op: expr.ListLit})}}})
		}
		each = expr.FnDo(append(do, &ir.ReturnStmt{Value: as(values)}), name)
	}
	return asked(f, l.operand(c.Kids[0]), each)
}

// itemName is the parameter that a comprehension's name becomes: no other name of the function is hidden by it.
func itemName(name string) string {
	switch name {
	case "c", "state", "job", "run", "in", "input", "ok", "err", "out", "memory", "own", "each", "given":
		return name + "_"
	case "sirenspec", "dynamic", "runtime", "flow", "llm":
		return "item_" + name
	}
	if gotoken.IsKeyword(name) || !gotoken.IsIdentifier(name) || name == "_" || strings.TrimRight(name, "_") == "args" {
		return "item_" + name
	}
	return name
}

// operands are parts of a condition as values.
func (l *lowering) operands(list []*dialect.Predicate) []*expr.Node {
	var out []*expr.Node
	for _, k := range list {
		out = append(out, l.operand(k))
	}
	return out
}

// later is a value that may not be looked at.
func (l *lowering) later(c *dialect.Predicate) *expr.Node { return expr.Fn(l.operand(c)) }

func (l *lowering) pythonConstant(s *ir.Scalar) *expr.Node {
	text := s.Text.Value
	switch s.Tag {
	case "!!null":
		return expr.Invoke(fnNone)
	case "!!bool":
		return expr.Invoke(fnBool, expr.Const(text == "true"))
	case "!!int":
		if _, err := strconv.ParseInt(text, 0, 64); err != nil {
			return expr.Invoke(fnDigits, expr.Const(text))
		}
		return expr.Invoke(fnInt, number(text))
	case "!!float":
		f, _ := strconv.ParseFloat(text, 64) // the reader has written it
		return expr.Invoke(fnFloat, expr.Const(f))
	}
	return expr.Invoke(fnStr, expr.Const(text))
}

// number is an integer as the reader wrote it.
func number(text string) *expr.Node {
	n, _ := strconv.ParseInt(text, 0, 64)
	return expr.Const(n)
}

func words(path []string) []*expr.Node {
	var out []*expr.Node
	for _, p := range path {
		out = append(out, expr.Const(p))
	}
	return out
}
