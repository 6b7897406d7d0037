package convert

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// static converts a workflow whose reader has made a native one of it, as that of Stargraph does: it is written down.
func (c *converter) static() {
	rest := *c.wf
	rest.Public, rest.Casts, rest.Claims = false, false, nil
	if claims := c.wf.Claims; len(claims) > 0 {
		c.note(claims[0].Span, "", "the native file says nothing of capabilities but those of the tools that it calls, so that its manifest leaves `%s` out", claims[0].Name)
	}
	rest.File, rest.Name, rest.Description, rest.Types, rest.Input, rest.State, rest.Output = nil, ir.Ident{}, "", nil, nil, nil, nil
	rest.Tools, rest.Body, rest.Includes, rest.Lock, rest.GoTypes = nil, ir.Body{}, nil, nil, nil
	rest.Secrets, rest.Models = nil, nil
	c.rest(c.wf.Name.Span, "the workflow", &rest)
	c.include()
	c.staticTypes()
	c.staticFields()
	c.secrets()
	models := &mapping{}
	for _, m := range c.wf.Models {
		models.add(nativeID(m.Name.Name), c.model(m), m.Span)
	}
	c.doc.addUnlessEmpty("models", models, source.Span{})
	tools := &mapping{}
	for _, t := range c.wf.Tools {
		if c.own(t) {
			tools.add(key(t.Key.Name), c.goTool(t), source.Span{})
		}
	}
	c.doc.addUnlessEmpty("tools", tools, source.Span{})
	nodes := &mapping{}
	for _, n := range c.wf.Body.Nodes {
		nodes.add(c.ids[n.ID.Name], c.staticNode(n), join(n.ID.Span, n.Span))
	}
	c.doc.add("nodes", nodes, source.Span{})
	routes := c.entry("routes")
	if routes.IsZero() {
		routes = c.entry("rules")
	}
	c.doc.addUnlessEmpty("edges", c.staticEdges(), routes)
	out := &mapping{}
	for _, o := range c.wf.Output {
		c.fieldName(o.Name.Name, o.Name.Span)
		out.add(o.Name.Name, c.native(o.Value), source.Span{})
	}
	c.doc.addUnlessEmpty("output", out, source.Span{})
}

// staticFields writes the sections input and state. What a dialect declares once stands in the file once: comments about it
// go to the first place where it stands.
func (c *converter) staticFields() {
	in := &mapping{}
	for _, f := range c.wf.Input {
		c.fieldName(f.Name, f.Span)
		in.add(f.Name, c.field(f), c.declared(f.Span))
	}
	c.doc.addUnlessEmpty("input", in, source.Span{})
	state := &mapping{}
	for _, s := range c.wf.State {
		c.fieldName(s.Name.Name, s.Name.Span)
		declared := s.Type
		if declared.Kind == schema.Opt && s.Init == nil && !c.opt[s.Name.Name] && !slices.ContainsFunc(c.wf.Input, func(f *schema.Field) bool { return f.Name == s.Name.Name }) {
			declared = declared.Elem // what reads it may prove that it is there
		}
		typ := c.typ(declared, s.Span)
		if s.Init != nil {
			typ = flow(pair("type", typ), pair("init", fromJSON(s.Init.JSON)))
		}
		if s.Merge.Kind != ir.MergeLast {
			c.refuse(s.Span, "", "the merge rule of %s is not converted", s.Name.Name)
		}
		state.add(s.Name.Name, typ, c.declared(s.Name.Span))
	}
	c.doc.addUnlessEmpty("state", state, source.Span{})
}

// declared is the place of a declaration whose name has a span, its value included; nothing when the name stands in a node.
func (c *converter) declared(name source.Span) source.Span {
	for _, top := range []string{"state", "state_schema"} {
		n := c.root.Get(top)
		if n == nil {
			continue
		}
		for _, e := range n.Entries {
			if e.Key.Span == name {
				return join(e.Key.Span, e.Value.Span)
			}
		}
	}
	return source.Span{}
}

// nativeForms are functions of the runtime as the native language calls them, where that is another one.
var nativeForms = map[string]string{schema.RuntimePath + "/nautilus.BrokerRequest": schema.RuntimePath + "/nautilus.Ask"}

