package hostile

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// An occurrence is a name in a file: where something is declared, or where it is used.
type occurrence struct {
	span source.Span
	name string // the part of the span that a finger can slip in
	role string
	def  bool
}

// names finds every name of a checked workflow that stands in one of the project's files as it is.
type names struct {
	seen map[source.Span]bool
	list []occurrence
}

func namesOf(p *project, r *result) []occurrence {
	c := &names{seen: map[source.Span]bool{}}
	var workflows func(w *ir.Workflow)
	done := map[*ir.Workflow]bool{}
	workflows = func(w *ir.Workflow) {
		if w == nil || done[w] {
			return
		}
		done[w] = true
		c.workflow(w)
		for _, f := range w.Flows {
			workflows(f)
		}
	}
	workflows(r.workflow)
	for w := range done {
		for _, f := range append([]*source.File{w.File}, w.Includes...) {
			c.typeWords(f, done)
		}
	}
	// An occurrence belongs to the file as the project has it: an included file is read once for each workflow.
	unique := map[string]occurrence{}
	for _, o := range c.list {
		if text, ok := p.files[o.span.File.Name]; ok && strings.HasSuffix(o.span.File.Name, ".yaml") && text[o.span.Lo:o.span.Hi] == o.name {
			unique[fmt.Sprintf("%s:%06d", o.span.File.Name, o.span.Lo)] = o
		}
	}
	out := make([]occurrence, 0, len(unique))
	for _, key := range slices.Sorted(maps.Keys(unique)) {
		out = append(out, unique[key])
	}
	return out
}

func (c *names) add(role string, def bool, id ir.Ident) { c.at(role, def, id.Span, id.Name) }

func (c *names) at(role string, def bool, span source.Span, name string) {
	if span.IsZero() || name == "" || span.Text() != name || c.seen[span] {
		return
	}
	c.seen[span] = true
	c.list = append(c.list, occurrence{span, name, role, def})
}

func (c *names) workflow(w *ir.Workflow) {
	for _, f := range w.Input {
		c.field("input field", f)
	}
	for _, s := range w.State {
		c.add("state field", true, s.Name)
	}
	for _, s := range w.Secrets {
		c.add("secret", true, s.Name)
	}
	for _, t := range w.Tools {
		c.tool(t)
	}
	for _, g := range w.GoTypes {
		c.goName("Go type", g.Ref)
	}
	for _, s := range w.State {
		if s.Merge.Reducer != nil {
			c.goName("Go function", s.Merge.Reducer.Ref)
		}
	}
	c.body(&w.Body)
	for _, o := range w.Output {
		c.value(o.Value, o.Type)
	}
}

func (c *names) field(role string, f *schema.Field) { c.at(role, true, f.Span, f.Name) }

func (c *names) goName(role string, id ir.Ident) {
	if i := strings.LastIndexByte(id.Name, '.'); i >= 0 && strings.HasSuffix(id.Span.Text(), id.Name[i+1:]) {
		n := id.Span.Hi - id.Span.Lo
		c.at(role, false, id.Span.Sub(n-len(id.Name[i+1:]), n), id.Name[i+1:])
	}
}

func (c *names) tool(t *ir.Tool) {
	c.add("tool", true, t.Key)
	if t.In != nil {
		for _, f := range t.In.Fields {
			c.field("tool input", f)
		}
	}
	if t.Auth != nil {
		c.add("secret", false, t.Auth.Secret)
	}
	switch b := t.Binding.(type) {
	case *ir.GoTool:
		c.goName("Go function", b.Func.Ref)
	case *ir.CommandTool:
		for _, a := range b.Args {
			c.value(a, nil)
		}
		c.template(b.Stdin)
		c.template(b.Dir)
		for _, e := range b.Env {
			c.template(e.Value)
		}
	case *ir.HTTPTool:
		c.template(b.URL)
		for _, e := range slices.Concat(b.Headers, b.Query) {
			c.value(e.Value, nil)
		}
		for _, p := range b.Places {
			c.template(p)
		}
		c.value(b.Body, nil)
	}
}

func (c *names) template(t *ir.Template) {
	if t != nil {
		c.value(t, nil)
	}
}

