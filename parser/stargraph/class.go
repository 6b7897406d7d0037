package stargraph

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// stateClass reads the fields of a state that is a Python class. One that is not there leaves the state to what nodes read
// and write.
func (p *parser) stateClass(m dialect.Mapping) {
	n := m.Get("state_class")
	if n == nil {
		return
	}
	id, ok := p.Text(n, "`state_class`")
	if !ok {
		return
	}
	if s := m.Get("state_schema"); s != nil && len(s.Entries) > 0 {
		p.Error(diag.UnknownKey, m.Key("state_schema"), "remove one of them", "`state_schema` and `state_class` exclude each other")
		return
	}
	if module, name, ok := strings.Cut(id.Name, ":"); !ok || module == "" || name == "" {
		p.open = true
		p.Error(diag.BadLiteral, id.Span, "write it as in `pkg.state:State`", "the class of the state is a module and a name, with a colon between them")
		return
	}
	if strings.HasPrefix(id.Name, "builtins:") {
		p.open = true
		p.Error(diag.BadLiteral, id.Span, "name a class of pydantic: `pkg.state:State`", "the class of the state is a model of pydantic")
		return
	}
	c, why, _ := p.class(id)
	if c == nil {
		if p.slotState(id) {
			return
		}
		p.open, p.stateName = true, id.Name
		_, name, _ := strings.Cut(id.Name, ":")
		p.Warn(diag.SourceMissing, id.Span, "write its fields in flowgen.bindings.yaml: `flowgen: 1`, and below `types:` a line like `"+name+": {field: string}`. Until then the state has the fields that nodes read and write", "the class of the state is not read: %s", why)
		return
	}
	p.wf.Includes = append(p.wf.Includes, p.sourcesOf(c)...)
	p.stateRef, p.stateDef = id.Name, c.Def
	for _, f := range c.Fields.Fields {
		if !fieldForm.MatchString(f.Name) {
			continue
		}
		x := &field{id: ir.Ident{Name: f.Name, Span: f.Span}, typ: f.Type, zero: f.Default, declared: true, input: true, texts: c.Texts[f.Name]}
		for _, fact := range c.Facts {
			if fact.Field == f.Name {
				x.route, x.template = true, fact.Template
			}
		}
		p.fields[f.Name] = x
		p.order = append(p.order, x)
	}
}

// class reads a class; why says why it cannot be, and absent that nothing of its module is here.
func (p *parser) class(id ir.Ident) (c *ir.PythonClass, why string, absent bool) {
	if p.opts.Python == nil {
		return nil, "nothing reads Python here", true
	}
	return p.opts.Python.Class(p.File, id)
}

// classNode reads a node that is a Python class: what flowgen.bindings.yaml puts in its place, or the class.
func (p *parser) classNode(x *node, kind *yamlnode.Node) {
	x.kind = ir.Ident{Name: kind.Text.Value, Span: kind.Span}
	x.config = p.configOf(x)
	config := ""
	if x.config != nil && len(x.config.Entries) > 0 {
		config = dialect.JSON(p.value(x.config))
	}
	name := boundName(x.kind.Name)
	for _, t := range p.wf.Tools {
		if t.Name.Name == name {
			p.boundNode(x, t)
			return
		}
	}
	c, why, absent := p.class(x.kind)
	switch {
	case c == nil && absent:
		p.slotNode(x, config, why)
		return
	case c == nil:
		p.Error(diag.UnknownTool, kind.Span, "put the Python next to the graph, or a Go function in its place, in flowgen.bindings.yaml: `flowgen: 1`, and below `tools:` a line like `"+name+": {go: ./nodes.Function, in: {field: string}, out: {field: string}, effects: none}`",
			"the node %s is not compiled: %s", x.id.Name, why)
		return
	case c.Fields != nil && c.Node == nil && !slices.ContainsFunc(c.Bases, func(b string) bool { return !isNodeBase(b) }):
		p.Report(diag.Diagnostic{Code: diag.SourceShape, Span: kind.Span, Message: "the class " + x.kind.Name + " has no method execute", Related: []diag.Related{{Span: c.Def.Span, Message: "it is defined here"}}})
		return
	}
	p.wf.Includes = append(p.wf.Includes, p.sourcesOf(c)...)
	if p.made(x, c) {
		p.askingItself(kind.Span, c)
		p.ownNode(x, c, config)
	}
}

