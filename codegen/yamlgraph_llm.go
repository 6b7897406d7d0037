package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/internal/catalog"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// anyModel is a model, or whom the environment says that a node of YAMLGraph asks.
func (g *generator) anyModel(m *ir.Model) jen.Code {
	c := m.Choice
	if c == nil {
		return g.newModel(m)
	}
	linked := map[string]bool{}
	for _, p := range catalog.GraphProviders {
		if c.Provider == "" || c.Provider == p.Name {
			linked[p.Speaks] = true
		}
	}
	var speakers []jen.Code
	for _, x := range []struct{ field, leaf string }{{"OpenAI", "openai"}, {"Anthropic", "anthropic"}, {"Gemini", "gemini"}} {
		if linked[x.leaf] {
			speakers = append(speakers, field(x.field, jen.Qual(importPath(llmPath+"/"+x.leaf), "At")))
		}
	}
	return jen.Qual(graphPath, "NewModel").Call(quote(c.Provider), quote(c.Model), jen.Qual(llmPath, "Params").Values(g.modelParams(&m.Params)...), jen.Qual(graphPath, "Speakers").Values(speakers...))
}

var askFails = map[ir.AskFail]string{ir.AskSkip: "Skip", ir.AskRaise: "Stop", ir.AskRetry: "Retry", ir.AskFallback: "Fallback"}

// question is what a node asks, and what becomes of the answer.
func (b *tokenBody) question(s *check.Step) jen.Code {
	t := s.Node.Dynamic.Token
	a := t.Ask
	fields := []jen.Code{field("Model", jen.Id(ident(b.g.p.Names.Models[s.Ask.Model])))}
	add := func(name string, v jen.Code) { fields = append(fields, field(name, v)) }
	if t.Key.Name != "" {
		add("Key", quote(t.Key.Name))
	}
	if name := b.g.p.Names.Schemas[s]; name != "" {
		add("Schema", jen.Id(ident(name)))
	}
	if a.Skips {
		add("Skip", jen.True())
	}
	if a.Limit > 0 {
		add("Limit", jen.Lit(a.Limit))
	}
	if len(t.Requires) > 0 {
		var names []jen.Code
		for _, id := range t.Requires {
			names = append(names, quote(id.Name))
		}
		add("Requires", jen.Index().String().Values(names...))
	}
	if a.JSON {
		add("JSON", jen.True())
	}
	if a.Copilot {
		add("Copilot", jen.True())
	}
	if name := askFails[a.Fail]; name != "" {
		add("Fail", jen.Qual(graphPath, ident(name)))
	}
	if a.Fail == ir.AskRetry {
		add("Retries", jen.Lit(a.Retries))
	}
	if s.Ask.Fallback != nil {
		add("Fallback", jen.Id(ident(b.g.p.Names.Models[s.Ask.Fallback])))
	}
	if len(a.Candidates) > 0 {
		var all []jen.Code
		for i, k := range a.Candidates {
			all = append(all, jen.Values(field("Provider", quote(k.Provider)), field("Model", quote(k.Model)), field("Use", jen.Id(ident(b.g.p.Names.Models[s.Ask.Race[i]])))))
		}
		add("Race", jen.Index().Qual(graphPath, "Candidate").Custom(braces(true), all...))
	}
	if len(a.Routes) > 0 && !s.Node.Inline {
		add("Router", b.router(a))
	}
	return jen.Op("&").Qual(graphPath, "Question").Custom(braces(len(fields) > 4), fields...)
}

func (b *tokenBody) router(a *ir.TokenAsk) jen.Code {
	var fields, ways []jen.Code
	if a.Route != "" {
		fields = append(fields, field("Field", quote(a.Route)))
	}
	for _, r := range a.Routes {
		ways = append(ways, jen.Values(field("Label", quote(r.Label)), field("To", quote(r.To.Name))))
	}
	fields = append(fields, field("Routes", jen.Index().Qual(graphPath, "Way").Custom(braces(true), ways...)))
	if a.Other.Name != "" {
		fields = append(fields, field("Other", quote(a.Other.Name)))
	}
	return jen.Op("&").Qual(graphPath, "Router").Custom(braces(true), fields...)
}

