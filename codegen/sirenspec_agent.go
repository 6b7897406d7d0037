package codegen

import (
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// agent emits a node that asks an agent.
func (b *contextBody) agent(s *check.Step) {
	failure := s.Node.Dynamic.Context.Failure
	name := jen.Id(ident(b.local(s)))
	if failure == nil || failure.Action == "abort" {
		b.add(jen.List(name, jen.Err()).Op(":=").Add(b.ask(s, "Ask")), b.returnErr())
		b.answered(s)
		b.after(s)
		return
	}
	b.add(jen.List(name, jen.Id("ok"), jen.Err()).Op(":=").Add(b.ask(s, "Try")), b.returnErr())
	well := b.inside(func() { b.answered(s); b.after(s) })
	spent := b.inside(func() { b.failed(s, failure) })
	check := jen.If(jen.Id("ok")).Block(well...)
	if len(spent) > 0 {
		check.Else().Block(spent...)
	}
	b.add(check)
}

// answered puts an answer where it goes.
func (b *contextBody) answered(s *check.Step) {
	name := jen.Id(ident(b.local(s)))
	own, _ := b.place("working", []string{s.Node.ID.Name})
	b.wrote(s, name)
	b.add(jen.Qual(sirenPath, "Set").Call(jen.Op("&").Add(own), jen.Qual(dynamicPath, "Text").Call(name), quote("output")))
}

func (b *contextBody) wrote(s *check.Step, text jen.Code) {
	w := s.Node.Dynamic.Context.Writes
	to, path := b.place(w[0], w[1:])
	b.add(jen.Id("flow").Dot("Wrote").Call(append([]jen.Code{jen.Op("&").Add(to), text}, quoteAll(path)...)...))
	b.remember(s)
}

// failed is what becomes of an agent whose attempts are spent.
func (b *contextBody) failed(s *check.Step, f *ir.AgentFailure) {
	switch f.Action {
	case "use_default":
		b.wrote(s, quote(f.Default))
		b.edges(s)
	case "skip":
		b.edges(s)
	case "fallback":
		if to := s.Fallback(); to != nil && !to.Always() {
			b.add(jen.Id("active").Dot(ident(b.local(to))).Op("=").True())
		}
	}
}

// after is what follows a node that may have asked a model: what was spent, and the edges. The engine looks at the edges
// of an agent first.
func (b *contextBody) after(s *check.Step) {
	upstream := b.p.WF.Dynamic.Upstream && s.Ask != nil
	if upstream {
		b.edges(s)
	}
	if to := b.totals(); to != nil {
		b.add(jen.Add(to).Op("=").Id("flow").Dot("Totals").Call())
	}
	if len(b.p.WF.Dynamic.Budgets) > 0 {
		b.add(jen.If(jen.Err().Op(":=").Id("flow").Dot("Within").Call(jen.Id("run"), b.node(s)), jen.Err().Op("!=").Nil()).Block(jen.Return(append(b.fail, jen.Err())...)))
		for _, budget := range b.p.WF.Dynamic.Budgets {
			b.over = b.over || budget.Exceeded == "skip_remaining"
		}
	}
	if !upstream {
		b.edges(s)
	}
}

// totals is where the context says what was spent; nil when nothing reads it.
func (b *contextBody) totals() jen.Code {
	to, _ := b.place("working", []string{"_budget"})
	return to
}

// counts reports whether something wants to know what is spent, here or in a workflow that runs this one.
func (b *contextBody) counts() bool {
	return slices.ContainsFunc(b.g.dynamics(), func(p *check.Program) bool {
		return len(p.WF.Dynamic.Budgets) > 0 || slices.ContainsFunc(p.WF.State, func(s *ir.State) bool { return s.Name.Name == "working._budget" })
	})
}

// declared is the budget of a workflow that says how much of it was spent; nil when it has none.
func declared(p *check.Program) *ir.Budget {
	for _, budget := range p.WF.Dynamic.Budgets {
		if budget.Declared {
			return budget
		}
	}
	return nil
}

func (b *contextBody) declared() *ir.Budget { return declared(b.p) }

var exceeded = map[string]string{"warn": "Warn", "skip_remaining": "SkipRemaining"}

// limits gives the run its budgets.
func (b *contextBody) limits() {
	var list []jen.Code
	for _, budget := range b.p.WF.Dynamic.Budgets {
		var fields []jen.Code
		if budget.Tokens > 0 {
			fields = append(fields, field("Tokens", wholeNumber(budget.Tokens)))
		}
		if budget.USD != "" {
			fields = append(fields, field("USD", dollars(budget.USD)))
		}
		if budget.Seconds > 0 {
			fields = append(fields, field("Duration", seconds(budget.Seconds)))
		}
		if name := exceeded[budget.Exceeded]; name != "" {
			fields = append(fields, field("Exceeded", jen.Qual(sirenPath, ident(name))))
		}
		if budget.Declared {
			fields = append(fields, field("Declared", jen.True()))
		}
		list = append(list, jen.Qual(sirenPath, "Budget").Values(fields...))
	}
	if len(list) > 0 {
		b.add(jen.Id("flow").Dot("Limit").Custom(parens(len(list) > 1), append([]jen.Code{jen.Id("run")}, list...)...))
	}
}

// dollars is an amount in billionths, as runtime.USD counts.
func dollars(decimal string) jen.Code {
	f, _ := strconv.ParseFloat(decimal, 64) // the reader has read it
	return wholeNumber(int64(f*1e9 + 0.5))
}

// seconds is a duration of so many seconds.
func seconds(s float64) jen.Code {
	unit, n := "Second", s
	if s != float64(int64(s)) {
		unit, n = "Millisecond", s*1000
	}
	if n != float64(int64(n)) {
		unit, n = "Nanosecond", s*1e9
	}
	whole := int64(n)
	if whole == 1 {
		return jen.Qual("time", ident(unit))
	}
	return jen.Lit(int(whole)).Op("*").Qual("time", ident(unit))
}

// ask is a question to an agent.
func (b *contextBody) ask(s *check.Step, method string) jen.Code {
	return jen.Id("flow").Dot(ident(method)).Call(jen.Id("run"), b.node(s), jen.Id(ident(b.g.p.Names.Models[s.Ask.Model])), b.prompt(s.Node.Dynamic))
}

// prompt is what an agent is told besides the message, and what becomes of its answer.
func (b *contextBody) prompt(d *ir.DynamicNode) jen.Code {
	var fields []jen.Code
	if d.System != nil && len(d.System.Segments) > 0 {
		fields = append(fields, field("System", b.template(d.System)))
	}
	if len(d.Context.Guards) > 0 {
		fields = append(fields, field("Guards", b.guards(d.Context.Guards)))
	}
	if r := d.Context.Retry; r != nil && r.Attempts > 1 {
		fields = append(fields, field("Retry", b.retry(r)))
	}
	return jen.Qual(sirenPath, "Prompt").Custom(braces(len(fields) > 1), fields...)
}

var backoffs = map[string]string{"linear": "Linear", "exponential": "Exponential"}

// retry is when an agent is asked again.
func (b *contextBody) retry(r *ir.AgentRetry) jen.Code {
	fields := []jen.Code{field("Attempts", jen.Lit(r.Attempts))}
	if name := backoffs[r.Backoff]; name != "" {
		fields = append(fields, field("Backoff", jen.Qual(sirenPath, ident(name))))
	}
	if r.Base > 0 {
		fields = append(fields, field("Base", seconds(r.Base)))
	}
	if r.Most > 0 {
		fields = append(fields, field("Most", seconds(r.Most)))
	}
	if r.Jitter {
		fields = append(fields, field("Jitter", jen.True()))
	}
	if len(r.On) > 0 {
		fields = append(fields, field("On", jen.Index().String().Values(quoteAll(r.On)...)))
	}
	if r.Guards {
		fields = append(fields, field("Guards", jen.True()))
	}
	return jen.Qual(sirenPath, "Retry").Custom(braces(true), fields...)
}

// guards are guardrails.
func (b *contextBody) guards(list []ir.Guard) jen.Code {
	var out []jen.Code
	for _, g := range list {
		out = append(out, b.guardrail(g))
	}
	return jen.Index().Qual(sirenPath, "Guard").Custom(braces(len(out) > 2), out...)
}

var actions = map[string]string{"block": "Block", "flag": "Flag"}

func (b *contextBody) guardrail(g ir.Guard) jen.Code {
	switch g.Name {
	case "length":
		name := "Length"
		if g.Raise {
			name = "LengthOrFail"
		}
		return jen.Qual(sirenPath, ident(name)).Call(jen.Lit(int(g.Most)))
	case "schema":
		return jen.Qual(sirenPath, "Schema").Call(quoteOne(g.Schema))
	case "pii":
		var fields []jen.Code
		if g.What != nil {
			fields = append(fields, field("Entities", jen.Index().String().Values(quoteAll(g.What)...)))
		}
		if name := actions[g.Action]; name != "" {
			fields = append(fields, field("Action", jen.Qual(sirenPath, ident(name))))
		} else {
			fields = append(fields, field("Instead", quote(g.Instead)))
		}
		return jen.Qual(sirenPath, "PII").Values(fields...).Dot("Guard").Call()
	}
	return jen.Qual(sirenPath, "Injection")
}
