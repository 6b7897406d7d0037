package codegen

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// calls is the text function that an expression calls; nil when it calls none.
func calls(n *expr.Node) *ir.TextFunc {
	if n.Op != expr.Handle {
		return nil
	}
	t, _ := n.Use.Ref.(*ir.TextFunc)
	return t
}

// texts writes the text functions, each once.
func (g *generator) texts() {
	done := map[*ir.TextFunc]bool{}
	for _, p := range g.programs() {
		for _, t := range p.Texts {
			if !done[t.IR] {
				done[t.IR] = true
				g.textFunc(p, t)
			}
		}
	}
}

func (g *generator) textFunc(p *check.Program, t *check.TextFunc) {
	fn := &function{g: g, p: p, body: t.Body, names: map[string]bool{"out": true, "err": true}, vars: map[variable]*place{}, used: map[variable]bool{}, ends: map[*check.Step]bool{}, hoisted: map[*check.Decision]string{}}
	fn.call(t)
	b := fn.block(nil)
	b.gives(t.Sig)
	b.layout = fn.layPlan(t.Body.Plan, b.scope)
	b.plan(t.Body.Plan)
	name := g.p.Names.Texts[t.IR]
	g.file.Line()
	g.file.Add(comment(name + " " + t.IR.Doc))
	g.file.Add(g.results(jen.Func().Id(ident(name)).Params(fn.textParams(t.IR.Params)...), t.Sig, fn.outers > 0).Block(b.code...))
}

// textParams are the parameters of a text function: those of one type, which follow each other, are one.
func (fn *function) textParams(params []*expr.Param) []jen.Code {
	var out []jen.Code
	for len(params) > 0 {
		t := params[0].Type
		var names []jen.Code
		for len(params) > 0 && schema.Equal(params[0].Type, t) {
			names = append(names, jen.Id(ident(fn.paramName(params[0]))))
			params = params[1:]
		}
		out = append(out, jen.List(names...).Add(fn.g.goType(t)))
	}
	return out
}

// call names the variables of a text function, which may have names of a file: none hides a package or what the file
// declares. Two of one name are never in sight together. Those with a mark at their end give way to those without.
func (fn *function) call(t *check.TextFunc) {
	var names []string
	add := func(params []*expr.Param) {
		for _, p := range params {
			names = append(names, p.Name)
		}
	}
	add(t.IR.Params)
	for _, l := range t.Body.Locals {
		names = append(names, l.Name)
	}
	t.IR.Do.Walk(func(n *expr.Node) bool {
		if n.Op == expr.Lambda {
			add(n.Function.Params)
		}
		return true
	})
	slices.SortStableFunc(names, func(a, b string) int { return marks(a) - marks(b) })
	fn.called = map[string]string{}
	for _, name := range names {
		if fn.called[name] != "" {
			continue
		}
		id := goname.Local(name)
		for fn.names[id] || fn.g.hides(id) || fn.g.packageLevel(id) {
			id += "_"
		}
		fn.names[id] = true
		fn.called[name] = id
	}
}

func marks(name string) int { return len(name) - len(strings.TrimRight(name, "_")) }
