package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

const sirenPath = runtimePath + "/sirenspec"

// contextBody is the state of emitting the function of a SirenSpec workflow.
type contextBody struct {
	dynamicBody
	making *making // inside of what a factory makes; else nil
	over   bool    // nodes may be left out because the budget is spent
}

// ended is the call that makes the output of a run.
func (b *contextBody) ended(err jen.Code) jen.Code {
	args := []jen.Code{err}
	if b.declared() != nil {
		args = append(args, jen.Id("flow").Dot("Spent").Call())
	}
	return jen.Id("state").Dot("ended").Call(args...)
}

// contextEnded declares the method that makes the output of what the state holds.
func (g *generator) contextEnded(p *check.Program) {
	params := []jen.Code{jen.Err().Error()}
	fields := []jen.Code{field("Status", jen.Qual(sirenPath, "Status").Call(jen.Err())), field("Error", jen.Qual(sirenPath, "Failure").Call(jen.Err())),
		field("Output", jen.Id("s").Dot("Output")), field("Working", jen.Id("s").Dot("Working"))}
	if declared(p) != nil {
		params = append(params, jen.Id("budget").Qual(dynamicPath, "Field"))
		fields = append(fields, field("Budget", jen.Id("budget")))
	}
	g.patterns.Line().Comment("ended is what a run that ends with err, or without, has reached.").Line().
		Func().Params(jen.Id("s").Op("*").Add(g.goType(p.State))).Id("ended").Params(params...).Add(g.goType(p.Output)).
		Block(jen.Return(jen.Add(g.goType(p.Output)).Values(fields...))).Line()
}

// contextBody emits the statements of Body: the nodes in the order in which they run, each under the conditions of the
// edges to it.
func (g *generator) contextBody(p *check.Program) []jen.Code {
	b := &contextBody{dynamicBody: dynamicBody{g: g, p: p}}
	b.fail = []jen.Code{b.ended(jen.Err())}
	b.add(jen.Var().Id("state").Add(g.goType(p.State)))
	if p == g.p {
		b.add(jen.Defer().Qual(runtimePath, "EndState").Call(jen.Id("run"), jen.Op("&").Id("state")))
	} else {
		g.outputSnapshot(p)
	}
	b.seeds()
	b.forgotten()
	if p == g.p {
		b.add(jen.Id("flow").Op(":=").Qual(sirenPath, "New").Call(jen.Id("in").Dot(ident(fieldName(p.Input.Fields[0])))))
	} else {
		b.add(jen.Id("flow").Op(":=").Qual(sirenPath, "Inner").Call(jen.Id("run")))
	}
	b.limits()
	var waiting []jen.Code
	for _, s := range p.Body.Steps {
		if !s.Always() {
			waiting = append(waiting, jen.Id(ident(b.local(s))))
		}
	}
	if len(waiting) > 0 {
		b.add(jen.Var().Id("active").Struct(jen.List(waiting...).Bool()))
	}
	for _, ph := range p.Phases {
		for _, w := range ph.Waves {
			b.gap()
			b.step(w[0])
		}
	}
	b.gap()
	b.add(jen.Return(b.ended(jen.Nil()), jen.Nil()))
	g.contextEnded(p)
	return b.code
}

// local is the variable of a node's result.
func (b *contextBody) local(s *check.Step) string {
	name := b.g.p.Names.Locals[s]
	switch name {
	case "flow", "active", "state", "c", "ok", "memory":
		return name + "_"
	}
	if b.g.hides(name) {
		return name + "_"
	}
	return name
}

// place is a field of the context, and the path that is left below it; nil when nothing has that name.
func (b *contextBody) place(bucket string, path []string) (jen.Code, []string) {
	if bucket == "memory" {
		return jen.Id("memory"), path
	}
	if b.making != nil && bucket == "working" && path[0] == b.making.own {
		return jen.Id("own"), path[1:]
	}
	for _, part := range b.p.State.Fields {
		if part.Name != bucket {
			continue
		}
		for _, f := range part.Type.Fields {
			if len(path) > 0 && f.Name == path[0] {
				return jen.Id("state").Dot(ident(fieldName(part))).Dot(ident(fieldName(f))), path[1:]
			}
		}
	}
	return nil, path
}