func (c *names) body(b *ir.Body) {
	for _, n := range b.Nodes {
		c.node(n)
	}
	target := func(id ir.Ident) { c.add("edge", false, id) }
	for _, e := range b.Edges {
		target(e.From)
		for _, id := range slices.Concat(e.To, e.Default) {
			target(id)
		}
		if e.Exhausted != nil {
			target(*e.Exhausted)
		}
		if e.When != nil {
			c.value(e.When, nil)
		}
		if e.Switch != nil {
			c.value(e.Switch, nil)
		}
		for _, k := range e.Cases {
			for _, id := range k.To {
				target(id)
			}
			if e.Switch != nil && e.Switch.Node.Type != nil {
				c.value(k.Value, e.Switch.Node.Type.Present())
			}
		}
	}
	c.value(b.Result, nil)
}

func (c *names) node(n *ir.Node) {
	if !n.Inline {
		c.add("node", true, n.ID)
	}
	for _, s := range n.Set {
		c.add("set", false, s.Field)
		c.value(s.Value, nil)
	}
	for _, k := range n.Catch {
		c.add("catch code", false, k.Code)
		c.add("catch target", false, k.Target)
	}
	if n.Retry != nil {
		for _, k := range n.Retry.Codes {
			c.add("retry code", false, k)
		}
	}
	if n.OnError != nil {
		c.value(n.OnError.Default, n.Result)
	}
	c.verb(n.Verb)
}

func (c *names) verb(verb ir.Verb) {
	switch v := verb.(type) {
	case *ir.ToolCall:
		c.toolName(v.Name)
		if v.Tool != nil {
			c.with(v.With, v.Tool.In)
		}
	case *ir.Let:
		for _, e := range v.Fields {
			c.add("let field", true, e.Key)
			c.value(e.Value, nil)
		}
	case *ir.Map:
		c.value(v.Over, nil)
		c.add("variable", true, v.As)
		if v.Index != nil {
			c.add("variable", true, *v.Index)
		}
		c.body(&v.Do)
	case *ir.Loop:
		if v.Until != nil {
			c.value(v.Until, nil)
		}
		c.body(&v.Do)
	case *ir.Flow:
		if v.Flow != nil {
			c.with(v.With, &schema.Type{Kind: schema.Struct, Fields: v.Flow.Input})
		}
	case *ir.GoCall:
		c.goName("Go function", v.Func.Ref)
		if v.Func.Bind != nil {
			c.with(v.With, v.Func.Bind.In)
		}
	}
}

// toolName is what is written in front of the version.
func (c *names) toolName(id ir.Ident) {
	name, _, _ := strings.Cut(id.Name, "@")
	if strings.HasPrefix(id.Span.Text(), name) {
		c.at("tool", false, id.Span.Sub(0, len(name)), name)
	}
}

func (c *names) with(w *ir.With, in *schema.Type) {
	if w == nil {
		return
	}
	for _, e := range w.Entries {
		c.add("argument", false, e.Key)
		var t *schema.Type
		if in != nil {
			if f := in.Field(e.Key.Name); f != nil {
				t = f.Type
			}
		}
		c.value(e.Value, t)
	}
}

// value finds names in a value of which t is asked for; nil when that is not known.
func (c *names) value(v ir.Value, t *schema.Type) {
	if t != nil {
		t = t.Present()
	}
	switch v := v.(type) {
	case *ir.Expr:
		if v != nil && v.Node != nil {
			c.expression(v.Text, v.Node)
		}
	case *ir.Template:
		if v != nil && v.Tmpl != nil {
			for _, s := range v.Tmpl.Segments {
				if s.Expr != nil {
					c.expression(v.Text, s.Expr)
				}
				if s.Filter != "" {
					c.at("filter", false, v.Text.At(s.FilterLo, s.FilterHi), s.Filter)
				}
			}
		}
	case *ir.Scalar:
		if t != nil && t.Kind == schema.Enum {
			c.at("enum value", false, v.Text.At(0, len(v.Text.Value)), v.Text.Value)
		}
	case *ir.List:
		for _, x := range v.Items {
			if t != nil && t.Kind == schema.List {
				c.value(x, t.Elem)
			} else {
				c.value(x, nil)
			}
		}
	case *ir.Object:
		for _, e := range v.Entries {
			var of *schema.Type
			if t != nil && t.Kind == schema.Struct {
				c.add("struct field", false, e.Key)
				if f := t.Field(e.Key.Name); f != nil {
					of = f.Type
				}
			}
			c.value(e.Value, of)
		}
	}
}

