package codegen

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

const llmPath = schema.ModelPath

// speakPaths are the leaves that speak the formats of providers.
func speakPaths() []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range ir.ModelProviders {
		if !seen[p.Speaks] {
			seen[p.Speaks] = true
			out = append(out, llmPath+"/"+p.Speaks)
		}
	}
	return out
}

// models declares every model that a node asks.
func (g *generator) models() {
	var defs []jen.Code
	done := map[string]bool{}
	for _, s := range g.p.Table {
		for _, m := range s.Models() {
			if name := g.p.Names.Models[m]; !done[name] {
				done[name] = true
				defs = append(defs, jen.Id(ident(name)).Op("=").Add(g.anyModel(m)))
			}
		}
	}
	if len(defs) == 0 {
		return
	}
	g.file.Line()
	g.file.Comment("Models that nodes ask.")
	g.file.Var().Defs(defs...)
}

// baseVariable is the variable of the environment that may name a model's address, as engines of dialects read it; empty:
// none.
func (g *generator) baseVariable(m *ir.Model) string {
	d := g.p.WF.Dynamic
	if d != nil && d.Dialect == "sirenspec" && m.Provider().Name == "ollama" && m.BaseURL.Name == "" {
		return "OLLAMA_BASE_URL"
	}
	return ""
}

func (g *generator) newModel(m *ir.Model) jen.Code {
	_, id := m.Split()
	p := m.Provider()
	leaf := llmPath + "/" + p.Speaks
	provider := jen.Code(jen.Qual(importPath(leaf), "Provider"))
	if m.BaseURL.Name != "" || p.Preset {
		provider = jen.Qual(importPath(leaf), "At").Call(quote(m.Address()))
	}
	if env := g.baseVariable(m); env != "" {
		provider = jen.Qual(importPath(leaf), "Named").Call(quote(env), quote(m.Address()))
	}
	args := []jen.Code{quote(m.Model.Name), quote(id), provider}
	option := func(name string, arg jen.Code) { args = append(args, jen.Qual(llmPath, ident(name)).Call(arg)) }
	if key := g.p.Names.Keys[m]; key != "" {
		option("Key", quote(key))
	}
	if params := g.modelParams(&m.Params); len(params) > 0 {
		option("With", jen.Qual(llmPath, "Params").Values(params...))
	}
	if q := m.Price; q != nil {
		price := []jen.Code{field("Input", quote(q.Input))}
		if q.Cached != "" {
			price = append(price, field("Cached", quote(q.Cached)))
		}
		option("Priced", jen.Qual(llmPath, "Price").Values(append(price, field("Output", quote(q.Output)))...))
	}
	return jen.Qual(llmPath, "NewModel").Call(args...)
}

func (g *generator) modelParams(p *ir.ModelParams) []jen.Code {
	var out []jen.Code
	add := func(name string, v *jen.Statement) { out = append(out, field(name, v)) }
	for _, f := range []struct {
		name string
		v    *float64
	}{{"Temperature", p.Temperature}, {"TopP", p.TopP}} {
		if f.v != nil {
			add(f.name, jen.Qual(runtimePath, "Ptr").Types(jen.Float64()).Call(jen.Op(numeral(strconv.FormatFloat(*f.v, 'g', -1, 64)))))
		}
	}
	for _, f := range []struct {
		name string
		v    *int64
	}{{"MaxTokens", p.MaxTokens}, {"Seed", p.Seed}} {
		if f.v != nil {
			add(f.name, jen.Qual(runtimePath, "Ptr").Types(jen.Int64()).Call(wholeNumber(*f.v)))
		}
	}
	if len(p.Stop) > 0 {
		add("Stop", jen.Index().String().Values(quoted(p.Stop)...))
	}
	return out
}

// schemas declares what the answers of models have to fit.
func (g *generator) schemas() {
	var defs []jen.Code
	for _, s := range g.p.Table {
		if name := g.p.Names.Schemas[s]; name != "" {
			fields := []jen.Code{field("Name", quote(s.Node.ID.Name))}
			fields = append(fields, field("JSON", jen.Index().Byte().Call(g.schema(answerSchema(s)))))
			if d := s.Node.Dynamic; d != nil && d.AnswerAs != "" {
				fields = append(fields, field("Tool", quote(d.AnswerAs)))
			}
			defs = append(defs, jen.Id(ident(name)).Op("=").Op("&").Qual(llmPath, "Schema").Values(fields...))
		}
	}
	if len(defs) == 0 {
		return
	}
	g.file.Line()
	g.file.Comment("What the answers of models have to fit.")
	g.file.Var().Defs(defs...)
}

// ask writes the question of an llm node. The result and what its failure does are those of any call.
func (b *block) ask(s *check.Step, v *ir.LLM) {
	g := b.fn.g
	prompt := b.prompt(s, v)
	var format []jen.Code
	if name := g.p.Names.Schemas[s]; name != "" {
		format = append(format, field("Schema", jen.Id(ident(name))))
		if v.Reask > 0 {
			format = append(format, field("Reask", jen.Lit(v.Reask)))
		}
	}
	args := []jen.Code{jen.Id("run"), b.fn.node(s), jen.Id(ident(g.p.Names.Models[s.Ask.Model])), prompt, jen.Qual(llmPath, "Format").Values(format...)}
	var call *jen.Statement
	switch {
	case s.Ask.Boxed:
		answer := g.goType(s.Ask.Answer)
		unbox := jen.Func().Params(jen.Id("a").Add(answer)).Add(g.goType(s.Node.Result.Present())).Block(jen.Return(jen.Id("a").Dot("Value")))
		call = jen.Qual(llmPath, "AskAs").Call(append(args, unbox)...)
	case s.Ask.Answer != nil:
		call = jen.Qual(llmPath, "Ask").Types(g.goType(s.Ask.Answer)).Call(args...)
	default:
		call = jen.Qual(llmPath, "Ask").Types(jen.String()).Call(args...)
	}
	b.handled(s, call, nil, nil)
}

// prompt writes what a model is told. What a prompt file takes becomes a struct before it.
func (b *block) prompt(s *check.Step, v *ir.LLM) jen.Code {
	p := s.Ask.Prompt
	in := ""
	if p.In != nil && len(p.In.Fields) > 0 {
		literal := b.structLiteral(b.fn.g.goType(p.In), p.With)
		if p.Read {
			in = b.fn.fresh(s.Node.ID.Name + "_with")
			b.add(jen.Id(ident(in)).Op(":=").Add(literal))
		} else {
			b.add(jen.Id("_").Op("=").Add(literal))
		}
	}
	saved := b.fn.params
	b.fn.params = in
	var fields []jen.Code
	system := v.System
	if p.IR.System != nil {
		system = p.IR.System
	}
	if system != nil {
		fields = append(fields, field("System", b.valueAs(system, schema.StringType)))
	}
	fields = append(fields, field("Text", b.valueAs(p.IR.Text, schema.StringType)))
	b.fn.params = saved
	if m := s.Ask.Media; m != nil {
		fields = append(fields, field("Media", b.value(m)))
	}
	return jen.Qual(llmPath, "Prompt").Custom(braces(len(fields) > 1), fields...)
}
