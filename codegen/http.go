package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

const httpPath = runtimePath + "/httptool"

// http writes an HTTP tool: a function from the input to the request, and what belongs to all of its requests.
func (g *generator) http(t *ir.Tool, h *ir.HTTPTool) jen.Code {
	b := g.request(jen.Qual(httpPath, "Request"))
	text := func(tmpl *ir.Template) jen.Code { return b.valueAs(tmpl, schema.StringType) }
	var fields []jen.Code
	add := func(name string, v jen.Code) { fields = append(fields, jen.Id(ident(name)).Op(":").Add(v)) }
	pairs := func(name string, list []ir.Param) {
		if len(list) > 0 {
			add(name, b.params(list))
		}
	}

	add("Method", quote(h.Method))
	target := []jen.Code{quote(h.URL.Text.Value)}
	for _, p := range h.Places {
		target = append(target, text(p))
	}
	add("URL", jen.Qual(httpPath, "URL").Call(target...))
	pairs("Query", h.Query)
	pairs("Header", h.Headers)
	if h.Body != nil {
		add("Body", b.httpBody(h))
	}
	in := jen.Id("in")
	if !requestReadsInput(h) {
		in = jen.Id("_")
	}
	b.add(jen.Return(jen.Qual(httpPath, "Request").Custom(braces(len(fields) > 1), fields...)))
	f := jen.Func().Params(in.Add(g.inType(t))).Qual(httpPath, "Request").Block(b.code...)
	return g.httpResult(t).Call(append(g.bindArgs(t, f), g.httpOptions(t, h)...)...)
}

// params writes headers or parameters. Those that may be absent or that occur several times are lists of their own.
func (b *block) params(list []ir.Param) jen.Code {
	var lists, fields []jen.Code
	flush := func() {
		if len(fields) > 0 {
			lists = append(lists, jen.Index().Qual(httpPath, "Field").Custom(braces(len(fields) > 1), fields...))
			fields = nil
		}
	}
	var add func(name string, v ir.Value, join string)
	add = func(name string, v ir.Value, join string) {
		switch v := v.(type) {
		case *ir.List:
			for _, x := range v.Items {
				add(name, x, "")
			}
			return
		case *ir.Expr:
			t := v.Node.Type
			var several *jen.Statement
			args := []jen.Code{quote(name)}
			switch list := t.Present().Kind == schema.List; {
			case list && join != "" && t.Kind == schema.Opt:
				several, args = jen.Qual(httpPath, "OptionalJoined"), append(args, quote(join))
			case list && join != "":
				several, args = jen.Qual(httpPath, "Joined"), append(args, quote(join))
			case list && t.Kind == schema.Opt:
				several = jen.Qual(httpPath, "OptionalList")
			case list:
				several = jen.Qual(httpPath, "Repeated")
			case t.Kind == schema.Opt:
				several = jen.Qual(httpPath, "Optional")
			}
			if several != nil {
				flush()
				lists = append(lists, several.Call(append(args, b.valueAs(v, t))...))
				return
			}
		}
		fields = append(fields, jen.Values(field("Name", quote(name)), field("Value", b.text(v))))
	}
	for _, p := range list {
		add(p.Name.Name, p.Value, p.Join)
	}
	flush()
	switch len(lists) {
	case 0:
		return jen.Nil()
	case 1:
		return lists[0]
	}
	return jen.Qual("slices", "Concat").Call(lists...)
}

// text writes the text form of a value.
func (b *block) text(v ir.Value) jen.Code {
	if x, ok := v.(*ir.Expr); ok {
		v = &ir.Template{Text: x.Text, Tmpl: &expr.Template{Segments: []expr.Segment{{Expr: x.Node, Hi: len(x.Text.Value)}}}}
	}
	return b.valueAs(v, schema.StringType)
}

// httpResult is the constructor for the tool's kind of result.
func (g *generator) httpResult(t *ir.Tool) *jen.Statement {
	switch out := t.Out; {
	case out == nil || out.Kind == schema.Struct && len(out.Fields) == 0 && out.Go == nil:
		return jen.Qual(httpPath, "None")
	case out.Go != nil && out.Go.Path == httpPath && out.Go.Name == "Response" && !out.Go.Ptr:
		return jen.Qual(httpPath, "Preview")
	case out.Kind == schema.String && out.Go == nil:
		return jen.Qual(httpPath, "Text")
	case out.Kind == schema.Any:
		return jen.Qual(httpPath, "Any")
	default:
		return jen.Qual(httpPath, "JSON").Types(g.inType(t), g.goType(out))
	}
}

