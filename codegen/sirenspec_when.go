package codegen

import (
	"go/token"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// edge makes a node active when the condition of an edge to it holds.
func (b *contextBody) edge(s, to *check.Step, flag *jen.Statement, when *ir.Predicate) {
	alone := len(to.Node.Dynamic.Routes) == 1 && !to.Rescues()
	if !b.p.WF.Dynamic.Upstream || !escapes(when) {
		holds := b.when(when)
		if alone {
			b.add(jen.Add(flag).Op("=").Add(holds))
			return
		}
		b.add(jen.Add(flag).Op("=").Add(flag).Op("||").Add(holds))
		return
	}
	b.add(jen.If(jen.List(jen.Id("ok"), jen.Err()).Op(":=").Qual(sirenPath, "Holds").Call(jen.Id("run"), b.node(s), b.condition(when)), jen.Err().Op("!=").Nil()).
		Block(jen.Return(append(b.fail, jen.Err())...)).Else().If(jen.Id("ok")).Block(jen.Add(flag).Op("=").True()))
}

// escapes reports whether a condition can raise an exception that the engine does not catch.
func escapes(c *ir.Predicate) bool {
	switch c.Op {
	case "item", "part", "nth", "format", "invoke", "<<", ">>", "*", "/", "//", "%", "**", "call int", "call float", "call min", "call max", "method index", "method rindex", "method split", "method rsplit", "method partition", "method rpartition", "method center", "method ljust", "method rjust", "method format":
		return true
	}
	for _, k := range c.Kids {
		if escapes(k) {
			return true
		}
	}
	return false
}

// when is a condition as a Go expression.
func (b *contextBody) when(c *ir.Predicate) jen.Code {
	if c.Op == "const" && c.Lit.Tag == "!!bool" {
		return jen.Lit(c.Lit.Text.Value == "true")
	}
	return jen.Qual(sirenPath, "When").Call(b.condition(c))
}

func (b *contextBody) condition(c *ir.Predicate) jen.Code {
	return jen.Func().Params(jen.Id("c").Op("*").Qual(sirenPath, "Condition")).Bool().Block(jen.Return(b.holds(c, 0)))
}

var pythonComparisons = map[string]string{"==": "Equal", "!=": "NotEqual", "<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual",
	"in": "In", "not in": "In", "is": "Is", "is not": "Is"}

// holds is a part of a condition that is asked whether it holds. above is how tightly the operator around it binds: 0 for
// none, 1 for ||, 2 for &&, 3 for !.
func (b *contextBody) holds(c *ir.Predicate, above int) jen.Code {
	switch c.Op {
	case "&&", "||":
		own := map[string]int{"||": 1, "&&": 2}[c.Op]
		out := jen.Add(b.holds(c.Kids[0], own)).Op(operator(c.Op)).Add(b.holds(c.Kids[1], own))
		if above > own {
			return jen.Parens(out)
		}
		return out
	case "not":
		return jen.Op("!").Add(b.holds(c.Kids[0], 3))
	case "call bool":
		if len(c.Kids) == 1 && c.Kids[0].Op != "star" && c.Kids[0].Op != "named" {
			return b.holds(c.Kids[0], above)
		}
	case "const":
		if c.Lit.Tag == "!!bool" {
			return jen.Lit(c.Lit.Text.Value == "true")
		}
	}
	name, compares := pythonComparisons[c.Op]
	if !compares {
		return jen.Id("c").Dot("True").Call(b.operand(c))
	}
	out := jen.Id("c").Dot(ident(name)).Call(b.operand(c.Kids[0]), b.operand(c.Kids[1]))
	if strings.Contains(c.Op, "not") {
		return jen.Op("!").Add(out)
	}
	return out
}

var pythonCalls = map[string]string{"call len": "Len", "call bool": "ToBool", "call str": "ToStr", "call int": "ToInt", "call float": "ToFloat", "call abs": "Abs",
	"call min": "Min", "call max": "Max", "minus": "Minus", "plus": "Plus", "invert": "Invert", "item": "Item", "part": "Part", "nth": "Nth", "dict": "Dict",
	"text": "Join", "format": "Format", "star": "Star", "pairs": "Pairs", "invoke": "Invoke"}

// operand is a part of a condition as a value.
func (b *contextBody) operand(c *ir.Predicate) *jen.Statement {
	if name := pythonCalls[c.Op]; name != "" {
		return jen.Id("c").Dot(ident(name)).Call(b.operands(c.Kids)...)
	}
	switch c.Op {
	case "const":
		return b.pythonConstant(c.Lit)
	case "ref":
		f, path := b.place(c.Ref.Root, c.Ref.Path)
		if f == nil {
			return jen.Id("c").Dot("Unknown").Call()
		}
		return jen.Id("c").Dot("At").Call(append([]jen.Code{f}, quoteAll(path)...)...)
	case "bucket":
		return jen.Qual(sirenPath, "Bucket").Call()
	case "unknown":
		return jen.Id("c").Dot("Unknown").Call()
	case "list":
		return jen.Qual(sirenPath, "Values").Call(b.operands(c.Kids)...)
	case "set":
		return jen.Id("c").Dot("Set").Call(b.operands(c.Kids)...)
	case "list of":
		return jen.Qual(sirenPath, "Values").Call(jen.Add(b.each(c.Kids[0])).Op("..."))
	case "set of", "dict of":
		return jen.Id("c").Dot(ident(map[string]string{"set of": "Set", "dict of": "Dict"}[c.Op])).Call(jen.Add(b.each(c.Kids[0])).Op("..."))
	case "generator":
		return b.made("Generator", c.Kids[0])
	case "tuple":
		return jen.Qual(sirenPath, "Tuple").Call(b.operands(c.Kids)...)
	case "local":
		return jen.Id(ident(b.item(c.Lit.Text.Value)))
	case "argument":
		return jen.Id(ident(c.Kids[0].Lit.Text.Value)).Index(jen.Op(numeral(c.Kids[1].Lit.Text.Value)))
	case "lambda":
		return jen.Id("c").Dot("Lambda").Call(jen.Op(numeral(c.Kids[1].Lit.Text.Value)), jen.Func().Params(jen.Id(ident(c.Lit.Text.Value)).Index().Qual(sirenPath, "Operand")).
			Qual(sirenPath, "Operand").Block(jen.Return(b.operand(c.Kids[0]))))
	case "function":
		return jen.Id("c").Dot("Function").Call(quote(c.Lit.Text.Value))
	case "named":
		return jen.Qual(sirenPath, "Named").Call(quote(c.Lit.Text.Value), b.operand(c.Kids[0]))
	case "bind":
		return jen.Id("c").Dot("Bind").Call(quote(c.Lit.Text.Value), b.operand(c.Kids[0]))
	case "bound":
		return jen.Id("c").Dot("Bound").Call(quote(c.Lit.Text.Value))
	case "&&", "||":
		return jen.Id("c").Dot(ident(map[string]string{"&&": "And", "||": "Or"}[c.Op])).Call(b.operand(c.Kids[0]), b.later(c.Kids[1]))
	case "if":
		return jen.Id("c").Dot("If").Call(b.holds(c.Kids[1], 0), b.later(c.Kids[0]), b.later(c.Kids[2]))
	case "+", "-", "*", "/", "//", "%", "**", "|", "&", "^", "<<", ">>":
		return jen.Id("c").Dot("Arithmetic").Call(append([]jen.Code{quote(c.Op)}, b.operands(c.Kids)...)...)
	}
	if name, ok := strings.CutPrefix(c.Op, "method "); ok {
		args := b.operands(c.Kids)
		return jen.Id("c").Dot("Method").Call(append([]jen.Code{args[0], quote(name)}, args[1:]...)...)
	}
	return jen.Qual(sirenPath, "Bool").Call(b.holds(c, 0))
}

// each are the values that a comprehension makes of those of a list.
func (b *contextBody) each(c *ir.Predicate) jen.Code { return b.made("Each", c) }

// made calls a method with a list and what a comprehension makes of each of its values.
func (b *contextBody) made(method string, c *ir.Predicate) *jen.Statement {
	var body []jen.Code
	for _, cond := range c.Kids[2:] {
		body = append(body, jen.If(negated(b.holds(cond, 3))).Block(jen.Return(jen.Nil())))
	}
	if c.Kids[1].Op == "each" {
		body = append(body, jen.Return(b.each(c.Kids[1])))
	} else {
		body = append(body, jen.Return(jen.Index().Qual(sirenPath, "Operand").Values(b.operand(c.Kids[1]))))
	}
	return jen.Id("c").Dot(ident(method)).Call(b.operand(c.Kids[0]), jen.Func().Params(jen.Id(ident(b.item(c.Lit.Text.Value))).Qual(sirenPath, "Operand")).
		Index().Qual(sirenPath, "Operand").Block(body...))
}

func negated(c jen.Code) jen.Code { return jen.Op("!").Add(c) }

// item is the variable of what a comprehension is at.
func (b *contextBody) item(name string) string {
	switch name {
	case "c", "state", "flow", "active", "run", "in", "ok", "err", "memory", "own", "each":
		return name + "_"
	}
	if token.IsKeyword(name) || b.g.hides(name) || !token.IsIdentifier(name) || name == "_" || strings.TrimRight(name, "_") == "args" {
		return "item_" + name
	}
	return name
}

// operands are parts of a condition as values.
func (b *contextBody) operands(list []*ir.Predicate) []jen.Code {
	var out []jen.Code
	for _, k := range list {
		out = append(out, b.operand(k))
	}
	return out
}

// later is a value that may not be looked at.
func (b *contextBody) later(c *ir.Predicate) jen.Code {
	return jen.Func().Params().Qual(sirenPath, "Operand").Block(jen.Return(b.operand(c)))
}

func (b *contextBody) pythonConstant(s *ir.Scalar) *jen.Statement {
	text := s.Text.Value
	switch s.Tag {
	case "!!null":
		return jen.Qual(sirenPath, "None").Call()
	case "!!bool":
		return jen.Qual(sirenPath, "Bool").Call(jen.Lit(text == "true"))
	case "!!int":
		return jen.Qual(sirenPath, "Int").Call(jen.Op(numeral(text)))
	case "!!float":
		return jen.Qual(sirenPath, "Float").Call(jen.Op(numeral(text)))
	}
	return jen.Qual(sirenPath, "Str").Call(quote(text))
}
