package check

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Names is the Go identifier of everything the generated file declares. Two ids that meet in one identifier are a
// mistake in the YAML: generated code never has numbered names.
type Names struct {
	Types   map[*schema.Type]string // anonymous and declared struct types, and declared enums
	Ordered []*NamedType            // in the order in which they are declared in Go
	Locals  map[*Step]string        // the variable of a step's result
	Nodes   map[*Step]string        // its entry in the node table
	Tools   map[*ir.Tool]string     // a tool's variable
	Bodies  map[*Program]string     // the function of a sub-workflow
	Vars    map[*Var]string

	taken map[string]source.Span // package-level names
	decls map[string]*schema.Type
	sink  *diag.Sink
}

// A NamedType is a Go type to declare.
type NamedType struct {
	Name string
	Type *schema.Type
	Doc  string
}

// reserved are the package-level names every generated file has.
var reserved = []string{"Workflow", "New", "Info"}

// nameEverything names what p and its sub-workflows declare.
func nameEverything(p *Program, sink *diag.Sink) *Names {
	n := &Names{
		Types: map[*schema.Type]string{}, Locals: map[*Step]string{}, Nodes: map[*Step]string{}, Tools: map[*ir.Tool]string{},
		Bodies: map[*Program]string{}, Vars: map[*Var]string{}, taken: map[string]source.Span{}, decls: map[string]*schema.Type{}, sink: sink,
	}
	for _, name := range reserved {
		n.taken[name] = source.Span{}
	}
	n.sections(p, "")
	for _, f := range p.Flows {
		n.sections(f, goname.Exported(f.WF.Name.Name))
	}
	n.program(p, "")
	for _, f := range p.Flows {
		prefix := goname.Exported(f.WF.Name.Name)
		n.Bodies[f] = n.take(goname.Local(f.WF.Name.Name+"_flow"), f.WF.Name.Span)
		n.program(f, prefix)
	}
	return n
}

// sections names the types of input, output and state. Those of all workflows come first: a result that is a
// sub-workflow's output has that name.
func (n *Names) sections(p *Program, prefix string) {
	at, whose := p.WF.Name.Span, "the workflow's"
	if prefix != "" {
		whose = p.WF.Name.Name + "'s"
	}
	n.named(p.Input, prefix+"Input", "is "+whose+" input section.", at)
	n.named(p.Output, prefix+"Output", "is "+whose+" output section.", at)
	if p.State != nil {
		n.named(p.State, lowerFirst(prefix+"FlowState"), "is "+whose+" state section.", at)
	}
}

func (n *Names) program(p *Program, prefix string) {
	for _, d := range p.WF.Types {
		n.declared(d)
	}
	used := map[*ir.Tool]bool{}
	for _, s := range stepsOf(p.Body) {
		if s.Tool != nil && !used[s.Tool] {
			used[s.Tool] = true
		}
	}
	for _, t := range p.WF.Tools {
		if used[t] {
			n.tool(t, prefix)
		}
	}
	n.body(p.Body, prefix, map[string]source.Span{})
}

func stepsOf(b *Body) []*Step {
	var out []*Step
	for _, s := range b.Steps {
		out = append(out, s)
		if s.Body != nil {
			out = append(out, stepsOf(s.Body)...)
		}
	}
	return out
}

// Steps lists every step of a body and the bodies inside it, in file order.
func (b *Body) All() []*Step { return stepsOf(b) }

func (n *Names) tool(t *ir.Tool, prefix string) {
	if n.Tools[t] != "" {
		return
	}
	key, _, _ := strings.Cut(t.Key.Name, "@")
	if t.Version != "1" {
		key += "_v" + t.Version
	}
	if prefix != "" && t.File != nil {
		key = prefix + "_" + key
	}
	n.Tools[t] = n.take(goname.Local(key+"_tool"), t.Key.Span)
	name := goname.Exported(key)
	if t.In != nil && (t.In.Go == nil || t.In.Go.Path == "") && len(t.In.Fields) > 0 {
		n.named(t.In, name+"In", "is the input of tool "+t.Key.Name+".", t.Key.Span)
	}
	if t.Out != nil {
		n.anonymous(t.Out, name+"Out", "is the output of tool "+t.Key.Name+".", t.Key.Span)
	}
}

func (n *Names) body(b *Body, prefix string, locals map[string]source.Span) {
	for _, s := range b.Steps {
		id := s.Node.ID
		if s.Node.Inline {
			s.body.inlineName(n, s, prefix)
		} else {
			local := goname.Local(id.Name)
			if first, dup := locals[local]; dup {
				n.clash(local, id.Span, first)
			}
			locals[local] = id.Span
			n.Locals[s] = local
			n.Nodes[s] = n.take(lowerFirst(prefix+goname.Exported(id.Name))+"Node", id.Span)
		}
		for _, v := range s.Vars {
			n.Vars[v] = goname.Local(v.Name)
		}
		if s.Body != nil {
			n.body(s.Body, prefix, locals)
		}
		if r := s.Node.Result; r != nil {
			name := prefix + goname.Exported(id.Name)
			if s.Node.Inline {
				outer := b.parent.Node.ID
				n.anonymous(r, prefix+goname.Exported(outer.Name)+"Item", "is the result of one item of "+outer.Name+".", id.Span)
			} else {
				n.anonymous(r, name+"Result", "is the result of "+id.Name+".", id.Span)
			}
		}
		if b := s.Body; b != nil && b.Result != nil {
			n.anonymous(b.Result, prefix+goname.Exported(id.Name)+"Item", "is one item of "+id.Name+".", id.Span)
		}
	}
}