// goTool is a tool of the runtime that a dialect has by a name.
func (c *converter) goTool(t *ir.Tool) value {
	if b, ok := t.Binding.(*ir.CommandTool); ok {
		return c.commandTool(t, b)
	}
	if b, ok := t.Binding.(*ir.PythonTool); ok && b.Class == nil && t.Def != nil {
		return c.decorated(t, b)
	}
	g, ok := t.Binding.(*ir.GoTool)
	if !ok {
		c.refuse(t.Span, "", "the tool %s is not converted", t.Key.Name)
		return scalar("null")
	}
	m := &mapping{flow: true}
	name := g.Func.Ref.Name
	if own := nativeForms[name]; own != "" {
		name = own
	}
	m.add("go", scalar(quoted(name)), source.Span{})
	m.add("effects", scalar(t.Effects.String()), source.Span{})
	if len(t.Permissions) > 0 {
		l := &list{flow: true}
		for _, p := range t.Permissions {
			l.add(scalar(quoted(p)), source.Span{})
		}
		m.add("permissions", l, source.Span{})
	}
	return m
}

// decorated is a function of the project's Python, which says itself what it takes and what it needs.
func (c *converter) decorated(t *ir.Tool, b *ir.PythonTool) value {
	if t.Def.Root != "" {
		c.refuse(t.Span, "move it, or bind it in a library", "the module of %s is in another folder than the graph, where the native language does not look for it", b.Ref.Name)
	}
	for _, f := range t.Def.Files {
		if pyWorld.MatchString(f.Text) {
			c.refuse(t.Span, "hand it over as an argument, or as a secret", "the module %s looks at the environment or its own place, which a tool of the native language does not see", f.Name)
		}
	}
	m := &mapping{flow: true}
	m.add("python", scalar(quoted(b.Ref.Name)), source.Span{})
	m.add("effects", scalar(t.Effects.String()), source.Span{})
	return m
}

// staticNode writes a node.
func (c *converter) staticNode(n *ir.Node) value {
	rest := *n
	rest.ID, rest.Verb, rest.Set, rest.Span, rest.Result, rest.Timeout, rest.Catch = ir.Ident{}, nil, nil, source.Span{}, nil, nil, nil
	c.rest(n.ID.Span, "the node", &rest)
	m := &mapping{}
	at := nodeAt(c.root, n.Span)
	switch v := n.Verb.(type) {
	case *ir.ToolCall:
		m.add("tool", scalar(quoted(v.Name.Name)), below(at, "tool"))
		if v.With != nil {
			with := &mapping{flow: true}
			for _, e := range v.With.Entries {
				with.add(key(argument(v.Tool, e.Key.Name)), c.native(e.Value), join(e.Key.Span, e.Value.Source()))
			}
			c.withUnlessEmpty(m, with, below(at, "inputs"))
		}
	case *ir.Let:
		fields := flow()
		for _, e := range v.Fields {
			fields.add(key(e.Key.Name), c.native(e.Value), join(e.Key.Span, e.Value.Source()))
		}
		m.add("let", fields, source.Span{})
	case *ir.GoCall:
		m.add("go", scalar(quoted(v.Func.Ref.Name)), source.Span{})
		if v.With != nil {
			with := &mapping{flow: true}
			for _, e := range v.With.Entries {
				with.add(key(e.Key.Name), c.native(e.Value), source.Span{})
			}
			c.withUnlessEmpty(m, with, source.Span{})
		}
	case *ir.LLM:
		c.staticAsk(n, v, m)
	case *ir.Human:
		m.add("human", c.native(v.Prompt), below(at, "prompt"))
		if v.Out != nil && v.Out.Kind != schema.String {
			m.add("out", c.typ(v.Out, v.Span), source.Span{})
		}
		if v.Timeout != nil {
			m.add("timeout", scalar(duration(v.Timeout.Value)), below(at, "timeout"))
		}
		if t := v.OnTimeout; t != nil && t.Kind == ir.OnErrorSkip {
			m.add("on_timeout", scalar("skip"), below(at, "on_timeout"))
		} else if t != nil && t.Kind == ir.OnErrorDefault {
			m.add("on_timeout", flow(pair("default", c.native(t.Default))), below(at, "on_timeout"))
		}
	default:
		c.refuse(n.ID.Span, "", "the node %s is of a kind that is not converted", n.ID.Name)
	}
	catch := flow()
	for _, x := range n.Catch {
		catch.add(x.Code.Name, scalar(c.target(x.Target)), source.Span{})
	}
	if len(catch.entries) > 0 {
		m.add("catch", catch, below(at, "on_timeout"))
	}
	if n.Timeout != nil {
		m.add("timeout", scalar(duration(n.Timeout.Value)), source.Span{})
	}
	if len(n.Set) > 0 {
		set := flow()
		for _, s := range n.Set {
			set.add(s.Field.Name, c.native(s.Value), source.Span{})
		}
		m.add("set", set, below(at, "out"))
	}
	if plainEntries(m.entries) && len(m.entries) < 2 {
		m.flow = true
	}
	return m
}

