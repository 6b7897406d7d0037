// Package stargraph converts graphs of Stargraph to native workflows.
package stargraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A converter is a graph while it is converted.
type converter struct{ *convert.Converter }

// Convert writes down the native workflow that the reader of the dialect has made.
func Convert(x *convert.Converter) {
	c := &converter{x}
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
	c.types()
	c.fields()
	c.Secrets()
	models := &doc.Mapping{}
	for _, m := range c.Workflow.Models {
		models.Add(convert.NativeID(m.Name.Name), c.Model(m), m.Span)
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
		nodes.Add(c.IDs[n.ID.Name], c.node(n), convert.Join(n.ID.Span, n.Span))
	}
	c.Doc.Add("nodes", nodes, source.Span{})
	routes := c.Entry("routes")
	if routes.IsZero() {
		routes = c.Entry("rules")
	}
	c.Doc.AddUnlessEmpty("edges", c.edges(), routes)
	out := &doc.Mapping{}
	for _, o := range c.Workflow.Output {
		c.FieldName(o.Name.Name, o.Name.Span)
		out.Add(o.Name.Name, c.Native(o.Value), source.Span{})
	}
	c.Doc.AddUnlessEmpty("output", out, source.Span{})
}

// fields writes the sections input and state. What a dialect declares once stands in the file once: comments about it
// go to the first place where it stands.
func (c *converter) fields() {
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
			typ = doc.Flow(doc.Pair("type", typ), doc.Pair("init", convert.FromJSON(s.Init.JSON)))
		}
		if s.Merge.Kind != ir.MergeLast {
			c.Refuse(s.Span, "", "the merge rule of %s is not converted", s.Name.Name)
		}
		state.Add(s.Name.Name, typ, c.declared(s.Name.Span))
	}
	c.Doc.AddUnlessEmpty("state", state, source.Span{})
}

// declared is the place of a declaration whose name has a span, its value included; nothing when the name stands in a node.
func (c *converter) declared(name source.Span) source.Span {
	for _, top := range []string{"state", "state_schema"} {
		n := c.Root.Get(top)
		if n == nil {
			continue
		}
		for _, e := range n.Entries {
			if e.Key.Span == name {
				return convert.Join(e.Key.Span, e.Value.Span)
			}
		}
	}
	return source.Span{}
}

// node writes a node.
func (c *converter) node(n *ir.Node) doc.Value {
	rest := *n
	rest.ID, rest.Verb, rest.Set, rest.Span, rest.Result, rest.Timeout, rest.Catch = ir.Ident{}, nil, nil, source.Span{}, nil, nil, nil
	c.Rest(n.ID.Span, "the node", &rest)
	m := &doc.Mapping{}
	at := convert.NodeAt(c.Root, n.Span)
	switch v := n.Verb.(type) {
	case *ir.ToolCall:
		m.Add("tool", doc.Scalar(doc.Quoted(v.Name.Name)), convert.Below(at, "tool"))
		if v.With != nil {
			with := &doc.Mapping{Flow: true}
			for _, e := range v.With.Entries {
				with.Add(doc.Key(c.argument(v.Tool, e.Key.Name)), c.Native(e.Value), convert.Join(e.Key.Span, e.Value.Source()))
			}
			c.WithUnlessEmpty(m, with, convert.Below(at, "inputs"))
		}
	case *ir.Let:
		fields := doc.Flow()
		for _, e := range v.Fields {
			fields.Add(doc.Key(e.Key.Name), c.Native(e.Value), convert.Join(e.Key.Span, e.Value.Source()))
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
		c.ask(n, v, m)
	case *ir.Human:
		m.Add("human", c.Native(v.Prompt), convert.Below(at, "prompt"))
		if v.Out != nil && v.Out.Kind != schema.String {
			m.Add("out", c.Typ(v.Out, v.Span), source.Span{})
		}
		if v.Timeout != nil {
			m.Add("timeout", doc.Scalar(doc.Duration(v.Timeout.Value)), convert.Below(at, "timeout"))
		}
		if t := v.OnTimeout; t != nil && t.Kind == ir.OnErrorSkip {
			m.Add("on_timeout", doc.Scalar("skip"), convert.Below(at, "on_timeout"))
		} else if t != nil && t.Kind == ir.OnErrorDefault {
			m.Add("on_timeout", doc.Flow(doc.Pair("default", c.Native(t.Default))), convert.Below(at, "on_timeout"))
		}
	default:
		c.Refuse(n.ID.Span, "", "the node %s is of a kind that is not converted", n.ID.Name)
	}
	catch := doc.Flow()
	for _, x := range n.Catch {
		catch.Add(x.Code.Name, doc.Scalar(c.Target(x.Target)), source.Span{})
	}
	if len(catch.Entries) > 0 {
		m.Add("catch", catch, convert.Below(at, "on_timeout"))
	}
	if n.Timeout != nil {
		m.Add("timeout", doc.Scalar(doc.Duration(n.Timeout.Value)), source.Span{})
	}
	if len(n.Set) > 0 {
		set := doc.Flow()
		for _, s := range n.Set {
			set.Add(s.Field.Name, c.Native(s.Value), source.Span{})
		}
		m.Add("set", set, convert.Below(at, "out"))
	}
	if doc.PlainEntries(m.Entries) && len(m.Entries) < 2 {
		m.Flow = true
	}
	return m
}

// ask writes a question to a model.
func (c *converter) ask(n *ir.Node, v *ir.LLM, m *doc.Mapping) {
	rest := *v
	rest.Model, rest.System, rest.Prompt, rest.Out, rest.Reask, rest.Span = ir.Ident{}, nil, nil, nil, 0, source.Span{}
	c.Rest(n.ID.Span, "the node "+n.ID.Name, &rest)
	m.Add("llm", doc.Scalar(convert.NativeID(v.Model.Name)), source.Span{})
	system := v.System
	if system == nil && v.Prompt != nil {
		system = v.Prompt.System
	}
	if system != nil {
		m.Add("system", c.Native(system), source.Span{})
	}
	if v.Prompt == nil || v.Prompt.File.Name != "" || v.Prompt.Text == nil {
		c.Refuse(n.ID.Span, "", "the prompt of %s is not converted", n.ID.Name)
		return
	}
	m.Add("prompt", c.Native(v.Prompt.Text), source.Span{})
	if v.Out != nil && (v.Out.Kind != schema.String || v.Out.Decl != nil) {
		m.Add("out", c.Typ(v.Out, n.ID.Span), source.Span{})
	}
	if v.Reask > 0 {
		m.Add("reask", doc.Number(v.Reask), source.Span{})
	}
}

// types writes the types that the workflow names.
func (c *converter) types() {
	types := &doc.Mapping{}
	for _, d := range c.Workflow.Types {
		if d.Type == nil || d.Type.Kind != schema.Struct {
			types.Add(d.Name, c.spelled(d.Type, d.Span), source.Span{})
			continue
		}
		m := doc.Flow()
		for _, f := range d.Type.Fields {
			m.Add(f.Name, c.Field(f), source.Span{})
		}
		types.Add(d.Name, m, source.Span{})
	}
	c.Doc.AddUnlessEmpty("types", types, source.Span{})
}

// spelled is a type as it is written where it gets its name.
func (c *converter) spelled(t *schema.Type, at source.Span) doc.Value {
	own := *t
	own.Decl = nil
	return c.Typ(&own, at)
}
