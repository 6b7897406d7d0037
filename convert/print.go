package convert

import (
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// print writes Out as YAML. Only the printer spells the native language. The formatter orders the sections.
func (c *Converter) print() *doc.Mapping {
	w, m := c.Out, &doc.Mapping{}
	section := func(key string, v doc.Value) { m.AddUnlessEmpty(key, v, c.at(c.Root, key, "", source.Span{})) }
	m.Add("flowgen", doc.Scalar("1"), source.Span{})
	m.Add("name", doc.Scalar(NativeID(c.Workflow.Name.Name)), c.Workflow.Name.Span)
	if c.Workflow.Description != "" {
		m.Add("description", doc.Spell(c.Workflow.Description), c.Entry("description"))
	}
	section("include", c.includes())
	section("types", c.types())
	section("input", c.fields(w.Input))
	section("state", c.state())
	var secrets []string
	for _, s := range w.Secrets {
		secrets = append(secrets, s.Name.Name)
	}
	section("secrets", doc.Words(secrets...))
	if w.Policy != nil {
		section("policy", doc.Flow(doc.Pair("net", doc.Flow(doc.Pair("allow", doc.Words(w.Policy.NetAllow...))))))
	}
	models, tools, nodes, out := &doc.Mapping{}, &doc.Mapping{}, &doc.Mapping{}, &doc.Mapping{}
	for _, x := range w.Models {
		models.Add(NativeID(x.Name.Name), c.model(x), x.Span)
	}
	section("models", models)
	for _, t := range w.Tools {
		if c.own(t) {
			tools.Add(doc.Quoted(t.Key.Name), c.tool(t), c.at(c.Root, "tools.*", t.Key.Name, source.Span{}))
		}
	}
	section("tools", tools)
	for _, n := range w.Body.Nodes {
		nodes.Add(c.id(n.ID), c.node(n), Join(n.ID.Span, n.Span))
	}
	section("nodes", nodes)
	section("edges", c.edges(w.Body.Edges))
	for _, o := range w.Output {
		c.fieldName(o.Name)
		out.Add(o.Name.Name, c.value(o.Value), o.Span)
	}
	section("output", out)
	return m
}

// at is where the file says what becomes a native key: the first of the dialect's own keys that n has; zero: nowhere. In the
// table a * stands for a name. Where the table says nothing of a key, other is its place.
func (c *Converter) at(n *yamlnode.Node, key, name string, other source.Span) source.Span {
	own, known := c.Keys[key]
	if !known {
		return other
	}
	for _, path := range strings.Fields(own) {
		keys := strings.Split(path, ".")
		if last := len(keys) - 1; keys[last] == "*" {
			keys[last] = name
		}
		if at := Below(n, keys...); !at.IsZero() {
			return at
		}
	}
	return source.Span{}
}

// id is the native id of a node. A target that no node has is the end.
func (c *Converter) id(id ir.Ident) string {
	if !c.Dialect {
		return id.Name
	}
	return c.Target(id)
}

// own reports whether a tool is in the file itself, not in one that it includes.
func (c *Converter) own(t *ir.Tool) bool { return t.File == nil || t.File == c.Workflow.File }

// includes are the files whose tools the workflow uses.
func (c *Converter) includes() doc.Value {
	var names []string
	for _, t := range c.Out.Tools {
		if !c.own(t) && !slices.Contains(names, relative(c.Workflow.File.Name, t.File.Name)) {
			names = append(names, relative(c.Workflow.File.Name, t.File.Name))
		}
	}
	l := doc.Words(names...)
	if len(l.Items) == 1 {
		return l.Items[0].Value
	}
	return l
}

// relative is how a file names another one.
func relative(from, to string) string {
	up := ""
	for dir := path.Dir(from); dir != "." && dir != "/"; dir, up = path.Dir(dir), up+"../" {
		if rest, ok := strings.CutPrefix(to, dir+"/"); ok {
			return up + rest
		}
	}
	return up + to
}

// types are the types that the workflow names.
func (c *Converter) types() doc.Value {
	m := &doc.Mapping{}
	for _, d := range c.Out.Types {
		own := *d.Type
		own.Decl = nil
		m.Add(d.Name, c.typ(&own, d.Span), d.Span)
	}
	return m
}

// structure are the fields of a struct.
func (c *Converter) structure(t *schema.Type) *doc.Mapping {
	m := doc.Flow()
	for _, f := range t.Fields {
		m.Add(doc.Quoted(f.Name), c.field(f), f.Span)
	}
	return m
}

// fields are declared fields, in brackets.
func (c *Converter) fields(list []*schema.Field) *doc.Mapping {
	m := &doc.Mapping{}
	for _, f := range list {
		c.fieldName(ir.Ident{Name: f.Name, Span: f.Span})
		m.Add(f.Name, c.field(f), c.at(c.Root, "input.*", f.Name, f.Span))
	}
	return m
}

// field is a declared field: its type, or a mapping with what else is said about it.
func (c *Converter) field(f *schema.Field) doc.Value {
	m := doc.Flow(doc.Pair("type", c.typ(f.Type, f.Span)))
	if f.Default != nil {
		m.Add("default", fromJSON(f.Default.JSON), f.Default.Span)
	}
	if f.Description != "" {
		m.Add("description", doc.Spell(f.Description), source.Span{})
	}
	float(m, "min", f.Min)
	float(m, "max", f.Max)
	if f.Pattern != "" {
		m.Add("pattern", doc.Scalar(doc.Quoted(f.Pattern)), source.Span{})
	}
	return alone(m)
}

// alone is the value of a mapping's first entry when it has no other.
func alone(m *doc.Mapping) doc.Value {
	if len(m.Entries) == 1 {
		return m.Entries[0].Value
	}
	return m
}

var merges = map[ir.MergeKind]string{ir.MergeAppend: "append", ir.MergeSetOnce: "set_once"}

// state are the fields of the state.
func (c *Converter) state() doc.Value {
	m := &doc.Mapping{}
	for _, s := range c.Out.State {
		c.fieldName(s.Name)
		v := doc.Flow(doc.Pair("type", c.typ(s.Type, s.Span)))
		if s.Init != nil {
			v.Add("init", fromJSON(s.Init.JSON), source.Span{})
		}
		if word := merges[s.Merge.Kind]; word != "" {
			v.Add("merge", doc.Scalar(word), source.Span{})
		} else if s.Merge.Kind == ir.MergeReducer {
			v.Add("merge", doc.Scalar(doc.Quoted("go:"+s.Merge.Reducer.Ref.Name)), source.Span{})
		} else if s.Merge.Kind != ir.MergeLast {
			c.Refuse(s.Span, "write `merge` with a Go function on the native state field", "the merge rule of %s is not converted", s.Name.Name)
		}
		m.Add(s.Name.Name, alone(v), c.at(c.Root, "state.*", s.Name.Name, s.Span))
	}
	return m
}

// typ is a type as it is written.
func (c *Converter) typ(t *schema.Type, at source.Span) doc.Value {
	switch {
	case t.Decl != nil:
		return doc.Scalar(t.Decl.Name)
	case t.Go != nil && t.Go.Path != "" && !strings.HasPrefix(t.Go.Path, schema.RuntimePath):
		return doc.Scalar(doc.Quoted("go:" + t.Go.Path + "." + t.Go.Name))
	case t.Kind == schema.Struct:
		if t.Field("type") != nil {
			return doc.Flow(doc.Pair("type", c.structure(t)))
		}
		return c.structure(t)
	case (t.Kind == schema.List || t.Kind == schema.Map || t.Kind == schema.Opt) && anonymous(t.Elem):
		c.Refuse(at, "", "the type %s has no spelling in the native language", t)
	}
	return doc.Scalar(doc.Quoted(t.String()))
}

// anonymous reports whether a struct without a name is part of a type.
func anonymous(t *schema.Type) bool {
	switch {
	case t.Decl != nil || t.Go != nil && t.Go.Path != "":
		return false
	case t.Kind == schema.Struct:
		return true
	}
	return t.Elem != nil && anonymous(t.Elem)
}
