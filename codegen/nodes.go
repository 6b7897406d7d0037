package codegen

import (
	"cmp"
	"fmt"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// nodes writes the node table: static data, so that inserting a line in the YAML changes this one block and no code.
func (g *generator) nodes() {
	if len(g.p.Table) == 0 {
		return
	}
	var defs []jen.Code
	for i, s := range g.p.Table {
		name := g.p.Names.Nodes[s]
		defs = append(defs, jen.Id(ident(name)).Op("=").Add(g.nodeLiteral(i, s, len(name))))
	}
	for _, p := range g.programs() {
		for _, l := range loopsOf(p.Body) {
			defs = append(defs, jen.Id(ident(g.loopName(l))).Op("=").Qual(flowPath, "Node").Values(
				field("ID", quote(l.Header.Node.ID.Name)), field("Pos", g.pos(l.Span)), field("Index", jen.Lit(-1)), field("Max", jen.Lit(l.Max))))
		}
	}
	for _, p := range g.programs() {
		for _, at := range p.Body.Scopes() {
			defs = append(defs, jen.Id(ident(g.p.Names.Scopes[at])).Op("=").Qual(flowPath, "Node").Values(
				field("ID", quote(at.ID.Name)), field("Pos", g.pos(at.ID.Span)), field("Index", jen.Lit(-1))))
		}
	}
	g.file.Line()
	g.file.Comment("Nodes, at their place in the source.")
	g.file.Var().Defs(defs...)
}

// outputNode is the place that errors in a workflow's `output:` are reported at. It is declared only when something
// there can fail, and is not an entry of the node table.
func (g *generator) outputNode(p *check.Program) jen.Code {
	name := g.outputs[p]
	if name == "" {
		name = "outputNode"
		if p != g.p {
			name = g.p.Names.Bodies[p] + "OutputNode"
		}
		name = g.declare(name, func(name string) string { return name + "_" })
		if g.outputs == nil {
			g.outputs = map[*check.Program]string{}
		}
		g.outputs[p] = name
		at := p.WF.Name.Span
		if len(p.WF.Output) > 0 {
			at = p.WF.Output[0].Name.Span
		}
		g.patterns.Line().Var().Id(ident(name)).Op("=").Qual(flowPath, "Node").Values(
			field("ID", quote("output")), field("Pos", g.pos(at)), field("Index", jen.Lit(-1))).Line()
	}
	return jen.Op("&").Id(ident(name))
}

// startNode is the place that errors of what is decided at the start of a body are reported at, declared as outputNode is.
func (g *generator) startNode(p *check.Program, s *check.Step) jen.Code {
	name := g.starts[s]
	if name == "" {
		name = "startNode"
		if p != g.p {
			name = g.p.Names.Bodies[p] + "StartNode"
		}
		name = g.declare(name, func(name string) string { return name + "_" })
		if g.starts == nil {
			g.starts = map[*check.Step]string{}
		}
		g.starts[s] = name
		g.patterns.Line().Var().Id(ident(name)).Op("=").Qual(flowPath, "Node").Values(
			field("ID", quote("start")), field("Pos", g.pos(s.Node.ID.Span)), field("Index", jen.Lit(-1))).Line()
	}
	return jen.Op("&").Id(ident(name))
}

func field(name string, v jen.Code) jen.Code { return jen.Id(ident(name)).Op(":").Add(v) }

// pos is file:line:col, the file as programs name it: the same on every machine.
func (g *generator) pos(s source.Span) jen.Code {
	p := s.Start()
	return quote(fmt.Sprintf("%s:%d:%d", s.File.Short(), p.Line, p.Col))
}

// nodeLiteral writes a node, whose variable has a name of so many columns. One that takes more than a line in any case has a
// line for each field at once: to have wrapLines find that out is to format the entire file twice, where each node retries.
func (g *generator) nodeLiteral(i int, s *check.Step, name int) jen.Code {
	n := s.Node
	least := tabWidth + name + len(` = flow.Node{ID: "", Pos: "", Index: 0}`)
	fields := []jen.Code{field("ID", quote(n.ID.Name)), field("Pos", g.pos(n.ID.Span)), field("Index", jen.Lit(i))}
	add := func(name string, v jen.Code) { fields = append(fields, field(name, v)) }
	attempt := s.AttemptTimeout()
	switch r := s.Retry(); {
	case r != nil && r.Attempts > 1:
		add("Retry", g.retry(r, attempt))
		least += len(", Retry: &flow.Retry{Attempts: 2, Base: time.Hour, Cap: time.Hour}")
		if len(r.Codes) > 0 {
			least += len(", Codes: []value.Code{}") - len(", ")
		}
		for _, c := range r.Codes {
			least += len(", value.") + len(codeNames[c.Name])
		}
	case attempt > 0:
		add("Retry", jen.Op("&").Qual(flowPath, "Retry").Values(field("Timeout", durationCode(attempt))))
		least += len(", Retry: &flow.Retry{Timeout: time.Hour}")
	}
	if d := s.Timeout(); d > 0 {
		add("Timeout", durationCode(d))
		least += len(", Timeout: time.Hour")
	}
	switch v := n.Verb.(type) {
	case *ir.Map:
		if v.Parallel > 0 {
			add("Limit", jen.Lit(v.Parallel))
		}
		if v.MaxItems > 0 {
			add("Max", jen.Lit(v.MaxItems))
		}
		if s.Effects() == ir.EffectsNone && !s.Rests() {
			add("Block", jen.Lit(64))
		}
	case *ir.Loop:
		if v.Max > 0 {
			add("Max", jen.Lit(v.Max))
		}
		paceFields(v, add)
	case *ir.Perform:
		if v.Items != nil && v.Items.Limit > 0 {
			add("Limit", jen.Lit(v.Items.Limit))
		}
		if v.Items != nil && v.Items.Most > 0 {
			add("Max", jen.Lit(int(v.Items.Most)))
		}
	}
	if s.Flow != nil {
		if pol := g.policy(s.Flow); pol != nil {
			add("Policy", pol)
		}
	}
	if d := doubtOf(s); d != nil {
		add("InDoubt", d)
	}
	var codes []jen.Code
	for _, c := range n.Catch {
		if c.Code.Name == "any" {
			add("CatchAny", jen.True())
			continue
		}
		codes = append(codes, codeName(c.Code.Name))
	}
	if len(codes) > 0 {
		add("Catch", jen.Index().Qual(valuePath, "Code").Values(codes...))
	}
	return jen.Qual(flowPath, "Node").Custom(braces(least > maxWidth), fields...)
}

func (g *generator) retry(r *ir.Retry, timeout time.Duration) jen.Code {
	fields := []jen.Code{field("Attempts", jen.Lit(r.Attempts))}
	add := func(name string, v jen.Code) { fields = append(fields, field(name, v)) }
	if len(r.Codes) > 0 {
		var codes []jen.Code
		for _, c := range r.Codes {
			codes = append(codes, codeName(c.Name))
		}
		add("Codes", jen.Index().Qual(valuePath, "Code").Values(codes...))
	}
	base, limit := 500*time.Millisecond, 30*time.Second
	if r.Base != nil {
		base = r.Base.Value
	}
	if r.Cap != nil {
		limit = r.Cap.Value
	}
	add("Base", durationCode(base))
	add("Cap", durationCode(limit))
	if r.Constant {
		add("Constant", jen.True())
	}
	if r.Jitter > 0 {
		add("Jitter", jen.Op(numeral(number(r.Jitter))))
	}
	if timeout > 0 {
		add("Timeout", durationCode(timeout))
	}
	return jen.Op("&").Qual(flowPath, "Retry").Values(fields...)
}

var codeNames = map[string]string{
	"VALIDATION_ERROR": "ValidationError", "TIMEOUT": "Timeout", "RATE_LIMIT": "RateLimit", "POLICY_DENIED": "PolicyDenied",
	"AUTH_REQUIRED": "AuthRequired", "PROVIDER_ERROR": "ProviderError", "NETWORK_ERROR": "NetworkError",
	"SANDBOX_ERROR": "SandboxError", "UNKNOWN": "Unknown",
}

func codeName(code string) jen.Code { return jen.Qual(valuePath, ident(codeNames[code])) }

// loopsOf lists the loops that edges close, in plan order.
func loopsOf(b *check.Body) []*check.Loop {
	var out []*check.Loop
	var walk func(p *check.Plan)
	walk = func(p *check.Plan) {
		if p == nil {
			return
		}
		if p.Kind == check.Repeat {
			out = append(out, p.Loop)
		}
		for _, k := range p.Kids {
			walk(k)
		}
		if p.Kind == check.Leaf && p.Step.Body != nil {
			walk(p.Step.Body.Plan)
		}
	}
	walk(b.Plan)
	return out
}

func (g *generator) loopName(l *check.Loop) string {
	name := g.p.Names.Nodes[l.From]
	return name[:len(name)-len("Node")] + "Back"
}

func (g *generator) loopNode(l *check.Loop) jen.Code { return jen.Op("&").Id(ident(g.loopName(l))) }

// info writes the description that command lines and viewers read.
func (g *generator) info() {
	p := g.p
	fields := []jen.Code{
		field("Name", quote(p.WF.Name.Name)),
		field("Source", quote(p.WF.File.Short())),
	}
	if p.WF.Description != "" {
		fields = append(fields, field("Description", quote(p.WF.Description)))
	}
	var table []jen.Code
	for _, s := range p.Table {
		table = append(table, jen.Op("&").Id(ident(p.Names.Nodes[s])))
	}
	if len(table) > 0 {
		fields = append(fields, field("Nodes", jen.Index().Op("*").Qual(flowPath, "Node").Custom(braces(len(table) > 4), table...)))
	}
	if len(p.Input.Fields) > 0 {
		fields = append(fields, field("Input", g.infoFields(p.Input.Fields)))
	}
	if len(p.Output.Fields) > 0 {
		fields = append(fields, field("Output", g.infoFields(p.Output.Fields)))
	}
	if edges := Edges(p.Body); len(edges) > 0 {
		var list []jen.Code
		for _, e := range edges {
			parts := []jen.Code{field("From", quote(e.From)), field("To", quote(e.To))}
			if e.Label != "" {
				parts = append(parts, field("Label", quote(e.Label)))
			}
			list = append(list, jen.Values(parts...))
		}
		fields = append(fields, field("Edges", jen.Index().Qual(flowPath, "Edge").Custom(braces(true), list...)))
	}
	fields = append(fields, g.secretFields()...)
	if brought := g.p.Providers(); len(brought) > 0 {
		var names []string
		for _, id := range brought {
			names = append(names, id.Name)
		}
		fields = append(fields, field("Providers", jen.Index().String().Values(quoted(names)...)))
	}
	if owners := g.secretOwners(); owners != nil {
		fields = append(fields, field("SecretOwners", owners))
	}
	if pol := g.policy(p); pol != nil {
		fields = append(fields, field("Policy", pol))
	}
	fields = append(fields, proxied(p)...)
	if needs := g.needs(); needs != nil {
		fields = append(fields, field("Needs", jen.Index().Qual(flowPath, "Need").Custom(braces(true), needs...)))
	}
	fields = append(fields, needFields("Env", g.environment())...)
	fields = append(fields, needFields("Programs", g.commands())...)
	fields = append(fields, field("Facts", jen.Id(ident(g.factsName()))))
	if p.WF.Outcome.Always {
		fields = append(fields, field("Partial", jen.True()))
	}
	if p.WF.Outcome.Status {
		fields = append(fields, field("Status", jen.True()))
	}
	if j := g.journaling(); j != nil {
		fields = append(fields, field("Journal", j))
	}
	g.file.Line()
	g.file.Comment("Info describes the workflow to command lines and viewers.")
	g.file.Var().Id("Info").Op("=").Op("&").Qual(flowPath, "Info").Custom(braces(true), fields...)
}

// secretFields are the names of the secrets, and whether they may be short.
func (g *generator) secretFields() []jen.Code {
	var names []string
	listed := map[string]bool{}
	for _, p := range g.programs() {
		for _, s := range p.WF.Secrets {
			if name := s.Name.Name; !listed[name] {
				listed[name] = true
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	fields := []jen.Code{field("Secrets", jen.Index().String().Values(quoted(names)...))}
	if g.p.WF.ShortKeys {
		fields = append(fields, field("ShortKeys", jen.True()))
	}
	return fields
}

func (g *generator) infoFields(fs []*schema.Field) jen.Code {
	var list []jen.Code
	for _, f := range fs {
		typ := f.Type.String()
		if f.Type.Kind == schema.Dynamic {
			typ = cmp.Or(f.Type.Elem, schema.AnyType).String()
		}
		parts := []jen.Code{field("Name", quote(f.Name)), field("Type", quote(typ))}
		if f.Default != nil {
			parts = append(parts, field("Default", quote(f.Default.JSON)))
		}
		if f.Description != "" {
			parts = append(parts, field("Description", quote(f.Description)))
		}
		list = append(list, jen.Values(parts...))
	}
	return jen.Index().Qual(flowPath, "Field").Custom(braces(true), list...)
}

// An Edge of the graph as people see it.
type Edge struct{ From, To, Label string }

// Edges lists the edges of a body, written or inferred, in the order of its steps.
func Edges(b *check.Body) []Edge {
	var out []Edge
	for _, e := range b.Edges() {
		out = append(out, Edge(e))
	}
	return out
}

// proxied says that requests go through the proxy of the environment, where the policy does.
func proxied(p *check.Program) []jen.Code {
	if own := p.WF.Policy; own == nil || !own.EnvironmentProxy {
		return nil
	}
	return []jen.Code{field("Proxied", jen.True())}
}
