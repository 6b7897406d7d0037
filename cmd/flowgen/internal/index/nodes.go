package index

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

func (b *builder) body(body *ir.Body) {
	if body == nil || b.seen[body] {
		return
	}
	b.seen[body] = true
	ids := map[string]*ir.Node{}
	for _, n := range body.Nodes {
		if ids[n.ID.Name] == nil && !n.Inline {
			ids[n.ID.Name] = n
		}
	}
	target := func(id ir.Ident) {
		if n := ids[id.Name]; n != nil {
			b.use(id.Span, Node, id.Name, n.ID.Span)
		}
	}
	for _, n := range body.Nodes {
		b.node(n, target)
	}
	for _, e := range body.Edges {
		target(e.From)
		to := slices.Concat(e.To, e.Default)
		for _, c := range e.Cases {
			to = append(to, c.To...)
		}
		for _, id := range to {
			target(id)
		}
		if e.Exhausted != nil {
			target(*e.Exhausted)
		}
		b.expr(e.When)
		b.expr(e.Switch)
	}
	b.value(body.Result)
}

func (b *builder) node(n *ir.Node, target func(ir.Ident)) {
	if !n.Inline && !strings.HasSuffix(n.ID.Name, ir.UndoSuffix) {
		name := b.declare(Node, n.ID, n.Span, n.Result, "")
		name.In, name.Notes = called(n), nodeNotes(n)
	}
	b.expr(n.When)
	for _, c := range n.Catch {
		target(c.Target)
	}
	for _, s := range n.Set {
		for _, f := range b.wf.State {
			if f.Path() == s.Field.Name {
				b.add(Ref{At: s.Field.Span, Name: b.name(State, f.Name.Name, f.Name.Span), Writes: true})
				b.keys(s.Value, f.Type)
			}
		}
		b.value(s.Value)
	}
	if n.OnError != nil {
		b.value(n.OnError.Default)
		b.keys(n.OnError.Default, n.Result)
	}
	if n.Undo != nil {
		b.node(n.Undo, target)
	}
	b.verb(n)
	ir.Values(n.Verb, b.value)
	b.body(ir.BodyOf(n.Verb))
}

// verb adds what the verb of a node names besides values.
func (b *builder) verb(n *ir.Node) {
	b.fields(Field, n.Result)
	switch v := n.Verb.(type) {
	case *ir.ToolCall:
		b.toolName(v.Name)
		if v.Tool != nil {
			b.arguments(v.With, v.Tool.In)
		}
	case *ir.ToolChoice:
		for _, id := range v.Allow {
			b.toolName(id)
		}
	case *ir.Flow:
		if v.Flow != nil && v.Flow.File != nil {
			b.file(ir.Ident{Name: v.Flow.File.Name, Span: v.Path.Span}, v.Flow.File)
			b.add(Ref{At: v.Path.Span, Name: b.name(File, v.Flow.File.Name, source.Span{File: v.Flow.File})})
			b.arguments(v.With, &schema.Type{Fields: v.Flow.Input})
		}
	case *ir.GoCall:
		b.function(v.Func)
	case *ir.LLM:
		b.model(v.Model)
		b.with(v.With, v.Prompt)
	case *ir.Agent:
		b.agent(v)
	case *ir.Map:
		b.declare(Variable, v.As, v.As.Span, elem(v.Over), "")
		if v.Index != nil {
			b.declare(Variable, *v.Index, v.Index.Span, schema.IntType, "")
		}
	case *ir.Let:
		for _, e := range v.Fields {
			if n.Result != nil {
				if f := n.Result.Field(e.Key.Name); f != nil {
					b.declare(Field, e.Key, e.Key.Span, f.Type, "")
				}
			}
		}
	}
}

func elem(over ir.Value) *schema.Type {
	if e, ok := over.(*ir.Expr); ok && e.Node != nil && e.Node.Type != nil {
		return e.Node.Type.Present().Elem
	}
	return nil
}

