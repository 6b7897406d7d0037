package convert

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Static converts a workflow whose reader has made a native one of it: it is written down.
func Static(c *Converter) {
	rest := *c.Workflow
	rest.Public, rest.Origin, rest.Casts, rest.Claims = false, "", false, nil
	if claims := c.Workflow.Claims; len(claims) > 0 {
		c.Note(claims[0].Span, "", "the native file says nothing of capabilities but those of the tools that it calls, so that its manifest leaves `%s` out", claims[0].Name)
	}
	rest.File, rest.Name, rest.Description, rest.Types, rest.Input, rest.State, rest.Output = nil, ir.Ident{}, "", nil, nil, nil, nil
	rest.Tools, rest.Body, rest.Includes, rest.Lock, rest.GoTypes = nil, ir.Body{}, nil, nil, nil
	rest.Secrets, rest.Models = nil, nil
	c.Rest(c.Workflow.Name.Span, "the workflow", &rest)
	c.include()
	c.staticTypes()
	c.staticFields()
	c.secrets()
	models := &doc.Mapping{}
	for _, m := range c.Workflow.Models {
		models.Add(NativeID(m.Name.Name), c.Model(m), m.Span)
	}
	c.Doc.AddUnlessEmpty("models", models, source.Span{})
	tools := &doc.Mapping{}
	for _, t := range c.Workflow.Tools {
		if c.own(t) {
			tools.Add(doc.Key(t.Key.Name), c.goTool(t), source.Span{})
		}
	}
	c.Doc.AddUnlessEmpty("tools", tools, source.Span{})
	nodes := &doc.Mapping{}
	for _, n := range c.Workflow.Body.Nodes {
		nodes.Add(c.IDs[n.ID.Name], c.staticNode(n), Join(n.ID.Span, n.Span))
	}
	c.Doc.Add("nodes", nodes, source.Span{})
	routes := c.Entry("routes")
	if routes.IsZero() {
		routes = c.Entry("rules")
	}
	c.Doc.AddUnlessEmpty("edges", c.staticEdges(), routes)
	out := &doc.Mapping{}
	for _, o := range c.Workflow.Output {
		c.FieldName(o.Name.Name, o.Name.Span)
		out.Add(o.Name.Name, c.Native(o.Value), source.Span{})
	}
	c.Doc.AddUnlessEmpty("output", out, source.Span{})
}

// staticFields writes the sections input and state. What a dialect declares once stands in the file once: comments about it
// go to the first place where it stands.
func (c *Converter) staticFields() {
	in := &doc.Mapping{}
	for _, f := range c.Workflow.Input {
		c.FieldName(f.Name, f.Span)
		in.Add(f.Name, c.Field(f), c.declared(f.Span))
	}
	c.Doc.AddUnlessEmpty("input", in, source.Span{})
	state := &doc.Mapping{}
	for _, s := range c.Workflow.State {
		c.FieldName(s.Name.Name, s.Name.Span)
		declared := s.Type
		if declared.Kind == schema.Opt && s.Init == nil && !c.Opt[s.Name.Name] && !slices.ContainsFunc(c.Workflow.Input, func(f *schema.Field) bool { return f.Name == s.Name.Name }) {
			declared = declared.Elem // what reads it may prove that it is there
		}
		typ := c.Typ(declared, s.Span)
		if s.Init != nil {
			typ = doc.Flow(doc.Pair("type", typ), doc.Pair("init", fromJSON(s.Init.JSON)))
		}
		if s.Merge.Kind != ir.MergeLast {
			c.Refuse(s.Span, "", "the merge rule of %s is not converted", s.Name.Name)
		}
		state.Add(s.Name.Name, typ, c.declared(s.Name.Span))
	}
	c.Doc.AddUnlessEmpty("state", state, source.Span{})
}

// declared is the place of a declaration whose name has a span, its value included; nothing when the name stands in a node.
func (c *Converter) declared(name source.Span) source.Span {
	for _, top := range []string{"state", "state_schema"} {
		n := c.Root.Get(top)
		if n == nil {
			continue
		}
		for _, e := range n.Entries {
			if e.Key.Span == name {
				return Join(e.Key.Span, e.Value.Span)
			}
		}
	}
	return source.Span{}
}