// seeds are what the context begins with.
func (b *contextBody) seeds() {
	if b.p.WF.Dynamic.Seeds == nil {
		return
	}
	for _, bucket := range b.p.WF.Dynamic.Seeds.Entries {
		o, ok := bucket.Value.(*ir.Object)
		if !ok {
			continue
		}
		for _, e := range o.Entries {
			if f, _ := b.place(bucket.Key.Name, []string{e.Key.Name}); f != nil {
				b.add(jen.Add(f).Op("=").Add(b.value(e.Value)))
			}
		}
	}
}

// step emits a node and what its edges say.
func (b *contextBody) step(s *check.Step) {
	var guard *jen.Statement
	if !s.Always() {
		guard = jen.Id("active").Dot(ident(b.local(s)))
	}
	if b.over {
		over := jen.Op("!").Id("flow").Dot("Over").Call()
		if guard == nil {
			guard = over
		} else {
			guard = guard.Op("&&").Add(over)
		}
	}
	inside := b.inside(func() { b.run(s) })
	if guard == nil {
		b.add(inside...)
		return
	}
	b.add(jen.If(guard).Block(inside...))
}

// inside are the statements that f adds.
func (b *contextBody) inside(f func()) []jen.Code {
	outer := b.code
	b.code = nil
	f()
	inside := b.code
	b.code = outer
	return inside
}

// edges say which nodes come after s.
func (b *contextBody) edges(s *check.Step) {
	s.Leads(func(to *check.Step, when *ir.Predicate) {
		if to.Always() {
			return
		}
		flag := jen.Id("active").Dot(ident(b.local(to)))
		if when == nil {
			b.add(flag.Op("=").True())
			return
		}
		b.edge(s, to, flag, when)
	})
}

// run emits a node: its call, where its result goes, and its edges.
func (b *contextBody) run(s *check.Step) {
	if s.Ask != nil {
		b.agent(s)
		return
	}
	d := s.Node.Dynamic
	switch v := s.Node.Verb.(type) {
	case *ir.Swarm:
		b.swarm(s, v)
		b.after(s)
		return
	case *ir.Map:
		b.factory(s, v)
		b.after(s)
		return
	case *ir.ToolCall:
		if _, ok := s.Tool.Binding.(*ir.MemoryTool); ok {
			b.recall(s)
			b.edges(s)
			return
		}
	case *ir.Flow:
		b.child(s)
		b.after(s)
		return
	case *ir.Human:
		b.question(s, v)
		b.after(s)
		return
	}
	name := jen.Id(ident(b.local(s)))
	call := b.python
	if d.Context.Request != nil {
		call = b.request
	}
	if s.Pick != nil {
		call = b.choose
	}
	b.add(jen.List(name, jen.Err()).Op(":=").Add(call(s)), b.returnErr())
	own, _ := b.place("working", []string{s.Node.ID.Name})
	b.add(jen.Qual(sirenPath, "Set").Call(jen.Op("&").Add(own), name, quote(d.Context.OutputKey)))
	b.edges(s)
}

// policy is what becomes of a tool that fails.
func (b *contextBody) policy(d *ir.DynamicNode) jen.Code {
	var fields []jen.Code
	if d.Attempts > 1 {
		fields = append(fields, field("Retries", jen.Lit(d.Attempts-1)))
	}
	if d.OnSpent == ir.SpentSkip {
		fields = append(fields, field("Skip", jen.True()))
	}
	return jen.Qual(sirenPath, "Policy").Values(fields...)
}

// request is a call of an http tool.
func (b *contextBody) request(s *check.Step) jen.Code {
	q := s.Node.Dynamic.Context.Request
	fields := []jen.Code{field("Method", quote(q.Method)), field("URL", b.template(q.URL))}
	if len(q.Headers) > 0 {
		var list []jen.Code
		for _, h := range q.Headers {
			list = append(list, jen.Values(field("Name", quote(h.Key.Name)), field("Value", b.template(h.Value))))
		}
		fields = append(fields, field("Headers", jen.Index().Qual(sirenPath, "Header").Custom(braces(true), list...)))
	}
	if q.Body != nil {
		fields = append(fields, field("Body", b.template(q.Body)))
	}
	fields = append(fields, field("Timeout", wholeNumber(q.Seconds)))
	return jen.Id("flow").Dot("HTTP").Call(jen.Id("run"), b.node(s), jen.Id(ident(b.g.p.Names.Tools[s.Tool])), b.policy(s.Node.Dynamic),
		jen.Qual(sirenPath, "Request").Custom(braces(true), fields...))
}