// asker is the model that makes a question for a person; nil when its template is the question.
func (b *tokenBody) asker(s *check.Step) jen.Code {
	if s.Ask == nil {
		return jen.Nil()
	}
	return jen.Id(ident(b.g.p.Names.Models[s.Ask.Model]))
}

// promptOf is the function that makes the prompt of a node.
func (b *tokenBody) promptOf(s *check.Step) jen.Code {
	a := s.Node.Dynamic.Token.Ask
	name := jen.Id(ident(b.g.p.Names.Texts[a.Prompt.Text]))
	if len(a.Values) == 0 {
		return name
	}
	var args, needs []jen.Code
	for _, v := range a.Values {
		args = append(args, b.variable(v))
	}
	for _, v := range a.Needs {
		needs = append(needs, jen.Qual(graphPath, "Variable").Values(field("Name", quote(v.Key.Name)), field("Value", b.value(v.Value))))
	}
	f := jen.Func().Params().Params(jen.Qual(llmPath, "Prompt"), jen.Error()).Block(jen.Return(jen.Add(name).Call(args...)))
	if len(needs) == 0 {
		return f
	}
	return jen.Qual(graphPath, "Needs").Call(append([]jen.Code{quote(a.Prompt.File.Name), f}, needs...)...)
}

const jinjaPath = dynamicPath + "/jinja"

func absent() jen.Code { return jen.Qual(jinjaPath, "Undefined") }

// variable is what a variable of a prompt stands for: absent is undefined.
func (b *tokenBody) variable(v *ir.Entry) jen.Code {
	if v.Value == nil {
		return absent()
	}
	r, ok := v.Value.(*ir.Reference)
	switch {
	case !ok:
		return b.value(v.Value)
	case r.Missing == ir.MissingNull:
		return jen.Add(b.value(r)).Dot("OrNull").Call()
	case b.g.p.Names.Agents[b.step] != "":
		return b.value(r)
	}
	return jen.Add(b.value(r)).Dot("NonNull").Call()
}

// place is a node as the token's place; nil is the end.
func (b *tokenBody) place(to *check.Step) jen.Code {
	if to == nil {
		return jen.Qual(graphPath, "End")
	}
	return quote(to.Node.ID.Name)
}

// limited reports whether a node has a limit on how often it runs.
func (b *tokenBody) limited() bool {
	return slices.ContainsFunc(b.p.Body.Steps, func(s *check.Step) bool {
		t := s.Node.Dynamic.Token
		return t.Limit > 0 || t.Ask != nil && t.Ask.Limit > 0
	})
}

// graphAgent is the agent of a node of YAMLGraph.
func (g *generator) graphAgent(s *check.Step) jen.Code {
	t := s.Node.Dynamic.Token
	var tools []jen.Code
	for _, x := range s.Agent.Tools {
		tools = append(tools, g.use(x))
	}
	fields := []jen.Code{field("Model", jen.Id(ident(g.p.Names.Models[s.Agent.Model])))}
	if len(tools) > 0 {
		fields = append(fields, field("Tools", jen.Index().Qual(agentPath, "Tool").Custom(braces(true), tools...)))
	}
	fields = append(fields, field("Key", quote(t.Key.Name)), field("MaxIterations", jen.Lit(t.Ask.Agent.Iterations)))
	if k := t.Ask.Agent.Results; k != "" {
		fields = append(fields, field("Results", quote(k)))
	}
	if name := askFails[t.Ask.Fail]; name != "" {
		fields = append(fields, field("Fail", jen.Qual(graphPath, ident(name))))
	}
	return jen.Qual(graphPath, "Agent").Custom(braces(true), fields...)
}
