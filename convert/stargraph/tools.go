package stargraph

import (
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// goTool is a tool of the runtime that a dialect has by a name.
func (c *converter) goTool(t *ir.Tool) doc.Value {
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
	if own := c.Provided.Instead[name]; own != "" {
		name = own
	}
	m.Add("go", doc.Scalar(doc.Quoted(name)), source.Span{})
	m.Add("effects", doc.Scalar(t.Effects.String()), source.Span{})
	if len(t.Permissions) > 0 {
		m.Add("permissions", doc.QuotedWords(t.Permissions...), source.Span{})
	}
	return m
}

// decorated is a function of the project's Python, which says itself what it takes and what it needs.
func (c *converter) decorated(t *ir.Tool, b *ir.PythonTool) doc.Value {
	if t.Def.Root != "" {
		c.Refuse(t.Span, "move it, or bind it in a library", "the module of %s is in another folder than the graph, where the native language does not look for it", b.Ref.Name)
	}
	for _, f := range t.Def.Files {
		if convert.PyWorld.MatchString(f.Text) {
			c.Refuse(t.Span, "hand it over as an argument, or as a secret", "the module %s looks at the environment or its own place, which a tool of the native language does not see", f.Name)
		}
	}
	m := &doc.Mapping{Flow: true}
	m.Add("python", doc.Scalar(doc.Quoted(b.Ref.Name)), source.Span{})
	m.Add("effects", doc.Scalar(t.Effects.String()), source.Span{})
	return m
}

// commandTool is a program that a dialect has by a name.
func (c *converter) commandTool(t *ir.Tool, b *ir.CommandTool) doc.Value {
	rest := *b
	rest.Args, rest.Stdin, rest.Format, rest.Span = nil, nil, 0, source.Span{}
	c.Rest(t.Span, "the tool "+t.Key.Name, &rest)
	m := &doc.Mapping{}
	args := &doc.List{}
	for _, a := range b.Args {
		args.Add(c.Native(a), source.Span{})
	}
	m.Add("command", args, source.Span{})
	if t.Description != "" {
		m.Add("description", doc.Spell(t.Description), source.Span{})
	}
	in := &doc.Mapping{Flow: true}
	for _, f := range t.In.Fields {
		in.Add(f.Name, c.Field(f), source.Span{})
	}
	if len(in.Entries) > 0 {
		m.Add("in", in, source.Span{})
	}
	if b.Stdin != nil {
		m.Add("stdin", c.Native(b.Stdin), source.Span{})
	}
	if b.Format == ir.FormatJSON {
		m.Add("out", c.Typ(t.Out, t.Span), source.Span{})
	}
	m.Add("effects", doc.Scalar(t.Effects.String()), source.Span{})
	if t.Sandbox.Name != "" {
		m.Add("sandbox", doc.Scalar(t.Sandbox.Name), source.Span{})
	}
	return m
}

// argument is the name of an argument: functions of the runtime have the parameters of Go.
func (c *converter) argument(t *ir.Tool, name string) string {
	if g, ok := t.Binding.(*ir.GoTool); !ok || c.Provided.Function(g.Func.Ref.Name) == nil {
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

// own reports whether a tool stands in the file itself, not in one that it includes.
func (c *converter) own(t *ir.Tool) bool { return t.File == c.Workflow.File }

// include adds the files whose tools the workflow uses.
func (c *converter) include() {
	l := &doc.List{Flow: true}
	var seen []string
	for _, t := range c.Workflow.Tools {
		if c.own(t) || t.File == nil || slices.Contains(seen, t.File.Name) {
			continue
		}
		seen = append(seen, t.File.Name)
		l.Add(doc.Scalar(doc.Quoted(relative(c.Workflow.File.Name, t.File.Name))), source.Span{})
	}
	switch len(l.Items) {
	case 0:
	case 1:
		c.Doc.Add("include", l.Items[0].Value, source.Span{})
	default:
		c.Doc.Add("include", l, source.Span{})
	}
}

// relative is how a file names another one.
func relative(from, to string) string {
	dir := path.Dir(from)
	if dir == "." {
		return to
	}
	up := ""
	for dir != "." && dir != "/" {
		if rest, ok := strings.CutPrefix(to, dir+"/"); ok {
			return up + rest
		}
		dir, up = path.Dir(dir), up+"../"
	}
	return up + to
}