func (g *generator) httpOptions(t *ir.Tool, h *ir.HTTPTool) []jen.Code {
	var out []jen.Code
	option := func(name string, args ...jen.Code) { out = append(out, jen.Qual(httpPath, ident(name)).Call(args...)) }
	out = append(out, authOption(t.Auth)...)
	if t.MaxOutput > 0 {
		option("MaxOutput", jen.Lit(int(t.MaxOutput)))
	}
	if h.Base.Name != "" {
		option("Base", quote(h.Base.Name))
	}
	if h.HTMLText {
		option("HTMLToText")
	}
	if h.RefuseExtra {
		option("RefuseUnknown")
	}
	if allowed := g.netAllow(t); len(allowed) > 0 {
		option("Allow", allowed...)
	}
	if own := g.options(t); len(own) > 0 {
		option("Tool", own...)
	}
	return out
}

// authOption is how requests authenticate; nothing when they do not.
func authOption(a *ir.Auth) []jen.Code {
	if a == nil {
		return nil
	}
	switch a.Kind {
	case "bearer":
		return []jen.Code{jen.Qual(httpPath, "Bearer").Call(quote(a.Secret.Name))}
	case "basic":
		return []jen.Code{jen.Qual(httpPath, "Basic").Call(quote(a.Secret.Name))}
	case "header":
		return []jen.Code{jen.Qual(httpPath, "HeaderAuth").Call(quote(a.Header), quote(a.Secret.Name))}
	}
	return nil
}

// netAllow is what the policy lets a tool reach besides public addresses. The policy of a sub-workflow only narrows that
// of the workflow.
func (g *generator) netAllow(t *ir.Tool) []jen.Code {
	var list []string
	if p := g.p.WF.Policy; p != nil {
		list = p.NetAllow
	}
	for _, p := range g.p.Flows {
		if own := p.WF.Policy; own != nil && own.NetAllow != nil && p != g.p && slices.Contains(p.WF.Tools, t) {
			list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !slices.Contains(own.NetAllow, s) })
		}
	}
	var out []jen.Code
	for _, s := range list {
		out = append(out, quote(s))
	}
	return out
}

// httpBody writes what is sent.
func (b *block) httpBody(h *ir.HTTPTool) jen.Code {
	switch h.Encoding {
	case ir.BodyText:
		return jen.Qual(httpPath, "TextBody").Call(b.valueAs(h.Body, schema.StringType))
	case ir.BodyForm:
		var fields []jen.Code
		var list []ir.Param
		several := false // a field may be absent, or occur more than once
		for _, e := range h.Body.(*ir.Object).Entries {
			_, is := e.Value.(*ir.Expr)
			several = several || is
			list = append(list, ir.Param{Name: e.Key, Value: e.Value})
		}
		if several {
			return jen.Qual(httpPath, "FormBody").Call(jen.Add(b.params(list)).Op("..."))
		}
		for _, e := range list {
			fields = append(fields, jen.Qual(httpPath, "Field").Values(field("Name", quote(e.Name.Name)), field("Value", b.valueAs(e.Value, schema.StringType))))
		}
		return jen.Qual(httpPath, "FormBody").Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: len(fields) > 1}, fields...)
	}
	return jen.Qual(httpPath, "JSONBody").Call(b.value(&check.Expected{Value: h.Body, Type: h.BodyType}))
}

// requestReadsInput reports whether the request holds anything of the tool's input.
func requestReadsInput(h *ir.HTTPTool) bool {
	if len(h.Places) > 0 {
		return true
	}
	reads := false
	for _, p := range slices.Concat(h.Query, h.Headers) {
		ir.ValueExpressions(p.Value, func(*expr.Node) { reads = true })
	}
	ir.ValueExpressions(h.Body, func(*expr.Node) { reads = true })
	return reads
}