// withUnlessEmpty adds arguments, if there are any.
func (c *converter) withUnlessEmpty(m, with *mapping, at source.Span) {
	if len(with.entries) > 0 {
		m.add("with", with, at)
	}
}

// staticEdges writes the edges. Those that only follow each other are one line.
func (c *converter) staticEdges() *list {
	l := &list{}
	var chain []string
	end := func() {
		if len(chain) > 0 {
			l.add(scalar(strings.Join(chain, " -> ")), source.Span{})
		}
		chain = nil
	}
	for _, e := range c.wf.Body.Edges {
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
		l.add(c.edge(e), c.written(e.From, e.Span))
	}
	end()
	return l
}

// written is the place of an edge that the file writes, or of the routes of its node; nothing for one that follows from the
// order of nodes.
func (c *converter) written(id ir.Ident, at source.Span) source.Span {
	if slices.ContainsFunc(c.wf.Body.Nodes, func(n *ir.Node) bool { return n.ID.Span == at || n.Span == at }) {
		return c.entry("routes", id.Name)
	}
	return at
}

func (c *converter) target(id ir.Ident) string {
	if to, ok := c.ids[id.Name]; ok {
		return to
	}
	return "end"
}

func (c *converter) targets(ids []ir.Ident) value {
	if len(ids) == 1 {
		return scalar(c.target(ids[0]))
	}
	l := &list{flow: true}
	for _, id := range ids {
		l.add(scalar(c.target(id)), source.Span{})
	}
	return l
}

// edge is an edge with a condition, a switch, or a way back.
func (c *converter) edge(e *ir.Edge) value {
	m := flow(pair("from", scalar(c.target(e.From))))
	if len(e.To) > 0 {
		m.add("to", c.targets(e.To), source.Span{})
	}
	if e.When != nil {
		m.add("when", scalar(condition(c.expr(e.When.Text.Value, e.When.Node))), source.Span{})
	}
	if e.Switch != nil {
		m.add("switch", scalar(condition(c.expr(e.Switch.Text.Value, e.Switch.Node))), source.Span{})
		cases := flow()
		for _, k := range e.Cases {
			s, ok := k.Value.(*ir.Scalar)
			if !ok {
				c.refuse(e.Span, "", "a case of this switch is not converted")
				continue
			}
			text := s.Text.Value
			if s.Tag == "!!str" {
				text = caseKey(text)
			}
			cases.add(text, c.targets(k.To), source.Span{})
		}
		m.add("cases", cases, source.Span{})
		if len(e.Default) > 0 {
			m.add("default", c.targets(e.Default), source.Span{})
		}
	}
	if e.Back {
		max := scalar("unbounded")
		if e.Max != 0 {
			max = number(e.Max)
		}
		m.add("max", max, source.Span{})
	}
	if e.Exhausted != nil {
		m.add("exhausted", scalar(c.target(*e.Exhausted)), source.Span{})
	}
	return m
}

// condition is an expression where the language reads one without a `$`.
func condition(text string) string {
	q := quoted("$" + text)
	if q == "$"+text && plainForm.MatchString(text) {
		return text
	}
	return quoted(text)
}

// caseKey is a text of a switch.
func caseKey(s string) string {
	if plainForm.MatchString(s) {
		return quoted(s)
	}
	return escaped(s)
}

// argument is the name of an argument: functions of the runtime have the parameters of Go.
func argument(t *ir.Tool, name string) string {
	if g, ok := t.Binding.(*ir.GoTool); !ok || !strings.HasPrefix(g.Func.Ref.Name, schema.RuntimePath+"/stargraph.") {
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
