package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

var ruleFails = map[ir.RuleFail]string{ir.RuleHalt: "Stop", ir.RuleSkip: "Skip", ir.RuleRetry: "Retry"}

// ruled is the flow of a node, with the rules that hold around it.
func (b *tokenBody) ruled(s *check.Step, flow string) *jen.Statement {
	t := s.Node.Dynamic.Token
	var fields []jen.Code
	if t.Limit > 0 {
		fields = append(fields, field("Limit", jen.Lit(t.Limit)))
	}
	for _, part := range []struct {
		name  string
		rules []*ir.TokenRule
	}{{"Before", t.Before}, {"After", t.After}} {
		if len(part.rules) > 0 {
			var rules []jen.Code
			for _, r := range part.rules {
				rules = append(rules, jen.Values(b.rule(s, r)...))
			}
			fields = append(fields, field(part.name, jen.Index().Qual(graphPath, "Rule").Custom(braces(true), rules...)))
		}
	}
	if len(fields) == 0 {
		return jen.Id(ident(flow))
	}
	return jen.Id(ident(flow)).Dot("With").Call(jen.Qual(graphPath, "Rules").Custom(braces(len(t.Before)+len(t.After) > 0), fields...))
}

// verify is the call of the node at the end of a graph.
func (b *tokenBody) verify(s *check.Step, flow string) jen.Code {
	args := []jen.Code{jen.Id("run"), b.node(s)}
	for _, r := range s.Node.Dynamic.Token.Final {
		args = append(args, jen.Qual(graphPath, "Rule").Values(b.rule(s, r)...))
	}
	return jen.Id(ident(flow)).Dot("Verify").Custom(parens(true), args...)
}

// rule are the fields of a rule.
func (b *tokenBody) rule(s *check.Step, r *ir.TokenRule) []jen.Code {
	out := []jen.Code{field("Check", quote(r.Check.Value))}
	if r.Message != "" {
		out = append(out, field("Message", quote(r.Message)))
	}
	if name := ruleFails[r.Fail]; name != "" {
		out = append(out, field("Fail", jen.Qual(graphPath, ident(name))))
	}
	if r.Fail == ir.RuleRetry {
		out = append(out, field("Tries", jen.Lit(r.Tries)))
	}
	param := jen.Id("_")
	r.When.Refs(func(ref *ir.Reference) {
		if ref.Root == "output" {
			param = jen.Id("output")
		}
	})
	saved, step := b.roots, b.step
	b.roots, b.step = map[string]jen.Code{"output": jen.Id("output")}, s
	for k, v := range saved {
		b.roots[k] = v
	}
	defer func() { b.roots, b.step = saved, step }()
	return append(out, field("Holds", jen.Func().Params(param.Qual(dynamicPath, "Field")).Bool().Block(jen.Return(b.ruleTruth(r.When, 0)))))
}

// ruleTruth is the condition of a rule as a Go condition; above is as for truth.
func (b *tokenBody) ruleTruth(c *ir.Predicate, above int) jen.Code {
	switch c.Op {
	case "&&", "||":
		own := map[string]int{"||": 1, "&&": 2}[c.Op]
		out := jen.Add(b.ruleTruth(c.Kids[0], own)).Op(operator(c.Op)).Add(b.ruleTruth(c.Kids[1], own))
		if own < above {
			return jen.Parens(out)
		}
		return out
	case "not":
		return jen.Op("!").Add(b.ruleTruth(c.Kids[0], 3))
	case "in":
		return jen.Qual(graphPath, "In").Call(b.ruleValue(c.Kids[0]), b.ruleValue(c.Kids[1]))
	case "not in":
		return jen.Qual(graphPath, "NotIn").Call(b.ruleValue(c.Kids[0]), b.ruleValue(c.Kids[1]))
	}
	if name := comparisons[c.Op]; name != "" {
		return jen.Qual(pyPath, ident(name)).Call(b.ruleValue(c.Kids[0]), b.ruleValue(c.Kids[1]))
	}
	return jen.Qual(pyPath, "True").Call(b.ruleValue(c))
}

var ruleFilters = map[string]string{"length": "Length", "type": "TypeName", "keys": "Keys"}

// ruleValue is a part of a condition as a field.
func (b *tokenBody) ruleValue(c *ir.Predicate) jen.Code {
	switch c.Op {
	case "ref":
		if c.Ref.Root == "state" && len(c.Ref.Path) == 0 {
			return b.snapshot()
		}
		return b.value(c.Ref)
	case "const":
		return b.scalar(c.Lit)
	case "list":
		var items []jen.Code
		for _, k := range c.Kids {
			items = append(items, b.ruleValue(k))
		}
		return jen.Qual(dynamicPath, "List").Call(items...)
	case "file_exists", "dir_exists":
		name := map[string]string{"file_exists": "FileExists", "dir_exists": "DirExists"}[c.Op]
		return jen.Qual(graphPath, ident(name)).Call(jen.Id("run"), b.node(b.step), b.ruleValue(c.Kids[0]))
	}
	if name := ruleFilters[c.Op]; name != "" {
		return jen.Qual(graphPath, ident(name)).Call(b.ruleValue(c.Kids[0]))
	}
	return jen.Qual(dynamicPath, "Flag").Call(b.ruleTruth(c, 0))
}
