package stargraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// toolNode reads a call.
func (p *parser) toolNode(x *node, m dialect.Mapping) {
	key, ok := p.Text(m.Get("tool"), "`tool`")
	if !ok {
		return
	}
	tool := p.tool(&key)
	var args []*argument
	var out ir.Ident
	if p.form == page {
		args = p.inputs(tool, m.Get("inputs"))
	} else {
		args = p.mapped(tool, m.Get("inputs"), m.Get("static"))
		out = ir.Ident{Name: "tool_result", Span: key.Span}
	}
	if id, ok := p.Text(m.Get("out"), "`out`"); ok {
		out = id
	}
	p.call(x, key, tool, args, out)
}

// call makes a node a call of a tool, whose result goes into a field of the state.
func (p *parser) call(x *node, key ir.Ident, tool *ir.Tool, args []*argument, out ir.Ident) {
	var f *field
	typ := schema.AnyType
	if tool != nil && tool.Out != nil {
		typ = tool.Out
	}
	if out.Name != "" {
		held := typ
		if declared(tool) && !plain(typ) {
			held = schema.AnyType
		}
		f = p.result(out, held)
		f.results = append(f.results, typ)
		p.keeps(f, gives(tool))
		if p.opts.Upstream {
			p.keeps(f, schema.MapOf(schema.AnyType)) // what is sanitized is dynamic
		}
	}
	p.denied(key, tool)
	x.lower = func() []*ir.Node {
		n := &ir.Node{ID: x.id, Verb: &ir.ToolCall{Name: key, With: with(dialect.Head(x.at), args)}, Span: x.at.Span}
		if f != nil {
			v := result(out.Span, x.id.Name)
			if n.Set = []*ir.Set{p.set(f, out.Span, v, typ)}; tool != nil && tool.Out == nil { // its source says what it gives
				n.Set[0].Value = v
			}
		}
		if p.opts.Upstream && f != nil {
			return p.sanitized(x, n, f, out)
		}
		return []*ir.Node{n}
	}
}

// declared reports whether a tool is a decorated function of the project's Python.
func declared(tool *ir.Tool) bool { return tool != nil && ir.IsPython(tool) && tool.Def != nil }

// gives is the type of what a tool returns; nil: its source says, which is read later. A tool of the project's Python returns a
// mapping: the engine takes nothing else.
func gives(tool *ir.Tool) *schema.Type {
	switch {
	case tool == nil:
		return nil
	case declared(tool) && tool.Out.Kind == schema.Any:
		return schema.MapOf(schema.AnyType)
	}
	return tool.Out
}

// plain reports whether values of a type are not objects. What the project's Python says of objects is not held against what
// other functions of it ask for before both have run: one says dict where another names the class of the keys.
func plain(t *schema.Type) bool {
	switch t.Kind {
	case schema.Struct, schema.Map, schema.Any:
		return false
	case schema.List, schema.Opt:
		return plain(t.Elem)
	}
	return true
}

// result files the field that gets a result.
func (p *parser) result(out ir.Ident, typ *schema.Type) *field {
	if !fieldForm.MatchString(out.Name) {
		p.BadField(out.Span)
	}
	return p.write(out, typ)
}

// inputs reads the arguments of the page's form: constants, and text with `{{state.field}}`.
func (p *parser) inputs(tool *ir.Tool, n *yamlnode.Node) []*argument {
	var args []*argument
	if n == nil {
		return nil
	}
	if n.Kind != yamlnode.Mapping {
		p.WrongShape(n, "`inputs` is a mapping from arguments to values")
		return nil
	}
	for _, e := range n.Entries {
		a := &argument{key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}}
		args = append(args, a)
		if p.Schema.Tag(e.Value) == "!!str" && strings.Contains(e.Value.Text.Value, "{{") {
			a.text = e.Value.Text
			a.segments = p.segments(e.Value.Text, p.argumentType(tool, a.key.Name))
			if want := p.argumentType(tool, a.key.Name); len(a.segments) == 1 && a.segments[0].member != nil && want != nil {
				p.later = append(p.later, func() { p.fitting(a.segments[0].member, want) })
			}
			continue
		}
		a.constant = p.nested(a, e.Value, p.argumentType(tool, a.key.Name))
	}
	return args
}

