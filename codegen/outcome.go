package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// ended is the call that makes the output of a run, which may have failed.
func (fn *function) ended(err jen.Code) jen.Code {
	args := []jen.Code{err}
	if fn.outputsRead("input") {
		args = append(args, jen.Id("in"))
	}
	for _, l := range fn.outputLocals() {
		args = append(args, jen.Id(ident(fn.localName(l))))
	}
	return jen.Id("state").Dot("ended").Call(args...)
}

// declareEnded declares the method that makes the output of what the state holds.
func (fn *function) declareEnded() {
	g, p := fn.g, fn.p
	params := []jen.Code{jen.Err().Error()}
	if fn.outputsRead("input") {
		params = append(params, jen.Id("in").Add(g.goType(p.Input)))
	}
	for _, l := range fn.outputLocals() {
		params = append(params, jen.Id(ident(fn.localName(l))).Add(g.goType(l.Type)))
	}
	b := fn.block(nil)
	b.fail = func(jen.Code) []jen.Code { panic(refused{"an output that fails", p.WF.Name.Name}) }
	b.layout = &layout{fn: fn, scopes: map[*check.Plan]*scope{}, leaf: map[*check.Step]*scope{}}
	low := b.lower()
	low.resolve = func(sym *expr.Symbol) storage {
		if ref, ok := sym.Ref.(*check.Root); ok && ref.Name == "state" {
			return storage{code: jen.Id("s"), ptr: true}
		}
		return b.resolve(sym)
	}
	var fields []jen.Code
	for _, o := range p.Outputs {
		v, ok := o.Value.Value.(*ir.Expr)
		if !ok {
			panic(refused{"an output that is not an expression", o.Field.Name})
		}
		c := low.exprAs(v.Node, o.Field.Type)
		b.flush(low)
		fields = append(fields, field(fieldName(o.Field), c))
	}
	b.add(jen.Return(jen.Add(g.goType(p.Output)).Custom(braces(len(fields) > 5), fields...)))
	g.patterns.Line().Comment("ended is what a run that ends with err, or without, has reached.").Line().
		Func().Params(jen.Id("s").Op("*").Add(g.goType(p.State))).Id("ended").Params(params...).Add(g.goType(p.Output)).Block(b.code...).Line()
}

// outputsRead reports whether the outputs read one of the names that every expression knows.
func (fn *function) outputsRead(name string) bool {
	return slices.ContainsFunc(fn.outputs, func(n *expr.Node) bool {
		found := false
		n.Walk(func(n *expr.Node) bool {
			if n.Sym != nil {
				ref, ok := n.Sym.Ref.(*check.Root)
				found = found || ok && ref.Name == name
			}
			return true
		})
		return found
	})
}

// outputLocals are the locals that the outputs read, each once.
func (fn *function) outputLocals() []*check.Local {
	var out []*check.Local
	for _, n := range fn.outputs {
		n.Walk(func(n *expr.Node) bool {
			if n.Sym != nil {
				if l, ok := n.Sym.Ref.(*check.Local); ok && !slices.Contains(out, l) {
					out = append(out, l)
				}
			}
			return true
		})
	}
	return out
}

// loads are the calls that New makes before everything else, each once.
func (g *generator) loads() []jen.Code {
	var out []jen.Code
	done := map[string]bool{}
	for _, p := range append([]*check.Program{g.p}, g.p.Flows...) {
		for _, call := range p.WF.Load {
			if text := call.Node.String(); done[text] {
				continue
			} else {
				done[text] = true
			}
			low := &lowerer{
				resolve: func(s *expr.Symbol) storage { panic(refused{"a name before the program runs", s.Name}) },
				goType:  func(t *schema.Type) jen.Code { return g.goType(t) },
				fail:    func(err jen.Code) []jen.Code { return []jen.Code{jen.Return(jen.Nil(), err)} },
				fresh:   func(hint string) string { panic(refused{"a variable before the program runs", hint}) },
			}
			c := low.invoke(call.Node)
			if call.Node.Func.Fails {
				c = jen.If(jen.Err().Op(":=").Add(c), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err()))
			}
			out = append(out, c)
		}
	}
	return out
}