func (c *names) expression(text source.Text, root *expr.Node) {
	root.Walk(func(n *expr.Node) bool {
		at := text.At(n.NameLo, n.NameHi)
		switch n.Op {
		case expr.Name:
			c.at("name", false, at, n.Text)
		case expr.Field, expr.OptField:
			// A map has whatever key is asked for.
			if t := n.Kids[0].Type; t != nil && t.Present().Kind == schema.Struct || n.Sym != nil {
				c.at("field", false, at, n.Text)
			}
		case expr.Call:
			c.at("function", false, at, n.Text)
		case expr.Macro:
			c.at("function", false, at, n.Text)
			c.at("variable", true, text.At(n.VarLo, n.VarHi), n.Var)
		case expr.Lit:
			if s, ok := n.Value.(string); ok && n.Type != nil && n.Type.Kind == schema.Enum {
				quoted := text.At(n.Lo, n.Hi) // the literal is what is wrong, with its quotes
				if strings.Trim(quoted.Text(), `"'`) == s {
					c.at("enum value", false, quoted.Sub(1, len(s)+1), s)
				}
			}
		}
		return true
	})
}

var (
	typeWord  = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	enumWords = regexp.MustCompile(`enum<([^>]*)>`)
)

// typeWords finds the names in types, which the IR does not keep.
func (c *names) typeWords(file *source.File, done map[*ir.Workflow]bool) {
	root, _ := yamlnode.Parse(file)
	known := map[string]bool{"string": true, "int": true, "float": true, "bool": true, "bytes": true, "time": true, "duration": true, "any": true, "list": true, "map": true, "opt": true, "enum": true, "Error": true}
	for w := range done {
		for _, d := range w.Types {
			known[d.Name] = true
		}
	}
	scalar := func(n *yamlnode.Node) {
		if n.Text.Opaque || strings.HasPrefix(n.Text.Value, "go:") {
			return
		}
		value := n.Text.Value
		var enums [][]int
		for _, m := range enumWords.FindAllStringSubmatchIndex(value, -1) {
			enums = append(enums, m[2:4])
		}
		for _, m := range typeWord.FindAllStringIndex(value, -1) {
			word, at := value[m[0]:m[1]], n.Text.At(m[0], m[1])
			if slices.ContainsFunc(enums, func(e []int) bool { return e[0] <= m[0] && m[1] <= e[1] }) {
				c.at("enum value", true, at, word)
			} else if known[word] {
				c.at("type", false, at, word)
			}
		}
	}
	var typ func(n *yamlnode.Node)
	typ = func(n *yamlnode.Node) {
		switch {
		case n == nil:
		case n.Kind == yamlnode.Scalar:
			scalar(n)
		case n.Kind == yamlnode.Mapping && n.Get("type") != nil:
			typ(n.Get("type"))
		case n.Kind == yamlnode.Mapping && n.Get("oneof") != nil && n.Get("by") != nil: // a union: its keys are no names
			for _, e := range n.Get("oneof").Entries {
				typ(e.Value)
			}
		case n.Kind == yamlnode.Mapping:
			for _, e := range n.Entries {
				c.at("struct field", true, e.Key.Text.At(0, len(e.Key.Text.Value)), e.Key.Text.Value)
				typ(e.Value)
			}
		}
	}
	each := func(n *yamlnode.Node, f func(e yamlnode.Entry)) {
		if n != nil {
			for _, e := range n.Entries {
				f(e)
			}
		}
	}
	each(root.Get("types"), func(e yamlnode.Entry) {
		c.at("type", true, e.Key.Text.At(0, len(e.Key.Text.Value)), e.Key.Text.Value)
		typ(e.Value)
	})
	each(root.Get("input"), func(e yamlnode.Entry) { typ(e.Value) })
	each(root.Get("state"), func(e yamlnode.Entry) { typ(e.Value) })
	each(root.Get("output"), func(e yamlnode.Entry) {
		if e.Value.Kind == yamlnode.Mapping && e.Value.Get("value") != nil {
			typ(e.Value.Get("type"))
		}
	})
	each(root.Get("tools"), func(e yamlnode.Entry) {
		each(e.Value.Get("in"), func(f yamlnode.Entry) { typ(f.Value) })
		typ(e.Value.Get("out"))
	})
}