// nested is a constant, a list or a mapping, whose texts may have `{{state.field}}` in them.
func (p *parser) nested(a *argument, n *yamlnode.Node, typ *schema.Type) ir.Value {
	if typ != nil {
		typ = typ.Present()
	}
	switch {
	case n.Kind == yamlnode.Mapping:
		o := &ir.Object{Span: n.Span}
		for _, e := range n.Entries {
			o.Entries = append(o.Entries, &ir.Entry{Key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, Value: p.nested(a, e.Value, memberType(typ, e.Key.Text.Value))})
		}
		return o
	case n.Kind == yamlnode.Sequence:
		l := &ir.List{Span: n.Span}
		for _, it := range n.Items {
			l.Items = append(l.Items, p.nested(a, it, memberType(typ, "")))
		}
		return l
	case p.Schema.Tag(n) != "!!str" || !strings.Contains(n.Text.Value, "{{"):
		return p.value(n)
	}
	segments := p.segments(n.Text, typ)
	if len(segments) == 1 && segments[0].field != nil {
		e := &ir.Expr{}
		a.late = append(a.late, func() { *e = *segments[0].value(n.Text.Span) })
		return e
	}
	t := &ir.Template{}
	a.late = append(a.late, func() { *t = *mixed(n.Text, segments) })
	return t
}

// memberType is the type of a member of a value; nil: it is not known.
func memberType(t *schema.Type, name string) *schema.Type {
	switch {
	case t == nil:
		return nil
	case t.Kind == schema.Struct:
		if f := t.Field(name); f != nil {
			return f.Type
		}
		return nil
	}
	if t.Elem != nil && t.Elem.Kind != schema.Any {
		return t.Elem
	}
	return nil
}

func (p *parser) argumentType(tool *ir.Tool, name string) *schema.Type {
	if tool == nil || tool.In == nil {
		return nil
	}
	if f := tool.In.Field(name); f != nil {
		return f.Type
	}
	return nil
}

// mapped reads the arguments of the other forms: names of fields, and constants.
func (p *parser) mapped(tool *ir.Tool, inputs, static *yamlnode.Node) []*argument {
	var args []*argument
	seen := map[string]source.Span{}
	if inputs != nil && inputs.Kind != yamlnode.Mapping {
		p.WrongShape(inputs, "`inputs` is a mapping from arguments to state fields")
	} else if inputs != nil {
		for _, e := range inputs.Entries {
			a := &argument{key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}}
			seen[a.key.Name] = a.key.Span
			id, ok := p.Text(e.Value, "a state field")
			if !ok {
				continue
			}
			if strings.Contains(id.Name, "{{") {
				p.braces(id)
				continue
			}
			a.text = e.Value.Text
			if f := p.read(id, p.argumentType(tool, a.key.Name)); f != nil {
				a.segments = []segment{{field: f}}
				args = append(args, a)
			}
		}
	}
	if static != nil && static.Kind != yamlnode.Mapping {
		p.WrongShape(static, "`static` is a mapping from arguments to constants")
	} else if static != nil {
		for _, e := range static.Entries {
			a := &argument{key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, constant: p.value(e.Value)}
			if first, dup := seen[a.key.Name]; dup {
				p.Report(diag.Diagnostic{Code: diag.DuplicateName, Span: a.key.Span, Message: "the argument `" + a.key.Name + "` is in `inputs` and in `static`",
					Related: []diag.Related{{Span: first, Message: "here it is a state field"}}})
			}
			args = append(args, a)
		}
	}
	return args
}