// python is a call of a Python function.
func (b *contextBody) python(s *check.Step) jen.Code {
	d := s.Node.Dynamic
	args := []jen.Code{jen.Id("run"), b.node(s), jen.Id(ident(b.g.p.Names.Tools[s.Tool])), b.policy(d), quote(functionOf(s.Tool))}
	if d.Args == nil || len(d.Args.Entries) == 0 {
		return jen.Id("flow").Dot("Python").Call(args...)
	}
	return jen.Id("flow").Dot("Python").Call(append(args, jen.Line().Add(jen.List(b.arguments(d.Args)...)), jen.Line())...)
}

func functionOf(t *ir.Tool) string {
	name := []byte(t.Binding.(*ir.PythonTool).Ref.Name)
	for i, c := range name {
		if c == ':' {
			name[i] = '.'
		}
	}
	return string(name)
}

func (b *contextBody) arguments(o *ir.Object) []jen.Code {
	var out []jen.Code
	for _, e := range o.Entries {
		out = append(out, jen.Qual(sirenPath, "Arg").Values(field("Name", quote(e.Key.Name)), field("Value", b.content(e.Value))))
	}
	return out
}

// content is a value of the file, whose texts may have placeholders.
func (b *contextBody) content(v ir.Value) jen.Code {
	references := false
	ir.ValueReferences(v, func(*ir.Reference) { references = true })
	switch v := v.(type) {
	case *ir.Mixed:
		if !references {
			return jen.Qual(sirenPath, "Const").Call(jen.Qual(dynamicPath, "Text").Call(quote(v.Text.Value)))
		}
		return jen.Qual(sirenPath, "Filled").Call(b.parts(v)...)
	case *ir.List:
		var items []jen.Code
		for _, x := range v.Items {
			items = append(items, b.content(x))
		}
		return jen.Qual(sirenPath, "List").Call(items...)
	case *ir.Object:
		return jen.Qual(sirenPath, "Map").Call(b.arguments(v)...)
	}
	return jen.Qual(sirenPath, "Const").Call(b.value(v))
}

// template is text with placeholders.
func (b *contextBody) template(m *ir.Mixed) jen.Code {
	parts := b.parts(m)
	return jen.Qual(sirenPath, "Template").Custom(braces(len(parts) > 2), parts...)
}

func (b *contextBody) parts(m *ir.Mixed) []jen.Code {
	var out []jen.Code
	for _, s := range m.Segments {
		if s.Ref == nil {
			out = append(out, jen.Qual(sirenPath, "Lit").Call(quote(s.Lit)))
			continue
		}
		out = append(out, b.part(s.Ref))
	}
	return out
}

// part is a placeholder.
func (b *contextBody) part(r *ir.Reference) jen.Code {
	if r.Root == "env" {
		if r.Filter != "" {
			return jen.Qual(sirenPath, "EnvOr").Call(quote(r.Path[0]), quote(r.Default))
		}
		return jen.Qual(sirenPath, "Env").Call(quote(r.Path[0]))
	}
	var f jen.Code
	var path []string
	own := b.making.value(r)
	made := own != nil
	if made {
		f, path = own, r.Path
	} else if r.Root == "inputs" {
		f, path = b.input(r.Path)
	} else if r.Root == "memory" {
		f, path = b.place(r.Root, r.Path)
	} else if f, path = b.place("working", r.Path); f == nil {
		f, path = jen.Qual(dynamicPath, "Field").Values(), nil
	}
	part := jen.Qual(sirenPath, "Ref").Call(append([]jen.Code{quote(r.Text.Value), quote(namespace(r)), f}, quoteAll(path)...)...)
	if r.Root == "inputs" && (made || b.p != b.g.p) {
		part = jen.Qual(sirenPath, "Given").Call(append([]jen.Code{quote(r.Text.Value), f}, quoteAll(path)...)...)
	}
	switch r.Filter {
	case "default":
		part.Dot("Or").Call(quote(r.Default))
	case "json_or_default":
		part.Dot("OrJSON").Call(quote(r.Default))
	}
	return part
}

// namespace is what the engine calls the root of a placeholder.
func namespace(r *ir.Reference) string {
	if (r.Root == "working" || r.Root == "nothing") && len(r.Path) > 0 {
		return r.Path[0]
	}
	return r.Root
}

// requestTool is the binding of an http tool.
func (g *generator) requestTool(t *ir.Tool, b *ir.RequestTool) jen.Code {
	return jen.Qual(sirenPath, "HTTP").Call(quote(t.FullName()), effectsName(check.Effects(t)), quote(b.Host))
}