// goTool is a tool of the runtime that a dialect has by a name.
func (c *Converter) goTool(t *ir.Tool) doc.Value {
	if b, ok := t.Binding.(*ir.CommandTool); ok {
		return c.commandTool(t, b)
	}
	if b, ok := t.Binding.(*ir.PythonTool); ok && b.Class == nil && t.Def != nil {
		return c.decorated(t, b)
	}
	g, ok := t.Binding.(*ir.GoTool)
	if !ok {
		c.Refuse(t.Span, "", "the tool %s is not converted", t.Key.Name)
		return doc.Scalar("null")
	}
	m := &doc.Mapping{Flow: true}
	name := g.Func.Ref.Name
	if own := c.p.WF.Provided.Instead[name]; own != "" {
		name = own
	}
	m.Add("go", doc.Scalar(doc.Quoted(name)), source.Span{})
	m.Add("effects", doc.Scalar(t.Effects.String()), source.Span{})
	if len(t.Permissions) > 0 {
		l := &doc.List{Flow: true}
		for _, p := range t.Permissions {
			l.Add(doc.Scalar(doc.Quoted(p)), source.Span{})
		}
		m.Add("permissions", l, source.Span{})
	}
	return m
}

// decorated is a function of the project's Python, which says itself what it takes and what it needs.
func (c *Converter) decorated(t *ir.Tool, b *ir.PythonTool) doc.Value {
	if t.Def.Root != "" {
		c.Refuse(t.Span, "move it, or bind it in a library", "the module of %s is in another folder than the graph, where the native language does not look for it", b.Ref.Name)
	}
	for _, f := range t.Def.Files {
		if PyWorld.MatchString(f.Text) {
			c.Refuse(t.Span, "hand it over as an argument, or as a secret", "the module %s looks at the environment or its own place, which a tool of the native language does not see", f.Name)
		}
	}
	m := &doc.Mapping{Flow: true}
	m.Add("python", doc.Scalar(doc.Quoted(b.Ref.Name)), source.Span{})
	m.Add("effects", doc.Scalar(t.Effects.String()), source.Span{})
	return m
}

// staticNode writes a node.
func (c *Converter) staticNode(n *ir.Node) doc.Value {
	rest := *n
	rest.ID, rest.Verb, rest.Set, rest.Span, rest.Result, rest.Timeout, rest.Catch = ir.Ident{}, nil, nil, source.Span{}, nil, nil, nil
	c.Rest(n.ID.Span, "the node", &rest)
	m := &doc.Mapping{}
	at := NodeAt(c.Root, n.Span)
	switch v := n.Verb.(type) {
	case *ir.ToolCall:
		m.Add("tool", doc.Scalar(doc.Quoted(v.Name.Name)), Below(at, "tool"))
		if v.With != nil {
			with := &doc.Mapping{Flow: true}
			for _, e := range v.With.Entries {
				with.Add(doc.Key(c.argument(v.Tool, e.Key.Name)), c.Native(e.Value), Join(e.Key.Span, e.Value.Source()))
			}
			c.WithUnlessEmpty(m, with, Below(at, "inputs"))
		}
	case *ir.Let:
		fields := doc.Flow()
		for _, e := range v.Fields {
			fields.Add(doc.Key(e.Key.Name), c.Native(e.Value), Join(e.Key.Span, e.Value.Source()))
		}
		m.Add("let", fields, source.Span{})
	case *ir.GoCall:
		m.Add("go", doc.Scalar(doc.Quoted(v.Func.Ref.Name)), source.Span{})
		if v.With != nil {
			with := &doc.Mapping{Flow: true}
			for _, e := range v.With.Entries {
				with.Add(doc.Key(e.Key.Name), c.Native(e.Value), source.Span{})
			}
			c.WithUnlessEmpty(m, with, source.Span{})
		}
	case *ir.LLM:
		c.staticAsk(n, v, m)
	case *ir.Human:
		m.Add("human", c.Native(v.Prompt), Below(at, "prompt"))
		if v.Out != nil && v.Out.Kind != schema.String {
			m.Add("out", c.Typ(v.Out, v.Span), source.Span{})
		}
		if v.Timeout != nil {
			m.Add("timeout", doc.Scalar(doc.Duration(v.Timeout.Value)), Below(at, "timeout"))
		}
		if t := v.OnTimeout; t != nil && t.Kind == ir.OnErrorSkip {
			m.Add("on_timeout", doc.Scalar("skip"), Below(at, "on_timeout"))
		} else if t != nil && t.Kind == ir.OnErrorDefault {
			m.Add("on_timeout", doc.Flow(doc.Pair("default", c.Native(t.Default))), Below(at, "on_timeout"))
		}
	default:
		c.Refuse(n.ID.Span, "", "the node %s is of a kind that is not converted", n.ID.Name)
	}
	catch := doc.Flow()
	for _, x := range n.Catch {
		catch.Add(x.Code.Name, doc.Scalar(c.target(x.Target)), source.Span{})
	}
	if len(catch.Entries) > 0 {
		m.Add("catch", catch, Below(at, "on_timeout"))
	}
	if n.Timeout != nil {
		m.Add("timeout", doc.Scalar(doc.Duration(n.Timeout.Value)), source.Span{})
	}
	if len(n.Set) > 0 {
		set := doc.Flow()
		for _, s := range n.Set {
			set.Add(s.Field.Name, c.Native(s.Value), source.Span{})
		}
		m.Add("set", set, Below(at, "out"))
	}
	if doc.PlainEntries(m.Entries) && len(m.Entries) < 2 {
		m.Flow = true
	}
	return m
}

