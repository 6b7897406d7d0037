package pysource

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Reader reads classes and decorated functions for the reader of a dialect. It implements ir.PythonReader, is not safe
// for concurrent use, and has to be closed. Python is started when something is read.
type Reader struct {
	r     *resolver
	tools map[string][]*ir.Tool // by folder

	unread string // why there are no tools: there is no Python to read them with
}

// NewReader is a reader of the files that opts say.
func NewReader(opts Options) *Reader {
	r := &resolver{opts: opts, sink: &diag.Sink{}, probes: map[string]*probe{}, failed: map[string]error{}, worlds: map[string]*world{}, names: map[string]bool{}}
	return &Reader{r: r, tools: map[string][]*ir.Tool{}}
}

// Close ends the interpreter, if there is one.
func (x *Reader) Close() { x.r.close() }

// Class implements ir.PythonReader.
func (x *Reader) Class(from *source.File, id ir.Ident) (c *ir.PythonClass, why string, absent bool) {
	c, sym, rd, why, absent := x.class(from, id)
	if c != nil && sym.stmt.Kind == "class" {
		rd.describeClass(sym, c)
	}
	return c, why, absent
}

// class finds a class; c is nil, with the reason, when it is not there.
func (x *Reader) class(from *source.File, id ir.Ident) (c *ir.PythonClass, sym symbol, rd *reader, why string, absent bool) {
	module, name, ok := strings.Cut(id.Name, ":")
	if !ok || module == "" || name == "" {
		return nil, sym, nil, "`" + id.Name + "` is not module:Class", false
	}
	b := &ir.PythonTool{Ref: id, Free: true}
	f := ref{&ir.Tool{File: from, Binding: b}, module, name, id.Span}
	w, root := x.r.free(f, b)
	if w == nil {
		return nil, sym, nil, "Python, which is needed to read it, is not installed", false
	}
	m, wrong := w.module(module)
	switch {
	case wrong != nil:
		return nil, sym, nil, "cannot find Python module `" + module + "` next to the graph, in the working directory or among the installed packages", wrong.missing != nil && wrong.missing.part == 0 && len(x.r.withModule(x.r.opts.Folder(from), module)) == 0
	case m.facts.Error != "":
		return nil, sym, nil, "module `" + module + "` cannot be read: " + m.facts.Error, false
	}
	sym, ok = w.resolve(m, name, 0)
	if !ok || sym.stmt == nil || sym.stmt.Kind != "class" && sym.stmt.Kind != "def" {
		return nil, sym, nil, "module `" + module + "` has no class `" + name + "`", false
	}
	rd = &reader{world: w, result: true}
	c = &ir.PythonClass{Def: &ir.Definition{Name: id.Name, Span: sym.stmt.At.in(sym.in.file.Source, sym.stmt.Name), Files: w.closure(module), Root: root}}
	return c, sym, rd, "", false
}

// describeClass reads the members and the method execute of a class and its bases.
func (r *reader) describeClass(sym symbol, c *ir.PythonClass) {
	c.Fields, c.Texts = &schema.Type{Kind: schema.Struct}, map[string][]string{}
	bases := append([]symbol{sym}, r.ancestors(sym, 0)...)
	for _, b := range bases {
		if b.stmt == nil {
			if module, _ := split(b.name); !known(module) {
				c.Bases = append(c.Bases, b.name)
			}
			continue
		}
		c.Config = c.Config || slices.ContainsFunc(b.stmt.Params, func(p *param) bool { return p.Name == "config_model" })
		for _, m := range b.stmt.Methods {
			if m.Name == "__init__" && !c.Made && len(c.Bases) == 0 {
				c.Made = !m.Rest
				c.Init = arguments(m)
			}
			if m.Name == "execute" && c.Node == nil && !m.Abstract {
				c.Node = &ir.PythonUse{Reads: m.Reads, ReadsAll: m.All, Writes: m.Writes, WritesAny: m.Any, Async: m.Async, Span: m.At.in(b.in.file.Source, m.Name)}
			}
		}
	}
	for _, b := range slices.Backward(bases) {
		if b.stmt == nil {
			continue
		}
		for _, p := range b.stmt.Params {
			if p.Type == nil || strings.HasPrefix(p.Name, "_") || p.Name == "model_config" || r.classVariable(b.in, p.Type) {
				continue
			}
			f := &schema.Field{Name: p.Name, Type: r.annotation(b.in, p.Type, 0), Span: p.At.in(b.in.file.Source, p.Name)}
			text := r.initial(b.in, p, f.Type, 0)
			if text == "" && p.Default != nil && f.Type.Kind != schema.Opt { // only the class can make it
				f.Type, text = schema.OptOf(f.Type, "its class makes its default"), "null"
			}
			if text != "" {
				f.Default = &schema.Default{JSON: text, Span: f.Span}
			}
			foreign.Put(c.Fields, f)
			if delete(c.Texts, f.Name); r.texts[f.Type.Present()] != nil {
				c.Texts[f.Name] = r.texts[f.Type.Present()]
			}
			c.Facts = slices.DeleteFunc(c.Facts, func(o ir.PythonFact) bool { return o.Field == p.Name })
			if template, marked := r.mirror(b.in, p.Type, 0); marked {
				c.Facts = append(c.Facts, ir.PythonFact{Field: p.Name, Template: cmp.Or(template, p.Name)})
			}
		}
	}
}