func (b *builder) agent(a *ir.Agent) {
	b.model(a.Model)
	for _, d := range b.wf.Agents {
		if d.Name.Name == a.Agent.Name {
			b.use(a.Agent.Span, Agent, d.Name.Name, d.Name.Span)
		}
	}
	b.model(a.Agent)
	for _, t := range a.Tools {
		b.toolName(t.Tool)
	}
	for _, p := range a.Pins {
		b.toolName(p.Tool)
	}
	b.with(a.With, a.Prompt)
	b.with(a.With, a.System)
	b.fields(Field, a.Out)
}

// arguments adds the names of arguments, which are fields of an input.
func (b *builder) arguments(w *ir.With, in *schema.Type) {
	if w == nil || in == nil {
		return
	}
	for _, e := range w.Entries {
		if f := in.Field(e.Key.Name); f != nil && f.Span.File != nil {
			b.use(e.Key.Span, Field, f.Name, f.Span)
			b.keys(e.Value, f.Type)
		}
	}
}

// keys adds the keys of a mapping that is a value of a struct.
func (b *builder) keys(v ir.Value, t *schema.Type) {
	if t == nil {
		return
	}
	switch v := v.(type) {
	case *ir.List:
		for _, x := range v.Items {
			b.keys(x, t.Present().Elem)
		}
	case *ir.Object:
		for _, e := range v.Entries {
			if f := t.Present().Field(e.Key.Name); f != nil {
				if f.Span.File != nil {
					b.use(e.Key.Span, Field, f.Name, f.Span)
				}
				b.keys(e.Value, f.Type)
			} else if t.Present().Kind == schema.Map {
				b.keys(e.Value, t.Present().Elem)
			}
		}
	}
}

// with adds what a prompt is given, and what its file reads of that.
func (b *builder) with(w *ir.With, p *ir.Prompt) {
	given := map[string]source.Span{}
	var declared *schema.Type
	if p != nil {
		declared = p.With
	}
	b.fields(Field, declared)
	if w != nil {
		for _, e := range w.Entries {
			at := e.Key.Span
			if declared != nil {
				if f := declared.Field(e.Key.Name); f != nil && f.Span.File != nil {
					b.use(at, Field, f.Name, f.Span)
					given[e.Key.Name] = f.Span
				}
				continue
			}
			b.declare(Field, e.Key, at, typeOf(e.Value), "")
			given[e.Key.Name] = at
		}
	}
	if p == nil || p.File.Name == "" || p.Text == nil {
		return
	}
	if f := p.Text.Text.Span.File; f != nil {
		b.file(ir.Ident{Name: f.Name, Span: p.File.Span}, f)
		b.add(Ref{At: p.File.Span, Name: b.name(File, f.Name, source.Span{File: f})})
	}
	for _, t := range []*ir.Template{p.Text, p.System} {
		if t == nil {
			continue
		}
		b.value(t)
		ir.ValueExpressions(t, func(n *expr.Node) {
			for _, ref := range n.Refs() {
				if at, ok := given[ref.Text]; ok {
					b.add(Ref{At: t.Text.At(ref.NameLo, ref.NameHi), Name: b.name(Field, ref.Text, at), Type: ref.Type})
				}
			}
		})
	}
}

func typeOf(v ir.Value) *schema.Type {
	if e, ok := v.(*ir.Expr); ok && e.Node != nil {
		return e.Node.Type
	}
	if _, ok := v.(*ir.Template); ok {
		return schema.StringType
	}
	return nil
}

func (b *builder) model(id ir.Ident) {
	for _, m := range b.wf.Models {
		if m.Name.Name == id.Name {
			b.use(id.Span, Model, id.Name, m.Name.Span)
		}
	}
}

func (b *builder) toolName(id ir.Ident) {
	for _, t := range b.wf.Tools {
		if id.Name != "" && (t.Key.Name == id.Name || t.Name.Name == id.Name || t.FullName() == id.Name) {
			at := t.Key
			if at.Span.File == nil {
				at = t.Name
			}
			b.use(id.Span, Tool, at.Name, at.Span)
			return
		}
	}
}