// configOf is what a node that is a class is made with; nil: nothing.
func (p *parser) configOf(x *node) *yamlnode.Node {
	if p.form != authoring {
		outer, _ := p.Mapping(x.at, documentNodeShape)
		c := outer.Get("config")
		if c != nil && c.Kind != yamlnode.Mapping {
			p.WrongShape(c, "`config` is a mapping")
			return nil
		}
		return c
	}
	o := &yamlnode.Node{Kind: yamlnode.Mapping, Span: x.at.Span}
	for _, e := range x.at.Entries {
		if e.Key.Text.Value != "kind" {
			o.Entries = append(o.Entries, e)
		}
	}
	return o
}

// sourcesOf are the files of a class.
func (p *parser) sourcesOf(c *ir.PythonClass) []*source.File {
	if c.Def.Span.File == nil || slices.Contains(p.wf.Includes, c.Def.Span.File) {
		return nil
	}
	return []*source.File{c.Def.Span.File}
}

// boundName is the name of a tool of flowgen.bindings.yaml that stands for a class: pkg.nodes:FetchPage is
// pkg.nodes.fetch_page.
func boundName(class string) string {
	module, name, _ := strings.Cut(class, ":")
	var b strings.Builder
	b.WriteString(strings.ToLower(module))
	b.WriteByte('.')
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte('_')
		}
		lower = !unicode.IsUpper(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// boundNode is a node whose class is a tool of flowgen.bindings.yaml: the fields of its input are read from the state, those
// of its result are written.
func (p *parser) boundNode(x *node, t *ir.Tool) {
	if t.In == nil || t.Out == nil || t.Out.Kind != schema.Struct {
		p.Error(diag.NotSupported, x.kind.Span, "write `in: {field: string}` and `out: {field: string}` of "+t.Key.Name+" in flowgen.bindings.yaml", "what stands for a class says which fields of the state it reads and writes")
		return
	}
	p.callFields(x, t, t.In.Fields, t.Out.Fields)
}

// ownNode is a node that runs its class in Python.
func (p *parser) ownNode(x *node, c *ir.PythonClass, config string) {
	use := c.Node
	if use == nil {
		use = &ir.PythonUse{ReadsAll: true, WritesAny: true}
	}
	use = p.writes(x, c, use)
	x.class = &classUse{use: use, def: c.Def, config: config}
	if !use.WritesAny {
		for _, name := range use.Writes {
			if fieldForm.MatchString(name) {
				p.write(ir.Ident{Name: name, Span: use.Span}, schema.AnyType)
			}
		}
	}
	p.later = append(p.later, func() { p.resolveClass(x) })
}

// A classUse is what a node that is a class does with the state.
type classUse struct {
	use    *ir.PythonUse
	def    *ir.Definition
	config string
}

// resolveClass makes the tool of a node that is a class, when all fields are known: the class gets the fields that it
// reads and those that it may leave as they are.
func (p *parser) resolveClass(x *node) {
	use := x.class.use
	writes := use.Writes
	if use.WritesAny {
		writes = p.fieldNames()
		for _, f := range p.order {
			p.write(f.id, f.typ)
		}
	}
	all := use.ReadsAll
	for _, name := range use.Reads {
		all = all || p.fields[name] == nil // a method, or a property
	}
	var in, out []*schema.Field
	for _, f := range p.order {
		if f.typ == nil {
			f.typ = schema.AnyType
		}
		if f.input && (all || slices.Contains(use.Reads, f.id.Name) || slices.Contains(writes, f.id.Name)) {
			in = append(in, &schema.Field{Name: f.id.Name, Type: f.typ, Span: f.id.Span})
		}
		if slices.Contains(writes, f.id.Name) {
			out = append(out, &schema.Field{Name: f.id.Name, Type: f.typ, Span: f.id.Span})
		}
	}
	p.callFields(x, p.classTool(x, in, out), in, out)
}

// classTool is the tool of a class. Nodes that are the same class, made with the same config, share it.
func (p *parser) classTool(x *node, in, out []*schema.Field) *ir.Tool {
	c := &ir.PythonNode{State: p.stateRef, Config: x.class.config}
	for _, f := range out {
		c.Writes = append(c.Writes, f.Name)
	}
	base := boundName(x.kind.Name)
	name := base
	for i := 2; ; i++ {
		t := p.toolNamed(name)
		if t == nil {
			break
		}
		if b, ok := t.Binding.(*ir.PythonTool); ok && b.Class != nil && b.Ref.Name == x.kind.Name && b.Class.Config == c.Config {
			return t
		}
		name = base + "_" + strconv.Itoa(i)
	}
	def := *x.class.def
	if p.stateDef != nil && p.stateDef.Root == def.Root {
		def.Files = slices.Clone(def.Files)
		for _, f := range p.stateDef.Files {
			if !slices.ContainsFunc(def.Files, func(g ir.SourceFile) bool { return g.Name == f.Name }) {
				def.Files = append(def.Files, f)
			}
		}
	}
	t := &ir.Tool{Name: ir.Ident{Name: name, Span: x.kind.Span}, Version: "1", Key: ir.Ident{Name: name, Span: x.kind.Span}, Effects: ir.EffectsExternal, EffectsSpan: x.kind.Span,
		In: &schema.Type{Kind: schema.Struct, Fields: in}, Out: &schema.Type{Kind: schema.Struct, Fields: out}, OutSpan: x.kind.Span,
		Binding: &ir.PythonTool{Ref: x.kind, Free: true, Spare: modules, Class: c}, Def: &def, File: p.File, Span: x.kind.Span}
	p.wf.Tools = append(p.wf.Tools, t)
	return t
}

func (p *parser) toolNamed(name string) *ir.Tool {
	for _, t := range p.wf.Tools {
		if t.Name.Name == name {
			return t
		}
	}
	return nil
}

// callFields makes a node a call that is given fields of the state and writes those of its result.
func (p *parser) callFields(x *node, t *ir.Tool, in, out []*schema.Field) {
	var args []*argument
	for _, g := range in {
		if f := p.read(ir.Ident{Name: g.Name, Span: x.kind.Span}, g.Type); f != nil {
			args = append(args, &argument{key: ir.Ident{Name: g.Name, Span: x.kind.Span}, text: source.Text{Value: g.Name, Span: x.kind.Span, Opaque: true}, segments: []segment{{field: f}}})
		}
	}
	type written struct {
		f   *field
		typ *schema.Type
	}
	var sets []written
	for _, g := range out {
		sets = append(sets, written{p.write(ir.Ident{Name: g.Name, Span: x.kind.Span}, g.Type), g.Type})
	}
	key := ir.Ident{Name: t.FullName(), Span: x.kind.Span}
	x.tools = append(x.tools, key.Name)
	x.lower = func() []*ir.Node {
		n := &ir.Node{ID: x.id, Verb: &ir.ToolCall{Name: key, With: with(dialect.Head(x.at), args)}, Span: x.at.Span}
		for _, w := range sets {
			n.Set = append(n.Set, &ir.Set{Field: ir.Ident{Name: w.f.id.Name, Span: x.kind.Span}, Value: resultField(x.kind.Span, x.id.Name, w.f.id.Name)})
		}
		return []*ir.Node{n}
	}
}

// decorated finds a tool among the functions with a decorator in the Python around the graph.
func (p *parser) decorated(key ir.Ident) *ir.Tool {
	if p.opts.Python == nil {
		return nil
	}
	tools, _ := p.opts.Python.Tools(p.File, modules)
	for _, t := range tools {
		if t.FullName() == key.Name {
			c := *t
			if c.File = p.File; dynamicMap(c.Out) {
				c.Out = schema.AnyType // which keeps the order of its keys
			}
			p.wf.Includes = append(p.wf.Includes, p.sourcesOf(&ir.PythonClass{Def: t.Def})...)
			p.wf.Tools = append(p.wf.Tools, &c)
			for _, wrong := range t.Def.Wrong {
				p.Report(diag.Diagnostic{Code: diag.SourceSpec, Span: wrong.Span, Message: wrong.Message, Help: "fix it in Python: the engine does not load the module",
					Related: []diag.Related{{Span: key.Span, Message: "the graph uses the tool here"}}})
			}
			return &c
		}
	}
	return nil
}