// arguments are those of __init__.
func arguments(m *method) []ir.PythonParam {
	var list []ir.PythonParam
	for _, p := range m.Params {
		x := ir.PythonParam{Name: p.Name, Optional: p.Default != nil}
		if p.Default != nil && p.Default.T == "str" {
			x.Default = p.Default.S
		}
		for attribute, name := range m.Keeps {
			if name == p.Name {
				x.Attribute = attribute
			}
		}
		list = append(list, x)
	}
	return list
}

// initial is what a member begins with, as JSON: its default, or the zero value of its type. "" when there is none, and for
// defaults that only running the class can tell.
func (r *reader) initial(m *module, p *param, t *schema.Type, depth int) string {
	n := p.Default
	if n != nil && n.T == "call" && n.X != nil && (n.X.S == "Field" || n.X.S == "field") {
		made := word(n.K, "default_factory")
		switch given := word(n.K, "default"); {
		case given != nil:
			n = given
		case len(n.E) > 0:
			n = n.E[0]
		case made == nil:
			n = nil
		case made.T == "lambda":
			n = made.X
		default:
			n = &node{T: "call", X: made, At: made.At}
		}
	}
	if n != nil && n.T == "" && n.S == "..." {
		n = nil
	}
	text := ""
	switch {
	case n == nil && t.Kind == schema.Struct:
		text = r.empty(m, p.Type, depth)
	case n == nil:
		text = t.ZeroJSON()
	case n.T == "call" && len(n.E)+len(n.K) == 0:
		text = r.called(m, n.X, t, depth)
	default:
		text = r.literalJSON(m, n, 0)
	}
	if text == "" || schema.CheckJSON([]byte(text), t) != "" {
		return ""
	}
	return text
}

// called is what a class gives that is called without arguments.
func (r *reader) called(m *module, n *node, t *schema.Type, depth int) string {
	switch sym := r.qualify(m, n, 0); {
	case sym.stmt != nil && depth < maxDepth:
		return r.empty(m, n, depth)
	case sym.name == "builtins.dict":
		return "{}"
	case sym.name == "builtins.list", sym.name == "builtins.set", sym.name == "builtins.tuple", sym.name == "builtins.frozenset":
		return "[]"
	case strings.HasPrefix(sym.name, "builtins."):
		return t.ZeroJSON()
	}
	return ""
}

// literalJSON is a literal, a list of such, or a member of an Enum as JSON; "" for what has to be run.
func (r *reader) literalJSON(m *module, n *node, depth int) string {
	if n == nil || depth > maxDepth {
		return ""
	}
	switch n.T {
	case "none":
		return "null"
	case "list":
		var parts []string
		for _, e := range n.E {
			part := r.literalJSON(m, e, depth+1)
			if part == "" {
				return ""
			}
			parts = append(parts, part)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case "dict":
		var parts []string
		for _, k := range n.K {
			part := r.literalJSON(m, k.X, depth+1)
			if part == "" {
				return ""
			}
			key, _ := json.Marshal(k.Name) // text is always JSON
			parts = append(parts, string(key)+":"+part)
		}
		if strconv.Itoa(len(parts)) == n.S {
			return "{" + strings.Join(parts, ",") + "}"
		}
		return ""
	case "attr":
		sym := r.qualify(m, n.X, 0)
		if sym.stmt == nil || sym.stmt.Kind != "class" {
			return ""
		}
		for _, p := range sym.stmt.Params {
			if p.Name == n.S && p.Default != nil {
				return constant(p.Default)
			}
		}
	}
	return constant(n)
}

// maxDefault is the size of the largest object that a member begins with: classes can double with every line.
const maxDefault = 64 << 10

// empty is an object of a class, each of whose members begins with something; "" for others.
func (r *reader) empty(m *module, annotation *node, depth int) (text string) {
	if annotation != nil && annotation.T == "str" && annotation.X != nil {
		annotation = annotation.X
	}
	sym := r.qualify(m, annotation, 0)
	if sym.stmt == nil || sym.stmt.Kind != "class" {
		return ""
	}
	if done, known := r.empties[sym.stmt]; known { // also of a class that is part of itself
		return done
	}
	if r.empties == nil {
		r.empties = map[*statement]string{}
	}
	r.empties[sym.stmt] = ""
	defer func() { r.empties[sym.stmt] = text }()
	var parts []string
	size := 0
	for _, b := range slices.Backward(append([]symbol{sym}, r.ancestors(sym, 0)...)) {
		if b.stmt == nil {
			continue
		}
		for _, p := range b.stmt.Params {
			if p.Type == nil || strings.HasPrefix(p.Name, "_") || p.Name == "model_config" || r.classVariable(b.in, p.Type) {
				continue
			}
			text := r.initial(b.in, p, r.annotation(b.in, p.Type, 0), depth+1)
			if size += len(p.Name) + len(text); text == "" || size > maxDefault {
				return ""
			}
			parts = append(parts, strconv.Quote(p.Name)+":"+text)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}