// value adds the names in the expressions of a value.
func (b *builder) value(v ir.Value) {
	switch v := v.(type) {
	case *ir.Expr:
		b.expr(v)
	case *ir.Template:
		if v == nil || v.Tmpl == nil {
			return
		}
		for _, s := range v.Tmpl.Segments {
			if s.Expr != nil {
				b.expression(v.Text, s.Expr)
			}
		}
	case *ir.List:
		for _, x := range v.Items {
			b.value(x)
		}
	case *ir.Object:
		for _, e := range v.Entries {
			b.value(e.Value)
		}
	}
}

func (b *builder) expr(v *ir.Expr) {
	if v != nil && v.Node != nil {
		b.expression(v.Text, v.Node)
	}
}

func (b *builder) expression(text source.Text, n *expr.Node) {
	n.Walk(func(n *expr.Node) bool {
		at := text.At(n.NameLo, n.NameHi)
		switch n.Op {
		case expr.Name:
			if n.Sym != nil {
				b.symbol(at, n)
			}
		case expr.Field, expr.OptField:
			if t := n.Kids[0].Type; t != nil {
				if f := t.Present().Field(n.Text); f != nil && f.Span.File != nil {
					b.add(Ref{At: at, Name: b.name(Field, f.Name, f.Span), Type: n.Type})
				}
			}
		case expr.MapLit, expr.Make:
			for i, key := range n.KeyAt {
				if n.Type == nil {
					break
				}
				if f := n.Type.Present().Field(n.Keys[i]); f != nil && f.Span.File != nil {
					b.add(Ref{At: text.At(key[0], key[1]), Name: b.name(Field, f.Name, f.Span)})
				}
			}
		case expr.Call, expr.Macro:
			if at.File != nil && at.Lo < at.Hi {
				b.out.Calls = append(b.out.Calls, at)
			}
		}
		return true
	})
}

// symbol adds a name that an expression begins with.
func (b *builder) symbol(at source.Span, n *expr.Node) {
	switch ref := n.Sym.Ref.(type) {
	case *check.Step:
		b.add(Ref{At: at, Name: b.name(Node, ref.Node.ID.Name, ref.Node.ID.Span), Type: n.Type})
	case *check.Var:
		if m, ok := ref.Step.Node.Verb.(*ir.Map); ok {
			id := m.As
			if m.Index != nil && m.Index.Name == ref.Name {
				id = *m.Index
			}
			b.add(Ref{At: at, Name: b.name(Variable, ref.Name, id.Span), Type: n.Type})
		}
	case *check.Param:
		if ref.Field.Span.File != nil {
			b.add(Ref{At: at, Name: b.name(Field, ref.Field.Name, ref.Field.Span), Type: n.Type})
		}
	case *check.Root:
		b.add(Ref{At: at, Name: b.name(Variable, ref.Name, source.Span{}), Type: n.Type})
	}
}

// InputOf is the input of what a node calls, by its id; nil when it calls nothing that is known.
func InputOf(wf *ir.Workflow, id string) (in *schema.Type) {
	var visit func(b *ir.Body)
	visit = func(b *ir.Body) {
		for _, n := range b.Nodes {
			if n.ID.Name == id {
				in = called(n)
			}
			if body := ir.BodyOf(n.Verb); body != nil {
				visit(body)
			}
		}
	}
	visit(&wf.Body)
	return in
}

// called is the input of what a node calls; nil when it calls nothing that is known.
func called(n *ir.Node) *schema.Type {
	switch v := n.Verb.(type) {
	case *ir.ToolCall:
		if v.Tool != nil {
			return v.Tool.In
		}
	case *ir.Flow:
		if v.Flow != nil {
			return &schema.Type{Kind: schema.Struct, Fields: v.Flow.Input}
		}
	case *ir.LLM:
		if v.Prompt != nil {
			return v.Prompt.With
		}
	}
	return nil
}
