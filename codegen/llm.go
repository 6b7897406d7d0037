package codegen

import (
	"slices"

	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"

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

// usedModels are the models that nodes ask, each once.
func (g *generator) usedModels() []*ir.Model {
	var out []*ir.Model
	done := map[string]bool{}
	for _, s := range g.p.Table {
		for _, m := range s.Models() {
			if name := g.p.Names.Models[m]; !done[name] {
				done[name] = true
				out = append(out, m)
			}
		}
	}
	return out
}

// models declares every model that a node asks.
func (g *generator) models() {
	var defs []jen.Code
	for _, m := range g.usedModels() {
		defs = append(defs, jen.Id(ident(g.p.Names.Models[m])).Op("=").Add(g.model(m)))
	}
	if len(defs) == 0 {
		return
	}
	g.file.Line()
	g.file.Comment("Models that nodes ask.")
	g.file.Var().Defs(defs...)
}

// model is what makes a model.
func (g *generator) model(m *ir.Model) jen.Code {
	if m.New != nil {
		return g.apart(m.New.Node)
	}
	return g.newModel(m)
}

func (g *generator) newModel(m *ir.Model) jen.Code {
	_, id := m.Split()
	args := []jen.Code{quote(m.Model.Name), quote(id), g.modelProvider(m)}
	option := func(name string, arg jen.Code) { args = append(args, jen.Qual(llmPath, ident(name)).Call(arg)) }
	if key := g.p.Names.Keys[m]; key != "" {
		option("Key", quote(key))
	}
	if params := g.modelParams(&m.Params); len(params) > 0 {
		option("With", jen.Qual(llmPath, "Params").Values(params...))
	}
	q := m.Price
	if q == nil && m.Listed != nil {
		q = &m.Listed.ModelPrice
	}
	if q != nil {
		price := []jen.Code{field("Input", quote(q.Input))}
		if q.Cached != "" {
			price = append(price, field("Cached", quote(q.Cached)))
		}
		option("Priced", jen.Qual(llmPath, "Price").Values(append(price, field("Output", quote(q.Output)))...))
	}
	return jen.Qual(llmPath, "NewModel").Call(args...)
}

// modelProvider is the provider of a model.
func (g *generator) modelProvider(m *ir.Model) jen.Code {
	name, id := m.Split()
	if m.Provided {
		return jen.Qual(llmPath, "Provided").Call(quote(name))
	}
	p := m.Provider()
	leaf := llmPath + "/" + p.Speaks
	switch {
	case m.Script != nil:
		return jen.Qual(importPath(leaf), "Provider").Call(quote(id), jen.Id(ident(g.scriptName(m.Script))))
	case m.BaseEnv != "":
		return jen.Qual(importPath(leaf), "Named").Call(quote(m.BaseEnv), quote(m.Address()))
	case m.BaseURL.Name != "" || p.Preset:
		return jen.Qual(importPath(leaf), "At").Call(quote(m.Address()))
	}
	return jen.Qual(importPath(leaf), "Provider")
}

func (g *generator) modelParams(p *ir.ModelParams) []jen.Code {
	var out []jen.Code
	add := func(name string, v *jen.Statement) { out = append(out, field(name, v)) }
	for _, f := range []struct {
		name string
		v    *float64
	}{{"Temperature", p.Temperature}, {"TopP", p.TopP}} {
		if f.v != nil {
			add(f.name, jen.Qual(flowPath, "Ptr").Types(jen.Float64()).Call(jen.Op(numeral(strconv.FormatFloat(*f.v, 'g', -1, 64)))))
		}
	}
	for _, f := range []struct {
		name string
		v    *int64
	}{{"MaxTokens", p.MaxTokens}, {"Seed", p.Seed}} {
		if f.v != nil {
			add(f.name, jen.Qual(flowPath, "Ptr").Types(jen.Int64()).Call(wholeNumber(*f.v)))
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
			defs = append(defs, jen.Id(ident(name)).Op("=").Op("&").Qual(llmPath, "Schema").Values(fields...))
		}
		for _, a := range s.Answers() {
			fields := []jen.Code{field("Name", quote(a.Name)), field("JSON", jen.Index().Byte().Call(g.schema(a.JSON)))}
			if a.Tool != "" {
				fields = append(fields, field("Tool", quote(a.Tool)))
			}
			defs = append(defs, jen.Id(ident(g.p.Names.Answers[a])).Op("=").Op("&").Qual(llmPath, "Schema").Values(fields...))
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
	args := []jen.Code{jen.Id("run"), b.fn.node(s), jen.Id(ident(g.p.Names.Models[s.Ask.Model])), prompt, g.format(s, v.Reask)}
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

// format is what the answer of a node has to be.
func (g *generator) format(s *check.Step, reask int) jen.Code {
	var fields []jen.Code
	if name := g.p.Names.Schemas[s]; name != "" {
		fields = append(fields, field("Schema", jen.Id(ident(name))))
		if reask > 0 {
			fields = append(fields, field("Reask", jen.Lit(reask)))
		}
	}
	return jen.Qual(llmPath, "Format").Values(fields...)
}

// prompt writes what a model receives.
func (b *block) prompt(s *check.Step, v *ir.LLM) jen.Code {
	p := s.Ask.Prompt
	var fields []jen.Code
	if v.Prompt != nil {
		fields = b.promptText(p, "Text", p.IR.Text)
	}
	if m := s.Ask.Messages; m != nil {
		fields = append([]jen.Code{field("Messages", b.value(m))}, fields...)
	}
	if v.System != nil && (v.Prompt == nil || p.IR.System == nil) {
		fields = append([]jen.Code{field("System", b.valueAs(v.System, schema.StringType))}, fields...)
	}
	if m := s.Ask.Media; m != nil {
		fields = append(fields, field("Media", b.value(m)))
	}
	return jen.Qual(llmPath, "Prompt").Custom(braces(len(fields) > 1), fields...)
}

// promptText writes the fields of a prompt. What a file takes is a variable before it, where it is not one already.
func (b *block) promptText(p *check.Prompt, name string, text *ir.Template) []jen.Code {
	b.fn.params = map[*schema.Field]jen.Code{}
	for _, a := range p.With {
		b.promptParam(a, p.Reads[a.Field.Name])
	}
	if p.In != nil {
		for _, f := range p.In.Fields { // an optional one that is not given
			if p.Reads[f.Name] && b.fn.params[f] == nil {
				b.promptVariable(f, nil)
			}
		}
	}
	var fields []jen.Code
	if p.IR.System != nil && name == "Text" {
		fields = append(fields, field("System", b.valueAs(p.IR.System, schema.StringType)))
	}
	fields = append(fields, field(name, b.valueAs(text, schema.StringType)))
	b.fn.params = nil
	return fields
}

// variableText is Go that stands for one in every place: a variable, or a field of one.
var variableText = lazyregexp.New(`^[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*$`)

// typed are the kinds whose constants have the type that is wanted without being told.
var typed = []schema.Kind{schema.String, schema.Enum, schema.Bool, schema.Struct, schema.List, schema.Map}

// promptParam writes a value that a prompt file takes.
func (b *block) promptParam(a *check.Argument, read bool) {
	_, constant := a.Value.Value.(*ir.Scalar)
	constant = constant || a.Value.Value == nil
	value := b.argument(a)
	text := lowerRender(value)
	switch {
	case read && !constant && variableText.MatchString(text) && !slices.Contains([]string{"nil", "true", "false"}, text):
		b.fn.params[a.Field] = value
	case read:
		if text == "nil" {
			value = nil
		}
		b.promptVariable(a.Field, value)
	case !constant && text != "nil": // what it reads has to be read for Go to compile
		b.add(jen.Id("_").Op("=").Add(value))
	}
}

// promptVariable declares a variable for what a prompt file takes; no value is nil.
func (b *block) promptVariable(f *schema.Field, value jen.Code) {
	name := jen.Id(ident(b.fn.fresh(f.Name)))
	b.fn.params[f] = name
	switch {
	case value == nil:
		b.add(jen.Var().Add(name).Add(b.fn.g.goType(f.Type)))
	case slices.Contains(typed, f.Type.Kind):
		b.add(jen.Add(name).Op(":=").Add(value))
	default:
		b.add(jen.Var().Add(name).Add(b.fn.g.goType(f.Type)).Op("=").Add(value))
	}
}