// inlineName names the single node of a `do:` after the node it is in.
func (b *Body) inlineName(n *Names, s *Step, prefix string) {
	outer := lowerFirst(strings.TrimSuffix(n.Nodes[b.parent], "Node"))
	n.Locals[s] = goname.Local(s.Node.ID.Name)
	n.Nodes[s] = n.take(outer+"Do"+"Node", s.Node.ID.Span)
}

func lowerFirst(s string) string {
	if s == "" || s != strings.ToUpper(s[:1])+s[1:] {
		return s
	}
	return goname.Local(s)
}

// take reserves a package-level name.
func (n *Names) take(name string, at source.Span) string {
	if first, dup := n.taken[name]; dup && first != at {
		n.clash(name, at, first)
	}
	n.taken[name] = at
	return name
}

// Taken reports whether the generated file declares the name at package level.
func (n *Names) Taken(name string) bool {
	_, ok := n.taken[name]
	return ok
}

func (n *Names) clash(name string, at, first source.Span) {
	d := diag.Diagnostic{Code: diag.GoNameClash, Span: at, Message: fmt.Sprintf("this and another name both become %s in Go", name), Help: "rename one of them"}
	if first.IsZero() {
		d.Message = fmt.Sprintf("this becomes %s in Go, a name that every generated file has", name)
		d.Help = "rename it"
	}
	d.Related = related(first, "the other one")
	n.sink.Report(d)
}

// named gives a type its Go name and declares it.
func (n *Names) named(t *schema.Type, name, doc string, at source.Span) {
	if n.Types[t] != "" || t.Go != nil {
		return
	}
	n.Types[t] = n.take(name, at)
	n.Ordered = append(n.Ordered, &NamedType{Name: name, Type: t, Doc: doc})
	n.fields(t, name)
}

// declared names a type of `types:`. The same declaration, included by two workflows, is one Go type.
func (n *Names) declared(d *schema.Decl) {
	t := d.Type
	if t.Kind != schema.Struct && t.Kind != schema.Enum || t.Go != nil {
		return
	}
	p := d.Span.Start()
	key := fmt.Sprintf("%s:%d:%d", d.Span.File.Name, p.Line, p.Col)
	if first := n.decls[key]; first != nil {
		n.Types[t] = n.Types[first]
		n.fieldsAs(t, first)
		return
	}
	n.decls[key] = t
	name := goname.Exported(d.Name)
	n.Types[t] = n.take(name, d.Span)
	doc := d.Description
	if doc == "" {
		doc = "is a type of the workflow."
	} else {
		doc = "is " + doc
	}
	n.Ordered = append(n.Ordered, &NamedType{Name: name, Type: t, Doc: doc})
	for _, v := range t.Values {
		n.take(name+goname.Exported(v), d.Span)
	}
	n.fields(t, name)
}

// fieldsAs gives the anonymous types inside a second copy of a declaration the names of the first.
func (n *Names) fieldsAs(t, first *schema.Type) {
	for i, f := range t.Fields {
		if i < len(first.Fields) {
			n.sameNames(f.Type, first.Fields[i].Type)
		}
	}
}

func (n *Names) sameNames(t, first *schema.Type) {
	if t == nil || first == nil {
		return
	}
	if t.Elem != nil {
		n.sameNames(t.Elem, first.Elem)
	}
	if name := n.Types[first]; name != "" && n.Types[t] == "" {
		n.Types[t] = name
		n.fieldsAs(t, first)
	}
}

// anonymous names the anonymous structs inside a type.
func (n *Names) anonymous(t *schema.Type, name, doc string, at source.Span) {
	for t.Kind == schema.List || t.Kind == schema.Map || t.Kind == schema.Opt {
		t = t.Elem
	}
	if t.Go != nil && len(t.Go.Args) > 0 {
		for _, a := range t.Go.Args {
			n.anonymous(a, strings.TrimSuffix(name, "Result")+"Item", doc, at)
		}
		return
	}
	if t.Kind == schema.Struct && t.Decl == nil && t.Go == nil && len(t.Fields) > 0 {
		n.named(t, name, doc, at)
	}
}

func (n *Names) fields(t *schema.Type, name string) {
	seen := map[string]*schema.Field{}
	for _, f := range t.Fields {
		g := goname.Exported(f.Name)
		if first := seen[g]; first != nil {
			n.clash(g, f.Span, first.Span)
		}
		seen[g] = f
		n.anonymous(f.Type, strings.TrimSuffix(name, "Result")+g, "is field "+f.Name+" of "+name+".", f.Span)
	}
}
