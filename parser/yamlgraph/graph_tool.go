package yamlgraph

import (
	"path"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A graphTool is a tool that runs another graph and gives one of its fields as text.
type graphTool struct {
	tool *ir.Tool
	path ir.Ident // as written
	flow *ir.Workflow
	in   []FieldPair // Parent is the name of an argument, Child a field of the graph
	out  string      // the field; all of them where the graph has no such
}

// graphTool reads a tool that runs another graph.
func (p *parser) graphTool(m dialect.Mapping, key ir.Ident) {
	ref, ok := p.Text(m.Get("path"), "`path`")
	if !ok {
		if m.Get("path") == nil {
			p.Error(diag.MissingKey, key.Span, "add `path`: the file of the graph", "a graph tool needs the key `path`")
		}
		return
	}
	if p.load == nil {
		return
	}
	child := p.child(ref)
	if child == nil {
		return
	}
	b := &graphTool{path: ref, flow: child, out: "result"}
	if id, ok := p.Text(m.Get("output_key"), "`output_key`"); ok {
		b.out = id.Name
	}
	if !declares(child, b.out) {
		p.Warn(diag.UnknownName, p.outputKey(m, key), "write the field as `output_key`", "the state of %s has no field %q, so that the tool returns all fields", path.Base(child.File.Name), b.out)
	}
	if n := m.Get("input_mapping"); n != nil {
		b.in = p.mapped(n, child, "`input_mapping`")
		if n.Kind == yamlnode.Scalar {
			p.WrongShape(n, "`input_mapping` is a mapping of arguments to fields")
		}
	}
	t := &ir.Tool{Name: ir.Ident{Name: p.wf.Name.Name + "." + key.Name, Span: key.Span}, Version: "1", Key: key, Effects: ir.EffectsExternal, EffectsSpan: key.Span,
		In: schema.AnyType, Out: schema.AnyType, OutSpan: key.Span, Binding: &ir.Made{}, Description: child.Description, File: p.File, Span: key.Span}
	in := &schema.Type{Kind: schema.Struct}
	for _, pair := range b.in {
		in.Fields = append(in.Fields, &schema.Field{Name: pair.Parent.Name, Type: schema.StringType, Description: "Input: " + pair.Parent.Name, Span: pair.Parent.Span})
	}
	t.Def = &ir.Definition{Name: key.Name, Span: key.Span, In: in}
	if d, ok := p.Text(m.Get("description"), "the description"); ok {
		t.Description = d.Name
	}
	p.tools[key.Name] = t
	p.graphs = append(p.graphs, b)
	b.tool = t
	p.wf.Tools = append(p.wf.Tools, t)
}

// graphTools makes the tools that run other graphs, whose inputs and fields are known by then.
func (p *parser) graphTools() {
	for _, b := range p.graphs {
		var given []expr.Entry
		for _, f := range b.flow.Input {
			arg := f.Name
			for _, pair := range b.in {
				if pair.Child.Name == f.Name {
					arg = pair.Parent.Name
				}
			}
			given = append(given, expr.Put(f.Name, expr.Invoke(dialect.At, expr.Read("args"), expr.Const(arg))))
		}
		run := expr.Of(expr.UseFlow, b.flow.Name.Name, b.flow, expr.Object(given...), expr.Read("run"))
		if b.flow.StateField(b.out) != nil {
			run = &expr.Node{Op: expr.Field, Text: b.out, Kids: []*expr.Node{run}}
		}
		v := made(&ir.Reach{Code: []string{"graph:" + b.path.Name}}, fnGraph, expr.Const(b.tool.FullName()), expr.Invoke(dialect.External), expr.Of(expr.UseProgram, "", nil), expr.Fn(run, "run", "args"))
		v.Flow = b.flow
		b.tool.Binding = v
	}
}

// outputKey is where a graph tool says what it gives.
func (p *parser) outputKey(m dialect.Mapping, key ir.Ident) source.Span {
	if n := m.Get("output_key"); n != nil {
		return n.Span
	}
	return key.Span
}

// toolCallFails reads what becomes of a call that fails, and where what a graph tool returns goes besides.
func (p *parser) toolCallFails(m dialect.Mapping, out *Node) {
	t := out.Token
	if e := m.Get("on_error"); e != nil {
		switch word := p.Word(e, "`on_error` of a tool_call node", "skip", "fail"); {
		case word == "fail" && p.opts.Upstream:
			p.Warn(diag.IgnoredKey, m.Key("on_error"), "look at `success` of the result", "YAMLGraph 0.4 does not read it: errors of a tool_call node are part of its result")
		case word == "fail":
			t.Stops = true
			p.Differs(m.Key("on_error"), "", "a call that fails ends the run, as in YAMLGraph 0.6; 0.4 does not read this")
		}
	}
	if n := m.Get("parsed_key"); n != nil {
		if id, ok := p.Text(n, "`parsed_key`"); ok {
			p.field(id, schema.AnyType)
			t.Parsed = id
		}
	}
}

// parsable holds nodes with a parsed_key to tools that give something to parse.
func (p *parser) parsable() {
	for _, n := range p.tree.Nodes {
		v, ok := n.Verb.(*ir.ToolChoice)
		if !ok || n.Token.Parsed.Name == "" {
			continue
		}
		name, fixed := v.Tool.(*ir.Scalar)
		if t := p.tools[scalarText(name, fixed)]; fixed && t != nil {
			if p.kindOf(t) != "graph" {
				p.Error(diag.WrongShape, n.Token.Parsed.Span, "remove it, or call a graph tool", "`parsed_key` is for graph tools, and %q is none", name.Text.Value)
			}
		}
	}
}

func scalarText(s *ir.Scalar, ok bool) string {
	if !ok {
		return ""
	}
	return s.Text.Value
}
