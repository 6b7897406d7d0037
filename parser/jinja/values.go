package jinja

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

func undefined() *expr.Node { return expr.Invoke(fnUndefined) }

// value is an expression as dynamic data. What is left out is undefined.
func (l *lowering) value(x *PromptExpr) *expr.Node {
	if x == nil {
		return undefined()
	}
	switch x.Op {
	case "name":
		if at := l.names[x.Name]; at != nil {
			return expr.Read(at[0], at[1:]...)
		}
		return undefined()
	case "const":
		return scalar(x.Lit)
	case "loop":
		return expr.Invoke(fnLoop[x.Name], append([]*expr.Node{expr.Read(l.loop)}, l.all(x.Kids)...)...)
	case "attr":
		return l.on(fnAttr, l.value(x.Kids[0]), expr.Const(x.Name))
	case "item":
		return l.on(fnItem, l.all(x.Kids)...)
	case "slice":
		return l.on(fnSlice, l.all(x.Kids)...)
	case "filter":
		return l.filter(x.Name, l.all(x.Kids))
	case "method":
		args := l.all(x.Kids)
		return l.on(fnMethod, append([]*expr.Node{args[0], expr.Const(x.Name)}, args[1:]...)...)
	case "call":
		return l.on(fnCalls[x.Name], l.all(x.Kids)...)
	case "list":
		return &expr.Node{Op: expr.ListLit, Kids: l.all(x.Kids)}
	case "dict":
		var entries []expr.Entry
		for i := 0; i+1 < len(x.Kids); i += 2 {
			entries = append(entries, expr.Put(x.Kids[i].Lit.Text.Value, l.value(x.Kids[i+1])))
		}
		return expr.Object(entries...)
	case "if":
		return expr.Invoke(fnIf, l.truth(x.Kids[0]), l.lazy(x.Kids[1]), l.lazy(x.Kids[2]))
	case "and":
		return expr.Invoke(fnAnd, l.value(x.Kids[0]), l.lazy(x.Kids[1]))
	case "or":
		return expr.Invoke(fnOr, l.value(x.Kids[0]), l.lazy(x.Kids[1]))
	case "neg":
		return l.on(fnNegative, l.value(x.Kids[0]))
	}
	if f := fnArithmetic[x.Op]; f != nil {
		return l.on(f, l.all(x.Kids)...)
	}
	return l.truth(x)
}

func (l *lowering) all(list []*PromptExpr) []*expr.Node {
	var out []*expr.Node
	for _, x := range list {
		out = append(out, l.value(x))
	}
	return out
}

// lazy is a value that is evaluated when somebody asks for it.
func (l *lowering) lazy(x *PromptExpr) *expr.Node { return expr.Fn(l.value(x)) }

func (l *lowering) filter(name string, args []*expr.Node) *expr.Node {
	full := func(n int) []*expr.Node {
		for len(args) < n {
			args = append(args, undefined())
		}
		return args
	}
	switch name {
	case "default", "d":
		return expr.Invoke(fnDefault, full(3)...)
	case "join":
		return l.on(fnJoin, full(3)...)
	case "length", "count":
		return l.on(fnLength, args...)
	case "tojson":
		return l.on(fnJSON, full(2)...)
	}
	return l.on(fnFilter, append([]*expr.Node{expr.Const(name)}, args...)...)
}

// truth is an expression as a condition.
func (l *lowering) truth(x *PromptExpr) *expr.Node {
	binary := func(op string) *expr.Node {
		return &expr.Node{Op: expr.Binary, Text: op, Kids: []*expr.Node{l.truth(x.Kids[0]), l.truth(x.Kids[1])}}
	}
	switch x.Op {
	case "and":
		return binary("&&")
	case "or":
		return binary("||")
	case "not":
		return expr.Not(l.truth(x.Kids[0]))
	case "const":
		if x.Lit.Tag == "!!bool" {
			return expr.Const(x.Lit.Text.Value == "true")
		}
	case "==", "!=", "<", "<=", ">", ">=":
		return l.compare(x.Op, x.Kids)
	case "test":
		return l.test(x)
	}
	return expr.Invoke(fnTrue, l.value(x))
}

func (l *lowering) compare(op string, sides []*PromptExpr) *expr.Node {
	a, b := l.value(sides[0]), l.value(sides[1])
	switch op {
	case "==", "eq", "sameas":
		return expr.Invoke(fnEqual, a, b)
	case "!=", "ne":
		return expr.Not(expr.Invoke(fnEqual, a, b))
	}
	return l.on(fnOrder[op], a, b)
}

func (l *lowering) test(x *PromptExpr) *expr.Node {
	switch x.Name {
	case "defined":
		return expr.Invoke(fnPresent, l.value(x.Kids[0]))
	case "undefined":
		return expr.Not(expr.Invoke(fnPresent, l.value(x.Kids[0])))
	case "in":
		return l.on(fnIn, l.all(x.Kids)...)
	case "divisibleby":
		return l.on(fnDivides, l.all(x.Kids)...)
	case "eq", "sameas", "ne", "lt", "le", "gt", "ge":
		return l.compare(x.Name, x.Kids)
	}
	return l.on(fnIs, l.value(x.Kids[0]), expr.Const(x.Name))
}

// scalar is a constant of the template.
func scalar(v *ir.Scalar) *expr.Node {
	text := v.Text.Value
	switch v.Tag {
	case "!!null":
		return expr.Const(nil)
	case "!!bool":
		return expr.Const(text == "true")
	case "!!int":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return expr.Const(n)
		}
		fallthrough
	case "!!float":
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return expr.Const(f)
		}
	}
	return expr.Const(text)
}