// WithUnlessEmpty adds arguments, if there are any.
func (c *Converter) WithUnlessEmpty(m, with *doc.Mapping, at source.Span) {
	if len(with.Entries) > 0 {
		m.Add("with", with, at)
	}
}

// staticEdges writes the edges. Those that only follow each other are one line.
func (c *Converter) staticEdges() *doc.List {
	l := &doc.List{}
	var chain []string
	end := func() {
		if len(chain) > 0 {
			l.Add(doc.Scalar(strings.Join(chain, " -> ")), source.Span{})
		}
		chain = nil
	}
	for _, e := range c.Workflow.Body.Edges {
		if e.When == nil && e.Switch == nil && !e.Back && len(e.To) == 1 {
			from, to := c.target(e.From), c.target(e.To[0])
			if len(chain) == 0 || chain[len(chain)-1] != from {
				end()
				chain = []string{from}
			}
			chain = append(chain, to)
			continue
		}
		end()
		l.Add(c.edge(e), c.written(e.From, e.Span))
	}
	end()
	return l
}

// written is the place of an edge that the file writes, or of the routes of its node; nothing for one that follows from the
// order of nodes.
func (c *Converter) written(id ir.Ident, at source.Span) source.Span {
	if slices.ContainsFunc(c.Workflow.Body.Nodes, func(n *ir.Node) bool { return n.ID.Span == at || n.Span == at }) {
		return c.Entry("routes", id.Name)
	}
	return at
}

func (c *Converter) target(id ir.Ident) string {
	if to, ok := c.IDs[id.Name]; ok {
		return to
	}
	return "end"
}

func (c *Converter) targets(ids []ir.Ident) doc.Value {
	if len(ids) == 1 {
		return doc.Scalar(c.target(ids[0]))
	}
	l := &doc.List{Flow: true}
	for _, id := range ids {
		l.Add(doc.Scalar(c.target(id)), source.Span{})
	}
	return l
}

// edge is an edge with a condition, a switch, or a way back.
func (c *Converter) edge(e *ir.Edge) doc.Value {
	m := doc.Flow(doc.Pair("from", doc.Scalar(c.target(e.From))))
	if len(e.To) > 0 {
		m.Add("to", c.targets(e.To), source.Span{})
	}
	if e.When != nil {
		m.Add("when", doc.Scalar(Condition(c.expr(e.When.Text.Value, e.When.Node))), source.Span{})
	}
	if e.Switch != nil {
		m.Add("switch", doc.Scalar(Condition(c.expr(e.Switch.Text.Value, e.Switch.Node))), source.Span{})
		cases := doc.Flow()
		for _, k := range e.Cases {
			s, ok := k.Value.(*ir.Scalar)
			if !ok {
				c.Refuse(e.Span, "", "a case of this switch is not converted")
				continue
			}
			text := s.Text.Value
			if s.Tag == "!!str" {
				text = caseKey(text)
			}
			cases.Add(text, c.targets(k.To), source.Span{})
		}
		m.Add("cases", cases, source.Span{})
		if len(e.Default) > 0 {
			m.Add("default", c.targets(e.Default), source.Span{})
		}
	}
	if e.Back {
		max := doc.Scalar("unbounded")
		if e.Max != 0 {
			max = doc.Number(e.Max)
		}
		m.Add("max", max, source.Span{})
	}
	if e.Exhausted != nil {
		m.Add("exhausted", doc.Scalar(c.target(*e.Exhausted)), source.Span{})
	}
	return m
}

// Condition is an expression where the language reads one without a `$`.
func Condition(text string) string {
	q := doc.Quoted("$" + text)
	if q == "$"+text && doc.PlainForm.MatchString(text) {
		return text
	}
	return doc.Quoted(text)
}

// caseKey is a text of a switch.
func caseKey(s string) string {
	if doc.PlainForm.MatchString(s) {
		return doc.Quoted(s)
	}
	return doc.Escaped(s)
}

// argument is the name of an argument: functions of the runtime have the parameters of Go.
func (c *Converter) argument(t *ir.Tool, name string) string {
	if g, ok := t.Binding.(*ir.GoTool); !ok || c.p.WF.Provided.Function(g.Func.Ref.Name) == nil {
		return name
	}
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}
